//! Merges the information about each phase from headings, checklists and tables.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::markdown::Outline;
use crate::plan::read::roadmap::mention::{ChecklistEntry, PhaseHeading};
use crate::plan::read::roadmap::{MAX_PHASES, mention, milestone, reference, section};
use crate::plan::read::{
    PhaseNumber, PhaseNumbering, PhaseProgress, ProgressRow, RoadmapMilestone, RoadmapPhase,
    heading, progress_table,
};
use crate::warning::Warning;

/// The phases found so far.
pub(super) struct Assembly<'a, 'o> {
    outline: &'a Outline<'o>,
    numbering: PhaseNumbering,
    pub(super) milestones: Vec<RoadmapMilestone>,
    pub(super) phases: Vec<PhaseDraft>,
    /// Numbers used by both a shipped milestone and the current roadmap.
    reused: HashSet<PhaseNumber>,
    /// The phases of each number: several if milestones restart the numbering.
    by_number: HashMap<PhaseNumber, Vec<usize>>,
    path: &'a Path,
    /// Warnings about phases with a second section.
    pub(super) duplicates: Vec<Warning>,
    /// Warnings about phases with too many dependencies.
    pub(super) cut_dependencies: Vec<Warning>,
    /// Whether milestones were left out because there are too many.
    pub(super) has_more_milestones: bool,
    /// Whether phases were left out because there are too many.
    pub(super) is_cut: bool,
}

/// A phase with the evidence for its status.
pub(super) struct PhaseDraft {
    pub(super) phase: RoadmapPhase,
    /// The status that takes the phase out of the roadmap, if any.
    pub(super) dropped_as: Option<PhaseProgress>,
    /// Whether its section states a completion date.
    pub(super) is_completed: bool,
    /// Whether its checklist announces plans that are not named yet.
    pub(super) announces_plans: bool,
    has_section: bool,
}

/// The milestone of a mention of a phase, as far as its location determines it.
#[derive(Clone, Copy)]
struct Home {
    milestone: Option<usize>,
    is_shipped: bool,
}

impl<'a, 'o> Assembly<'a, 'o> {
    /// Collects all mentions of phases in an outline.
    pub(super) fn read(
        outline: &'a Outline<'o>,
        numbering: PhaseNumbering,
        path: &'a Path,
    ) -> Self {
        let (milestones, has_more_milestones) = milestone::milestones(outline, numbering);
        let mut assembly = Self {
            outline,
            numbering,
            milestones,
            has_more_milestones,
            phases: Vec::new(),
            reused: HashSet::new(),
            by_number: HashMap::new(),
            path,
            duplicates: Vec::new(),
            cut_dependencies: Vec::new(),
            is_cut: false,
        };
        let mut headings = mention::headings(outline, numbering);
        let mut entries = mention::entries(outline, &headings, numbering);
        assembly.is_cut = headings.len() > MAX_PHASES || entries.len() > MAX_PHASES;
        headings.truncate(MAX_PHASES);
        entries.truncate(MAX_PHASES);
        assembly.reused = assembly.reused(&headings, &entries);
        for heading in &headings {
            assembly.merge_section(heading);
        }
        for entry in &entries {
            assembly.merge_entry(entry);
        }
        for table in outline.tables(&(0..outline.text().len())) {
            for row in progress_table::rows(table, numbering) {
                if assembly.phases.len() >= MAX_PHASES {
                    assembly.is_cut = true;
                    break;
                }
                assembly.merge_row(row);
            }
        }
        assembly.assign_by_range();
        assembly
    }

