//! Finds values by what stands before them: the name of a secret, a flag, the scheme of a header, the user of an address.

use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use regex::Regex;
use regex::bytes::{Captures, Regex as BytesRegex};

use crate::secrets::kinds::JUDGED;
use crate::secrets::value::{is_chosen, is_random, is_uuid, is_wordy};
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
