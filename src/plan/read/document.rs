//! Parses a PLAN or SUMMARY file once into fields, outline and labelled lines, and determines its phase and plan.
//!
//! Headings and list entries are read here for all planning files.
//!
//! The same for plans and summaries in JSON Lines with short keys: a header row, then one row per task.
//!
//! ```text
//! {"p":"03","n":"01","t":"Parser","s":"complete","dt":"2026-02-17","tc":2,"tt":2,"ch":["84e9493"],"fm":["a.rs"],"dv":[]}
//! {"id":"T1","s":"complete","c":"84e9493","f":["a.rs"]}
//! ```
//!
//! The rows are converted to the fields of a markdown file's front matter.

use std::ops::Range;
use std::path::Path;

use serde_json::Value as Json;

use crate::markdown::{
    Block, BlockContent, FrontMatter, Label, ListItem, Node, Outline, Section, Value,
};
use crate::plan::read::phase_dir::FolderName;
use crate::plan::read::vocabulary::{find, has, words};
use crate::plan::read::{FileName, PhaseNumbering, PlanNumber};
use crate::text::{after_byte_order_mark, given, join, non_placeholder, one_line, words_in};
use crate::warning::{Parsed, Warning};

/// A parsed PLAN or SUMMARY file.
pub(crate) struct Document<'a> {
    /// The front matter, or the rows of a JSONL file under their long names.
    pub(crate) front: FrontMatter,
    /// The outline of the text after the front matter; empty for JSONL.
    pub(crate) outline: Outline<'a>,
    /// The labelled lines, each with its name in lower case and with underscores, as in the front matter.
    labels: Vec<(String, Label)>,
}

impl<'a> Document<'a> {
    /// Parses a file; JSONL is detected by its first characters.
    pub(crate) fn parse(text: &'a str, path: &Path, warnings: &mut Vec<Warning>) -> Self {
        let (front, body) = if is_json_lines(text) {
            let fields = parse_rows(text, path).into_value(warnings);
            (FrontMatter { fields, range: 0..0 }, text.len())
        } else {
            let front = FrontMatter::parse(text, path).into_value(warnings);
            let body = front.range.end;
            (front, body)
        };
        let outline = Outline::parse_beginning(text, body);
        warnings.extend(outline.warning(path));
        let named = |label: Label| {
            let name = label.name.trim_matches(['*', ' ']).to_lowercase();
            (name.replace([' ', '-'], "_"), label)
        };
        let labels = outline.labels(&(body..text.len())).into_iter().map(named).collect();
        Self { front, outline, labels }
    }

    /// Returns the title in the front matter, otherwise the first heading.
    pub(crate) fn title(&self) -> Option<String> {
        let title = self.front.text(&["title", "name"]).or_else(|| self.outline.title());
        title.and_then(given)
    }

    /// Returns the node of a key at the top level or under `metrics`.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        let metrics = || self.front.get(&["metrics", "performance"])?.get(&[key]);
        self.front.get(&[key]).or_else(metrics)
    }

    /// Returns the first field whose name is a word of a kind.
    pub(crate) fn field(&self, kind: &str) -> Option<&Node> {
        words(kind).find_map(|key| self.get(key))
    }

    /// Returns the body's values for the labels whose names are words of a kind, from labelled lines.
    pub(crate) fn values(&self, kind: &'static str) -> impl Iterator<Item = &str> {
        let lines = self.labels.iter().filter(move |(name, _)| has(kind, name));
        lines.map(|(_, label)| &*label.value)
    }

    /// Returns the texts of a kind, in the front matter and then in the body.
    pub(crate) fn stated(&self, kind: &'static str) -> impl Iterator<Item = &str> {
        let fields = words(kind).filter_map(|key| self.get(key)?.as_text());
        fields.chain(self.values(kind))
    }

    /// Returns the byte range of the body.
    pub(crate) fn body(&self) -> Range<usize> {
        self.front.range.end..self.outline.text().len()
    }

    /// Returns the outermost sections whose title words satisfy the predicate.
    pub(crate) fn sections(&self, fits: impl Fn(&[String]) -> bool) -> Vec<&Section> {
        let mut found: Vec<&Section> = Vec::new();
        for section in self.outline.sections() {
            let is_inside =
                found.last().is_some_and(|outer| outer.whole.contains(&section.heading.start));
            if section.level > 0 && !is_inside && fits(&title_words(&section.title)) {
                found.push(section);
            }
        }
        found
    }
}

