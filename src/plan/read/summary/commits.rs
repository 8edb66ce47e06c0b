//! Extracts the commit hashes of a plan, exactly as written.

use std::collections::HashSet;

use crate::markdown::node::Value;
use crate::markdown::{Node, Ranges};
use crate::plan::read::document::{Document, title_words};

/// Title words of sections about commits of other plans, or that repeat those of this one.
const EXCLUDED_SECTIONS: &[&str] = &[
    "deviation", "deviations", "issues", "auto", "self", "verification", "decisions", "next",
    "known", "notes", "readiness", "stubs", "setup",
];

/// Returns the hashes in the front matter, otherwise in the body's commit sections, otherwise in its task
/// lines, otherwise in a self-check, otherwise under commit labels.
pub(super) fn commits(document: &Document<'_>) -> Option<Vec<String>> {
    let stated = in_fields(document);
    if stated.as_ref().is_some_and(|hashes| !hashes.is_empty()) {
        return stated;
    }
    [in_commit_sections, in_task_lines, in_self_check, in_labels]
        .iter()
        .map(|find| find(document))
        .find(|found| !found.is_empty())
        .or(stated)
}

fn in_fields(document: &Document<'_>) -> Option<Vec<String>> {
    let mut hashes = Hashes::default();
    let lists: Vec<&Node> = ["commit_hashes", "commits", "commit", "commit_hash"]
        .iter()
        .filter_map(|key| document.field(&[key]))
        .collect();
    for node in &lists {
        match &node.value {
            Value::Text(line) => hashes.add(line, Subject::Commits),
            Value::List(_) | Value::Map(_) => {
                for item in node.elements() {
                    let stated = item.get(&["hash", "sha", "commit"]).unwrap_or(item);
                    hashes.add_leading(&stated.flat());
                }
            }
        }
        // The list of hashes is complete; `commits` repeats them with messages.
        if !hashes.0.is_empty() {
            break;
        }
    }
    if hashes.0.is_empty() {
        let tasks = ["task_rows", "tasks"].map(|key| document.field(&[key]));
        for task in tasks.iter().flatten().flat_map(|node| node.elements()) {
            if let Some(node) = task.get(&["commit", "commit_hash", "commits", "hash"]) {
                for text in node.texts() {
                    hashes.add_leading(&text);
                }
            }
        }
    }
    let is_list = |node: &&Node| matches!(node.value, Value::List(_));
    let is_known = !hashes.0.is_empty() || lists.iter().any(is_list);
    is_known.then(|| hashes.unique())
}

fn in_commit_sections(document: &Document<'_>) -> Vec<String> {
    let mut hashes = Hashes::default();
    let others = excluded_ranges(document);
    for section in document.sections(|words| words.iter().any(|word| word.starts_with("commit"))) {
        if others.contains(section.heading.start) {
            continue;
        }
        let text = document.outline.text();
        for line in text[section.heading.start..section.whole.end].lines() {
            hashes.add(line, Subject::Commits);
        }
    }
    hashes.unique()
}

/// Finds hashes in lines about tasks and commits, outside code blocks and the sections in [`EXCLUDED_SECTIONS`].
fn in_task_lines(document: &Document<'_>) -> Vec<String> {
    let mut hashes = Hashes::default();
    let mut is_code = false;
    let others = excluded_ranges(document);
    for section in document.outline.sections() {
        if others.contains(section.heading.start) {
            continue;
        }
        let subject = |text: &str| {
            let text = text.to_lowercase();
            let names_commits = [
                "commit",
                "task",
                "\u{43a}\u{43e}\u{43c}\u{43c}\u{438}\u{442}",
                "\u{437}\u{430}\u{434}\u{430}\u{447}",
            ]
            .iter()
            .any(|word| text.contains(word));
            if names_commits { Subject::Commits } else { Subject::Any }
        };
        let of_section = subject(&section.title);
        hashes.add(&section.title, of_section);
        let mut is_table_of_commits = false;
        for line in document.outline.text()[section.own.clone()].lines() {
            if line.trim_start().starts_with("```") {
                is_code = !is_code;
            }
            let is_row = line.trim_start().starts_with('|');
            let of_line = subject(line);
            is_table_of_commits = is_row && (is_table_of_commits || of_line == Subject::Commits);
            let is_of_commits = [of_section, of_line].contains(&Subject::Commits);
            if !is_code && (is_of_commits || is_table_of_commits) {
                hashes.add(line, of_line);
            }
        }
    }
    hashes.unique()
}

/// Finds the hashes that a self-check looked for: `- FOUND: 47dffe7 (Task 1)`.
fn in_self_check(document: &Document<'_>) -> Vec<String> {
    let mut hashes = Hashes::default();
    for section in document
        .sections(|words| matches!(words, [one, two, ..] if one == "self" && two == "check"))
    {
        for line in document.outline.slice(&section.whole).lines() {
            hashes.add(line, Subject::Any);
        }
    }
    hashes.unique()
}

fn in_labels(document: &Document<'_>) -> Vec<String> {
    let mut hashes = Hashes::default();
    for value in document.values(&["commit", "commits", "committed in"]) {
        hashes.add(value, Subject::Commits);
    }
    hashes.unique()
}

