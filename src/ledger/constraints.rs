//! CONSTRAINTS.md: bullets in sections, which are added, edited in place or moved, never deleted.

use std::ops::Range;

use chrono::NaiveDate;
use serde::Deserialize;

use crate::error::Problem;
use crate::ledger::edits::{Change, FileUpdate, gap_after, line_gap};
use crate::markdown::edit::Edit;
use crate::markdown::{Outline, edit, line_start};
use crate::search::WordSet;
use crate::text::{Line, fold, line_end};

/// The sections that every file has, in their order.
pub(crate) const SECTIONS: [&str; 5] =
    ["Infrastructure", "Rules", "Key Facts", "Hazards", SUPERSEDED];
/// The section for bullets that are no longer valid.
const SUPERSEDED: &str = "Superseded";

/// A change to one bullet.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(crate) struct ConstraintChange {
    /// `add`, `edit` or `supersede`.
    pub(crate) op: String,
    /// The section to add to, or to search.
    pub(crate) section: Option<String>,
    /// The new text.
    pub(crate) bullet: String,
    /// The bullet to change: its text, or a part that is unique.
    #[serde(rename = "match")]
    pub(crate) matching: String,
    /// Why it is no longer valid.
    pub(crate) reason: String,
}

/// A section under a heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConstraintSection {
    /// The heading's text.
    pub(crate) title: String,
    /// Byte offset of the heading.
    pub(crate) start: usize,
    /// Byte range of the text under it, up to the next heading.
    pub(crate) own: Range<usize>,
    /// Whether it is Superseded or a subsection of it.
    is_superseded: bool,
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
}

impl Constraints {
    pub(crate) fn parse(text: &str) -> Self {
        let outline = Outline::parse(text, 0);
        let mut constraints = Self::default();
        // The level of the section Superseded that is open.
        let mut superseded: Option<u8> = None;
        for (index, section) in outline.sections().iter().enumerate() {
            superseded = superseded.filter(|level| section.level > *level);
            // The file's own title covers all sections.
            let is_title = index == 1 && section.level == 1;
            if superseded.is_none() && !is_title && is_named(&section.title, SUPERSEDED) {
                superseded = Some(section.level);
            }
            constraints.bullets.extend(bullets(&outline, &section.own, index));
            constraints.sections.push(ConstraintSection {
                title: section.title.clone(),
                start: section.heading.start,
                own: section.own.clone(),
                is_superseded: superseded.is_some()
                    || is_title && fold(&section.title) == fold(SUPERSEDED),
            });
        }
        constraints
    }

