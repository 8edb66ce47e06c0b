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

use crate::markdown::{BlockContent, Label, Node, Outline, Section, Value, without_bullet};
use crate::plan::read::Count;
use crate::plan::read::document::{Document, is_lead, title_words};
use crate::plan::read::vocabulary::{DeviationPart, begins, has, words};
use crate::text::{Pattern, given, one_line, says_none, unmarked};

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
/// A list in the front matter is complete, unless the body lists more; if there is only a number, the body describes the
/// deviations.
pub(super) fn deviations(document: &Document<'_>) -> (Option<u32>, Option<Vec<Deviation>>) {
    let body = Body::read(document);
    let (count, list) = match stated(document) {
        Some((_, list)) if !list.is_empty() && body.entries.len() <= list.len() => (0, list),
        Some((0, list)) if list.is_empty() => (0, body.entries),
        Some((count, _)) => (count, body.described()),
        None if !body.speaks => return (None, None),
        None if body.total == Some(0) => (0, body.entries),
        None => (body.total.unwrap_or_default(), body.described()),
    };
    let count = count.max(u32::try_from(list.len()).unwrap_or(u32::MAX));
    (Some(count), (count == 0 || !list.is_empty()).then_some(list))
}

/// Returns the number and the list that the front matter states, or the number after a label in the body.
fn stated(document: &Document<'_>) -> Option<(u32, Vec<Deviation>)> {
    let Some(node) = document.field("fields with deviations") else {
        let mut labelled = document.values("fields with deviations");
        let found = parse(labelled.find(|value| !value.is_empty())?, 1);
        // The section describes a deviation better than a label.
        return found.filter(|(_, list)| list.is_empty());
    };
    if let Value::Text(_) = &node.value {
        return parse(node.as_text()?, node.line);
    }
    let items = node.get(&["items", "list", "details"]);
    let count = node.get(&["count", "total"]).and_then(|count| count.as_text()?.parse().ok());
    if let (Some(count), None) = (count, items) {
        return Some((count, Vec::new()));
    }
    let nodes = items.unwrap_or(node).elements().into_iter();
    let list: Vec<Deviation> = nodes.filter_map(from_node).collect();
    Some((if list.is_empty() { count.unwrap_or_default() } else { 0 }, list))
}

