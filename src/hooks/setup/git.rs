//! Makes git merge our files entry by entry: `.gitattributes` says how each is merged.
//!
//! The merge driver for entries stands in a clone's own configuration, which annals reads and does not write: the
//! report has the command that a person runs once. Without it git merges as usual, so nothing is lost.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::hooks::setup::FileOutcome;
use crate::knowledge::KnowledgeDir;
use crate::project::Project;
use crate::storage::{Changes, Store};
use crate::text::{line_end, line_gap, pattern};
use crate::warning::Warning;
use crate::{ledger, patterns};

const ATTRIBUTES: &str = ".gitattributes";
const BEGIN: &str = "# annals:begin";
const END: &str = "# annals:end";

/// The merge driver: what annals does not merge, git does, and marks the conflicts.
const DRIVER: &str =
    "annals merge-file %O %A %B --path %P || git merge-file --marker-size=%L %A %O %B";

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
    /// The command that defines the merge driver in this clone, or removes it; `None` if that is done.
    pub command: Option<String>,
    /// On a dry run, the changes to the file.
    pub diff: Option<String>,
    /// Warnings from the transaction.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Writes the block of `.gitattributes`, or removes it, and says what is left to do.
pub fn git(project: &Project, request: GitSetup) -> Result<GitReport> {
    if !project.git.is_repository() {
        return Err(Error::not_found("this is not a git repository")
            .at(&project.root, None)
            .hint("`git init` creates one"));
    }
    let looked = project.dry_run(project.dry_run || request.check);
    let path = project.root.join(ATTRIBUTES);
    let (outcome, applied) = looked.transact("setup git", &[Store::Context], || {
        let mut changes = Changes::new();
        let old = changes.current(&path)?;
        let text = String::from_utf8(old.clone().unwrap_or_default()).map_err(|_| {
            Error::refused("is not valid UTF-8, so it is not changed")
                .at(&path, None)
                .hint("save it as UTF-8, then run the command again")
        })?;
        let (before, after) = around_block(&text, &path)?;
        let new = if request.remove {
            format!("{before}{after}")
        } else {
            with_block(before, &block(project), after, line_end(&text))
        };
        let new = if new == text {
            old.clone()
        } else {
            Some(new.into_bytes()).filter(|new| !new.is_empty())
        };
        let outcome = FileOutcome::of(old.as_deref(), new.as_deref(), request.remove);
        match new {
            new if new == old => {}
            Some(new) => changes.write(&path, new)?,
            None => changes.delete(&path)?,
        }
        Ok((outcome, changes))
    })?;
    let command = command(project, request.remove)?;
    Ok(GitReport {
        file: PathBuf::from(ATTRIBUTES),
        outcome,
        command,
        diff: applied.diff.filter(|_| project.dry_run),
        warnings: applied.warnings,
    })
}

impl GitReport {
    /// Returns the error of `--check` if anything differs from the desired state.
    pub fn verdict(&self) -> Result<()> {
        if self.outcome == FileOutcome::Unchanged && self.command.is_none() {
            return Ok(());
        }
        let hint = match (&self.command, self.outcome) {
            (Some(command), FileOutcome::Unchanged) => format!("run: {command}"),
            _ => "run it again without --check".to_owned(),
        };
        Err(Error::failed("the merge driver is not set up").at(&self.file, None).hint(hint))
    }
}

/// Returns the command that this clone still needs.
fn command(project: &Project, remove: bool) -> Result<Option<String>> {
    let defined = project.git.local_config("merge.annals.driver")?;
    Ok(match (remove, defined.as_deref()) {
        (true, Some(_)) => Some("git config --remove-section merge.annals".to_owned()),
        (false, driver) if driver != Some(DRIVER) => {
            Some(format!("git config merge.annals.driver '{DRIVER}'"))
        }
        _ => None,
    })
}

