//! Finds keys whose format identifies their issuer.

use crate::secrets::value::{is_wordy, prefix_length};
use crate::secrets::{Secret, is_word};

/// The format of one issuer's keys: a prefix, and a body with at least `min_length` characters of an alphabet.
struct KeyFormat {
    rule: &'static str,
    prefix: &'static str,
    alphabet: fn(u8) -> bool,
    min_length: usize,
}

const fn key_format(
    rule: &'static str,
    prefix: &'static str,
    alphabet: fn(u8) -> bool,
    min_length: usize,
) -> KeyFormat {
    KeyFormat { rule, prefix, alphabet, min_length }
}

/// Longer prefixes come before the shorter ones that they start with.
const KEY_FORMATS: &[KeyFormat] = &[
    key_format("aws-access-key", "AKIA", is_upper, 16),
    key_format("aws-access-key", "ASIA", is_upper, 16),
    key_format("github-token", "ghp_", is_alphanumeric, 36),
    key_format("github-token", "gho_", is_alphanumeric, 36),
    key_format("github-token", "ghu_", is_alphanumeric, 36),
    key_format("github-token", "ghs_", is_alphanumeric, 36),
    key_format("github-token", "ghr_", is_alphanumeric, 36),
    key_format("github-token", "github_pat_", is_word, 40),
    key_format("gitlab-token", "glpat-", is_word, 20),
    key_format("gitlab-token", "gldt-", is_word, 20),
    key_format("gitlab-token", "glrt-", is_word, 20),
    key_format("gitlab-token", "glptt-", is_word, 20),
    key_format("gitlab-token", "glcbt-", is_word, 20),
    key_format("gitlab-token", "gloas-", is_word, 20),
    key_format("gitlab-token", "glsoat-", is_word, 20),
    key_format("gitlab-token", "glagent-", is_word, 20),
    key_format("slack-token", "xoxb-", is_word, 20),
    key_format("slack-token", "xoxp-", is_word, 20),
    key_format("slack-token", "xoxa-", is_word, 20),
    key_format("slack-token", "xoxr-", is_word, 20),
    key_format("slack-token", "xoxs-", is_word, 20),
    key_format("slack-token", "xoxe-", is_word, 20),
    key_format("slack-token", "xapp-", is_word, 20),
    key_format("slack-webhook", "hooks.slack.com/services/", is_path, 30),
    key_format("stripe-key", "sk_live_", is_alphanumeric, 16),
    key_format("stripe-key", "sk_test_", is_alphanumeric, 16),
    key_format("stripe-key", "rk_live_", is_alphanumeric, 16),
    key_format("stripe-key", "rk_test_", is_alphanumeric, 16),
    key_format("stripe-key", "whsec_", is_alphanumeric, 24),
    key_format("google-api-key", "AIza", is_word, 35),
    key_format("google-oauth-secret", "GOCSPX-", is_word, 28),
    key_format("google-oauth-token", "ya29.", is_word, 30),
    key_format("anthropic-key", "sk-ant-", is_word, 20),
    key_format("openai-key", "sk-", is_word, 20),
    key_format("huggingface-token", "hf_", is_alphanumeric, 30),
    key_format("npm-token", "npm_", is_alphanumeric, 36),
    key_format("pypi-token", "pypi-AgE", is_word, 50),
    key_format("sendgrid-key", "SG.", is_dotted, 60),
    key_format("digitalocean-token", "dop_v1_", is_alphanumeric, 64),
    key_format("twilio-key", "SK", is_lower_hex, 32),
    key_format("twilio-key", "AC", is_lower_hex, 32),
    key_format("age-key", "AGE-SECRET-KEY-PQ-1", is_upper, 50),
    key_format("age-key", "AGE-SECRET-KEY-1", is_upper, 58),
];

/// The bytes that begin a prefix.
const FIRST_OF_PREFIX: [bool; 256] = {
    let mut table = [false; 256];
    let mut index = 0;
    while index < KEY_FORMATS.len() {
        table[KEY_FORMATS[index].prefix.as_bytes()[0] as usize] = true;
        index += 1;
    }
    table
};

const MAX_JUDGED_LENGTH: usize = 256;
/// The start of a signed JWT.
pub(crate) const JWT: &str = "eyJ";

/// Returns the key with a known format that starts at `start`.
pub(crate) fn known_format(text: &str, start: usize) -> Option<Secret> {
    let rest = &text[start..];
    if rest.starts_with(JWT) {
        let length = jwt(rest)?;
        return Some(Secret { rule: "jwt", range: start..start + length });
    }
    let first = rest.bytes().next()?;
    // Nearly every word ends here; comparing it with each prefix would take most of the time.
    if !FIRST_OF_PREFIX[usize::from(first)] {
        return None;
    }
    let format = KEY_FORMATS.iter().find(|format| rest.starts_with(format.prefix))?;
    let body = &rest[format.prefix.len()..];
    // Only the start is examined, since a dotted word would be scanned again from each of its dots.
    let judged = body.bytes().take(MAX_JUDGED_LENGTH);
    let judged = judged.take_while(|byte| (format.alphabet)(*byte)).count();
    // The key may be followed by the full stop of a sentence.
    let (whole, body) = (body, body[..judged].trim_end_matches('.'));
    if body.len() < format.min_length
        || is_filler(body)
        || is_published(format, body)
        || is_slug(body)
    {
        return None;
    }
    let length = prefix_length(whole, format.alphabet);
    let key = whole[..length].trim_end_matches('.');
    Some(Secret { rule: format.rule, range: start..start + format.prefix.len() + key.len() })
}

/// Returns whether the body is a placeholder: a single character, repeated.
///
/// A dotted word with short parts is not a key either.
fn is_filler(body: &str) -> bool {
    let is_repeated = |part: &str| {
        let mut bytes = part.bytes();
        let first = bytes.next();
        bytes.all(|byte| Some(byte) == first)
    };
    let last = body.rsplit(['-', '_']).find(|part| !part.is_empty());
    let last = last.unwrap_or(body);
    (last.len() >= 8 && is_repeated(last))
        || body.split(['-', '_', '/']).all(is_repeated)
        || body.contains('.') && body.split('.').any(|part| part.len() < 16)
}

/// Returns whether the key is one that its issuer prints in its own documentation.
fn is_published(format: &KeyFormat, body: &str) -> bool {
    format.rule == "aws-access-key" && body.ends_with("EXAMPLE")
}

/// Returns whether the key is a slug that merely starts like a key: `sk-learn-based-ranking-v2`.
///
/// Its parts are words of one case with short numbers; in random keys, letters and digits mix.
fn is_slug(body: &str) -> bool {
    let parts = || body.split(['-', '_']);
    let has_one_case = |part: &str| {
        let part = part.get(1..).unwrap_or_default();
        let has = |class: fn(&u8) -> bool| part.as_bytes().iter().any(class);
        !(has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase))
    };
    let is_number = |part: &str| part.len() >= 9 && part.bytes().all(|b| b.is_ascii_digit());
    parts().count() > 1 && is_wordy(body) && parts().all(has_one_case) && !parts().any(is_number)
}

/// Returns the length of the three dotted parts of a signed JWT.
fn jwt(text: &str) -> Option<usize> {
    let mut length = 0;
    for part in 0..3 {
        if part > 0 {
            text[length..].strip_prefix('.')?;
            length += 1;
        }
        let letters = prefix_length(&text[length..], is_word);
        if letters < 10 {
            return None;
        }
        length += letters;
    }
    Some(length)
}

fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn is_dotted(byte: u8) -> bool {
    is_word(byte) || byte == b'.'
}

fn is_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'/'
}
