//! Kinds of deviations, counted and weighed.

use crate::patterns::PlanRecord;

/// Returns the kinds by how often they came, as `2 Rule 1 - Bug, 1 minor`; nothing where none is named.
pub(crate) fn kinds(plans: &[PlanRecord]) -> Option<String> {
    let counted = counted(plans);
    if counted.is_empty() {
        return None;
    }
    let total: u32 = plans.iter().map(|plan| plan.deviation_count).sum();
    let named: u32 = counted.iter().map(|(_, count)| count).sum();
    let mut parts: Vec<String> = counted
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    if total > named {
        parts.push(format!("{} of no kind", total - named));
    }
    Some(parts.join(", "))
}

/// Returns each kind in its first spelling with its number, the most frequent first.
pub(crate) fn counted<'a>(plans: impl IntoIterator<Item = &'a PlanRecord>) -> Vec<(String, u32)> {
    let mut counted: Vec<(String, u32)> = Vec::new();
    let deviations = plans.into_iter().flat_map(|plan| &plan.deviations);
    for kind in deviations.filter_map(|deviation| deviation.kind.as_deref()) {
        let kind = plain(kind);
        match counted.iter_mut().find(|(known, _)| is_same(known, &kind)) {
            Some((_, count)) => *count += 1,
            None if kind.is_empty() => {}
            None => counted.push((kind, 1)),
        }
    }
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counted
}

/// Returns a kind that can stand in a list in brackets.
pub(crate) fn plain(kind: &str) -> String {
    let words: Vec<&str> = kind
        .split(|c: char| c.is_whitespace() || c.is_control() || "(),;[]*`".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// Tells whether two kinds are one: `Rule 3 - Blocking` and `Rule 3 - Blocking Issue` are.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
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

/// Returns how much a kind matters to the next planner.
pub(crate) fn severity(kind: Option<&str>) -> u32 {
    let kind = kind.unwrap_or_default().to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| kind.contains(word));
    if has(&["architect", "rule 4", "devn-04"]) {
        60
    } else if has(&["block", "rule 3", "devn-03"]) {
        54
    } else if has(&["pre-existing", "devn-05"]) {
        28
    } else if has(&["minor", "devn-01", "cosmetic"]) {
        42
    } else if has(&["critical", "bug", "rule 1", "devn-02"]) {
        51
    } else if has(&["missing", "rule 2"]) {
        49
    } else {
        46
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_rule_are_one_kind() {
        assert!(is_same("Rule 3 - Blocking", "rule 3 - Blocking Issue"));
        assert!(!is_same("Rule 3 - Blocking", "Rule 1 - Bug"));
        assert!(is_same("Minor", "minor"));
        assert_eq!(
            plain("Rule 2 - Missing (critical), *x*"),
            "Rule 2 - Missing critical x"
        );
    }

    #[test]
    fn what_blocks_weighs_more_than_what_is_minor() {
        let order = [
            "DEVN-05",
            "minor",
            "scope",
            "Rule 2 - Missing",
            "Rule 1 - Bug",
            "blocking",
            "Rule 4",
        ];
        for pair in order.windows(2) {
            assert!(
                severity(Some(pair[0])) < severity(Some(pair[1])),
                "{pair:?}"
            );
        }
    }
}
