//! Propagates erasures between devices, so that forgotten facts are erased everywhere and do not come back.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::facts::erase;
use crate::facts::query::Query;
use crate::facts::replication::device::Device;
use crate::facts::replication::operation::OperationAddress;
use crate::facts::replication::scope::PRIVATE;
use crate::facts::replication::surviving_history::{Forgotten, SurvivingHistory};
use crate::facts::replication::wire::{FactChange, Unreadable};
use crate::facts::replication::{operation, recorded, rows, wire};
use crate::facts::store::Facts;
use crate::facts::user::UserId;

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
    pub(crate) turns: Vec<String>,
    /// Other operations whose excerpt or reason mentioned it.
    mentions: Vec<OperationAddress>,
}

impl Tombstone {
    /// Returns whether it erases the key with this digest.
    fn is_about(&self, subject: &str) -> bool {
        self.subject.as_deref().is_none_or(|own| own == subject)
    }

    /// Returns the mentions that a tombstone of this scope may clear.
    fn mentions_within(&self, scope: &str) -> Vec<OperationAddress> {
        let mentions = self.mentions.iter();
        let within = mentions.filter(|mention| reaches(scope, &mention.scope));
        within.cloned().collect()
    }
}

/// Parses a received tombstone.
pub(crate) fn decode(payload: &str) -> std::result::Result<Tombstone, Unreadable> {
    wire::check_version(payload)?;
    serde_json::from_str(payload).map_err(|error| wire::broken(&error.to_string()))
}

/// The known tombstones.
#[derive(Debug, Default)]
pub(crate) struct Tombstones {
    /// Each with the scope in which it was forgotten.
    all: Vec<(String, Tombstone)>,
    /// Each with the scopes in which it was forgotten.
    turns: BTreeMap<String, BTreeSet<String>>,
    mentions: BTreeSet<OperationAddress>,
}

/// Returns whether an erasure in one scope applies to another: the user's own devices forget everywhere.
fn reaches(forgotten_in: &str, scope: &str) -> bool {
    forgotten_in == PRIVATE || forgotten_in == scope
}

impl Tombstones {
    pub(crate) fn read(connection: &Connection) -> Result<Self> {
        let rows = connection.rows(
            "read what was forgotten",
            "SELECT scope, tombstone FROM share_tombstones",
            [],
            |row| Ok((row.get(0)?, row.get::<_, String>(1)?)),
        )?;
        let mut tombstones = Self::default();
        for (scope, json) in rows {
            let tombstone = serde_json::from_str(&json)
                .map_err(|error| Error::failed(format!("invalid tombstone: {error}")))?;
            tombstones.remember(scope, tombstone);
        }
        Ok(tombstones)
    }

    fn remember(&mut self, scope: String, tombstone: Tombstone) {
        for turn in &tombstone.turns {
            let scopes = self.turns.entry(turn.clone()).or_default();
            scopes.insert(scope.clone());
        }
        self.mentions.extend(tombstone.mentions_within(&scope));
        self.all.push((scope, tombstone));
    }

    pub(crate) fn add(
        &mut self,
        connection: &Connection,
        scope: &str,
        tombstone: &Tombstone,
    ) -> Result<()> {
        insert(connection, scope, tombstone)?;
        self.remember(scope.to_owned(), tombstone.clone());
        Ok(())
    }

    /// Returns whether a fact of a scope that began at this clock is forgotten.
    pub(crate) fn covers(&self, scope: &str, user: &str, key: &str, born: i64) -> bool {
        if self.all.is_empty() {
            return false;
        }
        let (owner, subject) = (operation::owner(user), operation::subject(user, key));
        self.all.iter().any(|(forgotten_in, tombstone)| {
            tombstone.owner == owner
                && tombstone.is_about(&subject)
                && reaches(forgotten_in, scope)
                && born <= tombstone.until
        })
    }

