//! Changes that cannot be applied fail with a clear error and lose nothing.

use annals::error::ErrorKind;

use super::*;

#[test]
fn nothing_to_write_records_nothing() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let file = put(root, "file", "same");
    let storage = storage(root);
    let applied = transact(&storage, "sync", |changes| changes.write(&file, "same")).unwrap();
    assert_eq!((applied.id, applied.changed.len()), (None, 0));
    assert!(storage.history().list().unwrap().value.is_empty());
}

#[test]
fn our_own_folder_is_closed_to_git() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    transact(&storage(root), "write", |changes| changes.write(&root.join("file"), "new")).unwrap();
    assert_eq!(fs::read(root.join(".annals/.gitignore")).unwrap(), b"*\n");
}

#[test]
fn a_dry_run_writes_nothing_and_shows_all() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let file = put(root, "a.md", "one\n");
    let before = tree(root);
    let applied = transact(&storage(root).dry_run(true), "sync", |changes| {
        changes.write(&file, "two\n")?;
        changes.rename(&file, &root.join("b/a.md"))
    })
    .unwrap();
    let diff = "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-one\n+two\n\
        rename from a.md\nrename to b/a.md\n";
    assert_eq!(applied.diff.as_deref(), Some(diff));
    assert_eq!(applied.changed, [file, root.join("b/a.md")]);
    assert_eq!(tree(root), before);
    assert!(!root.join(".annals").exists());
}

/// A tree that even root cannot write to.
#[cfg(target_os = "linux")]
#[test]
fn an_unwritable_tree_does_not_prevent_an_empty_transaction() {
    let root = Path::new("/sys/kernel");
    let storage = storage(root);
    transact(&storage, "sync", |_| Ok(())).unwrap();
    let plan = |changes: &mut Changes| changes.write(&root.join("file"), "new");
    let error = transact(&storage, "sync", plan).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Failed);
    assert!(error.to_string().contains("/sys/kernel/.annals"), "{error}");
    let applied = transact(&storage.dry_run(true), "sync", plan).unwrap();
    let diff = applied.diff.unwrap();
    assert!(diff.contains("+new"), "{diff}");
}

#[test]
fn a_directory_in_place_of_a_file_is_reported() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    put(root, "CLAUDE.md/x", "");
    let plan = |changes: &mut Changes| changes.write(&root.join("CLAUDE.md"), "new");
    let error = transact(&storage(root), "sync", plan).unwrap_err();
    assert!(error.to_string().contains("CLAUDE.md: is a directory"), "{error}");
}

#[test]
fn a_file_saved_meanwhile_is_planned_again() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let file = put(root, "file", "old\n");
    let mut saves = ["first\n", "second\n"].into_iter();
    transact(&storage(root), "add", |changes| {
        let mut text = changes.current(&file)?.unwrap();
        text.extend(b"ours\n");
        changes.write(&root.join("other"), text.clone())?;
        changes.write(&file, text)?;
        saves.next().map(|text| put(root, "file", text));
        Ok(())
    })
    .unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"second\nours\n");
    assert_eq!(fs::read(root.join("other")).unwrap(), b"second\nours\n");
    assert_eq!(storage(root).history().list().unwrap().value.len(), 1);
}

#[test]
fn a_file_saved_in_every_round_is_refused_and_all_is_reverted() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let file = put(root, "file", "old");
    let mut round = 0;
    let error = transact(&storage(root), "edit", |changes| {
        changes.write(&root.join("other"), "new")?;
        changes.write(&file, "new")?;
        round += 1;
        put(root, "file", format!("save {round}"));
        Ok(())
    })
    .unwrap_err();
    assert_eq!((round, error.kind), (3, ErrorKind::Refused));
    assert!(error.to_string().contains("file: changed while"), "{error}");
    assert_eq!(tree(root), [("file".into(), Some(b"save 3".to_vec()))].into());
    assert!(storage(root).history().list().unwrap().value.is_empty());
}

