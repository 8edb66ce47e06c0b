//! Right and wrong answers about a state.

use serde_json::{Value, json};

use crate::gold::proof::perfect::perfect_state;
use crate::gold::proof::with;
use crate::gold::scores::Scores;
use crate::gold::state;

fn row() -> Value {
    json!({
        "file": "vbw/a+b/.vbw-planning/STATE.md", "project": "alpha", "core_value": "Quick to read", "milestone": "m1",
        "phase_number": "05.3", "phase_total": 8, "phase_name": "Parser", "status": "Ready", "progress_percent": 63,
        "decisions": ["[Phase 5]: Keep bytes", "No daemon"], "todos_open": ["Write docs"], "blockers": ["A key"],
        "skills": ["rust", "sqlite"],
    })
}

fn scores_of(gold: &Value, answer: &Value) -> Scores {
    let mut scores = Scores::default();
    state::score(gold, answer, &Value::Null, &mut scores);
    scores
}

#[test]
fn each_wrong_value_of_a_state_costs_its_own_point() {
    let gold = row();
    let perfect = perfect_state(&gold);
    assert_eq!(scores_of(&gold, &perfect).points("state"), (12, 12));
    for (pointer, value, field) in [
        ("/project", json!(null), "project"),
        ("/core_value", json!("Quick"), "core_value"),
        ("/milestone", json!("m2"), "milestone"),
        ("/phase/number", json!("5"), "phase_number"),
        ("/phase/total", json!(null), "phase_total"),
        ("/phase/name", json!("05.3 Parser"), "phase_name"),
        ("/phase/status", json!("ready"), "status"),
        ("/phase/progress_percent", json!(0), "progress_percent"),
        ("/decisions", json!([{"text": "[Phase 5]: Keep bytes"}]), "decisions"),
        ("/decisions/0", json!({"text": "Keep bytes", "source": null}), "decisions"),
        ("/todos", json!([]), "todos_open"),
        ("/blockers", json!(["None", "A key"]), "blockers"),
        ("/skills", json!([{"name": "rust"}]), "skills"),
    ] {
        let scores = scores_of(&gold, &with(&perfect, pointer, value));
        assert_eq!(scores.wrong(), [format!("state.{field}")], "{pointer}");
    }
    let tag = json!({"text": "**Keep** bytes", "source": "Phase 5"});
    let spelled = with(&perfect, "/decisions/0", tag);
    assert_eq!(scores_of(&gold, &spelled).points("state"), (12, 12));
}

#[test]
fn a_core_value_may_stand_in_the_project_file() {
    let gold = row();
    let answer = with(&perfect_state(&gold), "/core_value", json!(null));
    let project = json!({"kind": "project", "core_value": "Quick to read"});
    let mut scores = Scores::default();
    state::score(&gold, &answer, &project, &mut scores);
    assert_eq!(scores.points("state"), (12, 12));
}

#[test]
fn what_is_ambiguous_counts_apart_and_in_no_floor() {
    let mut gold = row();
    gold["ambiguous"] = json!(true);
    gold["reason"] = json!("Two milestones (\"m2\" acceptable). The blocker may be resolved.");
    let answer = with(&perfect_state(&gold), "/milestone", json!("m2"));
    let scores = scores_of(&gold, &with(&answer, "/blockers", json!([])));
    assert_eq!(scores.points("state"), (10, 10));
    assert_eq!(scores.points_apart("state"), (1, 2));
    assert_eq!(scores.wrong(), ["state.blockers"]);
    assert!(scores.below(&[("state", 100)]).is_empty());
}

#[test]
fn no_answer_is_wrong_in_every_field() {
    for answer in [json!(null), json!({}), json!({"kind": "state"})] {
        assert_eq!(scores_of(&row(), &answer).points("state"), (0, 12));
    }
}
