//! Reads the deviations of a summary from its front matter and its body, which often describe the same ones.
//!
//! ```text
//! ## Deviations from Plan          ## Deviations            ## Deviations
//! ### Auto-fixed Issues            - Task 3 was skipped     ### DEVN-02: Moved the file
//! **1. [Rule 1 - Bug] Wrong date**                          | ID | Description | Impact |
//! - **Issue:** It was a number
//! - **Fix:** Read it as text
//! **Total deviations:** 1 auto-fixed
//! ```

use std::collections::HashMap;

use serde::Serialize;

use crate::markdown::{BlockContent, Label, Node, Section, Table, Value, without_bullet};
use crate::plan::read::document::{Document, title_words};
use crate::plan::read::non_placeholder;
use crate::text::{one_line, strip_prefix_ignore_case};

/// A deviation from the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Deviation {
    /// What was done differently, verbatim.
    pub text: String,
    /// The kind, if stated: `DEVN-01`, `Rule 1 - Bug`, `plan-amendment`.
    pub kind: Option<String>,
    /// The severity, if stated in addition to the kind: `minor`, `critical`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// The problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// The cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The affected files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Line number in the summary, from 1.
    pub line: usize,
}

/// Returns the number of deviations and their list. The number exceeds the length of the list if only a number is stated;
/// no mention is not zero.
///
/// A list in the front matter is complete, unless the body lists more without referring to it; if there is only a
/// number, the body describes the deviations.
pub(super) fn deviations(document: &Document<'_>) -> (Option<u32>, Option<Vec<Deviation>>) {
    let body = Body::read(document);
    let length = |list: &[Deviation]| u32::try_from(list.len()).unwrap_or(u32::MAX);
    let (count, list) = match Stated::read(document) {
        Stated::List(list) if body.entries.len() <= list.len() || body.refers_to_front => {
            (None, with_details(list, &body.entries))
        }
        Stated::List(_) => (None, body.entries),
        Stated::Count(count) => (Some(count), body.at_most(count)),
        Stated::Nothing if !body.speaks => return (None, None),
        Stated::Nothing => {
            let total = body.total;
            (total, body.at_most(total.unwrap_or(1)))
        }
    };
    let count = count.unwrap_or(0).max(length(&list));
    (Some(count), (count == 0 || !list.is_empty()).then_some(list))
}

/// Fills in the details of each deviation in the front matter from the one in the body that begins alike.
fn with_details(mut list: Vec<Deviation>, told: &[Deviation]) -> Vec<Deviation> {
    let start = |text: &str| -> String {
        let tagged = text.trim_start_matches('*').strip_prefix('[');
        let rest = tagged.and_then(|tagged| tagged.split_once(']'));
        let letters = rest.map_or(text, |(_, rest)| rest).chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).take(12).collect()
    };
    let by_start: HashMap<String, &Deviation> =
        told.iter().rev().map(|other| (start(&other.text), other)).collect();
    for own in &mut list {
        if let Some(other) = by_start.get(&start(&own.text)) {
            *own = Deviation {
                text: std::mem::take(&mut own.text),
                kind: own.kind.take().or_else(|| other.kind.clone()),
                line: own.line,
                ..(*other).clone()
            };
        }
    }
    list
}

/// The deviations stated in the front matter.
enum Stated {
    Nothing,
    Count(u32),
    List(Vec<Deviation>),
}

