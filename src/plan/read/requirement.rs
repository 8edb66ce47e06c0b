//! Looks up the texts of requirement ids in REQUIREMENTS.md.
//!
//! ```text
//! - [ ] **REQ-01**: text        ### REQ-01: text        | REQ-01 | text | Phase 1 |
//! ```

use serde::Serialize;

use crate::markdown::Outline;
use crate::plan::read::non_placeholder;
use crate::text::{one_line, strip_prefix_ignore_case};

/// A requirement that a phase covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// The id; `None` if the roadmap gives the text instead.
    pub id: Option<String>,
    /// The text; `None` if only the id is known.
    pub text: Option<String>,
}

impl Requirement {
    /// Returns the requirements of a roadmap phase, with their texts looked up in REQUIREMENTS.md.
    pub fn resolve(named: &[String], requirements: &str) -> Vec<Self> {
        let lines = lines(requirements);
        named
            .iter()
            .map(|name| {
                if !is_id(name) {
                    let text = Some(name.clone());
                    return Self { id: None, text };
                }
                let text = lines.iter().find_map(|line| after_id(line, name));
                Self { id: Some(name.clone()), text }
            })
            .collect()
    }
}

/// Returns whether a text is an id: one word that contains a digit.
pub(super) fn is_id(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "-._".contains(c);
    text.chars().all(is_part) && text.contains(|c: char| c.is_ascii_digit())
}

/// Returns the lines that may state a requirement: bullets and headings before table rows.
fn lines(text: &str) -> Vec<String> {
    let outline = Outline::parse_beginning(text, 0);
    let all = 0..text.len();
    let headings = outline.sections().iter().map(|section| section.title.clone());
    let items = outline.items(&all).map(|(_, item)| item.text.clone());
    let rows = outline.tables(&all).flat_map(|table| &table.rows);
    let rows = rows.filter_map(|row| match &row.cells[..] {
        [id, text, ..] if !is_place(text) => Some(format!("{id}: {text}")),
        _ => None,
    });
    items.chain(headings).chain(rows).collect()
}

/// Returns whether a cell names the phase in which a requirement is met, rather than describing it.
fn is_place(cell: &str) -> bool {
    let lower = cell.trim().to_lowercase();
    lower.is_empty()
        || lower.starts_with("phase")
        || lower.starts_with(|c: char| c.is_ascii_digit()) && !lower.contains(' ')
}

/// Returns the text after an id at the start of a line, on one line.
fn after_id(line: &str, id: &str) -> Option<String> {
    let bare = line.trim_start_matches(|c: char| "*_`[~ ".contains(c));
    let is_code = line[..line.len() - bare.len()].contains('`');
    let rest = strip_prefix_ignore_case(bare, id)?;
    if rest.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let is_mark = |c: char| "*_]~:.-\u{2013}\u{2014} \n".contains(c);
    let mut rest = rest.trim_start_matches(is_mark);
    // A backtick closes the id only if one opened it; any other opens a code span of the requirement.
    if is_code {
        rest = rest.strip_prefix('`').unwrap_or(rest).trim_start_matches(is_mark);
    }
    let text = one_line(rest);
    non_placeholder(&text).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(requirements: &str) -> Vec<Option<String>> {
        let named = ["REQ-01".to_owned(), "AUTH-2".to_owned()];
        let found = Requirement::resolve(&named, requirements);
        found.into_iter().map(|requirement| requirement.text).collect()
    }

    #[test]
    fn an_id_is_found_in_every_form() {
        let both = [Some("One (must)".to_owned()), Some("Two".to_owned())];
        assert_eq!(
            texts("- **REQ-01**: `meta/` folder\n- `AUTH-2`: `x` works\n"),
            [Some("`meta/` folder".to_owned()), Some("`x` works".to_owned())]
        );
        for text in [
            "- [ ] **REQ-01**: One (must)\n- [x] AUTH-2 \u{2014} Two\n",
            "### REQ-01: One (must)\n**Must-have**\n\n### AUTH-2 Two\n",
            "| Id | What | Phase |\n|---|---|---|\n| REQ-01 | One (must) | 1 |\n| **AUTH-2** | Two | 2 |\n",
        ] {
            assert_eq!(texts(text), both, "{text}");
        }
    }

    #[test]
    fn where_a_requirement_is_met_is_not_what_it_is() {
        let text = "| Id | Phase | Status |\n|---|---|---|\n| REQ-01 | Phase 1 | Complete |\n| AUTH-2 | 2 | Open |\n";
        assert_eq!(texts(text), [None, None]);
        let longer = format!("{text}\n- REQ-011: Eleven\n- **REQ-01**: One\n- AUTH-2\n");
        assert_eq!(texts(&longer), [Some("One".to_owned()), None]);
    }

    #[test]
    fn a_text_in_place_of_an_id_stands_for_itself() {
        let found = Requirement::resolve(&["Fast start, under 2 s".to_owned()], "");
        let expected = Requirement { id: None, text: Some("Fast start, under 2 s".to_owned()) };
        assert_eq!(found, [expected]);
    }
}
