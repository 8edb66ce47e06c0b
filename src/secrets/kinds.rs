//! The kinds of keys whose format says what they are.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::LazyLock;

use regex_lite::Regex;

use crate::secrets::Secret;
use crate::secrets::value::{is_english, is_wordy};

/// The characters after the prefix of a key.
#[derive(Clone, Copy)]
enum Body {
    Hex,
    Upper,
    Alnum,
    /// Letters, digits, `-` and `_`.
    Word,
    /// The same, with dots: no part of it is short.
    Dotted,
    /// What base64 and percent-encoding use, and the slashes and dots of a path.
    Any,
}

use Body::{Alnum, Any, Dotted, Hex, Upper, Word};

impl Body {
    fn named(name: &str) -> Self {
        match name {
            "hex" => Hex,
            "upper" => Upper,
            "alnum" => Alnum,
            "word" => Word,
            "dotted" => Dotted,
            _ => Any,
        }
    }

    fn contains(self, byte: u8) -> bool {
        match self {
            Hex => byte.is_ascii_hexdigit(),
            Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Alnum => byte.is_ascii_alphanumeric(),
            Word => byte.is_ascii_alphanumeric() || b"-_".contains(&byte),
            Dotted => byte.is_ascii_alphanumeric() || b"-_.".contains(&byte),
            Any => byte.is_ascii_alphanumeric() || b"-_./+=%:~$@".contains(&byte),
        }
    }
}

/// The kinds; the file says how it is read.
const TABLE: &str = include_str!("kinds.txt");

/// A kind with a prefix: its name, the prefix, and what follows it with the least number of characters.
type Kind = (&'static str, &'static str, Body, usize);

/// A kind without one: its name, a text that each key contains, and the whole form.
type Form = (&'static str, &'static str, Regex);

/// The kinds by the first byte of their prefixes, longer prefixes first, and those without a prefix.
static KINDS: LazyLock<(Vec<Vec<Kind>>, Vec<Form>)> = LazyLock::new(|| {
    let (mut kinds, mut forms) = (vec![Vec::new(); 128], Vec::new());
    for row in TABLE.lines().filter(|row| !row.starts_with('#')) {
        let mut words = row.split_whitespace();
        let (Some(rule), Some(body), Some(third)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        if body == "~" {
            forms.extend(words.next().and_then(|form| Some((rule, third, Regex::new(form).ok()?))));
            continue;
        }
        let (body, least) = (Body::named(body), third.parse().unwrap_or(usize::MAX));
        for prefix in words {
            kinds[usize::from(prefix.as_bytes()[0])].push((rule, prefix, body, least));
        }
    }
    for row in &mut kinds {
        row.sort_by_key(|kind: &Kind| Reverse(kind.1.len()));
    }
    (kinds, forms)
});

/// Number of bytes of a key that are judged: a word of dashes would be read again from each of them.
pub(crate) const JUDGED: usize = 256;

/// Returns the key that starts at `start`, in a run of characters without spaces or quotes that ends at `end`.
pub(crate) fn key_at(text: &str, start: usize, end: usize) -> Option<Secret> {
    const SHORTEST: usize = 16;
    if end < start + SHORTEST {
        return None;
    }
    let rest = &text[start..end];
    if rest.starts_with("eyJ") {
        let length = signed_token(rest)?;
        return Some(Secret { rule: "jwt", range: start..start + length });
    }
    let kinds = KINDS.0.get(usize::from(rest.as_bytes()[0]))?;
    kinds.iter().filter(|kind| rest.starts_with(kind.1)).find_map(|(rule, prefix, body, least)| {
        let length = |text: &str| text.bytes().take_while(|b| body.contains(*b)).count();
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

/// Returns the key without a prefix in a run of characters.
pub(crate) fn form_in(text: &str, run: Range<usize>) -> Option<Secret> {
    let word = &text[run.start..text.floor_char_boundary(run.end.min(run.start + 2 * JUDGED))];
    let mut forms = KINDS.1.iter().filter(|form| word.len() >= 20 && word.contains(form.1));
    forms.find_map(|(rule, _, form)| {
        let found = form.captures(word)?;
        let range = found.get(1).or_else(|| found.get(0))?.range();
        let is_name = *rule == "vendor-key" && is_english(&word[range.clone()]);
        (!is_name).then_some(Secret { rule, range: run.start + range.start..run.start + range.end })
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
            let is_number = part.len() >= 9 && part.bytes().all(|b| b.is_ascii_digit());
            !(is_number || has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase))
        })
}

/// Returns the length of the three dotted parts of a signed JWT.
fn signed_token(text: &str) -> Option<usize> {
    let mut length = 0;
    for most in [1024, usize::MAX, usize::MAX] {
        let rest = if length == 0 { text } else { text[length..].strip_prefix('.')? };
        let part = rest.bytes().take(most).take_while(|b| Word.contains(*b)).count();
        if part < 10 {
            return None;
        }
        length = text.len() - rest.len() + part;
    }
    Some(length)
}
