//! Checks the journal for lines that are not records, and its latest part for secrets.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::memchr_iter;

use crate::audit::files;
use crate::audit::row::{AuditRow, Detail};
use crate::error::{At, Result};
use crate::journal;
use crate::project::Project;
use crate::warning::{SourceLocation, Warning};

const STORE: &str = "journal";

/// Size of the part at its end that is searched for secrets, in bytes: older lines existed at the last audit.
const TAIL: u64 = 1 << 20;

/// Counts the lines that are not records.
pub(crate) fn lines(project: &Project, _warnings: &mut Vec<Warning>) -> Result<Vec<AuditRow>> {
    let Some(path) = path(project) else {
        return Ok(Vec::new());
    };
    let statistics = journal::statistics(&path)?;
    let named = statistics.skipped_lines.iter().map(|line| {
        let place = SourceLocation::new(project.relative(&path), *line);
        Detail::at(place, "is not a JSON object, or is too long to be read")
    });
    let fix = "fix the lines by hand: annals never rewrites the journal";
    let count = statistics.skipped;
    let row = AuditRow::counted(STORE, "lines", count, named.collect(), fix);
    Ok(vec![row])
}

/// Searches the end of the journal for secrets.
pub(crate) fn secrets(project: &Project, _warnings: &mut Vec<Warning>) -> Result<Vec<AuditRow>> {
    let Some(path) = path(project) else {
        return Ok(Vec::new());
    };
    let (first, tail) = tail(&path).at("read", &path)?;
    let text = String::from_utf8_lossy(&tail);
    let found = files::in_text(project.relative(&path), &text, first);
    Ok(vec![files::row(STORE, found)])
}

/// Returns the path of the journal, if it exists; without a home directory, there is none.
fn path(project: &Project) -> Option<PathBuf> {
    let path = journal::default_path(&project.environment).ok()?;
    path.is_file().then_some(path)
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
