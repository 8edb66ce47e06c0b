//! Recognises the labelled parts of an entry by their common names.

use crate::patterns::{DeviationCount, Timing};
use crate::plan::non_placeholder;
use crate::text::fold;

/// A part of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryPart {
    Worked,
    Failed,
    Timing,
    Deviations,
    Date,
    /// Text without a label, or with an unknown one.
    Notes,
}

const WORKED: &[&str] = &[
    "what worked", "what worked well", "what went well", "what went right", "worked",
    "worked well", "went well", "wins", "successes", "successful patterns", "keep doing",
];
const FAILED: &[&str] = &[
    "what failed",
    "what didn't work",
    "what didn\u{2019}t work",
    "what did not work",
    "what went wrong",
    "failed",
    "failures",
    "didn't work",
    "did not work",
    "went wrong",
    "pitfalls",
    "anti-patterns",
    "stop doing",
];
/// The labels of each part, in lower case.
const LABELS: &[(EntryPart, &[&str])] = &[
    (EntryPart::Worked, WORKED),
    (EntryPart::Failed, FAILED),
    (EntryPart::Deviations, &["deviations", "deviation", "deviations from plan"]),
    (EntryPart::Timing, &["timing", "time"]),
    (EntryPart::Date, &["date", "completed", "recorded"]),
];

impl EntryPart {
    /// Returns the part that a label or heading introduces.
    pub(crate) fn from_label(label: &str) -> Option<Self> {
        let plain = label.trim_matches(|c: char| !c.is_alphanumeric());
        let name = fold(plain);
        let mut labels = LABELS.iter();
        let found = labels.find(|(_, names)| names.contains(&name.as_str()));
        found.map(|(part, _)| *part)
    }

    /// Returns whether a part of this kind makes the section around it an entry.
    pub(crate) fn is_verdict(self) -> bool {
        matches!(self, Self::Worked | Self::Failed)
    }
}

impl Timing {
    /// Parses `Plans: 3, Average: 4m, Total: 12m (2 of 3 plans)`, or a single field of it, into `self`.
    pub(crate) fn add(&mut self, text: &str) {
        let mut rest = text;
        while let Some((name, value, after)) = first_field(rest) {
            rest = after;
            let Some(value) =
                non_placeholder(value).filter(|value| !value.eq_ignore_ascii_case("unknown"))
            else {
                continue;
            };
            match fold(name.trim_matches(['*', '_', ' '])).as_str() {
                "plans" | "plan count" | "plans completed" => self.plans = first_number(value),
                "average" | "avg" | "average duration" | "avg duration" | "per plan" => {
                    self.average = Some(value.to_owned());
                }
                "total" | "total duration" | "total time" | "duration" => {
                    self.total = Some(value.to_owned());
                }
                "effort" | "effort profile" | "profile" => self.effort = Some(value.to_owned()),
                _ => {}
            }
        }
    }
}

/// Splits `Name: value` off a list of comma-separated fields.
///
/// A comma separates fields only if another name and a colon follow.
fn first_field(text: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let end = rest
        .match_indices([',', ';', '|'])
        .map(|(at, _)| at)
        .find(|at| {
            let next = rest[at + 1..].split([',', ';', '|', '(']).next();
            next.is_some_and(|next| next.contains(':'))
        })
        .unwrap_or(rest.len());
    let after = rest.get(end + 1..).unwrap_or_default();
    Some((name.trim(), clean(&rest[..end]), after.trim_start()))
}

impl DeviationCount {
    /// Parses `3 (2 bug, 1 blocking)`, `0`, `None`, `None - all as planned`.
    pub(crate) fn parse(text: &str) -> Self {
        let text = clean(text);
        let kinds = text
            .split_once('(')
            .map(|(_, kinds)| kinds.rsplit_once(')').map_or(kinds, |(kinds, _)| kinds))
            .and_then(non_placeholder);
        let count = first_number(text).or_else(|| is_none(text).then_some(0));
        Self { count, kinds: kinds.map(str::to_owned) }
    }
}

/// Returns a value without emphasis marks left over from its label.
fn clean(value: &str) -> &str {
    value.trim().trim_matches('*').trim()
}

fn is_none(text: &str) -> bool {
    let word = text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    word.is_some_and(|word| ["none", "no", "zero"].contains(&word.to_lowercase().as_str()))
}

fn first_number(text: &str) -> Option<u32> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || "~*_`".contains(c));
    let end = text.trim_start_matches(|c: char| c.is_ascii_digit());
    text[..text.len() - end.len()].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(text: &str) -> [Option<String>; 4] {
        let mut timing = Timing::default();
        timing.add(text);
        let plans = timing.plans.map(|plans| plans.to_string());
        [plans, timing.average, timing.total, timing.effort]
    }

    fn owned(fields: [&str; 4]) -> [Option<String>; 4] {
        fields.map(|field| Some(field.to_owned()).filter(|field| !field.is_empty()))
    }

    #[test]
    fn timing_is_read_field_by_field() {
        for (text, expected) in [
            ("Plans: 3, Average: 4m, Total: 12m", ["3", "4m", "12m", ""]),
            (
                "Plans: 3, Average: 4m (2 of 3 plans), Total: 1h 05m (2 of 3 plans)",
                ["3", "4m (2 of 3 plans)", "1h 05m (2 of 3 plans)", ""],
            ),
            ("Plans: 3, Average: unknown, Total: unknown", ["3", "", "", ""]),
            ("**Effort:** balanced", ["", "", "", "balanced"]),
            ("Effort: balanced, then thorough", ["", "", "", "balanced, then thorough"]),
            ("Total: 00:12:30; Profile: turbo", ["", "", "00:12:30", "turbo"]),
            ("about an hour", ["", "", "", ""]),
        ] {
            assert_eq!(timing(text), owned(expected), "{text}");
        }
    }

    #[test]
    fn deviations_are_a_count_and_kinds() {
        for (text, count, kinds) in [
            ("3 (2 Rule 1 - Bug, 1 minor)", Some(3), Some("2 Rule 1 - Bug, 1 minor")),
            ("0", Some(0), None),
            ("None", Some(0), None),
            ("No deviations", Some(0), None),
            ("2 (none)", Some(2), None),
            ("4 (a (b) c)", Some(4), Some("a (b) c")),
            ("** 1 **", Some(1), None),
            ("several (small)", None, Some("small")),
            ("", None, None),
            ("9999999999999", None, None),
        ] {
            let read = DeviationCount::parse(text);
            assert_eq!((read.count, read.kinds.as_deref()), (count, kinds), "{text}");
        }
    }

    #[test]
    fn parts_have_many_names() {
        assert_eq!(EntryPart::from_label("**What Worked:**"), Some(EntryPart::Worked));
        assert_eq!(EntryPart::from_label("✅ What went well"), Some(EntryPart::Worked));
        assert_eq!(EntryPart::from_label("What didn’t work"), Some(EntryPart::Failed));
        assert_eq!(EntryPart::from_label("Plan 02"), None);
    }
}
