//! The kinds of keys whose format says what they are.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::LazyLock;

use regex_lite::Regex;

use crate::secrets::values::{is_english, is_wordy, whole_end};
use crate::secrets::{Secret, is_word};

/// The kinds; the file says how it is read.
const TABLE: &str = include_str!("kinds.txt");

/// A kind with a prefix: its name, the prefix, the characters that follow it, and their least number.
type Kind = (&'static str, &'static str, &'static str, usize);

/// A kind without one: its name, a text that each key contains, and the whole form.
type Form = (&'static str, &'static str, Regex);

/// The kinds by the first byte of their prefixes, longer prefixes first, and those without a prefix.
static KINDS: LazyLock<(Vec<Vec<Kind>>, Vec<Form>)> = LazyLock::new(|| {
    let (mut kinds, mut forms) = (vec![Vec::new(); 128], Vec::new());
    for row in TABLE.lines().filter(|row| !row.starts_with('#')) {
        let words: Vec<&str> = row.split_whitespace().collect();
        let [rule, body, third, prefixes @ ..] = &words[..] else {
            assert!(words.is_empty(), "the built-in table: {row}");
            continue;
        };
        if *body == "~" {
            let form = Regex::new(prefixes[0]).expect("the built-in table");
            forms.push((*rule, *third, form));
            continue;
        }
        let least = third.parse().expect("the built-in table");
        for prefix in prefixes {
            kinds[usize::from(prefix.as_bytes()[0])].push((*rule, *prefix, *body, least));
        }
    }
    for row in &mut kinds {
        row.sort_by_key(|kind: &Kind| Reverse(kind.1.len()));
    }
    (kinds, forms)
});

/// Number of bytes of a value that are judged: a word of dashes would be read again from each of them.
pub(crate) const JUDGED: usize = 256;

/// Returns whether a byte is one of a body's characters, which the table names.
fn is_in(body: &str, byte: u8) -> bool {
    match body {
        "hex" => byte.is_ascii_hexdigit(),
        "upper" => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        "alnum" => byte.is_ascii_alphanumeric(),
        "word" => is_word(byte),
        "dotted" => is_word(byte) || byte == b'.',
        _ => is_word(byte) || b"./+=%:~$@".contains(&byte),
    }
}

/// Returns the keys with a prefix, and the signed tokens.
pub(crate) fn keys(text: &str) -> Vec<Secret> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let part = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        // After an escaped line break: `\nghp_…`.
        let is_escaped = at > 0 && bytes[at - 1] == b'\\' && b"nrt".contains(&bytes[at]);
        let starts = if part == 0 { 0..0 } else { at..at + 1 + usize::from(is_escaped) };
        let key = starts.into_iter().find_map(|start| key_at(text, start));
        at = key.as_ref().map_or(at + part.max(1), |key| key.range.end);
        found.extend(key);
    }
    found
}

/// Returns the key that starts at a byte.
fn key_at(text: &str, start: usize) -> Option<Secret> {
    let rest = text.get(start..)?;
    let is_published = ["live_", "test_"].iter().any(|mode| rest.starts_with(mode));
    if is_published && text[..start].ends_with("pk_") {
        return None;
    }
    if let Some(length) = signed_token(rest) {
        return Some(Secret { rule: "jwt", range: start..start + length });
    }
    let kinds = KINDS.0.get(usize::from(*rest.as_bytes().first()?))?;
    kinds.iter().filter(|kind| rest.starts_with(kind.1)).find_map(|(rule, prefix, body, least)| {
        let length = |text: &str| text.bytes().take_while(|byte| is_in(body, *byte)).count();
        let after = &rest[prefix.len()..];
        let judged = length(&after[..after.floor_char_boundary(JUDGED)]);
        // The full stop of a sentence may follow.
        let judged = after[..judged].trim_end_matches(['.', ':']);
        let is_example = *rule == "aws-access-key" && judged.ends_with("EXAMPLE");
        let is_name = is_slug(judged) || prefix.len() <= 3 && is_english(judged);
        if judged.len() < *least || is_example || is_filler(judged) || is_name {
            return None;
        }
        let whole = after[..length(after)].trim_end_matches(['.', ':']).len();
        let ends = !after[whole..].starts_with(|c: char| c.is_ascii_alphanumeric());
        ends.then(|| Secret { rule, range: start..start + prefix.len() + whole })
    })
}

