//! Finds the problems of a phase that future plans are likely to encounter again.

use std::collections::{BTreeMap, BTreeSet};

use crate::patterns::lesson::MAX_LESSON_LENGTH;
use crate::patterns::lesson::choice::Candidate;
use crate::patterns::lesson::compose::{Passage, compose, compose_where};
use crate::patterns::lesson::nature::{is_failure, is_settled};
use crate::patterns::lesson::recurrence::SubjectIndex;
use crate::patterns::lesson::reference::{Earlier, cite};
use crate::patterns::lesson::signs::{Signs, starts_with_past_verb};
use crate::patterns::lesson::similarity::{Passages, StemmedWords};
use crate::patterns::lesson::wording::clean;
use crate::patterns::{FinishedPhase, LessonSource, PlanRecord};
use crate::plan::{Deviation, PhaseNumber, PlanNumber, SummaryStatus};
use crate::text::first_chars;

/// Minimum weight of a lesson.
const MIN_WEIGHT: f64 = 1.25;

/// Weights in addition to those of the signs.
const BLOCKING: f64 = 1.5;
const RECURS_IN_PHASE: f64 = 3.0;
const RECURS_IN_PROJECT: f64 = 2.0;
const HAS_ISSUE: f64 = 0.5;
const NAMED_TITLE: f64 = 0.5;
const PAST_VERB_TITLE: f64 = -0.5;
const RULE_2: f64 = -0.5;
/// The wording of issues is less precise than that of deviations.
const ISSUE_SECTION: f64 = -0.5;
/// That a plan was not finished matters more than any problem in it.
const UNFINISHED: f64 = 8.0;

/// Maximum number of characters of a text that a lesson is made from: the lesson is one sentence of it.
const MAX_TEXT: usize = 2_000;

/// A deviation or issue of a plan.
struct Problem<'a> {
    plan: &'a PlanNumber,
    line: usize,
    passage: Passage,
    weight: f64,
    is_failure: bool,
    /// Whether a similar problem elsewhere counts as the same lesson.
    may_recur: bool,
    words: StemmedWords,
}

impl<'a> Problem<'a> {
    fn from_deviation(plan: &'a PlanNumber, deviation: &Deviation) -> Self {
        let deviation = &beginning(deviation);
        let passage = passage(deviation);
        let signs = Signs::detect(&passage.statement());
        let is_failure = is_failure(deviation, Signs::detect(&passage.all()));
        let kind = deviation.kind.as_deref().unwrap_or_default().to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| kind.contains(word));
        let title = clean(&deviation.text);
        let is_action = starts_with_past_verb(&title) && split_reason(deviation).is_none();
        let mut weight = signs.weight();
        let mut add = |applies: bool, change: f64| weight += if applies { change } else { 0.0 };
        add(has(&["rule 3", "blocking", "devn-02", "devn-03"]), BLOCKING);
        add(has(&["rule 2", "missing critical"]), RULE_2);
        add(deviation.issue.is_some(), HAS_ISSUE);
        add(is_action, PAST_VERB_TITLE);
        add(!is_action && deviation.issue.is_some(), NAMED_TITLE);
        Self {
            plan,
            line: deviation.line,
            words: StemmedWords::from_text(&passage.without_tags()),
            passage,
            weight,
            is_failure,
            may_recur: is_failure && !signs.is_local(),
        }
    }

    fn from_issue(plan: &'a PlanNumber, text: &str, line: usize) -> Self {
        let text = first_chars(text, MAX_TEXT);
        let passage = Passage { issue: text.to_owned(), ..Passage::default() };
        let signs = Signs::detect(text);
        // `pytest is not installed, so the tests were skipped` says what is wrong: only the check was put off.
        let is_lasting = signs.environment || signs.error;
        let signs = Signs { deferred: signs.irrelevant || signs.deferred && !is_lasting, ..signs };
        let is_settled = is_settled(&text.to_lowercase());
        Self {
            plan,
            line,
            words: StemmedWords::from_text(&clean(text)),
            passage,
            weight: signs.weight() + ISSUE_SECTION,
            is_failure: !signs.is_local() && !is_settled,
            may_recur: !signs.is_local() && !is_settled,
        }
    }
}

