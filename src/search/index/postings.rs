//! The words of the indexed texts: for each stem, the numbers of the units that contain it, with how often.
//!
//! ```text
//! list: for each unit, its distance from the one before x 2, plus 1 if a count follows; a count above 1
//! words of a file: for each stem, its text, the length of its list, the list
//! ```
//!
//! Numbers are written seven bits a byte, the lowest first. A list of the index continues in the next batch.

use rusqlite::{Connection, Result, params};

/// Number of bytes after which collected lists are written, to limit memory use.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// About what a stem takes in memory beside its text and its list.
const STEM_BYTES: usize = 96;

/// A list that is being written.
#[derive(Debug, Default)]
pub(crate) struct List {
    last: u32,
    bytes: Vec<u8>,
}

impl List {
    /// Adds a unit, whose number is not below that of the one before.
    pub(crate) fn add(&mut self, unit: u32, count: u32) {
        put((unit - self.last) << 1 | u32::from(count > 1), &mut self.bytes);
        if count > 1 {
            put(count, &mut self.bytes);
        }
        self.last = unit;
    }
}

/// Reads a list: each unit with its count. A damaged list ends early.
pub(crate) fn units(mut list: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    let mut unit = 0_u32;
    std::iter::from_fn(move || {
        let number = take(&mut list)?;
        unit = unit.checked_add(number >> 1)?;
        let count = if number & 1 == 1 { take(&mut list)? } else { 1 };
        Some((unit, count))
    })
}

/// Returns the words of a file from its stems, each with the number of the unit that contains it, counted from 0.
pub(crate) fn of_file<'a>(mut words: Vec<(u32, u32)>, text: impl Fn(u32) -> &'a str) -> Vec<u8> {
    words.sort_unstable();
    let mut bytes = Vec::with_capacity(words.len() * 4);
    for stem in words.chunk_by(|one, other| one.0 == other.0) {
        let mut list = List::default();
        for unit in stem.chunk_by(|one, other| one.1 == other.1) {
            list.add(unit[0].1, u32::try_from(unit.len()).unwrap_or(u32::MAX));
        }
        for part in [text(stem[0].0).as_bytes(), &list.bytes] {
            put(u32::try_from(part.len()).unwrap_or(u32::MAX), &mut bytes);
            bytes.extend_from_slice(part);
        }
    }
    bytes
}

/// The lists of an update.
#[derive(Debug, Default)]
pub(crate) struct Postings {
    lists: foldhash::HashMap<Box<[u8]>, List>,
    bytes: usize,
}

impl Postings {
    /// Adds the words of a file whose first unit has this number.
    pub(crate) fn add(&mut self, mut words: &[u8], first: u32) {
        while let (Some(stem), Some(list)) = (take_part(&mut words), take_part(&mut words)) {
            let all = match self.lists.get_mut(stem) {
                Some(all) => all,
                None => {
                    self.bytes += STEM_BYTES + stem.len();
                    self.lists.entry(stem.into()).or_default()
                }
            };
            let before = all.bytes.len();
            units(list).for_each(|(unit, count)| all.add(first + unit, count));
            self.bytes += all.bytes.len() - before;
        }
    }

    /// Returns whether the lists should be written before more are added.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes > MAX_BYTES
    }

    /// Writes the lists as a batch.
    pub(crate) fn write(&mut self, db: &Connection, batch: i64) -> Result<()> {
        self.bytes = 0;
        let mut lists: Vec<_> = self.lists.drain().collect();
        // In the order of the table, SQLite writes each page once.
        lists.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let mut insert = db.prepare_cached("INSERT INTO postings VALUES(?1, ?2, ?3)")?;
        lists.iter().try_for_each(|(stem, list)| {
            insert.execute(params![&stem[..], batch, list.bytes]).map(|_| ())
        })
    }
}

fn put(mut number: u32, bytes: &mut Vec<u8>) {
    while number > 127 {
        bytes.push(number.to_le_bytes()[0] | 128);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

fn take(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0_u32;
    for shift in (0..32).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u32::from(byte & 127) << shift;
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

fn take_part<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take(bytes)?).ok()?;
    bytes.split_off(..length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_words_of_files_come_back_by_stem() {
        let text = |stem: u32| ["queue", "retri"][stem as usize];
        let mut postings = Postings::default();
        postings.add(&of_file(vec![(1, 0), (0, 2), (0, 0), (0, 2)], text), 5);
        postings.add(&of_file(vec![(0, 300)], text), 8);
        let list = |stem: &str| -> Vec<(u32, u32)> {
            units(&postings.lists[stem.as_bytes()].bytes).collect()
        };
        assert_eq!(list("queue"), [(5, 1), (7, 2), (308, 1)]);
        assert_eq!(list("retri"), [(5, 1)]);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            prop_assert!(units(&bytes).count() <= bytes.len());
        }
    }
}
