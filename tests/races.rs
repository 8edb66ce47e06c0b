//! Several agents at once in one folder: nothing is lost, nothing is torn, nothing stands twice.

use std::thread;

use crate::support::Case;

const PROCESSES: usize = 8;
const ROUNDS: usize = 50;

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
                    let command = if (process + round) % 2 == 0 {
                        "execute --all"
                    } else {
                        "sync"
                    };
                    case.run(command).success();
                });
            }
        });
    }
    let patterns = ".vbw-planning/patterns/PATTERNS.md";
    let recorded = case.read(patterns).unwrap();
    assert_eq!(
        String::from_utf8(recorded),
        String::from_utf8(undisturbed.read(patterns).unwrap())
    );
    assert_eq!(case.read("CLAUDE.md"), undisturbed.read("CLAUDE.md"));
    let left: Vec<_> = case
        .tree()
        .into_keys()
        .filter(|path| path.contains(".tmp"))
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[test]
fn shipping_and_recording_again_appends_nothing() {
    let case = Case::new("examples/vbw-project");
    case.run("ship --force").success();
    let shipped = case.tree();
    case.run("execute --all").success();
    case.run("ship").success();
    assert_eq!(
        crate::support::difference(&shipped, &case.tree()),
        Vec::<String>::new()
    );
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
                case.run("ledger update --commit").stdin(document.to_string()).success();
            });
        }
    });
    let text =
        |name: &str| String::from_utf8(case.read(&format!("docs/memory/{name}")).unwrap()).unwrap();
    for process in 0..PROCESSES {
        let bullet = format!("- alpha{process} beta{process} gamma{process} delta{process}\n");
        assert_eq!(text("CONSTRAINTS.md").matches(&bullet).count(), 1);
        assert_eq!(
            text("DECISIONS.md")
                .matches(&format!(" Title {process}\n"))
                .count(),
            1
        );
    }
    let status = case
        .program("git status --porcelain docs")
        .success()
        .stdout();
    assert_eq!(status, "", "all is committed");
}
