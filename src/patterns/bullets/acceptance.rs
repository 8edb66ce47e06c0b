//! What the checks of the must-haves came to.

use crate::patterns::PlanRecord;
use crate::patterns::bullets::candidate::Candidate;
use crate::patterns::bullets::lesson::lesson;
use crate::planning::AcceptanceResult;
use crate::planning::PlanNumber;

const FAILED: u32 = 110;
const SHORT: u32 = 86;
const PASSED: u32 = 50;

/// A check is worth a bullet of its own only among as many.
const LEAST_CHECKS: usize = 3;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    /// Partial, deferred, open.
    Short,
    Failed,
}

impl Verdict {
    fn of(result: &AcceptanceResult) -> Option<Self> {
        let word = result.verdict.as_deref()?.trim().to_lowercase();
        let starts = |words: &[&str]| words.iter().any(|start| word.starts_with(start));
        if starts(&[
            "pass", "met", "ok", "yes", "true", "done", "complete", "verified", "✓", "✅",
        ]) {
            Some(Self::Passed)
        } else if starts(&["fail", "no", "false", "unmet", "missed", "✗", "❌"]) {
            Some(Self::Failed)
        } else if starts(&[
            "partial", "defer", "pending", "skip", "block", "open", "amend",
        ]) {
            Some(Self::Short)
        } else {
            None
        }
    }
}

/// Returns the checks that failed, and those that fell short.
pub(crate) fn missed(plans: &[PlanRecord]) -> Vec<Candidate> {
    let all = results(plans).count();
    [
        (Verdict::Failed, FAILED, "failed"),
        (Verdict::Short, SHORT, "fell short"),
    ]
    .into_iter()
    .filter_map(|(verdict, weight, ended)| {
        let missed: Vec<_> = results(plans)
            .filter(|(_, result)| Verdict::of(result) == Some(verdict))
            .collect();
        let (_, first) = missed.first()?;
        let numbers: Vec<&PlanNumber> = missed.iter().map(|(plan, _)| *plan).collect();
        let lead = match missed.len() {
            1 => format!("Acceptance {ended}: "),
            count => format!("{count} of {all} acceptance checks {ended}, as: "),
        };
        Some(Candidate::new(weight, &lead, &shown(first), &numbers))
    })
    .collect()
}

/// Returns that all checks passed, where there were some.
pub(crate) fn passed(plans: &[PlanRecord]) -> Option<Candidate> {
    let results: Vec<_> = results(plans).collect();
    let is_passed =
        |(_, result): &(_, &AcceptanceResult)| Verdict::of(result) == Some(Verdict::Passed);
    if results.len() < LEAST_CHECKS || !results.iter().all(is_passed) {
        return None;
    }
    let numbers: Vec<&PlanNumber> = results.iter().map(|(plan, _)| *plan).collect();
    let lead = format!("All {} acceptance checks passed", results.len());
    Some(Candidate::new(PASSED, &lead, "", &numbers))
}

fn results(plans: &[PlanRecord]) -> impl Iterator<Item = (&PlanNumber, &AcceptanceResult)> {
    plans.iter().flat_map(|plan| {
        plan.acceptance
            .iter()
            .map(move |result| (&plan.plan, result))
    })
}

/// Returns what had to hold, without the words that class it, and what was found instead.
fn shown(result: &AcceptanceResult) -> String {
    let criterion = lesson(&result.criterion);
    let criterion = ["truth: ", "artifact: ", "key_link: "]
        .iter()
        .find_map(|class| {
            criterion
                .to_lowercase()
                .starts_with(class)
                .then(|| &criterion[class.len()..])
        })
        .unwrap_or(&criterion);
    let found = result.evidence.as_deref().map(lesson).unwrap_or_default();
    if found.is_empty() {
        return criterion.to_owned();
    }
    // Half the room each: what was found tells more than the rest of a long criterion.
    let criterion = crate::text::clip(criterion, 64);
    format!("{criterion}: {found}")
}
