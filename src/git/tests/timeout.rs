//! Tests that a git process that takes too long is terminated cleanly.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::git::program;
use crate::git::program::Running;
use crate::git::tests::Sandbox;

#[test]
fn a_git_process_that_times_out_leaves_no_lock() {
    let sandbox = Sandbox::with_commits(&["2026-01-01T00:00:00Z"]);
    let lock = sandbox.0.path().join(".git/index.lock");
    let arguments = ["update-index", "--add", "-z", "--stdin"];
    // Its input never ends, and it keeps the lock while it waits.
    let mut command = program::command(sandbox.0.path(), &arguments);
    let (mut child, running) = Running::start(command.stdin(Stdio::piped())).unwrap();
    while !lock.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it waits for its input");
        thread::yield_now();
    }
    // `wait` would close its input, and it would end normally.
    let _input = child.stdin.take();
    let deadline = running.deadline(Duration::from_millis(1)).unwrap();
    assert!(!child.wait().unwrap().success());
    deadline.close().unwrap_err();
    assert!(!lock.exists());
}
