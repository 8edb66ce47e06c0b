//! An entry: its key, which is also its file name, its front matter, its title and the position of its body.

use std::ops::Range;
use std::path::Path;

use chrono::NaiveDate;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag};
use regex::Regex;
use serde::{Serialize, Serializer};

use crate::clock::parse_date;
use crate::error::{Error, Result};
use crate::markdown::{FrontMatter, Lines, Node, Ranges, Value, front_matter, line_start};
use crate::text::{Pattern, capitalized, sanitized, word_enum};
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
        let Parsed { value: front, warnings } = FrontMatter::parse(text, path);
        let body = if front_matter::inner_range(text).is_some() {
            after_line_break(text, front.range.end)
        } else {
            0
        };
        let mut reader = FieldReader { front: &front, path, warnings };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut entry = Self {
            key: stem.into_owned(),
            title: title(&text[body..]).map(str::to_owned),
            body: body..text.len(),
            ..Self::default()
        };
        let fault = key_fault(&entry.key);
        if let Some(fault) = &fault {
            reader.warn(1, format!("the file name is not a key: {fault}"));
        }
        if body > 0 {
            reader.fill(&mut entry);
        } else if reader.warnings.is_empty() {
            reader.warn(1, "has no front matter");
        }
        if fault.is_some() {
            // It may be a tag or a token, and it is listed.
            entry.key = sanitized(&entry.key).into_owned();
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

/// Returns a field of the front matter, ignoring case, with its text; `None` if it is empty or a list.
pub(crate) fn field<'f>(front: &'f FrontMatter, name: &str) -> Option<(&'f Node, Option<&'f str>)> {
    let fields = front.fields.pairs().iter();
    let (_, node) = fields.into_iter().find(|(field, _)| field.eq_ignore_ascii_case(name))?;
    let is_null = |text: &&str| matches!(*text, "null" | "Null" | "NULL" | "~");
    Some((node, node.as_text().filter(|text| !is_null(text))))
}

/// Returns the end of the line break at `at`, or `at` if there is none.
fn after_line_break(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let breaks = ["\r\n", "\n"].into_iter().find(|end| rest.starts_with(end));
    at + breaks.map_or(0, str::len)
}

/// Converts the fields of the front matter, and collects warnings.
struct FieldReader<'a> {
    front: &'a FrontMatter,
    path: &'a Path,
    warnings: Vec<Warning>,
}

impl FieldReader<'_> {
    fn warn(&mut self, line: usize, message: impl Into<String>) {
        self.warnings.push(Warning::at(self.path, line, message));
    }

    fn fill(&mut self, entry: &mut Entry) {
        if let Some((node, Some(named))) = field(self.front, "key") {
            if named != entry.key {
                let message = format!("has the key `{named}`, which is not its file name");
                self.warn(node.line, message);
            }
            entry.named = Some(named.to_owned());
        }
        entry.kind = self.word("type", EntryType::from_any_case);
        if field(self.front, "type").is_none_or(|(_, text)| text.is_none()) {
            self.warn(1, "has no type");
        }
        entry.tags = self.texts("tags");
        entry.created = self.word("created", parse_date);
        entry.updated = self.word("updated", parse_date);
        entry.status = self.word("status", EntryStatus::from_any_case).unwrap_or_default();
        entry.supersedes = self.texts("supersedes");
        entry.confidence = self.word("confidence", Confidence::from_any_case);
    }

    /// Returns the texts of a field; a text that is not a list is split at commas.
    fn texts(&self, name: &str) -> Vec<String> {
        let texts = match field(self.front, name) {
            Some((node, _)) if matches!(node.value, Value::List(_)) => node.texts(),
            Some((_, Some(text))) => text.split(',').map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let trimmed = texts.iter().map(|text| text.trim());
        trimmed.filter(|text| !text.is_empty()).map(str::to_owned).collect()
    }

    fn word<T>(&mut self, name: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (node, text) = field(self.front, name)?;
        let word = text?;
        let found = read(word);
        if found.is_none() {
            let what = if name.ends_with("ated") { "date" } else { "valid value" };
            self.warn(node.line, format!("{name}: `{word}` is not a {what}"));
        }
        found
    }
}

