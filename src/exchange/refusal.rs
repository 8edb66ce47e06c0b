//! Writes the messages for texts that look like they contain a secret.

use crate::secrets;

/// Returns the refusal if one of the texts contains a secret.
pub(crate) fn secret(texts: &[&str]) -> Option<String> {
    let mut texts = texts.iter();
    texts
        .find_map(|text| secrets::first_rule(text))
        .map(refusal)
}

/// Returns the message that names the rule.
pub(crate) fn refusal(rule: &str) -> String {
    format!("refused: contains what looks like a secret ({rule}); --allow-secret imports it")
}
