//! Finds secrets without a known format by the name that they are assigned to.

use std::ops::Range;

use crate::secrets::Secret;
use crate::secrets::keys;
use crate::secrets::password;

/// Suffixes of names of secrets, in lower case and without separators.
const SECRET_NAME_SUFFIXES: &[&str] = &[
    "password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "accesskey",
    "secretkey", "privatekey", "authkey", "encryptionkey", "signingkey", "accountkey", "masterkey",
    "credential", "credentials",
];
const MAX_NAME_LENGTH: usize = 24;
/// Number of bytes of a value that are examined: reading every value to its end would be quadratic in a text
/// without spaces.
const MAX_JUDGED_LENGTH: usize = 256;
/// Number of bytes in which the `@` after a password in a URL is searched for.
const MAX_URL_PASSWORD_LENGTH: usize = 512;
/// What may follow the name of a secret, in lower case; words such as `count` or `name` make it another name.
const QUALIFIERS: &[&str] = &[
    "prod", "production", "dev", "development", "stage", "staging", "live", "test", "qa", "uat",
    "main", "primary", "secondary", "backup", "old", "new",
];
const MAX_QUALIFIER_LENGTH: usize = 12;

/// Returns the secret assigned at a `:` or `=`, or the password in the URL that the `:` belongs to.
pub(crate) fn at_separator(text: &str, at: usize) -> Option<Secret> {
    if text[at..].starts_with("://") {
        return url_password(text, at + 3);
    }
    if !names_secret(&text[..at]) {
        return None;
    }
    let separator = keys::prefix_length(&text[at..], |b| b":=>".contains(&b));
    // `Secret::new` is a path in code.
    if text[at..].starts_with("::") || separator > 3 {
        return None;
    }
    let value = at + separator;
    let value = value + keys::prefix_length(&text[value..], |b| b" \t\"'`*\\".contains(&b)).min(6);
    aws_secret(text, at, value).or_else(|| value_at(text, value, "password", 8))
}

/// Returns an AWS secret key, recognised by its name and its length: it may start with a slash.
fn aws_secret(text: &str, at: usize, value: usize) -> Option<Secret> {
    const LENGTH: usize = 40;
    const NAME: &str = "secretaccesskey";
    let length = keys::prefix_length(&text[value..], |b| {
        b.is_ascii_alphanumeric() || b"/+".contains(&b)
    });
    if length != LENGTH || count_class_runs(&text[value..value + LENGTH]) < LENGTH / 4 {
        return None;
    }
    let letters = text[..at].bytes().rev().filter(u8::is_ascii_alphanumeric);
    let name = letters.map(|b| b.to_ascii_lowercase()).take(NAME.len());
    name.eq(NAME.bytes().rev()).then_some(Secret {
        rule: "aws-secret-key",
        range: value..value + LENGTH,
    })
}

/// Returns the token after the word `Bearer`, which ends at `at`.
pub(crate) fn bearer(text: &str, at: usize) -> Option<Secret> {
    let spaces = keys::prefix_length(&text[at..], |b| b" \t".contains(&b));
    if !(1..=4).contains(&spaces) {
        return None;
    }
    value_at(text, at + spaces, "bearer-token", 16)
}

/// Returns the value at `start` as a secret.
fn value_at(text: &str, start: usize, rule: &'static str, min_length: usize) -> Option<Secret> {
    let window = text.floor_char_boundary(start + MAX_JUDGED_LENGTH);
    let length = value_length(&text[start..window]);
    let mut secret = classify(text, start..start + length, rule, min_length)?;
    if secret.range.end == window {
        secret.range.end = start + value_length(&text[start..]);
    }
    Some(secret)
}

