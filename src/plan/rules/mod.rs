//! Decides from the facts which phases belong to the milestone, where each stands, what comes next, and what contests it.
//!
//! Each decision is an ordered table of rules, the first of which applies. A rule has a price: a test switches each off on
//! real histories, and one that wins less than it costs to read is removed.

use crate::plan::phase::name_of_past_phase;
use crate::plan::{
    Action, Alternative, Check, Next, Phase, PhaseNumber, PhaseState, PlanState, Position,
    RoadmapPhase, Survey, TextOf, roadmap_phase,
};
use crate::project::{Commands, vocabulary};

mod next;
mod phases;
#[cfg(test)]
mod tests;

pub(super) use next::is_same_milestone;
use phases::{Scope, is_left_unticked, names_check, statuses};
pub(super) use phases::{add_documents, names_step};

/// A rule of a table.
pub(super) struct Rule<A, O> {
    /// Its name, in a few words.
    name: &'static str,
    /// Why it is there.
    reason: &'static str,
    /// Returns the decision if the rule applies.
    test: fn(&Case<'_>, A) -> Option<O>,
}

/// Returns the decision of the first rule that applies, with that rule's name and reason.
fn first<A: Copy, O>(
    rules: &[Rule<A, O>],
    case: &Case<'_>,
    subject: A,
) -> Option<(O, [&'static str; 2])> {
    let mut rules = rules.iter().filter(|rule| is_on(rule.name));
    rules.find_map(|rule| Some(((rule.test)(case, subject)?, [rule.name, rule.reason])))
}

#[cfg(test)]
thread_local! {
    /// The rules that a test has switched off.
    static OFF: std::cell::RefCell<Vec<&'static str>> = const { std::cell::RefCell::new(Vec::new()) };
}

#[cfg(test)]
fn is_on(name: &str) -> bool {
    OFF.with_borrow(|off| !off.contains(&name))
}

#[cfg(not(test))]
const fn is_on(_name: &str) -> bool {
    true
}

/// The milestone with what the rules have decided so far. Phases are named by their index in `phases`.
pub(super) struct Case<'a> {
    survey: &'a Survey,
    text: TextOf<'a>,
    phases: Vec<Phase>,
    scope: Scope<'a>,
    /// The phases of the milestone, in number order.
    members: Vec<usize>,
    /// The phase that STATE.md names, if it belongs to the milestone.
    stated: Option<usize>,
    /// The last phase that has a summary.
    frontier: Option<usize>,
}

/// What may be next.
pub(super) struct Step {
    action: Action,
    phase: Option<usize>,
    /// The place of the fact that speaks for it; if `None`, those of the facts about the phase.
    place: Option<String>,
}

impl Step {
    fn new(action: Action, phase: Option<usize>) -> Self {
        Self { action, phase, place: None }
    }
}

/// The chosen step, and the rule that chose it.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    action: Action,
    phase: Option<usize>,
    rule: &'static str,
}

/// Determines the position from `phases`, in number order, and from the documents.
pub(super) fn decide<'a>(survey: &'a Survey, phases: Vec<Phase>, text: TextOf<'a>) -> Position {
    let case = Case::new(survey, phases, text);
    let cursor = first(next::CURSOR, &case, ()).map(|(cursor, _)| cursor);
    let (step, choice, reason) = choose(&case, cursor);
    let rival = first(next::RIVALS, &case, choice).filter(|_| step.action != Action::Unknown);
    let conflict = rival.as_ref().is_some_and(|((_, contests), _)| *contests)
        && first(next::SETTLED, &case, choice).is_none();
    let alternative = rival.map(|((step, _), [_, reason])| {
        let ((phase, command), because) = (case.command(&step), case.because(&step, reason));
        Alternative { action: step.action, phase, command, because }
    });
    let (phase, command) = case.command(&step);
    let mut because = case.because(&step, reason);
    because.extend(alternative.iter().filter(|_| conflict).flat_map(|one| one.because.clone()));
    let action = step.action;
    let next = Next { action, phase, command, conflict, alternative, because };
    // Without an active milestone, only finished work is left to name.
    let current = step.phase.or(cursor).or(case.members.last().copied());
    let current = current.filter(|index| action != Action::None || case.is_done(*index));
    Position { current, next, phases: finished(case, cursor) }
}

