//! Parses front matter: the fields at the start of a file, between two `---` lines.
//!
//! ```text
//! ---
//! phase: "05.1"
//! commit_hashes:
//!   - 84e9493
//! ---
//! ```
//!
//! A byte order mark and blank lines may precede it. It is read line by line, with warnings for the
//! lines that are not understood.

use std::ops::Range;
use std::path::Path;

use crate::markdown::fields;
use crate::markdown::node::{Node, Value};
use crate::text::line_number;
use crate::warning::{Parsed, Warning};

/// Maximum number of bytes read of it.
const MAX_LENGTH: usize = 1024 * 1024;

/// The front matter of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontMatter {
    /// The fields: a mapping, empty if the file has no front matter.
    pub fields: Node,
    /// Byte range, including the `---` lines; without them, that of the byte order mark, if any.
    pub range: Range<usize>,
}

impl FrontMatter {
    /// Parses the front matter of `text`, if it has one.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let Some(first) = find_first_block(text) else {
            if let Some(line) = unclosed(text) {
                warnings.push(Warning::at(
                    path,
                    line,
                    "the front matter has no closing ---; read as text",
                ));
            }
            // A byte order mark is not part of the first line.
            let mark = text.len() - text.trim_start_matches('\u{feff}').len();
            let value = Self { fields: empty(), range: 0..mark };
            return Parsed { value, warnings };
        };
        let fields = read(text, &first, path, &mut warnings);
        let range = first.whole;
        Parsed::new(Self { fields, range }, warnings)
    }

    /// Returns the value of the first of `keys` that is present.
    pub fn get(&self, keys: &[&str]) -> Option<&Node> {
        self.fields.get(keys)
    }

    /// Returns the text of the first of `keys` that is present and not empty.
    pub fn text(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.get(&[key])?.as_text())
    }

    /// Returns whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.fields.pairs().is_empty()
    }
}

/// Returns the byte range between the `---` lines of the first block, for callers that need a single line of
/// it.
pub fn inner_range(text: &str) -> Option<Range<usize>> {
    find_first_block(text).map(|block| block.inner)
}

fn empty() -> Node {
    Node { value: Value::Map(Vec::new()), line: 1 }
}

/// A block between two `---` lines.
struct FencedBlock {
    whole: Range<usize>,
    inner: Range<usize>,
}

/// Finds the first block of the front matter; a rule at the start of a document is not its beginning.
fn find_first_block(text: &str) -> Option<FencedBlock> {
    find_block(text, 0).filter(|block| may_be_fields(&text[block.inner.clone()]))
}

/// Returns whether the text between two `---` lines at the start of a file may be front matter, even if it is not
/// valid YAML: it is empty, or one of the first lines looks like a field.
fn may_be_fields(inner: &str) -> bool {
    let text = inner.trim_start();
    // After a blank line, `#` begins a heading, not a YAML comment.
    if inner.lines().next().is_some_and(|line| line.trim().is_empty()) && !text.is_empty() {
        return !text.starts_with('#') && looks_like_fields(text);
    }
    let first_lines = text.lines().take_while(|line| !line.trim().is_empty());
    let mut fields = first_lines.filter(|line| !line.starts_with('#')).peekable();
    fields.peek().is_none_or(|first| first.starts_with('{')) || fields.any(is_field)
}

/// Returns whether a line is a field whose name has few words: `Phase name: Parser`.
fn is_field(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else { return false };
    let is_value = value.is_empty() || value.starts_with([' ', '\t']);
    let is_word = |word: &str| word.starts_with(char::is_alphanumeric);
    looks_like_fields(line)
        || is_value && key.split(' ').count() <= 3 && key.split(' ').all(is_word)
}

/// Finds a block at `from`, preceded only by blank lines and a byte order mark.
fn find_block(text: &str, from: usize) -> Option<FencedBlock> {
    let start = from + opening_offset(&text[from..])?;
    let inner = start + text[start..].find('\n')? + 1;
    let mut at = inner;
    for line in text[inner..].split_inclusive('\n') {
        let end = at + line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return Some(FencedBlock { whole: start..end, inner: inner..at });
        }
        at = end;
    }
    None
}

/// Returns the byte offset of the opening `---` line.
fn opening_offset(text: &str) -> Option<usize> {
    let rest = text.trim_start_matches('\u{feff}').trim_start();
    let line = rest.lines().next()?;
    let at = text.len() - rest.len();
    let begins_line =
        text[..at].trim_end_matches([' ', '\t']).ends_with(['\n', '\u{feff}']) || at == 0;
    (line.trim_end() == "---" && begins_line).then_some(at)
}

/// Returns the line number of an opening `---` that is followed by fields but never closed.
fn unclosed(text: &str) -> Option<usize> {
    let start = opening_offset(text)?;
    let next = text[start..].lines().nth(1)?;
    looks_like_fields(next).then(|| line_number(text, start))
}

