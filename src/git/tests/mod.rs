//! Tests git in real repositories.

mod history;

use assert_cmd::Command;
use assert_fs::TempDir;
use assert_fs::prelude::*;
use chrono::{DateTime, Utc};

use super::*;

/// A real repository in a folder of its own, made without the user's settings.
pub(crate) struct Sandbox(pub(crate) TempDir);

impl Sandbox {
    pub(crate) fn empty() -> Self {
        let sandbox = Self(TempDir::new().unwrap());
        sandbox.git(&["init", "-q", "-b", "main"]);
        sandbox.set_author();
        sandbox
    }

    fn set_author(&self) {
        self.git(&["config", "user.name", "Test"]);
        self.git(&["config", "user.email", "test@example.org"]);
    }

    pub(crate) fn with_commits(times: &[&str]) -> Self {
        let sandbox = Self::empty();
        for time in times {
            sandbox.commit(time);
        }
        sandbox
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_at("2026-02-11T10:00:00Z", arguments)
    }

    pub(crate) fn git_at(&self, time: &str, arguments: &[&str]) -> String {
        let output = self.command(time).args(arguments).assert().success();
        String::from_utf8_lossy(&output.get_output().stdout).trim().to_owned()
    }

    /// Merges a branch into the one that is checked out.
    pub(crate) fn merge_at(&self, branch: &str, time: &str) {
        let mut command = self.command(time);
        command.env("GIT_COMMITTER_DATE", time);
        let merge = ["merge", "-q", "--no-ff", "-m", "merge", branch];
        command.args(merge).assert().success();
    }

