//! Operations can be undone byte for byte, and undo is refused if it would lose something.

use annals::error::ErrorKind;
use annals::storage::{ChangeKind, OperationId};
use proptest::prelude::*;

use super::*;

/// Undoes an operation like `annals undo`.
pub(crate) fn undo(storage: &Storage, id: Option<OperationId>) -> Result<Applied> {
    let history = storage.history();
    let last = history.find(id)?;
    let name = format!("undo {}", last.id);
    let work = || Ok(((), history.undo(last.id, |_| false)?));
    storage.transact(&name, &last.stores, work).map(|((), applied)| applied)
}

#[test]
fn an_operation_is_listed_undone_and_redone() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    put(root, "phases/01/PLAN.md", "plan");
    put(root, "STATE.md", b"state \xff");
    put(root, "RESUME.md", "resume");
    let before = tree(root);
    let storage = storage(root);
    let shipped = transact(&storage, "ship", |changes| {
        changes.rename(&root.join("phases"), &root.join("milestones/one/phases"))?;
        changes.rename(&root.join("STATE.md"), &root.join("milestones/one/STATE.md"))?;
        changes.write(&root.join("milestones/one/SHIPPED.md"), "shipped")?;
        changes.write(&root.join("STATE.md"), "fresh")?;
        changes.delete(&root.join("RESUME.md"))
    })
    .unwrap();
    let after = tree(root);
    let list = storage.history().list().unwrap().value;
    assert_eq!(list.len(), 1);
    assert_eq!(Some(list[0].id), shipped.id);
    assert_eq!(list[0].time, "2026-02-17T10:11:12Z");
    let happened: Vec<_> = list[0].files.iter().map(|file| file.happened).collect();
    assert_eq!(
        happened,
        [
            ChangeKind::Moved,
            ChangeKind::Moved,
            ChangeKind::Created,
            ChangeKind::Created,
            ChangeKind::Deleted
        ]
    );
    assert_eq!(list[0].files[0].from.as_deref(), Some(Path::new("phases")));

    undo(&storage, None).unwrap();
    assert_eq!(tree(root), before);
    let undone = undo(&storage, None).unwrap();
    assert_eq!(tree(root), after);
    let newest = storage.history().find(undone.id).unwrap();
    assert_eq!(newest.operation, "undo 2");
}

#[test]
fn undo_is_refused_where_a_file_changed_since() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let (a, b) = (put(root, "a", "old"), put(root, "b", "old"));
    let storage = storage(root);
    transact(&storage, "write", |changes| {
        changes.write(&a, "new")?;
        changes.write(&b, "new")
    })
    .unwrap();
    put(root, "a", "the user's");
    let before = tree(root);
    let error = undo(&storage, None).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(error.place.unwrap().file.ends_with("a"));
    assert_eq!(tree(root), before);
}

#[test]
fn what_was_moved_is_moved_back_as_it_is_now() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    put(root, "phases/01/PLAN.md", "plan");
    let storage = storage(root);
    let plan = |changes: &mut Changes| changes.rename(&root.join("phases"), &root.join("old"));
    transact(&storage, "ship", plan).unwrap();
    put(root, "old/01/PLAN.md", "edited");
    put(root, "old/01/NEW.md", "moves along");
    undo(&storage, None).unwrap();
    assert_eq!(fs::read(root.join("phases/01/PLAN.md")).unwrap(), b"edited");
    assert!(root.join("phases/01/NEW.md").exists());
}

/// A file created in a folder after the folder was moved was not moved with it.
#[test]
fn moves_of_moved_files_are_undone() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    put(root, "d/a", "a");
    let before = tree(root);
    let storage = storage(root);
    transact(&storage, "move", |changes| {
        changes.rename(&root.join("d"), &root.join("f/a"))?;
        changes.rename(&root.join("f/a"), &root.join("d"))?;
        changes.rename(&root.join("d/a"), &root.join("d/b"))?;
        changes.remove_dir(&root.join("f"))
    })
    .unwrap();
    assert_eq!(fs::read(root.join("d/b")).unwrap(), b"a");
    assert!(!root.join("f").exists());
    undo(&storage, None).unwrap();
    assert_eq!(tree(root), before);
}

