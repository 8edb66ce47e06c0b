//! Reads the deviations of a summary from its front matter and its body, which often describe the same ones.
//!
//! ```text
//! ## Deviations from Plan          ## Deviations            ## Deviations
//! ### Auto-fixed Issues            - Task 3 was skipped     ### DEVN-02: Moved the file
//! **1. [Rule 1 - Bug] Wrong date**                          | ID | Description | Impact |
//! - **Found during:** Task 2
//! **Total deviations:** 1 auto-fixed
//! ```

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use crate::markdown::{Block, BlockContent, Label, Node, Section, Table, Value, without_bullet};
use crate::plan::read::document::{Document, title_words};
use crate::plan::read::non_placeholder;
use crate::text::one_line;

/// A deviation from the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Deviation {
    /// The first line, verbatim: what was done differently.
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
    /// The impact on the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impact: Option<String>,
    /// The affected files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Line number in the summary, from 1.
    pub line: usize,
}

/// The number of deviations and their list. The number exceeds the length of the list if only a number is stated; no
/// mention is not zero.
type Deviations = (Option<u32>, Option<Vec<Deviation>>);

/// Collects the deviations from front matter and body.
///
/// A list in the front matter is complete, unless the body lists more without referring to it; if there
/// is only a number, the body describes the deviations.
pub(super) fn deviations(document: &Document<'_>) -> Deviations {
    let body = Body::read(document);
    let whole = |list: Vec<Deviation>| (Some(length(&list)), Some(list));
    match Stated::read(document) {
        Stated::List(list) if body.items.len() > list.len() && !body.refers_to_front => {
            whole(body.items)
        }
        Stated::List(mut list) => {
            complete(&mut list, &body.items);
            whole(list)
        }
        Stated::Count(stated) => {
            let list = body.at_most(stated);
            let count = stated.max(length(&list));
            (Some(count), (count == 0 || !list.is_empty()).then_some(list))
        }
        Stated::Nothing if !body.speaks => (None, None),
        Stated::Nothing => {
            let total = body.total;
            let list = body.at_most(total.unwrap_or(1));
            match total {
                Some(total) if list.is_empty() && total > 0 => (Some(total), None),
                _ => whole(list),
            }
        }
    }
}

fn length(list: &[Deviation]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}

/// Number of letters at the start of two descriptions that make them the same.
const SAME_START: usize = 12;

/// Fills in the details of each deviation in the front matter from the same one in the body.
fn complete(list: &mut [Deviation], told: &[Deviation]) {
    let start = |text: &str| {
        // Without the tag in front.
        let tagged = text.split_once(']');
        let rest = tagged.filter(|(tag, _)| tag.trim_start_matches('*').starts_with('['));
        let letters = rest.map_or(text, |(_, rest)| rest).chars().filter(|c| c.is_alphanumeric());
        let start: String = letters.flat_map(char::to_lowercase).take(SAME_START).collect();
        (start.chars().count() == SAME_START).then_some(start)
    };
    let mut by_start: HashMap<String, &Deviation> = HashMap::new();
    for other in told {
        if let Some(start) = start(&other.text) {
            by_start.entry(start).or_insert(other);
        }
    }
    for own in list {
        if let Some(other) = start(&own.text).and_then(|start| by_start.get(&start)) {
            let pairs = [
                (&mut own.issue, &other.issue),
                (&mut own.cause, &other.cause),
                (&mut own.fix, &other.fix),
                (&mut own.impact, &other.impact),
                (&mut own.severity, &other.severity),
            ];
            for (own, other) in pairs.into_iter().filter(|(own, _)| own.is_none()) {
                own.clone_from(other);
            }
            if own.files.is_empty() {
                own.files.clone_from(&other.files);
            }
        }
    }
}

/// The deviations stated in the front matter.
enum Stated {
    Nothing,
    Count(u32),
    List(Vec<Deviation>),
}

