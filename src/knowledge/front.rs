//! Parses the front matter of an entry: the usual form in one pass, any other with the general parser.
//!
//! `entry query` parses every matching entry each time it runs. The single pass without a YAML parser keeps it
//! within three times `rg -F -l` on 10,000 entries of the usual form (see docs/performance.md).

use std::borrow::Cow;
use std::path::Path;

use crate::markdown::node::Value;
use crate::markdown::{FrontMatter, front_matter};
use crate::warning::Warning;

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FieldValue<'a> {
    Text(Cow<'a, str>),
    List(Vec<Cow<'a, str>>),
}

/// A field of the front matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) value: FieldValue<'a>,
    /// Line number in the file, from 1.
    pub(crate) line: usize,
}

/// The front matter of a file, and the position of the body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Front<'a> {
    pub(crate) fields: Vec<Field<'a>>,
    /// Whether the file has front matter.
    pub(crate) is_there: bool,
    /// Byte offset of the body, after the closing line and the blank line that follows.
    pub(crate) body: usize,
    pub(crate) problems: Vec<Warning>,
}

impl<'a> Front<'a> {
    /// Parses the front matter of an entry.
    pub(crate) fn parse(text: &'a str, path: &Path) -> Self {
        parse_simple(text).unwrap_or_else(|| parse_general(text, path))
    }

    /// Returns a field by name, ignoring case.
    pub(crate) fn get(&self, name: &str) -> Option<&Field<'a>> {
        let same = |field: &&Field| field.name.eq_ignore_ascii_case(name);
        self.fields.iter().find(same)
    }
}

impl Field<'_> {
    /// Returns the text of the field, or `None` if it is empty or a list.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            FieldValue::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
            FieldValue::List(_) => None,
        }
    }

    /// Returns the texts of the field; a text that is not a list is split at commas.
    pub(crate) fn texts(&self) -> Vec<String> {
        let texts: Vec<&str> = match &self.value {
            FieldValue::Text(text) => text.split(',').collect(),
            FieldValue::List(texts) => texts.iter().map(AsRef::as_ref).collect(),
        };
        let trimmed = texts.into_iter().map(str::trim);
        trimmed.filter(|text| !text.is_empty()).map(str::to_owned).collect()
    }
}

/// Returns the end of the line break at `at`, or `at` if there is none.
pub(crate) fn after_line_break(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    match (rest.starts_with("\r\n"), rest.starts_with('\n')) {
        (true, _) => at + 2,
        (_, true) => at + 1,
        _ => at,
    }
}

/// Parses front matter that consists only of `name: value` lines, with plain or simply quoted values and
/// `[a, b]`.
fn parse_simple(text: &str) -> Option<Front<'_>> {
    let mut fields = Vec::with_capacity(8);
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        at += line.len();
        let line = line.trim_end();
        match (index, line) {
            (0, "---") => {}
            (0, _) => return None,
            (_, "---") => {
                let body = after_line_break(text, at);
                // A second block after the first needs the general parser.
                if text[body..].starts_with("---") {
                    return None;
                }
                return Some(Front { fields, is_there: true, body, problems: Vec::new() });
            }
            _ => {
                let (name, value) = line.split_once(':')?;
                let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
                let starts_well = name.bytes().next()?.is_ascii_alphabetic();
                let is_usual =
                    starts_well && name.bytes().all(is_plain) && fields.len() < MAX_FIELDS;
                if !is_usual || has(&fields, name) {
                    return None;
                }
                if !value.is_empty() && !value.starts_with(' ') {
                    return None;
                }
                let value = parse_value(value.trim())?;
                let (name, line) = (Cow::Borrowed(name), index + 1);
                fields.push(Field { name, value, line });
            }
        }
    }
    None
}

/// Maximum number of fields in the usual form, since each is compared with all earlier ones.
const MAX_FIELDS: usize = 64;

fn has(fields: &[Field<'_>], name: &str) -> bool {
    fields.iter().any(|field| field.name.eq_ignore_ascii_case(name))
}

fn parse_value(value: &str) -> Option<FieldValue<'_>> {
    let Some(inner) = value.strip_prefix('[') else {
        return scalar(value).map(|text| FieldValue::Text(Cow::Borrowed(text)));
    };
    let inner = inner.strip_suffix(']')?;
    if inner.trim().is_empty() {
        return Some(FieldValue::List(Vec::new()));
    }
    let mut texts = Vec::new();
    for one in inner.split(',') {
        let one = one.trim();
        let is_plain = |c: char| c.is_alphanumeric() || "-_./ ".contains(c);
        let starts_well = one.starts_with(char::is_alphanumeric);
        if !starts_well || !one.chars().all(is_plain) {
            return None;
        }
        texts.push(Cow::Borrowed(one));
    }
    Some(FieldValue::List(texts))
}

