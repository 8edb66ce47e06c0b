//! What an agent read without its keys does not take the place of what holds them.

use crate::error::Problem;
use crate::ledger::document::DocumentDraft;
use crate::ledger::files::LedgerFiles;
use crate::secrets::REDACTED;
use crate::text::Line;

/// Returns the texts of an update in which something is redacted, and that their file does not have already.
pub(crate) fn problems(update: &DocumentDraft, files: &LedgerFiles) -> Vec<Problem> {
    let is_new = |(pointer, text): &&(String, String)| {
        let file = match pointer.split('/').nth(1) {
            Some("state") => &files.state,
            Some("constraints") => &files.constraints,
            _ => &files.decisions,
        };
        // A text that only says which bullet is meant is written nowhere.
        !pointer.ends_with("/match") && !file.text.contains(Line::new(text).as_str())
    };
    let message = format!(
        "holds {REDACTED:?}, which stands for a secret that annals does not print: state the file's own text, \
         or reword it without the secret"
    );
    let new = update.redacted.iter().filter(is_new);
    new.map(|(pointer, _)| Problem::new(pointer, message.clone()))
        .collect()
}
