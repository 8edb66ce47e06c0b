//! The next action against what projects really did next.
//!
//! A moment is a planning folder as it stood, with what the next commit of planning work did: plan a phase,
//! execute it, or ship. `histories/` holds small made-up ones, and each of their moments must be answered
//! rightly. The real ones are kept outside the repository; nobody could have known all of their answers, so
//! that there the shares have floors. `cargo test position -- --nocapture` prints them, of every third moment;
//! with `ANNALS_WHOLE_HISTORIES=1`, of all.

mod accepted;
mod real;
mod score;
mod small;

use score::Score;

use crate::support::histories;

/// What a score may not fall below, in percent, and the share of contested moments that it may not go over.
struct Floor {
    action: f64,
    phase: f64,
    uncontested: f64,
    contested: f64,
}

/// All 465 moments. Raise the floors when the rules have earned it.
const WHOLE: Floor = Floor { action: 85.0, phase: 89.5, uncontested: 90.0, contested: 12.0 };

/// Every third moment: what a full run has time for.
const SAMPLE: Floor = Floor { action: 83.0, phase: 89.5, uncontested: 89.5, contested: 14.0 };

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
#[expect(clippy::print_stdout, reason = "the test runner keeps it unless the test fails")]
fn the_real_histories_stay_over_their_floors() {
    let Some(folder) = histories() else { return };
    let is_whole = std::env::var_os("ANNALS_WHOLE_HISTORIES").is_some();
    let (step, floor) = if is_whole { (1, WHOLE) } else { (3, SAMPLE) };
    let score: Score = real::moments(&folder, step)
        .iter()
        .map(|moment| (moment.next.as_slice(), &moment.answer))
        .collect();
    println!("{score}");
    assert!(score.action() >= floor.action, "{score}");
    assert!(score.phase() >= floor.phase, "{score}");
    assert!(score.uncontested() >= floor.uncontested, "{score}");
    assert!(score.contested() <= floor.contested, "{score}");
}
