//! Generates the text of an entry: a new one, or an existing one with only the necessary changes.

use crate::error::Error;
use crate::error::Result;
use crate::knowledge::Confidence;
use crate::knowledge::Entry;
use crate::knowledge::EntryKey;
use crate::knowledge::EntryType;
use crate::knowledge::entry;
use crate::knowledge::front::Front;
use crate::knowledge::front_edit;
use crate::knowledge::yaml;
use crate::markdown::front_matter;

use std::path::Path;

use chrono::NaiveDate;

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
        let opens = String::from_utf8_lossy(old);
        if opens.trim_start_matches('\u{feff}').starts_with("---\n") {
            return Err(Error::refused(
                "has front matter without a closing ---, which is not rewritten",
            )
            .at(path, 1)
            .hint("close it by hand, then write again"));
        }
        let mut bytes = self.front().into_bytes();
        bytes.push(b'\n');
        match self.body {
            Some(body) => bytes.extend(self.with_title(body, entry::title(&opens))),
            None => bytes.extend(self.retitled(old)),
        }
        Ok(bytes)
    }

    /// Returns the fields whose values have to change.
    fn changed(&self, front: &Front<'_>, entry: &Entry) -> Vec<(&'static str, String)> {
        let mut fields = Vec::new();
        if front.get("key").and_then(|field| field.text()) != Some(self.key.as_str()) {
            fields.push(("key", yaml::scalar(self.key.as_str())));
        }
        if entry.kind != Some(self.kind) {
            fields.push(("type", self.kind.as_str().to_owned()));
        }
        if let Some(tags) = self.tags
            && entry.tags != tags
        {
            let tags = yaml::list(tags.iter().map(|tag| yaml::scalar(tag)));
            fields.push(("tags", tags));
        }
        if entry.updated != Some(self.today) {
            fields.push(("updated", self.today.to_string()));
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

/// Returns the text up to the first invalid byte.
fn valid(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}
