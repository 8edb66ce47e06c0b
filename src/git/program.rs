//! Runs git so that it starts no program named by the repository and fetches nothing.
//!
//! A repository's own settings may name programs, and an unpacked archive contains such settings. Each
//! command therefore runs without the file system monitor, hooks, signatures, pager, submodules, background
//! maintenance and fetching of missing objects, and none reads the checked-out files, for which filters may
//! be configured. Nor does a setting direct git to files elsewhere: the worktree is the folder of `.git`, and
//! rules for attributes and ignored files come from the repository. The user's environment is kept, except
//! for the variables with which git selects a repository for its hooks.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::error::{At, Error, Result};
use crate::process;
use crate::process::Output;
use crate::text::strip_controls;

/// Settings that keep git from starting programs and from reading files elsewhere.
const SAFE_SETTINGS: &str = "core.quotepath=off core.fsmonitor=false core.hooksPath=/dev/null log.showSignature=false \
    diff.ignoreSubmodules=all gc.auto=0 maintenance.auto=false core.attributesFile=/dev/null core.excludesFile=/dev/null \
    log.follow=false log.mailmap=false mailmap.file=/dev/null diff.orderFile=/dev/null safe.bareRepository=explicit";

/// Variables that select the repository, index or objects; git sets these for its hooks.
const REPOSITORY_VARIABLES: &str = "GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY \
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_PREFIX";

/// Maximum length of git's output, in bytes.
const MAX_OUTPUT_BYTES: u64 = 64 << 20;

/// Time limit of a git process. Reading a history of a million commits takes less; a pipe in place of an
/// object would block forever.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// Returns a command for the repository whose `.git` is in this folder; git searches nowhere else.
#[expect(clippy::disallowed_methods, reason = "the only place that starts git")]
fn command(top: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(top).arg("--work-tree").arg(top);
    command.args(["--no-pager", "--no-optional-locks"]);
    for setting in SAFE_SETTINGS.split(' ') {
        command.args(["-c", setting]);
    }
    command.args(arguments);
    for variable in REPOSITORY_VARIABLES.split(' ') {
        command.env_remove(variable);
    }
    if let Some(above) = top.canonicalize().ok().as_deref().and_then(Path::parent) {
        command.env("GIT_CEILING_DIRECTORIES", above);
    }
    command
        .env("LC_ALL", "C")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ALLOW_PROTOCOL", "");
    command
}

/// Runs a command that reads this input to its end; `None` without a git program.
pub(crate) fn run(top: &Path, arguments: &[&str], input: &[u8]) -> Result<Option<Output>> {
    let action = format!("run git {}", arguments.first().unwrap_or(&""));
    match process::run(&mut command(top, arguments), input, MAX_OUTPUT_BYTES, MAX_WAIT) {
        Ok(output) if output.is_cut => {
            Err(Error::failed(format!("cannot {action}: its output exceeds 64 MiB")).about(top))
        }
        Ok(output) => Ok(Some(output)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).at(&action, top),
    }
}

/// Returns what a successful process wrote, or an error with the first line of its error output.
pub(crate) fn successful(output: Output, arguments: &[&str]) -> Result<Vec<u8>> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let reason = strip_controls(output.stderr.trim()).into_owned();
    let reason = reason.lines().next().unwrap_or("no reason given");
    let command = arguments.first().unwrap_or(&"");
    Err(Error::failed(format!("git {command} failed: {reason}")))
}
