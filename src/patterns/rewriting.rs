//! Replaces the lessons of an entry with judged ones, as long as its bullets are unchanged since annals wrote
//! them.

use crate::error::{Error, Result};
use crate::patterns;
use crate::patterns::appending::changeable_text;
use crate::patterns::judged::CheckedLessons;
use crate::patterns::lesson::Lesson;
use crate::patterns::relevance::is_statistic;
use crate::patterns::{PatternEntry, Patterns, bullet_list};
use crate::project::Project;
use crate::storage::Changes;

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
fn rewritten(entry: &PatternEntry, lessons: &CheckedLessons) -> Option<String> {
    let mut trace = entry.trace.clone()?;
    if trace.bullets.as_deref() != Some(&bullet_list::digest(&entry.worked, &entry.failed)) {
        return None;
    }
    let plain = bullet_list::section(&entry.worked, &entry.failed);
    let ends = ["\n", "\r\n"].into_iter();
    let (end, old) = ends
        .map(|end| (end, plain.replace('\n', end)))
        .find(|(_, old)| entry.text.contains(old))?;
    // Statistics compare plans of all phases, so they stay.
    let bullets = |lessons: &[Lesson], texts: &[String]| -> Vec<String> {
        let statistics = texts.iter().filter(|text| is_statistic(text)).cloned();
        lessons.iter().map(|one| one.text.to_string()).chain(statistics).collect()
    };
    let worked = bullets(&lessons.worked, &entry.worked);
    let failed = bullets(&lessons.failed, &entry.failed);
    let source = |list: &[Lesson], at: usize| list.get(at).and_then(|one| one.source.clone());
    trace.sources = (0..worked.len()).map(|at| source(&lessons.worked, at)).collect();
    trace.sources.extend((0..failed.len()).map(|at| source(&lessons.failed, at)));
    trace.judged = true;
    trace.bullets = Some(bullet_list::digest(&worked, &failed));
    let new = bullet_list::section(&worked, &failed).replace('\n', end);
    let at = entry.text.find(&old)?;
    trace.replaced_in(&format!("{}{new}{}", &entry.text[..at], &entry.text[at + old.len()..]))
}