impl Stated {
    fn read(document: &Document<'_>) -> Self {
        let Some(node) = document.field(&["deviations", "deviation_count", "deviations_count"])
        else {
            let labelled = document.values(&["deviations", "deviations_from_plan"]);
            let value = labelled.into_iter().find(|value| !value.is_empty());
            // The deviations section describes a deviation better than a label in the body.
            return match value.map(|value| Self::parse(value, 1)) {
                None | Some(Self::List(_)) => Self::Nothing,
                Some(stated) => stated,
            };
        };
        if let Some(text) = node.as_text() {
            return Self::parse(text, node.line);
        }
        let listed = node.get(&["items", "list", "details"]).unwrap_or(node);
        let count = node.get(&["count", "total"]).and_then(Node::as_text);
        if let (true, Some(Ok(count))) = (listed == node, count.map(str::parse)) {
            return Self::Count(count);
        }
        let list: Vec<_> = listed.elements().into_iter().filter_map(from_node).collect();
        match &node.value {
            // `deviations:` without a value states nothing.
            Value::Text(_) => Self::Nothing,
            _ if list.is_empty() => Self::Count(0),
            _ => Self::List(list),
        }
    }

    /// Parses `3`, `2 minor`, `None`, `See below`, or a single deviation.
    fn parse(text: &str, line: usize) -> Self {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let refers = text == "null" || text == "~" || text.to_lowercase().starts_with("see ");
        match text[..text.len() - rest.len()].parse() {
            Ok(number) => Self::Count(number),
            Err(_) if is_none(text) => Self::Count(0),
            Err(_) if refers => Self::Nothing,
            Err(_) => Self::List(vec![Deviation::from_text(text, line)]),
        }
    }
}

/// Parses an entry: a text, or a mapping.
fn from_node(node: &Node) -> Option<Deviation> {
    const TEXTS: &[&str] = &[
        "description", "deviation", "text", "what", "summary", "issue", "title", "detail",
        "details", "note",
    ];
    const KINDS: &[&str] =
        &["code", "type", "kind", "rule", "category", "severity", "classification", "id"];
    let field = |keys: &[&str]| node.get(keys).and_then(Node::as_text).map(str::to_owned);
    let stated = field(TEXTS);
    let is_mapping = stated.is_some();
    let text = stated.unwrap_or_else(|| node.flat());
    if text.is_empty() || is_none(&text) || is_not_a_deviation(&text) {
        return None;
    }
    let read = Deviation::from_text(&text, node.line);
    if !is_mapping {
        return Some(read);
    }
    let code = field(&["id"]).filter(|code| code.starts_with("DEVN"));
    let is_title = field(&["title", "what", "summary"]).is_some_and(|title| title != text);
    let files = node.get(&["files", "files_modified", "file"]).map(Node::texts);
    Some(Deviation {
        kind: code.or_else(|| field(KINDS)).or(read.kind),
        severity: field(&["severity"]).or(read.severity),
        issue: field(&["issue", "problem"]).or_else(|| is_title.then(|| text.clone())),
        cause: field(&["root_cause", "cause", "reason", "rationale", "why"]),
        fix: field(&["resolution", "fix", "solution", "action", "decision"]),
        impact: field(&["impact"]),
        files: files.unwrap_or_default().iter().flat_map(|text| paths(text)).collect(),
        line: node.line,
        text,
    })
}

/// The deviations in the body.
#[derive(Default)]
struct Body {
    /// The deviations that are separate entries.
    items: Vec<Deviation>,
    /// Deviations in paragraphs, used if there are no entries.
    prose: Vec<Deviation>,
    /// The number in `Total deviations: 3 auto-fixed`.
    total: Option<u32>,
    /// Whether the body refers to the front matter for the list.
    refers_to_front: bool,
    /// Whether the body mentions deviations, even if only to deny them.
    speaks: bool,
    /// Byte offsets of the items, and of paragraphs and headings that are not items.
    starts: Vec<usize>,
    ends: Vec<usize>,
    /// Whether the current part says that there are none: after that, only entries that name a rule count.
    is_denied: bool,
}

