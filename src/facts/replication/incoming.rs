//! Receives the operations of other devices, each once and in the order of its device.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use rusqlite::params;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::facts::fact::UserId;
use crate::facts::history::{Cause, Change};
use crate::facts::replication::merge::merge_key;
use crate::facts::replication::{
    Address, DEVICE, Operation, PRIVATE, VERSION, broken, cursors, decode, digest, is_known_line,
    joined, line_id, next, owner, read, required, set_cursor, subject, turn,
};
use crate::facts::store::{Facts, json, stored_as_json};
use crate::facts::{forget, history, profile};
use crate::secrets;

/// Maximum length of a line, in bytes, as the journal has it.
const MAX_LINE: usize = 8 << 20;

/// Clocks from here on are invalid: two thousand years ahead, which leaves room to count beyond them.
const MAX_CLOCK: i64 = 1 << 62;

/// The outcome of a batch.
#[derive(Default)]
pub(crate) struct Incoming {
    /// Number of new operations.
    pub(crate) operations: usize,
    /// Lines for the journal, each with its device.
    pub(crate) lines: Vec<(String, String)>,
    /// Number of operations that were set aside.
    pub(crate) set_aside: usize,
}

/// Receives a batch in the running transaction; known operations are skipped. Those that were set aside are retried:
/// this program may understand them by now.
pub(crate) fn receive(facts: &Facts, batch: &[Operation], is_retry: bool) -> Result<Incoming> {
    required(facts)?;
    let mut known = cursors(facts)?;
    let mut moved = BTreeSet::new();
    let mut receiver = Receiver {
        facts,
        latest: 0,
        tombstones: Tombstones::read(facts)?,
        subjects: HashMap::new(),
        touched: BTreeSet::new(),
        has_forgotten: false,
        incoming: Incoming::default(),
    };
    for operation in batch {
        if is_retry {
            drop_set_aside(facts, operation)?;
            receiver.take(operation)?;
            continue;
        }
        let device = (operation.scope.clone(), operation.device.clone());
        let reached = known.get(&device).copied().unwrap_or(0);
        // Duplicates are skipped; after a gap, the rest waits for the next pull.
        if operation.number == reached + 1 {
            receiver.incoming.operations += 1;
            receiver.take(operation)?;
            known.insert(device.clone(), operation.number);
            moved.insert(device);
        }
    }
    for device in moved {
        set_cursor(facts, &device.0, &device.1, known[&device])?;
    }
    receiver.finish()
}

/// Returns the operations that were set aside.
pub(crate) fn set_aside(facts: &Facts) -> Result<Vec<Operation>> {
    facts.column("SELECT received FROM share_set_aside ORDER BY scope, device, number", [])
}

/// Drops an operation that was set aside.
fn drop_set_aside(facts: &Facts, operation: &Operation) -> Result<()> {
    let sql = "DELETE FROM share_set_aside WHERE scope = ?1 AND device = ?2 AND number = ?3";
    facts.run(sql, operation.address())
}

/// Returns the line in a payload: a JSON object with a `content`, without a secret.
fn line(payload: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Line {
        line: String,
    }
    let Line { line } = read(payload)?;
    let fields: Value = serde_json::from_str(&line).map_err(broken)?;
    let is_record = fields.get("content").is_some_and(Value::is_string);
    if !is_record || line.contains('\n') || line.len() > MAX_LINE {
        return Err(Error::refused("not understood: not a journal record"));
    }
    match secrets::first_rule(&fields.to_string()) {
        Some(rule) => Err(Error::refused(format!("it looks like a secret ({rule})"))),
        None => Ok(line),
    }
}

struct Receiver<'a> {
    facts: &'a Facts,
    latest: i64,
    tombstones: Tombstones,
    /// User and key of each fact of this batch, by its id.
    subjects: HashMap<String, Subject>,
    /// Users and keys whose rows must be merged.
    touched: BTreeSet<Subject>,
    has_forgotten: bool,
    incoming: Incoming,
}

