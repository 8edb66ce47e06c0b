//! The block: its two marker lines, with the hash that reveals hand edits, and its position in the file. Lines that people
//! added to it are moved below it, so that nothing they wrote is lost.
//!
//! ```text
//! <!-- annals:begin v1 sha256=0123456789abcdef -->
//! <!-- annals:end -->
//! ```
//!
//! The hash covers the lines strictly between the markers, normalised for changes by formatters and git: line
//! endings, trailing white space, blank lines at either end.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::error::{Error, Result};
use crate::markdown::{BlockContent, Outline, annals_marker};
use crate::project::Project;
use crate::storage::read;
use crate::text::{clip, join, line_end, pluralize, quantity, sha256, slashed, strip_controls};

/// The meaning of a line of a context file for the block.
#[derive(Debug, PartialEq, Eq)]
enum BlockMarker {
    /// The start of the block, with its hash if well-formed.
    Begin(Option<String>),
    /// The end of the block.
    End,
    /// A malformed marker, or one of an unknown version.
    Damaged,
}

impl BlockMarker {
    /// Parses a line as a marker, if it is one.
    pub(crate) fn from_line(line: &str) -> Option<Self> {
        let (name, rest) = annals_marker(line)?;
        let attributes = rest.strip_suffix("-->").filter(|inner| !inner.contains("-->"));
        match (name, attributes.map(str::trim)) {
            ("begin", Some(attributes)) => Some(Self::begin(attributes)),
            ("end", Some("")) => Some(Self::End),
            ("begin" | "end", _) => Some(Self::Damaged),
            _ => None,
        }
    }

    fn begin(attributes: &str) -> Self {
        let mut words = attributes.split_whitespace();
        if words.next() != Some("v1") {
            return Self::Damaged;
        }
        Self::Begin(words.find_map(|word| Some(word.strip_prefix("sha256=")?.to_owned())))
    }
}

/// Returns the opening marker of a block with this hash.
fn begin(digest: &str) -> String {
    format!("<!-- annals:begin v1 sha256={digest} -->")
}

/// The closing marker of a block.
pub(crate) const END: &str = "<!-- annals:end -->";

/// Returns the lines of a block, normalised for comparison and hashing.
pub(crate) fn normalised_lines(inside: &[u8]) -> Vec<&[u8]> {
    let lines: Vec<&[u8]> =
        inside.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).collect();
    without_edges(&lines).to_vec()
}

/// Returns whether a line has nothing but white space.
fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

/// Returns lines without the blank ones at either end.
fn without_edges<'a, 'b>(lines: &'b [&'a [u8]]) -> &'b [&'a [u8]] {
    let is_text = |line: &&[u8]| !is_blank(line);
    match (lines.iter().position(is_text), lines.iter().rposition(is_text)) {
        (Some(first), Some(last)) => &lines[first..=last],
        _ => &[],
    }
}

/// Returns the first 16 hexadecimal digits of the SHA-256 hash of a block's lines.
fn digest(lines: &[&[u8]]) -> String {
    let mut digest = sha256(lines.join(&b'\n'));
    digest.truncate(16);
    digest
}

/// Returns a block with its markers.
pub(crate) fn marked(lines: &[&[u8]], newline: &str) -> Vec<u8> {
    let begin = begin(&digest(lines));
    [begin.as_bytes()]
        .into_iter()
        .chain(lines.iter().copied())
        .chain([END.as_bytes()])
        .collect::<Vec<&[u8]>>()
        .join(newline.as_bytes())
}

/// The single pair of markers of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Byte range from the begin marker's line to the end marker's last character.
    pub(crate) whole: Range<usize>,
    /// Byte range of the lines strictly between the markers.
    pub(crate) inside: Range<usize>,
    /// Line number of the begin marker, counted from 1.
    pub(crate) begin_line: usize,
    /// The hash in the begin marker.
    pub(crate) stated: Option<String>,
}

/// A marker with its position.
struct PlacedMarker {
    marker: BlockMarker,
    line: usize,
    start: usize,
    /// Offset after the marker, before its line ending.
    end: usize,
    /// Offset of the next line.
    next: usize,
    is_code: bool,
}

impl Span {
    /// Returns whether `text` has a marker outside code, even a malformed one.
    pub(crate) fn has_markers(text: &str) -> bool {
        markers(text).iter().any(|found| !found.is_code)
    }

