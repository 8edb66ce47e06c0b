//! Applies the changes of an operation one by one, each checked against the expected content, and reverts them.

use std::borrow::Cow;
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
                        .at(&path.place.file, None)
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
    let outcome = if pending.is_backward() { "rolled back" } else { "completed" };
    let message = format!(
        "`{}` (operation {}) had been interrupted and has now been {outcome}",
        pending.record.operation, pending.record.id
    );
    let mut warnings = vec![Warning::file(&pending.path, message)];
    warnings.extend(settle(root, &mut pending)?);
    warnings.extend(run(root, &mut pending, true)?);
    pending.close(signer)?;
    Ok(warnings)
}

/// Applies the waiting changes, or reverts the applied ones; returns a warning for each file that was left alone.
///
/// A new operation stops at the first of them; one that is `resumed` or reverted goes on.
fn run(root: &Root, pending: &mut Pending, resumed: bool) -> Result<Vec<Warning>> {
    let is_backward = pending.is_backward();
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
        match apply_change(root, &planned, &pending.temporary(index, is_backward), resumed)? {
            ChangeOutcome::Applied => pending.set_mark(index, done)?,
            ChangeOutcome::LeftAlone => {
                left.push(left_alone(root, change));
                pending.set_mark(index, LEFT_ALONE)?;
                if !resumed {
                    return Ok(left);
                }
            }
        }
    }
    sync_directories(root, &pending.record.changes)?;
    Ok(left)
}

/// Deletes the temporary files of an interrupted operation, or puts back another program's version found there.
fn settle(root: &Root, pending: &mut Pending) -> Result<Vec<Warning>> {
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
            match replace::settle(&spot, &staged, Replacement { old, new, mode: *mode })? {
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
        Change::Append { lines, .. } if resumed => append::finish(&spot, lines.as_bytes())?,
        Change::Append { lines, .. } => append::append_at(&spot, lines.as_bytes())?,
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
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(ChangeOutcome::LeftAlone),
            Ok(false) => from.rename_to(to, Existing::Replace).map(|_| ChangeOutcome::Applied),
            renamed => renamed.map(|_| ChangeOutcome::Applied),
        }
        .at("move", &from.path),
        (false, true) => Ok(ChangeOutcome::Applied),
        _ => Ok(ChangeOutcome::LeftAlone),
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
