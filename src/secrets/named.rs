//! Finds values by the name before them: assignments, flags, headers, cells, addresses with a password.

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

use crate::secrets::Secret;
use crate::secrets::kinds::{JUDGED, key_at};
use crate::secrets::value::{is_chosen, is_random, is_uuid};

/// The ends of names of passwords, in lower case and without separators.
const PASSWORDS: &str = "password passwd passphrase pwd passwort passcode requirepass";

/// The ends of names of other secrets.
const KEYS: &str = "secret token apikey accesskey secretkey privatekey authkey encryptionkey signingkey accountkey \
    masterkey credential storagekey subscriptionkey appkey applicationkey consumerkey deploykey \
    adminkey writekey rolekey licensekey clientkey sharedkey";

/// Words that name a secret as the last part of a longer name, `DB_PASS`; alone they are words like others.
const PARTS: &str = "pass auth pat sig jwt";

/// Words that may follow the name of a secret; after words such as `count`, it is none.
const QUALIFIERS: &str = "prod production dev development stage staging live test qa uat main primary secondary backup \
    old new";

/// Keys that `…_KEY` names and that are no secrets.
const OPEN_KEYS: &str = "PUBLIC PUBLISHABLE PRIMARY FOREIGN SORT CACHE PARTITION HASH IDEMPOTENCY";

/// Programs whose short flag takes a password, or a user with one.
const SHORT_FLAGS: [(&str, &str); 12] = [
    ("curl", "-u"),
    ("http", "-a"),
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

const LONGEST_NAME: usize = 40;
/// Number of bytes of a value that are examined: a text without spaces would be read again at every separator.
const LONGEST_VALUE: usize = JUDGED;
const CLOSERS: [char; 6] = [' ', '\t', '"', '\'', '`', '*'];

/// What a name says about its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    Password,
    Key,
    /// `Authorization`, whose value may begin with a scheme.
    Header,
}

/// Returns the end of a name by which it is the name of a secret, ignoring separators and a plural s.
pub(crate) fn secret_name(name: &str) -> Option<&'static str> {
    let letters: String = without_qualifiers(name)
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let singular = letters.strip_suffix('s').unwrap_or(&letters);
    let mut known = PASSWORDS.split(' ').chain(KEYS.split(' '));
    known.find(|end| letters.ends_with(end) || singular.ends_with(end))
}

/// Returns what the name at the end of a text says.
fn name_before(text: &str) -> Option<Name> {
    let name = without_qualifiers(text);
    let last = name.bytes().next_back()?.to_ascii_lowercase();
    if !b"deyltshnrcgsk".contains(&last) {
        return None;
    }
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || b"_-. ".contains(b);
    let length = name.bytes().rev().take(LONGEST_NAME).take_while(is_part).count();
    let name = &name[name.len() - length..];
    let ends_with = |end: &str| {
        let mut letters = name.bytes().rev().filter(u8::is_ascii_alphanumeric);
        end.bytes().rev().all(|b| letters.next().is_some_and(|l| l.to_ascii_lowercase() == b))
    };
    if PASSWORDS.split(' ').any(&ends_with) {
        return Some(Name::Password);
    }
    if KEYS.split(' ').any(ends_with) {
        return Some(Name::Key);
    }
    let (head, word) = name.split_at(name.rfind(['_', '-', '.', ' ']).map_or(0, |at| at + 1));
    if word.eq_ignore_ascii_case("authorization") {
        return Some(Name::Header);
    }
    let hump = word
        .rfind(|c: char| c.is_ascii_uppercase())
        .filter(|hump| word[..*hump].ends_with(|c: char| c.is_ascii_lowercase()));
    let part = match hump {
        Some(hump) => &word[hump..],
        None if head.ends_with(['_', '-', '.']) => word,
        None => "",
    };
    match PARTS.split(' ').find(|known| part.eq_ignore_ascii_case(known)) {
        Some("pass") => Some(Name::Password),
        Some(_) => Some(Name::Key),
        None => {
            let head = head.strip_suffix('_')?;
            let is_open = OPEN_KEYS.split(' ').any(|open| head.ends_with(open));
            (word == "KEY" && !is_open && head.ends_with(|c: char| c.is_ascii_uppercase()))
                .then_some(Name::Key)
        }
    }
}

