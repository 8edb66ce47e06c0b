//! Which cache a search uses: the one that is there, one built in its place, or one in memory.

use std::path::Path;

use rusqlite::ErrorCode;
use rusqlite::Result as SqlResult;

use crate::error::Error;
use crate::error::Result;
use crate::project::Project;
use crate::recall::index::files::Files;
use crate::recall::index::schema::Index;
use crate::warning::Warning;

/// The cache's file in `.annals/`.
const NAME: &str = "index.db";

/// How the cache is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheState {
    /// There is none yet.
    Absent,
    /// It is ours and whole.
    Sound,
    /// It is damaged, foreign or of another version: the next search builds it again.
    Unusable,
}

/// Looks at the cache without bringing it up to date.
pub fn cache_state(project: &Project) -> CacheState {
    let path = project.storage().own_file(NAME);
    if !path.exists() {
        return CacheState::Absent;
    }
    let is_sound = Index::open(&path).and_then(|index| match index {
        Some(index) => index
            .db
            .query_row("PRAGMA quick_check", [], |row| row.get::<_, String>(0)),
        None => Ok(String::new()),
    });
    match is_sound {
        Ok(told) if told == "ok" => CacheState::Sound,
        _ => CacheState::Unusable,
    }
}

/// Runs a search on a cache that is up to date.
///
/// Whatever is wrong with the cache, the search has its answer: the files are the truth.
pub(crate) fn searched<T>(
    project: &Project,
    search: impl Fn(&Index) -> SqlResult<T>,
) -> Result<(T, Vec<Warning>)> {
    let files = Files::of(project);
    if !project.dry_run && files.are_of_a_project() {
        let path = project.storage().own_file(NAME);
        match kept(&path, &files, &search) {
            Ok(Some(answer)) => return Ok(answer),
            // Another process holds it longer than anyone should wait, or it is write-protected.
            Err(error) if is_in_use(&error) => {}
            Ok(None) | Err(_) => {
                if rebuild(project, &files).is_ok()
                    && let Ok(Some(answer)) = kept(&path, &files, &search)
                {
                    return Ok(answer);
                }
            }
        }
    }
    in_memory(&files, &search).map_err(|error| {
        Error::failed(format!("the texts cannot be indexed: {error}")).at(&project.root, None)
    })
}

/// Uses the cache that is there; nothing where none of ours is.
fn kept<T>(
    path: &Path,
    files: &Files,
    search: impl Fn(&Index) -> SqlResult<T>,
) -> SqlResult<Option<(T, Vec<Warning>)>> {
    let Some(mut index) = Index::open(path)? else {
        return Ok(None);
    };
    let warnings = index.update(files)?;
    Ok(Some((search(&index)?, warnings)))
}

fn rebuild(project: &Project, files: &Files) -> Result<()> {
    let storage = project.storage();
    let home = storage.own_file(NAME);
    let is_good = |path: &Path| {
        let probe = |index: &Index| {
            let whole: String = index
                .db
                .query_row("PRAGMA quick_check", [], |row| row.get(0))?;
            Ok(whole == "ok")
        };
        matches!(kept(path, files, probe), Ok(Some((true, _))))
    };
    storage.rebuild_database(NAME, is_good, |path| {
        let built = Index::create(path, &home).and_then(|mut index| {
            // What could not be read is told when it is looked for again.
            index.update(files)?;
            index.finish()
        });
        built.map_err(|error| Error::failed(format!("cannot be built: {error}")).at(path, None))
    })
}

fn in_memory<T>(
    files: &Files,
    search: impl Fn(&Index) -> SqlResult<T>,
) -> SqlResult<(T, Vec<Warning>)> {
    let mut index = Index::in_memory()?;
    let warnings = index.update(files)?;
    Ok((search(&index)?, warnings))
}

fn is_in_use(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::ReadOnly)
    )
}
