//! Extracts the parts of a STATE.md that outlive its milestone and are carried over to the next one.

use std::collections::HashMap;
use std::ops::Range;

use serde::Serialize;

use crate::markdown::{Outline, line_start};
use crate::plan::{Decision, StateFile, document};

/// The parts that are carried over. List items are kept verbatim, with tags, checkboxes and what is indented below
/// them, because other tools search for them.
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
}

/// Returns list items as they are written; `mark` is prepended to items that are in no list.
fn verbatim(text: &str, items: &[String], mark: &str) -> Vec<String> {
    let outline = Outline::parse(text, 0);
    let mut written: HashMap<String, Range<usize>> = HashMap::new();
    for (block, item) in outline.items(&(0..text.len())).filter(|(_, item)| item.depth == 0) {
        let entry = document::on_one_line(&outline, block, item);
        written.entry(entry).or_insert_with(|| item.whole.clone());
    }
    let line = |item: &String| match written.get(item) {
        Some(range) => dedented(text, range),
        None => format!("{mark}{item}"),
    };
    items.iter().map(line).collect()
}

/// Returns the lines of a list item without the indentation of its first line.
fn dedented(text: &str, range: &Range<usize>) -> String {
    let item = text[range.clone()].trim_start();
    let start = range.end - item.len();
    let line_start = line_start(text, start);
    let without_indent = |line: &str| {
        let spaces = line.bytes().take(start - line_start);
        line[spaces.take_while(|byte| *byte == b' ').count()..].to_owned()
    };
    let mut lines = item.trim_end().lines();
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |joined, line| joined + "\n" + &without_indent(line))
}

fn profile(text: &str) -> Vec<String> {
    let outline = Outline::parse(text, 0);
    let section = outline.section(&["Codebase Profile"]);
    let body = section.map_or("", |section| outline.slice(&section.whole));
    body.trim().lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn items_are_carried_over_with_what_is_indented_below_them() {
        let text = "# State\n## Todos\n- [ ] Label printer (needs its own phase):\n  - one driver\n    - for labels\n\n  - paper sizes\n- [ ] Fonts\n- **Phase 3**\n  - [ ] Scales\n    in grams\n  - [x] Dates\n\n## Blockers\n- No key\n\n  Asked twice.\n\nEnd.\n";
        let state = StateFile::parse(text, Path::new("STATE.md")).value;
        let carried = CarriedState::from_state(text, &state);
        assert_eq!(
            carried.todos,
            [
                "- [ ] Label printer (needs its own phase):\n  - one driver\n    - for labels\n\n  - paper sizes",
                "- [ ] Fonts",
                "- **Phase 3**\n  - [ ] Scales\n    in grams\n  - [x] Dates"
            ]
        );
        assert_eq!(carried.blockers, ["- No key\n\n  Asked twice."]);
    }
}
