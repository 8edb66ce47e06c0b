//! Sixteen agents at once on every store, some of them killed: what was acknowledged is there once, and nothing is torn.
//!
//! `ANNALS_LOAD_SECONDS` lets it run for longer: `ANNALS_LOAD_SECONDS=60 cargo test load -- --nocapture`

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::{Value, json};

use crate::support::{Case, Invocation, tree};

/// As many runs of each agent as take a few seconds; a longer run counts seconds instead.
const ROUNDS: u64 = 8;
/// One run of so many is killed.
const KILL_ONE_OF: u64 = 5;

const AGENTS: [Work; 16] = [
    Work::Entry,
    Work::Entry,
    Work::Entry,
    Work::Journal,
    Work::Journal,
    Work::Journal,
    Work::Notepad,
    Work::Notepad,
    Work::Notepad,
    Work::Ledger,
    Work::Ledger,
    Work::Execute,
    Work::Execute,
    Work::Sync,
    Work::Fact,
    Work::Fact,
];

#[derive(Clone, Copy, PartialEq)]
enum Work {
    Entry,
    Journal,
    Notepad,
    Ledger,
    Execute,
    Sync,
    Fact,
}

/// One run of an agent: what it wrote, and whether it was told so.
struct Operation {
    work: Work,
    token: String,
    is_acknowledged: bool,
}

/// Keeps the facts in the case's own home.
fn own(run: Invocation<'_>) -> Invocation<'_> {
    run.env("ANNALS_USER", "ada")
}

fn invocation<'a>(case: &'a Case, work: Work, token: &str) -> Invocation<'a> {
    let text = format!("{token} begins and {token} ends");
    let run = match work {
        Work::Entry => case
            .run("entry write --type convention --confidence high --body-stdin --key")
            .args([token])
            .stdin(text),
        Work::Journal => case.run("journal write --content").args([text]),
        Work::Notepad => case.run("notepad manual").args([text]),
        Work::Ledger => {
            // Words of its own: bullets that say much the same are refused.
            let bullet = format!("{token}a {token}b {token}c {token}d");
            let change = json!({"op": "add", "section": "Rules", "bullet": bullet});
            let document = json!({"constraints": [change]});
            case.run("ledger update").stdin(document.to_string())
        }
        Work::Execute => case.run("execute --all"),
        Work::Sync => case.run("sync"),
        Work::Fact => {
            let key = token.replace('-', ".");
            case.run("facts add").args(["--key", &key, "--value", &text])
        }
    };
    own(run)
}

/// A generator of numbers that are the same in every run of the test.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

fn agent(
    case: &Case,
    number: u64,
    work: Work,
    goes_on: &(dyn Fn(u64) -> bool + Sync),
) -> Vec<Operation> {
    let mut dice = Dice(number);
    let mut done = Vec::new();
    for round in (0..).take_while(|round| goes_on(*round)) {
        let token = format!("load-a{number}r{round}");
        let mut run = invocation(case, work, &token);
        let is_killed = dice.roll().is_multiple_of(KILL_ONE_OF);
        if is_killed {
            run = run.within(Duration::from_millis(5 + dice.roll() % 120));
        }
        let outcome = run.output();
        let code = outcome.exit_code();
        assert!(code == Some(0) || (is_killed && code.is_none()), "{}", outcome.report());
        done.push(Operation { work, token, is_acknowledged: code == Some(0) });
    }
    done
}

/// Lets all agents work at once, and returns all that they did.
fn work(case: &Case) -> Vec<Operation> {
    let seconds = std::env::var("ANNALS_LOAD_SECONDS").ok();
    let until = seconds.map(|text| Instant::now() + Duration::from_secs(text.parse().unwrap()));
    let goes_on = |round| until.map_or(round < ROUNDS, |end| Instant::now() < end);
    thread::scope(|scope| {
        let agents: Vec<_> = (0..)
            .zip(AGENTS)
            .map(|(number, work)| scope.spawn(move || agent(case, number, work, &goes_on)))
            .collect();
        let done = agents.into_iter().map(|agent| agent.join().unwrap());
        done.flatten().collect()
    })
}

