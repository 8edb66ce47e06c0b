//! Reads the existing plans of a phase, and checks whether they can be carried out.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use crate::plan::{
    Phase, Plan, PlanNumber, PlanSlot, PlanState, RoadmapPhase, RoadmapPlan, check_overlap,
    check_waves,
};
use crate::storage::read;
use crate::warning::{Parsed, Warning};

/// A summary of a plan of the phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanBrief {
    /// Its number.
    pub plan: PlanNumber,
    /// Its title.
    pub title: Option<String>,
    /// Its state.
    pub status: PlanState,
    /// The wave in which it is executed.
    pub wave: Option<u32>,
    /// The plans it depends on, as written.
    pub depends_on: Vec<String>,
    /// Number of its tasks.
    pub tasks: usize,
    /// The files it will modify.
    pub files: Vec<String>,
}

/// The plans of one phase.
#[derive(Clone, Debug, Default)]
pub(super) struct PhasePlans {
    pub(super) plans: Vec<PlanBrief>,
    /// Problems of the plans that are not complete.
    pub(super) problems: Vec<Warning>,
}

impl PhasePlans {
    /// Reads the plans of a phase, including those that exist only in the roadmap's checklist.
    ///
    /// Problems of finished plans are ignored.
    pub(super) fn read(
        phase: &Phase,
        planned: Option<&RoadmapPhase>,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        let mut found = Self::with_files(phase, planned, warnings);
        let listed = planned.iter().flat_map(|planned| &planned.plans);
        let listed = listed.filter_map(PlanBrief::from_roadmap);
        for listed in listed {
            if found.plans.iter().all(|plan| plan.plan != listed.plan) {
                found.plans.push(listed);
            }
        }
        found.plans.sort_by(|one, other| one.plan.cmp(&other.plan));
        found
    }

    fn with_files(
        phase: &Phase,
        planned: Option<&RoadmapPhase>,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        let Some(dir) = &phase.dir else {
            return Self::default();
        };
        let mut found = Self::default();
        let mut read = Vec::new();
        let mut open: Vec<Plan> = Vec::new();
        for (slot, state) in &phase.plans {
            let parsed = slot.plan.as_ref().and_then(|file| parse(&dir.join(file), warnings));
            let plan = parsed.as_ref().map(|parsed| &parsed.value);
            let mut brief = PlanBrief::new(slot, *state, plan);
            brief.title = brief.title.or_else(|| listed_title(planned?, &slot.number));
            let title = brief.title.take();
            brief.title = title.map(|title| without_wave(title, brief.wave));
            let Some(parsed) = parsed else {
                found.plans.push(brief);
                continue;
            };
            if *state != PlanState::Complete {
                found.problems.extend(parsed.warnings);
                found.problems.extend(parsed.value.problems());
                open.push(parsed.value.clone());
            }
            found.plans.push(brief);
            read.push(parsed.value);
        }
        let is_open = |warning: &Warning| open.iter().any(|plan| plan.file == warning.place.file);
        found.problems.extend(check_waves(&read).into_iter().filter(is_open));
        // Finished plans no longer run in parallel with others.
        found.problems.extend(check_overlap(&open));
        found.problems.sort();
        found
    }
}

impl PhasePlans {
    /// Returns the files that the incomplete plans will modify.
    pub(super) fn open_files(&self) -> BTreeSet<String> {
        let open = self.plans.iter().filter(|plan| plan.status != PlanState::Complete);
        open.flat_map(|plan| plan.files.iter().cloned()).collect()
    }
}

impl PlanBrief {
    /// Returns a plan from the roadmap's checklist, or `None` if the entry has no number or no checkbox.
    fn from_roadmap(listed: &RoadmapPlan) -> Option<Self> {
        let plan = listed.plan.clone()?;
        Some(Self {
            status: if listed.checked? { PlanState::Complete } else { PlanState::Open },
            title: listed.title.clone(),
            plan,
            wave: None,
            depends_on: Vec::new(),
            tasks: 0,
            files: Vec::new(),
        })
    }

    fn new(slot: &PlanSlot, state: PlanState, plan: Option<&Plan>) -> Self {
        Self {
            plan: slot.number.clone(),
            title: plan.and_then(|plan| plan.title.clone()),
            status: state,
            wave: plan.and_then(|plan| plan.wave),
            depends_on: plan.and_then(|plan| plan.depends_on.clone()).unwrap_or_default(),
            tasks: plan.map_or(0, |plan| plan.tasks.len()),
            files: plan.and_then(|plan| plan.files_modified.clone()).unwrap_or_default(),
        }
    }
}

/// Returns the title of a plan in the roadmap's checklist.
fn listed_title(planned: &RoadmapPhase, number: &PlanNumber) -> Option<String> {
    let mut listed = planned.plans.iter();
    let found = listed.find(|listed| listed.plan.as_ref() == Some(number))?;
    found.title.clone()
}

/// Returns a title without the wave that the plan itself states: `Tide table (Wave 1)`.
fn without_wave(title: String, wave: Option<u32>) -> String {
    let Some(wave) = wave else {
        return title;
    };
    let stated = format!("(wave {wave})");
    let start = title.len().saturating_sub(stated.len());
    match title.split_at_checked(start) {
        Some((rest, end)) if end.eq_ignore_ascii_case(&stated) => rest.trim_end().to_owned(),
        _ => title,
    }
}

/// Reads a plan; one that cannot be read only causes a warning, so that the others are still returned.
fn parse(path: &Path, warnings: &mut Vec<Warning>) -> Option<Parsed<Plan>> {
    let text = read::text_or_warning(path, warnings)?;
    Some(Plan::parse(&text, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wave_of_a_title_is_dropped_if_the_plan_states_it() {
        for (title, wave, expected) in [
            ("Tide table (Wave 1)", Some(1), "Tide table"),
            ("Tide table (wave 1)", None, "Tide table (wave 1)"),
            ("Tide table (wave 2)", Some(1), "Tide table (wave 2)"),
            ("\u{e9}", Some(1), "\u{e9}"),
        ] {
            assert_eq!(without_wave(title.to_owned(), wave), expected);
        }
    }
}