/// Strips up to two qualifiers and a number from the end of a name: `API_KEY_PROD`, `AUTH_TOKEN_V2`, `password1`.
fn without_qualifiers(name: &str) -> &str {
    let mut rest = name;
    for _ in 0..2 {
        let bytes = rest.bytes().rev().take(12);
        let (head, part) =
            rest.split_at(rest.len() - bytes.take_while(u8::is_ascii_alphanumeric).count());
        let digits = part.strip_prefix(['v', 'V']).unwrap_or(part);
        let is_number =
            (1..=2).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        let is_qualifier =
            is_number || QUALIFIERS.split(' ').any(|known| part.eq_ignore_ascii_case(known));
        match head.strip_suffix(['_', '-', '.']).filter(|_| is_qualifier) {
            Some(head) => rest = head,
            None => break,
        }
    }
    let letters = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    if rest.len() - letters.len() <= 2 { letters } else { rest }
}

/// Returns the secret after the `:`, `=`, `|` or `>` at `at`, or the password in the address that a `:` belongs to.
pub(crate) fn at_separator(text: &str, at: usize) -> Option<Secret> {
    let rest = &text[at..];
    if rest.starts_with("://") {
        return url_password(text, at + 3);
    }
    let before = text[..at].trim_end_matches(CLOSERS).trim_end_matches('\\');
    if at - before.len() > 4 || rest.starts_with("::") {
        return None;
    }
    let name = match name_before(before) {
        Some(name) => name,
        None if before.ends_with("alue") => named_by_sibling(before)?,
        None => return None,
    };
    if rest.starts_with(['|', '>']) {
        let opener = if rest.starts_with('|') { '|' } else { '<' };
        let near = tail(before, LONGEST_NAME);
        let is_opened = near.rfind([opener, '\n']).is_some_and(|at| near[at..].starts_with(opener));
        let rest = &rest[1..rest.floor_char_boundary(LONGEST_VALUE).max(1)];
        let value = trimmed(text, at + 1..at + 1 + rest.find([opener, '\n'])?);
        return is_opened.then(|| in_cell(text, value, name)).flatten();
    }
    let separator = rest.bytes().take_while(|b| b":=>".contains(b)).count();
    let start = at + separator;
    let gap = text[start..].bytes().take_while(|b| b" \t*".contains(b)).take(6).count();
    if separator > 3 {
        return None;
    }
    let near = tail(before, LONGEST_NAME);
    let word = near.rsplit([' ', '\n', '\t', '"', '\'', '`']).next().unwrap_or(near);
    let is_env = word.ends_with("alue")
        || word.len() > 2
            && word.bytes().all(|b| b == b'_' || b.is_ascii_digit() || b.is_ascii_uppercase());
    if name == Name::Header {
        return header(text, start + gap);
    }
    let is_query = near.rfind(['?', '&', ';', ' ']).is_some_and(|at| !near[at..].starts_with(' '));
    let (range, is_quoted) = value_at(text, start + gap, is_query);
    let is_close = gap == 0 && before.len() == at && rest.starts_with('=');
    let is_last = text[range.end..].starts_with(['\n', ';', '&', '\r']) || range.end == text.len();
    if is_quoted && name == Name::Password
        || is_env
        || is_close && is_last && name == Name::Password
    {
        return strong(text, range, name);
    }
    judged(text, range, name)
}

/// Returns what the name beside `value` says: `name: DB_PASSWORD`, then `value: …`; `key="ApiKey" value="…"`.
fn named_by_sibling(before: &str) -> Option<Name> {
    let near = tail(before, 2 * LONGEST_NAME);
    let near = near.strip_suffix("value").or_else(|| near.strip_suffix("Value"))?;
    let label = near.rfind("name").max(near.rfind("key")).max(near.rfind("Name"))?;
    let (_, word) = near[label..].split_once([':', '='])?;
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    (!word.contains(char::is_whitespace)).then(|| name_before(word))?
}

