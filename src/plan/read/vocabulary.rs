//! The words that have a meaning in planning files, in all languages seen in them: `vocabulary.txt` is the table.
//!
//! Statuses are recognised here; other words in the modules that use them.

use std::sync::LazyLock;

use foldhash::HashMap;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use serde::{Deserialize, Serialize};

use crate::clock::parse_date;
use crate::plan::read::line::{Count, Span};
use crate::text::{Pattern, is_digit, strip_prefix_ignore_case, unmarked, words_in};

/// What the words of a row mean, and the words.
type Row = (&'static str, Vec<&'static str>);

/// The rows of each kind, in file order; several may have the same meaning.
static ROWS: LazyLock<HashMap<&str, Vec<Row>>> = LazyLock::new(|| {
    let mut rows: HashMap<_, Vec<Row>> = HashMap::default();
    for line in include_str!("vocabulary.txt").lines().filter(|line| !line.starts_with('#')) {
        let Some((head, words)) = line.split_once(": ") else { continue };
        let (kind, meaning) = head.split_once('/').unwrap_or((head, ""));
        rows.entry(kind).or_default().push((meaning, words.split(" | ").collect()));
    }
    rows
});

fn rows(kind: &str) -> &'static [Row] {
    ROWS.get(kind).map_or(&[], Vec::as_slice)
}

/// Returns all words of a kind.
pub(crate) fn words(kind: &str) -> impl Iterator<Item = &'static str> {
    rows(kind).iter().flat_map(|(_, words)| words).copied()
}

/// Returns whether a text in lower case is a word of a kind.
pub(crate) fn has(kind: &str, text: &str) -> bool {
    words(kind).any(|word| word == text)
}

/// Returns whether a text in lower case begins with a word of a kind.
pub(crate) fn begins(kind: &str, text: &str) -> bool {
    words(kind).any(|word| text.starts_with(word))
}

/// Returns what follows the word for a phase at the start of a text: `Phase 2`, `Fase 2`.
pub(crate) fn after_phase(text: &str) -> Option<&str> {
    strip_prefix_ignore_case(text, "phase").or_else(|| {
        // Most texts begin with neither letter.
        let may = text.starts_with(|c: char| !c.is_ascii() || c.eq_ignore_ascii_case(&'f'));
        let (word, rest) = text.split_at(text.find(|c: char| !c.is_alphabetic()).filter(|_| may)?);
        has("word for a phase", &word.to_lowercase()).then_some(rest)
    })
}

/// Returns whether a text says no more than a word of a kind: at most a number, a date or a remark follows.
pub(crate) fn says(kind: &str, text: &str) -> bool {
    words(kind).any(|word| is_all_of(text, word))
}

/// Returns whether a text says no more than a word in lower case.
pub(crate) fn is_all_of(text: &str, word: &str) -> bool {
    let text = unmarked(text).to_lowercase();
    let rest = text.strip_prefix(word).map(str::trim_start);
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
}

/// Returns the first word of a kind that fits, with its meaning.
pub(crate) fn find<M: Deserialize<'static>>(
    kind: &str,
    fits: impl Fn(&str) -> bool,
) -> Option<(M, &'static str)> {
    rows(kind).iter().find_map(|(meaning, words)| {
        let word = words.iter().find(|word| fits(word))?;
        let meaning: StrDeserializer<'static, Error> = meaning.into_deserializer();
        Some((M::deserialize(meaning).ok()?, *word))
    })
}

/// A field of a phase's section in the roadmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Field {
    /// The goal of the phase.
    Goal,
    /// The phases that it depends on.
    DependsOn,
    /// The requirements that it covers.
    Requirements,
    /// What must be true when it is complete.
    SuccessCriteria,
    /// Its plans: the count, or the checklist.
    Plans,
    /// Its status.
    Status,
    /// Any other label, which ends the preceding field.
    Other,
}