/// Returns the words of a title in lower case, without numbers, symbols and punctuation.
pub(crate) fn title_words(title: &str) -> Vec<String> {
    let words = words_in(title).filter(|word| word.contains(char::is_alphabetic));
    words.map(str::to_lowercase).collect()
}

/// A phase and a plan, without slug and prefix: `5.1`, or a word such as `quick`; `2`, `1a`, `d`, or a name such as `R01`.
type Ids = (Option<String>, Option<String>);

impl Document<'_> {
    /// Returns the ids in the folder and file name, otherwise in the front matter.
    pub(crate) fn identity(&self, path: &Path) -> Ids {
        let front = |keys: &[&str]| self.front.text(keys).and_then(non_placeholder);
        let (phase, plan) = in_path(path);
        let stated_phase = || {
            let text = front(&["phase", "phase_number"])?;
            let number = PhaseNumbering::Plain.split(text);
            Some(number.map_or_else(|| text.to_owned(), |(number, _)| number.to_string()))
        };
        let stated_plan = || {
            let text = front(&["plan", "plan_id", "plan_number"])?;
            let number = PlanNumber::parse(text);
            Some(number.map_or_else(|| text.to_owned(), |number| number.to_string()))
        };
        (phase.or_else(stated_phase), plan.or_else(stated_plan))
    }
}

fn in_path(path: &Path) -> Ids {
    let mut parts: Vec<&str> =
        path.components().filter_map(|part| part.as_os_str().to_str()).collect();
    let name = parts.pop().unwrap_or_default();
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let stem = stem.trim_end_matches("-PLAN").trim_end_matches("-SUMMARY");
    if parts.contains(&"quick") {
        return (Some("quick".to_owned()), Some(stem.to_owned()));
    }
    let number = |folder: &str| FolderName::guess(folder, name).number;
    let folder = parts.into_iter().rfind(|folder| number(folder).is_some()).unwrap_or_default();
    let file = FileName::parse(name, folder);
    let (of_file, plan) = file.map_or((None, None), |file| (file.phase, file.plan));
    let is_round = stem.strip_prefix('R').is_some_and(|id| PlanNumber::parse(id).is_some());
    let phase = number(folder).or(of_file).map(|phase| phase.to_string());
    (phase, plan.map(|plan| plan.to_string()).or_else(|| is_round.then(|| stem.to_owned())))
}

/// Returns whether a text is JSON Lines rather than markdown.
pub(crate) fn is_json_lines(text: &str) -> bool {
    let text = after_byte_order_mark(text).trim_start();
    text.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with(['"', '}']))
}

/// Parses the rows into one mapping of fields, with the tasks as a list under `task_rows`.
fn parse_rows(text: &str, path: &Path) -> Parsed<Node> {
    let mut warnings = Vec::new();
    let mut fields = Vec::new();
    let mut tasks = Vec::new();
    for (index, raw) in text.lines().enumerate() {
        let line = index + 1;
        let raw = after_byte_order_mark(raw).trim();
        if raw.is_empty() {
            continue;
        }
        match serde_json::from_str::<Json>(raw) {
            Ok(Json::Object(row)) => {
                let is_task = row.contains_key("id");
                let row = node(renamed(row), line);
                if is_task {
                    tasks.push(row);
                } else {
                    fields.extend(row.pairs().to_vec());
                }
            }
            Ok(_) => warnings.push(Warning::at(path, line, "not a JSON object; skipped")),
            Err(error) => {
                warnings.push(Warning::at(path, line, format!("not JSON ({error}); skipped")));
            }
        }
    }
    if !tasks.is_empty() {
        let value = Value::List(tasks);
        fields.push(("task_rows".to_owned(), Node { value, line: 2 }));
    }
    let value = Value::Map(fields);
    Parsed::new(Node { value, line: 1 }, warnings)
}

