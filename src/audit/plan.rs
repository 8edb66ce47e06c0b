//! Compares the statements of the planning folder with its files.

use crate::audit::row::AuditRow;
use crate::audit::row::Detail;
use crate::audit::row::Level;
use crate::error::Result;
use crate::position::StatusReport;
use crate::position::Survey;
use crate::project::Project;
use crate::warning::SourceLocation;
use crate::warning::Warning;

const STORE: &str = "plan";

/// Lists the statements of STATE.md and ROADMAP.md that the files contradict, and the parts that they lack or
/// repeat.
pub(crate) fn drift(project: &Project, warnings: &mut Vec<Warning>) -> Result<Vec<AuditRow>> {
    if project.planning().is_err() {
        return Ok(Vec::new());
    }
    let survey = Survey::read(project)?;
    let status = StatusReport::from_survey(project, &survey);
    warnings.extend(status.warnings);
    let found = status.drift.into_iter().map(|drift| {
        let message = drift.sentence();
        let place = SourceLocation::new(drift.file, drift.line);
        Detail::at(place, &message)
    });
    let drift = found.collect();
    let findings = status.findings.into_iter();
    let findings = findings
        .map(|finding| Detail::at(finding.place, &finding.message))
        .collect();
    let row = |check, found, fix| AuditRow::new(STORE, check, Level::Attention, found, fix);
    Ok(vec![
        row("drift", drift, "annals sync --fix-state"),
        row("documents", findings, "correct the named files by hand"),
    ])
}
