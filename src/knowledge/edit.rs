//! Generates the text of an entry: a new one, or an existing one with only the necessary changes.

use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

use chrono::NaiveDate;
use regex::{Captures, Regex};

use crate::error::{Error, Result};
use crate::knowledge::{Entry, EntryStatus, EntryWrite, entry, yaml};
use crate::markdown::edit::Edit;
use crate::markdown::{FrontMatter, Value, edit, front_matter};
use crate::text::{line_end, pattern, without_byte_order_mark};

/// The fields, in the order of the format.
const ORDER: [&str; 8] =
    ["key", "type", "tags", "created", "updated", "status", "supersedes", "confidence"];

/// Returns the bytes of an entry after a write, with only the necessary changes to what it had.
pub(crate) fn written(
    write: &EntryWrite,
    old: &[u8],
    path: &Path,
    today: NaiveDate,
) -> Result<Vec<u8>> {
    let head = valid(old);
    let entry = Entry::parse(head, path).value;
    let (front, body) = if front_matter::inner_range(head).is_some() {
        (head[..entry.body.start].to_owned(), &old[entry.body.start..])
    } else {
        refuse_unreadable_front_matter(old, path)?;
        let body = without_byte_order_mark(old);
        (format!("{}---\n---\n\n", valid(&old[..old.len() - body.len()])), body)
    };
    let mut front = set(&front, &changed(write, &entry, &front, today));
    let body = match &write.body {
        // Verbatim, below the requested title, or one if it has none.
        Some(new) => {
            let end = line_end(&front);
            if !front.ends_with("\n\n") && !front.ends_with("\n\r\n") {
                front.push_str(end);
            }
            let new = new.trim_start_matches('\u{feff}');
            let in_words = entry::in_words(&write.key);
            let wanted = write.title.as_deref().map(str::trim);
            let title = wanted.or(entry.title.as_deref()).unwrap_or(&in_words);
            match entry::title(new) {
                Some(own) if wanted.is_none_or(|wanted| wanted == own) => new.as_bytes().to_owned(),
                _ => format!("# {title}{end}{end}{new}").into_bytes(),
            }
        }
        None => body.to_owned(),
    };
    Ok([front.as_bytes(), &body].concat())
}

/// Returns the fields that are missing or whose values have to change.
fn changed(
    write: &EntryWrite,
    entry: &Entry,
    front: &str,
    today: NaiveDate,
) -> Vec<(&'static str, String)> {
    let front = FrontMatter::parse(front, Path::new("")).value;
    let is_missing = |name: &str| {
        entry::field(&front, name)
            .is_none_or(|(node, text)| text.is_none() && !matches!(node.value, Value::List(_)))
    };
    // The last update is the earliest known day.
    let created = entry.updated.unwrap_or(today).to_string();
    let tags = write.tags.as_ref().unwrap_or(&entry.tags);
    let tag_list = yaml::list(tags.iter().map(|tag| yaml::scalar(tag)));
    let is_named = entry.named.as_ref() == Some(&write.key);
    let is_certain = entry.confidence == Some(write.confidence);
    // What is written anew is not in doubt any more.
    let status = match entry.status {
        EntryStatus::Stale if write.body.is_some() => EntryStatus::Active,
        status => status,
    };
    let fields = [
        ("key", !is_named, yaml::scalar(&write.key)),
        ("type", entry.kind != Some(write.kind), write.kind.as_str().to_owned()),
        ("tags", entry.tags != *tags || is_missing("tags"), tag_list),
        ("created", is_missing("created"), created),
        ("updated", entry.updated != Some(today), today.to_string()),
        ("status", is_missing("status") || status != entry.status, status.as_str().to_owned()),
        ("confidence", !is_certain, write.confidence.as_str().to_owned()),
    ];
    let changed = fields.into_iter().filter(|(_, is_changed, _)| *is_changed);
    changed.map(|(name, _, value)| (name, value)).collect()
}

