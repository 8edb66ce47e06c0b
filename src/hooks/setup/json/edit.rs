//! Adds and takes out single pieces of a JSON text.

use std::path::Path;

use serde_json::Value;

use crate::error::Error;
use crate::error::Result;
use crate::hooks::setup::json::scan;
use crate::hooks::setup::json::scan::Kind;
use crate::hooks::setup::json::scan::Node;
use crate::hooks::setup::json::style::Style;

const BOM: &str = "\u{feff}";

/// A JSON text whose value is an object, as it stands in a file.
#[derive(Clone, Debug)]
pub(crate) struct Document<'a> {
    path: &'a Path,
    text: String,
    root: Node,
}

impl<'a> Document<'a> {
    /// Reads a file's bytes; a file without any text is an empty object, anything else but an object is refused.
    pub(crate) fn parse(bytes: &[u8], path: &'a Path) -> Result<Self> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = line_of(bytes, error.valid_up_to());
            refused("is not UTF-8 text here", path, line)
        })?;
        if is_blank(bytes) {
            let bom = if text.starts_with(BOM) { BOM } else { "" };
            let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
            return Self::read(format!("{bom}{{}}{newline}"), path);
        }
        Self::read(text.to_owned(), path)
    }

    fn read(text: String, path: &'a Path) -> Result<Self> {
        let start = if text.starts_with(BOM) { BOM.len() } else { 0 };
        let root = scan::scan(&text, start).map_err(|fault| {
            let line = line_of(text.as_bytes(), fault.at);
            refused(&fault.what, path, line)
        })?;
        if !matches!(root.kind, Kind::Object(_)) {
            let line = line_of(text.as_bytes(), root.range.start);
            return Err(refused("is JSON, but not an object", path, line));
        }
        Ok(Self { path, text, root })
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the value.
    pub(crate) fn root(&self) -> &Node {
        &self.root
    }

    /// Says whether the object has no member.
    pub(crate) fn is_empty(&self) -> bool {
        self.root.members().is_empty()
    }

    /// Returns the object at a path of names; nothing where one is missing, refused where one is something else.
    pub(crate) fn object(&self, path: &[&str]) -> Result<Option<&Node>> {
        let mut node = &self.root;
        for name in path {
            let Some(next) = node.get(name) else {
                return Ok(None);
            };
            if !matches!(next.kind, Kind::Object(_)) {
                return Err(self.not_a(name, "an object", next));
            }
            node = next;
        }
        Ok(Some(node))
    }

    /// Returns the array of a name in the object at a path.
    pub(crate) fn array(&self, path: &[&str], name: &str) -> Result<Option<&Node>> {
        match self.object(path)?.and_then(|object| object.get(name)) {
            Some(node) if !matches!(node.kind, Kind::Array(_)) => {
                Err(self.not_a(name, "an array", node))
            }
            found => Ok(found),
        }
    }

    /// Adds a member to the object at a path of names; what is missing of the path is made.
    pub(crate) fn add_member(&self, path: &[&str], name: &str, value: Value) -> Result<Self> {
        let mut depth = path.len();
        while self.object(&path[..depth])?.is_none() {
            depth -= 1;
        }
        let names: Vec<&str> = path[depth..].iter().copied().chain([name]).collect();
        let (first, rest) = names
            .split_first()
            .map_or((name, &[][..]), |(first, rest)| (*first, rest));
        let value = rest.iter().rev().fold(value, |value, name| {
            Value::Object(std::iter::once(((*name).to_owned(), value)).collect())
        });
        let container = self.object(&path[..depth])?.unwrap_or(&self.root);
        self.add(container, Some(first), &value)
    }

    /// Adds an element to the array of a name in the object at a path.
    pub(crate) fn add_element(&self, path: &[&str], name: &str, value: Value) -> Result<Self> {
        match self.array(path, name)? {
            Some(array) => self.add(array, None, &value),
            None => self.add_member(path, name, Value::Array(vec![value])),
        }
    }

    /// Puts another string in a string's place.
    pub(crate) fn replace_text(&self, node: &Node, text: &str) -> Result<Self> {
        let mut new = self.text.clone();
        new.replace_range(node.range.clone(), &Value::from(text).to_string());
        Self::read(new, self.path)
    }

    fn add(&self, container: &Node, name: Option<&str>, value: &Value) -> Result<Self> {
        let style = Style::of(&self.text, &self.root);
        let (range, piece) = style
            .addition(&self.text, container, name, value)
            .map_err(|error| Error::failed(format!("cannot write JSON: {error}")))?;
        let mut text = self.text.clone();
        text.replace_range(range, &piece);
        Self::read(text, self.path)
    }

    /// Takes out the child that a trail of indices from the root leads to.
    ///
    /// What holds nothing else goes with it, but for what `before`, the text from before we came, held
    /// already: that stays, empty as it was.
    pub(crate) fn without(&self, trail: &[usize], before: Option<&Self>) -> Result<Self> {
        let mut trail = trail.to_vec();
        while let Some(index) = trail.pop() {
            let container = self.at(&trail);
            let children = container.children();
            let Some(child) = children.get(index) else {
                return Err(Error::failed("points at nothing").at(self.path, None));
            };
            let cut = match (index, children.get(index + 1)) {
                (0, Some(next)) => child.start..next.start,
                (0, None) => {
                    let kept = before.and_then(|before| before.empty_at(self.names(&trail)?));
                    if kept.is_none() && !trail.is_empty() {
                        continue;
                    }
                    let empty = match container.kind {
                        Kind::Array(_) => "[]",
                        _ => "{}",
                    };
                    let mut text = self.text.clone();
                    text.replace_range(container.range.clone(), kept.unwrap_or(empty));
                    return Self::read(text, self.path);
                }
                _ => children[index - 1].end..child.end,
            };
            let mut text = self.text.clone();
            text.replace_range(cut, "");
            return Self::read(text, self.path);
        }
        Err(Error::failed("points at nothing").at(self.path, None))
    }

    fn at<'b>(&'b self, trail: &[usize]) -> &'b Node {
        let child = |node: &'b Node, index: &usize| node.child(*index).unwrap_or(node);
        trail.iter().fold(&self.root, child)
    }

    /// Returns the names on a trail; nothing where it leads through an array.
    fn names(&self, trail: &[usize]) -> Option<Vec<&str>> {
        let mut node = &self.root;
        let mut names = Vec::new();
        for index in trail {
            let member = node.members().get(*index)?;
            names.push(member.name.as_str());
            node = &member.value;
        }
        Some(names)
    }

    /// Returns the bytes of the object or array at a path of names, where it is there and empty.
    fn empty_at(&self, names: Vec<&str>) -> Option<&str> {
        let mut node = &self.root;
        for name in names {
            node = node.get(name)?;
        }
        let is_container = matches!(node.kind, Kind::Object(_) | Kind::Array(_));
        (is_container && node.children().is_empty()).then(|| &self.text[node.range.clone()])
    }

    /// Returns the error for a value of the wrong kind.
    pub(crate) fn not_a(&self, name: &str, wanted: &str, found: &Node) -> Error {
        let line = line_of(self.text.as_bytes(), found.range.start);
        refused(&format!("{name:?} is not {wanted}"), self.path, line)
    }
}

/// Says whether a file holds no text.
pub(crate) fn is_blank(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(BOM.as_bytes()).unwrap_or(bytes);
    bytes.iter().all(u8::is_ascii_whitespace)
}

fn refused(what: &str, path: &Path, line: usize) -> Error {
    Error::refused(what)
        .at(path, line)
        .hint("nothing was changed; put it right by hand and run it again")
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    let before = bytes.get(..at).unwrap_or(bytes);
    before.split(|byte| *byte == b'\n').count()
}
