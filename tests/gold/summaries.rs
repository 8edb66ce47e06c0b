//! One SUMMARY.md against its gold row.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::gold::field::{at, same_number, text, texts};
use crate::gold::normal::{
    file, phase, plain, plan, same_commit, same_tag, tagged, title, unlisted,
};
use crate::gold::scores::{Row, Scores};
use crate::support::corpus;

/// A field's name in the gold, its place in the answer, and what makes it right.
type Check<'a> = (&'a str, &'a str, &'a dyn Fn(&Value) -> bool);

/// Scores what `inspect` says about a summary.
pub(super) fn score(gold: &Value, answer: &Value, scores: &mut Scores) {
    let path = gold["file"].as_str().unwrap().to_owned();
    let mut row = scores.row("summary", path, gold);
    let of_phase = text(&gold["phase"]).unwrap_or_default();
    let checks: [Check<'_>; 10] = [
        ("phase", "phase", &|got| same_phase(&of_phase, got)),
        ("plan", "plan", &|got| same_plan(gold, &of_phase, got)),
        ("title", "title", &|got| same_title(gold, got)),
        ("status", "status", &|got| *got == gold["status"]),
        ("duration_minutes", "duration_minutes", &|got| same_duration(gold, answer, got)),
        ("completed", "completed", &|got| same_day(&gold["completed"], got)),
        ("deviation_count", "deviation_count", &|got| same_deviation_count(gold, got)),
        ("tasks_completed", "tasks.completed", &|got| same_completed(gold, got)),
        ("tasks_total", "tasks.total", &|got| same_total(gold, got)),
        ("commits", "commits", &|got| same_commits(&gold["commits"], got)),
    ];
    for (name, key, is_right) in checks {
        let got = at(answer, key);
        row.field(name, &gold[name], got, got.is_some_and(is_right));
    }
    deviations(gold, answer, &mut row);
    files(gold, answer, &mut row);
}

/// A quick task belongs to no phase: the word says so, and so does null.
fn same_phase(of_phase: &str, got: &Value) -> bool {
    let is_word = phase(of_phase).starts_with(char::is_alphabetic);
    match text(got) {
        None => got.is_null() && is_word,
        Some(got) => phase(&got) == phase(of_phase),
    }
}

fn same_plan(gold: &Value, of_phase: &str, got: &Value) -> bool {
    let expected = text(&gold["plan"]).unwrap_or_default();
    text(got).is_some_and(|got| plan(&got, of_phase) == plan(&expected, of_phase))
}

/// The H1 with or without its label ("Phase 4 Plan 1: … Summary"); a label alone is as good as no title.
fn same_title(gold: &Value, got: &Value) -> bool {
    let got = text(got).map(|got| title(&got)).unwrap_or_default();
    let accepted = [&gold["title"], &gold["title_alt"]];
    let expected = accepted.iter().filter_map(|one| text(one));
    let mut expected: Vec<_> = expected.map(|one| title(&one)).collect();
    if expected.is_empty() {
        expected.push(String::new());
    }
    expected.contains(&got)
}

/// Where only start and end are written, the span is right if it is marked as derived, and so is null.
fn same_duration(gold: &Value, answer: &Value, got: &Value) -> bool {
    let is_derived = at(answer, "duration_derived") == Some(&Value::Bool(true));
    let written = gold["duration_minutes"].as_f64();
    let derived = gold["derived_minutes"].as_f64();
    match (written, derived) {
        (Some(written), _) => same_number(written, got) && !is_derived,
        (None, Some(span)) => got.is_null() || is_derived && same_number(span, got),
        (None, None) => got.is_null(),
    }
}

/// A time of day may stand behind the date.
fn same_day(expected: &Value, got: &Value) -> bool {
    match (expected.as_str(), got.as_str()) {
        (Some(expected), Some(got)) => got.get(..10) == Some(expected),
        _ => expected.is_null() && got.is_null(),
    }
}

