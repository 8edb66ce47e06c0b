//! Tests in-memory replicas: in whatever order operations reach them, they end up equal.

mod hostile;

use std::collections::BTreeMap;

use chrono::TimeDelta;

use crate::clock::Clock;
use crate::facts::arbitration::is_same_value;
use crate::facts::replication::{
    Operation, acknowledge, cursors, join, pending, receive, required,
};
use crate::facts::{
    Fact, FactStatus, Facts, Observation, Statement, UserId, add, answer, apply, export, forget,
    maintain, observe,
};
use crate::secrets::SecretPolicy;

const KEYS: &[&str] = &["city", "preference.editor", "likes[]", "address.home", "task.current"];
const VALUES: &[&str] = &["Rome", "rome.", "Paris", "Paris, by the river", "Oslo", "helix"];

/// Pseudorandom numbers, the same in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// The server as replicas see it: the operations of each device, in order.
#[derive(Default)]
pub(crate) struct Server(pub(crate) BTreeMap<(String, String), Vec<Operation>>);

impl Server {
    pub(crate) fn push(&mut self, facts: &Facts, most: usize) {
        let operations = pending(facts, most).unwrap();
        let reached = operations.last().map(Operation::address);
        for operation in operations {
            let kept =
                self.0.entry((operation.scope.clone(), operation.device.clone())).or_default();
            if i64::try_from(kept.len()).unwrap() >= operation.number {
                continue;
            }
            kept.push(Operation {
                owner: None,
                subject: None,
                turn: None,
                place: None,
                ..operation
            });
        }
        if let Some((scope, _, number)) = reached {
            acknowledge(facts, &scope, number).unwrap();
        }
    }

    /// Sends a replica part of what it lacks, with devices in random order and some operations twice.
    pub(crate) fn pull(&self, facts: &Facts, numbers: &mut Numbers, most: usize) {
        let known = cursors(facts).unwrap();
        let own = device(facts);
        let mut queues: Vec<&[Operation]> = Vec::new();
        for ((scope, device), kept) in &self.0 {
            if *device == own {
                continue;
            }
            let reached = known.get(&(scope.clone(), device.clone())).copied().unwrap_or(0);
            let from = usize::try_from(reached).unwrap().saturating_sub(numbers.below(3));
            queues.push(&kept[from..]);
        }
        let mut batch = Vec::new();
        while batch.len() < most && queues.iter().any(|queue| !queue.is_empty()) {
            let at = numbers.below(queues.len());
            if let Some((first, rest)) = queues[at].split_first() {
                batch.push(first.clone());
                queues[at] = rest;
            }
        }
        facts.write(|| receive(facts, &batch, false)).unwrap();
    }
}

fn device(facts: &Facts) -> String {
    required(facts).unwrap()
}

pub(crate) fn ada() -> UserId {
    UserId::new("ada").unwrap()
}

pub(crate) fn replica(now: &str) -> Facts {
    let facts = Facts::in_memory(Clock::new(Some(now)).unwrap()).unwrap();
    join(&facts).unwrap();
    facts
}

/// Returns all facts of a replica, without the ids that each index derives.
pub(crate) fn rows(facts: &Facts) -> Vec<Fact> {
    let mut all = export(facts, &ada()).unwrap();
    for fact in &mut all {
        fact.embedding_id = None;
    }
    all.sort_by(|a, b| a.fact_id.cmp(&b.fact_id));
    all
}

pub(crate) fn state(facts: &Facts, key: &str, value: &str, is_confirmed: bool) {
    let statement = Statement {
        key: key.to_owned(),
        value: value.to_owned(),
        confirmed: is_confirmed,
        ..Statement::default()
    };
    add(facts, &ada(), &statement).unwrap();
}

/// States a value that is valid for some seconds, or, confirmed, from then on.
fn state_for_a_time(facts: &Facts, key: &str, value: &str, seconds: i64, is_to_come: bool) {
    let time = (facts.clock.now() + TimeDelta::seconds(seconds)).to_rfc3339();
    let statement = Statement {
        key: key.to_owned(),
        value: value.to_owned(),
        valid_from: is_to_come.then(|| time.clone()),
        valid_to: (!is_to_come).then_some(time),
        confirmed: is_to_come,
        ..Statement::default()
    };
    add(facts, &ada(), &statement).unwrap();
}

