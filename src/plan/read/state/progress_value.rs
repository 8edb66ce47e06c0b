//! Parses progress values: counts, percentages and progress bars.

use crate::plan::read::located::Span;
use crate::plan::read::{Claim, Located};

/// Parses the current plan: `2 of 3 in current phase`, `3/5`, `2`; an id such as `02-01` is not a count.
pub(super) fn plan(value: Span<'_>, claims: &mut Vec<Located<Claim>>) {
    let Some((digits, current)) = value.leading_number() else {
        return;
    };
    let rest = value.after(digits.text.len());
    if let Some((digits_of_total, total)) = rest.total() {
        claims.push(digits.with_value(Claim::CurrentPlan(current)));
        claims.push(digits_of_total.with_value(Claim::PlansTotal(total)));
    } else if rest.text.is_empty() || rest.text.starts_with('(') {
        claims.push(digits.with_value(Claim::CurrentPlan(current)));
    }
}

/// Parses the number of complete plans: `5/5`, `0/TBD`, `0/3 complete`; a single number as in `3 (wave 1: …)`
/// is the total.
pub(super) fn plans(value: Span<'_>, claims: &mut Vec<Located<Claim>>) {
    let Some((digits, number)) = value.leading_number() else {
        return;
    };
    let rest = value.after(digits.text.len());
    if let Some((digits_of_total, total)) = rest.total() {
        claims.push(digits.with_value(Claim::PlansComplete(number)));
        claims.push(digits_of_total.with_value(Claim::PlansTotal(total)));
    } else if rest.text.starts_with('/') {
        claims.push(digits.with_value(Claim::PlansComplete(number)));
    } else {
        claims.push(digits.with_value(Claim::PlansTotal(number)));
    }
}

/// Parses `[####------] 40%`, `100%`, `v2.1 ██████ 100%`, `3/3 phases`.
pub(super) fn progress(value: Span<'_>, claims: &mut Vec<Located<Claim>>) {
    claims.extend(bar(value).map(|bar| bar.with_value(Claim::Bar(bar.text.to_owned()))));
    claims.extend(percent(value));
    let leading = value.leading_number().and_then(|(digits, number)| {
        let (digits_of_total, total) = value.after(digits.text.len()).total()?;
        Some((digits, number, digits_of_total, total))
    });
    let Some((digits, number, digits_of_total, total)) = leading else {
        claims.extend(share(value));
        return;
    };
    let unit = value.text.to_lowercase();
    if unit.contains("phase") {
        claims.push(digits.with_value(Claim::PhasesComplete(number)));
        claims.push(digits_of_total.with_value(Claim::Total(total)));
    } else if unit.contains("plan") {
        claims.push(digits.with_value(Claim::PlansComplete(number)));
        claims.push(digits_of_total.with_value(Claim::PlansTotal(total)));
    }
}

/// Finds the counts restated by a percentage: `16/17 plans (94%)`, `40% (2 of 5 phases)`.
fn share(value: Span<'_>) -> Option<Located<Claim>> {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut rest = value;
    loop {
        let start = rest.text.find(is_digit)?;
        let (digits, done) = rest.after(start).leading_number()?;
        let behind = rest.after(start + digits.text.len());
        if let Some((_, all)) = behind.total() {
            return Some(digits.with_value(Claim::Share(done, all)));
        }
        rest = behind;
    }
}

/// Finds the first percentage; a fraction is rounded.
fn percent(value: Span<'_>) -> Option<Located<Claim>> {
    let end = value.text.find('%')?;
    let start = value.text[..end].trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').len();
    let digits = value.part(start..end);
    let (whole, fraction) = digits.text.split_once('.').unwrap_or((digits.text, ""));
    let rounded = u32::from(fraction.starts_with(['5', '6', '7', '8', '9']));
    let percent = whole.parse::<u32>().ok()?.checked_add(rounded)?;
    Some(digits.with_value(Claim::Percent(percent)))
}

/// Finds a progress bar: cells in brackets, or a run of block characters.
fn bar(value: Span<'_>) -> Option<Span<'_>> {
    let is_cell = |c: char| matches!(c, '\u{2580}'..='\u{259f}' | '\u{25a0}'..='\u{25ff}');
    if value.text.starts_with('[') {
        let end = value.text.find(']')?;
        return value.text[1..end]
            .chars()
            .all(|c| is_cell(c) || matches!(c, '#' | '=' | '-' | '.' | '>' | ' ' | '_'))
            .then(|| value.part(0..end + 1));
    }
    let start = value.text.find(is_cell)?;
    let len = value.text[start..].len() - value.text[start..].trim_start_matches(is_cell).len();
    Some(value.part(start..start + len))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, reader: fn(Span<'_>, &mut Vec<Located<Claim>>)) -> Vec<(Claim, String)> {
        let mut claims = Vec::new();
        reader(Span::new(text, 0, 1), &mut claims);
        claims.into_iter().map(|claim| (claim.value, text[claim.range].to_owned())).collect()
    }

    #[test]
    fn percents_and_bars_know_their_bytes() {
        assert_eq!(
            read("[\u{2588}\u{2591}] 37.5% (6/6)", progress),
            [
                (Claim::Bar("[\u{2588}\u{2591}]".into()), "[\u{2588}\u{2591}]".into()),
                (Claim::Percent(38), "37.5".into()),
                (Claim::Share(6, 6), "6".into()),
            ]
        );
        let bare = read("v2.1 \u{2588}\u{2588} 100%", progress);
        assert_eq!(bare[0].1, "\u{2588}\u{2588}");
        assert_eq!(bare[1].0, Claim::Percent(100));
        for (text, share) in [
            ("[\u{2588}\u{2591}] 16/17 plans (94%)", Some((16, 17))),
            ("40% (v1.5: 2 of 5 phases)", Some((2, 5))),
            ("40% of 5 phases, phase 3 next", None),
        ] {
            let share = share.map(|(done, all)| Claim::Share(done, all));
            assert_eq!(
                read(text, progress)
                    .into_iter()
                    .map(|(claim, _)| claim)
                    .find(|claim| matches!(claim, Claim::Share(..))),
                share,
                "{text}"
            );
        }
        assert!(read("[link] x", progress).is_empty());
        assert!(read("%", progress).is_empty());
    }

    #[test]
    fn counts_of_phases_and_plans_are_told_apart() {
        for text in ["3/4 phases", "3/4 Phases"] {
            assert_eq!(
                read(text, progress),
                [(Claim::PhasesComplete(3), "3".into()), (Claim::Total(4), "4".into())]
            );
        }
        assert_eq!(read("0/TBD", plans), [(Claim::PlansComplete(0), "0".into())]);
        assert_eq!(read("3 (wave 1)", plans), [(Claim::PlansTotal(3), "3".into())]);
        assert_eq!(
            read("2 of 3 in current phase", plan),
            [(Claim::CurrentPlan(2), "2".into()), (Claim::PlansTotal(3), "3".into())]
        );
        assert!(read("02-01 complete", plan).is_empty());
    }
}
