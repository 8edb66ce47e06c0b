//! Edits a JSON settings file in place: everything else keeps its order, comments and formatting.

use std::collections::HashSet;
use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstNode, CstObject, CstRootNode};

use crate::error::{Error, Result};
use crate::hooks::harness::JsonDialect;
use crate::text::{line_end, line_number};

const BOM: &str = "\u{feff}";

/// Maximum size of a settings file, in bytes; parsed, it can take sixty times as much memory.
const MAX_BYTES: usize = 1024 * 1024;

/// Maximum number of members of an object: larger objects are not settings, and each lookup is linear.
const MAX_MEMBERS: usize = 1000;

/// A JSON document whose root is an object.
pub(crate) struct JsonDocument<'a> {
    path: &'a Path,
    bom: &'static str,
    root: CstRootNode,
    object: CstObject,
}

impl<'a> JsonDocument<'a> {
    /// Parses a file's bytes; a blank file counts as an empty object, and any value other than an object is
    /// refused.
    pub(crate) fn parse(bytes: &[u8], path: &'a Path, dialect: JsonDialect) -> Result<Self> {
        if bytes.len() > MAX_BYTES {
            return Err(refused("is larger than 1 MiB, so it is not read", path, 1));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = line_number(bytes, error.valid_up_to());
            refused("is not valid UTF-8", path, line)
        })?;
        let (bom, text) = match text.strip_prefix(BOM) {
            Some(text) => (BOM, text),
            None => ("", text),
        };
        let empty = format!("{{}}{}", line_end(text));
        let text = if text.trim().is_empty() { &empty } else { text };
        let root = CstRootNode::parse(text, &options(dialect)).map_err(|error| {
            let line = line_number(text, error.range().start);
            refused(&format!("is not valid JSON: {}", error.kind()), path, line)
        })?;
        // The parser accepts comments outside of values, regardless of its options.
        if !dialect.comments
            && let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text)
        {
            let what = "is not valid JSON: Comments are not allowed";
            return Err(refused(what, path, error.line()));
        }
        let Some(object) = root.object_value() else {
            let line = root.value().map_or(1, |value| line(&value));
            return Err(refused("is JSON, but not an object", path, line));
        };
        let document = Self { path, bom, root, object };
        document.refuse_duplicate_keys(&document.object)?;
        Ok(document)
    }

    /// Returns the file's text.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.bom, self.root)
    }

    /// Returns the names of the object's members.
    pub(crate) fn names(&self) -> Vec<String> {
        let members = self.object.properties().into_iter();
        members.filter_map(|member| member.decoded_name()).collect()
    }

    /// Returns the object under a key, if present; a value of another type is refused.
    pub(crate) fn object(&self, name: &str) -> Result<Option<CstObject>> {
        let Some(member) = self.object.get(name) else {
            return Ok(None);
        };
        let object = member.object_value();
        let object = object.ok_or_else(|| self.not_a(name, "an object", &member.into()))?;
        self.refuse_duplicate_keys(&object)?;
        Ok(Some(object))
    }

    /// Returns the object under a key, and creates it if it is missing.
    pub(crate) fn object_or_new(&self, name: &str) -> Result<CstObject> {
        match self.object(name)? {
            Some(object) => Ok(object),
            None => Ok(self.object.object_value_or_set(name)),
        }
    }

    /// Returns the array under a key of an object in this file, and creates it if it is missing.
    pub(crate) fn array_or_new(&self, object: &CstObject, name: &str) -> Result<CstArray> {
        match object.get(name) {
            Some(member) => {
                member.array_value().ok_or_else(|| self.not_a(name, "an array", &member.into()))
            }
            None => Ok(object.array_value_or_set(name)),
        }
    }

    /// Removes a member, if present.
    pub(crate) fn remove(&self, name: &str) {
        if let Some(member) = self.object.get(name) {
            member.remove();
        }
    }

    /// Returns the error for a value of the wrong type.
    pub(crate) fn not_a(&self, name: &str, wanted: &str, found: &CstNode) -> Error {
        self.refusal(&format!("{name:?} is not {wanted}"), found)
    }

    /// Returns the error for a file whose content prevents it from being edited.
    pub(crate) fn refusal(&self, problem: &str, found: &CstNode) -> Error {
        refused(problem, self.path, line(found))
    }

    /// Refuses duplicate keys, because parsers differ in which one they use.
    fn refuse_duplicate_keys(&self, object: &CstObject) -> Result<()> {
        let members = object.properties();
        if members.len() > MAX_MEMBERS {
            let what =
                format!("has an object of more than {MAX_MEMBERS} members, so it is not edited");
            return Err(refused(&what, self.path, 1));
        }
        let mut seen = HashSet::new();
        for member in members {
            let name = member.decoded_name().unwrap_or_default();
            if !seen.insert(name.clone()) {
                let what = format!("has the duplicate key {name:?}");
                return Err(refused(&what, self.path, line(&member.into())));
            }
        }
        Ok(())
    }
}

/// Returns whether a file is empty or contains only whitespace.
pub(crate) fn is_blank(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(BOM.as_bytes()).unwrap_or(bytes);
    bytes.iter().all(u8::is_ascii_whitespace)
}

fn options(dialect: JsonDialect) -> ParseOptions {
    ParseOptions {
        allow_comments: dialect.comments,
        allow_trailing_commas: dialect.trailing_commas,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn refused(what: &str, path: &Path, line: usize) -> Error {
    Error::refused(what)
        .at(path, line)
        .hint("nothing was changed; correct it by hand and run this again")
}

/// Returns the line number of the start of a node.
fn line(node: &CstNode) -> usize {
    let mut newlines = 0;
    let mut at = Some(node.clone());
    while let Some(node) = at {
        let before = node.previous_siblings().map(|sibling| sibling.to_string());
        newlines += before.map(|text| text.matches('\n').count()).sum::<usize>();
        at = node.parent().map(Into::into);
    }
    newlines + 1
}
