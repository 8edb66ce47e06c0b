//! The phases and milestones of a roadmap.

use std::ops::Range;

use serde::Serialize;

use crate::plan::read::{Located, PhaseNumber, PhaseProgress, PlanNumber, ProgressRow};

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
    /// Whether the entry is struck out, so that the plan will not be done.
    #[serde(skip)]
    pub is_dropped: bool,
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
    /// The index of its milestone in `Roadmap::milestones`.
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
    pub(super) fn may_hold(&self, number: &PhaseNumber) -> bool {
        let range = self.phases.as_ref();
        range.is_none_or(|range| range.contains(number))
    }
}
