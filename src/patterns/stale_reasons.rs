//! Checks whether recorded patterns still hold, against the working tree and the git history.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::patterns;
use crate::patterns::{Patterns, Staleness};
use crate::project::Project;
use crate::storage::Changes;
use crate::text::hexadecimal;
use crate::warning::{Parsed, Warning};

/// Name of the cache file in `.annals/`.
const CACHE: &str = "freshness.json";

/// Why patterns may be out of date, by line and text; a pattern that is not listed is fresh.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StaleReasons(BTreeMap<usize, BTreeMap<String, String>>);

impl StaleReasons {
    /// Returns why a bullet may be out of date: because of its own paths, or the structure since its entry.
    ///
    /// `line` is the line of the entry's heading, or of the bullet itself if it is outside all entries.
    pub(crate) fn about(&self, line: usize, text: &str) -> Option<String> {
        self.0.get(&line)?.get(text).cloned()
    }

    /// Checks every pattern against the working tree and the git history.
    pub(crate) fn check(project: &Project, patterns: &Patterns) -> Result<Self> {
        let staleness = Staleness::check_patterns(patterns, &project.root, &project.git)?;
        let by_line = staleness.entries.into_iter().map(|found| (found.line, found.stale_texts));
        Ok(Self(by_line.filter(|(_, texts)| !texts.is_empty()).collect()))
    }

    /// Returns the cached reasons if nothing was committed or recorded since the last check, or else checks.
    ///
    /// A project without git is always checked. A git error becomes a warning, and the patterns count as
    /// fresh.
    pub(crate) fn cached_or_checked(
        project: &Project,
        patterns: &Patterns,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        if patterns.entries.is_empty() && patterns.loose.is_empty() {
            return Self::default();
        }
        let fingerprint = fingerprint(project, patterns);
        let cached = |wanted: &String| project.storage().derived(CACHE, wanted);
        if let Some(reasons) = fingerprint.as_ref().and_then(cached) {
            return reasons;
        }
        match Self::check(project, patterns) {
            Ok(reasons) => {
                if let Some(fingerprint) = fingerprint {
                    project.storage().write_derived(CACHE, fingerprint, &reasons);
                }
                reasons
            }
            Err(error) => {
                let message = format!("recorded patterns are not checked: {error}");
                warnings.push(Warning::file(&project.root, message));
                Self::default()
            }
        }
    }
}

/// Checks all recorded patterns, and returns the results with every path they mention.
pub fn check(project: &Project) -> Result<Parsed<Staleness>> {
    project.planning()?;
    let mut warnings = Vec::new();
    let recent = patterns::with_changes(project, &Changes::new(), &mut warnings)?;
    let value = Staleness::check_patterns(&recent, &project.root, &project.git)?;
    Ok(Parsed { value, warnings })
}

/// Returns a digest of the inputs of a check; `None` without git.
fn fingerprint(project: &Project, patterns: &Patterns) -> Option<String> {
    let head = project.git.head().ok().flatten()?;
    Some(digest_of(&head, patterns))
}

fn digest_of(head: &str, patterns: &Patterns) -> String {
    let mut digest = Sha256::new();
    digest.update(head);
    let entries = patterns.entries.iter();
    let entries = entries.map(|entry| (entry.line, &entry.text));
    let loose = patterns.loose.iter();
    let loose = loose.map(|loose| (loose.line, &loose.text));
    // The reasons are looked up by line, so a change elsewhere in the file matters, too.
    for (line, text) in entries.chain(loose) {
        digest.update(format!("\n{line} "));
        digest.update(text);
    }
    hexadecimal(&digest.finalize())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_pattern_that_moves_to_another_line_is_checked_again() {
        let digest = |head: &str, text: &str| {
            digest_of(head, &Patterns::parse(text, Path::new("P.md")).value)
        };
        let entry = "### Phase 1: A\n\n**What worked:**\n- `a.rs` first\n";
        let note = "## Notes\n\n- See `a.rs`\n";
        for patterns in [entry, note] {
            let known = digest("9c", &format!("# P\n\n{patterns}"));
            assert_eq!(known, digest("9c", &format!("# P\n\n{patterns}")));
            assert_ne!(known, digest("9c", &format!("# P\n\nLearned.\n\n{patterns}")));
            assert_ne!(known, digest("9d", &format!("# P\n\n{patterns}")));
        }
    }
}