/// Judges a turn, which may be observed on several replicas.
fn judge(facts: &Facts, turn: usize, key: &str, value: &str, kind: &str) {
    let turn_id = format!("turn-{turn}");
    let observation = Observation {
        user_input: format!("I said {value} in turn {turn}"),
        turn_id: Some(turn_id.clone()),
        ..Observation::default()
    };
    // A second, different message under the id of a turn is refused and changes nothing, too.
    let _is_queued = observe(facts, &ada(), &observation, SecretPolicy::Refuse).is_ok();
    let answer = serde_json::json!({"actions": [{"type": kind, "key": key, "new_value_text": value,
        "confidence_delta": 0, "reason": "said"}]});
    // A second, different answer to the same turn is refused and changes nothing.
    let _is_applied =
        apply(facts, &ada(), &turn_id, &answer.to_string(), SecretPolicy::Refuse).is_ok();
}

fn act(facts: &mut Facts, numbers: &mut Numbers, may_forget: bool) {
    let (key, value) = (numbers.pick(KEYS), numbers.pick(VALUES));
    let mut known: Vec<Fact> = rows(facts);
    // Ids depend on the device's name, which differs between runs.
    known.sort_by_key(|fact| (fact.created_at.clone(), fact.key.clone(), fact.value_text.clone()));
    match numbers.below(if may_forget { 25 } else { 24 }) {
        0..=5 => state(facts, key, value, numbers.below(5) == 0),
        6..=7 => {
            let seconds = 1 + i64::try_from(numbers.below(300)).unwrap();
            state_for_a_time(facts, key, value, seconds, numbers.below(2) == 0);
        }
        8..=15 => judge(
            facts,
            numbers.below(40),
            key,
            value,
            numbers.pick(&["insert", "supersede", "noop"]),
        ),
        16..=17 => judge(
            facts,
            numbers.below(40),
            key,
            value,
            numbers.pick(&["expire", "mark_pending_confirmation"]),
        ),
        18..=20 if !known.is_empty() => {
            let id = &known[numbers.below(known.len())].fact_id;
            let _is_found = answer(facts, &ada(), id, None).is_ok();
        }
        21..=22 if !known.is_empty() => {
            let id = &known[numbers.below(known.len())].fact_id;
            let _is_found = answer(facts, &ada(), id, Some("no")).is_ok();
        }
        24 => {
            let _is_known = forget(facts, &ada(), Some(key), "asked to").is_ok();
        }
        _ => drop(maintain(facts, 5).unwrap()),
    }
    let later =
        facts.clock.now() + TimeDelta::milliseconds(i64::try_from(numbers.below(90_000)).unwrap());
    facts.clock = Clock::new(Some(&later.to_rfc3339())).unwrap();
}

fn check(facts: &Facts) {
    let problems = crate::facts::check(facts).unwrap().problems;
    assert!(problems.is_empty(), "{problems:?}");
    let active = |fact: &&Fact| fact.status == FactStatus::Active && !fact.is_multi_valued();
    let rows = rows(facts);
    let mut keys: Vec<&str> = rows.iter().filter(active).map(|fact| fact.key.as_str()).collect();
    let all = keys.len();
    keys.dedup();
    assert_eq!(keys.len(), all);
}

fn run(seed: u64, may_forget: bool) {
    let mut numbers = Numbers(seed);
    // The clocks differ by hours.
    let mut replicas: Vec<Facts> =
        ["2026-03-01T12:00:00Z", "2026-03-01T17:30:00Z", "2026-03-01T07:00:00Z"]
            .map(replica)
            .into();
    let mut server = Server::default();
    for _ in 0..90 {
        let at = numbers.below(replicas.len());
        let facts = &mut replicas[at];
        match numbers.below(6) {
            0 => server.push(facts, 1 + numbers.below(9)),
            1 => {
                let most = 1 + numbers.below(20);
                server.pull(facts, &mut numbers, most);
            }
            _ => act(facts, &mut numbers, may_forget),
        }
    }
    // An erasure makes other devices announce further operations that mentioned it.
    for _ in 0..3 {
        for facts in &mut replicas {
            server.push(facts, 10_000);
        }
        for facts in &mut replicas {
            server.pull(facts, &mut numbers, usize::MAX);
        }
    }
    let first = rows(&replicas[0]);
    for facts in &replicas {
        assert_eq!(rows(facts), first, "seed {seed}");
        check(facts);
    }
}

