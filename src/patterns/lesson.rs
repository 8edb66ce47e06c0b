//! Records what the summaries of a phase say in their own whole sentences, where no agent has judged its lessons.
//!
//! What failed: a deviation's or an issue's first sentence, and that of its fix. What worked: what the phase set up to
//! be used again. Nothing is composed or weighed, since choosing by words proved no better than chance on summaries
//! that the choice had not been tuned on; CLAUDE.md and the briefs take what is about the work at hand.

use std::collections::BTreeMap;

use crate::patterns::citation::cite;
use crate::patterns::sentences::{ContentWords, is_closed, is_complete, sentences, statement};
use crate::patterns::wording::clean;
use crate::patterns::{FinishedPhase, LessonSource, PlanRecord};
use crate::plan::{Deviation, PlanNumber};
use crate::project::vocabulary;
use crate::text::{Line, file_name, first_chars};

/// Maximum number of lessons of each kind that are recorded.
const MAX_RECORDED: usize = 8;

/// Maximum length of a recorded lesson without its citation, in characters.
pub(crate) const MAX_RECORDED_LENGTH: usize = 240;

/// Maximum number of characters of a text that sentences are taken from.
const MAX_EXAMINED: usize = 2_000;

/// Minimum similarity at which a lesson repeats another of its list.
const REPEATED: f64 = 0.7;

/// Beginnings of what is no lesson: nothing happened, or the subject is only clear in its summary.
const LEFT_OUT: &[&str] = &[
    "none", "no deviation", "no issue", "no problem", "n/a", "not a deviation", "the plan's",
    "plan's", "ended partial",
];

/// Words about the order of commits, style, imports, test names, and what did not matter, which change no later plan.
const TRIFLES: &[&str] = &[
    "import order", "import sort", "sorted import", "sort import", "unused import",
    "missing import", "duplicate import", "unused variable", "alphabetical", "code style",
    "style rule", "formatting", "rustfmt", "prettier", "linter", "lint warning", "lint error",
    "trailing whitespace", "trailing comma", "commit order", "separate commit", "single commit",
    "same commit", "one commit", "committed together", "committed separately", "test name",
    "name of the test", "cosmetic", "harmless", "not regressions", "not a regression",
    "no code change", "no change needed",
];

/// Words with which a sentence takes back what the one before it said.
const CONTRASTS: &[&str] =
    &["but ", "however", "in fact", "actually", "it turned out", "turned out"];

/// Words that say that something was not as it should be, in free text without labels.
const DENIALS: &[&str] = &[
    "but", "however", "not", "no", "cannot", "can't", "didn't", "doesn't", "wasn't", "isn't",
    "don't", "won't", "couldn't", "require", "requires", "required", "without", "fail", "fails",
    "failed", "missing", "never", "only", "instead",
];

/// Words with which a sentence says what was done about a problem, besides those in `-ed`.
const REMEDIES: &[&str] =
    &["ran", "set", "kept", "made", "wrote", "built", "put", "took", "chose", "split", "fix:"];

/// A lesson, as a bullet of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lesson {
    /// The sentence and the citation of its plans.
    pub(crate) text: Line,
    /// The plan and the line of its summary that it was drawn from.
    pub(crate) source: Option<LessonSource>,
}

/// A list of lessons, in which none is repeated.
#[derive(Default)]
struct Recorded<'a>(Vec<(String, ContentWords, Vec<&'a PlanNumber>, usize)>);

impl<'a> Recorded<'a> {
    fn add(&mut self, text: String, plan: &'a PlanNumber, line: usize) {
        let words = ContentWords::from_text(&text);
        let known = self
            .0
            .iter()
            .position(|(known, other, ..)| *known == text || other.similarity(&words) >= REPEATED);
        match known {
            Some(at) => self.0[at].2.push(plan),
            None if self.0.len() < MAX_RECORDED => self.0.push((text, words, vec![plan], line)),
            None => {}
        }
    }

