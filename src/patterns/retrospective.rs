//! Creates the entry of a finished phase.

use chrono::NaiveDate;
use serde::Serialize;

use crate::clock::Minutes;
use crate::error::Result;
use crate::patterns::entry::EntryHeading;
use crate::patterns::judged::CheckedLessons;
use crate::patterns::lesson::Lesson;
use crate::patterns::{
    Comparison, FinishedPhase, PlanRecord, Trace, entry, lesson, plans_without_deviation_count,
    stated_deviations,
};
use crate::plan::PhaseNumber;
use crate::templates;
use crate::templates::Template;
use crate::text::{Line, sanitized};

/// The content of an entry; `templates/patterns/entry.md.j2` defines its form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Retrospective {
    /// The phase.
    pub phase: PhaseTitle,
    /// The day the phase was finished; `None` if unknown.
    pub date: Option<NaiveDate>,
    /// The trace that identifies the entry.
    pub trace: Trace,
    /// What worked, strongest first.
    pub worked: Vec<Line>,
    /// What failed, strongest first.
    pub failed: Vec<Line>,
    /// The durations of the plans.
    pub timing: PlanTimes,
    /// The effort profile in force.
    pub effort: Option<Line>,
    /// The deviations from the plans.
    pub deviations: DeviationKinds,
}

/// A phase's number and name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseTitle {
    /// Its number; `None` for a quick task.
    pub number: Option<PhaseNumber>,
    /// Its name.
    pub name: Line,
}

/// The durations of a phase's plans, as printed; `None` if none is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanTimes {
    /// Number of plans.
    pub plans: usize,
    /// The average duration.
    pub average: Option<String>,
    /// The duration of all plans.
    pub total: Option<String>,
}

/// The number of deviations, in total and by kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviationKinds {
    /// Number of deviations in the plans whose summaries say; `None` if none does.
    pub count: Option<u32>,
    /// The kinds with their severity; `None` if none is stated.
    pub kinds: Option<Line>,
    /// The number of plans that do not say, in words: `2 of 5 plans do not say`; `None` if all plans say, or
    /// none does.
    pub silent: Option<String>,
}

/// The data for an entry that the phase itself does not contain.
#[derive(Clone, Copy, Debug, Default)]
pub struct EntryContext<'a> {
    /// The day the phase was finished according to git or the milestone, used if its summaries do not state
    /// it.
    pub date: Option<NaiveDate>,
    /// The effort profile it was executed with.
    pub effort: Option<&'a str>,
    /// The commit that was checked out when the phase was finished.
    pub commit: Option<&'a str>,
    /// The significant differences between plans, for the newest entry.
    pub insights: &'a [Comparison],
}

impl Retrospective {
    /// Creates the entry of a phase, with the lessons of the agent that worked on it, or else with what its summaries
    /// say.
    pub fn from_phase(phase: &FinishedPhase, context: &EntryContext<'_>) -> Self {
        Self::judged(phase, context, None)
    }

    /// Creates the same with `lessons` that the agent submitted.
    pub(crate) fn judged(
        phase: &FinishedPhase,
        context: &EntryContext<'_>,
        lessons: Option<CheckedLessons>,
    ) -> Self {
        let mut trace = phase.trace(context.commit);
        trace.judged = lessons.is_some();
        let (mut worked, mut failed) = match lessons {
            Some(lessons) => (lessons.worked, lessons.failed),
            None => (lesson::worked(phase), lesson::failed(phase)),
        };
        for insight in context.insights {
            let is_failure = insight.question.is_about_deviations();
            let list = if is_failure { &mut failed } else { &mut worked };
            list.push(Lesson { text: line(&insight.statement), source: None });
        }
        trace.sources = worked.iter().chain(&failed).map(|one| one.source.clone()).collect();
        let texts =
            |list: Vec<Lesson>| -> Vec<Line> { list.into_iter().map(|one| one.text).collect() };
        let (worked, failed) = (texts(worked), texts(failed));
        // It shows later that the bullets are unchanged.
        trace.bullets = Some(entry::digest(&worked, &failed));
        Self {
            phase: PhaseTitle { number: phase.number.clone(), name: name(&phase.name) },
            date: phase.completed().or(context.date),
            trace,
            worked,
            failed,
            timing: PlanTimes::from_plans(&phase.plans),
            effort: context.effort.map(line).filter(|line| !line.is_empty()),
            deviations: DeviationKinds::from_plans(&phase.plans),
        }
    }

