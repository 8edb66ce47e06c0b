//! Checks the rules of the repo ledger, and how much of the git history it covers.

use crate::audit::row::{AuditRow, Detail};
use crate::error::Result;
use crate::ledger;
use crate::ledger::{AnchorState, Coverage};
use crate::project::Project;
use crate::storage::read;
use crate::warning::Warning;

const STORE: &str = "ledger";

/// Checks the three files against their rules, and the anchor against the checked-out commit.
pub(crate) fn rules(project: &Project, warnings: &mut Vec<Warning>) -> Result<Vec<AuditRow>> {
    if !ledger::paths(project).iter().any(|path| read::exists(path)) {
        return Ok(Vec::new());
    }
    let report = ledger::check(project)?;
    warnings.extend(report.warnings);
    // Secrets have a separate row, as in every store.
    let broken = report.findings.into_iter();
    let broken: Vec<_> = broken.filter(|finding| finding.rule != "secret").collect();
    let fix = if broken.iter().any(|finding| finding.fixable) {
        "annals ledger check --fix"
    } else {
        "annals ledger check"
    };
    let details = broken.into_iter().map(|finding| {
        let message = format!("{} ({})", finding.message, finding.rule);
        Detail::at(finding.place, &message)
    });
    Ok(vec![AuditRow::new(STORE, "rules", details.collect(), fix), coverage(&report.coverage)])
}

fn coverage(coverage: &Coverage) -> AuditRow {
    let count = match coverage.standing {
        AnchorState::NoRepository | AnchorState::NoCommits | AnchorState::Covered => 0,
        AnchorState::Behind | AnchorState::Diverged => coverage.pending.unwrap_or(1).max(1),
        AnchorState::NoAnchor | AnchorState::Missing => 1,
    };
    let details = (count > 0).then(|| Detail::new(&coverage.line()));
    let fix = "annals ledger pending";
    AuditRow::counted(STORE, "coverage", count, Vec::from_iter(details), fix)
}
