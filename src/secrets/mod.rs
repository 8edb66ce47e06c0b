//! Finds and redacts secrets: keys, tokens and passwords.
//!
//! What is known of them stands in `kinds.txt`. A key of a known kind is found anywhere; another value by what stands
//! before it, such as a name, a flag or the user of an address, or, without that, if it is long and looks random.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use regex::bytes::{Captures, Regex};

use crate::error::{Error, Result};
use crate::text::{is_invisible, is_joiner_or_selector};

/// The replacement for a secret.
pub const REDACTED: &str = "[redacted]";

/// What to do instead of storing a secret, as the hint of a refusal.
pub(crate) const INSTEAD: &str = "say where it is kept instead; --allow-secret stores it anyway";

/// How text that looks like a secret is handled when it is to be stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretPolicy {
    /// It is not stored: the write is refused, or the text is left out or redacted.
    #[default]
    Refuse,
    /// It is stored unchanged.
    Allow,
}

impl SecretPolicy {
    /// Refuses a text, which agents will read back, if it contains what looks like a secret.
    pub(crate) fn check(self, what: &str, text: &str) -> Result<()> {
        match self {
            Self::Allow => Ok(()),
            Self::Refuse => refuse(what, text).map_err(|refusal| refusal.hint(INSTEAD)),
        }
    }
}

/// Refuses a text that nobody can allow.
pub(crate) fn refuse(what: &str, text: &str) -> Result<()> {
    match find_lines(text, 1).first() {
        None => Ok(()),
        Some((rule, line)) => Err(Error::refused(format!(
            "{what} contains what looks like a secret ({rule}, line {line})"
        ))
        .hint("say where it is kept instead")),
    }
}

impl From<bool> for SecretPolicy {
    /// Converts the option `--allow-secret`.
    fn from(is_allowed: bool) -> Self {
        if is_allowed { Self::Allow } else { Self::Refuse }
    }
}

/// A part of a text that looks like a key, token or password.
#[derive(Debug, PartialEq, Eq)]
pub struct Secret {
    /// The rule that matched, as shown in an error: `aws-access-key`, `github-token`, `password`, ….
    pub rule: &'static str,
    /// Byte range: of an assignment the value, of a private key the whole block.
    pub range: Range<usize>,
}

/// A text with its secrets redacted.
#[derive(Debug)]
pub struct Redacted<'a> {
    /// The text with [`REDACTED`] in place of each secret.
    pub text: Cow<'a, str>,
    /// The rules that matched, without duplicates, in the order of the text.
    pub rules: Vec<&'static str>,
}

/// Returns all secrets in the text, in order and without overlaps.
///
/// A hash or a UUID on its own is not a secret, nor is a path or a placeholder. Takes time linear in the length of the
/// text.
pub fn find(text: &str) -> Vec<Secret> {
    // Converters write Markdown's escapes into keys: `ghp\_…`.
    let is_escape = |at: usize, c| c == '\\' && text[at + 1..].starts_with(['_', '-']);
    let mut found = if text.contains("\\_") || text.contains("\\-") {
        without(text, is_escape)
    } else {
        in_plain(text)
    };
    // Pages and chats break long words with characters that nobody sees.
    if !text.is_ascii() && text.contains(is_unseen) {
        found.extend(without(text, |at, c| is_unseen(c) || is_escape(at, c)));
        found.sort_by_key(|secret| (secret.range.start, Reverse(secret.range.end)));
        found.dedup_by(|next, secret| {
            let overlaps = next.range.start < secret.range.end;
            if overlaps {
                secret.range.end = secret.range.end.max(next.range.end);
            }
            overlaps
        });
    }
    found
}

/// Returns whether a character is invisible and may stand inside a key.
fn is_unseen(c: char) -> bool {
    is_invisible(c) || is_joiner_or_selector(c)
}

/// Returns the secrets in the text without the characters, given with their places, that are left out.
fn without(text: &str, is_left_out: impl Fn(usize, char) -> bool) -> Vec<Secret> {
    let mut plain = String::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len() + 1);
    for (at, c) in text.char_indices().filter(|(at, c)| !is_left_out(*at, *c)) {
        plain.push(c);
        places.extend((0..c.len_utf8()).map(|byte| at + byte));
    }
    places.push(text.len());
    let place =
        |Secret { rule, range }| Secret { rule, range: places[range.start]..places[range.end] };
    in_plain(&plain).into_iter().map(place).collect()
}

