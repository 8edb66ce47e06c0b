//! Many devices that do much at once, are cut off, killed and restored, end up alike.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use annals::clock::Clock;
use annals::facts;
use annals::facts::{Fact, Facts, Observation};
use annals::secrets::SecretPolicy;
use chrono::TimeDelta;

use crate::share::{Replica, ada, state};
use crate::support::{Postgres, require};

/// How much is done: a smaller part in each run, all of it where `ANNALS_SHARE_FULL` is set.
struct Size {
    replicas: usize,
    operations: usize,
    /// How many of them one replica does before it may sync.
    at_once: usize,
}

impl Size {
    fn of_this_run() -> Self {
        if std::env::var_os("ANNALS_SHARE_FULL").is_some() {
            return Self { replicas: 8, operations: 10_000, at_once: 200 };
        }
        Self { replicas: 4, operations: 260, at_once: 12 }
    }
}

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// What must be everywhere in the end.
#[derive(Default)]
struct Done {
    operations: usize,
    facts: BTreeSet<(String, String)>,
    notes: BTreeSet<String>,
    forgotten: BTreeSet<String>,
    kills: usize,
}

const CLOCKS: [&str; 8] = [
    "2026-03-01T12:00:00Z", "2026-03-01T17:30:00Z", "2026-03-01T07:00:00Z", "2026-03-01T12:00:30Z",
    "2026-03-02T01:00:00Z", "2026-02-28T20:00:00Z", "2026-03-01T11:59:00Z", "2026-03-01T15:15:15Z",
];

const QUERIES: &[&str] = &["city Rome", "topic value", "which editor", "likes tea", "address home"];

#[test]
fn replicas_end_up_alike_whatever_comes_between() {
    if !require("postgres") {
        return;
    }
    let size = Size::of_this_run();
    let server = Postgres::start();
    let mut replicas = joined(&server, &size);
    let mut numbers = Numbers(20);
    let mut done = Done::default();
    let mut copy: Option<Vec<u8>> = None;
    let mut round = 0;
    while done.operations < size.operations {
        round += 1;
        for (at, replica) in replicas.iter_mut().enumerate() {
            work(replica, at, size.at_once, &mut numbers, &mut done);
            // Some are cut off for a round, some are killed on the way.
            match numbers.below(6) {
                0 => {}
                1..=2 => kill(replica, &mut numbers, &mut done),
                _ => drop(replica.sync()),
            }
        }
        match round {
            2 => copy = Some(copied(&replicas[1])),
            4 => restore(&replicas[1], copy.take().unwrap()),
            _ => {}
        }
    }
    assert!(round > 4, "nothing was restored");
    for _ in 0..3 {
        for replica in &replicas {
            replica.sync();
        }
    }
    alike(&replicas, &done);
    tell(&server, &replicas, &done);
}

/// Returns the devices of one person, on a server that somebody else set up.
fn joined(server: &Postgres, size: &Size) -> Vec<Replica> {
    Replica::join(server, "owner", CLOCKS[0]).run("share leave").success();
    let clocks = CLOCKS.iter().take(size.replicas);
    clocks.map(|clock| Replica::join(server, "ada", clock)).collect()
}

/// Counts what the server has; without gaps, it has each operation once.
fn tell(server: &Postgres, replicas: &[Replica], done: &Done) {
    let sent = server
        .sql("annals", "SELECT count(*), count(DISTINCT (scope, device, number)) FROM annals_ops");
    let gaps = server.sql(
        "annals",
        "SELECT count(*) FROM (SELECT max(number) <> count(*) AS has_gap FROM annals_ops GROUP BY scope, device) AS g WHERE has_gap",
    );
    assert_eq!(gaps, "0");
    let mut told = String::new();
    writeln!(
        told,
        "share convergence: {} replicas, {} operations, {} kills, {} facts, {} notes, {sent} rows on the server: lost 0, doubled 0",
        replicas.len(),
        done.operations,
        done.kills,
        done.facts.len(),
        done.notes.len()
    )
    .unwrap();
    std::io::Write::write_all(&mut std::io::stderr(), told.as_bytes()).unwrap();
}

fn work(replica: &mut Replica, at: usize, most: usize, numbers: &mut Numbers, done: &mut Done) {
    let mut facts = replica.open();
    for _ in 0..most {
        done.operations += 1;
        let serial = done.operations;
        match numbers.below(20) {
            0..=4 => {
                // A value of its own under a key of its own, by which a loss would be seen.
                let key = format!("topic.n{serial}");
                let fact = state(&facts, &key, &format!("value {serial} of {at}"));
                done.facts.insert((key, fact.fact_id));
            }
            5..=8 => contested(&facts, numbers),
            9..=12 => turn(&facts, numbers),
            13..=14 => settle(&facts, numbers),
            15 if serial.is_multiple_of(40) => forget(replica, &facts, numbers, done),
            _ => {
                let note = format!("note {serial} of {at}");
                replica.note(&note);
                done.notes.insert(note);
            }
        }
        let later = facts.clock.now()
            + TimeDelta::milliseconds(i64::try_from(numbers.below(3_000)).unwrap());
        replica.now = later.to_rfc3339();
        facts.clock = Clock::new(Some(&replica.now)).unwrap();
    }
}

