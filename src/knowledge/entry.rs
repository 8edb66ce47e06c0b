//! Parses an entry: its front matter, its title and the position of its body.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use chrono::NaiveDate;
use serde::{Serialize, Serializer};

use crate::clock::parse_date;
use crate::knowledge::front::{Field, Front};
use crate::knowledge::{Confidence, EntryStatus, EntryType, key};
use crate::warning::{Parsed, Warning};

/// An entry, as far as it could be parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its file name without the extension.
    pub key: String,
    /// The first level-one heading of its body.
    pub title: Option<String>,
    /// The type of knowledge.
    #[serde(rename = "type")]
    pub kind: Option<EntryType>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The day it was created.
    pub created: Option<NaiveDate>,
    /// The day it was last updated.
    pub updated: Option<NaiveDate>,
    /// Whether it is active, stale or superseded.
    pub status: EntryStatus,
    /// The keys of the entries that it replaces.
    #[serde(serialize_with = "joined")]
    pub supersedes: Vec<String>,
    /// How certain the author was.
    pub confidence: Option<Confidence>,
    /// The key in the front matter.
    #[serde(skip)]
    pub named: Option<String>,
    /// Byte range of the body, after the front matter and the blank line that follows.
    #[serde(skip)]
    pub body: Range<usize>,
}

impl Entry {
    /// Parses the entry in a file of the store; problems become warnings.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        let front = Front::parse(text, path);
        let mut reader = FieldReader { path, warnings: front.problems.clone() };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut entry = Self {
            key: stem.into_owned(),
            title: title(&text[front.body..]).map(str::to_owned),
            body: front.body..text.len(),
            ..Self::default()
        };
        if let Some(fault) = key::fault(&entry.key) {
            reader.warn(1, format!("the file name is not a key: {fault}"));
        }
        if front.is_there {
            reader.fill(&mut entry, &front);
        } else if reader.warnings.is_empty() {
            reader.warn(1, "has no front matter");
        }
        Parsed::new(entry, reader.warnings)
    }

    /// Parses the entry in a file of the store, ignoring warnings.
    pub(crate) fn from_bytes(bytes: &[u8], path: &Path) -> Self {
        Self::parse(&String::from_utf8_lossy(bytes), path).value
    }

    /// Returns whether it is active; searches skip other entries by default.
    pub fn is_active(&self) -> bool {
        self.status == EntryStatus::Active
    }

    /// Returns the date from which its age is counted.
    pub fn dated(&self) -> Option<NaiveDate> {
        self.updated.or(self.created)
    }
}

/// Converts the fields of the front matter, and collects warnings.
struct FieldReader<'a> {
    path: &'a Path,
    warnings: Vec<Warning>,
}

impl FieldReader<'_> {
    fn warn(&mut self, line: usize, message: impl Into<String>) {
        self.warnings.push(Warning::at(self.path, line, message));
    }

    fn fill(&mut self, entry: &mut Entry, front: &Front<'_>) {
        if let Some((named, line)) = text(front, "key") {
            if named != entry.key {
                self.warn(line, format!("has the key `{named}`, which is not its file name"));
            }
            entry.named = Some(named.to_owned());
        }
        self.doubled(front);
        entry.kind = self.word(front, "type", EntryType::from_any_case);
        if entry.kind.is_none() && text(front, "type").is_none() {
            self.warn(1, "has no type");
        }
        entry.tags = front.get("tags").map(Field::texts).unwrap_or_default();
        entry.created = self.word(front, "created", parse_date);
        entry.updated = self.word(front, "updated", parse_date);
        entry.status =
            self.word(front, "status", EntryStatus::from_any_case).unwrap_or(EntryStatus::Active);
        entry.supersedes = front.get("supersedes").map(Field::texts).unwrap_or_default();
        entry.confidence = self.word(front, "confidence", Confidence::from_any_case);
    }

    /// Warns about duplicate fields, because tools differ in which of them they use.
    fn doubled(&mut self, front: &Front<'_>) {
        let mut first_lines: HashMap<String, usize> = HashMap::new();
        for field in &front.fields {
            let name = field.name.to_ascii_lowercase();
            let first = *first_lines.entry(name).or_insert(field.line);
            if first != field.line {
                let message = format!("{} is already on line {first}", field.name);
                self.warn(field.line, message);
            }
        }
    }

    fn word<T>(
        &mut self,
        front: &Front<'_>,
        name: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let (word, line) = text(front, name)?;
        let found = read(word);
        if found.is_none() {
            let article =
                if name == "created" || name == "updated" { "date" } else { "valid value" };
            self.warn(line, format!("{name}: `{word}` is not a {article}"));
        }
        found
    }
}

fn text<'f>(front: &'f Front<'_>, name: &str) -> Option<(&'f str, usize)> {
    let field = front.get(name)?;
    Some((field.text()?, field.line))
}

/// Serializes keys as in the front matter: null, one, or several separated by commas.
fn joined<S: Serializer>(keys: &[String], to: S) -> Result<S::Ok, S::Error> {
    let keys = (!keys.is_empty()).then(|| keys.join(", "));
    keys.serialize(to)
}

/// Returns the byte offset of the body.
pub(crate) fn body_start(text: &str) -> usize {
    Front::parse(text, Path::new("")).body
}

/// Returns the title of a body: its first level-one heading outside code fences.
pub(crate) fn title(body: &str) -> Option<&str> {
    let heading = &body[title_line(body)?];
    let first = heading.lines().next().unwrap_or_default();
    Some(first.trim_start_matches('#').trim())
}

