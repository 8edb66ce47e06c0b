//! Compares the statements of the planning folder with its files.

use crate::audit::row::{AuditRow, Detail};
use crate::error::Result;
use crate::plan;
use crate::plan::{Drift, StatusReport, Survey};
use crate::project::Project;
use crate::warning::{SourceLocation, Warning};

const STORE: &str = "plan";

/// The command that corrects drift.
const REPAIR: &str = "annals sync --fix-state";

/// Lists the statements of STATE.md and ROADMAP.md that the files contradict, the plans that were left without a
/// summary, and the parts that the documents lack or repeat.
pub(crate) fn drift(project: &Project, warnings: &mut Vec<Warning>) -> Result<Vec<AuditRow>> {
    if project.planning().is_err() {
        return Ok(Vec::new());
    }
    let survey = Survey::read(project)?;
    let mut status = StatusReport::from_survey(project, &survey);
    status.add_metric_drift(project, &survey);
    warnings.extend(status.warnings);
    let (left, drift): (Vec<Drift>, Vec<Drift>) =
        status.drift.into_iter().partition(Drift::is_left_plan);
    let details = |found: Vec<Drift>| -> Vec<Detail> {
        let detail = |drift: Drift| {
            let message = drift.sentence();
            Detail::at(SourceLocation::new(drift.file, drift.line), &message)
        };
        found.into_iter().map(detail).collect()
    };
    let findings = status.findings.into_iter();
    let findings = findings.map(|finding| Detail::at(finding.place, &finding.message)).collect();
    let row = |check, found, fix: &str| AuditRow::new(STORE, check, found, fix);
    let fix = drift_fix(project, &survey);
    Ok(vec![
        row("drift", details(drift), &fix),
        row("left plans", details(left), "write the missing summaries, or remove the plans"),
        row("documents", findings, "correct the named files by hand"),
    ])
}

/// Returns how to fix drift: the command that corrects it, what must be decided before that, or to edit the
/// lines by hand if all of them say more than the command may change.
fn drift_fix(project: &Project, survey: &Survey) -> String {
    match plan::repair(project, survey) {
        Ok(repair) if repair.corrections.is_empty() && !repair.remaining.is_empty() => {
            "edit these lines by hand".to_owned()
        }
        Ok(_) => REPAIR.to_owned(),
        Err(error) => {
            let hint = error.hint.as_deref().unwrap_or_default();
            let first = hint.strip_suffix("; then run it again");
            first.map_or_else(|| error.to_string(), |first| format!("{first}; then {REPAIR}"))
        }
    }
}
