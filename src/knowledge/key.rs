//! The key of an entry, which is also its file name.

use std::fmt;

use crate::error::{Error, Result};

/// Maximum length of a key, in characters.
pub(crate) const MAX_KEY: usize = 60;

/// Keys that would clash with the store's own files.
const RESERVED: [&str; 2] = ["index", "log"];

/// The key of an entry: `[a-z0-9]` and single hyphens, at most 60 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryKey(String);

impl EntryKey {
    /// Parses a key; an invalid one is refused with the reason.
    pub fn parse(text: &str) -> Result<Self> {
        match fault(text) {
            None => Ok(Self(text.to_owned())),
            Some(fault) => Err(Error::refused(format!("`{text}` is not a key: {fault}")).hint(
                format!("a key is lower-case words with hyphens, {MAX_KEY} characters at most, such as `test-runner`"),
            )),
        }
    }

    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the key as a title: `Test runner` for `test-runner`.
    pub fn in_words(&self) -> String {
        in_words(&self.0)
    }
}

impl fmt::Display for EntryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns a key's words as a title.
pub(crate) fn in_words(key: &str) -> String {
    let words = key.replace('-', " ");
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => words,
    }
}

/// Returns why a text is not a valid key; `None` if it is valid.
pub(crate) fn fault(text: &str) -> Option<String> {
    let foreign = |c: &char| !matches!(c, 'a'..='z' | '0'..='9' | '-');
    if let Some(c) = text.chars().find(foreign) {
        return Some(format!("{c:?} (U+{:04X}) is not a-z, 0-9 or a hyphen", u32::from(c)));
    }
    let is_long = !(1..=MAX_KEY).contains(&text.len());
    let has_gap = text.starts_with('-') || text.ends_with('-') || text.contains("--");
    (is_long || has_gap || RESERVED.contains(&text)).then(|| {
        format!("it has 1 to {MAX_KEY} characters, single hyphens between words, and is neither `index` nor `log`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn keys_are_words_with_hyphens() {
        for good in ["a", "test-runner", "2026-q2", &"a".repeat(MAX_KEY)] {
            assert_eq!(EntryKey::parse(good).unwrap().as_str(), good);
        }
        assert_eq!(EntryKey::parse("test-runner").unwrap().in_words(), "Test runner");
    }

    #[test]
    fn anything_else_is_refused_with_the_reason() {
        for (bad, reason) in [
            ("", "1 to 60 characters"),
            ("Test", "'T' (U+0054) is not"),
            ("a.b", "'.' (U+002E) is not"),
            ("../a", "'.' (U+002E) is not"),
            ("a/b", "'/' (U+002F) is not"),
            ("a b", "' ' (U+0020) is not"),
            ("\u{430}uth", "U+0430"),
            ("a\u{2010}b", "U+2010"),
            ("日本", "U+65E5"),
            ("a\nb", "'\\n' (U+000A) is not"),
            ("-a", "single hyphens"),
            ("a-", "single hyphens"),
            ("a--b", "single hyphens"),
            ("log", "neither `index`"),
            ("index", "neither `index`"),
            (&"a".repeat(MAX_KEY + 1), "1 to 60 characters"),
        ] {
            let error = EntryKey::parse(bad).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Refused);
            assert!(error.message.contains(reason), "{}", error.message);
        }
    }
}