#[test]
fn generated_files_are_left_to_the_caller() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let storage = storage(root);
    let write = |entry: &str, index: &str| {
        transact(&storage, "entry write", |changes| {
            changes.write(&root.join(entry), entry)?;
            changes.write(&root.join("INDEX.md"), index)
        })
        .unwrap()
    };
    let first = write("a.md", "a");
    write("b.md", "a b");
    assert!(undo(&storage, first.id).is_err());
    let history = storage.history();
    let is_generated = |path: &Path| path.ends_with("INDEX.md");
    let changes = history.undo(first.id.unwrap(), is_generated).unwrap();
    assert_eq!(changes.paths(), [fs::canonicalize(root.join("a.md")).unwrap()]);
}

#[test]
fn undo_does_not_change_logs() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let storage = storage(root);
    let log = root.join("log.md");
    let write = |line: &str| {
        transact(&storage, "write", |changes| {
            changes.write(&root.join("file"), line)?;
            changes.append(&log, format!("- {line}"))
        })
        .unwrap();
    };
    write("one");
    write("two");
    undo(&storage, None).unwrap();
    assert_eq!(fs::read(root.join("file")).unwrap(), b"one");
    assert_eq!(fs::read(&log).unwrap(), b"- one\n- two\n");
    let applied = transact(&storage, "log", |changes| changes.append(&log, "- three")).unwrap();
    assert_eq!(applied.id, None);
    assert_eq!(applied.changed, [log]);
}

