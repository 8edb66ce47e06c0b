//! What the planning documents leave open or say twice: no statement that a file refutes, but a thing to put right.

use std::collections::BTreeSet;
use std::path::Path;

use crate::planning::PhaseNumber;
use crate::position::Phase;
use crate::position::Survey;
use crate::project::vocabulary;
use crate::warning::Warning;

/// Numbers further apart are years or tickets, not a count of phases.
const MAX_SPAN: u32 = 200;

/// Returns what is missing, doubled or at odds, with files as they are named in the survey's folder.
pub fn inconsistencies(survey: &Survey) -> Vec<Warning> {
    let home = &survey.folder.active.dir;
    let mut found = missing(survey);
    found.extend(unlisted(survey, &home.join(vocabulary::ROADMAP)));
    found.extend(listed_twice(survey, &home.join(vocabulary::ROADMAP)));
    found.extend(gap(survey));
    found.extend(other_name(survey, &home.join(vocabulary::STATE)));
    found
}

/// Returns the phases of the milestone that have a folder.
fn folders(survey: &Survey) -> impl Iterator<Item = &Phase> {
    let phases = survey.position.phases.iter();
    phases.filter(|phase| phase.is_in_milestone && phase.dir.is_some())
}

/// A milestone with phases needs both documents; between milestones there is no roadmap.
fn missing(survey: &Survey) -> Vec<Warning> {
    if folders(survey).next().is_none() {
        return Vec::new();
    }
    let documents = [
        (vocabulary::STATE, survey.has_state),
        (vocabulary::ROADMAP, survey.has_roadmap),
    ];
    let absent = documents.iter().filter(|(_, is_there)| !is_there);
    absent
        .map(|(name, _)| {
            let path = survey.folder.active.dir.join(name);
            Warning::file(&path, "is missing although there are phases")
        })
        .collect()
}

/// A folder that the roadmap lacks is worked on by nobody who reads the roadmap.
fn unlisted(survey: &Survey, roadmap: &Path) -> Option<Warning> {
    let listed = &survey.roadmap.phases;
    let is_listed = |phase: &&Phase| listed.iter().any(|entry| entry.number == phase.number);
    let absent: Vec<String> = folders(survey)
        .filter(|phase| !is_listed(phase))
        .map(|phase| phase.number.to_string())
        .collect();
    let message = match absent.as_slice() {
        [] => return None,
        [one] => format!("does not list phase {one}, which has a folder"),
        more => format!(
            "does not list phases {}, which have folders",
            more.join(", ")
        ),
    };
    (!listed.is_empty()).then(|| Warning::file(roadmap, message))
}

fn listed_twice(survey: &Survey, roadmap: &Path) -> Vec<Warning> {
    let entries = survey.roadmap.phases.iter().flat_map(|phase| {
        let lines = phase.repeated.iter();
        lines.map(move |line| (line, &phase.number))
    });
    entries
        .map(|(line, number)| {
            let message = format!("lists phase {number} a second time");
            Warning::at(roadmap, *line, message)
        })
        .collect()
}

/// Tells which whole numbers are missing between the first and the last phase of the milestone.
fn gap(survey: &Survey) -> Option<Warning> {
    let members = survey.position.phases.iter();
    let numbers: BTreeSet<u32> = members
        .filter(|phase| phase.is_in_milestone)
        .map(|phase| phase.number.whole())
        .collect();
    let (first, last) = (*numbers.first()?, *numbers.last()?);
    if last - first > MAX_SPAN {
        return None;
    }
    // Phases of earlier milestones may lie between.
    let is_known = |number: u32| {
        let has = |phase: &PhaseNumber| phase.whole() == number;
        let ranges = survey.roadmap.milestones.iter();
        let mut ranges = ranges.filter_map(|milestone| milestone.phases.as_ref());
        survey
            .position
            .phases
            .iter()
            .any(|phase| has(&phase.number))
            || survey.roadmap.phases.iter().any(|phase| has(&phase.number))
            || ranges.any(|range| range.contains(&number))
    };
    let absent: Vec<String> = (first..=last)
        .filter(|number| !is_known(*number))
        .map(|number| number.to_string())
        .collect();
    let missing = match absent.as_slice() {
        [] => return None,
        [one] => format!("phase {one} is"),
        [others @ .., end] => format!("phases {} and {end} are", others.join(", ")),
    };
    let message = format!("{missing} missing between {first} and {last}");
    let home = &survey.folder.active.dir;
    let place = if survey.has_roadmap {
        home.join(vocabulary::ROADMAP)
    } else {
        home.clone()
    };
    Some(Warning::file(&place, message))
}

/// PROJECT.md's name counts; STATE.md may shorten it, not change it.
fn other_name(survey: &Survey, state: &Path) -> Option<Warning> {
    let (ours, theirs) = (
        survey.project_file.name.as_ref()?,
        survey.state.project.as_ref()?,
    );
    let (one, other) = (letters(ours), letters(theirs));
    let is_same = one.contains(&other) || other.contains(&one);
    (!is_same).then(|| {
        let message = format!("calls the project {theirs:?}, PROJECT.md {ours:?}");
        Warning::file(state, message)
    })
}

fn letters(name: &str) -> String {
    let kept = name.chars().filter(|c| c.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}
