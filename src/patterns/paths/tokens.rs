//! Splits a text into tokens that could be paths.

use std::collections::HashMap;

/// A part of a text, without surrounding white space.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    /// Whether it is in a code span.
    pub(crate) is_code: bool,
}

/// Maximum length of a path, in bytes; longer tokens are ignored.
const MAX_PATH_LENGTH: usize = 300;

/// Returns the tokens of a text; HTML comments, code blocks and commands contain none.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let last_runs = last_runs(text);
    let mut rest = text;
    while let Some(start) = rest.find(['`', '<']) {
        bare(&rest[..start], &mut found);
        rest = &rest[start..];
        if rest.starts_with("<!--") {
            rest = rest.split_once("-->").map_or("", |(_, after)| after);
        } else if rest.starts_with('<') {
            // The bracket separates tokens, so the text before it is not joined with the text after it.
            rest = &rest[1..];
        } else {
            let fence = rest.len() - rest.trim_start_matches('`').len();
            let start = text.len() - rest.len();
            let is_closed = last_runs.get(&fence).is_some_and(|last| *last > start);
            let (inner, after) =
                if is_closed { code(&rest[fence..], fence) } else { (None, &rest[fence..]) };
            if let Some(inner) = inner.filter(|_| fence < 3) {
                span(inner, &mut found);
            }
            rest = after;
        }
    }
    bare(rest, &mut found);
    found.retain(|token| token.text.len() <= MAX_PATH_LENGTH);
    found
}

/// Returns the start of the last run of each length of backticks, to avoid searching for a missing closing
/// run.
fn last_runs(text: &str) -> HashMap<usize, usize> {
    let mut last = HashMap::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('`').map(|found| at + found) {
        let run = text[start..].len() - text[start..].trim_start_matches('`').len();
        last.insert(run, start);
        at = start + run;
    }
    last
}

/// Returns the text before the closing run of backticks, and the text after the run.
fn code(text: &str, fence: usize) -> (Option<&str>, &str) {
    let mut from = 0;
    while let Some(at) = text[from..].find('`') {
        let at = from + at;
        let run = text[at..].len() - text[at..].trim_start_matches('`').len();
        // A code span ends with its paragraph.
        if fence < 3 && text[from..at].contains("\n\n") {
            break;
        }
        if run == fence {
            return (Some(&text[..at]), &text[at + run..]);
        }
        from = at + run;
    }
    (None, text)
}

/// Adds the tokens of a code span: a path, a path followed by words, or a command, which has none.
fn span(inner: &str, found: &mut Vec<Token>) {
    let inner = inner.trim();
    let words: Vec<&str> = inner.split_whitespace().collect();
    let looks = |word: &str| word.contains('/') && !word.starts_with('-') || word.contains('.');
    match words[..] {
        [word] => push(word, true, found),
        // `docs/My notes.md`
        [first, .., last] if first.contains('/') && !last.contains('/') && last.contains('.') => {
            push(inner, true, found);
        }
        [first, ..] if looks(first) => {
            for word in words {
                push(word, true, found);
            }
        }
        _ => {}
    }
}

fn bare(text: &str, found: &mut Vec<Token>) {
    for word in text.split_whitespace() {
        // Text attached to a URL is part of it.
        if word.contains("://") || word.starts_with('-') && word.len() > 1 {
            continue;
        }
        for piece in word.split("](") {
            for part in outside_braces(piece) {
                push(part, false, found);
            }
        }
    }
}

/// Splits at punctuation, but not inside braces.
fn outside_braces(word: &str) -> Vec<&str> {
    const ENDS: &str = ",;|\"=>→←⇒“”„«»、。，；：（）「」『』【】…";
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in word.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 && ENDS.contains(c) => {
                parts.push(&word[start..at]);
                start = at + c.len_utf8();
                // With an ellipsis, as in `src/…/main.rs`, it is not a path.
                if c == '…' {
                    return Vec::new();
                }
            }
            _ => {}
        }
    }
    parts.push(&word[start..]);
    parts
}

fn push(word: &str, is_code: bool, found: &mut Vec<Token>) {
    if !word.is_empty() {
        found.push(Token { text: word.to_owned(), is_code });
    }
}