/// Returns a deviation with at most [`MAX_TEXT`] characters of each of its texts.
fn beginning(deviation: &Deviation) -> Deviation {
    let of =
        |text: &Option<String>| text.as_deref().map(|text| first_chars(text, MAX_TEXT).to_owned());
    Deviation {
        kind: of(&deviation.kind),
        text: first_chars(&deviation.text, MAX_TEXT).to_owned(),
        issue: of(&deviation.issue),
        cause: of(&deviation.cause),
        fix: of(&deviation.fix),
        ..deviation.clone()
    }
}

/// Returns the parts of a deviation, as input for a lesson.
fn passage(deviation: &Deviation) -> Passage {
    let own = |text: &Option<String>| text.clone().unwrap_or_default();
    let bold_lead = deviation
        .text
        .strip_prefix("**")
        .and_then(|rest| rest.split_once("**"))
        .filter(|(_, rest)| rest.trim_matches([':', '.', ' ', '-']).contains(' '));
    match (&deviation.issue, bold_lead) {
        (Some(issue), _) => Passage {
            title: deviation.text.clone(),
            issue: issue.clone(),
            cause: own(&deviation.cause),
            fix: own(&deviation.fix),
        },
        (None, Some((title, rest))) => Passage {
            title: title.to_owned(),
            issue: rest.trim_start_matches([':', '.', ' ', '-']).to_owned(),
            cause: own(&deviation.cause),
            fix: own(&deviation.fix),
        },
        (None, None) => {
            let (fix, issue) = split_reason(deviation).unwrap_or(("", &deviation.text));
            Passage {
                title: String::new(),
                issue: issue.to_owned(),
                cause: own(&deviation.cause),
                fix: deviation.fix.clone().unwrap_or_else(|| fix.to_owned()),
            }
        }
    }
}

/// Minimum number of words of a reason that can be understood by itself.
const MIN_REASON_WORDS: usize = 6;

/// Splits `Dropped the count -- the service does not return one` into what was done and the reason, if the
/// reason is of lasting use.
fn split_reason(deviation: &Deviation) -> Option<(&str, &str)> {
    const DASHES: &[&str] = &[" -- ", " \u{2014} ", " \u{2013} "];
    if !starts_with_past_verb(&clean(&deviation.text)) {
        return None;
    }
    let splits = DASHES.iter().filter_map(|dash| deviation.text.split_once(dash));
    let (done, reason) = splits.min_by_key(|(done, _)| done.len())?;
    let first = reason.split(". ").next()?;
    let signs = Signs::detect(first);
    let is_lasting = signs.general || signs.environment || signs.error || signs.version;
    // `Pinned to 3.3` is not a reason either, and `they cannot read it` does not say what they cannot read.
    let is_reason = !starts_with_past_verb(first) && first.split(' ').count() >= MIN_REASON_WORDS;
    (is_lasting && is_reason && !done.contains(". ") && !signs.is_local()).then_some((done, reason))
}

/// Returns one whole sentence of at most `room` characters on a deviation.
pub(crate) fn sentence_of(deviation: &Deviation, room: usize) -> Option<String> {
    compose(&passage(&beginning(deviation)), room).map(|(text, _)| text)
}