    fn lessons(self) -> Vec<Lesson> {
        let lessons = self.0.into_iter().map(|(text, _, plans, line)| Lesson {
            text: Line::new(&format!("{text} {}", cite(&plans))),
            source: plans.first().map(|plan| LessonSource { plan: (*plan).clone(), line }),
        });
        lessons.collect()
    }
}

/// Returns what worked, in the order of the plans: the patterns that they established, then their decisions, and if
/// there are none, the files that several of them built on.
pub(crate) fn worked(phase: &FinishedPhase) -> Vec<Lesson> {
    let mut found = Recorded::default();
    for plan in &phase.plans {
        for (text, line) in plan.patterns().iter().zip(&plan.pattern_lines) {
            if let Some(text) = reusable(&clean(first_chars(text, MAX_EXAMINED))) {
                found.add(text, &plan.plan, *line);
            }
        }
    }
    for plan in &phase.plans {
        for decision in plan.summary.decisions.iter().flatten() {
            if let Some(text) = reusable(decision.untagged()) {
                found.add(text, &plan.plan, 0);
            }
        }
    }
    if found.0.is_empty() {
        return shared_files(&phase.plans);
    }
    found.lessons()
}

fn reusable(text: &str) -> Option<String> {
    let text = statement(first_chars(text, MAX_EXAMINED), MAX_RECORDED_LENGTH)?;
    (is_complete(&text) && !is_left_out(&text)).then_some(text)
}

/// Maximum number of files that several plans built on.
const MAX_SHARED_FILES: usize = 3;

fn shared_files(plans: &[PlanRecord]) -> Vec<Lesson> {
    let mut users: BTreeMap<&str, Vec<&PlanNumber>> = BTreeMap::new();
    for plan in plans {
        let files = plan.summary.files.iter().flatten();
        for file in files.filter(|file| !is_planning(file)) {
            let plans = users.entry(file).or_default();
            if plans.last() != Some(&&plan.plan) {
                plans.push(&plan.plan);
            }
        }
    }
    let mut shared: Vec<_> = users.into_iter().filter(|(_, plans)| plans.len() > 1).collect();
    shared.sort_by_key(|(_, plans)| std::cmp::Reverse(plans.len()));
    shared.truncate(MAX_SHARED_FILES);
    let lessons = shared.into_iter().map(|(file, plans)| Lesson {
        text: Line::new(&format!("`{}` was used again {}", clean(file), cite(&plans))),
        source: plans.first().map(|plan| LessonSource { plan: (*plan).clone(), line: 0 }),
    });
    lessons.collect()
}

/// Returns whether a file belongs to the planning tool: every plan touches those, and none is about them.
pub(crate) fn is_planning(path: &str) -> bool {
    const DOCUMENTS: &[&str] = &[vocabulary::STATE, vocabulary::ROADMAP, vocabulary::REQUIREMENTS];
    let is_folder = |part: &str| part.starts_with('.') && part.ends_with("planning");
    let last = file_name(path);
    path.split('/').any(is_folder)
        || DOCUMENTS.contains(&last)
        || ["PLAN.md", "SUMMARY.md"].iter().any(|ending| last.ends_with(ending))
}

/// Returns what failed, in the order of the plans; problems with a fix come first.
pub(crate) fn failed(phase: &FinishedPhase) -> Vec<Lesson> {
    let mut found = Recorded::default();
    for plan in &phase.plans {
        for deviation in plan.deviations() {
            if let Some(text) = problem(deviation) {
                found.add(text, &plan.plan, deviation.line);
            }
        }
    }
    for plan in &phase.plans {
        for issue in &plan.summary.issues {
            let text = clean(first_chars(&issue.text, MAX_EXAMINED));
            if let Some(text) = opening(&text, 2).filter(|text| !is_left_out(text)) {
                found.add(text, &plan.plan, issue.line);
            }
        }
    }
    found.lessons()
}