impl Body {
    fn read(document: &Document<'_>) -> Self {
        const TITLES: &[&str] =
            &["deviation", "deviations", "отклонения", "desviaciones", "écarts"];
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
            found.section(document, section);
            found.ends.push(section.whole.end);
            let own = document.outline.slice(&section.own);
            found.speaks |=
                !own.is_empty() || document.outline.subsections(section).next().is_some();
        }
        // The details of an item are in its lines, up to the start of the next item or other text.
        let bounds: BTreeSet<usize> = found.starts.iter().chain(&found.ends).copied().collect();
        for (item, start) in found.items.iter_mut().zip(&found.starts) {
            let next = bounds.range(start + 1..).next();
            let end = next.copied().unwrap_or(document.outline.text().len());
            item.read_details(document.outline.slice(&(*start..end)));
        }
        found
    }

    /// Returns the entries, or without entries, at most `count` paragraphs.
    fn at_most(self, count: u32) -> Vec<Deviation> {
        if self.items.is_empty() {
            self.prose.into_iter().take(count as usize).collect()
        } else {
            self.items
        }
    }

    fn section(&mut self, document: &Document<'_>, section: &Section) {
        self.is_denied = false;
        self.blocks(document, section);
        let whole_is_denied = self.is_denied;
        for inner in document.outline.subsections(section) {
            let start = inner.heading.start;
            let words = title_words(&inner.title);
            // A list of fixes counts even if deviations were denied.
            let is_fixes = words.first().is_some_and(|word| word == "auto");
            self.is_denied = whole_is_denied && !is_fixes;
            if is_remark_title(&inner.title) {
                self.ends.push(start);
            } else if is_entry_title(document, inner, &words) {
                self.item(unnumbered(&inner.title), inner.line, start);
                self.totals(document, inner);
            } else {
                self.ends.push(start);
                self.blocks(document, inner);
            }
        }
    }

    fn item(&mut self, text: &str, line: usize, start: usize) {
        self.is_denied |= is_none(text);
        if is_no_entry(text) || self.is_denied && !names_rule(text) {
            self.ends.push(start);
        } else {
            self.items.push(Deviation::from_text(text, line));
            self.starts.push(start);
        }
    }

    /// Reads the total number of deviations.
    fn totals(&mut self, document: &Document<'_>, section: &Section) {
        for label in document.outline.labels(&section.own) {
            if label.name.eq_ignore_ascii_case("total deviations") {
                let mut numbers = label.value.split(|c: char| !c.is_ascii_digit());
                let number = numbers.find(|part| !part.is_empty());
                self.total = number.and_then(|number| number.parse().ok());
            }
        }
    }

    fn blocks(&mut self, document: &Document<'_>, section: &Section) {
        self.totals(document, section);
        let blocks = document.outline.blocks(&section.own);
        let has_numbered = blocks.iter().any(|block| is_numbered_head(document, block));
        // List items below an entry, or below a paragraph that introduces them, are details.
        let mut is_inside = false;
        for (at, block) in blocks.iter().enumerate() {
            match &block.content {
                BlockContent::Item(item) => {
                    if item.depth == 0 && !is_inside && !has_detail(&item.text) {
                        self.item(&unbolded(&item.text), block.line, block.range.start);
                    }
                }
                BlockContent::Table(table) => self.table(table, block.range.start),
                BlockContent::Paragraph => {
                    let text = document.outline.slice(&block.range);
                    let is_bold = text.starts_with("**") && !is_numbered_head(document, block);
                    // Next to numbered entries, other paragraphs in bold are remarks on them.
                    if has_numbered && is_bold && !has_detail(text) {
                        self.ends.push(block.range.start);
                        is_inside = true;
                    } else {
                        is_inside = self.paragraph(text, block, items_after(blocks, at));
                    }
                }
                BlockContent::Code | BlockContent::Html => {}
            }
        }
    }

    /// Handles a paragraph; returns whether the following list belongs to it.
    fn paragraph(&mut self, text: &str, block: &Block, items: &[Block]) -> bool {
        const EXCEPTIONS: &[&str] = &["beyond", "other than", "except", "besides", "apart from"];
        let start = block.range.start;
        let lower = text.to_lowercase();
        let head = text.strip_prefix("**");
        let is_tagged = head.is_some_and(|head| {
            head.starts_with(|c: char| c.is_ascii_digit() || c == '[') || head.starts_with("DEVN")
        });
        let names_front = lower.contains("frontmatter") || lower.contains("front matter");
        // An entry may be about front matter.
        if names_front && !is_tagged {
            self.refers_to_front = true;
            return false;
        }
        let detail = detail_name(text);
        let is_of_task = detail.as_ref().and_then(|name| name.strip_prefix("task "));
        let is_of_task = is_of_task.is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
        if has_detail(text) {
            if lower.contains("total deviations") {
                self.ends.push(start);
            }
            return false;
        }
        if is_none(text) {
            // "None beyond the following:" introduces exceptions.
            let rest = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
            let rest = rest.strip_prefix("none ").unwrap_or_default();
            let is_exception = EXCEPTIONS.iter().any(|word| rest.starts_with(word));
            self.is_denied |= !is_exception || items.is_empty();
        }
        if is_none(text) || is_of_task || text.starts_with("---") {
            self.ends.push(start);
            return false;
        }
        let folded = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        if let Some(inner) = folded.strip_prefix("**") {
            let is_title = inner.strip_suffix("**").is_some_and(|inner| !inner.contains("**"));
            let tells_more = items.iter().any(
                |block| matches!(&block.content, BlockContent::Item(item) if has_detail(&item.text)),
            );
            // A bold line above a plain list is the title of a group.
            if is_title && !is_tagged && !tells_more && !items.is_empty() {
                self.ends.push(start);
                return is_remark_title(&folded);
            }
            self.item(&unbolded(&folded), block.line, start);
            return true;
        }
        if folded.starts_with("DEVN-") || folded.starts_with("[Rule") {
            self.item(&folded, block.line, start);
            return true;
        }
        let introduces = folded.ends_with(':') && !items.is_empty();
        if introduces && (lower.contains("not deviations") || lower.contains("not a deviation")) {
            return true;
        }
        if introduces && (lower.contains("deviation") || lower.contains("breakdown")) {
            return false;
        }
        if !self.is_denied && !is_no_entry(&folded) {
            self.prose.push(Deviation::from_text(&folded, block.line));
        }
        introduces
    }

    fn table(&mut self, table: &Table, start: usize) {
        let texts = ["description", "deviation", "what", "change", "topic", "details", "issue"];
        let kinds = ["id", "code", "type", "kind", "rule", "category", "severity"];
        // A table of measurements or checks lists no deviations.
        let Some(column) = table.column(&texts) else { return };
        let of = |names: &[&str]| table.column(names).filter(|found| *found != column);
        let kind = of(&kinds);
        let severity = of(&["severity"]).filter(|found| Some(*found) != kind);
        let fix = of(&["resolution", "fix", "action"]);
        let cause = of(&["reason", "rationale", "why", "cause"]);
        for row in &table.rows {
            let cell = |column: usize| row.cells.get(column).map_or("", String::as_str);
            let named = |column: Option<usize>| {
                let words = column.map(cell).filter(|cell| cell.contains(char::is_alphabetic));
                words.map(str::to_owned)
            };
            let is_filler = row.cells.first().is_none_or(|first| is_none(first));
            let mut read = Deviation::from_text(cell(column), row.line);
            read.kind = named(kind).or(read.kind);
            read.severity = named(severity).or(read.severity);
            (read.fix, read.cause) = (named(fix), named(cause));
            let is_denied = self.is_denied && !read.kind.as_deref().is_some_and(names_rule);
            if !is_filler && !is_denied && !is_no_entry(cell(column)) {
                self.items.push(read);
                // The text after the table is not a detail of its last row.
                self.starts.push(start);
            }
        }
    }
}