/// Returns the candidates of a phase; `past` are the problems of the earlier phases.
pub(crate) fn candidates(phase: &FinishedPhase, past: Option<&PastProblems>) -> Vec<Candidate> {
    let own: Vec<Problem<'_>> = phase.plans.iter().flat_map(problems).collect();
    let (known, subjects) = subjects(&own, past);
    let mut found = unfinished(phase, &own);
    let mut about: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, subject) in subjects.iter().enumerate() {
        if let Some(subject) = subject {
            about.entry(*subject).or_default().push(index);
        }
    }
    let mut covered = BTreeSet::new();
    for (index, problem) in own.iter().enumerate() {
        if !problem.is_failure || covered.contains(&index) {
            continue;
        }
        let of_subject = subjects[index].and_then(|subject| about.get(&subject));
        let same = of_subject.cloned().unwrap_or_else(|| vec![index]);
        let before = match (past, subjects[index]) {
            (Some(past), Some(subject)) => past.before(phase, subject),
            _ => Vec::new(),
        };
        let plans: Vec<&PlanNumber> = same.iter().map(|at| own[*at].plan).collect();
        // Of several problems with the same lesson, the one with the highest weight provides the text; of those
        // with the same weight, the last one.
        let mut problems: Vec<&Problem<'_>> = same.iter().rev().map(|at| &own[*at]).collect();
        problems.sort_by(|one, other| other.weight.total_cmp(&one.weight));
        let citation = cite(&plans, &before);
        let room = MAX_LESSON_LENGTH.saturating_sub(citation.chars().count() + 1);
        let recurring = subjects[index].filter(|_| !before.is_empty());
        let of_recurring = recurring.and_then(|subject| {
            let is_about = |text: &str| known.is_about(subject, &StemmedWords::from_text(text));
            worded(&problems, room, &is_about)
        });
        let recurs = of_recurring.is_some();
        let of_any = || worded(problems.get(..1).unwrap_or_default(), room, &|_| true);
        let Some((source, text, value)) = of_recurring.or_else(of_any) else {
            continue;
        };
        // Only a sentence about what recurred may say that it did; a deviation often mentions other things, too.
        let citation = if recurs { citation } else { cite(&plans, &[]) };
        let distinct: BTreeSet<&PlanNumber> = plans.iter().copied().collect();
        let mut weight = source.weight + value / 2.0;
        if distinct.len() > 1 {
            weight += RECURS_IN_PHASE;
        }
        if recurs {
            weight += RECURS_IN_PROJECT;
        }
        covered.extend(same);
        if weight >= MIN_WEIGHT {
            found.push(Candidate {
                weight,
                text,
                citation,
                source: LessonSource { plan: source.plan.clone(), line: source.line },
            });
        }
    }
    found
}

/// Returns the wanted sentence on the first problem that has one, with the problem and the sentence's value.
fn worded<'p, 'a>(
    problems: &[&'p Problem<'a>],
    room: usize,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Option<(&'p Problem<'a>, String, f64)> {
    problems.iter().find_map(|problem| {
        let (text, value) = compose_where(&problem.passage, room, is_wanted)?;
        Some((*problem, text, value))
    })
}

fn problems(plan: &PlanRecord) -> Vec<Problem<'_>> {
    let deviations = plan.deviations.iter();
    let mut found: Vec<Problem<'_>> =
        deviations.map(|deviation| Problem::from_deviation(&plan.plan, deviation)).collect();
    let mut known = Passages::default();
    for problem in &found {
        known.add(problem.words.clone());
    }
    for issue in &plan.issues {
        let issue = Problem::from_issue(&plan.plan, &issue.text, issue.line);
        // Many summaries repeat a deviation as an issue.
        if known.similar(&issue.words).is_empty() {
            known.add(issue.words.clone());
            found.push(issue);
        }
    }
    found
}

