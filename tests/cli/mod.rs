//! The real binary, command by command: few runs each, compared whole; they prove the wiring.

mod audit;
mod completions;
mod config;
mod context;
mod conventions;
mod demo;
mod doctor;
mod entry;
mod entry_classify;
mod examples;
mod execute;
mod facts;
mod facts_search;
mod forget;
mod hook;
mod init;
mod inspect;
mod journal;
mod ledger;
mod log;
mod man;
mod mcp;
mod merge_file;
mod milestone;
mod notepad;
mod patterns;
mod patterns_insights;
mod pause;
mod plan;
mod recall;
mod remember;
mod report;
mod resume;
mod sessions;
mod setup;
mod setup_git;
mod share;
mod ship;
mod status;
mod sync;
mod undo;
mod usage;
mod wrong_input;
mod wrong_use;

pub(crate) use mcp::{answer, call, session};

use crate::support::{Case, Outcome, Tree, difference};

pub(crate) const VBW: &str = "examples/vbw-project";
const YOLO: &str = "examples/yolo-project";
const GSD: &str = "examples/gsd-project";
const ARIADNA: &str = "examples/ariadna-project";

/// Fails the test unless nothing but our own folder changed.
pub(crate) fn assert_unchanged(before: &Tree, case: &Case, outcome: &Outcome) {
    let changed = difference(before, &case.tree());
    assert!(changed.is_empty(), "{changed:?}\n{}", outcome.report());
}

/// Fails the test unless standard error is one failure: a line, and a hint where one is expected.
pub(crate) fn assert_error(outcome: &Outcome, error: &str, hint: &str) {
    let expected = if hint.is_empty() {
        format!("error: {error}\n")
    } else {
        format!("error: {error}\nhint: {hint}\n")
    };
    assert_eq!(outcome.stderr(), expected, "{}", outcome.report());
    assert_eq!(outcome.stdout(), "", "{}", outcome.report());
}

/// Fails the test unless standard error begins with this failure and has a hint.
pub(crate) fn assert_hinted(outcome: &Outcome, start: &str) {
    let said = outcome.stderr();
    let is_failure = said.starts_with(&format!("error: {start}"));
    assert!(is_failure, "{}", outcome.report());
    assert!(said.contains("\nhint: "), "{}", outcome.report());
}
