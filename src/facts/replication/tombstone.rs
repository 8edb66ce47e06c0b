//! Propagates erasures, so that forgotten facts are erased everywhere and do not come back.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::error::Result;
use crate::facts::fact::UserId;
use crate::facts::forget;
use crate::facts::history::Change;
use crate::facts::replication::device::{DEVICE, PRIVATE, joined, next};
use crate::facts::replication::incoming::{drop_set_aside, set_aside};
use crate::facts::replication::operation::{Operation, VERSION, digest, owner, subject, turn};
use crate::facts::sql::{Sql, json, stored_as_json};
use crate::facts::store::Facts;

/// A user and a key.
pub(crate) type Subject = (String, String);

/// A record that something was forgotten, which contains only digests.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Tombstone {
    v: u32,
    /// Digest of the user.
    owner: String,
    /// Digest of the key, or `None` for all keys.
    subject: Option<String>,
    /// Latest clock at which a forgotten fact began.
    until: i64,
    /// Digests of the turns in which it was said: other facts from them lose their excerpts.
    turns: BTreeSet<String>,
}

stored_as_json!(Tombstone);

impl Tombstone {
    /// Returns whether it erases the key with this digest.
    fn is_about(&self, subject: &str) -> bool {
        self.subject.as_deref().is_none_or(|own| own == subject)
    }
}

/// Returns whether an erasure in one scope applies to another: the user's own devices forget everywhere.
fn reaches(forgotten_in: &str, scope: &str) -> bool {
    forgotten_in == PRIVATE || forgotten_in == scope
}

/// The known tombstones, each with the scope in which it was made.
pub(crate) struct Tombstones(Vec<(String, Tombstone)>);

impl Tombstones {
    pub(crate) fn read(connection: &Connection) -> Result<Self> {
        connection.list("SELECT scope, tombstone FROM share_tombstones", []).map(Self)
    }

    /// Adds a tombstone of another device, and erases what it is about; returns the users and keys whose rows must
    /// be merged. Further turns that are known here to mention it are announced to the other devices.
    pub(crate) fn add(
        &mut self,
        connection: &Connection,
        scope: &str,
        tombstone: Tombstone,
        clock: Clock,
    ) -> Result<Vec<Subject>> {
        let (touched, mut turns) = erase(connection, scope, &tombstone)?;
        turns.retain(|one| !tombstone.turns.contains(one));
        insert(connection, scope, &tombstone)?;
        if !turns.is_empty() {
            // The digest of no key.
            let (owner, subject) = (tombstone.owner.clone(), Some(String::new()));
            let more = Tombstone { owner, subject, turns, ..Tombstone::default() };
            self.0.push((scope.to_owned(), send(connection, scope, more, clock)?));
        }
        self.0.push((scope.to_owned(), tombstone));
        Ok(touched)
    }

    /// Returns the tombstones that apply to a scope.
    fn reaching<'t>(&'t self, scope: &str) -> impl Iterator<Item = &'t Tombstone> {
        self.0.iter().filter(|one| reaches(&one.0, scope)).map(|one| &one.1)
    }

    /// Returns whether a fact of a scope that began at this clock is forgotten.
    pub(crate) fn covers(&self, scope: &str, (user, key): &Subject, born: i64) -> bool {
        !self.0.is_empty() && {
            let (owner, subject) = (owner(user), subject(user, key));
            self.reaching(scope)
                .any(|one| one.owner == owner && one.is_about(&subject) && born <= one.until)
        }
    }

    /// Clears excerpts and reason of a change if the turn that they are from mentions a forgotten fact; returns
    /// whether it did.
    pub(crate) fn scrub(&self, operation: &Operation, change: &mut Change) -> bool {
        let is_meant = |said_in: &str| {
            !self.0.is_empty() && {
                let said_in = turn(&operation.user_id, said_in);
                self.reaching(&operation.scope).any(|one| one.turns.contains(&said_in))
            }
        };
        let mut is_scrubbed = is_meant(&change.turn_id);
        if is_scrubbed {
            change.reason.clear();
        }
        for fact in change.before.iter_mut().chain(&mut change.after) {
            if is_meant(&fact.source_turn_id) {
                fact.source_excerpt.clear();
                is_scrubbed = true;
            }
        }
        is_scrubbed
    }
}

fn insert(connection: &Connection, scope: &str, tombstone: &Tombstone) -> Result<()> {
    connection.run("INSERT INTO share_tombstones VALUES (?1, ?2)", params![scope, tombstone])
}

