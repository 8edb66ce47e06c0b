//! Chooses the lessons of a phase: at most three about what worked and three about what failed.
//!
//! Each is one whole sentence, or two short ones, with the plans it was drawn from; a lesson that cannot be
//! worded in whole sentences is left out. The choice is only a fallback: lessons submitted by an agent
//! replace it.

mod choice;
mod compose;
mod nature;
mod problem;
mod recurrence;
mod reference;
mod reuse;
mod sentences;
mod signs;
mod similarity;
mod wording;

pub(crate) use compose::{leading_sentences, statement};
pub use problem::PastProblems;
pub(crate) use problem::sentence_of;
pub(crate) use recurrence::SubjectIndex;
pub(crate) use reference::{cite, names_earlier_plans, short_milestone, split_citation};
pub(crate) use sentences::{is_complete, sentences};
pub(crate) use similarity::StemmedWords;

use crate::patterns::{FinishedPhase, LessonSource};
use crate::text::Line;

/// Maximum length of a lesson, in characters.
pub(crate) const MAX_LESSON_LENGTH: usize = 160;

/// Returns the lessons that are chosen for a phase without regard to other phases.
pub(crate) fn lessons_of(phase: &FinishedPhase) -> Vec<String> {
    let all = worked(phase).into_iter().chain(failed(phase, None));
    all.map(|lesson| lesson.text.to_string()).collect()
}

/// Maximum number of lessons of each kind in an entry.
pub(crate) const MAX_LESSONS: usize = 3;

/// A lesson, as a bullet of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lesson {
    /// The sentence and the citation of its plans.
    pub(crate) text: Line,
    /// The plan and the line of its summary that it was drawn from.
    pub(crate) source: Option<LessonSource>,
}

/// Returns what worked, strongest first.
pub(crate) fn worked(phase: &FinishedPhase) -> Vec<Lesson> {
    choice::strongest(reuse::candidates(&phase.plans))
}

/// Returns what failed, strongest first; `past` are the earlier phases, in which a lesson may have come up
/// before.
pub(crate) fn failed(phase: &FinishedPhase, past: Option<&PastProblems>) -> Vec<Lesson> {
    choice::strongest(problem::candidates(phase, past))
}

#[cfg(test)]
mod tests;
