//! Formats the citations of the plans that a lesson was drawn from.

use crate::patterns::trace::plan_id;
use crate::plan::{PhaseNumber, PlanNumber};

/// Maximum number of plans, or ranges of plans, cited individually.
const MAX_CITED_PLANS: usize = 6;

/// A plan of an earlier phase in which the same lesson came up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Earlier {
    /// The milestone, if the phase's number alone is ambiguous.
    pub(crate) milestone: Option<String>,
    pub(crate) phase: PhaseNumber,
    pub(crate) plan: PlanNumber,
}

/// Returns a citation in brackets: `(plan 02)`, `(plans 01, 03)`,
/// `(plans 01-04, 07; before in phase 2 plan 01)`.
pub(crate) fn cite(plans: &[&PlanNumber], earlier: &[Earlier]) -> String {
    let mut plans = plans.to_vec();
    plans.sort();
    plans.dedup();
    let own = match plans[..] {
        [] => return String::new(),
        [only] => format!("plan {}", plan_id(only)),
        _ => format!("plans {}", list(&plans)),
    };
    match earlier {
        [] => format!("({own})"),
        [one] => format!("({own}{BEFORE}{})", citation(one)),
        [.., latest] => {
            format!("({own}{BEFORE}{} plans, last {})", earlier.len(), citation(latest))
        }
    }
}

/// Splits the citation of [`cite`] off the end of a text, without its brackets.
///
/// Other remarks in brackets are part of the text: `Check it (plan your time)`.
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

/// Returns whether a citation names earlier plans.
pub(crate) fn names_earlier_plans(citation: &str) -> bool {
    citation.contains(BEFORE)
}

/// Separates the plans of the phase from the earlier ones.
const BEFORE: &str = "; before in ";

fn citation(earlier: &Earlier) -> String {
    let milestone = earlier.milestone.as_ref();
    let milestone = milestone.map(|name| format!("{} ", short_milestone(name)));
    let milestone = milestone.unwrap_or_default();
    let plan = plan_id(&earlier.plan);
    format!("{milestone}phase {} plan {plan}", earlier.phase)
}

/// Maximum length of a milestone's slug in a citation, in characters.
const MAX_MILESTONE_LENGTH: usize = 20;

/// Returns a milestone's slug, shortened at the end of a word if it is too long for a citation.
pub(crate) fn short_milestone(slug: &str) -> &str {
    let Some((end, _)) = slug.char_indices().nth(MAX_MILESTONE_LENGTH) else {
        return slug;
    };
    // The slug can be cut here without splitting a word.
    let head = &slug[..end];
    let cut = if slug[end..].starts_with('-') {
        end
    } else {
        head.rfind('-').filter(|at| *at > 0).unwrap_or(end)
    };
    &slug[..cut]
}

/// Returns sorted plans with runs of three or more as ranges: `01-04, 07`.
fn list(plans: &[&PlanNumber]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while at < plans.len() {
        let run = run_length(&plans[at..]);
        let (first, last) = (plans[at], plans[at + run - 1]);
        if run > 2 {
            parts.push(format!("{}-{}", plan_id(first), plan_id(last)));
            at += run;
        } else {
            parts.push(plan_id(first));
            at += 1;
        }
    }
    let rest = parts.len().saturating_sub(MAX_CITED_PLANS);
    parts.truncate(MAX_CITED_PLANS);
    if rest > 0 {
        parts.push(format!("{rest} more"));
    }
    parts.join(", ")
}

/// Returns the length of the run of consecutively numbered plans at the front.
fn run_length(plans: &[&PlanNumber]) -> usize {
    let number = |plan: &PlanNumber| plan.to_string().parse::<u32>().ok();
    let Some(first) = plans.first().and_then(|plan| number(plan)) else {
        return 1;
    };
    let is_next = |(plan, expected): &(&&PlanNumber, u32)| number(plan) == Some(*expected);
    plans.iter().zip(first..).take_while(is_next).count()
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
    fn plans_are_named_briefly() {
        let plans: Vec<PlanNumber> = [1, 2, 3, 4, 7].into_iter().map(PlanNumber::from).collect();
        let all: Vec<&PlanNumber> = plans.iter().collect();
        assert_eq!(cite(&all, &[]), "(plans 01-04, 07)");
        assert_eq!(cite(&all[..1], &[]), "(plan 01)");
        let earlier = |phase: u32, milestone: Option<&str>| Earlier {
            milestone: milestone.map(str::to_owned),
            phase: PhaseNumber::from(phase),
            plan: PlanNumber::from(2),
        };
        assert_eq!(
            cite(&all[..1], &[earlier(3, Some("v1.2"))]),
            "(plan 01; before in v1.2 phase 3 plan 02)"
        );
        assert_eq!(
            cite(&all[..1], &[earlier(1, None), earlier(3, None)]),
            "(plan 01; before in 2 plans, last phase 3 plan 02)"
        );
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
