//! Adds records that were converted from other sources, each once.

use std::collections::HashSet;
use std::path::Path;

use crate::error::Result;
use crate::journal::dated::DatedRecord;
use crate::journal::import::{ImportTarget, remove_known};
use crate::journal::write::WriteOptions;

/// The outcome of adopting records.
#[derive(Clone, Debug, Default)]
pub struct Adopted {
    /// Whether each record is new, in the order of the records.
    pub is_new: Vec<bool>,
    /// On a dry run, the first lines that would be added.
    pub diff: Option<String>,
}

/// Adds the records that are not in the journal yet, in the given order.
pub fn adopt(path: &Path, records: &[DatedRecord], options: &WriteOptions) -> Result<Adopted> {
    let mut done = Adopted::default();
    let lines = records.iter().map(|one| one.line(options.clock.now()));
    let lines: Vec<String> = lines.collect::<Result<_>>()?;
    let mut target = ImportTarget::open(path, options)?;
    let mut wanted: HashSet<_> = records.iter().map(DatedRecord::identity).collect();
    remove_known(path, &mut wanted)?;
    for (one, line) in records.iter().zip(&lines) {
        let is_new = wanted.remove(&one.identity());
        if is_new {
            target.add(line)?;
        }
        done.is_new.push(is_new);
    }
    target.end(options.sync)?;
    let new = done.is_new.iter().filter(|is_new| **is_new).count();
    done.diff = options.dry_run.then(|| target.diff(path, new));
    Ok(done)
}
