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

use std::ops::Range;

use serde::Serialize;

use crate::markdown::{Block, BlockContent, Label, Node, Section, Table, Value, without_bullet};
use crate::plan::letters;
use crate::plan::read::document::{Document, title_words};
use crate::plan::read::vocabulary::{DeviationPart, begins, has};
use crate::plan::read::{Count, non_placeholder};
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
            (0, with_details(list, &body.entries))
        }
        Stated::List(_) => (0, body.entries),
        Stated::Count(count) => (count, body.at_most(count)),
        Stated::Nothing if !body.speaks => return (None, None),
        Stated::Nothing => {
            let total = body.total;
            (total.unwrap_or_default(), body.at_most(total.unwrap_or(1)))
        }
    };
    let count = count.max(length(&list));
    (Some(count), (count == 0 || !list.is_empty()).then_some(list))
}

/// Fills in the details of each deviation in the front matter from the one in the body that begins alike.
fn with_details(mut list: Vec<Deviation>, told: &[Deviation]) -> Vec<Deviation> {
    let start = |text: &str| -> String {
        let tagged = text.trim_start_matches('*').strip_prefix('[');
        let rest = tagged.and_then(|tagged| tagged.split_once(']'));
        letters(rest.map_or(text, |(_, rest)| rest)).chars().take(12).collect()
    };
    for own in &mut list {
        let begin = start(&own.text);
        if let Some(other) = told.iter().find(|other| start(&other.text) == begin) {
            *own = Deviation {
                text: std::mem::take(&mut own.text),
                kind: own.kind.take().or_else(|| other.kind.clone()),
                line: own.line,
                ..other.clone()
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
        let Some(node) = document.field("fields with deviations") else {
            // The section describes a deviation better than a label in the body.
            let labelled = document.values("fields with deviations");
            let stated = labelled.into_iter().find(|value| !value.is_empty());
            return match stated.map(|value| Self::parse(value, 1)) {
                Some(stated @ Self::Count(_)) => stated,
                _ => Self::Nothing,
            };
        };
        if let Some(text) = node.as_text() {
            return Self::parse(text, node.line);
        }
        let items = node.get(&["items", "list", "details"]);
        let count = node.get(&["count", "total"]).and_then(Node::as_text);
        match (&node.value, count.and_then(|count| count.parse().ok())) {
            (Value::Text(_), _) => return Self::Nothing,
            (_, Some(count)) if items.is_none() => return Self::Count(count),
            _ => {}
        }
        let nodes = items.unwrap_or(node).elements().into_iter();
        let list: Vec<_> = nodes.filter_map(from_node).collect();
        if list.is_empty() { Self::Count(0) } else { Self::List(list) }
    }

    /// Parses `3`, `2 minor`, `None`, `See below`, or a single deviation.
    fn parse(text: &str, line: usize) -> Self {
        match Count::parse(text) {
            Some(count) => Self::Count(count.done),
            None if is_none(text) => Self::Count(0),
            None if matches!(text, "null" | "~") || text.to_lowercase().starts_with("see ") => {
                Self::Nothing
            }
            None => Self::List(vec![Deviation::new(text, line)]),
        }
    }
}

/// Parses an entry of the front matter: a text, or a mapping.
fn from_node(node: &Node) -> Option<Deviation> {
    let fields = node.pairs().iter().map(|(key, value)| (key.as_str(), value.flat()));
    Deviation::from_fields(&fields.collect::<Vec<_>>(), node.line)
        .or_else(|| Some(Deviation::new(&node.flat(), node.line)))
        .filter(|found| !is_none(&found.text))
}

/// The deviations in the body.
#[derive(Default)]
struct Body {
    /// The deviations that are separate entries.
    entries: Vec<Deviation>,
    /// Where the lines of each entry begin and end at the latest.
    ranges: Vec<Range<usize>>,
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
        let outline = &document.outline;
        let mut found = Self::default();
        let mut sections = document.sections(|words| {
            words.iter().take(3).any(|word| has("deviations", word))
                && words.first().is_none_or(|word| word != "task")
        });
        if sections.is_empty() {
            let is_auto = |words: &[String]| words.iter().take(2).eq(["auto", "fixed"]);
            sections = document.sections(is_auto);
        }
        for section in sections {
            found.is_denied = false;
            found.blocks(document, section);
            let is_denied = found.is_denied;
            for inner in outline.subsections(section) {
                found.is_denied = is_denied && !inner.title.to_lowercase().starts_with("auto");
                found.subsection(document, inner);
            }
            found.speaks |= !outline.slice(&section.whole).is_empty();
        }
        // The details of an entry are in its lines, up to the start of the next entry.
        for (index, entry) in found.entries.iter_mut().enumerate() {
            let Range { start, end } = found.ranges[index].clone();
            let next = found.ranges.get(index + 1).map_or(end, |next| next.start);
            entry.read_details(outline.slice(&(start..end.min(next).max(start))));
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
        let title = section.title.as_str();
        let first = document.outline.blocks(&section.own).first();
        let is_detailed =
            first.is_some_and(|block| part_of(document.outline.slice(&block.range)).is_some());
        let is_group = title_words(title).iter().any(|word| has("several deviations", word));
        if is_detailed || names_rule(title) && !is_group {
            let range = section.heading.start..section.own.end;
            self.entry(unnumbered(title), section.line, range);
        } else if !is_remark(title) {
            self.blocks(document, section);
        }
    }

    fn entry(&mut self, text: &str, line: usize, range: Range<usize>) {
        self.is_denied |= is_none(text);
        if !is_none(text) && !is_remark(text) && (!self.is_denied || names_rule(text)) {
            self.entries.push(Deviation::new(text, line));
            self.ranges.push(range);
        }
    }

    /// Reads the blocks of a section.
    fn blocks(&mut self, document: &Document<'_>, section: &Section) {
        let outline = &document.outline;
        let has_numbered = outline.paragraphs(&section.own).any(|(_, text)| is_numbered_head(text));
        // List items below an entry, or below a paragraph that introduces them, are details.
        let mut is_detail = false;
        for block in outline.blocks(&section.own) {
            let range = block.range.start..section.own.end;
            match &block.content {
                BlockContent::Item(item) => {
                    if item.depth == 0 && !is_detail && part_of(&item.text).is_none() {
                        self.entry(&unbolded(&item.text), block.line, range);
                    }
                }
                BlockContent::Table(table) => self.table(table, block),
                BlockContent::Paragraph => {
                    let text = one_line(outline.slice(&block.range));
                    if part_of(&text).is_none() {
                        is_detail = self.paragraph(&text, block.line, range, has_numbered);
                    } else if let Some((name, value)) = text.split_once(':')
                        && name.to_lowercase().contains("total deviation")
                    {
                        let mut numbers = value.split(|c: char| !c.is_ascii_digit());
                        self.total = numbers.find_map(|number| number.parse().ok());
                    }
                }
                BlockContent::Code | BlockContent::Html => {}
            }
        }
    }

    /// Reads a paragraph; returns whether the list below belongs to it.
    fn paragraph(
        &mut self,
        text: &str,
        line: usize,
        range: Range<usize>,
        has_numbered: bool,
    ) -> bool {
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
            self.is_denied |= !(is_lead && lower.contains("beyond"));
            return false;
        }
        if is_head || is_bold && !has_numbered && !is_lead || names_rule(text) {
            self.entry(&unbolded(text), line, range);
            return true;
        }
        if !is_bold && !self.is_denied && !is_remark(text) {
            self.prose.push(Deviation::new(text, line));
        }
        is_bold != is_lead && !lower.contains("deviation") || is_remark(text)
    }

    fn table(&mut self, table: &Table, block: &Block) {
        for row in &table.rows {
            let fields = table.header.iter().map(String::as_str).zip(row.cells.iter().cloned());
            let fields = fields.filter(|(_, cell)| cell.contains(char::is_alphabetic));
            // A table of measurements or checks lists no deviations.
            let read = Deviation::from_fields(&fields.collect::<Vec<_>>(), row.line);
            let is_denied = is_none(row.cells.first().map_or("", String::as_str));
            let read = read.filter(|read| !is_denied && !is_none(&read.text));
            let names_its_rule = |read: &Deviation| read.kind.as_deref().is_some_and(names_rule);
            if let Some(found) = read.filter(|read| !self.is_denied || names_its_rule(read)) {
                self.entries.push(found);
                self.ranges.push(block.range.start..block.range.start);
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
    let lower = text.to_lowercase();
    !names_rule(text)
        && (begins("not a deviation", &title_words(text).join(" "))
            || lower.contains("not a deviation")
            || lower.contains("not deviation")
            || text.starts_with(['✓', '✅', '✔']))
}

/// Strips the leading number: `1. Text`.
fn unnumbered(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let after = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "));
    after.filter(|_| rest.len() < text.len()).unwrap_or(text).trim_start()
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

/// Returns the part whose label a text begins with.
fn part_of(text: &str) -> Option<DeviationPart> {
    DeviationPart::from_label(&Label::parse(text.lines().next()?, 0, 0)?.name)
}

impl Deviation {
    /// Returns a deviation with the kind and severity stated in its text.
    fn new(text: &str, line: usize) -> Self {
        let (kind, severity) = kind_and_severity(text);
        Self { text: text.to_owned(), kind, severity, line, ..Self::default() }
    }

    /// Parses the fields of a mapping or the cells of a row; `None` if no field describes it.
    fn from_fields(fields: &[(&str, String)], line: usize) -> Option<Self> {
        const TEXTS: &[&str] = &[
            "description", "deviation", "text", "what", "change", "summary", "issue", "title",
            "detail", "details",
        ];
        const KINDS: &[&str] = &["code", "type", "kind", "rule", "category", "severity", "id"];
        let name = |key: &str| key.trim_matches(['*', ' ']).to_lowercase();
        let of = |names: &[&str]| {
            let mut found = names.iter().flat_map(|own| {
                fields.iter().filter(move |(key, value)| name(key) == *own && !value.is_empty())
            });
            found.next()
        };
        let (key, text) = of(TEXTS)?;
        let mut found = Self::new(text, line);
        for (label, value) in fields.iter().filter(|(own, _)| own != key) {
            found.set_part(DeviationPart::from_label(label), value);
        }
        let code = of(&["id"]).filter(|(_, id)| id.starts_with("DEVN"));
        found.kind = code.or_else(|| of(KINDS)).map(|(_, kind)| kind.clone()).or(found.kind);
        Some(found)
    }

    /// Sets the parts from the labels in `passage`, the deviation's own lines. A value extends to the next label or blank
    /// line.
    fn read_details(&mut self, passage: &str) {
        let mut open: Option<DeviationPart> = None;
        let mut value = String::new();
        for line in passage.lines() {
            let label = Label::parse(line.trim_end(), 0, 1);
            let part = label.as_ref().and_then(|label| DeviationPart::from_label(&label.name));
            let ends = part.is_some() || line.trim().is_empty();
            if ends || label.as_ref().is_some_and(|label| label.is_bold) {
                self.set_part(open.take(), &std::mem::take(&mut value));
            }
            match label.filter(|_| part.is_some()) {
                Some(label) => (open, value) = (part, label.value),
                None => {
                    value.push(' ');
                    value.push_str(without_bullet(line.trim()));
                }
            }
        }
        self.set_part(open, &value);
    }

    fn set_part(&mut self, part: Option<DeviationPart>, value: &str) {
        let value = one_line(value);
        let value = value.trim_matches(|c: char| c.is_whitespace() || "—-|".contains(c));
        let Some(value) = non_placeholder(value).map(str::to_owned) else { return };
        let field = match part {
            Some(DeviationPart::Files) => return self.files.extend(paths(&value)),
            Some(DeviationPart::Severity) => &mut self.severity,
            Some(DeviationPart::Issue) => &mut self.issue,
            Some(DeviationPart::Cause) => &mut self.cause,
            Some(DeviationPart::Fix) => &mut self.fix,
            Some(DeviationPart::Other) | None => return,
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
    let text = text.trim_start_matches(['*', '_', '~', '`', ' ']);
    if let Some((tag, _)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return ((tag.len() <= 48).then(|| tag.trim().to_owned()), None);
    }
    // Later in the text, these words are part of the description.
    let head = text.split([':', ')']).next().unwrap_or_default().to_lowercase();
    let find = |kind| {
        let mut words = head.split(|c: char| !c.is_alphanumeric() && c != '-');
        words.find(|word| has(kind, word)).map(str::to_owned)
    };
    let coded = [("devn-", "DEVN-"), ("rule ", "Rule ")].into_iter().find_map(|(start, name)| {
        let number = head.strip_prefix(start)?.split(|c: char| !c.is_ascii_digit()).next()?;
        (!number.is_empty()).then(|| format!("{name}{number}"))
    });
    match coded {
        Some(kind) => (Some(kind), find("severity of a deviation")),
        None if head.len() < text.len() && head.len() <= 48 => (find("kind of a deviation"), None),
        None => (None, None),
    }
}

/// Returns whether a text says that there is no deviation: `None.`, `No deviations`, `Plan executed exactly
/// as written`.
fn is_none(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    if let Some(rest) = text.strip_prefix("none") {
        // "None of the tests could run" is a deviation.
        return !rest.starts_with(char::is_alphanumeric) && !rest.starts_with(" of ");
    }
    // `No major deviations`.
    let mut words = text.split(' ');
    let is_no = words.next().is_some_and(|first| matches!(first, "no" | "zero"));
    let is_denied = is_no && words.take(2).any(|word| word.starts_with("deviation"));
    is_denied || text.is_empty() || begins("no deviation", &text)
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
