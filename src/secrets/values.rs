//! Finds values by what stands before them: the name of a secret, a flag, the scheme of a header, the user of an address.
//! Their characters say whether a value is a secret, a word or a placeholder.

use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use regex::Regex;
use regex::bytes::{Captures, Regex as BytesRegex};

use crate::secrets::kinds::JUDGED;
use crate::secrets::{Secret, is_word, tail};

/// How the name of a secret ends. Some are words like others unless they are a part of a longer name: `DB_PASS`, `dbPass`.
const NAMES: &str = r#"(?-u:(?:
    (?P<password>(?i:pass[_\-\ ]{0,2}(?:word|phrase|code)|passwd|pwd|passwort|requirepass))
    |(?P<header>(?i:authorization))
    |(?i:secret|token|credential)
    |(?i:api|access|secret|private|auth|encryption|signing|account|master|storage|subscription|app|application|consumer
        |deploy|admin|write|role|license|client|shared)[\-_.\ ]{0,2}(?i:key(?:_base)?)
    |(?P<pass>[_.\-](?i:pass)|[a-z0-9]Pass)
    |(?P<part>[_.\-"'?&](?i:auth|pat|sig|jwt)|[a-z0-9](?:Auth|Pat|Sig|Jwt))
    |(?P<open>[A-Z0-9]_KEY)
    ))"#;

/// What may follow such a name: `API_KEY_PROD`, `AUTH_TOKEN_V2`, `password1`.
const QUALIFIERS: &str = r"(?-u:[0-9]{0,2}(?:[\-_.](?i:prod|production|dev|development|stage|staging|live|test|qa|uat|main|primary
    |secondary|backup|old|new|v?[0-9]{1,2})){0,2})";

/// Between a name and its value: a separator, what an element, a cell or a sibling has in its place, or spaces.
const BETWEEN: &str = r#"(?-u:(?P<close>[\ \t"'`*\\]{0,5})
        (?:(?P<sep>=>|:=|={1,3}|[:|>])|[,\ \t\r\n\-"']{1,9}[vV]alue["']?[\ \t]?(?P<value>[:=]))[\ \t*]{0,6}
    |[\ \t]{1,4}(?P<is>is[\ \t])?)"#;

/// Everything that a value may follow; the user of an address stands between its scheme and a colon.
static BEFORE: LazyLock<BytesRegex> = LazyLock::new(|| {
    let pattern = format!(
        r#"(?x)(?-u:://[^\s/@:"'`<>]*(?P<url>:))
        |(?P<user>--(?:proxy-)?user[\ =])
        |(?P<flag>[\ \t]-[a-zA-Z][\ \t]?)
        |(?P<name>{NAMES}{QUALIFIERS})(?:{BETWEEN})(?-u:["'`]?(?i:(?P<scheme>basic|bearer|token|apikey|key|bot|ssws))[\ \t]{{1,4}})?
        |(?-u:(?P<alone>(?i:basic|bearer))[\ \t]{{1,4}})"#
    );
    BytesRegex::new(&pattern).expect("a constant pattern")
});

/// The password of an address, up to the last `@` that may precede the host: people seldom encode the characters that an
/// address reserves. After the first `@`, one of those ends the host.
static PASSWORD: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x)^((?:[^\s\p{Cc}"'`<>@]|'[\p{L}\p{N}])*(?:@(?:[^\s\p{Cc}"'`<>@/?\#,]|'[\p{L}\p{N}])*)*)@"#;
    Regex::new(pattern).expect("a constant pattern")
});

/// The end of a text that is the name of a secret.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!("(?x){NAMES}(?P<plural>s?){QUALIFIERS}$")).expect("a constant pattern")
});

/// Keys that `…_KEY` names and that are no secrets.
const OPEN_KEYS: &str = "PUBLIC PUBLISHABLE PRIMARY FOREIGN SORT CACHE PARTITION HASH IDEMPOTENCY";

/// Programs whose short flag takes a password, or a user with one.
const FLAGS: [(&str, &str); 13] = [
    ("curl", "-u"),
    ("http ", "-a"),
    ("https ", "-a"),
    ("mysql", "-p"),
    ("mariadb", "-p"),
    ("sshpass", "-p"),
    ("docker login", "-p"),
    ("mongo", "-p"),
    ("7z", "-p"),
    ("redis-cli", "-a"),
    ("ldap", "-w"),
    ("sqlcmd", "-P"),
    ("mosquitto", "-P"),
];

