//! What an export wrote, and the list of it for whoever opens the folder later.

use std::path::PathBuf;

use serde::Serialize;

use crate::clock::Clock;
use crate::warning::Warning;

/// What an export wrote. It is the document of `annals export --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Exported {
    /// The folder.
    pub folder: PathBuf,
    /// Every file in it but the manifest.
    pub files: Vec<ExportedFile>,
    /// Stores of which nothing is there.
    pub empty: Vec<&'static str>,
    /// Whether nothing was written because this is a dry run.
    pub dry_run: bool,
    /// What was left out.
    pub warnings: Vec<Warning>,
}

/// One file of an export.
#[derive(Clone, Debug, Serialize)]
pub struct ExportedFile {
    /// Its name in the folder.
    pub file: String,
    /// The store it is of.
    pub store: &'static str,
    /// How many bytes it has.
    pub bytes: u64,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
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
        "# Export\n\nWritten by annals at {}. This file is written last: if it exists, so do all the others.\n\n\
         | file | memory | bytes | SHA-256 |\n|---|---|---|---|\n",
        clock.timestamp()
    );
    for one in &exported.files {
        let file = one.file.replace('|', "\\|");
        let (bytes, sum) = (one.bytes.to_string(), one.sha256.as_str());
        let cells = [file.as_str(), one.store, &bytes, sum];
        text.extend(["| ", &cells.join(" | "), " |\n"]);
    }
    text.push_str(READING);
    text
}
