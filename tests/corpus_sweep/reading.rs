//! `status` and `inspect`: no crash, no file passed over in silence, nothing written.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::corpus_sweep::folders::{Planned, known_files};
use crate::support::{Case, Outcome, difference};

/// Returns what is wrong with the reading commands in a folder, and what `inspect` says of its files.
pub(super) fn faults(case: &Case, planned: &Planned) -> (Vec<String>, Vec<Value>) {
    let before = case.tree();
    let mut faults = status(&case.run(&planned.command("status --json")).output());
    let files = known_files(&before, &planned.planning);
    let mut answers = Vec::new();
    if files.is_empty() {
        faults.push("the folder holds no file to inspect".to_owned());
    } else {
        let outcome = case.run("inspect --json").args(&files).output();
        faults.extend(inspected(&outcome, &files));
        answers = outcome.try_json_lines().unwrap_or_default();
    }
    let written = difference(&before, &case.tree());
    faults.extend(written.iter().map(|line| format!("a reading command wrote: {line}")));
    (faults, answers)
}

fn status(outcome: &Outcome) -> Vec<String> {
    if let Some(crash) = outcome.crash() {
        return vec![crash];
    }
    let document = outcome.try_json().ok().filter(Value::is_object);
    if document.is_none() || outcome.exit_code() != Some(0) {
        return vec![format!(
            "status is not one JSON object with exit code 0\n{}",
            outcome.report()
        )];
    }
    Vec::new()
}

fn inspected(outcome: &Outcome, files: &[&str]) -> Vec<String> {
    if let Some(crash) = outcome.crash() {
        return vec![crash];
    }
    let lines = match outcome.try_json_lines() {
        Ok(lines) => lines,
        Err(fault) => return vec![fault],
    };
    let silent = unnamed(files, &lines, &outcome.stderr());
    if silent.is_empty() {
        return Vec::new();
    }
    let (count, all, first) = (silent.len(), files.len(), silent[0]);
    vec![format!(
        "inspect says nothing about {count} of {all} files, such as {first}\n{}",
        outcome.report()
    )]
}

/// Returns the files that neither an answer, nor an error, nor a warning names.
fn unnamed<'a>(files: &[&'a str], lines: &[Value], stderr: &str) -> Vec<&'a str> {
    let named: BTreeSet<&str> = lines
        .iter()
        .flat_map(|line| [&line["file"], &line["error"]["place"]["file"]])
        .filter_map(Value::as_str)
        .map(|file| file.trim_start_matches("[ROOT]/").trim_start_matches("./"))
        .collect();
    files
        .iter()
        .filter(|file| !named.contains(**file) && !stderr.contains(**file))
        .copied()
        .collect()
}

#[test]
fn a_file_is_named_by_an_answer_an_error_or_a_warning() {
    let lines = [
        serde_json::json!({"kind": "plan", "file": "./a-PLAN.md"}),
        serde_json::json!({"error": {"kind": "failed", "place": {"file": "b-PLAN.md", "line": null}}}),
    ];
    let files = ["a-PLAN.md", "b-PLAN.md", "c-PLAN.md", "d-PLAN.md"];
    assert_eq!(unnamed(&files, &lines, "warning: c-PLAN.md: too large"), ["d-PLAN.md"]);
}
