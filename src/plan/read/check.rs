//! Reads the results of checks of a finished phase: user tests, verification, and remediation. A review decides nothing.
//!
//! ```text
//! 02-03-PLAN.md                                                    gap_closure: true
//! 02-UAT.md  02-HUMAN-UAT.md  02-VERIFICATION.md                   front matter: status: passed | gaps_found | …
//! 02-base-UAT.md  02-UAT-retest.md  02-VERIFICATION-wave2.md       counts if it is newer, or the only one
//! remediation/uat/round-02/R02-UAT.md                              a later round replaces what was before
//! remediation/qa/round-01/R01-PLAN.md  R01-VERIFICATION.md
//! remediation/{uat/.uat,qa/.qa}-remediation-stage                  stage=plan
//! remediation/.uat-remediation-stage  remediation/round-01/        older
//! ```

use std::cell::{LazyCell, RefCell};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::clock::parse_date;
use crate::error::Result;
use crate::markdown::{FrontMatter, Node};
use crate::plan::read::vocabulary::{find, has};
use crate::plan::read::{Count, PhaseDir, PlanSlot, PlanState, folder};
use crate::storage::read;
use crate::storage::read::PathKind;
use crate::text::{is_digit, quantity, says_none, unmarked, words_in};
use crate::warning::{Parsed, Warning};

/// The kind of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckKind {
    /// The user tests what was built.
    Uat,
    /// The workflow verifies that the phase meets its goal.
    Verification,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// Its status is a word that is not known.
    Unknown,
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

/// A kind with the word in its file names, the folder of its rounds below `remediation/`, and its stage file.
type Kind = (CheckKind, &'static str, &'static str, &'static str);

const KINDS: [Kind; 2] = [
    (CheckKind::Uat, "UAT", "uat", ".uat-remediation-stage"),
    (CheckKind::Verification, "VERIFICATION", "qa", ".qa-remediation-stage"),
];

/// The folder of a phase with the rounds of its remediation.
pub(super) const REMEDIATION: &str = "remediation";

impl CheckKind {
    /// Returns the kind of check of a report, and whether nothing in its name follows the kind; `01-RLS-UAT.md` is about
    /// something else, unless its folder has that name.
    fn of(report: &Path) -> Option<(Self, bool)> {
        let name = report.file_name()?.to_str()?.strip_suffix(".md")?;
        let dir = report.parent()?.file_name().and_then(OsStr::to_str);
        let name = dir.and_then(|dir| name.strip_prefix(dir)).unwrap_or(name);
        let is_number = |word: &str| word.strip_prefix('R').unwrap_or(word).starts_with(is_digit);
        // `02UAT` is one word.
        let kind_of = |word: &str| {
            let word = word.trim_start_matches(is_digit);
            let mut kinds = KINDS.into_iter();
            kinds.find(|(_, own, ..)| word.eq_ignore_ascii_case(own)).map(|(kind, ..)| kind)
        };
        let mut words = name.split(['-', '_']);
        let says_more = |word: &&str| {
            kind_of(word).is_some() || !(word.is_empty() || is_number(word) || *word == "HUMAN")
        };
        let kind = kind_of(words.by_ref().find(says_more)?)?;
        let behind: Vec<String> = words.map(str::to_lowercase).collect();
        let is_other = behind.iter().any(|word| has("no report of a check", word));
        (!is_other).then_some((kind, behind.is_empty()))
    }
}

impl Check {
    /// Returns whether the check still requires work. A verification that is waiting for a person does not:
    /// the workflows continue without it.
    pub fn is_open(&self) -> bool {
        match (self.kind, self.outcome) {
            (_, CheckOutcome::Passed)
            | (CheckKind::Verification, CheckOutcome::Pending | CheckOutcome::Unknown) => false,
            (CheckKind::Uat | CheckKind::Verification, _) => true,
        }
    }

    /// Returns whether a round of remediation is under way: its stage file or its plan says so, not a report.
    pub(crate) fn is_under_way(&self) -> bool {
        self.outcome == CheckOutcome::Issues && CheckKind::of(&self.file).is_none()
    }
}

/// Returns whether a file of a phase's folder is the report or the stage file of a check.
pub(super) fn is_check(path: &Path) -> bool {
    CheckKind::of(path).is_some() || KINDS.iter().any(|(.., stage)| path.ends_with(stage))
}

/// Reads the checks of a phase with a known outcome; `plans` are those of its plans that will be done.
pub(crate) fn checks(dir: &PhaseDir, plans: &[PlanSlot]) -> Parsed<Vec<Check>> {
    let reader = Reader { dir, plans, warnings: RefCell::default() };
    let checks = KINDS.into_iter().filter_map(|kind| reader.check(kind));
    let checks = checks.chain(reader.other_round()).collect();
    Parsed::new(checks, reader.warnings.into_inner())
}

/// Reads the checks of a phase, and collects the warnings.
struct Reader<'a> {
    dir: &'a PhaseDir,
    plans: &'a [PlanSlot],
    warnings: RefCell<Vec<Warning>>,
}

