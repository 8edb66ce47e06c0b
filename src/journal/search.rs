//! Searches the journal from its end, in a window that grows until it contains enough results.

use std::fs::File;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use memchr::memrchr_iter;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::{At, Error, Result};
use crate::journal::backwards::{Region, ReverseLineReader, count};
use crate::journal::matcher::{LineMatch, Matcher};
use crate::journal::parallel_scan::Chunk;
use crate::journal::query::JournalQuery;
use crate::journal::record::lossy;
use crate::journal::{MAX_LINE, escape, parallel_scan};
use crate::storage::read;

/// Maximum total size of the results, in bytes; the first result is always returned.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// How the file is divided, in bytes.
#[derive(Clone, Copy)]
struct Division {
    /// Size of the end of the file that is searched on one thread: most searches finish there.
    tail: u64,
    /// Size of the chunks that threads scan in parallel.
    chunk: u64,
}

const DIVISION: Division = Division { tail: 2 * 1024 * 1024, chunk: 2 * 1024 * 1024 };

/// Initial and maximum number of chunks that are scanned at once.
const MIN_CHUNKS: usize = 4;
const MAX_CHUNKS: usize = 64;

/// The results of a search.
#[derive(Debug, Serialize)]
pub struct SearchResults {
    /// The matching records, latest first, each as it is in the file.
    pub results: Vec<Box<RawValue>>,
    /// Whether the window contains more matches than the limit, or than fit into 4 MiB.
    pub truncated: bool,
    /// Size of the search window after growth, in lines from the end.
    pub used_window_lines: usize,
    /// Number of lines that looked like matches but are not JSON objects, or are too long to be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<usize>,
}

/// Searches the journal; a missing or empty one has no results.
pub fn search(path: &Path, query: &JournalQuery) -> Result<SearchResults> {
    search_divided(path, query, DIVISION)
}

fn search_divided(path: &Path, query: &JournalQuery, division: Division) -> Result<SearchResults> {
    query.check()?;
    let mut progress = SearchProgress::new(query)?;
    if let Some((file, length)) = open(path)? {
        let journal = Journal { file: &file, path, division };
        progress.search(&journal, length)?;
    }
    Ok(progress.end())
}

/// Opens the journal and returns it with its current length, or `None` if it does not exist.
#[expect(clippy::disallowed_methods, reason = "the user chooses the path of the journal")]
pub(crate) fn open(path: &Path) -> Result<Option<(File, u64)>> {
    let metadata = match std::fs::metadata(path) {
        Err(error) if read::is_absent(&error) => return Ok(None),
        metadata => metadata.at("read", path)?,
    };
    if metadata.is_dir() {
        return Err(Error::failed("is a directory, a file was expected").at(path, None));
    }
    // A device such as /dev/null has no content, and opening a pipe would block until it has a writer.
    if !metadata.is_file() {
        return Ok(None);
    }
    // It may have been deleted in the meantime.
    let file = match File::open(path) {
        Err(error) if read::is_absent(&error) => return Ok(None),
        file => file.at("read", path)?,
    };
    let length = file.metadata().at("read", path)?.len();
    Ok(Some((file, length)))
}

/// The file to search.
struct Journal<'a> {
    file: &'a File,
    path: &'a Path,
    division: Division,
}

/// The state of a search from the end of the file to its beginning.
struct SearchProgress<'a> {
    query: &'a JournalQuery,
    matcher: Matcher,
    /// Number of lines searched so far, from the end.
    lines: usize,
    /// Number of lines at which the search ends: the largest window, or the one that had enough results.
    bound: usize,
    results: Vec<Box<RawValue>>,
    bytes: usize,
    truncated: bool,
    skipped: usize,
}

impl<'a> SearchProgress<'a> {
    fn new(query: &'a JournalQuery) -> Result<Self> {
        Ok(Self {
            query,
            matcher: Matcher::new(query)?,
            lines: 0,
            bound: query.widest_window(),
            results: Vec::new(),
            bytes: 0,
            truncated: false,
            skipped: 0,
        })
    }

    /// Searches the whole file of this length, in bytes.
    fn search(&mut self, journal: &Journal<'_>, length: u64) -> Result<()> {
        let tail = if self.matcher.has_prefilter() {
            parallel_scan::line_after(
                journal.file,
                length.saturating_sub(journal.division.tail)..length,
            )
            .at("read", journal.path)?
        } else {
            0
        };
        if self.read(journal, tail..length)?.is_break() {
            return Ok(());
        }
        self.search_before(journal, tail)
    }

    /// Searches the rest of the file, skipping chunks without candidates.
    fn search_before(&mut self, journal: &Journal<'_>, mut before: u64) -> Result<()> {
        // Increased each time: starting another thread takes as long as reading several megabytes.
        let mut max_chunks = MIN_CHUNKS;
        while before > 0 {
            let size = journal.division.chunk;
            let chunks =
                parallel_scan::scan_before(journal.file, &self.matcher, before, max_chunks, size)
                    .at("read", journal.path)?;
            max_chunks = MAX_CHUNKS.min(max_chunks * 4);
            let mut is_any_skipped = false;
            for chunk in chunks {
                before = chunk.range.start;
                if self.skip(&chunk) {
                    is_any_skipped = true;
                } else if self.read(journal, chunk.range)?.is_break() {
                    return Ok(());
                }
            }
            if !is_any_skipped {
                return self.read(journal, 0..before).map(|_| ());
            }
        }
        Ok(())
    }