/// Parses `3`, `2 minor`, `None`, `See below`, or a single deviation.
fn parse(text: &str, line: usize) -> Option<(u32, Vec<Deviation>)> {
    match Count::parse(text) {
        Some(count) => Some((count.done, Vec::new())),
        None if matches!(text, "null" | "~") || text.to_lowercase().starts_with("see ") => None,
        None if is_none(text) => Some((0, Vec::new())),
        None => Some((1, vec![Deviation::new(text, line)])),
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
    /// The first deviation that a paragraph describes, used if there are no entries.
    prose: Option<Deviation>,
    /// The number in `Total deviations: 3 auto-fixed`.
    total: Option<u32>,
    /// Whether the body mentions deviations, even if only to deny them.
    speaks: bool,
    /// Whether the current section says that there are none: after that, only entries that name a rule count.
    is_denied: bool,
    /// Whether the current section holds decisions, too: only entries that name a rule count, up to a label of deviations.
    is_mixed: bool,
}

impl Body {
    fn read(document: &Document<'_>) -> Self {
        let outline = &document.outline;
        let mut found = Self::default();
        let sections = document.sections(|words| {
            words.iter().take(3).any(|word| has("deviations", word))
                && words.first().is_none_or(|word| word != "task")
        });
        for section in sections {
            found.is_denied = false;
            found.is_mixed = is_of_decisions(&section.title);
            found.blocks(outline, section);
            for inner in outline.subsections(section) {
                found.subsection(outline, inner);
            }
            let is_known = !found.is_mixed || found.is_denied || !found.entries.is_empty();
            found.speaks |= is_known && !outline.slice(&section.whole).is_empty();
        }
        // The details of an entry are in its lines, up to the start of the next entry.
        for (index, entry) in found.entries.iter_mut().enumerate() {
            let Range { start, end } = found.ranges[index].clone();
            let next = found.ranges.get(index + 1).map_or(end, |next| next.start);
            entry.read_details(outline.slice(&(start..end.min(next).max(start))));
        }
        found
    }

    /// Returns the entries, or without entries, what a paragraph says.
    fn described(self) -> Vec<Deviation> {
        if self.entries.is_empty() { self.prose.into_iter().collect() } else { self.entries }
    }

    fn entry(&mut self, found: Deviation, range: Range<usize>) {
        self.is_denied |= is_none(&found.text);
        let has_rule = RULE.is_match(&found.text)
            || found.kind.as_deref().is_some_and(|kind| RULE.is_match(kind));
        let needs_rule = self.is_denied || self.is_mixed;
        if !is_none(&found.text) && !is_remark(&found.text) && (!needs_rule || has_rule) {
            self.entries.push(found);
            self.ranges.push(range);
        }
    }

    /// Reads a part of a section: an entry by itself, judged by its rule or the details below it, or a group of entries.
    fn subsection(&mut self, outline: &Outline<'_>, section: &Section) {
        let title = section.title.as_str();
        self.is_mixed &= !names_deviations(title);
        let first = outline.blocks(&section.own).first();
        let is_detailed = first.is_some_and(|block| part_of(outline.slice(&block.range)).is_some());
        let is_group = title_words(title).iter().any(|word| has("several deviations", word));
        if is_detailed || RULE.is_match(title) && !is_group {
            let range = section.heading.start..section.own.end;
            self.entry(Deviation::new(&unbolded(title), section.line), range);
        } else if !is_remark(title) {
            self.blocks(outline, section);
        }
    }

    /// Reads the blocks of a section.
    fn blocks(&mut self, outline: &Outline<'_>, section: &Section) {
        let has_numbered = outline.paragraphs(&section.own).any(|(_, text)| HEAD.is_match(text));
        // List items below an entry, or below a paragraph that introduces them, are details.
        let mut is_detail = false;
        for block in outline.blocks(&section.own) {
            let range = block.range.start..section.own.end;
            match &block.content {
                BlockContent::Item(item) => {
                    if item.depth == 0 && !is_detail && part_of(&item.text).is_none() {
                        self.entry(Deviation::new(&unbolded(&item.text), block.line), range);
                    }
                }
                BlockContent::Table(table) => {
                    for row in &table.rows {
                        let header = table.header.iter().map(String::as_str);
                        let fields = header.zip(row.cells.iter().cloned());
                        let fields = fields.filter(|(_, cell)| cell.contains(char::is_alphabetic));
                        // A table of measurements or checks lists no deviations.
                        let read = Deviation::from_fields(&fields.collect::<Vec<_>>(), row.line);
                        let is_denied = row.cells.first().is_some_and(|cell| is_none(cell));
                        if let Some(read) = read.filter(|read| !is_denied && !is_none(&read.text)) {
                            self.entry(read, block.range.start..block.range.start);
                        }
                    }
                }
                BlockContent::Paragraph => {
                    let text = one_line(outline.slice(&block.range));
                    if part_of(&text).is_none() {
                        let found = Deviation::new(&unbolded(&text), block.line);
                        is_detail = self.paragraph(&text, found, range, has_numbered);
                    } else if let Some(total) = TOTAL.captures(&text) {
                        self.total = total[1].parse().ok();
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
        found: Deviation,
        range: Range<usize>,
        has_numbered: bool,
    ) -> bool {
        let lower = text.to_lowercase();
        let is_lead = text.trim_end_matches('*').ends_with(':');
        self.is_mixed &= !(is_lead && names_deviations(text));
        let (is_bold, is_head) = (text.starts_with("**"), HEAD.is_match(text));
        // `None beyond the following:` introduces entries.
        if is_lead && denial(text).1 && (lower.contains("beyond") || !is_none(text)) {
            return false;
        }
        if is_none(text) {
            self.is_denied = true;
            return false;
        }
        if is_head || is_bold && !has_numbered && !is_lead || RULE.is_match(text) {
            self.entry(found, range);
            return true;
        }
        if !is_bold && !self.is_denied && !self.is_mixed && !is_remark(text) {
            self.prose.get_or_insert(found);
        }
        is_bold != is_lead && !lower.contains("deviation") || is_remark(text)
    }
}

impl Deviation {
    /// Returns a deviation with the kind and severity stated at the start of its text: `[Rule 1 - Bug] …`, `DEVN-01
    /// (minor): …`, `Blocking: …`.
    fn new(text: &str, line: usize) -> Self {
        let mut found = Self { text: text.to_owned(), line, ..Self::default() };
        // Later in the text, these words are part of the description.
        let head = text.split([':', ')']).next().unwrap_or_default().to_lowercase();
        let word = |kind| {
            let mut words = head.split(|c: char| !c.is_alphanumeric() && c != '-');
            words.find(|word| has(kind, word)).map(str::to_owned)
        };
        match KIND.captures(text) {
            Some(stated) if stated.get(1).is_some() => {
                found.kind = Some(stated[1].trim().to_owned());
            }
            Some(stated) => {
                let name = if stated[2].starts_with(['d', 'D']) { "DEVN-" } else { "Rule " };
                found.kind = Some(format!("{name}{}", &stated[3]));
                found.severity = word("severity of a deviation");
            }
            None if head.len() < text.len() && head.len() <= 48 => {
                found.kind = word("kind of a deviation");
            }
            None => {}
        }
        found
    }

    /// Parses the fields of a mapping or the cells of a row; `None` if no field describes it.
    fn from_fields(fields: &[(&str, String)], line: usize) -> Option<Self> {
        let of = |kind| {
            let named = words(kind).flat_map(|own| {
                let is_own = move |key: &str| key.trim_matches(['*', ' ']).to_lowercase() == own;
                fields.iter().filter(move |(key, value)| is_own(key) && !value.is_empty())
            });
            named.collect::<Vec<_>>()
        };
        let (key, text) = *of("text of a deviation").first()?;
        let mut found = Self::new(text, line);
        for (label, value) in fields.iter().filter(|(own, _)| own != key) {
            found.set_part(DeviationPart::from_label(label), value);
        }
        let kinds = of("field with the kind of a deviation");
        let coded = kinds.iter().find(|(_, kind)| kind.starts_with("DEVN"));
        found.kind = coded.or(kinds.first()).map(|(_, kind)| kind.clone()).or(found.kind);
        Some(found)
    }

    /// Sets the parts from the labels in `passage`, the deviation's own lines. A value extends to the next label or blank
    /// line.
    fn read_details(&mut self, passage: &str) {
        let mut open: Option<DeviationPart> = None;
        let mut value = String::new();
        for line in passage.lines() {
            let label = label_of(line);
            if label.is_some() || line.trim().is_empty() {
                self.set_part(open.take(), &std::mem::take(&mut value));
            }
            match label {
                Some((label, Some(part))) => (open, value) = (Some(part), label.value),
                _ => value = format!("{value} {}", without_bullet(line.trim())),
            }
        }
        self.set_part(open, &value);
        if self.issue.is_none() && self.fix.is_none() {
            self.set_part(Some(DeviationPart::Issue), &unlabelled(passage));
        }
    }

    fn set_part(&mut self, part: Option<DeviationPart>, value: &str) {
        let value = one_line(value);
        let value = value.trim_matches(|c: char| c.is_whitespace() || "—-|".contains(c));
        let Some(value) = given(value) else { return };
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

/// Returns the bullets between a bold head and the first label, joined as sentences. A head that ends with a colon lists
/// something else.
fn unlabelled(passage: &str) -> String {
    let mut lines = passage.lines();
    let head = lines.next().unwrap_or_default();
    if !(head.starts_with("**") || head.starts_with('#')) || is_lead(head) {
        return String::new();
    }
    let (mut told, mut is_bullet) = (String::new(), false);
    for line in lines.map(str::trim).take_while(|line| label_of(line).is_none()) {
        let text = without_bullet(line);
        let begins = text.len() < line.len();
        is_bullet = begins || is_bullet && !line.is_empty();
        if begins && !told.is_empty() && !told.ends_with(['.', '!', '?', ':', ';']) {
            told.push('.');
        }
        if is_bullet {
            told = format!("{told} {text}");
        }
    }
    told
}

/// Returns the paths in a list of files: ``src/a.rs (new), `b.rs` ``.
fn paths(list: &str) -> impl Iterator<Item = String> {
    let words = list.split([',', ';']).filter_map(|entry| entry.split_whitespace().next());
    let paths = words.map(|word| word.trim_matches(|c: char| "`*\"'".contains(c)));
    paths
        .filter(|path| path.contains(['.', '/']) && path.contains(char::is_alphanumeric))
        .map(str::to_owned)
}

/// A kind at the start of a text: `[Rule 1 - Bug]`, `DEVN-01`, `Rule 3`.
static KIND: Pattern = Pattern::new(r"(?i)^[*_~` ]*(?:\[([^\]]{1,48})\]|(devn-|rule )(\d+))");

/// A rule of a workflow at the start of a text: `[Rule 1 - Bug] …`, `DEVN-02: …`.
static RULE: Pattern = Pattern::new(r"(?i)^[\d*_~`\[(. ]*(?:rule|devn)[ -]*\d");

/// A paragraph that begins a numbered or tagged deviation: `**2. [Rule 1 - Bug] …`, `**[Rule 3] …`.
static HEAD: Pattern = Pattern::new(r"(?i)^\*\*(?:\d|[*_~`\[(. ]*(?:rule|devn)[ -]*\d)");

/// `Total deviations: 3 auto-fixed`.
static TOTAL: Pattern = Pattern::new(r"(?i)^[^:]*total deviation[^:]*:\D*(\d+)");

/// The number in front of a title: `1. Text`.
static NUMBER: Pattern = Pattern::new(r"^\d+[.)] +");

/// `None.`, `No major deviations`, and alone in its sentence `Executed exactly as written`, `As planned`.
static DENIAL: Pattern = Pattern::new(
    r"(?x)^(?: $ | none(?:\W|$) | (?:no|zero)\ (?:\S+\ )?deviation
        | (?: (?:plan\ |all\ (?:\d+\ )?tasks\ )?(?:was\ |were\ )?(?:executed|followed|implemented|completed|done)(?:\ the)?(?:\ plan)?
              \ (?: (?:exactly\ )?as\ (?:written|planned|specified|designed) | without\ (?:any\ )?deviations? | per\ plan )
            | as\ (?:planned|per\ plan) | wie\ geplant ) \W*(?:[.!(–—-]|$) )",
);

/// Returns whether a title begins with a word for deviations.
fn names_deviations(title: &str) -> bool {
    title_words(title).first().is_some_and(|word| has("deviations", word))
}

/// Returns whether a section of deviations is one of decisions, too: `Decisions & Deviations`.
fn is_of_decisions(title: &str) -> bool {
    let mut words = title_words(title);
    words.retain(|word| word != "and");
    let is = |kind, pair: &[String]| pair.iter().any(|word| has(kind, word));
    words.windows(2).any(|pair| is("decisions", pair) && is("deviations", pair))
}

/// What takes a denial back in its own clause: `None, except that …`.
static EXCEPTION: Pattern = Pattern::new(
    r"^[^.,:;(–—]*(?:,? (?:except|apart from|aside from|other than|excepto|exceto|salvo|sauf|außer|кроме) |, (?:but|pero|mas|mais|aber|но|кроме) |，除了)",
);

/// Returns whether a text says that nothing deviated.
fn is_none(text: &str) -> bool {
    let (bare, is_denied) = denial(text);
    let clause = bare.split(" - ").next().unwrap_or_default();
    (is_denied || says_none(text)) && !EXCEPTION.is_match(clause)
}

/// Returns a text in lower case without what may stand before a denial, and whether it begins with one.
fn denial(text: &str) -> (String, bool) {
    let lower = unmarked(text).to_lowercase();
    let openings = ["there were ", "there was ", "es gab ", "the ", "this "];
    let bare = openings.iter().find_map(|own| lower.strip_prefix(own)).unwrap_or(&lower);
    // "None of the tests could run" is a deviation.
    let is_denied =
        DENIAL.is_match(bare) && !bare.starts_with("none of ") || begins("no deviation", bare);
    (bare.to_owned(), is_denied)
}

/// Returns whether a title or an entry is about something other than a deviation: `Deferred …`, `(not a deviation)`.
fn is_remark(text: &str) -> bool {
    !RULE.is_match(text)
        && (begins("not a deviation", &title_words(text).join(" "))
            || text.to_lowercase().contains("not a deviation"))
}

/// Strips an entry's number, and the bold markup of a head with a number or tag.
fn unbolded(text: &str) -> String {
    let bold = text.strip_prefix("**").and_then(|inner| inner.split_once("**"));
    let is_head =
        |head: &str, rest: &str| rest.is_empty() || head.starts_with('[') || NUMBER.is_match(head);
    let (head, rest) = bold.filter(|(head, rest)| is_head(head, rest)).unwrap_or((text, ""));
    format!("{}{rest}", NUMBER.replace(head, ""))
}

/// Returns the part whose label a text begins with.
fn part_of(text: &str) -> Option<DeviationPart> {
    label_of(text.lines().next()?)?.1
}

/// Returns the label of a line that is in bold or names a part, and that part.
fn label_of(line: &str) -> Option<(Label, Option<DeviationPart>)> {
    let label = Label::parse(line.trim_end(), 0, 1)?;
    let part = DeviationPart::from_label(&label.name);
    (label.is_bold || part.is_some()).then_some((label, part))
}

#[cfg(test)]
mod tests;
