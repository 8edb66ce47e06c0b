//! The repo ledger through the real binary: the loop of batches, every refusal, odd repositories, real folders.

mod corpus;
mod hook;
mod refusals;
mod repositories;
mod the_loop;

use serde_json::{Value, json};

use crate::support::Case;

const STATE: &str = "docs/memory/STATE.md";
const CONSTRAINTS: &str = "docs/memory/CONSTRAINTS.md";
const DECISIONS: &str = "docs/memory/DECISIONS.md";

/// A state that follows every rule.
fn state(objective: &str) -> Value {
    json!({
        "objective": objective,
        "active_work": ["Write the reader"],
        "next_actions": ["Read the footer"],
        "quick_reference": {"run": "cargo run", "test": "cargo test", "entry_point": "src/main.rs"},
    })
}

/// A decision with a commit as evidence.
fn decision(title: &str, evidence: &str) -> Value {
    json!({"date": "2026-02-27", "title": title, "why": "It is needed", "impact": "One more file", "evidence": evidence})
}

fn text(case: &Case, path: &str) -> String {
    String::from_utf8(case.read(path).unwrap_or_default()).unwrap()
}

/// Returns the day of the n-th commit, an hour apart from the others.
fn moment(n: usize) -> String {
    format!("2026-02-{:02}T{:02}:00:00Z", 1 + n / 24, n % 24)
}

/// Commits one changed file.
fn commit(case: &Case, n: usize) -> String {
    case.write(&format!("src/file{}.rs", n % 7), format!("// {n}\n"));
    case.commit(&format!("Change {n}\n\nThe body of {n}."), &moment(n))
}

/// A repository with one commit and an empty ledger that covers it.
fn initialised() -> (Case, String) {
    let case = Case::empty();
    case.git_init();
    let first = commit(&case, 0);
    case.run("ledger init").success();
    update(&case, &json!({"covered_through": first}), "");
    (case, first)
}

/// Submits an update that must be applied, and commits the ledger as an agent does.
fn update_and_commit(case: &Case, document: &Value) -> Value {
    let report = update(case, document, "");
    case.commit("Update the ledger", "2026-03-01T12:00:00Z");
    report
}

/// Submits an update that must be applied.
fn update(case: &Case, document: &Value, flags: &str) -> Value {
    let run = case.run(&format!("ledger update --json {flags}"));
    run.stdin(document.to_string()).success().json()
}

fn pending(case: &Case, flags: &str) -> Value {
    case.run(&format!("ledger pending --json {flags}")).success().json()
}

fn hashes(pending: &Value) -> Vec<String> {
    let commits = pending["commits"].as_array().unwrap().iter();
    commits.map(|commit| commit["hash"].as_str().unwrap().to_owned()).collect()
}
