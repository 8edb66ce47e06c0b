//! A repeated request gets the first answer and is executed once.

use std::fs;
use std::path::Path;

use annals::error::{ErrorKind, Result};
use annals::storage::{Applied, Changes, Storage, Store};

use super::{storage, tree};

/// Appends a line to a file; the answer is the number of lines.
pub(super) fn count(storage: &Storage, root: &Path, id: &str) -> Result<(usize, Applied)> {
    storage.transact_once("count", &[Store::Entries], Some(id), || {
        let mut changes = Changes::new();
        let path = root.join("count");
        let mut text = changes.current(&path)?.unwrap_or_default();
        text.extend(b"line\n");
        let lines = text.split(|byte| *byte == b'\n').count() - 1;
        changes.write(&path, text)?;
        Ok((lines, changes))
    })
}

pub(super) fn lines(root: &Path) -> usize {
    let text = fs::read_to_string(root.join("count")).unwrap();
    text.lines().count()
}

#[test]
fn a_repeated_request_is_answered_and_not_executed() {
    for keeps_history in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let storage = storage(folder.path()).keep_history(keeps_history);
        let (first, applied) = count(&storage, folder.path(), "one").unwrap();
        assert_eq!((first, applied.changed.is_empty()), (1, false));
        assert_eq!(applied.changed, [folder.path().join("count")]);
        count(&storage, folder.path(), "two").unwrap();
        let (again, applied) = count(&storage, folder.path(), "one").unwrap();
        assert_eq!((again, applied.changed.len()), (1, 0));
        assert_eq!(lines(folder.path()), 2);
        let listed = storage.history().list().unwrap().value;
        assert_eq!(listed.len(), if keeps_history { 2 } else { 0 });
        assert!(listed.iter().all(|operation| operation.files.len() == 1));
    }
}

#[test]
fn an_undone_request_stays_answered() {
    let folder = tempfile::tempdir().unwrap();
    let storage = storage(folder.path());
    let (_, applied) = count(&storage, folder.path(), "one").unwrap();
    let id = applied.id.unwrap();
    storage
        .transact("undo", &[Store::Entries], || Ok(((), storage.history().undo(id, |_| false)?)))
        .unwrap();
    assert!(!folder.path().join("count").exists());
    assert!(count(&storage, folder.path(), "one").unwrap().1.changed.is_empty());
}

#[test]
fn an_answer_without_a_change_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let storage = storage(folder.path());
    let ask = |answer: &str| {
        let work = || Ok((answer.to_owned(), Changes::new()));
        storage.transact_once("look", &[Store::Entries], Some("one"), work)
    };
    assert_eq!(ask("first").unwrap().0, "first");
    assert_eq!(ask("second").unwrap().0, "first");
}

#[test]
fn an_id_belongs_to_one_command_and_must_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let storage = storage(folder.path());
    count(&storage, folder.path(), "one").unwrap();
    let asked =
        storage.transact_once("other", &[Store::Entries], Some("one"), || Ok((0, Changes::new())));
    assert_eq!(asked.unwrap_err().kind, ErrorKind::Refused);
    for id in ["", " ", "a\nb"] {
        assert_eq!(count(&storage, folder.path(), id).unwrap_err().kind, ErrorKind::Usage);
    }
}

#[test]
fn a_dry_run_stores_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let dry = storage(folder.path()).dry_run(true);
    count(&dry, folder.path(), "one").unwrap();
    assert!(tree(folder.path()).is_empty());
    assert!(!folder.path().join(".annals").exists());
}

#[test]
fn a_request_is_answered_as_long_as_its_record_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let storage = storage(folder.path()).keep_history(false);
    for number in 0..201 {
        count(&storage, folder.path(), &number.to_string()).unwrap();
    }
    assert!(count(&storage, folder.path(), "200").unwrap().1.changed.is_empty());
    assert!(count(&storage, folder.path(), "1").unwrap().1.changed.is_empty());
    assert!(!count(&storage, folder.path(), "0").unwrap().1.changed.is_empty());
}
