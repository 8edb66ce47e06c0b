//! Finds and redacts secrets: keys, tokens and passwords.

mod kinds;
mod named;
mod value;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use named::secret_name;
use serde_json::Value;

use crate::secrets::kinds::{JUDGED, form_in, key_at};
use crate::secrets::named::{after_word, at_separator, in_columns};
use crate::secrets::value::{SHORTEST_BARE, is_bare_key};

/// The replacement for a secret.
pub const REDACTED: &str = "[redacted]";

/// How text that looks like a secret is handled when it is to be stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretPolicy {
    /// It is not stored: the write is refused, or the text is left out or redacted.
    #[default]
    Refuse,
    /// It is stored unchanged.
    Allow,
}

impl From<bool> for SecretPolicy {
    /// Converts the option `--allow-secret`.
    fn from(is_allowed: bool) -> Self {
        if is_allowed { Self::Allow } else { Self::Refuse }
    }
}

/// A part of a text that looks like a key, token or password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The rule that matched, as shown in an error: `aws-access-key`, `github-token`, `password`, ….
    pub rule: &'static str,
    /// Byte range: of an assignment the value, of a private key the whole block.
    pub range: Range<usize>,
}

/// A text with its secrets redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text with [`REDACTED`] in place of each secret.
    pub text: Cow<'a, str>,
    /// The rules that matched, without duplicates, in the order of the text.
    pub rules: Vec<&'static str>,
}

/// Returns all secrets in the text, in order and without overlaps.
///
/// A key of a known kind is found anywhere; another value by the name before it, or, without one, if it is long and
/// looks random. Hashes, UUIDs, paths and placeholders are no secrets. One pass over the bytes.
pub fn find(text: &str) -> Vec<Secret> {
    // Converters write Markdown's escapes into keys: `ghp\_…`.
    if !text.contains("\\_") && !text.contains("\\-") {
        return in_plain(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len() + 1);
    for (at, c) in text.char_indices() {
        if c != '\\' || !text[at + 1..].starts_with(['_', '-']) {
            plain.push(c);
            places.extend((0..c.len_utf8()).map(|byte| at + byte));
        }
    }
    places.push(text.len());
    let place =
        |Secret { rule, range }| Secret { rule, range: places[range.start]..places[range.end] };
    in_plain(&plain).into_iter().map(place).collect()
}

/// Returns the rule that the first secret in the text matches.
pub(crate) fn first_rule(text: &str) -> Option<&'static str> {
    find(text).first().map(|secret| secret.rule)
}

/// Returns the rule that the first secret in a JSON value matches, by the names of its fields, too.
pub(crate) fn first_rule_in_json(value: &Value) -> Option<&'static str> {
    first_rule(&value.to_string())
}

/// Returns the rule and the line number of every secret in a text whose first line is line `first`.
pub(crate) fn find_lines(text: &str, first: usize) -> Vec<(&'static str, usize)> {
    let mut line = first;
    let mut at = 0;
    let place = |secret: Secret| {
        line += text[at..secret.range.start].matches('\n').count();
        at = secret.range.start;
        (secret.rule, line)
    };
    find(text).into_iter().map(place).collect()
}

fn in_plain(text: &str) -> Vec<Secret> {
    let bytes = text.as_bytes();
    let mut secrets =
        if text.contains("--") && text.contains('|') { in_columns(text) } else { Vec::new() };
    let (mut at, mut run_end) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        if at >= run_end {
            run_end = at + bytes[at..].iter().take_while(|b| is_in_run(**b)).count();
            let form = form_in(text, at..run_end);
            secrets.extend(form.filter(|form| !holds_key(text, &form.range)));
        }
        let before = at.checked_sub(1).map(|at| bytes[at]);
        let part = bytes[at..].iter().take_while(|b| b.is_ascii_alphanumeric()).count();
        let starts_word = !before.is_some_and(is_word);
        let mut length = part.max(1);
        let secret = match byte {
            b'-' if text[at..].starts_with(BEGIN) => {
                let (block, is_private) = armored(&text[at..]);
                length = block.max(1);
                is_private.then(|| Secret { rule: "private-key", range: at..at + block })
            }
            b':' | b'=' | b'|' | b'>' => at_separator(text, at),
            _ if part == 0 && byte != b'-' => None,
            _ => {
                // After an escaped line break: `\nghp_…`.
                let is_escaped = before == Some(b'\\') && b"nrt".contains(&byte);
                let escaped = || key_at(text, at + 1, run_end);
                key_at(text, at, run_end)
                    .or_else(|| is_escaped.then(escaped).flatten())
                    .or_else(|| starts_word.then(|| word_at(text, at, run_end)).flatten())
            }
        };
        at += length;
        if let Some(mut secret) = secret {
            // Of a long value only the start was judged.
            if secret.range.len() >= JUDGED {
                let rest = bytes[secret.range.end..].iter();
                secret.range.end +=
                    rest.take_while(|b| is_word(**b) || b"+/=.".contains(b)).count();
            }
            at = at.max(secret.range.end);
            secrets.push(secret);
        }
        at = text.ceil_char_boundary(at);
    }
    secrets.sort_by_key(|secret| (secret.range.start, std::cmp::Reverse(secret.range.end)));
    let mut end = 0;
    secrets.retain(|secret| {
        let is_apart = secret.range.start >= end && !secret.range.is_empty();
        end = end.max(secret.range.end);
        is_apart
    });
    secrets
}

