//! Parses the open todos and blockers.

use std::ops::Range;

use crate::markdown::{Block, ListItem, Outline, Table};
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::state::settled::{is_none_so_far, is_settled};
use crate::plan::read::{PhaseProgress, heading, list_entry, non_placeholder};

/// The entries of some sections.
#[derive(Default)]
struct OpenItems {
    /// The open entries.
    open: Vec<String>,
    /// Whether other entries are done, struck through or marked as resolved.
    has_settled: bool,
}

const TODOS: &[&str] = &[
    "todos", "todo", "pending todos", "active todos", "open todos", "outstanding todos",
    "todo list", "todos / pending items", "todos/pending items", "pending items", "action items",
];

/// Where newer GSD puts what the user has to do.
const NEXT_STEPS: &[&str] = &["operator next steps"];

const BLOCKERS: &[&str] = &[
    "blockers",
    "blocker",
    "blockers/concerns",
    "blockers concerns",
    "blockers and concerns",
    "active blockers",
    "open blockers",
    "current blockers",
    "blockers/concerns carried forward",
    "blockers carried forward",
    "blockers/issues",
    "blockers/risks",
];

/// Returns the open todos, from bullets and table rows, each with what is indented below it. A paragraph says where
/// todos are kept, so it is not one.
pub(super) fn todos(outline: &Outline<'_>) -> Vec<String> {
    let mut entries = OpenItems::default();
    let mut end = 0;
    for section in outline.sections().iter().filter(|section| section.level > 0) {
        let title = heading::words(&section.title);
        if TODOS.contains(&title.as_str()) {
            end = end.max(section.whole.end);
            entries.read(outline, &section.own, ItemState::Open);
        } else if section.heading.start < end && !BLOCKERS.contains(&title.as_str()) {
            let state = ItemState::done_if(heading::DONE.contains(&title.as_str()));
            entries.read(outline, &section.own, state);
        }
    }
    let mut steps = OpenItems::default();
    for section in heading::sections(outline, NEXT_STEPS) {
        steps.read(outline, &section.own, ItemState::Open);
    }
    let known = entries.open.clone();
    let steps = steps.open.into_iter();
    let steps = steps.filter(|step| !is_workflow_step(step) && !known.contains(step));
    entries.open.extend(steps);
    entries.open
}

/// Returns whether a next step only names commands of the workflow, which may have been run since: `Plan phase 8:
/// /gsd-plan-phase 8`.
fn is_workflow_step(step: &str) -> bool {
    let is_command = |word: &str| {
        let word = word.trim_matches(|c: char| !(c.is_alphanumeric() || c == '/'));
        let command = word.strip_prefix('/').filter(|name| !name.contains('/'));
        let last = command.and_then(|name| name.rsplit_once(['-', ':']));
        last.is_some_and(|(_, last)| ["phase", "milestone", "work"].contains(&last))
    };
    let clauses = step.split("; ").flat_map(|part| part.split(". "));
    clauses
        .flat_map(|part| part.split(", then "))
        .all(|clause| clause.split_whitespace().any(is_command))
}

/// Returns the open blockers, from bullets and table rows, or from paragraphs if there are neither open nor
/// settled entries.
pub(super) fn blockers(outline: &Outline<'_>) -> Vec<String> {
    let mut entries = OpenItems::default();
    for section in heading::sections(outline, BLOCKERS) {
        entries.read(outline, &section.own, ItemState::Open);
    }
    if entries.open.is_empty() && !entries.has_settled {
        for section in heading::sections(outline, BLOCKERS) {
            for (_, paragraph) in outline.paragraphs(&section.own) {
                let is_hint = paragraph.starts_with('[') && paragraph.ends_with(']');
                if !is_hint && !list_entry::is_lead(paragraph) {
                    entries.push(paragraph, paragraph, ItemState::Open);
                }
            }
        }
    }
    entries.open
}

/// Returns the bullets of `Research Flags` that are not settled.
pub(super) fn research_flags(outline: &Outline<'_>) -> Vec<String> {
    let mut entries = OpenItems::default();
    for section in heading::sections(outline, &["research flags"]) {
        entries.read(outline, &section.own, ItemState::Open);
    }
    entries.open
}

