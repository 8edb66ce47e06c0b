//! Parses and formats the two comment lines around the block, with the hash that reveals hand edits.
//!
//! ```text
//! <!-- annals:begin v1 sha256=0123456789abcdef -->
//! <!-- annals:end -->
//! ```
//!
//! The hash covers the lines strictly between the markers, normalised for changes by formatters and git: line
//! endings, trailing white space, blank lines at either end.

use sha2::{Digest, Sha256};

use crate::markdown::comments::annals_marker;
use crate::text::hexadecimal;

/// The meaning of a line of a context file for the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BlockMarker {
    /// The start of the block, with its hash if well-formed.
    Begin(Option<String>),
    /// The end of the block.
    End,
    /// A malformed marker, or one of an unknown version.
    Damaged,
}

impl BlockMarker {
    /// Parses a line as a marker, if it is one.
    pub(crate) fn from_line(line: &str) -> Option<Self> {
        let (name, rest) = annals_marker(line)?;
        let attributes = rest.strip_suffix("-->").filter(|inner| !inner.contains("-->"));
        match (name, attributes.map(str::trim)) {
            ("begin", Some(attributes)) => Some(Self::begin(attributes)),
            ("end", Some("")) => Some(Self::End),
            ("begin" | "end", _) => Some(Self::Damaged),
            _ => None,
        }
    }

    fn begin(attributes: &str) -> Self {
        let mut words = attributes.split_whitespace();
        if words.next() != Some("v1") {
            return Self::Damaged;
        }
        Self::Begin(words.find_map(|word| Some(word.strip_prefix("sha256=")?.to_owned())))
    }
}

/// Returns the opening marker of a block with this hash.
pub(crate) fn begin(digest: &str) -> String {
    format!("<!-- annals:begin v1 sha256={digest} -->")
}

/// Returns the closing marker of a block.
pub(crate) fn end() -> &'static str {
    "<!-- annals:end -->"
}

/// Returns the lines of a block, normalised for comparison and hashing.
pub(crate) fn normalised_lines(inside: &[u8]) -> Vec<&[u8]> {
    let lines: Vec<&[u8]> =
        inside.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).collect();
    without_edges(&lines).to_vec()
}

/// Returns whether a line has nothing but white space.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

/// Returns lines without the blank ones at either end.
pub(crate) fn without_edges<'a, 'b>(mut lines: &'b [&'a [u8]]) -> &'b [&'a [u8]] {
    while let [first, rest @ ..] = lines
        && is_blank(first)
    {
        lines = rest;
    }
    while let [rest @ .., last] = lines
        && is_blank(last)
    {
        lines = rest;
    }
    lines
}

/// Returns the first 16 hexadecimal digits of the SHA-256 hash of a block's lines.
pub(crate) fn digest(lines: &[&[u8]]) -> String {
    BlockHasher::of_lines(lines).digest()
}

/// Computes the digest of a block line by line.
#[derive(Clone, Default)]
pub(crate) struct BlockHasher {
    hash: Sha256,
    has_lines: bool,
}

impl BlockHasher {
    /// Returns a hasher to which these lines have been added.
    pub(crate) fn of_lines(lines: &[&[u8]]) -> Self {
        let mut hasher = Self::default();
        for line in lines {
            hasher.add(line);
        }
        hasher
    }

    /// Adds the next line.
    pub(crate) fn add(&mut self, line: &[u8]) {
        if self.has_lines {
            self.hash.update(b"\n");
        }
        self.hash.update(line);
        self.has_lines = true;
    }

    /// Returns the digest of the lines added.
    pub(crate) fn digest(self) -> String {
        hexadecimal(&self.hash.finalize()[..8])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_whole_lines() {
        let hashed = |hash: &str| Some(BlockMarker::Begin(Some(hash.to_owned())));
        for (line, expected) in [
            ("<!-- annals:begin v1 sha256=ab12 -->", hashed("ab12")),
            ("  <!--annals:begin  v1  sha256=ab12-->\r", hashed("ab12")),
            ("<!-- annals:begin v1 sha256=ab12 (edit outside) -->", hashed("ab12")),
            ("<!-- annals:begin v1 -->", Some(BlockMarker::Begin(None))),
            ("<!-- annals:end -->", Some(BlockMarker::End)),
            ("<!-- annals:begin v2 sha256=ab12 -->", Some(BlockMarker::Damaged)),
            ("<!-- annals:begin v1 sha256=ab12", Some(BlockMarker::Damaged)),
            ("<!-- annals:end --> text", Some(BlockMarker::Damaged)),
            ("<!-- annals:end --> -->", Some(BlockMarker::Damaged)),
            ("<!-- annals:ending -->", None),
            ("<!-- annals: phase-dir=01 -->", None),
            ("text <!-- annals:end -->", None),
            ("`<!-- annals:end -->`", None),
            ("", None),
        ] {
            assert_eq!(BlockMarker::from_line(line), expected, "{line:?}");
        }
        assert_eq!(BlockMarker::from_line(&begin("ab12")), hashed("ab12"));
        assert_eq!(BlockMarker::from_line(end()), Some(BlockMarker::End));
    }

    #[test]
    fn formatting_does_not_change_the_hash() {
        let hash = |text: &str| digest(&normalised_lines(text.as_bytes()));
        assert_eq!(hash("# a\n\nb\n"), "079a929639f8ea92");
        assert_eq!(hash("# a\n\nb\n"), hash("\r\n# a  \r\n\t\r\nb\r\n\r\n"));
        assert_ne!(hash("# a\n\nb\n"), hash("# a\nb\n"));
        assert_ne!(hash("# a\n"), hash(" # a\n"));
        assert_eq!(hash(""), hash("\n\n"));
    }
}
