//! Takes a hand edit out of the block: lines that were added to it are moved below it, so that no text of a person is
//! lost.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::claude_md::marker;
use crate::claude_md::marker::{Span, is_blank, readable, unclosed, without_edges};
use crate::error::Result;
use crate::git::Object;
use crate::project::Project;
use crate::text::{clip, line_end, quantity, slashed, strip_controls};

/// Maximum number of lines of an edited block in which added lines are searched for: comparing more takes minutes.
const MAX_LINES: usize = 10_000;

/// Maximum number of lines of which every run is tried.
const MAX_RUN_LINES: usize = 220;

/// Maximum number of lines listed of a lost edit, and maximum length of such a line, in characters.
const MAX_NAMED_LINES: usize = 5;
const MAX_LINE_CHARS: usize = 80;

/// Returns a file whose edited block is replaced by `new` lines, with what was added to the block below it; and what
/// there is to say about it.
///
/// `generated` is the text of the block before the edit. Without it, a single run of lines is searched for whose removal
/// restores the stated digest. If there is none, what was added cannot be told from what was generated, and the file is
/// returned as it is. Headings that `is_own` knows are the generator's.
pub(crate) fn without_edit<'a>(
    bytes: &'a [u8],
    span: &Span,
    generated: Option<&[u8]>,
    new: &[&[u8]],
    is_own: impl Fn(&str) -> bool,
) -> (Cow<'a, [u8]>, Option<String>) {
    let (before, after) = (&bytes[..span.whole.start], &bytes[span.whole.end..]);
    let inside = &bytes[span.inside.clone()];
    let lines = marker::normalised_lines(inside);
    let around = [before, after].into_iter().flat_map(|text| text.split(|byte| *byte == b'\n'));
    let mut present: HashSet<&[u8]> =
        new.iter().copied().chain(around).map(<[u8]>::trim_ascii).chain([&b""[..]]).collect();
    let ranges = match (generated, span.stated.as_deref()) {
        (Some(generated), _) if lines.len() <= MAX_LINES => Some(added(generated, &lines)),
        (None, Some(stated)) if lines.len() <= MAX_RUN_LINES => added_run(&lines, stated),
        _ => None,
    };
    let Some(ranges) = ranges else {
        let lost = lines.iter().filter(|line| !present.contains(line.trim_ascii()));
        let lost: Vec<&[u8]> = lost.copied().collect();
        let message = (!lost.is_empty()).then(|| {
            let lost = lost_summary(&lost);
            format!(
                "the block was edited by hand and is rewritten; {lost}; `annals undo` restores them"
            )
        });
        return (Cow::Borrowed(bytes), message);
    };
    let newline = line_end(bytes);
    // The lines as they stand, with their white space.
    let raw: Vec<&[u8]> = inside.split_inclusive(|byte| *byte == b'\n').collect();
    let first = raw.iter().position(|line| !is_blank(line)).unwrap_or(0);
    let (mut moved, mut count) = (Vec::new(), 0);
    for range in ranges {
        let added = raw[first + range.start..first + range.end].iter();
        let added: Vec<&[u8]> = added.filter(|line| !is_own(&readable(line))).copied().collect();
        let added = without_edges(&added);
        if added.iter().filter(|line| present.insert(line.trim_ascii())).count() > 0 {
            count += added.iter().filter(|line| !is_blank(line)).count();
            moved.extend(newline.repeat(2).into_bytes());
            moved.extend(without_newline(&added.concat()));
        }
    }
    let message = (count > 0).then(|| {
        let were = if count == 1 { "was" } else { "were" };
        let lines = quantity(count, "line");
        format!("{lines} added to the block by hand {were} moved below it")
    });
    let block = marker::marked(new, newline);
    (Cow::Owned([before, &block, &moved, after].concat()), message)
}

/// Returns the lines that are not in the generated text.
fn added(generated: &[u8], lines: &[&[u8]]) -> Vec<Range<usize>> {
    let changes =
        capture_diff_slices(Algorithm::Myers, &marker::normalised_lines(generated), lines);
    let changes = changes.iter();
    let changes =
        changes.filter(|change| matches!(change.tag(), DiffTag::Insert | DiffTag::Replace));
    changes.map(similar::DiffOp::new_range).collect()
}

/// Returns the run of lines without which the others have the digest.
fn added_run(lines: &[&[u8]], stated: &str) -> Option<Vec<Range<usize>>> {
    let count = lines.len();
    let mut runs = (0..count).flat_map(|start| (start + 1..=count).map(move |end| start..end));
    let found = runs.find(|run| {
        let left = [&lines[..run.start], &lines[run.end..]].concat();
        marker::digest(without_edges(&left)) == stated
    })?;
    Some(vec![found])
}

/// Lists the first lines of a lost edit.
fn lost_summary(lost: &[&[u8]]) -> String {
    let quoted = lost.iter().take(MAX_NAMED_LINES).map(|line| {
        let text = String::from_utf8_lossy(line);
        format!("\"{}\"", clip(&strip_controls(&text), MAX_LINE_CHARS))
    });
    let quoted = quoted.collect::<Vec<_>>().join(", ");
    match lost.len().saturating_sub(MAX_NAMED_LINES) {
        0 => format!("lost: {quoted}"),
        more => format!("lost: {quoted} and {}", quantity(more, "more line")),
    }
}

