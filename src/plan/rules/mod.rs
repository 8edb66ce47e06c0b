//! Decides from the facts which phases belong to the milestone, where each stands, what comes next, and what contests it.
//!
//! Each decision is an ordered table of rules, the first of which applies. A rule has a price: a test switches each off on
//! real histories, and one that wins less than it costs to read is removed.

use std::fmt::Display;

use crate::plan::names::name_of_past_phase;
use crate::plan::{
    Action, Alternative, Check, Next, Phase, PhaseNumber, PhaseState, PlanState, Position,
    RoadmapPhase, Survey, TextOf, roadmap_phase,
};
use crate::project::{Commands, Layout};
use crate::text::quantity;

mod contest;
mod next;
mod scope;
mod state;
#[cfg(test)]
mod tests;

use contest::Rival;
pub(super) use next::is_same_milestone;
use scope::Scope;
pub(super) use state::add_documents;
pub(super) use state::names_step;
use state::{is_left_unticked, names_check, statuses};

/// A rule of a table.
pub(super) struct Rule<A, O> {
    /// Its name, in a few words.
    name: &'static str,
    /// Why it is there.
    reason: &'static str,
    /// Returns the decision if the rule applies.
    test: fn(&Case<'_>, A) -> Option<O>,
}

/// Returns the decision of the first rule that applies, with that rule's name.
fn first<A: Copy, O>(
    rules: &'static [Rule<A, O>],
    case: &Case<'_>,
    subject: A,
) -> Option<(O, &'static Rule<A, O>)> {
    let rules = rules.iter().filter(|rule| is_on(rule.name));
    rules.into_iter().find_map(|rule| Some(((rule.test)(case, subject)?, rule)))
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

/// The next action, and the rule that chose it.
#[derive(Clone, Copy)]
struct Choice {
    action: Action,
    phase: Option<usize>,
    rule: &'static str,
    reason: &'static str,
    /// The phase from which it was looked for.
    cursor: Option<usize>,
}

/// Determines the position from `phases`, in number order, and from the documents.
pub(super) fn decide<'a>(survey: &'a Survey, phases: Vec<Phase>, text: TextOf<'a>) -> Position {
    let case = Case::new(survey, phases, text);
    let choice = choose(&case);
    let is_known = choice.action != Action::Unknown;
    let rival = is_known.then(|| first(contest::RULES, &case, choice)).flatten();
    let conflict = rival.as_ref().is_some_and(|(rival, _)| rival.contests);
    let alternative = rival.map(|(rival, rule)| rival.written(&case, rule.reason));
    let phase = match (choice.action, choice.phase) {
        (Action::Ship | Action::None | Action::Unknown, _) => None,
        (_, Some(index)) => Some(case.phases[index].number.clone()),
        (_, None) => Some(PhaseNumber::from(1)),
    };
    let mut because = because(&case, &choice);
    let of_rival = alternative.iter().filter(|_| conflict).flat_map(|other| &other.because);
    because.extend(of_rival.cloned());
    let command = command(&survey.layout, choice.action, phase.as_ref());
    let next = Next { action: choice.action, phase, command, conflict, alternative, because };
    let current = choice.phase.or(choice.cursor).or(case.members.last().copied());
    // Without an active milestone, only finished work is left to name.
    let current = current
        .filter(|index| choice.action != Action::None || case.state(*index) == PhaseState::Done);
    Position { current, next, phases: finished(case, choice.cursor) }
}

fn choose(case: &Case<'_>) -> Choice {
    let cursor = first(next::CURSOR, case, ()).map(|(cursor, _)| cursor);
    let (found, rule) = match first(next::RULES, case, cursor) {
        Some((found, rule)) => (found, (rule.name, rule.reason)),
        None => ((Action::None, None), ("none", "no phase is planned since the last milestone")),
    };
    let (action, phase) = found;
    let choice = Choice { action, phase, rule: rule.0, reason: rule.1, cursor };
    match first(next::GATES, case, choice) {
        Some(((action, phase), rule)) => {
            Choice { action, phase, rule: rule.name, reason: rule.reason, cursor }
        }
        None => choice,
    }
}

/// Returns the phases as reports show them, once the cursor is known.
fn finished(case: Case<'_>, cursor: Option<usize>) -> Vec<Phase> {
    let Case { survey, text, mut phases, stated, frontier, .. } = case;
    // `Phase complete — ready for verification`
    let says_check = statuses(&survey.state).any(names_check);
    let cursor = cursor.map(|cursor| phases[cursor].number.clone());
    let mut dirs = survey.folder.active.phases.iter().peekable();
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
        // Both lists are in the same order.
        let dir = dirs.next_if(|dir| phase.dir.as_ref() == Some(&dir.dir));
        if let Some(dir) = dir
            && (phase.state == PhaseState::Done || !phase.is_in_milestone)
        {
            phase.name = Some(name_of_past_phase(dir, phase.name.as_deref()).to_owned());
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
            let is_member = first(scope::RULES, &case, index).is_none_or(|(is, _)| is);
            case.phases[index].is_in_milestone = is_member;
        }
        case.members =
            (0..case.phases.len()).filter(|index| case.phases[*index].is_in_milestone).collect();
        let stated = survey.state.phase.number.as_ref();
        case.stated = stated.and_then(|number| case.member(number));
        case.frontier = case.members.iter().rfind(|index| case.phases[**index].is_begun()).copied();
        for index in 0..case.phases.len() {
            let found = first(state::RULES, &case, index);
            case.phases[index].state = found.map_or(PhaseState::Done, |(state, _)| state);
        }
        case
    }

