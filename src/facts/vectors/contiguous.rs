//! The vectors of one user in one file beside the database, for scans of many: made of the tables, and
//! only ever read where it holds the tables' own revision.
//!
//! ```text
//! mark | revision | rows, turns, dimension, is complete | model | seqs | scales | turns | vectors
//! ```
//!
//! Numbers are little-endian. A turn is a place among the rows, its highest bit set where its session
//! begins. docs/formats.md has the widths.

use std::fs::File;
use std::io;
use std::io::Read;
use std::path::Path;
use std::path::PathBuf;

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use crate::embedding::Quantized;
use crate::error::Result;
use crate::facts::failure::Stored;
use crate::facts::user::UserId;
use crate::facts::vectors::scan;
use crate::facts::vectors::scan::Scanned;
use crate::facts::vectors::sessions::Turn;
use crate::facts::vectors::sessions::turns;
use crate::storage::digest;
use crate::storage::remove_derived;
use crate::storage::write_derived;

/// Begins the file; its last byte is the version of what follows.
const MARK: [u8; 8] = *b"annalsv\x01";

/// How long what stands before the rows is.
const HEADER: usize = 64;

/// Set in a turn with which a session begins.
const FIRST: u32 = 1 << 31;

/// How many vectors are read at once: few enough to stay near the processor.
const BATCH: usize = 512;

/// What the file says of itself.
#[derive(Debug, PartialEq)]
struct Header {
    revision: i64,
    rows: usize,
    turns: usize,
    dim: usize,
    is_complete: bool,
    model: [u8; 32],
}

/// Compares with the vectors in the file; nothing where there is none, or it is not of this state of the tables.
#[expect(
    clippy::disallowed_methods,
    reason = "lies beside the user's own database"
)]
pub(crate) fn scanned(
    connection: &Connection,
    user: &UserId,
    model: &str,
    query: &Quantized,
) -> Result<Option<Scanned>> {
    let Some(path) = path(connection, user) else {
        return Ok(None);
    };
    let Ok(file) = File::open(path) else {
        return Ok(None);
    };
    let Some(revision) = revision(connection, user)? else {
        return Ok(None);
    };
    // What cannot be read is made anew, like what is of another state.
    Ok(read(file, revision, model, query).ok().flatten())
}

/// Writes the file as of this state of the tables. That it cannot be written costs time alone: the
/// tables have it all.
pub(crate) fn write(connection: &Connection, user: &UserId, model: &str, dim: usize) -> Result<()> {
    let (Some(path), Some(revision)) = (path(connection, user), revision(connection, user)?) else {
        return Ok(());
    };
    let rows = scan::rows(connection, user, model, dim)?;
    let turns = places(&turns(connection, user)?, &rows.seqs);
    let header = Header {
        revision,
        rows: rows.seqs.len(),
        turns: turns.len(),
        dim,
        is_complete: scan::is_complete(connection, user, rows.seqs.len())?,
        model: mark(model),
    };
    let Some(mut bytes) = header.bytes() else {
        return Ok(());
    };
    bytes.extend(rows.seqs.iter().flat_map(|seq| seq.to_le_bytes()));
    bytes.extend(rows.scales.iter().flat_map(|scale| scale.to_le_bytes()));
    bytes.extend(turns.iter().flat_map(|turn| turn.to_le_bytes()));
    bytes.extend(rows.vectors);
    write_derived(&path, &bytes).ok();
    Ok(())
}

/// Removes the user's file.
pub(crate) fn forget(connection: &Connection, user: &UserId) -> Result<()> {
    path(connection, user).map_or(Ok(()), |path| remove_derived(&path))
}

/// Returns where the user's file is; a database in memory has none.
fn path(connection: &Connection, user: &UserId) -> Option<PathBuf> {
    let database = connection.path().filter(|path| !path.is_empty())?;
    let digest = digest(user.as_str().as_bytes());
    let name = Path::new(database).file_name()?.to_string_lossy();
    let name = format!("{name}-vectors-{}", digest.get(..16).unwrap_or(&digest));
    Some(Path::new(database).with_file_name(name))
}

fn revision(connection: &Connection, user: &UserId) -> Result<Option<i64>> {
    connection
        .prepare_cached("SELECT revision FROM vector_revisions WHERE user_id = ?1")
        .and_then(|mut statement| {
            let found = statement.query_row([user.as_str()], |row| row.get(0));
            found.optional()
        })
        .stored("read the revision of the vectors")
}

