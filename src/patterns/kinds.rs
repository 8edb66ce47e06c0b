//! Counts deviations by kind.

use crate::patterns::{PlanRecord, stated_deviations};

/// Returns the kinds by frequency, with their severity: `2 DEVN-03 critical, 1 DEVN-01`; `None` if there are
/// none.
pub(crate) fn kinds(plans: &[PlanRecord]) -> Option<String> {
    let labels = plans.iter().flat_map(PlanRecord::deviations).filter_map(|deviation| {
        let kind = plain(deviation.kind.as_deref()?);
        let severity = deviation.severity.as_deref().map(plain).unwrap_or_default();
        let says_more = !kind.to_lowercase().contains(&severity.to_lowercase());
        Some(if says_more { format!("{kind} {severity}") } else { kind })
    });
    let counted = count(labels);
    let named: u32 = counted.iter().map(|(_, count)| count).sum();
    let mut parts: Vec<String> =
        counted.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let total = stated_deviations(plans).unwrap_or_default();
    if total > named && named > 0 {
        parts.push(format!("{} without a kind", total - named));
    }
    Some(parts.join(", ")).filter(|parts| !parts.is_empty())
}

/// Returns the words that all spellings of a kind begin with, and its count, most frequent first.
pub(crate) fn counted<'a>(plans: impl IntoIterator<Item = &'a PlanRecord>) -> Vec<(String, u32)> {
    let deviations = plans.into_iter().flat_map(PlanRecord::deviations);
    count(deviations.filter_map(|deviation| deviation.kind.as_deref().map(plain)))
}

fn count(kinds: impl Iterator<Item = String>) -> Vec<(String, u32)> {
    let mut counted: Vec<(String, u32)> = Vec::new();
    for kind in kinds {
        match counted.iter_mut().find(|(known, _)| is_same(known, &kind)) {
            Some((known, count)) => {
                *known = common(known, &kind);
                *count += 1;
            }
            None if kind.is_empty() => {}
            None => counted.push((kind, 1)),
        }
    }
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counted
}

/// Returns the words that two spellings of a kind begin with: `Rule 2` for `Rule 2 - Unused variable` and
/// `Rule 2 - Missing check`.
fn common(one: &str, other: &str) -> String {
    let pairs = one.split(' ').zip(other.split(' '));
    let same = pairs.take_while(|(one, other)| one.eq_ignore_ascii_case(other));
    let words: Vec<&str> = same.map(|(word, _)| word).collect();
    let shared = words.join(" ");
    let shared = shared.trim_end_matches(['-', '\u{2013}', '\u{2014}', ':', ' ']);
    shared.to_owned()
}

/// Returns a kind without characters that are special in a bracketed list.
fn plain(kind: &str) -> String {
    let words: Vec<&str> = kind
        .split(|c: char| c.is_whitespace() || c.is_control() || "(),;[]*`".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// Returns whether two kinds are the same: `Rule 3 - Blocking` and `Rule 3 - Blocking Issue` are.
fn is_same(one: &str, other: &str) -> bool {
    let rule = |kind: &str| {
        let rest = kind.to_lowercase();
        let number = rest.strip_prefix("rule ")?.split(' ').next()?.to_owned();
        number.parse::<u32>().ok()
    };
    match (rule(one), rule(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one.eq_ignore_ascii_case(other),
    }
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
        assert_eq!(kinds(&plans).unwrap(), "2 bug, 4294967293 without a kind");
    }
}
