//! Finds secrets without a known format by the name that they are assigned to.

use std::ops::Range;

use crate::secrets::Secret;
use crate::secrets::keys::known_format;
use crate::secrets::name::names_secret;
use crate::secrets::password::is_real_password;
use crate::secrets::value::{count_class_runs, is_random, is_wordy, prefix_length};

/// Number of bytes of a value that are examined: reading every value to its end would be quadratic in a text
/// without spaces.
const MAX_JUDGED_LENGTH: usize = 256;
/// Number of bytes in which the `@` after a password in a URL is searched for.
const MAX_URL_PASSWORD_LENGTH: usize = 512;

/// Returns the secret assigned at a `:` or `=`, or the password in the URL that the `:` belongs to.
pub(crate) fn at_separator(text: &str, at: usize) -> Option<Secret> {
    if text[at..].starts_with("://") {
        return url_password(text, at + 3);
    }
    if !names_secret(&text[..at]) {
        return None;
    }
    let separator = prefix_length(&text[at..], |b| b":=>".contains(&b));
    // `Secret::new` is a path in code.
    if text[at..].starts_with("::") || separator > 3 {
        return None;
    }
    let value = at + separator;
    let value = value + prefix_length(&text[value..], |b| b" \t\"'`*\\".contains(&b)).min(6);
    aws_secret(text, at, value).or_else(|| value_at(text, value, "password", 8))
}

/// Returns an AWS secret key, recognised by its name and its length: it may start with a slash.
fn aws_secret(text: &str, at: usize, value: usize) -> Option<Secret> {
    const LENGTH: usize = 40;
    const NAME: &str = "secretaccesskey";
    let length = prefix_length(&text[value..], |b| b.is_ascii_alphanumeric() || b"/+".contains(&b));
    if length != LENGTH || count_class_runs(&text[value..value + LENGTH]) < LENGTH / 4 {
        return None;
    }
    let letters = text[..at].bytes().rev().filter(u8::is_ascii_alphanumeric);
    let name = letters.map(|b| b.to_ascii_lowercase()).take(NAME.len());
    name.eq(NAME.bytes().rev())
        .then_some(Secret { rule: "aws-secret-key", range: value..value + LENGTH })
}

/// Returns the token after the word `Bearer`, which ends at `at`.
pub(crate) fn bearer(text: &str, at: usize) -> Option<Secret> {
    let spaces = prefix_length(&text[at..], |b| b" \t".contains(&b));
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
    let user_end = at + prefix_length(&text[at..], is_in_user);
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
        (!is_path && is_real_password(value, user)).then(|| Secret { rule, range: range.clone() })
    };
    classify(text, range.clone(), rule, 8).or_else(as_real_password)
}

/// Returns the length of the password that a text starts with, up to the last `@` that may precede the host.
///
/// People seldom encode the characters that a URL reserves, so a password may contain any of them.
fn url_password_length(text: &str) -> Option<usize> {
    let text = &text[..text.floor_char_boundary(MAX_URL_PASSWORD_LENGTH)];
    let port = prefix_length(text, |b| b.is_ascii_digit());
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
        && let Some(known) = known_format(text, range.start)
    {
        return Some(known);
    }
    // The secret was already removed from a value that was cut short.
    let is_elided = text[range.end..].starts_with("..");
    (value.len() >= min_length && !is_elided && is_random(value)).then_some(Secret { rule, range })
}

/// Returns the length of a value, which ends at white space, a quote or a separator, without closing
/// punctuation.
fn value_length(text: &str) -> usize {
    let mut end = 0;
    loop {
        end += prefix_length(&text[end..], |byte| IN_VALUE[usize::from(byte)]);
        match text[end..].chars().next() {
            Some(c) if !c.is_ascii() && !c.is_whitespace() => end += c.len_utf8(),
            _ => break,
        }
    }
    text[..end].trim_end_matches(['.', ')', ']', '}', '>', '*', '\\', ':']).len()
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
