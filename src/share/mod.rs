//! Shares facts and journal between devices, through the user's own PostgreSQL database.
//!
//! SQLite and the journal file remain the stores that are read and written; the server only passes operations
//! on. `docs/share.md` describes what is sent, and `facts::replication` how it is merged.

mod server;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::params;
use serde::Serialize;
use serde_json::json;
pub use server::SharedDevice;

use crate::error::{Error, Result};
use crate::facts::replication::{
    Address, Cursors, DEVICE, Incoming, Operation, PRIVATE, VERSION, is_known_line, line_id, mark,
    next,
};
use crate::facts::{Facts, Forgotten, SharingState, UserId, replication};
use crate::journal::SharedLine;
use crate::project::Project;
use crate::share::server::{SyncServer, find_address};
use crate::storage::Log;
use crate::{facts, journal, secrets};

/// Timeout for a statement of `init` and `leave`.
const WAIT: Duration = Duration::from_secs(30);

/// Timeout for the server where its state is only shown, since the local state alone is useful.
const SHOWN: Duration = Duration::from_secs(3);

/// Time budget for each direction of the sync around a `forget`.
const FORGET: Duration = Duration::from_secs(20);

/// The outcome of `annals share init`.
#[derive(Debug, Serialize)]
pub struct Initialised {
    /// The server.
    pub server: String,
    /// Whether the tables were created.
    pub has_made_tables: bool,
    /// The id of this device; `None` on a dry run if it has none yet.
    pub device: Option<String>,
    /// Number of operations to be sent.
    pub pending: usize,
}

/// The outcome of `annals share leave`.
#[derive(Debug, Serialize)]
pub struct LeaveReport {
    /// The device that left.
    pub device: String,
    /// The reason if the server could not be updated.
    #[serde(rename = "untold")]
    pub server_error: Option<String>,
}

/// The state of sharing.
#[derive(Debug, Serialize)]
pub struct ShareStatus {
    /// The server in the settings, without its password.
    pub server: Option<String>,
    /// This device, or `None` if the database was never shared.
    #[serde(flatten)]
    pub here: Option<SharingState>,
    /// All devices, if the server was reached.
    pub devices: Vec<SharedDevice>,
    /// The reason if the server was not reached.
    pub unreachable: Option<String>,
}

/// Returns whether a server is set.
pub fn is_configured(project: &Project) -> bool {
    project.settings.share.url.is_some()
}

/// Returns whether this database is shared and a server is set.
pub fn is_active(project: &Project, facts: &Facts) -> Result<bool> {
    Ok(is_configured(project) && replication::joined(facts)?.is_some())
}

/// Creates the server's tables if they are missing, and adds this database as a device.
pub fn init(project: &Project, facts: &Facts) -> Result<Initialised> {
    let mut server = SyncServer::connect(project, WAIT)?;
    let mut has_made_tables = false;
    let device = if facts.dry_run {
        replication::joined(facts)?
    } else {
        has_made_tables = server.set_up()?;
        server.state()?;
        let device = replication::join(facts)?;
        // All scopes in the settings, and the private one.
        let share = &project.settings.share;
        let mut scopes: BTreeSet<String> =
            share.scopes.iter().map(|rule| &rule.1).chain([&share.journal]).cloned().collect();
        scopes.insert(PRIVATE.to_owned());
        scopes.remove(DEVICE);
        server.introduce(&device, &Vec::from_iter(scopes))?;
        Some(device)
    };
    let (server, pending) =
        (find_address(project)?.to_string(), replication::pending_count(facts)?);
    Ok(Initialised { server, has_made_tables, device, pending })
}

/// Stops sharing this database, and keeps its facts.
pub fn leave(project: &Project, facts: &Facts) -> Result<LeaveReport> {
    let Some(device) = replication::joined(facts)? else {
        return Err(Error::not_found("this database is not shared"));
    };
    let mut server_error = None;
    if !facts.dry_run {
        // The server's list of devices may become outdated.
        server_error = connect(project, facts, WAIT)
            .and_then(|(_, mut server, _)| server.note(&device, "left_at"))
            .err()
            .map(|error| error.reason());
        replication::leave(facts)?;
    }
    Ok(LeaveReport { device, server_error })
}

