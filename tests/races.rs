//! Several agents writing to one folder lose nothing, and leave no line incomplete or duplicated.

use std::thread;

use crate::support::Case;

const PROCESSES: usize = 8;
const ROUNDS: usize = 2;

#[test]
fn execute_and_sync_at_once_record_each_phase_once() {
    let case = Case::new("examples/vbw-project");
    let undisturbed = Case::new("examples/vbw-project");
    undisturbed.run("execute --all").success();
    undisturbed.run("sync").success();
    for round in 0..ROUNDS {
        thread::scope(|scope| {
            for process in 0..PROCESSES {
                let case = &case;
                scope.spawn(move || {
                    let command = if (process + round) % 2 == 0 { "execute --all" } else { "sync" };
                    case.run(command).success();
                });
            }
        });
    }
    let patterns = ".vbw-planning/patterns/PATTERNS.md";
    let recorded = case.read(patterns).unwrap();
    assert_eq!(String::from_utf8(recorded), String::from_utf8(undisturbed.read(patterns).unwrap()));
    assert_eq!(case.read("CLAUDE.md"), undisturbed.read("CLAUDE.md"));
    let left: Vec<_> = case.tree().into_keys().filter(|path| path.contains(".tmp")).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[test]
fn shipping_and_recording_again_appends_nothing() {
    let case = Case::new("examples/vbw-project");
    case.run("ship --force").success();
    let shipped = case.tree();
    case.run("execute --all").success();
    case.run("ship").success();
    assert_eq!(crate::support::difference(&shipped, &case.tree()), Vec::<String>::new());
}

#[test]
fn of_pauses_at_once_one_note_is_left_and_each_resume_reads_a_whole_one() {
    let case = Case::new("examples/vbw-project");
    case.run("pause note-0").success();
    let state = case.read(".vbw-planning/STATE.md");
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let case = &case;
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    let note = format!("note-{process}");
                    case.run("pause").args([&note]).success();
                    let read = case.run("resume --json").success().json();
                    assert_eq!(read["is_own"], true, "{read}");
                    let found = read["notes"].as_str().unwrap();
                    let number = found.strip_prefix("note-").and_then(|n| n.parse().ok());
                    assert!(number.is_some_and(|n: usize| n < PROCESSES), "{found}");
                }
            });
        }
    });
    assert_eq!(case.read(".vbw-planning/STATE.md"), state);
    let left: Vec<_> = case.tree().into_keys().collect();
    assert!(left.iter().all(|path| !path.contains(".tmp")), "{left:?}");
}

#[test]
fn milestones_started_and_switched_at_once_lose_no_file() {
    let case = Case::new("examples/vbw-project");
    // A generation that has a folder for each milestone.
    case.write(".vbw-planning/ACTIVE", "default\n");
    let before = case.tree();
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let case = &case;
            scope.spawn(move || {
                let slug = format!("milestone-{process}");
                case.run("milestone new").args([&slug]).success();
                case.run("milestone switch default").success();
                case.run("milestone switch").args([&slug]).success();
            });
        }
    });
    let after = case.tree();
    let moved = |path: &str| {
        let below = path.strip_prefix(".vbw-planning/").unwrap();
        format!(".vbw-planning/default/{below}")
    };
    for (path, content) in before.iter().filter(|(path, _)| is_work(path)) {
        assert_eq!(after.get(&moved(path)), Some(content), "{path}");
        assert!(!after.contains_key(path), "{path} stands twice");
    }
    let listed = case.run("milestone list --json").success().json();
    let open = listed["milestones"].as_array().unwrap().iter();
    let open = open.filter(|one| one["standing"] != "archived");
    let mut slugs: Vec<_> = open.map(|one| one["slug"].as_str().unwrap()).collect();
    slugs.sort_unstable();
    let started = (0..PROCESSES).map(|process| format!("milestone-{process}"));
    let wanted: Vec<_> = std::iter::once("default".to_owned()).chain(started).collect();
    assert_eq!(slugs, wanted);
    let active = String::from_utf8(case.read(".vbw-planning/ACTIVE").unwrap()).unwrap();
    assert_eq!(listed["milestones"][0]["slug"], active.trim_end());
    case.run("sync --check").success();
}

/// Returns whether a file belongs to the work that a new milestone moves out of the way.
fn is_work(path: &str) -> bool {
    let work = ["STATE.md", "ROADMAP.md", "phases/"];
    let below = path.strip_prefix(".vbw-planning/");
    below.is_some_and(|below| work.iter().any(|name| below.starts_with(name)))
}

#[test]
fn ledger_updates_at_once_lose_nothing() {
    let case = Case::empty();
    case.git_init();
    let head = case.commit("All there is", "2026-02-28T00:00:00Z");
    case.run("ledger init").success();
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let (case, head) = (&case, &head);
            scope.spawn(move || {
                let document = serde_json::json!({
                    "constraints": [{"op": "add", "section": "Rules", "bullet": format!("alpha{process} beta{process} gamma{process} delta{process}")}],
                    "decisions": [{"date": "2026-02-27", "title": format!("Title {process}"), "why": "w", "impact": "i", "evidence": head}],
                    "covered_through": head,
                });
                case.run("ledger update").stdin(document.to_string()).success();
            });
        }
    });
    let text =
        |name: &str| String::from_utf8(case.read(&format!("docs/memory/{name}")).unwrap()).unwrap();
    for process in 0..PROCESSES {
        let bullet = format!("- alpha{process} beta{process} gamma{process} delta{process}\n");
        assert_eq!(text("CONSTRAINTS.md").matches(&bullet).count(), 1);
        assert_eq!(text("DECISIONS.md").matches(&format!("\u{2014} Title {process}\n")).count(), 1);
    }
}
