//! No figure takes silence for success: counted again from the files, of every real project.

use std::path::Path;

use serde_json::Value;

use crate::corpus_sweep::folders::Planned;
use crate::support::Case;

/// Returns where `patterns insights`, an entry or the brief counts plans that do not speak of deviations.
///
/// Which summaries speak is asked of `inspect`, file by file; what they add up to is counted here.
pub(super) fn faults(case: &Case, planned: &Planned) -> Vec<String> {
    let mut faults = Vec::new();
    let insights = case
        .run(&planned.command("patterns insights --json"))
        .output();
    let Ok(insights) = insights.try_json() else {
        return faults;
    };
    let (plans, of) = (
        number(&insights["plans"]),
        number(&insights["deviated"]["of"]),
    );
    let silent = speaking(case, planned);
    for question in insights["comparisons"].as_array().into_iter().flatten() {
        let both = number(&question["group"]["plans"]) + number(&question["other"]["plans"]);
        let name = question["question"].as_str().unwrap_or_default();
        if name.starts_with("deviations") && both > of {
            faults.push(format!("{name} compares {both} plans, and {of} speak"));
        }
    }
    if of > plans || of > silent {
        faults.push(format!(
            "{of} of {plans} plans are said to speak; {silent} summaries do"
        ));
    }
    let counted = buckets(&insights["by_tasks"]).max(buckets(&insights["by_files"]));
    if counted > of {
        faults.push(format!("the tables count {counted} plans, and {of} speak"));
    }
    faults
}

/// Returns how many summaries of a project speak of deviations.
fn speaking(case: &Case, planned: &Planned) -> u64 {
    let tree = case.tree();
    let is_summary = |path: &&str| {
        let name = Path::new(path).file_name().unwrap_or_default();
        let name = name.to_string_lossy().to_lowercase();
        name.contains("summary") && path.starts_with(&planned.planning)
    };
    let files: Vec<&str> = tree.keys().map(String::as_str).filter(is_summary).collect();
    let outcome = case.run("inspect --json").args(&files).output();
    let answers = outcome.try_json_lines().unwrap_or_default();
    let speaks = |answer: &&Value| answer["deviation_count"].is_u64();
    answers.iter().filter(speaks).count() as u64
}

fn buckets(sizes: &Value) -> u64 {
    let buckets = sizes["buckets"].as_array().into_iter().flatten();
    buckets
        .map(|bucket| number(&bucket["deviated"]["of"]))
        .sum()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}
