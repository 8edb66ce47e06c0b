//! Separates annals' block in a context file from the user's text, and from the sections that a workflow's own generator
//! wrote.
//!
//! Works on bytes: text outside the block may have any encoding and any line endings, and is kept unchanged. The forms of
//! the generator's lines stand in `templates/layouts/`, with values in braces. A section is taken out only if every line of
//! it has such a form, and what it says is in the block or in the stores that the block is generated from. If a line has
//! none, the section stays, and the line is named.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use crate::claude_md::block;
use crate::claude_md::block::{Span, readable};
use crate::error::{Error, Result};
use crate::markdown::{FrontMatter, Outline, Section};
use crate::patterns::Patterns;
use crate::plan::{Archive, Decision, StatusReport, Survey, without_emphasis};
use crate::project::{GeneratedSection, Layout, LayoutName, Project, vocabulary};
use crate::storage::read;
use crate::text::{
    BYTE_ORDER_MARK, clip, fold, is_absent, join, line_end, non_placeholder, words_in,
};
use crate::warning::Warning;

/// A context file, split into the block and the user's text.
#[derive(Clone, Debug)]
pub(crate) struct ContextFile<'a> {
    path: &'a Path,
    existing: &'a [u8],
    /// Byte offset at which the user's text starts, after a byte order mark and front matter.
    start: usize,
    /// The user's bytes before the block.
    before: Cow<'a, [u8]>,
    block: Option<Span>,
    /// The user's bytes after the block.
    after: Cow<'a, [u8]>,
    newline: &'static str,
    /// What there is to say about sections that another generator wrote.
    pub(crate) warnings: Vec<Warning>,
}

impl<'a> ContextFile<'a> {
    /// Splits a file; an error if its markers are ambiguous.
    ///
    /// Sections outside the block that a planning tool's own generator wrote, and that say what is `known`, are taken
    /// out.
    pub(crate) fn parse(existing: &'a [u8], path: &'a Path, known: &Recorded<'_>) -> Result<Self> {
        let text = readable(existing);
        let start = start(&text, path);
        let block = Span::find(&text, path)?;
        let range = block.as_ref().map(|span| span.whole.clone());
        let (ranges, warnings) = find(&text, start, range.as_ref(), path, known);
        let range = range.unwrap_or(start..start);
        Ok(Self {
            path,
            existing,
            start,
            before: without(&existing[..range.start], 0, &ranges),
            block,
            after: without(&existing[range.end..], range.end, &ranges),
            newline: line_end(existing),
            warnings,
        })
    }

    /// Returns whether the user's own text has a title, a heading of level one.
    pub(crate) fn has_title(&self, title: &str) -> bool {
        let before = self.before.get(self.start..).unwrap_or_default();
        [before, &self.after].into_iter().any(|own| {
            let own = readable(own);
            let outline = Outline::parse_beginning(&own, 0);
            outline
                .sections()
                .iter()
                .any(|section| section.level == 1 && fold(&section.title) == fold(title))
        })
    }

    /// Returns whether the block is not as it was generated.
    pub(crate) fn has_edited_block(&self) -> bool {
        self.block.as_ref().is_some_and(|span| span.is_edited(self.existing))
    }

    /// Returns the number of lines of the file with this block in it, including markers.
    pub(crate) fn lines_with(&self, block: &str) -> usize {
        let bytes = self.assemble(&block::normalised_lines(block.as_bytes()));
        readable(&bytes).lines().count()
    }

    /// Returns the file with the new block; the same bytes if it has that block.
    pub(crate) fn with_block(&self, block: &str) -> Result<Vec<u8>> {
        let lines = block::normalised_lines(block.as_bytes());
        let bytes = self.assemble(&lines);
        let span = Span::find(&readable(&bytes), self.path).ok().flatten();
        if span.is_some_and(|span| block::normalised_lines(&bytes[span.inside]) == lines) {
            return Ok(bytes);
        }
        Err(Error::failed(
            "the block was not written, because it could not be found again at this place",
        )
        .about(self.path))
    }

    /// Returns the file without the block and the blank lines that separated it.
    pub(crate) fn without_block(&self) -> Vec<u8> {
        let is_first = self.block.is_some() && self.before.len() == self.start;
        let gap = self.after.iter().take_while(|byte| is_first && b"\r\n".contains(byte)).count();
        [&self.before, &self.after[gap..]].concat()
    }