impl Reader<'_> {
    fn text(&self, path: &Path) -> Option<String> {
        read::text_or_warning(path, &mut self.warnings.borrow_mut())
    }

    /// Returns the check of a kind. Plans that close gaps, if all of them are complete, leave nothing to do, unless the
    /// check was repeated after them.
    fn check(&self, (kind, _, rounds, stage): Kind) -> Option<Check> {
        let mut check = self.stated(kind, rounds, stage)?;
        let closes = |slot: &&PlanSlot| slot.plan().is_some_and(|plan| plan.value.closes_gaps);
        let mut of_gaps = self.plans.iter().filter(closes).peekable();
        if matches!(check.outcome, CheckOutcome::Issues | CheckOutcome::Diagnosed)
            && !self.is_repeated(&check.file)
            && of_gaps.peek().is_some()
            && of_gaps.all(|slot| slot.state == PlanState::Complete)
        {
            check.outcome = CheckOutcome::Outdated;
        }
        Some(check)
    }

    /// Returns whether a report is not the first one, which `re_verification: false` and an empty field say.
    fn is_repeated(&self, path: &Path) -> bool {
        let front = FrontMatter::parse(&self.text(path).unwrap_or_default(), path).value;
        let stated = front.get(&["re_verification"]).map(Node::flat).unwrap_or_default();
        let stated = stated.to_lowercase();
        !(stated.is_empty() || says_none(&stated) || ["false", "no", "off"].contains(&&*stated))
    }

    /// Returns the open plan of a remediation round of another kind than user tests and quality assurance, whose folder is
    /// in another folder of `remediation/`, or directly in it.
    fn other_round(&self) -> Option<Check> {
        let home = self.dir.remediation()?;
        let folders = folder::folders(&home, &mut Vec::new());
        let known = |name: &str| KINDS.iter().any(|(_, _, rounds, _)| *rounds == name);
        let others = folders.iter().filter(|name| !known(name));
        let homes = others.map(|name| home.join(name)).chain([home.clone()]);
        let kind = CheckKind::Verification;
        let mut latest = homes.filter_map(|rounds| self.latest_round(&rounds, kind).ok().flatten());
        let (file, _) = latest.find(|(_, is_open)| *is_open)?;
        let (outcome, status_word) = (CheckOutcome::Issues, "planned".to_owned());
        Some(Check { kind, file, outcome, status_word })
    }

    /// Reads the result of a kind of check; `None` if no file states one.
    fn stated(&self, kind: CheckKind, rounds: &str, stage: &str) -> Option<Check> {
        let check = |file: PathBuf, outcome, word: &str| {
            Some(Check { kind, file, outcome, status_word: word.to_owned() })
        };
        let is_file = |path: &PathBuf| matches!(read::kind(path), Ok(Some(PathKind::File)));
        let mut report = self.report(kind);
        let mut stages = vec![self.dir.path.join(stage)];
        if let Some(remediation) = self.dir.remediation() {
            let rounds = remediation.join(rounds);
            // Older rounds lie beside their stage file directly in `remediation/`.
            let is_older = !read::is_folder(&rounds) && is_file(&remediation.join(stage));
            // Also without one, a report in there is of a round.
            let is_reported = !is_older && !read::is_folder(&rounds);
            let rounds = if is_older { &remediation } else { &rounds };
            if is_reported && let Ok(Some((file, false))) = self.latest_round(&remediation, kind) {
                report = Some(file);
            }
            match self.latest_round(rounds, kind) {
                // Issues may be open in there.
                Err(_) => return check(remediation, CheckOutcome::Issues, "unreadable"),
                Ok(Some((plan, true))) => return check(plan, CheckOutcome::Issues, "planned"),
                Ok(latest) => report = latest.map(|(file, _)| file).or(report),
            }
            stages = vec![rounds.join(stage), self.dir.path.join(stage)];
        }
        // HUMAN-UAT files list items that are waiting for a person; work continues without them.
        let is_list = |file: &Path| file.to_string_lossy().ends_with("HUMAN-UAT.md");
        let of_report = report
            .and_then(|file| Some((stated_status(kind, &self.text(&file)?, &file)?, file)))
            .filter(|((_, outcome), file)| *outcome != CheckOutcome::Pending || !is_list(file))
            .and_then(|((words, outcome), file)| check(file, outcome, &words));
        if of_report.as_ref().is_some_and(|check| check.outcome == CheckOutcome::Passed) {
            return of_report;
        }
        let stage = stages.into_iter().find(is_file);
        let Some((text, file)) = stage.and_then(|file| Some((self.text(&file)?, file))) else {
            return of_report;
        };
        // The stage may also be the only word of the file.
        let mut lines = text.lines().map(str::trim);
        let word = stage_field(&text, "stage").or_else(|| lines.find(|line| !line.is_empty()));
        let word = word.unwrap_or_default();
        // The report of the round is newer than the stage that asks for it.
        let round = stage_field(&text, "round").and_then(|round| round.parse().ok()).unwrap_or(1);
        // The round that the report's name begins with: `R02-UAT.md`.
        let reported = || -> Option<u32> {
            let name = of_report.as_ref()?.file.file_name()?.to_str()?;
            name.strip_prefix('R')?.split('-').next()?.parse().ok()
        };
        let outcome = match word {
            "" | "none" => return of_report,
            // A finished round of quality assurance includes its verification; user tests must be repeated by
            // the user.
            "done" if kind == CheckKind::Verification => CheckOutcome::Passed,
            "verified" => CheckOutcome::Passed,
            "done" | "verify" | "reverify" if kind == CheckKind::Uat => {
                if reported() == Some(round) {
                    return of_report;
                }
                CheckOutcome::Repeat
            }
            _ => CheckOutcome::Issues,
        };
        check(file, outcome, word)
    }

    /// Returns the phase's own report of a kind, or one with a longer name, `02-UAT-retest.md`, if it is newer by the dates
    /// in both or the only one.
    fn report(&self, kind: CheckKind) -> Option<PathBuf> {
        let reports = |is_plain| {
            let all = self.dir.checks.iter().map(|name| self.dir.path.join(name));
            all.filter(move |file| CheckKind::of(file) == Some((kind, is_plain)))
        };
        let date = |file: &PathBuf| {
            let front = FrontMatter::parse(&self.text(file).unwrap_or_default(), file).value;
            let stated = front.text(&["updated", "verified", "date", "completed"])?.to_owned();
            parse_date(&stated).map(|_| stated)
        };
        let own = reports(true).next_back();
        let day = LazyCell::new(|| own.as_ref().and_then(date));
        let is_newer = |file: &PathBuf| own.is_none() || day.is_some() && date(file) > *day;
        reports(false).filter(is_newer).max_by_key(date).or_else(|| own.clone())
    }

    /// Returns the check's file in the last round that has one, or the plan of a later round that is open. Files that
    /// are in no folder of a round count as those of a first one.
    fn latest_round(&self, rounds: &Path, kind: CheckKind) -> Result<Option<(PathBuf, bool)>> {
        let number = |name: &str| -> Option<u32> {
            name.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok()
        };
        let listed = folder::visible(rounds)?.into_iter();
        let folders = listed.filter(|(_, entry)| *entry == PathKind::Folder);
        let mut folders: Vec<_> =
            folders.filter_map(|(name, _)| Some((number(&name)?, rounds.join(name)))).collect();
        folders.push((0, rounds.to_owned()));
        folders.sort();
        for (_, dir) in folders.into_iter().rev() {
            let mut files = folder::visible(&dir)?;
            files.retain(|(_, entry)| *entry == PathKind::File);
            let find = |is: &dyn Fn(&str) -> bool| {
                files.iter().find(|(name, _)| is(name)).map(|(name, _)| dir.join(name))
            };
            if let Some(report) = find(&|name| CheckKind::of(&dir.join(name)) == Some((kind, true)))
            {
                return Ok(Some((report, false)));
            }
            let is_done = |summary: PathBuf| {
                let stated = self.text(&summary).and_then(|text| PlanState::stated(&text));
                stated.is_none_or(|stated| stated == PlanState::Complete)
            };
            // `R02-SUMMARY.md` is the summary of all plans in the round, `R02-01-SUMMARY.md` that of one of several, and one
            // without a round that of any.
            let is_open = |plan: &str| {
                let own = plan.strip_suffix("PLAN.md").unwrap_or_default();
                let is_own = |name: &str| {
                    let summary = name.strip_suffix(".md");
                    summary.and_then(|name| name.split_once("SUMMARY")).is_some_and(|(name, _)| {
                        !name.starts_with('R') || name.starts_with(own) || own.starts_with(name)
                    })
                };
                !find(&is_own).is_some_and(is_done)
            };
            // Some agents write `PLAN-R01.md` or `PLAN-01.md`, which VBW renames.
            let is_plan = |name: &str| {
                let round = name.strip_prefix("PLAN-").and_then(|name| name.strip_suffix(".md"));
                let round = round.map(|round| round.trim_start_matches('R').parse::<u32>());
                name == "PLAN.md" || name.ends_with("-PLAN.md") || matches!(round, Some(Ok(_)))
            };
            if let Some(plan) = find(&|name| is_plan(name) && is_open(name)) {
                return Ok(Some((plan, true)));
            }
        }
        Ok(None)
    }
}