/// Returns a scalar whose value in YAML is its literal text, without quotes, or nothing; `None` for any other.
fn scalar(value: &str) -> Option<&str> {
    let first = value.chars().next();
    if let Some(quote @ ('"' | '\'')) = first {
        let inner = value[1..].strip_suffix(quote)?;
        return (!inner.contains([quote, '\\'])).then_some(inner);
    }
    let is_plain = |c: char| c.is_alphanumeric() || "-_./ (),<>".contains(c);
    let starts_well = first.is_none_or(char::is_alphanumeric);
    let text = if is_null(value) { "" } else { value };
    (starts_well && value.chars().all(is_plain)).then_some(text)
}

/// Returns whether an unquoted scalar means null.
fn is_null(value: &str) -> bool {
    matches!(value, "null" | "Null" | "NULL" | "~")
}

fn parse_general(text: &str, path: &Path) -> Front<'static> {
    let parsed = FrontMatter::parse(text, path);
    let mut front = Front {
        is_there: front_matter::inner_range(text).is_some(),
        body: after_line_break(text, parsed.value.range.end),
        problems: parsed.warnings,
        ..Front::default()
    };
    if !front.is_there {
        front.body = 0;
    }
    for (name, node) in parsed.value.fields.pairs() {
        let value = match &node.value {
            Value::List(_) => FieldValue::List(node.texts().into_iter().map(Cow::Owned).collect()),
            Value::Text(text) if is_null(text) => FieldValue::Text(Cow::Borrowed("")),
            _ => FieldValue::Text(Cow::Owned(node.flat())),
        };
        let (name, line) = (Cow::Owned(name.clone()), node.line);
        front.fields.push(Field { name, value, line });
    }
    front
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fields(front: &Front<'_>) -> Vec<(String, Vec<String>, usize)> {
        let of = |field: &Field<'_>| (field.name.to_string(), field.texts(), field.line);
        front.fields.iter().map(of).collect()
    }

    #[test]
    fn both_parsers_agree_on_the_usual_form() {
        for text in [
            "---\nkey: a\ntags: [b, c d]\ncreated: 2026-01-02\n---\n\n# T\n",
            "---\r\nkey:   a\r\ntags: []\r\nsupersedes:\r\ntitle: \"x y\"\r\n---\r\n\r\nbody",
            "---\nkey: 'a'\nstatus: active\n---\n",
            "---\ntags: null\nsupersedes: NULL\n---\n",
        ] {
            let path = Path::new("a.md");
            let simple = parse_simple(text).unwrap();
            let long = parse_general(text, path);
            assert_eq!(fields(&simple), fields(&long), "{text}");
            assert_eq!((simple.body, simple.is_there), (long.body, long.is_there));
        }
    }

    #[test]
    fn null_is_empty() {
        let text = "---\ntags: null\nsupersedes: Null\nstatus: ~\n---\n";
        let front = Front::parse(text, Path::new("a.md"));
        for name in ["tags", "supersedes", "status"] {
            assert_eq!(front.get(name).unwrap().texts(), [""; 0], "{name}");
        }
        let front = Front::parse("---\nkey: \"null\"\n---\n", Path::new("null.md"));
        assert_eq!(front.get("key").unwrap().text(), Some("null"));
    }

    #[test]
    fn unusual_forms_need_the_general_parser() {
        for text in [
            "",
            "# T\n",
            "---\nkey: a\n",
            "---\ntags:\n  - a\n---\n",
            "---\nkey: a: b\n---\n",
            "---\nkey: a # why\n---\n",
            "---\nkey: a\nkey: b\n---\n",
            "---\nkey: [a, [b]]\n---\n",
            "---\nkey: \"a\\\"b\"\n---\n",
            "\u{feff}---\nkey: a\n---\n",
            "---\nkey : a\n---\n",
        ] {
            assert!(parse_simple(text).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn both_ways_agree_and_no_text_panics(
            lines in prop::collection::vec("[a-z]{1,6}:( [a-z0-9\\[\\], \"'#:./-]{0,12})?", 0..5),
            end in "(---|\\.\\.\\.|)", tail in "\\PC{0,20}",
        ) {
            let text = format!("---\n{}\n{end}\n{tail}", lines.join("\n"));
            let long = parse_general(&text, Path::new("a.md"));
            if let Some(short) = parse_simple(&text) {
                prop_assert_eq!(fields(&short), fields(&long));
                prop_assert_eq!(short.body, long.body);
                prop_assert!(long.problems.is_empty());
            }
        }
    }
}