impl Receiver<'_> {
    /// Applies an operation, or sets it aside with the reason if it is refused.
    fn take(&mut self, operation: &Operation) -> Result<()> {
        let reason = match self.apply(operation) {
            Err(error) if error.kind != ErrorKind::Failed => error.message,
            done => return done,
        };
        self.incoming.set_aside += 1;
        let Operation { scope, device, number, .. } = operation;
        let sql =
            "INSERT INTO share_set_aside VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
        let values = params![scope, device, number, operation, reason, self.facts.now()];
        self.facts.run(sql, values)
    }

    fn apply(&mut self, operation: &Operation) -> Result<()> {
        if !(0..MAX_CLOCK).contains(&operation.clock) {
            return Err(Error::refused("invalid clock"));
        }
        self.latest = self.latest.max(operation.clock);
        let payload = operation.payload.as_deref();
        let payload = payload.ok_or_else(|| Error::refused("not understood: it is empty"));
        match operation.kind.as_str() {
            "fact" => self.fact(operation, decode(payload?, &operation.user_id)?),
            "line" => {
                let line = line(payload?)?;
                let op_id = line_id(&line);
                if !is_known_line(self.facts, &op_id)? {
                    self.incoming.lines.push((operation.device.clone(), line));
                }
                self.store(&Operation { op_id, ..operation.clone() })
            }
            "forget" => {
                let (scope, tombstone) = (&operation.scope, read(payload?)?);
                self.store(operation)?;
                self.touched.extend(erase(self.facts, scope, &tombstone)?);
                insert(self.facts, scope, &tombstone)?;
                self.tombstones.0.push((scope.clone(), tombstone));
                self.has_forgotten = true;
                Ok(())
            }
            "erased" | "withheld" => self.store_erased(operation, false),
            kind => Err(Error::refused(format!("unknown kind {kind:?}"))),
        }
    }

    fn store(&self, operation: &Operation) -> Result<()> {
        operation.store(self.facts, None, false)
    }

    fn store_erased(&self, operation: &Operation, is_rewritten: bool) -> Result<()> {
        let mut erased = operation.clone();
        erased.withhold("erased");
        erased.store(self.facts, None, is_rewritten)
    }

    fn fact(&mut self, operation: &Operation, mut change: Change) -> Result<()> {
        let subject = (operation.user_id.clone(), change.key.clone());
        let born = operation.born.unwrap_or(operation.clock);
        if self.tombstones.covers(&operation.scope, &subject, born) {
            return self.store_erased(operation, true);
        }
        // Rows are merged only after the batch, so its own ids are remembered.
        let id = &change.fact_id;
        let in_batch = self.subjects.entry(id.clone()).or_insert_with(|| subject.clone());
        let sql = "SELECT 1 FROM facts WHERE fact_id = ?1 AND (user_id <> ?2 OR key <> ?3) \
             UNION ALL SELECT 1 FROM facts_archive WHERE fact_id = ?1 AND (user_id <> ?2 OR key <> ?3)";
        if *in_batch != subject || self.facts.exists(sql, params![id, subject.0, subject.1])? {
            return Err(Error::refused("fact_id belongs to another fact"));
        }
        let is_scrubbed = self.tombstones.scrub(operation, &mut change);
        let Change { action, reason, turn_id: turn, at, before, after, .. } = &change;
        let cause = Cause { action, reason, turn };
        let elsewhere = Some((operation.device.as_str(), at.as_str()));
        let history = history::record(self.facts, cause, before.as_ref(), after, elsewhere)?;
        let stored = Operation { born: Some(born), ..operation.clone() };
        stored.store(self.facts, Some(history), is_scrubbed)?;
        self.touched.insert(subject);
        Ok(())
    }

    fn finish(mut self) -> Result<Incoming> {
        let sql = "UPDATE share_device SET clock = max(clock, ?1), is_unclean = is_unclean OR ?2";
        // Erased rows may remain in free pages of the file.
        self.facts.run(sql, params![self.latest, self.has_forgotten])?;
        if self.has_forgotten {
            forget::rebuild_index(self.facts)?;
            // Operations here may mention what is forgotten without the device that forgot it having known them.
            if !new_mentions(self.facts)?.is_empty() {
                // The digest of nobody, and of no key.
                let more = Tombstone { subject: Some(String::new()), ..Tombstone::default() };
                self.touched.extend(send(self.facts, more)?);
            }
        }
        let mut users = BTreeSet::new();
        for (user, key) in self.touched {
            merge_key(self.facts, &user, &key)?;
            users.insert(user);
        }
        let due = |user| profile::add_turns(self.facts, user, u32::MAX);
        users.iter().try_for_each(due)?;
        Ok(self.incoming)
    }
}

