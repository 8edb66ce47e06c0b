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

use std::sync::LazyLock;

use regex::Regex;

use crate::plan::read::number::folder_prefix;
use crate::plan::read::{PhaseNumber, PhaseNumbering, PlanNumber};
use crate::text::pattern;

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
        let (kind, words) = split_kind(name)?;
        let words = folder.without_own_name(&words);
        let own = folder.number.as_ref();
        let joined = words.join("-");
        if let Some(rest) = own.and_then(|number| number.strip_id(&joined)) {
            let words: Vec<&str> = rest.split('-').filter(|word| !word.is_empty()).collect();
            let is_plan = |word: &&&str| words.len() == 1 || begins_with_digit(word);
            let plan = words.first().filter(is_plan).and_then(|word| PlanNumber::parse(word));
            let slug = &words[usize::from(plan.is_some())..];
            return Some(Self::new(kind, own.cloned(), plan, slug));
        }
        let [first, slug @ ..] = words else {
            return Some(Self::new(kind, None, None, &[]));
        };
        let phase = PhaseNumber::parse(first);
        let plan = slug
            .first()
            .and_then(|word| PlanNumber::parse(word))
            .filter(|_| slug.len() == 1 || begins_with_digit(slug[0]) && phase.as_ref() == own);
        if phase.is_some() && plan.is_some() {
            return Some(Self::new(kind, phase, plan, &slug[1..]));
        }
        match PlanNumber::parse(first) {
            Some(plan) if slug.is_empty() || phase.is_some() => {
                Some(Self::new(kind, None, Some(plan), slug))
            }
            // `05.3-SUMMARY.md` is about the whole phase.
            _ if slug.is_empty() && phase.is_some() && phase.as_ref() == own => {
                Some(Self::new(kind, phase, None, &[]))
            }
            _ => None,
        }
    }

    fn new(
        kind: FileKind,
        phase: Option<PhaseNumber>,
        plan: Option<PlanNumber>,
        slug: &[&str],
    ) -> Self {
        let slug = slug.join("-");
        Self { kind, phase, plan, slug: Some(slug).filter(|slug| !slug.is_empty()) }
    }
}

/// The parsed name of a phase's folder.
pub(super) struct FolderName<'a> {
    name: &'a str,
    pub(super) number: Option<PhaseNumber>,
    /// What follows the number.
    slug: &'a str,
}

impl<'a> FolderName<'a> {
    /// Parses a folder's name in a project that numbers its phases in the given way.
    pub(super) fn new(name: &'a str, numbering: PhaseNumbering) -> Self {
        match numbering.split_folder(name) {
            Some((number, slug)) => Self { name, number: Some(number), slug },
            None => Self { name, number: None, slug: "" },
        }
    }

    /// Parses a folder's name where the convention is unknown: a number with a milestone is one if a file
    /// repeats it before another number, as `02-01-03-PLAN.md` does in `02-01-name`.
    pub(super) fn guess(name: &'a str, file: &str) -> Self {
        let prefixed = Self::new(name, PhaseNumbering::MilestonePrefixed);
        let file = file.strip_prefix(folder_prefix(name)).unwrap_or(file);
        let repeated = prefixed.number.as_ref().and_then(|number| number.strip_id(file));
        let after = repeated.and_then(|rest| rest.strip_prefix('-'));
        if after.is_some_and(begins_with_digit) {
            prefixed
        } else {
            Self::new(name, PhaseNumbering::Plain)
        }
    }

    /// Returns a file's words without the folder's name or slug before a number, or its code: `02` for `13-harness-02` in
    /// `13-harness`.
    fn without_own_name<'w, 'n>(&self, words: &'w [&'n str]) -> &'w [&'n str] {
        let own = [self.name, self.slug].map(|own| split_words(own).collect::<Vec<_>>());
        let after = |own: &[&str]| words.starts_with(own).then(|| &words[own.len()..]);
        let own = own.iter().filter(|own| !own.is_empty()).find_map(|own| {
            after(own).filter(|rest| rest.first().is_some_and(|next| begins_with_digit(next)))
        });
        let code = folder_prefix(self.name).trim_end_matches(['-', '_']);
        own.or_else(|| after(&[code])).unwrap_or(words)
    }
}

/// The names of plans and summaries: what precedes the kind, the kind, and a number and slug behind it.
static PATTERNS: LazyLock<[Regex; 3]> = LazyLock::new(|| {
    [
        // `02-01-PLAN.md`, `SUMMARY.md`, `01-PLAN-02.md`
        r"(?i)^(?:(.*?)[-_])??(plan|summary)(?:[-_](\d{1,4}[a-z]?))?\.md$",
        // `PLAN-01-routes.md`, `SUMMARY-01-routes.md`, but not `PLAN-01-GAPS.md`
        r"^()(?i:(plan|summary))[-_](\d{1,4}[a-z]?[-_].*[a-z].*)\.(?i:md)$",
        // `03-01.summary.jsonl`
        r"(?i)^(.*)\.(plan|summary)\.jsonl$",
    ]
    .map(pattern)
});

/// Splits a file name into its kind and the words without that of the kind, and without `phase` and `plan` before a
/// number or at the end.
fn split_kind(name: &str) -> Option<(FileKind, Vec<&str>)> {
    let found = PATTERNS.iter().find_map(|pattern| pattern.captures(name))?;
    let part = |index| found.get(index).map_or("", |part| part.as_str());
    let is_plan = part(2).eq_ignore_ascii_case("plan");
    let kind = if is_plan { FileKind::Plan } else { FileKind::Summary };
    let words: Vec<&str> = split_words(part(1)).chain(split_words(part(3))).collect();
    let is_said = |at: usize| {
        let names_it = ["phase", "plan"].iter().any(|own| own.eq_ignore_ascii_case(words[at]));
        names_it && words.get(at + 1).is_none_or(|next| begins_with_digit(next))
    };
    let kept = (0..words.len()).filter(|at| !is_said(*at)).map(|at| words[at]).collect();
    Some((kind, kept)).filter(|_| !name.starts_with('.'))
}

fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(['-', '_']).filter(|word| !word.is_empty())
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
        let guess = |name| FolderName::guess("02-01-tides", name).number;
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