/// Returns the byte ranges of the sections in [`EXCLUDED_SECTIONS`], with their subsections.
fn excluded_ranges(document: &Document<'_>) -> Ranges {
    let sections = document.outline.sections().iter();
    let others = sections.filter(|section| section.level > 1).filter(|section| {
        let words = title_words(&section.title);
        words.first().is_some_and(|word| word != "task")
            && words.iter().any(|word| EXCLUDED_SECTIONS.contains(&word.as_str()))
    });
    Ranges::merge(others.map(|section| section.heading.start..section.whole.end))
}

/// The subject of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// Commits, so that a hash may look like a plain number.
    Commits,
    /// Anything.
    Any,
}

#[derive(Default)]
struct Hashes(Vec<String>);

impl Hashes {
    /// Adds the hashes at the start of a list entry; the commit message follows them.
    fn add_leading(&mut self, text: &str) {
        let words =
            text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let hashes = words.take_while(|word| (7..=64).contains(&word.len()) && is_hex(word));
        self.0.extend(hashes.map(str::to_owned));
    }

    /// Adds the hashes of a line.
    fn add(&mut self, line: &str, subject: Subject) {
        let mut at = 0;
        for word in line.split(|c: char| !c.is_ascii_alphanumeric()) {
            let start = at;
            at += word.len();
            let before = line[..start].chars().next_back();
            let after = line[at..].chars().next();
            at += after.map_or(0, char::len_utf8);
            if is_hash(word, before, after, subject) {
                self.0.push(word.to_owned());
            }
        }
    }

    fn unique(mut self) -> Vec<String> {
        let mut seen = HashSet::new();
        self.0.retain(|hash| seen.insert(hash.clone()));
        self.0
    }
}

/// Returns whether a word is a commit hash, judged by its characters and its surroundings.
fn is_hash(word: &str, before: Option<char>, after: Option<char>, subject: Subject) -> bool {
    let is_code = before == Some('`') && after == Some('`');
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = word.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_date = word.len() == 8 && word.starts_with("20");
    let is_of_commits = subject == Subject::Commits;
    let is_certain =
        has_digit && has_letter || is_of_commits && is_code && (has_letter || !is_date);
    let joins = |side: Option<char>| {
        side.is_some_and(|c| "-_/#@=:".contains(c) || !c.is_ascii() && c.is_alphanumeric())
    };
    let is_part =
        before.is_some_and(|c| "-_/#@=.".contains(c)) || joins(after) && after != Some(':');
    matches!(word.len(), 7..=12 | 40) && is_hex(word) && is_certain && !is_part
}

fn is_hex(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str) -> Option<Vec<String>> {
        commits(&Document::parse(text, Path::new("a.md"), &mut Vec::new()))
    }

    #[test]
    fn stated_hashes_come_out_as_written() {
        for (text, hashes) in [
            ("commit_hashes: [84e9493, 0753326, 8475544]", &["84e9493", "0753326", "8475544"][..]),
            ("commit_hashes:\n  - 08579dc # PR-01a: text", &["08579dc"]),
            ("commits:\n  - hash: 50e50a9\n    message: x", &["50e50a9"]),
            ("commits:\n  - \"506e556 feat: x\"\ncommit_hashes: []", &["506e556"]),
            ("commits:\n  - \"feat: x\"\ncommit_hashes: [1009cd2]", &["1009cd2"]),
            ("tasks:\n  - name: a\n    commit: b924d66", &["b924d66"]),
            ("commits: \"1a2b3c4, 5d6e7f8\"", &["1a2b3c4", "5d6e7f8"]),
            ("commits: []", &[]),
        ] {
            let text = format!("---\n{text}\n---\n");
            assert_eq!(read(&text).unwrap(), hashes, "{text}");
        }
        assert_eq!(read("---\ncommits: 5\n---\n"), None);
    }

    #[test]
    fn the_body_tells_them_in_sections_tables_and_lines() {
        for (text, hashes) in [
            (
                "## Task Commits\n1. **Task 1: x** - `870c86b` (feat)\n2. **Task 2** - `8475544`\n",
                &["870c86b", "8475544"][..],
            ),
            ("## Commit\n`b7f87c9` - x\n\n## Deviations\nalso in 0b7f87c\n", &["b7f87c9"]),
            ("- Tasks: fixture (f3c07d0), tests (cf3be7b)\n", &["f3c07d0", "cf3be7b"]),
            ("Tasks: T1 dd64015 | T2 489584a\n", &["dd64015", "489584a"]),
            (
                "## Tasks\n| # | Commit |\n|---|---|\n| 1 | 94368d9* |\n| 2 | (staged) |\n",
                &["94368d9"],
            ),
            ("### Task 1: x (Commit: af3717a)\n", &["af3717a"]),
            (
                "### Task 1\n- **Commit:** `50e50a9` x\n### Task 2\n- **Commit:** `50e50a9`\n",
                &["50e50a9"],
            ),
        ] {
            assert_eq!(read(text).unwrap(), hashes, "{text}");
        }
        for text in [
            "Color #af3717a and id 9b1deb4d-3b7d-4bad in commit notes\n",
            "On 20260214 the commit was made\n",
            "## Deviations\nTask 2 came with commit 47dffe7 of another plan\n",
            "```\ncommit 47dffe7\n```\n",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
