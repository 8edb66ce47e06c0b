//! Generates the text of an entry: a new one, or an existing one with only the necessary changes.

use std::ops::Range;
use std::path::Path;

use chrono::NaiveDate;

use crate::error::{Error, Result};
use crate::knowledge::{Confidence, Entry, EntryKey, EntryType, entry, yaml};
use crate::markdown::edit::Edit;
use crate::markdown::{FrontMatter, Value, edit, front_matter};
use crate::text::BYTE_ORDER_MARK;

/// The fields, in the order of the format.
const ORDER: [&str; 8] =
    ["key", "type", "tags", "created", "updated", "status", "supersedes", "confidence"];

/// The intended content of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryDraft<'a> {
    pub(crate) key: &'a EntryKey,
    pub(crate) kind: EntryType,
    pub(crate) confidence: Confidence,
    /// `None` keeps the existing tags.
    pub(crate) tags: Option<&'a [String]>,
    /// `None` keeps the existing body.
    pub(crate) body: Option<&'a [u8]>,
    pub(crate) title: Option<&'a str>,
    pub(crate) today: NaiveDate,
}

impl EntryDraft<'_> {
    /// Returns the text of a new entry.
    pub(crate) fn fresh(&self) -> Vec<u8> {
        let mut text = self.front();
        text.push('\n');
        let mut bytes = text.into_bytes();
        bytes.extend(self.with_title(self.body.unwrap_or_default(), None));
        bytes
    }

    /// Returns the text of an existing entry, updated to the draft.
    pub(crate) fn updated(&self, old: &[u8], path: &Path) -> Result<Vec<u8>> {
        let head = valid(old);
        if front_matter::inner_range(head).is_none() {
            return self.with_front_matter(old, path);
        }
        let front = FrontMatter::parse(head, path).value;
        let entry = Entry::parse(head, path).value;
        let body_at = entry.body.start;
        let mut bytes = set(&head[..body_at], &self.changed(&front, &entry)).into_bytes();
        let Some(body) = self.body else {
            bytes.extend(self.retitled(&old[body_at..]));
            return Ok(bytes);
        };
        if !bytes.ends_with(b"\n\n") && !bytes.ends_with(b"\n\r\n") {
            let is_crlf = bytes.ends_with(b"\r\n");
            bytes.extend(if is_crlf { b"\r\n".as_slice() } else { b"\n" });
        }
        bytes.extend(self.with_title(body, entry.title.as_deref()));
        Ok(bytes)
    }

    fn front(&self) -> String {
        let tags = self.tags.unwrap_or_default();
        let tags = yaml::list(tags.iter().map(|tag| yaml::scalar(tag)));
        format!(
            "---\nkey: {}\ntype: {}\ntags: {tags}\ncreated: {today}\nupdated: {today}\nstatus: active\nconfidence: {}\n---\n",
            yaml::scalar(self.key.as_str()),
            self.kind.as_str(),
            self.confidence.as_str(),
            today = self.today,
        )
    }

    /// Adds front matter to a text that has none.
    fn with_front_matter(&self, old: &[u8], path: &Path) -> Result<Vec<u8>> {
        refuse_unreadable_front_matter(old, path)?;
        let (mark, old) = match old.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (BYTE_ORDER_MARK, rest),
            None => (&[][..], old),
        };
        let opens = String::from_utf8_lossy(old);
        let mut bytes = mark.to_vec();
        bytes.extend(self.front().into_bytes());
        bytes.push(b'\n');
        match self.body {
            Some(body) => bytes.extend(self.with_title(body, entry::title(&opens))),
            None => bytes.extend(self.retitled(old)),
        }
        Ok(bytes)
    }

    /// Returns the fields that are missing or whose values have to change.
    fn changed(&self, front: &FrontMatter, entry: &Entry) -> Vec<(&'static str, String)> {
        let is_missing = |name: &str| {
            entry::field(front, name)
                .is_none_or(|(node, text)| text.is_none() && !matches!(node.value, Value::List(_)))
        };
        // The last update is the earliest known day.
        let created = entry.updated.unwrap_or(self.today);
        let tags = self.tags.unwrap_or(&entry.tags);
        let tag_list = yaml::list(tags.iter().map(|tag| yaml::scalar(tag)));
        let fields = [
            (
                "key",
                entry.named.as_deref() != Some(self.key.as_str()),
                yaml::scalar(self.key.as_str()),
            ),
            ("type", entry.kind != Some(self.kind), self.kind.as_str().to_owned()),
            ("tags", entry.tags != tags || is_missing("tags"), tag_list),
            ("created", is_missing("created"), created.to_string()),
            ("updated", entry.updated != Some(self.today), self.today.to_string()),
            ("status", is_missing("status"), entry.status.as_str().to_owned()),
            (
                "confidence",
                entry.confidence != Some(self.confidence),
                self.confidence.as_str().to_owned(),
            ),
        ];
        let changed = fields.into_iter().filter(|(_, is_changed, _)| *is_changed);
        changed.map(|(name, _, value)| (name, value)).collect()
    }

    /// Returns a body verbatim, with a title added if it has none.
    fn with_title(&self, body: &[u8], old: Option<&str>) -> Vec<u8> {
        if entry::title_line(&String::from_utf8_lossy(body)).is_some() {
            return body.to_owned();
        }
        let in_words = self.key.in_words();
        let title = self.title.or(old).unwrap_or(&in_words);
        let mut bytes = format!("# {title}\n").into_bytes();
        if !body.is_empty() {
            bytes.push(b'\n');
            bytes.extend(body);
        }
        bytes
    }

    /// Returns the existing body, with its title replaced if the draft has one.
    fn retitled(&self, body: &[u8]) -> Vec<u8> {
        let Some(title) = self.title else {
            return body.to_owned();
        };
        let head = valid(body);
        match entry::title_line(head) {
            None => self.with_title(body, None),
            Some(line) if entry::title(&head[line.clone()]) == Some(title) => body.to_owned(),
            Some(line) => {
                [&body[..line.start], format!("# {title}").as_bytes(), &body[line.end..]].concat()
            }
        }
    }
}

