//! The next action against what a person would do next.

use serde_json::Value;

use crate::gold::ambiguity::accepts;
use crate::gold::field::{at, text};
use crate::gold::normal::phase;
use crate::gold::scores::Scores;

/// Scores `next` of `status --json`.
///
/// The ambiguous rows are counted apart and hold no floor.
pub(super) fn score(gold: &Value, status: &Value, scores: &mut Scores) {
    let is_ambiguous = gold["ambiguous"].as_bool() == Some(true);
    // What a person answers from all the evidence counts more than the rule by files alone.
    let expected = match &gold["true_next"] {
        Value::Null => &gold["expected_next"],
        person => person,
    };
    let got = action(status).map(Value::String);
    let reason = gold["reason"].as_str();
    let is_right = got.as_ref() == Some(expected) || is_ambiguous && accepts(reason, got.as_ref());
    let place = [&gold["project"], &gold["root"]].map(|part| part.as_str().unwrap());
    let mut row = scores.row("next", place.join("/"), gold);
    row.mark("action", expected, got.as_ref(), is_right, is_ambiguous);
}

/// Returns `execute 5.1`, `plan 9`, `ship` or `none`.
fn action(status: &Value) -> Option<String> {
    let action = at(status, "next.action")?.as_str()?;
    let number = at(status, "next.phase")?;
    Some(match text(number) {
        Some(number) => format!("{action} {}", phase(&number)),
        None => action.to_owned(),
    })
}
