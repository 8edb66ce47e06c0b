//! The append-only pantry file.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use crate::event::Event;
use crate::store::lock::Lock;

/// Reads every event; lines that are none are skipped.
pub fn read(path: &Path) -> io::Result<Vec<Event>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text.lines().filter_map(Event::parse).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Appends one event under the lock.
pub fn append(path: &Path, event: &Event) -> io::Result<()> {
    let _lock = Lock::take(path)?;
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(format!("{}\n", event.line()).as_bytes())?;
    file.sync_data()
}