fn looks_like_fields(inner: &str) -> bool {
    inner
        .lines()
        .find(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .and_then(|line| line.split_once(':'))
        .is_some_and(|(key, _)| {
            !key.trim().is_empty()
                && !key.trim().contains(char::is_whitespace)
                && !key.starts_with('*')
        })
}

fn read(text: &str, block: &FencedBlock, path: &Path, warnings: &mut Vec<Warning>) -> Node {
    let mut inner = &text[block.inner.clone()];
    let first_line = line_number(text, block.inner.start);
    if inner.len() > MAX_LENGTH {
        let end = inner.floor_char_boundary(MAX_LENGTH);
        let message = "the front matter is longer than 1 MiB; the rest is not read";
        warnings.push(Warning::at(path, line_number(text, block.inner.start + end), message));
        inner = &inner[..end];
    }
    let (fields, unclear) = fields::read(inner, first_line);
    if let Some(first) = unclear.first() {
        let message = match unclear.len() {
            1 => "is not understood in the front matter".to_owned(),
            lines => {
                format!("{lines} lines of the front matter, from here on, are not understood")
            }
        };
        warnings.push(Warning::at(path, *first, message));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Parsed<FrontMatter> {
        FrontMatter::parse(text, Path::new("a.md"))
    }

    #[test]
    fn hashes_and_ids_stay_text() {
        let found =
            parse("---\nplan: 08\nhashes: [84e9493, 0753326, 8475544]\nx: null\n---\n").value;
        assert_eq!(found.text(&["plan"]), Some("08"));
        assert_eq!(found.get(&["hashes"]).unwrap().texts(), ["84e9493", "0753326", "8475544"]);
    }

    #[test]
    fn lines_that_are_not_understood_are_named() {
        let text = "---\nphase: 01\nadded:\n  - @types/x (dev)\n  - `npx tsc` exits\nwhat: made it with \"type\": \"module\"\n%%\nplan: 02\nitems:\n- name: a\n  commit: 1e5\n---\nbody";
        let found = parse(text);
        let fields = &found.value;
        assert_eq!(fields.text(&["phase"]), Some("01"));
        assert_eq!(fields.text(&["plan"]), Some("02"));
        assert_eq!(fields.get(&["added"]).unwrap().texts(), ["@types/x (dev)", "`npx tsc` exits"]);
        let item = fields.get(&["items"]).unwrap().elements()[0];
        assert_eq!(item.get(&["commit"]).unwrap().as_text(), Some("1e5"));
        assert_eq!(found.warnings.len(), 1);
        assert_eq!(found.warnings[0].place.line, Some(7));
        assert_eq!(&text[fields.range.end..], "body");
    }

    #[test]
    fn an_unquoted_value_with_a_colon_is_text() {
        let text = "---\nstopped_at: Phase 3 done: it's ready to plan\r\nnote: as agreed:\nprogress:\n  last: plan 2: tests\n  percent: \"40\"\n---\n";
        let found = parse(text);
        assert_eq!(found.warnings, []);
        let fields = found.value;
        let stopped = "Phase 3 done: it's ready to plan";
        assert_eq!(fields.text(&["stopped_at"]), Some(stopped));
        assert_eq!(fields.text(&["note"]), Some("as agreed:"));
        let progress = fields.get(&["progress"]).unwrap();
        assert_eq!(fields.get(&["note"]).unwrap().line, 3);
        assert_eq!(progress.get(&["last"]).unwrap().as_text(), Some("plan 2: tests"));
        assert_eq!(progress.get(&["percent"]).unwrap().as_text(), Some("40"));
    }

    #[test]
    fn it_may_follow_a_byte_order_mark_and_blank_lines() {
        let found = parse("\u{feff}\r\n\n---\r\nphase: 1\r\n---\r\n").value;
        assert_eq!(found.text(&["phase"]), Some("1"));
    }

    #[test]
    fn a_rule_is_not_front_matter() {
        assert!(parse("# A\n---\nb: c\n---\n").value.is_empty());
        assert!(parse("---\n\n# Title\n").warnings.is_empty());
        for text in [
            "---\n\n# Title\n\nStatus: done\n\n---\n\nMore\n",
            "---\n\nFirst part.\n\n---\n\nSecond: part.\n",
            "---\nThe first part of the text.\nIt has two lines.\n---\nMore\n",
        ] {
            let found = parse(text);
            assert_eq!(found.value.range, 0..0, "{text:?}");
            assert_eq!(found.warnings, [], "{text:?}");
        }
        for text in [
            "---\n---\n",
            "---\n# none yet\n---\n",
            "---\n# note\n\nphase: 1\n---\n",
            "---\n\nphase: 1\n---\n",
            "---\n@broken\nphase: 1\n---\n",
            "---\nPhase name: Parser\n---\n",
            "---\n{phase: 1}\n---\n",
            "---\n%%\n  - ]\nphase: [\n---\n",
        ] {
            assert_eq!(parse(text).value.range, 0..text.len(), "{text:?}");
        }
        assert_eq!(parse("---\nphase: 1\n\n# Title\n").warnings.len(), 1);
    }

    #[test]
    fn hostile_front_matter_is_read_in_part_and_named_once() {
        let deep = format!("---\na: {}\nb: 1\n---\n", "[".repeat(5000));
        assert_eq!(parse(&deep).value.text(&["b"]), Some("1"));
        let long = parse(&format!("---\na: 1\ntags:\n{}---\nbody", "- x\n".repeat(1 << 19)));
        assert_eq!(long.value.text(&["a"]), Some("1"));
        let told: Vec<String> = long.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            ["a.md:262145: the front matter is longer than 1 MiB; the rest is not read"]
        );
        let broken = parse(&format!("---\nphase: 4\n{}---\n", "]\n".repeat(1_000)));
        let told: Vec<String> = broken.warnings.iter().map(ToString::to_string).collect();
        let expected = "a.md:3: 1000 lines of the front matter, from here on, are not understood";
        assert_eq!(told, [expected]);
    }
}
