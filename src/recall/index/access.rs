//! Selects the index that a search uses: the cached one, a rebuilt one, or one in memory.

use std::path::Path;
use std::thread;

use rusqlite::{ErrorCode, Result as SqlResult};

use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::project::Project;
use crate::recall::index::files::Files;
use crate::recall::index::schema::Index;
use crate::warning::Warning;

/// Maximum size of files indexed while a caller waits, in bytes.
const MAX_URGENT_BYTES: u64 = if cfg!(test) { 2048 } else { 4 * 1024 * 1024 };

/// Name of the index file in `.annals/`.
const NAME: &str = "index.db";

/// State of the index file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheState {
    /// It does not exist yet.
    Absent,
    /// It was created by this version and is intact.
    Sound,
    /// It is damaged, foreign or of another version: the next search rebuilds it.
    Unusable,
}

/// Checks the index file without updating it.
pub fn cache_state(project: &Project) -> CacheState {
    let path = project.storage().own_file(NAME);
    if !path.exists() {
        return CacheState::Absent;
    }
    let quick_check = Index::open(&path).and_then(|index| match index {
        Some(index) => index.db.query_row("PRAGMA quick_check", [], |row| row.get::<_, String>(0)),
        None => Ok(String::new()),
    });
    match quick_check {
        Ok(result) if result == "ok" => CacheState::Sound,
        _ => CacheState::Unusable,
    }
}

/// The result of a search, and its extent.
pub(crate) struct SearchOutcome<T> {
    pub(crate) answer: T,
    pub(crate) warnings: Vec<Warning>,
    /// Number of newest files searched, if not all were.
    pub(crate) newest_files: Option<usize>,
}

/// Runs a search on an up-to-date index.
///
/// Problems with the index file never fail a search, since the index can be rebuilt from the files. An urgent
/// search in a large project without an index covers only the newest files, while the index is built in the
/// background.
pub(crate) fn search_index<T>(
    project: &Project,
    is_urgent: bool,
    search: impl Fn(&Index) -> SqlResult<T>,
) -> Result<SearchOutcome<T>> {
    let files = Files::list(project);
    let path = project.storage().own_file(NAME);
    let uses_index_file = !project.dry_run && files.include_project_files();
    if is_urgent && files.size() > MAX_URGENT_BYTES && !(uses_index_file && is_own_index(&path)) {
        let newest = files.newest(MAX_URGENT_BYTES);
        if uses_index_file {
            build_in_background(project);
        }
        let (answer, warnings) = search_in_memory(project, &newest, &search)?;
        return Ok(SearchOutcome { answer, warnings, newest_files: Some(newest.0.len()) });
    }
    let all = |(answer, warnings)| SearchOutcome { answer, warnings, newest_files: None };
    if uses_index_file {
        match search_index_file(&path, &files, &project.progress, &search) {
            Ok(Some(answer)) => return Ok(all(answer)),
            // Locked by another process beyond the timeout, or read-only.
            Err(error) if is_in_use(&error) => {}
            Ok(None) | Err(_) => {
                if rebuild(project, &files).is_ok()
                    && let Ok(Some(answer)) =
                        search_index_file(&path, &files, &project.progress, &search)
                {
                    return Ok(all(answer));
                }
            }
        }
    }
    search_in_memory(project, &files, &search).map(all)
}

/// Returns whether an index of ours exists, up to date or not.
fn is_own_index(path: &Path) -> bool {
    matches!(Index::open(path), Ok(Some(_)))
}

/// Builds the index in a background thread: a server lives long enough to finish it.
fn build_in_background(project: &Project) {
    let project = project.clone();
    // If it fails, the next search that is not urgent retries and reports the error.
    let build = move || rebuild(&project, &Files::list(&project)).is_ok();
    let _started = thread::Builder::new().spawn(build).is_ok();
}

/// Searches the existing index file; returns `None` if it is not ours.
fn search_index_file<T>(
    path: &Path,
    files: &Files,
    progress: &Progress,
    search: impl Fn(&Index) -> SqlResult<T>,
) -> SqlResult<Option<(T, Vec<Warning>)>> {
    let Some(mut index) = Index::open(path)? else {
        return Ok(None);
    };
    let warnings = index.update(files, progress)?;
    Ok(Some((search(&index)?, warnings)))
}

fn rebuild(project: &Project, files: &Files) -> Result<()> {
    let storage = project.storage();
    let home = storage.own_file(NAME);
    let is_intact = |path: &Path| {
        let probe = |index: &Index| {
            let result: String = index.db.query_row("PRAGMA quick_check", [], |row| row.get(0))?;
            Ok(result == "ok")
        };
        matches!(search_index_file(path, files, &project.progress, probe), Ok(Some((true, _))))
    };
    storage.rebuild_database(NAME, is_intact, |path| {
        let built = Index::create(path, &home).and_then(|mut index| {
            // Unreadable files are reported again by the next update.
            index.update(files, &project.progress)?;
            index.finish()
        });
        built.map_err(|error| {
            Error::failed(format!("cannot build the index: {error}")).at(path, None)
        })
    })
}

fn search_in_memory<T>(
    project: &Project,
    files: &Files,
    search: impl Fn(&Index) -> SqlResult<T>,
) -> Result<(T, Vec<Warning>)> {
    let run = || {
        let mut index = Index::in_memory()?;
        let warnings = index.update(files, &project.progress)?;
        Ok((search(&index)?, warnings))
    };
    run().map_err(|error: rusqlite::Error| {
        Error::failed(format!("cannot index the texts: {error}")).at(&project.root, None)
    })
}

fn is_in_use(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::ReadOnly)
    )
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::project::OpenRequest;
    use crate::project::fixture::Tree;

    /// Opens a project without an index file.
    fn project(tree: &Tree, progress: Progress) -> Project {
        Project::open(OpenRequest {
            directory: tree.at(""),
            dry_run: true,
            progress,
            ..OpenRequest::default()
        })
        .unwrap()
    }

    #[test]
    fn an_urgent_search_without_an_index_covers_the_newest_files() {
        let tree = Tree::new(&[]);
        let large = "# P\n\n- a decision\n".repeat(500);
        tree.write(".planning/PROJECT.md", large);
        tree.write(".planning/STATE.md", "# State\n\nshort\n");
        let project = project(&tree, Progress::default());
        let files = |is_urgent| {
            let count = |index: &Index| {
                let sql = "SELECT count(*) FROM files";
                index.db.query_row(sql, [], |row| row.get::<_, usize>(0))
            };
            let found = search_index(&project, is_urgent, count).unwrap();
            (found.answer, found.newest_files)
        };
        assert_eq!(files(true), (1, Some(1)));
        assert_eq!(files(false), (2, None));
    }

    #[test]
    fn indexing_many_files_reports_progress() {
        let tree = Tree::new(&[]);
        for number in 0..12 {
            let path = format!(".planning/notes/{number}.md");
            tree.write(&path, "# Note\n\nA decision.\n");
        }
        let reported = Arc::new(Mutex::new(Vec::new()));
        let reports = Arc::clone(&reported);
        let progress = Progress::watched(move |task, files| {
            reports.lock().unwrap().push((task.to_owned(), files));
            Box::new(|| ())
        });
        search_index(&project(&tree, progress), false, |_| Ok(())).unwrap();
        assert_eq!(*reported.lock().unwrap(), [("Indexing".to_owned(), 12)]);
    }
}
