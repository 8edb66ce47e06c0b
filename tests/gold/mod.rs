//! Compares what the binary reads out of real planning folders with answers that were typed by hand.
//!
//! `cargo test gold -- --nocapture` prints the accuracy field by field and each mismatch. How an answer is
//! judged is said beside each comparison; `gold/README.md` in the corpus says how the answers were made.
//! One point a field and row: a list is right as a whole or wrong as a whole.
//!
//! What the gold calls ambiguous is counted apart and holds no floor: in a row with a `reason`, just the
//! fields that the reason speaks of (`ambiguity`), for the others are as plain as anywhere.

mod ambiguity;
mod answers;
mod field;
mod next;
mod normal;
mod phases;
mod proof;
mod rows;
mod scores;
mod state;
mod summaries;

use answers::Answers;
use rows::Gold;
use scores::Scores;

use crate::support::corpus;

/// The percentage each group may not fall below. Raise one when the code has earned it; the goal is 97 overall.
///
/// `next` follows an older rule in some rows (the first phase with an open plan, however far the work has gone on;
/// ship once more what STATE.md calls shipped, or the roadmap complete): what projects really did next counts more,
/// and the position is held against that. One row names its phase in a sentence, which is not read. Ambiguous rows
/// do not count.
const FLOOR: &[(&str, usize)] =
    &[("summary", 99), ("state", 99), ("phases", 99), ("next", 65), ("overall", 98)];

#[test]
fn real_folders_are_read_as_people_read_them() {
    let Some(corpus) = corpus() else { return };
    let gold = Gold::read(&corpus.join("gold"));
    let answers = Answers::ask(&corpus, &gold);
    let scores = scored(&gold, &answers);
    let mut faults = answers.faults;
    faults.extend(scores.below(FLOOR));
    shown(&scores);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// The table is for whoever asked with `--nocapture`, and for the report of a failure.
#[expect(clippy::print_stdout, reason = "the test runner keeps it unless the test fails")]
fn shown(scores: &Scores) {
    println!("{scores}");
}

/// Returns the points of all gold rows.
fn scored(gold: &Gold, answers: &Answers) -> Scores {
    let mut scores = Scores::default();
    for row in &gold.summaries {
        summaries::score(row, answers.file(&row["file"]), &mut scores);
    }
    for row in &gold.states {
        let file = &row["file"];
        state::score(row, answers.file(file), answers.project(file), &mut scores);
    }
    for row in &gold.phases {
        phases::score(row, &answers.folder(row), &mut scores);
    }
    for row in &gold.next {
        next::score(row, answers.status(row), &mut scores);
    }
    scores
}
