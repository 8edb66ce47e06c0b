//! Records that this user did not write on this machine are never executed.

use annals::error::ErrorKind;
use annals::storage::{OperationId, WriteRequest};

use super::*;

/// A pending record of format 1, which appends a line to `notes`.
const PLANTED: &str = "{\"format\":1,\"operation\":\"sync\",\"time\":\"2026-02-17T10:11:12Z\",\"pid\":7,\
    \"stores\":[\"plan\"],\"keep\":true,\"changes\":[{\"do\":\"append\",\"path\":\"notes\",\"lines\":5}]}\nevil\n  \n";

fn write(root: &Path, text: &str) -> Applied {
    transact(&storage(root), "write", |changes| changes.write(&root.join("file"), text)).unwrap()
}

fn warned(applied: &Applied) -> Vec<String> {
    applied.warnings.iter().map(ToString::to_string).collect()
}

fn id(text: &str) -> OperationId {
    text.parse().unwrap()
}

#[test]
fn a_planted_record_is_set_aside_and_named_once() {
    for (name, text) in [
        ("1.pending", PLANTED.to_owned()),
        ("1.record", PLANTED.replace("\n  \n", "\n .\n")),
        ("9223372036854775000.record", PLANTED.to_owned()),
        ("7.pending", "no record at all\n".to_owned()),
    ] {
        let folder = TempDir::new().unwrap();
        let root = folder.path();
        put(root, &format!(".annals/history/{name}"), &text);
        let first = warned(&write(root, "one"));
        assert_eq!(first.len(), 1, "{first:?}");
        assert!(first[0].contains(name), "{first:?}");
        assert!(first[0].contains("log --adopt"), "{first:?}");
        assert!(!root.join("notes").exists());
        let aside = root.join(".annals/history/unverified").join(name);
        assert_eq!(fs::read_to_string(aside).unwrap(), text);
        let second = write(root, "two");
        assert_eq!(warned(&second), [""; 0]);
        assert!(second.id.unwrap() < id("10"));
        history::undo(&storage(root), None).unwrap();
        assert_eq!(fs::read(root.join("file")).unwrap(), b"one");
    }
}

#[test]
fn files_in_the_history_folder_that_are_not_records_change_nothing() {
    let last = "9223372036854775807";
    for (name, text) in [
        (format!("+{last}.record"), PLANTED),
        (format!("0{last}.record"), PLANTED),
        ("+3.pending".to_owned(), PLANTED),
        (format!("{last}.record"), ""),
    ] {
        let folder = TempDir::new().unwrap();
        let root = folder.path();
        let path = format!(".annals/history/{name}");
        put(root, &path, text);
        for count in 1..=3 {
            let applied = write(root, &count.to_string());
            assert_eq!(warned(&applied), [""; 0], "{name}");
            assert_eq!(applied.id, Some(id(&count.to_string())), "{name}");
        }
        assert_eq!(storage(root).history().list().unwrap().value.len(), 3);
        history::undo(&storage(root), None).unwrap();
        assert_eq!(fs::read(root.join("file")).unwrap(), b"2");
        assert_eq!(fs::read_to_string(root.join(path)).unwrap(), text);
    }
}

#[test]
fn records_of_an_older_version_are_set_aside_together() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    for id in 1..=30 {
        put(root, &format!(".annals/history/{id}.record"), PLANTED);
    }
    let history = storage(root).history();
    let listed = history.list().unwrap();
    assert!(listed.value.is_empty());
    assert_eq!(listed.warnings.len(), 1);
    assert_eq!(history.find(None).unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(history.find(Some(id("3"))).unwrap_err().kind, ErrorKind::Refused);
    let applied = write(root, "one");
    let told = warned(&applied);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("30 files, 1.record to 30.record"), "{told:?}");
    assert_eq!(applied.id, Some(id("1")));
}

#[test]
fn another_users_record_is_not_executed_until_it_is_adopted() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    put(root, "file", "old");
    write(root, "new");
    let other = Storage::new(root, clock()).key_in(Some(folder.path().join("home")));
    let error = other.history().find(Some(id("1"))).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(error.hint.unwrap().contains("--adopt 1"));
    let (operation, diff) = other.history().unverified(id("1")).unwrap();
    assert_eq!(operation.operation, "write");
    assert!(diff.contains("-old") && diff.contains("+new"), "{diff}");
    assert_eq!(other.history().adopt(id("1")).unwrap(), id("1"));
    history::undo(&other, None).unwrap();
    assert_eq!(fs::read(root.join("file")).unwrap(), b"old");
}