/// Returns the rule that the first secret in the text matches.
pub(crate) fn first_rule(text: &str) -> Option<&'static str> {
    find(text).first().map(|secret| secret.rule)
}

/// Returns the rule and the line number of every secret in a text whose first line is line `first`.
pub(crate) fn find_lines(text: &str, first: usize) -> Vec<(&'static str, usize)> {
    let (mut line, mut at) = (first, 0);
    let place = |Secret { rule, range }: Secret| {
        line += text[at..range.start].matches('\n').count();
        at = range.start;
        (rule, line)
    };
    find(text).into_iter().map(place).collect()
}

/// Returns the text with every secret replaced, and the rules that matched.
pub fn redact(text: &str) -> Redacted<'_> {
    let (mut clean, mut rules, mut kept) = (String::new(), Vec::new(), 0);
    for Secret { rule, range } in find(text) {
        clean = clean + &text[kept..range.start] + REDACTED;
        kept = range.end;
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    let text = if kept == 0 { Cow::Borrowed(text) } else { Cow::Owned(clean + &text[kept..]) };
    Redacted { text, rules }
}

/// A section of the table: its text, and the expression that it may be.
struct Section {
    text: &'static str,
    expression: OnceLock<Regex>,
}

/// A row of a section of expressions.
struct Row {
    section: &'static str,
    /// The rule, or how the value is judged.
    word: &'static str,
    /// Texts of which each match contains one: compiling the expression takes longer than looking for them.
    parts: &'static str,
    pattern: &'static str,
    expression: OnceLock<Regex>,
}

static SECTIONS: LazyLock<HashMap<&str, Section>> = LazyLock::new(|| {
    let sections = include_str!("kinds.txt").split("\n== ").skip(1);
    // The last paragraph of a section describes the next one.
    let section = |text: &'static str| {
        let (name, rows) = text.split_once('\n').expect("a built-in section");
        let text = rows.rsplit_once("\n\n").map_or(rows, |(rows, _)| rows);
        (name, Section { text, expression: OnceLock::new() })
    };
    sections.map(section).collect()
});

/// For each letter, the letters that often follow it.
static PAIRS: LazyLock<Vec<&str>> =
    LazyLock::new(|| SECTIONS["pairs"].text.split_whitespace().collect());

/// The rows of the sections that are tables of expressions.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let parsed = |section, row: &'static str| {
        let (word, rest) = row.split_once(' ')?;
        let (parts, pattern) = rest.trim_start().split_once(' ')?;
        Some(Row { section, word, parts, pattern, expression: OnceLock::new() })
    };
    let of = |section| {
        rows(section)
            .map(move |row| parsed(section, row).unwrap_or_else(|| panic!("a built-in row: {row}")))
    };
    ["blocks", "forms", "contexts"].into_iter().flat_map(of).collect()
});

/// A kind of keys.
struct Kind {
    rule: &'static str,
    /// The start of its keys.
    start: &'static str,
    /// The characters that follow.
    body: &'static str,
    /// Their least number.
    least: usize,
}

/// The kinds by the first byte of their starts, longer ones first.
static KINDS: LazyLock<BTreeMap<u8, Vec<Kind>>> = LazyLock::new(|| {
    let mut kinds: BTreeMap<u8, Vec<Kind>> = BTreeMap::new();
    for row in rows("prefixes") {
        let words: Vec<&str> = row.split_ascii_whitespace().collect();
        let [rule, body, least, starts @ ..] = words.as_slice() else {
            panic!("a built-in row: {row}");
        };
        let least = least.parse().expect("a built-in number");
        for start in starts {
            kinds.entry(start.as_bytes()[0]).or_default().push(Kind { rule, start, body, least });
        }
    }
    for kinds in kinds.values_mut() {
        kinds.sort_by_key(|kind| Reverse(kind.start.len()));
    }
    kinds
});

/// Number of bytes of a value that are judged: a word of dashes would be read again from each of them.
const JUDGED: usize = 256;

/// Number of bytes that are examined before a name: no line without breaks is read again from each name in it.
const NEAR: usize = 80;

