//! Finds gaps, duplicates and disagreements among the planning documents, which comparing them with the files
//! does not reveal.

use std::collections::BTreeSet;
use std::path::Path;

use crate::plan::{Phase, PhaseNumber, Survey, letters};
use crate::project::vocabulary;
use crate::warning::Warning;

/// Maximum distance between the first and last phase number; a larger one indicates years or ticket numbers.
const MAX_SPAN: u32 = 200;

/// Returns warnings about missing, duplicate and inconsistent entries.
pub fn inconsistencies(survey: &Survey) -> Vec<Warning> {
    let home = &survey.folder.active.dir;
    let mut found = missing(survey);
    found.extend(unlisted(survey, &home.join(vocabulary::ROADMAP)));
    found.extend(listed_twice(survey, &home.join(vocabulary::ROADMAP)));
    found.extend(gap(survey));
    found.extend(other_name(survey, &home.join(vocabulary::STATE)));
    found
}

/// Returns the milestone's phases that have a folder.
fn folders(survey: &Survey) -> impl Iterator<Item = &Phase> {
    let members = survey.position.members();
    members.filter(|phase| phase.dir.is_some())
}

/// Reports missing documents. Both are required if there are phases; between milestones there is no roadmap.
fn missing(survey: &Survey) -> Vec<Warning> {
    if folders(survey).next().is_none() {
        return Vec::new();
    }
    let documents =
        [(vocabulary::STATE, survey.has_state), (vocabulary::ROADMAP, survey.has_roadmap)];
    let absent = documents.iter().filter(|(_, is_there)| !is_there);
    absent
        .map(|(name, _)| {
            let path = survey.folder.active.dir.join(name);
            Warning::file(&path, "is missing although there are phases")
        })
        .collect()
}

/// Reports phases with a folder that the roadmap does not list: readers of the roadmap would miss them.
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
        more => format!("does not list phases {}, which have folders", more.join(", ")),
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

/// Reports integers missing between the first and the last phase number of the milestone.
fn gap(survey: &Survey) -> Option<Warning> {
    let members = survey.position.members();
    let members: Vec<&PhaseNumber> = members.map(|phase| &phase.number).collect();
    // `2-01` is not compared with `1-04`.
    let one = *members.iter().max()?;
    let siblings = members.iter().filter(|number| number.is_sibling(one));
    let numbers: BTreeSet<u32> = siblings.map(|number| number.ordinal()).collect();
    let (first, last) = (*numbers.first()?, *numbers.last()?);
    if last - first > MAX_SPAN {
        return None;
    }
    // The missing numbers may belong to earlier milestones.
    let is_known = |number: u32| {
        let has = |phase: &PhaseNumber| phase.is_sibling(one) && phase.ordinal() == number;
        let ranges = survey.roadmap.milestones.iter();
        let mut ranges = ranges.filter_map(|milestone| milestone.phases.as_ref());
        survey.position.phases.iter().any(|phase| has(&phase.number))
            || survey.roadmap.phases.iter().any(|phase| has(&phase.number))
            || ranges.any(|range| range.contains(&one.sibling(number)))
    };
    let absent: Vec<String> = (first..=last)
        .filter(|number| !is_known(*number))
        .map(|number| one.sibling(number).to_string())
        .collect();
    let missing = match absent.as_slice() {
        [] => return None,
        [one] => format!("phase {one} is"),
        [others @ .., end] => format!("phases {} and {end} are", others.join(", ")),
    };
    let (first, last) = (one.sibling(first), one.sibling(last));
    let message = format!("{missing} missing between {first} and {last}");
    let home = &survey.folder.active.dir;
    let place = if survey.has_roadmap { home.join(vocabulary::ROADMAP) } else { home.clone() };
    Some(Warning::file(&place, message))
}

/// Reports a name in STATE.md that differs from PROJECT.md's by more than abbreviation.
fn other_name(survey: &Survey, state: &Path) -> Option<Warning> {
    let (ours, theirs) = (survey.project_file.name.as_ref()?, survey.state.project.as_ref()?);
    let (one, other) = (letters(ours), letters(theirs));
    let is_same = one.contains(&other) || other.contains(&one);
    (!is_same).then(|| {
        let message = format!("names the project {theirs:?}, but PROJECT.md names it {ours:?}");
        Warning::file(state, message)
    })
}
