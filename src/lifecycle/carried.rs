//! Extracts the parts of a STATE.md that outlive its milestone and are carried over to the next one.

use std::path::Path;

use serde::Serialize;

use crate::error::Result;
use crate::lifecycle::shipped;
use crate::markdown::Outline;
use crate::planning::Decision;
use crate::planning::PlanningFolder;
use crate::planning::StateFile;
use crate::project::vocabulary;
use crate::storage::read;

/// The parts that are carried over. List items are kept verbatim, with tags and checkboxes, because other
/// tools search for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct CarriedState {
    /// The decisions.
    pub(crate) decisions: Vec<Decision>,
    /// The open todos.
    pub(crate) todos: Vec<String>,
    /// The unresolved blockers.
    pub(crate) blockers: Vec<String>,
    /// The codebase profile.
    pub(crate) profile: Vec<String>,
}

impl CarriedState {
    /// Extracts the parts that outlive the milestone from the text of a STATE.md.
    pub(crate) fn from_state(text: &str, state: &StateFile) -> Self {
        Self {
            decisions: state.decisions.clone(),
            todos: verbatim(text, &state.todos, "- [ ] "),
            blockers: verbatim(text, &state.blockers, "- "),
            profile: profile(text),
        }
    }

    /// Returns the open todos and blockers of the milestone that was archived last, by the date in its
    /// SHIPPED.md; if none has a date, by name.
    pub(crate) fn of_archive(folder: &PlanningFolder) -> Result<Self> {
        let mut states = Vec::new();
        for archive in &folder.archived {
            let Some(dir) = &archive.dir else { continue };
            if let Some(text) = read::text(&dir.join(vocabulary::STATE))? {
                states.push((shipped::date(dir)?, &archive.slug, text.value));
            }
        }
        states.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
        let Some((_, _, text)) = states.pop() else {
            return Ok(Self::default());
        };
        let state = StateFile::parse(&text, Path::new("STATE.md")).value;
        Ok(Self {
            profile: Vec::new(),
            ..Self::from_state(&text, &state)
        })
    }
}

/// Returns list items as they are written; `mark` is prepended to items that are in no list.
fn verbatim(text: &str, items: &[String], mark: &str) -> Vec<String> {
    let outline = Outline::parse(text, 0);
    let all = 0..text.len();
    let written = |wanted: &String| {
        let (block, _) = outline.items(&all).find(|(_, item)| item.text == *wanted)?;
        let start = text[..block.range.start].rfind('\n').map_or(0, |at| at + 1);
        Some(text[start..block.range.end].trim().to_owned())
    };
    let line = |item: &String| written(item).unwrap_or_else(|| format!("{mark}{item}"));
    items.iter().map(line).collect()
}

fn profile(text: &str) -> Vec<String> {
    let outline = Outline::parse(text, 0);
    let section = outline.section(&["Codebase Profile"]);
    let body = section.map_or("", |section| outline.slice(&section.whole));
    body.trim().lines().map(str::to_owned).collect()
}