    /// Skips a chunk without candidates if the window allows it, and returns whether it did.
    fn skip(&mut self, chunk: &Chunk) -> bool {
        let lines = self.lines + chunk.lines;
        let can_skip = !chunk.has_candidates && lines < self.bound;
        if can_skip {
            self.lines = lines;
        }
        can_skip
    }

    fn read(&mut self, journal: &Journal<'_>, range: Range<u64>) -> Result<ControlFlow<()>> {
        let mut reader = ReverseLineReader::new(journal.file, range, MAX_LINE);
        while let Some(region) = reader.next().at("read", journal.path)? {
            if self.search_region(&region)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn search_region(&mut self, region: &Region) -> Result<ControlFlow<()>> {
        self.skipped += region.dropped.min(self.bound - self.lines);
        self.lines += region.dropped;
        if self.lines >= self.bound {
            return Ok(ControlFlow::Break(()));
        }
        let total = self.lines + count(region.lines);
        let lines = if total > self.bound {
            last_lines(region.lines, self.bound - self.lines)
        } else {
            region.lines
        };
        let mut behind = lines.len();
        // Number of lines between the candidate and the end of the file.
        let mut after = self.lines;
        for line in self.matcher.candidates(lines).into_iter().rev() {
            after += count(&lines[line.end..behind]);
            behind = line.end;
            if after >= self.bound || self.judge(lines, line, after)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.lines = total;
        Ok(if total >= self.bound { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Handles a candidate; `after` is the number of lines after it.
    fn judge(&mut self, lines: &[u8], line: Range<usize>, after: usize) -> Result<ControlFlow<()>> {
        let line = &lines[line];
        match self.matcher.verdict(line) {
            LineMatch::Other => {}
            LineMatch::Malformed => self.skipped += 1,
            LineMatch::Match => {
                let is_full = !self.results.is_empty() && self.bytes + line.len() > MAX_BYTES;
                if is_full || self.results.len() == self.query.limit {
                    self.truncated = true;
                    self.bound = self.query.window_for(after + 1).min(self.bound);
                    return Ok(ControlFlow::Break(()));
                }
                self.bytes += line.len();
                self.results.push(display_line(line)?);
                if self.results.len() == self.query.limit {
                    self.bound = self.query.window_for(after + 1);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn end(self) -> SearchResults {
        SearchResults {
            results: self.results,
            truncated: self.truncated,
            used_window_lines: self.bound,
            skipped: Some(self.skipped),
        }
    }
}

/// Returns a JSON line as it is displayed.
pub(crate) fn display_line(line: &[u8]) -> Result<Box<RawValue>> {
    let text = lossy(line);
    let text = escape::visible(&text).into_owned();
    RawValue::from_string(text)
        .map_err(|error| Error::failed(format!("cannot show a line: {error}")))
}

/// Returns at most the last `most` lines of a text.
fn last_lines(lines: &[u8], most: usize) -> &[u8] {
    let body = lines.strip_suffix(b"\n").unwrap_or(lines);
    match memrchr_iter(b'\n', body).nth(most.saturating_sub(1)) {
        Some(newline) => &lines[newline + 1..],
        None => lines,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    /// A line: a record, a blank line, invalid JSON, or one that only looks like a match.
    fn line() -> impl Strategy<Value = String> {
        let record = ("[abx]{1,3}", "(note|fact)").prop_map(|(content, kind)| {
            format!(
                r#"{{"ts":"2026-03-01T12:00:00+00:00","type":"{kind}","content":"{content}","tags":null,"meta":null}}"#
            )
        });
        prop_oneof![
            8 => record,
            1 => Just(String::new()),
            1 => Just("no record: xx".to_owned()),
            1 => "y{50,300}",
        ]
    }

    proptest! {
        #[test]
        fn what_is_found_does_not_depend_on_how_the_file_is_divided(
            lines in prop::collection::vec(line(), 0..60),
            is_ended in any::<bool>(),
            word in "(xx|x|zz|/x+/)",
            (tail, chunk) in (0_u64..600, 1_u64..900),
            (window, limit) in (1_usize..40, 1_usize..8),
        ) {
            let mut text = lines.join("\n");
            if is_ended {
                text.push('\n');
            }
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let query = JournalQuery {
                q: word,
                limit,
                window_lines: window,
                ..JournalQuery::new("")
            };
            let found = |division| {
                serde_json::to_value(search_divided(file.path(), &query, division).unwrap()).unwrap()
            };
            prop_assert_eq!(found(Division { tail, chunk }), found(DIVISION));
        }
    }
}