/// Returns the subject of each problem, among those of the earlier phases; `None` for one that cannot recur.
fn subjects(
    own: &[Problem<'_>],
    past: Option<&PastProblems>,
) -> (SubjectIndex<Option<PastProblem>>, Vec<Option<usize>>) {
    let mut known = past.map_or_else(SubjectIndex::default, |past| past.subjects.clone());
    let subjects = own
        .iter()
        .map(|problem| {
            let of_own = || known.add(problem.words.clone(), None);
            problem.may_recur.then(of_own)
        })
        .collect();
    (known, subjects)
}

/// The problems of earlier phases, each parsed only once, no matter how many phases follow.
#[derive(Debug, Default)]
pub struct PastProblems {
    /// `None` stands for a problem of the current phase.
    subjects: SubjectIndex<Option<PastProblem>>,
    /// The milestones in which each phase number was used.
    milestones: BTreeMap<PhaseNumber, BTreeSet<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PastProblem {
    milestone: String,
    phase: PhaseNumber,
    plan: PlanNumber,
}

impl PastProblems {
    /// Adds the problems of a phase.
    pub fn add(&mut self, phase: &FinishedPhase) {
        let milestones = self.milestones.entry(phase.number.clone()).or_default();
        milestones.insert(phase.milestone.clone());
        for problem in phase.plans.iter().flat_map(problems) {
            if problem.may_recur {
                let past = PastProblem {
                    milestone: phase.milestone.clone(),
                    phase: phase.number.clone(),
                    plan: problem.plan.clone(),
                };
                self.subjects.add(problem.words, Some(past));
            }
        }
    }

    /// Returns the plans in which a subject came up before `phase`, without duplicates.
    fn before(&self, phase: &FinishedPhase, subject: usize) -> Vec<Earlier> {
        let mut found: Vec<Earlier> = Vec::new();
        // A copied milestone has the same problem in the same plan.
        let is_copy = |past: &PastProblem| {
            let has_plan = phase.plans.iter().any(|plan| plan.plan == past.plan);
            past.phase == phase.number && past.milestone != phase.milestone && has_plan
        };
        let members = self.subjects.members(subject).iter().flatten();
        for past in members.filter(|past| !is_copy(past)) {
            let milestone = self.is_ambiguous(phase, past);
            let earlier = Earlier {
                milestone: milestone.then(|| past.milestone.clone()),
                phase: past.phase.clone(),
                plan: past.plan.clone(),
            };
            if !found.contains(&earlier) {
                found.push(earlier);
            }
        }
        found
    }

    /// Returns whether another milestone, including that of the current phase, has a phase of the same
    /// number.
    fn is_ambiguous(&self, phase: &FinishedPhase, past: &PastProblem) -> bool {
        let used = self.milestones.get(&past.phase);
        let is_elsewhere = used.is_some_and(|used| used.iter().any(|one| *one != past.milestone));
        is_elsewhere || (phase.number == past.phase && phase.milestone != past.milestone)
    }
}

/// Returns whether a problem may be why a plan was not finished.
fn may_be_reason(text: &str) -> bool {
    const NEGATIONS: &[&str] = &["not", "no", "never", "without", "until"];
    const STEMS: &[&str] = &[
        "block", "fail", "defer", "skip", "cannot", "missing", "remain", "incomplete", "unable",
        "wait", "abandon", "stop",
    ];
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphabetic());
    lower.contains("n't")
        || words.any(|word| {
            NEGATIONS.contains(&word) || STEMS.iter().any(|stem| word.starts_with(stem))
        })
}

/// Returns whether a text reports a fix: it begins with `fixed` or the like.
fn begins_as_fix(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_done =
        ["fixed", "updated", "added", "resolved", "changed", "replaced", "removed", "corrected"];
    is_done.contains(&first.to_lowercase().as_str())
}

/// Returns each plan that failed or ended partially, with the first problem in its summary that may be the reason.
fn unfinished(phase: &FinishedPhase, own: &[Problem<'_>]) -> Vec<Candidate> {
    let candidate = |plan: &PlanRecord| {
        let ended = match plan.status? {
            SummaryStatus::Failed => "Failed",
            SummaryStatus::Partial => "Ended partial",
            SummaryStatus::Complete => return None,
        };
        let citation = cite(&[&plan.plan], &[]);
        let room = MAX_LESSON_LENGTH.saturating_sub(citation.chars().count() + ended.len() + 3);
        let problems = own.iter().filter(|problem| *problem.plan == plan.plan);
        let composed =
            problems.filter_map(|problem| Some((problem, compose(&problem.passage, room)?.0)));
        let mut composed: Vec<(&Problem<'_>, String)> = composed.collect();
        // Of several, the first that may be the reason; what was fixed rarely is, and never if nothing was left.
        composed.sort_by_key(|(_, text)| (begins_as_fix(text), !may_be_reason(text)));
        let is_partial = plan.status == Some(SummaryStatus::Partial);
        let (problem, text) = composed
            .into_iter()
            .find(|(_, text)| !is_partial || !begins_as_fix(text) || may_be_reason(text))?;
        Some(Candidate {
            weight: UNFINISHED,
            text: format!("{ended}: {text}"),
            citation,
            source: LessonSource { plan: plan.plan.clone(), line: problem.line },
        })
    };
    phase.plans.iter().filter_map(candidate).collect()
}