/// Returns a field of a stage file: `stage=plan`, `round=01`.
fn stage_field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut lines = text.lines().map(str::trim);
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).map(str::trim)
}

/// Reads the status in a report's front matter, otherwise the one under a label of its body: its words, in lower case,
/// with the counts that contradict them (`partial, 1 failed`), and what it means.
fn stated_status(kind: CheckKind, text: &str, path: &Path) -> Option<(String, CheckOutcome)> {
    let words_of = |text: &str| text.trim_matches(['*', '`', ' ', '"']).to_lowercase();
    let front = FrontMatter::parse(text, path).value;
    let Some(stated) = front.text(&["status", "result", "verdict", "outcome"]) else {
        // The user test has begun; the results in its body are those of single tests.
        let is_begun = kind == CheckKind::Uat && front.get(&["status"]).is_some();
        let stated = text[front.range.end..].lines().take(40).filter_map(|line| {
            let line = line.trim_start_matches(['#', '*', '-', ' ', '|']);
            let (label, value) = line.split_once(':')?;
            let label = label.trim_matches(['*', ' ']).to_lowercase();
            let is_whole = match label.as_str() {
                "status" | "verdict" => true,
                label => label == "result" && !is_begun,
            };
            is_whole.then_some(value)
        });
        // A sentence that is not known says nothing, but a word does, if nothing else is known.
        let mut known = stated.clone().filter_map(|value| Some((words_of(value), outcome(value)?)));
        let is_word = |value: &&str| (1..=3).contains(&value.split_whitespace().count());
        let unknown = || stated.clone().find(is_word);
        let begun = is_begun.then(|| ("no status yet".to_owned(), CheckOutcome::Pending));
        let said = known.next().or(begun);
        return said.or_else(|| Some((words_of(unknown()?), CheckOutcome::Unknown)));
    };
    let words = words_of(stated);
    let stated_count = |name: &str| front.text(&[name])?.parse::<usize>().ok();
    let count = |name: &str| stated_count(name).unwrap_or(0);
    let open = count("issues").saturating_sub(count("issues_fixed"));
    // What a verification counts as failed, as not passed, or lists.
    let open_later = count("skipped") + count("human_needed") + count("pending");
    let rest = |[done, all]: [&str; 2]| {
        Some(stated_count(all)?.checked_sub(stated_count(done)?)?.saturating_sub(open_later))
    };
    let not_passed =
        [["passed", "total"], ["checks_passed", "checks_total"]].into_iter().filter_map(rest);
    let failures = front.get(&["failures"]).map(Node::texts).unwrap_or_default();
    let listed = failures.iter().filter(|text| !says_none(text) && **text != "0").count();
    let not_passed = not_passed.chain([count("failed"), listed]).max().unwrap_or(0);
    // GSD lists what failed below `## Gaps`, and marks there what is resolved; people fix it without marking it, too.
    let mut sections = text[front.range.end..].split("\n## ");
    let gaps = sections.find(|part| part.trim_start_matches(['#', ' ']).starts_with("Gaps"));
    let failed = gaps.unwrap_or_default().lines().filter(|line| line.trim() == "status: failed");
    let failed = if kind == CheckKind::Uat { failed.count() } else { 0 };
    let left = match outcome(&words) {
        // A user test session is complete once everything has been tried, regardless of the findings.
        Some(CheckOutcome::Passed) if open > 0 => quantity(open, "open issue"),
        Some(CheckOutcome::Passed) if failed > 0 => {
            let left = quantity(failed, "failed test");
            return Some((format!("{words}, {left}"), CheckOutcome::Pending));
        }
        // A verification that is `partial` because something failed does not wait for a person; a user test goes on.
        Some(CheckOutcome::Pending)
            if kind != CheckKind::Uat && words.starts_with("partial") && not_passed > 0 =>
        {
            format!("{not_passed} not passed")
        }
        outcome => return Some((words, outcome.unwrap_or(CheckOutcome::Unknown))),
    };
    Some((format!("{words}, {left}"), CheckOutcome::Issues))
}

