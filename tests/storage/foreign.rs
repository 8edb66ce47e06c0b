//! Records that this user did not write on this machine are never executed.

use annals::error::ErrorKind;
use annals::storage::OperationId;

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
fn a_planted_record_is_named_and_left_alone() {
    for (name, text) in [
        ("1.pending", PLANTED.to_owned()),
        ("1.record", PLANTED.replace("\n  \n", "\n .\n")),
        ("9223372036854775000.record", PLANTED.to_owned()),
        ("7.pending", "no record at all\n".to_owned()),
        ("8.pending", PLANTED.replace("\"format\":1", "\"format\":3")),
    ] {
        let folder = TempDir::new().unwrap();
        let root = folder.path();
        put(root, &format!(".annals/history/{name}"), &text);
        let pending = usize::from(name.ends_with(".pending"));
        let told: Vec<_> = ["one", "two"].map(|text| warned(&write(root, text))).concat();
        // The last one is too short to be signed: its operation would never have begun.
        let is_cut = name.starts_with('8');
        assert_eq!(told.len(), if is_cut { 0 } else { 2 * pending }, "{told:?}");
        assert!(told.iter().all(|line| line.contains(name) && line.contains("not acted on")));
        assert!(!root.join("notes").exists());
        let left = fs::read_to_string(root.join(".annals/history").join(name));
        assert_eq!(left.ok(), (!is_cut).then_some(text));
        let listed = storage(root).history().list().unwrap();
        assert_eq!(listed.value.len(), 2);
        assert_eq!(listed.warnings.len(), 1 - pending, "{:?}", listed.warnings);
        assert!(listed.value[0].id < id("10"));
        history::undo(&storage(root), None).unwrap();
        assert_eq!(fs::read(root.join("file")).unwrap(), b"one");
    }
}

#[test]
fn an_operation_interrupted_in_another_version_stops_writing_commands() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let line = PLANTED.lines().next().unwrap().replace("\"format\":1", "\"format\":2");
    put(root, ".annals/history/5.pending", signed(5, &line, "evil\n  \n"));
    let told = storage(root).interrupted().unwrap();
    assert!(told[0].message.contains("another version"), "{told:?}");
    let plan = |changes: &mut Changes| changes.write(&root.join("file"), "new");
    let error = transact(&storage(root), "write", plan).unwrap_err();
    assert!(error.to_string().contains("`sync` was interrupted in another version"), "{error}");
    assert!(error.hint.unwrap().contains("log --forget 5"));
    assert!(tree(root).is_empty());
    storage(root).history().forget(id("5")).unwrap();
    transact(&storage(root), "write", plan).unwrap();
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
fn another_users_record_is_not_undone() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    put(root, "file", "old");
    write(root, "new");
    let other = Storage::new(root, clock()).key_in(Some(folder.path().join("home")));
    for asked in [Some(id("1")), None] {
        assert_eq!(other.history().find(asked).unwrap_err().kind, ErrorKind::NotFound);
    }
    let listed = other.history().list().unwrap();
    assert_eq!((listed.value.len(), listed.warnings.len()), (0, 1));
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
    let planted = PLANTED.replace("\"format\":1", "\"format\":3").replace(
        "\"keep\"",
        "\"request\":{\"id\":\"one\",\"command\":\"count\",\"answer\":99},\"keep\"",
    );
    let planted = planted.replacen('\n', &format!("\n{}\n", "0".repeat(64)), 1);
    put(root, ".annals/history/1.record", planted);
    let ask = || {
        let work = || {
            let mut changes = Changes::new();
            changes.append(&root.join("log"), "line")?;
            Ok((1, changes))
        };
        let stores = [Store::Plan];
        storage(root).transact_once("count", &stores, Some("one"), work).unwrap()
    };
    let (answer, applied) = ask();
    assert_eq!((answer, applied.changed.is_empty()), (1, false));
    let (answer, applied) = ask();
    assert_eq!((answer, applied.changed.is_empty()), (1, true));
    assert_eq!(fs::read(root.join("log")).unwrap(), b"line\n");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_in_place_of_a_record_is_left_alone() {
        let folder = TempDir::new().unwrap();
        let victim = put(folder.path(), "victim", PLANTED);
        let root = folder.path().join("project");
        for name in ["1.pending", "1.record"] {
            let link = root.join(".annals/history").join(name);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(&victim, &link).unwrap();
            let work = || {
                let mut changes = Changes::new();
                changes.write(&root.join("file"), name)?;
                Ok((1, changes))
            };
            let stores = [Store::Plan];
            let done = storage(&root).transact_once("count", &stores, Some("one"), work);
            let (_, applied) = done.unwrap();
            assert_eq!(warned(&applied).len(), usize::from(name == "1.pending"), "{name}");
            assert!(link.is_symlink(), "{name}");
            assert_eq!(fs::read_to_string(&victim).unwrap(), PLANTED);
            fs::remove_dir_all(&root).unwrap();
        }
    }
}

#[test]
fn planted_records_with_high_numbers_neither_push_out_nor_hide_ours() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    write(root, "one");
    let history = root.join(".annals/history");
    let planted = |number: u64| history.join(format!("{number}.record"));
    for number in 1000..1300 {
        fs::write(planted(number), PLANTED).unwrap();
    }
    // More bytes than a history of ours has.
    for number in 2000..2060 {
        fs::File::create(planted(number)).unwrap().set_len(8 << 20).unwrap();
    }
    write(root, "two");
    let ids = |listed: Vec<annals::storage::Operation>| -> Vec<OperationId> {
        listed.iter().map(|one| one.id).collect()
    };
    assert_eq!(ids(storage(root).history().list().unwrap().value), ["2", "1"].map(id));
    assert!((1000..1300).chain(2000..2060).all(|number| planted(number).exists()));
}

#[test]
fn planted_pending_files_of_any_size_are_named_and_hide_none_of_ours() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let line = PLANTED.lines().next().unwrap().replace("\"format\":1", "\"format\":2");
    put(root, ".annals/history/90.pending", signed(90, &line, "evil\n  \n"));
    for number in 1..60 {
        let path = root.join(format!(".annals/history/{number}.pending"));
        fs::File::create(path).unwrap().set_len(8 << 20).unwrap();
    }
    let told = storage(root).interrupted().unwrap();
    let foreign = told.iter().filter(|one| one.message.contains("not a record that you wrote"));
    assert!(foreign.count() > 10, "{told:?}");
    assert!(told.last().unwrap().message.contains("another version"), "{told:?}");
}
