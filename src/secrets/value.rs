//! Judges by its characters whether a value is a secret, a word or a placeholder.

use std::sync::LazyLock;

use regex::Regex;

use crate::secrets::{Secret, tail};

/// Words that documentation and tests write in the place of a password.
const COMMON: &str = "password passwort passwd passphrase pass pwd secret token string text hidden none null \
    undefined required test example sample admin root user guest postgres mysql invalid optional \
    value";

/// Words of a label, a message or a hint in the place of a password.
const OF_MESSAGES: &str = "a an and are as ask at be by change characters choose confirm enter field for forgot from in \
    incorrect is least must new no not of old or please repeat reset see set stored the to type use \
    with wrong you your via";

const BRACKETS: [char; 4] = ['(', '[', '{', '<'];
const SYMBOLS: &[u8] = b"!@#$%^*?~";

/// The pairs of letters that are common in English and in identifiers: for each letter, which follow.
const PAIRS: [&str; 26] = [
    "bcdgilmnprst", "el", "aehklot", "adeios", "acdeflmnprstvx", "eio", "e", "aeio",
    "acdeglmnorstv", "", "e", "aeiloy", "aeip", "acdegiost", "cdlmnprstuw", "aelor", "u",
    "adeiost", "acehiopstu", "aehiorst", "enrst", "ei", "", "", "", "",
];

/// Returns whether at least half of the neighbouring letters and digits are a pair that words have.
///
/// Of identifiers, 98 of 100 are so; of random texts with 20 letters and digits, one of 2,000.
pub(crate) fn is_english(value: &str) -> bool {
    has_pairs(value, 50)
}

/// Returns whether so many percent of the neighbouring letters and digits are a pair that words have.
fn has_pairs(value: &str, percent: usize) -> bool {
    let is_part = |pair: &&[u8]| pair.iter().all(u8::is_ascii_alphanumeric);
    let is_common = |pair: &[u8]| {
        let (first, second) = (pair[0].to_ascii_lowercase(), pair[1].to_ascii_lowercase());
        let row = PAIRS.get(usize::from(first.wrapping_sub(b'a')));
        row.is_some_and(|row| row.as_bytes().contains(&second))
    };
    let pairs = value.as_bytes().windows(2).filter(is_part);
    let (all, common) =
        pairs.fold((0, 0), |(all, common), pair| (all + 1, common + usize::from(is_common(pair))));
    common * 100 >= all * percent
}

/// Returns whether a value looks random, unlike a word, a path, a reference or a hash.
pub(crate) fn is_random(value: &str) -> bool {
    let (mut digits, mut symbols, mut upper, mut lower) = (0, 0, 0, 0);
    for byte in value.bytes() {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'A'..=b'Z' => upper += 1,
            b'a'..=b'z' => lower += 1,
            _ => symbols += usize::from(SYMBOLS.contains(&byte)),
        }
    }
    // Nearly every value ends here.
    if upper + lower == 0 || digits + symbols == 0 && (value.len() < 16 || upper == 0 || lower == 0)
    {
        return false;
    }
    let is_text = !value.is_ascii() || value.contains(char::is_whitespace);
    if is_text || is_placeholder(value) || is_reference(value) {
        return false;
    }
    if is_wordy(value) || is_digest(value) {
        return false;
    }
    if value.len() >= 16 {
        // Words of other languages and short names have fewer such pairs, and no digits.
        return !has_pairs(value, if digits == 0 { 40 } else { 50 });
    }
    // A short value must look like a password that satisfies a policy.
    let classes = [digits, symbols, upper, lower].into_iter().filter(|count| *count > 0).count();
    classes >= 3
        && (digits >= 2 || symbols >= 2 || symbols == 1 && digits == 1)
        && (digits > 0 || value.len() >= 10 && !is_english(value))
}

/// Returns whether a person may have chosen a value that stands where a password stands, for `user` if there is one.
pub(crate) fn is_chosen(value: &str, user: &str) -> bool {
    let lower = value.to_lowercase();
    let base = lower.trim_end_matches(|c: char| c.is_ascii_digit() || c == '!');
    let is_common = is_among(COMMON, base) || base.is_empty() && value.len() < 8;
    let is_constant = value.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    if value.len() < 6 || is_common || is_constant || lower == user.to_lowercase() {
        return false;
    }
    let is_reference = value.contains(BRACKETS)
        || value.starts_with(['/', '.', '&'])
        || value.strip_prefix('$').is_some_and(is_name)
        || value.strip_prefix('%').and_then(|rest| rest.strip_suffix('%')).is_some_and(is_name);
    if is_reference || has_placeholder_word(&lower) {
        return false;
    }
    if value.contains(char::is_whitespace) {
        let mut words = value.split_whitespace();
        let is_of_message = |word: &str| is_among(OF_MESSAGES, word) || is_among(COMMON, word);
        return value == lower && words.clone().count() > 2 && !words.any(is_of_message);
    }
    let mut parts = lower.split(|c: char| !c.is_alphanumeric());
    if value.contains(['|', ':', ',']) && parts.clone().any(|part| is_among(COMMON, part)) {
        return false;
    }
    let is_phrase =
        value.len() >= 10 && !parts.any(|part| COMMON.split(' ').any(|c| part.contains(c)));
    value.bytes().any(|b| b.is_ascii_digit() || SYMBOLS.contains(&b))
        || value.len() >= 8 && !is_english(value)
        || is_phrase
}

