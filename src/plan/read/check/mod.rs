//! Reads the results of checks of a finished phase: user tests, verification, review, and remediation.
//!
//! ```text
//! 02-03-PLAN.md                                                    gap_closure: true
//! 02-UAT.md  02-HUMAN-UAT.md  02-VERIFICATION.md  02-REVIEW.md     front matter: status: passed | gaps_found | …
//! remediation/uat/round-02/R02-UAT.md                              a later round replaces what was before
//! remediation/qa/round-01/R01-VERIFICATION.md
//! remediation/{uat/.uat,qa/.qa}-remediation-stage                  stage=plan
//! ```

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::markdown::FrontMatter;

mod files;
mod outcome;
mod status;

pub use files::CheckFiles;
pub(crate) use files::REMEDIATION;
pub use outcome::{Check, CheckKind, CheckOutcome, TextOf};

/// The checks of a phase, read on first use.
///
/// Most belong to phases that were completed long ago and do not affect the position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checks {
    files: CheckFiles,
    /// The phase's plans, and whether each is complete.
    plans: Vec<(PathBuf, bool)>,
    read: OnceLock<Vec<Check>>,
}

impl Checks {
    /// Creates the checks in these files, for a phase with these plans, each complete or not.
    pub fn new(files: CheckFiles, plans: Vec<(PathBuf, bool)>) -> Self {
        Self { files, plans, read: OnceLock::new() }
    }

    /// Returns the checks with a known outcome; `text` reads their files on the first call.
    pub fn read(&self, text: TextOf<'_>) -> &[Check] {
        let outdated = |check: Check| {
            let found_gaps = [CheckOutcome::Issues, CheckOutcome::Diagnosed];
            let has_gaps = check.kind != CheckKind::Review && found_gaps.contains(&check.outcome);
            if has_gaps && !status::is_repeated(&check.file, text) && self.has_closed_gaps(text) {
                let outcome = CheckOutcome::Outdated;
                return Check { outcome, ..check };
            }
            check
        };
        let kinds = CheckKind::FILE_SUFFIXES.into_iter();
        let read = || kinds.filter_map(|(kind, _)| self.files.read(kind, text));
        self.read.get_or_init(|| read().map(outdated).collect())
    }

    /// Returns whether there are gap-closure plans, and all of them are complete.
    fn has_closed_gaps(&self, text: TextOf<'_>) -> bool {
        let closes_gaps = |path: &Path| {
            let text = text(path).unwrap_or_default();
            let front = FrontMatter::parse(&text, path).value;
            front.text(&["gap_closure"]) == Some("true")
        };
        let of_gaps = self.plans.iter().filter(|(path, _)| closes_gaps(path));
        let mut of_gaps = of_gaps.peekable();
        of_gaps.peek().is_some() && of_gaps.all(|(_, is_complete)| *is_complete)
    }
}

#[cfg(test)]
mod tests {
    use assert_fs::TempDir;
    use assert_fs::prelude::*;

    use super::*;
    use crate::storage::read;

    fn outcome_in(dir: &TempDir, names: &[&str]) -> Option<CheckOutcome> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let files = CheckFiles::new(dir.path(), &names, &[], true);
        let text = |path: &Path| read::text(path).ok().flatten().map(|text| text.value);
        let checks = Checks::new(files, Vec::new());
        checks.read(&text).first().map(|check| check.outcome)
    }

    #[test]
    fn a_word_that_begins_with_r_is_no_round() {
        let of_name = CheckKind::from_name;
        assert_eq!(of_name("R02-UAT.md"), Some(CheckKind::Uat));
        assert_eq!(of_name("02-R1-VERIFICATION.md"), Some(CheckKind::Verification));
        assert_eq!(of_name("02-RLS-UAT.md"), None);
        assert_eq!(of_name("02-REGRESSION-VERIFICATION.md"), None);
    }

    #[test]
    fn counts_of_issues_are_held_against_the_status() {
        let dir = TempDir::new().unwrap();
        let found = |name: &str, fields: &str| {
            let report = format!("---\n{fields}\n---\n");
            dir.child(name).write_str(&report).unwrap();
            outcome_in(&dir, &[name])
        };
        let issues = Some(CheckOutcome::Issues);
        assert_eq!(found("02-UAT.md", "status: complete\nissues: 2"), issues);
        let fixed = "status: complete\nissues: 2\nissues_fixed: 2";
        assert_eq!(found("02-UAT.md", fixed), Some(CheckOutcome::Passed));
        let some = "status: complete\nissues: 2\nissues_fixed: 1";
        assert_eq!(found("02-UAT.md", some), issues);
        assert_eq!(found("02-VERIFICATION.md", "result: PARTIAL\nfailed: 1"), issues);
        let goes_on = "status: partial\nfailed: 1";
        assert_eq!(found("02-UAT.md", goes_on), Some(CheckOutcome::Pending));
        let waiting = "result: PARTIAL\nfailed: 0";
        assert_eq!(found("02-VERIFICATION.md", waiting), Some(CheckOutcome::Pending));
    }

    #[test]
    fn the_latest_round_replaces_the_report_of_the_phase() {
        let dir = TempDir::new().unwrap();
        let report = |status: &str| format!("---\nstatus: {status}\n---\n");
        dir.child("02-VERIFICATION.md").write_str(&report("gaps_found")).unwrap();
        let names = ["02-VERIFICATION.md"];
        assert_eq!(outcome_in(&dir, &names), Some(CheckOutcome::Issues));
        for (round, status) in [("round-01", "gaps_found"), ("round-02", "passed")] {
            dir.child(format!("remediation/qa/{round}/R01-VERIFICATION.md"))
                .write_str(&report(status))
                .unwrap();
        }
        assert_eq!(outcome_in(&dir, &names), Some(CheckOutcome::Passed));
    }

    #[cfg(unix)]
    #[test]
    fn rounds_that_cannot_be_listed_count_as_issues() {
        let dir = TempDir::new().unwrap();
        dir.child("remediation").create_dir_all().unwrap();
        let rounds = dir.child("remediation/qa");
        std::os::unix::fs::symlink("qa", rounds.path()).unwrap();
        dir.child("02-VERIFICATION.md").write_str("---\nstatus: passed\n---\n").unwrap();
        let found = outcome_in(&dir, &["02-VERIFICATION.md"]);
        assert_eq!(found, Some(CheckOutcome::Issues));
    }
}
