//! Parses the notepad, recognising common variants of the section headings.

use std::cmp::Reverse;
use std::ops::Range;
use std::path::Path;

use crate::knowledge::notepad::{Notepad, NotepadHeading, NotepadSection, SectionSpan};
use crate::markdown;
use crate::markdown::{Block, Lines, Outline};
use crate::text::fold;
use crate::warning::{Parsed, Warning};

/// The level of a bold line used as a heading: any other heading ends its section.
const BOLD: u8 = 7;

/// The byte order mark.
const MARK: char = '\u{feff}';

/// How well a heading matches the name of a section; the best match wins, then level 2, then the first in the
/// file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum HeadingMatch {
    /// `Priority Context (max 500)`.
    Begins,
    /// `Priority`.
    Short,
    /// `priority context:`.
    Exact,
}

/// Parses a notepad; a second heading for the same section becomes a warning and remains ordinary text.
pub fn parse<'a>(text: &'a str, path: &Path) -> Parsed<Notepad<'a>> {
    let headings = headings(text);
    let lines = Lines::new(text);
    let mut warnings: Vec<Warning> = Outline::unread_warning(text, path).into_iter().collect();
    let mut chosen: Vec<(NotepadSection, &NotepadHeading)> = Vec::new();
    for section in NotepadSection::ALL {
        let candidates: Vec<_> = headings
            .iter()
            .filter_map(|heading| Some((heading_match(&heading.title, section)?, heading)))
            .collect();
        let best = candidates.iter().max_by_key(|(matched, heading)| {
            let is_usual = heading.level == 2;
            (*matched, is_usual, Reverse(heading.lines.start))
        });
        let Some((_, best)) = best else { continue };
        chosen.push((section, best));
        for (matched, other) in &candidates {
            if *matched == HeadingMatch::Exact && other != best {
                let first = lines.line(best.lines.start);
                let message = format!(
                    "is a second {}, which is read as text (the section is at line {first})",
                    section.title()
                );
                let line = lines.line(other.lines.start);
                warnings.push(Warning::at(path, line, message));
            }
        }
    }
    chosen.sort_by_key(|(_, heading)| heading.lines.start);
    let sections = extents(text, &headings, &chosen);
    Parsed { value: Notepad { text, sections, headings }, warnings }
}

fn extents(
    text: &str,
    headings: &[NotepadHeading],
    chosen: &[(NotepadSection, &NotepadHeading)],
) -> Vec<SectionSpan> {
    let extent = |(section, heading): &(NotepadSection, &NotepadHeading)| {
        let ends = |other: &NotepadHeading| {
            let is_section = chosen.iter().any(|(_, chosen)| *chosen == other);
            other.lines.start > heading.lines.start && (other.level <= heading.level || is_section)
        };
        let end = headings.iter().find(|other| ends(other));
        SectionSpan {
            section: *section,
            heading: heading.lines.clone(),
            body: heading.lines.end..end.map_or(text.len(), |end| end.lines.start),
            level: heading.level,
        }
    };
    chosen.iter().map(extent).collect()
}

/// Returns all headings in file order: `#` lines, and the underlined and bold lines that name a section.
fn headings(text: &str) -> Vec<NotepadHeading> {
    let outline = outline(text);
    let real = outline.sections().iter().filter(|section| {
        // Headings in quotes and lists do not count.
        section.level > 0
            && text[line_start(text, section.heading.start)..section.heading.start]
                .trim()
                .is_empty()
    });
    let mut headings: Vec<NotepadHeading> = real
        .map(|section| NotepadHeading {
            level: section.level,
            title: section.title.clone(),
            lines: whole_line(text, section.heading.start),
        })
        .collect();
    let all = 0..text.len();
    let paragraphs = outline.paragraphs(&all);
    headings.extend(paragraphs.filter_map(|(block, _)| implicit_heading(text, block)));
    headings.sort_by_key(|heading| heading.lines.start);
    headings
}

/// Returns the heading that a paragraph represents: an underlined or bold first line with a section's name.
fn implicit_heading(text: &str, block: &Block) -> Option<NotepadHeading> {
    let first = whole_line(text, block.range.start);
    let line = text[first.clone()].trim();
    let exact = |title: &str| {
        let matched = NotepadSection::ALL.map(|section| heading_match(title, section));
        matched.contains(&Some(HeadingMatch::Exact))
    };
    if !exact(line) {
        return None;
    }
    let inner = line.trim_end_matches(':');
    if inner.len() > 4 && inner.starts_with("**") && inner.ends_with("**") {
        return Some(NotepadHeading { level: BOLD, title: line.to_owned(), lines: first });
    }
    let under = whole_line(text, first.end);
    let marks = text[under.clone()].trim();
    let level = match marks.chars().next()? {
        '=' if marks.trim_start_matches('=').is_empty() => 1,
        '-' if marks.trim_start_matches('-').is_empty() => 2,
        _ => return None,
    };
    Some(NotepadHeading { level, title: line.to_owned(), lines: first.start..under.end })
}

