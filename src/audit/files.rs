//! Searches the files of a store for secrets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::audit::row::{AuditRow, Detail};
use crate::error::{ErrorKind, Result};
use crate::project::Project;
use crate::secrets;
use crate::storage::{Boundary, read};
use crate::text::quantity;
use crate::warning::{SourceLocation, Warning};

/// No command removes a secret, and a secret that was written must be considered compromised.
const FIX: &str = "revoke the key, then remove it from the file by hand";

/// Returns the row for a store's files, or `None` if none of them exists.
///
/// A file that `read` cannot read causes a warning, and the others are still searched.
pub(crate) fn secrets(
    project: &Project,
    store: &'static str,
    files: Vec<PathBuf>,
    read: fn(&Path) -> Result<Option<Vec<u8>>>,
    warnings: &mut Vec<Warning>,
) -> Option<AuditRow> {
    let mut is_used = false;
    let mut found = Vec::new();
    // Files beyond the read limit of a command, counted by reason.
    let mut unread_by_reason: BTreeMap<String, usize> = BTreeMap::new();
    let folder = files.first().and_then(|file| file.parent());
    let folder = folder.unwrap_or(&project.root).to_owned();
    for path in &Boundary::within_limit(&folder, files) {
        match read(path) {
            Ok(Some(bytes)) => {
                is_used = true;
                let text = String::from_utf8_lossy(&bytes);
                found.extend(in_text(project.relative(path), &text, 1));
            }
            Ok(None) => {}
            Err(error) if error.kind == ErrorKind::Refused => {
                is_used = true;
                *unread_by_reason.entry(error.reason()).or_insert(0) += 1;
            }
            Err(error) => {
                is_used = true;
                let message = format!("is not searched for secrets: {}", error.reason());
                warnings.push(Warning::file(path, message));
            }
        }
    }
    for (reason, count) in unread_by_reason {
        let files = quantity(count, "file");
        let message = format!("{files} not searched for secrets: {reason}");
        warnings.push(Warning::file(&folder, message));
    }
    is_used.then(|| row(store, found))
}

/// Returns the row of a store for these secrets.
pub(crate) fn row(store: &'static str, found: Vec<Detail>) -> AuditRow {
    AuditRow::new(store, "secrets", found, FIX).into_fault()
}

/// Returns the secrets in a text that starts at line `first`, as location and rule, without the secret
/// itself.
pub(crate) fn in_text(path: &Path, text: &str, first: usize) -> Vec<Detail> {
    secrets::find_lines(text, first)
        .into_iter()
        .map(|(rule, line)| {
            let place = SourceLocation::new(path, line);
            Detail::at(place, &format!("contains what looks like a secret ({rule})"))
        })
        .collect()
}

/// Returns a file's bytes; a symbolic link is not a file of the store.
pub(crate) fn own_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    if path.is_symlink() {
        return Ok(None);
    }
    read::bytes(path)
}
