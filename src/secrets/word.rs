//! Finds the secrets that start with a word: keys, private keys and the credentials of HTTP headers.

use std::mem;

use crate::secrets::keys::{JWT, known_format};
use crate::secrets::value::prefix_length;
use crate::secrets::{Secret, assignment, encoded};

/// Minimum length of a key, including its prefix, in any format without dots.
const MIN_WORD_LENGTH: usize = 13;
const BEGIN: &str = "-----BEGIN";
const DASHES: &str = "-----";

/// Returns the secret that starts with the word at `start..end`, if any.
pub(crate) fn at_word(text: &str, start: usize, end: usize) -> Option<Secret> {
    let word = &text[start..end];
    if word.ends_with(BEGIN) {
        return private_key(text, end - BEGIN.len());
    }
    if word.eq_ignore_ascii_case("basic") {
        return encoded::basic(text, end);
    }
    if word.eq_ignore_ascii_case("bearer") {
        return assignment::bearer(text, end);
    }
    // A short word can only be a prefix with a dot; nearly every word of prose ends here.
    let dotted = text.as_bytes().get(end) == Some(&b'.');
    if word.len() < MIN_WORD_LENGTH && !dotted {
        return None;
    }
    known_format(text, start).or_else(|| key_inside_word(text, start, end))
}

/// Returns the key that starts inside a word: after `-`, `_` or an escaped line break.
fn key_inside_word(text: &str, start: usize, end: usize) -> Option<Secret> {
    let word = &text[start..end];
    let is_escaped = text[..start].ends_with('\\') && word.starts_with(['n', 'r', 't']);
    let escaped = is_escaped.then_some(start + 1);
    let parts = word.match_indices(['-', '_']).map(|(at, _)| start + at + 1);
    let mut starts = escaped.into_iter().chain(parts);
    // The parts of a signed token are long, and would be scanned again from each of its dashes.
    let mut first_token = true;
    starts.find_map(|start| {
        let is_token = text[start..].starts_with(JWT);
        let is_judged = !is_token || mem::take(&mut first_token);
        is_judged.then(|| known_format(text, start)).flatten()
    })
}

/// Returns the block of a private key, from its header to its footer, or as far as it looks like a key.
fn private_key(text: &str, start: usize) -> Option<Secret> {
    let label = start + BEGIN.len();
    let header = label + text[label..].find(DASHES).filter(|length| *length < 40)?;
    if !text[label..header].contains("PRIVATE KEY") {
        return None;
    }
    let body = header + DASHES.len();
    let footer = text[body..].find(DASHES).map(|length| body + length);
    let end = match footer {
        Some(footer) if text[footer..].starts_with("-----END") => {
            let label = footer + DASHES.len();
            text[label..].find(DASHES).map_or(label, |length| label + length + DASHES.len())
        }
        _ => body + base64_lines(&text[body..]),
    };
    Some(Secret { rule: "private-key", range: start..end })
}

/// Returns the length of the lines or words of base64 at the start of a text.
fn base64_lines(text: &str) -> usize {
    let mut length = 0;
    loop {
        let gap = prefix_length(&text[length..], |b| b.is_ascii_whitespace());
        let word = prefix_length(&text[length + gap..], |b| {
            b.is_ascii_alphanumeric() || b"+/=".contains(&b)
        });
        if word < 16 {
            return length;
        }
        length += gap + word;
    }
}
