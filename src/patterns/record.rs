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

impl Patterns {
    /// Returns whether a phase has an entry, even if its folder has moved since.
    ///
    /// An entry is matched by the digest of the summaries, or else by the name of the folder and the plans;
    /// if a plan was added later, the phase is still recorded, but with changed summaries. Folders of several
    /// milestones may have the same name: `same_named` are those phases, and their entries do not count (see
    /// [`FinishedPhase::phases_of_same_name`]).
    pub fn recorded(&self, phase: &FinishedPhase, same_named: &[FinishedPhase]) -> Recorded {
        let last = |fits: &dyn Fn(usize, &PatternEntry) -> bool| {
            let mut entries = self.entries.iter().enumerate().rev();
            let found = entries.find(|(at, entry)| fits(*at, entry));
            found.map(|(_, entry)| entry.line)
        };
        let is_own =
            |entry: &PatternEntry| is_drawn_from(entry, phase) && !is_of_another(entry, phase);
        if let Some(line) = last(&|_, entry| is_own(entry)) {
            return Recorded::Same(line);
        }
        let mut is_of_other = vec![false; self.entries.len()];
        for other in same_named {
            self.claim(other, &mut is_of_other);
        }
        if let Some(line) = last(&|at, entry| !is_of_other[at] && was_drawn_from(entry, phase)) {
            return Recorded::Changed(line);
        }
        // Such entries do not name their milestone, so each namesake may own one of them.
        let foreign = self.entries.iter().filter(|entry| is_foreign(entry, phase));
        match foreign.skip(same_named.len()).last() {
            Some(entry) => Recorded::Foreign(entry.line),
            None => Recorded::No,
        }
    }

