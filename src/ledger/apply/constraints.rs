//! Merges changes into CONSTRAINTS.md: a bullet is added, edited in place or moved, never deleted.

use chrono::NaiveDate;

use crate::error::Problem;
use crate::ledger::apply::{ChangeStep, FileUpdate, gap_after};
use crate::ledger::constraints::{Bullet, Constraints, SECTIONS, SUPERSEDED, is_named};
use crate::ledger::document::{ConstraintChange, ConstraintOperation};
use crate::ledger::similarity::{bullet_words, without_note};
use crate::markdown::edit::Edit;
use crate::markdown::{edit, line_start};
use crate::text::{Line, fold};

/// Maximum length of a section title, in characters.
const MAX_TITLE_LENGTH: usize = 60;

/// A file being changed, and the bullets that this update has added or changed.
struct ConstraintMerge<'a> {
    text: String,
    line_end: &'a str,
    today: NaiveDate,
    touched: Vec<String>,
}

/// Applies changes in order; refused ones leave the text unchanged.
pub(crate) fn apply(
    text: &str,
    changes: &[(usize, ConstraintChange)],
    today: NaiveDate,
    line_end: &str,
) -> FileUpdate {
    let mut outcome = FileUpdate::unchanged(text);
    let mut merge = ConstraintMerge { text: text.to_owned(), line_end, today, touched: Vec::new() };
    for (index, change) in changes {
        let pointer = format!("/constraints/{index}");
        let step = match change.op {
            _ if !is_complete(change) => {
                ChangeStep::Refused(merge.problems_of_incomplete(change, &pointer))
            }
            ConstraintOperation::Add => merge.add(change, &pointer),
            ConstraintOperation::Edit => merge.edit(change, &pointer),
            ConstraintOperation::Supersede => merge.supersede(change, &pointer),
        };
        if let ChangeStep::Changed(text) = &step {
            merge.text.clone_from(text);
        }
        outcome.record(step);
    }
    outcome
}

/// Returns whether a change has the fields that its operation needs.
fn is_complete(change: &ConstraintChange) -> bool {
    let needed = match change.op {
        ConstraintOperation::Add => [&change.section, &change.bullet],
        ConstraintOperation::Edit => [&change.matching, &change.bullet],
        ConstraintOperation::Supersede => [&change.matching, &change.reason],
    };
    let is_present = |field: &Option<String>| {
        let text = field.as_deref().unwrap_or_default();
        !text.trim().is_empty()
    };
    needed.into_iter().all(is_present)
}

