//! Records what the summaries of a phase say in their own whole sentences, where no agent has judged its lessons.
//!
//! What failed: a deviation's or an issue's first sentence, and that of its fix. What worked: what the phase set up to
//! be used again. Nothing is composed or weighed. What tells a lesson from a log entry was measured on summaries of
//! many projects: a problem that still holds is told in the present or named by the title, and free text is a lesson
//! if it gives a reason, names a failure or says what was not as it should be.

use crate::patterns::sentences::{
    ContentWords, clean, is_closed, is_complete, leading_sentences, sentences, statement,
};
use crate::patterns::trace::cite;
use crate::patterns::{FinishedPhase, LessonSource};
use crate::plan::{Decision, Deviation, PlanNumber};
use crate::text::{Line, listed};

/// Maximum number of lessons of each kind that are recorded.
const MAX_RECORDED: usize = 8;

/// Maximum length of a recorded lesson without its citation, in characters.
const MAX_LENGTH: usize = 240;

/// Beginnings of what is no lesson: nothing happened, or the subject is only clear in its summary.
const LEFT_OUT: &str =
    "none|no deviation|no issue|no problem|n/a|not a deviation|the plan's|plan's|ended partial";

/// Words about what changes no later plan.
const TRIFLES: &str = "commit|import order|lint|style|format";

/// Words that tell a problem as past.
const PAST: &str = "was were had did would could";

/// Words that give a reason.
const REASONS: &str =
    "because|since|due to|as the|so that|after discovering|caused by|to avoid|to match|to follow";

/// Beginnings of words that name a failure.
const FAILURES: &str = "fail|error|crash|segfault|raise|broke|timed out";

/// Words that say that something was not as it should be.
const DENIALS: &str = "but however not no cannot can't didn't doesn't wasn't isn't don't won't couldn't require \
    requires required without missing never only instead";

/// Words that choose between ways, or say what a choice is good for.
const CHOICES: &str = "over rather so must always avoid avoids prevent prevents until unless";

/// Verbs that tell what was done to files and records.
const DEEDS: &str = "added captured committed completed confirmed created done enhanced extracted ignored initialized \
    kept landed moved numbered passed placed preserved reduced registered removed renamed updated verified wired";

/// Number of words at the beginning of a text among which its verb is.
const VERB_WITHIN: usize = 8;

/// A lesson, as a bullet of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lesson {
    /// The sentence and the citation of its plans.
    pub(crate) text: Line,
    /// The plan and the line of its summary that it was drawn from.
    pub(crate) source: Option<LessonSource>,
}

/// Returns what worked, in the order of the plans: the patterns that they established, then their decisions.
pub(crate) fn worked(phase: &FinishedPhase) -> Vec<Lesson> {
    let patterns = phase.plans.iter().flat_map(|plan| {
        let lines = plan.pattern_lines.iter();
        let found = plan.patterns().iter().zip(lines);
        found.map(move |(text, line)| (stated(&clean(text)), &plan.plan, *line))
    });
    let decisions = phase.plans.iter().flat_map(|plan| {
        let decisions = plan.summary.decisions.iter().flatten();
        let text = |decision: &Decision| {
            let text = decision.untagged();
            let is_choice = decision.rationale.is_some() || !tells_only_what_was_done(text);
            stated(text).filter(|_| is_choice)
        };
        decisions.map(move |decision| (text(decision), &plan.plan, 0))
    });
    recorded(patterns.chain(decisions))
}

/// Returns what failed, in the order of the plans; deviations come before other issues.
pub(crate) fn failed(phase: &FinishedPhase) -> Vec<Lesson> {
    let deviations = phase.plans.iter().flat_map(|plan| {
        plan.deviations().iter().map(move |one| (problem(one), &plan.plan, one.line))
    });
    let issues = phase.plans.iter().flat_map(|plan| {
        let issues = plan.summary.issues.iter();
        issues.map(move |issue| (stated(&clean(&issue.text)), &plan.plan, issue.line))
    });
    recorded(deviations.chain(issues))
}

