//! Composes a lesson from the words of a deviation: one whole sentence, or two short ones, never a truncated
//! one.

use crate::patterns::lesson::sentences::{
    is_standalone, outside, sentences, with_fewer_remarks, without_brackets,
};
use crate::patterns::lesson::signs::{Signs, starts_with_past_verb};
use crate::patterns::lesson::wording::{as_bullet, clean, plain};

/// Number of sentences of a passage that are considered; the rest goes into detail.
const MAX_SENTENCES: usize = 3;

/// Penalties: for each earlier sentence of the passage that is skipped, and for each cut.
const PER_SENTENCE: f64 = 0.8;
const PER_CUT: f64 = 0.3;
/// Penalty for omitting what the problem led to.
const PER_CONSEQUENCE: f64 = 1.0;

/// Minimum length of a clause on its own, in characters.
const MIN_CLAUSE_CHARS: usize = 40;

/// Minimum number of words of a fix; shorter ones do not say what was done.
const MIN_FIX_WORDS: usize = 3;

/// Where a sentence may be cut and still be true; never before the consequence: `, causing …`.
const CLAUSE_ENDS: &[&str] = &[
    " \u{2014} ", " \u{2013} ", " - ", "; ", ": ", ", so ", " so the ", ", which ", ", making ",
    ", e.g. ",
];

/// The parts of a passage about one problem.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passage {
    /// Its title, if labels introduce the other parts.
    pub(crate) title: String,
    /// The problem.
    pub(crate) issue: String,
    /// Its cause.
    pub(crate) cause: String,
    /// What was done about it.
    pub(crate) fix: String,
}

impl Passage {
    /// Returns all text that describes the problem.
    pub(crate) fn statement(&self) -> String {
        [&self.title, &self.issue, &self.cause].map(String::as_str).join(". ")
    }

    /// Returns all text without the tags that introduce each part, which carry no content.
    pub(crate) fn without_tags(&self) -> String {
        [&self.title, &self.issue, &self.cause, &self.fix].map(|part| clean(part)).join(". ")
    }

    /// Returns all text.
    pub(crate) fn all(&self) -> String {
        format!("{}. {}", self.statement(), self.fix)
    }
}

/// Returns the most informative sentence of at most `room` characters, and its value.
pub(crate) fn compose(passage: &Passage, room: usize) -> Option<(String, f64)> {
    compose_where(passage, room, &|_| true)
}

