//! Splits text into sentences, and checks whether a sentence can stand alone.

/// Minimum lengths of an informative sentence, in characters and in words.
const MIN_CHARS: usize = 25;
const MIN_WORDS: usize = 4;

/// Abbreviations whose full stop does not end a sentence.
const ABBREVIATIONS: &[&str] = &["e.g", "i.e", "etc", "vs", "cf", "approx", "no", "incl"];

/// Words that refer to an earlier sentence, when they come first.
const BACK_REFERENCES: &[&str] = &[
    "it", "its", "this", "these", "those", "that", "they", "them", "their", "both", "also",
    "which", "my", "i", "we", "not", "and", "but", "so", "then", "same", "however", "instead",
    "either", "neither", "he", "one", "all", "such", "similarly", "otherwise", "as", "because",
    "since", "while", "per", "ditto", "see", "no", "yes", "note", "done", "additionally", "n",
    "therefore", "thus", "hence", "again", "here", "there",
];

/// Words that cannot end a sentence, without a final full stop.
const DANGLING: &[&str] = &[
    "the", "a", "an", "of", "to", "and", "or", "because", "before", "since", "with", "in", "for",
    "by", "as", "that", "but", "which", "is", "are", "was", "were", "when", "if", "from", "on",
    "at", "than", "not", "no", "via", "be", "has", "have", "had", "so", "its", "e.g", "i.e", "vs",
    "instead",
];

/// Returns the sentences of a text; a full stop inside code, quotes or brackets does not end one.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut nesting = Nesting::default();
    for (at, c) in text.char_indices() {
        nesting.pass(c);
        let end = at + c.len_utf8();
        if matches!(c, '.' | '!' | '?') && nesting.is_open() {
            continue;
        }
        if matches!(c, '.' | '!' | '?') && ends_sentence(text, at, end) {
            found.push(text[start..end].trim());
            start = end;
        }
    }
    found.push(text[start..].trim());
    found.retain(|sentence| sentence.contains(char::is_alphanumeric));
    found
}

fn ends_sentence(text: &str, at: usize, end: usize) -> bool {
    let Some(after) = text[end..].strip_prefix(' ') else {
        return text[end..].is_empty();
    };
    let before = &text[..at];
    let is_short = |short: &str| {
        let head = before.strip_suffix(short);
        head.is_some_and(|head| !head.ends_with(char::is_alphanumeric))
    };
    let opens = after
        .chars()
        .next()
        .is_some_and(|c| c.is_uppercase() || c.is_ascii_digit() || "`\"'(\u{201c}".contains(c));
    opens && !ABBREVIATIONS.iter().any(|short| is_short(short))
}

/// The delimiters that are open at a position in a text.
#[derive(Default)]
struct Nesting {
    is_code: bool,
    is_quote: bool,
    brackets: usize,
}