/// Returns the first lessons of a list, each once, with all plans that state it.
fn recorded<'a>(all: impl Iterator<Item = (Option<String>, &'a PlanNumber, usize)>) -> Vec<Lesson> {
    let mut found: Vec<(String, ContentWords, Vec<&PlanNumber>, usize)> = Vec::new();
    for (text, plan, line) in all {
        let Some(text) = text else { continue };
        let words = ContentWords::from_text(&text);
        let is_known = |(known, other, ..): &(String, ContentWords, Vec<_>, usize)| {
            *known == text || other.repeats(&words)
        };
        match found.iter().position(is_known) {
            Some(at) => found[at].2.push(plan),
            None if found.len() < MAX_RECORDED => found.push((text, words, vec![plan], line)),
            None => {}
        }
    }
    let lessons = found.into_iter().map(|(text, _, plans, line)| Lesson {
        text: Line::new(&format!("{text} {}", cite(&plans))),
        source: plans.first().map(|plan| LessonSource { plan: (*plan).clone(), line }),
    });
    lessons.collect()
}

/// Returns the beginning of a text that says something on its own.
fn stated(text: &str) -> Option<String> {
    statement(text, MAX_LENGTH).filter(|text| is_complete(text) && !is_left_out(text))
}

/// Returns the problem of a deviation and its fix, each by its first whole sentence, or the beginning of its free text;
/// `None` if it states no problem, or one that changes no later plan.
pub(crate) fn problem(deviation: &Deviation) -> Option<String> {
    let title = clean(&deviation.text);
    let text = match (&deviation.issue, &deviation.fix) {
        (None, None) => {
            statement(&title, MAX_LENGTH).filter(|text| gives_reason(text) && is_complete(text))?
        }
        (None, Some(fix)) => with_fix(&title, fix)?,
        (Some(issue), fix) => {
            let issue = clean(issue);
            if is_deed(&title) && has_any(&issue, PAST) {
                return None;
            }
            match fix {
                Some(fix) => with_fix(&issue, fix)?,
                None => statement(&issue, MAX_LENGTH).filter(|text| is_complete(text))?,
            }
        }
    };
    let is_trifle = |text: &str| {
        let lower = text.to_lowercase();
        TRIFLES.split('|').any(|words| lower.contains(words))
    };
    let is_lesson = !is_left_out(&text) && !is_trifle(&text) && !is_trifle(&title);
    is_lesson.then_some(text)
}

/// Returns the first sentence of an issue with that of its fix; without the fix if both are too long together.
fn with_fix(issue: &str, fix: &str) -> Option<String> {
    let issue = leading_sentences(issue, 1, MAX_LENGTH)?.trim_end_matches('.');
    if !is_complete(issue) {
        return None;
    }
    let fix = clean(fix);
    let fix = sentences(&fix).into_iter().next().filter(|fix| is_closed(fix));
    let stop = if issue.ends_with(['!', '?']) { "" } else { "." };
    let both = fix.map(|fix| format!("{issue}{stop} Fix: {}", fix.trim_end_matches('.')));
    both.filter(|both| both.chars().count() <= MAX_LENGTH).or_else(|| Some(issue.to_owned()))
}

/// Returns whether a title says what was done, instead of naming the problem.
fn is_deed(title: &str) -> bool {
    let first = title.split(' ').next().unwrap_or_default().to_lowercase();
    first.ends_with("ed") || first == "made" || first == "set"
}

/// Returns whether free text gives a reason, names a failure, or says in which code something was not as it should be.
fn gives_reason(text: &str) -> bool {
    let spaced = format!(" {}", words(text).collect::<Vec<_>>().join(" "));
    let names_failure = FAILURES.split('|').any(|start| spaced.contains(&format!(" {start}")));
    has_reason(text) || names_failure || text.contains('`') && has_any(text, DENIALS)
}

fn has_reason(text: &str) -> bool {
    let padded = format!(" {} ", words(text).collect::<Vec<_>>().join(" "));
    REASONS.split('|').any(|reason| padded.contains(&format!(" {reason} ")))
}

/// Returns whether a text, recorded as a decision, only says what was done: it has neither a reason nor an alternative.
pub(crate) fn tells_only_what_was_done(text: &str) -> bool {
    words(text).take(VERB_WITHIN).any(|word| listed(DEEDS, &word))
        && !has_reason(text)
        && !has_any(text, DENIALS)
        && !has_any(text, CHOICES)
}

