//! Checks the database of facts, if it exists: pending work, dead turns, and integrity.

use crate::audit::row::{AuditRow, Detail};
use crate::error::Result;
use crate::facts;
use crate::facts::{Facts, Purpose, SharingState};
use crate::project::Project;
use crate::warning::Warning;

const STORE: &str = "facts";

/// The command that does what waits.
const WORK: &str = "annals facts work";

/// Checks the database as `facts check` does, and lists facts that are awaiting the user's confirmation.
pub(crate) fn database(project: &Project, _warnings: &mut Vec<Warning>) -> Result<Vec<AuditRow>> {
    let has_place = project.settings.db.is_some() || project.environment.data_dir().is_some();
    if !has_place {
        return Ok(Vec::new());
    }
    let facts = Facts::open(project, None, Purpose::Read)?;
    if !facts.path().exists() {
        return Ok(Vec::new());
    }
    let found = facts::check(&facts)?;
    let problems = found.problems.iter().map(|problem| Detail::new(problem)).collect();
    let erasures = found.remaining.iter().map(|left| left.vectors).sum();
    let mut rows =
        vec![AuditRow::new(STORE, "database", problems, "annals facts check").into_fault()];
    for (check, count, message, fix) in [
        ("waiting turns", found.waiting_turns, "turns are waiting for the auditor", WORK),
        (
            "dead turns",
            found.dead_turns,
            "no usable answer for these turns",
            "annals facts turns --status dead",
        ),
        ("vectors", found.unsynced_vectors, "the vector index is out of date", WORK),
        ("erasures", erasures, "forgotten facts are still on a vector server", WORK),
    ] {
        let details = Vec::from_iter((count > 0).then(|| Detail::new(message)));
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        rows.push(AuditRow::counted(STORE, check, count, details, fix));
    }
    rows.extend(pending(project, &facts)?);
    rows.extend(facts::sharing(&facts)?.filter(|here| !here.has_left).map(|here| shared(&here)));
    Ok(rows)
}

/// Returns the problems of syncing with other devices.
fn shared(here: &SharingState) -> AuditRow {
    let failed = here.failed_at.iter().zip(&here.last_error);
    let failed =
        failed.map(|(at, why)| Detail::new(&format!("not synchronised since {at}: {why}")));
    let aside = here.set_aside.iter();
    let aside =
        aside.map(|one| Detail::new(&format!("set aside from {}: {}", one.device, one.reason)));
    let unclean = here.is_unclean.then(|| {
        Detail::new("facts forgotten on other devices may remain in free pages of the file")
    });
    let found = failed.chain(aside).chain(unclean).collect();
    AuditRow::new(STORE, "sharing", found, "annals share sync")
}

/// Lists the keys of facts that are awaiting the user's confirmation; `facts list --pending` shows their values.
fn pending(project: &Project, facts: &Facts) -> Result<Option<AuditRow>> {
    if project.settings.user.is_none() {
        return Ok(None);
    }
    let user = facts::user(project, None)?;
    let pending = facts::pending(facts, &user)?;
    let keys = pending.iter();
    let keys =
        keys.map(|one| Detail::new(&format!("{} waits for the user's confirmation", one.fact.key)));
    let (keys, fix) = (keys.collect(), "annals facts list --pending");
    Ok(Some(AuditRow::new(STORE, "pending", keys, fix)))
}
