//! Computes the lessons of the whole history, and caches them because that reads every summary.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::patterns;
use crate::patterns::{Insights, Patterns};
use crate::plan::{PhaseDir, Survey};
use crate::project::Project;
use crate::text::hexadecimal;

/// The name of the cache file in `.annals/`.
const CACHE: &str = "lessons.json";

/// Returns the lessons that the history supports with evidence, one line each.
///
/// `recorded` is the planned content of PATTERNS.md: its entries contain the effort of their phases.
pub(crate) fn lessons(
    project: &Project,
    survey: &Survey,
    recorded: &Patterns,
) -> Result<Vec<String>> {
    let storage = project.storage();
    let fingerprint = fingerprint(survey, recorded)?;
    if let Some(lessons) = storage.derived(CACHE, &fingerprint) {
        return Ok(lessons);
    }
    let phases = patterns::history(survey, recorded)?.value;
    let insights = Insights::from_phases(&phases);
    let lessons: Vec<String> = insights.lessons().map(|lesson| lesson.statement.clone()).collect();
    storage.write_derived(CACHE, fingerprint, &lessons);
    Ok(lessons)
}

/// Returns a digest of the name, size and time of every summary, and of the recorded patterns.
fn fingerprint(survey: &Survey, recorded: &Patterns) -> Result<String> {
    let mut digest = Sha256::new();
    for milestone in survey.folder.other_milestones(&mut Vec::new())? {
        milestone.phases.iter().for_each(|phase| add(phase, &mut digest));
    }
    survey.folder.active.phases.iter().for_each(|phase| add(phase, &mut digest));
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
    let modified = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!(" {} {:?}\n", about.len(), modified)
}
