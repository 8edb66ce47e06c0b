//! Brings together what headings, checklists and tables say about each phase.

use std::ops::Range;

use crate::markdown::Block;
use crate::markdown::Item;
use crate::markdown::Outline;
use crate::markdown::Section;
use crate::planning::PhaseNumber;
use crate::planning::PhaseProgress;
use crate::planning::ProgressRow;
use crate::planning::RoadmapMilestone;
use crate::planning::RoadmapPhase;
use crate::planning::RoadmapPlan;
use crate::planning::Stated;
use crate::planning::heading;
use crate::planning::progress_table;
use crate::planning::roadmap::milestone;
use crate::planning::roadmap::name;
use crate::planning::roadmap::name::Named;
use crate::planning::roadmap::reference;
use crate::planning::roadmap::section;
use crate::planning::stated::Span;

/// The phases found so far.
pub(super) struct Assembly<'a, 'o> {
    outline: &'a Outline<'o>,
    pub(super) milestones: Vec<RoadmapMilestone>,
    pub(super) phases: Vec<Found>,
    /// Numbers that a shipped milestone and the current roadmap both have.
    reused: Vec<PhaseNumber>,
    /// Phases that are described twice: number and line of the second heading.
    pub(super) doubled: Vec<(PhaseNumber, usize)>,
}

/// A phase with the evidence that its status is worked out from.
pub(super) struct Found {
    pub(super) phase: RoadmapPhase,
    out: Option<PhaseProgress>,
    is_completed: bool,
    has_section: bool,
}

/// Where a phase is named: its milestone, as far as the place tells.
#[derive(Clone, Copy)]
struct Home {
    milestone: Option<usize>,
    is_shipped: bool,
}

impl<'a, 'o> Assembly<'a, 'o> {
    /// Reads all that an outline says about phases.
    pub(super) fn read(outline: &'a Outline<'o>) -> Self {
        let mut assembly = Self {
            outline,
            milestones: milestone::milestones(outline),
            phases: Vec::new(),
            reused: Vec::new(),
            doubled: Vec::new(),
        };
        let headings = assembly.headings();
        let entries = assembly.entries(&headings);
        assembly.reused = assembly.reused(&headings, &entries);
        for (named, section) in &headings {
            assembly.take_section(named, section);
        }
        for (named, block, item) in &entries {
            assembly.take_entry(named, block, item);
        }
        for table in outline.tables(&(0..outline.text().len())) {
            for row in progress_table::rows(table) {
                assembly.take_row(row);
            }
        }
        assembly.place_listed();
        assembly
    }

    fn headings(&self) -> Vec<(Named, &'a Section)> {
        let outline = self.outline;
        let sections = outline
            .sections()
            .iter()
            .filter(|section| section.level > 0);
        sections
            .filter_map(|section| {
                let line = outline.text().get(section.heading.clone())?;
                let title = line.trim_start_matches('#');
                let start = section.heading.end - title.len();
                Some((name::named(Span::new(title, start, section.line))?, section))
            })
            .collect()
    }

    /// Returns the entries of phase checklists; those inside a phase's own section are its plans.
    fn entries(&self, headings: &[(Named, &Section)]) -> Vec<(Named, &'a Block, &'a Item)> {
        let outline = self.outline;
        let lists = ["phases", "phase list", "phase overview", "phase checklist"];
        let listed: Vec<Range<usize>> = heading::sections(outline, &lists)
            .map(|section| section.own.clone())
            .collect();
        outline
            .items(&(0..outline.text().len()))
            .filter(|(block, item)| {
                let at = block.range.start;
                let is_inside = headings
                    .iter()
                    .any(|(_, section)| section.whole.contains(&at));
                let is_listed = listed.iter().any(|range| range.contains(&at));
                item.depth == 0 && !is_inside && (item.checked.is_some() || is_listed)
            })
            .filter_map(|(block, item)| {
                let text = outline.slice(&block.range);
                let named = name::named(Span::new(text, block.range.start, block.line))?;
                // `Phase 1 resolves …` is a sentence unless a checkbox makes it an entry.
                (item.checked.is_some() || named.name.is_some()).then_some((named, block, item))
            })
            .collect()
    }

    fn reused(
        &self,
        headings: &[(Named, &Section)],
        entries: &[(Named, &Block, &Item)],
    ) -> Vec<PhaseNumber> {
        let mentions = || {
            let headings = headings
                .iter()
                .map(|(named, section)| (named, section.heading.start));
            let entries = entries
                .iter()
                .map(|(named, block, _)| (named, block.range.start));
            headings.chain(entries)
        };
        headings
            .iter()
            .filter(|(_, section)| !self.home(section.heading.start).is_shipped)
            .map(|(named, _)| &named.number)
            .filter(|number| {
                mentions().any(|(named, at)| named.number == **number && self.home(at).is_shipped)
            })
            .cloned()
            .collect()
    }

    /// Returns the milestone whose block or section holds a byte, the innermost one.
    fn home(&self, at: usize) -> Home {
        let holding = self
            .milestones
            .iter()
            .enumerate()
            .filter(|(_, milestone)| milestone.range.contains(&at))
            .min_by_key(|(_, milestone)| milestone.range.len());
        Home {
            milestone: holding.map(|(index, _)| index),
            is_shipped: holding.is_some_and(|(_, milestone)| milestone.is_shipped),
        }
    }

