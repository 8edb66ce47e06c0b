//! Reads the existing plans of a phase, and checks whether they can be carried out.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::plan::{
    Phase, Plan, PlanNumber, PlanState, RoadmapPhase, RoadmapPlan, check_overlap, check_waves,
};
use crate::storage::read;
use crate::warning::Warning;

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
    /// Reads the plans of a phase, including those that exist only in the roadmap's checklist; one that cannot be read
    /// only causes a warning.
    pub(super) fn read(
        phase: &Phase,
        planned: Option<&RoadmapPhase>,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        let listed: &[RoadmapPlan] = planned.map_or(&[], |planned| &planned.plans);
        let mut found = Self::default();
        let (mut all, mut open) = (Vec::new(), Vec::new());
        for (slot, state) in &phase.plans {
            let path = phase.dir.as_ref().zip(slot.plan.as_ref()).map(|(dir, file)| dir.join(file));
            let parsed = path.and_then(|path| {
                Some(Plan::parse(&read::text_or_warning(&path, warnings)?, &path))
            });
            let in_list = listed.iter().find(|listed| listed.plan.as_ref() == Some(&slot.number));
            let mut brief = PlanBrief::empty(slot.number.clone(), *state);
            brief.title = in_list.and_then(|listed| listed.title.clone());
            if let Some(parsed) = parsed {
                brief.fill(&parsed.value);
                if *state != PlanState::Complete {
                    found.problems.extend(parsed.warnings);
                    found.problems.extend(parsed.value.problems());
                    open.push(parsed.value.clone());
                }
                all.push(parsed.value);
            }
            found.plans.push(brief);
        }
        // Problems of finished plans are ignored, and these no longer run in parallel with others.
        let is_open = |warning: &Warning| open.iter().any(|plan| plan.file == warning.place.file);
        found.problems.extend(check_waves(&all).into_iter().filter(is_open));
        found.problems.extend(check_overlap(&open));
        found.problems.sort();
        for listed in listed {
            let (Some(number), Some(is_done)) = (&listed.plan, listed.checked) else { continue };
            if found.plans.iter().all(|plan| plan.plan != *number) {
                let state = if is_done { PlanState::Complete } else { PlanState::Open };
                let title = listed.title.clone();
                found.plans.push(PlanBrief { title, ..PlanBrief::empty(number.clone(), state) });
            }
        }
        found.plans.sort_by(|one, other| one.plan.cmp(&other.plan));
        found
    }

    /// Returns the files that the incomplete plans will modify.
    pub(super) fn open_files(&self) -> BTreeSet<String> {
        let open = self.plans.iter().filter(|plan| plan.status != PlanState::Complete);
        open.flat_map(|plan| plan.files.iter().cloned()).collect()
    }
}

impl PlanBrief {
    fn empty(plan: PlanNumber, status: PlanState) -> Self {
        let (title, wave, tasks) = (None, None, 0);
        Self { plan, title, status, wave, depends_on: Vec::new(), tasks, files: Vec::new() }
    }

    /// Adds what the plan itself says; its title without the wave that it states besides: `Tide table (Wave 1)`.
    fn fill(&mut self, plan: &Plan) {
        self.wave = plan.wave;
        self.depends_on = plan.depends_on.clone().unwrap_or_default();
        self.tasks = plan.tasks.len();
        self.files = plan.files_modified.clone().unwrap_or_default();
        let title = plan.title.clone().or(self.title.take());
        self.title = title.map(|title| {
            let wave = plan.wave.map(|wave| format!("(wave {wave})")).unwrap_or_default();
            let end = title.len().saturating_sub(wave.len());
            match title.split_at_checked(end) {
                Some((rest, end)) if end.eq_ignore_ascii_case(&wave) => rest.trim_end().to_owned(),
                _ => title,
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_wave_of_a_title_is_dropped_if_the_plan_states_it() {
        for (title, wave, expected) in [
            ("Tide table (Wave 1)", "wave: 1", "Tide table"),
            ("Tide table (wave 1)", "plan: 1", "Tide table (wave 1)"),
            ("Tide table (wave 2)", "wave: 1", "Tide table (wave 2)"),
            ("\u{e9}", "wave: 1", "\u{e9}"),
        ] {
            let text = format!("---\ntitle: \"{title}\"\n{wave}\n---\n");
            let mut brief = PlanBrief::empty(PlanNumber::from(1), PlanState::Open);
            brief.fill(&Plan::parse(&text, Path::new("PLAN.md")).value);
            assert_eq!(brief.title.as_deref(), Some(expected));
        }
    }
}
