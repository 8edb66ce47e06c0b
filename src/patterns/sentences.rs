//! Takes whole sentences from the beginning of a text.

use std::collections::BTreeSet;

use crate::search::Language;
use crate::text::{Pattern, is_closed, listed, one_line, sanitized, sentence_ends};

/// Minimum lengths of an informative sentence, in characters and in words; beside its fix, only in words.
const MIN_CHARS: usize = 25;
const MIN_WORDS: usize = 4;

/// Words that end a sentence only with a full stop, and abbreviations that do not end one even so.
const DANGLING: &str = "the a an of to and or because before since with in for by as that but which is are was were \
    when if from on at than not no via be has have had so its instead";
const ABBREVIATED: &str = "e.g i.e vs";

/// Minimum number of common words of two similar texts; fewer are chance, however short the texts are.
const MIN_COMMON_WORDS: usize = 3;

/// Returns whether a sentence, with its full stop if it has one, is whole and long enough to say something on its own.
pub(crate) fn is_complete(text: &str) -> bool {
    text.chars().count() >= MIN_CHARS && is_whole(text)
}

/// Returns whether a sentence has enough words and no open delimiters, and is not truncated.
pub(crate) fn is_whole(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let last = words.last().copied().unwrap_or_default().to_lowercase();
    let last = last.trim_matches(|c: char| !c.is_alphanumeric());
    words.len() >= MIN_WORDS
        && is_closed(text)
        && !listed(ABBREVIATED, last)
        && (text.ends_with('.') || !listed(DANGLING, last))
}

/// Returns the beginning of a text that is a whole statement within `room`: all of it, or as many sentences as fit, or
/// its first clause, or else its bold head.
pub(crate) fn statement(text: &str, room: usize) -> Option<String> {
    beginning(text, room).map(|found| without_stop(&found))
}

/// Returns the same if its sentences are complete.
pub(crate) fn complete_statement(text: &str, room: usize) -> Option<String> {
    beginning(text, room).filter(|found| is_complete(found)).map(|found| without_stop(&found))
}

fn without_stop(text: &str) -> String {
    text.trim_end_matches(['.', ' ']).to_owned()
}

fn beginning(text: &str, room: usize) -> Option<String> {
    let text = text.trim();
    let head = text.strip_prefix("**").and_then(|rest| rest.split_once("**"));
    let head = head.map(|(head, _)| plain(head)).filter(|head| head.contains(' '));
    let text = plain(text);
    let fits = |form: &&str| !form.is_empty() && form.chars().count() <= room;
    let whole = Some(text.as_str()).filter(fits);
    let found = whole.or_else(|| leading_sentences(&text, usize::MAX, room)).or_else(|| {
        let clauses = text.match_indices(['\u{2014}', ';']).map(|(at, _)| &text[..at]);
        clauses.take_while(fits).filter(|clause| is_complete(clause.trim())).last()
    });
    let head = || head.as_deref().map(|head| head.trim_end_matches(':')).filter(fits);
    found.map(str::trim).filter(|found| is_closed(found)).or_else(head).map(str::to_owned)
}

/// Words with which a sentence takes back what the one before it said.
const CONTRASTS: &str = "but |however|in fact|actually|it turned out|turned out";

/// Returns as many sentences from the beginning of a text as fit into `room`, at most `most`, and those that take back
/// what they say; `None` if not even the first fits, or one that takes it back does not.
pub(crate) fn leading_sentences(text: &str, most: usize, room: usize) -> Option<&str> {
    let (mut start, mut kept) = (0, 0);
    for (count, end) in sentence_ends(text).into_iter().enumerate() {
        let lower = text[start..end].trim().to_lowercase();
        let takes_back = CONTRASTS.split('|').any(|word| lower.starts_with(word));
        let fits = text[..end].trim().chars().count() <= room;
        if takes_back && !fits && count > 0 {
            return None;
        }
        if !fits || count >= most && !takes_back {
            break;
        }
        (start, kept) = (end, end);
    }
    Some(text[..kept].trim()).filter(|kept| !kept.is_empty())
}

/// The content words of a text, by their stems.
#[derive(Default)]
pub(crate) struct ContentWords(BTreeSet<String>);

impl ContentWords {
    pub(crate) fn from_text(text: &str) -> Self {
        let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        let words = words.filter(|word| {
            word.contains(char::is_alphabetic) && !Language::ENGLISH.is_function_word(word)
        });
        Self(words.map(|word| Language::ENGLISH.stem(&word)).collect())
    }

    /// Returns the number of words that two texts share.
    pub(crate) fn common(&self, other: &Self) -> usize {
        self.0.intersection(&other.0).count()
    }

    /// Returns whether a text has every word of another one, and at most twice as many words.
    pub(crate) fn includes(&self, other: &Self) -> bool {
        let size = other.0.len();
        size > MIN_COMMON_WORDS && other.0.is_subset(&self.0) && self.0.len() <= 2 * size
    }

    /// Returns whether two texts say the same, or one of them is a shorter form of the other.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        let common = self.common(other);
        let (fewer, more) = (self.0.len().min(other.0.len()), self.0.len().max(other.0.len()));
        // Three words may be part of any longer text.
        let size = if fewer > MIN_COMMON_WORDS { fewer } else { more };
        common >= MIN_COMMON_WORDS && common * 10 >= size * 8
    }
}

