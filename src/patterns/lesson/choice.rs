//! Chooses the lessons of an entry from its candidates.

use crate::patterns::LessonSource;
use crate::patterns::lesson::similarity::StemmedWords;
use crate::patterns::lesson::{Lesson, MAX_LESSON_LENGTH, MAX_LESSONS};
use crate::text::Line;

/// A possible lesson.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) weight: f64,
    /// The sentence.
    pub(crate) text: String,
    /// The citation of the plans it was drawn from, in brackets.
    pub(crate) citation: String,
    pub(crate) source: LessonSource,
}

impl Candidate {
    fn line(&self) -> Line {
        Line::new(&format!("{} {}", self.text, self.citation))
    }
}

/// Returns the strongest candidates; those of equal weight keep their order.
///
/// Candidates similar to a stronger one, or too long with their citation, are left out.
pub(crate) fn strongest(mut candidates: Vec<Candidate>) -> Vec<Lesson> {
    candidates.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    let mut taken: Vec<(Lesson, StemmedWords)> = Vec::new();
    for candidate in candidates {
        let line = candidate.line();
        let words = StemmedWords::from_text(&candidate.text);
        let is_known = taken.iter().any(|(_, other)| other.is_near_duplicate(&words));
        if is_known || line.as_str().chars().count() > MAX_LESSON_LENGTH {
            continue;
        }
        let lesson = Lesson { text: line, source: Some(candidate.source) };
        taken.push((lesson, words));
        if taken.len() == MAX_LESSONS {
            break;
        }
    }
    taken.into_iter().map(|(lesson, _)| lesson).collect()
}
