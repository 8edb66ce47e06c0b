//! Finds and redacts secrets: keys, tokens and passwords.

mod kinds;
mod values;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use serde_json::Value;
pub(crate) use values::secret_name;

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
/// looks random. Hashes, UUIDs, paths and placeholders are no secrets. Takes time in proportion to the text.
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

fn in_plain(text: &str) -> Vec<Secret> {
    let (mut found, open) = kinds::armored(text);
    found.extend(kinds::keys(text));
    found.extend(values::values(text));
    let (certain, open) = (joined(found), joined(open));
    // What only looks like a key is one if nothing else was found there, nor a certificate or a public key.
    let is_apart = |secret: &Secret, known: &[Secret]| {
        let after = known.partition_point(|found| found.range.end <= secret.range.start);
        known.get(after).is_none_or(|found| found.range.start >= secret.range.end)
    };
    let likely = kinds::forms(text).chain(values::bare_keys(text));
    let likely = likely.filter(|secret| is_apart(secret, &certain) && is_apart(secret, &open));
    let likely: Vec<Secret> = likely.collect();
    joined(certain.into_iter().chain(likely).collect())
}

/// Returns the secrets in order, those that overlap as one.
fn joined(mut found: Vec<Secret>) -> Vec<Secret> {
    found.sort_by_key(|secret| (secret.range.start, Reverse(secret.range.end)));
    let mut joined: Vec<Secret> = Vec::with_capacity(found.len());
    for secret in found {
        match joined.last_mut() {
            Some(last) if secret.range.start < last.range.end => {
                last.range.end = last.range.end.max(secret.range.end);
            }
            _ => joined.push(secret),
        }
    }
    joined
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

/// Returns the last bytes of a text.
fn tail(text: &str, length: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(length))..]
}

#[cfg(test)]
mod tests;
