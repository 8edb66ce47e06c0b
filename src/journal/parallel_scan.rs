//! Scans chunks of the file on all processors, so that a search can skip those without candidates.
//!
//! By its processor time, one thread would take 1.0 to 1.3 times as long as `rg` for a million lines; the goal in
//! docs/performance.md is 1.25.

use std::fs::File;
use std::io::Result;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use memchr::memchr;

use crate::journal::MAX_LINE;
use crate::journal::backwards::{BLOCK, ReverseLineReader, count, read_at};
use crate::journal::matcher::Matcher;

/// Maximum number of threads; more would contend with each other.
const MAX_THREADS: usize = 8;

/// A chunk of the file that consists of whole lines.
pub(crate) struct Chunk {
    pub(crate) range: Range<u64>,
    /// Number of lines; if there are candidates, only those that were counted until one was found.
    pub(crate) lines: usize,
    /// Whether a line may match, or was too long to be searched.
    pub(crate) has_candidates: bool,
}

/// Scans up to `max_chunks` chunks of about `size` bytes before an offset, which must be the start of a line;
/// returns the last chunk first.
///
/// Threads take the chunks in turn, and stop once one has candidates, because the chunks before it may not
/// be needed. So the result may contain fewer chunks, but without gaps.
pub(crate) fn scan_before(
    file: &File,
    matcher: &Matcher,
    before: u64,
    max_chunks: usize,
    size: u64,
) -> Result<Vec<Chunk>> {
    let ranges = ranges(file, before, max_chunks, size)?;
    let (next, is_enough) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || -> Result<Vec<(usize, Chunk)>> {
        let mut scanned = Vec::new();
        while !is_enough.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(range) = ranges.get(index) else {
                break;
            };
            let chunk = scan(file, matcher, range.clone())?;
            is_enough.fetch_or(chunk.has_candidates, Ordering::Relaxed);
            scanned.push((index, chunk));
        }
        Ok(scanned)
    };
    let threads = thread::available_parallelism().map_or(1, |count| count.get().min(MAX_THREADS));
    let mut scanned = thread::scope(|scope| {
        let others = 1..threads.min(ranges.len());
        // If the system refuses another thread, the others do its work.
        let others = others.map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok());
        let others: Vec<_> = others.collect();
        let mut scanned = work()?;
        for other in others {
            match other.join() {
                Ok(chunks) => scanned.extend(chunks?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok::<_, std::io::Error>(scanned)
    })?;
    scanned.sort_unstable_by_key(|(index, _)| *index);
    Ok(scanned.into_iter().map(|(_, chunk)| chunk).collect())
}

/// Divides the part of the file before an offset into chunks of whole lines, the last one first.
fn ranges(file: &File, before: u64, max_chunks: usize, size: u64) -> Result<Vec<Range<u64>>> {
    let mut ranges = Vec::new();
    let mut end = before;
    while end > 0 && ranges.len() < max_chunks {
        let start = line_after(file, end.saturating_sub(size)..end)?;
        // If a line is longer than a chunk, the chunk extends to the start of the file.
        let start = if start == end { 0 } else { start };
        ranges.push(start..end);
        end = start;
    }
    Ok(ranges)
}

fn scan(file: &File, matcher: &Matcher, range: Range<u64>) -> Result<Chunk> {
    let mut chunk = Chunk { range: range.clone(), lines: 0, has_candidates: false };
    let mut reader = ReverseLineReader::new(file, range, MAX_LINE);
    while let Some(region) = reader.next()? {
        chunk.has_candidates = region.dropped > 0 || matcher.has_candidates(region.lines);
        if chunk.has_candidates {
            break;
        }
        chunk.lines += count(region.lines);
    }
    Ok(chunk)
}

/// Returns the offset of the first line start in a range, or the end of the range.
pub(crate) fn line_after(file: &File, range: Range<u64>) -> Result<u64> {
    if range.start == 0 {
        return Ok(0);
    }
    let mut buffer = vec![0; BLOCK / 16];
    // The byte before the range may be the newline that ends the preceding line.
    let mut at = range.start - 1;
    while at < range.end {
        let left =
            usize::try_from(range.end - at).map_or(buffer.len(), |left| left.min(buffer.len()));
        read_at(file, &mut buffer[..left], at)?;
        if let Some(newline) = memchr(b'\n', &buffer[..left]) {
            return Ok(at + newline as u64 + 1);
        }
        at += left as u64;
    }
    Ok(range.end)
}