    fn assemble(&self, lines: &[&[u8]]) -> Vec<u8> {
        let new = block::marked(lines, self.newline);
        let Some(span) = &self.block else {
            let ends_line = self.before.is_empty()
                || self.before.ends_with(b"\n")
                || *self.before == *BYTE_ORDER_MARK;
            let gap = if ends_line { "" } else { self.newline };
            return [&self.before, gap.as_bytes(), &new, self.separator().as_bytes(), &self.after]
                .concat();
        };
        let inside = block::normalised_lines(&self.existing[span.inside.clone()]);
        let is_current = inside == lines && !span.is_edited(self.existing);
        let block = if is_current { &self.existing[span.whole.clone()] } else { &new };
        [&self.before, block, &self.after].concat()
    }

    /// Returns the separator between a new block and the text below it; the file ends as before.
    fn separator(&self) -> String {
        if self.after.is_empty() {
            let lacks_newline = !self.existing.is_empty() && !self.existing.ends_with(b"\n");
            return if lacks_newline { "" } else { self.newline }.to_owned();
        }
        let starts_with_blank = self.after.starts_with(b"\n") || self.after.starts_with(b"\r\n");
        self.newline.repeat(if starts_with_blank { 1 } else { 2 })
    }
}

/// Returns the offset of the user's text: front matter must stay at the start of the file.
fn start(text: &str, path: &Path) -> usize {
    let head = BYTE_ORDER_MARK.len() * usize::from(text.starts_with('\u{feff}'));
    let front_matter = FrontMatter::parse(text, path).value;
    if front_matter.range.start == head && !front_matter.is_empty() {
        front_matter.range.end
    } else {
        head
    }
}

/// Maximum length of a quoted line in a warning, in characters.
const MAX_LINE_CHARS: usize = 60;

/// What the block or its stores already say, so that it may be taken out of the rest of the file.
#[derive(Debug, Default)]
pub struct Recorded<'a> {
    /// The project's name.
    pub project: &'a str,
    /// The core value.
    pub core_value: Option<&'a str>,
    /// The command that the block names as the next action.
    pub next_action: Option<&'a str>,
    /// What the workflow's generator writes.
    pub sections: &'a [GeneratedSection],
    /// The display name of the workflow.
    pub brand: &'a str,
    /// All decisions by their folded text.
    pub decisions: HashMap<String, &'a Decision>,
    /// The names of all skills.
    pub skills: HashSet<&'a str>,
    /// All patterns, folded and without their source.
    pub patterns: HashSet<String>,
    /// The words of each archived milestone's name and SHIPPED.md.
    pub shipped: Vec<HashSet<String>>,
}

impl<'a> Recorded<'a> {
    /// Takes what the planning folder and PATTERNS.md of a project record.
    pub(crate) fn new(
        project: &'a Project,
        survey: &'a Survey,
        status: &'a StatusReport,
        patterns: &Patterns,
    ) -> Self {
        let decisions = survey.state.decisions.iter().chain(&survey.project_file.decisions);
        let archived = survey.folder.archived.iter();
        let page = |archive: &Archive| {
            let path = archive.dir.as_ref()?.join(vocabulary::SHIPPED);
            Some(read::text(&path).ok()??.value)
        };
        Self {
            project: &status.project,
            core_value: survey.core_value(),
            next_action: Some(&status.next.command),
            decisions: decisions.map(|decision| (fold(&decision.text), decision)).collect(),
            skills: status.skills.iter().map(|skill| skill.name.as_str()).collect(),
            patterns: patterns.texts().map(without_source).collect(),
            shipped: archived
                .map(|one| words(&format!("{} {}", one.slug, page(one).unwrap_or_default())))
                .collect(),
            ..Self::in_layout(&project.planning_place().layout)
        }
    }

    /// Takes the forms of a workflow's generator.
    pub fn in_layout(layout: &'a Layout) -> Self {
        Self { sections: &layout.generated, brand: &layout.brand, ..Self::default() }
    }

    /// Returns whether a line is the heading of one of the generator's sections.
    pub(crate) fn is_heading(&self, line: &str) -> bool {
        line.trim_end().strip_prefix("## ").is_some_and(|title| self.section(title).is_some())
    }