impl ConstraintMerge<'_> {
    /// Returns the problems of the fields that an incomplete change has.
    fn problems_of_incomplete(&self, change: &ConstraintChange, pointer: &str) -> Vec<Problem> {
        let constraints = Constraints::parse(&self.text);
        let mut problems = Vec::new();
        if change.op != ConstraintOperation::Add {
            if change.matching.as_deref().is_some_and(|text| !text.trim().is_empty())
                && let Err(ChangeStep::Refused(faults)) =
                    self.find_bullet(&constraints, change, pointer)
            {
                problems.extend(faults);
            }
            return problems;
        }
        if let Some(fault) = change.section.as_deref().and_then(title_fault) {
            problems.push(Problem::new(format!("{pointer}/section"), fault));
        }
        let bullet = Line::new(change.bullet.as_deref().unwrap_or_default());
        if let Some(other) = constraints.find_duplicate(bullet.as_str(), None) {
            problems.push(duplicate_problem(&format!("{pointer}/bullet"), other));
        }
        problems
    }

    fn add(&mut self, change: &ConstraintChange, pointer: &str) -> ChangeStep {
        let title = Line::new(change.section.as_deref().unwrap_or_default());
        let bullet = Line::new(change.bullet.as_deref().unwrap_or_default());
        let constraints = Constraints::parse(&self.text);
        if let Some(fault) = title_fault(title.as_str()) {
            return ChangeStep::refused(format!("{pointer}/section"), fault);
        }
        if let Some(other) = constraints.find_duplicate(bullet.as_str(), None) {
            let problem = duplicate_problem(&format!("{pointer}/bullet"), other);
            let is_here = constraints.section(title.as_str()) == Some(other.section);
            return if is_same_text(&other.text, bullet.as_str()) && is_here {
                ChangeStep::Repeated(problem)
            } else {
                ChangeStep::Refused(vec![problem])
            };
        }
        let text = match constraints.section(title.as_str()) {
            Some(section) => self.with_bullet(&constraints, section, bullet.as_str()),
            None => {
                self.with_section(&constraints, &canonical_title(title.as_str()), bullet.as_str())
            }
        };
        self.touched.push(bullet.as_str().to_owned());
        verified(&constraints, text, bullet.as_str(), 1, format!("{pointer}/section"))
    }

    fn edit(&mut self, change: &ConstraintChange, pointer: &str) -> ChangeStep {
        let bullet = Line::new(change.bullet.as_deref().unwrap_or_default());
        let constraints = Constraints::parse(&self.text);
        let new_text = without_note(bullet.as_str()).to_owned();
        let same = constraints.active().find(|other| is_same_text(&other.text, &new_text));
        let repeated = |other: &Bullet| {
            let message = format!("line {} already says this: {:?}", other.line, other.text);
            ChangeStep::Repeated(Problem::new(format!("{pointer}/bullet"), message))
        };
        let old = match (self.find_bullet(&constraints, change, pointer), same) {
            (Ok(old), Some(same)) if old.line == same.line => return repeated(same),
            (Ok(old), _) => old.clone(),
            // The edit was made before only if the bullet that it matched is gone.
            (Err(step), Some(same)) => {
                let pattern = change.matching.as_deref().unwrap_or_default().trim();
                let matching = constraints.matching(pattern, None);
                let is_other = matching.iter().any(|bullet| bullet.line != same.line);
                return if is_other { step } else { repeated(same) };
            }
            (Err(step), None) => return step,
        };
        if let Some(other) = constraints.find_duplicate(&new_text, Some(old.line)) {
            return ChangeStep::Refused(vec![duplicate_problem(
                &format!("{pointer}/bullet"),
                other,
            )]);
        }
        if bullet_words(&new_text).is_disjoint(&bullet_words(&old.text)) {
            let message = format!(
                "has no words in common with line {}, {:?}; supersede that bullet and add this one",
                old.line, old.text
            );
            return ChangeStep::refused(format!("{pointer}/bullet"), message);
        }
        let new = format!("{new_text} (updated {})", self.today);
        let text = edit::apply(&self.text, vec![Edit::replace(old.range, new.clone())]);
        self.touched.push(new.clone());
        verified(&constraints, text, &new, 0, format!("{pointer}/bullet"))
    }

    fn supersede(&mut self, change: &ConstraintChange, pointer: &str) -> ChangeStep {
        let pattern = change.matching.as_deref().unwrap_or_default();
        let reason = Line::new(change.reason.as_deref().unwrap_or_default());
        let constraints = Constraints::parse(&self.text);
        let old = match self.find_bullet(&constraints, change, pointer) {
            Ok(old) => old.clone(),
            Err(step) => {
                let pattern = without_note(pattern);
                let earlier = constraints.bullets.iter().find(|bullet| {
                    constraints.is_superseded(bullet)
                        && bullet.text.contains(pattern)
                        && bullet.text.ends_with(reason.as_str())
                });
                return match earlier {
                    Some(bullet) => {
                        let message = format!("is already superseded, see line {}", bullet.line);
                        ChangeStep::Repeated(Problem::new(format!("{pointer}/match"), message))
                    }
                    None => step,
                };
            }
        };
        let new = format!("(Superseded {}) {} \u{2014} {reason}", self.today, old.text);
        let nested = nested_lines(&self.text, &old);
        let removed = edit::apply(&self.text, vec![Edit::replace(old.lines.clone(), "")]);
        let remaining = Constraints::parse(&removed);
        let text = ConstraintMerge { text: removed, touched: Vec::new(), ..*self };
        let text = match remaining.section(SUPERSEDED) {
            Some(section) => text.with_bullet(&remaining, section, &(new.clone() + &nested)),
            None => text.with_section(&remaining, SUPERSEDED, &(new.clone() + &nested)),
        };
        self.touched.push(new.clone());
        verified(&constraints, text, &new, 0, format!("{pointer}/match"))
    }

    /// Returns the only bullet that a change matches.
    fn find_bullet<'b>(
        &self,
        constraints: &'b Constraints,
        change: &ConstraintChange,
        pointer: &str,
    ) -> Result<&'b Bullet, ChangeStep> {
        let pattern = change.matching.as_deref().unwrap_or_default().trim();
        let section = match &change.section {
            None => None,
            Some(title) => Some(constraints.section(title).ok_or_else(|| {
                let message = format!("there is no section {title:?} in CONSTRAINTS.md");
                ChangeStep::refused(format!("{pointer}/section"), message)
            })?),
        };
        let matching = constraints.matching(pattern, section);
        let place = format!("{pointer}/match");
        match matching[..] {
            [one] if self.touched.contains(&one.text) => {
                let message = format!("matches line {}, which this same update writes", one.line);
                Err(ChangeStep::refused(place, message))
            }
            [one] => Ok(one),
            [] => Err(ChangeStep::refused(place, "matches no current bullet")),
            _ => {
                let lines: Vec<String> =
                    matching.iter().map(|bullet| bullet.line.to_string()).collect();
                let message =
                    format!("matches {} bullets, on lines {}", lines.len(), lines.join(", "));
                Err(ChangeStep::refused(place, message))
            }
        }
    }

    /// Returns the text with a bullet at the end of a section.
    fn with_bullet(&self, constraints: &Constraints, section: usize, bullet: &str) -> String {
        let own = &constraints.sections[section].own;
        let last = constraints.bullets.iter().rfind(|bullet| bullet.section == section);
        let written = self.text[own.clone()].trim_end();
        let content_end = own.start + written.len();
        let ends_with_bullet = last.is_some_and(|last| last.lines.end >= content_end);
        let marker = last.map_or('-', |last| bullet_marker(&self.text, last));
        let at = match self.text[content_end..].find('\n') {
            // An empty section begins after its heading's line.
            _ if written.trim().is_empty() => own.start,
            Some(end) => content_end + end + 1,
            None => self.text.len(),
        };
        let has_line_end = at == 0 || self.text[..at].ends_with('\n');
        let mut new = String::new();
        if !has_line_end {
            new.push_str(self.line_end);
        }
        if !written.trim().is_empty() && !ends_with_bullet {
            new.push_str(self.line_end);
        }
        new.push(marker);
        new.push(' ');
        new.push_str(bullet);
        new.push_str(self.line_end);
        let before_heading = self.text[at..].starts_with('#');
        if before_heading {
            new.push_str(self.line_end);
        }
        edit::apply(&self.text, vec![Edit::insert(at, new)])
    }

    /// Returns the text with a new section, inserted before the first one that follows it in the standard order; a
    /// section that is not in the standard order is inserted before Superseded.
    fn with_section(&self, constraints: &Constraints, title: &str, bullet: &str) -> String {
        let place = SECTIONS.iter().position(|known| fold(known) == fold(title));
        let following = &SECTIONS[place.map_or(SECTIONS.len() - 1, |place| place + 1)..];
        let next = following.iter().find_map(|title| constraints.section(title));
        let at = next.map_or(self.text.len(), |next| {
            line_start(&self.text, constraints.sections[next].heading.start)
        });
        let end = self.line_end;
        let gap = gap_after(&self.text[..at], end);
        let below = if next.is_some() { end } else { "" };
        let new = format!("{gap}## {title}{end}- {bullet}{end}{below}");
        edit::apply(&self.text, vec![Edit::insert(at, new)])
    }
}

