//! Parses ROADMAP.md: the phases with their goals, plans and status.
//!
//! ```text
//! ## Phases
//! - [x] **Phase 1: Name** - what it is about
//!
//! ### Phase 1: Name
//! **Goal**: …
//! **Depends on**: Nothing
//! **Requirements**: REQ-01, REQ-02
//! **Success Criteria** (what must be TRUE):
//!   1. …
//! Plans:
//! - [x] 01-01-PLAN.md — …
//!
//! ## Progress
//! | Phase   | Plans Complete | Status   | Completed  |
//! |---------|----------------|----------|------------|
//! | 1. Name | 3/3            | Complete | 2026-02-11 |
//! ```

use std::path::Path;

use serde::Serialize;

use crate::markdown::{FrontMatter, Outline};
use crate::plan::read::roadmap::assembly::{Assembly, PhaseDraft};
pub(crate) use crate::plan::read::roadmap::milestone::{
    version as milestone_version, version_in as milestone_version_in,
};
pub(in crate::plan::read) use crate::plan::read::roadmap::name::parse_phase;
use crate::plan::read::{Located, PhaseNumbering, PhaseProgress, limit, non_placeholder};
use crate::warning::{Parsed, Warning};

mod assembly;
mod field;
mod mention;
mod milestone;
mod name;
mod phase;
mod plan_entry;
mod progress;
mod reference;
mod section;

pub(in crate::plan::read) use mention::names_phases_of_milestones;
pub use phase::{RoadmapMilestone, RoadmapPhase, RoadmapPlan};

/// The parsed ROADMAP.md.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Roadmap {
    /// The title, verbatim.
    #[serde(skip)]
    pub title: Option<String>,
    /// The phases by number, with those of shipped milestones first.
    pub phases: Vec<RoadmapPhase>,
    /// The milestones, if the roadmap has several: those with phases in file order, then those only listed.
    #[serde(skip)]
    pub milestones: Vec<RoadmapMilestone>,
    /// Whether the roadmap says explicitly that no milestone is active.
    #[serde(skip)]
    pub is_between_milestones: bool,
    /// The milestone that VBW names above the phases: `**Milestone:** bread`.
    #[serde(skip)]
    pub milestone: Option<String>,
    /// Headings and list entries that seem to name phases, but whose numbers are not read.
    #[serde(skip)]
    pub not_understood: Vec<Located<String>>,
}

/// Maximum number of phases, which bounds the comparisons between phases.
const MAX_PHASES: usize = 1_000;

/// Maximum number of phases that are reported individually, with a second section or too many dependencies.
const MAX_REPORTED: usize = 20;

impl Roadmap {
    /// Parses a ROADMAP.md, or the roadmap of an archived milestone, whose headings show how phases are numbered.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        Self::parse_with(text, path, PhaseNumbering::detect(None, Some(text)))
    }

    /// Parses a ROADMAP.md of a project that numbers its phases in the given way.
    pub fn parse_with(text: &str, path: &Path, numbering: PhaseNumbering) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let front = FrontMatter::parse(text, path).into_value(&mut warnings);
        let outline = Outline::parse_beginning(text, front.range.end);
        warnings.extend(outline.warning(path));
        let assembly = Assembly::read(&outline, numbering, path);
        warnings.extend(assembly.duplicates.into_iter().take(MAX_REPORTED));
        warnings.extend(assembly.cut_dependencies.into_iter().take(MAX_REPORTED));
        let mut phases: Vec<RoadmapPhase> =
            assembly.phases.into_iter().map(PhaseDraft::with_progress).collect();
        if assembly.is_cut {
            warnings.push(limit::too_many(MAX_PHASES, "phases", path));
        }
        if assembly.has_more_milestones {
            warnings.push(limit::too_many(milestone::MAX_MILESTONES, "milestones", path));
        }
        phases.sort_by(|a, b| (!a.is_shipped, &a.number).cmp(&(!b.is_shipped, &b.number)));
        let mut not_understood = mention::not_understood(&outline, numbering);
        if phases.is_empty() && not_understood.is_empty() {
            not_understood.extend(mention::open_box(&outline));
        }
        for found in not_understood.iter().take(MAX_REPORTED) {
            let message = format!("not understood as a phase: {:?}", found.value);
            warnings.push(Warning::at(path, found.line, message));
        }
        let value = Self {
            title: outline.title().map(str::to_owned),
            phases,
            milestones: assembly.milestones,
            is_between_milestones: says_none_is_active(&outline),
            milestone: stated_milestone(&outline),
            not_understood,
        };
        Parsed { value, warnings }
    }

    /// Returns the phases of milestones that have not shipped, without removed, superseded or deferred ones.
    pub fn active_phases(&self) -> impl Iterator<Item = &RoadmapPhase> {
        self.phases.iter().filter(|phase| {
            !phase.is_shipped && !phase.status.is_some_and(PhaseProgress::is_dropped)
        })
    }
}

/// Returns the milestone named by a label above the phases.
fn stated_milestone(outline: &Outline<'_>) -> Option<String> {
    let heads = outline.sections().iter().take_while(|section| section.level < 2);
    let mut labels = heads.flat_map(|section| outline.labels(&section.own));
    let label = labels.find(|label| label.name.eq_ignore_ascii_case("milestone"))?;
    non_placeholder(&label.value).map(str::to_owned)
}

/// Returns whether a paragraph or a bullet begins by saying that no milestone is active.
fn says_none_is_active(outline: &Outline<'_>) -> bool {
    let all = 0..outline.text().len();
    let paragraphs = outline.paragraphs(&all).map(|(_, text)| text);
    let bullets = outline.items(&all).map(|(_, item)| item.text.as_str());
    paragraphs.chain(bullets).any(|text| {
        let lower = text.to_lowercase();
        ["no active milestone", "no milestone is active"]
            .iter()
            .any(|said| lower.trim_start_matches(['*', '_', '(']).starts_with(said))
    })
}

#[cfg(test)]
mod tests;
