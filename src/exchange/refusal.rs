//! Writes the messages for texts that look like they contain a secret.

use crate::secrets;

/// Returns the refusal if one of the texts contains a secret.
pub(crate) fn secret(texts: &[&str]) -> Option<String> {
    let rule = |text: &&str| secrets::find(text).first().map(|secret| secret.rule);
    texts.iter().find_map(rule).map(refusal)
}

/// Returns the message that names the rule.
pub(crate) fn refusal(rule: &str) -> String {
    format!("refused: contains what looks like a secret ({rule}); --allow-secret imports it")
}
