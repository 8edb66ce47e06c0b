//! What is said of a text that looks like it holds a secret.

use crate::secrets;

/// Returns the refusal of texts that hold a secret.
pub(crate) fn secret(texts: &[&str]) -> Option<String> {
    let rule = |text: &&str| secrets::find(text).first().map(|secret| secret.rule);
    texts.iter().find_map(rule).map(refusal)
}

/// Returns the sentence that names the rule.
pub(crate) fn refusal(rule: &str) -> String {
    format!("refused: holds what looks like a secret ({rule}); --allow-secret imports it")
}
