//! Right and wrong answers about a summary.

use serde_json::{Value, json};

use crate::gold::proof::perfect::perfect_summary;
use crate::gold::proof::with;
use crate::gold::scores::Scores;
use crate::gold::summaries;

fn row() -> Value {
    json!({
        "file": "vbw/a+b/.vbw-planning/phases/05.3-name/05.3-02-SUMMARY.md", "phase": "05.3", "plan": "05.3-02",
        "title": "Phase 5 Plan 2: Parser Summary", "status": "complete", "duration_minutes": 3.82,
        "completed": "2026-02-11", "deviation_count": 2,
        "deviations": ["[Rule 1 - Bug] The date was read as a num", "Task 3 skipped"],
        "tasks_completed": 4, "tasks_total": 5, "files": ["src/a.rs", "src/b.rs"], "commits": ["0753326", "84e9493"],
    })
}

fn scores_of(gold: &Value, answer: &Value) -> Scores {
    let mut scores = Scores::default();
    summaries::score(gold, answer, &mut scores);
    scores
}

#[test]
fn each_wrong_value_of_a_summary_costs_its_own_point() {
    let gold = row();
    let perfect = perfect_summary(&gold);
    let scores = scores_of(&gold, &perfect);
    assert_eq!((scores.points("summary"), scores.wrong()), ((12, 12), vec![]));
    for (pointer, value, field) in [
        ("/phase", json!("5"), "phase"),
        ("/phase", json!(null), "phase"),
        ("/plan", json!("03"), "plan"),
        ("/title", json!("Lexer"), "title"),
        ("/status", json!("partial"), "status"),
        ("/status", json!(null), "status"),
        ("/duration_minutes", json!(3), "duration_minutes"),
        ("/duration_derived", json!(true), "duration_minutes"),
        ("/completed", json!("2026-02-12"), "completed"),
        ("/deviation_count", json!(3), "deviation_count"),
        ("/deviations", json!([]), "deviations"),
        ("/deviations/1/text", json!("Task 4 skipped"), "deviations"),
        ("/tasks/completed", json!(5), "tasks_completed"),
        ("/tasks/total", json!(null), "tasks_total"),
        ("/files", json!(["src/a.rs"]), "files"),
        ("/files", json!(["src/a.rs", "src/b.rs", "c"]), "files"),
        ("/commits", json!(["84e9493", "0753326"]), "commits"),
        ("/commits", json!(["753326", "84e9493"]), "commits"),
    ] {
        let scores = scores_of(&gold, &with(&perfect, pointer, value));
        assert_eq!(scores.wrong(), [format!("summary.{field}")], "{pointer}");
        assert_eq!(scores.points("summary"), (11, 12));
        assert_eq!(scores.below(&[("summary", 92)]).len(), 1);
        assert_eq!(scores.below(&[("summary", 91)]).len(), 0);
    }
}

#[test]
fn no_answer_is_wrong_in_every_field_even_where_the_gold_is_empty() {
    let mut gold = row();
    for key in
        ["title", "status", "duration_minutes", "completed", "tasks_completed", "tasks_total"]
    {
        gold[key] = Value::Null;
    }
    for key in ["files", "commits", "deviations"] {
        gold[key] = json!([]);
    }
    for answer in [json!(null), json!({}), json!("text")] {
        assert_eq!(scores_of(&gold, &answer).points("summary"), (0, 12));
    }
}

#[test]
fn other_spellings_of_the_same_summary_are_right() {
    let gold = row();
    let perfect = perfect_summary(&gold);
    for (pointer, value) in [
        ("/phase", json!("5.3")),
        ("/phase", json!("05.3-name")),
        ("/plan", json!("2")),
        ("/title", json!("Parser")),
        ("/duration_minutes", json!(3.816_666)),
        ("/completed", json!("2026-02-11T10:00:00Z")),
        (
            "/deviations/0",
            json!({"text": "1. **[Rule 1 - Bug] The date** was read as a\nnumber, fixed", "kind": null}),
        ),
        ("/deviations/0", json!({"text": "The date was read as a number", "kind": "Rule 1 - Bug"})),
        ("/files", json!(["`src/b.rs` (new)", "./src/a.rs"])),
        ("/commits", json!(["0753326abc", "84e9493"])),
    ] {
        let scores = scores_of(&gold, &with(&perfect, pointer, value));
        assert_eq!(scores.wrong(), Vec::<&str>::new(), "{pointer}");
    }
}

#[test]
fn what_a_summary_leaves_open_may_be_left_open() {
    let mut gold = row();
    gold["tasks_completed"] = json!(null);
    gold["tasks_total"] = json!(null);
    gold["tasks_enumerated"] = json!(4);
    gold["duration_minutes"] = json!(null);
    gold["derived_minutes"] = json!(75);
    gold["files"] = json!(null);
    let perfect = perfect_summary(&gold);
    assert_eq!(scores_of(&gold, &perfect).points("summary"), (11, 11));
    let counted = with(&perfect, "/tasks", json!({"completed": 4, "total": 4}));
    let counted =
        with(&with(&counted, "/duration_minutes", json!(75)), "/duration_derived", json!(true));
    assert_eq!(scores_of(&gold, &counted).points("summary"), (11, 11));
    for (pointer, value, field) in [
        ("/tasks/completed", json!(3), "tasks_completed"),
        ("/duration_derived", json!(false), "duration_minutes"),
        ("/duration_minutes", json!(74), "duration_minutes"),
    ] {
        let scores = scores_of(&gold, &with(&counted, pointer, value));
        assert_eq!(scores.wrong(), [format!("summary.{field}")]);
    }
}
