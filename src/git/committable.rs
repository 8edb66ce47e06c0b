//! What speaks against committing a file: asked before anything is written.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::Error;
use crate::error::Result;
use crate::git::program::Program;

/// What git leaves in its folder while something is under way that a commit would get in between of.
const UNDER_WAY: &[(&str, &str)] = &[
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("BISECT_LOG", "a bisect"),
];

/// Refuses a commit while a merge or its like is under way; `own` is the repository's own folder.
pub(super) fn refuse_under_way(program: &Program<'_>, own: &Path) -> Result<()> {
    let is_file = |name: &str| own.join(name).symlink_metadata().is_ok();
    // Where git keeps references in tables, these are no files.
    let has_tables = is_file("reftable");
    for (name, what) in UNDER_WAY {
        let is_reference = has_tables && name.ends_with("_HEAD");
        let is_there = is_file(name)
            || is_reference
                && program
                    .query(&["rev-parse", "--quiet", "--verify", name])?
                    .is_some();
        if is_there {
            let message = format!("{what} is in progress, so nothing is committed");
            return Err(Error::refused(message).hint("finish or abort it; then run it again"));
        }
    }
    Ok(())
}

/// Refuses files that git would not commit as they are: those below a submodule or a link, unmerged, left out of a
/// sparse checkout, or ignored.
pub(super) fn refuse_unfit(program: &Program<'_>, paths: &[&str]) -> Result<()> {
    let folders = paths
        .iter()
        .flat_map(|path| Path::new(path).ancestors().skip(1));
    let folders: BTreeSet<&str> = folders.filter_map(Path::to_str).collect();
    for folder in folders.into_iter().filter(|folder| !folder.is_empty()) {
        let entry = format!(":0:{folder}");
        let found = program.query(&["rev-parse", "--quiet", "--verify", &entry])?;
        if found.is_some() {
            let what = "git tracks it as a submodule, a link or a file, not as a folder";
            return Err(unfit(what, folder));
        }
    }
    let tracked = tracked(program, paths)?;
    let known: BTreeSet<&str> = tracked.iter().map(|one| one.path.as_str()).collect();
    for one in &tracked {
        let fault = match (one.tag, one.mode.as_str()) {
            ('M', _) => "it is unmerged",
            ('S', _) => "it is left out of this sparse checkout",
            (_, mode) if !mode.starts_with("100") => "git tracks it as a link or a submodule",
            _ => continue,
        };
        return Err(unfit(fault, &one.path));
    }
    for path in paths.iter().filter(|path| !known.contains(*path)) {
        // A path that begins so is no pattern.
        let plain = format!("./{path}");
        if program
            .query(&["check-ignore", "--quiet", "--", &plain])?
            .is_some()
        {
            return Err(unfit("git ignores it", path));
        }
    }
    Ok(())
}

fn unfit(fault: &str, path: &str) -> Error {
    Error::refused(format!("{fault}, so it is not committed"))
        .at(Path::new(path), None)
        .hint("run it without --commit, or change that in git first")
}

/// A file as the index has it.
struct Tracked {
    /// `H` for one that is as usual, `S` for one that the checkout leaves out, `M` for an unmerged one.
    tag: char,
    mode: String,
    path: String,
}

fn tracked(program: &Program<'_>, paths: &[&str]) -> Result<Vec<Tracked>> {
    let mut arguments = vec!["ls-files", "-z", "-t", "--stage", "--"];
    arguments.extend(paths);
    let listed = program.literal().run(&arguments)?.unwrap_or_default();
    // `H 100644 0123… 0<TAB>docs/memory/STATE.md`
    let read = |row: &str| {
        let (about, path) = row.split_once('\t')?;
        let mut words = about.split(' ');
        Some(Tracked {
            tag: words.next()?.chars().next()?,
            mode: words.next()?.to_owned(),
            path: path.to_owned(),
        })
    };
    Ok(listed.split('\0').filter_map(read).collect())
}
