//! Reads lines from an offset to the end of the file, within bounded memory.

use std::fs::File;
use std::io::{BufRead, BufReader, Result, Seek, SeekFrom};

use memchr::memchr;

use crate::journal::backwards::BLOCK;

/// A reader of the lines of a file, from an offset to the end.
pub(crate) struct LineReader {
    file: BufReader<File>,
    offset: u64,
    longest: usize,
    line: Vec<u8>,
}

/// A line as it was read.
pub(crate) enum JournalLine<'a> {
    /// A whole line with its newline, which only the last line of the file may lack.
    Whole(&'a [u8]),
    /// A line that was too long and was discarded.
    Dropped,
}

impl LineReader {
    /// Creates a reader that starts at an offset of the file and discards lines over `longest` bytes.
    pub(crate) fn new(mut file: File, offset: u64, longest: usize) -> Result<Self> {
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self { file: BufReader::with_capacity(BLOCK, file), offset, longest, line: Vec::new() })
    }

    /// Returns the offset of the next line.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the next line, or `None` at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<JournalLine<'_>>> {
        self.line.clear();
        let mut dropped = false;
        let mut length = 0;
        loop {
            let held = self.file.fill_buf()?;
            let newline = memchr(b'\n', held);
            let taken = newline.map_or(held.len(), |newline| newline + 1);
            dropped |= self.line.len() + taken > self.longest;
            if dropped {
                self.line.clear();
            } else {
                self.line.extend_from_slice(&held[..taken]);
            }
            self.file.consume(taken);
            length += taken as u64;
            if newline.is_some() || taken == 0 {
                break;
            }
        }
        self.offset += length;
        Ok(match length {
            0 => None,
            _ if dropped => Some(JournalLine::Dropped),
            _ => Some(JournalLine::Whole(&self.line)),
        })
    }
}
