//! Parses the tasks of a plan in all known formats.
//!
//! ```text
//! <task type="auto">                 ### Task 1: Parser        ## Tasks
//!   <name>Task 1: Parser</name>      **Files:** `a.rs`         1. Write the parser
//!   <action>…</action>               **Verify:** `cargo test`  2. Test it
//! </task>                            ### T2 — Tests
//! ```

use serde::Serialize;

use crate::markdown::{Label, Node, Section};
use crate::plan::read::document::{Document, title_words};

/// A task of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanTask {
    /// The task's name, without its number.
    pub name: Option<String>,
    /// The task's kind, if stated: `auto`, `checkpoint:human-verify`.
    pub kind: Option<String>,
    /// Line number of the task's start, from 1.
    pub line: usize,
    /// Whether the task states what to do.
    #[serde(skip)]
    pub has_action: bool,
    /// Whether the task states how to check that it is complete.
    #[serde(skip)]
    pub has_check: bool,
}

/// Labels and tags that state how to check a task.
const CHECKS: &[&str] = &[
    "verify", "verification", "done", "done when", "acceptance", "acceptance_criteria",
    "acceptance criteria", "test", "tests", "success criteria",
];

/// Prefixes of the tags that end a part of a plan.
const PART_ENDS: &[&str] = &["</task", "</feature", "</context", "</interfaces"];

/// Returns the tasks of a plan in file order.
pub(super) fn tasks(document: &Document<'_>) -> Vec<PlanTask> {
    if let Some(rows) = document.field(&["task_rows"]) {
        return rows.elements().into_iter().map(from_row).collect();
    }
    let found = tagged(document);
    if !found.is_empty() {
        return found;
    }
    let found = titled(document);
    if !found.is_empty() {
        return found;
    }
    from_list(document)
}

fn from_row(row: &Node) -> PlanTask {
    let text = |keys: &[&str]| row.get(keys).and_then(Node::as_text);
    // In a row without a name, the first sentence of the action is used.
    let action = text(&["action", "spec", "d"]);
    let head = action.map(|action| action.split(". ").next().unwrap_or(action));
    PlanTask {
        name: text(&["name", "title", "n"]).or(head).map(str::to_owned),
        kind: text(&["tp", "type"]).map(str::to_owned),
        line: row.line,
        has_action: action.is_some() || text(&["desc"]).is_some(),
        has_check: ["verify", "done", "ac", "ts", "tests"]
            .iter()
            .any(|key| row.get(&[key]).is_some()),
    }
}

/// Parses `<task>` blocks outside code blocks.
fn tagged(document: &Document<'_>) -> Vec<PlanTask> {
    let mut found: Vec<PlanTask> = Vec::new();
    let mut is_open = false;
    let mut is_code = false;
    let start = document.body().start;
    let first_line = document.outline.line(start);
    for (index, line) in document.outline.text()[start..].lines().enumerate() {
        let content = line.trim();
        // An unclosed code fence in one part of the plan must not swallow the next part.
        is_code &= !PART_ENDS.iter().any(|end| content.starts_with(end));
        if content.starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        // A test-driven plan has a feature instead of a task.
        if let Some(attributes) = tag(content, "task").or_else(|| tag(content, "feature")) {
            is_open = true;
            found.push(PlanTask {
                name: ["name", "title"]
                    .iter()
                    .find_map(|key| attribute(attributes, key))
                    .map(|name| without_number(name).to_owned()),
                kind: attribute(attributes, "type").map(str::to_owned),
                line: first_line + index,
                ..PlanTask::default()
            });
        }
        if let Some(task) = found.last_mut().filter(|_| is_open) {
            task.take_line(content);
        }
        is_open &= !content.contains("</task>") && !content.contains("</feature>");
    }
    found
}

impl PlanTask {
    /// Returns whether the task is of a kind, ignoring any suffix after a colon: `checkpoint:human-verify`.
    pub(super) fn kind_is(&self, kind: &str) -> bool {
        let written = self.kind.as_deref().unwrap_or_default();
        written.split(':').next() == Some(kind)
    }

    /// Updates the task from a line inside a `<task>` block.
    fn take_line(&mut self, content: &str) {
        if self.name.is_none() {
            let name = ["name", "title"].iter().find_map(|key| {
                let rest = content.split_once(&format!("<{key}>"))?.1;
                let name = rest.split("</").next()?.trim();
                (!name.is_empty()).then(|| without_number(name).to_owned())
            });
            self.name = name;
        }
        let opens = |name: &str| {
            content.contains(&format!("<{name}>")) || content.contains(&format!("<{name} "))
        };
        let is_text = !content.is_empty() && !content.starts_with('<');
        self.has_action |= opens("action") || opens("what-built") || is_text;
        let checks = ["how-to-verify", "resume-signal", "behavior"];
        self.has_check |= CHECKS.iter().chain(&checks).any(|name| opens(name));
    }
}