/// The rules of values whose kind is not known.
const PASSWORD: &str = "password";
const TOKEN: &str = "token";
const BEARER: &str = "bearer-token";

/// Least number of characters of a key without a name.
const LONG: usize = 40;

/// Signs in the passwords that people choose.
const SYMBOLS: &[u8] = b"!@#$%^*?~";

/// Returns the rows of a section.
fn rows(section: &str) -> impl Iterator<Item = &'static str> {
    SECTIONS[section].text.lines().filter(|row| !row.is_empty() && !row.starts_with('#'))
}

/// The texts of all rows, which are found in one pass, each with the number of its row.
static PARTS: LazyLock<(AhoCorasick, Vec<(&str, usize)>)> = LazyLock::new(|| {
    let of = |(at, row): (usize, &Row)| row.parts.split('|').map(move |part| (part, at));
    let parts: Vec<(&str, usize)> = ROWS.iter().enumerate().flat_map(of).collect();
    let built = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(parts.iter().map(|(part, _)| part))
        .expect("the built-in table");
    (built, parts)
});

/// Returns the rows whose expressions may match a text.
fn possible_rows(text: &str) -> Vec<&'static Row> {
    let (automaton, parts) = &*PARTS;
    automaton
        .find_overlapping_iter(text)
        .filter_map(|found| {
            let (part, row) = parts[found.pattern()];
            let is_in_any_case = !part.contains(|c: char| c.is_ascii_uppercase());
            (is_in_any_case || text[found.range()] == *part).then_some(row)
        })
        .collect::<BTreeSet<usize>>()
        .into_iter()
        .map(|row| &ROWS[row])
        .collect()
}

/// Returns where the expressions of a section match, each with the first word of its row.
fn matches<'a>(
    section: &str,
    rows: &[&'static Row],
    text: &'a str,
) -> impl Iterator<Item = (&'static str, Captures<'a>)> {
    rows.iter().filter(move |row| row.section == section).flat_map(|row| {
        let expression = row.expression.get_or_init(|| compiled(row.pattern));
        expression.captures_iter(text.as_bytes()).map(|found| (row.word, found))
    })
}

/// Returns the expression that a section is.
fn expression(section: &str) -> &'static Regex {
    let Section { text, expression } = &SECTIONS[section];
    expression.get_or_init(|| compiled(text))
}

/// Returns whether the expression that a section is matches in a text.
fn is_match(section: &str, text: &str) -> bool {
    expression(section).is_match(text.as_bytes())
}

/// Compiles an expression, which may contain sections by their names in capitals.
fn compiled(pattern: &str) -> Regex {
    let whole = ["names", "qualifiers", "between", "to_end", "common", "uuid"]
        .iter()
        .fold(pattern.to_owned(), |whole, name| {
            whole.replace(&name.to_uppercase(), &format!("(?:{})", SECTIONS[name].text))
        });
    Regex::new(&format!("(?x-u){whole}")).expect("the built-in table")
}

fn in_plain(text: &str) -> Vec<Secret> {
    let rows = possible_rows(text);
    let certain = matches("blocks", &rows, text)
        .map(|(rule, found)| Secret { rule, range: found.get_match().range() })
        .chain(keys(text))
        .chain(values(&rows, text))
        .chain(in_tables(text));
    let likely = forms(&rows, text).chain(bare_keys(text));
    let certain = certain.map(|secret| (secret.rule != "-", secret));
    let mut found: Vec<(bool, Secret)> =
        certain.chain(likely.map(|secret| (false, secret))).collect();
    found.sort_by_key(|(_, secret)| (secret.range.start, Reverse(secret.range.end)));
    // What only looks like a key is one if nothing else was found there, nor a certificate or a public key.
    let mut joined: Vec<(bool, Secret)> = Vec::with_capacity(found.len());
    for (is_certain, secret) in found {
        match joined.last_mut() {
            Some((was_certain, last)) if secret.range.start < last.range.end => {
                if is_certain && !*was_certain {
                    (*was_certain, *last) = (true, secret);
                } else if is_certain == *was_certain {
                    last.range.end = last.range.end.max(secret.range.end);
                }
            }
            _ => joined.push((is_certain, secret)),
        }
    }
    joined.into_iter().map(|(_, secret)| secret).filter(|secret| secret.rule != "-").collect()
}