/// A run of characters that is long enough to be a key by its letters alone.
static RUN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z0-9][A-Za-z0-9_+/-]{39,}").expect("a constant pattern"));

/// How long random texts start that are no secrets.
const OPEN_STARTS: &str = "sha 0x LS0t AAAA 9j/ Qm eyJ";

/// What names a long random text that is no secret.
const OPEN_NAMES: [&str; 16] = [
    "sha", "h1:", "md5", "base64,", "integrity", "fingerprint", "digest", "checksum", "hash",
    "etag", "public", "cid", "address", "nonce", " id", "_id",
];

/// Returns the keys without a name or a known form: long runs with letters of both cases and digits.
pub(crate) fn bare_keys(text: &str) -> impl Iterator<Item = Secret> {
    let is_bare = |(start, run): &(usize, &str)| {
        let has = |class: fn(&u8) -> bool| run.as_bytes().iter().any(class);
        let near = tail(&text[..*start], 24).to_ascii_lowercase();
        let after = text[start + run.len()..].trim_start_matches('=');
        let is_open = OPEN_NAMES.iter().any(|name| near.contains(name))
            || OPEN_STARTS.split(' ').any(|start| run.starts_with(start))
            || near.ends_with(['.', '@', '$', '!', '-', '_'])
            // The start of a certificate; a key goes on with `IB`.
            || run.starts_with("MII") && run[6..].starts_with("CC")
            || after.starts_with(|c: char| c.is_ascii_alphanumeric());
        // Base64 has slashes, and neither dashes nor a suffix.
        let is_path = run.contains('/') && (run.contains(['-', '_']) || after.starts_with('.'));
        let is_alphabet = || {
            let pairs = run.as_bytes().windows(2);
            pairs.filter(|pair| pair[0] + 1 == pair[1]).count() * 2 >= run.len()
        };
        !(is_open || is_path)
            && has(u8::is_ascii_digit)
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_lowercase)
            && !is_alphabet()
            && is_random(run)
    };
    let runs = RUN.find_iter(text).map(|run| (run.start(), run.as_str()));
    let key = |(start, run): (usize, &str)| Secret {
        rule: "random-token",
        range: start..start + run.len(),
    };
    runs.filter(is_bare).map(key)
}

fn is_among(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Returns whether a value is a placeholder for a key.
fn is_placeholder(value: &str) -> bool {
    let mut seen = [false; 256];
    let is_new = |b: &u8| !std::mem::replace(&mut seen[usize::from(*b)], true);
    value.bytes().filter(is_new).count() < 6 || has_placeholder_word(&value.to_ascii_lowercase())
}

fn has_placeholder_word(lower: &str) -> bool {
    let words = [
        "xxxx", "your", "changeme", "change-me", "change_me", "placeholder", "redacted", "...",
        "***", "…", "-goes-here", "replace",
    ];
    words.iter().any(|word| lower.contains(word))
}

/// Returns whether a value is a variable, a call, a template or a path: it refers to a secret.
fn is_reference(value: &str) -> bool {
    value.starts_with(['$', '%', '/', '~', '.', '&']) || value.contains(BRACKETS)
}

/// Returns whether a value consists of words followed by numbers: `my-app-v2`, `RS256/JWT`, `1.2.3-beta.4`.
pub(crate) fn is_wordy(value: &str) -> bool {
    value.split(['-', '_', '.', ':', '/', '=', '+', '@', '#', '|']).all(|part| {
        let number = part.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let word = &part[..part.len() - number.len()];
        let is_number = number.bytes().all(|b| b.is_ascii_digit());
        is_number && (number.len() <= 4 || word.is_empty()) && (word.len() < 8 || is_english(word))
    })
}

/// Returns whether a value is a UUID, a time, or a digest with the name of its algorithm.
fn is_digest(value: &str) -> bool {
    is_uuid(value)
        || value.bytes().all(|b| b.is_ascii_digit() || b"-:.+TZ".contains(&b))
        || value.starts_with("sha") && value.contains([':', '-'])
}

/// Returns whether a value has the form of a UUID.
pub(crate) fn is_uuid(value: &str) -> bool {
    value.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}
