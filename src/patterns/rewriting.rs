//! Replaces the lessons of an entry with judged ones, as long as its bullets are unchanged since annals wrote
//! them.

use crate::error::{Error, Result};
use crate::patterns;
use crate::patterns::appending::changeable_text;
use crate::patterns::bullet_list::{NONE, NONE_CHOSEN, is_filler};
use crate::patterns::judged::CheckedLessons;
use crate::patterns::lesson::Lesson;
use crate::patterns::{LessonSource, PatternEntry, Patterns, bullet_list, trace};
use crate::project::Project;
use crate::storage::Changes;
use crate::text::quantity;

/// Plans replacing the lessons of a recorded entry, which is identified by the line of its heading.
///
/// Refused if the entry's bullets are not, byte for byte, what annals wrote.
pub(crate) fn replace_lessons(
    project: &Project,
    line: usize,
    lessons: &CheckedLessons,
    changes: &mut Changes,
) -> Result<()> {
    let path = patterns::path(&project.planning_place().dir);
    let old = changes.current(&path)?;
    let text = changeable_text(old.clone().unwrap_or_default(), &path)?;
    let known = Patterns::parse(&text, &path).value;
    let entry = known.entries.into_iter().find(|entry| entry.line == line);
    let new = entry.and_then(|entry| {
        let new = rewritten(&entry, lessons)?;
        Some(format!("{}{new}{}", &text[..entry.range.start], &text[entry.range.end..]))
    });
    let new = new.ok_or_else(|| {
        Error::refused("the entry's bullets were edited and are not replaced")
            .at(&path, line)
            .hint("--again appends a new entry, or `annals patterns note` adds to them")
    })?;
    changes.edit(&path, old, new.into_bytes())
}

/// Returns an entry's text with other lessons; `None` if its bullets are not, byte for byte, what annals
/// wrote.
pub(crate) fn rewritten(entry: &PatternEntry, lessons: &CheckedLessons) -> Option<String> {
    let trace = entry.trace.as_ref()?;
    let written = trace.bullets.as_deref()?;
    if bullet_list::digest(&entry.worked, &entry.failed) != written {
        return None;
    }
    let none_failed = none_failed(entry);
    // Earlier versions wrote the same for every empty list.
    let plain =
        [NONE, &none_failed].map(|none| bullet_list::section(&entry.worked, &entry.failed, none));
    let plain = plain.iter().find(|plain| {
        let crlf = plain.replace('\n', "\r\n");
        entry.text.contains(*plain) || entry.text.contains(&crlf)
    })?;
    let (at, old, end) = ["\n", "\r\n"].into_iter().find_map(|end| {
        let old = plain.replace('\n', end);
        Some((entry.text.find(&old)?, old, end))
    })?;
    let texts = |lessons: &[Lesson]| -> Vec<String> {
        lessons.iter().map(|lesson| lesson.text.to_string()).collect()
    };
    let (worked, failed) = (texts(&lessons.worked), texts(&lessons.failed));
    let sources: Vec<Option<LessonSource>> =
        lessons.worked.iter().chain(&lessons.failed).map(|lesson| lesson.source.clone()).collect();
    let mut new = entry.text.clone();
    let section = bullet_list::section(&worked, &failed, &none_failed).replace('\n', end);
    new.replace_range(at..at + old.len(), &section);
    trace::with_judged_mark(&new, &sources, &bullet_list::digest(&worked, &failed))
}

/// Returns the bullet that stands for an empty list of what failed: the one in the entry, or else one that
/// agrees with its number of deviations.
fn none_failed(entry: &PatternEntry) -> String {
    let bullets = entry.text.lines().filter_map(|line| line.strip_prefix("- "));
    let written = bullets.map(str::trim_end).rfind(|text| is_filler(text));
    if let Some(written) = written.filter(|text| *text != NONE) {
        return written.to_owned();
    }
    match usize::try_from(entry.deviations.count.unwrap_or_default()) {
        Ok(count) if count > 0 => format!("{NONE_CHOSEN}{}", quantity(count, "deviation")),
        _ => NONE.to_owned(),
    }
}
