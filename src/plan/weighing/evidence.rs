//! Bundles the documents from which the position is determined, and formats references to them.

use std::path::{Display, Path};

use crate::plan::{Claim, Phase, PlanState, PlanningFolder, Roadmap, StateFile, WorkflowSettings};
use crate::project::vocabulary;

/// The documents from which the position is determined.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The names in the planning folder.
    pub folder: &'a PlanningFolder,
    /// ROADMAP.md; empty if missing.
    pub roadmap: &'a Roadmap,
    /// STATE.md; empty if missing.
    pub state: &'a StateFile,
    /// Whether MILESTONES.md lists the milestone named in STATE.md as shipped.
    pub has_shipped: bool,
    /// The steps that config.json requires for a phase in addition to plans and summaries.
    pub workflow: WorkflowSettings,
    /// The project's root, to which paths in evidence are relative.
    pub root: &'a Path,
}

impl Evidence<'_> {
    pub(crate) fn show<'p>(&self, path: &'p Path) -> Display<'p> {
        path.strip_prefix(self.root).unwrap_or(path).display()
    }

    pub(crate) fn state(&self, line: usize) -> String {
        let file = self.folder.active.dir.join(vocabulary::STATE);
        format!("{}:{line}", self.show(&file))
    }

    pub(crate) fn roadmap(&self, line: usize) -> String {
        let file = self.folder.active.dir.join(vocabulary::ROADMAP);
        format!("{}:{line}", self.show(&file))
    }

    /// Returns the plans of a phase that are not complete, with the reason: `…/03-02-PLAN.md: plan 2 has no
    /// summary`.
    pub(crate) fn open_plans(&self, phase: &Phase) -> impl Iterator<Item = String> {
        let dir = phase.dir.as_deref().unwrap_or(Path::new(""));
        phase.plans.iter().filter_map(move |(slot, state)| {
            let why = match state {
                PlanState::Complete => return None,
                PlanState::Open => "has no summary",
                PlanState::Partial => "is partial",
                PlanState::Failed => "failed",
            };
            let path = dir.join(slot.summary.as_ref().or(slot.plan.as_ref())?);
            Some(format!("{}: plan {} {why}", self.show(&path), slot.number))
        })
    }

    /// Returns the line number in STATE.md of the current phase.
    pub(crate) fn pointer_line(&self) -> usize {
        let claims = &self.state.claims;
        let number = self.state.phase.number.as_ref();
        claims
            .iter()
            .find(|claim| matches!(&claim.value, Claim::Phase(stated) if Some(stated) == number))
            .map_or(1, |claim| claim.line)
    }
}
