//! Makes git merge our files entry by entry: `.gitattributes` lists the files, and the repository's
//! configuration defines the drivers. Without a driver, git merges as usual, so a clone that was not set up
//! loses nothing.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::hooks::setup::report::FileOutcome;
use crate::knowledge::KnowledgeDir;
use crate::merge::MergeKind;
use crate::patterns;
use crate::project::ContextTarget;
use crate::project::Project;
use crate::storage::Changes;
use crate::storage::Store;
use crate::storage::read;
use crate::warning::Warning;

const ATTRIBUTES: &str = ".gitattributes";
const BEGIN: &str = "# annals:begin";
const END: &str = "# annals:end";

/// The options of `annals setup git`.
#[derive(Clone, Copy, Debug, Default)]
pub struct GitSetup {
    /// Only check whether it is set up.
    pub check: bool,
    /// Remove the setup.
    pub remove: bool,
}

/// The outcome of `annals setup git`. It is the document of `annals setup git --json`.
#[derive(Clone, Debug, Serialize)]
pub struct GitReport {
    /// The attributes file.
    pub file: PathBuf,
    /// The outcome for the file; with `--check` and on a dry run, the expected one.
    pub outcome: FileOutcome,
    /// The keys of the repository's configuration that were set or unset, or would be.
    pub drivers: Vec<String>,
    /// On a dry run, the changes to the file.
    pub diff: Option<String>,
    /// Warnings from the transaction.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Sets up the merge drivers, or removes them.
pub fn git(project: &Project, request: GitSetup) -> Result<GitReport> {
    if !project.git.is_repository() {
        return Err(Error::not_found("this is not a git repository")
            .at(&project.root, None)
            .hint("`git init` creates one"));
    }
    let looked = project.dry_run(project.dry_run || request.check);
    let path = project.root.join(ATTRIBUTES);
    let (outcome, applied) = looked
        .storage()
        .transact("setup git", &[Store::Context], || {
            let mut changes = Changes::new();
            let old = changes.current(&path)?;
            let text = read::decode(old.clone().unwrap_or_default(), &path).value;
            let new = if request.remove {
                without_block(&text)
            } else {
                with_block(&text, &block(project))
            };
            let outcome = match (&old, new.is_empty(), new == text) {
                (_, _, true) => FileOutcome::Unchanged,
                (None, ..) => FileOutcome::Created,
                (_, true, _) => FileOutcome::Deleted,
                _ if request.remove => FileOutcome::Reduced,
                _ => FileOutcome::Extended,
            };
            match outcome {
                FileOutcome::Unchanged => {}
                FileOutcome::Deleted => changes.delete(&path)?,
                _ => changes.write(&path, new)?,
            }
            Ok((outcome, changes))
        })?;
    let drivers = drivers(&looked, request.remove)?;
    Ok(GitReport {
        file: PathBuf::from(ATTRIBUTES),
        outcome,
        drivers,
        diff: project.dry_run.then_some(applied.diff),
        warnings: applied.warnings,
    })
}

impl GitReport {
    /// Fails if `--check` found a difference.
    pub fn verdict(&self, check: bool) -> Result<()> {
        if !check || (self.outcome == FileOutcome::Unchanged && self.drivers.is_empty()) {
            return Ok(());
        }
        Err(Error::failed("the merge drivers are not set up correctly")
            .at(&self.file, None)
            .hint("run it again without --check"))
    }
}

/// Sets or removes each driver that differs from the desired one, and returns the changed keys.
fn drivers(project: &Project, remove: bool) -> Result<Vec<String>> {
    let mut changed = Vec::new();
    for kind in MergeKind::ALL {
        let section = format!("merge.annals-{}", kind.as_str());
        let key = format!("{section}.driver");
        let there = project.git.local_config(&key)?;
        let wanted = (!remove).then(|| driver(kind));
        if there == wanted {
            continue;
        }
        if !project.dry_run {
            match &wanted {
                Some(driver) => project.git.set_local_config(&key, driver)?,
                None => project.git.remove_local_config_section(&section)?,
            }
        }
        changed.push(key);
    }
    Ok(changed)
}

/// Returns the command for git; without annals on the PATH, it falls back to git's own merge.
fn driver(kind: MergeKind) -> String {
    format!(
        "if command -v annals >/dev/null 2>&1; then annals merge-file {} %O %A %B --marker-size %L --path %P; else git merge-file --marker-size %L %A %O %B; fi",
        kind.as_str()
    )
}

/// Returns the lines that list our files, each relative to the project's root.
fn block(project: &Project) -> String {
    let place = KnowledgeDir::in_project(project);
    let ledger = project.root.join(&project.settings.ledger_dir);
    let mut files = vec![
        (
            patterns::path(&project.planning_place().dir),
            MergeKind::Patterns,
        ),
        (ledger.join("DECISIONS.md"), MergeKind::Decisions),
        (ledger.join("CONSTRAINTS.md"), MergeKind::Constraints),
        (place.log(), MergeKind::Lines),
        (place.index(), MergeKind::Index),
    ];
    files.extend(
        ContextTarget::ALL.map(|target| (project.root.join(target.file()), MergeKind::Context)),
    );
    if let Some(journal) = project.environment.get("MEMORY_FILE") {
        files.push((PathBuf::from(journal), MergeKind::Lines));
    }
    let lines = files.iter().filter_map(|(path, kind)| {
        let path = path.strip_prefix(&project.root).ok()?.to_str()?;
        // Patterns with a space or an escaped wildcard are quoted.
        Some(format!(
            "{} merge=annals-{}\n",
            pattern(path),
            kind.as_str()
        ))
    });
    format!("{BEGIN}\n{}{END}\n", lines.collect::<String>())
}

fn pattern(path: &str) -> String {
    let path = path.replace('\\', "/");
    let escaped: String = path
        .chars()
        .flat_map(|c| match c {
            '*' | '?' | '[' | '\\' => vec!['\\', c],
            c => vec![c],
        })
        .collect();
    if escaped.contains([' ', '"', '\\']) {
        let quoted = escaped.replace('\\', "\\\\").replace('"', "\\\"");
        return format!("\"/{quoted}\"");
    }
    format!("/{escaped}")
}

/// Returns the text before and after our block.
fn around_block(text: &str) -> (&str, &str) {
    let begin = line_start(text, BEGIN);
    let end = line_start(text, END).map(|at| at + line_length(&text[at..]));
    match (begin, end) {
        (Some(begin), Some(end)) if begin < end => (&text[..begin], &text[end..]),
        _ => (text, ""),
    }
}

fn without_block(text: &str) -> String {
    let (before, after) = around_block(text);
    format!("{before}{after}")
}

/// Returns the file with our block; every other line stays as it is.
fn with_block(text: &str, block: &str) -> String {
    let (before, after) = around_block(text);
    let gap = if before.is_empty() || before.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{before}{gap}{block}{after}")
}

fn line_start(text: &str, line: &str) -> Option<usize> {
    let mut at = 0;
    for one in text.split_inclusive('\n') {
        if one.trim_end() == line {
            return Some(at);
        }
        at += one.len();
    }
    None
}

fn line_length(text: &str) -> usize {
    text.find('\n').map_or(text.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_line_stays_and_a_second_time_changes_nothing() {
        let block = format!("{BEGIN}\n/a merge=annals-lines\n{END}\n");
        for text in [
            "",
            "*.png binary\n",
            "*.png binary",
            "*.png binary\r\n# mine\r\n",
        ] {
            let once = with_block(text, &block);
            assert!(once.starts_with(text), "{once}");
            assert_eq!(with_block(&once, &block), once);
            let back = without_block(&once);
            assert_eq!(back.trim_end(), text.trim_end());
        }
        let around = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        assert_eq!(with_block(&around, &block), format!("a\n{block}b\n"));
        assert_eq!(without_block(&around), "a\nb\n");
    }

    #[test]
    fn odd_names_are_quoted() {
        assert_eq!(pattern("docs/memory/X.md"), "/docs/memory/X.md");
        assert_eq!(pattern("my docs/a*.md"), "\"/my docs/a\\\\*.md\"");
    }
}