/// A user and a key.
type Subject = (UserId, String);

/// A record that something was forgotten, which contains only digests.
#[derive(Default, Serialize, Deserialize)]
struct Tombstone {
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
    mentions: BTreeSet<Address>,
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
struct Tombstones(Vec<(String, Tombstone)>);

impl Tombstones {
    fn read(facts: &Facts) -> Result<Self> {
        facts.list("SELECT scope, tombstone FROM share_tombstones", []).map(Self)
    }

    /// Returns the tombstones that apply to a scope.
    fn reaching<'t>(&'t self, scope: &str) -> impl Iterator<Item = &'t Tombstone> {
        self.0.iter().filter(|one| reaches(&one.0, scope)).map(|one| &one.1)
    }

    /// Returns whether a fact of a scope that began at this clock is forgotten.
    fn covers(&self, scope: &str, (user, key): &Subject, born: i64) -> bool {
        let user = user.as_str();
        let (owner, subject) = (owner(user), subject(user, key));
        self.reaching(scope)
            .any(|one| one.owner == owner && one.is_about(&subject) && born <= one.until)
    }

    /// Clears excerpts and reason of a change that mentions a forgotten fact or shares a turn with one; returns
    /// whether it did.
    fn scrub(&self, operation: &Operation, change: &mut Change) -> bool {
        let address = operation.address();
        let is_meant = |said_in: &str| {
            let said_in = turn(operation.user_id.as_str(), said_in);
            self.reaching(&operation.scope)
                .any(|one| one.turns.contains(&said_in) || one.mentions.contains(&address))
        };
        let mut is_scrubbed = is_meant(&change.turn_id);
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

fn insert(facts: &Facts, scope: &str, tombstone: &Tombstone) -> Result<()> {
    facts.run("INSERT INTO share_tombstones VALUES (?1, ?2)", params![scope, tombstone])
}

/// Records a tombstone for other devices, in the transaction that erases; does nothing if not shared.
pub(crate) fn record_tombstone(
    facts: &Facts,
    user: &UserId,
    key: Option<&str>,
    turns: &BTreeSet<String>,
) -> Result<()> {
    if joined(facts)?.is_none() {
        return Ok(());
    }
    let user = user.as_str();
    let tombstone = Tombstone {
        owner: owner(user),
        subject: key.map(|key| subject(user, key)),
        // All that was made or seen here by now.
        until: next(facts, DEVICE, "forget", facts.clock.now())?.clock,
        turns: turns.iter().map(|one| turn(user, one)).collect(),
        ..Tombstone::default()
    };
    let mut touched = send(facts, tombstone)?.into_iter();
    touched.try_for_each(|(user, key)| merge_key(facts, &user, &key))
}

/// Makes a tombstone with the new mentions an operation in each scope in which other devices may have data, and
/// clears what it mentions here.
fn send(facts: &Facts, mut tombstone: Tombstone) -> Result<Vec<Subject>> {
    tombstone.v = VERSION;
    tombstone.mentions = new_mentions(facts)?;
    insert(facts, PRIVATE, &tombstone)?;
    let mut op_id = String::new();
    let sql = "SELECT DISTINCT scope FROM share_cursors ORDER BY scope";
    for scope in facts.column::<String>(sql, [])? {
        let mut operation = next(facts, &scope, "forget", facts.clock.now())?;
        if op_id.is_empty() {
            op_id = digest(&["forget", &operation.device, &operation.clock.to_string()]);
        }
        operation.op_id.clone_from(&op_id);
        operation.payload = Some(json(&tombstone)?);
        operation.store(facts, None, false)?;
    }
    clear(facts, PRIVATE, &tombstone)
}

/// Returns remaining operations that lost an excerpt or a reason here, and are in no tombstone yet.
fn new_mentions(facts: &Facts) -> Result<BTreeSet<Address>> {
    let sql = "SELECT scope, device, number FROM operations \
               WHERE is_rewritten AND kind = 'fact' AND number IS NOT NULL";
    let mut found: BTreeSet<Address> = facts.list(sql, [])?.into_iter().collect();
    if !found.is_empty() {
        let known = Tombstones::read(facts)?;
        let is_known = |address: &Address| {
            known.reaching(&address.0).any(|one| one.mentions.contains(address))
        };
        found.retain(|address| !is_known(address));
    }
    Ok(found)
}

/// Clears the excerpts and reasons of the operations that a tombstone mentions; returns their users and keys.
fn clear(facts: &Facts, scope: &str, tombstone: &Tombstone) -> Result<Vec<Subject>> {
    let sql = "SELECT history_id, user_id FROM operations JOIN fact_history USING (history_id) \
               WHERE scope = ?1 AND operations.device = ?2 AND number = ?3";
    let mut touched = Vec::new();
    for mention in tombstone.mentions.iter().filter(|mention| reaches(scope, &mention.0)) {
        for (history, user) in facts.list::<(i64, UserId)>(sql, mention.clone())? {
            let key = forget::clear_change(facts, &user, history)?;
            touched.push((user, key));
        }
    }
    Ok(touched)
}

/// Erases here what another device forgot; returns the users and keys whose rows must be merged.
fn erase(facts: &Facts, scope: &str, tombstone: &Tombstone) -> Result<Vec<Subject>> {
    let mut touched = clear(facts, scope, tombstone)?;
    let is_owner = |user: &str| owner(user) == tombstone.owner;
    let users: Vec<UserId> = facts.column("SELECT DISTINCT user_id FROM fact_history", [])?;
    let only = Some(scope).filter(|scope| *scope != PRIVATE);
    if let Some(user) = users.iter().find(|user| is_owner(user.as_str())) {
        let name = user.as_str();
        let sql = "SELECT turn_id FROM fact_history WHERE user_id = ?1 \
                   UNION SELECT coalesce(after_json ->> 'source_turn_id', '') FROM fact_history WHERE user_id = ?1";
        let mut turns: BTreeSet<String> = facts.column(sql, [user])?.into_iter().collect();
        turns.retain(|one| tombstone.turns.contains(&turn(name, one)));
        let sql = "SELECT DISTINCT key FROM fact_history WHERE user_id = ?1";
        let mut keys: Vec<String> = facts.column(sql, [user])?;
        keys.retain(|key| tombstone.is_about(&subject(name, key)));
        for key in keys {
            let within = Some((scope, tombstone.until));
            if !forget::erase(facts, user, Some(&key), within)?.states.is_empty() {
                touched.push((user.clone(), key));
            }
        }
        let keys = forget::clear_turns(facts, user, &turns, only)?;
        touched.extend(keys.into_iter().map(|key| (user.clone(), key)));
    }
    for operation in set_aside(facts)? {
        let is_meant = is_owner(operation.user_id.as_str()) && operation.clock <= tombstone.until;
        if is_meant && reaches(scope, &operation.scope) {
            drop_set_aside(facts, &operation)?;
        }
    }
    Ok(touched)
}

/// Rewrites the file if a pull erased something; returns whether nothing remains to be done.
///
/// If another process has the file open, or the time has run out, this is postponed.
pub(crate) fn clean_file(facts: &Facts, deadline: Option<Instant>) -> Result<bool> {
    if !facts.exists("SELECT 1 FROM share_device WHERE is_unclean", [])? {
        return Ok(true);
    }
    let left = deadline
        .map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
    if left.is_zero() || facts.lock_exclusive(left).is_err() {
        return Ok(false);
    }
    facts.vacuum()?;
    let sql = "UPDATE share_device SET is_unclean = 0";
    facts.write(|| facts.run(sql, []))?;
    Ok(true)
}
