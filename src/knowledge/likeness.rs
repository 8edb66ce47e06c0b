//! Tells whether two entries say the same: an identical first line, and most lines in common.

use crate::knowledge::checksum::checksum;
use crate::knowledge::key;

/// The share of lines, in percent, from which two bodies are near-identical.
const MOST: usize = 80;

/// What two bodies are compared by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Likeness {
    /// The first line; 0 where nothing is said.
    pub(crate) first: u64,
    lines: Vec<u64>,
}

impl Likeness {
    /// Returns the likeness of a body under a key; a title made of the key's own words does not count.
    pub(crate) fn of(body: &str, key: &str) -> Self {
        let mut lines: Vec<u64> = said(body, key).map(hash).collect();
        let first = lines.first().copied().unwrap_or(0);
        lines.sort_unstable();
        Self { first, lines }
    }

    /// Returns how much of the longer body both have, in percent; nothing below what is near-identical.
    pub(crate) fn overlap(&self, other: &Self) -> Option<usize> {
        let longer = self.lines.len().max(other.lines.len());
        let shorter = self.lines.len().min(other.lines.len());
        if self.first == 0 || self.first != other.first || shorter * 100 < longer * MOST {
            return None;
        }
        let percent = common(&self.lines, &other.lines) * 100 / longer;
        (percent >= MOST).then_some(percent)
    }
}

/// Returns what stands for the first line of a body.
pub(crate) fn first_line(body: &str, key: &str) -> u64 {
    said(body, key).next().map_or(0, hash)
}

/// Returns the lines that say something.
fn said<'t>(body: &'t str, key: &'t str) -> impl Iterator<Item = &'t str> {
    let is_own = move |line: &str| {
        let title = line.strip_prefix("# ");
        title.is_some_and(|title| {
            let title = title.trim().replace('-', " ");
            title.to_lowercase() == key::in_words(key).to_lowercase()
        })
    };
    let lines = body.lines().filter(|line| !line.trim().is_empty());
    lines
        .enumerate()
        .filter(move |(index, line)| *index > 0 || !is_own(line))
        .map(|(_, line)| line)
}

/// Counts what two sorted lists share.
fn common(one: &[u64], other: &[u64]) -> usize {
    let (mut at, mut count) = (0, 0);
    for line in one {
        while other.get(at).is_some_and(|found| found < line) {
            at += 1;
        }
        if other.get(at) == Some(line) {
            at += 1;
            count += 1;
        }
    }
    count
}

/// Returns a number for a line as it reads with single spaces; never 0.
fn hash(line: &str) -> u64 {
    let words = line.split_whitespace();
    let sum = words.fold(0, |sum, word| checksum(sum, word.as_bytes()));
    sum.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlap(one: &str, other: &str) -> Option<usize> {
        Likeness::of(one, "one").overlap(&Likeness::of(other, "other"))
    }

    #[test]
    fn bodies_are_alike_from_four_fifths_on() {
        let five = "# T\na\nb\nc\nd\n";
        assert_eq!(overlap(five, five), Some(100));
        assert_eq!(overlap(five, "# T\na\nb\nc\nx\n"), Some(80));
        assert_eq!(overlap(five, "# T\na\nb\nx\ny\n"), None);
        assert_eq!(overlap(five, "# T\na\nb\nc\n"), Some(80));
        assert_eq!(overlap(five, "# T\na\nb\n"), None);
        assert_eq!(overlap(five, "#  T \n\n a\r\nb\nc\nd"), Some(100));
        assert_eq!(overlap(five, "# U\na\nb\nc\nd\n"), None);
        assert_eq!(overlap("", ""), None);
    }

    #[test]
    fn a_title_made_of_the_key_says_nothing() {
        assert_eq!(overlap("# One\n\nsame\n", "# Other\n\nsame\n"), Some(100));
        assert_eq!(overlap("# One\n", "# Other\n"), None);
    }

    #[test]
    fn a_repeated_line_counts_as_often_as_it_stands() {
        assert_eq!(overlap("a\na\na\na\na\n", "a\nb\nc\nd\ne\n"), None);
    }
}
