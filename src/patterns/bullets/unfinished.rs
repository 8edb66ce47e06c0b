//! Plans that did not come to their end.

use crate::patterns::PlanRecord;
use crate::patterns::bullets::candidate::Candidate;
use crate::patterns::bullets::trouble::Trouble;
use crate::patterns::bullets::trouble::Troubles;
use crate::planning::SummaryStatus;

const FAILED: u32 = 120;
const PARTIAL: u32 = 115;
const OPEN_TASKS: u32 = 100;

/// Returns each plan that is failed, partial or has tasks left, with the reason in its own words.
pub(crate) fn candidates(plans: &[PlanRecord], troubles: &Troubles<'_>) -> Vec<Candidate> {
    let candidate = |plan| candidate(plan, troubles);
    plans.iter().filter_map(candidate).collect()
}

fn candidate(plan: &PlanRecord, troubles: &Troubles<'_>) -> Option<Candidate> {
    let (weight, ended) = match plan.status {
        Some(SummaryStatus::Failed) => (FAILED, "Failed"),
        Some(SummaryStatus::Partial) => (PARTIAL, "Ended partial"),
        _ if plan.open_tasks() > 0 => (OPEN_TASKS, "Left tasks undone"),
        _ => return None,
    };
    let tasks = match (plan.tasks.completed, plan.tasks.total) {
        (Some(completed), Some(total)) if completed < total => {
            format!(", {completed} of {total} tasks done")
        }
        _ => String::new(),
    };
    let reason = reason(plan, troubles);
    let told = match reason {
        Some((_, trouble)) => trouble.told.as_str(),
        None => plan.short_title().or(plan.one_line.as_deref())?,
    };
    let lead = format!("{ended}{tasks}: ");
    let told = Candidate::new(weight, &lead, told, &[&plan.plan]);
    Some(told.telling(reason.map(|(at, _)| at)))
}

/// Returns the trouble that kept a plan from its end: one that speaks of it, else the first of a plan
/// that calls itself unfinished.
fn reason<'t, 'a>(
    plan: &PlanRecord,
    troubles: &'t Troubles<'a>,
) -> Option<(usize, &'t Trouble<'a>)> {
    const SIGNS: &[&str] = &[
        "block",
        "skip",
        "defer",
        "fail",
        "partial",
        "not complete",
        "incomplete",
        "unable",
        "could not",
        "couldn't",
        "cannot",
        "pending",
        "await",
        "wait",
        "postpone",
        "stopped",
    ];
    let own = || {
        let troubles = troubles.0.iter().enumerate();
        troubles.filter(|(_, trouble)| *trouble.plan == plan.plan)
    };
    let speaks = |(_, trouble): &(usize, &Trouble<'_>)| {
        let lower = trouble.text.to_lowercase();
        SIGNS.iter().any(|sign| lower.contains(sign))
    };
    own()
        .find(speaks)
        .or_else(|| own().next().filter(|_| !plan.is_complete()))
}