/// Returns the secret in the value after the word at `start..end`, which no separator follows.
pub(crate) fn after_word(text: &str, start: usize, end: usize) -> Option<Secret> {
    let word = &text[start..end];
    let gap = text[end..].bytes().take_while(|b| b" \t".contains(b)).take(4).count();
    let rule_at = |length: usize| value_at(text, start + length, false).0;
    if word.starts_with('-') {
        let line = tail(&text[..start], LONGEST_VALUE).rsplit('\n').next()?;
        let flag = word.get(..2)?;
        let is_known = |(program, known): &(&str, &str)| *known == flag && line.contains(program);
        if !word.starts_with("--") && SHORT_FLAGS.iter().any(is_known) {
            let glued = word.len() > 4 && flag == "-p";
            let range = if glued { rule_at(2) } else { value_at(text, end + gap, false).0 };
            return if flag == "-u" || line.contains("http ") {
                with_user(text, range)
            } else {
                strong(text, range, Name::Password)
            };
        }
        let range = value_at(text, end + gap, false).0;
        return match name_before(word) {
            _ if gap == 0 => None,
            Some(name) => strong(text, range, name),
            None if matches!(word, "--user" | "--proxy-user" | "--auth") => with_user(text, range),
            None => None,
        };
    }
    if gap == 0 {
        return None;
    }
    if word.eq_ignore_ascii_case("basic") || word.eq_ignore_ascii_case("bearer") {
        return header(text, start);
    }
    let name = name_before(word)?;
    let value = end + gap;
    let (range, is_quoted) = value_at(text, value, false);
    let near = tail(&text[..start], 3 * LONGEST_NAME);
    if name == Name::Password
        && (is_quoted
            || near.contains("machine ") && near.contains("login ")
            || word == "requirepass")
    {
        return strong(text, range, name);
    }
    let is_env = word.contains('_') && word.bytes().all(|b| b == b'_' || b.is_ascii_uppercase());
    let stated = text[value..].strip_prefix("is ").map(|_| value_at(text, value + 3, false).0);
    match stated {
        Some(range) => judged(text, range, name),
        None if is_env || near.ends_with("uthorization: ") => judged(text, range, name),
        None => None,
    }
}

/// Returns the credentials of an HTTP header, behind the word for its scheme if it has one.
fn header(text: &str, at: usize) -> Option<Secret> {
    let (range, _) = value_at(text, at, false);
    let scheme = text[range.clone()].to_ascii_lowercase();
    let gap = text[range.end..].bytes().take_while(|b| b" \t".contains(b)).take(4).count();
    if gap == 0
        || !matches!(scheme.as_str(), "bearer" | "basic" | "token" | "apikey" | "key" | "bot")
    {
        return judged(text, range, Name::Header);
    }
    let (range, _) = value_at(text, range.end + gap, false);
    if scheme == "basic" { encoded(text, range) } else { judged(text, range, Name::Header) }
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
fn judged(text: &str, range: Range<usize>, name: Name) -> Option<Secret> {
    let value = &text[range.clone()];
    if let Some(known) = key_at(text, range.start, range.end) {
        return Some(known);
    }
    let rule = match name {
        Name::Password => "password",
        Name::Header => "bearer-token",
        Name::Key if value.len() == 40 && value.contains(['/', '+']) => "aws-secret-key",
        Name::Key => "token",
    };
    let least = if name == Name::Header { 16 } else { 8 };
    let is_aws = rule == "aws-secret-key" && is_random(value.trim_start_matches('/'));
    let is_whole = !text[range.end..].starts_with("..") && value.len() >= least;
    (is_whole && (is_random(value) || is_aws)).then_some(Secret { rule, range })
}

/// Returns the value as a secret if a person could have chosen it, or it could be the key that its place asks for.
fn strong(text: &str, range: Range<usize>, name: Name) -> Option<Secret> {
    let value = &text[range.clone()];
    let is_chosen = name == Name::Password && is_chosen(value, "") || is_uuid(value);
    judged(text, range.clone(), name)
        .or_else(|| is_chosen.then_some(Secret { rule: "password", range: range.clone() }))
        .or_else(|| encoded(text, range))
}

/// Returns the value of a cell or an element as a secret; a text of several words is none.
fn in_cell(text: &str, range: Range<usize>, name: Name) -> Option<Secret> {
    let is_word = !text[range.clone()].contains(char::is_whitespace);
    is_word.then(|| strong(text, range, name)).flatten()
}

/// Returns the range of the value at `start`, without quotes, and whether it stands in quotes.
///
/// In a query the next field ends it.
fn value_at(text: &str, start: usize, is_query: bool) -> (Range<usize>, bool) {
    let open = text[start..].trim_start_matches(['\\', '*']);
    let open = if text.len() - open.len() > start + 4 { &text[start..] } else { open };
    if let Some(quote) = open.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) {
        let start = text.len() - open.len() + 1;
        let window = &text[start..text.floor_char_boundary(start + LONGEST_VALUE)];
        if let Some(end) =
            window.find([quote, '\n']).filter(|end| window[*end..].starts_with(quote))
        {
            let end = start + window[..end].trim_end_matches('\\').len();
            return (start..end, true);
        }
        return (start..start + bare_length(&text[start..], is_query), false);
    }
    let start = text.len() - open.len();
    (start..start + bare_length(open, is_query), false)
}

