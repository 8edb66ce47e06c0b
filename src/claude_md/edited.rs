//! Detects hand edits of the block, which are moved below it so that no text of a person is lost.

use std::collections::HashSet;
use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::claude_md::marker;
use crate::claude_md::marker::{BlockHasher, is_blank, without_edges};

/// Maximum number of lines of an edited block in which added lines are searched for: comparing more takes minutes.
const MAX_LINES: usize = 10_000;

/// Maximum number of lines of a generated block: the whole context file is limited to as many.
const MAX_GENERATED_LINES: usize = 200;

/// Maximum number of bytes hashed in the search for added lines.
const MAX_HASHED_BYTES: usize = 128 * 1024 * 1024;

/// Adjacent lines, byte for byte, with their line endings.
pub(crate) type Group<'a> = Vec<&'a [u8]>;

/// A hand edit of the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Edited<'a> {
    /// Lines were added.
    Added(Vec<Group<'a>>),
    /// The previously generated text is unavailable, so the added lines cannot be identified.
    Unknown,
}

impl<'a> Edited<'a> {
    /// Compares the text between the markers with what was generated there.
    ///
    /// `stated` is the digest of the generated lines. Without `generated`, a single run of lines is searched
    /// for whose removal yields that digest: it must be what was added.
    pub(crate) fn compare(
        inside: &'a [u8],
        stated: Option<&str>,
        generated: Option<&[&[u8]]>,
    ) -> Self {
        let lines = marker::normalised_lines(inside);
        let ranges = match (generated, stated) {
            _ if lines.len() > MAX_LINES => None,
            (Some(generated), _) => Some(added(generated, &lines)),
            (None, Some(stated)) => added_run(&lines, stated).map(|run| vec![run]),
            (None, None) => None,
        };
        let Some(ranges) = ranges else {
            return Self::Unknown;
        };
        let raw: Vec<&[u8]> = inside.split_inclusive(|byte| *byte == b'\n').collect();
        let first = raw.iter().position(|line| !is_blank(line)).unwrap_or(0);
        let groups = ranges
            .into_iter()
            .map(|range| without_edges(&raw[first + range.start..first + range.end]).to_vec())
            .filter(|group| !group.is_empty());
        Self::Added(groups.collect())
    }

    /// Returns the groups with lines that are neither in the new block nor in the text around it.
    pub(crate) fn relocated(&self, new: &[&[u8]], around: &[&[u8]]) -> Vec<&Group<'a>> {
        let Self::Added(groups) = self else {
            return Vec::new();
        };
        let mut present = lines_of(new, around);
        let mut moved = Vec::new();
        for group in groups {
            let lines: Vec<&[u8]> = group.iter().map(|line| line.trim_ascii()).collect();
            if lines.into_iter().filter(|line| present.insert(line)).count() > 0 {
                moved.push(group);
            }
        }
        moved
    }
}

/// Returns the lines of an edited block that occur nowhere else.
pub(crate) fn lost<'a>(old: &[&'a [u8]], new: &[&'a [u8]], around: &[&'a [u8]]) -> Vec<&'a [u8]> {
    let present = lines_of(new, around);
    let old = old.iter().map(|line| line.trim_ascii());
    old.filter(|line| !present.contains(line)).collect()
}

