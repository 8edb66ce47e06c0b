//! The places in the documents of a project that answer a question without a subject of its own, such as "What is this
//! project?" or "How do I run the tests?": its words stand in every text, and in none that answers it.

use std::path::Path;

use crate::plan::is_settled;
use crate::plan::read::vocabulary::{begins, has};
use crate::project::vocabulary;
use crate::recall::hit::Flag;
use crate::recall::sources::Role;
use crate::search::index::Passage;
use crate::search::terms;
use crate::text::{join, lower_words, says_none, words_in};

/// A topic of newcomers' questions, and the sections of documents that answer them.
struct Place {
    /// The files that have such a section.
    roles: &'static [Role],
    /// Those of them whose first passage is one, too.
    opens: &'static [Role],
    /// The vocabulary of its titles: how the heading above it, or its own first line, begins.
    titles: &'static str,
    /// The vocabulary of the questions.
    words: &'static str,
}

/// The vocabulary of questions about the project as a whole; any question may also have these words.
const PROJECT: &str = "question about the project";

/// The vocabulary of questions about the position.
const POSITION_WORDS: &str = "question about the position";

/// The places; the more special ones first.
const PLACES: [Place; 5] = [
    Place {
        roles: &[Role::State],
        opens: &[],
        titles: "title about blockers",
        words: "question about blockers",
    },
    Place {
        roles: &[Role::Context, Role::Codebase, Role::Readme],
        opens: &[],
        titles: "title about commands",
        words: "question about commands",
    },
    Place {
        roles: &[Role::Context, Role::State],
        opens: &[Role::State],
        titles: "title about the position",
        words: POSITION_WORDS,
    },
    Place {
        roles: &[Role::Context, Role::Project, Role::Readme],
        opens: &[Role::Project, Role::Readme],
        titles: "title about the project",
        words: PROJECT,
    },
    Place {
        roles: &[Role::Other],
        opens: &[Role::Other],
        titles: "title about what was built",
        words: "question about what was built",
    },
];

/// The place of which each item is an answer, and may be settled.
const BLOCKERS: usize = 0;

/// The place in the summaries of a phase, which only a question that names the phase asks for.
const BUILT: usize = 4;

/// The bit of the place that says what blocks the work.
pub(crate) const BLOCKED: u32 = bit(BLOCKERS);

/// The bit of the place that says where the work stands.
pub(crate) const POSITION: u32 = bit(2);

/// The number of bits for the sections about single phases; those with a higher number are found by words alone.
const PHASE_BITS: usize = 22;

// The places are bits beside those of the flags.
const _: () = assert!(Flag::ALL.len() + PLACES.len() + PHASE_BITS <= u32::BITS as usize);

/// Returns the place that answers a question, as a bit beside those of the flags; 0 if it has a subject of its own, or is
/// no question. A phase that it names is answered by the sections about that phase; what was built in it by those in its
/// summaries, which have two bits.
pub(crate) fn asked(question: &str) -> u32 {
    let terms = terms(question, &[]);
    let phase = phase(words_of(question));
    let is_word = |word: &&str| word.parse().map_or(word.len() > 1, |number| phase != Some(number));
    let words = || terms.iter().map(|term| term.word.as_str()).filter(is_word);
    let asks = |word: &str| has("word of a question", word) || has("question of one word", word);
    let is_question =
        question.contains(['?', '？']) || words_in(&question.to_lowercase()).any(asks);
    let is_general = |word: &&str| has(PROJECT, word);
    let is_asked = is_question || words().filter(|word| !is_general(word)).count() > 1;
    let answers = |at: &usize| {
        let place = &PLACES[*at];
        // `What is blocking us right now?`
        let is_about_now = |word| [BLOCKERS, BUILT].contains(at) && has(POSITION_WORDS, word);
        is_asked
            && (*at != BUILT || phase.is_some())
            && words().any(|word| has(place.words, word))
            && words().all(|word| has(place.words, word) || is_general(&word) || is_about_now(word))
    };
    match ((0..PLACES.len()).find(answers), phase.map(phase_bit)) {
        (None, _) | (_, Some(0)) => 0,
        (Some(BUILT), Some(phase)) => bit(BUILT) | phase,
        (Some(place), phase) => phase.unwrap_or(bit(place)),
    }
}

/// Returns the places that a passage of a file is in; `is_opening` if it is its first, `summed_up` the phase whose summary
/// the file is.
pub(crate) fn of(passage: &Passage, role: Role, is_opening: bool, summed_up: Option<usize>) -> u32 {
    let line = passage.text.lines().next().unwrap_or_default();
    let own = Some(line).filter(|line| line.trim_end().ends_with([':', '*']));
    let titles: Vec<Vec<String>> = passage
        .headings
        .iter()
        .map(String::as_str)
        .chain(own)
        .map(|title| lower_words(title).collect())
        .collect();
    let is_titled = |at: usize, place: &Place| {
        let mut below = titles.iter().skip_while(|title| !place.is_called(title)).flatten();
        below.clone().next().is_some()
            && (at == BUILT || !below.any(|word| has("settled", word) || has("no longer so", word)))
    };
    let is_in = |(at, place): &(usize, &Place)| {
        let is_there = is_opening && place.opens.contains(&role) || is_titled(*at, place);
        place.roles.contains(&role)
            && is_there
            && (*at != BLOCKERS || !is_settled(line))
            && (*at != BUILT || summed_up.is_some())
    };
    if says_none(&passage.text) {
        return 0;
    }
    let places = PLACES.iter().enumerate().filter(is_in).map(|(at, _)| bit(at)).sum::<u32>();
    let last = passage.headings.last().map_or("", String::as_str);
    let phase = [last, line]
        .into_iter()
        .find_map(|title| phase(words_of(title).skip_while(|word| word == "x").take(2)))
        .or(summed_up.filter(|_| places & bit(BUILT) != 0))
        .filter(|_| role == Role::Other)
        .map_or(0, phase_bit);
    places | phase
}

