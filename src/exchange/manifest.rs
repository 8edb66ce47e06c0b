//! The list of all files of an export, for whoever opens the folder later.

use crate::clock::Clock;
use crate::exchange::Exported;

const READING: &str = "\n## How to read it back\n\n\
    - `entries/`, `notepad.md`: copy them to `.vibekit/memory/` and `.vibekit/`, then `annals entry audit`\n\
    - `ledger/`: copy it to `docs/memory/`\n\
    - `patterns/PATTERNS.md`: copy it to the planning folder's `patterns/`\n\
    - `journal.jsonl`: `annals journal import journal.jsonl`\n\
    - `facts.jsonl`: `annals facts import --user ID < facts.jsonl`\n";

/// Returns the text of MANIFEST.md.
pub(crate) fn render(exported: &Exported, clock: &Clock) -> String {
    let mut text = format!(
        "# Export\n\nWritten by annals at {}. This file is written last: where it stands, all the others do.\n\n\
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
