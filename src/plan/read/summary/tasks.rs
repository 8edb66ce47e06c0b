//! Counts the tasks of a plan and the complete ones.

use serde::Serialize;

use crate::markdown::Node;
use crate::plan::read::document::{Document, title_words};
use crate::plan::read::{Count, SummaryStatus};

/// The numbers of tasks of a plan, as far as its summary states them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskCount {
    /// Number of complete tasks.
    pub completed: Option<u32>,
    /// Total number of tasks.
    pub total: Option<u32>,
}

const COMPLETED: &[&str] = &["tasks_completed", "tasks_done", "completed_tasks"];
const TOTAL: &[&str] = &["tasks_total", "total_tasks", "task_count"];
const LABELS: &[&str] = &["tasks", "tasks completed", "tasks done", "completed tasks"];

impl TaskCount {
    pub(super) fn from_document(document: &Document<'_>) -> Self {
        let mut count = Self::default();
        for keys in [COMPLETED, &["tasks"], &["task_rows"]] {
            if let Some(node) = document.field(keys) {
                count.add(Self::from_node(node));
            }
        }
        if let Some(total) = document.field(TOTAL).and_then(|node| node.as_text()) {
            count.total = Count::parse(total).map(|total| total.done).or(count.total);
        }
        // `2/2` in the body completes a lone `2` in the front matter, if the numbers of complete tasks agree.
        let labelled = document.values(LABELS).into_iter().map(Self::parse);
        let sections = document.outline.sections().iter();
        let titled = sections.map(|section| Self::from_title(&section.title));
        for found in labelled.chain(titled) {
            if count.completed.is_none() || found.completed == count.completed {
                count.add(found);
            }
        }
        if count == Self::default() {
            let body = document.body();
            let mut items = document.outline.items(&body);
            count = items.find_map(|(_, item)| Self::from_sentence(&item.text)).unwrap_or_default();
        }
        count
    }

    /// Parses `2 of 2 tasks completed`, as found in lists of accomplishments.
    fn from_sentence(text: &str) -> Option<Self> {
        let (numbers, state) = text.split_once(" tasks ")?;
        let state = state.trim_end_matches('.');
        let is_count = ["completed", "complete", "done"].contains(&state);
        Some(Self::parse(numbers)).filter(|count| is_count && count.total.is_some())
    }

    /// Fills in missing numbers.
    fn add(&mut self, other: Self) {
        self.completed = self.completed.or(other.completed);
        self.total = self.total.or(other.total);
    }

    /// Parses a number, `5/5`, or a list of tasks.
    fn from_node(node: &Node) -> Self {
        if let Some(text) = node.as_text() {
            return Self::parse(text);
        }
        let tasks = node.elements();
        let statuses: Vec<_> =
            tasks.iter().filter_map(|task| task.get(&["status"])?.as_text()).collect();
        let open = statuses
            .iter()
            .filter(|word| SummaryStatus::from_word(word) != Some(SummaryStatus::Complete))
            .count();
        let number = |count: usize| u32::try_from(count).ok();
        Self {
            completed: number(tasks.len() - open),
            total: number(tasks.len()).filter(|_| !statuses.is_empty()),
        }
    }

    /// Parses a heading such as `Tasks Completed: 5/5`.
    fn from_title(title: &str) -> Self {
        let words = title_words(title);
        let is_count = words.len() == 2
            && words.contains(&"tasks".to_owned())
            && (words.contains(&"completed".to_owned()) || words.contains(&"done".to_owned()));
        if !is_count {
            return Self::default();
        }
        Self::parse(title.trim_start_matches(|c: char| !c.is_ascii_digit()))
    }

    /// Parses `5`, `5/5`, `3 of 3 completed`, `8 (Tasks 4-5 skipped)`, `2 completed`.
    fn parse(text: &str) -> Self {
        let text = text.trim().trim_start_matches(['*', '`', '~']);
        Count::parse(text).map_or_else(Self::default, |count| Self {
            completed: Some(count.done),
            total: count.total,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn count(text: &str) -> (Option<u32>, Option<u32>) {
        let document = Document::parse(text, Path::new("a.md"), &mut Vec::new());
        let count = TaskCount::from_document(&document);
        (count.completed, count.total)
    }

    #[test]
    fn a_sentence_counts_where_nothing_else_does() {
        assert_eq!(count("# T\n- A\n- 2 of 3 tasks completed\n"), (Some(2), Some(3)));
        assert_eq!(count("# T\n- 2 of 3 tasks were split\n- 4 tasks done\n"), (None, None));
        let both = "# T\n**Tasks:** 4/4\n- 2 of 3 tasks done\n";
        assert_eq!(count(both), (Some(4), Some(4)));
    }

    #[test]
    fn counts_are_read_wherever_they_stand() {
        for (text, completed, total) in [
            ("---\ntasks_completed: 0\ntasks_total: 5\n---\n", Some(0), Some(5)),
            ("---\nmetrics:\n  tasks_completed: 2/3\n---\n", Some(2), Some(3)),
            ("---\ntasks: 5/5\n---\n", Some(5), Some(5)),
            ("---\ntasks:\n  - name: a\n    commit: x\n  - name: b\n---\n", Some(2), None),
            (
                "---\ntasks:\n  - {name: a, status: complete}\n  - {name: b, status: skipped}\n---\n",
                Some(1),
                Some(2),
            ),
            ("- **Tasks:** 8 (Tasks 4-5 skipped)\n", Some(8), None),
            ("**Tasks:** 3 of 3 completed\n", Some(3), Some(3)),
            ("## Tasks Completed: 4/5\n", Some(4), Some(5)),
            ("| Metric | Value |\n|---|---|\n| Tasks | 2 |\n", Some(2), None),
            ("Tasks: T1 dd64015 | T2 489584a\n", None, None),
            ("## Task 1: Parser\n", None, None),
        ] {
            assert_eq!(count(text), (completed, total), "{text}");
        }
    }
}
