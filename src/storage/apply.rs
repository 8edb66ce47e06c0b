//! Applies changes one by one, each checked against the expected content, and reverts them.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{At, Error, Result};
use crate::storage::changes::Change;
use crate::storage::disk::{Existing, Spot, Visibility};
use crate::storage::record::{APPLIED, LEFT_ALONE, Pending, REVERTED, WAITING};
use crate::storage::replace::{ChangeOutcome, Leftover, Replacement};
use crate::storage::root::Root;
use crate::storage::signature::Signer;
use crate::storage::{append, disk, read, replace};
use crate::warning::Warning;

/// The outcome of an operation that did not fail.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// All changes were applied.
    Applied,
    /// No change was applied, because a file has changed since it was read.
    Conflicted(Error),
}

/// Applies all changes of a new record and closes it; if one fails, the earlier ones are reverted.
pub(crate) fn apply(root: &Root, mut pending: Pending, signer: &Signer) -> Result<Outcome> {
    match apply_all(root, &mut pending) {
        Ok(None) => pending.close(signer).map(|()| Outcome::Applied),
        Ok(Some(conflict)) => revert(root, pending, signer, conflict).map(Outcome::Conflicted),
        Err(failure) => {
            // The first change that is not marked failed, but it may have replaced the file before that.
            let mut changes = pending.record.changes.iter().enumerate();
            let failed = changes.find(|(index, _)| pending.mark(*index) == WAITING);
            if let Some((index, _)) = failed.filter(|(_, change)| has_replaced(root, change)) {
                pending.set_backward()?;
                pending.set_mark(index, APPLIED)?;
            }
            Err(match revert(root, pending, signer, failure) {
                Ok(failure) | Err(failure) => failure,
            })
        }
    }
}

/// Applies all changes; returns an error to report if one of the files has changed.
fn apply_all(root: &Root, pending: &mut Pending) -> Result<Option<Error>> {
    for index in 0..pending.record.changes.len() {
        let change = &pending.record.changes[index];
        match apply_change(root, change, &pending.temporary(index, false), false)? {
            ChangeOutcome::Applied => pending.set_mark(index, APPLIED)?,
            ChangeOutcome::LeftAlone => {
                let conflict = changed_meanwhile(root, change);
                pending.set_mark(index, LEFT_ALONE)?;
                return Ok(Some(conflict));
            }
        }
    }
    sync_directories(root, &pending.record.changes)?;
    Ok(None)
}

/// Applies changes without a record: appended lines, or a single file with its folders.
pub(crate) fn apply_unrecorded(root: &Root, changes: &[Change]) -> Result<Outcome> {
    let temporary = |index| format!(".annals-0-{}-{index}.tmp", std::process::id());
    for (index, change) in changes.iter().enumerate() {
        let outcome = apply_change(root, change, &temporary(index), false);
        if matches!(outcome, Ok(ChangeOutcome::Applied)) {
            continue;
        }
        // The earlier changes only created folders, which are empty.
        for (index, earlier) in changes[..index].iter().enumerate().rev() {
            if let Some(inverse) = earlier.inverse() {
                apply_change(root, &inverse, &temporary(index), false)?;
            }
        }
        return outcome.map(|_| Outcome::Conflicted(changed_meanwhile(root, change)));
    }
    if !changes.iter().all(Change::is_final) {
        sync_directories(root, changes)?;
    }
    Ok(Outcome::Applied)
}

/// Reverts all applied changes after a failure; returns the failure, with a hint if not all could be reverted.
fn revert(root: &Root, mut pending: Pending, signer: &Signer, failure: Error) -> Result<Error> {
    let skipped = roll_back(root, &mut pending);
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
    let name = format!("`{}` (operation {})", pending.record.operation, pending.record.id);
    let mut warnings = settle(root, &mut pending)?;
    let outcome = if pending.is_backward() {
        warnings.extend(roll_back(root, &mut pending)?);
        "rolled back"
    } else {
        warnings.extend(roll_forward(root, &mut pending)?);
        "completed"
    };
    let message = format!("{name} had been interrupted and has now been {outcome}");
    warnings.insert(0, Warning::file(&pending.path, message));
    pending.close(signer)?;
    Ok(warnings)
}

/// Applies the changes that are waiting.
fn roll_forward(root: &Root, pending: &mut Pending) -> Result<Vec<Warning>> {
    let mut skipped = Vec::new();
    for index in 0..pending.record.changes.len() {
        if pending.mark(index) != WAITING {
            continue;
        }
        let change = &pending.record.changes[index];
        let mark = match apply_change(root, change, &pending.temporary(index, false), true)? {
            ChangeOutcome::Applied => APPLIED,
            ChangeOutcome::LeftAlone => {
                skipped.push(left_alone(root, change));
                LEFT_ALONE
            }
        };
        pending.set_mark(index, mark)?;
    }
    sync_directories(root, &pending.record.changes)?;
    Ok(skipped)
}