    fn section(&self, title: &str) -> Option<&'a GeneratedSection> {
        self.sections.iter().find(|section| section.titles.iter().any(|own| own == title))
    }

    /// Returns whether a line has one of the forms, and what it says is recorded.
    fn has_form(&self, line: &str, forms: &[String]) -> bool {
        forms.iter().any(|form| {
            let mut values = Vec::new();
            captured(form, line, &mut values) && self.is_recorded(&values)
        })
    }

    /// Returns whether the values of a line are recorded elsewhere, each by its kind.
    fn is_recorded(&self, values: &[(&str, &str)]) -> bool {
        let mut decision = None;
        values.iter().all(|(kind, value)| match *kind {
            "phase" => is_phase(value),
            "command" => {
                is_absent(value) || LayoutName::prefixes().any(|prefix| value.contains(prefix))
            }
            "shipped" => is_absent(value) || self.is_shipped(value),
            "skill" => self.skills.contains(value),
            "pattern" => is_absent(value) || self.patterns.contains(&without_source(value)),
            "decision" => {
                decision = self.decisions.get(&fold(value));
                decision.is_some() || is_absent(value)
            }
            "reason" => non_placeholder(value).is_none_or(|reason| {
                decision
                    .and_then(|decision| decision.rationale.as_deref())
                    .is_some_and(|known| fold(known) == fold(reason))
            }),
            _ => true,
        })
    }

    /// Returns whether the name and the SHIPPED.md of one milestone contain every word and number of a text.
    fn is_shipped(&self, text: &str) -> bool {
        let all = words(text);
        !all.is_empty() && self.shipped.iter().any(|page| all.is_subset(page))
    }
}

/// Returns the words of a text, for comparison with those of a SHIPPED.md.
fn words(text: &str) -> HashSet<String> {
    words_in(text).map(str::to_lowercase).collect()
}

/// Returns a pattern folded and without its source or mark in brackets, for comparison.
fn without_source(pattern: &str) -> String {
    let pattern = pattern.trim();
    let bare = pattern
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" ("))
        .map_or(pattern, |(bare, _)| bare);
    fold(bare)
}

/// Matches a line against a form, and collects the values that stand for its braces, with their kinds.
fn captured<'a>(form: &'a str, line: &'a str, values: &mut Vec<(&'a str, &'a str)>) -> bool {
    let Some((literal, rest)) = form.split_once('{') else {
        return form == line;
    };
    let (Some(line), Some((kind, after))) = (line.strip_prefix(literal), rest.split_once('}'))
    else {
        return false;
    };
    let next = after.split('{').next().unwrap_or_default();
    let ends = if next.is_empty() {
        vec![line.len()]
    } else {
        line.match_indices(next).map(|(at, _)| at).collect()
    };
    ends.into_iter().rev().any(|end| {
        values.push((kind, line[..end].trim()));
        captured(after, &line[end..], values) || values.pop().is_none()
    })
}

/// Returns whether a line has one of the forms, whatever it says.
fn has_shape(line: &str, forms: &[String]) -> bool {
    forms.iter().any(|form| captured(form, line, &mut Vec::new()))
}

/// Returns whether a value has the form `2 - Name (status)` or is a placeholder.
fn is_phase(value: &str) -> bool {
    let (number, rest) = value.split_once(" - ").unwrap_or_default();
    is_absent(value)
        || number.starts_with(|c: char| c.is_ascii_digit())
            && !number.contains(' ')
            && rest.ends_with(')')
}