fn without_newline(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// Number of commits searched: an older block would not help to identify later additions.
const MAX_COMMITS: usize = 50;

/// Returns a file with the end marker that another generator cut off together with a section: it goes below the last
/// line that was generated. Any other file is returned unchanged.
pub(crate) fn with_end<'a>(
    project: &Project,
    path: &Path,
    bytes: &'a [u8],
) -> Result<Cow<'a, [u8]>> {
    let Some((start, stated)) = unclosed(&readable(bytes)) else {
        return Ok(Cow::Borrowed(bytes));
    };
    let Some(block) = find_block(project, path, &stated)? else {
        return Ok(Cow::Borrowed(bytes));
    };
    let generated = marker::normalised_lines(&block);
    let (mut at, mut end) = (start, start);
    for line in bytes[start..].split_inclusive(|byte| *byte == b'\n') {
        let bare = line.trim_ascii_end();
        if !bare.is_empty() && !generated.contains(&bare) {
            break;
        }
        at += line.len();
        // The heading above foreign lines is theirs.
        if !bare.is_empty() && !bare.starts_with(b"## ") {
            end = at;
        }
    }
    Ok(Cow::Owned([&bytes[..end], marker::END.as_bytes(), b"\n", &bytes[end..]].concat()))
}

/// Returns the block with this digest from an earlier version of the file: in the undo history, or in git.
pub(crate) fn find_block(project: &Project, path: &Path, stated: &str) -> Result<Option<Vec<u8>>> {
    let block = |bytes: &[u8]| block_with_digest(bytes, path, stated);
    let recorded =
        project.storage().history().find_written(path, |bytes| block(bytes).is_some())?;
    if let Some(bytes) = recorded {
        return Ok(block(&bytes));
    }
    let relative = project.git.top().and_then(|top| path.strip_prefix(top).ok()).map(slashed);
    let (Some(relative), Some(objects)) = (relative, project.git.objects()?) else {
        return Ok(None);
    };
    let commits = project.git.newest_commits(MAX_COMMITS)?;
    let versions: Vec<String> =
        commits.iter().map(|commit| format!("{}:{relative}", commit.hash)).collect();
    let mut versions = objects.read(&versions)?.into_iter().flatten();
    Ok(versions.find_map(|version| match version {
        Object::Blob(bytes) => block(&bytes),
        Object::Other => None,
    }))
}

/// Returns the text between the markers of a version, if it has this digest.
///
/// A version with invalid markers has no block.
fn block_with_digest(bytes: &[u8], path: &Path, stated: &str) -> Option<Vec<u8>> {
    let span = Span::find(&readable(bytes), path).ok().flatten()?;
    let block = &bytes[span.inside];
    (marker::digest(&marker::normalised_lines(block)) == stated).then(|| block.to_vec())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const BLOCK: &str = "# shop\n\n- one\n- two\n\n## End\n";
    const OTHER: &str = "# shop\n\n- two\n";

    fn lines(text: &str) -> Vec<&[u8]> {
        marker::normalised_lines(text.as_bytes())
    }

    fn framed(block: &str) -> String {
        String::from_utf8(marker::marked(&lines(block), "\n")).unwrap()
    }

    /// Replaces the block by `OTHER`, and returns the file and the message.
    fn edited(file: &str, generated: Option<&str>) -> (String, Option<String>) {
        let span = Span::find(file, Path::new("CLAUDE.md")).unwrap().unwrap();
        let generated = generated.map(str::as_bytes);
        let is_own = |line: &str| line.trim_end() == "## Own";
        let (bytes, message) =
            without_edit(file.as_bytes(), &span, generated, &lines(OTHER), is_own);
        (String::from_utf8(bytes.into_owned()).unwrap(), message)
    }

    #[test]
    fn each_added_group_moves_below_the_block_unless_it_is_there() {
        let file = framed(BLOCK)
            .replace("# shop\n", "# shop\nmine  \n\n## Own\n")
            .replace("- one", "- 1\nbelow")
            .replace("## End", "## End\n- two\nmine");
        let (text, message) = edited(&(file + "\n\nbelow\n"), Some(BLOCK));
        assert_eq!(text, format!("{}\n\nmine  \n\n- 1\nbelow\n\nbelow\n", framed(OTHER)));
        let expected = "3 lines added to the block by hand were moved below it";
        assert_eq!(message.as_deref(), Some(expected));
    }

    #[test]
    fn a_deletion_leaves_nothing_to_move() {
        let file = framed(BLOCK).replace("- one\n", "");
        assert_eq!(edited(&file, Some(BLOCK)), (framed(OTHER), None));
    }

    #[test]
    fn without_the_generated_text_a_single_run_is_found_by_the_digest() {
        let file = framed(BLOCK).replace("- two", "mine\n\nand this\n- two");
        let (text, message) = edited(&file, None);
        assert_eq!(text, format!("{}\n\nmine\n\nand this", framed(OTHER)));
        let expected = "2 lines added to the block by hand were moved below it";
        assert_eq!(message.as_deref(), Some(expected));
    }

    #[test]
    fn if_that_fails_what_is_lost_is_said() {
        let file = framed(BLOCK).replace("- one", "a\u{1b}[2J way\n2\n3\n4\n5\n6");
        let (text, message) = edited(&file, None);
        assert_eq!(text, file);
        assert_eq!(
            message.unwrap(),
            "the block was edited by hand and is rewritten; lost: \"a way\", \"2\", \"3\", \"4\", \"5\" and 2 more \
             lines; `annals undo` restores them"
        );
        let many = "mine\n".repeat(MAX_LINES);
        assert!(edited(&file.replace("- two", &many), Some(BLOCK)).1.is_some());
    }
}
