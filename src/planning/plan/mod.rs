//! PLAN files: what is to be done.

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::markdown::Node;
use crate::markdown::Outline;
use crate::planning::document::Document;
use crate::planning::heading;
use crate::planning::identity::Identity;
use crate::planning::plan::task::tasks;
use crate::planning::present;
use crate::planning::serialize_phase;
use crate::planning::serialize_plan;
use crate::warning::Parsed;

mod overlap;
mod problems;
mod task;
mod waves;

pub use overlap::check_overlap;
pub use task::PlanTask;
pub use waves::check_waves;

/// A plan, from its front matter and the tasks in its body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The phase as the file spells it, without its name: `05.1`, in JSON `5.1`; a word for a quick task.
    #[serde(serialize_with = "serialize_phase")]
    pub phase: Option<String>,
    /// The plan as the file spells it, without phase and slug: `02` (in JSON `2`), `01a`, `D`, `R01`.
    #[serde(serialize_with = "serialize_plan")]
    pub plan: Option<String>,
    /// The title: the front matter's, else the first heading.
    pub title: Option<String>,
    /// The wave in which it is carried out; plans of one wave run side by side.
    pub wave: Option<u32>,
    /// The plans that must be done before it, as written.
    pub depends_on: Option<Vec<String>>,
    /// The effort to spend on it, where it differs from the project's.
    pub effort_override: Option<String>,
    /// The files it is going to touch.
    pub files_modified: Option<Vec<String>>,
    /// What must hold when it is done.
    pub must_haves: Option<MustHaves>,
    /// Its tasks, in file order.
    pub tasks: Vec<PlanTask>,
    /// The file it was read from.
    #[serde(skip)]
    pub file: PathBuf,
    /// The line of `depends_on`, to point at.
    #[serde(skip)]
    pub depends_on_line: usize,
}

/// What must hold when a plan is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MustHaves {
    /// What must be true.
    pub truths: Vec<String>,
    /// What must be there.
    pub artifacts: Vec<String>,
    /// What must be wired to what.
    pub key_links: Vec<String>,
}

impl Plan {
    /// Reads a plan in markdown or JSON lines; `path` helps where the file does not say which it is.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let document = Document::parse(text, path, &mut warnings);
        let identity = Identity::from_document(&document, path);
        let front = &document.front;
        let list = |keys: &[&str]| front.get(keys).map(Node::texts);
        let title = front
            .text(&["title", "name"])
            .or_else(|| document.outline.title())
            .and_then(present);
        let depends_on = front.get(&["depends_on", "dependencies"]);
        let value = Self {
            phase: identity.phase,
            plan: identity.plan,
            title: title.map(str::to_owned),
            wave: front.text(&["wave"]).and_then(|wave| wave.parse().ok()),
            depends_on: depends_on.map(|node| {
                let mut texts = node.texts();
                texts.retain(|text| present(text).is_some());
                texts
            }),
            effort_override: front
                .text(&["effort_override", "effort"])
                .and_then(present)
                .map(str::to_owned),
            files_modified: list(&["files_modified"]),
            must_haves: front
                .get(&["must_haves"])
                .map(MustHaves::from_node)
                .or_else(|| MustHaves::in_section(&document.outline)),
            tasks: tasks(&document),
            file: path.to_owned(),
            depends_on_line: depends_on.map_or(1, |node| node.line),
        };
        Parsed { value, warnings }
    }
}

impl MustHaves {
    /// Reads the bullets of a section `## must_haves`, where the front matter has none.
    fn in_section(outline: &Outline<'_>) -> Option<Self> {
        let section = heading::sections(outline, &["must haves", "must-haves"]).next()?;
        let items = outline.items(&section.whole);
        let truths = items.map(|(_, item)| item.text.clone()).collect();
        Some(Self {
            truths,
            ..Self::default()
        })
    }

    /// Reads a plain list, or lists of three kinds under their long or short names.
    fn from_node(node: &Node) -> Self {
        if node.pairs().is_empty() {
            return Self {
                truths: node.texts(),
                ..Self::default()
            };
        }
        let list = |keys: &[&str]| node.get(keys).map(Node::texts).unwrap_or_default();
        Self {
            truths: list(&["truths", "tr"]),
            artifacts: list(&["artifacts", "ar"]),
            key_links: list(&["key_links", "kl"]),
        }
    }
}

#[cfg(test)]
mod tests;