    fn reused(
        &self,
        headings: &[PhaseHeading<'_>],
        entries: &[ChecklistEntry<'_>],
    ) -> HashSet<PhaseNumber> {
        let headings = || {
            headings.iter().map(|heading| (&heading.named.number, heading.section.heading.start))
        };
        let entries = entries.iter().map(|entry| (&entry.named.number, entry.block.range.start));
        let shipped: HashSet<&PhaseNumber> = headings()
            .chain(entries)
            .filter(|(number, at)| self.home(*at, number).is_shipped)
            .map(|(number, _)| number)
            .collect();
        headings()
            .filter(|(number, at)| shipped.contains(number) && !self.home(*at, number).is_shipped)
            .map(|(number, _)| number.clone())
            .collect()
    }

    /// Returns the milestone whose block or section contains a byte offset: the innermost that may contain
    /// the phase.
    fn home(&self, at: usize, number: &PhaseNumber) -> Home {
        // An open box in the block of a shipped milestone is work that was carried over.
        let before = self.outline.text().get(..at).unwrap_or_default();
        let is_unticked = before.trim_end().ends_with("[ ]");
        let holding = self
            .milestones
            .iter()
            .enumerate()
            .filter(|(_, milestone)| milestone.range.contains(&at))
            .filter(|(_, milestone)| {
                milestone.may_hold(number) || !is_unticked && self.is_collapsed(milestone)
            })
            .min_by_key(|(_, milestone)| milestone.range.len());
        Home {
            milestone: holding.map(|(index, _)| index),
            is_shipped: holding.is_some_and(|(_, milestone)| milestone.is_shipped),
        }
    }

    /// Returns whether a milestone is a collapsed block, which ends where it says; a section may be followed by others
    /// under its heading.
    fn is_collapsed(&self, milestone: &RoadmapMilestone) -> bool {
        let text = self.outline.text().get(milestone.range.clone());
        text.is_some_and(|text| text.starts_with("<details"))
    }

    /// Returns the phase of a number in a milestone, adding a new one if none matches.
    fn slot(&mut self, number: &PhaseNumber, home: Home, line: usize) -> &mut PhaseDraft {
        let is_reused = self.reused.contains(number);
        let same = self.by_number.entry(number.clone()).or_default();
        let known = same.iter().copied().find(|index| {
            let phase = &self.phases[*index].phase;
            let is_elsewhere =
                matches!((phase.milestone, home.milestone), (Some(a), Some(b)) if a != b);
            !is_elsewhere && (!is_reused || phase.is_shipped == home.is_shipped)
        });
        let index = known.unwrap_or_else(|| {
            same.push(self.phases.len());
            self.phases.push(PhaseDraft {
                phase: empty(number.clone(), line),
                dropped_as: None,
                is_completed: false,
                announces_plans: false,
                has_section: false,
            });
            self.phases.len() - 1
        });
        let found = &mut self.phases[index];
        found.phase.milestone = found.phase.milestone.or(home.milestone);
        found.phase.is_shipped |= home.is_shipped;
        found.phase.line = found.phase.line.min(line);
        found
    }

    fn merge_section(&mut self, heading: &PhaseHeading<'_>) {
        let (named, section, numbering) = (&heading.named, heading.section, self.numbering);
        let body = section::read(self.outline, &named.number, section, numbering);
        let home = self.home(section.heading.start, &named.number);
        let found = self.slot(&named.number, home, section.line);
        if std::mem::replace(&mut found.has_section, true) {
            let message =
                format!("phase {} is described twice; the first description is used", named.number);
            let warning = Warning::at(self.path, section.line, message);
            self.duplicates.push(warning);
            return;
        }
        found.dropped_as = found.dropped_as.or(named.dropped_as);
        found.is_completed |= body.is_completed;
        found.announces_plans |= body.announces_plans;
        let phase = &mut found.phase;
        phase.is_listed = true;
        phase.name.clone_from(&named.name);
        phase.goal = body.goal;
        let depends_on = body.depends_on.as_deref();
        let depends_on = depends_on.map(|text| reference::phases(text, numbering));
        let depends_on = depends_on.unwrap_or_default();
        phase.depends_on = depends_on.phases;
        phase.requirements = body.requirements;
        phase.success_criteria = body.success_criteria;
        phase.plans = body.plans;
        phase.plan_count = body.plan_count;
        phase.stated_status = body.status.or_else(|| named.status.clone());
        if depends_on.is_cut {
            let message = format!(
                "phase {} depends on more than {} phases; the rest are ignored",
                named.number,
                reference::MAX_PHASES
            );
            let warning = Warning::at(self.path, section.line, message);
            self.cut_dependencies.push(warning);
        }
    }

    fn merge_entry(&mut self, entry: &ChecklistEntry<'_>) {
        let (named, block, item) = (&entry.named, entry.block, entry.item);
        let mark = section::checkbox(self.outline, block, item);
        let home = self.home(block.range.start, &named.number);
        let found = self.slot(&named.number, home, block.line);
        found.dropped_as = found.dropped_as.or(named.dropped_as);
        let phase = &mut found.phase;
        phase.is_listed = true;
        phase.name = phase.name.take().or_else(|| named.name.clone());
        if phase.checkbox.is_some() && mark.is_some() {
            phase.repeated.push(block.line);
        }
        phase.checkbox = phase.checkbox.take().or(mark);
        phase.stated_status = phase.stated_status.take().or_else(|| named.status.clone());
    }

    fn merge_row(&mut self, row: ProgressRow) {
        let version = row.milestone.as_deref().and_then(milestone::version);
        let named = version.and_then(|version| {
            self.milestones
                .iter()
                .position(|milestone| milestone::version(&milestone.name) == Some(version))
        });
        let home = Home {
            milestone: named,
            is_shipped: named.is_some_and(|index| self.milestones[index].is_shipped),
        };
        let namesake = self.namesake(&row).filter(|_| named.is_none());
        let found = match namesake {
            Some(index) => &mut self.phases[index],
            None => self.slot(&row.number, home, row.line),
        };
        let phase = &mut found.phase;
        phase.name = phase.name.take().or_else(|| row.name.clone());
        phase.row.get_or_insert(row);
    }

    /// Returns the phase whose name a row bears, if several phases have its number: at least half of the row's longer
    /// words are in the name, and in no other name as many.
    fn namesake(&self, row: &ProgressRow) -> Option<usize> {
        let same = self.by_number.get(&row.number).filter(|same| same.len() > 1)?;
        let longer_words = |name: Option<&str>| -> HashSet<String> {
            let words = heading::words(name.unwrap_or_default());
            let words = words.split(' ').filter(|word| word.chars().count() > 3);
            words.map(str::to_owned).collect()
        };
        let words = longer_words(row.name.as_deref());
        let shared = |index: usize| {
            let name = longer_words(self.phases[index].phase.name.as_deref());
            words.intersection(&name).count()
        };
        let mut ranked: Vec<(usize, usize)> =
            same.iter().map(|index| (shared(*index), *index)).collect();
        ranked.sort_unstable_by(|one, other| other.cmp(one));
        let is_clear = ranked[0].0 > ranked[1].0 && 2 * ranked[0].0 >= words.len();
        is_clear.then_some(ranked[0].1)
    }

    /// Assigns each phase without a milestone to the first milestone whose range includes its number.
    fn assign_by_range(&mut self) {
        for found in &mut self.phases {
            let phase = &mut found.phase;
            if phase.milestone.is_some() {
                continue;
            }
            let is_reused = self.reused.contains(&phase.number);
            phase.milestone = self.milestones.iter().position(|milestone| {
                milestone.phases.as_ref().is_some_and(|range| range.contains(&phase.number))
                    && !(is_reused && milestone.is_shipped)
            });
            phase.is_shipped |=
                phase.milestone.is_some_and(|index| self.milestones[index].is_shipped);
        }
    }
}

fn empty(number: PhaseNumber, line: usize) -> RoadmapPhase {
    RoadmapPhase {
        number,
        name: None,
        goal: None,
        depends_on: Vec::new(),
        requirements: Vec::new(),
        success_criteria: Vec::new(),
        plans: Vec::new(),
        status: None,
        checkbox: None,
        repeated: Vec::new(),
        row: None,
        stated_status: None,
        plan_count: None,
        milestone: None,
        is_shipped: false,
        is_listed: false,
        line,
    }
}