/// Serializes keys as in the front matter: null, one, or several separated by commas.
fn joined<S: Serializer>(keys: &[String], to: S) -> std::result::Result<S::Ok, S::Error> {
    let keys = (!keys.is_empty()).then(|| keys.join(", "));
    keys.serialize(to)
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
    let start = body.len() - body.trim_start_matches(['\u{feff}', '\r', '\n']).len();
    // Nearly every entry begins with it, so most need no parser.
    let first = body[start..].lines().next().unwrap_or_default().trim_end();
    if first.strip_prefix("# ").is_some_and(|title| !title.trim().is_empty()) {
        return Some(start..start + first.len());
    }
    let mut events = Parser::new(&body[start..]).into_offset_iter();
    events.find_map(|(event, range)| {
        let Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) = event else { return None };
        let own = body[start..][range.clone()].trim_end();
        // Above an underline, a title has one line; text that happens to be underlined has more.
        let is_title = own.lines().count() <= 2 && own.contains(|c: char| c != '#');
        let range = start + range.start..start + range.start + own.len();
        (is_title && line_start(body, range.start).max(start) == range.start).then_some(range)
    })
}

/// A link to another entry; of `[[a [[b]]` only the innermost brackets count.
static LINK: Pattern<Regex> = Pattern::new(r"\[\[([^\[\]\n]+)\]\]");

/// Returns the targets of the links of a body, except in code, each with its line; `first` is the number of the body's
/// first line.
pub(crate) fn links(body: &str, first: usize) -> impl Iterator<Item = (&str, usize)> {
    let body = if body.contains("[[") { body } else { "" };
    let code = Parser::new(body).into_offset_iter().filter_map(|(event, range)| {
        let fenced = Event::Start(Tag::CodeBlock(CodeBlockKind::Indented));
        let is_code = matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_)));
        (is_code && event != fenced).then_some(range)
    });
    let (lines, code) = (Lines::new(body), Ranges::merge(code));
    let targets = LINK.captures_iter(body).filter_map(|found| found.get(1));
    let targets = targets.filter(move |to| !code.contains(to.start()));
    let targets = targets.map(move |to| (to.as_str().trim(), first - 1 + lines.line(to.start())));
    targets.filter(|(to, _)| !to.is_empty())
}

/// Maximum length of a key, in characters.
pub(crate) const MAX_KEY: usize = 60;

/// Keys that would clash with the store's own files.
const RESERVED: [&str; 2] = ["index", "log"];

/// Refuses what is not a key, `[a-z0-9]` and single hyphens, at most 60 characters, with the reason.
pub(crate) fn check_key(text: &str) -> Result<()> {
    let Some(fault) = key_fault(text) else { return Ok(()) };
    Err(Error::refused(format!("`{text}` is not a key: {fault}")).hint(format!(
        "a key is lower-case words with hyphens, {MAX_KEY} characters at most, such as `test-runner`"
    )))
}

/// Returns a key's words as a title: `Test runner` for `test-runner`.
pub(crate) fn in_words(key: &str) -> String {
    capitalized(&key.replace('-', " "))
}

/// Returns why a text is not a valid key; `None` if it is valid.
pub(crate) fn key_fault(text: &str) -> Option<String> {
    let foreign = |c: &char| !matches!(c, 'a'..='z' | '0'..='9' | '-');
    if let Some(c) = text.chars().find(foreign) {
        return Some(format!("{c:?} (U+{:04X}) is not a-z, 0-9 or a hyphen", u32::from(c)));
    }
    let is_long = !(1..=MAX_KEY).contains(&text.len());
    let has_gap = text.starts_with('-') || text.ends_with('-') || text.contains("--");
    (is_long || has_gap || RESERVED.contains(&text)).then(|| {
        format!("it has 1 to {MAX_KEY} characters, single hyphens between words, and is neither `index` nor `log`")
    })
}