#[test]
fn without_history_no_old_bytes_are_kept() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let file = put(root, "file", "old");
    let quiet = storage(root).keep_history(false);
    let applied = transact(&quiet, "write", |changes| changes.write(&file, "new")).unwrap();
    assert_eq!(applied.id, None);
    assert_eq!(fs::read(&file).unwrap(), b"new");
    let history = root.join(".annals/history");
    assert_eq!(fs::read_dir(&history).unwrap().count(), 0);

    let applied = transact(&storage(root), "write", |changes| changes.delete(&file)).unwrap();
    assert_eq!(fs::read_dir(&history).unwrap().count(), 1);
    let id = applied.id.unwrap();
    quiet.history().forget(id).unwrap();
    assert_eq!(fs::read_dir(&history).unwrap().count(), 0);
    assert_eq!(quiet.history().forget(id).unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(undo(&quiet, None).unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn the_history_is_bounded() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let storage = storage(root);
    let write = |text: String| {
        transact(&storage, "write", |changes| changes.write(&root.join("file"), text.clone()))
            .unwrap()
    };
    for number in 0..205 {
        write(number.to_string());
    }
    let ids = || -> Vec<_> {
        let list = storage.history().list().unwrap().value;
        list.iter().map(|operation| operation.id.to_string()).collect()
    };
    assert_eq!(ids().len(), 200);
    assert_eq!(ids()[0], "205");
    assert_eq!(ids()[199], "6");
    let large = |letter: &str| write(letter.repeat(8 * 1024 * 1024));
    for letter in ["a", "b", "c", "d", "e"] {
        large(letter);
    }
    let kept = ids();
    assert!(kept.len() < 10, "{kept:?}");
    assert_eq!(kept[0], "210");
}

#[test]
fn a_record_from_elsewhere_reaches_nothing_outside() {
    let folder = TempDir::new().unwrap();
    let victim = put(folder.path(), "victim", "theirs");
    let root = folder.path().join("project");
    for path in ["../victim", victim.to_str().unwrap(), ".git/config", "a/../../victim"] {
        let plan = |changes: &mut Changes| changes.write(&root.join("file"), "new");
        let line = |id: u64| {
            format!(
                "{{\"format\":3,\"id\":{id},\"operation\":\"x\",\"time\":\"\",\"pid\":1,\"stores\":[\"plan\"],\
                 \"keep\":true,\"changes\":[{{\"do\":\"write\",\"path\":\"{path}\",\"old\":\"theirs\",\"new\":\"evil\"}}]}}"
            )
        };
        fs::create_dir_all(&root).unwrap();
        let storage = storage(&root);
        // Even signed with the user's own key, they reach nothing.
        put(&root, ".annals/history/2.record", signed(2, &line(2), " .\n"));
        let id = "2".parse().unwrap();
        let taken_back = || Ok(((), storage.history().undo(id, |_| false)?));
        assert!(storage.transact("undo", &[Store::Ledger], taken_back).is_err());
        put(&root, ".annals/history/1.pending", signed(1, &line(1), "  \n"));
        assert!(transact(&storage, "sync", plan).is_err());
        // A process that another test has just started holds the locks of this one until it runs its own program.
        let forget = || {
            let forgotten = storage.history().forget("1".parse().unwrap()).is_ok();
            if !forgotten {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            forgotten
        };
        assert!((0..1000).any(|_| forget()));
        transact(&storage, "sync", plan).unwrap();
        fs::remove_dir_all(&root).unwrap();
    }
    assert_eq!(fs::read(&victim).unwrap(), b"theirs");
}

#[test]
fn a_file_replaces_a_folder_that_the_same_transaction_filled_and_moved() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    put(root, "d/a", "d/a");
    let before = tree(root);
    let storage = storage(root);
    let id = transact(&storage, "steps", |changes| {
        changes.create_dir(&root.join("d/b"))?;
        changes.rename(&root.join("d"), &root.join("f/a"))?;
        changes.write(&root.join("d"), b"a file".to_vec())
    })
    .unwrap()
    .id
    .unwrap();
    assert_eq!(fs::read(root.join("d")).unwrap(), b"a file");
    assert_eq!(fs::read(root.join("f/a/a")).unwrap(), b"d/a");
    assert!(root.join("f/a/b").is_dir());

    let changes = storage.history().undo(id, |_| false).unwrap();
    transact(&storage, "undo", |plan| plan.extend(changes.clone())).unwrap();
    assert_eq!(tree(root), before);
}

/// One step of a plan, on one of a few names, so that steps affect the same paths.
#[derive(Clone, Debug)]
enum Step {
    Write(usize, Vec<u8>),
    Delete(usize),
    Rename(usize, usize),
    CreateDir(usize),
    RemoveDir(usize),
}

const NAMES: [&str; 7] = ["a", "b", "d", "d/a", "d/b", "d/e/a", "f/a"];

fn step() -> impl Strategy<Value = Step> {
    let name = 0..NAMES.len();
    prop_oneof![
        4 => (name.clone(), prop::collection::vec(any::<u8>(), 0..4)).prop_map(|(name, bytes)| Step::Write(name, bytes)),
        1 => name.clone().prop_map(Step::Delete),
        3 => (name.clone(), name.clone()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => name.clone().prop_map(Step::CreateDir),
        1 => name.prop_map(Step::RemoveDir),
    ]
}

/// Plans a step; an impossible one (a directory in its place, nothing to move) adds nothing.
fn plan(changes: &mut Changes, root: &Path, step: &Step) {
    let path = |name: usize| root.join(NAMES[name]);
    let before = changes.clone();
    let planned = match step {
        Step::Write(name, bytes) => changes.write(&path(*name), bytes.clone()),
        Step::Delete(name) => changes.delete(&path(*name)),
        Step::Rename(from, to) => changes.rename(&path(*from), &path(*to)),
        Step::CreateDir(name) => changes.create_dir(&path(*name)),
        Step::RemoveDir(name) => changes.remove_dir(&path(*name)),
    };
    if planned.is_err() {
        *changes = before;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn undoing_all_operations_restores_every_byte(
        operations in prop::collection::vec(prop::collection::vec(step(), 1..8), 1..5)
    ) {
        let folder = TempDir::new().unwrap();
        let root = folder.path();
        put(root, "a", "a");
        put(root, "d/a", "d/a");
        let storage = storage(root);
        let mut states = vec![tree(root)];
        for steps in &operations {
            let mut expected = BTreeMap::new();
            let applied = transact(&storage, "steps", |changes| {
                for step in steps {
                    plan(changes, root, step);
                }
                for name in NAMES {
                    if let Ok(Some(bytes)) = changes.current(&root.join(name)) {
                        expected.insert(PathBuf::from(name), Some(bytes));
                    }
                }
                Ok(())
            }).unwrap();
            let mut files = tree(root);
            if applied.id.is_some() {
                states.push(files.clone());
            }
            files.retain(|path, content| {
                content.is_some() && NAMES.iter().any(|name| Path::new(name) == path)
            });
            prop_assert_eq!(files, expected);
        }
        for state in states.iter().rev().skip(1) {
            let last = storage.history().list().unwrap().value;
            let newest = last.iter().find(|operation| operation.operation == "steps").unwrap().id;
            let changes = storage.history().undo(newest, |_| false).unwrap();
            transact(&storage, "undo", |plan| plan.extend(changes.clone())).unwrap();
            prop_assert_eq!(&tree(root), state);
            storage.history().forget(newest).unwrap();
        }
    }
}
