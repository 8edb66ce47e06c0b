//! Decides whether a token is a path, and of which form.

use crate::patterns::paths::extensions::{has_extension, is_extension, is_file_name};
use crate::patterns::paths::{Certainty, Mention, PathForm};
use crate::text::file_name;

/// Top-level folders of a file system.
const ROOTS: &[&str] = &[
    "Applications", "Library", "System", "Users", "Volumes", "bin", "boot", "dev", "etc", "home",
    "lib", "lib64", "mnt", "opt", "private", "proc", "root", "run", "sbin", "srv", "sys", "tmp",
    "usr", "var",
];

/// Returns the path that a token stands for; `None` if it is not a path.
pub(crate) fn shape(token: &str, is_code: bool) -> Option<Mention> {
    let text = without_location(&cleaned(token)).to_owned();
    let text = text.replace("/./", "/");
    let text = text.strip_prefix("./").unwrap_or(&text);
    if is_outside(text) {
        return Some(Mention {
            path: text.to_owned(),
            form: PathForm::Outside,
            certainty: Certainty::Sure,
        });
    }
    if is_no_path(text) {
        return None;
    }
    let form = form(text);
    let path = resolved(text.trim_matches('/'))?;
    let certainty = certainty(&path, form, is_code, text.starts_with('/'))?;
    Some(Mention { path, form, certainty })
}

/// Strips punctuation, emphasis, quotes and unpaired brackets from both ends.
fn cleaned(token: &str) -> String {
    let mut text = token.trim();
    loop {
        let before = text;
        for mark in ["**", "__", "*", "_", "~~"] {
            let inner = text.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
            text = inner.filter(|inner| !inner.is_empty()).unwrap_or(text);
        }
        text = text.trim_end_matches(['.', ',', ';', ':', '!', '\'', '"', '’', '‘', '”', '“']);
        text = text.trim_start_matches(['\'', '"', '‘', '“', '’', ',', ';', ':']);
        text = ["'s", "’s"].iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
        text = text.strip_suffix('?').filter(|rest| has_extension(rest)).unwrap_or(text);
        for (open, close) in [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')] {
            let count = |c| text.matches(c).count();
            if text.ends_with(close) && count(close) > count(open) {
                text = &text[..text.len() - close.len_utf8()];
            } else if text.starts_with(open) && count(open) > count(close) {
                text = &text[open.len_utf8()..];
            } else if text.starts_with(open) && text.ends_with(close) && count(open) == 1 {
                text = &text[open.len_utf8()..text.len() - close.len_utf8()];
            }
        }
        if text == before {
            break;
        }
    }
    unescaped(text)
}

/// Removes the escaping backslashes of markdown, and replaces those between names with slashes.
fn unescaped(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next) if c == '\\' && next.is_ascii_punctuation() && *next != '\\' => {}
            Some('\\') if c == '\\' => {}
            _ if c == '\\' => plain.push('/'),
            _ => plain.push(c),
        }
    }
    plain
}

/// Removes a location within a file: `:12`, `:12:5`, `#anchor`, `(12)`, `::name`, `?query`.
fn without_location(text: &str) -> &str {
    let marks = text.char_indices().filter(|(_, c)| ":#(?".contains(*c));
    for (at, mark) in marks {
        let (head, tail) = (&text[..at], &text[at + 1..]);
        let is_number = mark == ':'
            && tail.starts_with(|c: char| c.is_ascii_digit())
            && tail.chars().all(|c| c.is_ascii_digit() || ":-–,L".contains(c));
        let name = file_name(head);
        if has_extension(head) || is_number || (is_file_name(name) && !name.is_empty()) {
            return head;
        }
    }
    text
}

fn is_outside(text: &str) -> bool {
    let drive = text.as_bytes();
    let is_drive =
        drive.len() > 2 && drive[0].is_ascii_alphabetic() && drive[1] == b':' && drive[2] == b'/';
    let is_home = text == "~"
        || text.starts_with("~/")
        || text.starts_with("$HOME/")
        || text.starts_with("${HOME}/");
    let of_root = text
        .strip_prefix('/')
        .and_then(|rest| rest.split('/').next())
        .is_some_and(|first| ROOTS.contains(&first) && text.len() > first.len() + 2);
    is_drive || is_home || of_root || goes_above(text)
}

