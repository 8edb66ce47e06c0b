//! Propagates erasures between devices, so that forgotten facts are erased everywhere and do not come back.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::facts::fact::UserId;
use crate::facts::forget;
use crate::facts::replication::device::{Device, PRIVATE, next_number};
use crate::facts::replication::incoming::{drop_set_aside, set_aside};
use crate::facts::replication::merge::merge_key;
use crate::facts::replication::operation::{
    Address, FactChange, Operation, VERSION, digest, owner, subject, turn,
};
use crate::facts::sql::{Query, json};
use crate::facts::store::Facts;

/// A record that something was forgotten, which contains only digests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tombstone {
    v: u32,
    /// Digest of the user.
    pub(crate) owner: String,
    /// Digest of the key, or `None` for all keys.
    pub(crate) subject: Option<String>,
    /// Latest clock at which a forgotten fact began.
    pub(crate) until: i64,
    /// Turns in which it was said: other facts from them lose their excerpts.
    pub(crate) turns: BTreeSet<String>,
    /// Other operations whose excerpt or reason mentioned it.
    mentions: Vec<Address>,
}

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
#[derive(Debug, Default)]
pub(crate) struct Tombstones(Vec<(String, Tombstone)>);

impl Tombstones {
    pub(crate) fn read(connection: &Connection) -> Result<Self> {
        let sql = "SELECT scope, tombstone FROM share_tombstones";
        let rows: Vec<(String, String)> =
            connection.rows("read what was forgotten", sql, [], |row| row.try_into())?;
        let read = rows.into_iter().map(|(scope, json)| {
            let tombstone = serde_json::from_str(&json)
                .map_err(|error| Error::failed(format!("invalid tombstone: {error}")))?;
            Ok((scope, tombstone))
        });
        read.collect::<Result<_>>().map(Self)
    }

    pub(crate) fn add(
        &mut self,
        connection: &Connection,
        scope: &str,
        tombstone: &Tombstone,
    ) -> Result<()> {
        insert(connection, scope, tombstone)?;
        self.0.push((scope.to_owned(), tombstone.clone()));
        Ok(())
    }

    /// Returns the tombstones that apply to a scope.
    fn reaching<'t>(&'t self, scope: &'t str) -> impl Iterator<Item = &'t Tombstone> {
        self.0.iter().filter(|one| reaches(&one.0, scope)).map(|one| &one.1)
    }

    /// Returns whether a fact of a scope that began at this clock is forgotten.
    pub(crate) fn covers(&self, scope: &str, user: &str, key: &str, born: i64) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let (owner, subject) = (owner(user), subject(user, key));
        self.reaching(scope)
            .any(|one| one.owner == owner && one.is_about(&subject) && born <= one.until)
    }

    /// Clears excerpts and reason of a change that mentions a forgotten fact or shares a turn with one; returns
    /// whether it did.
    pub(crate) fn scrub(&self, operation: &Operation, change: &mut FactChange) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let address = operation.address();
        let is_meant = |said_in: &str| {
            let said_in = turn(&operation.user_id, said_in);
            self.reaching(&operation.scope)
                .any(|one| one.turns.contains(&said_in) || one.mentions.contains(&address))
        };
        let mut is_scrubbed = is_meant(&change.turn);
        if is_scrubbed {
            change.reason.clear();
        }
        for fact in change.before.iter_mut().chain([&mut change.after]) {
            if is_meant(&fact.source_turn_id) {
                fact.source_excerpt.clear();
                is_scrubbed = true;
            }
        }
        is_scrubbed
    }
}

fn insert(connection: &Connection, scope: &str, tombstone: &Tombstone) -> Result<()> {
    let sql = "INSERT INTO share_tombstones VALUES (?1, ?2)";
    connection.run("write what was forgotten", sql, [scope, &json(tombstone)?])
}

/// Records a tombstone for other devices, in the transaction that erases; does nothing if not shared.
pub(crate) fn record_tombstone(
    connection: &Connection,
    user: &UserId,
    key: Option<&str>,
    turns: &BTreeSet<String>,
    clock: Clock,
) -> Result<()> {
    let Some(mut device) = Device::joined(connection)? else {
        return Ok(());
    };
    let user = user.as_str();
    let tombstone = Tombstone {
        v: VERSION,
        owner: owner(user),
        subject: key.map(|key| subject(user, key)),
        until: device.next_clock(clock.now()),
        turns: turns.iter().map(|one| turn(user, one)).collect(),
        mentions: new_mentions(connection)?,
    };
    for (user, key) in send(connection, &mut device, &tombstone, clock)? {
        merge_key(connection, &UserId::stored(user), &key, &clock.timestamp())?;
    }
    Ok(())
}

/// Announces further operations here that mentioned forgotten facts, which the device that forgot them may not have
/// known; returns their users and keys.
pub(crate) fn announce(
    connection: &Connection,
    device: &mut Device,
    clock: Clock,
) -> Result<Vec<(String, String)>> {
    let mentions = new_mentions(connection)?;
    if mentions.is_empty() {
        return Ok(Vec::new());
    }
    let tombstone = Tombstone {
        v: VERSION,
        owner: String::new(),
        subject: Some(String::new()),
        until: 0,
        turns: BTreeSet::new(),
        mentions,
    };
    send(connection, device, &tombstone, clock)
}