    /// Returns whether something of a phase would be recorded as having failed.
    pub(crate) fn has_lessons(phase: &FinishedPhase) -> bool {
        !lesson::failed(phase).is_empty()
    }

    /// Returns the entry as written in PATTERNS.md.
    pub fn render(&self) -> Result<String> {
        templates::render(Template::PatternsEntry, self)
    }
}

/// Returns a name as it will be parsed from the heading: without anything that looks like a number or date.
fn name(written: &str) -> Line {
    let read = EntryHeading::parse(&format!("Phase 1: {written} (2000-01-01)"), "");
    line(&read.name).clipped(100)
}

fn line(text: &str) -> Line {
    Line::new(&sanitized(text))
}

impl DeviationKinds {
    fn from_plans(plans: &[PlanRecord]) -> Self {
        let count = stated_deviations(plans);
        let silent = plans_without_deviation_count(plans);
        let some_say = silent > 0 && count.is_some();
        Self {
            count,
            kinds: kinds(plans).as_deref().map(line),
            silent: some_say.then(|| format!("{silent} of {} plans do not say", plans.len())),
        }
    }
}

impl PlanTimes {
    fn from_plans(plans: &[PlanRecord]) -> Self {
        let known: Vec<Minutes> =
            plans.iter().filter_map(|plan| plan.summary.duration_minutes).collect();
        let count = u32::try_from(known.len()).unwrap_or(u32::MAX);
        let total: Minutes = known.iter().copied().sum();
        let average = total.as_f64() / f64::from(count.max(1));
        // The time from the first to the last commit excludes the work before the first.
        let is_derived = plans.iter().any(|plan| plan.summary.duration_derived);
        let about = if is_derived { "~" } else { "" };
        let of_some = if known.len() < plans.len() {
            format!(" ({} of {} plans)", known.len(), plans.len())
        } else {
            String::new()
        };
        let shown = |minutes: Option<Minutes>| {
            let minutes = minutes.filter(|_| !known.is_empty())?;
            Some(format!("{about}{minutes}{of_some}"))
        };
        Self {
            plans: plans.len(),
            average: shown(Minutes::from_number(average, crate::clock::TimeUnit::Minutes)),
            total: shown(Some(total)),
        }
    }
}

/// Returns the kinds by frequency, with their severity: `2 DEVN-03 critical, 1 DEVN-01`; `None` if there are
/// none.
fn kinds(plans: &[PlanRecord]) -> Option<String> {
    let labels = plans.iter().flat_map(PlanRecord::deviations).filter_map(|deviation| {
        let kind = plain(deviation.kind.as_deref()?);
        let severity = deviation.severity.as_deref().map(plain).unwrap_or_default();
        let says_more = !kind.to_lowercase().contains(&severity.to_lowercase());
        Some(if says_more { format!("{kind} {severity}") } else { kind })
    });
    let mut counted: Vec<(String, u32)> = Vec::new();
    for kind in labels.filter(|kind| !kind.is_empty()) {
        match counted.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&kind)) {
            Some((_, count)) => *count += 1,
            None => counted.push((kind, 1)),
        }
    }
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let parts: Vec<String> =
        counted.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns a kind without characters that are special in a bracketed list.
fn plain(kind: &str) -> String {
    let words: Vec<&str> = kind
        .split(|c: char| c.is_whitespace() || c.is_control() || "(),;[]*`".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Deviation, PlanNumber, Summary};

    fn plan(kind: &str, severity: &str, count: u32) -> PlanRecord {
        let mut plan = PlanRecord::new(PlanNumber::from(1), "S.md", Summary::default(), "");
        plan.summary.deviations = Some(vec![Deviation {
            kind: Some(kind.to_owned()),
            severity: Some(severity.to_owned()),
            ..Deviation::default()
        }]);
        plan.summary.deviation_count = Some(count);
        plan
    }

    #[test]
    fn a_severity_that_the_kind_states_is_not_repeated() {
        let shown = |kind, severity| kinds(&[plan(kind, severity, 1)]).unwrap();
        assert_eq!(shown("DEVN-03", "Critical"), "1 DEVN-03 Critical");
        assert_eq!(shown("Missing critical", "Critical"), "1 Missing critical");
    }

    #[test]
    fn counts_of_any_size_are_added() {
        let plans = [plan("bug", "", u32::MAX), plan("bug", "", u32::MAX)];
        assert_eq!(kinds(&plans).unwrap(), "2 bug");
    }
}