/// Returns the state of sharing; with `offline`, without contacting the server.
pub fn status(project: &Project, facts: &Facts, offline: bool) -> Result<ShareStatus> {
    let here = facts::sharing(facts)?;
    let is_part = here.as_ref().is_some_and(|here| !here.has_left);
    let mut status = ShareStatus { server: None, here, devices: Vec::new(), unreachable: None };
    if !is_configured(project) {
        return Ok(status);
    }
    status.server = Some(find_address(project)?.to_string());
    if is_part && !offline {
        let devices =
            connect(project, facts, SHOWN).and_then(|(_, mut server, _)| server.devices());
        match devices {
            Ok(devices) => status.devices = devices,
            Err(error) => status.unreachable = Some(error.reason()),
        }
    }
    Ok(status)
}

/// Forgets a user's facts, all or those under one key, and at once on the server if the database is shared; the
/// second value is the reason if the server could not be updated.
///
/// Operations of other devices are pulled first, so that all mentions of the facts are known.
pub fn forget(
    project: &Project,
    facts: &Facts,
    user: &UserId,
    key: Option<&str>,
    reason: &str,
) -> Result<(Forgotten, Option<String>)> {
    if !is_active(project, facts)? || facts.dry_run {
        return Ok((facts::forget(facts, user, key, reason)?, None));
    }
    // An unreachable server is updated by the next sync.
    let pulled = sync(project, facts, Direction::Pull, Some(FORGET));
    let forgotten = facts::forget(facts, user, key, reason)?;
    let pushed = pulled.and_then(|_| sync(project, facts, Direction::Push, Some(FORGET)));
    Ok((forgotten, pushed.err().map(|error| error.reason())))
}

/// Returns the device id, a connection, and the number of each device's last operation on the server; fails if the
/// database is not shared or no server is set.
fn connect(
    project: &Project,
    facts: &Facts,
    wait: Duration,
) -> Result<(String, SyncServer, Cursors)> {
    let device = replication::required(facts)?;
    let mut server = SyncServer::connect(project, wait)?;
    let highest = server.state()?;
    Ok((device, server, highest))
}

/// Number of operations that are sent or fetched at once.
const BATCH: usize = 5_000;

/// The same for a time budget of less than two seconds, because a batch is not interrupted.
const SMALL_BATCH: usize = 500;
const SHORT: Duration = Duration::from_secs(2);

/// Timeout for each SQL statement of a sync without a time budget.
const SYNC_WAIT: Duration = Duration::from_mins(2);

/// The direction in which operations are transferred.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Direction {
    /// From this device to the server.
    Push,
    /// From the server to this device.
    Pull,
    /// Both.
    Both,
}

/// The outcome of a sync.
#[derive(Debug, Default, Serialize)]
pub struct Synced {
    /// The device.
    pub device: String,
    /// Number of operations sent.
    pub pushed: usize,
    /// Number of operations of other devices that were received.
    pub pulled: usize,
    /// Number of those that are journal lines.
    pub lines: usize,
    /// Number of operations that were not understood and were set aside.
    pub set_aside: usize,
    /// Devices with an operation missing on the server, so that their later operations wait.
    pub stuck: Vec<String>,
    /// Number of operations withheld because they contain what looks like a secret.
    pub withheld: usize,
    /// Number of lines of this device that were not sent because no journal contains them any more.
    pub missing_lines: usize,
    /// Whether this database turned out to be a copy, and got a new device id.
    pub is_renamed: bool,
    /// Whether time ran out; the next sync continues from there.
    pub is_partial: bool,
    /// Whether facts forgotten on other devices may remain in free pages of the file: another process has it
    /// open, or time ran out.
    pub is_unclean: bool,
    /// Number of round trips to the server.
    pub round_trips: u32,
}