/// Finds the generator's sections in `text` from byte `start`, outside of the block if there is one. Returns the byte ranges
/// to take out, in file order, and one warning for all of them, and one for all sections that stay for the same reason.
fn find(
    text: &str,
    start: usize,
    block: Option<&Range<usize>>,
    path: &Path,
    known: &Recorded<'_>,
) -> (Vec<Range<usize>>, Vec<Warning>) {
    let outline = Outline::parse(text, start);
    let mut ranges = Vec::new();
    let (mut taken, mut unrecorded) = (Vec::new(), Vec::new());
    let mut left: Vec<(bool, Warning)> = Vec::new();
    if block.is_none() {
        ranges.extend(head(&outline, start, known));
    }
    for section in outline.sections() {
        let Some((heading, forms)) = whole_line(text, section).and_then(|line| {
            let title = line.strip_prefix("## ")?;
            Some((line, &known.section(title)?.lines))
        }) else {
            continue;
        };
        let range = outside(without_rule(text, section), block);
        let lines = text[range.clone()]
            .lines()
            .skip(1)
            .map(str::trim_end)
            .enumerate()
            .filter(|(_, line)| !line.is_empty());
        let (own, foreign): (Vec<_>, Vec<_>) =
            lines.partition(|(_, line)| known.has_form(line, forms));
        // Without any line of the generator's, the section is the user's own.
        let action = other_action(&text[range.clone()], known);
        let (at, said, message) = match (own.first(), foreign.first(), action) {
            (Some(_), None, _) => {
                taken.push((section.line, heading));
                ranges.push(range);
                continue;
            }
            (Some(_), Some((below, line)), action) => {
                let line = clip(line, MAX_LINE_CHARS);
                let differs = action.map_or(String::new(), |action| {
                    format!(", with another next action ({action})")
                });
                let message = format!(
                    "\"{heading}\" stands beside the block{differs}, because this line is recorded nowhere else: \
                     {line}; move it elsewhere and delete the section"
                );
                (section.line + 1 + below, line, message)
            }
            (None, _, Some(action)) => {
                let message =
                    format!("\"{heading}\" names another next action than the block: {action}");
                (section.line, action, message)
            }
            (None, Some(_), None) if foreign.iter().all(|(_, line)| has_shape(line, forms)) => {
                unrecorded.push((section.line, heading));
                continue;
            }
            (None, _, None) => continue,
        };
        match left.iter_mut().find(|(is_users, _)| *is_users == own.is_empty()) {
            Some((_, first)) => {
                first.message.push_str(&format!("; likewise \"{heading}\" (line {at}: {said})"));
            }
            None => left.push((own.is_empty(), Warning::at(path, at, message))),
        }
    }
    let mut warnings: Vec<Warning> = left.into_iter().map(|(_, warning)| warning).collect();
    let about = |sections: &[(usize, &str)], what: &str| {
        let (line, _) = sections.first()?;
        let titles = join(sections.iter().map(|(_, title)| format!("\"{title}\"")), ", ");
        Some(Warning::at(path, *line, format!("{titles}: {what}")))
    };
    if !taken.is_empty() {
        // Only once: from the next run on, they are sections of the user's like any other.
        let what = "left as your own, because none of it is recorded elsewhere";
        warnings.extend(about(&unrecorded, what));
        let brand = known.brand;
        let what = format!("written by {brand}, replaced by the block; `annals undo` restores it");
        warnings.splice(0..0, about(&taken, &what));
    }
    (ranges, warnings)
}

/// Returns the part of a range that is not in the block.
fn outside(range: Range<usize>, block: Option<&Range<usize>>) -> Range<usize> {
    match block {
        Some(block) if block.contains(&range.start) => range.start..range.start,
        Some(block) if range.start < block.start => range.start..range.end.min(block.start),
        _ => range,
    }
}

/// Returns the next action that a section states, if the block states another.
fn other_action<'t>(section: &'t str, known: &Recorded<'_>) -> Option<Cow<'t, str>> {
    let stated = section.lines().find_map(|line| line.strip_prefix("**Next action:**"))?.trim();
    let own = known.next_action.unwrap_or_default();
    (!is_absent(stated) && !stated.contains(own)).then(|| clip(stated, MAX_LINE_CHARS))
}

/// Returns the bytes, which begin at offset `start` of their file, without `ranges`.
fn without<'a>(bytes: &'a [u8], start: usize, ranges: &[Range<usize>]) -> Cow<'a, [u8]> {
    let end = start + bytes.len();
    let ranges =
        ranges.iter().filter(|range| !range.is_empty() && start <= range.start && range.end <= end);
    let mut kept = Vec::new();
    let mut from = 0;
    for range in ranges {
        kept.extend_from_slice(&bytes[from..range.start - start]);
        from = range.end - start;
    }
    if from == 0 {
        return Cow::Borrowed(bytes);
    }
    kept.extend_from_slice(&bytes[from..]);
    if from == bytes.len() {
        restore_line_end(&mut kept, bytes);
    }
    Cow::Owned(kept)
}

