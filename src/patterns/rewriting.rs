//! Replaces the lessons of an entry with judged ones, as long as its bullets are unchanged since annals wrote
//! them.

use crate::error::{Error, Result};
use crate::patterns;
use crate::patterns::appending::changeable_text;
use crate::patterns::bullet_list::{NONE, is_filler};
use crate::patterns::judged::CheckedLessons;
use crate::patterns::relevance::is_count;
use crate::patterns::{PatternEntry, Patterns, bullet_list, trace};
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
pub(crate) fn rewritten(entry: &PatternEntry, lessons: &CheckedLessons) -> Option<String> {
    let trace = entry.trace.as_ref()?;
    let written = trace.bullets.as_deref()?;
    if bullet_list::digest(&entry.worked, &entry.failed) != written {
        return None;
    }
    // Entries of earlier versions stand for an empty list in other words, which stay.
    let bullets = entry.text.lines().filter_map(|line| line.strip_prefix("- ")).map(str::trim_end);
    let mut fillers = bullets.filter(|text| is_filler(text));
    let first = fillers.next().unwrap_or(NONE);
    let none = [first, fillers.next().unwrap_or(first)];
    let plain = bullet_list::section(&entry.worked, &entry.failed, none);
    let (at, old, end) = ["\n", "\r\n"].into_iter().find_map(|end| {
        let old = plain.replace('\n', end);
        Some((entry.text.find(&old)?, old, end))
    })?;
    let mut bullets = [&lessons.worked, &lessons.failed]
        .map(|lessons| lessons.iter().map(|one| one.text.to_string()).collect::<Vec<_>>());
    let mut sources = [&lessons.worked, &lessons.failed]
        .map(|lessons| lessons.iter().map(|one| one.source.clone()).collect::<Vec<_>>());
    // A difference between plans, which has no single source, is no lesson of one phase and stays.
    for (at, text) in entry.texts().enumerate() {
        let has_no_source = trace.sources.get(at).is_some_and(Option::is_none);
        let list = usize::from(at >= entry.worked.len());
        if has_no_source && is_count(text) {
            bullets[list].push(text.to_owned());
            sources[list].push(None);
        }
    }
    let mut new = entry.text.clone();
    let section = bullet_list::section(&bullets[0], &bullets[1], [NONE; 2]).replace('\n', end);
    new.replace_range(at..at + old.len(), &section);
    let digest = bullet_list::digest(&bullets[0], &bullets[1]);
    trace::with_judged_mark(&new, &sources.concat(), &digest)
}