/// Accepts a text only if it parses as intended; an unclosed code fence, for example, absorbs the text after it.
fn verified(
    before: &Constraints,
    text: String,
    bullet: &str,
    added: usize,
    pointer: String,
) -> ChangeStep {
    let after = Constraints::parse(&text);
    let first = bullet.lines().next().unwrap_or_default();
    let is_present = after.bullets.iter().any(|bullet| bullet.text == first);
    let is_count_wrong = before.bullets.len() + added != after.bullets.len();
    if is_present && !is_count_wrong {
        return ChangeStep::Changed(text);
    }
    let message = "the surrounding markdown, such as an unclosed code fence, would absorb the bullet; fix CONSTRAINTS.md first";
    ChangeStep::refused(pointer, message)
}

fn duplicate_problem(pointer: &str, other: &Bullet) -> Problem {
    let message =
        format!("duplicates line {}, {:?}; edit that bullet instead", other.line, other.text);
    Problem::new(pointer, message)
}

fn is_same_text(one: &str, other: &str) -> bool {
    one == other || without_note(one) == without_note(other)
}

fn title_fault(title: &str) -> Option<String> {
    if is_named(title, SUPERSEDED) {
        return Some("is reserved for superseded bullets; use `supersede`".to_owned());
    }
    let is_plain = !title.starts_with(['\\', '#']) && title.chars().count() <= MAX_TITLE_LENGTH;
    (!is_plain).then(|| format!("is not a section title of at most {MAX_TITLE_LENGTH} characters"))
}

/// Returns the standard spelling of a section's title.
fn canonical_title(title: &str) -> String {
    let known = SECTIONS.iter().find(|known| fold(known) == fold(title));
    known.map_or_else(|| title.to_owned(), |known| (*known).to_owned())
}

/// Returns the list marker of a bullet, or `-` if it cannot be reused.
fn bullet_marker(text: &str, bullet: &Bullet) -> char {
    let line = text.get(bullet.lines.clone()).unwrap_or_default();
    line.chars().next().filter(|c| "-*+".contains(*c)).unwrap_or('-')
}

/// Returns the lines nested in a bullet, verbatim.
fn nested_lines(text: &str, bullet: &Bullet) -> String {
    let rest = text.get(bullet.range.end..bullet.lines.end).unwrap_or_default();
    let nested = rest.find('\n').map_or("", |at| &rest[at..]);
    nested.trim_end().to_owned()
}

#[cfg(test)]
mod tests;