/// Syncs this device with the server, within a time budget if one is given.
///
/// Each batch is atomic, and an interrupted sync is continued by the next one.
pub fn sync(
    project: &Project,
    facts: &Facts,
    direction: Direction,
    budget: Option<Duration>,
) -> Result<Synced> {
    let deadline = budget.map(|budget| Instant::now() + budget);
    let connected = connect(project, facts, budget.unwrap_or(SYNC_WAIT));
    let result = connected.and_then(|(device, server, highest)| {
        facts.enlarge_cache()?;
        let is_short = budget.is_some_and(|budget| budget < SHORT);
        let mut run = SyncRun {
            project,
            facts,
            server,
            highest,
            journal: journal::default_path(&project.environment).ok(),
            deadline,
            batch: if is_short { SMALL_BATCH } else { BATCH },
            done: Synced { device, ..Synced::default() },
        };
        run.work(direction)?;
        run.done.round_trips = run.server.round_trips;
        Ok(run.done)
    });
    let failure = result.as_ref().err().map(Error::reason);
    replication::synced(facts, failure.as_deref())?;
    result
}

/// A running sync.
struct SyncRun<'a> {
    project: &'a Project,
    facts: &'a Facts,
    server: SyncServer,
    /// The number of each device's last operation on the server.
    highest: Cursors,
    journal: Option<PathBuf>,
    deadline: Option<Instant>,
    batch: usize,
    done: Synced,
}

