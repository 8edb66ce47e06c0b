//! Prefilters chunks of the file on all processors, so that a search can skip those without candidates.

use std::fs::File;
use std::io::Result;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::thread;

use memchr::memchr;

use crate::journal::MAX_LINE;
use crate::journal::backwards::BLOCK;
use crate::journal::backwards::ReverseLineReader;
use crate::journal::backwards::count;
use crate::journal::backwards::read_at;
use crate::journal::matcher::Matcher;

/// Maximum number of threads; more would contend with each other.
const MAX_THREADS: usize = 8;

/// A chunk of the file that consists of whole lines.
pub(crate) struct Chunk {
    pub(crate) range: Range<u64>,
    /// Number of lines; if there are candidates, only those that were counted until one was found.
    pub(crate) lines: usize,
    /// Whether a line may match, or was too long to be searched.
    pub(crate) is_to_be_read: bool,
}

/// How the part of the file before an offset is divided.
#[derive(Clone, Copy)]
pub(crate) struct ChunkLayout {
    /// Maximum number of chunks.
    pub(crate) parts: usize,
    /// Target size of a chunk, in bytes.
    pub(crate) size: u64,
}

/// Prefilters the chunks before an offset, which must be the start of a line; the last chunk comes first.
///
/// Threads take the chunks in turn, and stop once a chunk must be read, because the chunks before it may not
/// be needed. So the result may contain fewer chunks, but without gaps.
pub(crate) fn search_ahead(
    file: &File,
    matcher: &Matcher,
    before: u64,
    layout: ChunkLayout,
) -> Result<Vec<Chunk>> {
    let ranges = ranges(file, before, layout)?;
    let (next, is_enough) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || -> Result<Vec<(usize, Chunk)>> {
        let mut looked_at = Vec::new();
        while !is_enough.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(range) = ranges.get(index) else {
                break;
            };
            let part = scan(file, matcher, range.clone())?;
            is_enough.fetch_or(part.is_to_be_read, Ordering::Relaxed);
            looked_at.push((index, part));
        }
        Ok(looked_at)
    };
    let threads = thread::available_parallelism().map_or(1, |count| count.get().min(MAX_THREADS));
    let mut found = thread::scope(|scope| {
        let others = 1..threads.min(ranges.len());
        // The system may refuse another thread; those that run do its work.
        let others = others.map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok());
        let others: Vec<_> = others.collect();
        let mut found = work()?;
        for other in others {
            match other.join() {
                Ok(parts) => found.extend(parts?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok::<_, std::io::Error>(found)
    })?;
    found.sort_unstable_by_key(|(index, _)| *index);
    Ok(found.into_iter().map(|(_, part)| part).collect())
}

/// Divides the part of the file before an offset into chunks of whole lines, the last one first.
fn ranges(file: &File, before: u64, layout: ChunkLayout) -> Result<Vec<Range<u64>>> {
    let mut ranges = Vec::new();
    let mut end = before;
    while end > 0 && ranges.len() < layout.parts {
        let start = line_after(file, end.saturating_sub(layout.size)..end)?;
        // If a line is longer than a chunk, the chunk extends to the start of the file.
        let start = if start == end { 0 } else { start };
        ranges.push(start..end);
        end = start;
    }
    Ok(ranges)
}

fn scan(file: &File, matcher: &Matcher, range: Range<u64>) -> Result<Chunk> {
    let mut part = Chunk {
        range: range.clone(),
        lines: 0,
        is_to_be_read: false,
    };
    let mut reader = ReverseLineReader::new(file, range, MAX_LINE);
    while let Some(region) = reader.next()? {
        part.is_to_be_read = region.dropped > 0 || matcher.has_candidates(region.lines);
        if part.is_to_be_read {
            break;
        }
        part.lines += count(region.lines);
    }
    Ok(part)
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
