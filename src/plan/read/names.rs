//! Lists the names in a planning folder.

use std::io::ErrorKind;
use std::path::Path;

use crate::error::{At, Result};
use crate::storage::read::PathKind;
use crate::storage::{listing, read};
use crate::warning::Warning;

/// Returns the visible entries of a folder with their kinds, following links, sorted; empty if it does not
/// exist.
pub(crate) fn entries(dir: &Path, warnings: &mut Vec<Warning>) -> Result<Vec<(String, PathKind)>> {
    let mut all = all_entries(dir, warnings)?;
    all.retain(|(name, _)| !name.starts_with('.'));
    Ok(all)
}

/// Returns all entries, including hidden ones.
pub(crate) fn all_entries(
    dir: &Path,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<(String, PathKind)>> {
    let listed = match listing::entries(dir) {
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            let message = "a file where a folder is expected; skipped";
            warnings.push(Warning::file(dir, message));
            return Ok(Vec::new());
        }
        listed => listed.at("list", dir)?,
    };
    let mut found = Vec::new();
    for (name, kind) in listed {
        // Printed, the name would start a new line; no tool creates such names.
        if name.contains(char::is_control) {
            let message = "an entry whose name has a control character; skipped";
            warnings.push(Warning::file(dir, message));
            continue;
        }
        match kind {
            PathKind::Link => {
                let path = dir.join(&name);
                // A link out of the project is reported when it is read.
                match read::kind(&path) {
                    Ok(kind) => found.push((name, kind.unwrap_or(PathKind::Other))),
                    Err(_) => found.push((name, PathKind::Other)),
                }
            }
            kind => found.push((name, kind)),
        }
    }
    Ok(found)
}
