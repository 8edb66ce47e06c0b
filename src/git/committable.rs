//! Checks whether files can be committed as they are, before anything is written.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::{Error, Result};
use crate::git::program::Program;

/// Files in git's folder that exist while an operation is in progress, and the operation.
const IN_PROGRESS: &[(&str, &str)] = &[
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("BISECT_LOG", "a bisect"),
];

/// Refuses a commit during a merge or a similar operation; `git_dir` is the repository's own folder.
pub(super) fn refuse_in_progress(program: &Program<'_>, git_dir: &Path) -> Result<()> {
    let exists = |name: &str| git_dir.join(name).symlink_metadata().is_ok();
    // With the reftable format, references such as MERGE_HEAD are not files.
    let uses_reftable = exists("reftable");
    for (name, what) in IN_PROGRESS {
        let is_reference = uses_reftable && name.ends_with("_HEAD");
        let is_there = exists(name)
            || is_reference
                && program.query(&["rev-parse", "--quiet", "--verify", name])?.is_some();
        if is_there {
            let message = format!("{what} is in progress, so nothing is committed");
            return Err(
                Error::refused(message).hint("finish or abort it, then run the command again")
            );
        }
    }
    Ok(())
}

/// Refuses files that are ignored, unmerged, excluded from a sparse checkout, or below a submodule or a link.
pub(super) fn refuse_uncommittable(program: &Program<'_>, paths: &[&str]) -> Result<()> {
    let folders = paths.iter().flat_map(|path| Path::new(path).ancestors().skip(1));
    let folders: BTreeSet<&str> = folders.filter_map(Path::to_str).collect();
    for folder in folders.into_iter().filter(|folder| !folder.is_empty()) {
        let entry = format!(":0:{folder}");
        let found = program.query(&["rev-parse", "--quiet", "--verify", &entry])?;
        if found.is_some() {
            let what = "git tracks it as a submodule, a link or a file, not as a folder";
            return Err(uncommittable(what, folder));
        }
    }
    let entries = index_entries(program, paths)?;
    let known: BTreeSet<&str> = entries.iter().map(|one| one.path.as_str()).collect();
    for one in &entries {
        let reason = match (one.tag, one.mode.as_str()) {
            ('M', _) => "it is unmerged",
            ('S', _) => "it is excluded from this sparse checkout",
            (_, mode) if !mode.starts_with("100") => "git tracks it as a link or a submodule",
            _ => continue,
        };
        return Err(uncommittable(reason, &one.path));
    }
    for path in paths.iter().filter(|path| !known.contains(*path)) {
        // A path that starts with `./` is not parsed as a pattern.
        let plain = format!("./{path}");
        if program.query(&["check-ignore", "--quiet", "--", &plain])?.is_some() {
            return Err(uncommittable("git ignores it", path));
        }
    }
    Ok(())
}

fn uncommittable(reason: &str, path: &str) -> Error {
    Error::refused(format!("{reason}, so it is not committed"))
        .at(Path::new(path), None)
        .hint("run the command without --commit, or change this in git first")
}

/// A file in the index.
struct IndexEntry {
    /// `H` for an ordinary entry, `S` for one outside a sparse checkout, `M` for an unmerged one.
    tag: char,
    mode: String,
    path: String,
}

fn index_entries(program: &Program<'_>, paths: &[&str]) -> Result<Vec<IndexEntry>> {
    let mut arguments = vec!["ls-files", "-z", "-t", "--stage", "--"];
    arguments.extend(paths);
    let listed = program.with_literal_paths().run(&arguments)?.unwrap_or_default();
    // `H 100644 0123… 0<TAB>docs/memory/STATE.md`
    let read = |row: &str| {
        let (fields, path) = row.split_once('\t')?;
        let mut words = fields.split(' ');
        Some(IndexEntry {
            tag: words.next()?.chars().next()?,
            mode: words.next()?.to_owned(),
            path: path.to_owned(),
        })
    };
    Ok(listed.split('\0').filter_map(read).collect())
}
