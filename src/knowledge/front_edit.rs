//! Sets fields of front matter without changing any other byte.

use std::ops::Range;

use crate::markdown::edit::Edit;
use crate::markdown::{edit, front_matter};

/// The fields, in the order of the format.
const ORDER: [&str; 8] =
    ["key", "type", "tags", "created", "updated", "status", "supersedes", "confidence"];

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
            // A value below its name, or missing, is written on the same line.
            Some(line) if text[..line.value.start].ends_with(':') => {
                edits.push(Edit::replace(line.value.clone(), format!(" {value}")));
            }
            Some(line) => edits.push(Edit::replace(line.value.clone(), value.clone())),
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

/// Returns the range of the value in the text after a colon; a trailing comment is excluded.
fn value_in(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    let value = &text[start..];
    if value.is_empty() || value.starts_with('#') {
        return 0..0;
    }
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    let from = quote.and_then(|quote| quoted_end(value, quote)).unwrap_or(0);
    let comment = value[from..].find(" #").map_or(value.len(), |at| from + at);
    start..start + value[..comment].trim_end().len()
}

/// Returns the end of the quoted text that a value begins with; `None` if it is not closed.
fn quoted_end(value: &str, quote: char) -> Option<usize> {
    let mut letters = value.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' if quote == '"' => {
                letters.next();
            }
            // A single quote is escaped by another one.
            '\'' if quote == '\'' && letters.next_if(|(_, next)| *next == '\'').is_some() => {}
            letter if letter == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
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
}