/// Returns the keys with a fixed start.
fn keys(text: &str) -> Vec<Secret> {
    let (mut found, mut end) = (Vec::new(), 0);
    for at in 0..text.len() {
        // A part of a word, or what follows an escaped line break: `\nghp_…`.
        let before = &text.as_bytes()[..at];
        let is_start = !before.last().is_some_and(u8::is_ascii_alphanumeric)
            || matches!(before, [.., b'\\', b'n' | b'r' | b't']);
        if at >= end
            && is_start
            && let Some(key) = key_at(text, at)
        {
            end = key.range.end;
            found.push(key);
        }
    }
    found
}

/// Returns the key that starts at a byte.
fn key_at(text: &str, start: usize) -> Option<Secret> {
    let kinds = KINDS.get(&text.as_bytes()[start])?.iter();
    let rest = &text[start..];
    kinds.filter(|kind| rest.starts_with(kind.start)).find_map(|kind| {
        let is_body = |byte: &u8| match kind.body {
            "hex" => byte.is_ascii_hexdigit(),
            "upper" => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            "alnum" => byte.is_ascii_alphanumeric(),
            signs => byte.is_ascii_alphanumeric() || signs.as_bytes().contains(byte),
        };
        // The full stop of a sentence may follow.
        let in_body = |text: &str| {
            let length = text.bytes().take_while(is_body).count();
            text[..length].trim_end_matches(['.', ':']).len()
        };
        let after = &rest[kind.start.len()..];
        let judged = &after[..in_body(&after[..after.floor_char_boundary(JUDGED)])];
        let is_name = is_slug(judged) || kind.start.len() <= 3 && is_english(judged);
        if judged.len() < kind.least || is_filler(judged) || is_name {
            return None;
        }
        let whole = in_body(after);
        let ends = !after[whole..].starts_with(|c: char| c.is_ascii_alphanumeric());
        let range = start..start + kind.start.len() + whole;
        ends.then_some(Secret { rule: kind.rule, range })
    })
}

/// Returns whether what follows the start of a key is an example, one character, repeated, or has the short parts of a
/// dotted name.
fn is_filler(body: &str) -> bool {
    let longest = body.split(['-', '_', '/']).max_by_key(|part| part.len()).unwrap_or(body);
    longest.bytes().all(|byte| longest.as_bytes()[0] == byte)
        || body.ends_with("EXAMPLE")
        || body.len() < 80 && body.contains('.') && body.split('.').all(|part| part.len() < 16)
}

/// Returns whether words of one case with short numbers follow a prefix: `sk-learn-based-ranking-v2`.
fn is_slug(body: &str) -> bool {
    let seps = ['-', '_', '.', '/'];
    body.contains(seps)
        && is_wordy(body)
        && body.split(seps).filter(|part| !part.is_empty()).all(|part| {
            let has = |class: fn(&u8) -> bool| part.as_bytes()[1..].iter().any(class);
            let is_number = part.len() >= 9 && part.bytes().all(|byte| byte.is_ascii_digit());
            !(is_number || has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase))
        })
}

