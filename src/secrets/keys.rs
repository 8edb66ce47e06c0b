//! Finds keys whose format identifies their issuer.

use std::mem;

use crate::secrets::Secret;
use crate::secrets::assignment;
use crate::secrets::encoded;
use crate::secrets::is_word;

/// The format of one issuer's keys: a prefix, and a body with at least `least` characters of an alphabet.
struct Shape {
    rule: &'static str,
    prefix: &'static str,
    alphabet: fn(u8) -> bool,
    least: usize,
}

const fn shape(
    rule: &'static str,
    prefix: &'static str,
    alphabet: fn(u8) -> bool,
    least: usize,
) -> Shape {
    Shape {
        rule,
        prefix,
        alphabet,
        least,
    }
}

/// Longer prefixes come before the shorter ones that they start with.
const SHAPES: &[Shape] = &[
    shape("aws-access-key", "AKIA", is_upper, 16),
    shape("aws-access-key", "ASIA", is_upper, 16),
    shape("github-token", "ghp_", is_alphanumeric, 36),
    shape("github-token", "gho_", is_alphanumeric, 36),
    shape("github-token", "ghu_", is_alphanumeric, 36),
    shape("github-token", "ghs_", is_alphanumeric, 36),
    shape("github-token", "ghr_", is_alphanumeric, 36),
    shape("github-token", "github_pat_", is_word, 40),
    shape("gitlab-token", "glpat-", is_word, 20),
    shape("gitlab-token", "gldt-", is_word, 20),
    shape("gitlab-token", "glrt-", is_word, 20),
    shape("gitlab-token", "glptt-", is_word, 20),
    shape("gitlab-token", "glcbt-", is_word, 20),
    shape("gitlab-token", "gloas-", is_word, 20),
    shape("gitlab-token", "glsoat-", is_word, 20),
    shape("gitlab-token", "glagent-", is_word, 20),
    shape("slack-token", "xoxb-", is_word, 20),
    shape("slack-token", "xoxp-", is_word, 20),
    shape("slack-token", "xoxa-", is_word, 20),
    shape("slack-token", "xoxr-", is_word, 20),
    shape("slack-token", "xoxs-", is_word, 20),
    shape("slack-token", "xoxe-", is_word, 20),
    shape("slack-token", "xapp-", is_word, 20),
    shape("slack-webhook", "hooks.slack.com/services/", is_path, 30),
    shape("stripe-key", "sk_live_", is_alphanumeric, 16),
    shape("stripe-key", "sk_test_", is_alphanumeric, 16),
    shape("stripe-key", "rk_live_", is_alphanumeric, 16),
    shape("stripe-key", "rk_test_", is_alphanumeric, 16),
    shape("stripe-key", "whsec_", is_alphanumeric, 24),
    shape("google-api-key", "AIza", is_word, 35),
    shape("google-oauth-secret", "GOCSPX-", is_word, 28),
    shape("google-oauth-token", "ya29.", is_word, 30),
    shape("anthropic-key", "sk-ant-", is_word, 20),
    shape("openai-key", "sk-", is_word, 20),
    shape("huggingface-token", "hf_", is_alphanumeric, 30),
    shape("npm-token", "npm_", is_alphanumeric, 36),
    shape("pypi-token", "pypi-AgE", is_word, 50),
    shape("sendgrid-key", "SG.", is_dotted, 60),
    shape("digitalocean-token", "dop_v1_", is_alphanumeric, 64),
    shape("twilio-key", "SK", is_lower_hex, 32),
    shape("twilio-key", "AC", is_lower_hex, 32),
    shape("age-key", "AGE-SECRET-KEY-PQ-1", is_upper, 50),
    shape("age-key", "AGE-SECRET-KEY-1", is_upper, 58),
];

/// Minimum length of a key, including its prefix, in any format without dots.
const MIN_WORD_LENGTH: usize = 13;
const MAX_JUDGED_LENGTH: usize = 256;
const JWT: &str = "eyJ";
const BEGIN: &str = "-----BEGIN";
const DASHES: &str = "-----";

/// Returns the secret that starts with the word at `start..end`, if any.
pub(crate) fn at_word(text: &str, start: usize, end: usize) -> Option<Secret> {
    let word = &text[start..end];
    if word.ends_with(BEGIN) {
        return private_key(text, end - BEGIN.len());
    }
    if word.eq_ignore_ascii_case("basic") {
        return encoded::basic(text, end);
    }
    if word.eq_ignore_ascii_case("bearer") {
        return assignment::bearer(text, end);
    }
    // A short word can only be a prefix with a dot; nearly every word of prose ends here.
    let dotted = text.as_bytes().get(end) == Some(&b'.');
    if word.len() < MIN_WORD_LENGTH && !dotted {
        return None;
    }
    known_shape(text, start).or_else(|| glued(text, start, end))
}

