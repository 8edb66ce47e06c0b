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
        for file in plan.files_in_deviations() {
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