impl Stated {
    fn read(document: &Document<'_>) -> Self {
        let names = ["deviations", "deviation_count", "deviations_count"];
        let Some(node) = document.field(&names) else {
            // The deviations section describes a deviation better than a label in the body.
            let labelled = document.values(&["deviations", "deviations_from_plan"]);
            let stated = labelled.into_iter().find(|value| !value.is_empty());
            return match stated.map(|value| Self::parse(value, 1)) {
                None | Some(Self::List(_)) => Self::Nothing,
                Some(stated) => stated,
            };
        };
        if let Some(text) = node.as_text() {
            return Self::parse(text, node.line);
        }
        if matches!(node.value, Value::Text(_)) {
            return Self::Nothing;
        }
        let items = node.get(&["items", "list", "details"]);
        let count = node.get(&["count", "total"]).filter(|_| items.is_none());
        if let Some(Ok(count)) = count.and_then(Node::as_text).map(str::parse) {
            return Self::Count(count);
        }
        let nodes = items.unwrap_or(node).elements();
        let list: Vec<_> = nodes.into_iter().filter_map(from_node).collect();
        if list.is_empty() { Self::Count(0) } else { Self::List(list) }
    }

    /// Parses `3`, `2 minor`, `None`, `See below`, or a single deviation.
    fn parse(text: &str, line: usize) -> Self {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        match text[..digits].parse() {
            Ok(number) => Self::Count(number),
            Err(_) if is_none(text) => Self::Count(0),
            Err(_) if matches!(text, "null" | "~") || text.to_lowercase().starts_with("see ") => {
                Self::Nothing
            }
            Err(_) => Self::List(vec![Deviation::from_text(text, line)]),
        }
    }
}

/// Parses an entry of the front matter: a text, or a mapping.
fn from_node(node: &Node) -> Option<Deviation> {
    let of_text = || {
        let text = node.flat();
        (!is_none(&text)).then(|| Deviation::from_text(&text, node.line))
    };
    let fields = node.pairs().iter().map(|(key, value)| (key.as_str(), value.flat()));
    Deviation::from_fields(fields.collect(), node.line).unwrap_or_else(of_text)
}

/// The deviations in the body.
#[derive(Default)]
struct Body {
    /// The deviations that are separate entries, with the byte offset of each.
    entries: Vec<Deviation>,
    starts: Vec<usize>,
    /// Byte offsets at which an entry ends without another one.
    ends: Vec<usize>,
    /// Deviations in paragraphs, used if there are no entries.
    prose: Vec<Deviation>,
    /// The number in `Total deviations: 3 auto-fixed`.
    total: Option<u32>,
    /// Whether the body refers to the front matter for the list.
    refers_to_front: bool,
    /// Whether the body mentions deviations, even if only to deny them.
    speaks: bool,
    /// Whether the current part says that there are none: after that, only entries that name a rule count.
    is_denied: bool,
}

impl Body {
    fn read(document: &Document<'_>) -> Self {
        const TITLES: &[&str] =
            &["deviation", "deviations", "отклонения", "desviaciones", "écarts"];
        let outline = &document.outline;
        let mut found = Self::default();
        let mut sections = document.sections(|words| {
            words.iter().take(3).any(|word| TITLES.contains(&word.as_str()))
                && words.first().is_none_or(|word| word != "task")
        });
        if sections.is_empty() {
            sections = document.sections(|words| {
                matches!(words, [auto, fixed, ..] if auto == "auto" && (fixed == "fixed" || fixed == "added"))
            });
        }
        for section in sections {
            found.is_denied = false;
            found.blocks(document, section, false);
            let whole_is_denied = found.is_denied;
            for inner in outline.subsections(section) {
                found.is_denied =
                    whole_is_denied && !inner.title.to_lowercase().starts_with("auto");
                found.subsection(document, inner);
            }
            found.ends.push(section.whole.end);
            found.speaks |= !outline.slice(&section.whole).is_empty();
        }
        // The details of an entry are in its lines, up to the start of the next entry or other text.
        let mut bounds = [found.starts.as_slice(), &found.ends].concat();
        bounds.sort_unstable();
        for (entry, start) in found.entries.iter_mut().zip(&found.starts) {
            let next = bounds.get(bounds.partition_point(|bound| bound <= start));
            let end = next.copied().unwrap_or(outline.text().len());
            entry.read_details(outline.slice(&(*start..end)));
        }
        found
    }

