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

use std::fs::File;
use std::io::ErrorKind;

use crate::error::{At, Error, Result};
use crate::storage::disk;
use crate::storage::disk::{Access, Content, Create, Existing, Spot};
use crate::storage::read;

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

/// The old and the new content of a file.
#[derive(Clone, Copy)]
pub(crate) struct Replacement<'a> {
    pub(crate) old: Option<&'a [u8]>,
    pub(crate) new: Option<&'a [u8]>,
    /// The permission bits of a file that is restored.
    pub(crate) mode: Option<u32>,
}

/// Replaces a file's content; `staged` is the temporary file.
pub(crate) fn replace(file: &Spot, staged: &Spot, with: Replacement) -> Result<ChangeOutcome> {
    let now = content(file)?;
    if now.is(with.new) {
        return Ok(ChangeOutcome::Applied);
    }
    if !now.is(with.old) {
        return Ok(ChangeOutcome::LeftAlone);
    }
    let Some(new) = with.new else {
        return remove(file, staged, with.old);
    };
    let temporary = staged.open(Access::Write, Create::New).at("create", &staged.path)?;
    if let Err(error) = fill(&temporary, new, &now, with.mode).at("write", &staged.path) {
        return Err(match discard(staged) {
            Ok(()) => error,
            Err(_) => error.hint(format!("{} may be left over", staged.path.display())),
        });
    }
    match with.old {
        None => create(file, staged),
        Some(old) => exchange(file, staged, old, new),
    }
}

/// Deletes the temporary file of an interrupted write.
///
/// A file with other content is another program's version, and is never deleted. If the file has the new content,
/// the two had been exchanged, or the file had been moved aside to be deleted; otherwise the temporary file may have
/// been written in part.
pub(crate) fn settle(file: &Spot, staged: &Spot, with: Replacement) -> Result<Leftover> {
    let left = match content(staged)? {
        Content::Missing => return Ok(Leftover::Cleared),
        Content::File(bytes, _) => bytes,
        Content::Other => return Ok(Leftover::Kept),
    };
    let has_new = content(file)?.is(with.new);
    let is_part = !has_new && with.new.is_some_and(|new| new.starts_with(&left));
    if is_part || [with.old, with.new].contains(&Some(&left)) {
        return discard(staged).map(|()| Leftover::Cleared);
    }
    if !has_new {
        return Ok(Leftover::Kept);
    }
    match with.new {
        None => put_back_removed(file, staged)?,
        Some(new) => put_back(file, staged, left, new)?,
    }
    Ok(Leftover::Restored)
}

fn create(file: &Spot, staged: &Spot) -> Result<ChangeOutcome> {
    let outcome = match staged.rename_to(file, Existing::Refuse) {
        Ok(true) => return Ok(ChangeOutcome::Applied),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => ChangeOutcome::LeftAlone,
        Err(error) => return Err(error).at("create", &file.path),
        Ok(false) if matches!(content(file)?, Content::Missing) => {
            staged.rename_to(file, Existing::Replace).at("create", &file.path)?;
            return Ok(ChangeOutcome::Applied);
        }
        Ok(false) => ChangeOutcome::LeftAlone,
    };
    discard(staged).map(|()| outcome)
}

fn exchange(file: &Spot, staged: &Spot, old: &[u8], new: &[u8]) -> Result<ChangeOutcome> {
    match staged.rename_to(file, Existing::Exchange) {
        Ok(true) => {}
        Err(error) if read::is_absent(&error) => {
            return discard(staged).map(|()| ChangeOutcome::LeftAlone);
        }
        Err(error) => return Err(error).at("replace", &file.path),
        Ok(false) if content(file)?.is(Some(old)) => {
            staged.rename_to(file, Existing::Replace).at("replace", &file.path)?;
            return Ok(ChangeOutcome::Applied);
        }
        Ok(false) => return discard(staged).map(|()| ChangeOutcome::LeftAlone),
    }
    let replaced = match content(staged)? {
        replaced if replaced.is(Some(old)) => {
            return discard(staged).map(|()| ChangeOutcome::Applied);
        }
        Content::File(bytes, _) => bytes,
        Content::Missing | Content::Other => Vec::new(),
    };
    put_back(file, staged, replaced, new).map(|()| ChangeOutcome::LeftAlone)
}

