//! Decides from the facts which phases belong to the milestone, where each stands, what comes next, and what contests it.
//!
//! Each decision is an ordered table of rules, the first of which applies. A rule has a price: a test switches each off on
//! real histories, and one that wins less than it costs to read is removed.

use std::ptr;

use crate::plan::phase::name_of_past_phase;
use crate::plan::{
    Action, Alternative, Check, CheckOutcome, Next, Phase, PhaseNumber, PhaseState, Position,
    ProjectFile, Survey,
};
use crate::project::{Commands, vocabulary};

mod next;
mod phases;
#[cfg(test)]
mod tests;

pub(super) use next::is_same_milestone;
use phases::{Scope, is_left_unticked};
pub(super) use phases::{add_documents, names_check, names_step, row_names_check};

/// A rule of a table.
pub(super) struct Rule<'a, A, O> {
    /// Its name, in a few words.
    name: &'static str,
    /// Why it is there.
    reason: &'static str,
    /// Returns the decision if the rule applies.
    test: fn(&Case<'a>, A) -> Option<O>,
}

/// Returns the decision of the first rule that applies, with that rule's name and reason.
fn first<'a, A: Copy, O, const COUNT: usize>(
    rules: [Rule<'a, A, O>; COUNT],
    case: &Case<'a>,
    subject: A,
) -> Option<(O, [&'static str; 2])> {
    let mut rules = rules.into_iter().filter(|rule| is_on(rule.name));
    rules.find_map(|rule| {
        let decision = (rule.test)(case, subject)?;
        #[cfg(test)]
        APPLIED.with_borrow_mut(|applied| applied.push(rule.name));
        Some((decision, [rule.name, rule.reason]))
    })
}

#[cfg(test)]
thread_local! {
    /// The rules that a test has switched off.
    static OFF: std::cell::RefCell<Vec<&'static str>> = const { std::cell::RefCell::new(Vec::new()) };
    /// The rules that have applied since a test emptied the list.
    static APPLIED: std::cell::RefCell<Vec<&'static str>> = const { std::cell::RefCell::new(Vec::new()) };
}

#[cfg(test)]
fn is_on(name: &str) -> bool {
    OFF.with_borrow(|off| !off.contains(&name))
}

#[cfg(not(test))]
const fn is_on(_name: &str) -> bool {
    true
}

/// The milestone with what the rules have decided so far.
pub(super) struct Case<'a> {
    survey: &'a Survey,
    scope: &'a Scope<'a>,
    /// The phases of the milestone, in number order, one of each number.
    members: Vec<&'a Phase>,
    /// The phase that STATE.md names, if it belongs to the milestone.
    stated: Option<&'a Phase>,
    /// The last phase that has a summary.
    frontier: Option<&'a Phase>,
}

/// What may be next.
pub(super) struct Step<'a> {
    action: Action,
    phase: Option<&'a Phase>,
    /// The place of the fact that speaks for it; if `None`, those of the facts about the phase.
    place: Option<String>,
    /// Whether the place is the file of a check.
    is_from_check: bool,
}

impl<'a> Step<'a> {
    fn new(action: Action, phase: Option<&'a Phase>) -> Self {
        Self { action, phase, place: None, is_from_check: false }
    }
}

/// The chosen step, and the rule that chose it.
#[derive(Clone, Copy)]
pub(super) struct Choice<'a> {
    action: Action,
    phase: Option<&'a Phase>,
    rule: &'static str,
}

