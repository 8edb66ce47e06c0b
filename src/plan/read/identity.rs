//! Determines the phase and plan that a PLAN or SUMMARY file belongs to.

use std::path::Path;

use crate::plan::read::document::Document;
use crate::plan::read::file_name::FolderName;
use crate::plan::read::phase_numbering::folder_prefix;
use crate::plan::read::{FileName, PhaseNumber, PhaseNumbering, PlanNumber, non_placeholder};

/// The ids of a plan, spelled as in the file, without slug and prefix.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// `05.1`, `3`, or a word such as `quick`.
    pub(crate) phase: Option<String>,
    /// `02`, `01a`, `D`, or a name such as `R01` or `260422-p4a`.
    pub(crate) plan: Option<String>,
}

impl Identity {
    /// Reads the ids from the front matter, otherwise from the folder and file name, otherwise from the
    /// title.
    pub(crate) fn from_document(document: &Document<'_>, path: &Path) -> Self {
        let stated_plan = document.front.text(&["plan", "plan_id", "plan_number"]);
        let from_path = Self::from_path(path);
        let of_folder = from_path.phase.as_deref().and_then(PhaseNumber::parse_id);
        let has_milestone = of_folder
            .as_ref()
            .is_some_and(|number| number.numbering() == PhaseNumbering::MilestonePrefixed);
        let from_title = Self::from_title(document.outline.title().unwrap_or_default());
        let phase = document
            .front
            .text(&["phase", "phase_number"])
            .and_then(non_placeholder)
            .map(|text| phase_id(text, of_folder.as_ref()))
            .or_else(|| stated_plan.filter(|_| !has_milestone).and_then(phase_of_plan))
            .or(from_path.phase)
            .or(from_title.phase);
        let plan = stated_plan
            .and_then(|text| plan_id(text, phase.as_deref()))
            .or(from_path.plan)
            .or(from_title.plan);
        Self { phase, plan }
    }

    fn from_path(path: &Path) -> Self {
        let folders: Vec<&str> = path
            .parent()
            .into_iter()
            .flat_map(Path::components)
            .filter_map(|part| part.as_os_str().to_str())
            .collect();
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.unwrap_or_default();
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        let stem = stem.trim_end_matches("-PLAN").trim_end_matches("-SUMMARY");
        if folders.contains(&"quick") {
            return Self { phase: Some("quick".to_owned()), plan: Some(stem.to_owned()) };
        }
        let of_phase = folders.iter().rev().find(|folder| number_of_folder(folder, name).is_some());
        let file = FileName::parse(name, of_phase.unwrap_or(&""));
        let phase = of_phase.and_then(|folder| number_of_folder(folder, name));
        let of_file = file.as_ref().and_then(|file| file.phase.clone());
        let number = file.and_then(|file| file.plan);
        let is_round = stem.starts_with('R') && PlanNumber::parse(&stem[1..]).is_some();
        Self {
            phase: phase.or_else(|| of_file.map(|phase| phase.to_string())),
            plan: number.map(|plan| plan.to_string()).or_else(|| is_round.then(|| stem.to_owned())),
        }
    }

    /// Parses `Phase 08 Plan 10: …`.
    fn from_title(title: &str) -> Self {
        let words: Vec<&str> =
            title.split(|c: char| c.is_whitespace() || c == ':' || c == ',').collect();
        let after = |name: &str| {
            let at = words.iter().position(|word| word.eq_ignore_ascii_case(name))?;
            words.get(at + 1).copied()
        };
        let phase = after("phase").and_then(|word| PhaseNumber::parse(word).map(|_| word));
        Self {
            phase: phase.map(str::to_owned),
            plan: after("plan").and_then(|word| plan_id(word, phase)),
        }
    }
}

/// Returns the number of the phase folder of a file as written: `05.1` for `05.1-name`.
fn number_of_folder(folder: &str, file: &str) -> Option<String> {
    let numbering = FolderName::guess(folder, file).number()?.numbering();
    let folder = &folder[folder_prefix(folder).len()..];
    let (_, rest) = numbering.split(folder)?;
    let is_folder = rest.is_empty() || rest.starts_with('-');
    is_folder.then(|| folder[..folder.len() - rest.len()].to_owned())
}

/// Returns a stated phase without its name: `08` for `08-optical-center`; a word is returned unchanged.
///
/// `02-01-name` is phase 2-01 only if the file's folder is that phase's.
fn phase_id(text: &str, of_folder: Option<&PhaseNumber>) -> String {
    let text = text.trim();
    let bare = match text.split_once(' ') {
        Some((word, rest)) if word.eq_ignore_ascii_case("phase") => rest.trim(),
        _ => text,
    };
    if let Some(rest) = of_folder.and_then(|number| number.strip_id(bare)) {
        return bare[..bare.len() - rest.len()].to_owned();
    }
    match PhaseNumber::split(bare) {
        Some((_, rest)) if !rest.starts_with('.') => bare[..bare.len() - rest.len()].to_owned(),
        _ => bare.to_owned(),
    }
}

/// Returns the phase of a plan id that contains both: `04` for `04-02`.
fn phase_of_plan(text: &str) -> Option<String> {
    let (phase, plan) = without_letter(text.trim()).split_once('-')?;
    PhaseNumber::parse(phase)?;
    let plan = plan.split('-').next()?;
    PlanNumber::parse(plan).map(|_| phase.to_owned())
}

