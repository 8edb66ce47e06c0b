//! Determines the milestone that STATE.md names, and whether one is active.

use crate::markdown::{FrontMatter, Outline};
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::state::position;
use crate::plan::read::{is_absent, non_placeholder};

/// Phrases for the time between two milestones, in lower case.
const BETWEEN: &[&str] = &[
    "no active milestone",
    "no milestone active",
    "between milestones",
    "awaiting new milestone",
    "awaiting next milestone",
    "awaiting_new_milestone",
    "awaiting_next_milestone",
    "ready for new milestone",
    "ready for next milestone",
    "ready for a new milestone",
    "ready for the next milestone",
    "ready_for_new_milestone",
    "ready_for_next_milestone",
    "ready to plan next milestone",
    "ready to plan the next milestone",
];

/// The milestone according to STATE.md.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StatedMilestone {
    /// Its name or version.
    pub(super) text: Option<String>,
    /// Its title, in addition to a version.
    pub(super) name: Option<String>,
    /// The slug of the active milestone.
    pub(super) active: Option<String>,
    /// Whether no milestone is active.
    pub(super) is_between: bool,
}

impl StatedMilestone {
    /// Reads the front matter and the labels about the position.
    pub(super) fn read(
        front: &FrontMatter,
        outline: &Outline<'_>,
        labels: &[(String, String)],
    ) -> Self {
        let label = |names: &[&str]| {
            labels
                .iter()
                .find(|(name, _)| names.contains(&name.as_str()))
                .map(|(_, value)| value.as_str())
        };
        let written = label(&["milestone", "current milestone"]);
        let active = label(&["active milestone"]);
        let in_front = front.text(&["milestone"]).and_then(non_placeholder);
        let text = in_front
            .or(written.filter(|value| !is_none_remark(value)))
            .or(active.filter(|value| !is_none_remark(value)))
            .and_then(without_heading);
        // `milestone` is the template's placeholder for a missing name.
        let name = front
            .text(&["milestone_name"])
            .and_then(non_placeholder)
            .and_then(without_heading)
            .filter(|name| !name.eq_ignore_ascii_case("milestone"));
        Self {
            text: text.map(str::to_owned),
            name: name.map(str::to_owned),
            active: active.filter(|value| is_slug(value)).map(str::to_owned),
            is_between: says_between(front, labels, written.or(active))
                || line_says_between(outline),
        }
    }
}

/// Returns a name without the heading of a phase that a tool took for it: `v1.0 ### Phase 1: Base`, `### Phase 1: Base`.
fn without_heading(name: &str) -> Option<&str> {
    let mut marks = name.match_indices('#').map(|(at, _)| at);
    let heading = marks.find(|at| {
        let is_start = name[..*at].chars().next_back().is_none_or(char::is_whitespace);
        let after = name[*at..].trim_start_matches('#');
        is_start && name[*at..].starts_with("##") && after.starts_with(' ')
    });
    non_placeholder(&name[..heading.unwrap_or(name.len())])
}

fn is_slug(value: &str) -> bool {
    !is_absent(value) && !value.contains([' ', '/', '\\']) && !value.starts_with('.')
}

fn says_between(front: &FrontMatter, labels: &[(String, String)], milestone: Option<&str>) -> bool {
    let is_over = milestone.is_some_and(|value| {
        let lower = value.to_lowercase();
        begins_none(&lower) || names_shipping(&lower)
    });
    let phase_values = labels
        .iter()
        .filter(|(name, _)| matches!(name.as_str(), "phase" | "current phase"))
        .map(|(_, value)| value.to_lowercase());
    let statuses = labels
        .iter()
        .filter(|(name, _)| matches!(name.as_str(), "status" | "current status"))
        .map(|(_, value)| value.as_str())
        .chain(front.text(&["status"]))
        .map(str::to_lowercase);
    let statuses: Vec<String> = statuses.collect();
    let has_ended = statuses.iter().any(|status| {
        (status.contains("milestone") && status.contains("complete")) || names_shipping(status)
    });
    is_over
        || statuses.iter().any(|status| says_none_is_active(status) || is_shipped_status(status))
        || phase_values.into_iter().any(|phase| {
            says_none_is_active(&phase)
                || (phase.starts_with("milestone") && phase.contains("complete"))
                || (begins_none(&phase) && (has_ended || phase.contains("complete")))
        })
}

/// Returns whether a value begins with `none`, ignoring markup; a dash or a placeholder does not count.
fn begins_none(lower: &str) -> bool {
    let bare = lower.trim_start_matches(['*', '_', '(', '`', ' ']);
    bare.starts_with("none") && is_none_remark(bare)
}

fn says_none_is_active(lower: &str) -> bool {
    BETWEEN.iter().any(|phrase| lower.contains(phrase))
}

/// Returns whether a text in lower case contains the word `shipped` or `archived`.
fn names_shipping(lower: &str) -> bool {
    lower.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "shipped" | "archived"))
}

/// Returns whether a status says that the milestone shipped; a phase that shipped does not count.
fn is_shipped_status(lower: &str) -> bool {
    let begins = lower.starts_with("shipped") || lower.starts_with("archived");
    begins || (lower.contains("milestone") && names_shipping(lower) && !lower.contains("phase"))
}

/// Returns whether an unlabelled line about the position says that no milestone is active.
fn line_says_between(outline: &Outline<'_>) -> bool {
    position::scopes(outline).iter().any(|scope| {
        outline.paragraphs(scope).any(|(_, text)| {
            text.lines().map(str::to_lowercase).any(|line| {
                says_none_is_active(&line) || (begins_none(&line) && line.contains("complete"))
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_no_part_of_a_name() {
        for (name, expected) in [
            ("v1.0 ### Phase 1: Base", Some("v1.0")),
            ("### Phase 1: Base", None),
            ("v1.1 Shop", Some("v1.1 Shop")),
            ("Bindings for C # and F#", Some("Bindings for C # and F#")),
            ("Fix ##123", Some("Fix ##123")),
            ("a### b", Some("a### b")),
        ] {
            assert_eq!(without_heading(name), expected, "{name}");
        }
    }
}