fn outcome(status: &str) -> Option<CheckOutcome> {
    let lower = status.to_lowercase().replace(['_', '-'], " ");
    let bare = unmarked(&lower);
    // `5/5 passed`
    let all = Count::parse(bare).filter(|count| count.total == Some(count.done));
    let bare = all.map_or(bare, |count| count.rest.trim_start());
    let (outcome, word) = find("outcome of a check", |word| bare.starts_with(word))?;
    (outcome != CheckOutcome::Passed || !is_doubted(&bare[word.len()..])).then_some(outcome)
}

/// Returns whether what follows a word for passed takes it back: `passed, except refunds`, `passed 1 of 5`, `passable`.
fn is_doubted(rest: &str) -> bool {
    let after = rest.trim_start_matches(char::is_alphabetic);
    let ending = &rest[..rest.len() - after.len()];
    let mut before = "";
    let mut words = words_in(after).filter(|word| {
        let is_doubt = has("doubt about a check", word) && !has("denial", before);
        before = word;
        is_doubt
    });
    ["ly", "able"].contains(&ending)
        || after.contains('?')
        || after
            .match_indices(char::is_numeric)
            .any(|(at, _)| Count::parse(&after[at..]).is_some_and(|count| count.is_open()))
        || words.next().is_some()
}

