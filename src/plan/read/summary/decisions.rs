//! Extracts the decisions made during the execution of a plan.

use crate::clock::parse_date;
use crate::markdown::{BlockContent, Node, Table};
use crate::plan::read::document::Document;
use crate::plan::read::{Decision, is_absent};

/// Returns the decisions in the front matter, otherwise in the body; `None` if there is no such field or
/// section.
pub(super) fn decisions(document: &Document<'_>) -> Option<Vec<Decision>> {
    let node = document.field(&["key_decisions", "decisions", "decisions_made"]);
    let stated: Option<Vec<_>> =
        node.map(|node| node.elements().into_iter().filter_map(from_node).collect());
    if stated.as_ref().is_some_and(|list| !list.is_empty()) {
        return stated;
    }
    from_section(document).or(stated)
}

fn from_node(node: &Node) -> Option<Decision> {
    const TEXTS: &[&str] =
        &["decision", "summary", "text", "title", "what", "description", "choice"];
    let text = node.get(TEXTS).and_then(Node::as_text);
    let of = |keys: &[&str]| node.get(keys).and_then(Node::as_text).map(str::to_owned);
    let text = text.map_or_else(|| node.flat(), str::to_owned);
    (!is_absent(&text)).then(|| Decision {
        text,
        date: of(&["date"]).and_then(|date| parse_date(&date)),
        rationale: of(&["rationale", "reason", "why", "context"]),
        ..Decision::default()
    })
}

fn from_section(document: &Document<'_>) -> Option<Vec<Decision>> {
    let sections = document.sections(|words| {
        let is_decisions = |word: &String| word == "decisions" || word == "decision";
        words.len() <= 4
            && words.iter().any(is_decisions)
            && words.first().is_none_or(|word| word != "task")
    });
    if sections.is_empty() {
        return None;
    }
    let mut list = Vec::new();
    for section in sections {
        for block in document.outline.blocks(&section.whole) {
            match &block.content {
                BlockContent::Item(item) if item.depth == 0 => list.push(from_text(&item.text)),
                BlockContent::Table(table) => list.extend(from_table(table)),
                _ => {}
            }
        }
    }
    list.retain(|decision| !is_absent(&decision.text));
    Some(list)
}

fn from_text(text: &str) -> Decision {
    Decision { text: text.to_owned(), ..Decision::default() }
}

fn from_table(table: &Table) -> Vec<Decision> {
    let column = table.column(&["decision", "choice", "what"]).unwrap_or(0);
    let rationale = table.column(&["rationale", "reason", "why", "context"]);
    let date = table.column(&["date"]);
    let row = |cells: &[String]| {
        let cell = |column: usize| cells.get(column).cloned();
        Decision {
            text: cell(column).unwrap_or_default(),
            date: date.and_then(cell).and_then(|date| parse_date(&date)),
            rationale: rationale.and_then(cell).filter(|text| !is_absent(text)),
            ..Decision::default()
        }
    };
    table.rows.iter().map(|found| row(&found.cells)).collect()
}
