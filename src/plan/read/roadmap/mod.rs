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

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use serde::Serialize;

use crate::markdown::{Block, FrontMatter, ListItem, Outline, Section};
use crate::plan::read::{
    Located, MAX_REPORTED, PhaseNumber, PhaseNumbering, PhaseProgress, PlanNumber, ProgressRow,
    non_placeholder, progress_table,
};
use crate::warning::{Parsed, Warning};

mod mention;
mod milestone;
mod section;

use mention::{NamedPhase, parse_phase};
pub(crate) use milestone::{version as milestone_version, version_in as milestone_version_in};

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
    /// The milestone that VBW names above the phases: `**Milestone:** bread`.
    #[serde(skip)]
    pub milestone: Option<String>,
    /// Headings and list entries that seem to name phases, but whose numbers are not read.
    #[serde(skip)]
    pub not_understood: Vec<Located<String>>,
}

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
}

/// A phase of the roadmap.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    /// its checkbox, its plans' checkboxes; `None` if there are none of these.
    pub status: Option<PhaseProgress>,
    /// The mark in the phase's checkbox.
    #[serde(skip)]
    pub checkbox: Option<Located<bool>>,
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
    /// Whether it has a section, the first of which describes it.
    #[serde(skip)]
    has_section: bool,
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
}

/// Maximum number of milestones: each mention of a phase is looked for in all of them.
const MAX_MILESTONES: usize = 1_000;

impl Roadmap {
    /// Parses a ROADMAP.md, or the roadmap of an archived milestone, whose headings show how phases are numbered.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        Self::parse_with(text, path, PhaseNumbering::detect(text))
    }

    /// Parses a ROADMAP.md of a project that numbers its phases in the given way.
    pub fn parse_with(text: &str, path: &Path, numbering: PhaseNumbering) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let front = FrontMatter::parse(text, path).into_value(&mut warnings);
        let outline = Outline::parse_beginning(text, front.range.end);
        warnings.extend(outline.warning(path));
        let mut milestones = milestone::milestones(&outline, numbering);
        milestones.truncate(MAX_MILESTONES);
        let (phases, by_number) = (Vec::new(), HashMap::new());
        let mut assembly = Assembly { outline: &outline, numbering, milestones, phases, by_number };
        assembly.read();
        let Assembly { mut phases, milestones, .. } = assembly;
        phases.sort_by(|a, b| (!a.is_shipped, &a.number).cmp(&(!b.is_shipped, &b.number)));
        let mut not_understood = mention::not_understood(&outline, numbering);
        if phases.is_empty() && not_understood.is_empty() {
            not_understood.extend(mention::unread_work(&outline));
        }
        not_understood.truncate(MAX_REPORTED);
        let rows = phases.iter().filter_map(|phase| phase.row.as_ref()?.status.as_ref());
        let unknown = rows.filter(|status| {
            let value = non_placeholder(&status.value);
            value.is_some_and(|value| PhaseProgress::parse(value).is_none() && !value.contains(' '))
        });
        let unknown = unknown.take(MAX_REPORTED).map(|found| (found, "unknown status"));
        let unread = not_understood.iter().map(|found| (found, "not understood as a phase"));
        warnings.extend(unknown.chain(unread).map(|(found, what)| {
            Warning::at(path, found.line, format!("{what}: {:?}", found.value))
        }));
        // VBW names the milestone by a label above the phases.
        let heads = outline.sections().iter().take_while(|section| section.level < 2);
        let mut labels = heads.flat_map(|section| outline.labels(&section.own));
        let label = labels.find(|label| label.name.eq_ignore_ascii_case("milestone"));
        let milestone = label.and_then(|label| non_placeholder(&label.value).map(str::to_owned));
        let title = outline.title().map(str::to_owned);
        Parsed { value: Self { title, phases, milestones, milestone, not_understood }, warnings }
    }

    /// Returns the phases of milestones that have not shipped, without removed, superseded or deferred ones.
    pub fn active_phases(&self) -> impl Iterator<Item = &RoadmapPhase> {
        self.phases.iter().filter(|phase| {
            !phase.is_shipped && !phase.status.is_some_and(PhaseProgress::is_dropped)
        })
    }
}

/// The phases found so far, merged from headings, checklists and tables.
struct Assembly<'a, 'o> {
    outline: &'a Outline<'o>,
    numbering: PhaseNumbering,
    milestones: Vec<RoadmapMilestone>,
    phases: Vec<RoadmapPhase>,
    /// The phases of each number: several if milestones restart the numbering.
    by_number: HashMap<PhaseNumber, Vec<usize>>,
}

impl Assembly<'_, '_> {
    /// Collects all mentions of phases.
    fn read(&mut self) {
        let (outline, numbering) = (self.outline, self.numbering);
        let headings = mention::headings(outline, numbering);
        let entries = mention::entries(outline, &headings, numbering);
        for (named, section) in headings {
            self.merge_section(named, section);
        }
        for (named, block, item) in entries {
            self.merge_entry(named, block, item);
        }
        let all = 0..outline.text().len();
        for row in outline.tables(&all).flat_map(|table| progress_table::rows(table, numbering)) {
            let version = row.milestone.as_deref().and_then(milestone::version);
            let is_named = |one: &RoadmapMilestone| milestone::version(&one.name) == version;
            let named = version.and_then(|_| self.milestones.iter().position(is_named));
            let phase = self.slot(&row.number, named, row.line, false);
            phase.name = phase.name.take().or_else(|| row.name.clone());
            phase.row.get_or_insert(row);
        }
        self.assign_by_range();
        self.phases.iter_mut().for_each(RoadmapPhase::set_status);
    }