/// Returns the password between `user:` and `@`, where `at` is the offset of the user name.
fn url_password(text: &str, at: usize) -> Option<Secret> {
    let is_in_user = |b: u8| b.is_ascii_graphic() && !b"/@:\"'`<>".contains(&b);
    let user_end = at + keys::prefix_length(&text[at..], is_in_user);
    let rest = text[user_end..].strip_prefix(':')?;
    let range = user_end + 1..user_end + 1 + url_password_length(rest)?;
    let (user, value) = (&text[at..user_end], &text[range.clone()]);
    let rule = "url-password";
    // A variable in the place of the port, and a path: `$PORT/…`; a password may begin with `$`, too.
    let (port, path) = value.split_at(value.find('/').unwrap_or(value.len()));
    let is_variable =
        |name: &str| name.len() > 1 && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    if !path.is_empty() && port.strip_prefix('$').is_some_and(is_variable) {
        return None;
    }
    // With a separator it may be a part of a path.
    let is_path = value.contains(['/', ':', '\'']) && is_wordy(value);
    let as_real_password = || {
        (!is_path && password::is_real_password(value, user)).then(|| Secret {
            rule,
            range: range.clone(),
        })
    };
    classify(text, range.clone(), rule, 8).or_else(as_real_password)
}

/// Returns the length of the password that a text starts with, up to the last `@` that may precede the host.
///
/// People seldom encode the characters that a URL reserves, so a password may contain any of them.
fn url_password_length(text: &str) -> Option<usize> {
    let text = &text[..text.floor_char_boundary(MAX_URL_PASSWORD_LENGTH)];
    let port = keys::prefix_length(text, |b| b.is_ascii_digit());
    if port > 0 && text[port..].starts_with(['/', '?', '#', '\'', ',', ';', ')', ']']) {
        return None;
    }
    let mut length = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let is_end = match c {
            // The host ends here, so a later `@` does not end the password.
            '/' | '?' | '#' | ',' => length.is_some(),
            '\'' => !next.is_some_and(char::is_alphanumeric),
            '"' | '`' | '<' | '>' => true,
            _ => c.is_whitespace() || c.is_control(),
        };
        if is_end {
            break;
        }
        if c == '@' {
            length = Some(at);
        }
    }
    length
}

/// Returns the value as a secret: with its issuer's rule if the format is known, otherwise if it looks
/// random.
fn classify(
    text: &str,
    range: Range<usize>,
    rule: &'static str,
    min_length: usize,
) -> Option<Secret> {
    let value = &text[range.clone()];
    if value.starts_with(|c: char| c.is_ascii_alphabetic())
        && let Some(known) = keys::known_format(text, range.start)
    {
        return Some(known);
    }
    // The secret was already removed from a value that was cut short.
    let is_elided = text[range.end..].starts_with("..");
    (value.len() >= min_length && !is_elided && is_random(value)).then_some(Secret { rule, range })
}

/// Returns the suffix that marks a name as that of a secret, ignoring separators and a plural s.
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

fn names_secret(before: &str) -> bool {
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
    if rest.len() - letters.len() <= 2 {
        letters
    } else {
        rest
    }
}

/// Returns the length of a value, which ends at white space, a quote or a separator, without closing
/// punctuation.
fn value_length(text: &str) -> usize {
    let mut end = 0;
    loop {
        end += keys::prefix_length(&text[end..], |byte| IN_VALUE[usize::from(byte)]);
        match text[end..].chars().next() {
            Some(c) if !c.is_ascii() && !c.is_whitespace() => end += c.len_utf8(),
            _ => break,
        }
    }
    text[..end]
        .trim_end_matches(['.', ')', ']', '}', '>', '*', '\\', ':'])
        .len()
}

/// The ASCII characters that a value may contain.
const IN_VALUE: [bool; 128] = {
    let mut table = [true; 128];
    let ends = b" \t\n\x0b\x0c\r\"'`,;|";
    let mut index = 0;
    while index < ends.len() {
        table[ends[index] as usize] = false;
        index += 1;
    }
    table
};

