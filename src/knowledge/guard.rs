//! Rejects secrets in texts that agents will read back.

use crate::error::{Error, Result};
use crate::markdown::Lines;
use crate::secrets;

/// Returns an error that names the rule and the line if a text contains what looks like a secret.
pub(crate) fn refuse_secrets(what: &str, text: &str) -> Result<()> {
    let Some(secret) = secrets::find(text).into_iter().next() else {
        return Ok(());
    };
    let line = Lines::new(text).line(secret.range.start);
    let rule = secret.rule;
    Err(Error::refused(format!(
        "the {what} contains what looks like a secret ({rule}, line {line})"
    ))
    .hint("say where it is kept instead; --allow-secret stores it anyway"))
}