/// Returns the byte range of the title without the line break: its line, or the line and the `=` underline
/// below it.
pub(crate) fn title_line(body: &str) -> Option<Range<usize>> {
    let mut fence = Fence::default();
    let content = body.trim_start_matches('\u{feff}');
    let mut at = body.len() - content.len();
    // The start of the line above, if it begins a paragraph.
    let mut first: Option<usize> = None;
    let mut is_inside = false;
    for line in content.split_inclusive('\n') {
        let text = line.trim_end();
        let is_code = fence.contains(text);
        if !is_code
            && let Some(title) = text.strip_prefix("# ")
            && !title.trim().is_empty()
        {
            return Some(at..at + text.len());
        }
        if let Some(start) = first.filter(|_| !is_code && is_underline(text)) {
            return Some(start..at + text.len());
        }
        let begins = !is_code && !is_inside && is_plain(text);
        first = begins.then_some(at);
        is_inside = !is_code && !text.is_empty();
        at += line.len();
    }
    None
}

/// Returns whether a line is an underline that makes a title of the line above.
fn is_underline(line: &str) -> bool {
    let marks = line.trim_start_matches(' ');
    line.len() - marks.len() < 4 && !marks.is_empty() && marks.bytes().all(|b| b == b'=')
}

/// Returns whether a line can begin a paragraph: it is not a heading, list, quote, table, comment or indented
/// code.
fn is_plain(line: &str) -> bool {
    let is_listed = line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(['.', ')']);
    let is_marked = line.starts_with(['#', '-', '*', '+', '>', '|', '<', '=', '\t']);
    !line.is_empty() && !is_listed && !is_marked && !line.starts_with("    ")
}

/// Tracks line by line which lines are in a fenced code block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fence {
    open: Option<(char, usize)>,
}

impl Fence {
    /// Returns whether a line belongs to a fenced block; lines must be passed in order.
    pub(crate) fn contains(&mut self, line: &str) -> bool {
        let indented = line.len() - line.trim_start_matches(' ').len();
        let text = line.trim();
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'));
        let run = mark.map_or(0, |mark| text.len() - text.trim_start_matches(mark).len());
        match (self.open, mark) {
            (None, Some(mark)) if run >= 3 && indented < 4 => {
                let info = &text[run..];
                if mark == '`' && info.contains('`') {
                    return false;
                }
                self.open = Some((mark, run));
                true
            }
            (None, _) => false,
            (Some((open, length)), mark) => {
                if mark == Some(open) && run >= length && text.len() == run && indented < 4 {
                    self.open = None;
                }
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Parsed<Entry> {
        Entry::parse(text, Path::new("memory/test-runner.md"))
    }

    #[test]
    fn all_fields_of_an_entry_are_read() {
        let text = "---\nkey: test-runner\ntype: session-log\ntags: [a, b]\ncreated: 2026-01-02\n\
            updated: 2026-02-03\nstatus: superseded\nsupersedes: old\nconfidence: low\n---\n\n# Test runner\n\nIt is.\n";
        let parsed = parse(text);
        assert_eq!(parsed.warnings, []);
        let entry = parsed.value;
        assert_eq!(entry.key, "test-runner");
        assert_eq!(entry.title.as_deref(), Some("Test runner"));
        assert_eq!(entry.kind, Some(EntryType::SessionLog));
        assert_eq!(entry.tags, ["a", "b"]);
        assert_eq!(entry.created, NaiveDate::from_ymd_opt(2026, 1, 2));
        assert_eq!(entry.dated(), NaiveDate::from_ymd_opt(2026, 2, 3));
        assert_eq!(entry.status, EntryStatus::Superseded);
        assert_eq!(entry.supersedes, ["old"]);
        assert_eq!(entry.confidence, Some(Confidence::Low));
        assert_eq!(&text[entry.body], "# Test runner\n\nIt is.\n");
    }

    #[test]
    fn a_title_is_found_after_a_byte_order_mark() {
        for text in ["\u{feff}# T\nx\n", "\u{feff}T\n===\n"] {
            assert_eq!(title(text), Some("T"));
            assert_eq!(title(&text[3..]), Some("T"));
        }
        let line = title_line("\u{feff}# T\n").unwrap();
        assert_eq!(line, 3..6);
    }

    #[test]
    fn each_problem_has_its_line() {
        for (text, line, problem) in [
            ("# T\n", 1, "has no front matter"),
            ("---\nkey: test-runner\n", 1, "no closing"),
            ("---\nkey: other\ntype: gotcha\n---\n", 2, "has the key `other`"),
            ("---\nkey: test-runner\n---\n", 1, "has no type"),
            ("---\ntype: fact\n---\n", 2, "type: `fact` is not a valid value"),
            ("---\ntype: gotcha\nstatus: done\n---\n", 3, "status: `done`"),
            ("---\ntype: gotcha\nupdated: soon\n---\n", 3, "`soon` is not a date"),
            ("---\ntype: gotcha\ntags: [a\n---\n", 0, "not valid YAML"),
        ] {
            let warnings = parse(text).warnings;
            let first = warnings.first().unwrap();
            assert!(first.message.contains(problem), "{text}: {first}");
            assert!(line == 0 || first.place.line == Some(line), "{first}");
        }
    }

    #[test]
    fn a_title_in_a_fence_is_ignored() {
        assert_eq!(title("```\n# no\n```\n\n# Yes #\n"), Some("Yes #"));
        assert_eq!(title("~~~~\n# no\n~~~\n# no\n~~~~\n# Yes\r\n"), Some("Yes"));
        assert_eq!(title("## Two\n"), None);
        assert_eq!(title("\nTitle\n=====\n\ntext\n"), Some("Title"));
        assert_eq!(title("A text\nof two\n===\n"), None);
        assert_eq!(title("- a\n===\n"), None);
        assert_eq!(title("```\nA\n===\n```\n"), None);
        assert_eq!(title("#\n"), None);
    }
}
