//! Parses the name of a PLAN or SUMMARY file in any of the known styles, to find the plan it belongs to.
//!
//! ```text
//! 02-01-PLAN.md   05.1-02-SUMMARY.md   05-05a-PLAN.md   06-D-SUMMARY.md   03b-01-PLAN.md
//! 02-PLAN.md      PLAN-02.md           PLAN-02-SUMMARY.md   01-PLAN-02-SUMMARY.md
//! PLAN-01-routes.md
//! 01-project-scaffold-PLAN.md          13-simulation-harness-02-SUMMARY.md (in that phase's folder)
//! 03-01.plan.jsonl   03-01.summary.jsonl   PLAN.md   SUMMARY.md
//! CK-01-02-PLAN.md (in a folder with the same project code, CK-01-name)
//! 02-01-03-PLAN.md (in the folder of phase 2-01, 02-01-name)
//! ```
//!
//! The two styles may be mixed in one phase: `01-02-SUMMARY.md` is the summary of `02-PLAN.md`.

use std::borrow::Cow;

use crate::plan::read::phase_numbering::folder_prefix;
use crate::plan::read::{PhaseNumber, PhaseNumbering, PlanNumber};
use crate::text::strip_suffix_ignore_case;

/// The kind of a phase's file, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Describes the work to do.
    Plan,
    /// Describes the work done.
    Summary,
}

/// The parsed name of a PLAN or SUMMARY file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    /// Plan or summary.
    pub kind: FileKind,
    /// The phase's number, if the name contains it.
    pub phase: Option<PhaseNumber>,
    /// The plan's number; `None` for a file about the whole phase (`PLAN.md`, `SUMMARY.md`).
    pub plan: Option<PlanNumber>,
    /// The words after the number, if any.
    pub slug: Option<String>,
}

impl FileName {
    /// Parses the name of a file in the phase folder `phase_dir` (`01-cli-scaffold`).
    ///
    /// Returns `None` for hidden files, backups and names that merely contain the word: `02-PLAN-PAUSE.md`.
    pub fn parse(name: &str, phase_dir: &str) -> Option<Self> {
        Self::parse_in(name, &FolderName::guess(phase_dir, name))
    }

    /// Parses the name of a file in a phase's folder.
    pub(super) fn parse_in(name: &str, folder: &FolderName<'_>) -> Option<Self> {
        if name.starts_with('.') {
            return None;
        }
        let (kind, head) = split_kind(name)?;
        let phase_of_dir = folder.number();
        let head = head.trim_matches(['-', '_']);
        let head = folder
            .parsed
            .as_ref()
            .and_then(|(_, slug)| without_phase_dir(head, folder.name, slug))
            .unwrap_or(head);
        let head = folder.without_code(head);
        if let Some((phase, rest)) = phase_of_dir.and_then(|n| Some((n, n.strip_id(head)?))) {
            return Some(Self::in_milestone_phase(kind, phase, rest));
        }
        let words = numbered_words(head);
        let file = |phase, plan, slug: &[&str]| Self {
            kind,
            phase,
            plan,
            slug: Some(slug.join("-")).filter(|slug| !slug.is_empty()),
        };
        match words.as_slice() {
            [] => Some(file(None, None, &[])),
            [only] => {
                if let Some(plan) = PlanNumber::parse(only) {
                    return Some(file(None, Some(plan), &[]));
                }
                // `05.3-SUMMARY.md` is about the whole phase.
                let phase = PhaseNumber::parse(only).filter(|n| Some(n) == phase_of_dir);
                Some(file(Some(phase?), None, &[]))
            }
            [first, second] if PlanNumber::parse(second).is_some() => {
                Some(file(Some(PhaseNumber::parse(first)?), PlanNumber::parse(second), &[]))
            }
            [first, second, slug @ ..] => {
                let phase = PhaseNumber::parse(first)?;
                let plan = PlanNumber::parse(second).filter(|_| begins_with_digit(second));
                if plan.is_some() && Some(&phase) == phase_of_dir {
                    return Some(file(Some(phase), plan, slug));
                }
                Some(file(None, Some(PlanNumber::parse(first)?), &words[1..]))
            }
        }
    }
}

impl FileName {
    /// Parses what follows the number of phase 2-01 in `02-01-03-PLAN.md`, `02-01-PLAN.md`.
    fn in_milestone_phase(kind: FileKind, phase: &PhaseNumber, rest: &str) -> Self {
        let words = numbered_words(rest);
        let plan = words
            .first()
            .filter(|word| words.len() == 1 || begins_with_digit(word))
            .and_then(|word| PlanNumber::parse(word));
        let slug = words[usize::from(plan.is_some())..].join("-");
        Self {
            kind,
            phase: Some(phase.clone()),
            plan,
            slug: Some(slug).filter(|slug| !slug.is_empty()),
        }
    }
}