fn heading_match(title: &str, section: NotepadSection) -> Option<HeadingMatch> {
    let plain = title.trim_start_matches(|c: char| !c.is_alphabetic());
    let plain = fold(plain.trim_end_matches(|c: char| "*_`#: ".contains(c)));
    let full = fold(section.title());
    if plain == full {
        return Some(HeadingMatch::Exact);
    }
    if plain == section.as_str() {
        return Some(HeadingMatch::Short);
    }
    let rest = plain.strip_prefix(&full)?;
    let tail = rest.trim_start();
    let is_remark = tail.starts_with(|c: char| !c.is_alphanumeric());
    let is_noun = rest.starts_with(' ') && ["notes", "section"].contains(&tail);
    (is_remark || is_noun).then_some(HeadingMatch::Begins)
}

/// Parses a text after its byte order mark, if any.
pub(super) fn outline(text: &str) -> Outline<'_> {
    Outline::parse(text, byte_order_mark_length(text))
}

fn byte_order_mark_length(text: &str) -> usize {
    if text.starts_with(MARK) { MARK.len_utf8() } else { 0 }
}

/// Returns the start of the line that contains an offset, after a byte order mark.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    markdown::line_start(text, at).max(byte_order_mark_length(text).min(at))
}

/// Returns the line that contains an offset, with its line ending.
pub(super) fn whole_line(text: &str, at: usize) -> Range<usize> {
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    line_start(text, at)..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(NotepadSection, &str)> {
        let notepad = parse(text, Path::new("notepad.md")).value;
        let sections = notepad.sections.clone();
        let content = |section| &text[notepad.content(section).unwrap()];
        let pairs = sections.iter().map(|found| (found.section, content(found.section)));
        pairs.collect()
    }

    #[test]
    fn sections_are_found_under_odd_headings_in_any_order() {
        let text = "# **MANUAL**\nmine\n### 📌 priority context (max 500 chars)\n- a\n\n---\nWorking Memory\n-----\n- b\n";
        let expected = [
            (NotepadSection::Manual, "mine\n"),
            (NotepadSection::Priority, "- a\n"),
            (NotepadSection::Working, "- b\n"),
        ];
        assert_eq!(found(text), expected);
        let bold = "**Priority Context:**\n- a\n\n**Working Memory**\n- b\n";
        let expected = [(NotepadSection::Priority, "- a\n"), (NotepadSection::Working, "- b\n")];
        assert_eq!(found(bold), expected);
    }

    #[test]
    fn a_rule_at_the_end_is_not_content() {
        let alone = "## Priority Context\n- a\n\n---\n";
        assert_eq!(found(alone), [(NotepadSection::Priority, "- a\n")]);
        let followed = format!("{alone}## Manual\nb\n");
        let expected = [(NotepadSection::Priority, "- a\n"), (NotepadSection::Manual, "b\n")];
        assert_eq!(found(&followed), expected);
        let between = "## Manual\na\n\n---\nb\n";
        assert_eq!(found(between), [(NotepadSection::Manual, "a\n\n---\nb\n")]);
    }

    #[test]
    fn a_heading_of_the_users_ends_a_section_and_a_deeper_one_does_not() {
        let text = "## Priority Context\n- a\n### Why\nb\n## Mine\nc\n## Manual\nd\n";
        let expected =
            [(NotepadSection::Priority, "- a\n### Why\nb\n"), (NotepadSection::Manual, "d\n")];
        assert_eq!(found(text), expected);
    }

    #[test]
    fn headings_in_fences_quotes_and_comments_are_text() {
        for text in
            ["```\n## Manual\n```\n", "> ## Manual\n", "<!--\n## Manual\n-->\n", "- ## Manual\n"]
        {
            assert_eq!(found(text), [], "{text:?}");
        }
        assert_eq!(found("## Manual testing steps\n"), []);
    }

    #[test]
    fn a_second_heading_of_a_section_is_reported_and_counts_as_text() {
        let text = "## Manual\na\n### Manual\nb\n";
        let parsed = parse(text, Path::new("notepad.md"));
        let message = parsed.warnings[0].to_string();
        assert!(message.starts_with("notepad.md:3: is a second Manual"), "{message}");
        assert_eq!(found(text), [(NotepadSection::Manual, "a\n### Manual\nb\n")]);
    }
}
