//! Runs a sync: pulls the operations of other devices, then pushes ours, in batches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::facts::replication::{
    DeviceOperation, Incoming, OperationAddress, OperationKind, Tombstone,
};
use crate::facts::{Device, Facts, replication};
use crate::journal;
use crate::project::Project;
use crate::share::lines::Lines;
use crate::share::server::{ServerState, SyncServer};
use crate::share::{address, identity, lines};

/// Number of operations that are sent or fetched at once.
const BATCH: usize = 5_000;

/// The batch size for a short time budget, because a batch is not interrupted.
const SMALL_BATCH: usize = 500;

/// Time budget below which batches are small.
const SHORT: Duration = Duration::from_secs(2);

/// Timeout for a statement if there is no budget.
const WAIT: Duration = Duration::from_mins(2);

/// The direction in which operations are transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From this device to the server.
    Push,
    /// From the server to this device.
    Pull,
    /// Both.
    Both,
}

/// The outcome of a sync.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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

/// Returns whether a server is set.
pub fn is_configured(project: &Project) -> bool {
    project.settings.share.url.is_some()
}

/// Returns whether this database is shared and a server is set.
pub fn is_active(project: &Project, facts: &Facts) -> Result<bool> {
    Ok(is_configured(project) && Device::joined(facts.connection())?.is_some())
}

/// Syncs this device with the server, within a time budget if one is given.
///
/// Each batch is atomic, and an interrupted sync is continued by the next one.
pub fn sync(
    project: &Project,
    facts: &mut Facts,
    direction: Direction,
    budget: Option<Duration>,
) -> Result<Synced> {
    let deadline = budget.map(|budget| Instant::now() + budget);
    let result = connect(project, facts, budget).and_then(|(device, mut server)| {
        let state = server.state()?;
        facts.enlarge_cache()?;
        let mut run = SyncRun {
            project,
            facts,
            server,
            state,
            device,
            journal: journal::default_path(&project.environment).ok(),
            deadline,
            batch: match budget {
                Some(budget) if budget < SHORT => SMALL_BATCH,
                _ => BATCH,
            },
            done: Synced::default(),
        };
        run.work(direction)?;
        run.done.device = run.device;
        run.done.round_trips = run.server.round_trips;
        Ok(run.done)
    });
    let failure = result.as_ref().err().map(Error::reason);
    if Device::find(facts.connection())?.is_some() {
        replication::synced(facts, failure.as_deref())?;
    }
    result
}

/// Returns the device id and a connection; fails if the database is not shared or no server is set.
pub(crate) fn connect(
    project: &Project,
    facts: &Facts,
    budget: Option<Duration>,
) -> Result<(String, SyncServer)> {
    let Some(device) = Device::joined(facts.connection())? else {
        return Err(Error::usage("this database is not shared").hint("annals share init"));
    };
    let address = address::find(project)?;
    let server = SyncServer::connect(project, &address, budget.unwrap_or(WAIT))?;
    Ok((device.id, server))
}

/// The state of a running sync.
pub(crate) struct SyncRun<'a> {
    project: &'a Project,
    pub(crate) facts: &'a mut Facts,
    pub(crate) server: SyncServer,
    pub(crate) state: ServerState,
    pub(crate) device: String,
    journal: Option<PathBuf>,
    deadline: Option<Instant>,
    batch: usize,
    pub(crate) done: Synced,
}

