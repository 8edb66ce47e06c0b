//! Timelines, objects and listings in repositories that a script makes.

use assert_fs::TempDir;
use assert_fs::prelude::*;
use chrono::NaiveDate;

use super::*;
use crate::clock::parse_date;
use crate::git::tests::Sandbox;

/// A repository with a file that is renamed and changed, one that is removed, and one that stays.
fn with_history() -> Sandbox {
    let sandbox = Sandbox::empty();
    let lines = "a line like any other\n".repeat(30) + "line 7\n";
    sandbox.0.child("src/old name.rs").write_str(&lines).unwrap();
    sandbox.0.child("src/gone.rs").write_str("gone\n").unwrap();
    sandbox.0.child("größe.md").write_str("stays\n").unwrap();
    record(&sandbox, "2026-02-01T10:00:00Z");
    sandbox.git(&["mv", "src/old name.rs", "src/new.rs"]);
    let changed = lines.replace("line 7\n", "line seven\n");
    sandbox.0.child("src/new.rs").write_str(&changed).unwrap();
    record(&sandbox, "2026-02-02T23:30:00Z");
    sandbox.git(&["rm", "-q", "src/gone.rs"]);
    record(&sandbox, "2026-02-03T10:00:00Z");
    sandbox
}

fn record(sandbox: &Sandbox, time: &str) {
    sandbox.git(&["add", "-A"]);
    sandbox.commit_at(time);
}

fn day(text: &str) -> Option<NaiveDate> {
    parse_date(text)
}

#[test]
fn without_a_repository_there_is_no_history() {
    let folder = TempDir::new().unwrap();
    let git = Git::discover(folder.path());
    assert_eq!(git.top(), None);
    assert_eq!(git.tracked().unwrap(), None);
    assert_eq!(git.timeline().unwrap().hash(0), None);
    let names = ["HEAD:a".to_owned()];
    assert_eq!(git.exist(&names).unwrap(), [false]);
    assert_eq!(git.contents(&names).unwrap(), [None]);
    let empty = Sandbox::empty();
    assert_eq!(empty.open_git().timeline().unwrap().hash(0), None);
    assert_eq!(empty.open_git().tracked().unwrap(), Some(TrackedFiles::default()));
}

#[test]
fn paths_are_relative_to_the_top_even_in_a_subfolder() {
    let sandbox = with_history();
    let below = Git::discover(&sandbox.0.path().join("src"));
    assert_eq!(below.top(), Some(sandbox.0.path()));
    assert_eq!(below.tracked().unwrap().unwrap().files, ["größe.md", "src/new.rs"]);
}

#[test]
fn the_timeline_finds_commits_by_hash_day_and_moment() {
    let sandbox = with_history();
    let timeline = sandbox.open_git().timeline().unwrap();
    assert_eq!(timeline.hash(3), None);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    assert_eq!(timeline.hash(0), Some(head.as_str()));
    assert_eq!(timeline.index_of(&head[..7].to_uppercase()), Some(0));
    for (text, place) in [("2026-02-02", Some(1)), ("2026-02-09", Some(0)), ("2026-01-31", None)] {
        assert_eq!(timeline.at_end_of(day(text).unwrap()), place, "{text}");
    }
    for unknown in ["", "HEAD", "abc", "0123456789", "zzzz"] {
        assert_eq!(timeline.index_of(unknown), None, "{unknown}");
    }
}

#[test]
fn objects_are_read_one_after_the_other() {
    let sandbox = with_history();
    sandbox.0.child("large").write_binary(&vec![b'x'; 3 << 20]).unwrap();
    record(&sandbox, "2026-02-04T10:00:00Z");
    let git = sandbox.open_git();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let asked = names(&["HEAD:größe.md", "HEAD:no such file here", "", "a\nb", "HEAD:src", "HEAD"]);
    assert_eq!(git.exist(&asked).unwrap(), [true, false, false, false, true, true]);
    let read = git.contents(&names(&["HEAD:größe.md", "HEAD:none", "HEAD:large", "HEAD^{tree}"]));
    assert_eq!(read.unwrap(), [Some(b"stays\n".to_vec()), None, None, None]);
    // More than the pipes hold at once.
    let many = vec![names(&["HEAD:large"])[0].clone(); 3_000];
    assert!(git.exist(&many).unwrap().iter().all(|found| *found));
    assert_eq!(git.contents(&many[..20]).unwrap().len(), 20);
    let many = git.contents(&vec![names(&["HEAD:größe.md"])[0].clone(); 200]).unwrap();
    assert!(many.iter().all(|one| one.as_deref() == Some(b"stays\n")), "as many as asked");
}

#[test]
fn submodules_are_listed_separately_and_shallow_clones_are_recognised() {
    let sandbox = with_history();
    let inner = with_history();
    let url = format!("file://{}", inner.0.path().display());
    let allowed = ["-c", "protocol.file.allow=always"];
    sandbox.git(&[&allowed[..], &["submodule", "--quiet", "add", &url, "lib/inner"]].concat());
    record(&sandbox, "2026-02-05T10:00:00Z");
    let tracked = sandbox.open_git().tracked().unwrap().unwrap();
    assert_eq!(tracked.submodules, ["lib/inner"]);
    assert_eq!(tracked.files, [".gitmodules", "größe.md", "src/new.rs"]);
    let copies = TempDir::new().unwrap();
    let copy = copies.path().join("copy");
    let from = format!("file://{}", sandbox.0.path().display());
    sandbox.git(&["clone", "-q", "--depth=2", &from, copy.to_str().unwrap()]);
    let git = Git::discover(&copy);
    assert_eq!(git.timeline().unwrap().hash(2), None);
    assert!(git.is_shallow());
    assert!(!sandbox.open_git().is_shallow());
}
