//! Finds what a phase established and reused: the patterns that its summaries name.

use crate::patterns::lesson::MAX_LESSON_LENGTH;
use crate::patterns::lesson::choice::Candidate;
use crate::patterns::lesson::reference::cite;
use crate::patterns::lesson::sentences::{is_standalone, outside, without_brackets};
use crate::patterns::lesson::signs::Signs;
use crate::patterns::lesson::similarity::{StemmedWords, groups};
use crate::patterns::lesson::wording::{as_bullet, clean};
use crate::patterns::{LessonSource, PlanRecord};
use crate::plan::PlanNumber;

const REUSED: f64 = 5.0;

/// Returns one candidate per pattern; patterns of several plans weigh more.
pub(crate) fn candidates(plans: &[PlanRecord]) -> Vec<Candidate> {
    let source = |plan: &PlanRecord, line: usize| LessonSource { plan: plan.plan.clone(), line };
    let named: Vec<(LessonSource, String)> = plans
        .iter()
        .flat_map(|plan| {
            let lines = plan.pattern_lines.iter().copied();
            let texts = plan.patterns.iter().map(|text| clean(text));
            lines.zip(texts).map(|(line, text)| (source(plan, line), text))
        })
        .collect();
    let words = named.iter().map(|(_, text)| StemmedWords::from_text(text));
    let mut found = Vec::new();
    for group in groups(words) {
        let mut numbers: Vec<&PlanNumber> = group.iter().map(|at| &named[*at].0.plan).collect();
        numbers.sort();
        numbers.dedup();
        let citation = cite(&numbers, &[]);
        let room = MAX_LESSON_LENGTH.saturating_sub(citation.chars().count() + 1);
        // The first plan that named it established it; a later one may have worded it shorter.
        let texts = group.iter().map(|at| (&named[*at].0, &named[*at].1));
        let fitting =
            texts.into_iter().find_map(|(source, text)| Some((source, fitted(text, room)?)));
        let Some((source, text)) = fitting else {
            continue;
        };
        let weight = weight(&text) + if numbers.len() > 1 { REUSED } else { 0.0 };
        found.push(Candidate { weight, text, citation, source: source.clone() });
    }
    found
}

/// Returns the whole pattern if it fits, or else the part that says what it is.
fn fitted(text: &str, room: usize) -> Option<String> {
    let text = as_bullet(text);
    let bare = without_brackets(&text);
    let first = |mark: &str| outside(&text, mark).next().map(|at| text[..at].to_owned());
    let forms = [Some(text.clone()), Some(bare), first("; "), first(". "), first(" \u{2014} ")];
    let mut fitting = forms
        .into_iter()
        .flatten()
        .filter(|form| form.chars().count() <= room && is_standalone(form));
    fitting.next()
}

/// Returns how informative a pattern is: a rule, searchable code, a readable length.
fn weight(text: &str) -> f64 {
    let signs = Signs::detect(text);
    let flag = |is_true: bool, weight: f64| if is_true { weight } else { 0.0 };
    flag(signs.general || signs.convention || is_rule(text), 1.0)
        + flag(text.contains(['`', '(', '/', '_']), 1.0)
        + flag((50..=130).contains(&text.chars().count()), 1.0)
        - flag(signs.interface, 0.5)
}

/// Returns whether a pattern says what to avoid, or stresses an order: `Set the size BEFORE the rows`.
fn is_rule(text: &str) -> bool {
    const REASONS: &[&str] = &[" to prevent ", " to avoid ", " otherwise "];
    const ORDERS: &[&str] = &[" BEFORE ", " AFTER "];
    let lower = text.to_lowercase();
    REASONS.iter().any(|word| lower.contains(word)) || ORDERS.iter().any(|word| text.contains(word))
}