/// Number of bytes that are examined before a name: no line without breaks is read again from each name in it.
const NEAR: usize = 80;

/// What a name says about its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    Password,
    Key,
    /// `Authorization`, whose value may begin with a scheme.
    Header,
}

/// Returns the word by which a name, perhaps in the plural, is the name of a secret.
pub(crate) fn secret_name(name: &str) -> Option<&'static str> {
    let found = NAME.captures(tail(name, NEAR))?;
    let has = |group: &&str| found.name(group).is_some();
    if ["header", "pass", "part", "open"].iter().any(has) {
        return None;
    }
    if found.name("password").is_some() {
        return Some("password");
    }
    let name = found[0].to_ascii_lowercase();
    ["secret", "token", "credential"].into_iter().find(|word| name.contains(word)).or(Some("key"))
}

/// Returns what the name at the end of a text says.
fn name_before(text: &str) -> Option<Name> {
    let text = tail(text, NEAR);
    let found = NAME.captures(text)?;
    let is_open = !found["plural"].is_empty()
        || found.name("open").is_some_and(|open| is_open_key(&text[..=open.start()]));
    let password = found.name("password").or_else(|| found.name("pass"));
    (!is_open).then_some(if password.is_some() { Name::Password } else { Name::Key })
}

fn is_open_key(text: &str) -> bool {
    OPEN_KEYS.split(' ').any(|open| text.ends_with(open))
}

/// Returns the values that their names, or other texts before them, tell to be secrets.
pub(crate) fn values(text: &str) -> Vec<Secret> {
    let mut found =
        if text.contains("--") && text.contains('|') { in_columns(text) } else { Vec::new() };
    let mut at = 0;
    while let Some(before) = BEFORE.captures_at(text.as_bytes(), at) {
        let whole = before.get_match();
        found.extend(value_after(text, &before));
        // A flag of one letter may be the start of a long one.
        at = if before.name("flag").is_some() { whole.start() + 2 } else { whole.end() };
    }
    for secret in &mut found {
        secret.range.end = whole_end(text, &secret.range);
    }
    found
}

/// Returns the end of a value, of which only the start was judged if it is long.
pub(crate) fn whole_end(text: &str, range: &Range<usize>) -> usize {
    let is_more = |byte: &u8| is_word(*byte) || b"+/=.".contains(byte);
    let is_cut = range.len() >= JUDGED;
    let more = text.as_bytes()[range.end..].iter().take_while(|byte| is_cut && is_more(byte));
    range.end + more.count()
}

fn value_after(text: &str, before: &Captures) -> Option<Secret> {
    let has = |group: &str| before.name(group).is_some();
    let (start, end) = (before.get_match().start(), before.get_match().end());
    if has("url") {
        return url_password(text, start + 3, end);
    }
    if has("flag") {
        return after_flag(text, start, end);
    }
    if has("user") {
        return with_user(text, value_at(text, end, false).0);
    }
    let scheme = before.name("scheme").or_else(|| before.name("alone"));
    let is_of = |name: &[u8]| scheme.is_some_and(|it| it.as_bytes().eq_ignore_ascii_case(name));
    if is_of(b"basic") {
        return encoded(text, value_at(text, end, false).0);
    }
    if is_of(b"bearer") || has("header") {
        return random(text, value_at(text, end, false).0, Name::Header);
    }
    if before.name("open").is_some_and(|open| is_open_key(&text[..=open.start()])) {
        return None;
    }
    let is_password = has("password") || has("pass");
    named(text, before, if is_password { Name::Password } else { Name::Key })
}

