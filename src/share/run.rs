//! One sync: what others did is taken in, then what was done here is sent, batch by batch.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::facts::Device;
use crate::facts::Facts;
use crate::facts::replication;
use crate::facts::replication::DeviceOperation;
use crate::facts::replication::Incoming;
use crate::facts::replication::OperationKind;
use crate::facts::replication::Tombstone;
use crate::journal;
use crate::project::Project;
use crate::share::address::Address;
use crate::share::identity;
use crate::share::lines;
use crate::share::lines::Lines;
use crate::share::server::ServerState;
use crate::share::server::SyncServer;

/// How many operations are sent or fetched at once.
const BATCH: usize = 5_000;

/// As many where time is short: a batch that began is brought to its end.
const SMALL_BATCH: usize = 500;

/// Less time than this is short.
const SHORT: Duration = Duration::from_secs(2);

/// How long one statement may take where nothing else limits it.
const WAIT: Duration = Duration::from_mins(2);

/// Which way operations go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From here to the server.
    Push,
    /// From the server to here.
    Pull,
    /// Both.
    Both,
}

/// What a sync did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Synced {
    /// The device.
    pub device: String,
    /// How many operations were sent.
    pub pushed: usize,
    /// How many operations of other devices were taken in.
    pub pulled: usize,
    /// How many of those were lines for the journal.
    pub lines: usize,
    /// How many were not understood and set aside.
    pub set_aside: usize,
    /// Devices of which the server lacks an operation, so that what they did after it waits.
    pub stuck: Vec<String>,
    /// How many were not sent because they hold what looks like a secret.
    pub withheld: usize,
    /// Whether this database was found to be a copy, and got a name of its own.
    pub is_renamed: bool,
    /// Whether time ran out before all was done; the next sync goes on from there.
    pub is_partial: bool,
    /// Whether facts forgotten on other devices may remain in free pages of the file, which another process holds open.
    pub is_unclean: bool,
    /// How often the server was asked.
    pub round_trips: u32,
}

/// Returns whether the settings name a server.
pub fn is_configured(project: &Project) -> bool {
    project.settings.share.url.is_some()
}

/// Returns whether this database is shared, and the settings name a server.
pub fn is_active(project: &Project, facts: &Facts) -> Result<bool> {
    Ok(is_configured(project) && Device::joined(facts.connection())?.is_some())
}

