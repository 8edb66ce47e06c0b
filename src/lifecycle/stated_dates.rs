//! Reads the dates on which phases were finished from ROADMAP.md and STATE.md.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use crate::clock::parse_date;
use crate::error::Result;
use crate::plan::{MilestoneFolder, PhaseNumber, PhaseNumbering, Roadmap, StateFile};
use crate::project::vocabulary;
use crate::storage::read;

/// The completion dates of phases in the documents of one milestone.
#[derive(Debug, Default)]
pub(crate) struct StatedDates(BTreeMap<PhaseNumber, NaiveDate>);

impl StatedDates {
    /// Reads the roadmap's progress table, else the activity log: `2026-02-13: Phase 4 completed (…)`.
    pub(crate) fn new(roadmap: &Roadmap, state: &StateFile) -> Self {
        let mut found = BTreeMap::new();
        let logged = state.activity.iter().rev().filter_map(|activity| {
            let number = completed_phase(&activity.text, state.numbering)?;
            Some((number, activity.date?))
        });
        found.extend(logged);
        for phase in &roadmap.phases {
            let cell = phase.row.as_ref().and_then(|row| row.completed.as_ref());
            if let Some(date) = cell.and_then(|cell| parse_date(&cell.value)) {
                found.insert(phase.number.clone(), date);
            }
        }
        Self(found)
    }

    /// Reads the dates of a milestone that is not active.
    pub(crate) fn read(milestone: &MilestoneFolder) -> Result<Self> {
        let home = &milestone.dir;
        let roadmap = read::text(&home.join(vocabulary::ROADMAP))?;
        let state = read::text(&home.join(vocabulary::STATE))?;
        // Warnings are reported when the milestone is surveyed.
        let of_roadmap = roadmap.as_ref().map(|text| text.value.as_str());
        let of_folders = milestone.numbering;
        let numbering = of_folders.unwrap_or_else(|| PhaseNumbering::detect(None, of_roadmap));
        let roadmap = roadmap.map(|text| Roadmap::parse_with(&text.value, home, numbering).value);
        let state = state.map(|text| StateFile::parse_with(&text.value, home, numbering).value);
        Ok(Self::new(&roadmap.unwrap_or_default(), &state.unwrap_or_default()))
    }

    pub(crate) fn of_phase(&self, number: &PhaseNumber) -> Option<NaiveDate> {
        self.0.get(number).copied()
    }
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
        let found = StatedDates::new(
            &Roadmap::parse(roadmap, path).value,
            &StateFile::parse(state, path).value,
        );
        let text =
            |(number, date): (&PhaseNumber, &NaiveDate)| (number.to_string(), date.to_string());
        found.0.iter().map(text).collect()
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