impl SyncRun<'_> {
    fn work(&mut self, direction: Direction) -> Result<()> {
        if self.facts.is_dry_run() {
            return self.preview(direction);
        }
        self.ensure_own_name()?;
        if let Some(path) = self.journal.clone() {
            let deadline = self.deadline;
            let goes_on = || deadline.is_none_or(|deadline| Instant::now() < deadline);
            self.lines(&path).note(self.facts, goes_on)?;
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
            self.done.pushed = replication::pending_count(self.facts.connection())?;
        }
        if direction != Direction::Push {
            let missing = self.missing()?;
            let count = |last: &OperationAddress| {
                let device = (last.scope.clone(), last.device.clone());
                let highest = self.state.highest.get(&device);
                usize::try_from(highest.map_or(0, |highest| highest - last.number)).unwrap_or(0)
            };
            self.done.pulled = missing.iter().map(count).sum();
        }
        Ok(())
    }

    fn lines<'p>(&self, path: &'p std::path::Path) -> Lines<'p>
    where
        Self: 'p,
    {
        Lines { path, scope: &self.project.settings.share.journal }
    }

    fn is_over(&mut self) -> bool {
        let is_over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        self.done.is_partial |= is_over;
        is_over
    }

    /// Returns the last known operation of each device of which the server has more.
    fn missing(&self) -> Result<Vec<OperationAddress>> {
        let cursors = replication::cursors(self.facts.connection())?;
        let mut missing = Vec::new();
        for (cursor, highest) in &self.state.highest {
            let number = cursors.get(cursor).copied().unwrap_or(0);
            let (scope, device) = cursor.clone();
            if device != self.device && number < *highest {
                missing.push(OperationAddress { scope, device, number });
            }
        }
        Ok(missing)
    }

    fn pull(&mut self) -> Result<()> {
        let clock = self.facts.clock();
        let has_lines = replication::has_lines_set_aside(self.facts.connection())?;
        self.take_in(has_lines, |connection| replication::retry_set_aside(connection, clock))?;
        let mut has_pulled = false;
        let mut stuck = BTreeSet::new();
        loop {
            let mut missing = self.missing()?;
            missing.retain(|one| !stuck.contains(&one.device));
            if missing.is_empty() || self.is_over() {
                break;
            }
            let limit = i64::try_from(self.batch).unwrap_or(i64::MAX);
            let batch = self.server.fetch(&missing, limit)?;
            let line = OperationKind::Line.as_str();
            let has_lines = batch.iter().any(|one| one.kind == line);
            let incoming = self
                .take_in(has_lines, |connection| replication::receive(connection, &batch, clock))?;
            self.done.pulled += incoming.operations;
            self.done.lines += incoming.lines.len();
            self.done.set_aside += incoming.set_aside;
            has_pulled |= incoming.operations > 0;
            if incoming.operations == 0 {
                // The server lacks the next operation of these devices; the others must not wait for it.
                stuck.extend(devices(&batch, &missing));
            }
        }
        self.done.stuck = stuck.into_iter().collect();
        if has_pulled {
            let device = self.device.clone();
            self.server.note_pull(&device)?;
        }
        Ok(())
    }

    /// Receives operations and appends their journal lines, in one transaction.
    fn take_in(
        &mut self,
        has_lines: bool,
        receive: impl FnOnce(&Connection) -> Result<Incoming>,
    ) -> Result<Incoming> {
        let clock = self.facts.clock();
        let path = self.journal.clone().filter(|_| has_lines);
        let lines = path.as_deref().map(|path| self.lines(path));
        let environment = &self.project.environment;
        self.facts.write(|connection| {
            let Some(lines) = &lines else {
                let incoming = receive(connection)?;
                if !incoming.lines.is_empty() {
                    // Without a journal, its lines would be lost: the error undoes the receipt.
                    journal::default_path(environment)?;
                }
                return Ok(incoming);
            };
            // The lock keeps others from adding lines between reading the journal and appending to it.
            let mut log = lines.lock()?;
            while lines.catch_up(connection, clock)? > 0 {}
            let incoming = receive(connection)?;
            lines::append(&mut log, &incoming.lines)?;
            Ok(incoming)
        })
    }

    fn push(&mut self) -> Result<()> {
        loop {
            let mut batch = replication::pending(self.facts.connection(), self.batch)?;
            if batch.is_empty() || self.is_over() {
                return Ok(());
            }
            let journals = self.journals()?;
            lines::load_payloads(&journals, &mut batch)?;
            self.withhold_secrets(&mut batch)?;
            self.drop_missing_lines(&mut batch, &journals)?;
            let tombstones = batch.iter().filter(|one| one.kind == OperationKind::Forget);
            let tombstones: Vec<Tombstone> = tombstones.filter_map(tombstone).collect();
            let new = self.server.insert(&batch, &tombstones)?;
            if usize::try_from(new).is_ok_and(|new| new < batch.len()) {
                // Another run of this device was faster, or another device has the same id.
                self.state = self.server.state()?;
                if self.ensure_own_name()? {
                    continue;
                }
            }
            self.done.pushed += usize::try_from(new).unwrap_or(0);
            let mut reached = BTreeMap::new();
            for operation in batch {
                reached.insert(operation.scope, operation.number);
            }
            replication::acknowledge(self.facts, &Vec::from_iter(reached))?;
        }
    }

    /// Verifies the device id, and returns whether it had to be changed.
    fn ensure_own_name(&mut self) -> Result<bool> {
        let renamed =
            identity::ensure_unique(self.facts, &mut self.server, &self.state, &self.device)?;
        let is_renamed = renamed.is_some();
        self.done.is_renamed |= is_renamed;
        self.device = renamed.unwrap_or_else(|| std::mem::take(&mut self.device));
        Ok(is_renamed)
    }

    /// Returns the journals in which lines of this device may be found, that of this run first.
    fn journals(&self) -> Result<Vec<PathBuf>> {
        let mut journals: Vec<PathBuf> = self.journal.iter().cloned().collect();
        for known in replication::journals(self.facts.connection())? {
            let known = PathBuf::from(known);
            if !journals.contains(&known) {
                journals.push(known);
            }
        }
        Ok(journals)
    }

    /// Withholds operations that may contain a secret: only their numbers are sent.
    fn withhold_secrets(&mut self, batch: &mut [DeviceOperation]) -> Result<()> {
        let mut withheld = Vec::new();
        for operation in batch {
            if operation.payload.as_deref().is_some_and(holds_secret) {
                operation.withhold();
                withheld.push(operation.clone());
            }
        }
        self.done.withheld += withheld.len();
        if withheld.is_empty() {
            return Ok(());
        }
        replication::withhold(self.facts, &withheld)
    }

    /// Erases lines that no journal contains any more: only their numbers are sent.
    fn drop_missing_lines(
        &mut self,
        batch: &mut [DeviceOperation],
        journals: &[PathBuf],
    ) -> Result<()> {
        let mut missing = Vec::new();
        for operation in batch {
            if operation.kind == OperationKind::Line && operation.payload.is_none() {
                missing.push((operation.scope.clone(), operation.number));
                operation.erase();
            }
        }
        self.done.missing_lines += missing.len();
        if missing.is_empty() {
            return Ok(());
        }
        // If a journal comes back, it is read again from its beginning.
        let gone = journals.iter().filter(|journal| !journal.exists());
        let gone: Vec<PathBuf> = gone.cloned().collect();
        replication::drop_missing_lines(self.facts, &missing, &gone)
    }

    /// Overwrites operations on the server that were forgotten here after they were sent.
    fn rewrite(&mut self) -> Result<()> {
        loop {
            let changed = replication::rewritten(self.facts.connection(), self.batch)?;
            if changed.is_empty() || self.is_over() {
                return Ok(());
            }
            let (places, operations): (Vec<i64>, Vec<DeviceOperation>) =
                changed.into_iter().unzip();
            self.server.rewrite(&operations)?;
            self.facts.write(|connection| replication::mark_sent(connection, &places))?;
        }
    }
}

/// Returns the devices of a batch; for an empty batch, all requested devices.
fn devices(batch: &[replication::Received], requested: &[OperationAddress]) -> Vec<String> {
    if batch.is_empty() {
        return requested.iter().map(|one| one.device.clone()).collect();
    }
    batch.iter().map(|one| one.device.clone()).collect()
}

fn tombstone(operation: &DeviceOperation) -> Option<Tombstone> {
    replication::decode_tombstone(operation.payload.as_deref()?).ok()
}

fn holds_secret(payload: &str) -> bool {
    replication::secret(payload).is_some()
}
