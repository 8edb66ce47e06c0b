//! Reads the results of checks of a finished phase: user tests, verification, review, and remediation.
//!
//! ```text
//! 02-03-PLAN.md                                                    gap_closure: true
//! 02-UAT.md  02-HUMAN-UAT.md  02-VERIFICATION.md  02-REVIEW.md     front matter: status: passed | gaps_found | …
//! remediation/uat/round-02/R02-UAT.md                              a later round replaces what was before
//! remediation/qa/round-01/R01-VERIFICATION.md
//! remediation/{uat/.uat,qa/.qa}-remediation-stage                  stage=plan
//! ```

use std::path::Path;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::error::Result;
use crate::markdown::FrontMatter;
use crate::markdown::front_matter;
use crate::planning::names;
use crate::storage::read;
use crate::storage::stat::PathKind;

/// The kind of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckKind {
    /// The user tests what was built.
    Uat,
    /// The workflow verifies that the phase meets its goal.
    Verification,
    /// The code is reviewed.
    Review,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// It found no issues, or all of them are resolved.
    Passed,
    /// It is unfinished, or waiting for a person.
    Pending,
    /// It found issues that are still open.
    Issues,
    /// It found issues that are to be addressed by further plans of the phase.
    Diagnosed,
    /// Its issues have been worked on, and the check is to be repeated.
    Repeat,
    /// It found gaps, and all gap-closure plans are complete; the phase was not checked again.
    Outdated,
}

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
}

/// A check with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The kind of check.
    pub kind: CheckKind,
    /// The file that states the result.
    pub file: PathBuf,
    /// The outcome.
    pub outcome: CheckOutcome,
    /// The status or stage that the outcome is derived from, in lower case if taken from a report.
    pub status_word: String,
}