/// Makes a tombstone an operation in each scope in which other devices may have data, and clears its mentions here.
fn send(
    connection: &Connection,
    device: &mut Device,
    tombstone: &Tombstone,
    clock: Clock,
) -> Result<Vec<(String, String)>> {
    insert(connection, PRIVATE, tombstone)?;
    let payload = json(tombstone)?;
    let ticked = device.next_clock(clock.now());
    let op_id = digest(&["forget", &device.id, &ticked.to_string()]);
    let sql = "SELECT DISTINCT scope FROM share_cursors ORDER BY scope";
    for scope in connection.column::<String>("read the scopes", sql, [])? {
        let number = next_number(connection, &scope, &device.id)?;
        connection.run(
            "write the operations",
            "INSERT INTO operations (scope, device, number, op_id, clock, kind, payload, noted_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, 'forget', ?6, ?7)",
            params![scope, device.id, number, op_id, ticked, payload, clock.timestamp()],
        )?;
    }
    device.save(connection)?;
    clear(connection, &tombstone.mentions)
}

/// Returns remaining operations that lost an excerpt or a reason here, and are in no tombstone yet.
fn new_mentions(connection: &Connection) -> Result<Vec<Address>> {
    let known = Tombstones::read(connection)?.0;
    let known: BTreeSet<&Address> = known
        .iter()
        .flat_map(|(scope, one)| one.mentions.iter().filter(|mention| reaches(scope, &mention.0)))
        .collect();
    let sql = "SELECT scope, device, number FROM operations \
               WHERE is_rewritten AND kind = 'fact' AND number IS NOT NULL ORDER BY operation";
    let mut found: Vec<Address> =
        connection.rows("read the operations", sql, [], |row| row.try_into())?;
    found.retain(|address| !known.contains(address));
    Ok(found)
}

/// Clears the excerpts and reasons of operations; returns their users and keys.
fn clear(connection: &Connection, mentions: &[Address]) -> Result<Vec<(String, String)>> {
    let sql = "SELECT history_id FROM operations JOIN fact_history USING (history_id) \
               WHERE scope = ?1 AND operations.device = ?2 AND number = ?3";
    let mut touched = Vec::new();
    for mention in mentions {
        for history in connection.column("read the operations", sql, mention.clone())? {
            touched.push(forget::clear_change(connection, history)?);
        }
    }
    Ok(touched)
}

/// Erases here what another device forgot; returns the users and keys whose rows must be merged.
pub(crate) fn apply(
    connection: &Connection,
    scope: &str,
    tombstone: &Tombstone,
) -> Result<Vec<(String, String)>> {
    let mut touched = Vec::new();
    let mut users = BTreeSet::new();
    let sql = "SELECT DISTINCT user_id, key FROM fact_history ORDER BY user_id, key";
    let all: Vec<(UserId, String)> =
        connection.rows("read the history", sql, [], |row| row.try_into())?;
    for (user, key) in all {
        if owner(user.as_str()) != tombstone.owner {
            continue;
        }
        if tombstone.is_about(&subject(user.as_str(), &key)) {
            let within = Some((scope, tombstone.until));
            if !forget::erase(connection, &user, Some(&key), within)?.states.is_empty() {
                touched.push((user.as_str().to_owned(), key));
            }
        }
        users.insert(user);
    }
    for operation in set_aside(connection)? {
        let is_meant =
            owner(&operation.user_id) == tombstone.owner && operation.clock <= tombstone.until;
        if is_meant && reaches(scope, &operation.scope) {
            drop_set_aside(connection, &operation)?;
        }
    }
    let only = Some(scope).filter(|scope| *scope != PRIVATE);
    for user in users {
        let sql = "SELECT turn_id FROM fact_history WHERE user_id = ?1 \
                   UNION SELECT after_json ->> 'source_turn_id' FROM fact_history WHERE user_id = ?1";
        let turns: Vec<Option<String>> = connection.column("read the history", sql, [&user])?;
        let is_wanted = |one: &String| tombstone.turns.contains(&turn(user.as_str(), one));
        let turns = turns.into_iter().flatten().filter(is_wanted).collect();
        let keys = forget::clear_turns(connection, &user, &turns, only)?;
        touched.extend(keys.into_iter().map(|key| (user.as_str().to_owned(), key)));
    }
    let mentions = tombstone.mentions.iter().filter(|mention| reaches(scope, &mention.0));
    touched.extend(clear(connection, &mentions.cloned().collect::<Vec<_>>())?);
    Ok(touched)
}

/// Rewrites the file if a pull erased something; returns whether nothing remains to be done.
///
/// If another process has the file open, or the time has run out, this is postponed.
pub(crate) fn clean_file(facts: &mut Facts, deadline: Option<Instant>) -> Result<bool> {
    let is_unclean = Device::find(facts.connection())?.is_some_and(|device| device.is_unclean);
    if !is_unclean {
        return Ok(true);
    }
    let left = deadline
        .map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
    if left.is_zero() || facts.lock_exclusive(left).is_err() {
        return Ok(false);
    }
    facts.vacuum()?;
    let sql = "UPDATE share_device SET is_unclean = 0";
    facts.write(|connection| connection.run("note what was cleaned", sql, []))?;
    Ok(true)
}
