//! Reads the results of checking a plan's must-haves.

use serde::Serialize;

use crate::markdown::Node;
use crate::plan::read::document::Document;

/// The result of one acceptance criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AcceptanceResult {
    /// The criterion.
    pub criterion: String,
    /// The verdict, as written: `pass`, `partial`, `fail`.
    pub verdict: Option<String>,
    /// The evidence for the verdict.
    pub evidence: Option<String>,
}

impl AcceptanceResult {
    /// Returns whether the verdict says that the criterion is not met, or only partly.
    pub fn has_failed(&self) -> bool {
        let verdict = self.verdict.as_deref().unwrap_or_default().to_lowercase();
        let mut words = verdict.split(|c: char| !c.is_alphanumeric());
        matches!(words.next(), Some("no" | "unmet" | "missed"))
            || ["fail", "partial", "not met"].iter().any(|words| verdict.starts_with(words))
    }
}

/// Returns the acceptance results of the front matter.
pub(super) fn acceptance(document: &Document<'_>) -> Option<Vec<AcceptanceResult>> {
    let node = document.field(&["ac_results", "acceptance_results", "acceptance"])?;
    Some(node.elements().into_iter().filter_map(from_node).collect())
}

fn from_node(node: &Node) -> Option<AcceptanceResult> {
    let of = |keys: &[&str]| node.get(keys).and_then(Node::as_text).map(str::to_owned);
    let criterion = of(&["criterion", "must_have", "truth", "description", "text", "name", "id"])
        .unwrap_or_else(|| node.flat());
    (!criterion.is_empty()).then(|| AcceptanceResult {
        criterion,
        verdict: of(&["verdict", "status", "result"]),
        evidence: of(&["evidence", "proof", "notes"]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_fails_only_if_it_says_so() {
        let has_failed = |verdict: &str| {
            let result = AcceptanceResult {
                criterion: "a".to_owned(),
                verdict: Some(verdict.to_owned()),
                evidence: None,
            };
            result.has_failed()
        };
        for verdict in ["fail", "FAILED", "no", "No - see below", "partial", "not met", "unmet"] {
            assert!(has_failed(verdict), "{verdict}");
        }
        for verdict in ["pass", "", "not applicable", "none", "noted"] {
            assert!(!has_failed(verdict), "{verdict}");
        }
    }
}
