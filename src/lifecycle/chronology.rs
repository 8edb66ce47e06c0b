//! Determines when phases were finished, from their summaries, from git and from their milestone's files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::NaiveDate;

use crate::clock::parse_date;
use crate::error::Result;
use crate::git::Addition;
use crate::lifecycle::shipped;
use crate::patterns::FinishedPhase;
use crate::plan::{MilestoneFolder, PhaseNumber, PhaseNumbering, Roadmap, StateFile, Survey};
use crate::project::{Project, vocabulary};
use crate::storage::read;

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
    let mut documents: BTreeMap<String, MilestoneDates> = BTreeMap::new();
    let mut dated = Vec::new();
    for phase in phases {
        let added = last_added(&phase, &additions);
        // A phase that was committed together with the whole planning folder was finished earlier.
        let evident = added.filter(|added| Some(added.age) != oldest);
        let mut date = phase.completed().or(evident.map(|added| added.date));
        let milestone = milestones.iter().find(|one| one.slug == phase.milestone);
        if let (None, Some(milestone)) = (date, milestone) {
            if !documents.contains_key(&milestone.slug) {
                let dates = if milestone.slug == *active {
                    let phases = stated_dates(&survey.roadmap, &survey.state);
                    MilestoneDates { phases, shipped: None }
                } else {
                    MilestoneDates::read(milestone)?
                };
                documents.insert(milestone.slug.clone(), dates);
            }
            date = documents.get(&milestone.slug).and_then(|dates| dates.of(&phase));
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

/// The dates in the documents of one milestone.
struct MilestoneDates {
    /// The days on which its phases were finished.
    phases: BTreeMap<PhaseNumber, NaiveDate>,
    /// The day on which it was shipped.
    shipped: Option<NaiveDate>,
}

impl MilestoneDates {
    /// Reads the dates of a milestone that is not active.
    fn read(milestone: &MilestoneFolder) -> Result<Self> {
        let home = &milestone.dir;
        let roadmap = read::text(&home.join(vocabulary::ROADMAP))?;
        let state = read::text(&home.join(vocabulary::STATE))?;
        // Warnings are reported when the milestone is surveyed.
        let of_roadmap = roadmap.as_ref().map(|text| text.value.as_str());
        let numbering = of_roadmap.map(PhaseNumbering::detect).unwrap_or_default();
        let roadmap = roadmap.map(|text| Roadmap::parse_with(&text.value, home, numbering).value);
        let state = state.map(|text| StateFile::parse_with(&text.value, home, numbering).value);
        let phases = stated_dates(&roadmap.unwrap_or_default(), &state.unwrap_or_default());
        Ok(Self { phases, shipped: shipped::date(home)? })
    }

    fn of(&self, phase: &FinishedPhase) -> Option<NaiveDate> {
        let stated = phase.number.as_ref().and_then(|number| self.phases.get(number).copied());
        stated.or(self.shipped)
    }
}

/// Returns the dates in the roadmap's progress table, else in the activity log: `2026-02-13: Phase 4 completed (…)`.
fn stated_dates(roadmap: &Roadmap, state: &StateFile) -> BTreeMap<PhaseNumber, NaiveDate> {
    let logged = state.activity.iter().rev().filter_map(|activity| {
        let number = completed_phase(&activity.text, state.numbering)?;
        Some((number, activity.date?))
    });
    let mut found: BTreeMap<PhaseNumber, NaiveDate> = logged.collect();
    for phase in &roadmap.phases {
        let cell = phase.row.as_ref().and_then(|row| row.completed.as_ref());
        if let Some(date) = cell.and_then(|cell| parse_date(&cell.value)) {
            found.insert(phase.number.clone(), date);
        }
    }
    found
}

/// Returns the phase that an activity log entry reports as complete, or `None` if it names several.
fn completed_phase(text: &str, numbering: PhaseNumbering) -> Option<PhaseNumber> {
    let lower = text.to_lowercase();
    let (_, rest) = lower.split_once("phase ")?;
    let mut words = rest.split_whitespace();
    let number = numbering.parse(words.next()?)?;
    let verb = words.next()?;
    let is_done = verb.trim_matches(|c: char| !c.is_alphabetic());
    ["complete", "completed", "done", "finished"].contains(&is_done).then_some(number)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn dates(roadmap: &str, state: &str) -> Vec<(String, String)> {
        let path = Path::new("a.md");
        let found = stated_dates(
            &Roadmap::parse(roadmap, path).value,
            &StateFile::parse(state, path).value,
        );
        let text =
            |(number, date): (&PhaseNumber, &NaiveDate)| (number.to_string(), date.to_string());
        found.iter().map(text).collect()
    }

    #[test]
    fn the_roadmap_dates_phases_before_the_activity_log() {
        let roadmap = "# Roadmap\n\n## Phases\n\n- [x] **Phase 1: A**\n- [x] **Phase 2: B**\n\n## Progress\n\n\
                       | Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n\
                       | 1. A | 2/2 | Complete | 2026-02-11 |\n| 2. B | 1/1 | Complete | - |\n";
        let state = "# State\n\n## Activity Log\n- 2026-02-13: Phase 2 completed (all of it)\n\
                     - 2026-02-12: Phase 1 complete\n- 2026-02-10: Phase 1, 2 planned\n";
        let expected = [("1", "2026-02-11"), ("2", "2026-02-13")];
        let expected = expected.map(|(number, date)| (number.to_owned(), date.to_owned()));
        assert_eq!(dates(roadmap, state), expected);
    }

    #[test]
    fn the_project_decides_whether_a_hyphen_joins_a_milestone_or_a_range() {
        let done =
            |text, numbering| completed_phase(text, numbering).map(|number| number.to_string());
        let of_milestone = Some("1-04".to_owned());
        assert_eq!(done("Phase 1-04 complete", PhaseNumbering::Plain), None);
        let prefixed = PhaseNumbering::MilestonePrefixed;
        assert_eq!(done("Phase 1-04 complete", prefixed), of_milestone);
        assert_eq!(done("Phase 1-4 complete", prefixed), None);
    }
}
