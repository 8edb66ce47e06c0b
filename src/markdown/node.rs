//! Represents front matter as a tree that keeps every scalar as written.
//!
//! YAML would parse the hash `84e9493` and the plan id `08` as numbers; here they remain text, and the code
//! that reads a field decides on its type.

/// One value of the front matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A scalar without its quotes; empty if there is no value.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in file order.
    Map(Vec<(String, Node)>),
}

/// A value with its line number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Line number in the file, counted from 1.
    pub line: usize,
}

impl Node {
    /// Returns a scalar node.
    pub fn text(text: impl Into<String>, line: usize) -> Self {
        Self { value: Value::Text(text.into()), line }
    }

    /// Returns the value of the first of `keys` that is present in a mapping.
    ///
    /// Keys are compared case-insensitively, and `-` equals `_`: authors mix `key-files` and `key_files`.
    pub fn get(&self, keys: &[&str]) -> Option<&Self> {
        let Value::Map(pairs) = &self.value else {
            return None;
        };
        keys.iter().find_map(|key| {
            pairs.iter().find(|(name, _)| same_key(name, key)).map(|(_, node)| node)
        })
    }

    /// Returns a scalar's text, or `None` for a list, a mapping or an empty scalar.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
            Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Returns the elements of a list; a scalar or a mapping is its own single element, an empty scalar has
    /// none.
    pub fn elements(&self) -> Vec<&Self> {
        match &self.value {
            Value::List(nodes) => nodes.iter().collect(),
            Value::Text(text) if text.trim().is_empty() => Vec::new(),
            Value::Text(_) | Value::Map(_) => vec![self],
        }
    }

    /// Returns the pairs of a mapping, or an empty slice for any other value.
    pub fn pairs(&self) -> &[(String, Self)] {
        match &self.value {
            Value::Map(pairs) => pairs,
            Value::Text(_) | Value::List(_) => &[],
        }
    }

    /// Returns the node as one line of text, as its author would have written it.
    ///
    /// YAML reads a list item such as `- D-01: use X` as a mapping, but it is meant as a sentence.
    pub fn flat(&self) -> String {
        match &self.value {
            Value::Text(text) => text.trim().to_owned(),
            Value::List(nodes) => join(nodes.iter().map(Self::flat), ", "),
            Value::Map(pairs) => {
                join(pairs.iter().map(|(key, node)| format!("{key}: {}", node.flat())), ", ")
            }
        }
    }

    /// Returns each non-empty element as one line of text.
    pub fn texts(&self) -> Vec<String> {
        self.elements().into_iter().map(Self::flat).filter(|text| !text.is_empty()).collect()
    }
}

fn join(texts: impl Iterator<Item = String>, separator: &str) -> String {
    texts.collect::<Vec<_>>().join(separator)
}

fn same_key(a: &str, b: &str) -> bool {
    let fold = |byte: u8| {
        if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() }
    };
    a.len() == b.len() && a.bytes().map(fold).eq(b.bytes().map(fold))
}
