//! Any sequence of events, by eight processes at once that may die anywhere, and said again: what must hold, holds.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, thread};

use annals::clock::Clock;
use annals::facts;
use annals::facts::{
    Change, Fact, FactFilter, FactQuery, Facts, Method, Observation, Purpose, Selection, UserId,
};
use annals::search::Embedder;
use annals::secrets::SecretPolicy;
use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::facts::erasure::holding;
use crate::facts::properties::{KEYS, VALUES, Wish};
use crate::facts::{START, properties, stated};
use crate::support::{Case, Invocation, Outcome};

/// Names that no id of hexadecimal digits holds by chance.
const USERS: [&str; 2] = ["edith", "grace"];
const TURNS: usize = 6;
/// Long after every lease of the run has ended.
const LATER: &str = "2026-03-01T13:00:00Z";

/// One run of the program.
#[derive(Clone, Debug)]
struct Step {
    user: usize,
    event: Event,
    death: Option<Death>,
}

#[derive(Clone, Debug)]
enum Event {
    Add(usize, usize),
    Apply(usize),
    Work,
    Confirm(usize),
    Reject(usize),
    Forget(usize),
    Import,
    Export,
}

/// How a run is ended before its time.
#[derive(Clone, Copy, Debug)]
enum Death {
    /// In place of its n-th file operation or step of a transaction.
    InPlaceOf(usize),
    /// From outside, after so many milliseconds.
    After(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let event = prop_oneof![
        6 => (0..KEYS.len(), 0..VALUES.len()).prop_map(|(key, value)| Event::Add(key, value)),
        6 => (0..TURNS).prop_map(Event::Apply),
        3 => Just(Event::Work),
        2 => (0..12_usize).prop_map(Event::Confirm),
        2 => (0..12_usize).prop_map(Event::Reject),
        2 => (0..KEYS.len()).prop_map(Event::Forget),
        1 => Just(Event::Import),
        1 => Just(Event::Export),
    ];
    let death =
        prop_oneof![(1..8_usize).prop_map(Death::InPlaceOf), (1..80_u64).prop_map(Death::After),];
    (0..USERS.len(), event, prop::option::weighted(0.3, death))
        .prop_map(|(user, event, death)| Step { user, event, death })
}

/// A database that two users share, with turns that wait, and what the auditor will say to each.
struct Stage {
    case: Case,
    db: PathBuf,
}

impl Stage {
    fn new(answers: &[Vec<Wish>]) -> Self {
        let case = Case::empty();
        let folder = case.home().join("store");
        fs::create_dir(&folder).unwrap();
        let db = folder.join("mem.db");
        let stage = Self { case, db };
        let facts = stage.open();
        for (number, name) in USERS.iter().enumerate() {
            let user = UserId::new(name).unwrap();
            let known = stated("name", &format!("{name} A"));
            facts::add(&facts, &user, &known).unwrap();
            for (nth, wishes) in answers.iter().enumerate().skip(number * TURNS).take(TURNS) {
                let turn = turn(number, nth % TURNS);
                let observation = Observation {
                    user_input: format!("what {name} said in {turn}"),
                    turn_id: Some(turn.clone()),
                    ..Observation::default()
                };
                facts::observe(&facts, &user, &observation, SecretPolicy::Refuse).unwrap();
                let actions: Vec<Value> = wishes.iter().map(|wish| action(wish, name)).collect();
                stage.keep(&turn, &json!({ "actions": actions }).to_string());
            }
            stage.keep(&format!("{name}.jsonl"), &moved_in(&facts, &user));
        }
        stage
    }

    fn open(&self) -> Facts {
        let clock = Clock::new(Some(START)).unwrap();
        Facts::open_file(&self.db, clock, Duration::from_secs(30), Purpose::Write).unwrap()
    }

    fn keep(&self, name: &str, text: &str) {
        fs::write(self.case.home().join(name), text).unwrap();
    }

    fn kept(&self, name: &str) -> String {
        fs::read_to_string(self.case.home().join(name)).unwrap()
    }

    fn run(&self, line: &str, user: &str) -> Invocation<'_> {
        let run = self.case.run(line).env("ANNALS_LOCK_WAIT", "30");
        run.args(["--user", user, "--db", self.db.to_str().unwrap()])
    }