#[cfg(test)]
mod tests {
    use assert_fs::TempDir;
    use assert_fs::prelude::*;

    use super::*;

    fn outcome_in(dir: &Path, names: &[&str]) -> Option<CheckOutcome> {
        let dir = PhaseDir {
            number: 2.into(),
            name: String::new(),
            path: dir.to_owned(),
            plans: Vec::new(),
            has_context: false,
            checks: names.iter().map(|name| (*name).to_owned()).collect(),
            has_remediation: true,
            has_files: true,
        };
        checks(&dir, &[]).value.first().map(|check| check.outcome)
    }

    #[test]
    fn a_word_that_begins_with_r_is_no_round() {
        let of_name = |name| CheckKind::of(&Path::new("02-base").join(name));
        assert_eq!(of_name("R02-UAT.md"), Some((CheckKind::Uat, true)));
        assert_eq!(of_name("02-R1-VERIFICATION.md"), Some((CheckKind::Verification, true)));
        assert_eq!(of_name("02-RLS-UAT.md"), None);
        assert_eq!(of_name("02-REGRESSION-VERIFICATION.md"), None);
    }

    #[test]
    fn a_longer_name_counts_if_it_is_newer_or_the_only_one() {
        let of = |files: &[(&str, &str)]| {
            let home = TempDir::new().unwrap();
            let dir = home.child("02-base");
            for (name, fields) in files {
                dir.child(name).write_str(&format!("---\n{fields}\n---\n")).unwrap();
            }
            let names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
            outcome_in(dir.path(), &names)
        };
        let (passed, issues) = (Some(CheckOutcome::Passed), Some(CheckOutcome::Issues));
        for name in ["02-base-UAT.md", "02-UAT-retest.md", "02-uat.md", "02-1-UAT-results.md"] {
            assert_eq!(of(&[(name, "status: issues_found")]), issues, "{name}");
        }
        let wave = ("02-VERIFICATION-wave1.md", "result: FAIL");
        assert_eq!(of(&[wave]), issues);
        assert_eq!(of(&[wave, ("02-VERIFICATION-wave2.md", "result: PASS")]), passed);
        assert_eq!(of(&[wave, ("02-VERIFICATION.md", "result: PASS")]), passed);
        let first = ("02-UAT.md", "status: diagnosed\nupdated: 2026-03-09T08:30:00Z");
        let again = |hour| format!("status: complete\nupdated: 2026-03-09T{hour}:00:00Z");
        assert_eq!(of(&[("02-UAT-retest.md", &again("09")), first]), passed);
        let before = [("02-UAT-retest.md", &*again("08")), first];
        assert_eq!(of(&before), Some(CheckOutcome::Diagnosed));
    }