/// Refuses a file that has front matter in which no field can be found: another one above it would hide it.
pub(crate) fn refuse_unreadable_front_matter(bytes: &[u8], path: &Path) -> Result<()> {
    let text = String::from_utf8_lossy(bytes);
    let is_opened = text.trim_start_matches('\u{feff}').lines().next().map(str::trim_end);
    let (problem, advice) = if front_matter::inner_range(&text).is_some() {
        ("that is not valid UTF-8", "save the file as UTF-8")
    } else if is_opened == Some("---") {
        ("without a closing ---", "close it by hand")
    } else {
        return Ok(());
    };
    Err(Error::refused(format!("has front matter {problem}, which is not rewritten"))
        .at(path, 1)
        .hint(format!("{advice}, then write again")))
}

/// Returns the text up to the first invalid byte.
pub(crate) fn valid(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

/// Returns a text with front matter in which these fields are set to values in YAML syntax; a missing field is added.
pub(crate) fn set(text: &str, fields: &[(&str, String)]) -> String {
    let Some(inner) = front_matter::inner_range(text) else {
        return text.to_owned();
    };
    let end = line_end(&text[..inner.start]);
    let lines = lines(text, inner.clone());
    let mut edits = Vec::new();
    for (name, value) in fields {
        let known = lines.iter().find(|line| line.name.eq_ignore_ascii_case(name));
        edits.push(match known {
            Some(line) => {
                // A value below its name, or missing, is written on the same line.
                let gap = if text[..line.value.start].ends_with(':') { " " } else { "" };
                Edit::replace(line.value.clone(), format!("{gap}{value}"))
            }
            None => {
                let at = insertion_index(&lines, name, inner.start);
                Edit::insert(at, format!("{name}: {value}{end}"))
            }
        });
    }
    edit::apply(text, edits)
}

/// A field at the left margin, with its continuation lines: a name, a value that may be quoted, a comment, and the lines
/// below that are indented or belong to a list.
static FIELD: LazyLock<Regex> = LazyLock::new(|| {
    let (double, single) = (r#""(?:[^"\\\n]|\\.)*""#, "'(?:[^'\n]|'')*'");
    // Between brackets, what begins with `#` inside of quotes is no comment.
    let list = format!(r"[\[{{](?:{single})?(?:{double}|[ ,]{single}|[^\n])*?");
    let value = format!(r"{double}|{single}|{list}|[^#\s][^\n]*?");
    let below = r"[ \t\r]*\n(?:(?:[ \t\r]*|#[^\n]*)\n)*(?:[ \t\-\]}][^\n]*\S|[\-\]}])";
    pattern(&format!(
        r"(?m)^([^\s#:\-\]}}][^:\n]*):[ \t]*({value})?(?:[ \t]+#[^\n]*)?[ \t\r]*$((?:{below})*)"
    ))
});

/// The place of a field.
struct FieldLines<'t> {
    name: &'t str,
    /// Byte range of the value; empty, right after the colon, if there is none.
    value: Range<usize>,
    end: usize,
}

fn lines(text: &str, inner: Range<usize>) -> Vec<FieldLines<'_>> {
    let fields = FIELD.captures_iter(&text[inner.clone()]);
    let place = |found: Captures<'_>| {
        let (whole, name, more) = (found.get(0)?, found.get(1)?, found.get(3)?);
        let colon = name.end() + 1;
        let value = found.get(2).map_or(colon..colon, |value| value.range());
        let value = value.start..if more.is_empty() { value.end } else { more.end() };
        let at = |offset: usize| inner.start + offset;
        let end =
            text[at(whole.end())..].find('\n').map_or(text.len(), |end| at(whole.end()) + end + 1);
        Some(FieldLines {
            name: text[at(name.start())..at(name.end())].trim().trim_matches(['"', '\'']),
            value: at(value.start)..at(value.end),
            end,
        })
    };
    fields.filter_map(place).collect()
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
    use crate::knowledge::{Confidence, EntryType};

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
        let write = EntryWrite {
            key: "a".to_owned(),
            kind: EntryType::Decision,
            confidence: Confidence::High,
            tags: None,
            body: None,
            title: None,
            if_match: None,
            allow_secret: false,
            request_id: None,
        };
        let today = NaiveDate::from_ymd_opt(2026, 3, 1).unwrap();
        written(&write, old, Path::new("a.md"), today)
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
