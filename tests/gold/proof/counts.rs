//! Right and wrong answers about a phase folder and about what comes next.

use serde_json::{Value, json};

use crate::gold::scores::Scores;
use crate::gold::{next, phases};

#[test]
fn a_phase_is_counted_by_plan_number() {
    let gold = json!({"project": "vbw/a+b", "phase_dir": ".vbw-planning/phases/04-x", "plans_total": 2,
        "plans_with_summary": 1, "deviations_total": 3});
    let plans = ["04-01", "02"].map(|plan| json!({"kind": "plan", "plan": plan}));
    let summary = json!({"kind": "summary", "plan": "01", "deviation_count": 3});
    let mut scores = Scores::default();
    phases::score(&gold, &[&plans[0], &plans[1], &summary], &mut scores);
    assert_eq!(scores.points("phases"), (3, 3));
    let mut scores = Scores::default();
    phases::score(&gold, &[&plans[0], &summary, &summary], &mut scores);
    assert_eq!(scores.wrong(), ["phases.plans_total", "phases.deviations_total"]);
    let empty = json!({"project": "vbw/a+b", "phase_dir": ".vbw-planning/phases/04-x", "plans_total": 0,
        "plans_with_summary": 0, "deviations_total": 0});
    let mut scores = Scores::default();
    phases::score(&empty, &[], &mut scores);
    assert_eq!(scores.points("phases"), (0, 3));
}

#[test]
fn an_ambiguous_next_action_is_counted_apart() {
    let plain = json!({"project": "vbw/a+b", "root": ".planning", "expected_next": "execute 5.1"});
    let open = json!({"project": "vbw/a+b", "root": ".planning", "expected_next": "ship", "true_next": "plan 2",
        "ambiguous": true, "reason": "contradictory (\"none\" acceptable)"});
    let status = |action: &str, phase: Value, conflict: bool, because: &[&str]| json!({"next": {"action": action, "phase": phase, "conflict": conflict, "because": because}});
    let points = |gold: &Value, status: &Value| {
        let mut scores = Scores::default();
        next::score(gold, status, &mut scores);
        scores.points("next")
    };
    assert_eq!(points(&plain, &status("execute", json!("05.1"), false, &[])), (1, 1));
    assert_eq!(points(&plain, &status("execute", json!("5"), true, &["x"])), (0, 1));
    assert_eq!(points(&plain, &status("ship", json!(null), false, &[])), (0, 1));
    assert_eq!(points(&plain, &json!({})), (0, 1));
    let apart = |status: &Value| {
        let mut scores = Scores::default();
        next::score(&open, status, &mut scores);
        assert_eq!(scores.points("next"), (0, 0));
        scores.points_apart("next")
    };
    assert_eq!(apart(&status("plan", json!("2"), false, &[])), (1, 1));
    assert_eq!(apart(&status("none", json!(null), false, &[])), (1, 1));
    assert_eq!(apart(&status("ship", json!(null), true, &["x"])), (0, 1));
}