/// The parsed name of a phase's folder.
pub(super) struct FolderName<'a> {
    name: &'a str,
    /// The number and the rest of the name.
    parsed: Option<(PhaseNumber, &'a str)>,
}

impl<'a> FolderName<'a> {
    /// Parses a folder's name in a project that numbers its phases in the given way.
    pub(super) fn new(name: &'a str, numbering: PhaseNumbering) -> Self {
        Self { name, parsed: numbering.split_folder(name) }
    }

    /// Parses a folder's name where the convention is unknown: a number with a milestone is one if a file
    /// repeats it before another number, as `02-01-03-PLAN.md` does in `02-01-name`.
    pub(super) fn guess(name: &'a str, file: &str) -> Self {
        let prefixed = Self::new(name, PhaseNumbering::MilestonePrefixed);
        let file = prefixed.without_code(file);
        let repeated = prefixed.number().and_then(|number| number.strip_id(file));
        let after = repeated.and_then(|rest| rest.strip_prefix('-'));
        if after.is_some_and(begins_with_digit) {
            prefixed
        } else {
            Self::new(name, PhaseNumbering::Plain)
        }
    }

    pub(super) fn number(&self) -> Option<&PhaseNumber> {
        self.parsed.as_ref().map(|(number, _)| number)
    }

    fn without_code<'f>(&self, file: &'f str) -> &'f str {
        file.strip_prefix(folder_prefix(self.name)).unwrap_or(file)
    }
}

/// Splits a file name into its kind and the part without the kind's word, whose words are joined by dashes.
fn split_kind(name: &str) -> Option<(FileKind, Cow<'_, str>)> {
    for (ending, kind) in [(".plan.jsonl", FileKind::Plan), (".summary.jsonl", FileKind::Summary)] {
        if let Some(head) = strip_suffix_ignore_case(name, ending) {
            return Some((kind, head.into()));
        }
    }
    let stem = strip_suffix_ignore_case(name, ".md")?;
    let (before, last) = split_last_word(stem);
    if let Some(kind) = kind_of(last) {
        return Some((kind, with_dashes(before.unwrap_or_default())));
    }
    // `PLAN-01-routes.md`: the word is in front, the number and the slug follow.
    if let Some((word, rest)) = stem.split_once(['-', '_'])
        && let Some(kind) = kind_of(word)
        && let Some((number, slug)) = rest.split_once(['-', '_'])
        && PlanNumber::parse(number).is_some()
        && begins_with_digit(number)
        && !slug.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-')
    {
        return Some((kind, with_dashes(rest)));
    }
    // `PLAN-01.md`, `01-PLAN-01.md`: the number follows the word.
    let (before, word) = split_last_word(before?);
    let kind = kind_of(word).filter(|_| begins_with_digit(last))?;
    PlanNumber::parse(last)?;
    let head =
        before.map_or(last.into(), |before| format!("{}-{last}", with_dashes(before)).into());
    Some((kind, head))
}

fn split_last_word(words: &str) -> (Option<&str>, &str) {
    match words.rsplit_once(['-', '_']) {
        Some((before, last)) => (Some(before), last),
        None => (None, words),
    }
}

fn with_dashes(words: &str) -> Cow<'_, str> {
    if words.contains('_') { words.replace('_', "-").into() } else { words.into() }
}

fn kind_of(word: &str) -> Option<FileKind> {
    if word.eq_ignore_ascii_case("plan") {
        Some(FileKind::Plan)
    } else if word.eq_ignore_ascii_case("summary") {
        Some(FileKind::Summary)
    } else {
        None
    }
}

/// Strips the phase folder's own name: returns `02` for `13-harness-02` in `13-harness`.
fn without_phase_dir<'a>(head: &'a str, phase_dir: &str, slug: &str) -> Option<&'a str> {
    [phase_dir, slug.trim_start_matches('-')]
        .iter()
        .filter(|prefix| !prefix.is_empty())
        .find_map(|prefix| head.strip_prefix(prefix)?.strip_prefix('-'))
        .filter(|rest| begins_with_digit(rest))
}

/// Splits at dashes and underscores, and drops the words `phase` and `plan` before a number or at the end.
fn numbered_words(head: &str) -> Vec<&str> {
    let mut words = head.split(['-', '_']).filter(|word| !word.is_empty()).peekable();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        let names_it = word.eq_ignore_ascii_case("phase") || word.eq_ignore_ascii_case("plan");
        let is_before_number = words.peek().is_none_or(|next| begins_with_digit(next));
        if !(names_it && is_before_number) {
            kept.push(word);
        }
    }
    kept
}