/// What a label of STATE.md is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Label {
    /// The current phase.
    Phase,
    /// Its name.
    PhaseName,
    /// Its status.
    Status,
    /// The current plan.
    Plan,
    /// The number of complete plans.
    Plans,
    /// The number of phases.
    Phases,
    /// The progress.
    Progress,
    /// The milestone.
    Milestone,
    /// A date on which work went on.
    LastActive,
}

/// The topic of a labelled part of a deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeviationPart {
    Issue,
    Cause,
    Fix,
    Files,
    Severity,
    /// A known part that does not describe the problem: a commit, a verification.
    Other,
}

impl DeviationPart {
    pub(super) fn from_label(label: &str) -> Option<Self> {
        // Without the remark: `**Fix (abc1234):**`.
        let name = label.split_once(" (").map_or(label, |(name, _)| name);
        let name = name.trim_matches(|c: char| !c.is_alphanumeric());
        let name = name.to_lowercase().replace('_', " ");
        find("part of a deviation", |word| word == name).map(|(part, _)| part)
    }
}

/// The progress of a phase, independent of wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseProgress {
    /// Finished.
    Complete,
    /// Started.
    InProgress,
    /// Not started, whether planned or not.
    NotStarted,
    /// Postponed to a later milestone.
    Deferred,
    /// Covered by another phase.
    Superseded,
    /// Removed from the roadmap.
    Removed,
    /// Unable to continue.
    Blocked,
}

impl PhaseProgress {
    /// Parses a status by its prefix: `Complete (4 plans)`, `✓ Built`, `◑ In progress`, `_(deferred to …)_`.
    pub fn parse(status: &str) -> Option<Self> {
        let found = first_word(&status.to_lowercase()).map(|(progress, _)| progress);
        found.or_else(|| Self::from_symbol(status))
    }

    /// Parses a status, or what a box, a count or an answer says instead.
    pub(crate) fn stated(text: &str) -> Option<Self> {
        Self::parse(text).or_else(|| measured(text))
    }

    /// Parses the first status symbol in a text.
    pub(crate) fn from_symbol(text: &str) -> Option<Self> {
        // No symbol is ASCII, and most texts are.
        let mut symbols = text.chars().filter(|c| !c.is_ascii());
        let meaning = |c: char| find("symbol", |symbol| symbol.starts_with(c));
        symbols.find_map(meaning).map(|(progress, _)| progress)
    }

    /// Returns whether a status means complete.
    pub(crate) fn is_complete_status(status: &str) -> bool {
        Self::parse(status) == Some(Self::Complete)
    }

    /// Returns whether a status means that work remains.
    pub(crate) fn is_open_status(status: &str) -> bool {
        Self::parse(status).is_some_and(Self::is_open)
    }

    /// Returns whether work remains.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::InProgress | Self::NotStarted | Self::Blocked)
    }

    /// Returns whether the phase is no longer to be done under its own number.
    pub fn is_dropped(self) -> bool {
        matches!(self, Self::Deferred | Self::Superseded | Self::Removed)
    }
}

/// Parses a box, a count, or an answer to whether it is done: `[x]`, `(100%)`, `2/2 plans`, `Yes`.
pub(crate) fn measured(text: &str) -> Option<PhaseProgress> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || "()*_".contains(c));
    let (done, all) = match text {
        "[ ]" | "No" | "no" => (0, 1),
        "[x]" | "[X]" | "Yes" | "yes" => (1, 1),
        _ => {
            let count = Count::parse(unmarked(text))?;
            let all = count.total.or(count.rest.starts_with('%').then_some(100))?;
            let unit = count.rest.trim_start_matches(['%', ' ']);
            // `2/2 plans written` are not done.
            (count.done, Some(all).filter(|_| unit.is_empty() || has("counted plans", unit))?)
        }
    };
    match done {
        _ if all == 0 || done > all => None,
        0 => Some(PhaseProgress::NotStarted),
        _ if done < all => Some(PhaseProgress::InProgress),
        _ => Some(PhaseProgress::Complete),
    }
}