/// Returns whether a heading within the section is a deviation, judged by its rule code or the details below
/// it.
fn is_entry_title(document: &Document<'_>, section: &Section, words: &[String]) -> bool {
    const SEVERAL: &[&str] = &["issues", "fixes", "bugs", "deviations", "additions"];
    let blocks = document.outline.blocks(&section.own);
    let has_details = blocks.first().is_some_and(|block| match &block.content {
        BlockContent::Item(item) => has_detail(&item.text),
        BlockContent::Paragraph => has_detail(document.outline.slice(&block.range)),
        _ => false,
    });
    let is_group = words.iter().any(|word| SEVERAL.contains(&word.as_str()))
        || blocks.iter().any(|block| is_numbered_head(document, block));
    has_details
        || match words.first().map(String::as_str) {
            Some("devn" | "rule") => !is_group,
            Some("auto") => !is_group && section.title.contains(": "),
            _ => false,
        }
}

/// Returns whether a block begins a numbered or tagged deviation: `**2. [Rule 1 - Bug] …`, `**[Rule 3] …`.
fn is_numbered_head(document: &Document<'_>, block: &Block) -> bool {
    let is_paragraph = matches!(block.content, BlockContent::Paragraph);
    let head = document.outline.slice(&block.range).strip_prefix("**").filter(|_| is_paragraph);
    head.is_some_and(|head| head.starts_with(|c: char| c.is_ascii_digit()) || names_rule(head))
}

