//! Finds another interpretation that is almost as likely, and its next action.

use crate::planning::Check;
use crate::planning::CheckOutcome;
use crate::planning::Claim;
use crate::position::Action;
use crate::position::Alternative;
use crate::position::PhaseState;
use crate::position::weighing::choice::Choice;
use crate::position::weighing::choice::ChoiceRule;
use crate::position::weighing::reading::Reading;
use crate::position::weighing::reason;
use crate::position::weighing::wording;

/// Returns the interpretation that contests a choice.
pub(super) fn alternative(
    reading: &Reading<'_>,
    choice: &Choice,
    cursor: Option<usize>,
) -> Option<Alternative> {
    let contested = unchecked(reading, choice)
        .or_else(|| unplanned_frontier(reading, choice))
        .or_else(|| later_work(reading, choice))
        .or_else(|| passed_over(reading, choice, cursor))
        .or_else(|| skipped(reading, choice, cursor))
        .or_else(|| passed_short(reading, choice));
    let (action, index, because) = contested?;
    Some(Alternative {
        action,
        phase: index.map(|index| reading.phases[index].number.clone()),
        because,
    })
}

/// An alternative action, the index of its phase if any, and the evidence.
type Rival = (Action, Option<usize>, Vec<String>);

/// Applies if STATE.md waits for a check of the last phase worked on, and no file contains one.
fn unchecked(reading: &Reading<'_>, choice: &Choice) -> Option<Rival> {
    let frontier = reading
        .frontier()
        .filter(|index| Some(*index) != choice.phase)?;
    if reading.pointer() != Some(frontier) {
        return None;
    }
    let checks = reading.checks(frontier);
    let outdated = |check: &&Check| check.outcome == CheckOutcome::Outdated;
    let is_checked = checks.iter().any(|check| !outdated(&check));
    if is_checked {
        return None;
    }
    let line = reading.evidence.state.claims.iter().find_map(|claim| {
        let waits = match &claim.value {
            Claim::Status(text) | Claim::PhaseStatus(text) => wording::waits_for_check(text),
            _ => false,
        };
        waits.then_some(claim.line)
    })?;
    let number = &reading.phases[frontier].number;
    let but = match checks.iter().find(outdated) {
        Some(check) => {
            let file = reading.evidence.show(&check.file);
            format!("{file} is from before its gaps were closed")
        }
        None => "there is none".to_owned(),
    };
    let because = vec![format!(
        "{}: waits for a check of phase {number}, but {but}",
        reading.evidence.state(line),
    )];
    Some((Action::Verify, Some(frontier), because))
}

/// Applies if the last phase worked on has more summaries than plans, so that more may follow.
fn unplanned_frontier(reading: &Reading<'_>, choice: &Choice) -> Option<Rival> {
    let frontier = reading
        .frontier()
        .filter(|index| Some(*index) != choice.phase)?;
    let seen = &reading.seen[frontier];
    (seen.summaries > seen.plans).then(|| {
        let because = vec![reason::summaries_alone(reading, frontier)];
        (Action::Execute, Some(frontier), because)
    })
}

/// Applies if a phase after the chosen one has open plans, or a folder with files but no plans.
fn later_work(reading: &Reading<'_>, choice: &Choice) -> Option<Rival> {
    let chosen = choice.phase?;
    let later = reading
        .unfinished_after(Some(chosen))
        .find(|index| reading.phases[*index].has_files)?;
    Some(work_on(reading, later))
}

/// Applies if nothing is left after the cursor, but phases before it are unfinished.
fn passed_over(reading: &Reading<'_>, choice: &Choice, _cursor: Option<usize>) -> Option<Rival> {
    if choice.action != Action::Ship {
        return None;
    }
    let open = reading.unfinished_after(None).next()?;
    Some(work_on(reading, open))
}

/// Applies if a prepared phase was preferred to an earlier one without files.
fn skipped(reading: &Reading<'_>, choice: &Choice, cursor: Option<usize>) -> Option<Rival> {
    if choice.rule != ChoiceRule::Prepared {
        return None;
    }
    let first = reading.unfinished_after(cursor).next()?;
    Some((Action::Plan, Some(first), reason::of_phase(reading, first)))
}

/// Applies if only the number of declared plans says that more will follow, and an earlier phase was
/// completed with fewer plans than declared.
fn passed_short(reading: &Reading<'_>, choice: &Choice) -> Option<Rival> {
    let chosen = choice
        .phase
        .filter(|index| reading.state(*index) == PhaseState::Running)?;
    reading.seen[chosen].declared?;
    let number = &reading.phases[chosen].number;
    let earlier = reading.members.iter().copied();
    let mut earlier = earlier.filter(|index| reading.phases[*index].number < *number);
    let passed = earlier.rfind(|index| {
        let seen = &reading.seen[*index];
        let is_short = seen.declared.is_some_and(|all| seen.summaries < all);
        seen.summaries > 0 && seen.open == 0 && is_short
    })?;
    let because = vec![reason::passed(reading, passed, chosen)];
    let next = reading.unfinished_after(Some(chosen)).next();
    Some(match next {
        Some(next) => (work_on(reading, next).0, Some(next), because),
        None => (Action::Ship, None, because),
    })
}

fn work_on(reading: &Reading<'_>, index: usize) -> Rival {
    let action = match reading.state(index) {
        PhaseState::Unplanned => Action::Plan,
        _ => Action::Execute,
    };
    (action, Some(index), reason::of_phase(reading, index))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::position::Survey;
    use crate::project::OpenRequest;
    use crate::project::Project;
    use crate::project::fixture::Tree;

    #[test]
    fn empty_folders_of_later_phases_contest_nothing() {
        let tree = Tree::new(&[]);
        let roadmap =
            "# Roadmap\n\n- [ ] **Phase 1: A**\n- [ ] **Phase 2: B**\n- [ ] **Phase 3: C**\n";
        tree.write(".vbw-planning/ROADMAP.md", roadmap);
        tree.write(".vbw-planning/phases/01-a/01-01-PLAN.md", "");
        tree.write(".vbw-planning/phases/02-b/.gitkeep", "");
        fs::create_dir_all(tree.at(".vbw-planning/phases/03-c")).unwrap();
        let alternative = || {
            let request = OpenRequest {
                directory: tree.at(""),
                ..OpenRequest::default()
            };
            let survey = Survey::read(&Project::open(request).unwrap()).unwrap();
            survey.position.next.alternative
        };
        assert_eq!(alternative(), None);
        tree.write(".vbw-planning/phases/02-b/02-RESEARCH.md", "");
        assert!(alternative().is_some());
    }
}