/// Whether an item is open or done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemState {
    Open,
    Done,
}

impl ItemState {
    fn done_if(is_done: bool) -> Self {
        if is_done { Self::Done } else { Self::Open }
    }
}

impl OpenItems {
    fn read(&mut self, outline: &Outline<'_>, range: &Range<usize>, state: ItemState) {
        let items: Vec<(&Block, &ListItem)> = outline.items(range).collect();
        let mut rest = items.as_slice();
        while let Some(((block, item), later)) = rest.split_first() {
            let nested = later.iter().take_while(|(_, item)| item.depth > 0);
            let (nested, later) = later.split_at(nested.count());
            let boxed = || nested.iter().filter(|(_, item)| item.checked.is_some());
            // A bullet above checkboxes is their heading; the checkboxes are the entries.
            let is_lead = item.checked.is_none() && boxed().next().is_some();
            if is_lead {
                boxed().for_each(|(_, item)| self.push_item(item, &item.text, state));
            } else if item.depth == 0 {
                let entry = list_entry::on_one_line(outline, block, item);
                self.push_item(item, &entry, state);
            }
            rest = later;
        }
        for table in outline.tables(range) {
            self.read_table(table);
        }
    }

    fn read_table(&mut self, table: &Table) {
        let names = ["Todo", "Task", "Title", "Item", "Blocker", "Concern", "Issue", "Description"];
        let Some(text) = table.column(&names) else {
            return;
        };
        let outcome = table.column(&["Resolution", "Resolved", "Outcome"]);
        let status = table.column(&["Status", "State"]);
        for row in &table.rows {
            let cell = |index: Option<usize>| non_placeholder(row.cells.get(index?)?);
            let is_complete = cell(status).and_then(PhaseProgress::parse).is_some_and(|progress| {
                progress == PhaseProgress::Complete || progress.is_dropped()
            });
            if let Some(text) = cell(Some(text)) {
                let state = ItemState::done_if(cell(outcome).is_some() || is_complete);
                self.push(text, text, state);
            }
        }
    }

    fn push_item(&mut self, item: &ListItem, entry: &str, state: ItemState) {
        let is_done = state == ItemState::Done || item.checked == Some(true);
        self.push(&item.text, entry, ItemState::done_if(is_done));
    }

