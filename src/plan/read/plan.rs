//! Parses PLAN files, which describe the work to do, and reports what they lack for execution, alone and in the order of their
//! waves.
//!
//! Tasks come in several formats:
//!
//! ```text
//! <task type="auto">                 ### Task 1: Parser        ## Tasks
//!   <name>Task 1: Parser</name>      **Files:** `a.rs`         1. Write the parser
//!   <action>…</action>               **Verify:** `cargo test`  2. Test it
//! </task>                            ### T2 — Tests
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::markdown::{FrontMatter, Node, Outline, Section};
use crate::plan::read::document::Document;
use crate::plan::read::vocabulary::{begins, has, says};
use crate::plan::read::{PhaseNumber, PhaseProgress, PlanNumber, document};
use crate::text::{Pattern, given, is_absent, join, strip_prefix_ignore_case, unmarked};
use crate::warning::{Parsed, Warning};

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
    /// Whether it will not be done: it is cancelled, or replaced by another.
    #[serde(skip)]
    pub is_dropped: bool,
    /// Whether it closes gaps that a check of the phase found.
    #[serde(skip)]
    pub closes_gaps: bool,
}

impl Plan {
    /// Parses a plan in markdown or JSON Lines; `path` identifies the plan if the text does not.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let document = Document::parse(text, path, &mut warnings);
        let (phase, plan) = document.identity(path);
        let front = &document.front;
        let depends_on = front.get(&["depends_on", "dependencies"]);
        let value = Self {
            phase,
            plan,
            title: document.title(),
            wave: front.text(&["wave"]).and_then(|wave| wave.parse().ok()),
            depends_on: depends_on.map(|node| {
                let mut texts = node.texts();
                texts.retain(|text| !is_absent(text));
                texts
            }),
            effort_override: front.text(&["effort_override", "effort"]).and_then(given),
            files_modified: front.get(&["files_modified"]).map(Node::texts),
            must_haves: front
                .get(&["must_haves"])
                .map(|node| node.get(&["truths", "tr"]).unwrap_or(node).texts())
                .or_else(|| must_haves(&document.outline)),
            tasks: tasks(&document),
            file: path.to_owned(),
            depends_on_line: depends_on.map_or(1, |node| node.line),
            is_dropped: is_dropped(front) || is_dropped_in_head(&document.outline),
            closes_gaps: front.text(&["gap_closure"]).is_some_and(|stated| {
                ["true", "yes", "on"].contains(&stated.to_lowercase().as_str())
            }),
        };
        Parsed { value, warnings }
    }
}

fn says_dropped(status: &str) -> bool {
    PhaseProgress::parse(status).is_some_and(PhaseProgress::is_dropped)
}

fn is_dropped(front: &FrontMatter) -> bool {
    front.text(&["status"]).is_some_and(|status| {
        says_dropped(status)
            || begins("dropped plan", &status.to_lowercase())
            || says("dropped plan, alone", &status.replace(['-', '_'], " "))
    })
        || ["superseded", "cancelled", "canceled", "dropped"].into_iter().any(|field| {
            front.text(&[field]).is_some_and(|stated| ["true", "yes"].contains(&stated))
        })
        // `01-03`, or a list of plans
        || front.get(&["superseded_by", "replaced_by"]).is_some_and(|node| {
            node.texts().iter().any(|plan| !is_absent(plan))
        })
}

/// Returns whether the title or a line above the first section says it: `# [SUPERSEDED] Cards`, `> **SUPERSEDED** by 01-03`,
/// `**Status:** Cancelled`.
fn is_dropped_in_head(outline: &Outline<'_>) -> bool {
    let head = || outline.sections().iter().take(2);
    let mut labels = head().flat_map(|section| outline.labels(&section.own));
    let mut lines = head().flat_map(|section| outline.slice(&section.own).lines());
    // In other letters, the word may begin a sentence: `Removed the old form`.
    let begins = |line: &str| {
        let word = unmarked(line);
        let word = word.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        word.bytes().all(|byte| byte.is_ascii_uppercase()) && says_dropped(word)
    };
    labels.any(|label| label.name.eq_ignore_ascii_case("status") && says_dropped(&label.value))
        || lines.any(begins)
        || outline.title().is_some_and(begins)
}

/// Returns the bullets of a `## must_haves` section, if the front matter has no must-haves.
fn must_haves(outline: &Outline<'_>) -> Option<Vec<String>> {
    let section = document::sections(outline, "must-haves").next()?;
    Some(outline.items(&section.whole).map(|(_, item)| item.text.clone()).collect())
}

impl Plan {
    /// Returns what the plan lacks: fields that the order of execution depends on, and tasks.
    pub fn problems(&self) -> Vec<Warning> {
        let mut found = Vec::new();
        let fields = [
            ("phase", self.phase.is_none()),
            ("plan", self.plan.is_none()),
            ("wave", self.wave.is_none()),
            ("depends_on", self.depends_on.is_none()),
            ("must_haves", self.must_haves.is_none()),
        ];
        let missing =
            fields.into_iter().filter_map(|(name, is_missing)| is_missing.then_some(name));
        let missing = join(missing, ", ");
        if !missing.is_empty() {
            let message = format!("the plan does not state {missing}");
            found.push(Warning::file(&self.file, message));
        }
        if self.tasks.is_empty() {
            found.push(Warning::file(&self.file, "the plan has no tasks"));
        }
        found
    }
}

/// Returns warnings about whatever prevents the plans of a phase from being executed wave by wave: dependencies on plans of
/// the same or a later wave, so also circular ones, and dependencies that do not exist.
///
/// Dependencies on plans of other phases are ignored.
pub fn check_waves(phase: &PhaseNumber, plans: &[(&PlanNumber, &Plan)]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let by_number: BTreeMap<_, _> = plans.iter().rev().copied().collect();
    for (_, plan) in plans {
        for text in plan.depends_on.iter().flatten() {
            let Some(number) = dependency(text, phase) else { continue };
            let message = match (by_number.get(&number).map(|other| other.wave), plan.wave) {
                (None, _) => format!("depends on {text}, which is not a plan of this phase"),
                (Some(Some(other)), Some(wave)) if wave <= other => {
                    format!("in wave {wave}, depends on {text}, which is in wave {other}")
                }
                _ => continue,
            };
            warnings.push(Warning::at(&plan.file, plan.depends_on_line, message));
        }
    }
    warnings
}

/// Parses `01`, `03-01`, `03-01-PLAN.md`, `03-01-name`, `plan-02`; in phase 3, each of the first four is plan 1.
/// So is `02-03-01` in phase 2-03. `None` is a plan of another phase, or free text.
fn dependency(text: &str, phase: &PhaseNumber) -> Option<PlanNumber> {
    let text = text.trim().trim_end_matches(".md").trim_end_matches("-PLAN");
    let named = strip_prefix_ignore_case(text, "plan");
    let text = named.map_or(text, |rest| rest.trim_start_matches(['-', ' ']));
    PlanNumber::parse(text).or_else(|| phase.plan_in(text))
}

/// A task of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanTask {
    /// The task's name, as written.
    pub name: Option<String>,
    /// Line number of the task's start, from 1.
    pub line: usize,
}

/// Returns the tasks of a plan in file order.
fn tasks(document: &Document<'_>) -> Vec<PlanTask> {
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
static NUMBER: Pattern =
    Pattern::new(r"^[*\[ ]*(?:(?i:task|step)[ #-]*|T)\d+(?:\.\d+)*(?:[A-Za-z]\b)?");

#[cfg(test)]
mod tests;
