//! Refuses updates that would write `[redacted]` in place of text that was read without its secrets.

use crate::error::Problem;
use crate::ledger::document::DocumentDraft;
use crate::ledger::files::LedgerFiles;
use crate::secrets::REDACTED;
use crate::text::Line;

/// Returns a problem for each redacted text of an update that its file does not contain already.
pub(crate) fn problems(update: &DocumentDraft, files: &LedgerFiles) -> Vec<Problem> {
    let is_new = |(pointer, text): &&(String, String)| {
        let file = match pointer.split('/').nth(1) {
            Some("state") => &files.state,
            Some("constraints") => &files.constraints,
            _ => &files.decisions,
        };
        // `match` only selects a bullet and is not written.
        !pointer.ends_with("/match") && !file.text.contains(Line::new(text).as_str())
    };
    let message = format!(
        "contains {REDACTED:?}, the placeholder for a secret that annals does not print: \
         use the text of the file, or reword it without the secret"
    );
    let new = update.redacted.iter().filter(is_new);
    new.map(|(pointer, _)| Problem::new(pointer, message.clone())).collect()
}
