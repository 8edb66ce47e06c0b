//! Compares the statements of the planning folder with its files.

use crate::audit::row::AuditRow;
use crate::audit::row::Detail;
use crate::error::Result;
use crate::position::Drift;
use crate::position::StatusReport;
use crate::position::Survey;
use crate::project::Project;
use crate::warning::SourceLocation;
use crate::warning::Warning;

const STORE: &str = "plan";

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
    let findings = findings
        .map(|finding| Detail::at(finding.place, &finding.message))
        .collect();
    let row = |check, found, fix| AuditRow::new(STORE, check, found, fix);
    Ok(vec![
        row("drift", details(drift), "annals sync --fix-state"),
        row(
            "left plans",
            details(left),
            "write the missing summaries, or remove the plans",
        ),
        row("documents", findings, "correct the named files by hand"),
    ])
}