#[test]
fn an_interrupted_record_that_is_adopted_is_finished() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    put(root, ".annals/history/5.pending", PLANTED);
    write(root, "one");
    assert!(!root.join("notes").exists());
    let adopted = storage(root).history().adopt(id("5")).unwrap();
    assert_eq!(adopted, id("5"));
    write(root, "two");
    assert_eq!(fs::read(root.join("notes")).unwrap(), b"evil\n");
    let unverified = root.join(".annals/history/unverified");
    assert_eq!(fs::read_dir(unverified).unwrap().count(), 0);
}

#[test]
fn without_a_key_one_file_is_written_unrecorded_and_several_are_refused() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let storage = Storage::new(root, clock()).key_in(Some(PathBuf::from("/dev/null/annals")));
    let one = |changes: &mut Changes| changes.write(&root.join("a/file"), "new");
    let applied = transact(&storage, "write", one).unwrap();
    assert_eq!(applied.id, None);
    assert!(warned(&applied)[0].contains("cannot be undone"));
    assert_eq!(fs::read(root.join("a/file")).unwrap(), b"new");
    let before = tree(root);
    let error = transact(&storage, "write", |changes| {
        changes.write(&root.join("a/file"), "newer")?;
        changes.write(&root.join("b"), "new")
    })
    .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(error.hint.unwrap().contains("XDG_DATA_HOME"));
    assert_eq!(tree(root), before);
}

#[test]
fn a_planted_answer_is_ignored() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let planted = "{\"id\":\"one\",\"command\":\"count\",\"answer\":99}\n";
    put(root, ".annals/requests-plan.jsonl", planted);
    let request = WriteRequest::new("one", "count").unwrap();
    let ask = || {
        let work = || {
            let mut changes = Changes::new();
            changes.append(&root.join("log"), "line")?;
            Ok((1, changes))
        };
        let stores = [Store::Plan];
        storage(root).transact_once("count", &stores, Some(&request), work).unwrap()
    };
    let (answer, applied) = ask();
    assert_eq!((answer, applied.repeated), (1, false));
    assert_eq!(warned(&applied).len(), 1);
    let (answer, applied) = ask();
    assert_eq!((answer, applied.repeated), (1, true));
    assert_eq!(warned(&applied), [""; 0]);
    assert_eq!(fs::read(root.join("log")).unwrap(), b"line\n");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_in_place_of_our_own_files_is_moved_aside_as_a_link() {
        let folder = TempDir::new().unwrap();
        let victim = put(folder.path(), "victim", PLANTED);
        let root = folder.path().join("project");
        for name in ["history/1.pending", "history/1.record", "requests-plan.jsonl"] {
            let link = root.join(".annals").join(name);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(&victim, &link).unwrap();
            let request = WriteRequest::new("one", "count").unwrap();
            let work = || {
                let mut changes = Changes::new();
                changes.write(&root.join("file"), name)?;
                Ok((1, changes))
            };
            let stores = [Store::Plan];
            let done = storage(&root).transact_once("count", &stores, Some(&request), work);
            let (_, applied) = done.unwrap();
            assert_eq!(warned(&applied).len(), 1, "{name}");
            let file = Path::new(name).file_name().unwrap();
            let aside = root.join(".annals/history/unverified").join(file);
            assert!(aside.is_symlink(), "{name}");
            assert_eq!(fs::read_to_string(&victim).unwrap(), PLANTED);
            fs::remove_dir_all(&root).unwrap();
        }
    }

    #[test]
    fn a_link_to_the_folder_for_foreign_files_is_not_followed() {
        let folder = TempDir::new().unwrap();
        let root = folder.path().join("project");
        fs::create_dir(folder.path().join("outside")).unwrap();
        put(&root, ".annals/history/1.pending", PLANTED);
        symlink(folder.path().join("outside"), root.join(".annals/history/unverified")).unwrap();
        let plan = |changes: &mut Changes| changes.write(&root.join("file"), "new");
        let error = transact(&storage(&root), "write", plan).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused);
        assert_eq!(fs::read_dir(folder.path().join("outside")).unwrap().count(), 0);
    }
}