impl SyncRun<'_> {
    fn work(&mut self, direction: Direction) -> Result<()> {
        if self.facts.dry_run {
            return self.preview(direction);
        }
        self.ensure_own_name()?;
        if let Some(path) = self.journal.clone() {
            let scope = self.project.settings.share.journal.as_str();
            let mut portion = PORTION;
            while portion == PORTION && !self.is_over() {
                portion = self.facts.write(|| catch_up(self.facts, &path, scope))?;
            }
        }
        if direction != Direction::Push {
            self.pull()?;
        }
        if direction != Direction::Pull {
            self.push()?;
            self.rewrite()?;
        }
        self.done.is_unclean = !replication::clean_file(self.facts, self.deadline)?;
        Ok(())
    }

    /// Counts what would be sent and received.
    fn preview(&mut self, direction: Direction) -> Result<()> {
        if direction != Direction::Pull {
            self.done.pushed = replication::pending_count(self.facts)?;
        }
        if direction != Direction::Push {
            for (scope, device, number) in self.missing()? {
                let more = self.highest.get(&(scope, device)).map_or(0, |highest| highest - number);
                self.done.pulled += usize::try_from(more).unwrap_or(0);
            }
        }
        Ok(())
    }

    fn is_over(&mut self) -> bool {
        let is_over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        self.done.is_partial |= is_over;
        is_over
    }

    /// Checks that this database is still the only one with its device id; returns whether that had to be changed.
    ///
    /// If the server has more operations of this device than were recorded as sent, either an acknowledgement was
    /// lost, and the operations are identical; or the database was restored from an older copy or copied to
    /// another machine, and they differ. In the latter case, this database becomes a new device.
    fn ensure_own_name(&mut self) -> Result<bool> {
        let sent = replication::cursors(self.facts)?;
        let own: BTreeSet<_> = self
            .highest
            .keys()
            .chain(sent.keys())
            .filter(|one| one.1 == self.done.device)
            .cloned()
            .collect();
        let (mut agreed, mut is_another) = (Vec::new(), false);
        for address in own {
            let remembered = sent.get(&address).copied().unwrap_or(0);
            let there = self.highest.get(&address).copied().unwrap_or(0);
            // If the server lost some operations, they are sent again.
            let (mut same, mut differs) = (there.min(remembered), false);
            while same < there && !differs {
                let after = (address.0.clone(), address.1.clone(), same);
                let batch = self.server.fetch(&[after], BATCH)?;
                differs = batch.is_empty();
                for one in &batch {
                    differs |= !replication::is_unchanged(self.facts, one)?;
                    if !differs {
                        same = one.number;
                    }
                }
            }
            is_another |= differs;
            if same != remembered {
                replication::acknowledge(self.facts, &address.0, same)?;
            }
            agreed.push((address.0, same));
        }
        if is_another {
            self.done.device = replication::renew(self.facts, &agreed)?;
            self.done.is_renamed = true;
        }
        Ok(is_another)
    }

    /// Returns the last known operation of each device of which the server has more.
    fn missing(&self) -> Result<Vec<Address>> {
        let cursors = replication::cursors(self.facts)?;
        let known = |of: &(String, String)| cursors.get(of).copied().unwrap_or(0);
        let others = self
            .highest
            .iter()
            .filter(|(of, highest)| of.1 != self.done.device && known(of) < **highest);
        Ok(others.map(|(of, _)| (of.0.clone(), of.1.clone(), known(of))).collect())
    }

    fn pull(&mut self) -> Result<()> {
        let aside = replication::set_aside(self.facts)?;
        if !aside.is_empty() {
            self.take_in(&aside, true)?;
        }
        let mut stuck = BTreeSet::new();
        loop {
            let mut missing = self.missing()?;
            missing.retain(|one| !stuck.contains(&one.1));
            if missing.is_empty() || self.is_over() {
                break;
            }
            let batch = self.server.fetch(&missing, self.batch)?;
            let incoming = self.take_in(&batch, false)?;
            self.done.pulled += incoming.operations;
            self.done.lines += incoming.lines.len();
            self.done.set_aside += incoming.set_aside;
            if incoming.operations == 0 {
                // The server lacks the next operation of these devices, unless another run here has taken it in meanwhile;
                // the others must not wait for it.
                let still: HashSet<Address> = self.missing()?.into_iter().collect();
                let is_of_batch =
                    |device: &str| batch.is_empty() || batch.iter().any(|one| one.device == device);
                missing.retain(|one| still.contains(one) && is_of_batch(&one.1));
                stuck.extend(missing.into_iter().map(|one| one.1));
            }
        }
        self.done.stuck = stuck.into_iter().collect();
        if self.done.pulled > 0 {
            self.server.note(&self.done.device, "pulled_at")?;
        }
        Ok(())
    }

    /// Receives operations, or retries those that were set aside, and appends their journal lines, in one
    /// transaction.
    fn take_in(&mut self, batch: &[Operation], is_retry: bool) -> Result<Incoming> {
        let Project { settings, environment, .. } = self.project;
        self.facts.write(|| {
            // Without a journal, its lines would be lost: the error undoes the receipt.
            let has_lines = batch.iter().any(|one| one.kind == "line");
            let path = has_lines.then(|| journal::default_path(environment)).transpose()?;
            // The lock keeps others from adding lines between reading the journal and appending to it.
            let mut log = path.as_deref().map(Log::lock).transpose()?;
            if let Some(path) = &path {
                while catch_up(self.facts, path, &settings.share.journal)? > 0 {}
            }
            let incoming = replication::receive(self.facts, batch, is_retry)?;
            if let Some(log) = &mut log {
                let lines =
                    incoming.lines.iter().map(|(device, line)| journal::marked(line, device));
                log.append(lines.collect::<String>().as_bytes())?;
            }
            Ok(incoming)
        })
    }

    fn push(&mut self) -> Result<()> {
        loop {
            let mut batch = replication::pending(self.facts, self.batch)?;
            let Some((scope, _, last)) = batch.last().map(Operation::address) else {
                return Ok(());
            };
            if self.is_over() {
                return Ok(());
            }
            let missing = load_payloads(self.facts, self.journal.as_deref(), &mut batch)?;
            self.done.missing_lines += missing;
            // Of operations that may contain a secret, only the numbers are sent.
            let mut withheld = Vec::new();
            for operation in &mut batch {
                if operation.payload.as_deref().and_then(secrets::first_rule).is_some() {
                    operation.withhold("withheld");
                    withheld.push(operation.address());
                }
            }
            if !withheld.is_empty() {
                self.done.withheld += withheld.len();
                self.facts.write(|| mark(self.facts, "is_withheld = 1", &withheld))?;
            }
            let new = self.server.insert(&batch)?;
            if new < batch.len() {
                // Another run of this device was faster, or another device has the same id.
                self.highest = self.server.state()?;
                if self.ensure_own_name()? {
                    continue;
                }
            }
            self.done.pushed += new;
            replication::acknowledge(self.facts, &scope, last)?;
        }
    }

    /// Overwrites operations on the server that were forgotten here after they were sent.
    fn rewrite(&mut self) -> Result<()> {
        loop {
            let changed = replication::rewritten(self.facts, self.batch)?;
            if changed.is_empty() || self.is_over() {
                return Ok(());
            }
            self.server.rewrite(&changed)?;
            let sent: Vec<Address> = changed.iter().map(Operation::address).collect();
            self.facts.write(|| mark(self.facts, "is_rewritten = 0", &sent))?;
        }
    }
}