word_enum! {
    /// The type of knowledge in an entry; the set is closed.
    #[derive(Default)]
    pub enum EntryType {
        /// A rule for code, names or processes.
        Convention = "convention",
        /// A choice and its rationale.
        Decision = "decision",
        /// A preference of the user or the team.
        Preference = "preference",
        /// A pitfall that is not obvious.
        Gotcha = "gotcha",
        /// A person, a team or a service.
        Contact = "contact",
        /// Something that is valid until a date.
        Deadline = "deadline",
        /// How a part of the system is structured.
        Architecture = "architecture",
        /// An approach that is used in several places.
        Pattern = "pattern",
        /// How to diagnose a class of problems.
        Debugging = "debugging",
        /// How to run, build, test or deploy.
        Environment = "environment",
        /// The events of a notable session or incident.
        SessionLog = "session-log",
        /// Links and glossaries; also what no rule gives another type.
        #[default]
        Reference = "reference",
    }
}

word_enum! {
    /// Whether an entry is up to date.
    #[derive(Default)]
    pub enum EntryStatus {
        /// It is valid; the default if no status is stated.
        #[default]
        Active = "active",
        /// Its validity is in doubt.
        Stale = "stale",
        /// Another entry replaces it.
        Superseded = "superseded",
    }
}

word_enum! {
    /// How certain the author is.
    pub enum Confidence {
        /// The user said so, or the code shows it.
        High = "high",
        /// Likely.
        Medium = "medium",
        /// A best guess.
        Low = "low",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

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
            ("---\ntype: gotcha\ntags: [a\n---\n", 3, "is not understood"),
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

    fn found(body: &str) -> Vec<(&str, usize)> {
        links(body, 1).collect()
    }

    #[test]
    fn links_have_their_line() {
        let body = "See [[a]] and [[ b-c ]].\n\n- [[d]] — why\n";
        assert_eq!(found(body), [("a", 1), ("b-c", 1), ("d", 3)]);
        assert_eq!(links("[[a]]", 11).next(), Some(("a", 11)));
    }

    #[test]
    fn code_and_empty_brackets_contain_no_links() {
        for body in [
            "`[[a]]`", "``[[a]]``", "```\n[[a]]\n```\n", "~~~ text\n[[a]]\n", "[[]] [[ ]] [[a",
            "[a](b)",
        ] {
            assert_eq!(found(body), [], "{body}");
        }
        assert_eq!(found("`a` [[b]] `c`"), [("b", 1)]);
        assert_eq!(found("a ` [[b]]"), [("b", 1)]);
        assert_eq!(found("`[[a]]` [[b]] `[[c]]` [[d]]").len(), 2);
        assert_eq!(found("[[[b]]] [[x [[c]]"), [("b", 1), ("c", 1)]);
    }

    #[test]
    fn keys_are_words_with_hyphens() {
        for good in ["a", "test-runner", "2026-q2", &"a".repeat(MAX_KEY)] {
            check_key(good).unwrap();
        }
        assert_eq!(in_words("test-runner"), "Test runner");
    }

    #[test]
    fn anything_else_is_refused_with_the_reason() {
        for (bad, reason) in [
            ("", "1 to 60 characters"),
            ("Test", "'T' (U+0054) is not"),
            ("a.b", "'.' (U+002E) is not"),
            ("../a", "'.' (U+002E) is not"),
            ("a/b", "'/' (U+002F) is not"),
            ("a b", "' ' (U+0020) is not"),
            ("\u{430}uth", "U+0430"),
            ("a\u{2010}b", "U+2010"),
            ("日本", "U+65E5"),
            ("a\nb", "'\\n' (U+000A) is not"),
            ("-a", "single hyphens"),
            ("a-", "single hyphens"),
            ("a--b", "single hyphens"),
            ("log", "neither `index`"),
            ("index", "neither `index`"),
            (&"a".repeat(MAX_KEY + 1), "1 to 60 characters"),
        ] {
            let error = check_key(bad).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Refused);
            assert!(error.message.contains(reason), "{}", error.message);
        }
    }
}
