//! The search over everything: its cache, its queries, and how well it answers.

mod answers;
mod cache;
mod facts;
mod hits;
mod queries;
mod silence;

use serde_json::Value;

use crate::support::Case;

/// Returns the hits of a search by words and table, which are the same in any store.
fn hits(case: &Case, query: &str) -> Value {
    let run = case.run("recall --json --limit 50 --no-encoder").args([query]).success();
    assert_eq!(run.stderr(), "", "{}", run.report());
    run.json()["hits"].clone()
}

/// Returns `file:line` of each hit.
fn places(case: &Case, query: &str) -> Vec<String> {
    let hits = hits(case, query);
    let place = |hit: &Value| format!("{}:{}", hit["file"].as_str().unwrap(), hit["line"]);
    hits.as_array().unwrap().iter().map(place).collect()
}