/// Brings this device and the server in step, within a time where one is given.
///
/// Each batch is whole or not there at all, and the next run goes on where one was stopped.
pub fn sync(
    project: &Project,
    facts: &mut Facts,
    direction: Direction,
    budget: Option<Duration>,
) -> Result<Synced> {
    let deadline = budget.map(|budget| Instant::now() + budget);
    let result = connect(project, facts, budget).and_then(|(device, mut server)| {
        let state = server.state()?;
        facts.expect_many_changes()?;
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

/// Returns the device and a connection, where this database and the settings have both.
pub(crate) fn connect(
    project: &Project,
    facts: &Facts,
    budget: Option<Duration>,
) -> Result<(String, SyncServer)> {
    let Some(device) = Device::joined(facts.connection())? else {
        return Err(Error::usage("this database is not shared").hint("annals share init"));
    };
    let address = address(project)?;
    let server = SyncServer::connect(project, &address, budget.unwrap_or(WAIT))?;
    Ok((device.id, server))
}

/// Returns the address that the settings name.
pub(crate) fn address(project: &Project) -> Result<Address> {
    Address::find(project)?.ok_or_else(|| {
        Error::usage("no server is set").hint(
            "set share.url in your own config.toml, or ANNALS_SHARE_URL: postgres://role@host/database",
        )
    })
}

/// A sync on its way.
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
        self.done.is_unclean = !replication::clean_file(self.facts)?;
        Ok(())
    }

    /// Counts what would go each way.
    fn preview(&mut self, direction: Direction) -> Result<()> {
        if direction != Direction::Pull {
            self.done.pushed = replication::pending(self.facts.connection(), usize::MAX)?.len();
        }
        if direction != Direction::Push {
            let missing = self.missing()?;
            let count = |one: &(String, String, i64)| {
                let highest = self.state.highest.get(&(one.0.clone(), one.1.clone()));
                usize::try_from(highest.map_or(0, |highest| highest - one.2)).unwrap_or(0)
            };
            self.done.pulled = missing.iter().map(count).sum();
        }
        Ok(())
    }

    fn lines<'p>(&self, path: &'p std::path::Path) -> Lines<'p>
    where
        Self: 'p,
    {
        Lines {
            path,
            scope: &self.project.settings.share.journal,
        }
    }

    fn is_over(&mut self) -> bool {
        let is_over = self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline);
        self.done.is_partial |= is_over;
        is_over
    }

    /// Returns where to go on with each device of which the server has more.
    fn missing(&self) -> Result<Vec<(String, String, i64)>> {
        let known = replication::cursors(self.facts.connection())?;
        let reached = |address: &(String, String)| known.get(address).copied().unwrap_or(0);
        let others = self
            .state
            .highest
            .iter()
            .filter(|(address, _)| address.1 != self.device);
        let behind = others.filter(|(address, highest)| reached(address) < **highest);
        Ok(behind
            .map(|(address, _)| (address.0.clone(), address.1.clone(), reached(address)))
            .collect())
    }

    fn pull(&mut self) -> Result<()> {
        let clock = self.facts.clock();
        let retried = self
            .facts
            .write(|connection| replication::retry_set_aside(connection, clock))?;
        self.append_alone(&retried)?;
        let mut has_pulled = false;
        let mut stuck = BTreeSet::new();
        loop {
            let mut missing = self.missing()?;
            missing.retain(|one| !stuck.contains(&one.1));
            if missing.is_empty() || self.is_over() {
                break;
            }
            let limit = i64::try_from(self.batch).unwrap_or(i64::MAX);
            let batch = self.server.fetch(&missing, limit)?;
            let incoming = self.take_in(&batch)?;
            self.done.pulled += incoming.operations;
            self.done.lines += incoming.lines.len();
            self.done.set_aside += incoming.set_aside;
            has_pulled |= incoming.operations > 0;
            if incoming.operations == 0 {
                // The server lacks what comes next of these: the others must not wait for that.
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

    /// Takes in a batch in one transaction, its lines for the journal included.
    fn take_in(&mut self, batch: &[replication::Received]) -> Result<Incoming> {
        let clock = self.facts.clock();
        let has_lines = batch
            .iter()
            .any(|one| one.kind == OperationKind::Line.as_str());
        let path = self.journal.clone().filter(|_| has_lines);
        let lines = path.as_deref().map(|path| self.lines(path));
        self.facts.write(|connection| {
            let Some(lines) = &lines else {
                return replication::receive(connection, batch, clock);
            };
            // Nobody adds a line between the look at the journal and the lines that go behind it.
            let mut log = lines.lock()?;
            while lines.catch_up(connection, clock)? > 0 {}
            let incoming = replication::receive(connection, batch, clock)?;
            lines::append(&mut log, &incoming.lines)?;
            Ok(incoming)
        })
    }

    /// Adds the lines of what was set aside before and is understood now.
    fn append_alone(&mut self, incoming: &Incoming) -> Result<()> {
        match &self.journal {
            Some(path) if !incoming.lines.is_empty() => {
                lines::append(&mut self.lines(path).lock()?, &incoming.lines)
            }
            _ => Ok(()),
        }
    }

    fn push(&mut self) -> Result<()> {
        loop {
            let mut batch = replication::pending(self.facts.connection(), self.batch)?;
            if batch.is_empty() || self.is_over() {
                return Ok(());
            }
            self.withhold_secrets(&mut batch)?;
            let tombstones = batch.iter().filter(|one| one.kind == OperationKind::Forget);
            let tombstones: Vec<Tombstone> = tombstones.filter_map(tombstone).collect();
            let new = self.server.insert(&batch, &tombstones)?;
            if usize::try_from(new).is_ok_and(|new| new < batch.len()) {
                // Another run of this device was quicker, or another device has this one's name.
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

    /// Makes sure of the device's name, and returns whether it had to be changed.
    fn ensure_own_name(&mut self) -> Result<bool> {
        let renamed =
            identity::ensure_unique(self.facts, &mut self.server, &self.state, &self.device)?;
        let is_renamed = renamed.is_some();
        self.done.is_renamed |= is_renamed;
        self.device = renamed.unwrap_or_else(|| std::mem::take(&mut self.device));
        Ok(is_renamed)
    }

    /// Of what looks like a secret nothing is sent but the number.
    fn withhold_secrets(&mut self, batch: &mut [DeviceOperation]) -> Result<()> {
        if let Some(path) = self.journal.clone() {
            self.lines(&path).fill(batch)?;
        }
        let mut withheld = Vec::new();
        for operation in batch {
            let is_empty = operation.kind == OperationKind::Line && operation.payload.is_none();
            let has_secret = operation.payload.as_deref().is_some_and(holds_secret);
            if is_empty || has_secret {
                self.done.withheld += usize::from(has_secret);
                operation.withhold();
                withheld.push(operation.clone());
            }
        }
        if withheld.is_empty() {
            return Ok(());
        }
        replication::withhold(self.facts, &withheld)
    }

    /// Overwrites on the server what was forgotten here since it was sent.
    fn rewrite(&mut self) -> Result<()> {
        loop {
            let changed = replication::rewritten(self.facts.connection(), self.batch)?;
            if changed.is_empty() || self.is_over() {
                return Ok(());
            }
            let (places, operations): (Vec<i64>, Vec<DeviceOperation>) =
                changed.into_iter().unzip();
            self.server.rewrite(&operations)?;
            self.facts
                .write(|connection| replication::mark_sent(connection, &places))?;
        }
    }
}

/// The devices of a batch; of one that is empty, all that were asked for.
fn devices(batch: &[replication::Received], asked: &[(String, String, i64)]) -> Vec<String> {
    if batch.is_empty() {
        return asked.iter().map(|one| one.1.clone()).collect();
    }
    batch.iter().map(|one| one.device.clone()).collect()
}

fn tombstone(operation: &DeviceOperation) -> Option<Tombstone> {
    replication::decode_tombstone(operation.payload.as_deref()?).ok()
}

fn holds_secret(payload: &str) -> bool {
    replication::secret(payload).is_some()
}