fn renamed(row: serde_json::Map<String, Json>) -> Json {
    let long =
        |key: String| find("key of a row", |short| short == key).map_or(key, |(long, _)| long);
    Json::Object(row.into_iter().map(|(key, value)| (long(key), value)).collect())
}

fn node(json: Json, line: usize) -> Node {
    let value = match json {
        Json::Null => Value::Text(String::new()),
        Json::String(text) => Value::Text(text),
        Json::Array(list) => Value::List(list.into_iter().map(|json| node(json, line)).collect()),
        Json::Object(map) => {
            Value::Map(map.into_iter().map(|(key, json)| (key, node(json, line))).collect())
        }
        scalar => Value::Text(scalar.to_string()),
    };
    Node { value, line }
}

/// Returns the words of a heading in lower case: `### 🚧 Key Decisions (v1.0):` becomes `key decisions`.
pub(crate) fn heading(title: &str) -> String {
    let title = title.split(['(', '[']).next().unwrap_or_default().to_lowercase();
    let words = title.split(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '-' | '.')));
    join(words.filter(|word| word.contains(char::is_alphanumeric)), " ")
}

/// Returns the sections whose title is one of the words of a kind.
pub(crate) fn sections<'o>(
    outline: &'o Outline<'_>,
    kind: &'static str,
) -> impl Iterator<Item = &'o Section> {
    let sections = outline.sections().iter().filter(|section| section.level > 0);
    sections.filter(move |section| has(kind, &heading(&section.title)))
}

/// Returns whether a heading is about open, deferred or completed items.
pub(crate) fn is_about_items(title: &str) -> bool {
    let words = heading(title);
    let is_item = |word: &str| has("open items", word.strip_suffix('s').unwrap_or(word));
    has("done", &words) || words_in(&words).any(is_item)
}

/// Returns a list item with what is indented below it: `Before the launch: a; b`.
pub(crate) fn on_one_line(outline: &Outline<'_>, block: &Block, item: &ListItem) -> String {
    match details(outline, block, item) {
        Some(details) => format!("{}{details}", with_joint(&item.text)),
        None => item.text.clone(),
    }
}

/// Returns what is indented below a list item as one line, without ticked boxes: `a; b`.
pub(crate) fn details(outline: &Outline<'_>, block: &Block, item: &ListItem) -> Option<String> {
    let below = block.range.start + 1..item.whole.end;
    let lines = outline.blocks(&below).iter().filter_map(|block| {
        let text = match &block.content {
            BlockContent::Item(item) if item.checked != Some(true) => item.text.clone(),
            BlockContent::Paragraph => one_line(outline.slice(&block.range)),
            _ => return None,
        };
        Some(text).filter(|text| !text.is_empty())
    });
    lines.reduce(|joined, line| {
        if is_lead(&joined) {
            return format!("{joined} {line}");
        }
        let joined = joined.trim_end_matches([';', '.', ',']);
        format!("{joined}; {line}")
    })
}

/// Returns whether a text announces what follows it: `Before the launch:`, `**Launch:**`.
pub(crate) fn is_lead(text: &str) -> bool {
    text.trim_end_matches(['*', '_']).ends_with(':')
}

