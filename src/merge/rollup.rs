//! Merges the rollup of DECISIONS.md, which is rewritten as a whole.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::ledger::{MAX_ROLLUP_BULLETS, bullet_end};
use crate::markdown::{Outline, line_start};
use crate::merge::versions::Versions;
use crate::text::{fold, line_end};

/// Prefix of the rollup's heading.
const HEADING: &str = "Recent";

/// Returns our version with the merged rollup.
///
/// If only one side changed the rollup, its rollup is used. Otherwise our bullets are kept, without those that
/// theirs removed and with those that theirs added, at most ten in total.
pub(crate) fn with_merged_rollup(versions: Versions<'_>) -> Cow<'_, str> {
    let unchanged = Cow::Borrowed(versions.ours);
    let (Some(own), Some(other)) = (Rollup::find(versions.ours), Rollup::find(versions.theirs))
    else {
        return unchanged;
    };
    let old = Rollup::find(versions.base);
    let is_unchanged = |side: &Rollup<'_>| {
        let old = old.as_ref();
        old.is_some_and(|old| old.plain_text() == side.plain_text())
    };
    if is_unchanged(&other) || own.plain_text() == other.plain_text() {
        return unchanged;
    }
    let line_end = line_end(versions.ours);
    let merged = if is_unchanged(&own) {
        with_line_ends(other.text, line_end)
    } else {
        merge(old.as_ref(), &own, &other, line_end)
    };
    let (before, after) =
        (&versions.ours[..own.start], &versions.ours[own.start + own.text.len()..]);
    Cow::Owned([before, &merged, after].concat())
}

/// A version's rollup.
struct Rollup<'a> {
    /// Byte offset in the file.
    start: usize,
    /// Its heading and content, without trailing blank lines.
    text: &'a str,
    bullets: Vec<Bullet>,
}

/// A bullet of the outermost list.
struct Bullet {
    /// Byte range of its lines in the rollup, including nested ones.
    lines: Range<usize>,
    /// Its text without the marker, by which bullets are compared.
    text: String,
}

impl<'a> Rollup<'a> {
    fn find(text: &'a str) -> Option<Self> {
        let outline = Outline::parse(text, 0);
        let mut sections = outline.sections().iter();
        let rollup =
            sections.find(|section| section.level == 2 && section.title.starts_with(HEADING))?;
        let start = rollup.heading.start;
        let end = sections
            .find(|section| section.level <= 3)
            .map_or(text.len(), |next| next.heading.start);
        let section = text[start..end].trim_end();
        let range = start..start + section.len();
        let items = outline.items(&range).filter(|(_, item)| item.depth == 0);

        let ranges: Vec<Range<usize>> =
            items.map(|(block, _)| line_start(text, block.range.start)..block.range.end).collect();
        let next_starts = ranges.iter().skip(1).map(|next| next.start);
        let bullets = ranges
            .iter()
            .zip(next_starts.chain([range.end]))
            .map(|(own, next)| {
                let end = bullet_end(text, own.end, next);
                let written = &text[own.start..end];
                Bullet { lines: own.start - start..end - start, text: without_marker(written) }
            })
            .collect();
        Some(Self { start, text: section, bullets })
    }

    /// Returns the text by which two versions are compared.
    fn plain_text(&self) -> String {
        self.text.replace('\r', "")
    }

    fn bullet_texts(&self) -> HashSet<&str> {
        self.bullets.iter().map(|bullet| &*bullet.text).collect()
    }
}

fn without_marker(bullet: &str) -> String {
    let text = bullet.trim_start();
    let text = text.strip_prefix(['-', '*', '+']).unwrap_or(text);
    text.replace('\r', "").trim().to_owned()
}

/// Returns whether a text is a placeholder for an empty list.
///
/// Placeholders of the ledger's templates, such as `[ADR-12]`, may be content here.
fn is_placeholder(text: &str) -> bool {
    let plain = fold(text.trim_matches(['(', ')', '*', '_', '.', ' ', '-', '`']));
    ["", "none", "none yet", "n/a", "tbd", "todo"].contains(&plain.as_str())
}