/// Removes the blank lines before a removed last section, so that the file ends as before.
fn restore_line_end(kept: &mut Vec<u8>, bytes: &[u8]) {
    let text = kept.trim_ascii_end().len();
    let tail = &kept[text..];
    let spaces = tail.iter().take_while(|byte| !b"\r\n".contains(byte));
    let line_end = text + spaces.count();
    let newline = kept[line_end..].iter().position(|byte| *byte == b'\n');
    let end = match newline {
        Some(at) if bytes.ends_with(b"\n") => line_end + at + 1,
        _ if text == 0 => 0,
        _ => line_end,
    };
    kept.truncate(end);
}

/// Returns the range of the title and core value that the generator writes first, if they are the only text before the
/// first section, and the block says them.
fn head(outline: &Outline<'_>, start: usize, known: &Recorded<'_>) -> Option<Range<usize>> {
    let text = outline.text();
    let section = outline.sections().iter().find(|section| section.level > 0)?;
    let is_at_start = text[start..section.heading.start].trim().is_empty();
    let is_title =
        whole_line(text, section)?.starts_with("# ") && fold(&section.title) == fold(known.project);
    let value =
        without_emphasis(text[section.own.clone()].trim().strip_prefix("**Core value:**")?.trim());
    let is_repeated = !value.contains('\n') && fold(known.core_value?) == fold(value);
    let range = section.heading.start..section.own.end;
    (is_at_start && is_title && is_repeated).then_some(range)
}

/// Returns a heading's line if the heading starts it; not so in a list or a quote.
fn whole_line<'a>(text: &'a str, section: &Section) -> Option<&'a str> {
    let is_line_start =
        text[..section.heading.start].ends_with(['\n', '\u{feff}']) || section.heading.start == 0;
    is_line_start.then(|| text[section.heading.clone()].trim_end())
}