/// Returns the length of the three dotted parts of a signed JWT.
fn signed_token(text: &str) -> Option<usize> {
    let mut length = 0;
    if !text.starts_with("eyJ") {
        return None;
    }
    for most in [1024, usize::MAX, usize::MAX] {
        let rest = if length == 0 { text } else { text[length..].strip_prefix('.')? };
        let part = rest.bytes().take(most).take_while(|byte| is_word(*byte)).count();
        if part < 10 {
            return None;
        }
        length = text.len() - rest.len() + part;
    }
    Some(length)
}

/// Returns the keys without a prefix in the runs of characters that a key may have.
pub(crate) fn forms(text: &str) -> impl Iterator<Item = Secret> {
    let is_in_run = |c: char| c.is_ascii_graphic() && !"\"'`<>(){}[],;|\\".contains(c);
    let runs = text.split(move |c| !is_in_run(c)).filter(|run| run.len() >= 20);
    runs.filter_map(|run| {
        let start = run.as_ptr() as usize - text.as_ptr() as usize;
        let run = &run[..run.len().min(2 * JUDGED)];
        KINDS.1.iter().filter(|form| run.contains(form.1)).find_map(|(rule, _, form)| {
            let found = form.captures(run)?;
            let Range { start: from, end } = found.get(1).or_else(|| found.get(0))?.range();
            let is_published =
                ["pk_live_", "pk_test_"].iter().any(|key| run[from..].starts_with(key));
            let is_name = *rule == "vendor-key" && (is_published || is_english(&run[from..end]));
            let range = start + from..start + end;
            let range = range.start..whole_end(text, &range);
            (!is_name).then_some(Secret { rule, range })
        })
    })
}

/// Returns whether what follows a prefix is one character, repeated, or has the short parts of a dotted name.
fn is_filler(body: &str) -> bool {
    let is_repeated = |part: &str| part.bytes().all(|byte| part.as_bytes()[0] == byte);
    let last = body.rsplit(['-', '_']).find(|part| !part.is_empty()).unwrap_or(body);
    (last.len() >= 8 && is_repeated(last))
        || body.split(['-', '_', '/']).all(is_repeated)
        || body.len() < 80 && body.contains('.') && body.split('.').all(|part| part.len() < 16)
}

/// Returns whether words of one case with short numbers follow a prefix: `sk-learn-based-ranking-v2`.
fn is_slug(body: &str) -> bool {
    let mut parts = body.split(['-', '_', '.', '/']).filter(|part| !part.is_empty());
    body.contains(['-', '_', '.', '/'])
        && is_wordy(body)
        && parts.all(|part| {
            let has = |class: fn(&u8) -> bool| part.as_bytes()[1..].iter().any(class);
            let is_number = part.len() >= 9 && part.bytes().all(|byte| byte.is_ascii_digit());
            !(is_number || has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase))
        })
}

/// Returns the armored private keys, and the other armored texts such as certificates, as far as each looks like one.
/// The line breaks may be escaped.
pub(crate) fn armored(text: &str) -> (Vec<Secret>, Vec<Secret>) {
    const BEGIN: &str = "-----BEGIN ";
    const DASHES: &str = "-----";
    let (mut private, mut open) = (Vec::new(), Vec::new());
    for (start, _) in text.match_indices(BEGIN) {
        let label = &text[start + BEGIN.len()..];
        let Some(length) = label.find(DASHES).filter(|length| *length < 40) else { continue };
        let is_private = label[..length].contains("PRIVATE KEY");
        let body = start + BEGIN.len() + length + DASHES.len();
        let footer = text[body..].find(DASHES).map(|length| body + length);
        let end = match footer.filter(|footer| text[*footer..].starts_with("-----END")) {
            Some(footer) => {
                let label = footer + DASHES.len();
                text[label..].find(DASHES).map_or(label, |length| label + length + DASHES.len())
            }
            None => body + encoded_lines(&text[body..]),
        };
        let found = if is_private { &mut private } else { &mut open };
        found.push(Secret { rule: "private-key", range: start..end });
    }
    (private, open)
}

/// Returns the length of the lines of base64 at the start of a text, whose breaks may be escaped.
fn encoded_lines(text: &str) -> usize {
    let mut length = 0;
    loop {
        let line = text[length..].trim_start_matches(|c: char| c.is_whitespace() || c == '>');
        let line = line.trim_start_matches("\\n");
        let is_encoded = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
        let word = line.bytes().take_while(is_encoded).count();
        if word < 16 {
            return length;
        }
        length = text.len() - line.len() + word;
    }
}
