//! One STATE.md against its gold row.

use serde_json::Value;

use crate::gold::field::{at, same_number, text, texts};
use crate::gold::normal::{phase, plain, same_tag, tagged};
use crate::gold::scores::Scores;

/// Scores what `inspect` says about a state file and the project file that belongs to it.
pub(super) fn score(gold: &Value, answer: &Value, project: &Value, scores: &mut Scores) {
    let path = gold["file"].as_str().unwrap().to_owned();
    let mut row = scores.row("state", path, gold);
    let core_value = at(answer, "core_value").map(|own| match own {
        // The gold takes it from PROJECT.md where the state has none.
        Value::Null => at(project, "core_value").unwrap_or(own),
        own => own,
    });
    for (name, got) in [
        ("project", at(answer, "project")),
        ("core_value", core_value),
        ("milestone", at(answer, "milestone")),
        ("phase_name", at(answer, "phase.name")),
        // Verbatim, so with the file's own capitals.
        ("status", at(answer, "phase.status")),
    ] {
        row.field(name, &gold[name], got, got.is_some_and(|got| same_text(&gold[name], got)));
    }
    let number = at(answer, "phase.number");
    let right = number.is_some_and(|got| {
        text(got).map(|n| phase(&n)) == text(&gold["phase_number"]).map(|n| phase(&n))
    });
    row.field("phase_number", &gold["phase_number"], number, right);
    for (name, key) in
        [("phase_total", "phase.total"), ("progress_percent", "phase.progress_percent")]
    {
        let got = at(answer, key);
        let right = got.is_some_and(|got| match gold[name].as_f64() {
            Some(expected) => same_number(expected, got),
            None => got.is_null(),
        });
        row.field(name, &gold[name], got, right);
    }
    let decisions = at(answer, "decisions");
    let right = decisions.is_some_and(|got| same_decisions(&gold["decisions"], got));
    row.field("decisions", &gold["decisions"], decisions, right);
    for (name, key) in [("todos_open", "todos"), ("blockers", "blockers")] {
        let got = at(answer, key);
        let right =
            got.is_some_and(|got| plain_texts(&gold[name], "text") == plain_texts(got, "text"));
        row.field(name, &gold[name], got, right);
    }
    let skills = at(answer, "skills");
    let right = skills.is_some_and(|got| sorted(&gold["skills"]) == sorted(got));
    row.field("skills", &gold["skills"], skills, right);
}

fn same_text(expected: &Value, got: &Value) -> bool {
    match (text(expected), text(got)) {
        (Some(expected), Some(got)) => plain(&expected) == plain(&got),
        (expected, _) => expected.is_none() && got.is_null(),
    }
}

/// In file order; a tag such as `[Phase 02]` may stand in the text, or in `source` alone.
fn same_decisions(expected: &Value, got: &Value) -> bool {
    let (Some(expected), Some(got)) = (texts(expected, "text"), got.as_array()) else {
        return false;
    };
    expected.len() == got.len()
        && expected.iter().zip(got).all(|(one, got)| same_decision(one, got))
}

fn same_decision(expected: &str, got: &Value) -> bool {
    let whole = text(got).or_else(|| text(&got["text"])).unwrap_or_default();
    let (whole, expected) = (plain(&whole), plain(expected));
    let source = text(&got["source"]).unwrap_or_default();
    let without =
        tagged(&expected).is_some_and(|(tag, rest)| same_tag(tag, &source) && whole == rest);
    whole == expected || without
}

fn plain_texts(list: &Value, key: &str) -> Option<Vec<String>> {
    Some(texts(list, key)?.iter().map(|one| plain(one)).collect())
}

fn sorted(skills: &Value) -> Option<Vec<String>> {
    let mut names = plain_texts(skills, "name")?;
    names.sort();
    Some(names)
}
