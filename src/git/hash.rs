//! Recognises commit hashes, so that no other text is passed to git as a revision.

/// Returns whether a text can be a hash, perhaps an abbreviated one; `HEAD` and other revisions cannot.
pub(crate) fn is_hash_prefix(text: &str) -> bool {
    (4..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether a text is a full SHA-1 or SHA-256 hash.
pub(crate) fn is_full_hash(text: &str) -> bool {
    [40, 64].contains(&text.len()) && is_hash_prefix(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_has_hexadecimal_digits_of_a_known_number() {
        for (text, is_prefix, is_full) in [
            ("84e9493", true, false),
            ("ABC1", true, false),
            (&*"0".repeat(40), true, true),
            (&*"f".repeat(64), true, true),
            (&*"f".repeat(65), false, false),
            (&*"g".repeat(40), false, false),
            ("abc", false, false),
            ("HEAD", false, false),
            ("", false, false),
        ] {
            assert_eq!(
                (is_hash_prefix(text), is_full_hash(text)),
                (is_prefix, is_full),
                "{text:?}"
            );
        }
    }
}
