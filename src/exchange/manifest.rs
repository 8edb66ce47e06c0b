//! Defines the report of an export, and renders it as a manifest for later readers of the folder.

use std::path::PathBuf;

use serde::Serialize;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::text::quantity;
use crate::warning::Warning;

/// The outcome of an export. It is the document of `annals export --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Exported {
    /// The folder.
    pub folder: PathBuf,
    /// All files in it except the manifest.
    pub files: Vec<ExportedFile>,
    /// Files that could not be read.
    pub left_out: Vec<LeftOut>,
    /// Stores that are empty.
    pub empty: Vec<&'static str>,
    /// Whether nothing was written because this is a dry run.
    pub dry_run: bool,
    /// Warnings about what was left out.
    pub warnings: Vec<Warning>,
}

impl Exported {
    /// Fails if a file could not be read, so that the export is not complete.
    pub fn verdict(&self) -> Result<()> {
        if self.left_out.is_empty() {
            return Ok(());
        }
        let message = format!(
            "the export is incomplete: {} could not be read",
            quantity(self.left_out.len(), "file")
        );
        Err(Error::failed(message).hint("the warnings above give the reasons"))
    }
}

/// A file of an export.
#[derive(Clone, Debug, Serialize)]
pub struct ExportedFile {
    /// Its name in the folder.
    pub file: String,
    /// The store that it comes from.
    pub store: &'static str,
    /// Size in bytes.
    pub bytes: u64,
    /// The SHA-256 digest of its bytes, in hexadecimal.
    pub sha256: String,
}

/// A file that could not be read.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// Its name in the folder.
    pub file: String,
    /// The store that it belongs to.
    pub store: &'static str,
}

const READING: &str = "\n## How to read it back\n\n\
    - `entries/`, `notepad.md`: copy them to `.vibekit/memory/` and `.vibekit/`, then `annals entry audit`\n\
    - `ledger/`: copy it to `docs/memory/`\n\
    - `patterns/PATTERNS.md`: copy it to the planning folder's `patterns/`\n\
    - `journal.jsonl`: `annals journal import journal.jsonl`\n\
    - `facts.jsonl`: `annals facts import --user ID < facts.jsonl`\n";

/// Returns the text of MANIFEST.md.
pub(crate) fn render(exported: &Exported, clock: &Clock) -> String {
    let mut text = format!(
        "# Export\n\nWritten by annals at {}. This file is written last: if it exists, so does every file in the table.\n\n\
         | file | memory | bytes | SHA-256 |\n|---|---|---|---|\n",
        clock.timestamp()
    );
    for one in &exported.files {
        let file = one.file.replace('|', "\\|");
        let (bytes, sum) = (one.bytes.to_string(), one.sha256.as_str());
        let cells = [file.as_str(), one.store, &bytes, sum];
        text.extend(["| ", &cells.join(" | "), " |\n"]);
    }
    if !exported.left_out.is_empty() {
        text.push_str("\n## Left out because they could not be read\n\n");
        for left_out in &exported.left_out {
            text.extend(["- `", &left_out.file, "`\n"]);
        }
    }
    text.push_str(READING);
    text
}
