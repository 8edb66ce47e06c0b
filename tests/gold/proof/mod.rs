//! The scorer itself is right: a perfect answer gets every point, and each wrong value costs its own and no other.

mod counts;
mod perfect;
mod state;
mod summary;

use perfect::{perfect_state, perfect_status, perfect_summary};
use serde_json::Value;

use crate::gold::answers::Answers;
use crate::gold::rows::Gold;
use crate::gold::scored;
use crate::support::corpus;

/// Returns an answer with another value at a JSON pointer.
fn with(answer: &Value, pointer: &str, value: Value) -> Value {
    let mut changed = answer.clone();
    *changed.pointer_mut(pointer).unwrap() = value;
    changed
}

#[test]
fn the_gold_answers_themselves_score_full_marks() {
    let Some(corpus) = corpus() else { return };
    let gold = Gold::read(&corpus.join("gold"));
    let mut files = Vec::new();
    for row in &gold.summaries {
        files.push((row["file"].as_str().unwrap().to_owned(), perfect_summary(row)));
    }
    for row in &gold.states {
        files.push((row["file"].as_str().unwrap().to_owned(), perfect_state(row)));
    }
    let statuses = gold.next.iter().map(|row| (row, perfect_status(row))).collect();
    let answers = Answers::made_up(files, statuses);
    let scores = scored(&gold, &answers);
    for group in ["summary", "state", "next"] {
        let (right, total) = scores.points(group);
        assert_eq!(right, total, "{scores}");
        assert!(total > 20, "{group}: {total}");
        let (right, total) = scores.points_apart(group);
        assert_eq!(right, total, "{scores}");
    }
}
