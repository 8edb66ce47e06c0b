//! Forgets facts on this device, and immediately on the server if the database is shared.

use std::time::Duration;

use crate::error::Result;
use crate::facts;
use crate::facts::{Facts, Forgotten, UserId};
use crate::project::Project;
use crate::share::run;
use crate::share::run::Direction;

/// Timeout for each direction of the sync.
const WAIT: Duration = Duration::from_secs(20);

/// Forgets a user's facts, all or those under one key; the second value is the reason if the server could not
/// be updated.
///
/// Operations of other devices are pulled first, so that all mentions of the facts are known.
pub fn forget(
    project: &Project,
    facts: &mut Facts,
    user: &UserId,
    key: Option<&str>,
    reason: &str,
) -> Result<(Forgotten, Option<String>)> {
    if !run::is_active(project, facts)? || facts.is_dry_run() {
        return Ok((facts::forget(facts, user, key, reason)?, None));
    }
    // An unreachable server is updated by the next sync.
    let pulled = run::sync(project, facts, Direction::Pull, Some(WAIT));
    let forgotten = facts::forget(facts, user, key, reason)?;
    let pushed = pulled.and_then(|_| run::sync(project, facts, Direction::Push, Some(WAIT)));
    Ok((forgotten, pushed.err().map(|error| error.reason())))
}