    /// The auditor finds the turn that it is asked about in the prompt, behind those of the old facts.
    fn worker(&self) -> Invocation<'_> {
        let home = self.case.home().display();
        let auditor = format!("cat {home}/$(grep -o 'turn-[0-9]-[0-9]*' | tail -n 1)");
        self.run("facts work --json", USERS[0]).env("ANNALS_LLM_COMMAND", auditor)
    }

    /// The run of the program that an event stands for; nothing where there is no fact to answer about.
    fn invocation(&self, nth: usize, step: &Step) -> Option<Invocation<'_>> {
        let user = USERS[step.user];
        let run = match step.event {
            Event::Add(key, value) => {
                let value = format!("{user} {}", VALUES[value]);
                let request = format!("{user}-said-{nth}");
                self.run("facts add", user)
                    .args(["--key", KEYS[key], "--value", &value, "--request-id", &request])
            }
            Event::Apply(nth) => {
                let turn = turn(step.user, nth);
                self.run("facts turns --apply", user).args([&turn]).stdin(self.kept(&turn))
            }
            Event::Work => self.worker(),
            Event::Confirm(nth) => self.run("facts confirm", user).args([self.nth(user, nth)?]),
            Event::Reject(nth) => {
                self.run("facts confirm --reject", user).args([self.nth(user, nth)?])
            }
            // It needs the file alone, which seven others seldom leave it.
            Event::Forget(key) => self
                .run("facts forget --reason asked", user)
                .args(["--key", KEYS[key]])
                .env("ANNALS_LOCK_WAIT", "1"),
            Event::Import => {
                self.run("facts import", user).stdin(self.kept(&format!("{user}.jsonl")))
            }
            Event::Export => self.run("facts export", user),
        };
        Some(run)
    }

    fn nth(&self, user: &str, nth: usize) -> Option<String> {
        let listed = self.run("facts list --all --json", user).success().json();
        let all = listed["facts"].as_array().unwrap();
        let id = all.get(nth % all.len().max(1))?["fact_id"].as_str().unwrap();
        Some(id.to_owned())
    }

    /// Lets eight processes at a time take these steps; returns those that came to a good end.
    fn interleave(&self, steps: &[(usize, Step)]) -> Vec<(usize, Step)> {
        let lane = |number: usize| -> Vec<(usize, Step)> {
            let own = steps.iter().skip(number).step_by(8);
            own.filter(|(nth, step)| self.take(*nth, step)).cloned().collect()
        };
        thread::scope(|scope| {
            let lanes: Vec<_> = (0..8).map(|number| scope.spawn(move || lane(number))).collect();
            lanes.into_iter().flat_map(|lane| lane.join().unwrap()).collect()
        })
    }

    fn take(&self, nth: usize, step: &Step) -> bool {
        let Some(mut run) = self.invocation(nth, step) else {
            return false;
        };
        run = match step.death {
            Some(Death::InPlaceOf(nth)) => run.env("ANNALS_FAIL_AFTER", nth.to_string()),
            Some(Death::After(milliseconds)) => run.within(Duration::from_millis(milliseconds)),
            None => run,
        };
        is_good_end(&step.event, step.death, &run.output())
    }

    /// All that is known of all users, to compare.
    fn state(&self) -> Vec<(Vec<Fact>, Vec<Change>)> {
        let facts = self.open();
        let of = |name: &str| {
            let user = UserId::new(name).unwrap();
            let states = facts::export(&facts, &user).unwrap();
            (states, facts::history(&facts, &user, None).unwrap())
        };
        USERS.map(of).into()
    }
}

/// Returns whether a run did what it was asked; fails the test where it may not end as it did.
fn is_good_end(event: &Event, death: Option<Death>, outcome: &Outcome) -> bool {
    match (event, outcome.exit_code()) {
        (_, Some(0)) => return true,
        (_, None) => assert!(death.is_some(), "{}", outcome.report()),
        // An answer that does not fit the facts is the auditor's fault; that it is not heard would be ours.
        (Event::Work, Some(1)) => {
            assert!(outcome.stdout().contains("could not be judged\","), "{}", outcome.report());
        }
        // What is asked for is gone by now, or does not fit, or the file is in use.
        (_, code) => assert!(matches!(code, Some(3 | 4)), "{}", outcome.report()),
    }
    false
}

fn turn(user: usize, nth: usize) -> String {
    format!("turn-{user}-{nth}")
}

/// What the auditor says: the values tell whose they are, so that none can be taken for another's.
fn action(wish: &Wish, user: &str) -> Value {
    let mut action = wish.action(KEYS[wish.key], None);
    if let Some(value) = action["new_value_text"].as_str() {
        action["new_value_text"] = format!("{user} {value}").into();
    }
    action
}

/// A fact from another database: it contradicts what holds here.
fn moved_in(facts: &Facts, user: &UserId) -> String {
    let mut fact = facts::export(facts, user).unwrap().remove(0);
    fact.fact_id = format!("00000000-0000-4000-8000-{:012}", user.as_str().len());
    fact.value_text = format!("{user} B");
    serde_json::to_string(&fact).unwrap()
}

/// What is said under an id, which said again changes nothing.
fn is_idempotent(step: &Step) -> bool {
    matches!(step.event, Event::Add(..) | Event::Apply(_) | Event::Import)
}