/// Returns whether a path leads above the folder that it starts in.
fn goes_above(text: &str) -> bool {
    let mut depth = 0_i32;
    for part in text.split('/') {
        match part {
            ".." => depth -= 1,
            "." | "" => {}
            _ => depth += 1,
        }
        if depth < 0 {
            return text.contains('/');
        }
    }
    false
}

/// Resolves `.` and `..`; returns `None` if the path leads outside or has an empty part.
fn resolved(text: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop()?;
            }
            "" => return None,
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

fn is_no_path(text: &str) -> bool {
    let first = text.split('/').next().unwrap_or(text);
    let has_folder = text.contains('/');
    let is_numeric = |part: &str| part.chars().all(|c| c.is_ascii_digit() || ".,~+%x-".contains(c));
    text.is_empty()
        || text.contains("://")
        || text.contains("...")
        || text.contains(['<', '>', '"', '|', '\n', '`', '=', '%', '\u{0}', '^', '&', ';'])
        || text.contains("//")
        || text.contains("path/to/")
        || text.starts_with('-')
        || (text.contains('{') || text.contains('}'))
        || text.split('/').all(is_numeric)
        || text.contains(char::is_control)
        // `@scope/name` is a package, `@/components` an alias, which cannot be resolved here.
        || text.starts_with('@')
        || text.contains('@') && !has_folder
        || has_folder && is_host(first)
        // The first part names a file, not a folder: `docs.rs/tokio`, `Next.js/React`.
        || has_folder && !first.starts_with('.') && has_extension(first)
        || !text.contains(char::is_alphanumeric)
}

/// Returns whether a name is a host name: `github.com`, `localhost:3000`, `user@host`.
fn is_host(name: &str) -> bool {
    const DOMAINS: &[&str] = &[
        "ai", "app", "cloud", "co", "com", "de", "dev", "edu", "eu", "gov", "io", "me", "net",
        "org", "sh", "uk", "us",
    ];
    let host = name.split(':').next().unwrap_or(name);
    let is_domain = host
        .rsplit_once('.')
        .is_some_and(|(label, domain)| !label.is_empty() && DOMAINS.contains(&domain));
    is_domain || name.starts_with("localhost") || name.contains('@') || name.contains(':')
}

fn form(text: &str) -> PathForm {
    let is_class = text.contains('[') && text.contains('*');
    if text.contains(['*', '?']) || is_class {
        PathForm::Glob
    } else if text.ends_with('/') {
        PathForm::Folder
    } else {
        PathForm::Plain
    }
}

/// Returns how certain it is that a path is meant; `None` for a word that does not look like a path.
fn certainty(path: &str, form: PathForm, is_code: bool, is_rooted: bool) -> Option<Certainty> {
    let name = file_name(path);
    let has_folder = path.contains('/');
    let has_space = path.contains(char::is_whitespace);
    // `/api/users` is a route unless the file exists.
    if is_rooted {
        return Some(Certainty::Unsure);
    }
    match form {
        PathForm::Glob => glob_certainty(path, name, is_code),
        _ if name.starts_with('.') && !has_folder => {
            let is_ending = is_extension(&name[1..]);
            let is_name = name.len() > 2 && name[1..].starts_with(|c: char| c.is_ascii_lowercase());
            let grade = if is_code { Certainty::Likely } else { Certainty::Unsure };
            (is_name && !is_ending).then_some(grade)
        }
        PathForm::Folder if is_code || has_folder => Some(Certainty::Likely),
        PathForm::Folder => Some(Certainty::Unsure),
        _ if has_folder && has_extension(name) && !has_space => Some(Certainty::Sure),
        _ if has_folder && is_code => Some(Certainty::Likely),
        _ if has_folder => Some(Certainty::Unsure),
        _ if is_file_name(name) && is_code => Some(Certainty::Sure),
        _ if is_file_name(name) && name.contains('.') => Some(Certainty::Likely),
        _ if has_extension(name) => Some(Certainty::Unsure),
        _ => None,
    }
}

/// A glob must have a folder or an extension; emphasis and multiplication have neither.
fn glob_certainty(path: &str, name: &str, is_code: bool) -> Option<Certainty> {
    let has_folder = path.contains('/');
    let fixed = path.chars().filter(|c| c.is_alphanumeric()).count();
    if fixed < 2 || (!has_folder && !has_extension(name)) {
        return None;
    }
    Some(if is_code || (has_folder && has_extension(name)) {
        Certainty::Likely
    } else {
        Certainty::Unsure
    })
}