    /// Adds an entry, unless its first line says that it is none.
    fn push(&mut self, first_line: &str, entry: &str, state: ItemState) {
        if is_none_remark(first_line) || is_none_so_far(first_line) {
            return;
        }
        if state == ItemState::Done || is_settled(first_line) {
            self.has_settled = true;
        } else {
            self.open.push(entry.trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, reader: fn(&Outline<'_>) -> Vec<String>) -> Vec<String> {
        reader(&Outline::parse(text, 0))
    }

    #[test]
    fn ticked_and_struck_todos_are_settled() {
        let text = "## Todos\n_(No todos)_\n\n- a (added 2026-03-13)\n- [x] b\n- [ ] c\n- ~~d~~ gone\n- None.\n<!-- e -->\n### Pending Todos\n- **Phase 3**\n  - [ ] f\n  - [x] g\n#### Completed\n- h\n";
        assert_eq!(read(text, todos), ["a (added 2026-03-13)", "c", "f"]);
    }

    #[test]
    fn an_entry_has_what_is_indented_below_it() {
        let text = "## Todos\n- Label printer (needs its own phase):\n  - one driver\n  - paper sizes\n- ~~Fonts~~\n  - kept\n- [x] Scales\n  - kept\n- None\n  - kept\n## Blockers\n- No key\n  asked twice\n  - RESOLVED for staging\n";
        assert_eq!(
            read(text, todos),
            ["Label printer (needs its own phase): one driver; paper sizes"]
        );
        // The first line decides whether an entry is settled: one of several parts may be.
        assert_eq!(read(text, blockers), ["No key asked twice: RESOLVED for staging"]);
    }

    #[test]
    fn next_steps_are_todos_but_for_commands_of_the_workflow() {
        let text = "## Todos\n- Order labels\n## Operator Next Steps\n- Try the scales at home:\n  - kitchen\n  - cellar\n- [x] Buy batteries\n- Order labels\n- Run `/gsd-plan-phase 8`\n\nNone of it is urgent.\n";
        assert_eq!(read(text, todos), ["Order labels", "Try the scales at home: kitchen; cellar"]);
        for step in [
            "/gsd-plan-phase 8",
            "Start the next milestone with /gsd-new-milestone",
            "Run `/gsd-discuss-phase 6` or `/gsd-plan-phase 6` to start Phase 6: Labels",
            "Phase 5 needs research first: `/gsd-plan-phase --research-phase 5`",
            "`/gsd:plan-phase 14`, `/gsd:plan-phase 15` (they do not depend on each other)",
            "`/gsd:verify-work 3`; then `/gsd:complete-milestone`",
        ] {
            assert!(is_workflow_step(step), "{step}");
        }
        for step in [
            "Optional: shrink the build; `/gsd-complete-milestone` archives v1.1",
            "Rotate the key, then `/gsd-plan-phase 8`",
            "Rename the page `/work-orders`",
            "Rename the route /next",
            "Read docs/plan-phase",
            "Read /docs/plan-phase",
            "Do not install before phase 14",
            "Fix the login with /gsd-debug",
        ] {
            assert!(!is_workflow_step(step), "{step}");
        }
    }

    #[test]
    fn a_paragraph_is_no_todo_but_may_be_a_blocker() {
        let text = "# S\n## Todos\nFrom `todos/`.\n## Blockers\nWaiting for the key.\n";
        assert!(read(text, todos).is_empty());
        assert_eq!(read(text, blockers), ["Waiting for the key."]);
        for none in [
            "None", "None - dropped.", "[Issues that matter]", "*None currently*",
            "{blockers-or-none}",
        ] {
            let text = format!("## Blockers/Concerns\n{none}\n");
            assert!(read(&text, blockers).is_empty(), "{none}");
        }
    }

    #[test]
    fn what_is_done_is_no_blocker() {
        for done in [
            "FIXED 2026-07-31 (commit 510b4245): a",
            "**DONE**: b",
            "None at roadmap stage.",
            "None at this time",
            "None as of 2026-05-08",
            "Phase 3 complete -- all 3 plans executed, all summaries written",
            "Phase 4 done (3/3 plans)",
            "**Phase 3 complete** \u{2014} all plans executed",
            "DONE, see 03-02",
            "None known",
            "No active blockers.",
            "No blockers",
            "_No open issues_",
            "**No blockers identified yet.**",
            "No outstanding todos at this time",
            "Nothing blocking.",
        ] {
            let text = format!("## Blockers\n- {done}\n");
            assert!(read(&text, blockers).is_empty(), "{done}");
        }
        for open in [
            "Phase 4: complete the list",
            "Phase 3 complete, awaiting sign-off",
            "Phase 2 complete (2 tests are red)",
            "Phase 12 built-in player crashes",
            "Phase 3 complete \u{2014} all API keys must be rotated",
            "Phase 2 done - 3/5 tests are red",
            "None as of Phase 3, but the API key expires",
            "Fixed sizes are refused",
            "CLOSED-source SDK: the license is pending",
            "DONE column is missing",
            "None at all of the services may write",
            "none yet has credentials",
            "No open issues may remain before the release",
            "No known issues tracker is set up",
            "No blockers: the key arrives on Monday",
            "No tasks run after midnight",
            "No staging server",
            "Nothing blocking the queue is logged",
        ] {
            let text = format!("## Blockers\n- {open}\n");
            assert_eq!(read(&text, blockers), [open]);
        }
    }

    #[test]
    fn a_bold_lead_is_not_an_entry_beside_its_bullets() {
        let text = "### Blockers/Concerns\n**IT:**\n- no servers\n- [x - RESOLVED]: y\n";
        assert_eq!(read(text, blockers), ["no servers"]);
        let settled = "### Blockers/Concerns\nWaiting for IT.\n- [x - RESOLVED]: y\n";
        assert!(read(settled, blockers).is_empty());
    }

    #[test]
    fn rows_with_a_resolution_are_settled() {
        let text = "### Pending Todos\n| # | Title | Resolution |\n|---|---|---|\n| 1 | a | done |\n| 2 | b | |\n";
        assert_eq!(read(text, todos), ["b"]);
    }
}
