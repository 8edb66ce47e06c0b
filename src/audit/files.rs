//! Searches the files of the stores for secrets.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::memchr_iter;

use crate::audit::checks::journal_path;
use crate::audit::row::{AuditRow, Detail};
use crate::error::{At, ErrorKind, Result};
use crate::project::{ContextTarget, Project};
use crate::secrets;
use crate::storage::{Boundary, read};
use crate::text::quantity;
use crate::warning::{SourceLocation, Warning};

/// Size of the part at its end that is searched for secrets, in bytes: older lines existed at the last audit.
const TAIL: u64 = 1 << 20;

/// No command removes a secret, and a secret that was written must be considered compromised.
const FIX: &str = "revoke the key, then remove it from the file by hand";

/// Returns the row for a store's files, or `None` if none of them exists.
///
/// A file that `read` cannot read causes a warning, and the others are still searched.
pub(crate) fn in_files(
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
fn row(store: &'static str, found: Vec<Detail>) -> AuditRow {
    AuditRow::new(store, "secrets", found, FIX).into_fault()
}

/// Returns the secrets in a text that starts at line `first`, as location and rule, without the secret
/// itself.
fn in_text(path: &Path, text: &str, first: usize) -> Vec<Detail> {
    secrets::find_lines(text, first)
        .into_iter()
        .map(|(rule, line)| {
            let place = SourceLocation::new(path, line);
            Detail::at(place, &format!("contains what looks like a secret ({rule})"))
        })
        .collect()
}

/// Searches the context files for secrets.
pub(crate) fn in_context_files(project: &Project, warnings: &mut Vec<Warning>) -> Option<AuditRow> {
    let files: Vec<PathBuf> =
        ContextTarget::ALL.map(|target| project.root.join(target.file())).into();
    // If a context file is a link, agents read its target.
    in_files(project, "context", files, read::bytes, warnings)
}

/// Searches the end of the journal for secrets.
pub(crate) fn in_journal(project: &Project, _warnings: &mut Vec<Warning>) -> Result<Vec<AuditRow>> {
    let Some(path) = journal_path(project) else {
        return Ok(Vec::new());
    };
    let (first, tail) = tail(&path).at("read", &path)?;
    let text = String::from_utf8_lossy(&tail);
    let found = in_text(project.relative(&path), &text, first);
    Ok(vec![row("journal", found)])
}

/// Returns the end of a file, from the start of a line, and the number of that line.
#[expect(clippy::disallowed_methods, reason = "the user chooses the path of the journal")]
fn tail(path: &Path) -> std::io::Result<(usize, Vec<u8>)> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(TAIL);
    let mut line = 1 + newlines(&mut Read::by_ref(&mut file).take(start))?;
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    // Other processes may be appending to it.
    file.take(TAIL).read_to_end(&mut bytes)?;
    if start > 0
        && let Some(end) = memchr::memchr(b'\n', &bytes)
    {
        bytes.drain(..=end);
        line += 1;
    }
    Ok((line, bytes))
}

fn newlines(reader: &mut impl Read) -> std::io::Result<usize> {
    let mut buffer = vec![0; 1 << 16];
    let mut found = 0;
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(found),
            length => found += memchr_iter(b'\n', &buffer[..length]).count(),
        }
    }
}

/// Returns a file's bytes; a symbolic link is not a file of the store.
pub(crate) fn own_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    if path.is_symlink() {
        return Ok(None);
    }
    read::bytes(path)
}
