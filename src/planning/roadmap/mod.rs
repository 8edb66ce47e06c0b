//! ROADMAP.md: the phases, what each is for, and how far it is.
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

use crate::planning::PhaseNumber;
use crate::planning::PhaseProgress;
use crate::planning::PlanNumber;
use crate::planning::ProgressRow;
use crate::planning::Stated;
use crate::planning::roadmap::assembly::Assembly;
use crate::planning::roadmap::assembly::PhaseDraft;
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

/// An entry of a phase's plan checklist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoadmapPlan {
    /// The plan's number, where the entry names one.
    pub plan: Option<PlanNumber>,
    /// The entry, verbatim.
    pub text: String,
    /// Whether it is ticked off; nothing where it has no checkbox.
    pub checked: Option<bool>,
    /// The mark between the checkbox's brackets: one space or letter.
    #[serde(skip)]
    pub mark: Option<Stated<bool>>,
}

/// A phase of the roadmap.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoadmapPhase {
    /// Its number.
    pub number: PhaseNumber,
    /// Its name, verbatim.
    pub name: Option<String>,
    /// What it is to achieve.
    pub goal: Option<String>,
    /// The phases it builds on.
    pub depends_on: Vec<PhaseNumber>,
    /// The requirements it covers: ids where ids are written, else the text.
    pub requirements: Vec<String>,
    /// What must be true when it is done.
    pub success_criteria: Vec<String>,
    /// Its plan checklist.
    pub plans: Vec<RoadmapPlan>,
    /// How far it is: the progress table is believed before the phase's own words, these
    /// before its checkbox, this before its plans'; nothing where the roadmap does not tell.
    pub status: Option<PhaseProgress>,
    /// The mark of the phase's checkbox.
    #[serde(skip)]
    pub checkbox: Option<Stated<bool>>,
    /// The lines of further checklist entries of the same phase.
    #[serde(skip)]
    pub repeated: Vec<usize>,
    /// Its row of the progress table.
    #[serde(skip)]
    pub row: Option<ProgressRow>,
    /// The phase's own `Status:` label or the mark in its heading, verbatim.
    #[serde(skip)]
    pub stated_status: Option<Stated<String>>,
    /// What its `Plans:` label says, verbatim: `3 plans`, `2/3 plans complete`.
    #[serde(skip)]
    pub plan_count: Option<Stated<String>>,
    /// The index of its milestone in [`Roadmap::milestones`].
    #[serde(skip)]
    pub milestone: Option<usize>,
    /// Whether it belongs to a milestone that has shipped.
    #[serde(skip)]
    pub is_shipped: bool,
    /// Whether a heading or an entry of a list names it; a row of a table alone may be of another milestone.
    #[serde(skip)]
    pub is_listed: bool,
    /// The line that names it first, counted from 1.
    #[serde(skip)]
    pub line: usize,
}

/// A milestone named in the roadmap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoadmapMilestone {
    /// Its name, verbatim.
    pub name: String,
    /// Whether it is said to have shipped.
    pub is_shipped: bool,
    /// The numbers of its phases, where it says.
    pub phases: Option<Range<u32>>,
    /// The bytes that its phases stand in; empty where it is only listed.
    pub range: Range<usize>,
    /// The line that names it, counted from 1.
    pub line: usize,
}

impl RoadmapMilestone {
    /// Returns whether a phase of this number may be one of its own: what stands below its heading and
    /// is numbered outside of the range it names was added later.
    fn may_hold(&self, number: &PhaseNumber) -> bool {
        let range = self.phases.as_ref();
        range.is_none_or(|range| range.contains(&number.whole()))
    }
}

/// ROADMAP.md as read.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Roadmap {
    /// The title, verbatim.
    #[serde(skip)]
    pub title: Option<String>,
    /// The phases by number, those of shipped milestones included.
    pub phases: Vec<RoadmapPhase>,
    /// The milestones, where the roadmap has several: those with phases in file order, then those only listed.
    #[serde(skip)]
    pub milestones: Vec<RoadmapMilestone>,
    /// Whether the roadmap says in words that no milestone is active.
    #[serde(skip)]
    pub is_between_milestones: bool,
}

/// The most phases of a roadmap; what compares them with one another takes no more.
const MAX_PHASES: usize = 1_000;

/// More than this many phases that are described twice are not reported one by one.
const MAX_DOUBLED: usize = 20;

impl Roadmap {
    /// Reads a ROADMAP.md, or the roadmap of an archived milestone.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let front = FrontMatter::parse(text, path).into_value(&mut warnings);
        let outline = Outline::parse(text, front.range.end);
        warnings.extend(outline.warning(path));
        let assembly = Assembly::read(&outline);
        for (number, line) in assembly.doubled.into_iter().take(MAX_DOUBLED) {
            let message = format!("phase {number} is described a second time; the first counts");
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

    /// Returns the phases of milestones that have not shipped, without those taken out or put off.
    pub fn active_phases(&self) -> impl Iterator<Item = &RoadmapPhase> {
        self.phases.iter().filter(|phase| {
            !phase.is_shipped
                && !matches!(
                    phase.status,
                    Some(
                        PhaseProgress::Deferred
                            | PhaseProgress::Superseded
                            | PhaseProgress::Removed
                    )
                )
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
