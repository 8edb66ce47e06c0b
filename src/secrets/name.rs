//! Recognises the names of secrets: `API_KEY_PROD`, `db.password`.

/// Suffixes of names of secrets, in lower case and without separators.
const SECRET_NAME_SUFFIXES: &[&str] = &[
    "password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "accesskey",
    "secretkey", "privatekey", "authkey", "encryptionkey", "signingkey", "accountkey", "masterkey",
    "credential", "credentials",
];

const MAX_NAME_LENGTH: usize = 24;

/// Words that may follow the name of a secret, in lower case; after words such as `count`, it is not a secret.
const QUALIFIERS: &[&str] = &[
    "prod", "production", "dev", "development", "stage", "staging", "live", "test", "qa", "uat",
    "main", "primary", "secondary", "backup", "old", "new",
];

const MAX_QUALIFIER_LENGTH: usize = 12;

/// Returns the suffix that marks a name as the name of a secret, ignoring separators and a plural s.
pub(crate) fn secret_name(name: &str) -> Option<&'static str> {
    let letters: String = without_qualifiers(name)
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let singular = letters.strip_suffix('s').unwrap_or(&letters);
    SECRET_NAME_SUFFIXES
        .iter()
        .copied()
        .find(|suffix| letters.ends_with(suffix) || singular.ends_with(suffix))
}

/// Returns whether a text ends with the name of a secret, directly before a separator.
pub(crate) fn names_secret(before: &str) -> bool {
    let name = before.trim_end_matches([' ', '\t', '"', '\'', '`', '*', '\\']);
    // The name must be directly before the separator.
    if before.len() - name.len() > 4 {
        return false;
    }
    let name = without_qualifiers(name);
    if !name.ends_with(|c: char| c.is_ascii_alphabetic()) {
        return false;
    }
    let letters = name
        .bytes()
        .rev()
        .take(MAX_NAME_LENGTH)
        .take_while(|b| b.is_ascii_alphanumeric() || b"_-. ".contains(b))
        .filter(u8::is_ascii_alphanumeric);
    SECRET_NAME_SUFFIXES.iter().any(|suffix| {
        let mut letters = letters.clone().map(|b| b.to_ascii_lowercase());
        suffix.bytes().rev().all(|b| letters.next() == Some(b))
    })
}

/// Strips up to two trailing qualifiers, and then a number, from the name of a secret: `API_KEY_PROD`,
/// `AUTH_TOKEN_V2`, `password1`.
pub(crate) fn without_qualifiers(name: &str) -> &str {
    let mut rest = name;
    for _ in 0..2 {
        let bytes = rest.bytes().rev().take(MAX_QUALIFIER_LENGTH);
        let length = bytes.take_while(u8::is_ascii_alphanumeric).count();
        let (head, part) = rest.split_at(rest.len() - length);
        let lower = part.to_ascii_lowercase();
        let digits = lower.strip_prefix('v').unwrap_or(&lower);
        let is_number =
            (1..=2).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        let is_qualifier = is_number || QUALIFIERS.contains(&lower.as_str());
        match head.strip_suffix(['_', '-', '.']).filter(|_| is_qualifier) {
            Some(head) => rest = head,
            None => break,
        }
    }
    let letters = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    if rest.len() - letters.len() <= 2 { letters } else { rest }
}