/// Returns the keys without a fixed start.
fn forms(rows: &[&'static Row], text: &str) -> impl Iterator<Item = Secret> {
    matches("forms", rows, text).filter_map(|(rule, found)| {
        let range = found.get(1).unwrap_or(found.get_match()).range();
        let value = &text[range.clone()];
        // Four short words may be a part of a sentence.
        let is_phrase = value.contains(' ') && is_english(value);
        let is_password = found.len() > 1 && found.name("key").is_none();
        let is_key = if is_password {
            is_chosen(value, "") && !is_phrase
        } else {
            !is_english(value) && !is_match("placeholder", value)
        };
        is_key.then_some(Secret { rule, range })
    })
}

/// Returns the values that what stands before them tells to be secrets.
fn values(rows: &[&'static Row], text: &str) -> impl Iterator<Item = Secret> {
    let mut scanned = 0..0;
    matches("contexts", rows, text).filter_map(move |(judge, found)| {
        let end = found.get_match().end();
        let value = || value_at(text, end).0;
        let Secret { rule, range } = match judge {
            "named" => named(text, &found),
            "url" => url_password(text, found.name("user")?.range(), end),
            "pair" => with_user(text, value()),
            "basic" => encoded(text, value()),
            "bearer" => random(text, value(), BEARER),
            "random" => random(text, value(), TOKEN),
            _ => strong(text, value(), PASSWORD),
        }?;
        Some(Secret { rule, range: range.start..whole_end(text, &range, &mut scanned) })
    })
}

/// Returns the end of a value, of which only the start was judged if it is long.
///
/// `scanned` is what was last read to find one: many names may stand in one long word.
fn whole_end(text: &str, range: &Range<usize>, scanned: &mut Range<usize>) -> usize {
    if range.len() < JUDGED {
        return range.end;
    }
    if !scanned.contains(&range.end) {
        let is_more = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-+/=.".contains(byte);
        let more = text.as_bytes()[range.end..].iter().take_while(is_more);
        *scanned = range.end..range.end + more.count();
    }
    scanned.end
}

/// Returns the value of a name, judged by how the two are connected.
fn named(text: &str, before: &Captures) -> Option<Secret> {
    let (name, between) = (before.name("name")?, before.get_match());
    let rule = rule_of(before)?;
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let head = text.as_bytes()[..name.start()].iter().rev().take(NEAR).take_while(is_part);
    let from = name.start() - head.count();
    let word = text[from..name.end()].rsplit(' ').next().unwrap_or_default();
    let is_env = is_match("variable", word);
    let is_password = rule == PASSWORD;
    let (range, is_quoted) = value_at(text, between.end());
    let (value, after) = (&text[range.clone()], &text[range.end..]);
    let is_written = before.name("password").is_some() && is_word_with_digits(value);
    let is_strong = if before.name("value").is_some() {
        // As attributes, nested, or as fields on lines of their own; the arguments of a call are none.
        let near = tail(&text[..from], NEAR);
        let is_label = ["name", "Name", "key"].iter().any(|label| near.contains(label));
        let is_field = is_quoted || between.as_bytes().contains(&b'\n');
        if !is_field || !is_label && !between.as_bytes().contains(&b'{') {
            return None;
        }
        true
    } else if let Some(separator) = before.name("sep") {
        let sign = separator.as_bytes();
        if sign == b":" && text[separator.end()..].starts_with(':') {
            return None;
        }
        let is_close = sign == b"=" && name.end() + 1 == between.end();
        let is_last = after.is_empty() || after.starts_with(['\n', ';', '&', '\r']);
        let is_element = sign == b">" && after.starts_with("</");
        // As in YAML: on a line of its own.
        let indent = tail(&text[..from], NEAR).rsplit('\n').next().unwrap_or_default();
        let is_line = sign == b":"
            && before.name("password").is_some()
            && indent.bytes().all(|byte| b" \t-".contains(&byte))
            && (after.is_empty() || after.starts_with(['\n', '\r']))
            && value.bytes().any(|byte| byte.is_ascii_digit())
            && !is_wordy(value);
        is_env
            || is_element
            || is_line
            || is_written
            || is_password && (is_quoted || is_close && is_last)
    } else if word.starts_with('-') || is_password && is_quoted {
        true
    } else if is_quoted || before.name("is").is_some() || is_env && word.contains('_') {
        is_written
    } else {
        return None;
    };
    if is_strong { strong(text, range, rule) } else { random(text, range, rule) }
}

/// Returns the rule for the value of a name that was found, unless the value is public.
fn rule_of(name: &Captures) -> Option<&'static str> {
    let has = |group: &str| name.name(group).is_some();
    (!has("public")).then_some(if has("password") || has("pass") { PASSWORD } else { TOKEN })
}

/// Returns the word by which a name, perhaps in the plural, is the name of a secret.
pub(crate) fn secret_name(name: &str) -> Option<&'static str> {
    let found = expression("name").captures(tail(name, NEAR).as_bytes())?;
    if ["public", "pass", "part", "any_key"].iter().any(|group| found.name(group).is_some()) {
        return None;
    }
    if found.name("password").is_some() {
        return Some(PASSWORD);
    }
    let name = name.to_ascii_lowercase();
    ["secret", TOKEN, "credential"].into_iter().find(|word| name.contains(word)).or(Some("key"))
}

