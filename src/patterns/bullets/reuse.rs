//! Patterns that plans set up, and that later plans used again.

use crate::patterns::PlanRecord;
use crate::patterns::bullets::candidate::Candidate;
use crate::patterns::bullets::candidate::Topic;
use crate::patterns::bullets::lesson::lesson;
use crate::patterns::bullets::likeness::Words;
use crate::patterns::bullets::likeness::groups;
use crate::planning::PlanNumber;

const REUSED: u32 = 80;
const SET_UP: u32 = 54;

/// A pattern of fewer characters is a name, which says little alone.
const LEAST: usize = 28;

/// Fewer characters than these name nothing that could be found again: `builder`.
const LEAST_NAMES: usize = 12;

/// Returns the patterns of several plans, then those of one.
pub(crate) fn candidates(plans: &[PlanRecord]) -> Vec<Candidate> {
    let told: Vec<(&PlanRecord, String)> = plans
        .iter()
        .flat_map(|plan| texts(plan).into_iter().map(move |text| (plan, text)))
        .collect();
    let words: Vec<Words> = told.iter().map(|(_, text)| Words::of(text)).collect();
    let mut found = Vec::new();
    for group in groups(&words) {
        let mut numbers: Vec<&PlanNumber> = group.iter().map(|at| &told[*at].0.plan).collect();
        numbers.sort();
        numbers.dedup();
        // The first plan that told it set it up.
        let (plan, text) = &told[group[0]];
        if numbers.len() > 1 {
            let lead = format!("Used in {} plans: ", numbers.len());
            let more = u32::try_from(numbers.len().min(10)).unwrap_or(10);
            found.push(Candidate::new(REUSED + more, &lead, text, &numbers).on(Topic::Reused));
        } else {
            let weight = SET_UP + telling(text, plan);
            found.push(Candidate::new(weight, "Pattern set up: ", text, &numbers).on(Topic::SetUp));
        }
    }
    found
}

/// Returns a plan's patterns: sentences one by one, mere names in one list.
fn texts(plan: &PlanRecord) -> Vec<String> {
    let hearts = plan.patterns.iter().map(|pattern| lesson(pattern));
    let (sentences, names): (Vec<String>, Vec<String>) =
        hearts.partition(|heart| heart.chars().count() >= LEAST || heart.contains(' '));
    let mut texts = sentences;
    let names = names.join(", ");
    if names.len() >= LEAST_NAMES {
        texts.push(names);
    }
    texts
}

/// Weighs how much a pattern's text tells: code it can be found by, a length that can be read.
fn telling(text: &str, plan: &PlanRecord) -> u32 {
    let has_code = text.contains(['`', '(', '/', '.', '_']);
    let is_sentence = (40..=130).contains(&text.chars().count());
    u32::from(has_code) * 3 + u32::from(is_sentence) * 3 + u32::from(plan.deviation_count == 0)
}