/// Returns all lines, normalised for comparison; blank lines always count as present.
fn lines_of<'a>(new: &[&'a [u8]], around: &[&'a [u8]]) -> HashSet<&'a [u8]> {
    let around = around.iter().flat_map(|text| text.split(|b| *b == b'\n'));
    let lines = new.iter().copied().chain(around).map(<[u8]>::trim_ascii);
    lines.chain([&b""[..]]).collect()
}

fn added(generated: &[&[u8]], lines: &[&[u8]]) -> Vec<Range<usize>> {
    let changes = capture_diff_slices(Algorithm::Myers, generated, lines);
    let changes = changes.into_iter();
    changes
        .filter(|change| matches!(change.tag(), DiffTag::Insert | DiffTag::Replace))
        .map(|change| change.new_range())
        .collect()
}

/// Finds a run of lines without which the remaining lines have the digest.
///
/// At most [`MAX_GENERATED_LINES`] lines remain, so long runs are not tried more often than short ones.
fn added_run(lines: &[&[u8]], stated: &str) -> Option<Range<usize>> {
    let count = lines.len();
    let mut room = MAX_HASHED_BYTES;
    let mut before = BlockHasher::default();
    let mut before_trimmed = BlockHasher::default();
    for start in 0..count.min(MAX_GENERATED_LINES + 1) {
        let first = (start + count).saturating_sub(MAX_GENERATED_LINES);
        for end in first.max(start + 1)..=count {
            // Blank lines at the edges of a block are not hashed.
            let mut hasher = if end == count { before_trimmed.clone() } else { before.clone() };
            let mut after = &lines[end..];
            if start == 0 {
                after = without_edges(after);
            }
            for line in after {
                room = room.checked_sub(line.len() + 1)?;
                hasher.add(line);
            }
            if hasher.digest() == stated {
                return Some(start..end);
            }
        }
        before.add(lines[start]);
        if !is_blank(lines[start]) {
            before_trimmed = before.clone();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const GENERATED: &str = "# shop\n\n- one\n- two\n\n## End\n";

    fn groups(inside: &str, generated: Option<&str>) -> Option<Vec<String>> {
        let stated = marker::digest(&marker::normalised_lines(GENERATED.as_bytes()));
        let generated = generated.map(|text| marker::normalised_lines(text.as_bytes()));
        match Edited::compare(inside.as_bytes(), Some(&stated), generated.as_deref()) {
            Edited::Added(groups) => Some(
                groups.iter().map(|group| String::from_utf8(group.concat()).unwrap()).collect(),
            ),
            Edited::Unknown => None,
        }
    }

    #[test]
    fn one_run_of_lines_is_found_by_the_digest() {
        for (edited, expected) in [
            ("# shop\n\n- one\n  mine  \r\n- two\n\n## End\n", "  mine  \r\n"),
            ("\n\nmine\n\n# shop\n\n- one\n- two\n\n## End\n", "mine\n"),
            ("# shop\n\n- one\n- two\n\n## End\n\na\n\nb\n", "a\n\nb\n"),
        ] {
            assert_eq!(groups(edited, None).unwrap(), [expected], "{edited:?}");
        }
        let many = "mine\n".repeat(MAX_LINES - 10);
        let edited = GENERATED.replace("- two", &format!("{many}- two"));
        assert_eq!(groups(&edited, None).unwrap(), [many]);
        assert_eq!(groups("# shop\n\n- one\n- 2\n\n## End\n", None), None);
        assert_eq!(groups("a\n# shop\n\n- one\nb\n- two\n\n## End\n", None), None);
    }

    #[test]
    fn with_the_generated_text_every_added_and_changed_line_is_found() {
        let known = Some(GENERATED);
        let edited = "a\n# shop\n\n- one\nb\n- 2\n\n## End\n";
        assert_eq!(groups(edited, known).unwrap(), ["a\n", "b\n- 2\n"]);
        let deleted = "# shop\n\n## End\n";
        assert_eq!(groups(deleted, known).unwrap(), [""; 0]);
    }

    #[test]
    fn a_block_of_any_size_is_compared_in_bounded_time() {
        let lines = "mine\n".repeat(1_000_000);
        for generated in [None, Some(GENERATED)] {
            assert_eq!(groups(&lines, generated), None);
        }
        let bytes = format!("{}\n", "a".repeat(60_000)).repeat(150);
        assert_eq!(groups(&bytes, None), None);
    }

    #[test]
    fn a_group_is_moved_once_and_only_if_it_contains_something_new() {
        let edited = Edited::Added(vec![
            vec![b"- one\n"],
            vec![b"- two\n", b"- three\n"],
            vec![b"- three\n"],
            vec![b"below\n"],
        ]);
        let new: [&[u8]; 1] = [b"- one"];
        let moved = edited.relocated(&new, &[b"above\n\n below \n"]);
        assert_eq!(moved, [&vec![&b"- two\n"[..], b"- three\n"]]);
        assert!(Edited::Unknown.relocated(&new, &[]).is_empty());
        let old: [&[u8]; 3] = [b"- one", b"", b"gone"];
        assert_eq!(lost(&old, &new, &[]), [b"gone"]);
    }
}
