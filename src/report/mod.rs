//! One self-contained page for people: what the project remembers, seen at once.
//!
//! The page needs no network, no script and no font of its own. Stored text is escaped, or rendered by
//! `inline`, which lets four harmless forms of markdown through; the page forbids every script in its head as well.

mod gather;
mod inline;
mod page;
mod phase_row;
mod phases;
mod timeline;

pub use page::SessionCost;

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::project::Project;
use crate::report::page::Page;
use crate::storage::Changes;
use crate::storage::Store;
use crate::templates;
use crate::warning::Parsed;
use crate::warning::Warning;

/// What `annals report` wrote. It is the document of `annals report --json`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReportFile {
    /// The page's file, relative to the project; null where the page is in `html`.
    pub file: Option<PathBuf>,
    /// The page; null where it went to a file.
    pub html: Option<String>,
    /// On a dry run, what would change.
    pub diff: Option<String>,
    /// What was read in part only.
    pub warnings: Vec<Warning>,
}

/// Returns the page of a project. The context files are counted here; what else a session reads at its
/// start, the caller says.
pub fn report(project: &Project, costs: &[SessionCost]) -> Result<Parsed<String>> {
    let gathered = Page::gather(project, costs);
    Ok(Parsed {
        value: templates::page(&gathered.value)?,
        warnings: project.named(gathered.warnings),
    })
}

/// What a write of the page is called.
const OPERATION: &str = "report";

/// Removes the records that earlier versions kept of pages, which may hold facts; returns how many.
pub fn erase_records(project: &Project) -> Result<usize> {
    if project.dry_run {
        return Ok(0);
    }
    project.storage().history().erase(OPERATION)
}

/// Returns whether a file begins as every report does: its title ends with the same words.
fn is_report(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]);
    let title = head.split_once("</title>").map(|(before, _)| before);
    head.starts_with("<!doctype html>")
        && title.is_some_and(|before| before.ends_with(": project memory"))
}

/// A report's title ends within as many bytes.
const HEAD: usize = 16 * 1024;

/// Writes the page into a file of the project; refused outside of it, and where another file is.
///
/// It may hold facts about a user, so no record of it is kept, and what it replaces cannot come back:
/// that may only be an earlier report, which can be made anew at any time.
pub fn write_report(project: &Project, costs: &[SessionCost], file: &Path) -> Result<ReportFile> {
    let page = report(project, costs)?;
    let path = project.root.join(file);
    let stores = [Store::Context];
    let ((), applied) = project
        .storage_without_record()
        .transact(OPERATION, &stores, || {
            let mut changes = Changes::new();
            if let Some(old) = changes.current(&path)?
                && !is_report(&old)
            {
                return Err(Error::refused("is no report, so it is not overwritten")
                    .at(project.relative(&path), None)
                    .hint("name another file, or move this one away"));
            }
            changes.write(&path, page.value.as_bytes())?;
            Ok(((), changes))
        })?;
    let mut warnings = page.warnings;
    warnings.extend(project.named(applied.warnings));
    Ok(ReportFile {
        file: Some(project.relative(&path).to_owned()),
        html: None,
        diff: applied.dry_run.then_some(applied.diff),
        warnings,
    })
}