    /// Returns the entries, or without entries, at most `count` paragraphs.
    fn at_most(self, count: u32) -> Vec<Deviation> {
        if self.entries.is_empty() {
            self.prose.into_iter().take(count as usize).collect()
        } else {
            self.entries
        }
    }

    /// Reads a part of a section: an entry by itself, judged by its rule or the details below it, or a group of entries.
    fn subsection(&mut self, document: &Document<'_>, section: &Section) {
        const SEVERAL: &[&str] = &["issues", "fixes", "bugs", "deviations", "additions"];
        let (title, start) = (section.title.as_str(), section.heading.start);
        let blocks = document.outline.blocks(&section.own);
        let is_detailed = blocks.first().is_some_and(|block| match &block.content {
            BlockContent::Item(item) => part_of(&item.text).is_some(),
            BlockContent::Paragraph => part_of(document.outline.slice(&block.range)).is_some(),
            _ => false,
        });
        let is_group = title_words(title).iter().any(|word| SEVERAL.contains(&word.as_str()));
        if is_detailed || names_rule(title) && !is_group {
            self.entry(unnumbered(title), section.line, start);
            self.blocks(document, section, true);
        } else {
            self.ends.push(start);
            if !is_remark(title) {
                self.blocks(document, section, false);
            }
        }
    }

    fn entry(&mut self, text: &str, line: usize, start: usize) {
        self.is_denied |= is_none(text);
        if is_none(text) || is_remark(text) || self.is_denied && !names_rule(text) {
            self.ends.push(start);
        } else {
            self.entries.push(Deviation::from_text(text, line));
            self.starts.push(start);
        }
    }

    /// Reads the blocks of a section, all of which are details of the entry in its heading if `is_inside`.
    fn blocks(&mut self, document: &Document<'_>, section: &Section, is_inside: bool) {
        let outline = &document.outline;
        let blocks = outline.blocks(&section.own);
        let has_numbered = outline.paragraphs(&section.own).any(|(_, text)| is_numbered_head(text));
        // List items below an entry, or below a paragraph that introduces them, are details.
        let mut is_detail = false;
        for block in blocks {
            let (line, start) = (block.line, block.range.start);
            match &block.content {
                _ if is_inside && !matches!(block.content, BlockContent::Paragraph) => {}
                BlockContent::Item(item) => {
                    if item.depth == 0 && !is_detail && part_of(&item.text).is_none() {
                        self.entry(&unbolded(&item.text), line, start);
                    }
                }
                BlockContent::Table(table) => self.table(table, start),
                BlockContent::Paragraph => {
                    let text = one_line(outline.slice(&block.range));
                    if part_of(&text).is_some() {
                        self.label(&text, start);
                    } else if !is_inside {
                        is_detail = self.paragraph(&text, line, start, has_numbered);
                    }
                }
                BlockContent::Code | BlockContent::Html => {}
            }
        }
    }

    /// Reads the total number of deviations.
    fn label(&mut self, text: &str, start: usize) {
        if let Some((_, value)) =
            text.split_once(':').filter(|(name, _)| name.to_lowercase().contains("total deviation"))
        {
            let mut numbers = value.split(|c: char| !c.is_ascii_digit());
            let number = numbers.find(|part| !part.is_empty());
            self.total = number.and_then(|number| number.parse().ok());
            self.ends.push(start);
        }
    }

