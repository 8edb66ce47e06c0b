//! Makes git merge our files entry by entry: `.gitattributes` says how each is merged.
//!
//! The merge driver for entries stands in a clone's own configuration, which annals reads and does not write: the
//! report has the command that a person runs once. Without it git merges as usual, so nothing is lost.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::hooks::setup::FileOutcome;
use crate::knowledge::KnowledgeDir;
use crate::project::Project;
use crate::storage::{Changes, Store, read};
use crate::text::{line_end, line_gap, slashed};
use crate::warning::Warning;
use crate::{ledger, patterns};

const ATTRIBUTES: &str = ".gitattributes";

/// The merge driver: what annals does not merge, git does, and marks the conflicts.
const DRIVER: &str = "annals merge-file %O %A %B --path %P || git merge-file -L ours -L base -L theirs --marker-size=%L %A %O %B";

/// The outcome of `annals setup git`. It is the document of `annals setup git --json`.
#[derive(Debug, Serialize)]
pub struct GitReport {
    /// The attributes file.
    pub file: PathBuf,
    /// The outcome for the file; with `--check` and on a dry run, the expected one.
    pub outcome: FileOutcome,
    /// The command that defines the merge driver in this clone, or removes it; `None` if that is done.
    pub command: Option<String>,
    /// With `--check` and on a dry run, the changes to the file.
    pub diff: Option<String>,
    /// Warnings from the transaction.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Writes the lines of `.gitattributes`, or removes them, or only checks them, and says what is left to do.
pub fn git(project: &Project, check: bool, remove: bool) -> Result<GitReport> {
    if !project.git.is_repository() {
        return Err(Error::not_found("this is not a git repository")
            .about(&project.root)
            .hint("`git init` creates one"));
    }
    let looked = project.dry_run(project.dry_run || check);
    let path = project.root.join(ATTRIBUTES);
    let (outcome, applied) = looked.transact("setup git", &[Store::Context], || {
        let mut changes = Changes::new();
        let old = changes.current(&path)?;
        let text = read::editable(old.as_deref().unwrap_or_default(), &path)?;
        let new = edited(text, &lines(project), remove);
        let new = if new == text {
            old.clone()
        } else {
            Some(new.into_bytes()).filter(|new| !new.is_empty())
        };
        let outcome = FileOutcome::of(old.as_deref(), new.as_deref(), remove);
        match new {
            new if new == old => {}
            Some(new) => changes.write(&path, new)?,
            None => changes.delete(&path)?,
        }
        Ok((outcome, changes))
    })?;
    let command = command(project, remove)?;
    Ok(GitReport {
        file: PathBuf::from(ATTRIBUTES),
        outcome,
        command,
        diff: applied.diff,
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
        Err(Error::failed("the merge driver is not set up").about(&self.file).hint(hint))
    }
}

/// Returns the command that defines the merge driver, if `.gitattributes` names it and this clone does not know it.
pub(crate) fn missing_driver(project: &Project) -> Result<Option<String>> {
    let attributes = read::text(&project.root.join(ATTRIBUTES))?;
    let names = |line: &str| {
        !line.starts_with('#') && line.split_whitespace().any(|word| word == "merge=annals")
    };
    match attributes.is_some_and(|text| text.value.lines().any(names)) {
        true => command(project, false),
        false => Ok(None),
    }
}

/// Returns the command that this clone still needs.
fn command(project: &Project, remove: bool) -> Result<Option<String>> {
    Ok(match (remove, project.git.local_config("merge.annals.driver")?.as_deref()) {
        (true, Some(_)) => Some("git config --remove-section merge.annals".to_owned()),
        (false, driver) if driver != Some(DRIVER) => {
            Some(format!("git config merge.annals.driver '{DRIVER}'"))
        }
        _ => None,
    })
}

/// Returns the lines for our files, each relative to the project's root.
fn lines(project: &Project) -> Vec<String> {
    let place = KnowledgeDir::in_project(project);
    let [_, _, decisions] = ledger::paths(project);
    let mut files = vec![
        (patterns::path(&project.planning_place().dir), "annals"),
        (decisions, "annals"),
        (place.log(), "union"),
        (place.index(), "union"),
    ];
    if let Some(journal) = project.environment.get("MEMORY_FILE") {
        files.push((PathBuf::from(journal), "union"));
    }
    files
        .iter()
        .filter_map(|(path, merge)| {
            let path = slashed(path.strip_prefix(&project.root).ok()?);
            let is_line = !path.contains(char::is_control);
            is_line.then(|| format!("{} merge={merge}", attributes_pattern(&path)))
        })
        .collect()
}

/// Returns a path as a pattern that means it alone; git reads one with a space, a quote or a backslash in quotes.
fn attributes_pattern(path: &str) -> String {
    let mut pattern = "/".to_owned();
    for c in path.chars() {
        pattern.extend("*?[\\".contains(c).then_some('\\'));
        pattern.push(c);
    }
    if pattern.contains([' ', '"', '\\']) {
        pattern = format!("\"{}\"", pattern.replace('\\', r"\\").replace('"', "\\\""));
    }
    pattern
}

/// Returns the file with these lines, or without them; every other line stays as it is.
fn edited(text: &str, wanted: &[String], remove: bool) -> String {
    if remove {
        let lines = text.split_inclusive('\n');
        return lines.filter(|line| !wanted.iter().any(|one| one == line.trim_end())).collect();
    }
    wanted.iter().filter(|one| !text.lines().any(|line| line.trim_end() == **one)).fold(
        text.to_owned(),
        |text, line| {
            let end = line_end(&text);
            format!("{text}{}{line}{end}", line_gap(&text, end))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_line_stays_and_a_second_time_changes_nothing() {
        let wanted = ["/a merge=annals".to_owned(), "/b merge=union".to_owned()];
        for text in ["", "*.png binary\n", "*.png binary", "*.png binary\r\n# mine\r\n"] {
            let once = edited(text, &wanted, false);
            assert!(once.starts_with(text), "{once}");
            assert_eq!(once.contains("annals\r\n"), text.contains("\r\n"), "{once:?}");
            assert_eq!(edited(&once, &wanted, false), once);
            assert_eq!(edited(&once, &wanted, true).trim_end(), text.trim_end());
        }
    }

    #[test]
    fn odd_names_are_quoted() {
        assert_eq!(attributes_pattern("docs/memory/X.md"), "/docs/memory/X.md");
        assert_eq!(attributes_pattern("my docs/a*.md"), r#""/my docs/a\\*.md""#);
        assert_eq!(attributes_pattern(r#"a"b"#), r#""/a\"b""#);
    }
}