fn has_any(text: &str, list: &str) -> bool {
    words(text).any(|word| listed(list, &word))
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

fn is_left_out(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_numbered = ["task ", "tasks ", "test "].iter().any(|word| {
        let rest = lower.strip_prefix(word);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    is_numbered || text.contains("```") || LEFT_OUT.split('|').any(|start| lower.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(text: &str, issue: Option<&str>, fix: Option<&str>) -> Option<String> {
        problem(&Deviation {
            text: text.to_owned(),
            issue: issue.map(str::to_owned),
            fix: fix.map(str::to_owned),
            ..Deviation::default()
        })
    }

    #[test]
    fn a_problem_and_its_fix_stand_as_they_are_written() {
        let text = recorded(
            "[Rule 3 - Blocking] rich-click not installed",
            Some("`ModuleNotFoundError` for `rich_click` in **every** test (abc1234). More."),
            Some("`pip install rich-click`. Note: declare it."),
        );
        assert_eq!(
            text.as_deref(),
            Some(
                "`ModuleNotFoundError` for `rich_click` in every test. Fix: `pip install rich-click`"
            )
        );
    }

    #[test]
    fn a_sentence_that_is_taken_back_needs_the_next_one() {
        let issue = "The plan has the token stored as UTF-16. In fact the store writes UTF-8.";
        let text = recorded("Encoding", Some(issue), Some("Read it as UTF-8"));
        assert_eq!(text.as_deref(), Some(&*format!("{issue} Fix: Read it as UTF-8")));
        let long = format!("{issue} However {}.", "word ".repeat(60).trim());
        assert_eq!(recorded("Encoding", Some(&long), Some("Read it as UTF-8")), None);
    }

    #[test]
    fn a_fix_that_is_too_long_is_left_out() {
        let issue = "`a.rs` holds its lock until the writer is dropped";
        let long = "word ".repeat(50);
        assert_eq!(recorded("Lock", Some(issue), Some(&long)).as_deref(), Some(issue));
    }

    #[test]
    fn free_text_needs_a_reason_or_a_denial() {
        for (text, is_lesson) in [
            ("Tests are placed in `tests`, because the project has no `tests/unit`.", true),
            ("`npm ci` fails without the lock file; the script writes it first.", true),
            ("The tests are not found in `tests/unit`. Moved them to `tests`.", true),
            ("Added a page about the store. Moved its lock there.", false),
        ] {
            assert_eq!(recorded(text, None, None).is_some(), is_lesson, "{text}");
        }
    }

    #[test]
    fn long_free_text_is_cut_at_the_end_of_a_sentence_or_clause() {
        let first = "The hook rejects a message without a type, because its pattern is anchored";
        let long = "word ".repeat(50);
        for text in [
            format!("{first}. And {long}"),
            format!("{first}; {long}"),
            format!("{first} \u{2014} {long}"),
        ] {
            assert_eq!(recorded(&text, None, None).as_deref(), Some(first), "{text}");
        }
    }

    #[test]
    fn a_mended_mistake_of_the_phase_itself_is_no_lesson() {
        let issue = Some("The header was parsed before the lock was taken");
        assert_eq!(
            recorded("[Rule 1 - Bug] Fixed the order of locks", issue, Some("Lock first")),
            None
        );
        assert!(recorded("[Rule 1 - Bug] Order of locks", issue, Some("Lock first")).is_some());
        let present = Some("The store locks each file, not the folder, so two writers pass");
        assert!(
            recorded("[Rule 1 - Bug] Fixed the order of locks", present, Some("Lock first"))
                .is_some()
        );
    }

    #[test]
    fn what_changes_no_later_plan_is_left_out() {
        for (text, issue) in [
            ("Import order", "The import order of `a.rs` is not accepted by the check"),
            ("Order", "Task 3 cannot be carried out before the others"),
            ("Names", "The plan's list of files does not have the lock of the store"),
        ] {
            assert_eq!(recorded(text, Some(issue), Some("Changed it")), None, "{issue}");
        }
    }
}
