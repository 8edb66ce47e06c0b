//! The next action against what projects really did next.
//!
//! A moment is a planning folder as it stood, with what the next commit of planning work did: plan a phase,
//! execute it, or ship. `histories/` holds small made-up ones, and each of their moments must be answered
//! rightly. The real ones are kept outside the repository; nobody could have known all of their answers, so
//! that there the shares have floors. `cargo test position -- --nocapture` prints them.

mod real;
mod score;
mod small;

use score::Score;

use crate::support::histories;

/// The percentages that the real histories may not fall below, and the share of contested moments that they
/// may not go over. Raise them when the rules have earned it.
const ACTION: f64 = 86.5;
const PHASE: f64 = 91.0;
const UNCONTESTED: f64 = 91.0;
const CONTESTED: f64 = 13.0;

#[test]
fn every_moment_of_the_small_histories_is_answered_rightly() {
    let missed: Vec<String> = small::moments()
        .iter()
        .filter(|moment| !moment.next.contains(&moment.answer.said()))
        .map(|moment| {
            let (story, next, said) = (&moment.story, &moment.next, moment.answer.said());
            format!("{story}: {next:?} came next, and status said {said:?}")
        })
        .collect();
    assert!(missed.is_empty(), "\n{}", missed.join("\n"));
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the test runner keeps it unless the test fails"
)]
fn the_real_histories_stay_over_their_floors() {
    let Some(folder) = histories() else { return };
    let score: Score = real::moments(&folder)
        .iter()
        .map(|moment| (moment.next.as_slice(), &moment.answer))
        .collect();
    println!("{score}");
    assert!(score.action() >= ACTION, "{score}");
    assert!(score.phase() >= PHASE, "{score}");
    assert!(score.uncontested() >= UNCONTESTED, "{score}");
    assert!(score.contested() <= CONTESTED, "{score}");
}
