//! Applies the changes of an operation one by one, each checked against the expected content, and reverts them.
//!
//! One file is replaced without losing a concurrent save by another program.
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

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{At, Error, Result};
use crate::storage::boundary::Root;
use crate::storage::changes::Change;
use crate::storage::disk::{Access, Content, Create, Existing, Spot, Visibility};
use crate::storage::record::{APPLIED, LEFT_ALONE, Pending, REVERTED, Signer, WAITING};
use crate::storage::{append, disk, read};
use crate::warning::Warning;

/// Applies all changes of a new operation and closes it; if one fails, the earlier ones are reverted.
///
/// Returns an error to report if no change was applied, because a file has changed since it was read.
pub(crate) fn apply(root: &Root, mut pending: Pending, signer: &Signer) -> Result<Option<Error>> {
    match run(root, &mut pending, false) {
        Ok(left) => match left.first() {
            None => pending.close(signer).map(|()| None),
            Some(path) => {
                let conflict =
                    Error::refused("changed while annals was working, so nothing was written")
                        .about(&path.place.file)
                        .hint("run it again");
                revert(root, pending, signer, conflict).map(Some)
            }
        },
        Err(failure) => {
            // The first change that is not marked failed, but it may have replaced the file before that.
            let mut changes = pending.record.changes.iter().enumerate();
            let failed = changes.find(|(index, _)| pending.mark(*index) == WAITING);
            if let Some((index, _)) = failed.filter(|(_, change)| has_replaced(root, change)) {
                pending.set_backward()?;
                pending.set_mark(index, APPLIED)?;
            }
            Err(revert(root, pending, signer, failure).unwrap_or_else(|failure| failure))
        }
    }
}

/// Reverts all applied changes after a failure; returns the failure, with a hint if not all could be reverted.
fn revert(root: &Root, mut pending: Pending, signer: &Signer, failure: Error) -> Result<Error> {
    let skipped = pending.set_backward().and_then(|()| run(root, &mut pending, true));
    match skipped.and_then(|skipped| pending.close(signer).map(|()| skipped)) {
        Ok(skipped) if skipped.is_empty() => Ok(failure),
        Ok(skipped) => Err(failure.hint(format!(
            "rolled back, except {}, which changed in the meantime",
            skipped[0].place.file.display()
        ))),
        Err(second) => Err(failure.hint(format!(
            "not everything could be rolled back ({second}); the next command that writes completes the rollback"
        ))),
    }
}

/// Completes an interrupted operation in its direction; warns of paths that had changed in the meantime.
pub(crate) fn finish(root: &Root, mut pending: Pending, signer: &Signer) -> Result<Vec<Warning>> {
    let outcome = if pending.record.is_backward() { "rolled back" } else { "completed" };
    let message = format!(
        "`{}` (operation {}) had been interrupted and has now been {outcome}",
        pending.record.operation, pending.record.id
    );
    let mut warnings = vec![Warning::file(&pending.path, message)];
    warnings.extend(settle_all(root, &mut pending)?);
    warnings.extend(run(root, &mut pending, true)?);
    pending.close(signer)?;
    Ok(warnings)
}

/// Applies the waiting changes, or reverts the applied ones; returns a warning for each file that was left alone.
///
/// A new operation stops at the first of them; one that is `resumed` or reverted goes on.
fn run(root: &Root, pending: &mut Pending, resumed: bool) -> Result<Vec<Warning>> {
    let is_backward = pending.record.is_backward();
    let (due, done) = if is_backward { (APPLIED, REVERTED) } else { (WAITING, APPLIED) };
    let count = pending.record.changes.len();
    let mut left = Vec::new();
    for step in 0..count {
        let index = if is_backward { count - 1 - step } else { step };
        let change = &pending.record.changes[index];
        let planned = match is_backward {
            false => Some(Cow::Borrowed(change)),
            true => change.inverse().map(Cow::Owned),
        };
        let Some(planned) = planned.filter(|_| pending.mark(index) == due) else {
            continue;
        };
        if apply_change(root, &planned, &pending.temporary(index, is_backward), resumed)? {
            pending.set_mark(index, done)?;
            continue;
        }
        left.push(left_alone(root, change));
        pending.set_mark(index, LEFT_ALONE)?;
        if !resumed {
            return Ok(left);
        }
    }
    sync_directories(root, &pending.record.changes)?;
    Ok(left)
}

/// Deletes the temporary files of an interrupted operation, or puts back another program's version found there.
fn settle_all(root: &Root, pending: &mut Pending) -> Result<Vec<Warning>> {
    let mut skipped = Vec::new();
    for index in 0..pending.record.changes.len() {
        let change = &pending.record.changes[index];
        let Change::Write { path, old, new, mode } = change else {
            continue;
        };
        let Some(spot) = spot(root, path)? else {
            continue;
        };
        let before = skipped.len();
        let (old, new) = (old.as_deref(), new.as_deref());
        for (is_backward, old, new) in [(false, old, new), (true, new, old)] {
            let staged = spot.beside(pending.temporary(index, is_backward));
            match settle(&spot, &staged, Replacement { old, new, mode: *mode })? {
                Leftover::Cleared => {}
                Leftover::Restored => skipped.push(left_alone(root, change)),
                Leftover::Kept => skipped.push(Warning::file(
                    &staged.path,
                    format!(
                        "is a version of {} that was saved while annals wrote it; the file has been saved again since, so this copy is kept",
                        root.named(path).display()
                    ),
                )),
            }
        }
        if skipped.len() > before {
            pending.set_mark(index, LEFT_ALONE)?;
        }
    }
    Ok(skipped)
}