#[test]
fn equal_operations_give_equal_rows_in_whatever_order_they_arrive() {
    for seed in 0..6 {
        run(seed, false);
    }
}

#[test]
fn what_one_replica_forgets_all_forget() {
    for seed in 1000..1006 {
        run(seed, true);
    }
}

/// Returns whether a pending proposal equals an active fact.
fn has_come_true(rows: &[Fact]) -> bool {
    let with = |status| rows.iter().filter(move |fact| fact.status == status);
    with(FactStatus::PendingConfirmation).any(|pending| {
        with(FactStatus::Active).any(|fact| {
            fact.key == pending.key && is_same_value(&fact.value_text, &pending.value_text)
        })
    })
}

#[test]
fn merging_changes_nothing_that_holds_where_one_device_is_alone() {
    for seed in 0..4 {
        let mut numbers = Numbers(seed);
        let mut shared = replica("2026-03-01T12:00:00Z");
        let mut alone =
            Facts::in_memory(Clock::new(Some("2026-03-01T12:00:00Z")).unwrap()).unwrap();
        let mut same = Numbers(seed);
        for _ in 0..40 {
            act(&mut shared, &mut numbers, false);
            act(&mut alone, &mut same, false);
            if has_come_true(&rows(&alone)) {
                // The one thing that merging resolves by itself: a proposal that has become true.
                break;
            }
            let without_device = |facts: &Facts| {
                let mut values: Vec<_> = rows(facts)
                    .into_iter()
                    .map(|fact| {
                        (
                            fact.key,
                            fact.value_text,
                            fact.status,
                            fact.confidence.to_string(),
                            fact.valid_to,
                        )
                    })
                    .collect();
                values.sort();
                values
            };
            assert_eq!(without_device(&shared), without_device(&alone), "seed {seed}");
        }
    }
}

#[test]
fn what_was_there_before_becomes_operations_under_the_devices_name() {
    let clock = Clock::new(Some("2026-03-01T12:00:00Z")).unwrap();
    let facts = Facts::in_memory(clock).unwrap();
    state(&facts, "city", "Rome", false);
    state(&facts, "city", "Paris", true);
    let before = rows(&facts);
    assert_eq!(before[0].source_turn_id.matches(':').count(), 2);
    join(&facts).unwrap();
    let name = device(&facts);
    let after = rows(&facts);
    assert_eq!(after.len(), before.len());
    for (before, after) in before.iter().zip(&after) {
        let named =
            before.source_turn_id.replace("annals:stated:", &format!("annals:stated:{name}:"));
        assert_eq!(after.source_turn_id, named);
        assert_eq!((&before.fact_id, before.status), (&after.fact_id, after.status));
    }
    check(&facts);
    // One operation for the first statement, and two for the one that replaced it.
    assert_eq!(pending(&facts, 100).unwrap().len(), 3);
    // The same statement made on two machines is not the same turn.
    let other = Facts::in_memory(clock).unwrap();
    state(&other, "city", "Rome", false);
    join(&other).unwrap();
    let ids = |facts: &Facts| pending(facts, 1).unwrap()[0].op_id.clone();
    assert_ne!(ids(&facts), ids(&other));
}

#[test]
fn a_word_of_the_users_own_beats_what_was_done_before_it() {
    let mut one = replica("2026-03-01T12:00:00Z");
    let two = replica("2026-03-01T12:00:00Z");
    let mut server = Server::default();
    let mut numbers = Numbers(7);
    state(&one, "city", "Rome", false);
    server.push(&one, 9);
    server.pull(&two, &mut numbers, 9);
    // Two receives another city; a minute later, the user confirms on one, which does not know of that.
    state(&two, "city", "Paris", false);
    one.clock = Clock::new(Some("2026-03-01T12:01:00Z")).unwrap();
    let id = rows(&one)[0].fact_id.clone();
    answer(&one, &ada(), &id, None).unwrap();
    for _ in 0..2 {
        for facts in [&one, &two] {
            server.push(facts, 9);
            server.pull(facts, &mut numbers, 9);
        }
    }
    assert_eq!(rows(&one), rows(&two));
    let with = |status| {
        rows(&one).into_iter().find(|fact| fact.status == status).map(|fact| fact.value_text)
    };
    assert_eq!(with(FactStatus::Active).as_deref(), Some("Rome"));
    assert_eq!(with(FactStatus::PendingConfirmation).as_deref(), Some("Paris"));
}

