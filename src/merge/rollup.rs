//! Merges the rollup of DECISIONS.md, which each side rewrites completely.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::markdown::Outline;
use crate::merge::Versions;
use crate::text::line_end;

/// Prefix of the rollup's heading.
const HEADING: &str = "Recent";
/// Maximum number of bullets of the rollup.
const MAX_BULLETS: usize = 10;

/// Returns our version with the new bullets of their rollup appended to ours, at most ten bullets in total.
pub(crate) fn with_merged_rollup(versions: Versions<'_>) -> Cow<'_, str> {
    let ours = bullets(versions.ours);
    let Some((_, end)) = ours.last().copied() else {
        return Cow::Borrowed(versions.ours);
    };
    let base = bullets(versions.base);
    let known: HashSet<&str> = base
        .iter()
        .chain(&ours)
        .map(|(bullet, _)| *bullet)
        .collect();
    let new: Vec<&str> = bullets(versions.theirs)
        .into_iter()
        .map(|(bullet, _)| bullet)
        .filter(|bullet| !known.contains(bullet))
        .take(MAX_BULLETS.saturating_sub(ours.len()))
        .collect();
    if new.is_empty() {
        return Cow::Borrowed(versions.ours);
    }
    let (before, after) = versions.ours.split_at(end);
    let line_end = line_end(versions.ours);
    let gap = if before.ends_with('\n') { "" } else { line_end };
    let mut text = format!("{before}{gap}");
    for bullet in new {
        text.extend(["- ", bullet, line_end]);
    }
    text.push_str(after);
    Cow::Owned(text)
}

/// Returns the bullets of the rollup, each with the offset of the end of its line.
fn bullets(text: &str) -> Vec<(&str, usize)> {
    let outline = Outline::parse(text, 0);
    let rollup = outline
        .sections()
        .iter()
        .find(|section| section.level == 2 && section.title.starts_with(HEADING));
    let Some(rollup) = rollup else {
        return Vec::new();
    };
    let mut at = rollup.own.start;
    let mut found = Vec::new();
    for line in text[rollup.own.clone()].split_inclusive('\n') {
        at += line.len();
        if let Some(bullet) = line.strip_prefix("- ") {
            found.push((bullet.trim_end(), at));
        }
    }
    found
}
