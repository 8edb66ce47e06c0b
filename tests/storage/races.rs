//! Concurrent writers lose none of their changes.

use std::time::Duration;

use super::*;

/// Increments a number in a file several times.
pub(crate) fn count(root: &Path, times: usize) {
    let storage = storage(root).wait(Duration::from_mins(1));
    let file = root.join("number");
    for _ in 0..times {
        let plan = |changes: &mut Changes| {
            let now = changes.current(&file)?.unwrap_or_default();
            let now: usize = String::from_utf8(now).unwrap().parse().unwrap_or(0);
            changes.write(&file, (now + 1).to_string())
        };
        transact(&storage, "count", plan).unwrap();
    }
}

#[test]
fn threads_lose_no_update() {
    let folder = TempDir::new().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| count(folder.path(), 25));
        }
    });
    assert_eq!(fs::read(folder.path().join("number")).unwrap(), b"100");
    let list = storage(folder.path()).history().list().unwrap();
    assert_eq!((list.value.len(), list.warnings.len()), (100, 0));
}

#[test]
fn processes_lose_no_update() {
    let folder = TempDir::new().unwrap();
    let children: Vec<_> = (0..4).map(|_| spawn("count", folder.path(), 25)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(fs::read(folder.path().join("number")).unwrap(), b"100");
}

#[test]
fn operations_on_different_stores_get_different_ids() {
    let folder = TempDir::new().unwrap();
    let stores = [Store::Plan, Store::Patterns, Store::Context, Store::Entries, Store::Ledger];
    std::thread::scope(|scope| {
        for store in stores {
            let root = folder.path();
            scope.spawn(move || {
                let storage = storage(root);
                let file = root.join(format!("{store:?}"));
                for number in 0..20 {
                    let work = || {
                        let mut changes = Changes::new();
                        changes.write(&file, number.to_string())?;
                        Ok(((), changes))
                    };
                    storage.transact("write", &[store], work).unwrap();
                }
            });
        }
    });
    let list = storage(folder.path()).history().list().unwrap().value;
    let ids: std::collections::BTreeSet<_> = list.iter().map(|operation| operation.id).collect();
    assert_eq!((ids.len(), list.len()), (100, 100));
}

#[test]
fn a_concurrently_changed_file_stops_the_whole_operation() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let first = put(root, "first", "old");
    let second = put(root, "second", "somebody else's");
    let before = tree(root);
    let storage = storage(root);
    let plan = |changes: &mut Changes| {
        changes.write(&first, "new")?;
        changes.write(&root.join("new/file"), "new")?;
        changes.edit(&second, Some(b"old".to_vec()), "new")
    };
    let error = transact(&storage, "edit", plan).unwrap_err();
    assert!(error.to_string().contains("second: changed while"), "{error}");
    assert_eq!(tree(root), before);
    assert!(storage.interrupted().unwrap().is_empty());
    assert!(storage.history().list().unwrap().value.is_empty());
}

#[test]
fn the_error_for_a_held_lock_names_the_process() {
    let folder = TempDir::new().unwrap();
    let outer = storage(folder.path());
    let inner = outer.clone().wait(Duration::ZERO);
    transact(&outer, "outer", |_| {
        let error = transact(&inner, "inner", |_| Ok(())).unwrap_err();
        let message = error.to_string();
        let own = format!("locked by process {}", std::process::id());
        assert!(message.contains(&own), "{message}");
        assert!(message.contains("locks/plan"), "{message}");
        Ok(())
    })
    .unwrap();
}
