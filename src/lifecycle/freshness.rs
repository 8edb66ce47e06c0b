//! Which recorded patterns still hold, asked of the tree and of git.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use sha2::Digest;
use sha2::Sha256;

use crate::error::Result;
use crate::lifecycle::relevance;
use crate::patterns::Entry;
use crate::patterns::Patterns;
use crate::patterns::Staleness;
use crate::patterns::Structure;
use crate::patterns::Written;
use crate::project::Project;
use crate::text::hexadecimal;
use crate::warning::Parsed;
use crate::warning::Warning;

/// The cache's file in `.annals/`.
const CACHE: &str = "freshness.json";

/// Why patterns may no longer hold; what is not named here is fresh.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Doubts {
    /// By the text of a bullet: what it names is moved or gone.
    bullets: BTreeMap<String, String>,
    /// By the line of an entry's heading: the structure changed since.
    entries: BTreeMap<usize, String>,
}

#[derive(Serialize, Deserialize)]
struct Cached {
    version: String,
    fingerprint: String,
    doubts: Doubts,
}

impl Doubts {
    /// Returns why a bullet may no longer hold, by its own paths or by its entry's age.
    pub(crate) fn about(&self, line: usize, text: &str) -> Option<String> {
        self.bullets
            .get(text)
            .or_else(|| self.entries.get(&line))
            .cloned()
    }

    /// Checks every pattern against the tree and git's history.
    pub(crate) fn check(project: &Project, patterns: &Patterns) -> Result<Self> {
        let texts = Texts::of(patterns);
        let found = Staleness::check(&texts.written(patterns), &project.root, &project.git)?;
        let mut doubts = Self::default();
        for (entry, found) in patterns.entries.iter().zip(&found.entries) {
            // The paths that an entry names are told of the bullet that names them.
            let reason = found.structure.as_ref().and_then(Structure::reason);
            doubts
                .entries
                .extend(reason.map(|reason| (entry.line, reason)));
        }
        for (text, found) in texts
            .bullets
            .iter()
            .zip(&found.entries[patterns.entries.len()..])
        {
            if found.is_stale {
                doubts
                    .bullets
                    .insert(text.clone(), found.reasons.join("; "));
            }
        }
        Ok(doubts)
    }

    /// Returns the doubts of the last check where nothing was committed or recorded since, else checks.
    ///
    /// A project without git is checked each time. What git can't answer becomes a warning: an
    /// unchecked pattern is shown as it stands.
    pub(crate) fn known(
        project: &Project,
        patterns: &Patterns,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        if patterns.entries.is_empty() && patterns.loose.is_empty() {
            return Self::default();
        }
        let fingerprint = fingerprint(project, patterns);
        if let Some(doubts) = fingerprint
            .as_deref()
            .and_then(|wanted| cached(project, wanted))
        {
            return doubts;
        }
        match Self::check(project, patterns) {
            Ok(doubts) => {
                if let Some(fingerprint) = fingerprint {
                    keep(project, fingerprint, &doubts);
                }
                doubts
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
pub fn check_patterns(project: &Project) -> Result<Parsed<Staleness>> {
    let found = relevance::patterns(project)?;
    let ids: Vec<String> = found.value.entries.iter().map(id).collect();
    let mut texts: Vec<Written<'_>> = found
        .value
        .entries
        .iter()
        .zip(&ids)
        .map(|(entry, id)| written(entry, id))
        .collect();
    texts.extend(found.value.loose.iter().map(|loose| Written {
        id: loose.section.as_deref().unwrap_or("PATTERNS.md"),
        text: &loose.text,
        commit: None,
        date: None,
    }));
    let value = Staleness::check(&texts, &project.root, &project.git)?;
    Ok(Parsed {
        value,
        warnings: found.warnings,
    })
}

fn id(entry: &Entry) -> String {
    match &entry.phase {
        Some(phase) => format!("Phase {phase}: {}", entry.name),
        None => entry.name.clone(),
    }
}

fn written<'a>(entry: &'a Entry, id: &'a str) -> Written<'a> {
    Written {
        id,
        text: &entry.text,
        commit: entry
            .trace
            .as_ref()
            .and_then(|trace| trace.commit.as_deref()),
        date: entry.date,
    }
}

/// The bullets of all entries and outside of them, each on its own.
struct Texts {
    bullets: Vec<String>,
}

impl Texts {
    fn of(patterns: &Patterns) -> Self {
        let entries = &patterns.entries;
        let bullets = entries.iter().flat_map(|entry| {
            entry
                .bullets()
                .chain(entry.notes.iter().map(String::as_str))
        });
        let loose = patterns.loose.iter().map(|loose| loose.text.as_str());
        Self {
            bullets: bullets.chain(loose).map(str::to_owned).collect(),
        }
    }

    /// Returns the entries, for their age, then the bullets, for what they name.
    fn written<'a>(&'a self, patterns: &'a Patterns) -> Vec<Written<'a>> {
        let entries = patterns
            .entries
            .iter()
            .map(|entry| written(entry, &entry.name));
        let bullets = self.bullets.iter().map(|text| Written {
            id: text,
            text,
            commit: None,
            date: None,
        });
        entries.chain(bullets).collect()
    }
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

fn cached(project: &Project, fingerprint: &str) -> Option<Doubts> {
    // A cache that can't be read is as good as none.
    let bytes = project.storage().cache(CACHE).ok().flatten()?;
    let cached: Cached = serde_json::from_slice(&bytes).ok()?;
    let is_valid = cached.fingerprint == fingerprint && cached.version == env!("CARGO_PKG_VERSION");
    is_valid.then_some(cached.doubts)
}

fn keep(project: &Project, fingerprint: String, doubts: &Doubts) {
    let cached = Cached {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        fingerprint,
        doubts: doubts.clone(),
    };
    if let Ok(bytes) = serde_json::to_vec(&cached)
        && let Err(_unwritable) = project.storage().write_cache(CACHE, &bytes)
    {
        // Where nothing can be written, the next run checks again.
    }
}