/// Returns the value of a name, judged by how the two are connected.
fn named(text: &str, before: &Captures, name: Name) -> Option<Secret> {
    let is_part = |byte: &&u8| is_word(**byte) || **byte == b'.';
    let found = before.name("name")?;
    let head = text.as_bytes()[..found.start()].iter().rev().take(NEAR).take_while(is_part);
    let from = found.start() - head.count();
    let near = tail(&text[..from], NEAR);
    let word = text[from..found.end()].rsplit(' ').next().unwrap_or_default();
    // A variable of the environment, or a header.
    let is_env = word.starts_with("X-")
        || word.len() > 2
            && word.bytes().all(|b| b == b'_' || b.is_ascii_digit() || b.is_ascii_uppercase());
    let is_password = name == Name::Password;
    let between = before.get_match();
    // What may be the scheme of a header is the value of any other name.
    let end = before.name("scheme").map_or(between.end(), |scheme| scheme.start());
    let (range, is_quoted) = value_at(text, end, near.ends_with(['?', '&']));
    if before.name("value").is_some() {
        // As attributes, or as fields on lines of their own; the arguments of a call are none.
        let is_field = is_quoted || between.as_bytes().contains(&b'\n');
        let is_label = ["name", "Name", "key"].iter().any(|label| near.contains(label));
        return (is_field && is_label).then(|| strong(text, range, name)).flatten();
    }
    let Some(separator) = before.name("sep") else {
        let is_netrc = near.contains("machine ") && near.contains("login ");
        let is_asked = is_quoted || is_netrc || word == "requirepass";
        if word.starts_with('-') || is_password && is_asked {
            return strong(text, range, name);
        }
        let is_stated = before.name("is").is_some() || is_env && word.contains('_');
        return is_stated.then(|| random(text, range, name)).flatten();
    };
    let is_close = separator.as_bytes() == b"="
        && separator.start() == found.end()
        && separator.end() == end
        && (range.end == text.len() || text[range.end..].starts_with(['\n', ';', '&', '\r']));
    match separator.as_bytes() {
        b"|" | b">" => in_cell(text, near, separator.range(), name),
        b":" if text[separator.end()..].starts_with(':') => None,
        _ if is_env || is_password && (is_quoted || is_close) => strong(text, range, name),
        _ => random(text, range, name),
    }
}

/// Returns the secret after a short flag of a program that the line names.
fn after_flag(text: &str, start: usize, end: usize) -> Option<Secret> {
    let flag = text[start..end].trim();
    // With the space before the flag, which ends the name of the program.
    let line = tail(&text[..=start], JUDGED).rsplit('\n').next()?;
    let (program, _) =
        FLAGS.iter().find(|(program, known)| *known == flag && line.contains(program))?;
    let (range, is_quoted) = value_at(text, end, false);
    let is_user = flag == "-u" || program.starts_with("http");
    // Without quotes, only `-p` is written together with its value, which is then longer than a word.
    let is_apart =
        is_quoted || text[..end].ends_with([' ', '\t']) || flag == "-p" && range.len() > 2;
    // After a space, these programs take the name of a database; another program may follow on the line.
    let mut programs = FLAGS.iter().filter(|(one, known)| *known == flag && line.contains(one));
    let takes_database = programs.all(|(one, _)| matches!(*one, "mysql" | "mariadb"));
    if takes_database && text[..end].ends_with([' ', '\t']) {
        return random(text, range, Name::Password);
    }
    match is_user {
        true => with_user(text, range),
        false if is_apart => strong(text, range, Name::Password),
        false => None,
    }
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
    let start = range.end - password.len();
    is_chosen(password, user).then_some(Secret { rule: "password", range: start..range.end })
}

/// Returns the value as a secret if it looks random.
fn random(text: &str, range: Range<usize>, name: Name) -> Option<Secret> {
    let value = &text[range.clone()];
    let (rule, least) = match name {
        Name::Password => ("password", 8),
        Name::Header => ("bearer-token", 16),
        Name::Key if value.len() == 40 && value.contains(['/', '+']) => ("aws-secret-key", 8),
        Name::Key => ("token", 8),
    };
    // Django's generator uses brackets and other signs, too.
    if value.len() >= 50 && value.starts_with("django-insecure-") {
        return Some(Secret { rule, range });
    }
    // Base64 may begin with a slash.
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let is_long = value.len() >= 40 && value.bytes().all(is_base64);
    let value = if is_long { value.trim_start_matches('/') } else { value };
    let is_whole = !text[range.end..].starts_with("..") && value.len() >= least;
    (is_whole && is_random(value)).then_some(Secret { rule, range })
}

/// Returns the value as a secret if a person could have chosen it, or it could be the key that its place asks for.
fn strong(text: &str, range: Range<usize>, name: Name) -> Option<Secret> {
    let value = &text[range.clone()];
    let is_chosen = name == Name::Password && is_chosen(value, "") || is_uuid(value);
    random(text, range.clone(), name)
        .or_else(|| is_chosen.then_some(Secret { rule: "password", range: range.clone() }))
        .or_else(|| encoded(text, range))
}

