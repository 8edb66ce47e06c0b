//! CONSTRAINTS.md: bullets in sections.

use std::ops::Range;

use crate::ledger::similarity::{bullet_words, without_note};
use crate::markdown::{BlockContent, Outline, line_start};
use crate::text::fold;

/// The sections that every file has, in their order.
pub(crate) const SECTIONS: [&str; 5] =
    ["Infrastructure", "Rules", "Key Facts", "Hazards", "Superseded"];
/// The section for bullets that are no longer valid.
pub(crate) const SUPERSEDED: &str = "Superseded";

/// A section under a heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConstraintSection {
    /// The heading's text.
    pub(crate) title: String,
    /// Byte range of the heading.
    pub(crate) heading: Range<usize>,
    /// Byte range of the text under it, up to the next heading.
    pub(crate) own: Range<usize>,
    /// Line number of the heading, from 1.
    pub(crate) line: usize,
    /// Whether it is Superseded or a subsection of it.
    pub(crate) is_superseded: bool,
}

/// A bullet of the outermost list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bullet {
    /// Index of its section.
    pub(crate) section: usize,
    /// Its own text on one line, without nested items.
    pub(crate) text: String,
    /// Byte range of its own text.
    pub(crate) range: Range<usize>,
    /// Byte range of its lines, including nested ones.
    pub(crate) lines: Range<usize>,
    /// Its line number, from 1.
    pub(crate) line: usize,
}

/// The parsed file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constraints {
    /// The sections in file order; the first is the text above all headings.
    pub(crate) sections: Vec<ConstraintSection>,
    /// The bullets in file order.
    pub(crate) bullets: Vec<Bullet>,
    /// The lines of paragraphs between the bullets.
    pub(crate) prose: Vec<usize>,
}

impl Constraints {
    pub(crate) fn parse(text: &str) -> Self {
        let outline = Outline::parse(text, 0);
        // The level of the section Superseded that is open.
        let mut superseded_level: Option<u8> = None;
        let sections = outline.sections().iter().enumerate();
        let sections = sections.map(|(index, section)| {
            superseded_level = superseded_level.filter(|level| section.level > *level);
            // The file's own title covers all sections.
            let is_title = index == 1 && section.level == 1;
            let is_named = is_named(&section.title, SUPERSEDED);
            if is_named && !is_title && superseded_level.is_none() {
                superseded_level = Some(section.level);
            }
            ConstraintSection {
                title: section.title.clone(),
                heading: section.heading.clone(),
                own: section.own.clone(),
                line: section.line,
                is_superseded: superseded_level.is_some()
                    || is_title && fold(&section.title) == fold(SUPERSEDED),
            }
        });
        let mut constraints = Self { sections: sections.collect(), ..Self::default() };
        for index in 0..constraints.sections.len() {
            constraints.read_section(&outline, index);
        }
        constraints
    }

    fn read_section(&mut self, outline: &Outline<'_>, section: usize) {
        let own = self.sections[section].own.clone();
        let is_under_heading = !self.sections[section].title.is_empty();
        let blocks = outline.blocks(&own);
        let mut open_bullet: Option<usize> = None;
        for block in blocks {
            let start = line_start(outline.text(), block.range.start);
            match &block.content {
                BlockContent::Item(item) if item.depth == 0 => {
                    self.close(open_bullet.take(), outline.text(), start);
                    open_bullet = Some(self.bullets.len());
                    self.bullets.push(Bullet {
                        section,
                        text: item.text.clone(),
                        range: block.range.clone(),
                        lines: start..own.end,
                        line: block.line,
                    });
                }
                // Indented text belongs to the bullet above.
                _ if is_indented(outline.text(), start) && open_bullet.is_some() => {}
                BlockContent::Paragraph if is_under_heading => {
                    self.close(open_bullet.take(), outline.text(), start);
                    self.prose.push(block.line);
                }
                _ => self.close(open_bullet.take(), outline.text(), start),
            }
        }
        self.close(open_bullet, outline.text(), own.end);
    }