    /// Reads a paragraph; returns whether the list below belongs to it.
    fn paragraph(&mut self, text: &str, line: usize, start: usize, has_numbered: bool) -> bool {
        let lower = text.to_lowercase();
        let is_lead = text.trim_end_matches('*').ends_with(':');
        let is_bold = text.starts_with("**");
        let is_head = is_numbered_head(text);
        if !is_head && (lower.contains("frontmatter") || lower.contains("front matter")) {
            self.refers_to_front = true;
            return false;
        }
        if is_none(text) {
            // `None beyond the following:` introduces entries.
            let excepts =
                ["beyond", "except", "other than"].iter().any(|word| lower.contains(word));
            self.is_denied |= !(is_lead && excepts);
            self.ends.push(start);
            return false;
        }
        if is_head || is_bold && !has_numbered && !is_lead || names_rule(text) {
            self.entry(&unbolded(text), line, start);
            return true;
        } else if !is_bold && !self.is_denied && !is_remark(text) {
            self.prose.push(Deviation::from_text(text, line));
        }
        self.ends.push(start);
        is_bold && !is_lead
            || is_lead && !is_bold && !lower.contains("deviation")
            || is_remark(text)
    }

    fn table(&mut self, table: &Table, start: usize) {
        for row in &table.rows {
            let fields = table.header.iter().map(String::as_str).zip(row.cells.iter().cloned());
            let fields = fields.filter(|(_, cell)| cell.contains(char::is_alphabetic));
            // A table of measurements or checks lists no deviations.
            let read = Deviation::from_fields(fields.collect(), row.line).flatten();
            let Some(read) = read.filter(|_| !row.cells.first().is_none_or(|one| is_none(one)))
            else {
                continue;
            };
            if !self.is_denied || read.kind.as_deref().is_some_and(names_rule) {
                self.entries.push(read);
                // The text after the table is not a detail of its last row.
                self.starts.push(start);
            }
        }
    }
}

/// Returns whether a paragraph begins a numbered or tagged deviation: `**2. [Rule 1 - Bug] …`, `**[Rule 3] …`.
fn is_numbered_head(text: &str) -> bool {
    let head = text.strip_prefix("**");
    head.is_some_and(|head| head.starts_with(|c: char| c.is_ascii_digit()) || names_rule(head))
}

/// Returns whether a title or an entry is about something other than a deviation: `Deferred …`, `(not a deviation)`.
fn is_remark(text: &str) -> bool {
    const TITLES: &[&str] = &[
        "deferred", "verification", "verified", "self check", "out of scope", "auth", "scope note",
        "note", "decisions",
    ];
    let lower = text.to_lowercase();
    let words = title_words(text).join(" ");
    let is_denied = ["not a deviation", "not deviation", "non-deviation"];
    !names_rule(text)
        && (TITLES.iter().any(|title| words.starts_with(title))
            || is_denied.iter().any(|words| lower.contains(words))
            || text.starts_with(['✓', '✅', '✔']))
}

/// Strips the leading number: `1. Text`.
fn unnumbered(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['.', ')']) {
        Some(after) if rest.len() < text.len() && after.starts_with(' ') => after.trim_start(),
        _ => text,
    }
}

/// Strips an entry's number, and the bold markup of a head with a number or tag.
fn unbolded(text: &str) -> String {
    let bold = text.strip_prefix("**").and_then(|inner| inner.split_once("**"));
    match bold.map(|(head, rest)| (head, unnumbered(head), rest)) {
        Some((head, bare, rest))
            if bare.len() < head.len() || rest.is_empty() || head.starts_with('[') =>
        {
            format!("{bare}{rest}")
        }
        _ => text.to_owned(),
    }
}

/// The topic of a labelled part of a deviation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Issue,
    Cause,
    Fix,
    Files,
    Severity,
    /// A known part that does not describe the problem: a commit, a verification.
    Other,
}

/// The labels of each part.
const LABELS: &[(Part, &[&str])] = &[
    (
        Part::Issue,
        &["issue", "problem", "defect", "description", "bug", "symptom", "finding", "diagnosis"],
    ),
    (
        Part::Cause,
        &["root cause", "cause", "reason", "reasoning", "why", "rationale", "justification"],
    ),
    (
        Part::Fix,
        &[
            "fix", "fixed", "resolution", "solution", "action", "action taken", "decision",
            "approach", "remedy", "workaround",
        ],
    ),
    (
        Part::Files,
        &["files modified", "files changed", "files created", "files added", "files", "file"],
    ),
    (Part::Severity, &["severity", "classification"]),
    (
        Part::Other,
        &[
            "found during", "found in", "verification", "verified", "committed in", "commit",
            "commits", "status", "rule", "rule applied", "type", "task", "note", "result",
            "outcome", "planned", "details", "change", "risk", "mitigation", "context", "total",
            "total deviations", "impact", "impact on plan", "effect",
        ],
    ),
];