/// Returns a section's byte range up to the first thematic break, which separates the generator's text from
/// what follows.
fn without_rule(text: &str, section: &Section) -> Range<usize> {
    let mut at = section.heading.start;
    for line in text[section.heading.start..section.whole.end].split_inclusive('\n') {
        if line.trim_end() == "---" {
            break;
        }
        at += line.len();
    }
    section.heading.start..at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;
    use crate::plan::Skill;

    const BLOCK: &str = "# shop\n\n**Core value:** sell\n\n## Active Context\n\n**Phase:** 1\n";
    const OTHER: &str = "# shop\n\n**Core value:** sell more\n";

    /// Nothing is known, and no generator is at work.
    fn known() -> &'static Recorded<'static> {
        static NOTHING: std::sync::LazyLock<Recorded<'static>> =
            std::sync::LazyLock::new(Recorded::default);
        &NOTHING
    }

    fn placed(existing: &[u8], block: &str) -> Result<Vec<u8>> {
        ContextFile::parse(existing, Path::new("CLAUDE.md"), known())?.with_block(block)
    }

    fn bytes(existing: &[u8], block: &str) -> Vec<u8> {
        placed(existing, block).unwrap()
    }

    fn text(existing: &str, block: &str) -> String {
        String::from_utf8(bytes(existing.as_bytes(), block)).unwrap()
    }

    fn framed(block: &str) -> String {
        let lines = block::normalised_lines(block.as_bytes());
        String::from_utf8(block::marked(&lines, "\n")).unwrap()
    }

    #[test]
    fn a_new_or_empty_file_is_the_block() {
        let expected = framed(BLOCK) + "\n";
        assert_eq!(text("", BLOCK), expected);
        let file = ContextFile::parse(b"", Path::new("CLAUDE.md"), known()).unwrap();
        assert_eq!(file.lines_with(BLOCK), expected.lines().count());
        assert!(file.block.is_none());
    }

    #[test]
    fn a_first_block_precedes_the_old_text() {
        for old in [
            "own text\n",
            "no final newline",
            "# Title\n\n```\n# comment\n<!-- annals -->\n",
            "\nblank first\n",
            "```\n## Active Context\n```\n",
            "<!-- open comment\n",
        ] {
            let blank = if old.starts_with('\n') { "\n" } else { "\n\n" };
            assert_eq!(text(old, BLOCK), framed(BLOCK) + blank + old);
        }
    }

    #[test]
    fn a_new_block_replaces_the_old_one() {
        let old = format!("above\n\n{}   \nbelow\r\nno end", framed(BLOCK));
        assert_eq!(text(&old, OTHER), format!("above\n\n{}   \nbelow\r\nno end", framed(OTHER)));
        assert_eq!(text(&old, BLOCK), old);
        assert_eq!(text(&framed(BLOCK), OTHER), framed(OTHER));
    }

    #[test]
    fn any_bytes_around_the_block_stay() {
        let latin_1 = b"caf\xe9 \xff\xfe\n\x00";
        let first = bytes(latin_1, BLOCK);
        assert!(first.ends_with(latin_1));
        let second = bytes(&first, OTHER);
        assert!(second.ends_with(latin_1));
        assert!(second.starts_with(framed(OTHER).as_bytes()));
    }

    #[test]
    fn line_endings_follow_the_file() {
        let first = text("one\r\ntwo\r\n", BLOCK);
        assert!(first.ends_with("annals:end -->\r\n\r\none\r\ntwo\r\n"));
        assert_eq!(first.matches('\n').count(), first.matches("\r\n").count());
        assert_eq!(text(&first, BLOCK), first);
        let second = text(&first, OTHER);
        assert_eq!(second.matches('\n').count(), second.matches("\r\n").count());
        assert!(text("one\r\ntwo\nthree\n", BLOCK).starts_with(&framed(BLOCK)));
    }

    #[test]
    fn a_byte_order_mark_and_front_matter_stay_at_the_start() {
        let first = text("\u{feff}# Own\n", BLOCK);
        assert_eq!(first, format!("\u{feff}{}\n\n# Own\n", framed(BLOCK)));
        assert_eq!(text(&first, BLOCK), first);
        let first = text("---\nname: x\n---\n\n# Own\n", BLOCK);
        assert_eq!(first, format!("---\nname: x\n---\n{}\n\n# Own\n", framed(BLOCK)));
        assert!(text("---\n\nAfter a rule.\n", BLOCK).starts_with("<!-- annals:begin"));
        let open = text("---\nname: x\n---", BLOCK);
        assert_eq!(open, format!("---\nname: x\n---\n{}", framed(BLOCK)));
    }

    #[test]
    fn reformatting_the_block_is_not_an_edit() {
        let file = framed(BLOCK) + "\n\nown\n";
        let windows = file.replace('\n', "\r\n");
        assert_eq!(text(&windows, BLOCK), windows);
        let spaced =
            file.replace("-->\n", "-->\n\n").replace("\n<!-- annals:end", "  \n\n<!-- annals:end");
        assert_eq!(text(&spaced, BLOCK), spaced);
        assert!(text(&spaced, OTHER).starts_with(&framed(OTHER)));
    }

    #[test]
    fn duplicate_markers_are_refused() {
        let doubled = format!("{}\n{}\n", framed(BLOCK), framed(BLOCK));
        let error = placed(doubled.as_bytes(), BLOCK).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused);
        assert!(error.to_string().ends_with("(lines 1, 9, 10, 18)"), "{error}");
    }

    #[test]
    fn a_template_cannot_break_out_of_the_block() {
        for block in ["a\n<!-- annals:end -->\nb\n", "```\nopen\n", "<!-- annals:begin v1 -->\n"] {
            let error = placed(b"own\n", block).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Failed);
        }
        assert!(text("own\n", "```\nclosed\n```\n").contains("closed"));
    }

    #[test]
    fn a_title_may_stand_anywhere_in_the_users_text() {
        let has_title = |text: &str| {
            let file = ContextFile::parse(text.as_bytes(), Path::new("x"), known()).unwrap();
            file.has_title("shop")
        };
        let block = framed("# shop\n");
        for (file, expected) in [
            ("\u{feff}\n# Shop\r\n".to_owned(), true),
            ("---\na: b\n---\n<!-- note -->\n# Shop\n".to_owned(), true),
            (format!("{block}\n\n# Shop\n"), true),
            (format!("{block}\nOur own line.\n\n# Shop\n"), true),
            ("# Other\n".to_owned(), false),
            ("## Shop\n".to_owned(), false),
            ("```\n# Shop\n```\n<!--\n# Shop\n-->\n".to_owned(), false),
            (block.clone(), false),
            (String::new(), false),
        ] {
            assert_eq!(has_title(&file), expected, "{file:?}");
        }
    }

    proptest! {
        #[test]
        fn the_users_bytes_survive_and_a_second_run_changes_nothing(
            own in proptest::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'#'), Just(b'`'), Just(b'-'), Just(b' '), any::<u8>()],
                0..80,
            ),
        ) {
            let first = bytes(&own, BLOCK);
            let at = first.windows(5).position(|bytes| bytes == b"<!-- ").unwrap();
            let end = first.windows(6).position(|bytes| bytes == b"end --").unwrap() + "end -->".len();
            let around = [&first[..at], &first[end..]].concat();
            // Only line endings are inserted: above the old text, and after front matter without one.
            let rest = around.strip_prefix(&own[..at.min(own.len())]).unwrap();
            prop_assert!(rest.ends_with(&own[at.min(own.len())..]));
            prop_assert!(rest[..rest.len() + at.min(own.len()) - own.len()].iter().all(|b| b"\r\n".contains(b)));
            prop_assert_eq!(&bytes(&first, BLOCK), &first);
            let other = bytes(&first, OTHER);
            prop_assert_eq!(&other[..at], &first[..at]);
            prop_assert!(other.ends_with(&first[end..]));
            prop_assert_eq!(&bytes(&other, BLOCK), &first);
        }
    }

    /// Returns the remaining text of a file, and the warnings.
    fn kept(text: &str) -> (String, Vec<String>) {
        let decision = |text: &str, rationale: Option<&str>| Decision {
            text: text.to_owned(),
            rationale: rationale.map(str::to_owned),
            ..Decision::default()
        };
        let decisions = [decision("Use SQLite", Some("One file")), decision("Ship weekly", None)];
        let skills = [Skill { name: "testing".to_owned(), scope: Some("global".to_owned()) }];
        let layout = Layout::load(LayoutName::Vbw).unwrap();
        let known = Recorded {
            project: "shop",
            core_value: Some("Sell things"),
            next_action: Some("/vbw:vibe --plan 2"),
            decisions: decisions.iter().map(|decision| (fold(&decision.text), decision)).collect(),
            skills: skills.iter().map(|skill| skill.name.as_str()).collect(),
            patterns: [without_source("Tests first find more (plans 01, 02)")].into(),
            shipped: vec![words("# Shipped: The Till\n\n**Date:** 2026-02-24\n**Phases:** 4\n")],
            ..Recorded::in_layout(&layout)
        };
        let (ranges, warnings) = find(text, 0, None, Path::new("CLAUDE.md"), &known);
        let left = without(text.as_bytes(), 0, &ranges).into_owned();
        let warnings = warnings.iter().map(Warning::to_string).collect();
        (String::from_utf8(left).unwrap(), warnings)
    }

    /// Puts a section into a file of the user's.
    fn file(section: &str) -> String {
        format!("# Own\n\ntext\n\n{section}\n## After\n\nmore\n")
    }

    const TABLE: &str =
        "## Key Decisions\n\n| Decision | Date | Rationale |\n|----------|------|-----------|\n";

    #[test]
    fn a_section_of_the_generators_forms_is_taken_out_and_named() {
        for section in [
            "## Active Context\n\n**Work:** No active milestone\n**Last shipped:** _(none yet)_\n**Next action:** Run \
             /vbw:vibe to start a new milestone, or /vbw:status to review progress\n",
            "## Active Context\n\n**Work:** No active milestone\n**Last shipped:** The Till (2026-02-24) \u{2014} 4 phases\n",
            "## Active Context\n\n**Milestone:** default\n**Phase:** 5.1 - Cart (in progress)\n**Next action:** /vbw:execute 5.1\n",
            "## State\n- Planning directory: `.vbw-planning/`\n- Milestone: shop (4 phases)\n- Current Phase: Phase 1\n- Status: Pending\n",
            TABLE,
            &format!("{TABLE}| _(No decisions yet)_ | | |\n"),
            &format!(
                "{TABLE}| Use SQLite | 2026-02-17 | One file |\n| Ship weekly | 2026-02-18 | |\n"
            ),
            "## Key Decisions (Archived Notes)\n\n- Ship weekly\n- Use  SQLite\n",
            "## Installed Skills\n\n- testing (global)\n",
            "## Installed Skills\n\n_(Run /vbw:skills to list)_\n",
            "## Learned Patterns\n\n- Tests first find more (plans 01, 02)\n",
            "## VBW Commands\n\nRun /vbw:status for current progress.\nRun /vbw:help for all available commands.\n",
        ] {
            let (left, warnings) = kept(&file(section));
            assert_eq!(left, "# Own\n\ntext\n\n## After\n\nmore\n", "{section}");
            assert_eq!(warnings.len(), 1, "{section}");
            assert!(warnings[0].contains("written by VBW, replaced"), "{}", warnings[0]);
        }
    }

    #[test]
    fn a_line_of_another_form_keeps_the_whole_section_and_is_named() {
        for (section, line) in [
            (
                "## Active Context\n\n**Milestone:** default\n\nAsk Ada first.\n",
                "9: \"## Active Context\" stands beside the block, because this line is recorded nowhere else: Ask Ada first.;",
            ),
            (
                "## Active Context\n\n**Next action:** /vbw:vibe --plan 9\n**Work:** The cart\n",
                "(/vbw:vibe --plan 9), because this line is recorded nowhere else: **Work:** The cart;",
            ),
            ("## Active Context\n\n**Milestone:** default\n\n### Detail\n\nown\n", "### Detail;"),
            (&format!("{TABLE}| Use SQLite | 2026-02-17 | Another reason |\n"), "| Use SQLite |"),
            ("## Key Decisions\n\n- Use SQLite\n- We deploy by hand\n", "- We deploy by hand;"),
        ] {
            let (left, warnings) = kept(&file(section));
            assert_eq!(left, file(section));
            assert!(matches!(&warnings[..], [one] if one.contains(line)), "{warnings:?}");
        }
    }

    #[test]
    fn the_users_own_section_stays_without_a_word() {
        for section in [
            "## Active Context\n\nWe are moving the shop to Postgres.\n",
            "## Active Context\n",
            "### Active Context\n\n**Milestone:** default\n",
            "## Active context\n\n**Milestone:** default\n",
            "## State\n\nWe keep state in Redux.\n",
            "> ## Active Context\n>\n> **Milestone:** default\n",
            "```markdown\n## Active Context\n\n**Milestone:** default\n```\n",
            "## Key Decisions\n\nUse SQLite\n",
            "## Commands\n\n- `make test`\n",
        ] {
            assert_eq!(kept(&file(section)), (file(section), Vec::new()), "{section}");
        }
    }

    #[test]
    fn a_section_that_is_left_is_named_when_others_are_taken_out() {
        let left = "## Key Decisions\n\n- By hand\n";
        let (text, warnings) =
            kept(&format!("## Active Context\n\n**Milestone:** default\n\n{left}"));
        assert_eq!(text, left);
        assert_eq!(
            warnings[1..],
            [
                "CLAUDE.md:5: \"## Key Decisions\": left as your own, because none of it is recorded elsewhere"
            ]
        );
        assert_eq!(kept(left), (left.to_owned(), Vec::new()));
        // No generator writes a list in this form.
        let own = "## Active Context\n\n**Milestone:** default\n\n## Commands\n\n- `make test`\n";
        assert_eq!(kept(own).1.len(), 1);
    }

    #[test]
    fn the_users_own_section_with_another_next_action_is_named() {
        let section = "## Active Context\n\nWe wait for Ada.\n**Next action:** call Ada\n";
        let (left, warnings) = kept(&file(section));
        assert_eq!(left, file(section));
        assert_eq!(
            warnings,
            [
                "CLAUDE.md:5: \"## Active Context\" names another next action than the block: call Ada"
            ]
        );
    }

    #[test]
    fn all_sections_that_stay_are_one_warning() {
        let text = "## Key Decisions\n\n- Use SQLite\n- By hand\n\n## Active Context\n\n**Work:** The cart\n\
                    **Milestone:** default\n";
        assert_eq!(
            kept(text).1,
            [
                "CLAUDE.md:4: \"## Key Decisions\" stands beside the block, because this line is recorded nowhere \
                 else: - By hand; move it elsewhere and delete the section; likewise \"## Active Context\" (line 8: \
                 **Work:** The cart)"
            ]
        );
    }

    #[test]
    fn a_repeated_title_and_core_value_are_taken_out() {
        let (left, _) = kept("# Shop\n\n**Core value:** Sell things\n\n## After\n\nmore\n");
        assert_eq!(left, "## After\n\nmore\n");
        let other = "# shop\n\n**Core value:** Buy things\n\n## After\n";
        let (left, warnings) = kept(other);
        assert_eq!((left.as_str(), &*warnings), (other, &[][..]));
    }
}
