//! Killed at every step of a transaction, a command done again comes to what it would have come to.

#[cfg(debug_assertions)]
use serde_json::Value;

#[cfg(debug_assertions)]
use crate::facts::erasure::holding;
#[cfg(debug_assertions)]
use crate::support::Case;

#[cfg(debug_assertions)]
const ACTIONS: &str = r#"{"actions": [
    {"type": "insert", "key": "city", "new_value_text": "Rome", "confidence_delta": 0, "reason": "moved"},
    {"type": "insert", "key": "likes[]", "new_value_text": "tea", "confidence_delta": 0, "reason": "said"},
    {"type": "expire", "key": "pet", "confidence_delta": 0, "reason": "gone"}]}"#;

#[cfg(debug_assertions)]
fn prepared() -> Case {
    let case = Case::empty();
    for line in [
        "facts add --user rosalind --key city --value Turin",
        "facts add --user rosalind --key pet --value dog",
    ] {
        case.run(line).success();
    }
    case.run("facts observe --user rosalind")
        .stdin(r#"{"user_input": "I moved to Rome", "turn_id": "a"}"#)
        .success();
    case
}

#[cfg(debug_assertions)]
fn state(case: &Case) -> (Value, Value) {
    let check = case.run("facts check --json").success().json();
    assert_eq!(check["problems"], serde_json::json!([]));
    let facts = case.run("facts list --all --user rosalind --json").success().json();
    let history = case.run("facts list --history --user rosalind --json").success().json();
    (facts, history)
}

/// Runs a command killed at its n-th step, for all n, and then once more at a time when leases are over.
#[cfg(debug_assertions)]
fn killed_at_every_step(command: &str, input: &str, llm: &str) {
    let run = |case: &Case, nth: Option<usize>, now: &str| {
        let mut run =
            case.run(command).stdin(input).env("ANNALS_LLM_COMMAND", llm).env("ANNALS_NOW", now);
        if let Some(nth) = nth {
            run = run.env("ANNALS_FAIL_AFTER", nth.to_string());
        }
        run.output()
    };
    let values = |state: &Value| -> Vec<(Value, Value, Value)> {
        let facts = state["facts"].as_array().unwrap();
        facts
            .iter()
            .map(|f| (f["value_text"].clone(), f["status"].clone(), f["confidence"].clone()))
            .collect()
    };
    let (early, late) = ("2026-03-01T12:00:00Z", "2026-03-01T13:00:00Z");
    let prepared = prepared();
    let before = state(&prepared);
    let whole = prepared.copy();
    assert_eq!(run(&whole, None, early).exit_code(), Some(0));
    let done = values(&state(&whole).0);
    let mut kills = 0;
    for nth in 1.. {
        let case = prepared.copy();
        let was_killed = run(&case, Some(nth), early).exit_code().is_none();
        let between = state(&case);
        let facts = between.0["facts"].as_array().unwrap().len();
        assert!(between == before || facts == done.len(), "half of a turn at step {nth}");
        let again = run(&case, None, late);
        assert_eq!(again.exit_code(), Some(0), "{}", again.report());
        assert_eq!(values(&state(&case).0), done, "step {nth}");
        if !was_killed {
            break;
        }
        kills += 1;
    }
    assert!(kills > 4, "{command} was killed {kills} times only");
}

#[cfg(debug_assertions)]
#[test]
fn an_answer_is_applied_whole_or_not_at_all_and_once() {
    killed_at_every_step("facts turns --apply a --user rosalind", ACTIONS, "");
}

#[cfg(all(debug_assertions, unix))]
#[test]
fn a_worker_that_dies_leaves_its_turn_to_the_next() {
    let llm = format!("cat > /dev/null; printf '%s' '{}'", ACTIONS.replace('\n', " "));
    killed_at_every_step("facts work", "", &llm);
}

/// A case with one fact that a server may have been told of.
#[cfg(debug_assertions)]
fn told() -> Case {
    let case = Case::empty();
    for line in ["facts work", "facts add --user grace --key city --value Quincunx", "facts work"] {
        case.run(line).env("ANNALS_CHROMA_URL", "http://127.0.0.1:9").success();
    }
    case
}

#[cfg(debug_assertions)]
#[test]
fn forgetting_that_died_anywhere_leaves_no_byte_once_it_is_done_again() {
    let told = told();
    for nth in 1.. {
        let case = told.copy();
        let forget = || case.run("facts forget --user grace --key city --reason asked");
        let died = forget().env("ANNALS_FAIL_AFTER", nth.to_string()).output();
        let check = case.run("facts check --json").success().json();
        let is_here = check["facts"] == 1;
        // Either the fact is as it was, or it is gone and the server is to be asked.
        assert_eq!(check["unerased_vectors"] == 0, is_here, "step {nth}: {check}");
        forget().code(if is_here { 1 } else { 3 });
        let folder = case.home().join(".local/share/annals");
        assert_eq!(holding(&folder, "Quincunx"), Vec::<String>::new(), "step {nth}");
        let check = case.run("facts check --json").success().json();
        assert_eq!(check["unerased_vectors"], 1, "step {nth}: {check}");
        if died.exit_code().is_some() {
            assert!(nth > 3, "died {nth} times only");
            break;
        }
    }
}
