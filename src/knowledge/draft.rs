//! Generates the text of an entry: a new one, or an existing one with only the necessary changes.

use std::path::Path;

use chrono::NaiveDate;

use crate::error::{Error, Result};
use crate::knowledge::front::{FieldValue, Front};
use crate::knowledge::{Confidence, Entry, EntryKey, EntryType, entry, front_edit, yaml};
use crate::markdown::front_matter;
use crate::text::BYTE_ORDER_MARK;

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
        let front = Front::parse(head, path);
        let body_at = front.body;
        let entry = Entry::parse(head, path).value;
        let mut bytes =
            front_edit::set(&head[..body_at], &self.changed(&front, &entry)).into_bytes();
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
    fn changed(&self, front: &Front<'_>, entry: &Entry) -> Vec<(&'static str, String)> {
        let is_missing = |name: &str| {
            front.get(name).is_none_or(
                |field| matches!(&field.value, FieldValue::Text(text) if text.trim().is_empty()),
            )
        };
        let mut fields = Vec::new();
        if front.get("key").and_then(|field| field.text()) != Some(self.key.as_str()) {
            fields.push(("key", yaml::scalar(self.key.as_str())));
        }
        if entry.kind != Some(self.kind) {
            fields.push(("type", self.kind.as_str().to_owned()));
        }
        let tags = self.tags.or_else(|| is_missing("tags").then_some(&[]));
        if let Some(tags) = tags
            && (entry.tags != tags || is_missing("tags"))
        {
            let tags = yaml::list(tags.iter().map(|tag| yaml::scalar(tag)));
            fields.push(("tags", tags));
        }
        if is_missing("created") {
            // The last update is the earliest known day.
            let created = entry.updated.unwrap_or(self.today);
            fields.push(("created", created.to_string()));
        }
        if entry.updated != Some(self.today) {
            fields.push(("updated", self.today.to_string()));
        }
        if is_missing("status") {
            fields.push(("status", entry.status.as_str().to_owned()));
        }
        if entry.confidence != Some(self.confidence) {
            fields.push(("confidence", self.confidence.as_str().to_owned()));
        }
        fields
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
        let line = entry::title_line(head);
        let Some(line) = line.filter(|line| entry::title(&head[line.clone()]) != Some(title))
        else {
            return match entry::title(head) {
                Some(_) => body.to_owned(),
                None => self.with_title(body, None),
            };
        };
        let new = format!("# {title}").into_bytes();
        [&body[..line.start], &new, &body[line.end..]].concat()
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

#[cfg(test)]
mod tests {
    use super::*;

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