fn begins_with_digit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, dir: &str) -> Option<(FileKind, String)> {
        FileName::parse(name, dir).map(|file| {
            let plan = file.plan.map_or_else(|| "whole".to_owned(), |plan| plan.to_string());
            (file.kind, plan)
        })
    }

    #[test]
    fn every_style_names_its_plan() {
        for (dir, name, plan) in [
            ("04-polish", "04-01-PLAN.md", "1"),
            ("04-polish", "04-12-PLAN.MD", "12"),
            ("02-hooks", "06-PLAN.md", "6"),
            ("02-favicon", "PLAN-02.md", "2"),
            ("01-fields", "01-PLAN-03.md", "3"),
            ("05.3-check", "05.3-02-PLAN.md", "2"),
            ("05-forms", "05-05a-PLAN.md", "5a"),
            ("05.1-forms", "05.1-04c-PLAN.md", "4c"),
            ("06.1-report", "06.1-E-PLAN.md", "e"),
            ("01-start", "01-D-PLAN.md", "d"),
            ("03b-idiom", "03b-01-PLAN.md", "1"),
            ("01-cli-scaffold", "01-project-scaffold-PLAN.md", "1"),
            ("01-cli-scaffold", "02-2fa-login-PLAN.md", "2"),
            ("01-cli-scaffold", "01-02-log-in-PLAN.md", "2"),
            ("13-harness", "13-harness-02-PLAN.md", "2"),
            ("13-harness", "harness-02-PLAN.md", "2"),
            ("02-sweep", "02-1-PLAN.md", "1"),
            ("03-rows", "03-01.plan.jsonl", "1"),
            ("03-rows", "phase-03-plan-02-PLAN.md", "2"),
            ("01-version", "02-PLAN.md", "2"),
            ("CK-02-sweep", "02-01-PLAN.md", "1"),
            ("CK-02-sweep", "CK-02-01-PLAN.md", "1"),
            ("phase-02-sweep", "02-03-PLAN.md", "3"),
            ("02-alerts", "PLAN.md", "whole"),
            ("05.3-check", "05.3-PLAN.md", "whole"),
        ] {
            let found = Some((FileKind::Plan, plan.to_owned()));
            assert_eq!(read(name, dir), found, "{name}");
            let summary = name.replace("PLAN.", "SUMMARY.").replace(".plan.", ".summary.");
            let summary =
                if summary == name { name.replace(".md", "-SUMMARY.md") } else { summary };
            let found = Some((FileKind::Summary, plan.to_owned()));
            assert_eq!(read(&summary, dir), found, "{summary}");
        }
    }

    #[test]
    fn a_phase_of_a_milestone_is_told_from_a_plan() {
        let shown = |name, folder: &FolderName<'_>| {
            let file = FileName::parse_in(name, folder).unwrap();
            let of = |part: Option<String>| part.unwrap_or_else(|| "-".to_owned());
            [
                of(file.phase.map(|phase| phase.to_string())),
                of(file.plan.map(|plan| plan.to_string())),
                of(file.slug),
            ]
            .join(" ")
        };
        let folder = FolderName::new("CK-02-01-tides", PhaseNumbering::MilestonePrefixed);
        for (name, expected) in [
            ("02-01-03-PLAN.md", "2-01 3 -"),
            ("CK-02-01-03-SUMMARY.md", "2-01 3 -"),
            ("2-01-3a-PLAN.md", "2-01 3a -"),
            ("02-01-PLAN-03.md", "2-01 3 -"),
            ("02-01-03-read-gauges-PLAN.md", "2-01 3 read-gauges"),
            ("02-01-SUMMARY.md", "2-01 - -"),
            ("03-PLAN.md", "- 3 -"),
        ] {
            assert_eq!(shown(name, &folder), expected, "{name}");
        }
        let plain = FolderName::new("02-tides", PhaseNumbering::MilestonePrefixed);
        assert_eq!(shown("02-01-PLAN.md", &plain), "2 1 -");
        let guess = |name| FolderName::guess("02-01-tides", name).number().cloned();
        assert_eq!(guess("02-01-03-PLAN.md"), PhaseNumber::parse_id("2-01"));
        assert_eq!(guess("02-01-PLAN.md"), Some(PhaseNumber::from(2)));
    }

    #[test]
    fn names_that_only_hold_the_word_are_none() {
        for name in [
            "01-PLAN-GAP-REVIEW.md",
            "02-PLAN-PAUSE.md",
            "04-PREPLANNING-NOTES.md",
            "PLAN-ACTUAL-01.md",
            "PLAN-ACTUAL-2026-02-11.md",
            "REVIEW-plans-ab.md",
            "01-VERIFICATION-wave1.md",
            "01-01-PLAN.md.bak",
            "01-01-PLAN.md.tmp",
            ".01-01-PLAN.md",
            "R01-SUMMARY.md",
            "260422-p4a-PLAN.md",
            "test-plan.jsonl",
            "source-plan.md",
            "06-pre-planning-assumptions.md",
            "01-RESEARCH.md",
            "é-PLAN.md",
            "",
        ] {
            assert_eq!(read(name, "01-start"), None, "{name}");
        }
    }
}
