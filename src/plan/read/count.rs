//! Parses counts: `3`, `3/4`, `3 of 4`.

/// The preposition or sign between a number and the total: `2 of 5`.
const OF: &[&str] = &["/", "of ", "de ", "von ", "di ", "sur ", "van ", "из "];

/// A count at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count<'a> {
    /// The number of finished items, or the only number.
    pub(crate) done: u32,
    /// The number of all items, if stated.
    pub(crate) total: Option<u32>,
    /// The text after the count.
    pub(crate) rest: &'a str,
}

impl<'a> Count<'a> {
    /// Parses `5`, `5/5` or `3 of 4` at the start of a text; `2.1`, `3rd` and `3/4/2026` are not counts.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (done, rest) = split_number(text.trim_start())?;
        let after = Self::after_of(rest.trim_start());
        let total = after.and_then(|after| split_number(after.trim_start()));
        if total.is_some_and(|(_, rest)| rest.starts_with('/')) {
            return None;
        }
        Some(Self {
            done,
            total: total.map(|(total, _)| total),
            rest: total.map_or(rest, |(_, rest)| rest),
        })
    }

    /// Returns the text after `/` or `of `.
    pub(crate) fn after_of(text: &str) -> Option<&str> {
        OF.iter().find_map(|of| text.strip_prefix(of))
    }

    /// Returns whether fewer items are finished than there are.
    pub(crate) fn is_open(&self) -> bool {
        self.total.is_some_and(|total| self.done < total)
    }
}

/// Splits off the number at the start of a text; `2.1` and `3rd` yield `None`.
fn split_number(text: &str) -> Option<(u32, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = text[..text.len() - rest.len()].parse().ok()?;
    let goes_on = rest.starts_with(char::is_alphanumeric)
        || rest
            .strip_prefix(['.', ','])
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (!goes_on).then_some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_a_number_with_or_without_a_total() {
        let parse = |text| Count::parse(text).map(|count| (count.done, count.total, count.rest));
        for (text, expected) in [
            ("3/4 plans", Some((3, Some(4), " plans"))),
            (" 3 / 4", Some((3, Some(4), ""))),
            ("3 of 4 (1 skipped)", Some((3, Some(4), " (1 skipped)"))),
            ("3 plans", Some((3, None, " plans"))),
            ("0/TBD", Some((0, None, "/TBD"))),
            ("2.1", None),
            ("3rd", None),
            ("3/4/2026", None),
            ("none", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