impl Part {
    fn from_label(label: &str) -> Option<Self> {
        // Without the remark: `**Fix (abc1234):**`.
        let name = label.split_once(" (").map_or(label, |(name, _)| name);
        let name = name.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        LABELS.iter().find(|(_, names)| names.contains(&name.as_str())).map(|(part, _)| *part)
    }
}

/// Returns the part whose label a text begins with.
fn part_of(text: &str) -> Option<Part> {
    Part::from_label(&Label::parse(text.lines().next()?, 0, 0)?.name)
}

impl Deviation {
    /// Returns a deviation with the kind and severity stated in its text.
    fn from_text(text: &str, line: usize) -> Self {
        let (kind, severity) = kind_and_severity(text);
        Self { text: text.to_owned(), kind, severity, line, ..Self::default() }
    }

    /// Parses the fields of a mapping or the cells of a row; `None` if no field describes it, and inside if that says
    /// that there is none.
    #[expect(clippy::option_option, reason = "no field and a field that says none are told apart")]
    fn from_fields(fields: Vec<(&str, String)>, line: usize) -> Option<Option<Self>> {
        const TEXTS: &[&str] = &[
            "description", "deviation", "text", "what", "change", "summary", "issue", "title",
            "detail", "details",
        ];
        const KINDS: &[&str] = &["id", "code", "type", "kind", "rule", "category", "severity"];
        let fields = fields.into_iter().map(|(key, value)| {
            (key.trim_matches(['*', ' ']).to_lowercase().replace('_', " "), value)
        });
        let fields: Vec<(String, String)> = fields.collect();
        let of = |names: &[&str]| {
            let found = names.iter().find_map(|name| fields.iter().find(|(key, _)| key == name));
            found.filter(|(_, value)| !value.is_empty())
        };
        let (name, text) = of(TEXTS)?;
        let mut found = Self::from_text(text, line);
        for (key, value) in fields.iter().filter(|(key, _)| key != name) {
            found.set_part(Part::from_label(key), value);
        }
        let code = fields.iter().find(|(key, value)| key == "id" && value.starts_with("DEVN"));
        let kind = code.or_else(|| of(&KINDS[1..])).or_else(|| of(KINDS));
        found.kind = kind.map(|(_, kind)| kind.clone()).or(found.kind);
        Some((!is_none(text)).then_some(found))
    }

    /// Sets the parts from the labels in `passage`, the deviation's own lines. A value extends to the next label or blank
    /// line.
    fn read_details(&mut self, passage: &str) {
        let mut open: Option<Part> = None;
        let mut value = String::new();
        for line in passage.lines() {
            let label = Label::parse(line.trim_end(), 0, 1);
            let part = label.as_ref().and_then(|label| Part::from_label(&label.name));
            let ends = part.is_some() || line.trim().is_empty();
            if ends || label.as_ref().is_some_and(|label| label.is_bold) {
                self.set_part(open.take(), &std::mem::take(&mut value));
            }
            match label.filter(|_| part.is_some()) {
                Some(label) => (open, value) = (part, label.value),
                None => value = format!("{value} {}", without_bullet(line.trim())),
            }
        }
        self.set_part(open, &value);
    }

