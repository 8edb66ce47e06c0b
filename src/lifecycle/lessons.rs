//! The lessons of the whole history, kept in a cache: working them out reads every summary.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::Deserialize;
use serde::Serialize;
use sha2::Digest;
use sha2::Sha256;

use crate::error::Result;
use crate::patterns;
use crate::patterns::Insights;
use crate::patterns::Patterns;
use crate::planning::PhaseDir;
use crate::position::Survey;
use crate::project::Project;
use crate::text::hexadecimal;

/// The cache's file in `.annals/`.
const CACHE: &str = "lessons.json";

/// From as many summaries that speak of deviations on, a difference is worth a session's tokens.
const MIN_SUMMARIES: usize = 20;

#[derive(Serialize, Deserialize)]
struct Cached {
    /// The version of annals that worked them out: another one may count otherwise.
    version: String,
    /// What they were worked out from.
    fingerprint: String,
    lessons: Vec<String>,
}

/// Returns what the history shows with evidence, one line each.
///
/// `recorded` is PATTERNS.md as it is to be: its entries tell the effort of their phases.
pub(crate) fn lessons(
    project: &Project,
    survey: &Survey,
    recorded: &Patterns,
) -> Result<Vec<String>> {
    let storage = project.storage();
    let fingerprint = fingerprint(survey, recorded)?;
    let version = env!("CARGO_PKG_VERSION");
    // A cache that can't be read is as good as none.
    let cached = storage.cache(CACHE).ok().flatten();
    let cached: Option<Cached> = cached.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if let Some(cached) = cached
        && cached.fingerprint == fingerprint
        && cached.version == version
    {
        return Ok(cached.lessons);
    }
    let phases = patterns::history(survey, recorded)?.value;
    let insights = Insights::from_phases(&phases);
    let is_telling = insights.deviated.of >= MIN_SUMMARIES;
    let lessons = insights
        .lessons()
        .filter(|one| is_telling && !one.question.is_about_size());
    let lessons: Vec<String> = lessons.map(|lesson| lesson.statement.clone()).collect();
    let fresh = Cached {
        version: version.to_owned(),
        fingerprint,
        lessons,
    };
    if let Ok(bytes) = serde_json::to_vec(&fresh)
        && let Err(_unwritable) = storage.write_cache(CACHE, &bytes)
    {
        // Where nothing can be written, the next run works them out again.
    }
    Ok(fresh.lessons)
}

/// Digests the name, size and time of every summary, and what is recorded.
fn fingerprint(survey: &Survey, recorded: &Patterns) -> Result<String> {
    let mut digest = Sha256::new();
    for milestone in patterns::other_milestones(survey, &mut Vec::new())? {
        milestone
            .phases
            .iter()
            .for_each(|phase| add(phase, &mut digest));
    }
    survey
        .folder
        .active
        .phases
        .iter()
        .for_each(|phase| add(phase, &mut digest));
    for entry in &recorded.entries {
        digest.update(entry.text.as_bytes());
    }
    Ok(hexadecimal(&digest.finalize()))
}

fn add(phase: &PhaseDir, digest: &mut Sha256) {
    for path in phase.summaries() {
        digest.update(path.as_os_str().as_encoded_bytes());
        digest.update(stamp(&path).as_bytes());
    }
}

fn stamp(path: &Path) -> String {
    let Ok(about) = fs::metadata(path) else {
        return String::new();
    };
    let modified = about
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!(" {} {:?}\n", about.len(), modified)
}