    /// Returns the innermost milestone whose block or section contains a byte offset and may contain the phase. A number
    /// outside of a section's stated range was added below it later, but a collapsed block ends where it says.
    fn home(&self, at: usize, number: &PhaseNumber) -> Option<usize> {
        let text = self.outline.text();
        // An open box in the block of a shipped milestone is work that was carried over.
        let is_unticked = text.get(..at).unwrap_or_default().trim_end().ends_with("[ ]");
        let holding = self.milestones.iter().enumerate().filter(|(_, milestone)| {
            let phases = milestone.phases.as_ref();
            milestone.range.contains(&at)
                && (phases.is_none_or(|phases| phases.contains(number))
                    || !is_unticked && text[milestone.range.start..].starts_with("<details"))
        });
        holding.min_by_key(|(_, milestone)| milestone.range.len()).map(|(index, _)| index)
    }

    /// Returns the phase of a number in a milestone, adding a new one if none matches. Only a list entry or a row outside of
    /// shipped milestones may mean a phase that has shipped.
    fn slot(
        &mut self,
        number: &PhaseNumber,
        milestone: Option<usize>,
        line: usize,
        is_heading: bool,
    ) -> &mut RoadmapPhase {
        let is_shipped = milestone.is_some_and(|index| self.milestones[index].is_shipped);
        let same = self.by_number.entry(number.clone()).or_default();
        let fits = |index: usize, may_differ: bool| {
            let phase = &self.phases[index];
            let both = phase.milestone.zip(milestone);
            (may_differ || phase.is_shipped == is_shipped)
                && both.is_none_or(|(own, other)| own == other)
        };
        let known = same.iter().copied().find(|index| fits(*index, false));
        let may_differ = !is_heading && !is_shipped;
        let other = || same.iter().copied().find(|index| may_differ && fits(*index, true));
        let index = known.or_else(other).unwrap_or_else(|| {
            same.push(self.phases.len());
            let number = number.clone();
            self.phases.push(RoadmapPhase { number, line, ..RoadmapPhase::default() });
            self.phases.len() - 1
        });
        let found = &mut self.phases[index];
        found.milestone = found.milestone.or(milestone);
        found.is_shipped |= is_shipped;
        found.line = found.line.min(line);
        found
    }

    fn merge_section(&mut self, named: NamedPhase, section: &Section) {
        let home = self.home(section.heading.start, &named.number);
        let (outline, numbering) = (self.outline, self.numbering);
        let phase = self.slot(&named.number, home, section.line, true);
        if !phase.has_section {
            phase.has_section = true;
            phase.status = phase.status.or(named.dropped_as);
            phase.is_listed = true;
            phase.name = named.name;
            section::read(outline, section, numbering, phase);
            phase.stated_status = phase.stated_status.take().or(named.status);
        }
    }

    fn merge_entry(&mut self, named: NamedPhase, block: &Block, item: &ListItem) {
        let mark = section::checkbox(self.outline, block, item);
        let home = self.home(block.range.start, &named.number);
        let phase = self.slot(&named.number, home, block.line, false);
        phase.status = phase.status.or(named.dropped_as);
        phase.is_listed = true;
        phase.name = phase.name.take().or(named.name);
        phase.checkbox = phase.checkbox.take().or(mark);
        phase.stated_status = phase.stated_status.take().or(named.status);
    }

    /// Assigns each phase without a milestone to the first milestone whose range includes its number, of those with the
    /// same numbers to an open one.
    fn assign_by_range(&mut self) {
        for phase in self.phases.iter_mut().filter(|phase| phase.milestone.is_none()) {
            let is_reused = self.by_number[&phase.number].len() > 1;
            let holds = |one: &RoadmapMilestone| {
                one.phases.as_ref().is_some_and(|range| range.contains(&phase.number))
            };
            let mut milestones = self.milestones.iter();
            let open = milestones.clone().position(|one| !one.is_shipped && holds(one));
            phase.milestone = open.or_else(|| milestones.position(holds).filter(|_| !is_reused));
            phase.is_shipped |=
                phase.milestone.is_some_and(|index| self.milestones[index].is_shipped);
        }
    }
}

impl RoadmapPhase {
    /// Sets the status. In order of precedence: a status that drops the phase, the progress table, its own status, its
    /// checkbox, its plans' checkboxes.
    fn set_status(&mut self) {
        let own = self.stated_status.as_ref().and_then(|own| PhaseProgress::parse(&own.value));
        let row = self.row.as_ref().and_then(ProgressRow::progress);
        let mut dropping = [self.status, row, own].into_iter().flatten();
        let dropped = dropping.find(|progress| progress.is_dropped());
        let plans = self.plans.iter().filter(|plan| !plan.is_dropped);
        let marks: Vec<bool> = plans.filter_map(|plan| plan.checked).collect();
        let boxed = match (self.checkbox.as_ref().map(|mark| mark.value), marks.as_slice()) {
            (None, []) => None,
            (Some(true), _) => Some(PhaseProgress::Complete),
            (_, marks) if !marks.contains(&true) => Some(PhaseProgress::NotStarted),
            (None, marks) if !marks.contains(&false) => Some(PhaseProgress::Complete),
            _ => Some(PhaseProgress::InProgress),
        };
        self.status = dropped.or(row).or(own).or(boxed);
    }
}

#[cfg(test)]
mod tests;