/// Returns the problem of a deviation and its fix, each by its first whole sentence; `None` if it states no problem, or
/// one that changes no later plan.
pub(crate) fn problem(deviation: &Deviation) -> Option<String> {
    let own = |text: &str| clean(first_chars(text, MAX_EXAMINED));
    let title = own(&deviation.text);
    let text = match (&deviation.issue, &deviation.fix) {
        (Some(issue), Some(fix)) => with_fix(&own(issue), &own(fix)),
        (None, Some(fix)) => with_fix(&title, &own(fix)),
        (Some(text), None) => prose(&own(text)),
        (None, None) => prose(&title),
    }?;
    let titles = sentences(&title);
    let is_trifle = is_left_out(&text) || titles.first().is_some_and(|title| is_left_out(title));
    (!is_trifle).then_some(text)
}

/// Returns the issue with its fix; without the fix if both are too long together.
fn with_fix(issue: &str, fix: &str) -> Option<String> {
    let issue = opening(issue, 1)?;
    let fix = sentences(fix).into_iter().next().filter(|fix| is_closed(fix));
    let stop = if issue.ends_with(['!', '?']) { "" } else { "." };
    let both = fix.map(|fix| format!("{issue}{stop} Fix: {}", fix.trim_end_matches('.')));
    both.filter(|both| both.chars().count() <= MAX_RECORDED_LENGTH).or(Some(issue))
}

/// Returns the two first sentences of free text, of which the first says that something was not as it should be, and the
/// second what was done.
fn prose(text: &str) -> Option<String> {
    let all = sentences(text);
    let lower = all.first()?.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let remedy = all.get(1)?.split_whitespace().next()?.to_lowercase();
    let is_done = remedy.ends_with("ed") || REMEDIES.contains(&remedy.as_str());
    (is_done && words.any(|word| DENIALS.contains(&word))).then(|| opening(text, 2))?
}

/// Returns the first whole sentences of a text, at most `count`. If the next one takes back what they say, it belongs
/// to them.
fn opening(text: &str, count: usize) -> Option<String> {
    let all = sentences(text);
    let mut end = count.min(all.len());
    let takes_back = |sentence: &&str| {
        let lower = sentence.to_lowercase();
        CONTRASTS.iter().any(|word| lower.starts_with(word))
    };
    while all.get(end).is_some_and(takes_back) {
        end += 1;
    }
    let text = all.get(..end)?.join(" ");
    let text = text.trim_end_matches('.');
    let is_whole = is_complete(text) && text.chars().count() <= MAX_RECORDED_LENGTH;
    is_whole.then(|| text.to_owned())
}

fn is_left_out(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_numbered = ["task ", "tasks ", "test "].iter().any(|word| {
        let rest = lower.strip_prefix(word);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    is_numbered
        || LEFT_OUT.iter().any(|start| lower.starts_with(start))
        || TRIFLES.iter().any(|words| lower.contains(words))
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
    fn free_text_needs_a_problem_and_a_remedy() {
        let text = "The tests are not found in `tests/unit`. Moved them to `tests`. And more.";
        let expected = "The tests are not found in `tests/unit`. Moved them to `tests`";
        assert_eq!(recorded(text, None, None).as_deref(), Some(expected));
        for text in [
            "The tests are not found in `tests/unit`. They are few.",
            "The tests are not found in `tests/unit`.",
            "Added a page about the store. Moved its lock there.",
        ] {
            assert_eq!(recorded(text, None, None), None, "{text}");
        }
    }

    #[test]
    fn what_changes_no_later_plan_is_left_out() {
        for (text, issue) in [
            ("Import order", "The import order of `a.rs` was not accepted by the check"),
            ("[Rule 1 - Bug] Task 3", "Task 3 was not carried out before the others"),
            ("Commits", "Both changes did not fit into one commit without the lock"),
            ("Skew", "The clock is not in step with the file system, which is cosmetic here"),
            ("Names", "The plan's list of files did not have the lock of the store"),
        ] {
            assert_eq!(recorded(text, Some(issue), Some("Changed it")), None, "{issue}");
        }
    }
}
