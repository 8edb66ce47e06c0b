//! Other tools' memories, imported by the real binary: all accounted for, each once, nothing written to them.

mod claude_mem;
mod exporting;
mod graph;
mod notes;

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::Case;

/// A project with samples of a folder of `tests/exchange/samples` in it, outside of any store.
fn case(sample: &str) -> Case {
    let case = Case::empty();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exchange/samples").join(sample);
    copy(&from, &case, sample);
    case
}

fn copy(from: &Path, case: &Case, to: &str) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = format!("{to}/{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            copy(&entry.path(), case, &to);
        } else {
            case.write(&to, fs::read(entry.path()).unwrap());
        }
    }
}

fn import(case: &Case, line: &str) -> Value {
    case.run(&format!("import {line} --json")).success().json()
}

/// Returns how many were imported, there already, skipped and not understood.
fn counts(report: &Value) -> [u64; 4] {
    ["imported", "known", "skipped", "not_understood"].map(|name| {
        let count = report["counts"][name].as_u64().unwrap();
        assert_eq!(report[name].as_array().unwrap().len() as u64, count);
        count
    })
}

/// Imports twice: the second time all that was new is there, and no byte changes.
fn twice(case: &Case, line: &str) -> Value {
    let source = case.tree();
    let would = import(case, &format!("{line} --dry-run"));
    assert_eq!(case.tree(), source, "a dry run writes nothing");
    let first = import(case, line);
    assert_eq!(counts(&would), counts(&first), "{would:#}\n{first:#}");
    let there = case.tree();
    let second = import(case, line);
    assert_eq!(case.tree(), there, "{second:#}");
    let [imported, known, skipped, unknown] = counts(&first);
    assert_eq!(counts(&second), [0, imported + known, skipped, unknown], "{second:#}");
    first
}

fn entry(case: &Case, key: &str) -> String {
    let path = format!(".vibekit/memory/{key}.md");
    let bytes = case.read(&path).unwrap_or_else(|| panic!("{path}: {:#?}", case.tree()));
    String::from_utf8(bytes).unwrap()
}

fn keys_of(report: &Value) -> Vec<&str> {
    let becomes = |one: &'_ Value| one["becomes"].as_str().map(str::to_owned);
    let all = report["imported"].as_array().unwrap();
    assert!(all.iter().all(|one| becomes(one).is_some()));
    all.iter().map(|one| one["becomes"].as_str().unwrap().trim_start_matches("entry ")).collect()
}

fn reasons(report: &Value) -> String {
    let mut all = String::new();
    for (list, field) in [("skipped", "reason"), ("not_understood", "message")] {
        for one in report[list].as_array().unwrap() {
            let (file, line) = (one["file"].as_str().unwrap(), &one["line"]);
            let why = one[field].as_str().unwrap();
            all.extend([file, ":", &line.to_string(), ": ", why, "\n"]);
        }
    }
    all
}