    #[test]
    fn counts_of_issues_are_held_against_the_status() {
        let dir = TempDir::new().unwrap();
        let found = |name: &str, fields: &str| {
            let report = format!("---\n{fields}\n---\n");
            dir.child(name).write_str(&report).unwrap();
            outcome_in(dir.path(), &[name])
        };
        let issues = Some(CheckOutcome::Issues);
        assert_eq!(found("02-UAT.md", "status: complete\nissues: 2"), issues);
        let fixed = "status: complete\nissues: 2\nissues_fixed: 2";
        assert_eq!(found("02-UAT.md", fixed), Some(CheckOutcome::Passed));
        let some = "status: complete\nissues: 2\nissues_fixed: 1";
        assert_eq!(found("02-UAT.md", some), issues);
        assert_eq!(found("02-VERIFICATION.md", "result: PARTIAL\nfailed: 1"), issues);
        assert_eq!(found("02-UAT.md", "status:"), Some(CheckOutcome::Pending));
        assert_eq!(found("02-UAT.md", "status: aborted"), Some(CheckOutcome::Pending));
        let goes_on = "status: partial\nfailed: 1";
        assert_eq!(found("02-UAT.md", goes_on), Some(CheckOutcome::Pending));
        for short in [
            "result: PARTIAL\npassed: 3\nfailed: 0\ntotal: 4",
            "status: partial\nchecks_passed: 1\nchecks_total: 2",
            "status: partial\nfailures: [\"The lock is missing\"]",
        ] {
            assert_eq!(found("02-VERIFICATION.md", short), issues, "{short}");
        }
        for waiting in ["failed: 0", "passed: 4\ntotal: 4\nfailures: []", "total: 4"] {
            let waiting = format!("result: PARTIAL\n{waiting}");
            assert_eq!(found("02-VERIFICATION.md", &waiting), Some(CheckOutcome::Pending));
        }
        let failed = "status: complete\n---\n## Gaps\n\n- truth: \"It works\"\n  status: failed";
        assert_eq!(found("02-UAT.md", failed), Some(CheckOutcome::Pending));
        let resolved = failed.replace("status: failed", "status: resolved");
        assert_eq!(found("02-UAT.md", &resolved), Some(CheckOutcome::Passed));
    }

    #[test]
    fn the_latest_round_replaces_the_report_of_the_phase() {
        let dir = TempDir::new().unwrap();
        let report = |status: &str| format!("---\nstatus: {status}\n---\n");
        dir.child("02-VERIFICATION.md").write_str(&report("gaps_found")).unwrap();
        let names = ["02-VERIFICATION.md"];
        assert_eq!(outcome_in(dir.path(), &names), Some(CheckOutcome::Issues));
        for (round, status) in [("round-01", "gaps_found"), ("round-02", "passed")] {
            dir.child(format!("remediation/qa/{round}/R01-VERIFICATION.md"))
                .write_str(&report(status))
                .unwrap();
        }
        assert_eq!(outcome_in(dir.path(), &names), Some(CheckOutcome::Passed));
    }

    #[cfg(unix)]
    #[test]
    fn rounds_that_cannot_be_listed_count_as_issues() {
        let dir = TempDir::new().unwrap();
        dir.child("remediation").create_dir_all().unwrap();
        let rounds = dir.child("remediation/qa");
        std::os::unix::fs::symlink("qa", rounds.path()).unwrap();
        dir.child("02-VERIFICATION.md").write_str("---\nstatus: passed\n---\n").unwrap();
        let found = outcome_in(dir.path(), &["02-VERIFICATION.md"]);
        assert_eq!(found, Some(CheckOutcome::Issues));
    }
}