/// Determines the position from `phases`, in number order, and from the documents.
pub(super) fn decide(survey: &Survey, mut phases: Vec<Phase>) -> Position {
    phases::mark_best(&mut phases);
    let scope = Scope::new(survey, &phases);
    let case = Case::new(survey, &scope, &phases);
    let judge = |phase| {
        let is_member = first(Case::MEMBERSHIP, &case, phase).is_none_or(|(is, _)| is);
        let state = first(Case::STATES, &case, phase);
        (is_member, state.map_or(PhaseState::Done, |(state, _)| state))
    };
    let judged: Vec<_> = phases.iter().map(judge).collect();
    for (phase, judged) in phases.iter_mut().zip(judged) {
        (phase.is_in_milestone, phase.state) = judged;
    }
    let case = Case::new(survey, &scope, &phases);
    let cursor = first(Case::CURSOR, &case, ()).map(|(cursor, _)| cursor);
    let (choice, step, reason) = choose(&case, cursor);
    let rival = first(Case::RIVALS, &case, choice).filter(|_| step.action != Action::Unknown);
    let conflict = rival.as_ref().is_some_and(|((_, contests), _)| *contests)
        && first(Case::SETTLED, &case, choice).is_none();
    let alternative = rival.map(|((step, _), [_, reason])| {
        let ((phase, command), because) = (case.command(&step), case.because(&step, reason));
        Alternative {
            action: step.action,
            phase,
            command,
            because,
            is_from_check: step.is_from_check,
        }
    });
    let (phase, command) = case.command(&step);
    let mut because = case.because(&step, reason);
    because.extend(alternative.iter().filter(|_| conflict).flat_map(|one| one.because.clone()));
    let action = step.action;
    let next = Next { action, phase, command, conflict, alternative, because, unchosen: None };
    // Without an active milestone, only finished work is left to name.
    let is_last =
        |phase: &&Phase| phase.state == PhaseState::Done && !phase.is_old && phase.dir.is_some();
    let current = step.phase.or(cursor).or(case.members.last().copied());
    let current = match action {
        // Of the folders that stay, the roadmap may list all but an earlier one.
        Action::None => current
            .filter(|phase| phase.state == PhaseState::Done)
            .map(|phase| phases.iter().rfind(is_last).unwrap_or(phase)),
        _ => current,
    };
    let current = current.and_then(|current| phases.iter().position(|one| ptr::eq(one, current)));
    let to_check = case.to_check().map(|phase| phase.number.clone());
    let cursor = cursor.map(|cursor| cursor.number.clone());
    for phase in &mut phases {
        let is_to_check = phase.is_in_milestone && to_check.as_ref() == Some(&phase.number);
        finish(phase, cursor.as_ref(), is_to_check);
    }
    Position { phases, current, next }
}

/// Returns the next step as a choice and with its place, and why its rule is there.
fn choose<'a>(case: &Case<'a>, cursor: Option<&'a Phase>) -> (Choice<'a>, Step<'a>, &'static str) {
    let choice = |step: &Step<'a>, rule| Choice { action: step.action, phase: step.phase, rule };
    let unread = "no phase was read, and nothing says that a milestone is over";
    let (step, [rule, reason]) = first(Case::ACTIONS, case, cursor)
        .unwrap_or_else(|| (Step::new(Action::Unknown, None), ["unread", unread]));
    let chosen = choice(&step, rule);
    match first(Case::GATES, case, chosen) {
        Some((step, [rule, reason])) => (choice(&step, rule), step, reason),
        None => (chosen, step, reason),
    }
}

/// Describes a phase as reports show it, once the cursor is known; `is_to_check` is what STATE.md says of it.
fn finish(phase: &mut Phase, cursor: Option<&PhaseNumber>, is_to_check: bool) {
    // Further declared plans are no longer expected in a phase that was passed.
    if phase.state == PhaseState::Running && cursor.is_some_and(|cursor| phase.number < *cursor) {
        phase.state = PhaseState::Done;
    }
    let is_to_check = is_to_check
        || phase.row().is_some_and(row_names_check) && !phase.is_ticked() && !phase.has_passed();
    phase.awaits_check = phase.state == PhaseState::Done
        && is_left_unticked(phase)
        && (phase.check_left().is_some() || is_to_check);
    let is_over = phase.state == PhaseState::Done || !phase.is_in_milestone;
    if let Some(dir) = phase.dir.as_ref().filter(|_| is_over) {
        phase.name = Some(name_of_past_phase(&dir.name, phase.name.as_deref()).to_owned());
    }
}

impl<'a> Case<'a> {
    fn new(survey: &'a Survey, scope: &'a Scope<'a>, phases: &'a [Phase]) -> Self {
        let members = phases.iter().filter(|phase| phase.is_in_milestone).collect();
        let mut case = Self { survey, scope, members, stated: None, frontier: None };
        case.stated = survey.state.phase.number.as_ref().and_then(|number| case.member(number));
        case.frontier = case.last(Phase::is_begun);
        case
    }

