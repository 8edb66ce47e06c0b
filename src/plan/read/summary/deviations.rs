//! Merges the deviations of front matter and body, which often describe the same ones, into one list.

use crate::markdown::{Node, Value};
use crate::plan::read::document::Document;
use crate::plan::read::summary::body_deviations::{BodyDeviations, MAX_LISTED};
use crate::plan::read::summary::deviation::{Deviation, is_none, is_not_a_deviation, paths};

/// The deviations of a summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Deviations {
    /// Number of deviations, which exceeds the length of the list if only a number is stated; `None` if the
    /// summary does not mention deviations.
    pub(super) count: Option<u32>,
    /// The deviations; `None` if only their number is known, or nothing at all.
    pub(super) list: Option<Vec<Deviation>>,
    /// Number of deviations beyond [`MAX_LISTED`], which are only counted.
    pub(super) left_out: usize,
}

impl Deviations {
    /// Collects the deviations from front matter and body.
    ///
    /// A list in the front matter is complete, unless the body lists more without referring to it; if there
    /// is only a number, the body describes the deviations. No mention does not mean zero.
    pub(super) fn from_document(document: &Document<'_>) -> Self {
        let body = BodyDeviations::from_document(document);
        let left_out = body.left_out;
        match FrontMatterDeviations::from_document(document) {
            FrontMatterDeviations::List(list)
                if body.items.len() > list.len() && !body.refers_to_front =>
            {
                Self::whole(body.items, left_out)
            }
            FrontMatterDeviations::List(mut list) => {
                complete(&mut list, &body.items);
                Self::whole(list, 0)
            }
            FrontMatterDeviations::Count(stated) => {
                let list = body.at_most(stated as usize);
                let count = stated.max(length(list.len() + left_out));
                Self {
                    count: Some(count),
                    list: (count == 0 || !list.is_empty()).then_some(list),
                    left_out,
                }
            }
            FrontMatterDeviations::Nothing if !body.speaks => Self::default(),
            FrontMatterDeviations::Nothing => {
                let total = body.total;
                let list = body.at_most(total.unwrap_or(1) as usize);
                match total {
                    Some(total) if list.is_empty() && total > 0 => {
                        Self { count: Some(total), ..Self::default() }
                    }
                    _ => Self::whole(list, left_out),
                }
            }
        }
    }

    fn whole(list: Vec<Deviation>, left_out: usize) -> Self {
        Self { count: Some(length(list.len() + left_out)), list: Some(list), left_out }
    }
}

/// Fills in the details of each deviation in the front matter from the same one in the body.
fn complete(list: &mut [Deviation], told: &[Deviation]) {
    let told: Vec<(Vec<char>, &Deviation)> =
        told.iter().take(MAX_LISTED).map(|other| (letters(&other.text), other)).collect();
    for deviation in list.iter_mut().take(MAX_LISTED) {
        let own = letters(&deviation.text);
        let is_same = |other: &[char]| {
            let common = own.len().min(other.len());
            common >= 12 && own[..common] == other[..common]
        };
        if let Some((_, other)) = told.iter().find(|(other, _)| is_same(other)) {
            deviation.complete_from(other);
        }
    }
}

/// Returns the letters and digits of a text in lower case, without the leading tag.
fn letters(text: &str) -> Vec<char> {
    let text = match text.split_once(']') {
        Some((tag, rest)) if tag.trim_start_matches('*').starts_with('[') => rest,
        _ => text,
    };
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

fn length(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The deviations stated in the front matter.
enum FrontMatterDeviations {
    Nothing,
    Count(u32),
    List(Vec<Deviation>),
}

impl FrontMatterDeviations {
    fn from_document(document: &Document<'_>) -> Self {
        let Some(node) = document.field(&["deviations", "deviation_count", "deviations_count"])
        else {
            let labelled = document.values(&["deviations", "deviations from plan"]);
            let value = labelled.into_iter().find(|value| !value.is_empty());
            return value.map_or(Self::Nothing, |value| match Self::parse(value, 1) {
                // The deviations section describes a deviation better than a label in the body.
                Self::List(_) => Self::Nothing,
                stated => stated,
            });
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
        let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = text[..text.len() - digits.len()].parse();
        let refers = text.to_lowercase().starts_with("see ");
        match number {
            Ok(number) => Self::Count(number),
            Err(_) if is_none(text) => Self::Count(0),
            Err(_) if text == "null" || text == "~" => Self::Nothing,
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
    let Some(text) = field(TEXTS) else {
        let text = node.flat();
        let is_entry = !text.is_empty() && !is_none(&text) && !is_not_a_deviation(&text);
        return is_entry.then(|| Deviation::from_text(&text, node.line));
    };
    if is_none(&text) || is_not_a_deviation(&text) {
        return None;
    }
    let code = field(&["id"]).filter(|code| code.starts_with("DEVN"));
    let read = Deviation::from_text(&text, node.line);
    let is_title = field(&["title", "what", "summary"]).is_some_and(|title| title != text);
    Some(Deviation {
        kind: code.or_else(|| field(KINDS)).or(read.kind),
        severity: field(&["severity"]).or(read.severity),
        issue: field(&["issue", "problem"]).or_else(|| is_title.then(|| text.clone())),
        cause: field(&["root_cause", "cause", "reason", "rationale", "why"]),
        fix: field(&["resolution", "fix", "solution", "action", "decision"]),
        impact: field(&["impact"]),
        files: node
            .get(&["files", "files_modified", "file"])
            .map(|files| files.texts().iter().flat_map(|text| paths(text)).collect())
            .unwrap_or_default(),
        line: node.line,
        text,
    })
}
