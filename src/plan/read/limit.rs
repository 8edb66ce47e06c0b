//! Limits how much is read from a file.

use std::path::Path;

use crate::warning::Warning;

/// Removes the items of a list beyond `max`, with a warning if there are any.
pub(crate) fn truncate<T>(
    list: &mut Vec<T>,
    max: usize,
    plural: &str,
    path: &Path,
    warnings: &mut Vec<Warning>,
) {
    if list.len() > max {
        list.truncate(max);
        warnings.push(too_many(max, plural, path));
    }
}

/// Returns a warning that a file has more than `max` items.
pub(crate) fn too_many(max: usize, plural: &str, path: &Path) -> Warning {
    let message = format!("has more than {max} {plural}; the rest are ignored");
    Warning::file(path, message)
}
