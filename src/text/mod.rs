//! Truncates text, counts tokens, strips control characters and keys, and formats quantities.

mod absent;
mod controls;
mod inert;
mod line;
mod sentences;
mod tokens;
mod word_enum;

use std::borrow::{Borrow, Cow};
use std::fmt::{Debug, Display};
use std::ops::Deref;
use std::path::Path;
use std::str::FromStr;
use std::sync::OnceLock;

use regex_lite::Regex;
use sha2::{Digest, Sha256};

#[cfg(test)]
pub(crate) use absent::NO_VALUE;
pub(crate) use absent::{given, says_none};
pub use absent::{is_absent, non_placeholder};
pub(crate) use controls::{is_invisible, is_joiner_or_selector, sanitize_json};
pub use controls::{sanitized, strip_controls};
pub use inert::inert;
pub(crate) use inert::{with_paired_backticks, without_harness_tags};
pub use line::{Line, clip};
pub(crate) use line::{first_chars, is_combining, is_unspaced};
pub(crate) use sentences::{is_closed, prose, sentence_ends, sentences};
pub(crate) use tokens::WordCache;
pub use tokens::estimate_tokens;
pub(crate) use word_enum::word_enum;

/// The byte order mark in UTF-8, which only the start of a file can have.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns a text without its byte order mark.
pub(crate) fn without_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// Returns a text without its byte order mark.
pub(crate) fn after_byte_order_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// Returns a heading normalised for comparison: lower case, single spaces, no trailing colon.
pub fn fold(text: &str) -> String {
    one_line(text.to_lowercase().trim_end_matches([':', ' ', '\t']))
}

/// Returns the rest of a text that begins with a prefix, whatever the case of its ASCII letters.
pub(crate) fn strip_prefix_ignore_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Returns the number of the line that contains a byte offset, counted from 1.
pub(crate) fn line_number(text: impl AsRef<[u8]>, offset: usize) -> usize {
    let text = text.as_ref();
    let before = text.get(..offset).unwrap_or(text);
    before.split(|byte| *byte == b'\n').count()
}

/// Returns whether a character is an ASCII digit.
pub(crate) fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// Returns a text from its first letter or digit on, without the marks in front.
pub(crate) fn unmarked(text: &str) -> &str {
    text.trim_start_matches(|c: char| !c.is_alphanumeric())
}

/// Splits a text at commas, except those inside round brackets.
pub(crate) fn comma_separated(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

/// Returns a text with its first letter in upper case.
pub(crate) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(char::to_uppercase).into_iter().flatten().chain(chars).collect()
}

/// Returns whether a word in lower case negates what is said.
pub(crate) fn negates(word: &str) -> bool {
    listed("cannot never no none not without", word)
        || word.ends_with("n't")
        || word.ends_with("n\u{2019}t")
}

/// Returns the words of a text: its letters and digits, without what stands between them.
pub(crate) fn words_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns what is before and after each place where a text has other words, which are not empty, as a whole; in
/// scripts without spaces, anywhere.
pub(crate) fn around_words<'a>(
    text: &'a str,
    words: &'a str,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let goes_on = |outside: Option<char>, inside: Option<char>| {
        let in_word = |c: char| (c.is_alphanumeric() || is_combining(c)) && !is_unspaced(c);
        outside.is_some_and(in_word) && inside.is_some_and(in_word)
    };
    memchr::memmem::find_iter(text.as_bytes(), words)
        .map(move |at| (&text[..at], &text[at + words.len()..]))
        .filter(move |(before, after)| {
            !goes_on(before.chars().next_back(), words.chars().next())
                && !goes_on(after.chars().next(), words.chars().next_back())
        })
}

/// Converts a name to a slug: `Field notes v1.0` becomes `field-notes-v1-0`.
pub(crate) fn slug_of(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    let mut slug = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if !slug.is_empty() && slug.len() + word.len() >= MAX_SLUG {
            break;
        }
        slug.push_str(if slug.is_empty() { "" } else { "-" });
        slug.extend(word.chars().take(MAX_SLUG));
    }
    slug
}

/// Maximum length of a slug, in characters, so that folder names remain readable.
const MAX_SLUG: usize = 60;

/// Returns the words of a text in lower case, with the apostrophes inside them: `don't`.
pub(crate) fn lower_words(text: &str) -> impl Iterator<Item = String> {
    let is_apostrophe = |c: char| matches!(c, '\'' | '\u{2019}');
    text.split(move |c: char| !c.is_alphanumeric() && !is_apostrophe(c))
        .map(move |word| word.trim_matches(is_apostrophe))
        .filter(|word| !word.is_empty())
        .map(|word| word.to_lowercase().replace('\u{2019}', "'"))
}

/// Returns whether a word is one of a list that is separated by spaces.
pub(crate) fn listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Returns whether a number is 0: for fields that are left out then.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde needs it")]
pub(crate) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Returns whether a text is one line that is not blank, as an id or a title is.
pub(crate) fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(char::is_control)
}

/// Joins texts with a separator between them.
pub(crate) fn join<T: Borrow<str>>(texts: impl IntoIterator<Item = T>, separator: &str) -> String {
    texts.into_iter().collect::<Vec<T>>().join(separator)
}

/// Returns a text as one line with single spaces.
pub(crate) fn one_line(text: &str) -> String {
    join(text.split_whitespace(), " ")
}

/// Returns the line ending of the majority of lines, `"\n"` or `"\r\n"`; `"\n"` if neither is in the majority.
///
/// Lines added to a file get its line ending; existing lines keep their own.
pub(crate) fn line_end(text: impl AsRef<[u8]>) -> &'static str {
    let bytes = text.as_ref();
    let (mut lf, mut crlf) = (0_usize, 0_usize);
    for at in memchr::memchr_iter(b'\n', bytes) {
        match at.checked_sub(1).map(|before| bytes[before]) {
            Some(b'\r') => crlf += 1,
            _ => lf += 1,
        }
    }
    if crlf > lf { "\r\n" } else { "\n" }
}

