//! Finds the files with the checks of a phase, and reads the latest of each kind.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::plan::read::check::outcome::{Check, CheckKind, CheckOutcome, TextOf};
use crate::plan::read::check::status;
use crate::plan::read::check::status::StatedStatus;
use crate::plan::read::names;
use crate::storage::read;
use crate::storage::stat::PathKind;

/// The files with the checks of a phase, found by name. Rounds of remediation are searched for only when the
/// checks are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckFiles {
    /// The phase's folder.
    dir: PathBuf,
    /// The reports directly in it.
    reports: Vec<(CheckKind, String)>,
    /// The stage files directly in it.
    stages: Vec<String>,
    has_remediation: bool,
}

/// A file of a phase with the result of a check.
struct CheckFile {
    kind: CheckKind,
    /// The latest file of this kind.
    file: PathBuf,
    /// The file with the stage of the remediation.
    stage_file: Option<PathBuf>,
    /// A plan of a round of remediation that has no summary, and no report of its own or a later round.
    open_plan: Option<PathBuf>,
}

impl CheckFiles {
    /// Finds the checks among the names of the files in a phase's folder.
    pub(crate) fn new(
        dir: &Path,
        names: &[String],
        hidden: &[String],
        has_remediation: bool,
    ) -> Self {
        let kinds = || CheckKind::FILE_SUFFIXES.into_iter().map(|(kind, _)| kind);
        let last_of = |kind| {
            let mut names = names.iter();
            let last = names.rfind(|name| CheckKind::from_name(name) == Some(kind));
            last.map(|name| (kind, name.clone()))
        };
        let is_stage = |name: &&String| {
            let mut known = kinds().filter_map(CheckKind::remediation);
            known.any(|(_, stage)| stage == name.as_str())
        };
        Self {
            reports: kinds().filter_map(last_of).collect(),
            stages: hidden.iter().filter(is_stage).cloned().collect(),
            dir: dir.to_owned(),
            has_remediation,
        }
    }

    /// Reads the result of a kind of check; `None` if no file states one.
    pub(super) fn read(&self, kind: CheckKind, text: TextOf<'_>) -> Option<Check> {
        match self.latest(kind) {
            Ok(file) => file?.read(text),
            // Issues may be open in there.
            Err(_) => Some(Check {
                kind,
                file: self.dir.join(REMEDIATION),
                outcome: CheckOutcome::Issues,
                status_word: "unreadable".to_owned(),
            }),
        }
    }

    /// Returns the latest file of a kind of check.
    fn latest(&self, kind: CheckKind) -> Result<Option<CheckFile>> {
        let own = self.reports.iter().find(|(own, _)| *own == kind);
        let mut file = own.map(|(_, name)| self.dir.join(name));
        let (mut stage_file, mut open_plan) = (None, None);
        if let Some((below, stage_name)) = kind.remediation() {
            let remediation = self.dir.join(REMEDIATION);
            let rounds = remediation.join(below);
            let is_file = |path: &PathBuf| matches!(read::kind(path), Ok(Some(PathKind::File)));
            if self.has_remediation {
                let (report, plan) = latest_round(&rounds, kind)?;
                file = report.or(file);
                open_plan = plan;
                let mut below =
                    [rounds, remediation].map(|place| place.join(stage_name)).into_iter();
                stage_file = below.find(is_file);
            }
            let is_beside = || self.stages.iter().any(|name| name == stage_name);
            let beside =
                || Some(self.dir.join(stage_name)).filter(|path| is_beside() && is_file(path));
            stage_file = stage_file.or_else(beside);
        }
        let file = file.or_else(|| stage_file.clone()).or_else(|| open_plan.clone());
        Ok(file.map(|file| CheckFile { kind, file, stage_file, open_plan }))
    }
}

/// The folder of a phase with the rounds of its remediation.
pub(crate) const REMEDIATION: &str = "remediation";

/// Returns the check's file in the highest-numbered round that has one, and the plan of a later round that is open.
fn latest_round(rounds: &Path, kind: CheckKind) -> Result<(Option<PathBuf>, Option<PathBuf>)> {
    let mut ignored = Vec::new();
    let mut reports = Vec::new();
    let mut plans = Vec::new();
    for (round, entry) in names::entries(rounds, &mut ignored)? {
        let digits: String = round.chars().filter(char::is_ascii_digit).collect();
        if entry != PathKind::Folder || digits.is_empty() {
            continue;
        }
        let number = digits.parse::<u32>().unwrap_or(0);
        let dir = rounds.join(&round);
        let listed = names::entries(&dir, &mut ignored)?;
        let files = listed.iter().filter(|(_, entry)| *entry == PathKind::File);
        let files: Vec<&String> = files.map(|(name, _)| name).collect();
        let is_done = files.iter().any(|name| name.ends_with("SUMMARY.md"));
        for name in files {
            if CheckKind::from_name(name) == Some(kind) {
                reports.push((number, dir.join(name)));
            } else if !is_done && name.starts_with('R') && name.ends_with("-PLAN.md") {
                plans.push((number, dir.join(name)));
            }
        }
    }
    let report = reports.into_iter().max();
    let checked = report.as_ref().map(|(number, _)| *number);
    let plan = plans.into_iter().max().filter(|(number, _)| Some(*number) > checked);
    Ok((report.map(|(_, file)| file), plan.map(|(_, file)| file)))
}

impl CheckFile {
    /// Reads the result of the check; `None` if its files do not state one.
    fn read(&self, text: TextOf<'_>) -> Option<Check> {
        if let Some(plan) = &self.open_plan {
            let status_word = "planned".to_owned();
            let outcome = CheckOutcome::Issues;
            return Some(Check { kind: self.kind, file: plan.clone(), outcome, status_word });
        }
        let stage = self.stage_file.as_ref().and_then(|path| Some((path, text(path)?)));
        let stated = text(&self.file)
            .and_then(|text| StatedStatus::from_report(self.kind, &text, &self.file));
        let check = |file: &Path, outcome, status_word: &str| Check {
            kind: self.kind,
            file: file.to_owned(),
            outcome,
            status_word: status_word.to_owned(),
        };
        // HUMAN-UAT files list items that are waiting for a person; work continues without them.
        let is_list = self.file.to_string_lossy().ends_with("HUMAN-UAT.md");
        let of_file = stated
            .map(|stated| {
                let outcome = stated.outcome.unwrap_or(CheckOutcome::Unknown);
                check(&self.file, outcome, &stated.words)
            })
            .filter(|check| !is_list || check.outcome != CheckOutcome::Pending);
        if of_file.as_ref().is_some_and(|check| check.outcome == CheckOutcome::Passed) {
            return of_file;
        }
        let Some((path, stage)) = stage else {
            return of_file;
        };
        let stage = status::stage_word(&stage);
        match stage {
            // A finished round of quality assurance includes its verification; user tests must be repeated by
            // the user.
            "done" | "verified" if self.kind == CheckKind::Verification => {
                Some(check(path, CheckOutcome::Passed, stage))
            }
            "verified" => Some(check(path, CheckOutcome::Passed, stage)),
            "done" | "verify" | "reverify" => Some(check(path, CheckOutcome::Repeat, stage)),
            "" | "none" => of_file,
            stage => Some(check(path, CheckOutcome::Issues, stage)),
        }
    }
}