/// Returns a text with the joint before its details.
fn with_joint(text: &str) -> String {
    let is_sentence = text.trim_end_matches(['*', '_', ')']).ends_with(['.', '!', '?']);
    let joint = if is_lead(text) || is_sentence { " " } else { ": " };
    format!("{text}{joint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str, path: &str) -> (String, String) {
        let path = Path::new(path);
        let document = Document::parse(text, path, &mut Vec::new());
        let (phase, plan) = document.identity(path);
        (phase.unwrap_or_default(), plan.unwrap_or_default())
    }

    #[test]
    fn ids_come_from_the_path_or_the_front_matter() {
        for (path, phase, plan) in [
            ("phases/01-cli-scaffold/02-names-SUMMARY.md", "1", "2"),
            ("phases/02-01-tides/02-01-03-PLAN.md", "2-01", "3"),
            ("phases/02-tides/02-01-PLAN.md", "2", "1"),
            ("phases/06-report/06-D-SUMMARY.md", "6", "d"),
            ("phases/03-x/remediation/qa/round-01/R01-SUMMARY.md", "3", "R01"),
            ("quick/260422-p4a-tabs/260422-p4a-SUMMARY.md", "quick", "260422-p4a"),
            ("x.md", "8", "10"),
        ] {
            let stated = "---\nphase: 08-optical-center\nplan: 10\n---\n";
            assert_eq!(ids(stated, path), (phase.to_owned(), plan.to_owned()), "{path}");
        }
        assert_eq!(ids("# Phase 1 Plan 2\n", "x.md"), (String::new(), String::new()));
    }

    #[test]
    fn rows_become_fields_and_tasks() {
        let text = "{\"p\":\"03-02\",\"s\":\"complete\",\"d\":[\"x\"],\"tt\":4}\n\nnonsense\n{\"id\":\"T1\",\"c\":\"0753326\",\"f\":[\"a\"]}\n";
        let parsed = parse_rows(text, Path::new("a.jsonl"));
        let fields = parsed.value;
        let text = |key: &str| fields.get(&[key]).and_then(Node::as_text);
        assert_eq!(text("tasks_total"), Some("4"));
        assert_eq!(fields.get(&["depends_on"]).unwrap().texts(), ["x"]);
        let task = fields.get(&["task_rows"]).unwrap().elements()[0];
        assert_eq!(task.get(&["commit"]).unwrap().as_text(), Some("0753326"));
        assert_eq!(parsed.warnings.len(), 1);
        assert_eq!(parsed.warnings[0].place.line, Some(3));
    }

    #[test]
    fn markdown_is_not_json_lines() {
        assert!(is_json_lines("\u{feff}\n{\"p\":1}"));
        assert!(!is_json_lines("{placeholder}\n# Title"));
        assert!(!is_json_lines("---\na: 1\n---"));
    }

    #[test]
    fn items_are_recognised_by_whole_words() {
        for title in ["Open Questions", "Blockers/Concerns", "Deferred", "Done", "Todos"] {
            assert!(is_about_items(title), "{title}");
        }
        for title in ["OpenAPI", "Key Decisions", "Definition of done"] {
            assert!(!is_about_items(title), "{title}");
        }
    }

    #[test]
    fn decoration_is_dropped() {
        for (title, expected) in [
            ("🚧 Key Decisions (v1.0):", "key decisions"),
            ("Blockers/Concerns", "blockers/concerns"),
            ("**Todos**", "todos"),
            ("Принятые РЕШЕНИЯ", "принятые решения"),
            ("(none)", ""),
        ] {
            assert_eq!(heading(title), expected);
        }
    }

    #[test]
    fn what_is_indented_follows_its_item() {
        for (text, expected) in [
            ("- Plain\n", "Plain"),
            (
                "- Label printer (needs its own phase):\n  - one driver.\n  - paper sizes\n  - no cloud\n- Other\n",
                "Label printer (needs its own phase): one driver; paper sizes; no cloud",
            ),
            ("- **Launch:**\n  - a\n", "**Launch:** a"),
            ("- Launch\n  - a:\n    - a1\n    - a2\n  - b\n", "Launch: a: a1; a2; b"),
            ("- It hangs.\n\n  Only at\n  night.\n", "It hangs. Only at night."),
            ("- [ ] Move\n  - [x] read\n  - [ ] write\n", "Move: write"),
            ("- Run it\n  ```\n  make\n  ```\n\nAfter it.\n", "Run it"),
        ] {
            let outline = Outline::parse(text, 0);
            let (block, item) = outline.items(&(0..text.len())).next().unwrap();
            assert_eq!(on_one_line(&outline, block, item), expected);
        }
    }
}