/// Returns the key that starts inside a word: after `-`, `_` or an escaped line break.
fn glued(text: &str, start: usize, end: usize) -> Option<Secret> {
    let word = &text[start..end];
    let is_escaped = text[..start].ends_with('\\') && word.starts_with(['n', 'r', 't']);
    let escaped = is_escaped.then_some(start + 1);
    let parts = word.match_indices(['-', '_']).map(|(at, _)| start + at + 1);
    let mut starts = escaped.into_iter().chain(parts);
    // The parts of a signed token are long, and would be scanned again from each of its dashes.
    let mut first_token = true;
    starts.find_map(|start| {
        let is_token = text[start..].starts_with(JWT);
        let is_judged = !is_token || mem::take(&mut first_token);
        is_judged.then(|| known_shape(text, start)).flatten()
    })
}

/// Returns the key with a known format that starts at `start`.
pub(crate) fn known_shape(text: &str, start: usize) -> Option<Secret> {
    let rest = &text[start..];
    if rest.starts_with(JWT) {
        let length = jwt(rest)?;
        return Some(Secret {
            rule: "jwt",
            range: start..start + length,
        });
    }
    let shape = SHAPES.iter().find(|shape| rest.starts_with(shape.prefix))?;
    let body = &rest[shape.prefix.len()..];
    // Only the start is examined, since a dotted word would be scanned again from each of its dots.
    let judged = body.bytes().take(MAX_JUDGED_LENGTH);
    let judged = judged.take_while(|byte| (shape.alphabet)(*byte)).count();
    // The key may be followed by the full stop of a sentence.
    let (whole, body) = (body, body[..judged].trim_end_matches('.'));
    if body.len() < shape.least || is_blank(body) || is_published(shape, body) || is_slug(body) {
        return None;
    }
    let length = run(whole, shape.alphabet);
    let key = whole[..length].trim_end_matches('.');
    Some(Secret {
        rule: shape.rule,
        range: start..start + shape.prefix.len() + key.len(),
    })
}

/// Returns whether the body is a placeholder: a single character, repeated.
///
/// A dotted word with short parts is not a key either.
fn is_blank(body: &str) -> bool {
    let is_one = |part: &str| {
        let mut bytes = part.bytes();
        let first = bytes.next();
        bytes.all(|byte| Some(byte) == first)
    };
    let last = body.rsplit(['-', '_']).find(|part| !part.is_empty());
    let last = last.unwrap_or(body);
    (last.len() >= 8 && is_one(last))
        || body.split(['-', '_', '/']).all(is_one)
        || body.contains('.') && body.split('.').any(|part| part.len() < 16)
}

/// Returns whether the key is one that its issuer prints in its own documentation.
fn is_published(shape: &Shape, body: &str) -> bool {
    shape.rule == "aws-access-key" && body.ends_with("EXAMPLE")
}

/// Returns whether the key is a slug that merely starts like a key: `sk-learn-based-ranking-v2`.
///
/// Its parts are words of one case with short numbers; in random keys, letters and digits mix.
fn is_slug(body: &str) -> bool {
    let parts = || body.split(['-', '_']);
    let is_of_one_case = |part: &str| {
        let part = part.get(1..).unwrap_or_default();
        let has = |class: fn(&u8) -> bool| part.as_bytes().iter().any(class);
        !(has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase))
    };
    let is_number = |part: &str| part.len() >= 9 && part.bytes().all(|b| b.is_ascii_digit());
    parts().count() > 1
        && assignment::is_wordy(body)
        && parts().all(is_of_one_case)
        && !parts().any(is_number)
}

/// Returns the length of the three dotted parts of a signed JWT.
fn jwt(text: &str) -> Option<usize> {
    let mut length = 0;
    for part in 0..3 {
        if part > 0 {
            text[length..].strip_prefix('.')?;
            length += 1;
        }
        let letters = run(&text[length..], is_word);
        if letters < 10 {
            return None;
        }
        length += letters;
    }
    Some(length)
}

/// Returns the block of a private key, from its header to its footer, or as far as it looks like a key.
fn private_key(text: &str, start: usize) -> Option<Secret> {
    let label = start + BEGIN.len();
    let header = label + text[label..].find(DASHES).filter(|length| *length < 40)?;
    if !text[label..header].contains("PRIVATE KEY") {
        return None;
    }
    let body = header + DASHES.len();
    let footer = text[body..].find(DASHES).map(|length| body + length);
    let end = match footer {
        Some(footer) if text[footer..].starts_with("-----END") => {
            let label = footer + DASHES.len();
            text[label..]
                .find(DASHES)
                .map_or(label, |length| label + length + DASHES.len())
        }
        _ => body + base64_lines(&text[body..]),
    };
    Some(Secret {
        rule: "private-key",
        range: start..end,
    })
}

/// Returns the length of the lines or words of base64 at the start of a text.
fn base64_lines(text: &str) -> usize {
    let mut length = 0;
    loop {
        let gap = run(&text[length..], |b| b.is_ascii_whitespace());
        let word = run(&text[length + gap..], |b| {
            is_alphanumeric(b) || b"+/=".contains(&b)
        });
        if word < 16 {
            return length;
        }
        length += gap + word;
    }
}

/// Returns the number of bytes at the start of a text that belong to an alphabet (ASCII only).
pub(crate) fn run(text: &str, alphabet: impl Fn(u8) -> bool) -> usize {
    text.bytes()
        .take_while(|byte| byte.is_ascii() && alphabet(*byte))
        .count()
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
