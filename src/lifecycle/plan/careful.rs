//! The files that made earlier plans deviate.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde::Serialize;

use crate::error::Result;
use crate::patterns::PlanRecord;
use crate::planning::PhaseDir;
use crate::planning::Summary;
use crate::planning::Survey;
use crate::storage::read;

/// Where a phase has no plans yet, a file counts from so many plans that deviated over it.
const KEEPS_DEVIATING: usize = 2;

/// More than these say only that everything is difficult.
const MOST: usize = 8;

/// A file that made earlier plans deviate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CarefulFile {
    /// The file, as this phase's plans name it, else as the deviations do.
    pub file: String,
    /// The plans that deviated over it, the latest last: `2-3` is plan 3 of phase 2.
    pub plans: Vec<String>,
    /// What the latest of these deviations was.
    pub latest: String,
}

/// Returns the files of `planned` over which earlier plans deviated, or where nothing is planned yet
/// those that keep making plans deviate; the most often deviating first.
pub(super) fn careful(survey: &Survey, planned: &BTreeSet<String>) -> Result<Vec<CarefulFile>> {
    let mut found: BTreeMap<String, CarefulFile> = BTreeMap::new();
    for past in history(survey)? {
        for named in past.record.deviating_files() {
            let Some(file) = past.whole_path(named) else {
                continue;
            };
            if !planned.is_empty() && !planned.contains(file) {
                continue;
            }
            let latest = past.deviation_over(named);
            let entry = found.entry(file.to_owned()).or_insert_with(|| CarefulFile {
                file: file.to_owned(),
                plans: Vec::new(),
                latest: String::new(),
            });
            if entry.plans.last() != Some(&past.name) {
                entry.plans.push(past.name.clone());
            }
            entry.latest = latest;
        }
    }
    let least = if planned.is_empty() {
        KEEPS_DEVIATING
    } else {
        1
    };
    let mut files: Vec<CarefulFile> = found
        .into_values()
        .filter(|file| file.plans.len() >= least)
        .collect();
    // Stable: equally often deviating ones stay in order of their names.
    files.sort_by_key(|file| Reverse(file.plans.len()));
    files.truncate(MOST);
    Ok(files)
}

/// A finished plan and what it is called.
struct Past {
    name: String,
    record: PlanRecord,
}

impl Past {
    /// Returns the path that a deviation means: a bare name is the one file of that name that the plan touched.
    fn whole_path<'a>(&'a self, named: &'a str) -> Option<&'a str> {
        if named.contains('/') {
            return Some(named);
        }
        let files = self.record.files.as_deref().unwrap_or_default();
        let mut same = files
            .iter()
            .filter(|file| file.rsplit('/').next() == Some(named));
        match (same.next(), same.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }

    /// Returns what is told of the deviation that names a file.
    fn deviation_over(&self, named: &str) -> String {
        let detail = self
            .record
            .details
            .iter()
            .find(|detail| detail.files.iter().any(|file| file == named));
        let text = self
            .record
            .deviations
            .iter()
            .find(|deviation| deviation.text.contains(named));
        match (text, detail) {
            (Some(deviation), _) => heart(&deviation.text),
            (None, Some(detail)) => heart(&detail.title),
            (None, None) => String::new(),
        }
    }
}

/// Returns a deviation on one line, without the number and the emphasis of its heading.
fn heart(text: &str) -> String {
    let plain = text.replace("**", "");
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(". ") {
        Some(rest) => rest.to_owned(),
        None => line,
    }
}

/// Returns the finished plans of archived milestones, then of the active one, in order.
fn history(survey: &Survey) -> Result<Vec<Past>> {
    let mut past = Vec::new();
    let mut seen = BTreeSet::new();
    for archive in &survey.folder.archived {
        for dir in archive.milestone()?.value.phases {
            add(&dir, &format!("{} ", archive.slug), &mut seen, &mut past);
        }
    }
    for dir in &survey.folder.active.phases {
        add(dir, "", &mut seen, &mut past);
    }
    Ok(past)
}

/// Adds the finished plans of a phase. A summary that can't be read is told by what reads it for its own sake.
fn add(dir: &PhaseDir, prefix: &str, seen: &mut BTreeSet<String>, past: &mut Vec<Past>) {
    for slot in &dir.plans {
        let Some(path) = slot.summary.as_ref().map(|file| dir.dir.join(file)) else {
            continue;
        };
        let Ok(Some(text)) = read::text(&path) else {
            continue;
        };
        // A copy of a phase beside its archive is one phase.
        let text = text.value;
        if !seen.insert(format!("{} {} {text}", dir.dir_name(), slot.number)) {
            continue;
        }
        let summary = Summary::parse(&text, &path).value;
        past.push(Past {
            name: format!("{prefix}{}-{}", dir.number, slot.number),
            record: PlanRecord::new(slot.number.clone(), summary, &text, &path),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;
    use crate::project::Request;
    use crate::project::fixture::Tree;

    const PHASES: &str = ".vbw-planning/phases";

    fn summary(deviation: &str, files: &str) -> String {
        format!(
            "---\nstatus: complete\nfiles_modified: [{files}]\ndeviations:\n  - \"{deviation}\"\n---\n"
        )
    }

    fn shown(tree: &Tree, planned: &[&str]) -> Vec<String> {
        let request = Request {
            directory: tree.at(""),
            ..Request::default()
        };
        let survey = Survey::take(&Project::open(request).unwrap()).unwrap();
        let planned = planned.iter().map(|file| (*file).to_owned()).collect();
        let files = careful(&survey, &planned).unwrap();
        let line = |file: CarefulFile| {
            format!(
                "{} | {} | {}",
                file.file,
                file.plans.join(", "),
                file.latest
            )
        };
        files.into_iter().map(line).collect()
    }

    fn history() -> Tree {
        let tree = Tree::new(&[]);
        let archived = ".vbw-planning/milestones/old/phases/01-a/01-01-SUMMARY.md";
        tree.write(archived, summary("`src/a.rs` was locked", "src/a.rs"));
        let second = summary("**2. [Rule 1 - Bug] `a.rs` again**", "src/a.rs, src/b.rs");
        tree.write(&format!("{PHASES}/02-b/02-01-SUMMARY.md"), second);
        let last = summary("`src/c.rs` and `mod.rs` too", "src/x/mod.rs, src/y/mod.rs");
        tree.write(&format!("{PHASES}/02-b/02-02-SUMMARY.md"), last);
        tree
    }

    #[test]
    fn files_of_the_plan_that_deviated_before_are_named_with_the_latest_deviation() {
        let found = shown(
            &history(),
            &["src/a.rs", "src/c.rs", "src/d.rs", "src/x/mod.rs"],
        );
        assert_eq!(
            found,
            [
                "src/a.rs | old 1-1, 2-1 | [Rule 1 - Bug] `a.rs` again",
                "src/c.rs | 2-2 | `src/c.rs` and `mod.rs` too",
            ]
        );
    }

    #[test]
    fn without_plans_only_what_keeps_deviating_counts() {
        assert_eq!(shown(&history(), &[]).len(), 1);
    }

    #[test]
    fn a_copy_beside_its_archive_is_told_once() {
        let tree = history();
        tree.write(
            &format!("{PHASES}/01-a/01-01-SUMMARY.md"),
            summary("`src/a.rs` was locked", "src/a.rs"),
        );
        assert!(shown(&tree, &[])[0].starts_with("src/a.rs | old 1-1, 2-1 |"));
    }
}