/// Returns the turns as they are written; what has no vector is in none.
fn places(turns: &[Turn], seqs: &[i64]) -> Vec<u32> {
    let mut written = Vec::with_capacity(turns.len());
    let mut is_first = false;
    for turn in turns {
        is_first |= turn.is_first;
        let place = seqs.binary_search(&turn.row).ok();
        if let Some(place) = place.and_then(|place| u32::try_from(place).ok()) {
            written.push(if is_first { place | FIRST } else { place });
            is_first = false;
        }
    }
    written
}

/// Which model, in 32 bytes.
fn mark(model: &str) -> [u8; 32] {
    let mut mark = [0; 32];
    for (to, from) in mark.iter_mut().zip(digest(model.as_bytes()).bytes()) {
        *to = from;
    }
    mark
}

impl Header {
    fn bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = MARK.to_vec();
        bytes.extend(self.revision.to_le_bytes());
        let is_complete = usize::from(self.is_complete);
        for number in [self.rows, self.turns, self.dim, is_complete] {
            let number = u32::try_from(number).ok().filter(|number| *number < FIRST);
            bytes.extend(number?.to_le_bytes());
        }
        bytes.extend(self.model);
        Some(bytes)
    }

    fn parse(bytes: &[u8; HEADER]) -> Option<Self> {
        let rest = bytes.strip_prefix(&MARK)?;
        let (revision, rest) = rest.split_first_chunk::<8>()?;
        let (numbers, model) = rest.split_at_checked(16)?;
        let mut numbers = numbers.chunks_exact(4).map(number);
        let mut next = || usize::try_from(numbers.next()?).ok();
        Some(Self {
            revision: i64::from_le_bytes(*revision),
            rows: next()?,
            turns: next()?,
            dim: next()?,
            is_complete: next()? == 1,
            model: model.try_into().ok()?,
        })
    }

    /// How long the whole file is.
    fn length(&self) -> Option<usize> {
        let rows = self.rows.checked_mul(self.dim.checked_add(12)?)?;
        rows.checked_add(self.turns.checked_mul(4)?)?
            .checked_add(HEADER)
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

fn read(
    mut file: File,
    revision: i64,
    model: &str,
    query: &Quantized,
) -> io::Result<Option<Scanned>> {
    let mut header = [0; HEADER];
    file.read_exact(&mut header)?;
    let Some(header) = Header::parse(&header) else {
        return Ok(None);
    };
    let is_of_now = header.revision == revision
        && header.model == mark(model)
        && header.dim == query.values.len();
    let length = header.length().and_then(|all| u64::try_from(all).ok());
    if !is_of_now || header.dim == 0 || length != Some(file.metadata()?.len()) {
        return Ok(None);
    }
    let mut seqs = vec![0; header.rows * 8];
    file.read_exact(&mut seqs)?;
    let seqs: Vec<i64> = seqs
        .chunks_exact(8)
        .map(|bytes| bytes.try_into().map_or(0, i64::from_le_bytes))
        .collect();
    let mut scales = vec![0; header.rows * 4];
    file.read_exact(&mut scales)?;
    let mut turns = vec![0; header.turns * 4];
    file.read_exact(&mut turns)?;
    let turns = turns.chunks_exact(4).map(number).filter_map(|turn| {
        let place = usize::try_from(turn & !FIRST).ok()?;
        Some(Turn {
            row: *seqs.get(place)?,
            is_first: turn & FIRST != 0,
        })
    });
    let turns = turns.collect();
    let nearness = compare(&mut file, &scales, query)?;
    Ok(Some(Scanned {
        seqs,
        nearness,
        turns: Some(turns),
        is_complete: header.is_complete,
    }))
}

/// Compares with the vectors, which are the rest of the file.
fn compare(file: &mut File, scales: &[u8], query: &Quantized) -> io::Result<Vec<f32>> {
    let dim = query.values.len();
    let mut nearness = Vec::with_capacity(scales.len() / 4);
    let mut vectors = vec![0; BATCH * dim];
    for scales in scales.chunks(BATCH * 4) {
        let vectors = &mut vectors[..scales.len() / 4 * dim];
        file.read_exact(vectors)?;
        let rows = vectors.chunks_exact(dim).zip(scales.chunks_exact(4));
        nearness.extend(rows.map(|(vector, scale)| {
            let scale = scale.try_into().map_or(0.0, f32::from_le_bytes);
            query.dot_stored(vector, scale)
        }));
    }
    Ok(nearness)
}

#[cfg(test)]
mod tests;
