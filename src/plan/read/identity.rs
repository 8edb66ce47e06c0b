//! Determines the phase and plan that a PLAN or SUMMARY file belongs to.

use std::path::Path;

use crate::plan::read::document::Document;
use crate::plan::read::file_name::FolderName;
use crate::plan::read::{FileName, PhaseNumbering, PlanNumber, non_placeholder};

/// A phase and a plan, without slug and prefix: `5.1`, or a word such as `quick`; `2`, `1a`, `d`, or a name such as `R01`.
type Ids = (Option<String>, Option<String>);

impl Document<'_> {
    /// Returns the ids in the folder and file name, otherwise in the front matter.
    pub(crate) fn identity(&self, path: &Path) -> Ids {
        let front = |keys: &[&str]| self.front.text(keys).and_then(non_placeholder);
        let (phase, plan) = in_path(path);
        let stated_phase = || {
            let text = front(&["phase", "phase_number"])?;
            let number = PhaseNumbering::Plain.split(text);
            Some(number.map_or_else(|| text.to_owned(), |(number, _)| number.to_string()))
        };
        let stated_plan = || {
            let text = front(&["plan", "plan_id", "plan_number"])?;
            let number = PlanNumber::parse(text);
            Some(number.map_or_else(|| text.to_owned(), |number| number.to_string()))
        };
        (phase.or_else(stated_phase), plan.or_else(stated_plan))
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
    fn ids_come_from_the_path_or_the_front_matter() {
        for (path, phase, plan) in [
            ("phases/01-cli-scaffold/02-names-SUMMARY.md", "1", "2"),
            ("phases/02-01-tides/02-01-03-PLAN.md", "2-01", "3"),
            ("phases/02-tides/02-01-PLAN.md", "2", "1"),
            ("phases/06-report/06-D-SUMMARY.md", "6", "d"),
            ("phases/03-x/remediation/qa/round-01/R01-SUMMARY.md", "3", "R01"),
            ("quick/260422-p4a-tabs/260422-p4a-SUMMARY.md", "quick", "260422-p4a"),
            ("x.md", "8", "10"),
        ] {
            let stated = "---\nphase: 08-optical-center\nplan: 10\n---\n";
            assert_eq!(ids(stated, path), (phase.to_owned(), plan.to_owned()), "{path}");
        }
        assert_eq!(ids("# Phase 1 Plan 2\n", "x.md"), (String::new(), String::new()));
    }
}
