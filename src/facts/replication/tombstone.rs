//! Propagates erasures, so that forgotten facts are erased everywhere and do not come back.

use std::collections::{BTreeMap, BTreeSet};
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
use crate::facts::replication::merge::merge_key;
use crate::facts::replication::operation::{
    Address, Operation, VERSION, digest, owner, subject, turn,
};
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
    /// Turns in which it was said: other facts from them lose their excerpts.
    turns: BTreeSet<String>,
    /// Other operations whose excerpt or reason mentioned it.
    mentions: Vec<Address>,
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
    /// be merged.
    pub(crate) fn add(
        &mut self,
        connection: &Connection,
        scope: &str,
        tombstone: Tombstone,
    ) -> Result<Vec<Subject>> {
        let touched = erase(connection, scope, &tombstone)?;
        insert(connection, scope, &tombstone)?;
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

    /// Clears excerpts and reason of a change that mentions a forgotten fact or shares a turn with one; returns
    /// whether it did.
    pub(crate) fn scrub(&self, operation: &Operation, change: &mut Change) -> bool {
        let address = operation.address();
        let is_meant = |said_in: &str| {
            !self.0.is_empty() && {
                let said_in = turn(&operation.user_id, said_in);
                self.reaching(&operation.scope)
                    .any(|one| one.turns.contains(&said_in) || one.mentions.contains(&address))
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
    for (user, key) in send(connection, tombstone, clock)? {
        merge_key(connection, &UserId::stored(user), &key, &clock.timestamp())?;
    }
    Ok(())
}

/// Announces further operations here that mentioned forgotten facts, which the device that forgot them may not have
/// known; returns their users and keys.
pub(crate) fn announce(connection: &Connection, clock: Clock) -> Result<Vec<Subject>> {
    if new_mentions(connection)?.is_empty() {
        return Ok(Vec::new());
    }
    // The digest of nobody, and of no key.
    send(connection, Tombstone { subject: Some(String::new()), ..Tombstone::default() }, clock)
}

/// Makes a tombstone with the new mentions an operation in each scope in which other devices may have data, and
/// clears what it mentions here.
fn send(connection: &Connection, mut tombstone: Tombstone, clock: Clock) -> Result<Vec<Subject>> {
    tombstone.v = VERSION;
    tombstone.mentions = new_mentions(connection)?;
    insert(connection, PRIVATE, &tombstone)?;
    let mut op_id = String::new();
    let sql = "SELECT DISTINCT scope FROM share_cursors ORDER BY scope";
    for scope in connection.column::<String>(sql, [])? {
        let mut operation = next(connection, &scope, "forget", clock.now())?;
        if op_id.is_empty() {
            op_id = digest(&["forget", &operation.device, &operation.clock.to_string()]);
        }
        operation.op_id.clone_from(&op_id);
        operation.payload = Some(json(&tombstone)?);
        operation.store(connection, None, false, clock)?;
    }
    clear(connection, PRIVATE, &tombstone)
}

/// Returns remaining operations that lost an excerpt or a reason here, and are in no tombstone yet.
fn new_mentions(connection: &Connection) -> Result<Vec<Address>> {
    let sql = "SELECT scope, device, number FROM operations \
               WHERE is_rewritten AND kind = 'fact' AND number IS NOT NULL ORDER BY operation";
    let mut found: Vec<Address> = connection.list(sql, [])?;
    if !found.is_empty() {
        let tombstones = Tombstones::read(connection)?;
        let mut known: BTreeMap<String, BTreeSet<&Address>> = BTreeMap::new();
        found.retain(|address| {
            let mentions =
                || tombstones.reaching(&address.0).flat_map(|one| &one.mentions).collect();
            !known.entry(address.0.clone()).or_insert_with(mentions).contains(address)
        });
    }
    Ok(found)
}

/// Clears the excerpts and reasons of the operations that a tombstone mentions; returns their users and keys.
fn clear(connection: &Connection, scope: &str, tombstone: &Tombstone) -> Result<Vec<Subject>> {
    let sql = "SELECT history_id FROM operations JOIN fact_history USING (history_id) \
               WHERE scope = ?1 AND operations.device = ?2 AND number = ?3";
    let mut touched = Vec::new();
    for mention in tombstone.mentions.iter().filter(|mention| reaches(scope, &mention.0)) {
        for history in connection.column(sql, mention.clone())? {
            touched.push(forget::clear_change(connection, history)?);
        }
    }
    Ok(touched)
}

/// Erases here what another device forgot; returns the users and keys whose rows must be merged.
fn erase(connection: &Connection, scope: &str, tombstone: &Tombstone) -> Result<Vec<Subject>> {
    let mut touched = clear(connection, scope, tombstone)?;
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
            if !forget::erase(connection, user, Some(&key), within)?.states.is_empty() {
                touched.push((name.to_owned(), key));
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
    Ok(touched)
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