    fn command(&self, time: &str) -> Command {
        let mut command = Command::new("git");
        command
            .current_dir(self.0.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_AUTHOR_DATE", time)
            .env("GIT_COMMITTER_DATE", "2026-03-01T00:00:00Z");
        command
    }

    pub(crate) fn commit(&self, time: &str) -> String {
        self.git_at(time, &["commit", "-q", "--allow-empty", "-m", "change"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Commits what is staged at a time of both author and committer.
    pub(crate) fn commit_at(&self, time: &str) {
        let mut command = self.command(time);
        command.env("GIT_COMMITTER_DATE", time);
        command.args(["commit", "-q", "-m", "change"]).assert().success();
    }

    pub(crate) fn open_git(&self) -> Git {
        Git::discover(self.0.path())
    }
}

fn time(text: &str) -> Option<DateTime<Utc>> {
    text.parse().ok()
}

#[test]
fn outside_a_repository_everything_is_absent() {
    let folder = TempDir::new().unwrap();
    for broken in ["", "gitdir: nowhere", "gibberish"] {
        if !broken.is_empty() {
            folder.child(".git").write_str(broken).unwrap();
        }
        let git = Git::discover(folder.path());
        assert!(!git.is_repository());
        assert_eq!(git.head().unwrap(), None);
        assert_eq!(git.commit_times(&["84e9493", ""]).unwrap(), [None, None]);
        assert_eq!(git.local_config("core.bare").unwrap(), None);
    }
}

#[test]
fn a_repository_without_commits_has_no_head() {
    let sandbox = Sandbox::empty();
    let git = sandbox.open_git();
    assert!(git.is_repository());
    assert_eq!(git.head().unwrap(), None);
    assert_eq!(git.commit_times(&["84e9493"]).unwrap(), [None]);
}

#[test]
fn head_is_found_in_all_storage_formats() {
    let sandbox = Sandbox::with_commits(&["2026-02-11T10:00:00Z"]);
    let first = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.git(&["branch", "feature/maintenance"]);
    sandbox.0.child("a/b").create_dir_all().unwrap();
    let below = Git::discover(&sandbox.0.path().join("a/b"));
    assert_eq!(below.head().unwrap().as_ref(), Some(&first));
    let second = sandbox.commit("2026-02-12T10:00:00Z");
    assert_eq!(sandbox.open_git().head().unwrap().as_ref(), Some(&second));
    sandbox.git(&["pack-refs", "--all"]);
    assert_eq!(sandbox.open_git().head().unwrap().as_ref(), Some(&second));
    sandbox.git(&["checkout", "-q", "feature/maintenance"]);
    assert_eq!(sandbox.open_git().head().unwrap().as_ref(), Some(&first));
    sandbox.git(&["checkout", "-q", "--detach", "main"]);
    assert_eq!(sandbox.open_git().head().unwrap().as_ref(), Some(&second));
    sandbox.git(&["checkout", "-q", "--orphan", "fresh"]);
    assert_eq!(sandbox.open_git().head().unwrap(), None);
}

#[test]
fn a_worktree_has_its_own_head() {
    let sandbox = Sandbox::with_commits(&["2026-02-11T10:00:00Z"]);
    let first = sandbox.git(&["rev-parse", "HEAD"]);
    let other = TempDir::new().unwrap();
    let path = other.path().join("tree");
    sandbox.git(&["worktree", "add", "-q", "-b", "side", path.to_str().unwrap()]);
    let second = sandbox.commit("2026-02-12T10:00:00Z");
    let git = Git::discover(&path);
    assert_eq!(git.head().unwrap().as_ref(), Some(&first));
    assert_eq!(git.commit_times(&[&second]).unwrap(), [time("2026-02-12T10:00:00Z")]);
    sandbox.git(&["pack-refs", "--all"]);
    assert_eq!(git.head().unwrap(), Some(first));
}

#[test]
#[expect(clippy::print_stderr, reason = "reports that the test is skipped")]
fn git_resolves_a_head_that_files_do_not_show() {
    let sandbox = Sandbox(TempDir::new().unwrap());
    let mut init = sandbox.command("2026-02-11T10:00:00Z");
    let reftable = ["init", "-q", "-b", "main", "--ref-format=reftable"];
    if !init.args(reftable).output().unwrap().status.success() {
        eprintln!("SKIPPED: this git keeps refs in files alone (before 2.45)");
        return;
    }
    sandbox.set_author();
    assert_eq!(sandbox.open_git().head().unwrap(), None);
    let first = sandbox.commit("2026-02-11T10:00:00Z");
    assert_eq!(sandbox.open_git().head().unwrap(), Some(first));
}

#[test]
fn a_ref_outside_the_repository_is_not_read() {
    let sandbox = Sandbox::with_commits(&["2026-02-11T10:00:00Z"]);
    let first = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.0.child("outside").write_str(&first).unwrap();
    sandbox.0.child(".git/HEAD").write_str("ref: refs/../../outside\n").unwrap();
    assert_ne!(sandbox.open_git().head().ok().flatten(), Some(first));
}

#[test]
fn each_unknown_commit_is_none() {
    let sandbox = Sandbox::with_commits(&["2026-02-11T10:00:00+03:00"]);
    let first = sandbox.git(&["rev-parse", "HEAD"]);
    let second = sandbox.commit("2026-02-11T10:04:30Z");
    sandbox.0.child("file").write_str("text").unwrap();
    let blob = sandbox.git(&["hash-object", "-w", "file"]);
    sandbox.git(&["tag", "-a", "-m", "tagged", "deadbeef"]);
    let absent = "0123456789012345678901234567890123456789";
    let asked = [
        &first,
        "HEAD",
        &second[..8],
        absent,
        &blob,
        "",
        "--help",
        "zzzz",
        "abc\ndef",
        &first[..7],
    ];
    let (one, two) = (time("2026-02-11T07:00:00Z"), time("2026-02-11T10:04:30Z"));
    assert_eq!(
        sandbox.open_git().commit_times(&asked).unwrap(),
        [one, None, two, None, None, None, None, None, None, one]
    );
}

#[test]
fn thousands_of_commits_do_not_block_the_pipes() {
    let sandbox = Sandbox::with_commits(&["2026-02-11T10:00:00Z"]);
    let first = sandbox.git(&["rev-parse", "HEAD"]);
    let asked = vec![first.as_str(); 5_000];
    let times = sandbox.open_git().commit_times(&asked).unwrap();
    assert_eq!(times, vec![time("2026-02-11T10:00:00Z"); 5_000]);
}

#[cfg(unix)]
#[test]
fn programs_named_by_the_repository_are_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::with_commits(&["2026-02-11T10:00:00Z"]);
    let trap = sandbox.0.child("trap.sh");
    let sprung = sandbox.0.child("sprung");
    trap.write_str(&format!("#!/bin/sh\ntouch '{}'\n", sprung.path().display())).unwrap();
    let hook = sandbox.0.child(".git/hooks/reference-transaction");
    hook.write_file(trap.path()).unwrap();
    for script in [trap.path(), hook.path()] {
        std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let trap = trap.path().to_str().unwrap();
    for setting in [
        "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "gpg.program",
        "diff.external",
    ] {
        sandbox.git(&["config", setting, trap]);
    }
    for setting in ["log.showSignature", "tag.gpgSign", "commit.gpgSign"] {
        sandbox.git(&["config", setting, "true"]);
    }
    // A clone that fetches what it lacks, over a transport that is a command.
    sandbox.git(&["config", "core.repositoryFormatVersion", "1"]);
    sandbox.git(&["config", "extensions.partialClone", "origin"]);
    sandbox.git(&["config", "remote.origin.promisor", "true"]);
    sandbox.git(&["config", "remote.origin.url", &format!("ext::{trap}")]);
    sandbox.git(&["config", "protocol.ext.allow", "always"]);
    let git = sandbox.open_git();
    let absent = "0123456789012345678901234567890123456789";
    assert_eq!(git.commit_times(&[absent]).unwrap(), [None]);
    assert!(git.local_config("remote.origin.url").unwrap().is_some());
    assert_eq!(git.newest_commits(1).unwrap().len(), 1);
    assert!(git.changes_since("HEAD").unwrap().is_empty());
    assert!(!sprung.path().exists());
}

#[cfg(unix)]
#[test]
fn objects_of_another_repository_are_not_read() {
    let sandbox = Sandbox::with_commits(&["2026-01-01T00:00:00Z"]);
    let other = Sandbox::with_commits(&["2026-01-02T00:00:00Z"]);
    let objects = other.0.child(".git/objects");
    let alternates = sandbox.0.child(".git/objects/info/alternates");
    let text = format!("{}\n", objects.path().display());
    alternates.write_str(&text).unwrap();
    let git = Git::discover(sandbox.0.path());
    assert!(git.warning().unwrap().message.contains("another repository"));
}