/// Strips the letter for "plan" or "phase" from an id: `P03-01` becomes `03-01`.
fn without_letter(text: &str) -> &str {
    match text.strip_prefix(['P', 'p']) {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => rest,
        _ => text,
    }
}

/// Returns a stated plan without phase, slug and file extension; `None` if it is not an id.
fn plan_id(text: &str, phase: Option<&str>) -> Option<String> {
    let text = text.trim();
    let text = text.strip_suffix(".md").unwrap_or(text);
    let text = text.strip_suffix("-PLAN").unwrap_or(text);
    let text = text.strip_prefix("PLAN-").unwrap_or(text);
    let text = without_letter(text);
    let number = phase.and_then(PhaseNumber::parse_id);
    if phase.is_some() && number.is_none() {
        // A quick task belongs to no numbered phase; its name is its id.
        return non_placeholder(text).map(str::to_owned);
    }
    let after_phase = number.as_ref().and_then(|number| number.strip_id(text));
    let text = after_phase.map_or(text, |rest| rest.trim_start_matches('-'));
    let rest = match text.split_once('-') {
        Some((first, rest))
            if PhaseNumber::parse(first).is_some_and(|of| number.is_none_or(|n| n == of))
                && !rest.is_empty() =>
        {
            rest
        }
        _ => text,
    };
    let first = rest.split(|c: char| c == '-' || c == ':' || c.is_whitespace()).next()?;
    if PlanNumber::parse(first).is_some() {
        return Some(first.to_owned());
    }
    let is_id = text.contains(|c: char| c.is_ascii_digit()) && !text.contains(' ');
    is_id.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str, path: &str) -> (String, String) {
        let path = Path::new(path);
        let document = Document::parse(text, path, &mut Vec::new());
        let identity = Identity::from_document(&document, path);
        (identity.phase.unwrap_or_default(), identity.plan.unwrap_or_default())
    }

    #[test]
    fn ids_are_spelled_as_stated_without_slug_and_prefix() {
        for (front, phase, plan) in [
            ("phase: \"05.1\"\nplan: \"02\"", "05.1", "02"),
            ("phase: 5\nplan: 08", "5", "08"),
            ("phase: 08-optical-center\nplan: 10", "08", "10"),
            ("phase: \"05.3\"\nplan: \"05.3-02\"", "05.3", "02"),
            ("phase: 5.3\nplan: \"05.3-02\"", "5.3", "02"),
            ("phase: \"06\"\nplan: 06-D", "06", "D"),
            ("plan: \"04-04\"", "04", "04"),
            ("phase: 14\nplan: 14-01-PLAN.md", "14", "01"),
            ("phase: 5\nplan: 01a", "5", "01a"),
            ("phase: 4\nplan: R01", "4", "R01"),
            ("phase: quick\nplan: 260422-p4a", "quick", "260422-p4a"),
            ("plan_id: P03-01", "03", "01"),
            ("phase: 2\nplan: 2", "2", "2"),
            ("phase: 03b\nplan: 03b-01", "03b", "01"),
        ] {
            let text = format!("---\n{front}\n---\n");
            let expected = (phase.to_owned(), plan.to_owned());
            assert_eq!(ids(&text, "x.md"), expected, "{front}");
        }
    }

    #[test]
    fn a_phase_of_a_milestone_is_read_as_its_folder_names_it() {
        let path = "phases/02-01-tides/02-01-03-PLAN.md";
        let expect = |phase: &str, plan: &str| (phase.to_owned(), plan.to_owned());
        for front in [
            "phase: 02-01-tides\nplan: 03",
            "phase: 02-01\nplan: \"02-01-03\"",
            "plan: \"02-01-03\"",
        ] {
            let text = format!("---\n{front}\n---\n");
            assert_eq!(ids(&text, path), expect("02-01", "03"), "{front}");
        }
        assert_eq!(ids("", path), expect("02-01", "3"));
        let stated = "---\nphase: 2\nplan: 3\n---\n";
        assert_eq!(ids(stated, "phases/02-tides/02-03-PLAN.md"), expect("2", "3"));
        assert_eq!(ids("", "phases/02-tides/02-01-PLAN.md"), expect("02", "1"));
    }

    #[test]
    fn what_is_not_stated_comes_from_the_path_or_the_title() {
        let expect = |phase: &str, plan: &str| (phase.to_owned(), plan.to_owned());
        let slug = "phases/01-cli-scaffold/02-names-SUMMARY.md";
        assert_eq!(ids("# Title\n", slug), expect("01", "2"));
        let quick = "quick/260422-p4a-tabs/260422-p4a-SUMMARY.md";
        assert_eq!(ids("", quick), expect("quick", "260422-p4a"));
        let round = "phases/03-x/remediation/qa/round-01/R01-SUMMARY.md";
        assert_eq!(ids("", round), expect("03", "R01"));
        assert_eq!(ids("# Phase 1 Plan 2: Setup\n", "x.md"), expect("1", "2"));
        assert_eq!(
            ids("---\nplan: Extensions\n---\n", "phases/02-x/02-03-PLAN.md"),
            expect("02", "3")
        );
    }
}
