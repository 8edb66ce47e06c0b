//! The planning folders of the corpus, and the files in them that `inspect` has to know.

use std::fs;
use std::path::Path;

use crate::support::{Tree, whole_tree};

/// One planning folder of one project.
pub(super) struct Planned {
    /// Where the project is in the corpus: `vbw/name`.
    pub(super) project: String,
    /// The planning folder in it.
    pub(super) planning: String,
    /// Whether a command finds it without being told: it is the only one, or the first in order.
    pub(super) is_found: bool,
}

impl Planned {
    /// Returns a command line for this planning folder, by discovery wherever that leads here.
    pub(super) fn command(&self, line: &str) -> String {
        if self.is_found {
            line.to_owned()
        } else {
            format!("{line} --planning-dir {}", self.planning)
        }
    }
}

/// The most bytes of a project: larger ones cost more time than they show, and are read by tests of single commands.
const MAX_BYTES: usize = 1_500_000;

/// Returns every planning folder of every project but the largest, each once; a project may have two.
pub(super) fn planned(corpus: &Path) -> Vec<Planned> {
    let mut all = Vec::new();
    for group in ["vbw", "gsd"] {
        let mut projects: Vec<_> = fs::read_dir(corpus.join(group))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        projects.sort();
        // A project may stand there at several commits: `name@commit`.
        projects.dedup_by(|next, first| next.split('@').next() == first.split('@').next());
        for project in projects {
            let project = format!("{group}/{project}");
            let size: usize = whole_tree(&corpus.join(&project)).values().map(Vec::len).sum();
            if size > MAX_BYTES {
                continue;
            }
            let folders = [".vbw-planning", ".yolo-planning", ".planning"];
            let present = folders.iter().filter(|name| corpus.join(&project).join(name).is_dir());
            all.extend(present.enumerate().map(|(place, name)| Planned {
                project: project.clone(),
                planning: (*name).to_owned(),
                is_found: place == 0,
            }));
        }
    }
    all
}

/// Returns the files of a planning folder that hold a state, a roadmap, a project, a plan or a summary.
pub(super) fn known_files<'a>(tree: &'a Tree, planning: &str) -> Vec<&'a str> {
    let prefix = format!("{planning}/");
    let inside = tree.keys().filter(|path| path.starts_with(&prefix));
    inside.map(String::as_str).filter(|path| is_known(path)).collect()
}

fn is_known(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap();
    let ends = [".plan.jsonl", ".summary.jsonl"];
    let is_numbered_behind = |stem: &str| stem.starts_with("PLAN-") || stem.contains("-PLAN-");
    ends.iter().any(|end| name.ends_with(end))
        || name.strip_suffix(".md").is_some_and(|stem| {
            let kinds = ["STATE", "ROADMAP", "PROJECT", "PLAN", "SUMMARY"];
            kinds.iter().any(|kind| stem.ends_with(kind)) || is_numbered_behind(stem)
        })
}

#[test]
fn plans_are_known_in_every_spelling_and_other_files_are_not_taken_for_them() {
    for name in [
        "01-02-PLAN.md", "PLAN-01.md", "01-PLAN-02.md", "x/02-01.plan.jsonl", "v1.0-ROADMAP.md",
        "PLAN.md",
    ] {
        assert!(is_known(name), "{name}");
    }
    for name in [
        "04-PREPLANNING-NOTES.md",
        "01-CONTEXT.md",
        "execution-state.json",
        "kanban-empty-state.md",
        "x/",
    ] {
        assert!(!is_known(name), "{name}");
    }
}
