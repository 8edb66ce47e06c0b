//! Finds passwords that need not look random, because their context identifies them.

use crate::secrets::Secret;
use crate::secrets::name::without_qualifiers;
use crate::secrets::value::{contains_placeholder_word, count_class_runs};

/// Suffixes of names of passwords, in lower case and without separators.
const PASSWORD_NAME_SUFFIXES: [&str; 4] = ["password", "passwd", "passphrase", "pwd"];

/// Words that documentation and tests use instead of a password.
const COMMON_PASSWORDS: [&str; 26] = [
    "password", "passwort", "passwd", "passphrase", "pass", "pwd", "secret", "token", "string",
    "text", "hidden", "none", "null", "undefined", "required", "test", "example", "sample",
    "admin", "root", "user", "guest", "postgres", "mysql", "changeme", "invalid",
];

const SYMBOLS: &[u8] = b"!@#$%^&*?~+=";
const MIN_LENGTH: usize = 6;
const MAX_LENGTH: usize = 128;

/// Returns the value in `"password": "…"` or `'password': '…'`, whatever characters it contains; `at` is the
/// offset of the colon.
pub(crate) fn in_quotes(text: &str, at: usize) -> Option<Secret> {
    let name = text[..at].trim_end_matches([' ', '\t']);
    let quote = name.chars().next_back().filter(|c| matches!(c, '"' | '\''))?;
    let name = name.strip_suffix(quote)?.trim_end_matches('\\');
    let name = without_qualifiers(name);
    let window = name.len().saturating_sub(40);
    let window = name.ceil_char_boundary(window);
    let letters: String = name[window..]
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if !name.ends_with(|c: char| c.is_ascii_alphabetic())
        || !PASSWORD_NAME_SUFFIXES.iter().any(|known| letters.ends_with(known))
    {
        return None;
    }
    let rest = text[at..].strip_prefix(':')?;
    let open = rest.trim_start_matches([' ', '\t']).trim_start_matches('\\').strip_prefix(quote)?;
    let start = text.len() - open.len();
    let window = open.floor_char_boundary(MAX_LENGTH);
    let end = open[..window].find([quote, '\\', '\n'])?;
    let value = &open[..end];
    is_real_password(value, "").then_some(Secret { rule: "password", range: start..start + end })
}

/// Returns whether a text in the position of a password was chosen by a person, and is not a placeholder.
pub(crate) fn is_real_password(value: &str, user: &str) -> bool {
    let lower = value.to_lowercase();
    let base = lower.trim_end_matches(|c: char| c.is_ascii_digit() || c == '!');
    let is_common = COMMON_PASSWORDS.contains(&base) || base.is_empty() && value.len() < 8;
    if value.len() < MIN_LENGTH || is_common || lower == user.to_lowercase() {
        return false;
    }
    if value.chars().any(char::is_whitespace)
        || contains_placeholder_word(&lower)
        || is_template(value)
        || is_constant(value)
    {
        return false;
    }
    let bytes = value.as_bytes();
    let has_digit_or_symbol = bytes.iter().any(|b| b.is_ascii_digit() || SYMBOLS.contains(b));
    let is_mixed = count_class_runs(value) * 3 >= value.len();
    let is_phrase = value.len() >= 10
        && !COMMON_PASSWORDS.iter().any(|word| word.len() > 3 && lower.contains(word));
    has_digit_or_symbol || is_mixed || is_phrase
}

/// Returns whether a value is a reference to the password: a variable, a call, a path.
fn is_template(value: &str) -> bool {
    let is_name = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    value.contains(['(', '[', '{', '<'])
        || value.starts_with(['/', '.', '&'])
        || value.strip_prefix('$').is_some_and(is_name)
        || value.strip_prefix('%').and_then(|rest| rest.strip_suffix('%')).is_some_and(is_name)
}

/// Returns whether a value is the name of a constant: `DB_PASSWORD`.
fn is_constant(value: &str) -> bool {
    value.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
}
