//! Decides whether two entries are near-duplicates: an identical title or first line, and most lines in common.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::knowledge::key;

/// Minimum share of common lines at which two bodies are near-duplicates, in percent.
const MIN_SHARED_PERCENT: usize = 80;

/// The data for comparing two bodies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Likeness {
    /// Hash of the first line below the title; 0 if there is none.
    pub(crate) first: u64,
    /// Hash of the line after it; 0 if there is none.
    pub(crate) second: u64,
    /// Hash of the title; 0 if there is none, or nothing below it.
    pub(crate) title: u64,
    /// Sorted hashes of all lines except the title.
    lines: Vec<u64>,
}

impl Likeness {
    /// Computes the data for a body with a key.
    pub(crate) fn new(body: &str, key: &str) -> Self {
        let (title, said) = parts(body, key);
        let mut lines: Vec<u64> = said.map(hash).collect();
        let first = lines.first().copied().unwrap_or(0);
        let second = lines.get(1).copied().unwrap_or(0);
        lines.sort_unstable();
        Self { first, second, title: title.map_or(0, hash), lines }
    }

    /// Returns the share of common lines in the longer body, in percent; `None` if it is too low, or if both the
    /// titles and the first lines below them differ.
    ///
    /// A common title counts as one line; different titles make no difference.
    pub(crate) fn overlap(&self, other: &Self) -> Option<usize> {
        let is_same = |one: u64, other: u64| one != 0 && one == other;
        if is_same(self.first, other.first) || is_same(self.title, other.title) {
            return self.shared(other);
        }
        None
    }

    /// Like [`overlap`](Self::overlap), but the titles and the first lines may differ.
    pub(crate) fn shared(&self, other: &Self) -> Option<usize> {
        let title = usize::from(self.title != 0 && self.title == other.title);
        let longer = self.lines.len().max(other.lines.len()) + title;
        let shorter = self.lines.len().min(other.lines.len()) + title;
        if shorter * 100 < longer * MIN_SHARED_PERCENT {
            return None;
        }
        let percent = (common(&self.lines, &other.lines) + title) * 100 / longer;
        (percent >= MIN_SHARED_PERCENT).then_some(percent)
    }
}

/// Returns the title of a body and the lines that count as content.
///
/// If there is only a title, it is the content, unless it merely repeats the key.
fn parts<'t>(body: &'t str, key: &str) -> (Option<&'t str>, impl Iterator<Item = &'t str>) {
    let mut lines = body.lines().filter(|line| !line.trim().is_empty()).peekable();
    let title = lines.next_if(|line| line.starts_with("# "));
    let alone = title.filter(|title| lines.peek().is_none() && !is_key(title, key));
    (title.filter(|_| alone.is_none()), alone.into_iter().chain(lines))
}

fn is_key(title: &str, key: &str) -> bool {
    let title = title.trim_start_matches("# ").trim().replace('-', " ");
    title.to_lowercase() == key::in_words(key).to_lowercase()
}

/// Counts the common elements of two sorted lists.
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

/// Returns a hash of a line with white space normalised; never 0.
fn hash(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.split_whitespace().for_each(|word| word.hash(&mut hasher));
    hasher.finish().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlap(one: &str, other: &str) -> Option<usize> {
        Likeness::new(one, "one").overlap(&Likeness::new(other, "other"))
    }

    #[test]
    fn bodies_with_four_fifths_in_common_are_duplicates() {
        let five = "# T\na\nb\nc\nd\n";
        assert_eq!(overlap(five, five), Some(100));
        assert_eq!(overlap(five, "# T\na\nb\nc\nx\n"), Some(80));
        assert_eq!(overlap(five, "# T\na\nb\nx\ny\n"), None);
        assert_eq!(overlap(five, "# T\na\nb\nc\n"), Some(80));
        assert_eq!(overlap(five, "# T\na\nb\n"), None);
        assert_eq!(overlap(five, "#  T \n\n a\r\nb\nc\nd"), Some(100));
        assert_eq!(overlap(five, "# U\na\nb\nc\nd\n"), Some(100));
        assert_eq!(overlap(five, "# U\na\nb\nc\nx\n"), None);
        assert_eq!(overlap("", ""), None);
    }

    #[test]
    fn a_common_title_counts_as_a_common_first_line() {
        let one = "# T\none\na\nb\nc\nd\ne\nf\n";
        assert_eq!(overlap(one, &one.replace("one", "other")), Some(87));
        assert_eq!(overlap(one, &one.replace("one", "other").replace("# T", "# U")), None);
        assert_eq!(overlap("# T\na\n", "# T\nb\n"), None);
    }

    #[test]
    fn titles_only_count_without_a_body_and_unless_they_repeat_the_key() {
        assert_eq!(overlap("# One\n\nsame\n", "# One\n\nsame\n"), Some(100));
        assert_eq!(overlap("# T\n", "# T\n"), Some(100));
        assert_eq!(overlap("# T\n", "# U\n"), None);
        assert_eq!(overlap("# One\n\nsame\n", "# Other\n\nsame\n"), Some(100));
        assert_eq!(overlap("# One\n", "# Other\n"), None);
    }

    #[test]
    fn a_repeated_line_counts_each_time() {
        assert_eq!(overlap("a\na\na\na\na\n", "a\nb\nc\nd\ne\n"), None);
    }
}
