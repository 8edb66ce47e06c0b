//! Parses PLAN files, which describe the work to do.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::markdown::{FrontMatter, Node, Outline};
use crate::plan::read::document::Document;
use crate::plan::read::plan::task::tasks;
use crate::plan::read::{PhaseProgress, heading, non_placeholder};
use crate::warning::Parsed;

mod problems;
mod task;

pub use problems::check_waves;
pub use task::PlanTask;

/// A plan, from its front matter and the tasks in its body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The phase, without its name: `5.1`; a word for a quick task.
    pub phase: Option<String>,
    /// The plan, without phase and slug: `2`, `1a`, `d`, `R01`.
    pub plan: Option<String>,
    /// The title in the front matter, otherwise the first heading.
    pub title: Option<String>,
    /// The wave in which the plan is executed; plans of the same wave run in parallel.
    pub wave: Option<u32>,
    /// The plans that must be complete before it, as written.
    pub depends_on: Option<Vec<String>>,
    /// The effort level, if it differs from the project's.
    pub effort_override: Option<String>,
    /// The files that the plan will change.
    pub files_modified: Option<Vec<String>>,
    /// The conditions that must hold when the plan is complete.
    pub must_haves: Option<Vec<String>>,
    /// The tasks, in file order.
    pub tasks: Vec<PlanTask>,
    /// The file that the plan was read from.
    #[serde(skip)]
    pub file: PathBuf,
    /// Line number of `depends_on`, for warnings.
    #[serde(skip)]
    pub depends_on_line: usize,
}

impl Plan {
    /// Parses a plan in markdown or JSON Lines; `path` identifies the plan if the text does not.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let document = Document::parse(text, path, &mut warnings);
        let (phase, plan) = document.identity(path);
        let front = &document.front;
        let list = |keys: &[&str]| front.get(keys).map(Node::texts);
        let depends_on = front.get(&["depends_on", "dependencies"]);
        let value = Self {
            phase,
            plan,
            title: document.title(),
            wave: front.text(&["wave"]).and_then(|wave| wave.parse().ok()),
            depends_on: depends_on.map(|node| {
                let mut texts = node.texts();
                texts.retain(|text| non_placeholder(text).is_some());
                texts
            }),
            effort_override: front
                .text(&["effort_override", "effort"])
                .and_then(non_placeholder)
                .map(str::to_owned),
            files_modified: list(&["files_modified"]),
            must_haves: front
                .get(&["must_haves"])
                .map(|node| node.get(&["truths", "tr"]).unwrap_or(node).texts())
                .or_else(|| must_haves(&document.outline)),
            tasks: tasks(&document),
            file: path.to_owned(),
            depends_on_line: depends_on.map_or(1, |node| node.line),
        };
        Parsed { value, warnings }
    }
}

/// Returns whether the front matter of a plan says that it will not be done: it is cancelled, or replaced by another.
pub(crate) fn is_dropped_plan(text: &str) -> bool {
    let front = FrontMatter::parse(text, Path::new("")).value;
    let status = front.text(&["status"]).and_then(PhaseProgress::parse);
    status.is_some_and(PhaseProgress::is_dropped)
        || front.text(&["superseded_by"]).and_then(non_placeholder).is_some()
}

/// Returns the bullets of a `## must_haves` section, if the front matter has no must-haves.
fn must_haves(outline: &Outline<'_>) -> Option<Vec<String>> {
    let section = heading::sections(outline, "must-haves").next()?;
    Some(outline.items(&section.whole).map(|(_, item)| item.text.clone()).collect())
}

#[cfg(test)]
mod tests;