/// Applies a change, and returns whether it is applied, now or before: a file with neither the expected old content nor the
/// new one is left alone. One that is `resumed` may have been applied just before the process was killed.
fn apply_change(root: &Root, change: &Change, temporary: &str, resumed: bool) -> Result<bool> {
    let Some(spot) = spot(root, change.path())? else {
        return Ok(false);
    };
    let path = &spot.path;
    match change {
        Change::Write { old, new, mode, .. } => {
            let with = Replacement { old: old.as_deref(), new: new.as_deref(), mode: *mode };
            return replace(&spot, &spot.beside(temporary), with);
        }
        Change::Append { lines, .. } if resumed => append::finish(&spot, lines.as_bytes())?,
        Change::Append { lines, .. } => append::append_at(&spot, lines.as_bytes())?,
        Change::Move { from, .. } => {
            return match self::spot(root, from)? {
                Some(from) => rename(&from, &spot),
                None => Ok(false),
            };
        }
        Change::CreateDirectory { .. } | Change::RemoveDirectory { .. }
            if spot.is_directory().at("read", path)? == Some(false) =>
        {
            return Ok(false);
        }
        Change::CreateDirectory { .. } => {
            spot.create_directory(Visibility::Shared).at("create", path)?;
        }
        Change::RemoveDirectory { .. } => spot.remove_directory().at("remove", path)?,
    }
    Ok(true)
}

/// Returns whether a file has the content that a change gives it.
fn has_replaced(root: &Root, change: &Change) -> bool {
    let Change::Write { path, new, .. } = change else {
        return false;
    };
    spot(root, path)
        .ok()
        .flatten()
        .and_then(|spot| spot.content().ok())
        .is_some_and(|content| content.is(new.as_deref()))
}

/// Returns the place of a recorded path, or `None` if its folder is missing.
fn spot(root: &Root, recorded: &Path) -> Result<Option<Spot>> {
    let path = root.locate(recorded)?;
    read::if_present(Spot::new(&path)).at("open", &path)
}

fn rename(from: &Spot, to: &Spot) -> Result<bool> {
    match (from.exists().at("read", &from.path)?, to.exists().at("read", &to.path)?) {
        (true, false) => match from.rename_to(to, Existing::Refuse) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Ok(false) => from.rename_to(to, Existing::Replace).map(|_| true),
            renamed => renamed.map(|_| true),
        }
        .at("move", &from.path),
        (false, true) => Ok(true),
        _ => Ok(false),
    }
}

/// Flushes every directory whose entries have changed, each once; appending flushes that of a new log.
fn sync_directories(root: &Root, changes: &[Change]) -> Result<()> {
    let mut folders = BTreeSet::new();
    for change in changes.iter().filter(|change| !change.is_final()) {
        for path in [Some(change.path()), change.source()].into_iter().flatten() {
            folders.extend(root.locate(path)?.parent().map(Path::to_owned));
        }
    }
    for folder in folders {
        disk::sync_directory(&folder).at("write", &folder)?;
    }
    Ok(())
}

fn left_alone(root: &Root, change: &Change) -> Warning {
    let path = root.named(change.path());
    Warning::file(&path, "left unchanged, because it had changed in the meantime")
}

/// Maximum number of attempts to put back another program's version while it keeps saving.
const MAX_ROUNDS: usize = 3;

/// The outcome for a temporary file left by an interrupted write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leftover {
    /// There was none, or it was ours and has been deleted.
    Cleared,
    /// It was another program's version, and has been restored.
    Restored,
    /// It is another program's version, and is kept, because the file has been saved again since.
    Kept,
}

/// The old and the new content of a file.
#[derive(Clone, Copy)]
struct Replacement<'a> {
    old: Option<&'a [u8]>,
    new: Option<&'a [u8]>,
    /// The permission bits of a file that is restored.
    mode: Option<u32>,
}

/// Replaces a file's content, unless that is neither the old nor the new one; `staged` is the temporary file.
fn replace(file: &Spot, staged: &Spot, with: Replacement) -> Result<bool> {
    let now = content(file)?;
    if now.is(with.new) {
        return Ok(true);
    }
    if !now.is(with.old) {
        return Ok(false);
    }
    if let Some(new) = with.new {
        let temporary = staged.open(Access::Write, Create::New).at("write", &file.path)?;
        if let Err(error) = fill(&temporary, new, &now, with.mode).at("write", &file.path) {
            return Err(match discard(staged) {
                Ok(()) => error,
                Err(_) => error.hint(format!("{} may be left over", staged.path.display())),
            });
        }
    }
    swap(file, staged, with)
}