/// Number of lines that become operations in one transaction.
const PORTION: usize = 10_000;

/// Creates operations in a scope for a portion of the lines added to a journal; returns the number of lines read.
fn catch_up(facts: &Facts, path: &Path, scope: &str) -> Result<usize> {
    let name = path.to_string_lossy();
    // The offset of the last line read, and its digest. A journal that was replaced is read from its beginning;
    // known lines are skipped.
    let sql = "SELECT reached, last_line FROM share_journal WHERE path = ?1";
    let known = match facts.optional::<(u64, String)>(sql, [&name])? {
        Some((reached, last_line)) => {
            let line = journal::line_at(path, reached)?;
            line.is_some_and(|line| line_id(&line.line) == last_line).then_some(reached)
        }
        None => None,
    };
    let (mut read, mut reached) = (0, None);
    journal::lines_from(path, known.unwrap_or(0), |line| {
        let op_id = line_id(&line.line);
        reached = Some((line.offset, op_id.clone()));
        if Some(line.offset) != known {
            read += 1;
            note(facts, &line, op_id, scope)?;
        }
        Ok(read < PORTION)
    })?;
    if let Some((offset, last_line)) = reached {
        facts.run(
            "INSERT INTO share_journal VALUES (?1, ?2, ?3) ON CONFLICT (path) DO UPDATE \
                   SET reached = excluded.reached, last_line = excluded.last_line",
            params![name, offset, last_line],
        )?;
    }
    Ok(read)
}

/// Creates an operation for a line, unless there is one.
fn note(facts: &Facts, line: &SharedLine, op_id: String, scope: &str) -> Result<()> {
    if line.device.is_none() && scope == DEVICE || is_known_line(facts, &op_id)? {
        return Ok(());
    }
    let operation = match line.device.clone() {
        None => {
            let place = Some(line.offset);
            Operation { op_id, place, ..next(facts, scope, "line", facts.clock.now())? }
        }
        // It was appended by a run that stopped before recording it.
        Some(device) => {
            let (scope, kind) = (DEVICE.to_owned(), "line".to_owned());
            Operation { scope, device, op_id, kind, ..Operation::default() }
        }
    };
    operation.store(facts, None, false)
}

/// Sets the payload of each operation to its line. Of a line that is in no journal any more, only the number is
/// left; returns how many there are.
fn load_payloads(facts: &Facts, own: Option<&Path>, batch: &mut [Operation]) -> Result<usize> {
    let lines = batch.iter_mut().filter(|one| one.kind == "line");
    let mut wanted: HashMap<String, &mut Operation> =
        lines.map(|one| (one.op_id.clone(), one)).collect();
    // The lines of a batch usually follow one another; if they do not, each journal is read whole: that of this run
    // first, then all that were ever read.
    let first = wanted.values().filter_map(|one| one.place).min();
    let known = facts.column::<String>("SELECT path FROM share_journal ORDER BY path", [])?;
    let known = known.into_iter().map(PathBuf::from);
    let journals: Vec<PathBuf> = own.map(Path::to_owned).into_iter().chain(known).collect();
    let whole = journals.iter().map(|journal| (journal, 0));
    for (journal, from) in journals.first().zip(first).into_iter().chain(whole) {
        if wanted.is_empty() {
            break;
        }
        journal::lines_from(journal, from, |line| {
            if let Some(operation) = wanted.remove(&line_id(&line.line)) {
                operation.payload = Some(json!({"v": VERSION, "line": line.line}).to_string());
            }
            Ok(!wanted.is_empty())
        })?;
    }
    let mut missing = Vec::new();
    for operation in wanted.into_values() {
        missing.push(operation.address());
        operation.withhold("erased");
    }
    if !missing.is_empty() {
        facts.write(|| {
            mark(facts, "kind = 'erased', op_id = '', place = NULL", &missing)?;
            // If a journal comes back, it is read again from its beginning.
            for journal in journals.iter().filter(|journal| !journal.exists()) {
                facts.run(
                    "DELETE FROM share_journal WHERE path = ?1",
                    [journal.to_string_lossy()],
                )?;
            }
            Ok(())
        })?;
    }
    Ok(missing.len())
}
