//! An operation killed at any file operation is completely applied, or not at all, after the next command.

use std::process::ExitStatus;

use annals::storage::fail_point;

use super::*;

/// The operation under test, with every kind of change, and paths that are reused.
fn ship(root: &Path) -> Result<Applied> {
    transact(&storage(root), "ship", |changes| {
        changes.rename(&root.join("phases"), &root.join("milestones/one/phases"))?;
        changes.rename(&root.join("STATE.md"), &root.join("milestones/one/STATE.md"))?;
        changes.write(&root.join("milestones/one/SHIPPED.md"), "shipped")?;
        changes.write(&root.join("milestones/one/phases/01/PLAN.md"), "edited")?;
        changes.write(&root.join("STATE.md"), "fresh")?;
        changes.write(&root.join("CLAUDE.md"), "new")?;
        changes.delete(&root.join("RESUME.md"))?;
        changes.append(&root.join("log.md"), "- shipped")
    })
}

/// Runs [`ship`] with a last change that conflicts with another program's.
fn fail(root: &Path) -> Result<Applied> {
    transact(&storage(root), "fail", |changes| {
        changes.rename(&root.join("phases"), &root.join("moved"))?;
        changes.write(&root.join("STATE.md"), "fresh")?;
        changes.delete(&root.join("RESUME.md"))?;
        changes.edit(&root.join("CLAUDE.md"), Some(b"never".to_vec()), "new")
    })
}

fn recover(root: &Path) -> Result<Applied> {
    transact(&storage(root), "recover", |_| Ok(()))
}

fn undo(root: &Path) -> Result<Applied> {
    history::undo(&storage(root), None)
}

/// Runs a job in another process until the fail point stops it.
pub(crate) fn work(job: &str, root: &Path, stop_at: usize) {
    fail_point::arm(stop_at);
    let done = match job {
        "ship" => ship(root),
        "fail" => fail(root),
        "undo" => undo(root),
        "recover" => recover(root),
        "request" => requests::count(&storage(root), root, "one").map(|(_, applied)| applied),
        "killed count" => {
            races::count(root, 10);
            Ok(Applied::default())
        }
        other => panic!("no job is called {other}"),
    };
    fail_point::arm(0);
    assert_eq!(done.is_err(), job == "fail");
}

fn run(job: &str, root: &Path, stop_at: usize) -> ExitStatus {
    spawn(job, root, stop_at).wait().unwrap()
}

fn planning_folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    put(root, "phases/01/PLAN.md", "plan");
    put(root, "STATE.md", "state");
    put(root, "CLAUDE.md", "old");
    put(root, "RESUME.md", "resume");
    put(root, "log.md", "- begun\n");
    folder
}

/// Returns all files but the log, which undo does not change.
fn files(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut files = tree(root);
    files.remove(Path::new("log.md"));
    files
}

fn assert_no_leftovers(root: &Path) {
    assert!(storage(root).interrupted().unwrap().is_empty());
    for entry in fs::read_dir(root.join(".annals/history")).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(name.to_str().unwrap().ends_with(".record"), "{}", name.display());
    }
}

/// Kills `job` at each file operation until it completes, and calls `check` after each kill.
fn kill_at_each(job: &str, set_up: impl Fn(&Path), check: impl Fn(&Path, usize)) -> usize {
    for stop_at in 1.. {
        let folder = planning_folder();
        set_up(folder.path());
        let status = run(job, folder.path(), stop_at);
        if status.success() {
            return stop_at - 1;
        }
        check(folder.path(), stop_at);
    }
    unreachable!("the loop ends when the job comes through")
}

#[test]
fn a_killed_operation_is_completed_or_never_began() {
    let model = planning_folder();
    let before = files(model.path());
    ship(model.path()).unwrap();
    let after = files(model.path());
    let log = fs::read(model.path().join("log.md")).unwrap();

    let kills = kill_at_each(
        "ship",
        |_| {},
        |root, stop_at| {
            let whole: Vec<_> = before.values().chain(after.values()).collect();
            for (path, content) in files(root) {
                let is_temporary = path.to_str().unwrap().contains(".annals-");
                assert!(is_temporary || whole.contains(&&content), "{stop_at}: {path:?}");
            }
            let reported = storage(root).interrupted().unwrap().len();
            let recovered = recover(root).unwrap();
            assert_eq!(recovered.warnings.len(), reported, "{stop_at}");
            let found = files(root);
            if found == after {
                assert_eq!(fs::read(root.join("log.md")).unwrap(), log, "{stop_at}");
                undo(root).unwrap();
            } else {
                assert_eq!(reported, 0, "{stop_at}: {:?}", recovered.warnings);
            }
            assert_eq!(files(root), before, "{stop_at}");
            assert_no_leftovers(root);
        },
    );
    assert!(kills > 40, "{kills}");
}

