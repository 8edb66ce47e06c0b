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
    /// The task's name, without its number.
    pub name: Option<String>,
    /// The task's kind, if stated: `auto`, `checkpoint:human-verify`.
    pub kind: Option<String>,
    /// Line number of the task's start, from 1.
    pub line: usize,
}

/// Returns the tasks of a plan in file order.
pub(super) fn tasks(document: &Document<'_>) -> Vec<PlanTask> {
    if let Some(rows) = document.get("task_rows") {
        return rows.elements().into_iter().map(from_row).collect();
    }
    let readers = [tagged, titled, from_list];
    readers.iter().map(|read| read(document)).find(|found| !found.is_empty()).unwrap_or_default()
}

fn from_row(row: &Node) -> PlanTask {
    let text = |keys: &[&str]| row.get(keys).and_then(Node::as_text);
    // In a row without a name, the first sentence of the action is used.
    let action = text(&["action", "spec", "d"]);
    let head = action.and_then(|action| action.split(". ").next());
    PlanTask {
        name: text(&["name", "title", "plan"]).or(head).map(str::to_owned),
        kind: text(&["tp", "type"]).map(str::to_owned),
        line: row.line,
    }
}

/// Parses `<task>` blocks outside code blocks; a test-driven plan has a `<feature>` instead.
fn tagged(document: &Document<'_>) -> Vec<PlanTask> {
    let mut found: Vec<PlanTask> = Vec::new();
    let (mut is_open, mut is_code) = (false, false);
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
        if let Some(rest) = opened.filter(|rest| rest.starts_with([' ', '>', '\t'])) {
            is_open = true;
            let name = attribute(rest, "name").or_else(|| attribute(rest, "title"));
            found.push(PlanTask {
                name: name.map(|name| without_number(name).to_owned()),
                kind: attribute(rest, "type").map(str::to_owned),
                line: first_line + index,
            });
        }
        if let Some(task) = found.last_mut().filter(|task| is_open && task.name.is_none()) {
            let named = ["<name>", "<title>"].iter().find_map(|tag| content.strip_prefix(tag));
            let name = named.and_then(|rest| rest.split("</").next()).map(str::trim);
            let name = name.filter(|name| !name.is_empty());
            task.name = name.map(|name| without_number(name).to_owned());
        }
        is_open &= !content.contains("</task>") && !content.contains("</feature>");
    }
    found
}

/// Returns the value of an attribute: `Parser` for `name` in ` type="auto" name="Parser">`.
fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let tag = attributes.split('>').next()?;
    let (_, rest) = tag.split_once(&format!(" {name}="))?;
    let quote = rest.chars().next().filter(|c| "\"'".contains(*c))?;
    let value = rest[1..].split(quote).next()?.trim();
    (!value.is_empty()).then_some(value)
}

/// Parses headings such as `### Task 1: Parser`, `### T1 — Parser`, `### 1) Parser`.
fn titled(document: &Document<'_>) -> Vec<PlanTask> {
    let sections = document.outline.sections();
    let numbered = |section: &&Section| section.level > 1 && after_number(&section.title).is_some();
    let mut found: Vec<&Section> = sections.iter().filter(numbered).collect();
    if found.is_empty() {
        let home = home(document);
        found = home.into_iter().flat_map(|home| document.outline.subsections(home)).collect();
    }
    let level = found.iter().map(|section| section.level).min();
    found.retain(|section| Some(section.level) == level);
    let task = |section: &Section| PlanTask {
        name: Some(without_number(&section.title).to_owned()).filter(|name| !name.is_empty()),
        kind: None,
        line: section.line,
    };
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
    let tasks = items.into_iter().map(|(block, item)| PlanTask {
        name: Some(without_number(&item.text).to_owned()),
        kind: None,
        line: block.line,
    });
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

/// Returns the text after the number in `Task 1: Parser`, `T1 — Parser`, `Step 2. Parser`.
fn after_number(title: &str) -> Option<&str> {
    Some(&title[NUMBER.find(title)?.end()..])
}

/// Returns a task's name without its number.
fn without_number(text: &str) -> &str {
    let text = text.trim();
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let listed = rest.strip_prefix(['.', ')']).filter(|_| rest.len() < text.len());
    let rest = after_number(text).or(listed).unwrap_or(text);
    let name = rest.trim_start_matches([':', '-', '–', '—', '.', ')', ']', ' ']);
    if name.is_empty() { text } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_named_without_its_number() {
        for (text, expected) in [
            ("Task 1: Parser", "Parser"),
            ("Task 1.2: Parser", "Parser"),
            ("Task 1b: Parser", "Parser"),
            ("T1 \u{2014} Parser", "Parser"),
            ("Task 1.Parse the file", "Parse the file"),
            ("Step 2. Parse the file", "Parse the file"),
            ("3) Parser", "Parser"),
            ("Task 4", "Task 4"),
        ] {
            assert_eq!(without_number(text), expected, "{text}");
        }
    }
}