    /// Returns whether the text between the markers is not the one that was generated.
    pub(crate) fn is_edited(&self, bytes: &[u8]) -> bool {
        let lines = normalised_lines(&bytes[self.inside.clone()]);
        self.stated.as_deref() != Some(&digest(&lines))
    }

    /// Finds the pair of markers in `text`; `None` without any marker, an error if they are malformed.
    pub(crate) fn find(text: &str, path: &Path) -> Result<Option<Self>> {
        let hint = "shorten it: an agent reads all of it in every session";
        Outline::check_whole(text, path, hint)?;
        let markers = markers(text);
        let about = |reason: &str, is_affected: fn(&PlacedMarker) -> bool| {
            let lines: Vec<usize> =
                markers.iter().filter(|marker| is_affected(marker)).map(|one| one.line).collect();
            (!lines.is_empty()).then(|| refused(reason, &lines, path))
        };
        let damaged = "a marker of the block is damaged or of an unknown version";
        let problem = about("a marker of the block is inside code", |one| one.is_code)
            .or_else(|| about(damaged, |one| one.marker == BlockMarker::Damaged));
        if let Some(error) = problem {
            return Err(error);
        }
        match markers.as_slice() {
            [] => Ok(None),
            [
                PlacedMarker { marker: BlockMarker::Begin(stated), .. },
                PlacedMarker { marker: BlockMarker::End, .. },
            ] => Ok(Some(Self {
                whole: markers[0].start..markers[1].end,
                inside: markers[0].next..markers[1].start,
                begin_line: markers[0].line,
                stated: stated.clone(),
            })),
            all => {
                let lines: Vec<usize> = all.iter().map(|one| one.line).collect();
                Err(refused("the markers of the block are unbalanced or duplicated", &lines, path))
            }
        }
    }
}

/// Returns the offset after a begin marker that is the only marker of a text, and its hash.
fn unclosed(text: &str) -> Option<(usize, String)> {
    match markers(text).as_slice() {
        [PlacedMarker { marker: BlockMarker::Begin(Some(stated)), is_code: false, next, .. }] => {
            Some((*next, stated.clone()))
        }
        _ => None,
    }
}

fn refused(reason: &str, lines: &[usize], path: &Path) -> Error {
    let mut named: Vec<String> = lines.iter().take(10).map(usize::to_string).collect();
    if lines.len() > named.len() {
        named.push("\u{2026}".to_owned());
    }
    let word = pluralize(lines.len(), "line");
    Error::refused(format!("{reason} ({word} {})", named.join(", ")))
        .at(path, lines.first().copied())
        .hint("leave one begin and one end marker outside code, or remove them all to regenerate the block")
}

fn markers(text: &str) -> Vec<PlacedMarker> {
    // A byte order mark is part of no line, neither of a marker nor of a fence.
    let head = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut found = Vec::new();
    let mut next = head;
    for (index, line) in text[head..].split_inclusive('\n').enumerate() {
        let start = next;
        next += line.len();
        if let Some(marker) = BlockMarker::from_line(line) {
            let indent = &line[..line.len() - line.trim_start().len()];
            found.push(PlacedMarker {
                marker,
                line: index + 1,
                start,
                end: start + line.trim_end().len(),
                next,
                // A line indented by four columns is code in markdown, even a comment.
                is_code: indent.len() > 3 || indent.contains('\t'),
            });
        }
    }
    if found.is_empty() {
        return found;
    }
    let outline = Outline::parse(text, head);
    for code in
        outline.blocks(&(0..text.len())).iter().filter(|block| block.content == BlockContent::Code)
    {
        found
            .iter_mut()
            .filter(|marker| code.range.contains(&marker.start))
            .for_each(|marker| marker.is_code = true);
    }
    found
}

/// Returns the bytes as text, with each byte of invalid UTF-8 replaced by `?`, so that offsets stay the same.
pub(crate) fn readable(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    Cow::Owned(text)
}

