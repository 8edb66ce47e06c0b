//! CONSTRAINTS.md: bullets in sections, which are added, edited in place or moved, never deleted.

use chrono::NaiveDate;
use serde::Deserialize;

use crate::ledger::files::{Bullet, bullets, gap_after, with_lines};
use crate::ledger::update::Problems;
use crate::markdown::edit::Edit;
use crate::markdown::{Outline, Section, edit, line_start};
use crate::search::WordSet;
use crate::text::{Line, fold, join, line_end, line_gap};

/// The sections that every file has, in their order.
pub(crate) const SECTIONS: [&str; 5] =
    ["Infrastructure", "Rules", "Key Facts", "Hazards", SUPERSEDED];
/// The section for bullets that are no longer valid.
const SUPERSEDED: &str = "Superseded";

/// A change to one bullet.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ConstraintChange {
    /// `add`, `edit` or `supersede`.
    op: String,
    /// The section to add to, or to search.
    section: Option<String>,
    /// The new text.
    bullet: String,
    /// The bullet to change: its text, or a part that is unique.
    #[serde(rename = "match")]
    matching: String,
    /// Why it is no longer valid.
    reason: String,
}

/// The parsed file.
#[derive(Default)]
pub(crate) struct Constraints {
    /// The sections in file order, and whether each is Superseded or a subsection of it; the first is the text above all
    /// headings.
    sections: Vec<(Section, bool)>,
    /// The bullets in file order.
    pub(crate) bullets: Vec<Bullet>,
}

impl Constraints {
    pub(crate) fn parse(text: &str) -> Self {
        let outline = Outline::parse(text, 0);
        let mut constraints = Self::default();
        // The end of the section Superseded that is open.
        let mut end = 0;
        for (index, section) in outline.sections().iter().enumerate() {
            // The file's own title covers all sections.
            let is_title = index == 1 && section.level == 1;
            let is_named = match is_title {
                true => fold(&section.title) == fold(SUPERSEDED),
                false => is_named(&section.title, SUPERSEDED),
            };
            if is_named && !is_title {
                end = end.max(section.whole.end);
            }
            constraints.bullets.extend(bullets(&outline, &section.own, index));
            let is_superseded = is_named || section.heading.start < end;
            constraints.sections.push((section.clone(), is_superseded));
        }
        constraints
    }

    /// Returns the index of the section with a title, ignoring case, or for a standard one also of a section whose
    /// title starts with it; the file's own title does not count.
    pub(crate) fn section(&self, title: &str) -> Option<usize> {
        let wanted = fold(title);
        let folded = |index: usize| fold(&self.sections[index].0.title);
        let mut places =
            (1..self.sections.len()).filter(|index| *index > 1 || folded(*index) != "constraints");
        let is_standard = SECTIONS.iter().any(|known| fold(known) == wanted);
        places.clone().find(|index| folded(*index) == wanted).or_else(|| {
            places.find(|index| is_standard && is_named(&self.sections[*index].0.title, title))
        })
    }

    /// Returns the byte offset of the first section that follows a standard one, or the end of the text.
    fn offset_after(&self, text: &str, place: usize) -> usize {
        let next = SECTIONS[place + 1..].iter().find_map(|title| self.section(title));
        next.map_or(text.len(), |next| line_start(text, self.sections[next].0.heading.start))
    }

    /// Returns whether a bullet is in Superseded or a subsection of it.
    pub(crate) fn is_superseded(&self, bullet: &Bullet) -> bool {
        self.sections[bullet.section].1
    }

    /// Returns the bullets that are valid: all outside Superseded.
    pub(crate) fn active(&self) -> impl Iterator<Item = &Bullet> {
        self.bullets.iter().filter(|bullet| !self.is_superseded(bullet))
    }

