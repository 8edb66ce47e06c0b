//! Searches the files of the stores for secrets.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::audit::Rows;
use crate::audit::checks::journal_path;
use crate::audit::row::{AuditRow, Detail};
use crate::error::{At, ErrorKind};
use crate::project::{ContextTarget, Project};
use crate::recall::SourceName;
use crate::secrets;
use crate::storage::{Boundary, read};
use crate::text::quantity;
use crate::warning::Warning;

/// Size of the part at its end that is searched for secrets, in bytes: older lines existed at the last audit.
const TAIL: u64 = 1 << 20;

/// The name of the checks.
const SECRETS: &str = "secrets";

/// Searches the context files, and the files of each store in the project.
pub(crate) fn in_stores(project: &Project, warnings: &mut Vec<Warning>) -> Vec<AuditRow> {
    // If a context file is a link, agents read its target.
    let context = ContextTarget::ALL.map(|target| project.root.join(target.file())).to_vec();
    let mut stores = vec![("context", context)];
    // Files at paths from the user's settings have separate checks.
    for store in SourceName::ALL.into_iter().filter(|store| !store.is_users_own()) {
        let files = store.files_to_check_for_secrets(project).into_iter();
        // A symbolic link is not a file of the store.
        stores.push((store.as_str(), files.filter(|file| !file.is_symlink()).collect()));
    }
    let stores = stores.into_iter();
    stores
        .filter_map(|(store, files)| {
            Some(in_files(project, files, warnings)?.named(store, SECRETS))
        })
        .collect()
}

/// Searches files; `None` if none of them exists. One that cannot be read causes a warning, and the others are still
/// searched.
fn in_files(
    project: &Project,
    files: Vec<PathBuf>,
    warnings: &mut Vec<Warning>,
) -> Option<AuditRow> {
    let mut is_used = false;
    let mut found = Vec::new();
    // Files beyond the read limit of a command, counted by reason.
    let mut unread: BTreeMap<String, usize> = BTreeMap::new();
    let folder = files.first().and_then(|file| file.parent());
    let folder = folder.unwrap_or(&project.root).to_owned();
    for path in &Boundary::within_limit(&folder, files) {
        match read::bytes(path) {
            Ok(None) => continue,
            Ok(Some(bytes)) => {
                found.extend(in_text(project.relative(path), &String::from_utf8_lossy(&bytes), 1));
            }
            Err(error) if error.kind == ErrorKind::Refused => {
                *unread.entry(error.reason()).or_default() += 1;
            }
            Err(error) => {
                let message = format!("is not searched for secrets: {}", error.reason());
                warnings.push(Warning::file(path, message));
            }
        }
        is_used = true;
    }
    for (reason, count) in unread {
        let message = format!("{} not searched for secrets: {reason}", quantity(count, "file"));
        warnings.push(Warning::file(&folder, message));
    }
    is_used.then(|| result(found))
}

/// No command removes a secret, and a secret that was written must be considered compromised.
fn result(found: Vec<Detail>) -> AuditRow {
    AuditRow::found(found, "revoke the key, then remove it from the file by hand").fault()
}

/// Returns the secrets in a text that starts at line `first`, as location and rule, without the secret
/// itself.
fn in_text(path: &Path, text: &str, first: usize) -> Vec<Detail> {
    let found = secrets::find_lines(text, first).into_iter();
    found
        .map(|(rule, line)| {
            Detail::at(path, line, &format!("contains what looks like a secret ({rule})"))
        })
        .collect()
}

/// Searches the end of the journal for secrets.
pub(crate) fn in_journal(project: &Project, _warnings: &mut Vec<Warning>) -> Rows {
    let Some(path) = journal_path(project) else {
        return Ok(Vec::new());
    };
    let (first, tail) = tail(&path).at("read", &path)?;
    let found = in_text(project.relative(&path), &String::from_utf8_lossy(&tail), first);
    Ok(vec![(SECRETS, result(found))])
}

/// Returns the last lines of a file, and the number of the first of them.
#[expect(clippy::disallowed_methods, reason = "the user chooses the path of the journal")]
fn tail(path: &Path) -> std::io::Result<(usize, Vec<u8>)> {
    let mut file = BufReader::new(File::open(path)?);
    let start = file.get_ref().metadata()?.len().saturating_sub(TAIL);
    let (mut at, mut line) = (0, 1);
    while at < start {
        match file.skip_until(b'\n')? as u64 {
            0 => break,
            length => at += length,
        }
        line += 1;
    }
    let mut bytes = Vec::new();
    // Other processes may be appending to it.
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok((line, bytes))
}