    /// Returns the index of the section with a title, ignoring case, or for a standard one also of a section whose
    /// title starts with it; the file's own title does not count.
    pub(crate) fn section(&self, title: &str) -> Option<usize> {
        let wanted = fold(title);
        let folded = |index: usize| fold(&self.sections[index].title);
        let mut places =
            (1..self.sections.len()).filter(|index| *index > 1 || folded(*index) != "constraints");
        let is_standard = SECTIONS.iter().any(|known| fold(known) == wanted);
        places.clone().find(|index| folded(*index) == wanted).or_else(|| {
            places.find(|index| is_standard && is_named(&self.sections[*index].title, title))
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
    fn matching(&self, text: &str, section: Option<usize>) -> Vec<&Bullet> {
        let wanted = without_note(text);
        let candidates = || {
            self.active().filter(|bullet| section.is_none_or(|section| bullet.section == section))
        };
        let whole: Vec<&Bullet> =
            candidates().filter(|bullet| is_same(&bullet.text, text)).collect();
        if whole.is_empty() {
            return candidates().filter(|bullet| bullet.text.contains(wanted)).collect();
        }
        whole
    }

    /// Fails if another bullet than `except` already says what a new one would.
    fn check_duplicate(
        &self,
        text: &str,
        except: Option<usize>,
        pointer: &str,
    ) -> Result<(), Problem> {
        let words = bullet_words(text);
        let mut others = self.active().filter(|bullet| Some(bullet.line) != except);
        let other = others.find(|bullet| {
            is_same(&bullet.text, text) || words.repeats(&bullet_words(&bullet.text))
        });
        other.map_or(Ok(()), |other| {
            let message = format!(
                "duplicates line {}, {:?}; edit that bullet instead",
                other.line, other.text
            );
            Err(Problem::new(format!("{pointer}/bullet"), message))
        })
    }
}

/// Returns the outermost bullets of a part of a text, which is the section with this index.
pub(crate) fn bullets(outline: &Outline<'_>, own: &Range<usize>, section: usize) -> Vec<Bullet> {
    let text = outline.text();
    let items: Vec<_> = outline.items(own).filter(|(_, item)| item.depth == 0).collect();
    let starts = items.iter().map(|(block, _)| line_start(text, block.range.start));
    let starts: Vec<usize> = starts.chain([own.end]).collect();
    let bullets = items.iter().zip(starts.windows(2)).map(|((block, item), lines)| Bullet {
        section,
        text: item.text.clone(),
        range: block.range.clone(),
        lines: lines[0]..bullet_end(text, block.range.end, lines[1]),
        line: block.line,
    });
    bullets.collect()
}

/// Returns the end of the lines of a bullet whose own text ends at `at`, without trailing blank lines: indented lines
/// belong to it, and unindented text, such as a rule, does not.
fn bullet_end(text: &str, at: usize, limit: usize) -> usize {
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

/// Returns whether a heading names a section, possibly with decoration: `Hazards & Pitfalls`, `2. Rules:`.
pub(crate) fn is_named(heading: &str, title: &str) -> bool {
    let heading = fold(heading.trim_start_matches(|c: char| !c.is_alphabetic()));
    heading.strip_prefix(&fold(title)).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// Returns the words of a bullet.
pub(crate) fn bullet_words(text: &str) -> WordSet {
    WordSet::from_text(without_note(text))
}

/// Returns a bullet without the trailing note `(added …)` or `(updated …)`.
pub(crate) fn without_note(text: &str) -> &str {
    let text = text.trim_end();
    let note = |open: &str| {
        let (before, day) = text.strip_suffix(')')?.rsplit_once(open)?;
        let is_day = day.len() == 10 && day.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        is_day.then_some(before.trim_end())
    };
    note("(updated ").or_else(|| note("(added ")).unwrap_or(text)
}

fn is_same(one: &str, other: &str) -> bool {
    one == other || without_note(one) == without_note(other)
}

/// Applies changes in order; refused ones leave the text unchanged.
pub(crate) fn apply(text: &str, changes: &[ConstraintChange], today: NaiveDate) -> FileUpdate {
    let mut outcome = FileUpdate::of(text);
    for (index, change) in changes.iter().enumerate() {
        let pointer = format!("/constraints/{index}");
        let constraints = Constraints::parse(&outcome.text);
        let merge = Merge { text: &outcome.text, constraints, change, pointer, today };
        let changed = match change.op.as_str() {
            "add" => merge.add(),
            "edit" => merge.edit(),
            "supersede" => merge.supersede(),
            // The check of the document's shape has reported it.
            _ => continue,
        };
        outcome.record(changed);
    }
    outcome
}

/// A change to be made to a file.
struct Merge<'a> {
    text: &'a str,
    constraints: Constraints,
    change: &'a ConstraintChange,
    pointer: String,
    today: NaiveDate,
}

impl Merge<'_> {
    fn problem(&self, field: &str, message: impl Into<String>) -> Problem {
        Problem::new(format!("{}/{field}", self.pointer), message)
    }

    fn add(&self) -> Change {
        let title = Line::new(self.change.section.as_deref().unwrap_or_default());
        let (title, bullet) = (title.as_str(), Line::new(&self.change.bullet));
        if is_named(title, SUPERSEDED) {
            let message = "is reserved for superseded bullets; use `supersede`";
            return Err(self.problem("section", message));
        }
        if title.starts_with(['\\', '#']) {
            return Err(self.problem("section", "is not a section title"));
        }
        let section = self.constraints.section(title);
        let is_there = |other: &Bullet| {
            section == Some(other.section) && is_same(&other.text, bullet.as_str())
        };
        if self.constraints.active().any(is_there) {
            return Ok(self.text.to_owned());
        }
        self.constraints.check_duplicate(bullet.as_str(), None, &self.pointer)?;
        let text = with_bullet(self.text, &self.constraints, section, title, bullet.as_str());
        self.verified(text, bullet.as_str(), 1, "section")
    }

    fn edit(&self) -> Change {
        let bullet = Line::new(&self.change.bullet);
        let new_text = without_note(bullet.as_str());
        let same = self.constraints.active().find(|other| is_same(&other.text, new_text));
        let old = match (self.find_bullet(), same) {
            (Ok(old), Some(same)) if old.line == same.line => return Ok(self.text.to_owned()),
            // The edit was made before only if the bullet that it matched is gone.
            (Err(problem), Some(same)) => {
                let matching = self.constraints.matching(self.change.matching.trim(), None);
                let is_other = matching.iter().any(|bullet| bullet.line != same.line);
                return if is_other { Err(problem) } else { Ok(self.text.to_owned()) };
            }
            (old, _) => old?,
        };
        self.constraints.check_duplicate(new_text, Some(old.line), &self.pointer)?;
        if bullet_words(new_text).is_disjoint(&bullet_words(&old.text)) {
            let message = format!(
                "has no words in common with line {}, {:?}; supersede that bullet and add this one",
                old.line, old.text
            );
            return Err(self.problem("bullet", message));
        }
        let new = format!("{new_text} (updated {})", self.today);
        let edit = Edit::replace(old.range.clone(), new.clone());
        self.verified(edit::apply(self.text, vec![edit]), &new, 0, "bullet")
    }

    fn supersede(&self) -> Change {
        let reason = Line::new(&self.change.reason);
        let matching = without_note(&self.change.matching);
        let old = match self.find_bullet() {
            Ok(old) => old,
            Err(problem) => {
                let is_done = self.constraints.bullets.iter().any(|bullet| {
                    self.constraints.is_superseded(bullet)
                        && bullet.text.contains(matching)
                        && bullet.text.ends_with(reason.as_str())
                });
                return if is_done { Ok(self.text.to_owned()) } else { Err(problem) };
            }
        };
        let new = format!("(Superseded {}) {} \u{2014} {reason}", self.today, old.text);
        // The lines nested in a bullet go with it.
        let below = &self.text[old.range.end..old.lines.end.max(old.range.end)];
        let nested = below.find('\n').map_or("", |at| below[at..].trim_end());
        let rest = edit::apply(self.text, vec![Edit::replace(old.lines.clone(), "")]);
        let remaining = Constraints::parse(&rest);
        let section = remaining.section(SUPERSEDED);
        let moved = format!("{new}{nested}");
        let text = with_bullet(&rest, &remaining, section, SUPERSEDED, &moved);
        self.verified(text, &new, 0, "match")
    }

    /// Returns the only bullet that a change matches.
    fn find_bullet(&self) -> Result<&Bullet, Problem> {
        let section = match &self.change.section {
            None => None,
            Some(title) => Some(self.constraints.section(title).ok_or_else(|| {
                let message = format!("there is no section {title:?} in CONSTRAINTS.md");
                self.problem("section", message)
            })?),
        };
        let matching = self.constraints.matching(self.change.matching.trim(), section);
        let message = match matching[..] {
            [one] => return Ok(one),
            [] => "matches no current bullet".to_owned(),
            _ => {
                let lines: Vec<String> =
                    matching.iter().map(|bullet| bullet.line.to_string()).collect();
                format!("matches {} bullets, on lines {}", lines.len(), lines.join(", "))
            }
        };
        Err(self.problem("match", message))
    }

    /// Accepts a text only if it parses as intended; an unclosed code fence, for example, absorbs the text after it.
    fn verified(&self, text: String, bullet: &str, added: usize, field: &str) -> Change {
        let after = Constraints::parse(&text);
        let is_present = after.bullets.iter().any(|one| one.text == bullet);
        if is_present && self.constraints.bullets.len() + added == after.bullets.len() {
            return Ok(text);
        }
        let message = "the surrounding markdown, such as an unclosed code fence, would absorb the bullet; fix CONSTRAINTS.md first";
        Err(self.problem(field, message))
    }
}

/// Returns the text with a bullet at the end of a section. A missing section is inserted before the first one that follows
/// it in the standard order; one that is not in the standard order is inserted before Superseded.
fn with_bullet(
    text: &str,
    constraints: &Constraints,
    section: Option<usize>,
    title: &str,
    bullet: &str,
) -> String {
    let end = line_end(text);
    let Some(section) = section else {
        let place = SECTIONS.iter().position(|known| fold(known) == fold(title));
        // The title in the standard spelling.
        let title = place.map_or(title, |place| SECTIONS[place]);
        let at = section_offset(text, constraints, place.unwrap_or(SECTIONS.len() - 2));
        let gap = gap_after(&text[..at], end);
        let below = if at < text.len() { end } else { "" };
        let new = format!("{gap}## {title}{end}- {bullet}{end}{below}");
        return edit::apply(text, vec![Edit::insert(at, new)]);
    };
    let own = &constraints.sections[section].own;
    let last = constraints.bullets.iter().rfind(|bullet| bullet.section == section);
    let written = text[own.clone()].trim_end();
    let content_end = own.start + written.len();
    let is_empty = written.trim().is_empty();
    let at = match text[content_end..].find('\n') {
        // An empty section begins after its heading's line.
        _ if is_empty => own.start,
        Some(end) => content_end + end + 1,
        None => text.len(),
    };
    let follows_text = !is_empty && last.is_none_or(|last| last.lines.end < content_end);
    let marker = last.and_then(|last| text[last.lines.clone()].chars().next());
    let marker = marker.filter(|marker| "-*+".contains(*marker)).unwrap_or('-');
    let above = if follows_text { end } else { "" };
    let below = if text[at..].starts_with('#') { end } else { "" };
    let gap = line_gap(&text[..at], end);
    let new = format!("{gap}{above}{marker} {bullet}{end}{below}");
    edit::apply(text, vec![Edit::insert(at, new)])
}

/// Returns the byte offset of the first section that follows a standard one, or the end of the text.
pub(crate) fn section_offset(text: &str, constraints: &Constraints, place: usize) -> usize {
    let next = SECTIONS[place + 1..].iter().find_map(|title| constraints.section(title));
    next.map_or(text.len(), |next| line_start(text, constraints.sections[next].start))
}

#[cfg(test)]
mod tests;