#[test]
fn a_killed_undo_is_completed_or_never_began() {
    let model = planning_folder();
    let before = files(model.path());
    ship(model.path()).unwrap();
    let after = files(model.path());
    let set_up = |root: &Path| {
        ship(root).unwrap();
    };
    let kills = kill_at_each("undo", set_up, |root, stop_at| {
        recover(root).unwrap();
        let found = files(root);
        assert!(found == before || found == after, "{stop_at}: {found:?}");
        assert_no_leftovers(root);
    });
    assert!(kills > 30, "{kills}");
}

#[test]
fn an_operation_killed_while_it_is_reverted_is_reverted() {
    let before = files(planning_folder().path());
    let kills = kill_at_each(
        "fail",
        |_| {},
        |root, stop_at| {
            let interrupted = !storage(root).interrupted().unwrap().is_empty();
            recover(root).unwrap();
            assert_no_leftovers(root);
            if interrupted && files(root) != before {
                // Killed before it met the changed file: completed but for that one, which is left alone.
                let last = storage(root).history().find(None).unwrap();
                let left = last.files.last().unwrap();
                assert_eq!(left.happened, annals::storage::ChangeKind::LeftAlone, "{stop_at}");
                undo(root).unwrap();
            }
            assert_eq!(files(root), before, "{stop_at}");
        },
    );
    assert!(kills > 30, "{kills}");
}

#[test]
fn a_recovery_killed_at_each_step_is_itself_recovered() {
    let model = planning_folder();
    ship(model.path()).unwrap();
    let after = files(model.path());
    // Half-way through the changes, where most is left to do in both directions.
    let set_up = |root: &Path| {
        assert!(!run("ship", root, 30).success());
    };
    let kills = kill_at_each("recover", set_up, |root, stop_at| {
        recover(root).unwrap();
        assert_eq!(files(root), after, "{stop_at}");
        assert_no_leftovers(root);
    });
    assert!(kills > 10, "{kills}");
}

#[test]
fn files_changed_after_the_kill_are_left_alone_with_a_warning() {
    let folder = planning_folder();
    let root = folder.path();
    let mut stop_at = 20;
    while root.join("milestones/one/SHIPPED.md").exists() || !root.join("milestones/one").exists() {
        stop_at += 1;
        assert!(!run("ship", root, stop_at).success());
        assert!(stop_at < 40, "the kill comes between the moves and the writes");
    }
    put(root, "CLAUDE.md", "the user's");
    let recovered = recover(root).unwrap();
    let told: Vec<String> = recovered.warnings.iter().map(ToString::to_string).collect();
    assert!(told[0].contains("`ship` (operation 1) had been interrupted"), "{told:?}");
    assert!(told[1].contains("CLAUDE.md: left unchanged"), "{told:?}");
    assert_eq!(fs::read(root.join("CLAUDE.md")).unwrap(), b"the user's");
    assert_eq!(fs::read(root.join("STATE.md")).unwrap(), b"fresh");
    undo(root).unwrap();
    assert_eq!(fs::read(root.join("CLAUDE.md")).unwrap(), b"the user's");
    assert_eq!(fs::read(root.join("STATE.md")).unwrap(), b"state");
}

#[test]
fn the_first_command_in_a_project_may_be_killed_too() {
    let plan = |root: &Path| {
        transact(&storage(root), "write", |changes| changes.write(&root.join("file"), "new"))
    };
    let kills = kill_at_each(
        "ship",
        |_| {},
        |root, _| {
            plan(root).unwrap();
            assert_eq!(fs::read(root.join("file")).unwrap(), b"new");
            assert!(fs::read(root.join(".annals/.gitignore")).unwrap().starts_with(b"*"));
        },
    );
    assert!(kills > 40, "{kills}");
}

#[test]
fn kills_beside_concurrent_writers_lose_no_update() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let killed = (1..20).map(|number| spawn("killed count", root, number * 3));
    let others = (0..3).map(|_| spawn("count", root, 20));
    let children: Vec<_> = killed.chain(others).collect();
    let ended = children.into_iter().map(|mut child| child.wait().unwrap());
    assert!(ended.filter(ExitStatus::success).count() >= 3);
    recover(root).unwrap();
    let number = String::from_utf8(fs::read(root.join("number")).unwrap()).unwrap();
    let done = storage(root).history().list().unwrap().value.len();
    assert_eq!(number, done.to_string());
    assert!(done > 60, "{done}");
    assert_no_leftovers(root);
}

#[test]
fn a_killed_request_is_executed_once_when_repeated() {
    let kills = kill_at_each(
        "request",
        |_| {},
        |root, stop_at| {
            let (answer, _) = requests::count(&storage(root), root, "one").unwrap();
            assert_eq!(answer, 1, "killed at operation {stop_at}");
            assert_eq!(requests::lines(root), 1, "killed at operation {stop_at}");
            assert_no_leftovers(root);
        },
    );
    assert!(kills > 5, "killed {kills} times");
}