/// Returns the value in the cell or the element after one that ends in a name; several words are none.
fn in_cell(text: &str, near: &str, end: Range<usize>, name: Name) -> Option<Secret> {
    let opener = if text[end.clone()].starts_with('|') { '|' } else { '<' };
    let head = near.rfind([opener, '\n']).map_or("", |at| &near[at..]);
    let rest = &text[end.end..text.floor_char_boundary(end.end + JUDGED)];
    let cell = &rest[..rest.find([opener, '\n'])?];
    head.starts_with(opener).then(|| single(text, end.end, cell, name)).flatten()
}

/// Returns the value of a cell that starts at a byte, if it is a single word.
fn single(text: &str, start: usize, cell: &str, name: Name) -> Option<Secret> {
    let is_frame = |c: char| c.is_whitespace() || "\"'`*".contains(c);
    let value = cell.trim_matches(is_frame);
    let start = start + cell.len() - cell.trim_start_matches(is_frame).len();
    let is_word = !value.contains(char::is_whitespace);
    is_word.then(|| strong(text, start..start + value.len(), name)).flatten()
}

/// Returns the secrets in the columns of tables whose heads name a secret.
fn in_columns(text: &str) -> Vec<Secret> {
    let mut secrets = Vec::new();
    let mut columns: Vec<Option<Name>> = Vec::new();
    let mut head = "";
    for line in text.lines() {
        let row = line.trim();
        if row.contains("--") && row.bytes().all(|b| b"|-: ".contains(&b)) {
            let name = |cell: &str| name_before(cell.trim_matches([' ', '*', '`']));
            columns = head.split('|').map(name).collect();
        } else if !row.contains('|') {
            columns.clear();
        } else if columns.iter().any(Option::is_some) {
            let cells = row.split('|').zip(&columns);
            secrets.extend(cells.filter_map(|(cell, name)| {
                single(text, cell.as_ptr() as usize - text.as_ptr() as usize, cell, (*name)?)
            }));
        }
        head = row;
    }
    secrets
}

/// Returns the range of the value at `start`, without quotes, and whether it stands in quotes.
///
/// In a query the next field ends it.
fn value_at(text: &str, start: usize, is_query: bool) -> (Range<usize>, bool) {
    let window = &text[start..text.floor_char_boundary(start + JUDGED)];
    let open = window.trim_start_matches(['\\', '*']);
    let start = start + window.len() - open.len();
    let quote = open.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    if let Some(quote) = quote {
        let ends = open[1..].find([quote, '\n']).map(|end| end + 1);
        if let Some(end) = ends.filter(|end| open[*end..].starts_with(quote)) {
            let end = start + open[..end].trim_end_matches('\\').len();
            return (start + 1..end.max(start + 1), true);
        }
    }
    let open = &open[quote.map_or(0, char::len_utf8)..];
    let start = start + quote.map_or(0, char::len_utf8);
    let ends = |c: char| c.is_whitespace() || "\"'`,;|".contains(c) || is_query && c == '&';
    let value = &open[..open.find(ends).unwrap_or(open.len())];
    // The punctuation that closes a sentence is not a part of it.
    let value = value.trim_end_matches(['.', ')', ']', '}', '>', '*', '\\', ':']);
    (start..start + value.len(), false)
}

/// Returns the password of an address, of which the user starts at one byte and the password at another.
fn url_password(text: &str, user: usize, start: usize) -> Option<Secret> {
    let user = &text[user..start - 1];
    let value = PASSWORD.captures(&text[start..text.floor_char_boundary(start + 2 * JUDGED)])?;
    let range = start..start + value.get(1)?.len();
    let value = &text[range.clone()];
    let after_port = value.trim_start_matches(|c: char| c.is_ascii_digit());
    if after_port.len() < value.len()
        && after_port.starts_with(['/', '?', '#', '\'', ',', ';', ')', ']'])
    {
        return None;
    }
    // A variable in the place of the port, and a path: `$PORT/…`; a password may begin with `$`, too.
    let is_variable =
        |name: &str| name.len() > 1 && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    let port = value.split_once('/').and_then(|(port, _)| port.strip_prefix('$'));
    if port.is_some_and(is_variable) {
        return None;
    }
    // With a separator it may be a part of a path.
    let is_path = value.contains(['/', ':', '\'']) && is_wordy(value);
    (random(text, range.clone(), Name::Password).is_some() || !is_path && is_chosen(value, user))
        .then_some(Secret { rule: "url-password", range })
}

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
fn is_chosen(value: &str, user: &str) -> bool {
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
const OPEN_STARTS: &str = "sha 0x LS0t AAAA 9j/ Qm eyJ pk_live_ pk_test_";

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
fn is_uuid(value: &str) -> bool {
    value.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}
