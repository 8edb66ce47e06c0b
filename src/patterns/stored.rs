//! Reads the recorded patterns of the current project, and selects those relevant to a phase.

use crate::error::Result;
use crate::patterns;
use crate::patterns::{Patterns, RelevantPattern, StaleReasons};
use crate::plan::{Phase, PhaseNumber, Survey};
use crate::project::Project;
use crate::storage::{Changes, read};
use crate::text::quantity;
use crate::warning::{Parsed, Warning};

/// Returns PATTERNS.md with pending `changes` applied.
pub(crate) fn with_changes(
    project: &Project,
    changes: &Changes,
    warnings: &mut Vec<Warning>,
) -> Result<Patterns> {
    let path = patterns::path(&project.planning_place().dir);
    let Some(bytes) = changes.current(&path)? else {
        return Ok(Patterns::default());
    };
    let text = read::decode(bytes, &path).into_value(warnings);
    Ok(Patterns::parse(&text, &path).into_value(warnings))
}

/// Returns the recorded patterns in PATTERNS.md.
pub fn stored(project: &Project) -> Result<Parsed<Patterns>> {
    project.planning()?;
    let mut warnings = Vec::new();
    let value = with_changes(project, &Changes::new(), &mut warnings)?;
    Ok(Parsed { value, warnings })
}

/// Maximum size of the entries, from the end of PATTERNS.md, that are ranked and checked against the tree, in
/// bytes. This is enough for hundreds of phases; more would take over a second.
const MAX_RECENT_BYTES: usize = 256 * 1024;

/// Returns the newest patterns, with pending `changes` applied, and warns about the number left out.
pub(crate) fn recent(
    project: &Project,
    changes: &Changes,
    warnings: &mut Vec<Warning>,
) -> Result<Patterns> {
    let mut patterns = with_changes(project, changes, warnings)?;
    let left_out = drop_oldest(&mut patterns);
    if left_out > 0 {
        let most = MAX_RECENT_BYTES / 1024;
        let message = format!(
            "only the last {most} KiB of entries are used; {} left out",
            quantity(left_out, "older one")
        );
        let path = patterns::path(&project.planning_place().dir);
        warnings.push(Warning::file(&path, message));
    }
    Ok(patterns)
}

/// Drops the oldest patterns beyond [`MAX_RECENT_BYTES`], and returns their number.
fn drop_oldest(patterns: &mut Patterns) -> usize {
    let mut room = MAX_RECENT_BYTES;
    // Notes are kept first: there are few, and people wrote them.
    keep_last(&mut patterns.loose, &mut room, |loose| loose.text.len())
        + keep_last(&mut patterns.entries, &mut room, |entry| entry.text.len())
}

/// Keeps the last items that fit into `room` bytes, and subtracts their size from it; returns the number
/// dropped.
fn keep_last<T>(items: &mut Vec<T>, room: &mut usize, length: impl Fn(&T) -> usize) -> usize {
    let fits = |item: &&T| {
        let rest = room.checked_sub(length(item));
        *room = rest.unwrap_or(0);
        rest.is_some()
    };
    let kept = items.iter().rev().take_while(fits).count();
    items.drain(..items.len() - kept).count()
}

/// Returns the recorded patterns, each bullet with its source.
pub fn traced(project: &Project) -> Result<Parsed<Patterns>> {
    let mut found = stored(project)?;
    found.value.trace_bullets(project)?;
    Ok(found)
}

/// Returns the patterns relevant to a phase, or else to the current phase, most relevant first.
pub fn relevant_patterns(
    project: &Project,
    number: Option<&PhaseNumber>,
) -> Result<Parsed<Vec<RelevantPattern>>> {
    let survey = Survey::read(project)?;
    let phase = match number {
        Some(number) => Some(survey.phase(number)?),
        None => survey.position.phase(),
    };
    let mut warnings = Vec::new();
    let patterns = recent(project, &Changes::new(), &mut warnings)?;
    let reasons = StaleReasons::check(project, &patterns)?;
    let value = relevant_to(&patterns, &reasons, &survey, phase);
    Ok(Parsed { value, warnings })
}

/// Returns the patterns relevant to the current phase; staleness comes from the last check if that is
/// current.
pub fn known_patterns(project: &Project, survey: &Survey) -> Result<Parsed<Vec<RelevantPattern>>> {
    project.planning()?;
    let mut warnings = Vec::new();
    let patterns = recent(project, &Changes::new(), &mut warnings)?;
    let reasons = StaleReasons::cached_or_checked(project, &patterns, &mut warnings);
    let value = relevant_to(&patterns, &reasons, survey, survey.position.phase());
    Ok(Parsed { value, warnings })
}

/// Returns the patterns by relevance to a phase; without a phase, by age.
pub(crate) fn relevant_to(
    patterns: &Patterns,
    reasons: &StaleReasons,
    survey: &Survey,
    phase: Option<&Phase>,
) -> Vec<RelevantPattern> {
    let topic = phase.map(|phase| patterns::topic(phase, &survey.roadmap)).unwrap_or_default();
    patterns::relevant(patterns, &topic, &|line, text| reasons.about(line, text))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn notes_are_kept_however_many_entries_there_are() {
        let long = "word ".repeat(2_000);
        let entry = |number| format!("### Phase {number}: A\n\n**What worked:**\n- {long}\n\n");
        let entries: String = (0..40).map(entry).collect();
        let text = format!("{entries}### Notes\n\n- 2026-01-01: one\n");
        let mut patterns = Patterns::parse(&text, Path::new("P.md")).value;
        let left_out = drop_oldest(&mut patterns);
        assert!(left_out > 0 && patterns.entries.len() + left_out == 40);
        assert_eq!(patterns.loose.len(), 1);
        assert_eq!(patterns.entries.last().unwrap().phase, Some(39.into()));
    }
}