/// Returns the first status word that a text in lower case begins with, followed by at most one letter or digit
/// (`completed`), and what follows it.
fn first_word(text: &str) -> Option<(PhaseProgress, &str)> {
    let text = unmarked(text);
    let begins = |word: &str| {
        let rest = text.strip_prefix(word);
        rest.is_some_and(|rest| rest.chars().take_while(|c| c.is_alphanumeric()).count() <= 1)
    };
    let (progress, word) = find("status", begins)?;
    let rest = &text[word.len()..];
    let is_partial = progress == PhaseProgress::Complete && is_excepted(rest);
    Some((if is_partial { PhaseProgress::InProgress } else { progress }, rest))
}

/// Returns whether what follows a word such as `complete` leaves something out: `except 01-02`, `d, apart from a test`.
pub(super) fn is_excepted(rest: &str) -> bool {
    let rest = rest.trim_start_matches(char::is_alphanumeric);
    begins("left out", unmarked(rest))
}

/// Returns whether a text is a status rather than a name: `COMPLETE`, `Complete (4 plans)`, `complete, verified` and
/// `complete 2026-01-02`, but not `Complete Rewrite` and `Cancelled, Refunded & Lost`.
pub(crate) fn is_status(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    // After any other mark than that of a list, a remark follows.
    let is_mark = |c: char| !c.is_alphanumeric() && !c.is_whitespace() && !",/+".contains(c);
    let bare = lower.trim_start_matches(is_mark).trim_start();
    let list = bare.split(is_mark).next().unwrap_or_default();
    let Some(end) = list.rfind([',', '/', '+']) else { return is_one_status(&lower) };
    let mut parts = bare[..end].split([',', '/', '+']).chain([&bare[end + 1..]]);
    let first = parts.next().unwrap_or_default();
    // A list is a status only if each part of it is one, a count, or what is left out.
    first_word(first).is_some_and(|(_, rest)| is_excepted(rest))
        || is_one_status(first)
            && parts.map(str::trim_start).all(|part| {
                part.starts_with(is_digit) || begins("left out", part) || is_one_status(part)
            })
}

/// Returns whether a text is a status, or a box or a count in place of one.
pub(crate) fn states_progress(text: &str) -> bool {
    is_status(text) || measured(text).is_some()
}

/// Returns whether all of a text states the progress of a phase, with no more than a date, a count or a remark in brackets:
/// `Complete (4 plans)` and `superseded by Phase 3`, but not `Done: a definition`.
pub(crate) fn only_states_progress(text: &str) -> bool {
    let lower = unmarked(text).to_lowercase();
    let (head, remark) = lower.split_at(lower.find(['(', '[']).unwrap_or(lower.len()));
    let Some((progress, rest)) = first_word(head) else {
        return states_progress(text) || says_dropped(text);
    };
    if progress.is_dropped() {
        return says_dropped(text);
    }
    let rest = rest.trim_start_matches(char::is_alphabetic);
    (remark.is_empty() || remark.trim_end().ends_with([')', ']', '*', '_']))
        && words_in(rest).all(|word| word == "on" || word.starts_with(is_digit))
}

/// Returns whether a text in lower case, which is not a list, is a status.
fn is_one_status(lower: &str) -> bool {
    let Some((_, rest)) = first_word(lower) else {
        return !lower.contains(char::is_alphanumeric)
            && PhaseProgress::from_symbol(lower).is_some();
    };
    if is_excepted(rest) {
        return true;
    }
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start();
    let day = rest.trim_start_matches("on ").split([' ', ')', ',', ':']).next();
    let is_dated = day.is_some_and(|day| day.starts_with("20") && parse_date(day).is_some());
    let Some(mark) = rest.chars().next().filter(|_| !is_dated) else { return true };
    let after = rest[mark.len_utf8()..].trim_start();
    match mark {
        '(' | '[' => {
            let behind = after.split_once([')', ']']).map_or("", |(_, behind)| behind.trim());
            !behind.starts_with(char::is_alphabetic)
        }
        // `done-list`
        '-' => !rest[1..].starts_with(char::is_alphanumeric),
        mark => !mark.is_alphanumeric() && !"&|?#\"`".contains(mark),
    }
}