/// Restores another program's version, or its later version if it has overwritten ours meanwhile.
fn put_back(file: &Spot, staged: &Spot, theirs: Vec<u8>, ours: &[u8]) -> Result<()> {
    let mut expected = ours.to_vec();
    let mut beside = theirs;
    for _ in 0..MAX_ROUNDS {
        if !staged.rename_to(file, Existing::Exchange).at("put back", &file.path)? {
            break;
        }
        match content(staged)? {
            Content::File(replaced, _) if replaced == expected => return discard(staged),
            Content::File(replaced, _) => expected = std::mem::replace(&mut beside, replaced),
            Content::Missing | Content::Other => break,
        }
    }
    Err(Error::refused("keeps changing while annals tries to write it")
        .at(&file.path, None)
        .hint(format!("an earlier saved version is in {}", staged.path.display())))
}

/// Moves a file aside, and deletes it if its content has not changed since it was read.
fn remove(file: &Spot, staged: &Spot, old: Option<&[u8]>) -> Result<ChangeOutcome> {
    match file.rename_to(staged, Existing::Refuse) {
        Ok(true) => {}
        Ok(false) => {
            return file.remove().at("remove", &file.path).map(|()| ChangeOutcome::Applied);
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ChangeOutcome::LeftAlone),
        Err(error) => return Err(error).at("remove", &file.path),
    }
    if content(staged)?.is(old) {
        return discard(staged).map(|()| ChangeOutcome::Applied);
    }
    put_back_removed(file, staged).map(|()| ChangeOutcome::LeftAlone)
}

/// Moves back a file that was moved aside, unless its path exists again with a newer file.
fn put_back_removed(file: &Spot, staged: &Spot) -> Result<()> {
    let moved = staged.rename_to(file, Existing::Refuse).at("put back", &file.path);
    let is_back = moved.map_err(|error| {
        error.hint(format!("the earlier version is in {}", staged.path.display()))
    })?;
    if is_back {
        return Ok(());
    }
    staged.rename_to(file, Existing::Replace).at("put back", &file.path).map(drop)
}

/// Writes the new content, with the permissions of the replaced file or those recorded, and flushes it.
fn fill(file: &File, new: &[u8], now: &Content, mode: Option<u32>) -> std::io::Result<()> {
    disk::write(file, new)?;
    match (now, mode) {
        (Content::File(_, replaced), _) => disk::copy_permissions(file, replaced)?,
        (_, Some(mode)) => disk::set_mode(file, mode)?,
        (_, None) => {}
    }
    disk::sync(file)
}

fn discard(staged: &Spot) -> Result<()> {
    staged.remove().at("remove", &staged.path)
}