fn with_line_ends(text: &str, line_end: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', line_end)
}

/// The bullets of two rollups that both differ from the base's.
struct Changes<'a> {
    /// Whether each bullet of ours is kept.
    is_kept: Vec<bool>,
    /// Each new bullet of theirs, with the index of our bullet above which it is inserted; our number of bullets
    /// means below the last one.
    new: Vec<(usize, &'a Bullet)>,
}

impl<'a> Changes<'a> {
    fn of(old: Option<&Rollup<'_>>, own: &Rollup<'_>, other: &'a Rollup<'_>) -> Self {
        let in_old = old.map(Rollup::bullet_texts).unwrap_or_default();
        let (in_own, in_other) = (own.bullet_texts(), other.bullet_texts());
        let is_new = |bullet: &Bullet| {
            let text = bullet.text.as_str();
            !in_old.contains(text) && !in_own.contains(text) && !is_placeholder(text)
        };
        let has_new = other.bullets.iter().any(is_new);
        let is_dropped = |bullet: &Bullet| {
            let text = bullet.text.as_str();
            let is_removed = in_old.contains(text) && !in_other.contains(text);
            is_removed || has_new && is_placeholder(text)
        };
        let is_kept: Vec<bool> = own.bullets.iter().map(|own| !is_dropped(own)).collect();
        let kept = is_kept.iter().filter(|is_kept| **is_kept).count();
        let mut new = Vec::new();
        for (index, bullet) in other.bullets.iter().enumerate() {
            if !is_new(bullet) || kept + new.len() >= MAX_ROLLUP_BULLETS {
                continue;
            }
            let below = other.bullets[index + 1..].iter().find_map(|next| {
                let mut bullets = own.bullets.iter().zip(&is_kept);
                bullets.position(|(own, is_kept)| *is_kept && own.text == next.text)
            });
            new.push((below.unwrap_or(own.bullets.len()), bullet));
        }
        Self { is_kept, new }
    }
}

/// Merges two rollups that both differ from the base's.
fn merge(old: Option<&Rollup<'_>>, own: &Rollup<'_>, other: &Rollup<'_>, line_end: &str) -> String {
    let Changes { is_kept, new } = Changes::of(old, own, other);
    let first = own.bullets.first().map_or(own.text.len(), |b| b.lines.start);
    let (mut merged, mut written) = (own.text[..first].to_owned(), first);
    if own.bullets.is_empty() {
        let (heading, body) = merged.split_once('\n').unwrap_or((&merged, ""));
        if !new.is_empty() && is_placeholder(body.trim()) {
            merged = heading.trim_end().to_owned();
        } else if !body.trim().is_empty() {
            merged.push_str(line_end);
        }
    }
    let write = |merged: &mut String, lines: &str| {
        if !merged.ends_with('\n') {
            merged.push_str(line_end);
        }
        merged.push_str(lines);
    };
    for index in 0..=own.bullets.len() {
        for (_, bullet) in new.iter().filter(|(below, _)| *below == index) {
            let lines = with_line_ends(&other.text[bullet.lines.clone()], line_end);
            write(&mut merged, &lines);
        }
        let (Some(bullet), Some(is_kept)) = (own.bullets.get(index), is_kept.get(index)) else {
            continue;
        };
        if *is_kept {
            write(&mut merged, &own.text[bullet.lines.clone()]);
        }
        written = bullet.lines.end;
        // Text between bullets stays in place; text below the last bullet follows the bullets added there.
        if let Some(next) = own.bullets.get(index + 1) {
            merged.push_str(&own.text[written..next.lines.start]);
            written = next.lines.start;
        }
    }
    if !own.text[written..].is_empty() {
        write(&mut merged, &own.text[written..]);
    }
    merged.truncate(merged.trim_end().len());
    merged
}