/// Returns the next step, the choice that it is, and why its rule is there.
fn choose(case: &Case<'_>, cursor: Option<usize>) -> (Step, Choice, &'static str) {
    let none = "no phase is planned since the last milestone";
    let (step, [rule, reason]) = first(next::ACTIONS, case, cursor)
        .unwrap_or_else(|| (Step::new(Action::None, None), ["none", none]));
    let choice = Choice { action: step.action, phase: step.phase, rule };
    match first(next::GATES, case, choice) {
        Some((step, [rule, reason])) => {
            let choice = Choice { action: step.action, phase: step.phase, rule };
            (step, choice, reason)
        }
        None => (step, choice, reason),
    }
}

/// Returns the phases as reports show them, once the cursor is known.
fn finished(case: Case<'_>, cursor: Option<usize>) -> Vec<Phase> {
    let Case { survey, text, mut phases, stated, frontier, .. } = case;
    // `Phase complete — ready for verification`
    let says_check = statuses(&survey.state).any(names_check);
    let cursor = cursor.map(|cursor| phases[cursor].number.clone());
    for (index, phase) in phases.iter_mut().enumerate() {
        // Further declared plans are no longer expected in a phase that was passed.
        if phase.state == PhaseState::Running
            && cursor.as_ref().is_some_and(|cursor| phase.number < *cursor)
        {
            phase.state = PhaseState::Done;
        }
        let is_to_check = says_check && stated == Some(index) && frontier == Some(index);
        phase.awaits_check = phase.state == PhaseState::Done
            && roadmap_phase(&survey.roadmap, &phase.number).is_some_and(is_left_unticked)
            && (phase.check_left(text).is_some() || is_to_check && !phase.has_passed(text));
        let is_over = phase.state == PhaseState::Done || !phase.is_in_milestone;
        if let Some(slug) = phase.slug.as_deref().filter(|_| is_over) {
            phase.name = Some(name_of_past_phase(slug, phase.name.as_deref()).to_owned());
        }
    }
    phases
}

impl<'a> Case<'a> {
    fn new(survey: &'a Survey, phases: Vec<Phase>, text: TextOf<'a>) -> Self {
        let scope = Scope::new(survey, &phases);
        let mut case =
            Self { survey, text, phases, scope, members: Vec::new(), stated: None, frontier: None };
        for index in 0..case.phases.len() {
            let is_member = first(phases::MEMBERS, &case, index).is_none_or(|(is, _)| is);
            case.phases[index].is_in_milestone = is_member;
            case.members.extend(is_member.then_some(index));
        }
        let stated = survey.state.phase.number.as_ref();
        case.stated = stated.and_then(|number| case.member(number));
        case.frontier = case.last(Phase::is_begun);
        for index in 0..case.phases.len() {
            let found = first(phases::STATES, &case, index);
            case.phases[index].state = found.map_or(PhaseState::Done, |(state, _)| state);
        }
        case
    }

    /// Returns the milestone's phase of a number.
    fn member(&self, number: &PhaseNumber) -> Option<usize> {
        let phase = |index: usize| &self.phases[index];
        let at = self.members.partition_point(|index| phase(*index).number < *number);
        self.members.get(at).copied().filter(|index| phase(*index).number == *number)
    }

    /// Returns the last phase of the milestone for which something holds.
    fn last(&self, is: impl Fn(&Phase) -> bool) -> Option<usize> {
        self.members.iter().rfind(|index| is(&self.phases[**index])).copied()
    }