/// What the stores hold after the load: how often each token stands there whole, and what is torn.
#[derive(Default)]
struct Found {
    whole: BTreeMap<String, usize>,
    torn: Vec<String>,
}

impl Found {
    fn add(&mut self, token: &str) {
        *self.whole.entry(token.to_owned()).or_default() += 1;
    }

    /// Takes in a text that has to be one agent's, first letter to last.
    fn sentence(&mut self, text: &str) {
        let token = text.split(' ').next().unwrap_or_default();
        if text == format!("{token} begins and {token} ends") {
            self.add(token);
        } else {
            self.torn.push(text.to_owned());
        }
    }
}

fn text(case: &Case, path: &str) -> String {
    String::from_utf8(case.read(path).unwrap()).unwrap()
}

fn journal(case: &Case, found: &mut Found) {
    let file = case.home().join(".codex/memory.jsonl");
    for line in fs::read_to_string(file).unwrap().lines() {
        match serde_json::from_str::<Value>(line) {
            Ok(record) => found.sentence(record["content"].as_str().unwrap()),
            Err(_) => found.torn.push(line.to_owned()),
        }
    }
}

fn notepad(case: &Case, found: &mut Found) {
    for line in text(case, ".vibekit/notepad.md").lines() {
        if line.starts_with("load-") {
            found.sentence(line);
        } else if !line.is_empty() && !line.starts_with('#') {
            found.torn.push(line.to_owned());
        }
    }
}

fn ledger(case: &Case, found: &mut Found) {
    let bullets = text(case, "docs/memory/CONSTRAINTS.md");
    for bullet in bullets.lines().filter_map(|line| line.strip_prefix("- load-")) {
        let token = format!("load-{}", bullet.split("a ").next().unwrap());
        if format!("- load-{bullet}") == format!("- {token}a {token}b {token}c {token}d") {
            found.add(&token);
        } else {
            found.torn.push(bullet.to_owned());
        }
    }
}

/// Every entry is whole, and stands once in INDEX.md.
fn entries(case: &Case, found: &mut Found) {
    let index = text(case, ".vibekit/memory/INDEX.md");
    for path in case.tree().keys() {
        let name = path.strip_prefix(".vibekit/memory/load-");
        let Some(name) = name.and_then(|name| name.strip_suffix(".md")) else {
            continue;
        };
        let key = format!("load-{name}");
        found.sentence(text(case, path).lines().last().unwrap());
        let rows = index.matches(&format!("| {key} |")).count();
        assert_eq!(rows, 1, "{key}\n{index}");
    }
}

fn facts(case: &Case, found: &mut Found) {
    let listed = own(case.run("facts list --all --json")).success().json();
    for fact in listed["facts"].as_array().unwrap() {
        found.sentence(fact["value_text"].as_str().unwrap());
    }
    own(case.run("facts check")).success();
}

fn patterns(case: &Case) {
    let listed = case.run("patterns list --json").success().json();
    let entries = listed["entries"].as_array().unwrap();
    let mut names: Vec<_> = entries.iter().map(|one| one["name"].to_string()).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!((names.len(), all), (7, 7), "{names:?}");
}

/// Runs every command once more, so that what a killed one left half done is put right as it would be.
fn settle(case: &Case) {
    for (number, work) in (0..AGENTS.len()).zip(AGENTS) {
        let token = format!("load-last{number}r0");
        invocation(case, work, &token).success();
    }
    case.run("entry audit").success();
    case.run("sync --check").success();
}

/// Fails the test unless each write that was acknowledged is there once, and no other one twice.
fn nothing_is_lost(case: &Case, done: &[Operation], found: &Found) {
    let log = text(case, ".vibekit/memory/log.md");
    let mut lost = Vec::new();
    for one in done {
        let times = found.whole.get(&one.token).copied().unwrap_or_default();
        let is_kept = matches!(one.work, Work::Execute | Work::Sync);
        if one.is_acknowledged && times != 1 && !is_kept || times > 1 {
            lost.push(format!("{} {times} times", one.token));
        }
        let lines = log.matches(&format!(" write {} (", one.token)).count();
        if one.work == Work::Entry && (lines > 1 || one.is_acknowledged && lines == 0) {
            lost.push(format!("{} {lines} times in log.md", one.token));
        }
    }
    assert!(lost.is_empty(), "{lost:?}");
    assert!(found.torn.is_empty(), "{:?}", found.torn);
}