/// Returns the line number, counted from 1, of a conflict that contains a marker of the block or begins inside it. Above
/// the block, a line like the begin of a conflict is text, unless the other lines of one follow.
pub(crate) fn conflict_in_block(text: &str) -> Option<usize> {
    let (mut begin, mut is_divided, mut has_marker) = (0, false, false);
    let mut is_inside = false;
    for (index, line) in text.lines().enumerate() {
        let marker = BlockMarker::from_line(line);
        if line.starts_with("<<<<<<< ") {
            (begin, is_divided, has_marker) = (index + 1, false, false);
        }
        is_divided |= line == "=======";
        has_marker |= marker.is_some();
        let is_whole = is_divided && has_marker && line.starts_with(">>>>>>> ");
        if begin > 0 && (is_whole || is_inside && begin == index + 1) {
            return Some(begin);
        }
        if line.starts_with(">>>>>>> ") {
            begin = 0;
        }
        is_inside = match marker {
            Some(BlockMarker::Begin(_)) => true,
            Some(BlockMarker::End) => false,
            _ => is_inside,
        };
    }
    None
}

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
    let lines = normalised_lines(inside);
    let around = [before, after].into_iter().flat_map(|text| text.split(|byte| *byte == b'\n'));
    let mut present: HashSet<&[u8]> =
        new.iter().copied().chain(around).map(<[u8]>::trim_ascii).chain([&b""[..]]).collect();
    let ranges = match (generated, span.stated.as_deref()) {
        (Some(generated), _) if lines.len() <= MAX_LINES => Some(added(generated, &lines)),
        (None, Some(stated)) if lines.len() <= MAX_RUN_LINES => added_run(&lines, stated),
        _ => None,
    };
    let Some(ranges) = ranges else {
        let lost: Vec<&[u8]> =
            lines.iter().filter(|line| !present.contains(line.trim_ascii())).copied().collect();
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
        let added: Vec<&[u8]> = raw[first + range.start..first + range.end]
            .iter()
            .filter(|line| !is_own(&readable(line)))
            .copied()
            .collect();
        let added = without_edges(&added);
        if added.iter().filter(|line| present.insert(line.trim_ascii())).count() > 0 {
            count += added.iter().filter(|line| !is_blank(line)).count();
            moved.extend(newline.repeat(2).into_bytes());
            moved.extend(without_newline(&added.concat()));
        }
    }
    let message = (count > 0)
        .then(|| format!("{} added to the block by hand, kept below it", quantity(count, "line")));
    let block = marked(new, newline);
    (Cow::Owned([before, &block, &moved, after].concat()), message)
}

/// Returns the lines that are not in the generated text.
fn added(generated: &[u8], lines: &[&[u8]]) -> Vec<Range<usize>> {
    capture_diff_slices(Algorithm::Myers, &normalised_lines(generated), lines)
        .iter()
        .filter(|change| matches!(change.tag(), DiffTag::Insert | DiffTag::Replace))
        .map(similar::DiffOp::new_range)
        .collect()
}

/// Returns the run of lines without which the others have the digest.
fn added_run(lines: &[&[u8]], stated: &str) -> Option<Vec<Range<usize>>> {
    let count = lines.len();
    let mut runs = (0..count).flat_map(|start| (start + 1..=count).map(move |end| start..end));
    let found = runs.find(|run| {
        let left = [&lines[..run.start], &lines[run.end..]].concat();
        digest(without_edges(&left)) == stated
    })?;
    Some(vec![found])
}

/// Lists the first lines of a lost edit.
fn lost_summary(lost: &[&[u8]]) -> String {
    let named = join(lost.iter().take(MAX_NAMED_LINES).map(|line| quoted(line)), ", ");
    match lost.len().saturating_sub(MAX_NAMED_LINES) {
        0 => format!("lost: {named}"),
        more => format!("lost: {named} and {}", quantity(more, "more line")),
    }
}

/// Returns a line as it is quoted in a message.
fn quoted(line: &[u8]) -> String {
    format!("\"{}\"", clip(&strip_controls(&readable(line)), MAX_LINE_CHARS))
}