/// Returns whether a value looks random, unlike a word, a path, a reference or a hash.
fn is_random(value: &str) -> bool {
    // Most values have no digit, and this is asked at every separator.
    if !value.is_ascii() || !(value.bytes().any(|b| b.is_ascii_digit()) || is_symbolic(value)) {
        return false;
    }
    let count = |class: fn(&u8) -> bool| value.as_bytes().iter().filter(|b| class(b)).count();
    let digits = count(u8::is_ascii_digit);
    let symbols = count(|b| b"!@#$%^&*?~+=".contains(b));
    let (upper, lower) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    if upper + lower == 0 {
        return false;
    }
    if is_placeholder(value) || is_reference(value) || is_wordy(value) || is_digest(value) {
        return false;
    }
    // A short value must look like a password that satisfies a password policy.
    let classes = [digits, symbols, upper, lower]
        .into_iter()
        .filter(|count| *count > 0)
        .count();
    if value.len() < 16 && (classes < 3 || (digits < 2 && symbols == 0)) {
        return false;
    }
    if value.len() >= 32 && value.bytes().all(|b| b.is_ascii_hexdigit()) {
        return true;
    }
    // Identifiers change between letter case and digits less often than every third character.
    value.len() * 2 <= count_class_runs(value) * 7
}

/// Returns whether a value without digits mixes symbols and letter case as only a password does.
fn is_symbolic(value: &str) -> bool {
    // Not `contains`: this is counted in every value without a digit.
    let is_symbol = |b: &u8| {
        matches!(
            b,
            b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'*' | b'?' | b'~'
        )
    };
    let symbols = value.bytes().filter(is_symbol).count();
    let is_letter = |b: u8| b.is_ascii_alphabetic();
    symbols >= 2
        && value.len() >= 10
        && value.bytes().next().is_some_and(is_letter)
        && value.bytes().any(|b| b.is_ascii_uppercase())
        && value.bytes().any(|b| b.is_ascii_lowercase())
        && value.len() <= count_class_runs(value) * 2
}

/// Counts the runs of one character class: `useToken2` has three, `q7Zt2` has four.
pub(crate) fn count_class_runs(value: &str) -> usize {
    let kind = |b: u8| match b {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        b'a'..=b'z' => 2,
        _ => 3,
    };
    let kinds: Vec<u8> = value.bytes().map(kind).collect();
    let changes = kinds
        .windows(2)
        .filter(|pair| pair[0] != pair[1] && *pair != [1, 2]);
    changes.count() + 1
}

/// Returns whether a value is a placeholder for a key.
fn is_placeholder(value: &str) -> bool {
    let mut seen = [false; 256];
    let distinct = value
        .bytes()
        .filter(|b| !std::mem::replace(&mut seen[usize::from(*b)], true))
        .count();
    distinct < 6 || contains_placeholder_word(&value.to_ascii_lowercase())
}

/// Returns whether a value, in lower case, contains a word that marks a placeholder.
pub(crate) fn contains_placeholder_word(lower: &str) -> bool {
    let words = [
        "xxx", "your", "changeme", "placeholder", "redacted", "...", "***",
    ];
    words.iter().any(|word| lower.contains(word))
}

/// Returns whether a value is a variable, a call, a template or a path: a reference to a secret, not the
/// secret.
fn is_reference(value: &str) -> bool {
    value.starts_with(['$', '%', '/', '~', '.', '&']) || value.contains(['(', '[', '{', '<'])
}

/// Returns whether a value consists of words followed by numbers: `my-app-v2`, `RS256/JWT`, `1.2.3-beta.4`.
pub(crate) fn is_wordy(value: &str) -> bool {
    value
        .split(['-', '_', '.', ':', '/', '=', '+', '@', '#', '|'])
        .all(|part| {
            let number = part.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            let digits = number.bytes().all(|b| b.is_ascii_digit());
            digits && (number.len() <= 4 || number.len() == part.len())
        })
}

/// Returns whether a value is a UUID or a digest with its algorithm's name.
fn is_digest(value: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|b| b.is_ascii_hexdigit());
    let is_uuid =
        value.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && value.split('-').all(is_hex);
    is_uuid || (value.starts_with("sha") && value.contains([':', '-']))
}