/// Returns the lines that list our files, each relative to the project's root.
fn block(project: &Project) -> String {
    let place = KnowledgeDir::in_project(project);
    let [_, _, decisions] = ledger::paths(project);
    let mut files = vec![
        (patterns::path(&project.planning_place().dir), "annals"),
        (decisions, "annals"),
        (place.log(), "union"),
    ];
    if let Some(journal) = project.environment.get("MEMORY_FILE") {
        files.push((PathBuf::from(journal), "union"));
    }
    let lines = files.iter().filter_map(|(path, merge)| {
        let path = path.strip_prefix(&project.root).ok()?.to_str()?;
        // Patterns with a space or an escaped wildcard are quoted.
        Some(format!("{} merge={merge}\n", attributes_pattern(path)))
    });
    format!("{BEGIN}\n{}{END}\n", lines.collect::<String>())
}

fn attributes_pattern(path: &str) -> String {
    static SPECIAL: LazyLock<Regex> = LazyLock::new(|| pattern(r"[*?\[]"));
    let escaped = SPECIAL.replace_all(&path.replace('\\', "/"), r"\$0").into_owned();
    if !escaped.contains([' ', '"', '\\']) {
        return format!("/{escaped}");
    }
    let quoted = escaped.replace('\\', r"\\").replace('"', "\\\"");
    format!("\"/{quoted}\"")
}

/// Returns the text before and after our block; a marker without its other half is refused.
fn around_block<'a>(text: &'a str, path: &Path) -> Result<(&'a str, &'a str)> {
    static BLOCK: LazyLock<Regex> = LazyLock::new(|| {
        let block = r"(?ms)^# annals:begin[ \t\r]*\n.*?^# annals:end[ \t\r]*(?:\n|\z)";
        pattern(block)
    });
    let is_marker = |line: &str| [BEGIN, END].contains(&line.trim_end());
    match (BLOCK.find(text), text.lines().filter(|line| is_marker(line)).count()) {
        (None, 0) => Ok((text, "")),
        (Some(block), 2) => Ok((&text[..block.start()], &text[block.end()..])),
        _ => {
            let line = text.lines().position(is_marker).map_or(1, |at| at + 1);
            let what = "has a marker of annals without its other half, or more than one block";
            Err(Error::refused(what).at(path, line).hint(format!(
                "remove what is left of the blocks between {BEGIN:?} and {END:?}, then run the command again"
            )))
        }
    }
}

/// Returns the file with our block and its own line end; every other line stays as it is.
fn with_block(before: &str, block: &str, after: &str, end: &str) -> String {
    let gap = line_gap(before, end);
    let block = block.replace('\n', end);
    format!("{before}{gap}{block}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_line_stays_and_a_second_time_changes_nothing() {
        let block = format!("{BEGIN}\n/a merge=annals\n{END}\n");
        let set_up = |text: &str| {
            let (before, after) = around_block(text, Path::new(ATTRIBUTES)).unwrap();
            with_block(before, &block, after, line_end(text))
        };
        for text in ["", "*.png binary\n", "*.png binary", "*.png binary\r\n# mine\r\n"] {
            let once = set_up(text);
            assert!(once.starts_with(text), "{once}");
            assert_eq!(once.contains("annals\r\n"), text.contains("\r\n"), "{once:?}");
            assert_eq!(set_up(&once), once);
            let (before, after) = around_block(&once, Path::new(ATTRIBUTES)).unwrap();
            assert_eq!(format!("{before}{after}").trim_end(), text.trim_end());
        }
        let crlf = set_up("").replace('\n', "\r\n");
        assert_eq!(set_up(&crlf), crlf);
        let around = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        assert_eq!(set_up(&around), format!("a\n{block}b\n"));
    }

    #[test]
    fn a_marker_without_its_other_half_is_refused() {
        for text in [
            format!("a\n{BEGIN}\nb\n"),
            format!("{END}\nb\n"),
            format!("{END}\n{BEGIN}\nb\n{END}\n"),
            format!("{BEGIN}\n{END}\n{BEGIN}\n{END}\n"),
        ] {
            around_block(&text, Path::new(ATTRIBUTES)).unwrap_err();
        }
    }

    #[test]
    fn odd_names_are_quoted() {
        assert_eq!(attributes_pattern("docs/memory/X.md"), "/docs/memory/X.md");
        assert_eq!(attributes_pattern("my docs/a*.md"), "\"/my docs/a\\\\*.md\"");
    }
}
