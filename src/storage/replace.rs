//! Replaces one file without losing a concurrent save by another program.
//!
//! The new content is written to a temporary file beside the file. Then the two are exchanged, and the replaced
//! content is compared with the content that had been read. If they differ, another program has saved in
//! between, and its version is put back. So no save is overwritten at any time. Three limits remain:
//!
//! - A program that has the old file open and writes into it after the comparison writes into a deleted file,
//!   as with every replacement.
//! - If a program saves twice before its first save is put back, the second save is kept.
//! - Where the file system cannot exchange files (only Linux can), the file is compared and then replaced by a
//!   rename, which leaves a window of some microseconds.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{At, Error, Result};
use crate::storage::{disk, read};

/// Maximum number of attempts to put back another program's version while it keeps saving.
const MAX_ROUNDS: usize = 3;

/// The outcome of one change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeOutcome {
    /// It was applied, now or before.
    Applied,
    /// The file has neither the expected old content nor the new one, and was left unchanged.
    LeftAlone,
}

/// The outcome for a temporary file left by an interrupted write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leftover {
    /// There was none, or it was ours and has been deleted.
    Cleared,
    /// It was another program's version, and has been restored.
    Restored,
    /// It is another program's version, and is kept, because the file has been saved again since.
    Kept,
}

/// The content found at a path.
#[derive(PartialEq, Eq)]
enum Content {
    Missing,
    Bytes(Vec<u8>),
    /// A directory, a link, a pipe, or a file that is larger than any we write.
    Foreign,
}

impl Content {
    fn is(&self, content: Option<&[u8]>) -> bool {
        match self {
            Self::Missing => content.is_none(),
            Self::Bytes(bytes) => content == Some(bytes),
            Self::Foreign => false,
        }
    }
}

/// The old and the new content of a file.
#[derive(Clone, Copy)]
pub(crate) struct Replacement<'a> {
    pub(crate) old: Option<&'a [u8]>,
    pub(crate) new: Option<&'a [u8]>,
    /// The permission bits of a file that is restored.
    pub(crate) mode: Option<u32>,
}

/// Replaces a file's content; `staged` is the temporary file, and `note` is called before the two are exchanged.
pub(crate) fn replace(
    path: &Path,
    staged: &Path,
    with: Replacement,
    note: &mut dyn FnMut() -> Result<()>,
) -> Result<ChangeOutcome> {
    let now = inspect(path)?;
    if now.is(with.new) {
        return Ok(ChangeOutcome::Applied);
    }
    if !now.is(with.old) {
        return Ok(ChangeOutcome::LeftAlone);
    }
    let Some(bytes) = with.new else {
        note()?;
        return remove(path, staged, with.old);
    };
    stage(path, bytes, with.mode, staged)?;
    note()?;
    match with.old {
        None => create(path, staged),
        Some(old) => exchange(path, staged, old, bytes),
    }
}

/// Deletes the temporary file of an interrupted write; `is_complete` says whether it had been written completely.
///
/// A file with other content is another program's version, and is never deleted.
pub(crate) fn settle(
    path: &Path,
    staged: &Path,
    with: Replacement,
    is_complete: bool,
) -> Result<Leftover> {
    let left = match inspect(staged)? {
        Content::Missing => return Ok(Leftover::Cleared),
        Content::Bytes(bytes) => bytes,
        Content::Foreign => return Ok(Leftover::Kept),
    };
    let is_part =
        |content: Option<&[u8]>| !is_complete && content.is_some_and(|c| c.starts_with(&left));
    let is_ours = [with.old, with.new]
        .into_iter()
        .any(|content| content == Some(left.as_slice()) || is_part(content));
    if is_ours {
        return discard(staged).map(|()| Leftover::Cleared);
    }
    if !inspect(path)?.is(with.new) {
        return Ok(Leftover::Kept);
    }
    match with.new {
        None => put_back_removed(path, staged)?,
        Some(new) => {
            let theirs = Content::Bytes(left);
            put_back(path, staged, theirs, new)?;
        }
    }
    Ok(Leftover::Restored)
}

fn create(path: &Path, staged: &Path) -> Result<ChangeOutcome> {
    let outcome = match disk::rename_to_vacant(staged, path) {
        Ok(true) => return Ok(ChangeOutcome::Applied),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => ChangeOutcome::LeftAlone,
        Err(error) => return Err(error).at("create", path),
        Ok(false) if inspect(path)? == Content::Missing => {
            disk::rename(staged, path).at("create", path)?;
            return Ok(ChangeOutcome::Applied);
        }
        Ok(false) => ChangeOutcome::LeftAlone,
    };
    discard(staged).map(|()| outcome)
}

