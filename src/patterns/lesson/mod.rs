//! What a phase teaches: at most three lessons of what worked and three of what failed.
//!
//! Each is one whole sentence, or two short ones, with the plans it is drawn from; what cannot be said
//! whole is left out. The choice is a modest fallback: the lessons that an agent hands in take its place.

mod choice;
mod compose;
mod likeness;
mod nature;
mod recurrence;
mod reference;
mod reuse;
mod sentences;
mod signs;
mod trouble;
mod wording;

use crate::patterns::FinishedPhase;
use crate::patterns::LessonSource;
use crate::text::Line;

pub(crate) use compose::statement;
pub(crate) use likeness::Words;
pub(crate) use nature::Nature;
pub(crate) use recurrence::Subjects;
pub(crate) use reference::cite;
pub(crate) use reference::short_milestone;
pub(crate) use sentences::is_closed;
pub(crate) use sentences::sentences;
pub use trouble::PastTroubles;
pub(crate) use trouble::sentence_of;

/// The most characters of a lesson.
pub(crate) const WIDTH: usize = 160;

/// Returns the lessons that would be chosen of a phase by itself.
pub(crate) fn lessons_of(phase: &FinishedPhase) -> Vec<String> {
    let all = worked(phase).into_iter().chain(failed(phase, None));
    all.map(|lesson| lesson.text.to_string()).collect()
}

/// The most lessons of a kind in one entry.
pub(crate) const MAX_LESSONS: usize = 3;

/// A lesson, as a bullet of an entry says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lesson {
    /// The sentence and the plans it is drawn from.
    pub(crate) text: Line,
    /// The plan and the line of its summary that it is drawn from.
    pub(crate) source: Option<LessonSource>,
}

/// Returns what worked, the strongest first.
pub(crate) fn worked(phase: &FinishedPhase) -> Vec<Lesson> {
    choice::strongest(reuse::candidates(&phase.plans))
}

/// Returns what failed, the strongest first; `past` are the phases before, over which a lesson may recur.
pub(crate) fn failed(phase: &FinishedPhase, past: Option<&PastTroubles>) -> Vec<Lesson> {
    choice::strongest(trouble::candidates(phase, past))
}

#[cfg(test)]
mod tests;