/// Refuses a file that has front matter in which no field can be found: another one above it would hide it.
pub(crate) fn refuse_unreadable_front_matter(bytes: &[u8], path: &Path) -> Result<()> {
    let text = String::from_utf8_lossy(bytes);
    let (message, hint) = if front_matter::inner_range(&text).is_some() {
        (
            "has front matter that is not valid UTF-8, which is not rewritten",
            "save the file as UTF-8, then write again",
        )
    } else if is_opened(&text) {
        (
            "has front matter without a closing ---, which is not rewritten",
            "close it by hand, then write again",
        )
    } else {
        return Ok(());
    };
    Err(Error::refused(message).at(path, 1).hint(hint))
}

/// Returns whether the first line of a text opens front matter.
fn is_opened(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').split('\n');
    lines.next().map(str::trim_end) == Some("---") && lines.next().is_some()
}

/// Returns the text up to the first invalid byte.
pub(crate) fn valid(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// Returns the text with these fields set to values in YAML syntax; a missing field is added.
///
/// The text must have front matter.
pub(crate) fn set(text: &str, fields: &[(&str, String)]) -> String {
    let Some(inner) = front_matter::inner_range(text) else {
        return text.to_owned();
    };
    let end = if text[..inner.start].ends_with("\r\n") { "\r\n" } else { "\n" };
    let lines = lines(text, inner.clone());
    let mut edits = Vec::new();
    for (name, value) in fields {
        match lines.iter().find(|line| line.name.eq_ignore_ascii_case(name)) {
            Some(line) => {
                // A value below its name, or missing, is written on the same line.
                let gap = if text[..line.value.start].ends_with(':') { " " } else { "" };
                edits.push(Edit::replace(line.value.clone(), format!("{gap}{value}")));
            }
            None => {
                let at = insertion_index(&lines, name, inner.start);
                edits.push(Edit::insert(at, format!("{name}: {value}{end}")));
            }
        }
    }
    edit::apply(text, edits)
}

/// Returns the text without a field and the lines that belong to it.
pub(crate) fn remove(text: &str, name: &str) -> String {
    let Some(inner) = front_matter::inner_range(text) else {
        return text.to_owned();
    };
    let lines = lines(text, inner);
    let found = lines.iter().find(|line| line.name.eq_ignore_ascii_case(name));
    match found {
        Some(line) => edit::apply(text, vec![Edit::replace(line.start..line.end, "")]),
        None => text.to_owned(),
    }
}

/// A field at the left margin, with its continuation lines.
struct FieldLines<'t> {
    name: &'t str,
    /// Byte range of the value; empty, right after the colon, if there is none.
    value: Range<usize>,
    start: usize,
    end: usize,
}