    fn set_part(&mut self, part: Option<Part>, value: &str) {
        let value = one_line(value);
        let value = value.trim_matches(|c: char| c.is_whitespace() || "—-|".contains(c));
        let Some(value) = non_placeholder(value).map(str::to_owned) else { return };
        let field = match part {
            Some(Part::Files) => return self.files.extend(paths(&value)),
            Some(Part::Severity) => &mut self.severity,
            Some(Part::Issue) => &mut self.issue,
            Some(Part::Cause) => &mut self.cause,
            Some(Part::Fix) => &mut self.fix,
            Some(Part::Other) | None => return,
        };
        field.get_or_insert(value);
    }
}

/// Returns the paths in a list of files: ``src/a.rs (new), `b.rs` ``.
fn paths(list: &str) -> impl Iterator<Item = String> {
    list.split([',', ';']).filter_map(|entry| {
        let word = entry.split_whitespace().next()?;
        let path = word.trim_matches(|c: char| "`*\"'".contains(c));
        let is_path = path.contains(['.', '/']) && path.contains(char::is_alphanumeric);
        is_path.then(|| path.to_owned())
    })
}

/// Returns what is stated at the start of a deviation's text: `[Rule 1 - Bug] …`, `DEVN-01 (minor): …`, `Blocking: …`.
fn kind_and_severity(text: &str) -> (Option<String>, Option<String>) {
    const SEVERITIES: &[&str] = &["minor", "moderate", "major", "critical", "low", "high"];
    const WORDS: &[&str] = &[
        "plan-amendment", "process-exception", "code-fix", "pre-existing", "minor", "critical",
        "blocking", "architectural",
    ];
    let text = text.trim_start_matches(['*', '_', '~', '`', ' ']);
    if let Some((tag, _)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return ((tag.len() <= 48).then(|| tag.trim().to_owned()), None);
    }
    // Later in the text, these words are part of the description.
    let head = text.split([':', ')']).next().unwrap_or_default().to_lowercase();
    let mut words = head.split(|c: char| !c.is_alphanumeric() && c != '-');
    let number = |rest: &str| {
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        (!digits.is_empty()).then(|| digits.to_owned())
    };
    let coded = [("devn-", "DEVN-"), ("rule ", "Rule ")]
        .into_iter()
        .find_map(|(start, name)| Some(format!("{name}{}", number(head.strip_prefix(start)?)?)));
    match coded {
        Some(kind) => (Some(kind), words.find(|word| SEVERITIES.contains(word)).map(str::to_owned)),
        None if head.len() < text.len() && head.len() <= 48 => {
            (words.find(|word| WORDS.contains(word)).map(str::to_owned), None)
        }
        None => (None, None),
    }
}

/// Returns whether a text says that there is no deviation: `None.`, `No deviations`, `Plan executed exactly
/// as written`.
fn is_none(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "n/a",
        "nothing to report",
        "not applicable",
        "plan executed exactly",
        "plan executed as written",
        "executed exactly as",
        "plan followed exactly",
    ];
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    if let Some(rest) = text.strip_prefix("none") {
        // "None of the tests could run" is a deviation.
        return !rest.starts_with(char::is_alphanumeric) && !rest.starts_with(" of ");
    }
    // `No major deviations`.
    let denied = text.strip_prefix("no ").or_else(|| text.strip_prefix("zero "));
    let mut words = denied.unwrap_or_default().split(' ').take(2);
    let is_denied = words.any(|word| word.starts_with("deviation"));
    is_denied || text.is_empty() || STARTS.iter().any(|start| text.starts_with(start))
}

/// Returns whether a text names a deviation rule of a workflow at its start: `[Rule 1 - Bug] …`, `DEVN-02: …`.
fn names_rule(text: &str) -> bool {
    let head = text.trim_start_matches(|c: char| c.is_ascii_digit() || "*_~`[(. ".contains(c));
    ["rule", "devn"].iter().any(|word| {
        let rest = strip_prefix_ignore_case(head, word);
        let rest = rest.map(|rest| rest.trim_start_matches([' ', '-']));
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests;
