//! Several devices and a real PostgreSQL: what they end up with, and what stands in between.

mod convergence;
mod failures;
mod forgetting;
mod journals;
mod rates;
mod scopes;
mod trust;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use annals::clock::Clock;
use annals::facts::{Fact, Facts, Purpose, Statement, UserId};
use annals::{facts, journal};
use serde_json::Value;

use crate::support::{Case, Invocation, Postgres, require};

/// The time on devices whose clocks do not matter.
const NOW: &str = "2026-03-01T12:00:00Z";

/// Returns a server and as many of its owner's devices as are asked for; nothing where PostgreSQL is missing.
fn devices<const N: usize>() -> Option<(Postgres, [Replica; N])> {
    require("postgres").then(|| {
        let server = Postgres::start();
        let devices = [(); N].map(|()| Replica::join(&server, "owner", NOW));
        (server, devices)
    })
}

/// One of a person's devices: a home, a database and a journal of its own.
struct Replica {
    case: Case,
    url: String,
    now: String,
}

impl Replica {
    /// Returns a device that takes part; its clock stands at a time.
    fn join(server: &Postgres, role: &str, now: &str) -> Self {
        let replica = Self::new(&server.url(role, "annals"), now);
        replica.run("share init").success();
        replica
    }

    fn new(url: &str, now: &str) -> Self {
        Self { case: Case::empty(), url: url.to_owned(), now: now.to_owned() }
    }

    fn run(&self, line: &str) -> Invocation<'_> {
        self.case
            .run(line)
            .env("ANNALS_SHARE_URL", &self.url)
            .env("ANNALS_DB", self.db())
            .env("ANNALS_USER", "ada")
            .env("ANNALS_NOW", &self.now)
            .env("ANNALS_LOCK_WAIT", "20")
            .within(Duration::from_mins(5))
    }

    fn sync(&self) -> Value {
        self.run("share sync --json").success().json()
    }

    fn db(&self) -> PathBuf {
        self.case.home().join("mem.db")
    }

    fn journal(&self) -> PathBuf {
        self.case.home().join(".codex/memory.jsonl")
    }

    /// Opens the database in the test's own process, which is quicker than a process for each statement.
    fn open(&self) -> Facts {
        let clock = Clock::new(Some(&self.now)).unwrap();
        Facts::open_file(&self.db(), clock, Duration::from_secs(20), Purpose::Write).unwrap()
    }

    fn state(&self, key: &str, value: &str) -> Fact {
        state(&self.open(), key, value)
    }

    fn note(&self, content: &str) {
        let draft = journal::RecordDraft::new(None, content.to_owned(), None, None).unwrap();
        let writing = journal::WriteOptions::new(Clock::new(Some(&self.now)).unwrap());
        journal::write(&self.journal(), &[draft], &writing).unwrap();
    }

    /// The contents of the journal's lines, sorted.
    fn notes(&self) -> Vec<String> {
        let text = fs::read_to_string(self.journal()).unwrap_or_default();
        let content = |line: &str| {
            // A line that a killed process left half written is none.
            let line: Value = serde_json::from_str(line).ok()?;
            line["content"].as_str().map(str::to_owned)
        };
        let mut notes: Vec<String> = text.lines().filter_map(content).collect();
        notes.sort();
        notes
    }

    /// All facts, without what each device derives for itself.
    fn rows(&self) -> Vec<Fact> {
        rows(&self.open())
    }
}

fn ada() -> UserId {
    UserId::new("ada").unwrap()
}

fn state(facts: &Facts, key: &str, value: &str) -> Fact {
    let statement =
        Statement { key: key.to_owned(), value: value.to_owned(), ..Statement::default() };
    facts::add(facts, &ada(), &statement).unwrap().fact.unwrap()
}

fn rows(facts: &Facts) -> Vec<Fact> {
    let mut all = facts::export(facts, &ada()).unwrap();
    for fact in &mut all {
        fact.embedding_id = None;
    }
    all.sort_by(|a, b| a.fact_id.cmp(&b.fact_id));
    all
}