fn lines(text: &str, inner: Range<usize>) -> Vec<FieldLines<'_>> {
    let mut fields: Vec<FieldLines<'_>> = Vec::new();
    let mut at = inner.start;
    for line in text[inner].split_inclusive('\n') {
        let start = at;
        at += line.len();
        let body = line.trim_end();
        if body.is_empty() || body.starts_with('#') {
            continue;
        }
        let goes_on = body.starts_with([' ', '\t', '-', ']', '}']);
        match body.split_once(':') {
            Some((name, value)) if !goes_on => {
                let from = start + name.len() + 1;
                let range = value_in(value);
                fields.push(FieldLines {
                    name: name.trim().trim_matches(['"', '\'']),
                    value: from + range.start..from + range.end,
                    start,
                    end: at,
                });
            }
            _ => {
                if let Some(field) = fields.last_mut() {
                    field.value.end = start + body.len();
                    field.end = at;
                }
            }
        }
    }
    fields
}

/// Returns the range of the value in the text after a colon; a trailing comment, which begins outside of quotes, is
/// excluded.
fn value_in(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    let value = &text[start..];
    if value.is_empty() || value.starts_with('#') {
        return 0..0;
    }
    let (mut quote, mut previous, mut end) = (None, '\0', value.len());
    for (at, c) in value.char_indices() {
        match quote {
            Some(open) if c == open && previous != '\\' => quote = None,
            None if c == '#' && previous == ' ' => {
                end = at;
                break;
            }
            None if matches!(c, '"' | '\'') && !previous.is_alphanumeric() => quote = Some(c),
            _ => {}
        }
        previous = c;
    }
    start..start + value[..end].trim_end().len()
}