/// Returns the length of a value without quotes, without the punctuation that closes a sentence.
fn bare_length(text: &str, is_query: bool) -> usize {
    let text = &text[..text.floor_char_boundary(LONGEST_VALUE)];
    let ends = |c: char| c.is_whitespace() || "\"'`,;|".contains(c) || is_query && c == '&';
    let whole = &text[..text.find(ends).unwrap_or(text.len())];
    whole.trim_end_matches(['.', ')', ']', '}', '>', '*', '\\', ':']).len()
}

/// Returns the last bytes of a text.
fn tail(text: &str, length: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(length))..]
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let value = &text[range.clone()];
    let is_frame = |c: char| c.is_whitespace() || "\"'`*".contains(c);
    let start = range.start + value.len() - value.trim_start_matches(is_frame).len();
    start..start + value.trim_matches(is_frame).len()
}

/// Returns the secrets in the columns of tables whose heads name a secret.
pub(crate) fn in_columns(text: &str) -> Vec<Secret> {
    let mut secrets = Vec::new();
    let mut columns: Vec<Option<Name>> = Vec::new();
    let mut head = "";
    for line in text.split_inclusive('\n') {
        let row = line.trim();
        if row.contains("--") && row.bytes().all(|b| b"|-: ".contains(&b)) {
            columns = head
                .split('|')
                .map(|cell| name_before(cell.trim().trim_end_matches('*')))
                .collect();
        } else if !row.contains('|') {
            columns.clear();
        } else if columns.iter().any(Option::is_some) {
            let mut at = line.as_ptr() as usize - text.as_ptr() as usize;
            at += line.len() - line.trim_start().len();
            for (cell, name) in row.split('|').zip(&columns) {
                let found =
                    name.and_then(|name| in_cell(text, trimmed(text, at..at + cell.len()), name));
                secrets.extend(found);
                at += cell.len() + 1;
            }
        }
        head = row;
    }
    secrets
}

/// Returns the password between `user:` and `@`, where `at` is the offset of the user's name.
fn url_password(text: &str, at: usize) -> Option<Secret> {
    let is_in_user = |b: &u8| b.is_ascii_graphic() && !b"/@:\"'`<>".contains(b);
    let user = &text[at..at + text[at..].bytes().take_while(is_in_user).count()];
    let start = at + user.len() + 1;
    let rest = text[at + user.len()..].strip_prefix(':')?;
    let range = start..start + url_password_length(rest)?;
    let value = &text[range.clone()];
    // A variable in the place of the port, and a path: `$PORT/…`; a password may begin with `$`, too.
    let is_variable =
        |name: &str| name.len() > 1 && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    if value
        .split_once('/')
        .is_some_and(|(port, _)| port.strip_prefix('$').is_some_and(is_variable))
    {
        return None;
    }
    // With a separator it may be a part of a path.
    let is_path = value.contains(['/', ':', '\'']) && crate::secrets::value::is_wordy(value);
    judged(text, range.clone(), Name::Password)
        .or_else(|| {
            (!is_path && is_chosen(value, user)).then_some(Secret { rule: "password", range })
        })
        .map(|secret| Secret {
            rule: if secret.rule == "password" { "url-password" } else { secret.rule },
            ..secret
        })
}

/// Returns the length of a password up to the last `@` that may precede the host.
///
/// People seldom encode the characters that an address reserves, so a password may contain any of them.
fn url_password_length(text: &str) -> Option<usize> {
    let text = &text[..text.floor_char_boundary(2 * LONGEST_VALUE)];
    let port = text.bytes().take_while(u8::is_ascii_digit).count();
    if port > 0 && text[port..].starts_with(['/', '?', '#', '\'', ',', ';', ')', ']']) {
        return None;
    }
    let mut length = None;
    for (at, c) in text.char_indices() {
        let next = text[at + c.len_utf8()..].chars().next();
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
