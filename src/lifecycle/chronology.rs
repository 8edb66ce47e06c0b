//! Determines when phases were finished, from their summaries, from git and from their milestone's files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::NaiveDate;

use crate::error::Result;
use crate::git::Addition;
use crate::lifecycle::shipped;
use crate::lifecycle::stated_dates::StatedDates;
use crate::patterns::FinishedPhase;
use crate::plan::{MilestoneFolder, PlanningFolder, Survey};
use crate::project::Project;

/// A phase of the history, with its completion date.
pub(crate) struct DatedPhase {
    pub(crate) phase: FinishedPhase,
    pub(crate) date: Option<NaiveDate>,
    /// The commit that completed it.
    pub(crate) commit: Option<String>,
}

/// Sources of completion dates.
pub(crate) struct Chronology<'a> {
    pub(crate) project: &'a Project,
    pub(crate) survey: &'a Survey,
    pub(crate) folder: &'a PlanningFolder,
}

impl Chronology<'_> {
    /// Returns phases in the order in which they were finished.
    ///
    /// A phase without a date stays after the one before it.
    pub(crate) fn order(&self, phases: Vec<FinishedPhase>) -> Result<Vec<DatedPhase>> {
        let additions = self.project.git.additions(&self.folder.dir)?;
        let oldest = additions.values().map(|added| added.age).max();
        let head = self.project.git.head()?;
        let mut dated = Vec::new();
        for phase in phases {
            let added = last_added(&phase, &additions);
            // A phase that was committed together with the whole planning folder was finished earlier.
            let evident = added.filter(|added| Some(added.age) != oldest);
            let date = phase.completed().or(evident.map(|added| added.date));
            let date = match date {
                Some(date) => Some(date),
                None => self.stated(&phase)?.or(self.shipped(&phase)?),
            };
            let commit = added.map(|added| added.commit.clone());
            // Its summaries are not committed yet, so git has no date.
            let is_new = commit.is_none() && self.is_active(&phase);
            dated.push(DatedPhase {
                commit: commit.or_else(|| head.clone().filter(|_| is_new)),
                date,
                phase,
            });
        }
        let mut latest = None;
        let mut keys: Vec<(Option<NaiveDate>, usize)> = Vec::new();
        for (at, one) in dated.iter().enumerate() {
            latest = one.date.or(latest);
            keys.push((latest, at));
        }
        let mut ordered: Vec<_> = keys.into_iter().zip(dated).collect();
        ordered.sort_by_key(|(key, _)| *key);
        Ok(ordered.into_iter().map(|(_, one)| one).collect())
    }

    fn is_active(&self, phase: &FinishedPhase) -> bool {
        phase.milestone == self.folder.active.slug
    }

    /// Returns the day on which the milestone's roadmap or state says that a phase was finished.
    fn stated(&self, phase: &FinishedPhase) -> Result<Option<NaiveDate>> {
        let dates = if self.is_active(phase) {
            StatedDates::new(&self.survey.roadmap, &self.survey.state)
        } else {
            match self.archived(phase)? {
                Some(milestone) => StatedDates::read(&milestone)?,
                None => return Ok(None),
            }
        };
        Ok(dates.of_phase(&phase.number))
    }

    /// Returns the day on which an archive's SHIPPED.md says that the milestone was shipped.
    fn shipped(&self, phase: &FinishedPhase) -> Result<Option<NaiveDate>> {
        match self.archived(phase)? {
            Some(milestone) => shipped::date(&milestone.dir),
            None => Ok(None),
        }
    }

    fn archived(&self, phase: &FinishedPhase) -> Result<Option<MilestoneFolder>> {
        for archive in &self.folder.archived {
            let milestone = archive.milestone()?.value;
            if milestone.slug == phase.milestone {
                return Ok(Some(milestone));
            }
        }
        Ok(None)
    }
}

/// Returns the commit that added the last of a phase's summaries, or `None` if one is not committed.
fn last_added<'a>(
    phase: &FinishedPhase,
    additions: &'a BTreeMap<PathBuf, Addition>,
) -> Option<&'a Addition> {
    let of_plans = phase.plans.iter().map(|plan| additions.get(&phase.dir.join(&plan.file)));
    let all: Option<Vec<&Addition>> = of_plans.collect();
    all?.into_iter().min_by_key(|addition| addition.age)
}
