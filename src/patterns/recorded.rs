//! Determines which phases have an entry in PATTERNS.md.

use crate::patterns::{FinishedPhase, PatternEntry, Patterns};
use crate::plan::{DEFAULT_MILESTONE, letters};
use crate::storage::read;

/// Whether PATTERNS.md has an entry for a phase, with the line number of the entry's heading, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It has no entry.
    No,
    /// It has an entry recorded from its current summaries.
    Same(usize),
    /// It has an entry, but its summaries have changed since.
    Changed(usize),
    /// It has an entry written by a person or another tool, identified by the phase's number and name.
    Foreign(usize),
}

impl Recorded {
    /// Returns the line of the entry's heading.
    pub(crate) fn line(self) -> Option<usize> {
        match self {
            Self::No => None,
            Self::Same(line) | Self::Changed(line) | Self::Foreign(line) => Some(line),
        }
    }
}

/// The entries of PATTERNS.md, in which phases are looked up.
pub struct RecordIndex<'a>(&'a [PatternEntry]);

impl<'a> RecordIndex<'a> {
    /// Returns the index of these entries.
    pub fn new(patterns: &'a Patterns) -> Self {
        Self(&patterns.entries)
    }

    /// Returns whether a phase has an entry, even if its folder has moved since.
    ///
    /// An entry is matched by the digest of the summaries, or else by the name of the folder and the plans;
    /// if a plan was added later, the phase is still recorded, but with changed summaries. Folders of several
    /// milestones may have the same name: `same_named` are those phases, and their entries do not count.
    pub fn recorded(&self, phase: &FinishedPhase, same_named: &[&FinishedPhase]) -> Recorded {
        let last = |test: &dyn Fn(&PatternEntry) -> bool| {
            self.0.iter().rfind(|entry| test(entry)).map(|entry| entry.line)
        };
        if let Some(line) =
            last(&|entry| is_drawn_from(entry, phase) && !is_of_another(entry, phase))
        {
            return Recorded::Same(line);
        }
        let is_claimed =
            |entry: &PatternEntry| same_named.iter().any(|other| self.is_claimed(entry, other));
        if let Some(line) = last(&|entry| was_drawn_from(entry, phase) && !is_claimed(entry)) {
            return Recorded::Changed(line);
        }
        // Such entries do not name their milestone, so each namesake may own one of them.
        let foreign = self.0.iter().filter(|entry| is_foreign(entry, phase));
        match foreign.skip(same_named.len()).last() {
            Some(entry) => Recorded::Foreign(entry.line),
            None => Recorded::No,
        }
    }

    /// Returns whether an entry is that of another phase: recorded from its summaries, or earlier from the same plans.
    fn is_claimed(&self, entry: &PatternEntry, other: &FinishedPhase) -> bool {
        let latest = self.0.iter().rfind(|entry| is_drawn_from(entry, other));
        let latest = latest.filter(|latest| entry.line <= latest.line);
        latest.and_then(|latest| latest.trace.as_ref()).zip(entry.trace.as_ref()).is_some_and(
            |(one, other)| {
                one.phase_dir == other.phase_dir
                    && one.plans == other.plans
                    && one.milestone == other.milestone
            },
        )
    }
}

/// Returns whether an entry was recorded from the phase's current summaries.
fn is_drawn_from(entry: &PatternEntry, phase: &FinishedPhase) -> bool {
    let digest = entry.trace.as_ref().map(|trace| &trace.digest);
    !phase.plans.is_empty() && digest == Some(&phase.digest)
}

/// Returns whether an entry recorded from identical summaries belongs to another phase: one with a folder
/// beside this one's. A folder of the same name in another milestone is a copy, and its lessons count once.
fn is_of_another(entry: &PatternEntry, phase: &FinishedPhase) -> bool {
    entry.trace.as_ref().is_some_and(|trace| {
        trace.phase_dir != phase.dir_name
            && read::is_folder(&phase.dir.with_file_name(&trace.phase_dir))
    })
}

/// Returns whether an entry of a folder of this name was recorded from the phase in an earlier state.
fn was_drawn_from(entry: &PatternEntry, phase: &FinishedPhase) -> bool {
    // Shipping names the default milestone; nothing else moves a phase to another milestone.
    let is_same_milestone = |recorded: Option<&str>| {
        recorded.is_none_or(|slug| slug == phase.milestone || slug == DEFAULT_MILESTONE)
    };
    entry.trace.as_ref().is_some_and(|trace| {
        trace.phase_dir == phase.dir_name
            && is_same_milestone(trace.milestone.as_deref())
            && phase.plans.iter().any(|plan| trace.plans.contains(&plan.plan))
    })
}