/// Returns the line ending that is missing after `before`; empty if its last line is complete.
pub(crate) fn line_gap<'a>(before: &str, line_end: &'a str) -> &'a str {
    if before.is_empty() || before.ends_with('\n') { "" } else { line_end }
}

/// Returns a number with its noun: `1 plan`, `2 plans`, `0 entries`.
pub(crate) fn quantity<N: Copy + Display + PartialEq + From<u8>>(
    number: N,
    singular: &str,
) -> String {
    format!("{number} {}", pluralize(number, singular))
}

/// Returns a noun in singular or plural as the number requires; only for regular nouns, given in the
/// singular.
pub(crate) fn pluralize<N: Copy + PartialEq + From<u8>>(number: N, singular: &str) -> String {
    if number == N::from(1) {
        return singular.to_owned();
    }
    match singular.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{singular}s"),
    }
}

/// Compiles a constant regular expression, of `regex`, `regex::bytes` or `regex_lite`.
///
/// # Panics
///
/// Panics if it is invalid, which the first test that uses it shows.
pub(crate) fn pattern<R: FromStr<Err: Debug>>(text: &str) -> R {
    text.parse().expect("a constant pattern")
}

/// A constant regular expression, compiled on first use.
pub(crate) struct Pattern<R = Regex> {
    text: &'static str,
    compiled: OnceLock<R>,
}

impl<R> Pattern<R> {
    pub(crate) const fn new(text: &'static str) -> Self {
        Self { text, compiled: OnceLock::new() }
    }
}

impl<R: FromStr<Err: Debug>> Deref for Pattern<R> {
    type Target = R;

    fn deref(&self) -> &R {
        self.compiled.get_or_init(|| pattern(self.text))
    }
}

/// Returns a relative path with `/` between its parts, on every system.
pub(crate) fn slashed(path: &Path) -> String {
    join(path.iter().map(|part| part.to_string_lossy()), "/")
}

/// Returns a text as one word of a command that is printed for a shell: in quotes, unless no shell would read it in
/// another way.
pub(crate) fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
    }
}

/// Returns the last part of a path that is separated by slashes.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the bytes as lower-case hexadecimal digits, two per byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of bytes as 64 hexadecimal digits.
pub(crate) fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Returns a text with its percent-encoded bytes decoded, or `None` if they are incomplete or no text.
pub(crate) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        let digits = after.get(..2).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.extend(before.as_bytes());
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &after[2..];
    }
    bytes.extend(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_bytes_are_decoded() {
        assert_eq!(percent_decoded("My%20note%2F%C3%A9"), Some("My note/é".to_owned()));
        for broken in ["%", "%2", "%zz", "%+f", "%ff"] {
            assert_eq!(percent_decoded(broken), None, "{broken}");
        }
    }

    #[test]
    fn only_the_first_letter_is_capitalized() {
        for (text, expected) in [("the Store", "The Store"), ("\u{e9}tat", "\u{c9}tat"), ("", "")] {
            assert_eq!(capitalized(text), expected);
        }
    }

    #[test]
    fn apostrophes_belong_to_words_and_quotes_do_not() {
        let words: Vec<String> = lower_words("Don\u{2019}t say 'NOT', it's 1-2 ''").collect();
        assert_eq!(words, ["don't", "say", "not", "it's", "1", "2"]);
    }

    #[test]
    fn folded_headings_ignore_case_spacing_and_a_trailing_colon() {
        assert_eq!(fold("  Key\u{a0}  DECISIONS: "), "key decisions");
        assert_eq!(fold("Выполнено"), "выполнено");
        assert_eq!(fold("Deviations: None"), "deviations: none");
        assert_eq!(fold(":"), "");
    }

    #[test]
    fn the_line_end_of_the_majority_wins() {
        for (text, expected) in [
            ("", "\n"),
            ("a", "\n"),
            ("\n", "\n"),
            ("a\r\n", "\r\n"),
            ("a\r\nb\n", "\n"),
            ("a\r\nb\nc\r\n", "\r\n"),
            ("a\rb\n", "\n"),
        ] {
            assert_eq!(line_end(text), expected, "{text:?}");
        }
    }

    #[test]
    fn nouns_follow_the_number() {
        assert_eq!(quantity(1_usize, "plan"), "1 plan");
        assert_eq!(quantity(0_u64, "plan"), "0 plans");
        assert_eq!(quantity(2_u32, "entry"), "2 entries");
        assert_eq!(quantity(2_u32, "key"), "2 keys");
        assert_eq!(pluralize(1_usize, "entry"), "entry");
    }

    #[test]
    fn parts_are_separated_by_slashes() {
        let path: std::path::PathBuf = ["docs", "a b", "x.md"].iter().collect();
        assert_eq!(slashed(&path), "docs/a b/x.md");
        assert_eq!(slashed(Path::new("")), "");
        assert_eq!(["docs/x.md", "x.md", "docs/"].map(file_name), ["x.md", "x.md", ""]);
    }

    #[test]
    fn a_word_of_a_command_is_quoted_unless_it_is_plain() {
        for (text, expected) in [
            ("docs/memory-2.md", "docs/memory-2.md"),
            ("my notes", "'my notes'"),
            ("a;touch x", "'a;touch x'"),
            ("it's $(x)", r"'it'\''s $(x)'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(text), expected);
        }
    }

    #[test]
    fn each_byte_has_two_digits() {
        assert_eq!(hexadecimal(&[0, 0x0f, 0xa5, 0xff]), "000fa5ff");
    }
}