#[test]
fn our_own_folder_may_be_in_the_way() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    put(root, ".annals", "a file");
    let storage = storage(root);
    transact(&storage, "sync", |_| Ok(())).unwrap();
    let plan = |changes: &mut Changes| changes.write(&root.join("file"), "new");
    let error = transact(&storage, "sync", plan).unwrap_err();
    assert!(error.to_string().contains(".annals: is in the way"), "{error}");
}

#[test]
fn a_failed_change_reverts_the_earlier_ones() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let file = put(root, "file", "old");
    let before = tree(root);
    let storage = storage(root);
    let error = transact(&storage, "write", |changes| {
        changes.write(&file, "new")?;
        changes.write(&root.join("a/b"), "new")?;
        // Longer than any file system takes.
        changes.write(&root.join("c").join("x".repeat(300)), "new")
    })
    .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Failed);
    assert_eq!(tree(root), before);
    assert!(storage.interrupted().unwrap().is_empty());
}

/// Runs in a process in which no file can grow beyond 4 KiB, as on a full disk.
#[cfg(unix)]
pub(crate) fn write_too_much(root: &Path) {
    let storage = storage(root);
    let before = tree(root);
    let error = transact(&storage, "record", |changes| {
        changes.write(&root.join("file"), "x".repeat(5_000))
    })
    .unwrap_err();
    assert!(error.to_string().contains("cannot record"), "{error}");
    assert_eq!(tree(root), before);

    let error = transact(&storage, "append", |changes| {
        changes.write(&root.join("file"), "new")?;
        changes.append(&root.join("log"), "x".repeat(200))
    })
    .unwrap_err();
    assert!(error.to_string().contains("could not be written completely"), "{error}");
    assert_eq!(tree(root), before);
    assert!(storage.interrupted().unwrap().is_empty());
    assert!(storage.history().list().unwrap().value.is_empty());
}

