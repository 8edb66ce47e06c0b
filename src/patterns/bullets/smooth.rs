//! Plans that went as they were planned, and what they had in common.

use crate::patterns::PlanRecord;
use crate::patterns::bullets::candidate::Candidate;
use crate::patterns::bullets::sizes::shape;
use crate::planning::PlanNumber;
use crate::text::quantity;

const SMOOTH: u32 = 90;
/// A few among many show little.
const RARELY_SMOOTH: u32 = 40;
const LARGEST: u32 = 46;
const ALL_TASKS: u32 = 36;

/// A plan of fewer files is no surprise when it goes well.
const LEAST_FILES: u32 = 6;

/// Returns the plans without deviations with their sizes, and the largest of them.
pub(crate) fn candidates(plans: &[PlanRecord]) -> Vec<Candidate> {
    let smooth: Vec<&PlanRecord> = plans.iter().filter(|plan| is_smooth(plan)).collect();
    let mut found = Vec::new();
    found.extend(together(&smooth, plans.len()));
    if smooth.len() > 1 {
        found.extend(largest(&smooth));
    }
    found
}

/// Returns that every task of every plan was done, where all plans count theirs.
pub(crate) fn all_tasks(plans: &[PlanRecord]) -> Option<Candidate> {
    let counts: Option<Vec<u32>> = plans.iter().map(PlanRecord::task_count).collect();
    let total: u32 = counts?.iter().sum();
    let is_done = plans
        .iter()
        .all(|plan| plan.is_complete() && plan.open_tasks() == 0);
    if !is_done || total == 0 {
        return None;
    }
    let numbers: Vec<&PlanNumber> = plans.iter().map(|plan| &plan.plan).collect();
    let done = match total {
        1 => "The one task was done".to_owned(),
        total => format!("All {total} tasks were done"),
    };
    let deviations: u32 = plans.iter().map(|plan| plan.deviation_count).sum();
    let along = match deviations {
        0 => String::new(),
        some => format!(", with {}", quantity(some, "deviation")),
    };
    Some(Candidate::new(
        ALL_TASKS,
        &format!("{done}{along}"),
        "",
        &numbers,
    ))
}

fn is_smooth(plan: &PlanRecord) -> bool {
    plan.is_complete() && plan.deviation_count == 0 && plan.open_tasks() == 0
}

fn together(smooth: &[&PlanRecord], all: usize) -> Option<Candidate> {
    if smooth.is_empty() {
        return None;
    }
    let numbers: Vec<&PlanNumber> = smooth.iter().map(|plan| &plan.plan).collect();
    let who = match (smooth.len(), all) {
        (1, 1) => "No deviations".to_owned(),
        (2, 2) => "Both plans without deviations".to_owned(),
        (some, all) if some == all => format!("All {all} plans without deviations"),
        (some, all) => format!("{some} of {all} plans without deviations"),
    };
    let size = shape(smooth, true);
    let each = if smooth.len() > 1 { " each" } else { "" };
    let lead = if size.is_empty() {
        who
    } else {
        format!("{who}: {size}{each}")
    };
    let weight = if smooth.len() * 3 < all {
        RARELY_SMOOTH
    } else {
        SMOOTH
    };
    Some(Candidate::new(weight, &lead, "", &numbers))
}

fn largest(smooth: &[&PlanRecord]) -> Option<Candidate> {
    let plan = smooth
        .iter()
        .max_by_key(|plan| (plan.file_count(), std::cmp::Reverse(&plan.plan)))?;
    let title = plan.short_title()?;
    if plan.file_count()? < LEAST_FILES {
        return None;
    }
    let lead = format!(
        "Largest plan without deviations, {}: ",
        shape(&[plan], true)
    );
    Some(Candidate::new(LARGEST, &lead, title, &[&plan.plan]))
}