/// Returns the secret in the value after the word at `at`, or the word itself if it can only be a key.
fn word_at(text: &str, at: usize, run_end: usize) -> Option<Secret> {
    let word = text[at..].bytes().take_while(|b| is_word(*b)).count();
    if let Some(secret) = after_word(text, at, at + word) {
        return Some(secret);
    }
    let run = &text[at..text.floor_char_boundary(run_end.min(at + 2 * JUDGED)).max(at)];
    let length = run.bytes().take_while(|b| is_word(*b) || b"+/".contains(b)).count();
    if length < SHORTEST_BARE {
        return None;
    }
    let after = run[length..].trim_start_matches('=');
    let near = text[text.ceil_char_boundary(at.saturating_sub(24))..at].to_ascii_lowercase();
    // Base64 has slashes, and neither dashes nor a suffix.
    let is_path = run[..length].contains('/')
        && (run[..length].contains(['-', '_']) || after.starts_with('.'));
    // Inside of a longer token, or a path.
    let is_inside = near.ends_with(['/', '+'])
        && near.trim_end_matches(['/', '+']).ends_with(|c: char| c.is_ascii_alphanumeric());
    let is_open = OPEN_VALUES.iter().any(|word| near.contains(word))
        || OPEN_STARTS.split(' ').any(|start| run.starts_with(start))
        || near.ends_with(['.', '@', '$', '!'])
        || after.starts_with(|c: char| c.is_ascii_alphanumeric());
    if is_inside || is_open || is_path || !is_bare_key(&run[..length]) {
        return None;
    }
    let range = at..at + length;
    (!holds_key(text, &range)).then_some(Secret { rule: "random-token", range })
}

/// Returns whether a key of a known kind starts inside of a token.
fn holds_key(text: &str, range: &Range<usize>) -> bool {
    let starts = text[range.clone()].match_indices(['/', '+', '-', '_']).take(MAX_PARTS);
    let starts = starts.map(|(at, _)| range.start + at + 1);
    [range.start, range.start + 1]
        .into_iter()
        .chain(starts)
        .any(|start| key_at(text, start, range.end).is_some())
}

const MAX_PARTS: usize = 32;

/// How long random texts start that are no secrets.
const OPEN_STARTS: &str = "sha 0x LS0t AAAA Qm eyJ";

/// What names a long random text that is no secret.
const OPEN_VALUES: [&str; 16] = [
    "sha", "h1:", "md5", "base64,", "integrity", "fingerprint", "digest", "checksum", "hash",
    "etag", "public", "cid", "address", "nonce", " id", "_id",
];

const BEGIN: &str = "-----BEGIN ";
const DASHES: &str = "-----";

/// Returns the length of the armored block that a text starts with, as far as it looks like one, and whether it is a
/// private key.
fn armored(text: &str) -> (usize, bool) {
    let Some(header) = text[BEGIN.len()..].find(DASHES).filter(|length| *length < 40) else {
        return (0, false);
    };
    let is_private = text[BEGIN.len()..BEGIN.len() + header].contains("PRIVATE KEY");
    let body = BEGIN.len() + header + DASHES.len();
    let footer = text[body..].find(DASHES).map(|length| body + length);
    let end = match footer.filter(|footer| text[*footer..].starts_with("-----END")) {
        Some(footer) => {
            let label = footer + DASHES.len();
            text[label..].find(DASHES).map_or(label, |length| label + length + DASHES.len())
        }
        None => body + encoded_lines(&text[body..]),
    };
    (end, is_private)
}

/// Returns the length of the lines of base64 at the start of a text, whose breaks may be escaped.
fn encoded_lines(text: &str) -> usize {
    let mut length = 0;
    loop {
        let line = text[length..].trim_start_matches(|c: char| c.is_whitespace() || c == '>');
        let line = line.trim_start_matches("\\n");
        let word =
            line.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"+/=".contains(b)).count();
        if word < 16 {
            return length;
        }
        length = text.len() - line.len() + word;
    }
}

/// Returns the text with every secret replaced, and the rules that matched.
pub fn redact(text: &str) -> Redacted<'_> {
    let secrets = find(text);
    let mut rules = Vec::new();
    if secrets.is_empty() {
        return Redacted { text: Cow::Borrowed(text), rules };
    }
    let mut clean = String::with_capacity(text.len());
    let mut kept = 0;
    for Secret { rule, range } in secrets {
        clean.push_str(&text[kept..range.start]);
        clean.push_str(REDACTED);
        kept = range.end;
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    clean.push_str(&text[kept..]);
    Redacted { text: Cow::Owned(clean), rules }
}

/// Returns whether a byte may be part of a word.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Returns whether a byte may be part of a key: it is no space, quote or bracket.
fn is_in_run(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"'`<>(){}[],;|\\".contains(&byte)
}

#[cfg(test)]
mod tests;