fn without_newline(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// Number of commits searched: an older block would not help to identify later additions.
const MAX_COMMITS: usize = 50;

/// Returns a file with the end marker that was lost, and what there is to say about it. It goes below the last generated
/// line if all of them are there, whatever was added between them except a heading; else, as where another generator cut it off together
/// with a section, above the first line that was not generated. Any other file is returned unchanged.
pub(crate) fn with_end<'a>(
    project: &Project,
    path: &Path,
    bytes: &'a [u8],
) -> Result<(Cow<'a, [u8]>, Option<String>)> {
    let Some((start, stated)) = unclosed(&readable(bytes)) else {
        return Ok((Cow::Borrowed(bytes), None));
    };
    let Some(block) = find_block(project, path, &stated)? else {
        return Ok((Cow::Borrowed(bytes), None));
    };
    let generated = normalised_lines(&block);
    let mut expected = generated.iter().filter(|line| !line.is_empty()).peekable();
    let (mut at, mut end, mut is_first_run) = (start, start, true);
    for line in bytes[start..].split_inclusive(|byte| *byte == b'\n') {
        let bare = line.trim_ascii_end();
        // What stands below the user's own heading is theirs, even if it says the same.
        if bare.starts_with(b"#") && !generated.contains(&bare) {
            break;
        }
        at += line.len();
        if expected.next_if(|next| **next == bare).is_some() && expected.peek().is_none() {
            end = at;
            break;
        }
        is_first_run &= bare.is_empty() || generated.contains(&bare);
        // The heading above foreign lines is theirs.
        if is_first_run && !bare.is_empty() && !bare.starts_with(b"## ") {
            end = at;
        }
    }
    let mut below = bytes[end..].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    let first = below.clone().find(|line| !line.is_empty()).unwrap_or_default();
    let is_old =
        |line: &[u8]| !line.is_empty() && !line.starts_with(b"## ") && generated.contains(&line);
    let message = (expected.peek().is_some() && below.any(is_old)).then(|| {
        format!(
            "the end marker of the block was missing; what is kept below it from the line {} on may be old: delete what \
             the block says",
            quoted(first)
        )
    });
    let bytes = [&bytes[..end], END.as_bytes(), b"\n", &bytes[end..]].concat();
    Ok((Cow::Owned(bytes), message))
}

/// Returns the block with this digest from an earlier version of the file: in the undo history, or in git.
pub(crate) fn find_block(project: &Project, path: &Path, stated: &str) -> Result<Option<Vec<u8>>> {
    let block = |bytes: &[u8]| block_with_digest(bytes, path, stated);
    if let Some(recorded) = project.storage().history().find_written(path, block)? {
        return Ok(Some(recorded));
    }
    let Some(relative) = in_git(project, path) else { return Ok(None) };
    let versions: Vec<String> = project
        .git
        .newest_commits(MAX_COMMITS)?
        .iter()
        .map(|commit| format!("{}:{relative}", commit.hash))
        .collect();
    Ok(project.git.contents(&versions)?.into_iter().flatten().find_map(|bytes| block(&bytes)))
}

/// Returns the path of a file from the top of its repository.
fn in_git(project: &Project, path: &Path) -> Option<String> {
    project.git.top().and_then(|top| path.strip_prefix(top).ok()).map(slashed)
}

/// Returns a file whose merge conflict is only about generated text, with one side's block; the other lines stay. The
/// blocks of both sides must be as they were generated, and nothing else may be in conflict.
pub(crate) fn without_conflict(
    project: &Project,
    path: &Path,
    bytes: &[u8],
) -> Result<Option<Vec<u8>>> {
    let Some(relative) = in_git(project, path) else { return Ok(None) };
    // Git's index has both sides until the conflict is resolved.
    let sides = project.git.contents(&[2, 3].map(|stage| format!(":{stage}:{relative}")))?;
    let [Some(ours), Some(theirs)] = sides.as_slice() else { return Ok(None) };
    let (Some(ours), Some(theirs)) = (unedited_lines(ours, path), unedited_lines(theirs, path))
    else {
        return Ok(None);
    };
    let span = |bytes: &[u8]| Span::find(&readable(bytes), path).ok().flatten();
    let merged = [true, false].map(|is_ours| read::one_side(bytes, is_ours));
    let [Some(first), Some(second)] = [span(&merged[0]), span(&merged[1])] else {
        return Ok(None);
    };
    let [before, after] = [&merged[0][..first.whole.start], &merged[0][first.whole.end..]];
    let around = [&merged[1][..second.whole.start], &merged[1][second.whole.end..]];
    let is_whole = around == [before, after] && bytes.starts_with(before) && bytes.ends_with(after);
    let generated: HashSet<&[u8]> = ours.iter().chain(&theirs).copied().collect();
    let inside = [&merged[0][first.inside], &merged[1][second.inside]];
    let is_generated = inside
        .into_iter()
        .flat_map(normalised_lines)
        .all(|line| line.is_empty() || generated.contains(line));
    Ok((is_whole && is_generated)
        .then(|| [before, &marked(&ours, line_end(bytes)), after].concat()))
}