/// Records a tombstone for other devices, in the transaction that erases; does nothing if not shared.
pub(crate) fn record_tombstone(
    connection: &Connection,
    user: &UserId,
    key: Option<&str>,
    turns: &BTreeSet<String>,
    clock: Clock,
) -> Result<()> {
    if joined(connection)?.is_none() {
        return Ok(());
    }
    let user = user.as_str();
    let tombstone = Tombstone {
        owner: owner(user),
        subject: key.map(|key| subject(user, key)),
        // All that was made or seen here by now.
        until: next(connection, DEVICE, "forget", clock.now())?.clock,
        turns: turns.iter().map(|one| turn(user, one)).collect(),
        ..Tombstone::default()
    };
    send(connection, PRIVATE, tombstone, clock).map(drop)
}

/// Makes a tombstone an operation in each scope that it reaches and in which other devices may have data.
fn send(
    connection: &Connection,
    scope: &str,
    mut tombstone: Tombstone,
    clock: Clock,
) -> Result<Tombstone> {
    tombstone.v = VERSION;
    insert(connection, scope, &tombstone)?;
    let mut op_id = String::new();
    let sql = "SELECT DISTINCT scope FROM share_cursors ORDER BY scope";
    let mut scopes: Vec<String> = connection.column(sql, [])?;
    scopes.retain(|one| reaches(scope, one));
    for scope in scopes {
        let mut operation = next(connection, &scope, "forget", clock.now())?;
        if op_id.is_empty() {
            op_id = digest(&["forget", &operation.device, &operation.clock.to_string()]);
        }
        operation.op_id.clone_from(&op_id);
        operation.payload = Some(json(&tombstone)?);
        operation.store(connection, None, false, clock)?;
    }
    Ok(tombstone)
}

/// Erases here what another device forgot; returns the users and keys whose rows must be merged, and the digests of the
/// turns that mention it.
fn erase(
    connection: &Connection,
    scope: &str,
    tombstone: &Tombstone,
) -> Result<(Vec<Subject>, BTreeSet<String>)> {
    let (mut touched, mut said_in) = (Vec::new(), BTreeSet::new());
    let is_owner = |user: &str| owner(user) == tombstone.owner;
    let users: Vec<UserId> =
        connection.column("SELECT DISTINCT user_id FROM fact_history ORDER BY user_id", [])?;
    let only = Some(scope).filter(|scope| *scope != PRIVATE);
    for user in users.iter().filter(|user| is_owner(user.as_str())) {
        let name = user.as_str();
        let sql = "SELECT turn_id FROM fact_history WHERE user_id = ?1 \
                   UNION SELECT coalesce(after_json ->> 'source_turn_id', '') FROM fact_history WHERE user_id = ?1";
        let mut turns: BTreeSet<String> = connection.column(sql, [user])?.into_iter().collect();
        turns.retain(|one| tombstone.turns.contains(&turn(name, one)));
        let sql = "SELECT DISTINCT key FROM fact_history WHERE user_id = ?1 ORDER BY key";
        let mut keys: Vec<String> = connection.column(sql, [user])?;
        keys.retain(|key| tombstone.is_about(&subject(name, key)));
        for key in keys {
            let within = Some((scope, tombstone.until));
            let erased = forget::erase(connection, user, Some(&key), within)?;
            if !erased.states.is_empty() {
                touched.push((name.to_owned(), key));
                said_in.extend(erased.turns.iter().map(|one| turn(name, one)));
            }
        }
        let keys = forget::clear_turns(connection, user, &turns, only)?;
        touched.extend(keys.into_iter().map(|key| (name.to_owned(), key)));
    }
    for operation in set_aside(connection)? {
        let is_meant = is_owner(&operation.user_id) && operation.clock <= tombstone.until;
        if is_meant && reaches(scope, &operation.scope) {
            drop_set_aside(connection, &operation)?;
        }
    }
    Ok((touched, said_in))
}

/// Rewrites the file if a pull erased something; returns whether nothing remains to be done.
///
/// If another process has the file open, or the time has run out, this is postponed.
pub(crate) fn clean_file(facts: &mut Facts, deadline: Option<Instant>) -> Result<bool> {
    let unclean = "SELECT EXISTS (SELECT 1 FROM share_device WHERE is_unclean)";
    if !facts.connection().value::<bool>(unclean, [])? {
        return Ok(true);
    }
    let left = deadline
        .map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
    if left.is_zero() || facts.lock_exclusive(left).is_err() {
        return Ok(false);
    }
    facts.vacuum()?;
    let sql = "UPDATE share_device SET is_unclean = 0";
    facts.write(|connection| connection.run(sql, []))?;
    Ok(true)
}