/// Deletes the temporary file of an interrupted write.
///
/// A file with other content is another program's version, and is never deleted. If the file has the new content,
/// the two had been exchanged, or the file had been moved aside to be deleted; otherwise the temporary file may have
/// been written in part.
fn settle(file: &Spot, staged: &Spot, with: Replacement) -> Result<Leftover> {
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
    put_back(file, staged, left, with.new).map(|()| Leftover::Restored)
}

/// Renames the temporary file to the file, the two to each other, or a file that is deleted to the temporary one; then
/// compares what was there with the old content.
fn swap(file: &Spot, staged: &Spot, with: Replacement) -> Result<bool> {
    let (from, to, existing) = match (with.old, with.new) {
        (Some(_), Some(_)) => (staged, file, Existing::Exchange),
        (None, _) => (staged, file, Existing::Refuse),
        (_, None) => (file, staged, Existing::Refuse),
    };
    // Without new content, a temporary file is not ours.
    let give_up = || match with.new {
        Some(_) => discard(staged).map(|()| false),
        None => Ok(false),
    };
    let tried = if with.new.is_some() { "replace" } else { "remove" };
    match from.rename_to(to, existing) {
        Ok(true) => {}
        Err(error) if read::is_absent(&error) => return give_up(),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && with.new.is_some() => {
            return give_up();
        }
        Err(error) => return Err(error).at(tried, &file.path),
        Ok(false) if !content(file)?.is(with.old) => return give_up(),
        Ok(false) => {
            let replaced = match with.new {
                Some(_) => staged.rename_to(file, Existing::Replace).map(drop),
                None => file.remove(),
            };
            return replaced.at(tried, &file.path).map(|()| true);
        }
    }
    if with.old.is_none() {
        return Ok(true);
    }
    let replaced = match content(staged)? {
        replaced if replaced.is(with.old) => {
            return discard(staged).map(|()| true);
        }
        Content::File(bytes, _) => bytes,
        Content::Missing | Content::Other => Vec::new(),
    };
    put_back(file, staged, replaced, with.new).map(|()| false)
}

/// Restores another program's version, or its later version if it has overwritten ours meanwhile.
fn put_back(file: &Spot, staged: &Spot, theirs: Vec<u8>, ours: Option<&[u8]>) -> Result<()> {
    let hint = format!("an earlier saved version is in {}", staged.path.display());
    let Some(ours) = ours else {
        // If the path exists again, the file there is a newer one.
        let moved = staged.rename_to(file, Existing::Refuse).at("put back", &file.path);
        if !moved.map_err(|error| error.hint(hint))? {
            staged.rename_to(file, Existing::Replace).at("put back", &file.path)?;
        }
        return Ok(());
    };
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
    let message = "keeps changing while annals tries to write it";
    Err(Error::refused(message).about(&file.path).hint(hint))
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
            assert!(replaced());
            assert_eq!(place.texts(), (with.new.map(|_| "new".to_owned()), None));
            assert!(replaced());
            fs::write(place.root.join("file"), "theirs").unwrap();
            assert!(!replaced());
            assert_eq!(place.texts(), some("theirs", None));
        }
    }

    #[test]
    fn a_save_between_reading_and_exchanging_is_put_back() {
        let place = Place::with_staged("theirs", "new");
        let outcome = swap(&place.file(), &place.staged(), WITH).unwrap();
        assert_eq!((outcome, place.texts()), (false, some("theirs", None)));
        let place = Place::new("theirs");
        let deleted = Replacement { new: None, ..WITH };
        let outcome = swap(&place.file(), &place.staged(), deleted).unwrap();
        assert_eq!((outcome, place.texts()), (false, some("theirs", None)));
    }

    #[test]
    fn a_file_created_or_deleted_meanwhile_is_left_alone() {
        let place = Place::with_staged("theirs", "new");
        let created = Replacement { old: None, ..WITH };
        let outcome = swap(&place.file(), &place.staged(), created).unwrap();
        assert_eq!((outcome, place.texts()), (false, some("theirs", None)));
        let place = Place::with_staged("old", "new");
        fs::remove_file(place.root.join("file")).unwrap();
        let outcome = swap(&place.file(), &place.staged(), WITH).unwrap();
        assert_eq!((outcome, place.texts()), (false, (None, None)));
        // A temporary file beside a file that is to be deleted is not ours.
        fs::write(place.root.join("staged"), "theirs").unwrap();
        let outcome = swap(&place.file(), &place.staged(), Replacement { new: None, ..WITH });
        assert_eq!((outcome.unwrap(), place.texts().1), (false, Some("theirs".to_owned())));
        let place = Place::with_staged("old", "theirs");
        let refused = swap(&place.file(), &place.staged(), Replacement { new: None, ..WITH });
        assert!(refused.unwrap_err().to_string().contains("cannot remove: "));
        assert_eq!(place.texts(), some("old", Some("theirs")));
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
        put_back(&place.file(), &place.staged(), b"first".to_vec(), Some(b"new")).unwrap();
        assert_eq!(place.texts(), some("second", None));
    }
}