    /// Returns the bullets that are equal to a text, or else the bullets that contain it.
    fn matching(&self, text: &str, section: Option<usize>) -> Vec<&Bullet> {
        let candidates = || {
            self.active().filter(|bullet| section.is_none_or(|section| bullet.section == section))
        };
        let whole: Vec<&Bullet> = candidates().filter(|one| is_same(&one.text, text)).collect();
        if whole.is_empty() {
            return candidates().filter(|one| one.text.contains(without_note(text))).collect();
        }
        whole
    }
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
pub(crate) fn apply(
    text: &str,
    changes: &[ConstraintChange],
    today: NaiveDate,
    problems: &mut Problems,
) -> String {
    let mut text = text.to_owned();
    for (index, change) in changes.iter().enumerate() {
        let mut report = |field: &str, message: String| {
            problems.add(format!("/constraints/{index}/{field}"), message);
        };
        let section = change.section.as_deref().unwrap_or_default();
        let (bullet, matching) = (("bullet", &*change.bullet), ("match", &*change.matching));
        let (required, make): (_, fn(&Merge<'_>) -> Merged) = match change.op.as_str() {
            "add" => ([("section", section), bullet], |merge| merge.add()),
            "edit" => ([matching, bullet], |merge| merge.edit()),
            "supersede" => ([matching, ("reason", &change.reason)], |merge| merge.supersede()),
            _ => {
                report("op", "must be \"add\", \"edit\" or \"supersede\"".to_owned());
                continue;
            }
        };
        let is_missing = |(_, text): &&(&str, &str)| text.trim().is_empty();
        for (field, _) in required.iter().filter(is_missing) {
            report(field, "is required".to_owned());
        }
        if required.iter().any(|field| is_missing(&field)) {
            continue;
        }
        match make(&Merge { text: &text, now: Constraints::parse(&text), change, today }) {
            Ok(Some(new)) => text = new,
            Ok(None) => {}
            Err((field, message)) => report(field, message),
        }
    }
    text
}

/// A change to be made to a file.
struct Merge<'a> {
    text: &'a str,
    now: Constraints,
    change: &'a ConstraintChange,
    today: NaiveDate,
}

/// The field at fault, and what is wrong with it.
type Fault = (&'static str, String);

/// The new text, or `None` if the change was made before.
type Merged = Result<Option<String>, Fault>;

impl Merge<'_> {
    fn add(&self) -> Merged {
        let title = Line::new(self.change.section.as_deref().unwrap_or_default());
        let (title, bullet) = (title.as_str(), Line::new(&self.change.bullet));
        let bullet = bullet.as_str();
        if is_named(title, SUPERSEDED) {
            let message = "is reserved for superseded bullets; use `supersede`";
            return Err(("section", message.to_owned()));
        }
        if title.starts_with(['\\', '#']) {
            return Err(("section", "is not a section title".to_owned()));
        }
        let section = self.now.section(title);
        let mut there = self.now.active().filter(|one| Some(one.section) == section);
        if there.any(|one| is_same(&one.text, bullet)) {
            return Ok(None);
        }
        self.refuse_duplicate(bullet, None)?;
        let text = with_bullet(self.text, &self.now, title, bullet);
        self.verified(text, bullet, 1, "section")
    }

    fn edit(&self) -> Merged {
        let bullet = Line::new(&self.change.bullet);
        let new = without_note(bullet.as_str());
        let same = self.now.active().find(|other| is_same(&other.text, new));
        let old = match (self.target(), same) {
            (Ok(old), Some(same)) if old.line == same.line => return Ok(None),
            // The edit was made before only if the bullet that it matched is gone.
            (Err(fault), Some(same)) => {
                let matching = self.now.matching(self.change.matching.trim(), None);
                let is_done = matching.iter().all(|bullet| bullet.line == same.line);
                return if is_done { Ok(None) } else { Err(fault) };
            }
            (old, _) => old?,
        };
        self.refuse_duplicate(new, Some(old.line))?;
        if bullet_words(new).is_disjoint(&bullet_words(&old.text)) {
            let message = format!(
                "has no words in common with line {}, {:?}; supersede that bullet and add this one",
                old.line, old.text
            );
            return Err(("bullet", message));
        }
        let new = format!("{new} (updated {})", self.today);
        let edit = Edit::replace(old.range.clone(), new.clone());
        self.verified(edit::apply(self.text, vec![edit]), &new, 0, "bullet")
    }

    fn supersede(&self) -> Merged {
        let reason = Line::new(&self.change.reason);
        let old = match self.target() {
            Ok(old) => old,
            Err(fault) => {
                let matching = without_note(&self.change.matching);
                let is_done = self.now.bullets.iter().any(|bullet| {
                    self.now.is_superseded(bullet)
                        && bullet.text.contains(matching)
                        && bullet.text.ends_with(reason.as_str())
                });
                return if is_done { Ok(None) } else { Err(fault) };
            }
        };
        let new = format!("(Superseded {}) {} \u{2014} {reason}", self.today, old.text);
        // The lines nested in a bullet go with it.
        let below = &self.text[old.range.end..old.lines.end.max(old.range.end)];
        let nested = below.find(['\r', '\n']).map_or("", |at| below[at..].trim_end());
        let rest = edit::apply(self.text, vec![Edit::replace(old.lines.clone(), "")]);
        let moved = format!("{new}{nested}");
        let text = with_bullet(&rest, &Constraints::parse(&rest), SUPERSEDED, &moved);
        self.verified(text, &new, 0, "match")
    }

    /// Returns the only bullet that a change matches.
    fn target(&self) -> Result<&Bullet, Fault> {
        let section = self.change.section.as_ref().map(|title| {
            let missing = || format!("there is no section {title:?} in CONSTRAINTS.md");
            self.now.section(title).ok_or_else(|| ("section", missing()))
        });
        let matching = self.now.matching(self.change.matching.trim(), section.transpose()?);
        if let [one] = matching[..] {
            return Ok(one);
        }
        let lines = join(matching.iter().map(|one| one.line.to_string()), ", ");
        let message = match matching.len() {
            0 => "matches no current bullet".to_owned(),
            count => format!("matches {count} bullets, on lines {lines}"),
        };
        Err(("match", message))
    }

    /// Fails if another bullet than the one on line `except` already says what a new one would.
    fn refuse_duplicate(&self, text: &str, except: Option<usize>) -> Result<(), Fault> {
        let words = bullet_words(text);
        let mut others = self.now.active().filter(|bullet| Some(bullet.line) != except);
        let other =
            others.find(|one| is_same(&one.text, text) || words.repeats(&bullet_words(&one.text)));
        other.map_or(Ok(()), |other| {
            let (line, said) = (other.line, &other.text);
            Err(("bullet", format!("duplicates line {line}, {said:?}; edit that bullet instead")))
        })
    }

    /// Accepts a text only if it parses as intended; an unclosed code fence, for example, absorbs the text after it.
    fn verified(&self, text: String, bullet: &str, added: usize, field: &'static str) -> Merged {
        let after = Constraints::parse(&text).bullets;
        let is_present = after.iter().any(|one| one.text == bullet);
        if is_present && self.now.bullets.len() + added == after.len() {
            return Ok(Some(text));
        }
        let message = "the surrounding markdown, such as an unclosed code fence, would absorb the bullet; fix CONSTRAINTS.md first";
        Err((field, message.to_owned()))
    }
}

/// Returns the text with a bullet below the last one of a section, or at its end.
///
/// A missing section is inserted before the first one that follows it in the standard order; one that is not in the
/// standard order is inserted before Superseded.
fn with_bullet(text: &str, now: &Constraints, title: &str, bullet: &str) -> String {
    let Some(section) = now.section(title) else {
        let place = SECTIONS.iter().position(|known| fold(known) == fold(title));
        // The title in the standard spelling.
        let title = place.map_or(title, |place| SECTIONS[place]);
        let at = now.offset_after(text, place.unwrap_or(SECTIONS.len() - 2));
        return with_lines(text, at, &format!("## {title}\n- {bullet}"));
    };
    let end = line_end(text);
    let own = &now.sections[section].0.own;
    let (at, gap) = match now.bullets.iter().rfind(|one| one.section == section) {
        Some(last) => (last.lines.end, line_gap(&text[..last.lines.end], end).to_owned()),
        // An empty section begins after its heading's line.
        None if text[own.clone()].trim().is_empty() => {
            (own.start, line_gap(&text[..own.start], end).to_owned())
        }
        None => {
            let written = own.start + text[own.clone()].trim_end().len();
            let at = text[written..].find('\n').map_or(text.len(), |end| written + end + 1);
            (at, gap_after(&text[..at], end))
        }
    };
    let below = if text[at..].starts_with('#') { end } else { "" };
    edit::apply(text, vec![Edit::insert(at, format!("{gap}- {bullet}{end}{below}"))])
}

#[cfg(test)]
mod tests;