/// Returns the byte offset at which to insert a missing field: after the fields that precede it in the
/// format.
fn insertion_index(lines: &[FieldLines<'_>], name: &str, first: usize) -> usize {
    let rank = |name: &str| ORDER.iter().position(|known| known.eq_ignore_ascii_case(name));
    let Some(own) = rank(name) else {
        return lines.last().map_or(first, |line| line.end);
    };
    let before = lines.iter().filter(|line| rank(line.name).is_some_and(|other| other < own));
    before.map(|line| line.end).max().unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_one(text: &str, name: &str, value: &str) -> String {
        set(text, &[(name, value.to_owned())])
    }

    #[test]
    fn only_the_value_changes() {
        for (text, name, expected) in [
            ("---\ntype: a\nx: 1\n---\n", "type", "---\ntype: new\nx: 1\n---\n"),
            ("---\r\ntype:   a  \r\n---\r\n", "type", "---\r\ntype:   new  \r\n---\r\n"),
            ("---\ntype: a # why\n---\n", "type", "---\ntype: new # why\n---\n"),
            ("---\ntype: \"a # b\" # c\n---\n", "type", "---\ntype: new # c\n---\n"),
            ("---\ntype:\n---\n", "type", "---\ntype: new\n---\n"),
            ("---\ntype: # none\n---\n", "type", "---\ntype: new # none\n---\n"),
            ("---\nType : a\n---\n", "type", "---\nType : new\n---\n"),
            ("---\ntags:\n  - a\n\n  - b\nx: 1\n---\n", "tags", "---\ntags: new\nx: 1\n---\n"),
            ("---\ntags:\n- a\n- b\n---\n", "tags", "---\ntags: new\n---\n"),
            ("---\ntags: [a,\n  b\n]\nx: 1\n---\n", "tags", "---\ntags: new\nx: 1\n---\n"),
        ] {
            assert_eq!(set_one(text, name, "new"), expected);
        }
    }

    #[test]
    fn a_quoted_value_ends_at_its_own_quote() {
        for (value, comment) in
            [("'decision'", "don't change"), ("'it''s # a'", "don't"), (r#""a \" # b""#, "\"c\"")]
        {
            let text = format!("---\ntype: {value} # {comment}\n---\n");
            let expected = format!("---\ntype: new # {comment}\n---\n");
            assert_eq!(set_one(&text, "type", "new"), expected);
        }
    }

    #[test]
    fn a_missing_field_gets_its_place() {
        let text = "---\r\nkey: a\r\nstatus: active\r\nx: y\r\n---\r\n";
        assert_eq!(
            set_one(text, "supersedes", "b"),
            "---\r\nkey: a\r\nstatus: active\r\nsupersedes: b\r\nx: y\r\n---\r\n"
        );
        assert_eq!(set_one("---\nx: y\n---\n", "key", "a"), "---\nkey: a\nx: y\n---\n");
        assert_eq!(
            set("---\nkey: a\n---\n", &[("type", "b".to_owned()), ("updated", "c".to_owned())]),
            "---\nkey: a\ntype: b\nupdated: c\n---\n"
        );
    }

    fn updated(old: &[u8]) -> Result<Vec<u8>> {
        let key = EntryKey::parse("a").unwrap();
        let draft = EntryDraft {
            key: &key,
            kind: EntryType::Decision,
            confidence: Confidence::High,
            tags: None,
            body: None,
            title: None,
            today: NaiveDate::from_ymd_opt(2026, 3, 1).unwrap(),
        };
        draft.updated(old, Path::new("a.md"))
    }

    #[test]
    fn no_second_front_matter_is_put_over_one_that_cannot_be_read() {
        for end in ["\n", "\r\n"] {
            let mut latin = b"---\ntags: [caf\xe9, db]\nstatus: superseded\n---\n# A\n".to_vec();
            let mut open = b"---\nstatus: superseded\n# A\n".to_vec();
            for text in [&mut latin, &mut open] {
                let lines = text.split(|byte| *byte == b'\n').collect::<Vec<_>>();
                *text = lines.join(end.as_bytes());
            }
            let error = updated(&latin).unwrap_err();
            assert!(error.message.contains("not valid UTF-8"), "{error}");
            let error = updated(&open).unwrap_err();
            assert!(error.message.contains("without a closing ---"), "{error}");
        }
    }

    #[test]
    fn missing_fields_are_added_by_an_update() {
        let text = |fields: &str| format!("---\n{fields}---\n\n# A\n");
        let new = |fields: &str| {
            let new = updated(text(fields).as_bytes()).unwrap();
            String::from_utf8(new).unwrap()
        };
        assert_eq!(
            new("key: a\ntype: decision\nowner: ada\n"),
            text(
                "key: a\ntype: decision\ntags: []\ncreated: 2026-03-01\nupdated: 2026-03-01\n\
                 status: active\nconfidence: high\nowner: ada\n"
            )
        );
        // The last update is the earliest known day.
        assert_eq!(
            new("key: a\ntype: decision\ncreated:\nupdated: 2026-01-09\nconfidence: high\n"),
            text(
                "key: a\ntype: decision\ntags: []\ncreated: 2026-01-09\nupdated: 2026-03-01\n\
                 status: active\nconfidence: high\n"
            )
        );
        // A value that is not valid stays for its author to correct.
        let odd = "key: a\ntype: decision\ntags: []\ncreated: soon\nupdated: 2026-03-01\nstatus: gone\nconfidence: high\n";
        assert_eq!(new(odd), text(odd));
    }

    #[test]
    fn a_byte_order_mark_stays_at_the_start() {
        let new = updated("\u{feff}# Title\n\nbody\n".as_bytes()).unwrap();
        let new = String::from_utf8(new).unwrap();
        assert!(new.starts_with("\u{feff}---\n"), "{new}");
        assert!(new.ends_with("---\n\n# Title\n\nbody\n"), "{new}");
    }
}
