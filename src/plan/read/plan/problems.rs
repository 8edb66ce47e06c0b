//! Reports what plans lack for execution, alone and in the order of their waves.

use std::collections::BTreeMap;

use crate::plan::read::{PhaseNumber, Plan, PlanNumber};
use crate::text::strip_prefix_ignore_case;
use crate::warning::Warning;

impl Plan {
    /// Returns what the plan lacks: fields that the order of execution depends on, and tasks.
    pub fn problems(&self) -> Vec<Warning> {
        let mut found = Vec::new();
        let mut missing = vec![
            ("phase", self.phase.is_none()),
            ("plan", self.plan.is_none()),
            ("wave", self.wave.is_none()),
            ("depends_on", self.depends_on.is_none()),
            ("must_haves", self.must_haves.is_none()),
        ];
        missing.retain(|(_, is_missing)| *is_missing);
        let missing: Vec<&str> = missing.into_iter().map(|(name, _)| name).collect();
        if !missing.is_empty() {
            let message = format!("the plan does not state {}", missing.join(", "));
            found.push(Warning::file(&self.file, message));
        }
        if self.tasks.is_empty() {
            found.push(Warning::file(&self.file, "the plan has no tasks"));
        }
        found
    }
}

/// Returns warnings about whatever prevents the plans of a phase from being executed wave by wave: dependencies on plans of
/// the same or a later wave, so also circular ones, and dependencies that do not exist.
///
/// Dependencies on plans of other phases are ignored.
pub fn check_waves(plans: &[Plan]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let numbered = plans.iter().rev();
    let by_number: BTreeMap<PlanNumber, &Plan> = numbered
        .filter_map(|plan| Some((PlanNumber::parse(plan.plan.as_deref()?)?, plan)))
        .collect();
    for plan in plans {
        let phase = plan.phase.as_deref().and_then(PhaseNumber::parse_id);
        for text in plan.depends_on.iter().flatten() {
            let Some(number) = dependency(text, phase.as_ref()) else { continue };
            let message = match (by_number.get(&number), plan.wave) {
                (None, _) => format!("depends on {text}, which is not a plan of this phase"),
                (Some(other), Some(wave)) if other.wave.is_some_and(|other| wave <= other) => {
                    let other = other.wave.unwrap_or_default();
                    format!("in wave {wave}, depends on {text}, which is in wave {other}")
                }
                (Some(_), _) => continue,
            };
            warnings.push(Warning::at(&plan.file, plan.depends_on_line, message));
        }
    }
    warnings
}

/// Parses `01`, `03-01`, `03-01-PLAN.md`, `03-01-name`, `plan-02`; in phase 3, each of the first four is plan 1.
/// So is `02-03-01` in phase 2-03. `None` is a plan of another phase, or free text.
fn dependency(text: &str, phase: Option<&PhaseNumber>) -> Option<PlanNumber> {
    let text = text.trim().trim_end_matches(".md").trim_end_matches("-PLAN");
    let named = strip_prefix_ignore_case(text, "plan");
    let text = named.map_or(text, |rest| rest.trim_start_matches(['-', ' ']));
    PlanNumber::parse(text).or_else(|| phase?.plan_in(text))
}