fn exchange(path: &Path, staged: &Path, old: &[u8], new: &[u8]) -> Result<ChangeOutcome> {
    match disk::exchange(staged, path) {
        Ok(true) => {}
        Err(error) if read::is_absent(&error) => {
            return discard(staged).map(|()| ChangeOutcome::LeftAlone);
        }
        Err(error) => return Err(error).at("replace", path),
        Ok(false) if inspect(path)?.is(Some(old)) => {
            disk::rename(staged, path).at("replace", path)?;
            return Ok(ChangeOutcome::Applied);
        }
        Ok(false) => return discard(staged).map(|()| ChangeOutcome::LeftAlone),
    }
    let replaced = inspect(staged)?;
    if replaced.is(Some(old)) {
        return discard(staged).map(|()| ChangeOutcome::Applied);
    }
    put_back(path, staged, replaced, new).map(|()| ChangeOutcome::LeftAlone)
}

/// Restores another program's version, or its later version if it has overwritten ours meanwhile.
fn put_back(path: &Path, staged: &Path, theirs: Content, ours: &[u8]) -> Result<()> {
    let mut expected = Content::Bytes(ours.to_vec());
    let mut beside = theirs;
    for _ in 0..MAX_ROUNDS {
        if !disk::exchange(staged, path).at("put back", path)? {
            break;
        }
        let replaced = inspect(staged)?;
        if replaced == expected && replaced != Content::Foreign {
            return discard(staged);
        }
        expected = beside;
        beside = replaced;
    }
    Err(Error::refused("keeps changing while annals tries to write it")
        .at(path, None)
        .hint(format!("an earlier saved version is in {}", staged.display())))
}

/// Moves a file aside, and deletes it if its content has not changed since it was read.
fn remove(path: &Path, staged: &Path, old: Option<&[u8]>) -> Result<ChangeOutcome> {
    match disk::rename_to_vacant(path, staged) {
        Ok(true) => {}
        Ok(false) => {
            disk::remove_file(path).at("remove", path)?;
            return Ok(ChangeOutcome::Applied);
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ChangeOutcome::LeftAlone),
        Err(error) => return Err(error).at("remove", path),
    }
    if inspect(staged)?.is(old) {
        return discard(staged).map(|()| ChangeOutcome::Applied);
    }
    put_back_removed(path, staged).map(|()| ChangeOutcome::LeftAlone)
}

/// Moves back a file that was moved aside, unless its path exists again with a newer file.
fn put_back_removed(path: &Path, staged: &Path) -> Result<()> {
    match disk::rename_to_vacant(staged, path) {
        Ok(true) => Ok(()),
        Ok(false) => disk::rename(staged, path).at("put back", path),
        Err(error) => Err(error)
            .at("put back", path)
            .map_err(|error| error.hint(format!("the earlier version is in {}", staged.display()))),
    }
}

/// Writes the new content beside the file, with its permissions, and flushes it.
fn stage(path: &Path, bytes: &[u8], mode: Option<u32>, staged: &Path) -> Result<()> {
    let file = disk::create_new(staged).at("create", staged)?;
    fill(&file, path, bytes, mode, staged).map_err(|error| match discard(staged) {
        Ok(()) => error,
        Err(_) => error.hint(format!("{} may be left over", staged.display())),
    })
}

fn fill(file: &File, path: &Path, bytes: &[u8], mode: Option<u32>, staged: &Path) -> Result<()> {
    disk::write(file, bytes).at("write", staged)?;
    match (fs::metadata(path), mode) {
        (Ok(replaced), _) => disk::copy_permissions(file, &replaced),
        (Err(_), Some(mode)) => disk::set_mode(file, mode),
        (Err(_), None) => Ok(()),
    }
    .at("set the permissions of", staged)?;
    disk::sync(file).at("write", staged)
}

fn discard(staged: &Path) -> Result<()> {
    disk::remove_file(staged).at("remove", staged)
}

fn inspect(path: &Path) -> Result<Content> {
    match fs::symlink_metadata(path) {
        Err(error) if read::is_absent(&error) => return Ok(Content::Missing),
        metadata => {
            let metadata = metadata.at("read", path)?;
            if !metadata.is_file() || metadata.len() > read::MAX_FILE {
                return Ok(Content::Foreign);
            }
        }
    }
    Ok(read::uncounted_bytes(path)?.map_or(Content::Missing, Content::Bytes))
}