/// What may follow a word that drops work, if no more is said: a day, what replaces it, or a remark in brackets.
static AFTER_DROPPING: Pattern = Pattern::new(
    r"^(?:(?:on )?20\d\d-\d\d-\d\d|(?:(?:by|into|to) )?(?:(?:phase|plan) [\w.-]+|v?\d[\w.-]*)|\([^()]*\)|,? ?(?:see|since|because) .*)?[.!]?$",
);

/// What may follow it in a remark behind a name: a reason, too.
static IN_REMARK: Pattern = Pattern::new(
    r"(?x)^(?: [.,;:!(–—] | -\ | indefinitely\b | entirely\b
        | (?:by|to|into|until|till|since|because|due|per|from|after|before|for|post|pending|as|at|via|with|without|beyond|during|next|in\ favou?r)\b
        | (?:(?:in|on)\ )? (?: (?:phase|plan|milestone)\ [\w.-]+$ | v?\d | q[1-4]\b | now$ | later$ ) )",
);

/// Returns what follows the word with which a text in lower case drops work.
fn after_dropping(text: &str) -> Option<&str> {
    // A single word may describe what the work is about: `int main(void)`.
    let mut phrases = words("dropped plan, alone").filter(|word| word.contains(' '));
    let bare = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let alone = || phrases.find_map(|word| bare.strip_prefix(word));
    let found = first_word(text).filter(|(progress, _)| progress.is_dropped());
    let rest = found.map(|(_, rest)| rest).or_else(alone)?;
    Some(rest.trim_start_matches(char::is_alphabetic)).filter(|rest| !rest.starts_with(['-', '/']))
}

/// Returns whether all of a text says that a phase will not be done: `CANCELLED`, `superseded by Phase 3`, but not
/// `Cancelled orders`.
pub(crate) fn says_dropped(text: &str) -> bool {
    let lower = text.to_lowercase();
    after_dropping(&lower).is_some_and(|rest| AFTER_DROPPING.is_match(rest.trim_start()))
}

/// Returns whether a remark behind a name says that the phase or plan will not be done: `deferred, since …`, `moved to v2`,
/// but not `deferred loading`.
pub(crate) fn remark_drops(text: &str) -> bool {
    let lower = text.to_lowercase();
    says_dropped(text)
        || after_dropping(&lower).is_some_and(|rest| IN_REMARK.is_match(rest.trim_start()))
}

/// Marks that separate a name from the status after it.
const DASHES: &[&str] = &[" — ", " – ", " -- ", " - "];

/// Maximum number of remarks behind a name: each is looked for in all of it.
const MAX_REMARKS: usize = 8;

