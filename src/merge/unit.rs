//! Splits a file into units, each merged as a whole.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::markdown::comments::generated_block;
use crate::markdown::{Outline, line_start};
use crate::merge::versions::{MergeResult, Versions};
use crate::patterns::Trace;

/// The identity of the generated block of a context file, which equals that of any other version.
const BLOCK: &str = "<!-- annals:begin";

/// A unit of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MergeUnit<'a> {
    /// The text by which units are compared for equality.
    pub(crate) identity: Cow<'a, str>,
    /// A key that should be unique in a file, such as the name of an entry.
    pub(crate) key: Cow<'a, str>,
    /// The text of the unit, without trailing blank lines.
    pub(crate) text: &'a str,
    /// The end of its last line and the blank lines after it.
    pub(crate) gap: &'a str,
    /// Whether a unit of this kind is separated from the next by a blank line.
    pub(crate) is_block: bool,
}

impl<'a> MergeUnit<'a> {
    /// Creates a unit for a line or a bullet, with its text as the key.
    pub(crate) fn line(whole: &'a str) -> Self {
        let text = whole.trim_end_matches(['\n', '\r']);
        let identity = without_carriage_returns(text);
        Self { key: identity.clone(), identity, text, gap: &whole[text.len()..], is_block: false }
    }

    /// Creates a unit for an entry or another block with a key, surrounded by blank lines.
    fn block(whole: &'a str, key: Cow<'a, str>) -> Self {
        Self { key, is_block: true, ..Self::line(whole) }
    }
}

/// Returns the text without carriage returns, so that line endings do not matter.
fn without_carriage_returns(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace('\r', "")) } else { Cow::Borrowed(text) }
}

/// The section of DECISIONS.md that is generated from its entries.
const ROLLUP_HEADING: &str = "## Recent";

/// Splits at every heading down to the third level: an entry, or the introduction of a section.
pub(crate) fn split_by_heading(text: &str) -> Vec<MergeUnit<'_>> {
    let outline = Outline::parse(text, 0);
    let sections = outline.sections().iter();
    let starts = sections.filter(|section| section.level <= 3).map(|section| section.heading.start);
    let ranges = ranges_from_starts(text, starts);
    ranges
        .into_iter()
        .map(|range| {
            let section = &text[range];
            let mut unit = MergeUnit::block(section, entry_key(section));
            if section.starts_with(ROLLUP_HEADING) {
                unit.identity = Cow::Borrowed(ROLLUP_HEADING);
            }
            unit
        })
        .collect()
}

/// Returns the key of an entry: the phase in its comment, or else its heading.
fn entry_key(entry: &str) -> Cow<'_, str> {
    match Trace::parse(entry) {
        Some(Trace { phase_dir, milestone, .. }) => {
            Cow::Owned(format!("{phase_dir} {}", milestone.unwrap_or_default()))
        }
        None => Cow::Borrowed(entry.lines().next().unwrap_or("").trim_end()),
    }
}

/// Splits at every heading and at every top-level bullet.
pub(crate) fn split_by_bullet(text: &str) -> Vec<MergeUnit<'_>> {
    let outline = Outline::parse(text, 0);
    let headings = outline.sections().iter().map(|section| section.heading.start);
    let whole = 0..text.len();
    let bullets = outline
        .items(&whole)
        .filter(|(_, item)| item.depth == 0)
        .map(|(block, _)| block.range.start);
    let mut starts: Vec<usize> = headings.clone().chain(bullets).collect();
    let headings: Vec<usize> = headings.collect();
    starts.sort_unstable();
    ranges_from_starts(text, starts.into_iter())
        .into_iter()
        .map(|range| {
            let is_block = headings.binary_search(&range.start).is_ok();
            MergeUnit { is_block, ..MergeUnit::line(&text[range]) }
        })
        .collect()
}

/// Splits at every line.
pub(crate) fn split_by_line(text: &str) -> Vec<MergeUnit<'_>> {
    text.split_inclusive('\n').map(MergeUnit::line).collect()
}

/// Splits a context file at every line, but keeps its generated block as one unit; the blocks of all versions
/// count as equal.
pub(crate) fn split_around_block(text: &str) -> Vec<MergeUnit<'_>> {
    let Some(block) = generated_block(text) else {
        return split_by_line(text);
    };
    let mut units = split_by_line(&text[..block.start]);
    units.push(MergeUnit {
        identity: Cow::Borrowed(BLOCK),
        ..MergeUnit::block(&text[block.clone()], Cow::Borrowed(BLOCK))
    });
    units.extend(split_by_line(&text[block.end..]));
    units
}

/// Returns the ranges between the starts of the lines at these offsets, and that of the text before the first one.
fn ranges_from_starts(text: &str, starts: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut bounds: Vec<usize> = starts.map(|offset| line_start(text, offset)).collect();
    bounds.push(0);
    bounds.push(text.len());
    bounds.sort_unstable();
    bounds.dedup();
    bounds.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Merges a generated table by the key in its first column.
///
/// If both sides have a row, the one with the later date in its last column wins: rows are generated from
/// entry files, which are merged separately, and the next write or audit regenerates the whole table.
pub(crate) fn merge_rows(versions: Versions<'_>) -> MergeResult {
    let (base, ours, theirs) =
        (rows_by_key(versions.base), rows_by_key(versions.ours), rows_by_key(versions.theirs));
    let mut rows = ours.clone();
    for (key, row) in &theirs {
        match (ours.get(key), base.get(key)) {
            (Some(own), _) if row_date(own) >= row_date(row) => {}
            (None, Some(old)) if old == row => {}
            _ => {
                rows.insert(key, row);
            }
        }
    }
    rows.retain(|key, row| theirs.contains_key(key) || base.get(key) != Some(row));
    let is_row = |line: &&str| row_key(line).is_some();
    let mut text: String =
        versions.ours.split_inclusive('\n').take_while(|line| !is_row(line)).collect();
    if text.is_empty() {
        let head = versions.theirs.split_inclusive('\n');
        text.extend(head.take_while(|line| !is_row(line)));
    }
    for row in rows.values() {
        text.push_str(row);
        text.push('\n');
    }
    MergeResult { text, conflicts: 0 }
}

fn rows_by_key(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter_map(|line| Some((row_key(line)?, line.trim_end()))).collect()
}

/// Returns the key of a row, or `None` for the header and the delimiter row.
fn row_key(line: &str) -> Option<&str> {
    let cell = line.trim().strip_prefix('|')?.split('|').next()?.trim();
    let is_head = cell == "key" || cell.trim_matches(['-', ':']).is_empty();
    (!is_head).then_some(cell)
}

fn row_date(row: &str) -> &str {
    let row = row.trim().trim_end_matches('|');
    row.rsplit('|').next().unwrap_or("").trim()
}
