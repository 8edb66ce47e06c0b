//! Searches the transcripts of a project through an index in the user's cache folder.

use crate::error::Result;
use crate::project::Project;
use crate::search::index::{Answer, Asked, Cache, IndexFile, Passage};
use crate::sessions::conversation::{Session, UnitKind};
use crate::sessions::listing::transcripts;
use crate::sessions::switch::index_storage;
use crate::sessions::{ensure_on, read};
use crate::text::quantity;
use crate::warning::Warning;

/// Maximum size of the transcripts that are read for a search without an index, in bytes.
const MAX_WITHOUT_INDEX: u64 = 64 * 1024 * 1024;

/// Searches the transcripts of a project; the source of a hit is the number of its client.
pub(crate) fn search(project: &Project, asked: &Asked<'_>) -> Result<Answer> {
    ensure_on(project)?;
    let storage = index_storage(project).filter(|_| !project.dry_run);
    let storage = storage.filter(|storage| storage.write_cache("used", b"").is_ok());
    let has_index = storage.is_some();
    let files = files(project, has_index);
    let count = quantity(files.len(), "newest session");
    let progress = project.progress.clone();
    let reader = |file: &IndexFile| Ok(read(file)?.map(passages));
    let cache = Cache { storage, files, reader, progress };
    let mut answer = cache.search(&Asked { sources: &[0, 1, 2, 3], extras: &[], ..*asked })?;
    if !has_index && !asked.is_urgent {
        let message = format!("cannot be written, so there is no index: {count} were searched");
        let folder = project.environment.cache_dir().unwrap_or_default();
        answer.warnings.push(Warning::file(&folder, message));
    }
    Ok(answer)
}

/// Returns the transcripts, sorted by name; without an index, those that can be read at once, at least one.
fn files(project: &Project, has_index: bool) -> Vec<IndexFile> {
    let mut files = transcripts(project).newest;
    let mut bytes = 0;
    files.retain(|file| {
        bytes += file.size;
        has_index || bytes <= MAX_WITHOUT_INDEX || bytes == file.size
    });
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files
}

/// Returns the units of a session as passages, each under what the user had asked.
fn passages(session: Session) -> Vec<Passage> {
    let passages = session.units.into_iter().map(|unit| Passage {
        headings: match unit.kind {
            UnitKind::Asked => Vec::new(),
            _ => vec![unit.question],
        },
        line: unit.line,
        id: session.session.clone(),
        text: unit.text,
        date: unit.date,
        flags: 0,
        weight: match unit.kind {
            // A question is answered by what follows it, which stands under its words, too.
            UnitKind::Asked => 0.7,
            UnitKind::Worked => 0.5,
            _ => 1.0,
        },
    });
    passages.collect()
}