/// Reverts the applied changes.
fn roll_back(root: &Root, pending: &mut Pending) -> Result<Vec<Warning>> {
    if !pending.is_backward() {
        pending.set_backward()?;
    }
    let mut skipped = Vec::new();
    for index in (0..pending.record.changes.len()).rev() {
        let change = &pending.record.changes[index];
        let Some(inverse) = change.inverse().filter(|_| pending.mark(index) == APPLIED) else {
            continue;
        };
        let mark = match apply_change(root, &inverse, &pending.temporary(index, true), true)? {
            ChangeOutcome::Applied => REVERTED,
            ChangeOutcome::LeftAlone => {
                skipped.push(left_alone(root, change));
                LEFT_ALONE
            }
        };
        pending.set_mark(index, mark)?;
    }
    sync_directories(root, &pending.record.changes)?;
    Ok(skipped)
}

/// Deletes the temporary files of an interrupted operation, or puts back another program's version found there.
fn settle(root: &Root, pending: &mut Pending) -> Result<Vec<Warning>> {
    let mut skipped = Vec::new();
    for index in 0..pending.record.changes.len() {
        let Change::Write { path, old, new, mode } = &pending.record.changes[index] else {
            continue;
        };
        let Some(spot) = spot(root, path)? else {
            continue;
        };
        let (old, new) = (old.as_deref(), new.as_deref());
        let mut is_ours = true;
        for is_backward in [false, true] {
            let staged = spot.beside(&pending.temporary(index, is_backward));
            let (old, new) = if is_backward { (new, old) } else { (old, new) };
            match replace::settle(&spot, &staged, Replacement { old, new, mode: *mode })? {
                Leftover::Cleared => continue,
                Leftover::Restored => {
                    skipped.push(left_alone(root, &pending.record.changes[index]));
                }
                Leftover::Kept => skipped.push(Warning::file(
                    &staged.path,
                    format!(
                        "is a version of {} that was saved while annals wrote it; the file has been saved again since, so this copy is kept",
                        root.named(path).display()
                    ),
                )),
            }
            is_ours = false;
        }
        if !is_ours {
            pending.set_mark(index, LEFT_ALONE)?;
        }
    }
    Ok(skipped)
}

/// Applies a change; one that is `resumed` may have been applied just before the process was killed.
fn apply_change(
    root: &Root,
    change: &Change,
    temporary: &str,
    resumed: bool,
) -> Result<ChangeOutcome> {
    let Some(spot) = spot(root, change.path())? else {
        return Ok(ChangeOutcome::LeftAlone);
    };
    let path = &spot.path;
    let is_other = || match spot.is_directory() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        found => found.map(|is_directory| !is_directory),
    };
    match change {
        Change::Write { old, new, mode, .. } => {
            let with = Replacement { old: old.as_deref(), new: new.as_deref(), mode: *mode };
            return replace::replace(&spot, &spot.beside(temporary), with);
        }
        Change::Append { lines, .. } if resumed => append::finish(path, lines.as_bytes())?,
        Change::Append { lines, .. } => append::append_unlinked(path, lines.as_bytes())?,
        Change::Move { from, .. } => {
            return match self::spot(root, from)? {
                Some(from) => rename(&from, &spot),
                None => Ok(ChangeOutcome::LeftAlone),
            };
        }
        Change::CreateDirectory { .. } | Change::RemoveDirectory { .. }
            if is_other().at("read", path)? =>
        {
            return Ok(ChangeOutcome::LeftAlone);
        }
        Change::CreateDirectory { .. } => {
            spot.create_directory(Visibility::Shared).at("create", path)?;
        }
        Change::RemoveDirectory { .. } => spot.remove_directory().at("remove", path)?,
    }
    Ok(ChangeOutcome::Applied)
}

/// Returns whether a file has the content that a change gives it.
fn has_replaced(root: &Root, change: &Change) -> bool {
    let Change::Write { path, new, .. } = change else {
        return false;
    };
    let content = spot(root, path).ok().flatten().and_then(|spot| spot.content().ok());
    content.is_some_and(|content| content.is(new.as_deref()))
}

/// Returns the place of a recorded path, or `None` if its folder is missing.
fn spot(root: &Root, recorded: &Path) -> Result<Option<Spot>> {
    let path = root.locate(recorded)?;
    match Spot::new(&path) {
        Err(error) if read::is_absent(&error) => Ok(None),
        spot => spot.at("open", &path).map(Some),
    }
}

fn rename(from: &Spot, to: &Spot) -> Result<ChangeOutcome> {
    match (from.exists().at("read", &from.path)?, to.exists().at("read", &to.path)?) {
        (true, false) => match from.rename_to(to, Existing::Refuse) {
            Ok(true) => Ok(ChangeOutcome::Applied),
            Ok(false) => {
                from.rename_to(to, Existing::Replace).at("move", &from.path)?;
                Ok(ChangeOutcome::Applied)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(ChangeOutcome::LeftAlone),
            Err(error) => Err(error).at("move", &from.path),
        },
        (false, true) => Ok(ChangeOutcome::Applied),
        _ => Ok(ChangeOutcome::LeftAlone),
    }
}

/// Flushes every directory whose entries have changed, each once.
fn sync_directories(root: &Root, changes: &[Change]) -> Result<()> {
    let mut folders = BTreeSet::new();
    for change in changes {
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

fn changed_meanwhile(root: &Root, change: &Change) -> Error {
    Error::refused("changed while annals was working, so nothing was written")
        .at(&root.named(change.path()), None)
        .hint("run it again")
}