/// After all that happened, as the tables themselves say.
fn tables_hold(db: &Path) {
    let connection = Connection::open(db).unwrap();
    let rows = |sql: &str| -> Vec<(String, String)> {
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let twice = "SELECT user_id, key FROM facts WHERE status = 'active' AND key NOT LIKE '%[]' \
                 GROUP BY user_id, key HAVING count(*) > 1";
    assert_eq!(rows(twice), []);
    let same_value = "SELECT user_id, key FROM facts WHERE status = 'active' \
                      GROUP BY user_id, key, value_text HAVING count(*) > 1";
    assert_eq!(rows(same_value), []);
    let found = "SELECT user_id, fact_id FROM facts WHERE status IN ('active', 'pending_confirmation') ORDER BY 1, 2";
    assert_eq!(rows("SELECT user_id, fact_id FROM fact_vectors ORDER BY 1, 2"), rows(found));
}

/// Each vector is that of its fact as it reads now.
fn vectors_are_of_their_facts(stage: &Stage) {
    let vectors = || -> Vec<(String, Vec<u8>)> {
        let connection = Connection::open(&stage.db).unwrap();
        let sql = "SELECT fact_id, vector FROM fact_vectors ORDER BY 1";
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let kept = vectors();
    Connection::open(&stage.db).unwrap().execute("DELETE FROM fact_vectors", []).unwrap();
    facts::refresh(&stage.open(), &Embedder::BuiltIn).unwrap();
    assert_eq!(kept, vectors());
}

/// Whatever is asked about one user, nothing of the other is in the answer.
fn nobody_sees_another(stage: &Stage) {
    let facts = stage.open();
    for (name, other) in [("edith", "grace"), ("grace", "edith")] {
        let user = UserId::new(name).unwrap();
        let mut answers = vec![
            format!("{:?}", facts::list(&facts, &user, &FactFilter::default()).unwrap()),
            format!("{:?}", facts::history(&facts, &user, None).unwrap()),
            format!("{:?}", facts::export(&facts, &user).unwrap()),
            format!("{:?}", facts::pending(&facts, &user).unwrap()),
            format!("{:?}", facts::profile(&facts, &user, None).unwrap()),
            format!("{:?}", facts::stored_profile(&facts, &user).unwrap()),
            format!("{:?}", facts::turns(&facts, &user).unwrap()),
        ];
        for method in Method::ALL {
            let query = FactQuery {
                text: format!("what does {other} like, A or B of old?"),
                limit: 100,
                project: None,
                method,
                selection: Selection::All,
                uses_encoder: false,
            };
            let found = facts::retrieve(&facts, &user, &query, &Embedder::BuiltIn).unwrap();
            answers.extend(found.hits.iter().map(|hit| format!("{:?}", hit.fact)));
        }
        for turn in facts::turns(&facts, &user).unwrap() {
            answers.push(facts::prompt(&facts, &turn, &Embedder::BuiltIn).unwrap());
        }
        for answer in answers {
            assert!(!answer.contains(other), "{name} is told {answer}");
        }
    }
}

proptest! {
    // What happens at once is not the same twice: a smaller case would prove nothing.
    #![proptest_config(ProptestConfig { cases: 3, max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn eight_processes_that_do_anything_and_die_anywhere_keep_what_must_hold(
        answers in prop::collection::vec(prop::collection::vec(properties::wish(), 1..4), 2 * TURNS),
        steps in prop::collection::vec(step(), 32..64),
        dies_forgetting in 1..8_usize,
    ) {
        let stage = Stage::new(&answers);
        let steps: Vec<(usize, Step)> = steps.into_iter().enumerate().collect();
        stage.interleave(&steps);
        let last = stage.worker().env("ANNALS_NOW", LATER).output();
        is_good_end(&Event::Work, None, &last);
        // Said again by all, whether they died or not, each counts once.
        let mut again: Vec<(usize, Step)> = steps.into_iter().filter(|(_, step)| is_idempotent(step)).collect();
        for (_, step) in &mut again {
            step.death = None;
        }
        let heard = stage.interleave(&again);
        let once = stage.state();
        prop_assert_eq!(stage.interleave(&heard).len(), heard.len());
        prop_assert_eq!(&once, &stage.state());

        let check = stage.run("facts check --json", USERS[0]).success().json();
        prop_assert_eq!((&check["problems"], &check["unsynced_vectors"]), (&json!([]), &json!(0)));
        tables_hold(&stage.db);
        vectors_are_of_their_facts(&stage);
        nobody_sees_another(&stage);
        for (states, history) in &once {
            properties::high_risk_holds(history);
            properties::history_is_whole(states.clone(), history);
        }

        let forget = || stage.run("facts forget --reason asked", "grace");
        let died = forget().env("ANNALS_FAIL_AFTER", dies_forgetting.to_string()).output();
        is_good_end(&Event::Forget(0), Some(Death::InPlaceOf(dies_forgetting)), &died);
        forget().success();
        prop_assert_eq!(holding(stage.db.parent().unwrap(), "grace"), Vec::<String>::new());
        prop_assert_eq!(&once[0], &stage.state()[0]);
    }
}
