//! Compares bullets by their words.

use crate::search::WordSet;

/// Returns the words of a bullet.
pub(crate) fn bullet_words(text: &str) -> WordSet {
    WordSet::from_text(without_note(text))
}

/// Returns a bullet without the trailing note `(added …)` or `(updated …)`.
pub(crate) fn without_note(text: &str) -> &str {
    let trimmed = text.trim_end();
    let note = |open: &str| {
        let at = trimmed.rfind(open)?;
        let date = trimmed[at + open.len()..].strip_suffix(')')?;
        (date.len() == 10 && date.bytes().all(|b| b.is_ascii_digit() || b == b'-')).then_some(at)
    };
    match note("(updated ").or_else(|| note("(added ")) {
        Some(at) => trimmed[..at].trim_end(),
        None => trimmed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_notes_are_removed() {
        assert_eq!(without_note("a (updated 2026-02-05)"), "a");
        assert_eq!(without_note("a (added 2026-02-05) "), "a");
        assert!(
            bullet_words("one port (added 2026-02-05)").is_similar_to(&bullet_words("one port"))
        );
        assert_eq!(without_note("a (updated yesterday)"), "a (updated yesterday)");
    }
}