    /// Returns the phase of a number at a home, a new one where none fits.
    fn slot(&mut self, number: &PhaseNumber, home: Home, line: usize) -> &mut Found {
        let is_reused = self.reused.contains(number);
        let known = self.phases.iter().position(|found| {
            let phase = &found.phase;
            let is_elsewhere =
                matches!((phase.milestone, home.milestone), (Some(a), Some(b)) if a != b);
            phase.number == *number
                && !is_elsewhere
                && (!is_reused || phase.is_shipped == home.is_shipped)
        });
        let index = known.unwrap_or_else(|| {
            self.phases.push(Found {
                phase: empty(number.clone(), line),
                out: None,
                is_completed: false,
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

    fn take_section(&mut self, named: &Named, section: &Section) {
        let body = section::read(self.outline, &named.number, section);
        let home = self.home(section.heading.start);
        let found = self.slot(&named.number, home, section.line);
        if std::mem::replace(&mut found.has_section, true) {
            self.doubled.push((named.number.clone(), section.line));
            return;
        }
        found.out = found.out.or(named.out);
        found.is_completed |= body.is_completed;
        let phase = &mut found.phase;
        phase.name.clone_from(&named.name);
        phase.goal = body.goal;
        phase.depends_on = body
            .depends_on
            .as_deref()
            .map(reference::phases)
            .unwrap_or_default();
        phase.depends_on_text = body.depends_on;
        phase.requirements = body.requirements;
        phase.success_criteria = body.success_criteria;
        phase.plans = body.plans;
        phase.plan_count = body.plan_count;
        phase.stated_status = body.status.or_else(|| named.status.clone());
    }

    fn take_entry(&mut self, named: &Named, block: &Block, item: &Item) {
        let mark = section::mark(self.outline, block, item);
        let home = self.home(block.range.start);
        let found = self.slot(&named.number, home, block.line);
        found.out = found.out.or(named.out);
        let phase = &mut found.phase;
        phase.name = phase.name.take().or_else(|| named.name.clone());
        phase.checkbox = phase.checkbox.take().or(mark);
        phase.stated_status = phase.stated_status.take().or_else(|| named.status.clone());
    }

    fn take_row(&mut self, row: ProgressRow) {
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
        let found = self.slot(&row.number, home, row.line);
        let phase = &mut found.phase;
        phase.name = phase.name.take().or_else(|| row.name.clone());
        phase.row.get_or_insert(row);
    }

    /// Gives phases that stand outside of any milestone the one that lists them by number.
    fn place_listed(&mut self) {
        for found in &mut self.phases {
            let phase = &mut found.phase;
            if phase.milestone.is_some() {
                continue;
            }
            let whole = phase.number.whole();
            let is_reused = self.reused.contains(&phase.number);
            phase.milestone = self.milestones.iter().position(|milestone| {
                milestone
                    .phases
                    .as_ref()
                    .is_some_and(|range| range.contains(&whole))
                    && !(is_reused && milestone.is_shipped)
            });
            phase.is_shipped |= phase
                .milestone
                .is_some_and(|index| self.milestones[index].is_shipped);
        }
    }
}

impl Found {
    /// Returns the phase with its status: what takes it out counts first, then the progress table,
    /// its own words, its checkbox, its plans' checkboxes, its count of plans.
    pub(super) fn settled(self) -> RoadmapPhase {
        let mut phase = self.phase;
        let of = |stated: Option<&Stated<String>>| {
            stated.and_then(|stated| PhaseProgress::of(&stated.value))
        };
        let row = phase.row.as_ref().and_then(|row| of(row.status.as_ref()));
        let own = of(phase.stated_status.as_ref());
        let out = [self.out, row, own]
            .into_iter()
            .flatten()
            .find(|progress| progress.is_out());
        let listed = listed_progress(&phase.plans);
        let boxed = phase
            .checkbox
            .as_ref()
            .map(|mark| match (mark.value, listed) {
                (true, _) => PhaseProgress::Complete,
                (false, None | Some(PhaseProgress::NotStarted)) => PhaseProgress::NotStarted,
                (false, Some(_)) => PhaseProgress::InProgress,
            });
        let completed = self.is_completed.then_some(PhaseProgress::Complete);
        let counted = || {
            phase
                .plan_count
                .as_ref()
                .and_then(|count| counted_progress(&count.value))
        };
        phase.status = out
            .or(row)
            .or(own)
            .or(completed)
            .or(boxed)
            .or(listed)
            .or_else(counted);
        phase
    }
}

/// Returns how far a checklist of plans is; nothing where there are no checkboxes.
fn listed_progress(plans: &[RoadmapPlan]) -> Option<PhaseProgress> {
    let marks: Vec<bool> = plans.iter().filter_map(|plan| plan.checked).collect();
    let checked = marks.iter().filter(|mark| **mark).count();
    (!marks.is_empty()).then_some(match checked {
        0 => PhaseProgress::NotStarted,
        all if all == marks.len() => PhaseProgress::Complete,
        _ => PhaseProgress::InProgress,
    })
}

/// Reads `3/3 plans complete`; fewer say that the phase has begun.
fn counted_progress(count: &str) -> Option<PhaseProgress> {
    let (complete, rest) = count.split_once('/')?;
    let (total, rest) = rest.split_once(' ')?;
    let (complete, total): (u32, u32) = (complete.parse().ok()?, total.parse().ok()?);
    rest.contains("complete").then_some(match complete {
        0 => PhaseProgress::NotStarted,
        all if all >= total => PhaseProgress::Complete,
        _ => PhaseProgress::InProgress,
    })
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
        row: None,
        stated_status: None,
        plan_count: None,
        depends_on_text: None,
        milestone: None,
        is_shipped: false,
        line,
    }
}
