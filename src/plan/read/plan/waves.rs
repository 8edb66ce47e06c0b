//! Checks that the plans of a phase can be executed in the stated order.

use crate::plan::read::{PhaseNumber, Plan, PlanNumber};
use crate::warning::Warning;

/// Returns warnings about whatever prevents the plans of a phase from being executed wave by wave: cycles,
/// dependencies on plans of the same or a later wave, and dependencies that do not exist.
///
/// Dependencies on plans of other phases are ignored.
pub fn check_waves(plans: &[Plan]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut edges: Vec<Vec<usize>> = Vec::new();
    for plan in plans {
        let mut before = Vec::new();
        for text in plan.depends_on.iter().flatten() {
            match dependency(text, plan.phase.as_deref()) {
                Dependency::Elsewhere => {}
                Dependency::Here(number) => match position(plans, &number) {
                    Some(at) => {
                        before.push(at);
                        warnings.extend(wave_order_warning(plan, &plans[at], text));
                    }
                    None => warnings.push(warning_at_depends_on(
                        plan,
                        format!("depends on {text}, which is not a plan of this phase"),
                    )),
                },
            }
        }
        edges.push(before);
    }
    warnings.extend(find_cycles(plans, &edges));
    warnings
}

/// The target of a dependency.
enum Dependency {
    Here(PlanNumber),
    /// A plan of another phase, or free text.
    Elsewhere,
}

/// Parses `01`, `03-01`, `03-01-PLAN.md`, `03-01-name`, `plan-02`; in phase 3, each of the first four is plan 1.
/// So is `02-03-01` in phase 2-03.
fn dependency(text: &str, phase: Option<&str>) -> Dependency {
    let text = text.trim();
    let text = text.strip_suffix(".md").unwrap_or(text);
    let text = text.strip_suffix("-PLAN").unwrap_or(text);
    let text = ["plan-", "PLAN-", "plan ", "Plan "]
        .iter()
        .find_map(|start| text.strip_prefix(start))
        .unwrap_or(text);
    if let Some(number) = PlanNumber::parse(text) {
        return Dependency::Here(number);
    }
    let in_front = |text: &str| PlanNumber::parse(text.split('-').next()?);
    let phase = phase.and_then(PhaseNumber::parse_id);
    let after_phase = phase.as_ref().and_then(|phase| phase.strip_id(text));
    if let Some(plan) = after_phase.and_then(|rest| in_front(rest.strip_prefix('-')?)) {
        return Dependency::Here(plan);
    }
    let here = text.split_once('-').and_then(|(first, plan)| {
        let of = PhaseNumber::parse(first)?;
        (phase == Some(of)).then(|| in_front(plan))?
    });
    here.map_or(Dependency::Elsewhere, Dependency::Here)
}

fn position(plans: &[Plan], number: &PlanNumber) -> Option<usize> {
    plans
        .iter()
        .position(|plan| plan.plan.as_deref().and_then(PlanNumber::parse).as_ref() == Some(number))
}

fn wave_order_warning(plan: &Plan, before: &Plan, text: &str) -> Option<Warning> {
    let (own, other) = (plan.wave?, before.wave?);
    // A plan that depends on itself is reported as a cycle.
    (own <= other && plan.plan != before.plan).then(|| {
        let message = format!("in wave {own}, depends on {text}, which is in wave {other}");
        warning_at_depends_on(plan, message)
    })
}

/// Returns a warning for each dependency cycle, each reported once.
fn find_cycles(plans: &[Plan], edges: &[Vec<usize>]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut is_done = vec![false; plans.len()];
    for start in 0..plans.len() {
        let mut path = Vec::new();
        if let Some(cycle) = find_cycle(start, edges, &mut path, &mut is_done) {
            let name = |at: &usize| plans[*at].plan.clone().unwrap_or_default();
            let mut names: Vec<String> = cycle.iter().map(name).collect();
            names.push(name(&cycle[0]));
            let message = format!("circular dependency: {}", names.join(" \u{2192} "));
            warnings.push(warning_at_depends_on(&plans[cycle[0]], message));
        }
    }
    warnings
}

/// Follows the dependencies of a plan depth-first; returns the cycle that it reaches, if any.
fn find_cycle(
    at: usize,
    edges: &[Vec<usize>],
    path: &mut Vec<usize>,
    is_done: &mut [bool],
) -> Option<Vec<usize>> {
    if let Some(start) = path.iter().position(|seen| *seen == at) {
        return Some(path[start..].to_vec());
    }
    if is_done[at] {
        return None;
    }
    path.push(at);
    let found = edges[at].iter().find_map(|next| find_cycle(*next, edges, path, is_done));
    path.pop();
    is_done[at] = true;
    found
}

fn warning_at_depends_on(plan: &Plan, message: String) -> Warning {
    Warning::at(&plan.file, plan.depends_on_line, message)
}