/// Splits a name from the status after it: `Name ✓`, `Name ✅ COMPLETE`, `Name — COMPLETE`, `Name (deferred to v3)`.
pub(crate) fn split_status(text: Span<'_>) -> (Span<'_>, Option<Span<'_>>) {
    let is_symbol = |c: char| PhaseProgress::from_symbol(c.encode_utf8(&mut [0; 4])).is_some();
    let is_own = |text: &str| {
        // `Coverage (100%)` is a name.
        let is_count = || text.starts_with('(') && !text.ends_with('%') && measured(text).is_some();
        is_status(text) || remark_drops(text) || is_count()
    };
    let (mut name, mut status) = (text, None);
    // A symbol, a dash and a bracket may follow each other.
    for _ in 0..MAX_REMARKS {
        let own = name.text;
        let bracket = [('(', ')'), ('[', ']')].into_iter().filter_map(|(open, close)| {
            let inner = own.strip_suffix(close)?;
            Some(inner.rfind(open)?..inner.len())
        });
        // A last word in capitals is a status, too, `Name DONE`, but not in `Definition of DONE`.
        let last = own.rfind(' ').filter(|at| {
            let before = own[..*at].rsplit(' ').next().unwrap_or_default().to_lowercase();
            let is_shouted = ["DONE", "COMPLETE", "COMPLETED"].contains(&own[at + 1..].trim());
            status.is_none() && is_shouted && !has("before a name in capitals", &before)
        });
        let after = DASHES.iter().filter_map(|dash| own.rfind(dash)).chain(own.rfind(is_symbol));
        let after = after.chain(last);
        let mut marks = bracket.chain(after.map(|at| at..own.len()));
        let found = marks.find(|range| range.start > 0 && is_own(&own[range.clone()]));
        let Some(range) = found else { break };
        let at = range.start;
        status = status.or(Some(name.part(range).trim_chars(&['(', '[', '-', '–', '—', ' '])));
        name = name.part(0..at);
    }
    (name, status)
}

/// Returns a milestone's name without the status after it: `v1.0 MVP — SHIPPED 2026-02-23`, `v1.0 MVP (complete)`.
pub(crate) fn without_status(name: &str) -> &str {
    let (name, _) = split_status(Span::new(name, 0, 1));
    name.text.trim_end_matches([' ', ':', '-', '–', '—'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::read::{CheckOutcome, PhaseProgress, PlanState};
    use crate::text::NO_VALUE;

    #[test]
    fn the_documentation_lists_every_word() {
        let docs = include_str!("../../../docs/formats.md");
        let lines = include_str!("vocabulary.txt").lines().chain(NO_VALUE.lines());
        let lines = lines.filter(|line| !line.starts_with('#'));
        let mut missing = String::new();
        for (head, words) in lines.filter_map(|line| line.split_once(": ")) {
            let name = head
                .split_once('/')
                .map_or(head, |(kind, meaning)| if kind.contains(' ') { head } else { meaning });
            let row = format!("| {name} | `{}` |", words.replace(" | ", "` `"));
            if !docs.contains(&row) {
                missing.push_str(&row);
                missing.push('\n');
            }
        }
        assert!(missing.is_empty(), "docs/formats.md lacks these rows:\n{missing}");
    }

    #[test]
    fn what_is_complete_except_for_something_is_not_complete() {
        for text in ["Complete except 01-02", "Completed, apart from a test", "Done (except 2)"] {
            assert_eq!(PhaseProgress::parse(text), Some(PhaseProgress::InProgress), "{text}");
            let summary = format!("---\nstatus: {text}\n---\n");
            assert_eq!(PlanState::stated(&summary), Some(PlanState::Partial), "{text}");
            let heading = format!("Base - {text}");
            let (name, status) = split_status(Span::new(&heading, 0, 1));
            assert_eq!((name.text, status.unwrap().text), ("Base", text));
        }
        let text = "Complete (no test but one except)";
        assert_eq!(PhaseProgress::parse(text), Some(PhaseProgress::Complete));
    }

    #[test]
    fn every_meaning_is_known() {
        fn count<M: Deserialize<'static>>(kind: &str) {
            for (meaning, words) in rows(kind) {
                let found = find::<M>(kind, |word| word == words[0]);
                assert!(found.is_some(), "{kind}/{meaning}");
            }
        }
        count::<PhaseProgress>("status");
        count::<PhaseProgress>("symbol");
        count::<Field>("field");
        count::<Label>("label");
        count::<DeviationPart>("part of a deviation");
        count::<PlanState>("outcome of a plan");
        count::<CheckOutcome>("outcome of a check");
        let lines = include_str!("vocabulary.txt").lines();
        let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(lines.find(|line| !line.contains(": ")), None, "no words");
    }
}
