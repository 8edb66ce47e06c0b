//! Files that several plans' deviations name.

use std::collections::BTreeMap;

use crate::patterns::PlanRecord;
use crate::patterns::bullets::candidate::Candidate;
use crate::patterns::bullets::candidate::Topic;
use crate::planning::PlanNumber;

const DEVIATING_FILE: u32 = 74;

/// Returns the files that made several plans deviate.
pub(crate) fn candidates(plans: &[PlanRecord]) -> Vec<Candidate> {
    let mut by_file: BTreeMap<&str, Vec<&PlanNumber>> = BTreeMap::new();
    for plan in plans {
        for file in deviating_files(plan) {
            by_file.entry(file).or_default().push(&plan.plan);
        }
    }
    by_file
        .into_iter()
        .filter(|(_, plans)| plans.len() > 1)
        .map(|(file, plans)| {
            let lead = format!("`{file}` was in deviations of {} plans", plans.len());
            let weight = DEVIATING_FILE + u32::try_from(plans.len().min(10)).unwrap_or(10);
            Candidate::new(weight, &lead, "", &plans).on(Topic::DeviatingFile)
        })
        .collect()
}

/// Returns the files that a plan's deviations name, each once, sorted.
pub(crate) fn deviating_files(plan: &PlanRecord) -> Vec<&str> {
    let in_details = plan.details.iter().flat_map(|detail| &detail.files);
    let in_texts = plan
        .deviations
        .iter()
        .flat_map(|deviation| paths(&deviation.text));
    let mut files: Vec<&str> = in_details.map(String::as_str).chain(in_texts).collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// Returns the paths in a text: between backticks, with a folder or an extension.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| is_path(code))
}

fn is_path(code: &str) -> bool {
    let name = code.rsplit('/').next().unwrap_or(code);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let is_file = extension.is_some_and(|extension| {
        (1..=5).contains(&extension.len())
            && extension
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            && extension.bytes().any(|b| b.is_ascii_lowercase())
    });
    is_file && !code.contains(|c: char| c.is_whitespace() || "(){}<>=\"'*:;,$".contains(c))
}
