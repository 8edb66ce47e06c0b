//! Determines the phase and plan that a PLAN or SUMMARY file belongs to.

use std::path::Path;

use crate::plan::read::document::Document;
use crate::plan::read::file_name::FolderName;
use crate::plan::read::{FileName, PhaseNumber, PhaseNumbering, PlanNumber, non_placeholder};

/// The ids of a plan, without slug and prefix.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// `5.1`, `3`, or a word such as `quick`.
    pub(crate) phase: Option<String>,
    /// `02`, `01a`, `D`, or a name such as `R01` or `260422-p4a`.
    pub(crate) plan: Option<String>,
}

impl Identity {
    /// Reads the ids from the front matter, otherwise from the folder and file name, otherwise from the
    /// title.
    pub(crate) fn from_document(document: &Document<'_>, path: &Path) -> Self {
        let front = |keys: &[&str]| document.front.text(keys).and_then(non_placeholder);
        let stated_plan = front(&["plan", "plan_id", "plan_number"]);
        let in_path = Self::from_path(path);
        let in_title = Self::from_title(document.outline.title().unwrap_or_default());
        let folder = in_path.phase.as_deref().and_then(PhaseNumber::parse_id);
        let is_plain = folder.as_ref().is_none_or(|of| of.numbering() == PhaseNumbering::Plain);
        let phase = front(&["phase", "phase_number"])
            .map(|text| phase_id(text, folder.as_ref()))
            .or_else(|| stated_plan.filter(|_| is_plain).and_then(phase_of_plan))
            .or(in_path.phase)
            .or(in_title.phase);
        let plan = stated_plan
            .and_then(|text| plan_id(text, phase.as_deref()))
            .or(in_path.plan)
            .or(in_title.plan);
        Self { phase, plan }
    }

    fn from_path(path: &Path) -> Self {
        let mut parts: Vec<&str> =
            path.components().filter_map(|part| part.as_os_str().to_str()).collect();
        let name = parts.pop().unwrap_or_default();
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        let stem = stem.trim_end_matches("-PLAN").trim_end_matches("-SUMMARY");
        if parts.contains(&"quick") {
            return Self { phase: Some("quick".to_owned()), plan: Some(stem.to_owned()) };
        }
        let number = |folder: &str| FolderName::guess(folder, name).number;
        let folder = parts.into_iter().rfind(|folder| number(folder).is_some()).unwrap_or_default();
        let file = FileName::parse(name, folder);
        let (of_file, plan) = file.map_or((None, None), |file| (file.phase, file.plan));
        let is_round = stem.strip_prefix('R').is_some_and(|id| PlanNumber::parse(id).is_some());
        Self {
            phase: number(folder).or(of_file).map(|phase| phase.to_string()),
            plan: plan.map(|plan| plan.to_string()).or_else(|| is_round.then(|| stem.to_owned())),
        }
    }

    /// Parses `Phase 08 Plan 10: …`.
    fn from_title(title: &str) -> Self {
        let words = title.split(|c: char| c.is_whitespace() || c == ':' || c == ',');
        let after = |name: &str| {
            let mut words = words.clone().skip_while(|word| !word.eq_ignore_ascii_case(name));
            words.nth(1)
        };
        let phase = after("phase").filter(|word| PhaseNumber::parse(word).is_some());
        let plan = after("plan").and_then(|word| plan_id(word, phase));
        Self { phase: phase.map(str::to_owned), plan }
    }
}

/// Returns a stated phase without its name: `8` for `08-optical-center`; a word is returned unchanged.
///
/// `02-01-name` is phase 2-01 only if the file's folder is that phase's.
fn phase_id(text: &str, folder: Option<&PhaseNumber>) -> String {
    let bare = match text.split_once(' ') {
        Some((word, rest)) if word.eq_ignore_ascii_case("phase") => rest.trim(),
        _ => text,
    };
    let own = folder.filter(|number| number.strip_id(bare).is_some()).cloned();
    let split = PhaseNumbering::Plain.split(bare).filter(|(_, rest)| !rest.starts_with('.'));
    let number = own.or(split.map(|(number, _)| number));
    number.map_or_else(|| bare.to_owned(), |number| number.to_string())
}

