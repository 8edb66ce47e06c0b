//! Reads JSON into a tree of byte ranges, strictly: what is not JSON is a fault with its place.

use std::collections::HashSet;
use std::ops::Range;

use serde::de::IgnoredAny;

/// Deeper nesting is no settings file.
const MAX_DEPTH: usize = 100;

/// A value, and where it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// Its bytes, without white space around them.
    pub(crate) range: Range<usize>,
    /// What it is.
    pub(crate) kind: Kind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An object's members, in the order of the text.
    Object(Vec<Member>),
    /// An array's elements.
    Array(Vec<Node>),
    /// A string.
    Text(String),
    /// A number, `true`, `false` or `null`.
    Scalar,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its name.
    pub(crate) name: String,
    /// Where its name starts.
    pub(crate) start: usize,
    /// Its value.
    pub(crate) value: Node,
}

/// What is wrong with a text, and at which byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) what: String,
}

impl Node {
    /// Returns the member of this name, where the value is an object and has it.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let member = self.members().iter().find(|member| member.name == name);
        member.map(|member| &member.value)
    }

    /// Returns the members of an object; nothing else has any.
    pub(crate) fn members(&self) -> &[Member] {
        match &self.kind {
            Kind::Object(members) => members,
            _ => &[],
        }
    }

    /// Returns the elements of an array; nothing else has any.
    pub(crate) fn elements(&self) -> &[Self] {
        match &self.kind {
            Kind::Array(elements) => elements,
            _ => &[],
        }
    }

    /// Returns the text of a string.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns what stands inside an object or array: where each child starts and ends, its name included.
    pub(crate) fn children(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(members) => members
                .iter()
                .map(|member| member.start..member.value.range.end)
                .collect(),
            Kind::Array(elements) => elements.iter().map(|one| one.range.clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the value of a child.
    pub(crate) fn child(&self, index: usize) -> Option<&Self> {
        match &self.kind {
            Kind::Object(members) => members.get(index).map(|member| &member.value),
            Kind::Array(elements) => elements.get(index),
            _ => None,
        }
    }
}

/// Reads a text that is one JSON value, from a byte on.
pub(crate) fn scan(text: &str, from: usize) -> Result<Node, Fault> {
    let mut scanner = Scanner { text, at: from };
    let node = scanner.value(0)?;
    scanner.skip_space()?;
    if scanner.at < text.len() {
        return Err(scanner.fault("goes on after the end of its value"));
    }
    Ok(node)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn value(&mut self, depth: usize) -> Result<Node, Fault> {
        if depth > MAX_DEPTH {
            return Err(self.fault("is nested too deeply"));
        }
        self.skip_space()?;
        let start = self.at;
        let kind = match self.next() {
            None => return Err(self.fault("ends too early")),
            Some(b'{') => Kind::Object(self.members(depth)?),
            Some(b'[') => Kind::Array(self.elements(depth)?),
            Some(b'"') => Kind::Text(self.string()?),
            Some(_) => self.scalar()?,
        };
        let range = start..self.at;
        Ok(Node { range, kind })
    }

    fn members(&mut self, depth: usize) -> Result<Vec<Member>, Fault> {
        let mut members = Vec::new();
        let mut names = HashSet::new();
        self.at += 1;
        self.skip_space()?;
        if self.take(b'}') {
            return Ok(members);
        }
        loop {
            self.skip_space()?;
            let start = self.at;
            if self.next() != Some(b'"') {
                return Err(self.expected("a name in quotes"));
            }
            let name = self.string()?;
            if !names.insert(name.clone()) {
                let what = format!("names {name:?} twice in one object");
                return Err(Fault { at: start, what });
            }
            self.skip_space()?;
            if !self.take(b':') {
                return Err(self.expected("a colon"));
            }
            let value = self.value(depth + 1)?;
            members.push(Member { name, start, value });
            if self.ends(b'}')? {
                return Ok(members);
            }
        }
    }

    fn elements(&mut self, depth: usize) -> Result<Vec<Node>, Fault> {
        let mut elements = Vec::new();
        self.at += 1;
        self.skip_space()?;
        if self.take(b']') {
            return Ok(elements);
        }
        loop {
            elements.push(self.value(depth + 1)?);
            if self.ends(b']')? {
                return Ok(elements);
            }
        }
    }

    /// Says whether the object or array ends here; else a comma leads to the next.
    fn ends(&mut self, close: u8) -> Result<bool, Fault> {
        self.skip_space()?;
        if self.take(close) {
            return Ok(true);
        }
        if self.take(b',') {
            return Ok(false);
        }
        Err(self.expected("a comma or the end of the list"))
    }

    fn string(&mut self) -> Result<String, Fault> {
        let start = self.at;
        let mut escaped = false;
        for (index, byte) in self.text.bytes().enumerate().skip(start + 1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    self.at = index + 1;
                    return self.decode(start);
                }
                _ => {}
            }
        }
        Err(self.fault("has a string without an end"))
    }

    fn decode(&self, start: usize) -> Result<String, Fault> {
        let token = &self.text[start..self.at];
        if serde_json::from_str::<IgnoredAny>(token).is_err() {
            let what = "has a string that is not JSON".to_owned();
            return Err(Fault { at: start, what });
        }
        // Half of a surrogate pair is JSON, but no text.
        Ok(serde_json::from_str(token).unwrap_or_else(|_| token.to_owned()))
    }

    fn scalar(&mut self) -> Result<Kind, Fault> {
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_alphanumeric() || "+-._".contains(c);
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if serde_json::from_str::<IgnoredAny>(&rest[..length]).is_err() {
            return Err(self.expected("a value"));
        }
        self.at += length;
        Ok(Kind::Scalar)
    }

    fn skip_space(&mut self) -> Result<(), Fault> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.next() {
            self.at += 1;
        }
        let rest = &self.text.as_bytes()[self.at..];
        if rest.starts_with(b"//") || rest.starts_with(b"/*") {
            return Err(self.fault("holds a comment, which JSON has not"));
        }
        Ok(())
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.next() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, what: &str) -> Fault {
        Fault {
            at: self.at,
            what: what.to_owned(),
        }
    }

    fn expected(&self, what: &str) -> Fault {
        self.fault(&format!("is not JSON here: {what} was expected"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_says_where_everything_stands() {
        let text = "{ \"a\": [1, {\"b\": \"x\\ny\"}] }";
        let node = scan(text, 0).unwrap();
        let array = node.get("a").unwrap();
        assert_eq!(&text[array.range.clone()], "[1, {\"b\": \"x\\ny\"}]");
        assert_eq!(array.elements()[1].get("b").unwrap().text(), Some("x\ny"));
        assert_eq!(node.children().first(), Some(&(2..text.len() - 2)));
        assert_eq!(scan(" [ ] ", 0).unwrap().range, 1..4);
        assert!(scan("\"\\ud800\"", 0).is_ok(), "half a pair is JSON");
    }

    #[test]
    fn what_is_not_json_is_told_with_its_place() {
        for (text, at, what) in [
            ("", 0, "ends too early"),
            ("{", 1, "a name in quotes"),
            ("{\"a\" 1}", 5, "a colon"),
            ("{\"a\":1,}", 7, "a name in quotes"),
            ("[1,]", 3, "a value was expected"),
            ("[1 2]", 3, "a comma"),
            ("{\"a\":1} x", 8, "goes on"),
            ("[\"a]", 1, "without an end"),
            ("[\"\t\"]", 1, "string that is not JSON"),
            ("[\"\\x\"]", 1, "string that is not JSON"),
            ("[tru]", 1, "a value"),
            ("[01]", 1, "a value"),
            ("[NaN]", 1, "a value"),
            ("{\"a\":1,\"\\u0061\":2}", 7, "names \"a\" twice"),
            ("{ // no\n}", 2, "a comment"),
            ("{\"a\":1 /* no */}", 7, "a comment"),
        ] {
            let fault = scan(text, 0).unwrap_err();
            assert_eq!(fault.at, at, "{text}: {fault:?}");
            assert!(fault.what.contains(what), "{text}: {fault:?}");
        }
        let deep = "[".repeat(100_000);
        assert!(scan(&deep, 0).unwrap_err().what.contains("too deeply"));
    }
}