    /// Ends the open bullet before a byte offset, without trailing blank lines.
    fn close(&mut self, open_bullet: Option<usize>, text: &str, before: usize) {
        if let Some(bullet) = open_bullet.and_then(|index| self.bullets.get_mut(index)) {
            bullet.lines.end = bullet_end(text, bullet.range.end, before);
        }
    }

    /// Returns the index of the section with a title, ignoring case, or else of one whose title starts with
    /// it; the file's own title does not count.
    pub(crate) fn section(&self, title: &str) -> Option<usize> {
        let wanted = fold(title);
        let is_file_title =
            |index: usize| index <= 1 && fold(&self.sections[index].title) == "constraints";
        let mut places = (1..self.sections.len()).filter(|index| !is_file_title(*index));
        let is_standard = SECTIONS.iter().any(|known| fold(known) == wanted);
        places.clone().find(|index| fold(&self.sections[*index].title) == wanted).or_else(|| {
            let is_it = |index: &usize| is_named(&self.sections[*index].title, title);
            places.find(is_it).filter(|_| is_standard)
        })
    }

    /// Returns whether a bullet is in Superseded or a subsection of it.
    pub(crate) fn is_superseded(&self, bullet: &Bullet) -> bool {
        self.sections[bullet.section].is_superseded
    }

    /// Returns the bullets that are valid: all outside Superseded.
    pub(crate) fn active(&self) -> impl Iterator<Item = &Bullet> {
        self.bullets.iter().filter(|bullet| !self.is_superseded(bullet))
    }

    /// Returns the bullets that are equal to a text, or else the bullets that contain it.
    pub(crate) fn matching(&self, text: &str, section: Option<usize>) -> Vec<&Bullet> {
        let wanted = without_note(text);
        let candidates = || {
            self.active().filter(|bullet| section.is_none_or(|section| bullet.section == section))
        };
        let whole: Vec<&Bullet> = candidates()
            .filter(|bullet| bullet.text == text || without_note(&bullet.text) == wanted)
            .collect();
        if whole.is_empty() {
            candidates().filter(|bullet| bullet.text.contains(wanted)).collect()
        } else {
            whole
        }
    }

    /// Returns the bullet that a new one would duplicate.
    pub(crate) fn find_duplicate(&self, text: &str, except: Option<usize>) -> Option<&Bullet> {
        let words = bullet_words(text);
        self.active()
            .filter(|bullet| Some(bullet.line) != except)
            .find(|bullet| bullet.text == text || words.repeats(&bullet_words(&bullet.text)))
    }
}

/// Returns whether a heading names a section, possibly with decoration: `Hazards & Pitfalls`, `2. Rules:`.
pub(crate) fn is_named(heading: &str, title: &str) -> bool {
    let heading = fold(heading.trim_start_matches(|c: char| !c.is_alphabetic()));
    heading.strip_prefix(&fold(title)).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// Returns the end of the lines of a bullet whose own text ends at `at`, without trailing blank lines: indented lines
/// belong to it, and unindented text, such as a rule, does not.
pub(crate) fn bullet_end(text: &str, at: usize, limit: usize) -> usize {
    let line_end = |from: usize| text[from..limit].find('\n').map_or(limit, |at| from + at + 1);
    // The text of an item may include its line end.
    let own = text[..at].trim_end().len();
    let mut end = line_end(own.min(limit));
    let mut next = end;
    while next < limit {
        let line = &text[next..line_end(next)];
        let is_blank = line.trim().is_empty();
        if !is_blank && !line.starts_with([' ', '\t']) {
            break;
        }
        next += line.len();
        if !is_blank {
            end = next;
        }
    }
    end
}

fn is_indented(text: &str, start: usize) -> bool {
    text.get(start..).is_some_and(|line| line.starts_with([' ', '\t']))
}
