//! Determines the phase and plan that a PLAN or SUMMARY file belongs to.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::plan::read::document::Document;
use crate::plan::read::file_name::FolderName;
use crate::plan::read::{FileName, PhaseNumber, PhaseNumbering, PlanNumber, non_placeholder};
use crate::text::{pattern, strip_prefix_ignore_case};

/// A phase and a plan, without slug and prefix: `5.1`, or a word such as `quick`; `2`, `1a`, `d`, or a name such as `R01`.
type Ids = (Option<String>, Option<String>);

/// The id of a plan, with or without its phase: `02`, `05.3-02`, `P03-01`, `14-01-PLAN.md`, `06-D`.
static PLAN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?:PLAN-|[Pp])?(?:([\d.]+[a-z]?)-)?(\d{1,4}[A-Za-z]?|[A-Za-z])(?:\.md|[-: ].*)?$")
});

impl Document<'_> {
    /// Returns the ids in the front matter, otherwise in the folder and file name.
    pub(crate) fn identity(&self, path: &Path) -> Ids {
        let front = |keys: &[&str]| self.front.text(keys).and_then(non_placeholder);
        let (of_folder, of_file) = in_path(path);
        let folder = of_folder.as_deref().and_then(PhaseNumber::parse_id);
        let stated = front(&["phase", "phase_number"]);
        let phase = stated.map(|text| phase_id(text, folder.as_ref())).or(of_folder);
        let plan = front(&["plan", "plan_id", "plan_number"]);
        let plan = plan.and_then(|text| plan_id(text, phase.as_deref())).or(of_file);
        (phase, plan)
    }
}

fn in_path(path: &Path) -> Ids {
    let mut parts: Vec<&str> =
        path.components().filter_map(|part| part.as_os_str().to_str()).collect();
    let name = parts.pop().unwrap_or_default();
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let stem = stem.trim_end_matches("-PLAN").trim_end_matches("-SUMMARY");
    if parts.contains(&"quick") {
        return (Some("quick".to_owned()), Some(stem.to_owned()));
    }
    let number = |folder: &str| FolderName::guess(folder, name).number;
    let folder = parts.into_iter().rfind(|folder| number(folder).is_some()).unwrap_or_default();
    let file = FileName::parse(name, folder);
    let (of_file, plan) = file.map_or((None, None), |file| (file.phase, file.plan));
    let is_round = stem.strip_prefix('R').is_some_and(|id| PlanNumber::parse(id).is_some());
    let phase = number(folder).or(of_file).map(|phase| phase.to_string());
    (phase, plan.map(|plan| plan.to_string()).or_else(|| is_round.then(|| stem.to_owned())))
}

/// Returns a stated phase without its name: `8` for `08-optical-center`; a word is returned unchanged.
///
/// `02-01-name` is phase 2-01 only if the file's folder is that phase's.
fn phase_id(text: &str, folder: Option<&PhaseNumber>) -> String {
    let bare = strip_prefix_ignore_case(text, "phase ").unwrap_or(text).trim();
    let own = folder.filter(|number| number.strip_id(bare).is_some()).cloned();
    let split = PhaseNumbering::Plain.split(bare).filter(|(_, rest)| !rest.starts_with('.'));
    let number = own.or(split.map(|(number, _)| number));
    number.map_or_else(|| bare.to_owned(), |number| number.to_string())
}

/// Returns a stated plan without phase, slug and file extension; `None` if it is not an id.
fn plan_id(text: &str, phase: Option<&str>) -> Option<String> {
    let number = phase.and_then(PhaseNumber::parse_id);
    if phase.is_some() && number.is_none() {
        // A quick task belongs to no numbered phase; its name is its id.
        return Some(text.to_owned());
    }
    let own = number.as_ref().and_then(|number| number.strip_id(text));
    let text = own.map_or(text, |rest| rest.trim_start_matches('-'));
    let is_own = |of: &str| PhaseNumber::parse(of) == number || number.is_none();
    match PLAN.captures(text) {
        Some(id) if id.get(1).is_none_or(|of| is_own(of.as_str())) => {
            PlanNumber::parse(&id[2]).map(|plan| plan.to_string())
        }
        _ => {
            let is_id = text.contains(|c: char| c.is_ascii_digit()) && !text.contains(' ');
            is_id.then(|| text.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str, path: &str) -> (String, String) {
        let path = Path::new(path);
        let document = Document::parse(text, path, &mut Vec::new());
        let (phase, plan) = document.identity(path);
        (phase.unwrap_or_default(), plan.unwrap_or_default())
    }

    #[test]
    fn ids_are_read_without_slug_and_prefix() {
        for (front, phase, plan) in [
            ("phase: \"05.1\"\nplan: \"02\"", "5.1", "2"),
            ("phase: 5\nplan: 08", "5", "8"),
            ("phase: 08-optical-center\nplan: 10", "8", "10"),
            ("phase: \"05.3\"\nplan: \"05.3-02\"", "5.3", "2"),
            ("phase: 5.3\nplan: \"05.3-02\"", "5.3", "2"),
            ("phase: \"06\"\nplan: 06-D", "6", "d"),
            ("phase: 14\nplan: 14-01-PLAN.md", "14", "1"),
            ("phase: 5\nplan: 01a", "5", "1a"),
            ("phase: 4\nplan: R01", "4", "R01"),
            ("phase: quick\nplan: 260422-p4a", "quick", "260422-p4a"),
            ("phase: 2\nplan: 2", "2", "2"),
            ("phase: 03b\nplan: 03b-01", "3b", "1"),
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
            assert_eq!(ids(&text, path), expect("2-01", "3"), "{front}");
        }
        assert_eq!(ids("", path), expect("2-01", "3"));
        let stated = "---\nphase: 2\nplan: 3\n---\n";
        assert_eq!(ids(stated, "phases/02-tides/02-03-PLAN.md"), expect("2", "3"));
        assert_eq!(ids("", "phases/02-tides/02-01-PLAN.md"), expect("2", "1"));
    }

    #[test]
    fn what_is_not_stated_comes_from_the_path() {
        let expect = |phase: &str, plan: &str| (phase.to_owned(), plan.to_owned());
        let slug = "phases/01-cli-scaffold/02-names-SUMMARY.md";
        assert_eq!(ids("# Title\n", slug), expect("1", "2"));
        let quick = "quick/260422-p4a-tabs/260422-p4a-SUMMARY.md";
        assert_eq!(ids("", quick), expect("quick", "260422-p4a"));
        let round = "phases/03-x/remediation/qa/round-01/R01-SUMMARY.md";
        assert_eq!(ids("", round), expect("3", "R01"));
        assert_eq!(
            ids("---\nplan: Extensions\n---\n", "phases/02-x/02-03-PLAN.md"),
            expect("2", "3")
        );
    }
}
