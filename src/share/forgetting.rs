//! Forgets on this device, and at once on the server where the database is shared.

use std::time::Duration;

use crate::error::Result;
use crate::facts;
use crate::facts::Facts;
use crate::facts::Forgotten;
use crate::facts::UserId;
use crate::project::Project;
use crate::share::run;
use crate::share::run::Direction;

/// How long each way may take.
const WAIT: Duration = Duration::from_secs(20);

/// Forgets a user's facts, all or those under one key; the second value says why the server was not told, where it
/// was not.
///
/// What others sent is taken in first, so that all that mentions them is known.
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
    // A server that is away is told with the next sync.
    let pulled = run::sync(project, facts, Direction::Pull, Some(WAIT));
    let forgotten = facts::forget(facts, user, key, reason)?;
    let told = pulled.and_then(|_| run::sync(project, facts, Direction::Push, Some(WAIT)));
    Ok((forgotten, told.err().map(|error| error.reason())))
}
