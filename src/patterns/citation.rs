//! Formats and parses the citations of the plans that a lesson was drawn from.

use crate::patterns::trace::plan_id;
use crate::plan::{DEFAULT_MILESTONE, PlanNumber};

/// Maximum number of plans cited individually.
const MAX_CITED_PLANS: usize = 6;

/// Maximum distance of the ends of a range of cited plans.
const MAX_RANGE: u32 = 99;

/// Maximum length of a milestone's slug in a citation, in characters.
const MAX_MILESTONE_LENGTH: usize = 20;

/// Returns a citation in brackets: `(plan 02)`, `(plans 01, 03)`.
pub(crate) fn cite(plans: &[&PlanNumber]) -> String {
    let mut plans = plans.to_vec();
    plans.sort();
    plans.dedup();
    let mut ids: Vec<String> =
        plans.iter().take(MAX_CITED_PLANS).map(|plan| plan_id(plan)).collect();
    if plans.len() > MAX_CITED_PLANS {
        ids.push(format!("{} more", plans.len() - MAX_CITED_PLANS));
    }
    match ids.len() {
        0 => String::new(),
        1 => format!("(plan {})", ids[0]),
        _ => format!("(plans {})", ids.join(", ")),
    }
}

/// Splits the citation of [`cite`] off the end of a text, without its brackets.
///
/// Other remarks in brackets are part of the text: `Check it (plan your time)`. Entries of earlier versions also cite
/// earlier phases: `(plan 01; before in phase 3 plan 02)`.
pub(crate) fn split_citation(text: &str) -> (&str, Option<&str>) {
    let inner = || {
        let end = text.trim_end().trim_end_matches('.').strip_suffix(')')?;
        let (sentence, citation) = end.rsplit_once('(')?;
        let list = citation.strip_prefix("plan ").or_else(|| citation.strip_prefix("plans "))?;
        let first = list.split([',', ';', '-']).next()?;
        let is_cited = PlanNumber::parse(first).is_some() && !sentence.trim().is_empty();
        is_cited.then_some((sentence.trim_end(), citation))
    };
    inner().map_or((text, None), |(sentence, citation)| (sentence, Some(citation)))
}

/// Returns the plans cited in the brackets that end a bullet: `(plan 02)`, `(plans 01-03, 07; before in …)`.
pub(crate) fn cited(text: &str) -> Vec<PlanNumber> {
    let own = split_citation(text).1.and_then(|citation| citation.split(';').next());
    let own = own.unwrap_or_default().trim_start_matches("plans").trim_start_matches("plan");
    let mut plans = Vec::new();
    for part in own.split(',').map(str::trim) {
        let Some((first, last)) = part.split_once('-') else {
            plans.extend(PlanNumber::parse(part));
            continue;
        };
        if let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
            let last = last.min(first.saturating_add(MAX_RANGE));
            plans.extend((first..=last).map(PlanNumber::from));
        }
    }
    plans
}

/// Returns a milestone's slug, shortened at the end of a word if it is too long for a citation.
pub(crate) fn short_milestone(slug: &str) -> &str {
    let Some((end, _)) = slug.char_indices().nth(MAX_MILESTONE_LENGTH) else {
        return slug;
    };
    let is_word_end = slug[end..].starts_with('-');
    let last_word = slug[..end].rfind('-').filter(|at| *at > 0 && !is_word_end);
    &slug[..last_word.unwrap_or(end)]
}

/// Returns a milestone's slug, unless it is the one of a project without milestones.
pub(crate) fn known_milestone(slug: &str) -> Option<&str> {
    Some(slug).filter(|slug| *slug != DEFAULT_MILESTONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_slug_is_named_by_its_first_words() {
        assert_eq!(short_milestone("v1.2"), "v1.2");
        assert_eq!(short_milestone("02-launch-hardening-of-all-parts"), "02-launch-hardening");
        assert_eq!(short_milestone("\u{e9}".repeat(30).as_str()).chars().count(), 20);
    }

    #[test]
    fn plans_are_named_briefly_and_found_again() {
        let plans: Vec<PlanNumber> = [1, 2, 3, 4, 7].into_iter().map(PlanNumber::from).collect();
        let all: Vec<&PlanNumber> = plans.iter().collect();
        assert_eq!(cite(&all), "(plans 01, 02, 03, 04, 07)");
        assert_eq!(cite(&all[3..]), "(plans 04, 07)");
        assert_eq!(cite(&all[..1]), "(plan 01)");
        assert_eq!(cited("Locks block (plans 01-04, 07)."), plans);
        assert_eq!(cited("Locks block (plan 01; before in v1.2 phase 3 plan 02)"), plans[..1]);
    }

    #[test]
    fn only_plans_in_brackets_at_the_end_are_a_citation() {
        for (text, sentence, citation) in [
            ("Locks block (plan 02)", "Locks block", "plan 02"),
            ("Locks block (plans 01-03, 07a).", "Locks block", "plans 01-03, 07a"),
            ("Locks (of rows) block (plan D)", "Locks (of rows) block", "plan D"),
            (
                "Locks block (plan 01; before in v1.2 phase 3 plan 02)",
                "Locks block",
                "plan 01; before in v1.2 phase 3 plan 02",
            ),
        ] {
            assert_eq!(split_citation(text), (sentence, Some(citation)));
        }
        for text in [
            "Locks block (planned for later)",
            "Locks block (plan was wrong)",
            "Locks block (plans A and B)",
            "Locks (plan 02) block",
            "Locks block (plan 02; see `f()`)",
            "Locks block (plan 02",
            "(plan 02)",
            "",
        ] {
            assert_eq!(split_citation(text), (text, None));
        }
    }
}