/// Returns whether a title belongs to a group without deviations: `Deferred …`, `Design Decisions`.
fn is_remark_title(title: &str) -> bool {
    /// Beginnings of such titles.
    const REMARKS: &[&str] = &[
        "deferred", "verification", "verified", "self check", "flagged not fixed", "out of scope",
        "non deviation", "non deviations", "not deviations", "no deviation",
        "authentication gates", "auth gates", "scope note", "scope notes", "note on", "notes on",
        "environment limitation", "none",
    ];
    if names_rule(title) {
        return title.trim_end_matches(['.', '*', ' ']).ends_with(": None");
    }
    let words = title_words(title);
    let joined = words.join(" ") + " ";
    let is_decisions = words.iter().take(3).any(|word| word == "decisions")
        && !words.iter().any(|word| word.starts_with("deviation"));
    let opens =
        |start: &&str| joined.strip_prefix(*start).is_some_and(|rest| rest.starts_with(' '));
    is_decisions || REMARKS.iter().any(opens) || is_not_a_deviation(title)
}

/// Returns whether an entry says that it is not a deviation, or is a check that passed.
fn is_no_entry(text: &str) -> bool {
    is_none(text) || is_not_a_deviation(text) || text.starts_with(['✓', '✅', '✔'])
}

/// Returns whether a text begins with the label of a detail.
fn has_detail(text: &str) -> bool {
    detail_name(text).is_some_and(|name| Part::from_label(&name).is_some())
}

fn detail_name(text: &str) -> Option<String> {
    let label = Label::parse(text.lines().next()?, 0, 0)?;
    Some(label.name.trim_matches(['*', ' ']).to_lowercase())
}