#[cfg(all(test, target_os = "linux"))]
#[expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests act as another program that saves"
)]
mod tests {
    use super::*;

    const WITH: Replacement = Replacement { old: Some(b"old"), new: Some(b"new"), mode: None };

    struct DurabilityTarget {
        folder: tempfile::TempDir,
    }

    impl DurabilityTarget {
        fn new(content: &str) -> Self {
            let place = Self { folder: tempfile::tempdir().unwrap() };
            fs::write(place.path(), content).unwrap();
            place
        }

        fn path(&self) -> std::path::PathBuf {
            self.folder.path().join("file")
        }

        fn staged(&self) -> std::path::PathBuf {
            self.folder.path().join("staged")
        }

        /// Changes the file just before the exchange, and returns the content of both files after that.
        fn left_alone(
            &self,
            with: Replacement,
            change: impl Fn(&Path),
        ) -> (Option<String>, Option<String>) {
            let mut note = || {
                change(&self.path());
                Ok(())
            };
            let outcome = replace(&self.path(), &self.staged(), with, &mut note).unwrap();
            assert_eq!(outcome, ChangeOutcome::LeftAlone);
            self.texts()
        }

        /// Returns the content of the file and of the temporary file.
        fn texts(&self) -> (Option<String>, Option<String>) {
            let text = |path| fs::read_to_string(path).ok();
            (text(self.path()), text(self.staged()))
        }
    }

    fn some(path: &str, staged: Option<&str>) -> (Option<String>, Option<String>) {
        (Some(path.to_owned()), staged.map(str::to_owned))
    }

    #[test]
    fn a_save_between_reading_and_exchanging_is_put_back() {
        for with in [WITH, Replacement { new: None, ..WITH }] {
            let place = DurabilityTarget::new("old");
            let (path, staged) = (place.path(), place.staged());
            let outcome = replace(&path, &staged, with, &mut || Ok(())).unwrap();
            assert_eq!(outcome, ChangeOutcome::Applied);
            let new = with.new.map(|_| "new".to_owned());
            assert_eq!(place.texts(), (new, None));

            let place = DurabilityTarget::new("old");
            let left = place.left_alone(with, |path| fs::write(path, "theirs").unwrap());
            assert_eq!(left, some("theirs", None));
        }
    }

    #[test]
    fn a_file_created_or_deleted_meanwhile_is_left_alone() {
        let with = Replacement { old: None, ..WITH };
        let place = DurabilityTarget::new("old");
        fs::remove_file(place.path()).unwrap();
        let left = place.left_alone(with, |path| fs::write(path, "theirs").unwrap());
        assert_eq!(left, some("theirs", None));

        let left =
            DurabilityTarget::new("old").left_alone(WITH, |path| fs::remove_file(path).unwrap());
        assert_eq!(left, (None, None));
    }

    #[test]
    fn a_kill_between_the_exchanges_loses_no_save() {
        let settled = |path: &str, staged: &str, is_complete| {
            let place = DurabilityTarget::new(path);
            fs::write(place.staged(), staged).unwrap();
            let left = settle(&place.path(), &place.staged(), WITH, is_complete).unwrap();
            (left, place.texts())
        };
        for (path, staged) in [("old", "new"), ("new", "old"), ("theirs", "old")] {
            let cleared = (Leftover::Cleared, some(path, None));
            assert_eq!(settled(path, staged, true), cleared);
        }
        let incomplete = (Leftover::Cleared, some("old", None));
        assert_eq!(settled("old", "ne", false), incomplete);
        // Once ours was complete, a file that is a prefix of it is another program's version.
        let back = (Leftover::Restored, some("ne", None));
        assert_eq!(settled("new", "ne", true), back);
        let back = (Leftover::Restored, some("theirs", None));
        assert_eq!(settled("new", "theirs", true), back);
        let kept = (Leftover::Kept, some("newer", Some("theirs")));
        assert_eq!(settled("newer", "theirs", true), kept);
    }

    #[test]
    fn the_newest_of_two_saves_is_kept() {
        let place = DurabilityTarget::new("second");
        fs::write(place.staged(), "first").unwrap();
        // Another program saved before the exchange, and again before its first save was put back.
        let first = Content::Bytes(b"first".to_vec());
        put_back(&place.path(), &place.staged(), first, b"new").unwrap();
        assert_eq!(place.texts(), some("second", None));
    }
}
