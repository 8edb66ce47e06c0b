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

use std::ops::Range;
use std::path::Path;

use serde::Serialize;

use crate::markdown::FrontMatter;
use crate::markdown::Outline;

use crate::planning::Located;
use crate::planning::PhaseIds;
use crate::planning::PhaseNumber;
use crate::planning::PhaseProgress;
use crate::planning::PlanNumber;
use crate::planning::ProgressRow;
use crate::planning::roadmap::assembly::Assembly;
use crate::planning::roadmap::assembly::PhaseDraft;
pub(crate) use crate::planning::roadmap::milestone::version as milestone_version;
pub(crate) use crate::planning::roadmap::milestone::version_in as milestone_version_in;
pub(in crate::planning) use crate::planning::roadmap::name::parse_phase;
use crate::warning::Parsed;
use crate::warning::Warning;

mod assembly;
mod field;
mod mention;
mod milestone;
mod name;
mod plan_entry;
mod progress;
mod reference;
mod section;

pub(in crate::planning) use mention::names_phases_of_milestones;

/// An entry of a phase's plan checklist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoadmapPlan {
    /// The plan's number, if the entry names one.
    pub plan: Option<PlanNumber>,
    /// The text after the number.
    #[serde(skip)]
    pub title: Option<String>,
    /// The entry, verbatim.
    pub text: String,
    /// Whether the entry is checked; `None` without a checkbox.
    pub checked: Option<bool>,
    /// The mark between the checkbox's brackets: a space or a letter.
    #[serde(skip)]
    pub mark: Option<Located<bool>>,
}

/// A phase of the roadmap.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoadmapPhase {
    /// The phase number.
    pub number: PhaseNumber,
    /// The name, verbatim.
    pub name: Option<String>,
    /// The goal.
    pub goal: Option<String>,
    /// The phases that it depends on.
    pub depends_on: Vec<PhaseNumber>,
    /// The requirements that it covers: ids if given, otherwise the text.
    pub requirements: Vec<String>,
    /// What must be true when it is complete.
    pub success_criteria: Vec<String>,
    /// The plan checklist.
    pub plans: Vec<RoadmapPlan>,
    /// The progress. In order of precedence, it is derived from the progress table, the phase's own status,
    /// its completion date, its checkbox, its plans' checkboxes, its plan count; `None` if there are none of
    /// these.
    pub status: Option<PhaseProgress>,
    /// The mark in the phase's checkbox.
    #[serde(skip)]
    pub checkbox: Option<Located<bool>>,
    /// Line numbers of further checklist entries for the same phase.
    #[serde(skip)]
    pub repeated: Vec<usize>,
    /// The row in the progress table.
    #[serde(skip)]
    pub row: Option<ProgressRow>,
    /// The phase's own `Status:` label or the mark in its heading, verbatim.
    #[serde(skip)]
    pub stated_status: Option<Located<String>>,
    /// The value of the `Plans:` label, verbatim: `3 plans`, `2/3 plans complete`.
    #[serde(skip)]
    pub plan_count: Option<Located<String>>,
    /// The index of its milestone in [`Roadmap::milestones`].
    #[serde(skip)]
    pub milestone: Option<usize>,
    /// Whether it belongs to a shipped milestone.
    #[serde(skip)]
    pub is_shipped: bool,
    /// Whether a heading or a list entry names it; a phase that is only in a table may belong to another
    /// milestone.
    #[serde(skip)]
    pub is_listed: bool,
    /// Line number of the first mention, from 1.
    #[serde(skip)]
    pub line: usize,
}

/// A milestone named in the roadmap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoadmapMilestone {
    /// The name, verbatim.
    pub name: String,
    /// Whether the roadmap calls it shipped.
    pub is_shipped: bool,
    /// The range of its phase numbers, if stated.
    pub phases: Option<Range<PhaseNumber>>,
    /// Byte range that contains its phases; empty if it is only listed.
    pub range: Range<usize>,
    /// Line number of its mention, from 1.
    pub line: usize,
}

impl RoadmapMilestone {
    /// Returns whether a phase of this number may belong to the milestone. A number outside the stated range
    /// does not: such a section under the heading was added later.
    fn may_hold(&self, number: &PhaseNumber) -> bool {
        let range = self.phases.as_ref();
        range.is_none_or(|range| range.contains(number))
    }
}

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
}

/// Maximum number of phases, which bounds the comparisons between phases.
const MAX_PHASES: usize = 1_000;

/// Maximum number of phases that are reported individually, with a second section or too many dependencies.
const MAX_REPORTED: usize = 20;

impl Roadmap {
    /// Parses a ROADMAP.md, or the roadmap of an archived milestone; its own headings show how phases are
    /// numbered.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        Self::parse_with(text, path, PhaseIds::of(None, Some(text)))
    }

    /// Parses a ROADMAP.md of a project that numbers its phases in the given way.
    pub fn parse_with(text: &str, path: &Path, ids: PhaseIds) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let front = FrontMatter::parse(text, path).into_value(&mut warnings);
        let outline = Outline::parse_beginning(text, front.range.end);
        warnings.extend(outline.warning(path));
        let assembly = Assembly::read(&outline, ids);
        for (number, line) in assembly.duplicates.into_iter().take(MAX_REPORTED) {
            let message = format!("phase {number} is described a second time; the first counts");
            warnings.push(Warning::at(path, line, message));
        }
        for (number, line) in assembly.cut_dependencies.into_iter().take(MAX_REPORTED) {
            let message = format!(
                "phase {number} depends on more than {} phases; the others are left out",
                reference::MAX_PHASES
            );
            warnings.push(Warning::at(path, line, message));
        }
        let mut phases: Vec<RoadmapPhase> = assembly
            .phases
            .into_iter()
            .map(PhaseDraft::with_progress)
            .collect();
        if assembly.is_cut {
            let message = format!("names more than {MAX_PHASES} phases; the others are left out");
            warnings.push(Warning::file(path, message));
        }
        if assembly.has_more_milestones {
            let message = format!(
                "names more than {} milestones; the others are left out",
                milestone::MAX
            );
            warnings.push(Warning::file(path, message));
        }
        phases.sort_by(|a, b| (!a.is_shipped, &a.number).cmp(&(!b.is_shipped, &b.number)));
        let value = Self {
            title: outline.title().map(str::to_owned),
            phases,
            milestones: assembly.milestones,
            is_between_milestones: says_none_is_active(&outline),
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