    /// Marks the entries of a phase: the one recorded from its summaries, and earlier ones of the same plans.
    fn claim(&self, phase: &FinishedPhase, claimed: &mut [bool]) {
        let found = self.entries.iter().rposition(|entry| is_drawn_from(entry, phase));
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

/// Returns whether an entry was recorded from the phase's current summaries.
fn is_drawn_from(entry: &PatternEntry, phase: &FinishedPhase) -> bool {
    let trace = entry.trace.as_ref();
    trace.is_some_and(|trace| trace.digest == phase.digest && !phase.plans.is_empty())
}

/// Returns whether an entry recorded from identical summaries belongs to another phase: one with a folder
/// beside this one's. A folder of the same name in another milestone is a copy, and its lessons count once.
fn is_of_another(entry: &PatternEntry, phase: &FinishedPhase) -> bool {
    entry.trace.as_ref().is_some_and(|trace| {
        trace.phase_dir != phase.dir_name
            && read::is_folder(&phase.dir.with_file_name(&trace.phase_dir))
    })
}

/// Returns whether an entry was recorded from the phase's folder in an earlier state.
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

/// Returns whether a person or another tool wrote this entry about the phase.
fn is_foreign(entry: &PatternEntry, phase: &FinishedPhase) -> bool {
    let says_something = entry.texts().next().is_some() || entry.timing.plans.is_some();
    let plans = u32::try_from(phase.plans.len()).ok();
    let slug = phase.dir_name.split_once(['-', '_']).map_or("", |(_, slug)| slug);
    let name = letters(&entry.name);
    entry.trace.is_none()
        && says_something
        && entry.phase.as_ref() == Some(&phase.number)
        && entry.timing.plans.is_none_or(|count| Some(count) == plans)
        && (name == letters(&phase.name) || name == letters(slug))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use assert_fs::prelude::*;

    use super::*;
    use crate::git::Git;
    use crate::patterns::PlanRecord;
    use crate::plan::{PlanNumber, PlanningFolder, Summary};

    fn phase(milestone: &str, digest: &str, plans: &[u32]) -> FinishedPhase {
        let record = |number: &u32| {
            let plan = PlanNumber::from(*number);
            PlanRecord::new(plan, Summary::default(), "", Path::new("S.md"))
        };
        FinishedPhase {
            number: 3.into(),
            name: "The parser".to_owned(),
            dir: "phases".into(),
            dir_name: "03-parser".to_owned(),
            milestone: milestone.to_owned(),
            plans: plans.iter().map(record).collect(),
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
        assert_eq!(known.recorded(&phase("default", "aa", &[1, 2]), &[]), Recorded::Same(1));
        // Shipped since, as a milestone with a name.
        assert_eq!(known.recorded(&phase("v1", "aa", &[1, 2]), &[]), Recorded::Same(1));
        let mut renamed = phase("v1", "aa", &[1, 2]);
        renamed.dir_name = "01-parser".to_owned();
        assert_eq!(known.recorded(&renamed, &[]), Recorded::Same(1));
    }

    #[test]
    fn two_phases_with_identical_summaries_are_two_phases() {
        let folder = assert_fs::TempDir::new().unwrap();
        let known = patterns(&entry("default", "aa", "01"));
        let mut twin = phase("default", "aa", &[1]);
        twin.dir_name = "04-lexer".to_owned();
        twin.dir = folder.path().join("04-lexer");
        assert_eq!(known.recorded(&twin, &[]), Recorded::Same(1), "renamed");
        std::fs::create_dir(folder.path().join("03-parser")).unwrap();
        assert_eq!(known.recorded(&twin, &[]), Recorded::No);
        let of_v1 = patterns(&entry("v1", "aa", "01"));
        let copy = phase("v2", "aa", &[1]);
        let shipped = phase("v1", "aa", &[1]);
        assert_eq!(of_v1.recorded(&copy, &[shipped]), Recorded::Same(1));
    }

    #[test]
    fn namesakes_in_other_open_milestones_are_known() {
        let dir = assert_fs::TempDir::new().unwrap();
        let write = |path: &str| {
            let text = "---\nphase: 1\nplan: 1\nstatus: complete\n---\n";
            dir.child(path).write_str(text).unwrap();
        };
        for home in ["", "v2/"] {
            write(&format!("{home}STATE.md"));
            write(&format!("{home}phases/01-setup/01-01-SUMMARY.md"));
        }
        let folder = PlanningFolder::read(dir.path()).unwrap().value;
        let own = &folder.active.phases[0];
        let same_named =
            FinishedPhase::phases_of_same_name(&folder, own, &read::text, &Git::absent());
        let milestones: Vec<String> =
            same_named.unwrap().value.into_iter().map(|phase| phase.milestone).collect();
        assert_eq!(milestones, ["v2"]);
    }

    #[test]
    fn other_summaries_are_a_change() {
        let known = patterns(&entry("default", "aa", "01,02"));
        for changed in [
            phase("default", "bb", &[1, 2]),
            phase("v1", "bb", &[1, 2]),
            phase("default", "bb", &[1, 2, 3]),
        ] {
            assert_eq!(known.recorded(&changed, &[]), Recorded::Changed(1));
        }
        assert_eq!(known.recorded(&phase("default", "bb", &[3]), &[]), Recorded::No);
    }

    #[test]
    fn the_entry_of_a_namesake_is_not_the_phases_own() {
        let shipped = phase("v1", "aa", &[1]);
        let active = phase("default", "bb", &[1]);
        let known = patterns(&entry("default", "aa", "01"));
        assert_eq!(known.recorded(&active, &[]), Recorded::Changed(1));
        assert_eq!(known.recorded(&active, std::slice::from_ref(&shipped)), Recorded::No);
        let both = entry("default", "aa", "01") + &entry("default", "bb", "01");
        let known = patterns(&both);
        assert_eq!(known.recorded(&active, std::slice::from_ref(&shipped)), Recorded::Same(4));
        let changed = phase("default", "cc", &[1]);
        assert_eq!(known.recorded(&changed, &[shipped]), Recorded::Changed(4));
        // A named milestone keeps its name, so this phase belongs to another milestone.
        let known = patterns(&entry("v1", "aa", "01"));
        assert_eq!(known.recorded(&active, &[]), Recorded::No);
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
            assert_eq!(patterns(text).recorded(&own, &[]), expected, "{text}");
        }
        let text = "### Phase 3: The Parser\n**What worked:** x\n";
        let namesake = phase("v1", "bb", &[1, 2]);
        assert_eq!(patterns(text).recorded(&own, &[namesake]), Recorded::No);
    }
}