/// Returns the list items directly after a block.
fn items_after(blocks: &[Block], at: usize) -> &[Block] {
    let rest = blocks.get(at + 1..).unwrap_or_default();
    let end = rest.iter().position(|block| !matches!(block.content, BlockContent::Item(_)));
    &rest[..end.unwrap_or(rest.len())]
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
    let head = bold.map(|(head, rest)| (head, unnumbered(head), rest));
    match head {
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
    Impact,
    Files,
    Severity,
    /// A known part that does not describe the problem: a commit, a verification.
    Other,
}

/// The labels of each part, in all known spellings.
const LABELS: &[(Part, &[&str])] = &[
    (
        Part::Issue,
        &[
            "issue", "problem", "problem discovered", "defect", "description", "bug", "symptom",
            "actual", "finding", "reality", "discovered", "diagnosis",
        ],
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
    (Part::Impact, &["impact", "effect", "user impact", "net impact"]),
    (
        Part::Files,
        &[
            "files modified", "files changed", "files created", "files added", "files affected",
            "files", "file",
        ],
    ),
    (Part::Severity, &["severity", "classification"]),
    (
        Part::Other,
        &[
            "found during", "found in", "verification", "verified", "committed in", "commit",
            "commits", "status", "rule", "rule applied", "type", "task", "note", "result",
            "outcome", "planned", "details", "change", "risk", "mitigation", "context", "total",
            "total deviations", "impact on plan",
        ],
    ),
];

impl Part {
    fn from_label(label: &str) -> Option<Self> {
        // Strips the remark: `**Fix (abc1234):**`, `**Defect (found by a user):**`.
        let name = label.split_once(" (").map_or(label, |(name, _)| name);
        let name = name.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        LABELS.iter().find(|(_, names)| names.contains(&name.as_str())).map(|(part, _)| *part)
    }
}

impl Deviation {
    /// Returns a deviation with the kind and severity stated in its text.
    fn from_text(text: &str, line: usize) -> Self {
        let (kind, severity) = (kind_of(text), severity_of(text));
        Self { text: text.to_owned(), kind, severity, line, ..Self::default() }
    }

    /// Sets the parts from the labels in `passage`, the deviation's own lines: `**Issue:** …`, `- **Fix:**
    /// …`.
    ///
    /// A value extends to the next label or blank line, so it may span several lines.
    fn read_details(&mut self, passage: &str) {
        let mut open: Option<Part> = None;
        let mut value = String::new();
        for line in passage.lines() {
            let mut rest = line;
            while let Some((before, label, after)) = next_label(rest) {
                value.push_str(before);
                self.set_part(open, &std::mem::take(&mut value));
                open = Part::from_label(label).or(Some(Part::Other));
                rest = after;
            }
            if line.trim().is_empty() {
                self.set_part(open.take(), &std::mem::take(&mut value));
            }
            value.push_str(without_bullet(rest.trim()));
            value.push(' ');
        }
        self.set_part(open, &value);
    }

    fn set_part(&mut self, part: Option<Part>, value: &str) {
        let value = one_line(value);
        let value = value.trim_matches(|c: char| c.is_whitespace() || "—-|".contains(c));
        let Some(value) = non_placeholder(value).map(str::to_owned) else { return };
        let field = match part {
            Some(Part::Files) => return self.files.extend(paths(&value)),
            Some(Part::Severity) => {
                self.severity.get_or_insert(value.to_lowercase());
                return;
            }
            Some(Part::Issue) => &mut self.issue,
            Some(Part::Cause) => &mut self.cause,
            Some(Part::Fix) => &mut self.fix,
            Some(Part::Impact) => &mut self.impact,
            Some(Part::Other) | None => return,
        };
        field.get_or_insert(value);
    }
}

/// Returns the text before the first bold label of a line, the label, and the rest.
fn next_label(line: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(at) = line[from..].find("**").map(|at| at + from) {
        let inner = &line[at + 2..];
        let end = inner.find("**")?;
        let (name, after) = (&inner[..end], &inner[end + 2..]);
        let label = match name.trim_end().strip_suffix(':') {
            Some(label) => Some((label, after)),
            None => after.strip_prefix(':').map(|after| (name, after)),
        };
        // Within a sentence, only known labels count.
        let is_at_start = line[..at].trim_matches([' ', '\t', '-', '*', '+']).is_empty();
        if let Some((label, after)) = label
            && (is_at_start || Part::from_label(label).is_some())
        {
            return Some((&line[..at], label, after));
        }
        from = at + 2 + end + 2;
    }
    None
}

/// Returns the paths in a list of files: ``src/a.rs (new), `b.rs` ``.
fn paths(list: &str) -> Vec<String> {
    let path = |entry: &str| {
        let word = entry.split_whitespace().next()?;
        let path = word.trim_matches(|c: char| "`*\"'".contains(c));
        let is_path = path.contains(['.', '/']) && path.contains(char::is_alphanumeric);
        is_path.then(|| path.to_owned())
    };
    list.split([',', ';']).filter_map(path).collect()
}

/// Returns the kind stated at the start of a deviation's text: `[Rule 1 - Bug] …`, `DEVN-01 (minor): …`.
fn kind_of(text: &str) -> Option<String> {
    const WORDS: &[&str] = &[
        "plan-amendment", "process-exception", "code-fix", "pre-existing", "minor", "critical",
        "blocking", "architectural",
    ];
    let text = text.trim_start_matches(['*', '_', '~', '`', ' ']);
    if let Some((tag, _)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (tag.len() <= 48).then(|| tag.trim().to_owned());
    }
    let number = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next().map(str::to_owned);
    let number = |rest: &str| number(rest).filter(|digits| !digits.is_empty());
    if let Some(rest) = text.strip_prefix("DEVN-") {
        return number(rest).map(|digits| format!("DEVN-{digits}"));
    }
    // Later in the text, these words are part of the description.
    let head = text.chars().take(64).collect::<String>().to_lowercase();
    let head = head.split(". ").next().unwrap_or_default();
    if let Some(rest) = head.strip_prefix("rule ") {
        return number(rest).map(|digits| format!("Rule {digits}"));
    }
    let is_tag = |word: &&&str| {
        head.find(**word).is_some_and(|at| {
            let opens = head[..at].chars().next_back().is_none_or(|c| "(: ".contains(c));
            opens && head[at + word.len()..].starts_with([')', ':', ','])
        })
    };
    WORDS.iter().find(is_tag).map(|word| (*word).to_owned())
}

/// Returns the severity in the brackets after a code: `DEVN-03 (critical, plan-amended): …`.
fn severity_of(text: &str) -> Option<String> {
    const SEVERITIES: &[&str] = &["minor", "moderate", "major", "critical", "low", "high"];
    let rest = text.trim_start_matches(['*', '_', '[', ' ']).strip_prefix("DEVN-")?;
    let head = rest.split(':').next()?.to_lowercase();
    let mut words = head.split(|c: char| !c.is_alphabetic());
    words.find(|word| SEVERITIES.contains(word)).map(str::to_owned)
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

/// Returns whether a text names a deviation rule of a workflow: `[Rule 1 - Bug] …`, `DEVN-02: …`.
fn names_rule(text: &str) -> bool {
    let is_number = |rest: &str| {
        let rest = rest.trim_start_matches([' ', '-']);
        rest.starts_with(|c: char| c.is_ascii_digit())
    };
    let lower = text.chars().take(100).collect::<String>().to_lowercase();
    let head = lower.trim_start_matches(|c: char| c.is_ascii_digit() || "*_~`[(. ".contains(c));
    let opens = ["rule", "devn"].iter().any(|word| head.strip_prefix(word).is_some_and(is_number));
    opens || lower.split("(rule").skip(1).any(is_number)
}

/// Returns whether an entry says that it is not a deviation: `(not a deviation)`, `kept small, as planned`.
fn is_not_a_deviation(text: &str) -> bool {
    let lower = text.to_lowercase();
    let has = |all: &[&str]| all.iter().any(|words| lower.contains(words));
    let is_denied =
        has(&["not a deviation", "not a plan deviation", "not deviations", "no deviation from"]);
    let is_planned = has(&[" as planned", "(as planned"]);
    let is_negated = has(&["not ", "n't ", "instead", "but "]);
    !names_rule(text) && (is_denied || is_planned && !is_negated)
}

#[cfg(test)]
mod tests;