impl Nesting {
    fn pass(&mut self, c: char) {
        match c {
            '`' => self.is_code = !self.is_code,
            _ if self.is_code => {}
            '"' => self.is_quote = !self.is_quote,
            '(' | '[' => self.brackets += 1,
            ')' | ']' => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
    }

    fn is_open(&self) -> bool {
        self.is_code || self.is_quote || self.brackets > 0
    }
}

/// Returns the byte offsets of `mark` outside of code, quotes and brackets.
pub(crate) fn outside<'t>(text: &'t str, mark: &'t str) -> impl Iterator<Item = usize> + 't {
    let mut nesting = Nesting::default();
    text.char_indices().filter_map(move |(at, c)| {
        let is_free = !nesting.is_open();
        nesting.pass(c);
        (is_free && text[at..].starts_with(mark)).then_some(at)
    })
}

/// Returns a text without remarks in brackets, except in code: `Locks (see #12) block` becomes `Locks block`. With a
/// call, an attribute, or a remark that restricts the statement, the text stays whole.
pub(crate) fn without_brackets(text: &str) -> String {
    let mut nesting = Nesting::default();
    let (mut kept, mut remarks) = (String::new(), String::new());
    let mut before = ' ';
    for c in text.chars() {
        let was_bracket = nesting.brackets > 0;
        // `call()`, `#[allow(x)]` and `{list: [1]}` outside of code are not remarks.
        let is_attached = "([".contains(c) && !before.is_whitespace() || c == '{';
        if !nesting.is_code && is_attached && !was_bracket {
            return text.to_owned();
        }
        nesting.pass(c);
        if nesting.brackets == 0 && !was_bracket {
            kept.push(c);
        } else {
            remarks.push(c);
        }
        before = c;
    }
    if is_binding(&remarks) {
        return text.to_owned();
    }
    respaced(&kept)
}

/// Returns whether a remark restricts the statement or asks for something: `only on Mondays`, `NEEDS APPROVAL`.
fn is_binding(remark: &str) -> bool {
    const LIMITS: &[&str] = &[
        "not", "never", "only", "without", "unless", "except", "until", "cannot", "must", "needs",
    ];
    /// Minimum length of a word that is emphasised by capitals, rather than an abbreviation.
    const MIN_CAPITALS: usize = 5;
    let mut words = remark.split(|c: char| !c.is_alphanumeric());
    words.any(|word| {
        let is_capital = word.len() >= MIN_CAPITALS && word.chars().all(|c| c.is_ascii_uppercase());
        is_capital || LIMITS.contains(&word.to_lowercase().as_str())
    })
}

/// Returns a text with as few remarks dropped as it takes to fit into `room` characters; `None` if it does not fit
/// without those that may be dropped. Mere references and short remarks are dropped first.
pub(crate) fn with_fewer_remarks(text: &str, room: usize) -> Option<String> {
    let mut remarks: Vec<std::ops::Range<usize>> = Vec::new();
    let mut nesting = Nesting::default();
    let (mut start, mut before) = (0, ' ');
    for (at, c) in text.char_indices() {
        let was_open = nesting.brackets > 0;
        nesting.pass(c);
        let is_open = nesting.brackets > 0;
        if is_open && !was_open {
            // `call()` is not a remark.
            start = if before.is_whitespace() { at } else { text.len() };
        } else if was_open && !is_open && start < at {
            remarks.push(start..at + c.len_utf8());
        }
        before = c;
    }
    remarks.retain(|remark| !is_binding(&text[remark.clone()]));
    remarks.sort_by_key(|remark| {
        let inner = &text[remark.start + 1..remark.end - 1];
        (!is_reference(inner), inner.chars().count())
    });
    (1..=remarks.len()).find_map(|count| {
        let mut dropped = remarks[..count].to_vec();
        dropped.sort_by_key(|remark| std::cmp::Reverse(remark.start));
        let mut kept = text.to_owned();
        for remark in dropped {
            kept.replace_range(remark, "");
        }
        let kept = respaced(&kept);
        let kept = kept.trim_end_matches('.');
        (kept.chars().count() <= room).then(|| kept.to_owned())
    })
}

/// Returns whether a remark only refers to something: `see #12`, `D-05`, `plan 3`.
fn is_reference(remark: &str) -> bool {
    const LEADS: &[&str] = &["see", "per", "cf", "from", "plan", "plans", "phase", "task", "tasks"];
    let lower = remark.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.next().is_some_and(|word| LEADS.contains(&word))
        || remark.split([' ', ',']).all(|word| word.contains(|c: char| c.is_ascii_digit()))
}

/// Returns a text with single spaces, and without those before punctuation.
fn respaced(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut joined = String::new();
    for word in words {
        // Punctuation after the brackets is joined to the word before; `.NET` is a separate word.
        let is_mark = matches!(word, "." | ":" | ";") || word.starts_with(',');
        if !joined.is_empty() && !is_mark {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    joined
}

/// Returns the first byte offset of `mark` outside of code; it may be in quotes or brackets.
fn outside_code(text: &str, mark: &str) -> Option<usize> {
    let mut is_code = false;
    let mut at = 0;
    for part in text.split('`') {
        if !is_code && let Some(found) = part.find(mark) {
            return Some(at + found);
        }
        is_code = !is_code;
        at += part.len() + 1;
    }
    None
}

/// Returns whether a sentence begins with a reference to an earlier one: `In this version …`.
fn points_back(text: &str) -> bool {
    const BEFORE: &[&str] = &["in", "for", "on", "at", "with", "by", "under", "after", "of"];
    const BACK: &[&str] = &["this", "that", "these", "those", "it", "its", "both"];
    let mut words = text.split_whitespace().map(bare);
    let (first, second) = (words.next(), words.next());
    let is = |word: Option<String>, list: &[&str]| {
        word.is_some_and(|word| list.contains(&word.as_str()))
    };
    is(first, BEFORE) && is(second, BACK)
}

/// Returns whether a sentence is complete and can be understood without the text before it.
pub(crate) fn is_standalone(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    is_complete(text)
        && !points_back(text)
        && !first.starts_with(|c: char| c.is_ascii_digit())
        && !first.starts_with(['"', '\'', '\u{201c}', ')', ',', '&', '+', '/'])
        && !BACK_REFERENCES.contains(&bare(first).as_str())
}

fn bare(word: &str) -> String {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    bare.to_lowercase()
}

/// Returns whether a sentence is complete: no open delimiters, and not truncated.
pub(crate) fn is_complete(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some(last) = words.last() else {
        return false;
    };
    let mut nesting = Nesting::default();
    text.chars().for_each(|c| nesting.pass(c));
    let closed: usize = text.matches([')', ']']).count();
    let opened: usize = text.matches(['(', '[']).count();
    text.chars().count() >= MIN_CHARS
        && words.len() >= MIN_WORDS
        && !nesting.is_open()
        && closed == opened
        && !text.ends_with([':', ',', ';', '-', '\u{2014}', '\u{2026}'])
        // Dots in code are not an ellipsis.
        && outside_code(text, "...").is_none()
        && !text.contains('\u{2026}')
        && !DANGLING.contains(&bare(last).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_stops_in_code_quotes_and_short_forms_end_nothing() {
        assert_eq!(
            sentences(
                "Locks (e.g. `a.lock`. B) block `x. Y`. The `b` waits. version 2.1 is fine. Ok"
            ),
            ["Locks (e.g. `a.lock`. B) block `x. Y`.", "The `b` waits. version 2.1 is fine.", "Ok"]
        );
    }

    #[test]
    fn what_points_back_or_goes_on_is_not_whole() {
        for text in [
            "It has no lock in this version",
            "The lock of the store is the",
            "The store takes a lock of its own, e.g.",
            "The store waits for a lock of the other vs.",
            "Too short a text",
            "The lock (of the store is not there",
            "The store waits for a lock of:",
            "The store `waits for a lock of the other",
            "The text of this one is cut\u{2026} and goes on",
            "The text of this one is cut... and goes on",
            "In this version of the store it does ask for a lock",
        ] {
            assert!(!is_standalone(text), "{text}");
        }
        assert!(is_standalone("The store waits for the lock of another process"));
        assert!(is_standalone("The store expects one object such as `{ id, ...rest }`"));
    }

    #[test]
    fn remarks_in_brackets_go_and_calls_stay() {
        assert_eq!(without_brackets("Locks (see #12) block, always"), "Locks block, always");
        assert_eq!(
            without_brackets("Locks (of rows) of the .NET client (6) block (always)."),
            "Locks of the .NET client block."
        );
        assert_eq!(
            without_brackets("The keys are frozen (`a`, `b`): import them (all); copy none"),
            "The keys are frozen: import them; copy none"
        );
        assert_eq!(without_brackets("lock() blocks (always)"), "lock() blocks (always)");
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,60}") {
            let found = sentences(&text);
            proptest::prop_assert!(found.iter().all(|one| text.contains(one)));
            is_standalone(&text);
            without_brackets(&text);
            with_fewer_remarks(&text, 20);
            proptest::prop_assert!(outside(&text, "a").all(|at| text[at..].starts_with('a')));
        }
    }
}
