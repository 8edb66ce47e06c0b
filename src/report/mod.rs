//! Generates a self-contained page for people that shows what the project remembers.
//!
//! The page needs no network, scripts or external fonts. Stored text is escaped; the page's head also forbids all scripts.

mod page;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::project::Project;
use crate::storage::{Changes, Store};
use crate::templates;
use crate::warning::{Parsed, Warning};

/// The result of `annals report`. It is the document of `annals report --json`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReportFile {
    /// Path of the page, relative to the project; null if the page is in `html`.
    pub file: Option<PathBuf>,
    /// The page; null if it was written to a file.
    pub html: Option<String>,
    /// The changes that would be made, on a dry run.
    pub diff: Option<String>,
    /// Warnings about what was only partly understood.
    pub warnings: Vec<Warning>,
}

/// A text read at the start of a session.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SessionCost {
    /// The text.
    pub what: String,
    /// Its length in tokens, as estimated by `text::estimate_tokens`.
    pub tokens: usize,
}

/// Returns the page of a project. The costs of the context files are measured here; `costs` has those of the other
/// texts that are read at the start of a session.
pub fn report(project: &Project, costs: &[SessionCost]) -> Result<Parsed<String>> {
    let gathered = page::page(project, costs);
    Ok(Parsed::new(templates::page(&gathered.value)?, project.named(gathered.warnings)))
}

/// Name of the operation that writes the page.
const OPERATION: &str = "report";

/// Returns whether a file starts like a report: with a title that has the same ending.
fn is_report(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_TITLE_END)]);
    let title = head.split_once("</title>").map(|(before, _)| before);
    head.starts_with("<!doctype html>")
        && title.is_some_and(|before| before.ends_with(": project memory"))
}

/// Maximum offset of the end of a report's title, in bytes.
const MAX_TITLE_END: usize = 16 * 1024;

/// Writes the page to a file in the project; refused outside it, and if a file that is not a report exists
/// there.
///
/// The page may contain facts about a user, so no record of it is kept. The file that it replaces cannot be restored,
/// but that can only be an earlier report, which can be regenerated at any time.
pub fn write_report(project: &Project, costs: &[SessionCost], file: &Path) -> Result<ReportFile> {
    let page = report(project, costs)?;
    let path = project.root.join(file);
    let stores = [Store::Context];
    let ((), applied) = project.storage_without_record().transact(OPERATION, &stores, || {
        let mut changes = Changes::new();
        if let Some(old) = changes.current(&path)?
            && !is_report(&old)
        {
            return Err(Error::refused("is not a report, so it is not overwritten")
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
        diff: applied.diff,
        warnings,
    })
}
