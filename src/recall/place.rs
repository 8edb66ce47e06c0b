//! The places in the documents of a project that answer a question without a subject of its own, such as "What is this
//! project?" or "How do I run the tests?": its words stand in every text, and in none that answers it.

use crate::recall::sources::Role;
use crate::search::index::Passage;
use crate::search::terms;
use crate::text::fold;

/// A place in a document.
struct Place {
    /// The files that have it.
    roles: &'static [Role],
    /// The file of which the first passage is the place, too.
    opens: Option<Role>,
    /// How the heading above it, or its own first line, says what it is.
    titles: &'static [&'static str],
    /// The words of the questions that it answers, apart from those for the project.
    words: &'static str,
}

/// The words for the project as a whole.
const PROJECT: &str = "about app application code codebase describe explain extension framework \
                       gem goal library overview package plugin point product program project \
                       purpose repo repository service software summary system tell tool work \
                       works";

/// The places; the more special ones first, since any question may also name the project.
const PLACES: [Place; 4] = [
    Place {
        roles: &[Role::State],
        opens: None,
        titles: &["blocker"],
        words: "block blocked blocker blockers blocking blocks impediments obstacles stuck",
    },
    Place {
        roles: &[Role::Context, Role::Codebase],
        opens: None,
        titles: &["command"],
        words: "build command commands compile execute format install launch lint run running \
                server start suite test tests",
    },
    Place {
        roles: &[Role::Context, Role::State],
        opens: Some(Role::State),
        titles: &[
            "active context", "current focus", "current phase", "current position",
            "current status",
        ],
        words: "action active current currently happening milestone moment next now phase \
                position progress right stage stand stands state status step steps things today \
                worked working",
    },
    Place {
        roles: &[Role::Context, Role::Project],
        opens: Some(Role::Project),
        titles: &["about this", "project overview", "what it is", "what this"],
        words: PROJECT,
    },
];

/// Returns the place that answers a question, as a bit beside those of the flags; 0 if it has a subject of its own.
pub(crate) fn asked(question: &str) -> u8 {
    let terms = terms(question, &[]);
    let is = |words: &str, word: &str| words.split_whitespace().any(|one| one == word);
    let words = || terms.iter().map(|term| term.word.as_str()).filter(|word| word.len() > 1);
    let answers = |place: &Place| {
        words().any(|word| is(place.words, word))
            && words().all(|word| is(place.words, word) || is(PROJECT, word))
    };
    PLACES.iter().position(answers).map_or(0, bit)
}

/// Returns the places that a passage of a file is in; `is_opening` if it is its first.
pub(crate) fn of(passage: &Passage, role: Role, is_opening: bool) -> u8 {
    let own = passage.text.lines().next().filter(|line| line.trim_end().ends_with([':', '*']));
    let is_titled = |place: &Place| {
        let mut titles = passage.headings.iter().map(String::as_str).chain(own).map(fold);
        titles.any(|title| place.titles.iter().any(|one| title.contains(one)))
    };
    let is_in = |place: &Place| {
        place.roles.contains(&role) && (is_opening && place.opens == Some(role) || is_titled(place))
    };
    (0..).zip(&PLACES).filter(|(_, place)| is_in(place)).map(|(at, _)| bit(at)).sum()
}

fn bit(place: usize) -> u8 {
    16 << place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_question_without_a_subject_asks_for_a_place() {
        for (question, place) in [
            ("What is this project?", bit(3)),
            ("How does this work?", bit(3)),
            ("Tell me what this repo is about", bit(3)),
            ("Where do things stand?", bit(2)),
            ("What is being worked on right now?", bit(2)),
            ("What is the status of the project?", bit(2)),
            ("How do I run the app's tests?", bit(1)),
            ("What is blocking us?", bit(0)),
            ("Why is there no reranking?", 0),
            ("What is the current database?", 0),
            ("the", 0),
            ("", 0),
        ] {
            assert_eq!(asked(question), place, "{question}");
        }
    }
}
