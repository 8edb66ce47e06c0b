//! Tells which phases have an entry in PATTERNS.md.

use crate::error::Result;
use crate::git::Git;
use crate::patterns::Entry;
use crate::patterns::FinishedPhase;
use crate::patterns::Patterns;
use crate::planning::DEFAULT_MILESTONE;
use crate::planning::Folder;
use crate::planning::Milestone;
use crate::planning::PhaseDir;
use crate::planning::Read;
use crate::warning::Parsed;

/// What PATTERNS.md knows of a phase, and on which line the entry's heading stands (counted from 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It has no entry.
    No,
    /// It has an entry drawn from the summaries as they are.
    Same(usize),
    /// It has an entry, and its summaries changed since.
    Changed(usize),
    /// It has an entry that a person or another tool wrote, known by the phase's number and name.
    ByOthers(usize),
}

impl Patterns {
    /// Tells whether a phase has an entry, wherever its folder has moved to since.
    ///
    /// It is known again by the digest of its summaries, else by its folder's name and its plans; a plan
    /// that was added later leaves it recorded, with other summaries. Folders of several milestones may
    /// have one name: `namesakes` are those phases, whose entries are not this one's
    /// (see [`FinishedPhase::namesakes`]).
    pub fn recorded(&self, phase: &FinishedPhase, namesakes: &[FinishedPhase]) -> Recorded {
        let last = |fits: &dyn Fn(usize, &Entry) -> bool| {
            let found = self.entries.iter().enumerate().rev();
            let found = found.filter(|(at, entry)| fits(*at, entry)).next();
            found.map(|(_, entry)| entry.line)
        };
        if let Some(line) = last(&|_, entry| is_drawn_from(entry, phase)) {
            return Recorded::Same(line);
        }
        let mut is_of_other = vec![false; self.entries.len()];
        for namesake in namesakes {
            self.claim(namesake, &mut is_of_other);
        }
        if let Some(line) = last(&|at, entry| !is_of_other[at] && was_drawn_from(entry, phase)) {
            return Recorded::Changed(line);
        }
        match last(&|_, entry| is_by_others(entry, phase)) {
            Some(line) => Recorded::ByOthers(line),
            None => Recorded::No,
        }
    }

    /// Marks the entries of a phase: the one drawn from its summaries, and those before it of the same plans.
    fn claim(&self, phase: &FinishedPhase, claimed: &mut [bool]) {
        let found = self
            .entries
            .iter()
            .rposition(|entry| is_drawn_from(entry, phase));
        let Some((at, trace)) = found.and_then(|at| Some((at, self.entries[at].trace.as_ref()?)))
        else {
            return;
        };
        for (entry, claimed) in self.entries[..=at].iter().zip(claimed) {
            *claimed |= entry.trace.as_ref().is_some_and(|other| {
                other.is_of_same_plans(trace) && other.milestone == trace.milestone
            });
        }
    }
}

impl FinishedPhase {
    /// Reads the phases of other milestones whose folder has the same name as `dir`.
    pub fn namesakes(
        folder: &Folder,
        dir: &PhaseDir,
        read: Read<'_>,
        git: &Git,
    ) -> Result<Parsed<Vec<Self>>> {
        let mut found: Parsed<Vec<Self>> = Parsed::default();
        let name = dir.dir_name();
        let mut take = |milestone: &Milestone| -> Result<()> {
            let same = |other: &&PhaseDir| other.dir != dir.dir && other.dir_name() == name;
            for other in milestone.phases.iter().filter(same) {
                let phase = Self::read(other, None, &milestone.slug, read, git)?;
                found.value.push(phase.into_value(&mut found.warnings));
            }
            Ok(())
        };
        take(&folder.active)?;
        for archive in &folder.archived {
            // Folders there that are no phases were reported when the archive was read for itself.
            take(&archive.milestone()?.value)?;
        }
        Ok(found)
    }
}

/// Tells whether an entry was drawn from the phase's summaries as they are.
fn is_drawn_from(entry: &Entry, phase: &FinishedPhase) -> bool {
    let trace = entry.trace.as_ref();
    trace.is_some_and(|trace| trace.digest == phase.digest && !phase.plans.is_empty())
}

/// Tells whether an entry was drawn from the phase's folder in an earlier state.
fn was_drawn_from(entry: &Entry, phase: &FinishedPhase) -> bool {
    // Shipping gives unnamed work a name; nothing else moves a phase from one milestone to another.
    let is_same_milestone = |recorded: Option<&str>| {
        recorded.is_none_or(|slug| slug == phase.milestone || slug == DEFAULT_MILESTONE)
    };
    entry.trace.as_ref().is_some_and(|trace| {
        trace.phase_dir == phase.dir_name
            && is_same_milestone(trace.milestone.as_deref())
            && phase
                .plans
                .iter()
                .any(|plan| trace.plans.contains(&plan.plan))
    })
}

/// Tells whether a person or another tool wrote this entry about the phase.
fn is_by_others(entry: &Entry, phase: &FinishedPhase) -> bool {
    let says_something = entry.bullets().next().is_some() || entry.timing.plans.is_some();
    let plans = u32::try_from(phase.plans.len()).ok();
    let slug = phase
        .dir_name
        .split_once(['-', '_'])
        .map_or("", |(_, slug)| slug);
    let name = letters(&entry.name);
    entry.trace.is_none()
        && says_something
        && entry.phase.as_ref() == Some(&phase.number)
        && entry.timing.plans.is_none_or(|count| Some(count) == plans)
        && (name == letters(&phase.name) || name == letters(slug))
}

/// Returns a name as it is compared: neither case nor punctuation matter.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