fn content(spot: &Spot) -> Result<Content> {
    spot.content().at("read", &spot.path)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the tests act as another program that saves")]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    const WITH: Replacement = Replacement { old: Some(b"old"), new: Some(b"new"), mode: None };

    struct Place {
        _folder: tempfile::TempDir,
        root: PathBuf,
    }

    impl Place {
        fn new(content: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = fs::canonicalize(folder.path()).unwrap();
            fs::write(root.join("file"), content).unwrap();
            Self { _folder: folder, root }
        }

        fn with_staged(content: &str, staged: &str) -> Self {
            let place = Self::new(content);
            fs::write(place.root.join("staged"), staged).unwrap();
            place
        }

        fn file(&self) -> Spot {
            Spot::new(&self.root.join("file")).unwrap()
        }

        fn staged(&self) -> Spot {
            self.file().beside("staged")
        }

        /// Returns the content of the file and of the temporary file.
        fn texts(&self) -> (Option<String>, Option<String>) {
            let text = |name| fs::read_to_string(self.root.join(name)).ok();
            (text("file"), text("staged"))
        }
    }

    fn some(path: &str, staged: Option<&str>) -> (Option<String>, Option<String>) {
        (Some(path.to_owned()), staged.map(str::to_owned))
    }

    #[test]
    fn only_the_expected_content_is_replaced() {
        for with in [WITH, Replacement { new: None, ..WITH }] {
            let place = Place::new("old");
            let replaced = || replace(&place.file(), &place.staged(), with).unwrap();
            assert_eq!(replaced(), ChangeOutcome::Applied);
            assert_eq!(place.texts(), (with.new.map(|_| "new".to_owned()), None));
            assert_eq!(replaced(), ChangeOutcome::Applied);
            fs::write(place.root.join("file"), "theirs").unwrap();
            assert_eq!(replaced(), ChangeOutcome::LeftAlone);
            assert_eq!(place.texts(), some("theirs", None));
        }
    }

    #[test]
    fn a_save_between_reading_and_exchanging_is_put_back() {
        let place = Place::with_staged("theirs", "new");
        let outcome = exchange(&place.file(), &place.staged(), b"old", b"new").unwrap();
        assert_eq!((outcome, place.texts()), (ChangeOutcome::LeftAlone, some("theirs", None)));
        let place = Place::new("theirs");
        let outcome = remove(&place.file(), &place.staged(), Some(b"old")).unwrap();
        assert_eq!((outcome, place.texts()), (ChangeOutcome::LeftAlone, some("theirs", None)));
    }

    #[test]
    fn a_file_created_or_deleted_meanwhile_is_left_alone() {
        let place = Place::with_staged("theirs", "new");
        let outcome = create(&place.file(), &place.staged()).unwrap();
        assert_eq!((outcome, place.texts()), (ChangeOutcome::LeftAlone, some("theirs", None)));
        let place = Place::with_staged("old", "new");
        fs::remove_file(place.root.join("file")).unwrap();
        let outcome = exchange(&place.file(), &place.staged(), b"old", b"new").unwrap();
        assert_eq!((outcome, place.texts()), (ChangeOutcome::LeftAlone, (None, None)));
    }

    #[test]
    fn a_kill_between_the_exchanges_loses_no_save() {
        let settled = |path: &str, staged: &str| {
            let place = Place::with_staged(path, staged);
            let left = settle(&place.file(), &place.staged(), WITH).unwrap();
            (left, place.texts())
        };
        for (path, staged) in [("old", "new"), ("old", "ne"), ("new", "old"), ("theirs", "old")] {
            assert_eq!(settled(path, staged), (Leftover::Cleared, some(path, None)));
        }
        // Once the files were exchanged, a file that is a prefix of ours is another program's version.
        for theirs in ["ne", "theirs"] {
            assert_eq!(settled("new", theirs), (Leftover::Restored, some(theirs, None)));
        }
        let kept = (Leftover::Kept, some("newer", Some("theirs")));
        assert_eq!(settled("newer", "theirs"), kept);
        let place = Place::with_staged("", "theirs");
        fs::remove_file(place.root.join("file")).unwrap();
        let deleted = Replacement { new: None, ..WITH };
        let left = settle(&place.file(), &place.staged(), deleted).unwrap();
        assert_eq!((left, place.texts()), (Leftover::Restored, some("theirs", None)));
    }

    #[test]
    fn the_newest_of_two_saves_is_kept() {
        let place = Place::with_staged("second", "first");
        // Another program saved before the exchange, and again before its first save was put back.
        put_back(&place.file(), &place.staged(), b"first".to_vec(), b"new").unwrap();
        assert_eq!(place.texts(), some("second", None));
    }
}
