//! Which recorded patterns fit a phase of the project.

use crate::error::Error;
use crate::error::Result;
use crate::lifecycle::freshness::Doubts;
use crate::patterns;
use crate::patterns::Patterns;
use crate::patterns::RelevantPattern;
use crate::planning::Phase;
use crate::planning::PhaseNumber;
use crate::planning::Survey;
use crate::project::Project;
use crate::storage::Changes;
use crate::storage::read;
use crate::warning::Parsed;
use crate::warning::Warning;

/// Returns PATTERNS.md as it is to be once `changes` are made.
pub(crate) fn recorded(
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

/// Returns what PATTERNS.md holds.
pub fn patterns(project: &Project) -> Result<Parsed<Patterns>> {
    project.planning()?;
    let mut warnings = Vec::new();
    let value = recorded(project, &Changes::new(), &mut warnings)?;
    Ok(Parsed { value, warnings })
}

/// Returns the patterns that fit a phase, the most relevant first; without one, the current phase.
pub fn relevant_patterns(
    project: &Project,
    number: Option<&PhaseNumber>,
) -> Result<Parsed<Vec<RelevantPattern>>> {
    let survey = Survey::take(project)?;
    let phase = match number {
        Some(number) => Some(named(&survey, number)?),
        None => survey.position.phase(),
    };
    let found = patterns(project)?;
    let doubts = Doubts::check(project, &found.value)?;
    Ok(found.map(|patterns| relevant_to(&patterns, &doubts, &survey, phase)))
}

/// Returns the patterns that fit the current phase, as far as the last check knows whether they hold.
pub fn known_patterns(project: &Project, survey: &Survey) -> Result<Parsed<Vec<RelevantPattern>>> {
    let mut found = patterns(project)?;
    let doubts = Doubts::known(project, &found.value, &mut found.warnings);
    Ok(found.map(|patterns| relevant_to(&patterns, &doubts, survey, survey.position.phase())))
}

/// Returns the patterns that fit a phase; the newest first where there is no phase.
pub(crate) fn relevant_to(
    patterns: &Patterns,
    doubts: &Doubts,
    survey: &Survey,
    phase: Option<&Phase>,
) -> Vec<RelevantPattern> {
    let topic = phase
        .map(|phase| patterns::topic(phase, &survey.roadmap))
        .unwrap_or_default();
    patterns::relevant(patterns, &topic, &|line, text| doubts.about(line, text))
}

/// Returns the phase of a number, or says which there are.
pub(crate) fn named<'a>(survey: &'a Survey, number: &PhaseNumber) -> Result<&'a Phase> {
    let phases = &survey.position.phases;
    phases
        .iter()
        .find(|phase| phase.number == *number)
        .ok_or_else(|| {
            let known: Vec<String> = phases
                .iter()
                .map(|phase| phase.number.to_string())
                .collect();
            let hint = if known.is_empty() {
                "no phase is known yet".to_owned()
            } else {
                format!("known phases: {}", known.join(", "))
            };
            Error::not_found(format!("there is no phase {number}")).hint(hint)
        })
}
