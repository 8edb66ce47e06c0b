//! Commits a few files by git's plumbing.
//!
//! `git commit` itself compares every file, runs filters and merge drivers that settings name, and writes
//! files such as `COMMIT_EDITMSG` and what `rerere` keeps. Here git stores bytes, makes a tree of them and
//! of what is committed already, and moves the branch.

use std::path::Path;

use crate::clock::Clock;
use crate::error::Result;
use crate::git::program::Program;

/// What a commit is made of.
pub struct NewCommit<'a> {
    /// The files, named from the top of the repository, with their bytes.
    pub files: &'a [(&'a str, &'a [u8])],
    /// The message.
    pub message: &'a str,
    /// An empty folder outside of the repository, for an index of its own.
    pub scratch: &'a Path,
}

/// The mode of a file that is tracked for the first time.
const PLAIN_FILE: &str = "100644";

/// Commits these files and nothing else, with the time of this run; returns whether there was something to commit.
///
/// Refused where git would filter one of them. What else is staged stays staged.
pub(crate) fn commit(program: &Program<'_>, draft: &NewCommit<'_>, clock: &Clock) -> Result<bool> {
    let message = draft.message;
    let paths: Vec<&str> = draft.files.iter().map(|(path, _)| *path).collect();
    program.refuse_filtered(&paths)?;
    let program = program.without_programs()?;
    let head = program.query(&["rev-parse", "--quiet", "--verify", "HEAD"])?;
    let head = head.as_deref().map(str::trim);
    let Some(entries) = entries(&program, head, draft.files)? else {
        return Ok(false);
    };
    let aside = program.with_index(&draft.scratch.join("index"));
    if let Some(head) = head {
        aside.run(&["read-tree", head])?;
    }
    take_in(&aside, &entries)?;
    // An object that a partial clone lacks is none of ours.
    let Some(tree) = aside.run(&["write-tree", "--missing-ok"])? else {
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
    let Some(made) = program.sign_as(&arguments, clock)? else {
        return Ok(false);
    };
    let made = made.trim();
    // First, since it fails where another git is at work; a branch that fails to move leaves the files staged.
    take_in(&program, &entries)?;
    let unborn = "0".repeat(made.len());
    let reason = format!("commit: {message}");
    let before = head.unwrap_or(&unborn);
    program.run(&["update-ref", "-m", &reason, "HEAD", made, before])?;
    Ok(true)
}

/// Stores the files' bytes and returns the lines by which an index takes them in; none without a git program.
fn entries(
    program: &Program<'_>,
    head: Option<&str>,
    files: &[(&str, &[u8])],
) -> Result<Option<Vec<u8>>> {
    let mut lines = Vec::new();
    for (path, bytes) in files {
        let bytes = bytes.to_vec();
        let Some(object) = program.feed(&["hash-object", "-w", "--stdin"], bytes)? else {
            return Ok(None);
        };
        let object = String::from_utf8_lossy(&object);
        let mode = mode(program, head, path)?;
        lines.extend(format!("{mode} {}\t{path}\0", object.trim()).into_bytes());
    }
    Ok(Some(lines))
}

/// Returns the mode under which a file is committed already.
fn mode(program: &Program<'_>, head: Option<&str>, path: &str) -> Result<String> {
    let Some(head) = head else {
        return Ok(PLAIN_FILE.to_owned());
    };
    let listed = program.run(&["ls-tree", "-z", head, "--", path])?;
    let listed = listed.unwrap_or_default();
    let is_file = |mode: &&str| mode.starts_with("100");
    let mode = listed.split(' ').next().filter(is_file);
    Ok(mode.unwrap_or(PLAIN_FILE).to_owned())
}

fn take_in(program: &Program<'_>, entries: &[u8]) -> Result<()> {
    program.feed(&["update-index", "-z", "--index-info"], entries.to_vec())?;
    Ok(())
}

/// What git leaves in its folder while something is under way that a commit would get in between of.
const UNDER_WAY: &[(&str, &str)] = &[
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
];

/// Says what is under way in a repository, by its own folder.
pub(crate) fn under_way(own: &Path) -> Option<&'static str> {
    let is_there = |name: &str| own.join(name).symlink_metadata().is_ok();
    let found = UNDER_WAY.iter().find(|(name, _)| is_there(name));
    found.map(|(_, what)| *what)
}