/// Returns the same of those sentences that are wanted.
pub(crate) fn compose_where(
    passage: &Passage,
    room: usize,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Option<(String, f64)> {
    let mut candidates = Vec::new();
    for part in [&passage.issue, &passage.cause] {
        candidates.extend(forms_of_part(part));
    }
    let title = clean(&passage.title);
    let is_name = !starts_with_past_verb(&title) && title.split(' ').count() >= 4;
    if is_name {
        let signs = Signs::detect(&title);
        if signs.general || signs.environment || signs.version || passage.issue.is_empty() {
            candidates.push((title.clone(), 0.0));
        }
    }
    let fixes = fixes(&passage.fix);
    let mut best: Option<(String, f64)> = None;
    let mut offer = |text: String, value: f64| {
        let fits = text.chars().count() <= room;
        let is_better = best.as_ref().is_none_or(|(_, other)| value > *other);
        if fits && is_better && is_standalone(&text) && !is_uninformative(&text) && is_wanted(&text)
        {
            best = Some((text, value));
        }
    };
    for (text, cost) in &candidates {
        let text = as_bullet(text);
        let value = value(&text) - cost;
        for (fix, bonus) in &fixes {
            if is_standalone(&text) {
                offer(format!("{text}. {fix}"), value + bonus);
            }
        }
        offer(text, value);
    }
    let best = best.or_else(|| {
        let alone = [title].into_iter().chain(fixes.into_iter().map(|(fix, _)| fix));
        let mut fitting = alone
            .map(|text| as_bullet(&text))
            // What was done does not say what the problem was.
            .filter(|text| !starts_with_past_verb(text))
            .filter(|text| {
                text.chars().count() <= room
                    && is_standalone(text)
                    && !is_uninformative(text)
                    && is_wanted(text)
            });
        fitting.next().map(|text| (text.clone(), value(&text)))
    });
    let best = best.or_else(|| without_consequence(passage, room, is_wanted));
    best.map(|(text, value)| (without_stop(&text), value))
}

/// Where the consequence begins that the problem had.
const CONSEQUENCES: &[&str] = &[", causing ", ", which caused ", ", resulting in "];

/// Returns the first sentence without the consequence of the problem, and its value.
fn without_consequence(
    passage: &Passage,
    room: usize,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Option<(String, f64)> {
    let issue = clean(&passage.issue);
    let first = sentences(&issue).into_iter().next()?;
    let mut cuts = CONSEQUENCES.iter().filter_map(|mark| {
        let at = outside(first, mark).find(|at| *at >= MIN_CLAUSE_CHARS)?;
        let text = as_bullet(&first[..at]);
        let fits = text.chars().count() <= room && is_standalone(&text);
        (fits && !is_uninformative(&text) && is_wanted(&text)).then_some(text)
    });
    let text = cuts.next()?;
    let value = value(&text) - PER_CONSEQUENCE;
    Some((text, value))
}

/// Returns the beginning of a text that is a whole statement within `room`: all of it, or as many sentences as fit, or
/// else a shorter form of the first, or the bold head.
pub(crate) fn statement(text: &str, room: usize) -> Option<String> {
    let text = text.trim();
    let head = text.strip_prefix("**").and_then(|rest| rest.split_once("**"));
    let head = head.map(|(head, _)| head).filter(|head| head.contains(' '));
    let head = head.map(|head| plain(head).trim_end_matches([':', '.']).to_owned());
    let text = plain(text);
    let fits = |form: &String| !form.is_empty() && form.chars().count() <= room;
    let closed = |form: &String| fits(form) && !form.ends_with(['\u{2026}', ':', ',']);
    let whole = Some(text.trim_end_matches('.').to_owned()).filter(fits);
    let sentences_that_fit = || leading_sentences(&text, room).map(|kept| without_stop(&kept));
    let shorter_first = || {
        let first = sentences(&text).into_iter().next().unwrap_or_default();
        // The longest form says most.
        let forms = forms(first).into_iter().map(|(form, _)| form).rev();
        with_fewer_remarks(first, room)
            .or_else(|| forms.filter(closed).max_by_key(|form| form.chars().count()))
    };
    whole
        .or_else(|| sentences_that_fit().filter(closed))
        .or_else(shorter_first)
        .or(head.filter(fits))
}

/// Returns as many sentences from the beginning of a text as fit into `room`; `None` if not even the first does.
pub(crate) fn leading_sentences(text: &str, room: usize) -> Option<String> {
    let mut kept = String::new();
    for sentence in sentences(text) {
        let separator = if kept.is_empty() { "" } else { " " };
        let with = format!("{kept}{separator}{sentence}");
        if with.chars().count() > room {
            break;
        }
        kept = with;
    }
    Some(kept).filter(|kept| !kept.is_empty())
}

fn without_stop(text: &str) -> String {
    text.trim_end_matches(['.', ' ']).to_owned()
}

/// Returns the sentences of a part, in all their forms, with the penalty of each form.
fn forms_of_part(part: &str) -> Vec<(String, f64)> {
    let part = clean(part);
    let mut found = Vec::new();
    // Where none that says what went wrong can stand alone, the background has to do.
    let mut background = Vec::new();
    let mut before = "";
    for (sentence, index) in sentences(&part).into_iter().take(MAX_SENTENCES).zip(0_u8..) {
        let named = with_subject_of(before, sentence);
        before = sentence;
        let sentence = named.as_deref().unwrap_or(sentence);
        // This describes the actual state: without the sentence before, it is unclear of what.
        let lower = sentence.to_lowercase();
        if index > 0 && (lower.starts_with("actual ") || lower.starts_with("the actual ")) {
            continue;
        }
        let cost = f64::from(index) * PER_SENTENCE;
        let forms = forms(sentence).into_iter().map(|(text, cuts)| (text, cost + cuts));
        if shows_problem(sentence) {
            found.extend(forms);
        } else {
            background.extend(forms);
        }
    }
    if found.iter().any(|(text, _)| is_standalone(&as_bullet(text))) {
        return found;
    }
    found.extend(background);
    found
}

/// Returns whether a sentence has a sign of a failure or of a rule.
fn shows_problem(sentence: &str) -> bool {
    let signs = Signs::detect(sentence);
    signs.general
        || signs.environment
        || signs.error
        || signs.version
        || signs.convention
        || mentions_failure(&sentence.to_lowercase())
}

/// Returns a sentence about `this pool` with the name of it from the sentence before: after `The `b` pool was added.`,
/// `This pool needs a key.` becomes `The `b` pool needs a key.`
fn with_subject_of(before: &str, sentence: &str) -> Option<String> {
    let (noun, rest) = sentence.strip_prefix("This ")?.split_once(' ')?;
    let words: Vec<&str> = before.split_whitespace().collect();
    let (article, name) = (words.first()?, words.get(1)?);
    let is_name = name.len() > 2 && name.starts_with('`') && name.ends_with('`');
    let is_noun = |word: &&&str| word.trim_end_matches(['.', ',']).eq_ignore_ascii_case(noun);
    // Several pools could be meant.
    let is_only = words.iter().filter(is_noun).count() == 1 && words.get(2) == Some(&noun);
    (*article == "The" && is_name && is_only).then(|| format!("The {name} {noun} {rest}"))
}

/// Returns the whole sentence and the shorter forms of it that are still true, with their penalties.
fn forms(sentence: &str) -> Vec<(String, f64)> {
    let whole = sentence.trim_end_matches('.').to_owned();
    let mut found = vec![(whole.clone(), 0.0)];
    let bare = without_brackets(&whole);
    if bare != whole {
        found.push((bare.clone(), PER_CUT));
    }
    for (text, cost) in found.clone() {
        for mark in CLAUSE_ENDS {
            if let Some(at) = outside(&text, mark).find(|at| *at >= MIN_CLAUSE_CHARS) {
                let cut = if tells_consequence(&text[at..]) { PER_CONSEQUENCE } else { PER_CUT };
                found.push((text[..at].to_owned(), cost + cut));
            }
        }
        found.extend(corrected_assumption(&text).map(|text| (text, cost + PER_CUT)));
    }
    found
}

/// Returns whether the rest of a sentence names the consequence of the problem, which the lesson is about.
fn tells_consequence(rest: &str) -> bool {
    let leads_on = [", which ", ", so ", " so the ", ", making "];
    let lower = rest.to_lowercase();
    leads_on.iter().any(|lead| lower.starts_with(lead)) && mentions_failure(&lower)
}

/// Returns whether a text in lower case says that something fails.
fn mentions_failure(lower: &str) -> bool {
    const WORDS: &[&str] = &[
        "broke", "break", "fail", "error", "crash", "block", "prevent", "reject", "refuse",
        "silently",
    ];
    WORDS.iter().any(|word| lower.contains(word))
}

/// Returns the actual state, from a sentence about a wrong assumption of the plan: `Y` for
/// `Plan used X but Y`.
fn corrected_assumption(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let is_on_plan = ["plan ", "the plan ", "research ", "spec ", "original plan "]
        .iter()
        .any(|start| lower.starts_with(start));
    let turn = [" but ", "; however, ", ", however, ", " whereas ", " \u{2014} but ", "; actual "]
        .iter()
        .find_map(|turn| Some(outside(text, turn).next()? + turn.len()));
    let because = [" failed because ", " fails because ", " failed since ", " broke because "]
        .iter()
        .find_map(|turn| Some(outside(text, turn).next()? + turn.len()));
    let at = turn.filter(|_| is_on_plan).or(because)?;
    // The word is kept in the result: `Actual a.json uses …`.
    let rest = text[at..].trim();
    let is_actual = text[..at].ends_with("; actual ");
    Some(if is_actual { format!("Actual {rest}") } else { rest.to_owned() })
}

/// Returns the ways to word the fix, with the value that each adds to a lesson.
fn fixes(fix: &str) -> Vec<(String, f64)> {
    let fix = clean(fix);
    let Some(first) = sentences(&fix).into_iter().next().map(str::to_owned) else {
        return Vec::new();
    };
    let word = first.split(' ').next().unwrap_or_default();
    let is_done = starts_with_past_verb(&first) || word.starts_with('`') || is_imperative(word);
    if !is_done {
        return Vec::new();
    }
    let shown = |text: &str| format!("Fix: {}", lowered(text));
    let has_name = |text: &str| text.contains('`');
    forms(&first)
        .into_iter()
        .filter(|(text, _)| {
            text.split(' ').count() >= MIN_FIX_WORDS && is_standalone(&padded(text))
        })
        .map(|(text, cost)| {
            let bonus = if has_name(&text) { 1.3 } else { 0.5 };
            (shown(&text), bonus - cost)
        })
        .collect()
}

/// Pads a fix to the minimum length of a sentence: it may be short, since it follows the problem.
fn padded(fix: &str) -> String {
    format!("Fix of it with {fix}")
}

fn is_imperative(word: &str) -> bool {
    const VERBS: &[&str] = &[
        "use", "add", "run", "set", "install", "create", "pass", "move", "replace", "wrap", "call",
        "remove", "make", "keep", "import", "export", "pin", "switch", "declare", "write", "read",
        "mock",
    ];
    VERBS.contains(&word.to_lowercase().as_str())
}

fn lowered(text: &str) -> String {
    let word = text.split(' ').next().unwrap_or_default();
    let is_plain = word.chars().skip(1).all(char::is_lowercase);
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if is_plain => first.to_lowercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

/// Returns how useful a sentence is to someone planning another phase.
fn value(text: &str) -> f64 {
    let signs = Signs::detect(text);
    let lower = text.to_lowercase();
    let flag = |is_true: bool, weight: f64| if is_true { weight } else { 0.0 };
    flag(signs.general, 2.0)
        + flag(signs.environment, 2.0)
        + flag(signs.convention, 1.5)
        + flag(signs.version, 1.0)
        + flag(signs.error, 0.5)
        + flag(text.contains('`'), 0.5)
        - flag(starts_with_past_verb(text), 1.5)
        - flag(signs.process, 2.0)
        - flag(lower.starts_with("plan ") || lower.starts_with("the plan "), 0.5)
}

/// Returns whether a sentence only says that all is well, or names no concrete problem.
fn is_uninformative(text: &str) -> bool {
    let lower = text.to_lowercase();
    let on_plan = lower.starts_with("plan ") || lower.starts_with("the plan ");
    let turns =
        [" but ", " no ", "not ", "n't ", " never ", " only ", " instead ", " must ", " cannot "];
    let says_nothing = [
        "root cause",
        "no errors",
        "required no",
        "did not require",
        "no fixes",
        "passed on first",
        "logic is correct",
        "no impact",
        "tests pass",
        "see above",
        "per the decision",
        "differed from plan",
        "differed from the plan",
        "differs from plan",
        "differ from plan",
        "per the architectural decision",
    ];
    says_nothing.iter().any(|words| lower.contains(words))
        || lower.starts_with("fix: ")
        || lacks_subject(&lower)
        || names_own_plan(&lower)
        // This states that there was a bug, but not which.
        || lower.ends_with(" bug")
        || lower.ends_with(" again")
        || (on_plan && !turns.iter().any(|turn| lower.contains(turn)))
}

/// Returns whether it names a plan by its number, which only means something in its own phase:
/// `Plan 03-04 listed …`, `in P02`.
fn names_own_plan(lower: &str) -> bool {
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let mut words = lower.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let is_plan =
            matches!(word, "plan" | "plans") && words.peek().is_some_and(|next| is_number(next));
        let is_short = word
            .strip_prefix('p')
            .is_some_and(|rest| rest.len() == 2 && rest.bytes().all(|byte| byte.is_ascii_digit()));
        if is_plan || is_short || (is_plan_id(word) && states_order(lower)) {
            return true;
        }
    }
    false
}

/// Returns whether a word is a phase and a plan: `03-01`.
fn is_plan_id(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '`');
    let is_number = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    word.split_once('-').is_some_and(|(phase, plan)| is_number(phase) && is_number(plan))
}

/// Returns whether a text is about the order in which plans were carried out.
fn states_order(lower: &str) -> bool {
    const WORDS: &[&str] = &[
        "not yet executed", "not yet built", "not yet complete", "prerequisite", "depends on",
        "out of order", "runs after", "runs before",
    ];
    WORDS.iter().any(|word| lower.contains(word))
}

/// Returns whether its subject is only clear from its summary: `The file did not exist`.
fn lacks_subject(lower: &str) -> bool {
    const THINGS: &[&str] = &[
        "file", "files", "function", "method", "test", "tests", "component", "class", "field",
        "script", "command", "import", "module",
    ];
    const VERBS: &[&str] = &[
        "did", "does", "do", "was", "were", "is", "are", "has", "had", "could", "cannot", "failed",
    ];
    let mut words = lower.split(' ');
    words.next() == Some("the")
        && words.next().is_some_and(|thing| THINGS.contains(&thing))
        && words.next().is_some_and(|verb| VERBS.contains(&verb))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::lesson::is_complete;

    fn composed(issue: &str, fix: &str) -> String {
        let passage =
            Passage { issue: issue.to_owned(), fix: fix.to_owned(), ..Passage::default() };
        compose(&passage, 140).map(|(text, _)| text).unwrap_or_default()
    }

    #[test]
    fn issue_and_fix_make_one_lesson() {
        assert_eq!(
            composed(
                "Click 8 no longer accepts `mix_stderr` in its runner. All tests failed.",
                "Removed `mix_stderr` from the fixtures. Ran them."
            ),
            "Click 8 no longer accepts `mix_stderr` in its runner. Fix: removed `mix_stderr` from the fixtures"
        );
    }

    #[test]
    fn what_does_not_fit_is_said_shorter_and_never_cut() {
        let long = "The lock file is gitignored and so missing in every worktree, which makes the first build \
                    of each agent in a worktree of its own fail with a message about a missing registry entry";
        assert_eq!(
            composed(long, ""),
            "The lock file is gitignored and so missing in every worktree"
        );
        let torn = "The first build of each of the agents that are at work in a worktree of their own fails with a \
                    message about a missing registry entry of the second package of the workspace root";
        assert_eq!(composed(torn, ""), "");
    }

    #[test]
    fn of_a_plan_that_was_wrong_what_is_so_is_said() {
        assert_eq!(
            composed(
                "Plan used `tests/unit/a.bats` but the project uses a flat `tests/` folder",
                ""
            ),
            "The project uses a flat `tests/` folder"
        );
    }

    #[test]
    fn the_subject_comes_from_the_sentence_before() {
        assert_eq!(
            composed(
                "The `boats` driver was added for the ferries. This driver does not support locks, so reads fail silently.",
                ""
            ),
            "The `boats` driver does not support locks, so reads fail silently"
        );
        for issue in [
            "The `boats` driver was added for the ferries. This lock blocks",
            "The driver was added for the ferries of the north. This driver is slow on Windows",
        ] {
            assert!(!composed(issue, "").contains("This"), "{issue}");
        }
    }

    #[test]
    fn background_is_not_the_lesson_beside_a_sentence_on_what_failed() {
        assert_eq!(
            composed(
                "The `boats` driver was added in March for the ferries. Reads of old tables fail silently with `boats` on old \
                 stores.",
                "Added a check of the store in `src/boats.rs`."
            ),
            "Reads of old tables fail silently with `boats` on old stores. Fix: added a check of the store in `src/boats.rs`"
        );
    }

    #[test]
    fn a_problem_that_fits_without_its_consequence_is_a_lesson() {
        assert_eq!(
            composed(
                "The fixture of the harbour clears all overrides of the app at its end, causing every later test of the tide \
                 table and of the ferry list to fail with errors of the store",
                ""
            ),
            "The fixture of the harbour clears all overrides of the app at its end"
        );
    }

    #[test]
    fn what_it_led_to_stays() {
        let long = "Tests of the server call its constructor, which opens the store and the index of all its parts at once, \
                    causing native module errors";
        assert_eq!(composed(long, ""), long);
        let longer =
            format!("{long} in each of the processes that were started by the pool of workers");
        assert!(!composed(&longer, "").ends_with("at once"), "{}", composed(&longer, ""));
    }

    #[test]
    fn what_needs_its_entry_is_no_lesson() {
        for text in [
            "Plan 03-04 originally listed only the wrapper's own test file",
            "The handler of the queue is tracked beside PLAN 04's first deviation",
            "Prerequisite rows of the list from 03-01 were not yet executed",
            "The list of 03-02 depends on 03-01, which has no rows at all",
            "Names of the backends differed from plan text in all files",
            "The cast of references as initially shipped had a shadowing bug",
        ] {
            assert_eq!(composed(text, ""), "", "{text}");
        }
        assert_eq!(
            composed(
                "The plan used `a-feature`; actual `store.json` uses `a` and `b` as names",
                ""
            ),
            "Actual `store.json` uses `a` and `b` as names"
        );
    }

    #[test]
    fn what_has_no_name_in_it_is_no_lesson() {
        assert_eq!(composed("The file did not exist in the repo at all", ""), "");
        assert_eq!(
            composed("The file `a.lock` did not exist in the repo", ""),
            "The file `a.lock` did not exist in the repo"
        );
    }

    #[test]
    fn a_statement_has_as_many_whole_sentences_as_fit() {
        let text = "Keys are frozen; run `check` before each release. A new key needs a migration. Ask first.";
        assert_eq!(statement(text, 100).as_deref(), Some(&text[..text.len() - 1]));
        assert_eq!(
            statement(text, 80).as_deref(),
            Some("Keys are frozen; run `check` before each release. A new key needs a migration")
        );
        assert_eq!(
            statement(text, 60).as_deref(),
            Some("Keys are frozen; run `check` before each release")
        );
        assert_eq!(statement(text, 30), None);
        assert_eq!(
            statement("**One file** \u{2014} the store is read by two agents", 20).as_deref(),
            Some("One file")
        );
    }

    #[test]
    fn of_a_long_statement_only_the_necessary_remarks_are_dropped() {
        let text = "Old tide tables (of 2019) are invisible to the importer until the migration of the store has run (NEEDS \
                    APPROVAL OF THE HARBOUR; the script was denied), as the log (see plan 3) says";
        let without_reference = text.replace(" (see plan 3)", "");
        assert_eq!(
            statement(text, text.chars().count() - 5).as_deref(),
            Some(without_reference.as_str())
        );
        let without_both = without_reference.replace(" (of 2019)", "");
        assert_eq!(
            statement(text, text.chars().count() - 15).as_deref(),
            Some(without_both.as_str())
        );
        let shorter = statement(text, text.chars().count() - 30);
        assert!(shorter.is_none_or(|text| text.contains("NEEDS")));
        let clauses = "Tables of the harbour are read once \u{2014} the importer keeps them in its cache (MUST NOT \
                       be cleared by hand); the test checks it on each day of the week";
        assert_eq!(statement(clauses, 130).as_deref(), clauses.split(';').next());
    }

    proptest::proptest! {
        #[test]
        fn a_lesson_fits_and_is_whole(issue in "(\\PC{0,20}[.`(,; ]){0,12}", fix in "\\PC{0,60}", room in 40_usize..160) {
            let passage = Passage { issue, fix, ..Passage::default() };
            if let Some((text, _)) = compose(&passage, room) {
                proptest::prop_assert!(text.chars().count() <= room);
                proptest::prop_assert!(is_complete(&text), "{}", text);
            }
        }
    }
}