#[test]
fn nothing_is_lost_or_torn_under_load() {
    let case = Case::new("examples/vbw-project");
    case.run("ledger init").success();
    let done = work(&case);
    settle(&case);
    let mut found = Found::default();
    for read in [journal, notepad, ledger, entries, facts] {
        read(&case, &mut found);
    }
    nothing_is_lost(&case, &done, &found);
    patterns(&case);
    assert!(text(&case, "CLAUDE.md").lines().count() <= 200);
    let killed = done.iter().filter(|one| !one.is_acknowledged).count();
    assert!(killed > 0 && killed < done.len() / 2, "{killed} killed");
    report(done.len(), killed);
}

/// Commands that write, one for each store.
const WRITERS: &[&str] = &[
    "echo text | $ANNALS entry write --key full --type convention --confidence high --body-stdin",
    "$ANNALS journal write --content full",
    "$ANNALS notepad manual full",
    "$ANNALS ledger init",
    "$ANNALS execute --all",
    "$ANNALS sync",
    "$ANNALS facts add --key full --value full",
    "$ANNALS setup claude",
];

/// Every file that people or a store own; our locks, records and caches are left out.
fn kept(case: &Case) -> Vec<(String, Vec<u8>)> {
    let home = tree(case.home()).into_iter();
    let facts = |path: &str| path.contains("mem.db");
    let home = home.filter(|(path, _)| !facts(path) && !path.ends_with('/'));
    let own = case.tree().into_iter();
    let own = own.filter(|(path, _)| !path.ends_with('/'));
    own.chain(home).collect()
}

#[cfg(unix)]
#[test]
fn a_full_disk_fails_a_write_and_leaves_what_was_there() {
    for command in WRITERS {
        for blocks in [0, 4] {
            let case = Case::new("examples/vbw-project");
            own(case.run("journal write --content before")).success();
            own(case.run("facts add --key before --value before")).success();
            let before = kept(&case);
            // The signal is ignored, so that a write fails as it does on a full disk.
            let script = format!("trap '' XFSZ; ulimit -f {blocks}; {command}");
            let outcome = own(case.shell(&script)).output();
            assert!(outcome.crash().is_none(), "{}", outcome.report());
            let code = outcome.exit_code();
            assert!(matches!(code, Some(0 | 1)), "{}", outcome.report());
            if code == Some(1) {
                let told = format!("{}{}", outcome.stdout(), outcome.stderr());
                assert!(told.contains("error"), "{}", outcome.report());
                let after = kept(&case);
                let changed: Vec<_> = before.iter().filter(|one| !after.contains(one)).collect();
                assert!(changed.is_empty(), "{changed:?}\n{}", outcome.report());
            }
            own(case.shell(command)).success();
            own(case.run("facts check")).success();
            let facts = own(case.run("facts list")).success().stdout();
            assert!(facts.contains("before"), "{facts}");
        }
    }
}

#[test]
fn files_that_come_and_go_stop_no_reader() {
    let case = Case::new("examples/vbw-project");
    let readers = ["status", "recall stock", "context", "patterns list", "sync --stdout"];
    let file = case.root().join(".vbw-planning/STATE.md");
    let state = fs::read(&file).unwrap();
    thread::scope(|scope| {
        let reading = scope.spawn(|| {
            for reader in readers.iter().cycle().take(20) {
                let outcome = own(case.run(reader)).success();
                assert!(outcome.crash().is_none(), "{}", outcome.report());
            }
        });
        while !reading.is_finished() {
            fs::remove_file(&file).unwrap();
            fs::write(&file, &state).unwrap();
        }
        reading.join().unwrap();
    });
}

/// Prints what the load was; that nothing was lost or torn is asserted before.
#[expect(clippy::print_stdout, reason = "the report of the load, for who runs it")]
fn report(operations: usize, unacknowledged: usize) {
    let agents = AGENTS.len();
    println!(
        "load: {agents} agents, {operations} operations, {unacknowledged} killed before they answered, lost 0, torn 0"
    );
}