/// Returns whether a person or another tool wrote this entry, of the phase's number, about the phase.
fn is_foreign(entry: &PatternEntry, phase: &FinishedPhase) -> bool {
    let says_something = entry.texts().next().is_some() || entry.timing.plans.is_some();
    let plans = u32::try_from(phase.plans.len()).ok();
    let slug = phase.dir_name.split_once(['-', '_']).map_or("", |(_, slug)| slug);
    let name = letters(&entry.name);
    entry.trace.is_none()
        && entry.phase.is_some()
        && entry.phase == phase.number
        && says_something
        && entry.timing.plans.is_none_or(|count| Some(count) == plans)
        && (name == letters(&phase.name) || name == letters(slug))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::patterns::PlanRecord;
    use crate::plan::{PlanNumber, Summary};

    fn phase(milestone: &str, digest: &str, plans: &[u32]) -> FinishedPhase {
        let record = |number: &u32| {
            let plan = PlanNumber::from(*number);
            PlanRecord::new(plan, "S.md", Summary::default(), "")
        };
        FinishedPhase {
            number: Some(3.into()),
            name: "The parser".to_owned(),
            dir: "phases".into(),
            dir_name: "03-parser".to_owned(),
            milestone: milestone.to_owned(),
            plans: plans.iter().map(record).collect(),
            is_complete: true,
            digest: digest.to_owned(),
        }
    }

    fn entry(milestone: &str, digest: &str, plans: &str) -> String {
        format!(
            "### Phase 3: The parser (2026-02-11)\n\
             <!-- annals: phase-dir=03-parser plans={plans} digest={digest} milestone={milestone} -->\n\n"
        )
    }

    fn patterns(text: &str) -> Patterns {
        Patterns::parse(text, Path::new("P.md")).value
    }

    #[test]
    fn a_phase_is_known_again_wherever_it_stands() {
        let known = patterns(&entry("default", "aa", "01,02"));
        assert_eq!(
            RecordIndex::new(&known).recorded(&phase("default", "aa", &[1, 2]), &[]),
            Recorded::Same(1)
        );
        // Shipped since, as a milestone with a name.
        assert_eq!(
            RecordIndex::new(&known).recorded(&phase("v1", "aa", &[1, 2]), &[]),
            Recorded::Same(1)
        );
        let mut renamed = phase("v1", "aa", &[1, 2]);
        renamed.dir_name = "01-parser".to_owned();
        assert_eq!(RecordIndex::new(&known).recorded(&renamed, &[]), Recorded::Same(1));
    }

    #[test]
    fn two_phases_with_identical_summaries_are_two_phases() {
        let folder = assert_fs::TempDir::new().unwrap();
        let known = patterns(&entry("default", "aa", "01"));
        let mut twin = phase("default", "aa", &[1]);
        twin.dir_name = "04-lexer".to_owned();
        twin.dir = folder.path().join("04-lexer");
        assert_eq!(RecordIndex::new(&known).recorded(&twin, &[]), Recorded::Same(1), "renamed");
        std::fs::create_dir(folder.path().join("03-parser")).unwrap();
        assert_eq!(RecordIndex::new(&known).recorded(&twin, &[]), Recorded::No);
        let of_v1 = patterns(&entry("v1", "aa", "01"));
        let copy = phase("v2", "aa", &[1]);
        let shipped = phase("v1", "aa", &[1]);
        assert_eq!(RecordIndex::new(&of_v1).recorded(&copy, &[&shipped]), Recorded::Same(1));
    }

    #[test]
    fn other_summaries_are_a_change() {
        let known = patterns(&entry("default", "aa", "01,02"));
        for changed in [
            phase("default", "bb", &[1, 2]),
            phase("v1", "bb", &[1, 2]),
            phase("default", "bb", &[1, 2, 3]),
        ] {
            assert_eq!(RecordIndex::new(&known).recorded(&changed, &[]), Recorded::Changed(1));
        }
        assert_eq!(
            RecordIndex::new(&known).recorded(&phase("default", "bb", &[3]), &[]),
            Recorded::No
        );
    }

    #[test]
    fn the_entry_of_a_namesake_is_not_the_phases_own() {
        let shipped = phase("v1", "aa", &[1]);
        let active = phase("default", "bb", &[1]);
        let known = patterns(&entry("default", "aa", "01"));
        assert_eq!(RecordIndex::new(&known).recorded(&active, &[]), Recorded::Changed(1));
        assert_eq!(RecordIndex::new(&known).recorded(&active, &[&shipped]), Recorded::No);
        let both = entry("default", "aa", "01") + &entry("default", "bb", "01");
        let known = patterns(&both);
        assert_eq!(RecordIndex::new(&known).recorded(&active, &[&shipped]), Recorded::Same(4));
        let changed = phase("default", "cc", &[1]);
        assert_eq!(RecordIndex::new(&known).recorded(&changed, &[&shipped]), Recorded::Changed(4));
        // A named milestone keeps its name, so this phase belongs to another milestone.
        let known = patterns(&entry("v1", "aa", "01"));
        assert_eq!(RecordIndex::new(&known).recorded(&active, &[]), Recorded::No);
    }

    #[test]
    fn entries_by_others_are_known_by_number_and_name() {
        let own = phase("default", "aa", &[1, 2]);
        for (text, expected) in [
            ("### Phase 3: The Parser (2026-02-11)\n**What worked:** x\n", Recorded::Foreign(1)),
            ("## Phase 03 - parser\n**Timing:**\n- Plans: 2\n", Recorded::Foreign(1)),
            ("### Phase 3: The Parser\n**Timing:**\n- Plans: 5\n", Recorded::No),
            ("### Phase 4: The Parser\n**What worked:** x\n", Recorded::No),
            ("### Phase 3: The Lexer\n**What worked:** x\n", Recorded::No),
            ("### Phase 3: The Parser\nSee below.\n", Recorded::No),
        ] {
            assert_eq!(RecordIndex::new(&patterns(text)).recorded(&own, &[]), expected, "{text}");
        }
        let text = "### Phase 3: The Parser\n**What worked:** x\n";
        let namesake = phase("v1", "bb", &[1, 2]);
        assert_eq!(RecordIndex::new(&patterns(text)).recorded(&own, &[&namesake]), Recorded::No);
    }
}