#[cfg(unix)]
#[test]
fn a_full_disk_reverts_the_whole_operation() {
    let folder = TempDir::new().unwrap();
    put(folder.path(), "file", "old");
    put(folder.path(), "log", "line\n".repeat(800));
    let ended = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh"])
        .arg(env::current_exe().unwrap())
        .args(["storage::as_another_process", "--exact", "--ignored"])
        .env(JOB, format!("fill\n0\n{}", folder.path().display()))
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{output}");
    assert!(output.contains("1 passed"), "{output}");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_link_is_followed_inside_the_project_only() {
        let folder = TempDir::new().unwrap();
        let outside = put(folder.path(), "outside.md", "theirs");
        let root = folder.path().join("project");
        let agents = put(&root, "AGENTS.md", "old");
        symlink("AGENTS.md", root.join("CLAUDE.md")).unwrap();
        let storage = storage(&root);
        let write = |name: &str| {
            let path = root.join(name);
            transact(&storage, "sync", |changes| changes.write(&path, "new"))
        };
        write("CLAUDE.md").unwrap();
        assert!(root.join("CLAUDE.md").is_symlink());
        assert_eq!(fs::read(&agents).unwrap(), b"new");

        symlink(&outside, root.join("GEMINI.md")).unwrap();
        symlink("../new.md", root.join("dangling.md")).unwrap();
        symlink(folder.path(), root.join("folder")).unwrap();
        for name in ["GEMINI.md", "dangling.md", "folder/outside.md", "../x.md", ".git/config"] {
            let error = write(name).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Refused, "{name}: {error}");
        }
        assert_eq!(fs::read(&outside).unwrap(), b"theirs");
        assert!(!folder.path().join("new.md").exists());
    }

    #[test]
    fn links_in_a_repository_are_not_followed_outside() {
        let folder = TempDir::new().unwrap();
        let victim = put(folder.path(), "victim", "theirs");
        let root = folder.path().join("project");
        for name in [".annals", ".annals/locks", ".annals/locks/plan", ".annals/history"] {
            let link = root.join(name);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            let target = if name.ends_with("plan") { &victim } else { folder.path() };
            symlink(target, &link).unwrap();
            let plan = |changes: &mut Changes| changes.write(&root.join("file"), "new");
            let error = transact(&storage(&root), "sync", plan).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Refused, "{name}: {error}");
            fs::remove_dir_all(&root).unwrap();
        }
        fs::create_dir_all(root.join(".annals")).unwrap();
        symlink(&victim, root.join(".annals/hook.log")).unwrap();
        assert!(storage(&root).log("hook.log", "line").is_err());
        assert_eq!(fs::read(&victim).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn permissions_are_kept_and_new_files_follow_the_umask() {
        let folder = TempDir::new().unwrap();
        let root = folder.path();
        let (kept, new) = (put(root, "kept", "old"), root.join("new"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        fs::set_permissions(&kept, fs::Permissions::from_mode(0o640)).unwrap();
        let storage = storage(root);
        transact(&storage, "write", |changes| {
            changes.write(&kept, "new")?;
            changes.write(&new, "new")
        })
        .unwrap();
        assert_eq!(mode(&kept), 0o640);
        assert_eq!(mode(&new), mode(&put(root, "usual", "")));

        transact(&storage, "delete", |changes| changes.delete(&kept)).unwrap();
        assert!(!kept.exists());
        history::undo(&storage, None).unwrap();
        assert_eq!((fs::read(&kept).unwrap(), mode(&kept)), (b"new".to_vec(), 0o640));
        assert_eq!(mode(&root.join(".annals/history")), 0o700);
    }

    #[test]
    fn a_write_protected_file_is_left_alone() {
        let folder = TempDir::new().unwrap();
        let root = folder.path();
        let file = put(root, "file", "old");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        let plan = |changes: &mut Changes| changes.write(&file, "new");
        let error = transact(&storage(root), "write", plan).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused);
        assert_eq!(fs::read(&file).unwrap(), b"old");
    }
}

#[test]
fn caches_and_logs_are_written_atomically_and_not_on_a_dry_run() {
    let folder = TempDir::new().unwrap();
    let storage = storage(folder.path());
    let dry = storage.clone().dry_run(true);
    dry.write_cache("index", b"dry").unwrap();
    dry.log("hook.log", "dry").unwrap();
    assert!(!folder.path().join(".annals").exists());
    assert_eq!(storage.cache("index").unwrap(), None);
    storage.write_cache("index", b"one").unwrap();
    storage.write_cache("index", b"two").unwrap();
    storage.log("hook.log", "line").unwrap();
    assert_eq!(storage.cache("index").unwrap().unwrap(), b"two");
    assert_eq!(fs::read(storage.own_file("hook.log")).unwrap(), b"line\n");
    assert_eq!(fs::read_dir(folder.path().join(".annals")).unwrap().count(), 3);
}

#[test]
fn what_a_repository_says_of_our_folder_does_not_show_it_to_git() {
    for (planted, expected) in [
        ("", "*\n"),
        ("!*\n", "*\n"),
        ("*\n!history\n!history/*\n", "*\n"),
        ("*\r\n!.gitignore\r\n", "*\r\n!.gitignore\r\n"),
    ] {
        let folder = TempDir::new().unwrap();
        let root = folder.path();
        put(root, ".annals/.gitignore", planted);
        transact(&storage(root), "write", |changes| changes.write(&root.join("file"), "x"))
            .unwrap();
        let ignored = fs::read_to_string(root.join(".annals/.gitignore")).unwrap();
        assert_eq!(ignored, expected, "{planted}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_our_gitignore_is_replaced() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    put(root, "mine", "mine");
    fs::create_dir(root.join(".annals")).unwrap();
    std::os::unix::fs::symlink("../mine", root.join(".annals/.gitignore")).unwrap();
    transact(&storage(root), "write", |changes| changes.write(&root.join("file"), "x")).unwrap();
    assert_eq!(fs::read(root.join(".annals/.gitignore")).unwrap(), b"*\n");
    assert_eq!(fs::read(root.join("mine")).unwrap(), b"mine");
}
