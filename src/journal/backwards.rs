//! Reads a file backwards, in regions of whole lines, within bounded memory.

use std::fs::File;
use std::io::Result;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

/// Number of bytes read at once: few enough to stay in a core's own cache while they are searched.
pub(crate) const BLOCK: usize = 256 * 1024;

/// A reader of a byte range of a file, from its end to its beginning.
///
/// The buffer is filled from its end. Bytes that were read but not returned yet, namely the end of a line
/// whose start is still unread, stay at the end of the buffer, and the preceding block is read in front of
/// them.
pub(crate) struct ReverseLineReader<'f> {
    file: &'f File,
    /// Offset of the start of the range.
    first: u64,
    /// Offset of the end of the unread part of the range.
    unread: u64,
    buffer: Vec<u8>,
    /// Bounds of the bytes in the buffer: `buffer[start..end]`.
    start: usize,
    end: usize,
    block: usize,
    longest: usize,
    /// Whether the current line is too long for the buffer, so that its bytes are discarded.
    dropping: bool,
}

/// A region of the file that consists of whole lines.
pub(crate) struct Region<'a> {
    /// The lines, in file order; each ends in a newline, except possibly the last of the file.
    pub(crate) lines: &'a [u8],
    /// Byte offset of the lines in the file.
    pub(crate) offset: u64,
    /// Number of lines after them that were too long and were discarded.
    pub(crate) dropped: usize,
}

impl<'f> ReverseLineReader<'f> {
    /// Creates a reader of a range that starts at the start of a line; it discards lines over `longest`
    /// bytes.
    pub(crate) fn new(file: &'f File, range: Range<u64>, longest: usize) -> Self {
        Self::with_block(file, range, longest, BLOCK)
    }

    fn with_block(file: &'f File, range: Range<u64>, longest: usize, block: usize) -> Self {
        Self {
            file,
            first: range.start,
            unread: range.end,
            buffer: vec![0; 2 * block],
            start: 2 * block,
            end: 2 * block,
            block,
            longest,
            dropping: false,
        }
    }

    /// Returns the preceding region of whole lines, or `None` at the beginning of the range.
    pub(crate) fn next(&mut self) -> Result<Option<Region<'_>>> {
        let mut dropped = 0;
        loop {
            if self.unread == self.first {
                let (from, to) = (self.start, self.end);
                (self.start, self.end) = (from, from);
                let is_over = from == to && dropped == 0;
                return Ok((!is_over).then(|| Region {
                    lines: &self.buffer[from..to],
                    offset: self.first,
                    dropped,
                }));
            }
            let read = self.read_block()?;
            let block = self.start..self.start + read;
            if self.dropping {
                let Some(last) = memrchr(b'\n', &self.buffer[block.clone()]) else {
                    self.end = self.start;
                    continue;
                };
                self.dropping = false;
                self.end = self.start + last + 1;
            }
            let block = self.start..self.end.min(block.end);
            let lines = match memchr(b'\n', &self.buffer[block]) {
                _ if self.unread == self.first => self.start,
                Some(first) => self.start + first + 1,
                None => self.end,
            };
            if lines == self.end && self.end - self.start > self.longest {
                self.dropping = true;
                self.end = self.start;
                dropped += 1;
            } else if lines < self.end {
                let (from, to) = (lines, self.end);
                self.end = lines;
                return Ok(Some(Region {
                    offset: self.unread + (from - self.start) as u64,
                    lines: &self.buffer[from..to],
                    dropped,
                }));
            }
        }
    }

    /// Reads the block before the buffered bytes, and returns its length.
    fn read_block(&mut self) -> Result<usize> {
        let held = self.end - self.start;
        let length = usize::try_from(self.unread - self.first)
            .map_or(self.block, |left| left.min(self.block));
        if held + length > self.buffer.len() {
            let mut larger = vec![0; 2 * self.buffer.len()];
            let to = larger.len() - held;
            larger[to..].copy_from_slice(&self.buffer[self.start..self.end]);
            self.buffer = larger;
            (self.start, self.end) = (to, to + held);
        } else if self.start < length || held < self.block / 4 {
            // If little is buffered, reuse the memory of the last block, which is still in the cache.
            let to = self.buffer.len() - held;
            self.buffer.copy_within(self.start..self.end, to);
            (self.start, self.end) = (to, to + held);
        }
        self.unread -= length as u64;
        self.start -= length;
        let block = &mut self.buffer[self.start..self.start + length];
        read_at(self.file, block, self.unread)?;
        Ok(length)
    }
}

/// Fills a buffer from an offset of the file, independently of reads in other threads.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> Result<()> {
    #[cfg(unix)]
    {
        std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
    }
    #[cfg(not(unix))]
    {
        let (mut filled, mut at) = (0, offset);
        while filled < buffer.len() {
            match std::os::windows::fs::FileExt::seek_read(file, &mut buffer[filled..], at)? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                read => (filled, at) = (filled + read, at + read as u64),
            }
        }
        Ok(())
    }
}

/// Counts the lines of a text, including a last one without a newline.
pub(crate) fn count(lines: &[u8]) -> usize {
    let newlines = memchr_iter(b'\n', lines).count();
    let is_open = lines.last().is_some_and(|last| *last != b'\n');
    newlines + usize::from(is_open)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn regions(bytes: &[u8], block: usize, longest: usize) -> (Vec<(u64, Vec<u8>)>, usize) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let mut reader =
            ReverseLineReader::with_block(&file, 0..bytes.len() as u64, longest, block);
        let (mut found, mut dropped) = (Vec::new(), 0);
        while let Some(region) = reader.next().unwrap() {
            dropped += region.dropped;
            if !region.lines.is_empty() {
                found.push((region.offset, region.lines.to_vec()));
            }
        }
        found.reverse();
        (found, dropped)
    }

    #[test]
    fn a_line_that_is_too_long_is_dropped_and_counted() {
        let long = "x".repeat(100);
        let text = format!("one\n{long}\ntwo\n{long}\n{long}\nthree");
        for block in [7, 16, 50] {
            let (found, dropped) = regions(text.as_bytes(), block, 20);
            let lines: Vec<u8> = found.into_iter().flat_map(|(_, lines)| lines).collect();
            assert_eq!(lines, b"one\ntwo\nthree", "{block}");
            assert_eq!(dropped, 3, "{block}");
        }
        assert_eq!(regions(long.as_bytes(), 7, 20), (Vec::new(), 1));
        assert_eq!(regions(b"", 7, 60), (Vec::new(), 0));
    }

    proptest! {
        #[test]
        fn the_regions_are_the_file_cut_behind_newlines(
            text in "[ab\n]{0,80}",
            block in 1_usize..20,
        ) {
            let (found, dropped) = regions(text.as_bytes(), block, 1000);
            prop_assert_eq!(dropped, 0);
            let mut at = 0;
            for (offset, lines) in &found {
                prop_assert_eq!(*offset, at);
                prop_assert_eq!(&text.as_bytes()[usize::try_from(at).unwrap()..][..lines.len()], &lines[..]);
                at += lines.len() as u64;
                prop_assert!(at == text.len() as u64 || lines.ends_with(b"\n"));
            }
            prop_assert_eq!(at, text.len() as u64);
        }
    }
}