/// Returns the text of a file, or `None` if it does not exist.
pub type TextOf<'a> = &'a dyn Fn(&Path) -> Option<String>;

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
        Self {
            files,
            plans,
            read: OnceLock::new(),
        }
    }

    /// Returns the checks with a known outcome; `text` reads their files on the first call.
    pub fn read(&self, text: TextOf<'_>) -> &[Check] {
        let outdated = |check: Check| {
            let has_gaps =
                check.kind == CheckKind::Verification && check.outcome == CheckOutcome::Issues;
            if has_gaps && !is_repeated(&check.file, text) && self.has_closed_gaps(text) {
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

impl CheckKind {
    /// The kinds with the suffixes of their file names, the most specific suffix first.
    const FILE_SUFFIXES: [(Self, &'static str); 3] = [
        (Self::Uat, "UAT.md"),
        (Self::Verification, "VERIFICATION.md"),
        (Self::Review, "REVIEW.md"),
    ];

    /// Returns the kind of check for a file name; `01-UI-REVIEW.md` reviews a design and is not one.
    fn of_name(name: &str) -> Option<Self> {
        let (kind, end) = Self::FILE_SUFFIXES
            .into_iter()
            .find(|(_, end)| name.ends_with(end))?;
        let head = name[..name.len() - end.len()].trim_end_matches('-');
        let is_number = |word: &str| {
            let round = word.strip_prefix('R').unwrap_or(word);
            round.starts_with(|c: char| c.is_ascii_digit())
        };
        head.split('-')
            .all(|word| word.is_empty() || is_number(word) || word == "HUMAN")
            .then_some(kind)
    }

    /// Returns the folder of the kind's rounds below `remediation/`, and the name of its stage file.
    fn remediation(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Uat => Some(("uat", ".uat-remediation-stage")),
            Self::Verification => Some(("qa", ".qa-remediation-stage")),
            Self::Review => None,
        }
    }
}

impl Check {
    /// Returns whether the check still requires work. A verification that is waiting for a person does not:
    /// the workflows continue without it.
    pub fn is_open(&self) -> bool {
        match (self.kind, self.outcome) {
            (CheckKind::Review, _)
            | (_, CheckOutcome::Passed)
            | (CheckKind::Verification, CheckOutcome::Pending) => false,
            (CheckKind::Uat | CheckKind::Verification, _) => true,
        }
    }
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
            let last = names.rfind(|name| CheckKind::of_name(name) == Some(kind));
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
    fn read(&self, kind: CheckKind, text: TextOf<'_>) -> Option<Check> {
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
        let mut stage_file = None;
        if let Some((below, stage_name)) = kind.remediation() {
            let remediation = self.dir.join(REMEDIATION);
            let rounds = remediation.join(below);
            let is_file = |path: &PathBuf| matches!(read::kind(path), Ok(Some(PathKind::File)));
            if self.has_remediation {
                file = latest_round(&rounds, kind)?.or(file);
                let mut below = [rounds, remediation]
                    .map(|place| place.join(stage_name))
                    .into_iter();
                stage_file = below.find(is_file);
            }
            let is_beside = || self.stages.iter().any(|name| name == stage_name);
            let beside =
                || Some(self.dir.join(stage_name)).filter(|path| is_beside() && is_file(path));
            stage_file = stage_file.or_else(beside);
        }
        let file = file.or_else(|| stage_file.clone());
        Ok(file.map(|file| CheckFile {
            kind,
            file,
            stage_file,
        }))
    }
}

/// The folder of a phase with the rounds of its remediation.
pub(crate) const REMEDIATION: &str = "remediation";

/// Returns the check's file in the highest-numbered round that has one.
fn latest_round(rounds: &Path, kind: CheckKind) -> Result<Option<PathBuf>> {
    let mut ignored = Vec::new();
    let mut found = Vec::new();
    for (round, entry) in names::entries(rounds, &mut ignored)? {
        let digits: String = round.chars().filter(char::is_ascii_digit).collect();
        if entry != PathKind::Folder || digits.is_empty() {
            continue;
        }
        let dir = rounds.join(&round);
        for (name, entry) in names::entries(&dir, &mut ignored)? {
            if entry == PathKind::File && CheckKind::of_name(&name) == Some(kind) {
                found.push((digits.parse::<u32>().unwrap_or(0), dir.join(name)));
            }
        }
    }
    Ok(found.into_iter().max().map(|(_, file)| file))
}

impl CheckFile {
    /// Reads the result of the check; `None` if its files do not state one.
    fn read(&self, text: TextOf<'_>) -> Option<Check> {
        let stage = self
            .stage_file
            .as_ref()
            .and_then(|path| Some((path, text(path)?)));
        let status_word =
            text(&self.file).and_then(|text| stated_status(self.kind, &text, &self.file));
        let check = |file: &Path, outcome, status_word: &str| Check {
            kind: self.kind,
            file: file.to_owned(),
            outcome,
            status_word: status_word.to_owned(),
        };
        // HUMAN-UAT files list items that are waiting for a person; work continues without them.
        let is_list = self.file.to_string_lossy().ends_with("HUMAN-UAT.md");
        let of_file = status_word
            .as_ref()
            .and_then(|status_word| Some(check(&self.file, outcome(status_word)?, status_word)))
            .filter(|check| !is_list || check.outcome != CheckOutcome::Pending);
        if of_file
            .as_ref()
            .is_some_and(|check| check.outcome == CheckOutcome::Passed)
        {
            return of_file;
        }
        let Some((path, stage)) = stage else {
            return of_file;
        };
        let stage = stage_word(&stage);
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

/// Returns whether a verification is a repeated one: its gaps remained or appeared after the closure.
fn is_repeated(path: &Path, text: TextOf<'_>) -> bool {
    let text = text(path).unwrap_or_default();
    let front = FrontMatter::parse(&text, path).value;
    front.get(&["re_verification"]).is_some()
}

/// Returns the stage from a line `stage=plan`, or from a file that contains only the word.
fn stage_word(text: &str) -> &str {
    let lines = || text.lines().map(str::trim);
    lines()
        .find_map(|line| line.strip_prefix("stage="))
        .or_else(|| lines().find(|line| !line.is_empty()))
        .unwrap_or_default()
        .trim()
}

/// Returns the status in a report's front matter, otherwise the one under a label of its body.
fn stated_status(kind: CheckKind, text: &str, path: &Path) -> Option<String> {
    const FIELDS: [&str; 5] = ["issues", "issues_fixed", "failed", "status", "result"];
    // A user test that is partial goes on, whatever failed so far.
    let failed_of = |failed| if kind == CheckKind::Uat { None } else { failed };
    if let Some(([issues, fixed, failed, status, result], end)) = front_matter::scan(text, FIELDS) {
        return of_fields(issues, fixed, failed_of(failed), status.or(result))
            .or_else(|| in_body(&text[end..]));
    }
    let front = FrontMatter::parse(text, path).value;
    let field = |name: &str| front.text(&[name]);
    let status = field("status").or_else(|| field("result"));
    of_fields(
        field("issues"),
        field("issues_fixed"),
        failed_of(field("failed")),
        status,
    )
    .or_else(|| in_body(&text[front.range.end..]))
}

/// Returns the status, or `issues_found` if the counts of the report contradict it.
fn of_fields(
    issues: Option<&str>,
    fixed: Option<&str>,
    failed: Option<&str>,
    status: Option<&str>,
) -> Option<String> {
    let status = word(status?);
    let count = |field: Option<&str>| field.and_then(|count| count.trim().parse::<u32>().ok());
    // A user test session is complete once everything has been tried, regardless of the findings.
    let open = count(issues).unwrap_or(0) > count(fixed).unwrap_or(0);
    let has_issues = match outcome(&status) {
        Some(CheckOutcome::Passed) => open,
        // A verification that is `partial` because something failed does not wait for a person.
        Some(CheckOutcome::Pending) => {
            status.starts_with("partial") && count(failed).is_some_and(|failed| failed > 0)
        }
        _ => false,
    };
    Some(if has_issues {
        "issues_found".to_owned()
    } else {
        status
    })
}

fn in_body(body: &str) -> Option<String> {
    body.lines().take(40).find_map(|line| {
        let line = line.trim_start_matches(['#', '*', '-', ' ', '|']);
        let (label, value) = line.split_once(':')?;
        let label = label.trim_matches(['*', ' ']).to_lowercase();
        matches!(label.as_str(), "status" | "result" | "verdict").then(|| word(value))
    })
}

fn word(text: &str) -> String {
    text.trim_matches(['*', '`', ' ', '"']).to_lowercase()
}

/// The outcomes of status words, matched by prefix.
const OUTCOMES: &[(CheckOutcome, &[&str])] = &[
    (CheckOutcome::Issues, &["issues", "gaps", "fail"]),
    (CheckOutcome::Diagnosed, &["diagnosed"]),
    (
        CheckOutcome::Passed,
        &[
            "pass", "complete", "resolved", "verified", "approved", "clean", "ok", "done",
        ],
    ),
    (
        CheckOutcome::Pending,
        &[
            "human", "testing", "partial", "pending", "in_progress", "in progress", "ready",
        ],
    ),
];

fn outcome(status_word: &str) -> Option<CheckOutcome> {
    let found = OUTCOMES
        .iter()
        .find(|(_, words)| words.iter().any(|word| status_word.starts_with(word)));
    found.map(|(outcome, _)| *outcome)
}

#[cfg(test)]
mod tests {
    use assert_fs::TempDir;
    use assert_fs::prelude::*;

    use super::*;

    fn outcome_in(dir: &TempDir, names: &[&str]) -> Option<CheckOutcome> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let files = CheckFiles::new(dir.path(), &names, &[], true);
        let text = |path: &Path| read::text(path).ok().flatten().map(|text| text.value);
        let checks = Checks::new(files, Vec::new());
        checks.read(&text).first().map(|check| check.outcome)
    }

    #[test]
    fn a_word_that_begins_with_r_is_no_round() {
        let of_name = CheckKind::of_name;
        assert_eq!(of_name("R02-UAT.md"), Some(CheckKind::Uat));
        assert_eq!(
            of_name("02-R1-VERIFICATION.md"),
            Some(CheckKind::Verification)
        );
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
        assert_eq!(
            found("02-VERIFICATION.md", "result: PARTIAL\nfailed: 1"),
            issues
        );
        let goes_on = "status: partial\nfailed: 1";
        assert_eq!(found("02-UAT.md", goes_on), Some(CheckOutcome::Pending));
        let waiting = "result: PARTIAL\nfailed: 0";
        assert_eq!(
            found("02-VERIFICATION.md", waiting),
            Some(CheckOutcome::Pending)
        );
    }

    #[test]
    fn the_latest_round_replaces_the_report_of_the_phase() {
        let dir = TempDir::new().unwrap();
        let report = |status: &str| format!("---\nstatus: {status}\n---\n");
        dir.child("02-VERIFICATION.md")
            .write_str(&report("gaps_found"))
            .unwrap();
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
        dir.child("02-VERIFICATION.md")
            .write_str("---\nstatus: passed\n---\n")
            .unwrap();
        let found = outcome_in(&dir, &["02-VERIFICATION.md"]);
        assert_eq!(found, Some(CheckOutcome::Issues));
    }
}
