//! Which recorded patterns still hold, asked of the tree and of git.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use sha2::Digest;
use sha2::Sha256;

use crate::error::Result;
use crate::patterns;
use crate::patterns::Patterns;
use crate::patterns::Staleness;
use crate::project::Project;
use crate::storage::Changes;
use crate::text::hexadecimal;
use crate::warning::Parsed;
use crate::warning::Warning;

/// The cache's file in `.annals/`.
const CACHE: &str = "freshness.json";

/// Why patterns may no longer hold, by line and text; what is not named here is fresh.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StaleReasons(BTreeMap<usize, BTreeMap<String, String>>);

#[derive(Serialize, Deserialize)]
struct Cached {
    version: String,
    fingerprint: String,
    reasons: StaleReasons,
}

impl StaleReasons {
    /// Returns why a bullet may no longer hold, by its own paths or by its entry's age.
    ///
    /// `line` is that of its entry's heading, or its own outside of entries.
    pub(crate) fn about(&self, line: usize, text: &str) -> Option<String> {
        self.0.get(&line)?.get(text).cloned()
    }

    /// Checks every pattern against the tree and git's history.
    pub(crate) fn check(project: &Project, patterns: &Patterns) -> Result<Self> {
        let staleness = Staleness::of_patterns(patterns, &project.root, &project.git)?;
        let of_entries = patterns.entries.iter().flat_map(|entry| {
            let notes = entry.notes.iter().map(String::as_str);
            let texts = entry.texts().chain(notes);
            texts.map(|text| (entry.line, text))
        });
        let loose = patterns.loose.iter();
        let loose = loose.map(|loose| (loose.line, loose.text.as_str()));
        let found = staleness.reasons();
        let mut reasons = Self::default();
        for (line, text) in of_entries.chain(loose) {
            if let Some(reason) = found.about(line, text) {
                let of_line = reasons.0.entry(line).or_default();
                of_line.insert(text.to_owned(), reason);
            }
        }
        Ok(reasons)
    }

    /// Returns the reasons of the last check where nothing was committed or recorded since, else checks.
    ///
    /// A project without git is checked each time. What git can't answer becomes a warning: an
    /// unchecked pattern is shown as it stands.
    pub(crate) fn cached_or_checked(
        project: &Project,
        patterns: &Patterns,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        if patterns.entries.is_empty() && patterns.loose.is_empty() {
            return Self::default();
        }
        let fingerprint = fingerprint(project, patterns);
        if let Some(reasons) = fingerprint
            .as_deref()
            .and_then(|wanted| cached(project, wanted))
        {
            return reasons;
        }
        match Self::check(project, patterns) {
            Ok(reasons) => {
                if let Some(fingerprint) = fingerprint {
                    write_cache(project, fingerprint, &reasons);
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

/// Returns what still holds of each entry, with all that each names.
pub fn check(project: &Project) -> Result<Parsed<Staleness>> {
    project.planning()?;
    let mut warnings = Vec::new();
    let recent = patterns::recent(project, &Changes::new(), &mut warnings)?;
    let value = Staleness::of_patterns(&recent, &project.root, &project.git)?;
    Ok(Parsed { value, warnings })
}

/// Digests what a check depends on; nothing without git.
fn fingerprint(project: &Project, patterns: &Patterns) -> Option<String> {
    let head = project.git.head().ok().flatten()?;
    let mut digest = Sha256::new();
    digest.update(head);
    for entry in &patterns.entries {
        digest.update(entry.text.as_bytes());
    }
    for loose in &patterns.loose {
        digest.update(loose.text.as_bytes());
    }
    Some(hexadecimal(&digest.finalize()))
}

fn cached(project: &Project, fingerprint: &str) -> Option<StaleReasons> {
    // A cache that can't be read is as good as none.
    let bytes = project.storage().cache(CACHE).ok().flatten()?;
    let cached: Cached = serde_json::from_slice(&bytes).ok()?;
    let is_valid = cached.fingerprint == fingerprint && cached.version == env!("CARGO_PKG_VERSION");
    is_valid.then_some(cached.reasons)
}

fn write_cache(project: &Project, fingerprint: String, reasons: &StaleReasons) {
    let cached = Cached {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        fingerprint,
        reasons: reasons.clone(),
    };
    if let Ok(bytes) = serde_json::to_vec(&cached)
        && let Err(_unwritable) = project.storage().write_cache(CACHE, &bytes)
    {
        // Where nothing can be written, the next run checks again.
    }
}