/// Tags in front of the actual text: `[Rule 1 - Bug] `, `DEVN-01 (minor): `, `PR-03 code-fix: `, `2. `.
static TAG: Pattern = Pattern::new(
    r"^(?:\s*(?:[-*>]\s+|\d+[.)]\s+|\[[^\]]{1,48}\][:\s]|DEVN-\d+[^:]{0,40}:\s|Rule \d+[^:]{0,40}:\s|(?i:PR|P|D|T)-?\d+\w*[^:.]{0,40}:\s|(?i:deviation|issue|fix|plan|phase|pattern)\s+[\d.-]+\w*(?:[^:.]{0,32})?:\s|(?i:process|scope|minor|note|bug|blocking|code-fix|plan-amendment)\s*:\s))+",
);
/// A commit in brackets or at the end: `(commit abc1234)`, `in abc1234.`
static COMMIT: Pattern = Pattern::new(
    r"\s*\((?i:(?:committed |fixed )?(?:in |as )?(?:commit )?)`?[0-9a-f]{7,40}`?\)|\s+(?i:(?:in |as |at )?commit |in |as |at )?`?([0-9a-f]{7,40})`?(\.?)$",
);

/// Returns a passage on one line, without secrets, emphasis, tags and hashes.
pub(crate) fn clean(text: &str) -> String {
    let text = plain(text);
    trimmed(&TAG.replace(&text, "")).to_owned()
}

/// Returns the same with its tags: before a decision, what looks like one may be its subject, as in `D3 charts: …`.
fn plain(text: &str) -> String {
    // `cargo run -- --help` is code.
    let text = outside_code(&one_line(&sanitized(text)), |part| {
        part.replace("**", "").replace(" -- ", " \u{2014} ")
    });
    trimmed(&without_commits(&text)).to_owned()
}

/// Returns a text without the punctuation around it. A dash before a word belongs to it: `--init`, `-5 degrees`.
fn trimmed(text: &str) -> &str {
    let is_mark = |c: char| c.is_whitespace() || ";,-\u{2014}".contains(c);
    let text = text.trim_end_matches(is_mark);
    let marks = text.len() - text.trim_start_matches(is_mark).len();
    let before = text[..marks].trim_end_matches('-');
    &text[before.len()..]
}

/// Returns a text without commit hashes, which have both digits and letters, unlike numbers and words.
fn without_commits(text: &str) -> String {
    let mut runs = text.split(|c: char| !c.is_ascii_hexdigit());
    if !runs.any(|run| run.len() >= 7) {
        return text.to_owned();
    }
    let is_hash = |hash: &str| {
        hash.bytes().any(|byte| byte.is_ascii_digit())
            && hash.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    let replaced = COMMIT.replace_all(text, |found: &regex_lite::Captures<'_>| {
        let whole = &found[0];
        match found.get(1) {
            Some(hash) if !is_hash(hash.as_str()) => whole.to_owned(),
            Some(_) => found.get(2).map_or("", |stop| stop.as_str()).to_owned(),
            None => String::new(),
        }
    });
    replaced.into_owned()
}

/// Returns a text with its parts outside of code changed.
fn outside_code(text: &str, change: impl Fn(&str) -> String) -> String {
    let parts = text.split_inclusive('`').enumerate();
    let parts = parts.map(|(index, part)| match index % 2 {
        0 => change(part),
        _ => part.to_owned(),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_whole_or_missing() {
        let text =
            "**Locks are taken first**: they order all writers. Readers never wait for them.";
        assert_eq!(statement(text, 200).unwrap().chars().count(), 74);
        let first = "Locks are taken first: they order all writers";
        assert_eq!(statement(text, 60).as_deref(), Some(first));
        assert_eq!(statement(text, 30).as_deref(), Some("Locks are taken first"));
        assert_eq!(statement(text, 10), None);
    }

    #[test]
    fn what_is_cut_off_is_not_complete() {
        assert!(is_complete("The store keeps `a...b` (and its lock) until the writer is dropped"));
        for text in [
            "The store keeps its lock until the",
            "The store keeps (its lock until it is dropped",
            "The store keeps its lock until it is\u{2026}",
            "The store keeps these locks:",
            "Too short",
            "The store keeps its lock until e.g.",
        ] {
            assert!(!is_complete(text), "{text}");
        }
    }

    #[test]
    fn a_full_stop_completes_a_sentence_whatever_its_last_word() {
        let text = "The export fails as soon as the page cache is switched on. Then";
        let first = "The export fails as soon as the page cache is switched on";
        assert_eq!(complete_statement(text, 60).as_deref(), Some(first));
        assert_eq!(complete_statement(first, 60), None);
        assert!(is_complete("The schema takes no address, `prisma.config.ts` does instead."));
    }

    #[test]
    fn markup_goes_and_words_stay() {
        for (text, expected) in [
            ("**1. [Rule 1 - Bug] Locks** are `**kept**` (commit abc1234)", "Locks are `**kept**`"),
            ("DEVN-01 (minor): the new way in commit `a1b2c3d`.", "the new way."),
            ("PR-03 code-fix: see __init__ of @types/node", "see __init__ of @types/node"),
            ("--init is needed for 1234567", "--init is needed for 1234567"),
            ("Run `a -- --b` -- it tells", "Run `a -- --b` \u{2014} it tells"),
        ] {
            assert_eq!(clean(text), expected);
        }
    }
}
