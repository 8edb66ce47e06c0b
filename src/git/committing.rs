//! Commits a few files with git's plumbing commands.
//!
//! `git commit` itself compares every file, runs filters and merge drivers from the settings, and writes
//! files such as `COMMIT_EDITMSG` and the files of `rerere`. Here git stores the blobs, writes a tree of them and
//! of the files committed already, and updates the branch.

use std::path::Path;

use crate::clock::Clock;
use crate::error::Result;
use crate::git::program::Program;

/// The content of a new commit.
pub struct NewCommit<'a> {
    /// The files, relative to the top of the repository.
    pub files: &'a [&'a str],
    /// The message.
    pub message: &'a str,
    /// An empty folder outside the repository, for a separate index.
    pub scratch: &'a Path,
}

/// Commits only these files, with the time of this run; returns whether there was something to commit.
///
/// Other staged changes stay staged. Line ends and encodings are converted as by `git add`.
pub(super) fn commit(program: &Program<'_>, draft: &NewCommit<'_>, clock: &Clock) -> Result<bool> {
    let message = draft.message;
    let program = program.without_filters_and_hooks()?;
    let head = program.query(&["rev-parse", "--quiet", "--verify", "HEAD"])?;
    let head = head.as_deref().map(str::trim);
    let scratch = program.with_index(&draft.scratch.join("index"));
    if let Some(head) = head {
        scratch.run(&["read-tree", head])?;
    }
    stage(&scratch, draft.files)?;
    // An object missing from a partial clone is not one of these files.
    let Some(tree) = scratch.run(&["write-tree", "--missing-ok"])? else {
        return Ok(false);
    };
    let tree = tree.trim();
    if let Some(head) = head {
        let committed = program.query(&["rev-parse", "--verify", &format!("{head}^{{tree}}")])?;
        if committed.is_some_and(|committed| committed.trim() == tree) {
            return Ok(false);
        }
    }
    let mut arguments = vec!["commit-tree", "--no-gpg-sign", "-m", message];
    if let Some(head) = head {
        arguments.extend(["-p", head]);
    }
    arguments.push(tree);
    let Some(commit_hash) = program.run_as_committer(&arguments, clock)? else {
        return Ok(false);
    };
    let commit_hash = commit_hash.trim();
    // Before the branch is updated, since it fails while another git process holds the index. If the branch
    // cannot be updated, the files stay staged.
    stage(&program, draft.files)?;
    let unborn = "0".repeat(commit_hash.len());
    let reason = format!("commit: {message}");
    let before = head.unwrap_or(&unborn);
    program.run(&["update-ref", "-m", &reason, "HEAD", commit_hash, before])?;
    Ok(true)
}

/// Adds the files to an index; fails rather than replace an entry of another kind.
fn stage(program: &Program<'_>, files: &[&str]) -> Result<()> {
    let names = files.join("\0").into_bytes();
    program.run_with_input(&["update-index", "--add", "-z", "--stdin"], names)?;
    Ok(())
}
