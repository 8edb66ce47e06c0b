//! Links a value to the bytes of the file that state it, and parses counts: `3`, `3/4`, `3 of 4`.

use std::ops::Range;
use std::path::Path;

use crate::markdown::{Block, Label, Outline};
use crate::text::is_digit;
use crate::warning::Warning;

/// A stated value with its location, so that it can be reported by line and rewritten in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Byte range of the text that states it, without its surroundings.
    pub range: Range<usize>,
    /// Line number in the file, from 1.
    pub line: usize,
}

impl<T> Located<T> {
    /// Returns another value stated by the same bytes.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Located<U> {
        Located { value: change(self.value), range: self.range, line: self.line }
    }
}

impl Located<String> {
    /// Returns a warning that quotes what is stated.
    pub(crate) fn warning(&self, path: &Path, problem: &str) -> Warning {
        Warning::at(path, self.line, format!("{problem}: {:?}", self.value))
    }
}

/// A slice of one line that knows its location in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<'a> {
    /// The text of the slice.
    pub(crate) text: &'a str,
    pub(in crate::plan::read) start: usize,
    /// Line number in the file, from 1.
    pub(crate) line: usize,
}

impl<'a> Span<'a> {
    /// Returns a trimmed slice that begins at byte `start` of its file.
    pub(crate) fn new(text: &'a str, start: usize, line: usize) -> Self {
        Self { text, start, line }.trimmed()
    }

    /// Returns what a block says.
    pub(crate) fn from_block(outline: &Outline<'a>, block: &Block) -> Self {
        Self::new(outline.slice(&block.range), block.range.start, block.line)
    }

    /// Returns the first line of the slice.
    pub(crate) fn first_line(self) -> Self {
        self.part(0..self.text.find('\n').unwrap_or(self.text.len()))
    }

    /// Returns the value of a label.
    pub(crate) fn from_label(label: &'a Label) -> Self {
        Self::new(&label.value, label.range.start, label.line)
    }

    /// Returns the subslice between two offsets within the slice, trimmed.
    pub(crate) fn part(self, range: Range<usize>) -> Self {
        let text = self.text.get(range.clone()).unwrap_or_default();
        Self { text, start: self.start + range.start, line: self.line }.trimmed()
    }

    /// Returns the text after the offset `at` within the slice.
    pub(crate) fn after(self, at: usize) -> Self {
        self.part(at..self.text.len())
    }

    /// Returns the part that corresponds to `rest`, a suffix of the slice.
    pub(crate) fn suffix(self, rest: &str) -> Self {
        self.after(self.text.len().saturating_sub(rest.len()))
    }

    /// Returns the slice without leading and trailing `marks`.
    pub(crate) fn trim_chars(self, marks: &[char]) -> Self {
        let start = self.text.len() - self.text.trim_start_matches(marks).len();
        let end = self.text.trim_end_matches(marks).len();
        self.part(start..end.max(start))
    }

    /// Returns the text as stated by this slice.
    pub(crate) fn stated(self) -> Located<String> {
        self.with_value(self.text.to_owned())
    }

    /// Returns `value` as stated by this slice.
    pub(crate) fn with_value<T>(self, value: T) -> Located<T> {
        Located { value, range: self.start..self.start + self.text.len(), line: self.line }
    }

    /// Parses the count at the start of the slice: the number, the total, and the rest.
    pub(crate) fn count(self) -> Option<(Located<u32>, Option<Located<u32>>, Self)> {
        let count = Count::parse(self.text)?;
        let done = self.text.len() - self.text.trim_start_matches(is_digit).len();
        let end = self.text.len() - count.rest.len();
        let start = self.text[..end].trim_end_matches(is_digit).len();
        let total = count.total.map(|total| self.part(start..end).with_value(total));
        Some((self.part(0..done).with_value(count.done), total, self.after(end)))
    }

    /// Parses the total at the start of the slice, and returns it with the rest: `/5`, `of 5`.
    pub(crate) fn total(self) -> Option<(Located<u32>, Self)> {
        let (total, _, rest) = self.suffix(Count::after_of(self.text)?).count()?;
        Some((total, rest))
    }

    /// Parses a total that is still unknown at the start of the slice, as 0: `/TBD`, `of TBD`.
    pub(crate) fn unknown_total(self) -> Option<Located<u32>> {
        let after = self.suffix(Count::after_of(self.text)?);
        let end = after.text.find(|c: char| !c.is_alphanumeric()).unwrap_or(after.text.len());
        let word = after.part(0..end);
        word.text.eq_ignore_ascii_case("TBD").then(|| word.with_value(0))
    }

    fn trimmed(self) -> Self {
        let lead = self.text.len() - self.text.trim_start().len();
        Self { text: self.text.trim(), start: self.start + lead, line: self.line }
    }
}

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
        let (total, after) = total.unzip();
        Some(Self { done, total, rest: after.unwrap_or(rest) })
    }

    /// Returns the text after `/` or `of `.
    fn after_of(text: &str) -> Option<&str> {
        OF.iter().find_map(|of| text.strip_prefix(of))
    }

    /// Returns whether fewer items are finished than there are.
    pub(crate) fn is_open(&self) -> bool {
        self.total.is_some_and(|total| self.done < total)
    }
}

/// Splits off the number at the start of a text; `2.1` and `3rd` yield `None`.
fn split_number(text: &str) -> Option<(u32, &str)> {
    let rest = text.trim_start_matches(is_digit);
    let number = text[..text.len() - rest.len()].parse().ok()?;
    let goes_on = rest.starts_with(char::is_alphanumeric)
        || rest.strip_prefix(['.', ',']).is_some_and(|rest| rest.starts_with(is_digit));
    (!goes_on).then_some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_their_place() {
        let text = "Plans: 12/15 done";
        let span = Span::new(&text[6..], 6, 1);
        let (done, total, rest) = span.count().unwrap();
        assert_eq!((done.value, &text[done.range]), (12, "12"));
        let total = total.unwrap();
        assert_eq!((total.value, &text[total.range]), (15, "15"));
        assert_eq!(&text[rest.with_value(()).range], "done");
        assert_eq!(rest.unknown_total(), None);
        for text in ["0/TBD", "0 / TBD", "0 of TBD in current phase"] {
            let (_, _, rest) = Span::new(text, 0, 1).count().unwrap();
            let total = rest.unknown_total().unwrap();
            assert_eq!((total.value, &text[total.range]), (0, "TBD"));
        }
        assert_eq!(span.part(99..100).text, "");
    }

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
