//! Maps edits of decoded text to the bytes of a file, so that invalid UTF-8 elsewhere is preserved.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::markdown::edit::Edit;
use crate::storage::read;
use crate::warning::Parsed;

/// A file with its old and new bytes.
#[derive(Clone, Debug)]
pub(super) struct SourceText {
    path: PathBuf,
    old: Option<Vec<u8>>,
    new: Vec<u8>,
}

impl SourceText {
    /// Reads a file; a missing one has an empty text.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let old = read::bytes(path)?;
        Ok(Self { path: path.to_owned(), new: old.clone().unwrap_or_default(), old })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the text as parsers receive it: invalid UTF-8 is replaced. `None` if the file does not exist.
    pub(super) fn parsed(&self) -> Option<Parsed<String>> {
        self.old.as_ref()?;
        Some(read::decode(self.new.clone(), &self.path))
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.new).into_owned()
    }

    pub(super) fn is_changed(&self) -> bool {
        self.old.as_ref().is_some_and(|old| *old != self.new)
    }

    /// Returns the path, the old and the new bytes.
    pub(super) fn into_parts(self) -> (PathBuf, Vec<u8>, Vec<u8>) {
        (self.path, self.old.unwrap_or_default(), self.new)
    }

    /// Applies edits whose ranges refer to the decoded text; they must not overlap.
    pub(super) fn apply(&mut self, edits: &[Edit]) {
        let mut edits: Vec<(Range<usize>, &str)> = edits
            .iter()
            .map(|edit| (raw_range(&self.new, &edit.range), edit.text.as_str()))
            .collect();
        edits.sort_by_key(|(range, _)| range.start);
        for (range, text) in edits.into_iter().rev() {
            self.new.splice(range, text.bytes());
        }
    }
}

/// Maps a range of the text to the bytes: a replacement character may represent fewer bytes than its own
/// length.
fn raw_range(bytes: &[u8], range: &Range<usize>) -> Range<usize> {
    raw_offset(bytes, range.start)..raw_offset(bytes, range.end)
}

fn raw_offset(bytes: &[u8], offset: usize) -> usize {
    let (mut in_text, mut in_bytes) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        if offset <= in_text + chunk.valid().len() {
            break;
        }
        in_text += chunk.valid().len();
        in_bytes += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            in_text += char::REPLACEMENT_CHARACTER.len_utf8();
            in_bytes += chunk.invalid().len();
        }
    }
    (in_bytes + offset.saturating_sub(in_text)).min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_of_the_text_leave_other_bytes_as_they_are() {
        let old = b"\xef\xbb\xbfcaf\xe9 \xff\r\nPhase: 4\r\n\xfe".to_vec();
        let mut source =
            SourceText { path: PathBuf::from("STATE.md"), old: Some(old.clone()), new: old };
        let text = source.text();
        let at = text.find('4').unwrap();
        let start = text.find("Phase").unwrap();
        source
            .apply(&[Edit::replace(at..at + 1, "05.1"), Edit::replace(start..start + 5, "PHASE")]);
        assert_eq!(source.new, b"\xef\xbb\xbfcaf\xe9 \xff\r\nPHASE: 05.1\r\n\xfe");
        assert!(source.is_changed());
    }
}