/// Returns the secrets in the cells of tables: below a head, or after a cell, that is the name of a secret.
fn in_tables(text: &str) -> Vec<Secret> {
    let is_frame = |c: char| c.is_whitespace() || "\"'`*".contains(c);
    let rule = |cell: &&str| {
        let name = expression("name").captures(tail(cell, NEAR).as_bytes())?;
        rule_of(&name).filter(|_| name["plural"].is_empty())
    };
    let mut secrets = Vec::new();
    let lines = text.lines().take(if text.contains('|') { usize::MAX } else { 0 });
    let (mut head, mut columns): (Vec<&str>, Vec<Option<&str>>) = (Vec::new(), Vec::new());
    for line in lines {
        let cells: Vec<&str> = line.split('|').map(|cell| cell.trim_matches(is_frame)).collect();
        if cells.len() == 1 {
            columns.clear();
        } else if line.contains("--") && line.bytes().all(|b| b"|-: \t\r".contains(&b)) {
            columns = head.iter().map(rule).collect();
        } else {
            for (at, cell) in cells.iter().enumerate() {
                let start = cell.as_ptr() as usize - text.as_ptr() as usize;
                let range = start..start + cell.len();
                let is_word = !cell.contains(char::is_whitespace);
                if !is_word || strong(text, range.clone(), PASSWORD).is_none() {
                    continue;
                }
                let row = || cells[1..].get(at.checked_sub(2)?).and_then(rule);
                let rule = columns.get(at).copied().flatten().or_else(row);
                secrets.extend(rule.and_then(|rule| strong(text, range, rule)));
            }
        }
        head = cells;
    }
    secrets
}

/// Returns the range of the value at `start`, without quotes, and whether it stands in quotes.
fn value_at(text: &str, start: usize) -> (Range<usize>, bool) {
    let window = &text[start..text.floor_char_boundary(start + JUDGED)];
    let open = window.trim_start_matches(['\\', '*']);
    let start = start + window.len() - open.len();
    let quote = open.chars().next().filter(|c| "\"'`".contains(*c));
    if let Some(quote) = quote {
        let ends = open[1..].find([quote, '\n']).map(|end| &open[1..=end]);
        if let Some(value) = ends.filter(|value| open[1 + value.len()..].starts_with(quote)) {
            return (start + 1..start + 1 + value.trim_end_matches('\\').len(), true);
        }
    }
    let (start, open) = quote.map_or((start, open), |_| (start + 1, &open[1..]));
    let ends = |c: char| c.is_whitespace() || "\"'`,;|<。，".contains(c);
    let value = &open[..open.find(ends).unwrap_or(open.len())];
    let field = expression("field").find(value.as_bytes());
    let value = &value[..field.map_or(value.len(), |field| field.start())];
    // The punctuation that closes a sentence is not a part of it.
    let value = value.trim_end_matches(['.', ')', ']', '}', '>', '*', '\\', ':']);
    (start..start + value.len(), false)
}

/// Returns the password of an address, which starts at a byte.
fn url_password(text: &str, user: Range<usize>, start: usize) -> Option<Secret> {
    let window = &text[start..text.floor_char_boundary(start + 2 * JUDGED)];
    let value = expression("address").captures(window.as_bytes())?.get(1)?;
    let range = start..start + value.len();
    let value = &text[range.clone()];
    // With a separator it may be a part of a path.
    let is_path = value.contains(['/', ':', '\'']) && is_wordy(value);
    if is_path || is_match("port", value) {
        return None;
    }
    let is_secret =
        is_chosen(value, &text[user]) || random(text, range.clone(), PASSWORD).is_some();
    is_secret.then_some(Secret { rule: "url-password", range })
}

/// Returns a value in base64 that holds a user and a password.
fn encoded(text: &str, range: Range<usize>) -> Option<Secret> {
    let word = &text[range.clone()];
    let decoded =
        STANDARD.decode(word).or_else(|_| STANDARD_NO_PAD.decode(word.trim_end_matches('=')));
    let decoded = String::from_utf8(decoded.ok()?).ok()?;
    let (user, password) = decoded.split_once(':')?;
    (!decoded.contains(char::is_control) && is_chosen(password, user))
        .then_some(Secret { rule: "basic-auth", range })
}