    /// Clears excerpts and reason of a change that mentions a forgotten fact or shares a turn with one.
    pub(crate) fn scrub(
        &self,
        address: &OperationAddress,
        user: &str,
        change: &mut FactChange,
    ) -> bool {
        let is_mention = self.mentions.contains(address);
        if self.turns.is_empty() && !is_mention {
            return false;
        }
        let is_forgotten = |turn: &str| {
            let scopes = self.turns.get(&operation::turn(user, turn));
            scopes.is_some_and(|scopes| scopes.iter().any(|scope| reaches(scope, &address.scope)))
        };
        let is_meant = |turn: &str| is_mention || is_forgotten(turn);
        let mut is_scrubbed = false;
        if is_meant(&change.turn) {
            change.reason.clear();
            is_scrubbed = true;
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

fn json(tombstone: &Tombstone) -> Result<String> {
    serde_json::to_string(tombstone)
        .map_err(|error| Error::failed(format!("cannot write what was forgotten: {error}")))
}

fn insert(connection: &Connection, scope: &str, tombstone: &Tombstone) -> Result<()> {
    connection.run(
        "write what was forgotten",
        "INSERT INTO share_tombstones VALUES (?1, ?2)",
        [scope, &json(tombstone)?],
    )
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
    let mentions = new_mentions(connection)?;
    let tombstone = Tombstone {
        v: wire::VERSION,
        owner: operation::owner(user),
        subject: key.map(|key| operation::subject(user, key)),
        until: device.next_clock(clock.now()),
        turns: turns.iter().map(|turn| operation::turn(user, turn)).collect(),
        mentions: mentions.clone(),
    };
    send(connection, &mut device, &tombstone, clock)?;
    for (user, key) in clear(connection, &mentions)? {
        rows::merge_key(connection, &UserId::stored(user), &key, &clock.timestamp())?;
    }
    Ok(())
}

/// Announces further operations here that mentioned forgotten facts; returns their users and keys.
///
/// The device that forgot it may not have known those operations.
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
        v: wire::VERSION,
        owner: String::new(),
        subject: Some(String::new()),
        until: 0,
        turns: Vec::new(),
        mentions: mentions.clone(),
    };
    send(connection, device, &tombstone, clock)?;
    clear(connection, &mentions)
}

fn send(
    connection: &Connection,
    device: &mut Device,
    tombstone: &Tombstone,
    clock: Clock,
) -> Result<()> {
    insert(connection, PRIVATE, tombstone)?;
    let payload = json(tombstone)?;
    let ticked = device.next_clock(clock.now());
    for scope in scopes(connection)? {
        let number = recorded::next_number(connection, &scope, &device.id)?;
        let op_id = operation::digest(&["forget", &device.id, &ticked.to_string()]);
        connection.run(
            "write the operations",
            "INSERT INTO operations (scope, device, number, op_id, clock, kind, payload, noted_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, 'forget', ?6, ?7)",
            params![scope, device.id, number, op_id, ticked, payload, clock.timestamp()],
        )?;
    }
    device.save(connection)
}

/// Returns the scopes in which other devices may have data.
fn scopes(connection: &Connection) -> Result<Vec<String>> {
    connection.rows(
        "read the scopes",
        "SELECT DISTINCT scope FROM share_cursors ORDER BY scope",
        [],
        |row| row.get(0),
    )
}

/// Returns remaining operations that lost an excerpt or a reason here, and are in no tombstone yet.
fn new_mentions(connection: &Connection) -> Result<Vec<OperationAddress>> {
    let known = Tombstones::read(connection)?.mentions;
    let mut found: Vec<OperationAddress> = connection.rows(
        "read the operations",
        "SELECT scope, device, number FROM operations \
         WHERE is_rewritten AND kind = 'fact' AND number IS NOT NULL ORDER BY operation",
        [],
        |row| Ok(<(String, String, i64)>::try_from(row)?.into()),
    )?;
    found.retain(|address| !known.contains(address));
    Ok(found)
}

fn clear(connection: &Connection, mentions: &[OperationAddress]) -> Result<Vec<(String, String)>> {
    let mut touched = Vec::new();
    for OperationAddress { scope, device, number } in mentions {
        touched.extend(erase::clear_operation(connection, scope, device, *number)?);
    }
    Ok(touched)
}

/// Erases here what another device forgot; returns the users and keys whose rows must be merged.
///
/// Later statements of a key are kept, and so are those outside the scope in which it was forgotten.
pub(crate) fn apply(
    connection: &Connection,
    scope: &str,
    tombstone: &Tombstone,
) -> Result<Vec<(String, String)>> {
    let mut touched = Vec::new();
    let mut users = BTreeSet::new();
    let only = Some(scope).filter(|scope| *scope != PRIVATE);
    for (user, key) in recorded::keys(connection)? {
        if operation::owner(&user) != tombstone.owner {
            continue;
        }
        if tombstone.is_about(&operation::subject(&user, &key)) {
            let id = UserId::stored(user.clone());
            let forgotten = Forgotten { user: &user, key: &key, scope, until: tombstone.until };
            let kept = SurvivingHistory::read(connection, forgotten)?;
            if !kept.is_all {
                erase::erase_key(connection, &id, &key, only)?;
                kept.write(connection)?;
                touched.push((user.clone(), key));
            }
        }
        users.insert(user);
    }
    drop_set_aside(connection, scope, tombstone)?;
    let wanted: BTreeSet<&String> = tombstone.turns.iter().collect();
    for user in users {
        let id = UserId::stored(user.clone());
        let turns = turns_of(connection, &user)?;
        let turns: BTreeSet<String> = turns
            .into_iter()
            .filter(|turn| wanted.contains(&operation::turn(&user, turn)))
            .collect();
        touched.extend(
            erase::clear_turns(connection, &id, &turns, only)?
                .into_iter()
                .map(|key| (user.clone(), key)),
        );
    }
    let mentions = tombstone.mentions_within(scope);
    touched.extend(clear(connection, &mentions)?);
    Ok(touched)
}

fn turns_of(connection: &Connection, user: &str) -> Result<Vec<String>> {
    let sql = "SELECT turn_id FROM fact_history WHERE user_id = ?1 \
               UNION SELECT after_json ->> 'source_turn_id' FROM fact_history WHERE user_id = ?1 AND after_json IS NOT NULL";
    connection.rows("read the history", sql, [user], |row| row.get(0))
}

/// Drops the operations set aside that may contain forgotten facts.
fn drop_set_aside(connection: &Connection, scope: &str, tombstone: &Tombstone) -> Result<()> {
    let rows = connection.rows(
        "read what was set aside",
        "SELECT scope, device, number, received FROM share_set_aside",
        [],
        |row| {
            let address = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok((OperationAddress::from(address), row.get::<_, String>(3)?))
        },
    )?;
    for (address, received) in rows {
        let received: serde_json::Value = serde_json::from_str(&received).unwrap_or_default();
        let user = received.get("user_id").and_then(serde_json::Value::as_str).unwrap_or_default();
        let clock = received.get("clock").and_then(serde_json::Value::as_i64).unwrap_or(0);
        let is_meant = operation::owner(user) == tombstone.owner && clock <= tombstone.until;
        if is_meant && reaches(scope, &address.scope) {
            connection.run(
                "forget what was set aside",
                "DELETE FROM share_set_aside WHERE scope = ?1 AND device = ?2 AND number = ?3",
                params![address.scope, address.device, address.number],
            )?;
        }
    }
    Ok(())
}

/// Records that erased rows may remain in free pages of the file.
pub(crate) fn needs_cleaning(connection: &Connection) -> Result<()> {
    connection.run("note what is to be cleaned", "UPDATE share_device SET is_unclean = 1", [])
}

/// Rewrites the file if a pull erased something; returns whether nothing remains to be done.
///
/// If another process has the file open, or the time has run out, this is postponed.
pub(crate) fn clean_file(facts: &mut Facts, deadline: Option<Instant>) -> Result<bool> {
    let is_unclean = Device::find(facts.connection())?.is_some_and(|device| device.is_unclean);
    if !is_unclean {
        return Ok(true);
    }
    let left = match deadline {
        Some(deadline) => deadline.saturating_duration_since(Instant::now()),
        None => Duration::MAX,
    };
    if left.is_zero() || facts.lock_exclusive_within(left).is_err() {
        return Ok(false);
    }
    facts.vacuum()?;
    facts.write(|connection| {
        let sql = "UPDATE share_device SET is_unclean = 0";
        connection.run("note what was cleaned", sql, [])
    })?;
    Ok(true)
}
