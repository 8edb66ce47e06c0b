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
fn begin(digest: &str) -> String {
    format!("<!-- annals:begin v1 sha256={digest} -->")
}

/// The closing marker of a block.
pub(crate) const END: &str = "<!-- annals:end -->";

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
pub(crate) fn without_edges<'a, 'b>(lines: &'b [&'a [u8]]) -> &'b [&'a [u8]] {
    let is_text = |line: &&[u8]| !is_blank(line);
    match (lines.iter().position(is_text), lines.iter().rposition(is_text)) {
        (Some(first), Some(last)) => &lines[first..=last],
        _ => &[],
    }
}

/// Returns the first 16 hexadecimal digits of the SHA-256 hash of a block's lines.
pub(crate) fn digest(lines: &[&[u8]]) -> String {
    hexadecimal(&Sha256::digest(lines.join(&b'\n'))[..8])
}

/// Returns a block with its markers.
pub(crate) fn marked(lines: &[&[u8]], newline: &str) -> Vec<u8> {
    let begin = begin(&digest(lines));
    let all = [begin.as_bytes()].into_iter().chain(lines.iter().copied());
    let all: Vec<&[u8]> = all.chain([END.as_bytes()]).collect();
    all.join(newline.as_bytes())
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
        assert_eq!(BlockMarker::from_line(END), Some(BlockMarker::End));
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