/// Several devices say different things of the same keys.
fn contested(facts: &Facts, numbers: &mut Numbers) {
    let keys = ["city", "editor", "likes[]", "address.home"];
    let values = ["Rome", "Paris", "Oslo", "tea", "helix", "vim"];
    let key = keys[numbers.below(keys.len())];
    state(facts, key, values[numbers.below(values.len())]);
}

/// The same turn may be observed and judged on several devices; one with another message is refused.
fn turn(facts: &Facts, numbers: &mut Numbers) {
    let turn_id = format!("turn-{}", numbers.below(300));
    let value = ["Rome", "Paris", "Oslo"][numbers.below(3)];
    let observation = Observation {
        user_input: format!("In {turn_id} I said {value}"),
        turn_id: Some(turn_id.clone()),
        ..Observation::default()
    };
    let _is_queued = facts::observe(facts, &ada(), &observation, SecretPolicy::Refuse).is_ok();
    let kind = ["insert", "supersede", "expire"][numbers.below(3)];
    let answer = format!(
        "{{\"actions\": [{{\"type\": \"{kind}\", \"key\": \"city\", \"new_value_text\": \"{value}\", \
         \"confidence_delta\": 0, \"reason\": \"said\"}}]}}"
    );
    // A turn that was judged otherwise before refuses, which changes nothing.
    let _is_applied = facts::apply(facts, &ada(), &turn_id, &answer, SecretPolicy::Refuse).is_ok();
}

fn settle(facts: &Facts, numbers: &mut Numbers) {
    let known = facts::export(facts, &ada()).unwrap();
    let known: Vec<&Fact> = known.iter().filter(|fact| !fact.key.starts_with("topic.")).collect();
    if known.is_empty() {
        return;
    }
    let id = &known[numbers.below(known.len())].fact_id;
    let _is_found = match numbers.below(2) {
        0 => facts::answer(facts, &ada(), id, None).is_ok(),
        _ => facts::answer(facts, &ada(), id, Some("no longer")).is_ok(),
    };
}

/// Forgets one of the keys that are everywhere by now or will be.
fn forget(replica: &Replica, facts: &Facts, numbers: &mut Numbers, done: &mut Done) {
    let known = crate::share::rows(facts);
    let topics: Vec<&Fact> = known.iter().filter(|fact| fact.key.starts_with("topic.")).collect();
    if topics.is_empty() {
        return;
    }
    let key = topics[numbers.below(topics.len())].key.clone();
    facts::forget(facts, &ada(), Some(&key), "asked to").unwrap();
    done.facts.retain(|(known, _)| *known != key);
    done.forgotten.insert(key);
    assert!(replica.db().exists());
}

/// A sync that dies at one of its operations on files or with the server.
fn kill(replica: &Replica, numbers: &mut Numbers, done: &mut Done) {
    let nth = 1 + numbers.below(40);
    let ended = replica.run("share sync").env("ANNALS_FAIL_AFTER", nth.to_string()).output();
    done.kills += usize::from(ended.exit_code() != Some(0));
}

/// Returns the database as it is once all is in step.
fn copied(replica: &Replica) -> Vec<u8> {
    replica.sync();
    fs::read(replica.db()).unwrap()
}

/// Puts an older copy in place of the database: what was sent since then comes back from the server, and the device
/// has another name.
fn restore(replica: &Replica, copy: Vec<u8>) {
    replica.sync();
    let db = replica.db().display().to_string();
    for end in ["-wal", "-shm"] {
        let _is_there = fs::remove_file(format!("{db}{end}")).is_ok();
    }
    fs::write(db, copy).unwrap();
    state(&replica.open(), "restored.first", "after the restoration");
    let synced = replica.sync();
    assert_eq!(synced["is_renamed"], true, "{synced}");
}

fn alike(replicas: &[Replica], done: &Done) {
    let first = replicas[0].rows();
    let answers = |replica: &Replica| -> Vec<String> {
        let ask = |query: &&str| {
            let retrieved = replica
                .run("facts retrieve --json --limit 20")
                .args(["--query", query])
                .env("ANNALS_NOW", CLOCKS[4]);
            let hits = retrieved.success().json()["hits"].clone();
            let hits = hits.as_array().unwrap().iter();
            hits.map(ToString::to_string).collect::<Vec<String>>()
        };
        QUERIES.iter().flat_map(ask).collect()
    };
    for replica in replicas {
        let rows = replica.rows();
        let ids: BTreeSet<(String, String)> =
            rows.iter().map(|fact| (fact.key.clone(), fact.fact_id.clone())).collect();
        let lost: Vec<_> = done.facts.difference(&ids).collect();
        assert!(lost.is_empty(), "lost {lost:?}");
        let back: Vec<_> = rows.iter().filter(|fact| done.forgotten.contains(&fact.key)).collect();
        assert!(back.is_empty(), "came back {back:?}");
        assert_eq!(rows, first);
        let problems = facts::check(&replica.open()).unwrap().problems;
        assert!(problems.is_empty(), "{problems:?}");
        let notes = replica.notes();
        let each: BTreeSet<String> = notes.iter().cloned().collect();
        assert_eq!(each, done.notes, "notes lost or made up");
        assert_eq!(notes.len(), each.len(), "notes doubled");
    }
    // Afterwards: a question expires what is over by its clock.
    let expected = answers(&replicas[0]);
    for replica in &replicas[1..] {
        assert_eq!(answers(replica), expected);
    }
}
