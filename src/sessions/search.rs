//! Searches the transcripts of a project through an index in the user's cache folder.

use crate::error::Result;
use crate::project::Project;
use crate::search::index::{
    Answer, Asked, Cache, IndexFile, Passage, PassageReader, in_background,
};
use crate::sessions::client::Client;
use crate::sessions::conversation::{Session, UnitKind};
use crate::sessions::listing::transcripts;
use crate::sessions::switch::index_storage;
use crate::sessions::{ensure_on, read_file};
use crate::text::quantity;
use crate::warning::Warning;

/// Name of the index file.
const INDEX: &str = "index.db";

/// Maximum size of the transcripts that are read while a caller waits, in bytes.
const MAX_URGENT_BYTES: u64 = 64 * 1024 * 1024;

/// Searches the transcripts of a project; the numbers of their sources begin with `first`, one for each client.
pub(crate) fn search(
    project: &Project,
    asked: &Asked<'_>,
    first: usize,
    is_urgent: bool,
) -> Result<Answer> {
    ensure_on(project)?;
    let mut files = files(project, first);
    let storage = index_storage(project).filter(|_| !project.dry_run);
    let storage = storage.filter(|storage| storage.write_cache("used", b"").is_ok());
    let has_index = storage.as_ref().is_some_and(|storage| storage.own_file(INDEX).is_file());
    let is_part = storage.is_none() || is_urgent && !has_index;
    let is_part = is_part && keep_newest(&mut files);
    if is_part && storage.is_some() {
        let project = project.clone();
        in_background(move || build(&project, first));
    }
    let storage = storage.filter(|_| !is_part);
    let cache = Cache { storage: storage.as_ref(), name: INDEX, progress: &project.progress };
    let sources: Vec<usize> = (first..first + Client::ALL.len()).collect();
    let asked = Asked { sources: &sources, extras: &[], ..*asked };
    let mut answer = cache.search(&files, &TranscriptReader { first }, &asked)?;
    answer.newest_files = is_part.then_some(files.len());
    if storage.is_none() && !is_urgent {
        let count = quantity(files.len(), "newest session");
        let message = format!("cannot be written, so there is no index: {count} were searched");
        let folder = project.environment.cache_dir().unwrap_or_default();
        answer.warnings.push(Warning::file(&folder, message));
    }
    Ok(answer)
}

/// Builds the index for searches to come; if it fails, the next one does it.
fn build(project: &Project, first: usize) {
    if let Some(storage) = index_storage(project) {
        let cache = Cache { storage: Some(&storage), name: INDEX, progress: &project.progress };
        let files = files(project, first);
        let _is_built = cache.rebuild(&files, &TranscriptReader { first }).is_ok();
    }
}

/// Returns the transcripts as files of an index, sorted by name.
fn files(project: &Project, first: usize) -> Vec<IndexFile> {
    let files = transcripts(project).newest.into_iter().map(|transcript| IndexFile {
        source: first + transcript.client as usize,
        name: transcript.path.to_string_lossy().into_owned(),
        path: transcript.path,
        size: transcript.size,
        stamp: transcript.stamp,
        modified: transcript.modified,
    });
    let mut files: Vec<IndexFile> = files.collect();
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files
}

/// Keeps the newest files that can be read while a caller waits, at least one; returns whether others are left out.
fn keep_newest(files: &mut Vec<IndexFile>) -> bool {
    let mut newest: Vec<(_, u64)> = files.iter().map(|file| (file.modified, file.size)).collect();
    newest.sort_by(|one, other| other.cmp(one));
    let mut bytes = 0;
    let oldest = newest.iter().take_while(|(_, size)| {
        bytes += size;
        bytes <= MAX_URGENT_BYTES || bytes == *size
    });
    let oldest = oldest.last().and_then(|(modified, _)| *modified);
    let count = files.len();
    files.retain(|file| file.modified >= oldest);
    files.len() < count
}

/// Reads transcripts as passages.
struct TranscriptReader {
    /// Number of the first client's source.
    first: usize,
}

impl PassageReader for TranscriptReader {
    fn passages(&self, file: &IndexFile) -> Result<Option<Vec<Passage>>> {
        let client = Client::ALL[file.source - self.first];
        Ok(read_file(client, &file.path)?.map(passages))
    }
}

/// Returns the units of a session as passages, each under what the user had asked.
fn passages(session: Session) -> Vec<Passage> {
    let id = session.session;
    let passages = session.units.into_iter().map(|unit| Passage {
        headings: match unit.kind {
            UnitKind::Asked => Vec::new(),
            _ => vec![unit.question],
        },
        line: unit.line,
        id: id.clone(),
        text: unit.text,
        date: unit.date,
        flags: 0,
        weight: 1.0,
    });
    passages.collect()
}
