//! Parses the tasks of a plan in all known formats.
//!
//! ```text
//! <task type="auto">                 ### Task 1: Parser        ## Tasks
//!   <name>Task 1: Parser</name>      **Files:** `a.rs`         1. Write the parser
//!   <action>…</action>               **Verify:** `cargo test`  2. Test it
//! </task>                            ### T2 — Tests
//! ```

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use crate::markdown::{Node, Section};
use crate::plan::read::document::Document;
use crate::plan::read::vocabulary::has;
use crate::text::pattern;

/// A task of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanTask {
    /// The task's name, as written.
    pub name: Option<String>,
    /// Line number of the task's start, from 1.
    pub line: usize,
}

/// Returns the tasks of a plan in file order.
pub(super) fn tasks(document: &Document<'_>) -> Vec<PlanTask> {
    if let Some(rows) = document.get("task_rows") {
        let name = |row: &Node| row.get(&["name", "title", "action"])?.as_text().map(str::to_owned);
        let task = |row: &Node| PlanTask { name: name(row), line: row.line };
        return rows.elements().into_iter().map(task).collect();
    }
    let readers = [tagged, titled, from_list];
    readers.iter().map(|read| read(document)).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Parses `<task>` blocks outside code blocks; a test-driven plan has a `<feature>` instead.
fn tagged(document: &Document<'_>) -> Vec<PlanTask> {
    let mut found: Vec<PlanTask> = Vec::new();
    let mut is_code = false;
    let start = document.body().start;
    let first_line = document.outline.line(start);
    for (index, line) in document.outline.text()[start..].lines().enumerate() {
        let content = line.trim();
        // An unclosed code fence in one part of the plan must not swallow the next part.
        is_code &= !content.starts_with("</");
        is_code ^= content.starts_with("```");
        if is_code {
            continue;
        }
        let opened = ["<task", "<feature"].into_iter().find_map(|tag| content.strip_prefix(tag));
        if opened.is_some_and(|rest| rest.starts_with([' ', '>', '\t'])) {
            found.push(PlanTask { name: None, line: first_line + index });
        }
        let named = content.strip_prefix("<name>").and_then(|rest| rest.split("</").next());
        if let Some(task) = found.last_mut().filter(|task| task.name.is_none()) {
            task.name = named.map(|name| name.trim().to_owned());
        }
    }
    found
}

/// Parses headings such as `### Task 1: Parser`, `### T1 — Parser`, `### 1) Parser`.
fn titled(document: &Document<'_>) -> Vec<PlanTask> {
    let sections = document.outline.sections();
    let numbered = |section: &&Section| section.level > 1 && NUMBER.is_match(&section.title);
    let mut found: Vec<&Section> = sections.iter().filter(numbered).collect();
    if found.is_empty() {
        let home = home(document);
        found = home.into_iter().flat_map(|home| document.outline.subsections(home)).collect();
    }
    let level = found.iter().map(|section| section.level).min();
    found.retain(|section| Some(section.level) == level);
    let task =
        |section: &Section| PlanTask { name: Some(section.title.clone()), line: section.line };
    found.into_iter().map(task).collect()
}

/// Parses the numbered list, the checkboxes or the bullets of the tasks section.
fn from_list(document: &Document<'_>) -> Vec<PlanTask> {
    let items = home(document).into_iter().flat_map(|home| document.outline.items(&home.whole));
    let mut items: Vec<_> = items.filter(|(_, item)| item.depth == 0).collect();
    if items.iter().any(|(_, item)| item.number.is_some()) {
        items.retain(|(_, item)| item.number.is_some());
    } else if items.iter().any(|(_, item)| item.checked.is_some()) {
        items.retain(|(_, item)| item.checked.is_some());
    }
    let tasks = items
        .into_iter()
        .map(|(block, item)| PlanTask { name: Some(item.text.clone()), line: block.line });
    tasks.collect()
}

/// Returns the section that contains the tasks.
fn home<'d>(document: &'d Document<'_>) -> Option<&'d Section> {
    let fits = |words: &[String]| has("tasks", &words.join(" "));
    document.sections(fits).into_iter().next()
}

/// The number of a task in front of its name: `Task 1: `, `T1 — `, `Step 2. `.
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^[*\[ ]*(?:(?i:task|step)[ #-]*|T)\d+(?:\.\d+)*(?:[A-Za-z]\b)?"));