/// Returns the phase whose folder a file is in, with the words of the folder's name.
pub(crate) fn phase_of_folder(path: &Path) -> Option<(usize, String)> {
    let mut folders = path.iter().skip_while(|name| *name != vocabulary::PHASES).skip(1);
    let mut words = words_of(folders.next()?.to_str()?).collect::<Vec<_>>().into_iter();
    Some((words.next()?.parse().ok()?, join(words, " ")))
}

/// Returns the words of a text in lower case; `5.1` is one.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '.')
        .map(|word| word.trim_matches('.').to_lowercase())
        .filter(|word| !word.is_empty())
}

/// Returns the number of the first phase that words name.
fn phase(mut words: impl Iterator<Item = String>) -> Option<usize> {
    words.find(|word| word == "phase")?;
    words.next()?.parse().ok()
}

impl Place {
    /// Returns whether the words of a title say that it is the place.
    fn is_called(&self, title: &[String]) -> bool {
        let is_before = |word: &&String| has("before such a title", word) || has(self.words, word);
        let most = title.iter().take_while(is_before).count();
        (0..=most).any(|at| begins(self.titles, &title[at..].join(" ")))
    }
}

/// Returns the maximum number of hits from one section: each blocker in a list is an answer.
pub(crate) fn max_of_section(asked: u32) -> usize {
    if asked == BLOCKED { 5 } else { 2 }
}

/// Returns whether it is asked what was built.
pub(crate) fn is_about_work(asked: u32) -> bool {
    asked & bit(BUILT) != 0
}

/// Returns whether the place is in the documents about a phase.
pub(crate) fn is_phase(asked: u32) -> bool {
    asked >= bit(PLACES.len())
}

/// Returns the bit of the sections about a phase; 0 if it has none.
fn phase_bit(number: usize) -> u32 {
    if number < PHASE_BITS { bit(PLACES.len() + number) } else { 0 }
}

const fn bit(place: usize) -> u32 {
    1 << (Flag::ALL.len() + place)
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
            ("What are the open blockers right now?", bit(0)),
            ("What comes next?", bit(2)),
            ("Where did we leave off?", bit(2)),
            ("Is the milestone finished?", bit(2)),
            ("project status", bit(2)),
            ("Blockers", bit(0)),
            ("run tests", bit(1)),
            ("What is phase 3 about?", phase_bit(3)),
            ("is phase 12 done", phase_bit(12)),
            ("is phase 99 done", 0),
            ("is phase 5.1 done", 0),
            ("What has phase 3 already delivered?", phase_bit(3) | bit(BUILT)),
            ("What was built in phase 99?", 0),
            ("What was built?", 0),
            ("how do we run the specs", bit(1)),
            ("Why does phase 3 fail?", 0),
            ("status 5", 0),
            ("server", 0),
            ("test library", 0),
            ("plugin system", 0),
            ("now", 0),
            ("blocked", 0),
            ("Why is there no reranking?", 0),
            ("What is the current database?", 0),
            ("the", 0),
            ("", 0),
        ] {
            assert_eq!(asked(question), place, "{question}");
        }
    }

    #[test]
    fn a_place_is_known_by_its_title() {
        let places = |role: Role, headings: &[&str], text: &str| {
            let headings = headings.iter().map(|title| (*title).to_owned()).collect();
            let (text, line, id, date, flags) = (text.to_owned(), 1, None, None, 0);
            of(&Passage { headings, line, id, text, date, flags, weight: 1.0 }, role, false, None)
        };
        let all = [
            (Role::State, "Blockers/Concerns", bit(0)),
            (Role::State, "\u{26a0} Open Blockers:", bit(0)),
            (Role::State, "Blockers resolved in phase 1", 0),
            (Role::State, "Current focus", bit(2)),
            (Role::State, "Previous current focus", 0),
            (Role::Context, "Build & Test Commands", bit(1)),
            (Role::Context, "Common Development Commands", bit(1)),
            (Role::Context, "Forbidden commands", 0),
            (Role::Context, "Commands not to run", 0),
            (Role::Context, "Slash Command Handling", 0),
            (Role::Context, "Command palette design", 0),
            (Role::Readme, "Development commands", bit(1)),
            (Role::Other, "Commands", 0),
            (Role::Project, "What This Is", bit(3)),
            (Role::Other, "Phase 03: Till", phase_bit(3)),
            (Role::Other, "Phase 3.1: Till", 0),
            (Role::Codebase, "Running", bit(1)),
            (Role::Other, "After phase 3", 0),
        ];
        for (role, title, place) in all {
            assert_eq!(places(role, &["App", title], "text"), place, "{title}");
            assert_eq!(places(role, &["App", title], "None yet."), 0, "{title}");
        }
        assert_eq!(places(Role::State, &["Blockers", "Resolved"], "No key"), 0);
        assert_eq!(places(Role::State, &["Blockers"], "[resolved] No key"), 0);
        assert_eq!(places(Role::Codebase, &["Testing"], "**Run Commands:**"), bit(1));
    }
}