/// Returns the phase of a plan id that contains both: `04` for `04-02`.
fn phase_of_plan(text: &str) -> Option<String> {
    let (phase, plan) = without_letter(text).split_once('-')?;
    PlanNumber::parse(plan.split('-').next()?)?;
    PhaseNumber::parse(phase).map(|_| phase.to_owned())
}

/// Strips the letter for "plan" or "phase" from an id: `P03-01` becomes `03-01`.
fn without_letter(text: &str) -> &str {
    let rest = text.strip_prefix(['P', 'p']);
    rest.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(text)
}

/// Returns a stated plan without phase, slug and file extension; `None` if it is not an id.
fn plan_id(text: &str, phase: Option<&str>) -> Option<String> {
    let text = text.strip_suffix(".md").unwrap_or(text);
    let text = text.strip_suffix("-PLAN").unwrap_or(text);
    let text = without_letter(text.strip_prefix("PLAN-").unwrap_or(text));
    let number = phase.and_then(PhaseNumber::parse_id);
    if phase.is_some() && number.is_none() {
        // A quick task belongs to no numbered phase; its name is its id.
        return Some(text.to_owned());
    }
    let after_phase = number.as_ref().and_then(|number| number.strip_id(text));
    let text = after_phase.map_or(text, |rest| rest.trim_start_matches('-'));
    let is_own = |first: &str| {
        PhaseNumber::parse(first).is_some_and(|of| number.as_ref().is_none_or(|own| *own == of))
    };
    let split = text.split_once('-').filter(|(first, rest)| is_own(first) && !rest.is_empty());
    let rest = split.map_or(text, |(_, rest)| rest);
    let first = rest.split(|c: char| c == '-' || c == ':' || c.is_whitespace()).next()?;
    let is_id = text.contains(|c: char| c.is_ascii_digit()) && !text.contains(' ');
    let id = PlanNumber::parse(first).map(|_| first).or(is_id.then_some(text));
    id.map(str::to_owned)
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
    fn ids_are_read_without_slug_and_prefix() {
        for (front, phase, plan) in [
            ("phase: \"05.1\"\nplan: \"02\"", "5.1", "02"),
            ("phase: 5\nplan: 08", "5", "08"),
            ("phase: 08-optical-center\nplan: 10", "8", "10"),
            ("phase: \"05.3\"\nplan: \"05.3-02\"", "5.3", "02"),
            ("phase: 5.3\nplan: \"05.3-02\"", "5.3", "02"),
            ("phase: \"06\"\nplan: 06-D", "6", "D"),
            ("plan: \"04-04\"", "04", "04"),
            ("phase: 14\nplan: 14-01-PLAN.md", "14", "01"),
            ("phase: 5\nplan: 01a", "5", "01a"),
            ("phase: 4\nplan: R01", "4", "R01"),
            ("phase: quick\nplan: 260422-p4a", "quick", "260422-p4a"),
            ("plan_id: P03-01", "03", "01"),
            ("phase: 2\nplan: 2", "2", "2"),
            ("phase: 03b\nplan: 03b-01", "3b", "01"),
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
            assert_eq!(ids(&text, path), expect("2-01", "03"), "{front}");
        }
        assert_eq!(ids("", path), expect("2-01", "3"));
        let stated = "---\nphase: 2\nplan: 3\n---\n";
        assert_eq!(ids(stated, "phases/02-tides/02-03-PLAN.md"), expect("2", "3"));
        assert_eq!(ids("", "phases/02-tides/02-01-PLAN.md"), expect("2", "1"));
    }

    #[test]
    fn what_is_not_stated_comes_from_the_path_or_the_title() {
        let expect = |phase: &str, plan: &str| (phase.to_owned(), plan.to_owned());
        let slug = "phases/01-cli-scaffold/02-names-SUMMARY.md";
        assert_eq!(ids("# Title\n", slug), expect("1", "2"));
        let quick = "quick/260422-p4a-tabs/260422-p4a-SUMMARY.md";
        assert_eq!(ids("", quick), expect("quick", "260422-p4a"));
        let round = "phases/03-x/remediation/qa/round-01/R01-SUMMARY.md";
        assert_eq!(ids("", round), expect("3", "R01"));
        assert_eq!(ids("# Phase 1 Plan 2: Setup\n", "x.md"), expect("1", "2"));
        assert_eq!(
            ids("---\nplan: Extensions\n---\n", "phases/02-x/02-03-PLAN.md"),
            expect("2", "3")
        );
    }
}