    /// Returns the milestone's phase of a number.
    fn member(&self, number: &PhaseNumber) -> Option<&'a Phase> {
        let at = self.members.partition_point(|phase| phase.number < *number);
        self.members.get(at).copied().filter(|phase| phase.number == *number)
    }

    /// Returns the last phase worked on if the roadmap leaves it unticked, no check passed, and STATE.md, which names it, says
    /// that one follows: `Phase complete — ready for verification`.
    fn to_check(&self) -> Option<&'a Phase> {
        let phase = self.frontier.filter(|_| self.stated == self.frontier)?;
        let is_open =
            phase.state == PhaseState::Done && is_left_unticked(phase) && !phase.has_passed();
        (is_open && self.survey.state.statuses().any(names_check)).then_some(phase)
    }

    /// Returns the last phase of the milestone for which something holds.
    fn last(&self, is: impl Fn(&Phase) -> bool) -> Option<&'a Phase> {
        self.members.iter().copied().rfind(|phase| is(phase))
    }

    /// Returns the unfinished phases after the given one, in number order; all if `None`.
    fn unfinished_after(&self, phase: Option<&Phase>) -> impl Iterator<Item = &'a Phase> {
        let is_after = move |other: &&Phase| phase.is_none_or(|phase| other.number > phase.number);
        self.members.iter().copied().filter(is_after).filter(|other| other.is_unfinished())
    }

    fn first_unfinished(&self) -> Option<&'a Phase> {
        self.unfinished_after(None).next()
    }

    /// Returns the work on an unfinished phase.
    fn work(phase: &'a Phase) -> Step<'a> {
        let action = match phase.state {
            PhaseState::Open | PhaseState::Running => Action::Execute,
            _ => Action::Plan,
        };
        Step::new(action, Some(phase))
    }

    /// Returns what a check of a phase requires.
    fn check(&self, phase: &'a Phase, check: &Check) -> Step<'a> {
        let place = Some(self.survey.check_line(check));
        let action = match check.outcome {
            CheckOutcome::Issues | CheckOutcome::Diagnosed => Action::Remediate,
            _ => Action::Verify,
        };
        Step { action, phase: Some(phase), place, is_from_check: true }
    }

    /// Returns the phase of a step and the layout's command for it.
    fn command(&self, step: &Step<'_>) -> (Option<PhaseNumber>, String) {
        let survey = self.survey;
        let commands = &survey.layout.commands;
        // None of the documents exists that the workflow writes first.
        let is_new = !survey.has_state
            && !survey.has_roadmap
            && survey.project_file == ProjectFile::default();
        let command = match step.action {
            Action::Plan if step.phase.is_none() && is_new => &commands.new_project,
            Action::Plan if step.phase.is_none() => {
                commands.scope.as_ref().unwrap_or(&commands.plan)
            }
            Action::Plan => &commands.plan,
            Action::Execute => &commands.execute,
            Action::Verify => &commands.verify,
            Action::Remediate => &commands.remediate,
            Action::Discuss => &commands.discuss,
            Action::Ship => &commands.ship,
            Action::None => &commands.new_milestone,
            Action::Unknown => return (None, "annals status".to_owned()),
        };
        // The first phase of a new planning folder is to be created.
        let number = step.phase.map_or(PhaseNumber::from(1), |phase| phase.number.clone());
        let phase = Some(number).filter(|_| !matches!(step.action, Action::Ship | Action::None));
        let shown = phase.as_ref().map(ToString::to_string).unwrap_or_default();
        (phase, Commands::with_phase(command, &shown))
    }

    /// Returns the places of the facts that speak for a step: its own, else the phase's unfinished plans, else its folder,
    /// else the lines that name it; else the reason of the rule.
    fn because(&self, step: &Step<'_>, reason: &str) -> Vec<String> {
        let unread = self.survey.not_understood.iter().take(MAX_PLANS);
        let places = match (step.action, &step.place, step.phase) {
            (Action::Unknown, ..) => unread.map(ToString::to_string).collect(),
            (_, Some(place), _) => vec![place.clone()],
            (_, None, Some(phase)) => self.places(phase),
            (_, None, None) => Vec::new(),
        };
        if places.is_empty() { vec![reason.to_owned()] } else { places }
    }

    fn places(&self, phase: &Phase) -> Vec<String> {
        let survey = self.survey;
        let mut places: Vec<String> = survey.open_plans(phase).take(MAX_PLANS).collect();
        let rest = phase.open_plans().count() - places.len();
        if rest > 0 {
            places.push(format!("and {rest} more"));
        }
        if places.is_empty() {
            let planned = || Some(survey.line(vocabulary::ROADMAP, phase.planned.as_ref()?.line));
            places.extend(survey.contents(phase).or_else(planned));
        }
        let is_pointer = self.stated == Some(phase);
        places.extend(is_pointer.then(|| survey.pointer_line()));
        places
    }
}

/// Maximum number of unfinished plans that are listed one by one.
const MAX_PLANS: usize = 5;