/// Returns the password in `user:password`.
fn with_user(text: &str, range: Range<usize>) -> Option<Secret> {
    let (user, password) = text[range.clone()].split_once(':')?;
    let range = range.end - password.len()..range.end;
    is_chosen(password, user).then_some(Secret { rule: PASSWORD, range })
}

/// Returns the value as a secret if it looks random.
fn random(text: &str, range: Range<usize>, rule: &'static str) -> Option<Secret> {
    let value = &text[range.clone()];
    let least = if rule == BEARER { 16 } else { 8 };
    let after = &text[range.end..];
    // The parameters of a type are not the end of an element.
    let goes_on = after.starts_with("..") || after.starts_with('<') && !after.starts_with("</");
    (value.len() >= least && !goes_on && is_random(value)).then_some(Secret { rule, range })
}

/// Returns the value as a secret if a person could have chosen it, or it could be the key that its place asks for.
fn strong(text: &str, range: Range<usize>, rule: &'static str) -> Option<Secret> {
    let value = &text[range.clone()];
    let is_strong = rule == PASSWORD && is_chosen(value, "") || is_match("uuid", value);
    random(text, range.clone(), rule)
        .or_else(|| is_strong.then_some(Secret { rule: PASSWORD, range: range.clone() }))
        .or_else(|| encoded(text, range))
}

/// Returns the keys that only their letters tell: long texts with letters of both cases and digits.
fn bare_keys(text: &str) -> impl Iterator<Item = Secret> {
    // A regular expression would be compiled for every text, which takes longer than most commands do without it.
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_+/-".contains(byte);
    text.as_bytes().split(move |byte| !is_part(byte)).filter_map(|run| {
        let signs = run.iter().take_while(|byte| !byte.is_ascii_alphanumeric()).count();
        let run = &run[signs..];
        if run.len() < LONG {
            return None;
        }
        let start = run.as_ptr() as usize - text.as_ptr() as usize;
        let end = start + run.len();
        let padding = text[end..].bytes().take(2).take_while(|byte| *byte == b'=').count();
        let range = start..end + padding;
        let token = &text[range.clone()];
        let is_public = || {
            is_match("public-token", token)
                || is_match("public-label", tail(&text[..range.start], 24))
        };
        let key = token.trim_end_matches('=');
        let (after, is_letter) = (&text[range.end..], |c: char| c.is_ascii_alphanumeric());
        // Base64 has slashes, and neither dashes nor a suffix, but the full stop of a sentence may follow.
        let has_suffix = after.strip_prefix('.').is_some_and(|rest| rest.starts_with(is_letter));
        let is_path = key.contains('/') && (key.contains(['-', '_']) || has_suffix);
        let has = |class: fn(&u8) -> bool| token.as_bytes().iter().any(class);
        let is_mixed =
            has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
        let is_part = after.starts_with(is_letter);
        (is_mixed && !is_path && !is_part && is_random(key) && !is_public())
            .then_some(Secret { rule: "random-token", range })
    })
}

/// Returns whether at least half of the neighbouring letters and digits are a pair that words have.
///
/// This holds for 98 of 100 identifiers, and for one of 2,000 random strings of 20 letters and digits.
fn is_english(value: &str) -> bool {
    has_pairs(value, 50)
}

/// Returns whether so many percent of the neighbouring letters and digits are a pair that words have.
fn has_pairs(value: &str, percent: usize) -> bool {
    let is_common = |pair: &[u8]| {
        let (first, second) = (pair[0].to_ascii_lowercase(), pair[1].to_ascii_lowercase());
        PAIRS
            .get(usize::from(first.wrapping_sub(b'a')))
            .is_some_and(|row| row.as_bytes().contains(&second))
    };
    let is_part = |pair: &&[u8]| pair.iter().all(u8::is_ascii_alphanumeric);
    let pairs = value.as_bytes().windows(2).filter(is_part);
    let (all, common) =
        pairs.fold((0, 0), |(all, common), pair| (all + 1, common + usize::from(is_common(pair))));
    common * 100 >= all * percent
}

