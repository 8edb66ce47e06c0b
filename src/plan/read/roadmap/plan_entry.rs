//! Parses an entry of a phase's plan checklist.
//!
//! ```text
//! - [x] 05.1-02-PLAN.md — what it does     - [ ] 14-01: what it does
//! - [ ] 01-PLAN-03.md — what it does       1. **Name** — what it does
//! ```

use crate::plan::read::placeholder::non_placeholder;
use crate::plan::read::{PhaseNumber, PlanNumber};
use crate::text::strip_prefix_ignore_case;

/// Returns the number of the plan that an entry of phase `phase` names, and the text after it.
pub(super) fn plan_in_front<'a>(
    text: &'a str,
    phase: &PhaseNumber,
) -> Option<(PlanNumber, &'a str)> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let named = strip_word(text, "plan");
    let text = named.unwrap_or(text);
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_')))
        .unwrap_or(text.len());
    let (token, after) = text.split_at(end);
    let token = token.trim_end_matches('.').trim_end_matches(".md");
    let number = plan_number(token, after, named.is_some(), phase)?;
    Some((number, after))
}

/// Parses the first word of an entry; `is_named` says that `Plan` is in front of it.
fn plan_number(
    token: &str,
    after: &str,
    is_named: bool,
    phase: &PhaseNumber,
) -> Option<PlanNumber> {
    if let Some(rest) = phase.strip_id(token) {
        let rest = rest.trim_end_matches("-PLAN").strip_prefix('-')?;
        return PlanNumber::parse(rest.split('-').next()?);
    }
    let parts: Vec<&str> =
        token.split('-').filter(|part| !part.eq_ignore_ascii_case("plan")).collect();
    match parts.as_slice() {
        // A lone number may begin a sentence (`400 errors are not retried`).
        [plan] => {
            let is_named = is_named || token.len() > plan.len() || after.starts_with(':');
            let is_number = plan.starts_with(|c: char| c.is_ascii_digit());
            PlanNumber::parse(plan).filter(|_| is_named && is_number)
        }
        [first, plan, ..] if PhaseNumber::parse(first).as_ref() == Some(phase) => {
            PlanNumber::parse(plan)
        }
        _ => None,
    }
}

/// Returns the title of a plan in the text after its number: `](link) — Title`, `**: Title`.
pub(super) fn title(text: &str) -> Option<String> {
    let link = text.strip_prefix("](").and_then(|link| link.split_once(')'));
    let text = link.map_or(text, |(_, after)| after).replace("**", "");
    let is_mark = |c: char| c.is_whitespace() || "-:*`\u{2013}\u{2014}".contains(c);
    non_placeholder(text.trim_matches(is_mark)).map(str::to_owned)
}

/// Returns whether an entry only announces plans: `TBD`, `09-01: TBD`, `03-01: TBD (see /gsd:plan-phase 3)`.
pub(super) fn is_placeholder(text: &str) -> bool {
    let parts: Vec<&str> = text.split([':', '\u{2014}']).map(str::trim).collect();
    let first = parts.iter().take(2).chain(parts.last());
    let mut after = first.filter_map(|part| part.strip_prefix("TBD"));
    after.any(|after| !after.starts_with(char::is_alphanumeric))
}

fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = strip_prefix_ignore_case(text, word)?;
    rest.starts_with([' ', '-']).then(|| rest.trim_start_matches([' ', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_named_in_many_ways() {
        for (text, phase, expected) in [
            ("05.1-02-PLAN.md \u{2014} does", "5.1", Some("2")),
            ("14-01: does", "14", Some("1")),
            ("01-PLAN-03.md \u{2014} does", "1", Some("3")),
            ("PLAN-04.md", "1", Some("4")),
            ("Plan 02: does", "1", Some("2")),
            ("Plan 03-02: does", "3", Some("2")),
            ("[01-05-PLAN.md](x) \u{2014} does", "1", Some("5")),
            ("**07-01**: does", "7", Some("1")),
            ("01.2-01a-PLAN.md -- does", "1.2", Some("1a")),
            ("02-PLAN.md", "7", Some("2")),
            ("Implemented in migrations", "1", None),
            ("No secrets in repository", "1", None),
            ("400 errors are not retried", "1", None),
            ("03: does", "1", Some("3")),
            ("02-01-03-PLAN.md \u{2014} does", "2-01", Some("3")),
            ("2-01-03: does", "2-01", Some("3")),
            ("02-01-PLAN.md", "2-01", None),
            ("03-PLAN.md", "2-01", Some("3")),
            ("a thing", "1", None),
            ("", "1", None),
        ] {
            let phase = PhaseNumber::parse_id(phase).unwrap();
            let found = plan_in_front(text, &phase).map(|(plan, _)| plan.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn the_title_is_what_follows_the_number() {
        for (text, expected) in [
            ("01-05-PLAN.md \u{2014} Parse the file", Some("Parse the file")),
            ("[01-05-PLAN.md](x) \u{2014} Parse the file", Some("Parse the file")),
            ("**01-05**: Parse the file", Some("Parse the file")),
            ("**Plan 05:** Parse **the** file", Some("Parse the file")),
            ("`01-05-PLAN.md` - Parse the file", Some("Parse the file")),
            ("01-05-PLAN.md", None),
            ("01-05: TBD", None),
        ] {
            let (_, rest) = plan_in_front(text, &PhaseNumber::from(1)).unwrap();
            assert_eq!(title(rest).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn placeholders_are_no_plans() {
        assert!(is_placeholder("TBD (run plan-phase 8)"));
        assert!(is_placeholder("09-01: TBD during planning"));
        assert!(is_placeholder("03-01: TBD (se define con `/gsd:plan-phase 3`)"));
        assert!(is_placeholder("09-01-PLAN.md \u{2014} Plan 1: TBD"));
        assert!(!is_placeholder("09-01: real"));
        assert!(!is_placeholder("09-01: TBDs: count them"));
        assert!(!is_placeholder("09-01: Import: TBD rows: skip them"));
    }
}
