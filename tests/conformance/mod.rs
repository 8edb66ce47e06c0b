//! Checks that the binary follows each rule that the seeds of the stores state.
//!
//! Each test is one rule, refusal or output line that other tools of the same store rely on.

mod classify;
mod context_file;
mod entries;
mod facts;
mod ledger;
mod notepad;
mod patterns;
mod planning;

use crate::support::{Case, Outcome};

const MEMORY: &str = ".vibekit/memory";

/// Returns an entry as another tool would have written it.
fn entry(key: &str, fields: &[(&str, &str)], body: &str) -> String {
    let defaults = [
        ("key", key),
        ("type", "convention"),
        ("tags", "[testing]"),
        ("created", "2026-01-10"),
        ("updated", "2026-02-20"),
        ("status", "active"),
        ("confidence", "high"),
    ];
    let mut text = "---\n".to_owned();
    for (name, default) in defaults {
        let given = fields.iter().find(|(given, _)| *given == name);
        let value = given.map_or(default, |(_, value)| *value);
        text.extend([name, ": ", value, "\n"]);
        if name == "status" {
            for (name, value) in fields.iter().filter(|(name, _)| *name == "supersedes") {
                text.extend([*name, ": ", *value, "\n"]);
            }
        }
    }
    text + "---\n\n" + body
}

/// Writes an entry file into a case's store.
fn put(case: &Case, key: &str, fields: &[(&str, &str)], body: &str) {
    case.write(&format!("{MEMORY}/{key}.md"), entry(key, fields, body));
}

/// Returns a file of the memory as text.
fn memory(case: &Case, name: &str) -> String {
    let bytes = case.read(&format!("{MEMORY}/{name}"));
    String::from_utf8(bytes.unwrap_or_else(|| panic!("{name} is missing"))).unwrap()
}

/// Writes an entry with a body, and returns the outcome.
fn write(case: &Case, key: &str, body: &str, more: &str) -> Outcome {
    let line =
        format!("entry write --key {key} --type convention --confidence high --body-stdin {more}");
    case.run(&line).stdin(body).output()
}

/// Asserts that a run succeeded and printed exactly this.
fn prints(outcome: &Outcome, expected: &str) {
    assert_eq!(outcome.exit_code(), Some(0), "{}", outcome.report());
    assert_eq!(outcome.stdout(), expected, "{}", outcome.report());
}