/// Returns whether a value looks random, unlike a word, a path, a reference or a hash.
fn is_random(value: &str) -> bool {
    let (mut digits, mut symbols, mut upper, mut lower) = (0, 0, 0, 0);
    for byte in value.bytes() {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'A'..=b'Z' => upper += 1,
            b'a'..=b'z' => lower += 1,
            _ => symbols += usize::from(SYMBOLS.contains(&byte)),
        }
    }
    // As the passwords that mail services make for an app.
    let is_app = value.len() == 16 && lower == 16;
    let is_mixed = value.len() >= 10 && upper > 0 && lower > 0;
    // Nearly every value ends here.
    if upper + lower == 0 || digits + symbols == 0 && !is_mixed && !is_app {
        return false;
    }
    // Base64 may begin with a slash.
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let is_long = value.len() >= 40 && value.bytes().all(is_base64);
    let value = if is_long { value.trim_start_matches('/') } else { value };
    let mut seen = [false; 256];
    let is_new = |b: &u8| !std::mem::replace(&mut seen[usize::from(*b)], true);
    let is_text = !value.is_ascii() || value.contains(char::is_whitespace);
    let is_reference = value.starts_with(['$', '%', '~']) || is_match("reference", value);
    let is_placeholder = value.bytes().filter(is_new).count() < 6 || is_match("placeholder", value);
    if is_text || is_placeholder || is_reference || is_wordy(value) || is_match("digest", value) {
        return false;
    }
    if value.len() >= 16 && !is_app {
        // Words of other languages and short names have fewer such pairs, and no digits.
        return !has_pairs(value, if digits == 0 { 40 } else { 50 });
    }
    // A short value must be of letters with an odd capital, unlike `HttpOnlyCookie`, or look like a password that satisfies a
    // policy.
    let is_odd = value[1..].bytes().any(|b| b.is_ascii_uppercase()) && !has_pairs(value, 40);
    let classes = [digits, symbols, upper, lower].into_iter().filter(|count| *count > 0).count();
    is_app
        || is_mixed && is_odd && value.bytes().all(|b| b.is_ascii_alphanumeric())
        || classes >= 3
            && (digits >= 2 || symbols >= 2 || symbols == 1 && digits == 1)
            && (digits > 0 || value.len() >= 10 && !is_english(value))
}

/// Returns whether a person may have chosen a value that stands where a password stands, for `user` if there is one.
fn is_chosen(value: &str, user: &str) -> bool {
    let is_unlikely = |section: &&str| is_match(section, value);
    if value.len() < 6
        || value.to_lowercase() == user.to_lowercase()
        || ["common-value", "placeholder", "reference"].iter().any(is_unlikely)
    {
        return false;
    }
    if value.contains(char::is_whitespace) {
        return value == value.to_lowercase()
            && value.split_whitespace().count() > 2
            && !is_match("of-message", value);
    }
    if value.contains(['|', ':', ',']) && is_match("common-part", value) {
        return false;
    }
    value.bytes().any(|b| b.is_ascii_digit() || SYMBOLS.contains(&b))
        || value.len() >= 8 && !is_english(value)
        || value.len() >= 10 && !is_match("common-anywhere", value)
}

/// Returns whether a value is one word of letters and digits, as people write a password behind its name; code has calls and
/// paths there, prose has algorithms and sizes.
fn is_word_with_digits(value: &str) -> bool {
    let has = |class: fn(&u8) -> bool| value.as_bytes().iter().any(class);
    has(u8::is_ascii_digit)
        && value.starts_with(|c: char| c.is_ascii_alphabetic())
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || SYMBOLS.contains(&byte))
        && !is_match("algorithm", value)
        && !is_match("common-anywhere", value)
}

/// Returns whether a value consists of words followed by numbers: `my-app-v2`, `RS256/JWT`, `1.2.3-beta.4`.
fn is_wordy(value: &str) -> bool {
    value.split(['-', '_', '.', ':', '/', '=', '+', '@', '#', '|']).all(|part| {
        let number = part.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let word = &part[..part.len() - number.len()];
        let is_number = number.bytes().all(|b| b.is_ascii_digit());
        is_number && (number.len() <= 4 || word.is_empty()) && (word.len() < 8 || is_english(word))
    })
}

/// Returns the last bytes of a text.
fn tail(text: &str, length: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(length))..]
}

#[cfg(test)]
mod tests;
