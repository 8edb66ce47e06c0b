//! Finds the files that caused deviations in earlier plans.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::patterns;
use crate::patterns::{FinishedPhase, KnownPaths, PlanRecord, PlanRef};
use crate::plan::Deviation;

/// Minimum number of plans that deviated over a file, if the phase has no plans yet.
const KEEPS_DEVIATING: usize = 2;

/// Maximum number of files: a longer list would only say that everything is difficult.
const MAX_CAREFUL_FILES: usize = 5;

/// A file that caused deviations in earlier plans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CarefulFile {
    /// The file, as named in the plans of this phase, else as in the deviations.
    pub file: String,
    /// The plans that deviated over it, latest last.
    pub plans: Vec<PlanRef>,
    /// The lesson of the latest of these deviations that can be stated in a whole sentence, or `None`.
    pub lesson: Option<String>,
}

/// Returns the files of `planned` over which earlier plans deviated, or those with repeated deviations if
/// nothing is planned yet; those with the most deviations first.
pub(super) fn careful(history: &[FinishedPhase], planned: &BTreeSet<String>) -> Vec<CarefulFile> {
    let plans =
        || history.iter().flat_map(|phase| phase.plans.iter().map(move |plan| (phase, plan)));
    let touched = plans().flat_map(|(_, plan)| plan.summary.files.iter().flatten());
    let known = KnownPaths::new(touched.chain(planned));
    let mut found: BTreeMap<&str, Deviating<'_>> = BTreeMap::new();
    for (phase, plan) in plans() {
        for named in plan.files_in_deviations() {
            let Some(file) = known.full(named, plan) else {
                continue;
            };
            if !planned.is_empty() && !planned.contains(file) {
                continue;
            }
            let Some(by) = PlanRef::new(phase, plan) else { continue };
            let entry = found.entry(file).or_default();
            if entry.plans.last() != Some(&by) {
                entry.plans.push(by);
            }
            entry.named.push((plan, named));
        }
    }
    let least = if planned.is_empty() { KEEPS_DEVIATING } else { 1 };
    let mut files: Vec<(&str, Deviating<'_>)> =
        found.into_iter().filter(|(_, file)| file.plans.len() >= least).collect();
    // The sort is stable: files with equally many plans remain sorted by name.
    files.sort_by_key(|(_, file)| Reverse(file.plans.len()));
    files.truncate(MAX_CAREFUL_FILES);
    let careful = files.into_iter().map(|(file, Deviating { plans, named })| {
        let mut latest_first = named.iter().rev();
        CarefulFile {
            file: file.to_owned(),
            plans,
            lesson: latest_first.find_map(|(plan, named)| lesson_over(plan, named)),
        }
    });
    careful.collect()
}

/// The plans that deviated because of a file, with the name that each deviation uses for it.
#[derive(Default)]
struct Deviating<'a> {
    plans: Vec<PlanRef>,
    named: Vec<(&'a PlanRecord, &'a str)>,
}

/// Returns the lesson of the first deviation that names a file, in one whole sentence.
fn lesson_over(plan: &PlanRecord, named: &str) -> Option<String> {
    let is_over = |deviation: &&Deviation| {
        deviation.text.contains(named) || deviation.files.iter().any(|file| file == named)
    };
    let mut deviations = plan.deviations().iter().filter(is_over);
    deviations.find_map(patterns::problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Survey;
    use crate::project::fixture::Tree;
    use crate::project::{OpenRequest, Project};

    const PHASES: &str = ".vbw-planning/phases";

    fn summary(deviation: &str, files: &str) -> String {
        format!(
            "---\nstatus: complete\nfiles_modified: [{files}]\ndeviations:\n  - \"{deviation}\"\n---\n"
        )
    }

    fn shown(tree: &Tree, planned: &[&str]) -> Vec<String> {
        let request = OpenRequest { directory: tree.at(""), ..OpenRequest::default() };
        let project = Project::open(request).unwrap();
        let survey = Survey::read(&project).unwrap();
        let past = patterns::history(&survey).unwrap().value;
        let planned = planned.iter().map(|file| (*file).to_owned()).collect();
        let files = careful(&past, &planned);
        let names = |file: &CarefulFile| {
            file.plans.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        let line = |file: &CarefulFile| {
            format!("{} | {} | {}", file.file, names(file), file.lesson.as_deref().unwrap_or("-"))
        };
        files.iter().map(line).collect()
    }

    fn history() -> Tree {
        let tree = Tree::new(&[]);
        let archived = ".vbw-planning/milestones/old/phases/01-a/01-01-SUMMARY.md";
        tree.write(archived, summary("`src/a.rs` was locked by another process", "src/a.rs"));
        let second =
            summary("**2. [Rule 1 - Bug] `a.rs` again held its lock**", "src/a.rs, src/b.rs");
        tree.write(&format!("{PHASES}/02-b/02-01-SUMMARY.md"), second);
        let last =
            summary("`src/c.rs` and `mod.rs` hold the same lock", "src/x/mod.rs, src/y/mod.rs");
        tree.write(&format!("{PHASES}/02-b/02-02-SUMMARY.md"), last);
        tree
    }

    #[test]
    fn files_of_the_plan_that_deviated_before_are_named_with_what_the_last_taught() {
        let found = shown(&history(), &["src/a.rs", "src/c.rs", "src/d.rs", "src/x/mod.rs"]);
        assert_eq!(found, ["src/a.rs | old 1-01, 2-01 | -", "src/c.rs | 2-02 | -",]);
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
            summary("`src/a.rs` was locked by another process", "src/a.rs"),
        );
        assert!(shown(&tree, &[])[0].starts_with("src/a.rs | old 1-01, 2-01 |"));
    }
}