/// Returns the lines of a file's block, if they are as they were generated.
fn unedited_lines<'a>(bytes: &'a [u8], path: &Path) -> Option<Vec<&'a [u8]>> {
    let span = Span::find(&readable(bytes), path).ok().flatten()?;
    (!span.is_edited(bytes)).then(|| normalised_lines(&bytes[span.inside]))
}

/// Returns the text between the markers of a version, if it has this digest.
///
/// A version with invalid markers has no block.
fn block_with_digest(bytes: &[u8], path: &Path, stated: &str) -> Option<Vec<u8>> {
    let span = Span::find(&readable(bytes), path).ok().flatten()?;
    let block = &bytes[span.inside];
    (digest(&normalised_lines(block)) == stated).then(|| block.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_whole_lines() {
        let hashed = |hash: &str| Some(BlockMarker::Begin(Some(hash.to_owned())));
        for (line, expected) in [
            ("<!-- annals:begin v1 sha256=ab12 -->", hashed("ab12")),
            ("  <!--annals:begin  v1  sha256=ab12-->\r", hashed("ab12")),
            ("<!-- annals:begin v1 sha256=ab12 (edit outside) -->", hashed("ab12")),
            ("<!-- annals:begin v1 -->", Some(BlockMarker::Begin(None))),
            ("<!-- annals:end -->", Some(BlockMarker::End)),
            ("<!-- annals:begin v2 sha256=ab12 -->", Some(BlockMarker::Damaged)),
            ("<!-- annals:begin v1 sha256=ab12", Some(BlockMarker::Damaged)),
            ("<!-- annals:end --> text", Some(BlockMarker::Damaged)),
            ("<!-- annals:end --> -->", Some(BlockMarker::Damaged)),
            ("<!-- annals:ending -->", None),
            ("<!-- annals: phase-dir=01 -->", None),
            ("text <!-- annals:end -->", None),
            ("`<!-- annals:end -->`", None),
            ("", None),
        ] {
            assert_eq!(BlockMarker::from_line(line), expected, "{line:?}");
        }
        assert_eq!(BlockMarker::from_line(&begin("ab12")), hashed("ab12"));
        assert_eq!(BlockMarker::from_line(END), Some(BlockMarker::End));
    }

    #[test]
    fn formatting_does_not_change_the_hash() {
        let hash = |text: &str| digest(&normalised_lines(text.as_bytes()));
        assert_eq!(hash("# a\n\nb\n"), "079a929639f8ea92");
        assert_eq!(hash("# a\n\nb\n"), hash("\r\n# a  \r\n\t\r\nb\r\n\r\n"));
        assert_ne!(hash("# a\n\nb\n"), hash("# a\nb\n"));
        assert_ne!(hash("# a\n"), hash(" # a\n"));
        assert_eq!(hash(""), hash("\n\n"));
    }
}

#[cfg(test)]
mod span_tests {
    use proptest::prelude::*;

    use super::*;

    const BEGIN: &str = "<!-- annals:begin v1 sha256=ab -->";
    const END: &str = "<!-- annals:end -->";

    fn message(text: &str) -> String {
        let text = text.replace("BEGIN", BEGIN).replace("END", END);
        let error = Span::find(&text, Path::new("CLAUDE.md")).unwrap_err();
        assert_eq!(error.kind, crate::error::ErrorKind::Refused);
        error.to_string()
    }

    #[test]
    fn finds_the_text_between_the_markers() {
        let text = format!("a\r\n{BEGIN}\r\n# b\r\nc\r\n {END} \r\nd");
        let span = Span::find(&text, Path::new("x")).unwrap().unwrap();
        assert_eq!(&text[span.inside], "# b\r\nc\r\n");
        assert_eq!(&text[span.whole.end..], " \r\nd");
        assert_eq!(&text[..span.whole.start], "a\r\n");
        assert_eq!((span.begin_line, span.stated.as_deref()), (2, Some("ab")));
        assert_eq!(Span::find("a\n```\nb\n", Path::new("x")).unwrap(), None);
    }

    #[test]
    fn errors_name_the_lines_of_the_markers() {
        let duplicated = "CLAUDE.md:1: the markers of the block are unbalanced or duplicated";
        for (text, expected) in [
            ("BEGIN\na\n", format!("{duplicated} (line 1)")),
            ("BEGIN\nEND\n\nBEGIN\nEND\n", format!("{duplicated} (lines 1, 2, 4, 5)")),
            ("BEGIN\nBEGIN\nEND\n", format!("{duplicated} (lines 1, 2, 3)")),
            ("END\nBEGIN\n", format!("{duplicated} (lines 1, 2)")),
            ("END\nEND\n", format!("{duplicated} (lines 1, 2)")),
            (
                "a\n```md\nBEGIN\n```\nEND\n",
                "CLAUDE.md:3: a marker of the block is inside code (line 3)".into(),
            ),
            (
                "- a\n  ~~~\n  BEGIN\n  END\n  ~~~\n",
                "CLAUDE.md:3: a marker of the block is inside code (lines 3, 4)".into(),
            ),
            (
                "\u{feff}```\nBEGIN\n```\n",
                "CLAUDE.md:2: a marker of the block is inside code (line 2)".into(),
            ),
            (
                "BEGIN\n```\nEND\n",
                "CLAUDE.md:3: a marker of the block is inside code (line 3)".into(),
            ),
            (
                "a\n\n    BEGIN\n",
                "CLAUDE.md:3: a marker of the block is inside code (line 3)".into(),
            ),
            (
                "<!-- annals:begin v2 -->\nEND\n",
                "CLAUDE.md:1: a marker of the block is damaged or of an unknown version (line 1)"
                    .into(),
            ),
        ] {
            assert_eq!(message(text), expected, "{text:?}");
        }
    }

    #[test]
    fn only_a_conflict_that_touches_the_block_counts() {
        const BEGIN: &str = "<!-- annals:begin v1 sha256=ab -->\n";
        const END: &str = "<!-- annals:end -->\n";
        const CONFLICT: &str = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n";
        for (text, expected) in [
            (format!("{CONFLICT}{BEGIN}x\n{END}"), None),
            (format!("{BEGIN}x\n{END}{CONFLICT}"), None),
            (format!("{BEGIN}x\n{CONFLICT}{END}"), Some(3)),
            (format!("{BEGIN}a\n=======\nb\n{END}"), None),
            (format!("<<<<<<< text\n{BEGIN}=======\n{END}"), None),
            (format!("<<<<<<< text\n{BEGIN}x\n{END}>>>>>>> text\n"), None),
            (format!("{BEGIN}x\n<<<<<<< ours\n{END}"), Some(3)),
            (format!("x\n<<<<<<< ours\n{BEGIN}=======\n{BEGIN}>>>>>>> theirs\n{END}"), Some(2)),
        ] {
            assert_eq!(conflict_in_block(&text), expected, "{text}");
        }
    }

    #[test]
    fn latin_1_keeps_its_length() {
        assert_eq!(readable(b"caf\xe9 \xe2\x82"), "caf? ??");
        assert!(matches!(readable("café".as_bytes()), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn every_newline_keeps_its_offset(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let text = readable(&bytes);
            prop_assert_eq!(text.len(), bytes.len());
            for (byte, shown) in bytes.iter().zip(text.bytes()) {
                prop_assert_eq!(*byte == b'\n', shown == b'\n');
            }
        }
    }
}

#[cfg(test)]
mod edited_tests {
    use std::path::Path;

    use super::*;

    const BLOCK: &str = "# shop\n\n- one\n- two\n\n## End\n";
    const OTHER: &str = "# shop\n\n- two\n";

    fn lines(text: &str) -> Vec<&[u8]> {
        normalised_lines(text.as_bytes())
    }

    fn framed(block: &str) -> String {
        String::from_utf8(marked(&lines(block), "\n")).unwrap()
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
        let expected = "3 lines added to the block by hand, kept below it";
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
        let expected = "2 lines added to the block by hand, kept below it";
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