/// Returns the attributes of a tag at the start of a line.
fn tag<'a>(content: &'a str, name: &str) -> Option<&'a str> {
    let rest = content.strip_prefix('<')?.strip_prefix(name)?;
    let ends = rest.starts_with([' ', '>', '\t']) || rest.is_empty();
    ends.then(|| rest.split('>').next().unwrap_or(rest))
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = attributes;
    while let Some((before, after)) = rest.split_once('=') {
        let key = before.trim();
        let quote = after.trim_start().chars().next().filter(|c| "\"'".contains(*c))?;
        let (value, next) = after.trim_start()[1..].split_once(quote)?;
        if key.eq_ignore_ascii_case(name) {
            return Some(value.trim()).filter(|value| !value.is_empty());
        }
        rest = next;
    }
    None
}

/// Parses headings such as `### Task 1: Parser`, `### T1 — Parser`, `### 1) Parser`.
fn titled(document: &Document<'_>) -> Vec<PlanTask> {
    let sections = document.outline.sections();
    let of_level = |fits: &dyn Fn(&Section) -> bool| -> Vec<&Section> {
        let level = sections.iter().find(|section| fits(section)).map(|section| section.level);
        sections.iter().filter(|section| Some(section.level) == level && fits(section)).collect()
    };
    let mut found = of_level(&|section| section.level > 1 && task_number(&section.title).is_some());
    if found.is_empty() {
        let Some(home) = home(document) else {
            return Vec::new();
        };
        let level = document.outline.subsections(home).map(|section| section.level).min();
        found = document
            .outline
            .subsections(home)
            .filter(|section| Some(section.level) == level)
            .collect();
    }
    found.into_iter().map(|section| from_section(document, section)).collect()
}

fn from_section(document: &Document<'_>, section: &Section) -> PlanTask {
    let labels = document.outline.labels(&section.whole);
    let has = |names: &[&str]| {
        let is = |label: &Label| {
            let name = label.name.trim_matches('*').to_lowercase();
            names.iter().any(|wanted| name == *wanted)
        };
        let heads = document.outline.subsections(section);
        let titles = heads.map(|inner| title_words(&inner.title).join(" "));
        labels.iter().any(is) || titles.into_iter().any(|title| names.contains(&title.as_str()))
    };
    PlanTask {
        name: Some(without_number(&section.title).to_owned()).filter(|name| !name.is_empty()),
        kind: None,
        line: section.line,
        has_action: !document.outline.slice(&section.whole).is_empty(),
        has_check: has(CHECKS),
    }
}

/// Parses the numbered list, the checkboxes or the bullets of the tasks section.
fn from_list(document: &Document<'_>) -> Vec<PlanTask> {
    let Some(home) = home(document) else {
        return Vec::new();
    };
    let items: Vec<_> =
        document.outline.items(&home.whole).filter(|(_, item)| item.depth == 0).collect();
    let has_numbers = items.iter().any(|(_, item)| item.number.is_some());
    let has_boxes = items.iter().any(|(_, item)| item.checked.is_some());
    items
        .into_iter()
        .filter(|(_, item)| !has_numbers || item.number.is_some())
        .filter(|(_, item)| has_numbers || !has_boxes || item.checked.is_some())
        .map(|(block, item)| PlanTask {
            name: Some(without_number(&item.text).to_owned()),
            kind: None,
            line: block.line,
            has_action: true,
            has_check: true,
        })
        .collect()
}

/// Returns the section that contains the tasks.
fn home<'d>(document: &'d Document<'_>) -> Option<&'d Section> {
    const TITLES: &[&str] = &[
        "tasks",
        "task list",
        "task breakdown",
        "steps",
        "implementation steps",
        "implementation",
        "plan",
        "tareas",
        "\u{437}\u{430}\u{434}\u{430}\u{447}\u{438}",
    ];
    let fits = |words: &[String]| TITLES.contains(&words.join(" ").as_str());
    document.sections(fits).into_iter().next()
}

/// Returns the text after the number in `Task 1: Parser`, `T1 — Parser`, `Step 2. Parser`.
fn task_number(title: &str) -> Option<&str> {
    let title = title.trim_start_matches(['*', '[', ' ']);
    let word = ["task", "step", "t"].iter().find_map(|word| {
        let start = title.get(..word.len())?;
        let rest = &title[word.len()..];
        let follows = if *word == "t" {
            rest.starts_with(|c: char| c.is_ascii_digit()) && start == "T"
        } else {
            rest.trim_start_matches([' ', '-', '#']).starts_with(|c: char| c.is_ascii_digit())
        };
        (start.eq_ignore_ascii_case(word) && follows).then_some(rest)
    })?;
    let rest = word.trim_start_matches([' ', '-', '#']);
    let number = |c: char| c.is_ascii_digit();
    let mut rest = rest.trim_start_matches(number);
    while let Some(after) = rest.strip_prefix('.').filter(|after| after.starts_with(number)) {
        rest = after.trim_start_matches(number);
    }
    // `1b`, but not the word in `1.Parse`.
    let mut letters = rest.chars();
    let is_letter = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && !letters.next().is_some_and(char::is_alphanumeric);
    Some(&rest[usize::from(is_letter)..])
}

/// Returns a task's name without its number.
fn without_number(text: &str) -> &str {
    let text = text.trim();
    let rest = task_number(text).unwrap_or_else(|| {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        match rest.strip_prefix(['.', ')']) {
            Some(after) if rest.len() < text.len() => after,
            _ => text,
        }
    });
    let name = rest.trim_start_matches([':', '-', '\u{2013}', '\u{2014}', '.', ')', ']', ' ']);
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
