//! Which fields of a gold row a person could have answered otherwise.

use serde_json::Value;

use crate::gold::normal::plain;

/// The words by which a row's `reason` speaks of a field.
const WORDS: &[(&str, &[&str])] = &[
    ("title", &["title"]),
    ("status", &["status is", "status in", "status line", "status:**"]),
    ("duration_minutes", &["duration"]),
    ("deviation_count", &["deviation", "bullet"]),
    ("deviations", &["deviation", "bullet"]),
    ("deviations_total", &["deviation"]),
    ("tasks_completed", &["tasks"]),
    ("tasks_total", &["tasks"]),
    ("files", &["paths", "as a file"]),
    ("commits", &["commits"]),
    ("project", &["project \"", "project label", "title is"]),
    ("core_value", &["core value"]),
    ("milestone", &["milestone"]),
    ("phase_number", &["phase_number", "phase id"]),
    ("phase_total", &["phase_total"]),
    ("phase_name", &["phase_name", "that name"]),
    ("progress_percent", &["progress"]),
    ("decisions", &["decisions"]),
    ("todos_open", &["todo", "open items"]),
    ("blockers", &["blocker"]),
    ("skills", &["skills"]),
];

/// Returns whether a row's reason speaks of a field; without a reason nothing is ambiguous.
pub(super) fn names(reason: Option<&str>, field: &str) -> bool {
    let Some(reason) = reason.map(str::to_lowercase) else {
        return false;
    };
    WORDS
        .iter()
        .filter(|(name, _)| *name == field)
        .any(|(_, words)| words.iter().any(|word| reason.contains(word)))
}

/// Returns whether a row's reason accepts an answer beside the gold one: it says so, and quotes it.
pub(super) fn accepts(reason: Option<&str>, got: Option<&Value>) -> bool {
    let Some(reason) = reason.filter(|reason| reason.contains("acceptable")) else {
        return false;
    };
    match got {
        Some(Value::Null) => reason.contains("null is acceptable"),
        Some(Value::String(text)) => {
            let is_quoted = reason.contains(&format!("\"{text}\""));
            // A part of a quotation, such as a name without its number; two letters are part of anything.
            is_quoted || text.len() > 2 && plain(reason).contains(&plain(text))
        }
        Some(Value::Number(number)) => {
            reason.split(|c: char| !c.is_ascii_digit()).any(|word| word == number.to_string())
        }
        _ => false,
    }
}

#[test]
fn only_what_the_reason_speaks_of_is_ambiguous() {
    let reason = Some("Status in front matter. phase_total is not written (4 is acceptable).");
    assert!(names(reason, "status") && names(reason, "phase_total"));
    assert!(!names(reason, "phase_name") && !names(reason, "decisions"));
    assert!(!names(None, "status"));
    assert!(accepts(reason, Some(&4.into())));
    assert!(!accepts(reason, Some(&5.into())) && !accepts(reason, Some(&Value::Null)));
    assert!(!accepts(Some("either 4 or 5"), Some(&4.into())) && !accepts(None, Some(&4.into())));
}
