//! `annals log`

use serde_json::json;

use crate::cli::{YOLO, assert_error};
use crate::support::Case;

#[test]
fn changes_are_listed_newest_first() {
    let case = Case::new(YOLO);
    let empty = case.run("log").success();
    assert_eq!(empty.stdout(), "No changes recorded.\n");
    case.run("sync").success();
    case.run("undo").success();
    let log = case.run("log").success();
    assert_eq!(
        log.stdout(),
        "\
2  2026-03-01T12:00:00Z  undo 1
      deleted CLAUDE.md
1  2026-03-01T12:00:00Z  sync
      created CLAUDE.md
"
    );
    assert_eq!(log.stderr(), "");
    let newest = case.run("log --limit 1").success();
    assert_eq!(newest.stdout(), "2  2026-03-01T12:00:00Z  undo 1\n      deleted CLAUDE.md\n");
    case.run("log --limit 1 --json").success().stdout_json(&json!({"operations": [{
        "id": 2, "operation": "undo 1", "time": "2026-03-01T12:00:00Z", "stores": ["context"],
        "files": [{"path": "CLAUDE.md", "happened": "deleted"}]
    }]}));
}

#[test]
fn a_record_can_be_forgotten() {
    let case = Case::new(YOLO);
    case.run("sync").success();
    let before = case.whole_tree();
    let dry = case.run("log --forget 1 --dry-run").success();
    assert_eq!(dry.stderr(), "Would forget operation 1.\n");
    assert_eq!(before, case.whole_tree());
    let done = case.run("log --forget 1").success();
    assert_eq!(
        (done.stdout(), done.stderr()),
        ("No changes recorded.\n".into(), "Forgot operation 1.\n".into())
    );
    let unknown = case.run("log --forget 1").code(3);
    assert_error(
        &unknown,
        "there is no operation 1",
        "`annals log` lists the operations that can be undone",
    );
}

#[test]
fn without_history_nothing_is_listed() {
    let case = Case::new(YOLO);
    case.run("sync --no-history").success();
    assert_eq!(case.run("log --json").success().json(), json!({"operations": []}));
}
