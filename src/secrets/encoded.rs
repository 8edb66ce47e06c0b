//! Finds base64-encoded passwords in headers of HTTP basic authentication.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

use crate::secrets::Secret;
use crate::secrets::password::is_real_password;
use crate::secrets::value::prefix_length;

/// Maximum length of a word that is decoded, in bytes: a longer one is not such a header.
const MAX_WORD_LENGTH: usize = 512;

/// Returns the credentials after the word `Basic`, which ends at `at`.
pub(crate) fn basic(text: &str, at: usize) -> Option<Secret> {
    text[at..].strip_prefix(' ')?;
    let start = at + 1;
    let length =
        prefix_length(&text[start..], |b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
    let word = &text[start..start + length];
    if !(8..=MAX_WORD_LENGTH).contains(&length) {
        return None;
    }
    let decoded = STANDARD
        .decode(word)
        .or_else(|_| STANDARD_NO_PAD.decode(word.trim_end_matches('=')))
        .ok()?;
    let decoded = String::from_utf8(decoded).ok()?;
    let (user, password) = decoded.split_once(':')?;
    let is_printable = decoded.chars().all(|c| !c.is_control());
    (is_printable && is_real_password(password, user))
        .then_some(Secret { rule: "basic-auth", range: start..start + length })
}