/// A 0 in the gold for a summary that never speaks of deviations stands for null: silence is no zero.
fn same_deviation_count(gold: &Value, got: &Value) -> bool {
    let expected = &gold["deviation_count"];
    if got.is_null() && *expected == 0 {
        return !speaks_of_deviations(gold);
    }
    got == expected
}

fn speaks_of_deviations(gold: &Value) -> bool {
    let file = gold["file"].as_str().unwrap();
    let text = corpus().and_then(|corpus| std::fs::read(corpus.join(file)).ok());
    let Some(text) = text else { return true };
    let lower = String::from_utf8_lossy(&text).to_lowercase();
    let words = ["deviation", "devn", "\"dv\"", "\"dev\"", "auto-fixed", "auto-added"];
    // A key without a value says nothing either.
    let empty = lower.contains("deviations:\n") && lower.matches("deviation").count() == 1;
    words.iter().any(|word| lower.contains(word)) && !empty
}

/// Where no number is written, counting the tasks of the body is as right as saying nothing.
fn same_completed(gold: &Value, got: &Value) -> bool {
    match &gold["tasks_completed"] {
        Value::Null => got.is_null() || *got == gold["tasks_enumerated"],
        expected => got == expected,
    }
}

/// "Tasks: 5" is the number done; who takes it for the number of all reads no worse.
fn same_total(gold: &Value, got: &Value) -> bool {
    match &gold["tasks_total"] {
        Value::Null => {
            let may_be = [&gold["tasks_completed"], &gold["tasks_enumerated"]];
            got.is_null() || may_be.contains(&got)
        }
        expected => got == expected,
    }
}

/// In file order. Null ("can't be known") says of a file without hashes no less than an empty list.
fn same_commits(expected: &Value, got: &Value) -> bool {
    let expected = texts(expected, "hash").unwrap_or_default();
    let got = match got {
        Value::Null => Vec::new(),
        list => match texts(list, "hash") {
            Some(hashes) => hashes,
            None => return false,
        },
    };
    got.len() == expected.len() && got.iter().zip(&expected).all(|(got, one)| same_commit(got, one))
}

/// Each start in the gold has to begin an entry of its own; more entries than that cost `deviation_count`.
fn deviations(gold: &Value, answer: &Value, row: &mut Row<'_>) {
    let got = at(answer, "deviations");
    let mut left: Vec<&Value> = got.and_then(Value::as_array).into_iter().flatten().collect();
    let starts = texts(&gold["deviations"], "text").unwrap_or_default();
    let none = starts.is_empty() && left.is_empty();
    let all = !starts.is_empty()
        && starts.iter().all(|start| {
            let place = left.iter().position(|entry| begins(entry, start));
            place.is_some_and(|place| {
                left.remove(place);
                true
            })
        });
    row.field("deviations", &gold["deviations"], got, got.is_some() && (none || all));
}

/// The tag in front may stand in the text, or in `kind` alone.
fn begins(entry: &Value, start: &str) -> bool {
    let whole = text(entry).or_else(|| text(&entry["text"])).unwrap_or_default();
    let whole = plain(&whole);
    let (whole, start) = (unlisted(&whole), plain(start));
    if whole.starts_with(&start) {
        return true;
    }
    let kind = text(&entry["kind"]).unwrap_or_default();
    tagged(&start).is_some_and(|(tag, rest)| same_tag(tag, &kind) && whole.starts_with(rest))
}

/// As sets; null in the gold is not scored, null in the answer is no file.
fn files(gold: &Value, answer: &Value, row: &mut Row<'_>) {
    let Some(expected) = texts(&gold["files"], "path") else {
        return;
    };
    let got = at(answer, "files");
    let named = match got {
        Some(Value::Null) => Some(Vec::new()),
        Some(list) => texts(list, "path"),
        None => None,
    };
    let as_set =
        |paths: Vec<String>| -> BTreeSet<String> { paths.iter().map(|one| file(one)).collect() };
    let right = named.is_some_and(|named| as_set(named) == as_set(expected));
    row.field("files", &gold["files"], got, right);
}