    /// Returns the milestone's phase of a number.
    fn member(&self, number: &PhaseNumber) -> Option<usize> {
        let start = self.phases.partition_point(|phase| phase.number < *number);
        let same = self.phases[start..].iter().take_while(|phase| phase.number == *number);
        same.enumerate().find(|(_, phase)| phase.is_in_milestone).map(|(at, _)| start + at)
    }

    /// Returns what the roadmap says of a phase.
    fn planned(&self, index: usize) -> Option<&'a RoadmapPhase> {
        roadmap_phase(&self.survey.roadmap, &self.phases[index].number)
    }

    fn state(&self, index: usize) -> PhaseState {
        self.phases[index].state
    }

    fn checks(&self, index: usize) -> &[Check] {
        self.phases[index].checks.read(self.text)
    }

    fn is_unfinished(&self, index: usize) -> bool {
        matches!(self.state(index), PhaseState::Open | PhaseState::Running | PhaseState::Unplanned)
    }

    /// Returns the unfinished phases after the given one, in number order; all if `None`.
    fn unfinished_after(&self, index: Option<usize>) -> impl Iterator<Item = usize> {
        let members = self.members.iter().copied();
        let is_after = move |other: &usize| {
            index.is_none_or(|index| self.phases[*other].number > self.phases[index].number)
        };
        members.filter(is_after).filter(|other| self.is_unfinished(*other))
    }

    /// Returns the last phase that is done.
    fn last_done(&self) -> Option<usize> {
        let is_done = |index: &&usize| self.state(**index) == PhaseState::Done;
        self.members.iter().rfind(is_done).copied()
    }

    /// Returns what to do in an unfinished phase.
    fn action_at(&self, index: usize) -> Action {
        match self.state(index) {
            PhaseState::Open | PhaseState::Running => Action::Execute,
            _ => Action::Plan,
        }
    }

    /// Returns the places of the facts about a phase: its unfinished plans, else its folder, else the lines that name it.
    fn places(&self, index: usize) -> Vec<String> {
        let (survey, phase) = (self.survey, &self.phases[index]);
        let mut places: Vec<String> = survey.open_plans(phase).take(MAX_PLANS).collect();
        let rest = phase.plans.len() - phase.count(PlanState::Complete) - places.len();
        if rest > 0 {
            places.push(format!("and {rest} more"));
        }
        match &phase.dir {
            Some(dir) if places.is_empty() => places.push(contents(phase, &survey.show(dir))),
            None => {
                places.extend(self.planned(index).map(|planned| survey.roadmap_line(planned.line)));
            }
            Some(_) => {}
        }
        let is_pointer = self.stated == Some(index);
        places.extend(is_pointer.then(|| survey.state_line(survey.pointer_line())));
        places
    }
}

/// Returns what a phase's folder contains.
fn contents(phase: &Phase, dir: &dyn Display) -> String {
    let plans = quantity(phase.plan_files(), "plan");
    let summaries = quantity(phase.summaries(), "summary");
    match phase.declared {
        Some(declared) => format!("{dir}: {plans}, {summaries}, {declared} declared"),
        None => format!("{dir}: {plans}, {summaries}"),
    }
}

/// Maximum number of unfinished plans that are listed one by one.
const MAX_PLANS: usize = 5;

/// Returns the places of the facts that speak for a choice, or the rule's reason if it is about no phase.
fn because(case: &Case<'_>, choice: &Choice) -> Vec<String> {
    if choice.action == Action::Unknown {
        let unread = case.survey.not_understood.iter();
        return unread.take(MAX_PLANS).map(ToString::to_string).collect();
    }
    match choice.phase {
        None => vec![choice.reason.to_owned()],
        Some(index) => match next::check_of(case, index, choice) {
            Some(place) => vec![place],
            None => case.places(index),
        },
    }
}

impl Rival {
    fn written(self, case: &Case<'_>, reason: &'static str) -> Alternative {
        let mut because = self.place.map_or_else(|| case.places(self.phase), |place| vec![place]);
        if because.is_empty() {
            because.push(reason.to_owned());
        }
        let phase = Some(case.phases[self.phase].number.clone());
        let command = command(&case.survey.layout, self.action, phase.as_ref());
        Alternative { action: self.action, phase, command, because }
    }
}

/// Returns the layout's command for an action.
fn command(layout: &Layout, action: Action, phase: Option<&PhaseNumber>) -> String {
    let commands = &layout.commands;
    let command = match action {
        Action::Plan => &commands.plan,
        Action::Execute => &commands.execute,
        Action::Verify => &commands.verify,
        Action::Remediate => &commands.remediate,
        Action::Discuss => &commands.discuss,
        Action::Ship => &commands.ship,
        Action::None => &commands.new_milestone,
        Action::Unknown => "annals status",
    };
    Commands::with_phase(command, &phase.map(ToString::to_string).unwrap_or_default())
}