    /// Returns what the roadmap says of a phase.
    fn planned(&self, index: usize) -> Option<&'a RoadmapPhase> {
        roadmap_phase(&self.survey.roadmap, &self.phases[index].number)
    }

    fn is_done(&self, index: usize) -> bool {
        self.phases[index].state == PhaseState::Done
    }

    fn checks(&self, index: usize) -> &[Check] {
        self.phases[index].checks.read(self.text)
    }

    /// Returns the unfinished phases after the given one, in number order; all if `None`.
    fn unfinished_after(&self, index: Option<usize>) -> impl Iterator<Item = usize> {
        let members = self.members.iter().copied();
        let is_after = move |other: &usize| {
            index.is_none_or(|index| self.phases[*other].number > self.phases[index].number)
        };
        members.filter(is_after).filter(|other| self.phases[*other].is_unfinished())
    }

    /// Returns the work on an unfinished phase.
    fn work(&self, index: usize) -> Step {
        let action = match self.phases[index].state {
            PhaseState::Open | PhaseState::Running => Action::Execute,
            _ => Action::Plan,
        };
        Step::new(action, Some(index))
    }

    /// Returns what a check of a phase requires.
    fn check(&self, index: usize, check: &Check) -> Step {
        let place = Some(self.survey.check_line(check));
        Step { action: next::action_for(check), phase: Some(index), place }
    }

    /// Returns the phase of a step and the layout's command for it.
    fn command(&self, step: &Step) -> (Option<PhaseNumber>, String) {
        let commands = &self.survey.layout.commands;
        let (command, has_phase) = match step.action {
            Action::Plan => (&commands.plan, true),
            Action::Execute => (&commands.execute, true),
            Action::Verify => (&commands.verify, true),
            Action::Remediate => (&commands.remediate, true),
            Action::Discuss => (&commands.discuss, true),
            Action::Ship => (&commands.ship, false),
            Action::None => (&commands.new_milestone, false),
            Action::Unknown => return (None, "annals status".to_owned()),
        };
        // The first phase of a new planning folder is to be created.
        let first = || PhaseNumber::from(1);
        let number = step.phase.map_or_else(first, |index| self.phases[index].number.clone());
        let phase = Some(number).filter(|_| has_phase);
        let shown = phase.as_ref().map(ToString::to_string).unwrap_or_default();
        (phase, Commands::with_phase(command, &shown))
    }

    /// Returns the places of the facts that speak for a step: its own, else the phase's unfinished plans, else its folder,
    /// else the lines that name it; else the reason of the rule.
    fn because(&self, step: &Step, reason: &str) -> Vec<String> {
        let unread = self.survey.not_understood.iter().take(MAX_PLANS);
        let places = match (step.action, &step.place, step.phase) {
            (Action::Unknown, ..) => unread.map(ToString::to_string).collect(),
            (_, Some(place), _) => vec![place.clone()],
            (_, None, Some(index)) => self.places(index),
            (_, None, None) => Vec::new(),
        };
        if places.is_empty() { vec![reason.to_owned()] } else { places }
    }

    fn places(&self, index: usize) -> Vec<String> {
        let (survey, phase) = (self.survey, &self.phases[index]);
        let mut places: Vec<String> = survey.open_plans(phase).take(MAX_PLANS).collect();
        let rest = phase.plans.len() - phase.count(PlanState::Complete) - places.len();
        if rest > 0 {
            places.push(format!("and {rest} more"));
        }
        if places.is_empty() {
            let planned = || Some(survey.line(vocabulary::ROADMAP, self.planned(index)?.line));
            places.extend(survey.contents(phase).or_else(planned));
        }
        let is_pointer = self.stated == Some(index);
        places.extend(is_pointer.then(|| survey.line(vocabulary::STATE, survey.pointer_line())));
        places
    }
}

/// Maximum number of unfinished plans that are listed one by one.
const MAX_PLANS: usize = 5;
