//! Determines when phases were finished, from their summaries, from git and from their milestone's files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::NaiveDate;

use crate::error::Result;
use crate::git::Addition;
use crate::lifecycle::shipped;
use crate::patterns::FinishedPhase;
use crate::plan::{MilestoneFolder, Survey};
use crate::project::Project;

/// A phase with its completion date.
pub(crate) struct DatedPhase {
    pub(crate) phase: FinishedPhase,
    pub(crate) date: Option<NaiveDate>,
    /// The commit that completed it.
    pub(crate) commit: Option<String>,
}

/// Returns phases of these milestones in the order in which they were finished.
///
/// A phase without a date stays after the one before it.
pub(crate) fn in_order(
    project: &Project,
    survey: &Survey,
    milestones: &[MilestoneFolder],
    phases: Vec<FinishedPhase>,
) -> Result<Vec<DatedPhase>> {
    let additions = project.git.additions(&survey.folder.dir)?;
    let oldest = additions.values().map(|added| added.age).max();
    let head = project.git.head()?;
    let active = &survey.folder.active.slug;
    let mut dated = Vec::new();
    for phase in phases {
        let added = last_added(&phase, &additions);
        // A phase that was committed together with the whole planning folder was finished earlier.
        let evident = added.filter(|added| Some(added.age) != oldest);
        let mut date = phase.completed().or(evident.map(|added| added.date));
        let milestone =
            milestones.iter().find(|one| one.slug == phase.milestone && one.slug != *active);
        if let (None, Some(milestone)) = (date, milestone) {
            date = shipped::date(&milestone.dir)?;
        }
        let commit = added.map(|added| added.commit.clone());
        // Its summaries are not committed yet, so git has no date.
        let is_new = commit.is_none() && phase.milestone == *active;
        let commit = commit.or_else(|| head.clone().filter(|_| is_new));
        dated.push(DatedPhase { phase, date, commit });
    }
    let mut latest = None;
    let mut ordered: Vec<(Option<NaiveDate>, DatedPhase)> = Vec::new();
    for one in dated {
        latest = one.date.or(latest);
        ordered.push((latest, one));
    }
    // The sort is stable.
    ordered.sort_by_key(|(key, _)| *key);
    Ok(ordered.into_iter().map(|(_, one)| one).collect())
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