#[test]
fn a_value_that_holds_again_does_not_beat_what_was_said_on_another_device() {
    let mut one = replica("2026-03-01T12:00:00Z");
    let mut two = replica("2026-03-01T12:00:00Z");
    let mut server = Server::default();
    let mut numbers = Numbers(11);
    state(&one, "city", "Oslo", false);
    state_for_a_time(&one, "city", "Rome", 60, false);
    server.push(&one, 9);
    server.pull(&two, &mut numbers, 9);
    // Two states a move while Rome is valid; one does not know of that when Rome expires.
    two.clock = Clock::new(Some("2026-03-01T12:00:30Z")).unwrap();
    state(&two, "city", "Berlin", false);
    one.clock = Clock::new(Some("2026-03-01T12:05:00Z")).unwrap();
    maintain(&one, 5).unwrap();
    let active = |facts: &Facts| {
        let holds = rows(facts).into_iter().filter(|fact| fact.status == FactStatus::Active);
        holds.map(|fact| fact.value_text).collect::<Vec<_>>()
    };
    assert_eq!(active(&one), ["Oslo"]);
    for _ in 0..2 {
        for facts in [&one, &two] {
            server.push(facts, 9);
            server.pull(facts, &mut numbers, 9);
        }
    }
    assert_eq!(rows(&one), rows(&two));
    assert_eq!(active(&one), ["Berlin"]);
}

#[test]
fn a_fact_that_leaves_its_project_does_so_on_every_device() {
    let one = replica("2026-03-01T12:00:00Z");
    let two = replica("2026-03-01T12:01:00Z");
    let mut server = Server::default();
    let mut statement =
        Statement { key: "tool".to_owned(), value: "make".to_owned(), ..Statement::default() };
    statement.of_project = Some("alpha".to_owned());
    add(&one, &ada(), &statement).unwrap();
    server.push(&one, 9);
    server.pull(&two, &mut Numbers(5), 9);
    statement.of_project = None;
    add(&two, &ada(), &statement).unwrap();
    server.push(&two, 9);
    server.pull(&one, &mut Numbers(5), 9);
    assert_eq!(rows(&one), rows(&two));
    assert_eq!(rows(&one)[0].project, None);
}

#[test]
fn a_question_about_one_of_two_equal_facts_is_one_about_the_fact_that_is_kept() {
    let one = replica("2026-03-01T12:00:00Z");
    let two = replica("2026-03-01T12:01:00Z");
    let mut server = Server::default();
    state(&one, "address.home", "Rome", false);
    judge(&one, 1, "address.home", "Rome", "expire");
    state(&two, "address.home", "Rome", false);
    for facts in [&one, &two] {
        server.push(facts, 9);
    }
    server.pull(&one, &mut Numbers(5), 9);
    let asked = crate::facts::pending(&one, &ada()).unwrap();
    let asked: Vec<_> = asked.into_iter().filter_map(|one| one.question).collect();
    assert_eq!(asked, ["Is address.home no longer \"Rome\"?"]);
}

#[test]
fn the_history_of_other_devices_is_looked_at_once_for_operations() {
    let one = replica("2026-03-01T12:00:00Z");
    let two = replica("2026-03-01T12:00:00Z");
    let mut server = Server::default();
    for key in KEYS {
        state(&one, key, "Rome", false);
    }
    server.push(&one, 10_000);
    server.pull(&two, &mut Numbers(3), usize::MAX);
    let looked_at = |facts: &Facts| {
        let sql = "SELECT noted, (SELECT count(*) FROM fact_history) FROM share_device";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, usize>(0)?, row.get(1)?));
        facts.connection.query_row(sql, [], read).unwrap()
    };
    assert_eq!(looked_at(&two), (KEYS.len(), KEYS.len()));
    assert_eq!(pending(&two, 9).unwrap(), []);
    state(&two, "book", "Emma", false);
    assert_eq!(looked_at(&two), (KEYS.len() + 1, KEYS.len() + 1));
    assert_eq!(pending(&two, 9).unwrap().len(), 1);
}
