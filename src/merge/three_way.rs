//! Three-way merge of two lists of units with a common base.

use std::collections::{HashMap, HashSet};
use std::iter;
use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::merge::kind::InsertPolicy;
use crate::merge::unit::MergeUnit;
use crate::merge::versions::MergeResult;

/// Labels of the sides in conflict markers.
#[derive(Clone, Debug)]
pub struct Labels {
    /// Length of a marker in characters; git's default is 7.
    pub marker_length: usize,
    /// The branch that is merged into.
    pub ours: String,
    /// The branch that is merged.
    pub theirs: String,
}

/// A range of the base that one side replaced with a range of its own; either may be empty.
#[derive(Clone, Debug)]
struct Hunk {
    base: Range<usize>,
    side: Range<usize>,
}

/// Merges two versions of `base`.
pub(crate) fn merge<'u>(
    base: &'u [MergeUnit<'_>],
    ours: &'u [MergeUnit<'_>],
    theirs: &'u [MergeUnit<'_>],
    inserts: InsertPolicy,
    labels: &Labels,
) -> MergeResult {
    let identities = |units: &'u [MergeUnit<'_>]| units.iter().map(|unit| &*unit.identity);
    let in_base: HashSet<&str> = identities(base).collect();
    let mut added_by_ours = HashMap::new();
    for unit in ours {
        if !in_base.contains(&*unit.identity) {
            added_by_ours.entry(&*unit.key).or_insert(unit);
        }
    }
    let mut merge = ThreeWayMerge {
        base,
        ours,
        theirs,
        inserts,
        in_base,
        added_by_ours,
        out: Writer::new(labels),
    };
    merge.run();
    merge.out.finish()
}

/// A position in each version, as an index of units.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    base: usize,
    ours: usize,
    theirs: usize,
}

struct ThreeWayMerge<'m, 'a> {
    base: &'m [MergeUnit<'a>],
    ours: &'m [MergeUnit<'a>],
    theirs: &'m [MergeUnit<'a>],
    inserts: InsertPolicy,
    /// The identities of the units of the base.
    in_base: HashSet<&'m str>,
    /// Units added by ours, by key, to detect those that theirs added, too; a unit of the base may just have
    /// been moved by theirs.
    added_by_ours: HashMap<&'m str, &'m MergeUnit<'a>>,
    out: Writer<'m>,
}

impl<'m, 'a> ThreeWayMerge<'m, 'a> {
    fn run(&mut self) {
        let ours = hunks(self.base, self.ours);
        let theirs = hunks(self.base, self.theirs);
        let (mut own, mut other) = (ours.as_slice(), theirs.as_slice());
        let mut written = Position::default();
        while let Some(first) =
            [own.first(), other.first()].into_iter().flatten().map(|hunk| hunk.base.start).min()
        {
            let unchanged = first - written.base;
            self.write_unchanged(written, unchanged);
            let start = Position {
                base: first,
                ours: written.ours + unchanged,
                theirs: written.theirs + unchanged,
            };
            let (own_count, other_count, end) = match self.inserts {
                InsertPolicy::KeepBoth => single_insertion(own, other, first),
                InsertPolicy::Conflict => None,
            }
            .unwrap_or_else(|| overlapping_region(own, other, first));
            let end = Position {
                base: end,
                ours: position_in_side(&own[..own_count], start.ours, start.base, end),
                theirs: position_in_side(&other[..other_count], start.theirs, start.base, end),
            };
            let replaced = &self.base[start.base..end.base];
            let our_units = &self.ours[start.ours..end.ours];
            let their_units = &self.theirs[start.theirs..end.theirs];
            match (own_count, other_count) {
                (_, 0) => self.out.write_units(our_units),
                (0, _) => self.write_theirs(their_units),
                _ => self.write_both(replaced, our_units, their_units),
            }
            own = &own[own_count..];
            other = &other[other_count..];
            written = end;
        }
        self.write_unchanged(written, self.base.len() - written.base);
    }

    /// Writes unchanged units, with the blank lines of the side that changed those.
    fn write_unchanged(&mut self, from: Position, count: usize) {
        for step in 0..count {
            let base = &self.base[from.base + step];
            let (own, other) = (&self.ours[from.ours + step], &self.theirs[from.theirs + step]);
            let gap = if own.gap == base.gap { other.gap } else { own.gap };
            self.out.write_unit(own, gap);
        }
    }

    /// Writes a region that both sides changed.
    fn write_both(
        &mut self,
        replaced: &[MergeUnit<'a>],
        ours: &'m [MergeUnit<'a>],
        theirs: &'m [MergeUnit<'a>],
    ) {
        if are_equal(ours, theirs) {
            return self.out.write_units(ours);
        }
        let conflicts_on_insert = self.inserts == InsertPolicy::Conflict;
        if !replaced.is_empty() || conflicts_on_insert {
            return self.out.write_conflict(ours, theirs);
        }
        // Units that either side adds above its first new heading belong to the existing section.
        let split = |units: &'m [MergeUnit<'a>]| {
            let is_block = |unit: &MergeUnit<'_>| unit.is_block;
            units.split_at(units.iter().position(is_block).unwrap_or(units.len()))
        };
        let ((own, own_blocks), (other, other_blocks)) = (split(ours), split(theirs));
        let has_items = !own.is_empty() || !other.is_empty();
        let has_both = has_items && (!own_blocks.is_empty() || !other_blocks.is_empty());
        // The blank line above a new heading goes below the units added above it.
        if has_both && !self.out.last_is_block {
            self.out.remove_trailing_blanks();
        }
        self.out.write_units(own);
        if !own.is_empty() && !other.is_empty() {
            self.out.remove_trailing_blanks();
        }
        self.write_theirs(other);
        if has_both {
            self.out.remove_trailing_blanks();
            self.out.add_line_end();
        }
        self.out.write_units(own_blocks);
        self.write_theirs(other_blocks);
    }

    /// Writes the units that theirs added and ours did not; different new units with the same key conflict.
    fn write_theirs(&mut self, theirs: &'m [MergeUnit<'a>]) {
        if self.inserts == InsertPolicy::Conflict {
            return self.out.write_units(theirs);
        }
        for unit in theirs {
            let is_new = !self.in_base.contains(&*unit.identity);
            let same_key = self.added_by_ours.get(&*unit.key).filter(|_| is_new);
            match same_key {
                None => self.out.write_unit(unit, unit.gap),
                Some(own) if own.identity == unit.identity => {}
                Some(_) => self.out.write_conflict(&[], std::slice::from_ref(unit)),
            }
        }
    }
}

/// Returns the changes of one side, as ranges of the base and of the side.
///
/// The work is bounded: for very different versions, the changes are not always the smallest ones.
fn hunks(base: &[MergeUnit<'_>], side: &[MergeUnit<'_>]) -> Vec<Hunk> {
    let base: Vec<&str> = base.iter().map(|unit| &*unit.identity).collect();
    let side: Vec<&str> = side.iter().map(|unit| &*unit.identity).collect();
    capture_diff_slices(Algorithm::Myers, &base, &side)
        .into_iter()
        .filter(|operation| operation.tag() != DiffTag::Equal)
        .map(|operation| Hunk { base: operation.old_range(), side: operation.new_range() })
        .collect()
}

/// If two hunks start here and only one of them is a mere insertion, returns that one, to be written first.
fn single_insertion(ours: &[Hunk], theirs: &[Hunk], start: usize) -> Option<(usize, usize, usize)> {
    let (own, other) = (ours.first()?, theirs.first()?);
    let both_start_here = own.base.start == start && other.base.start == start;
    match (own.base.is_empty(), other.base.is_empty()) {
        (true, false) if both_start_here => Some((1, 0, start)),
        (false, true) if both_start_here => Some((0, 1, start)),
        _ => None,
    }
}

/// Returns the number of hunks of each side in the region that starts here, and the end of the region.
fn overlapping_region(ours: &[Hunk], theirs: &[Hunk], start: usize) -> (usize, usize, usize) {
    let (mut own, mut other, mut end) = (0, 0, start);
    loop {
        let before = (own, other);
        for (hunks, count) in [(ours, &mut own), (theirs, &mut other)] {
            while let Some(hunk) = hunks.get(*count) {
                let hunk_start = hunk.base.start;
                // Hunks that merely touch are separate regions, unless they start at the same position.
                if hunk_start == start || hunk_start < end {
                    end = end.max(hunk.base.end);
                    *count += 1;
                } else {
                    break;
                }
            }
        }
        if (own, other) == before {
            return (own, other, end);
        }
    }
}

/// Returns the position in one side that corresponds to position `end` in the base.
fn position_in_side(hunks: &[Hunk], side: usize, base: usize, end: usize) -> usize {
    match hunks.last() {
        None => side + (end - base),
        Some(last) => last.side.end + (end - last.base.end),
    }
}

fn are_equal(ours: &[MergeUnit<'_>], theirs: &[MergeUnit<'_>]) -> bool {
    ours.len() == theirs.len()
        && ours.iter().zip(theirs).all(|(own, other)| own.identity == other.identity)
}

/// Writes units one below the other, always separated by a line end.
struct Writer<'m> {
    labels: &'m Labels,
    text: String,
    line_end: &'static str,
    last_is_block: bool,
    conflicts: usize,
}

impl<'m> Writer<'m> {
    fn new(labels: &'m Labels) -> Self {
        Self { labels, text: String::new(), line_end: "\n", last_is_block: false, conflicts: 0 }
    }

    fn write_units(&mut self, units: &[MergeUnit<'_>]) {
        for unit in units {
            self.write_unit(unit, unit.gap);
        }
    }

    fn write_unit(&mut self, unit: &MergeUnit<'_>, gap: &str) {
        self.separate(unit.is_block);
        self.text.push_str(unit.text);
        self.text.push_str(gap);
        if gap.starts_with('\r') {
            self.line_end = "\r\n";
        }
        self.last_is_block = unit.is_block;
    }

    /// Ends the line before a unit, and inserts a blank line between two entries: the last unit of a file may
    /// lack either.
    fn separate(&mut self, is_block: bool) {
        if self.text.is_empty() {
            return;
        }
        if !self.text.ends_with('\n') {
            self.text.push_str(self.line_end);
        }
        let has_blank = self.text.ends_with("\n\n") || self.text.ends_with("\n\r\n");
        if is_block && self.last_is_block && !has_blank {
            self.text.push_str(self.line_end);
        }
    }

    fn add_line_end(&mut self) {
        self.text.push_str(self.line_end);
    }

    /// Removes the blank lines at the end of one side's list, since the other side's list continues it.
    fn remove_trailing_blanks(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let end = self.text.trim_end_matches(['\n', '\r']).len();
        self.text.truncate(end);
        self.text.push_str(self.line_end);
    }

    fn write_conflict(&mut self, ours: &[MergeUnit<'_>], theirs: &[MergeUnit<'_>]) {
        self.conflicts += 1;
        self.write_marker('<', &self.labels.ours);
        self.write_units(ours);
        self.write_marker('=', "");
        self.write_units(theirs);
        self.write_marker('>', &self.labels.theirs);
    }

    fn write_marker(&mut self, sign: char, label: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push_str(self.line_end);
        }
        self.text.extend(iter::repeat_n(sign, self.labels.marker_length));
        if !label.is_empty() {
            self.text.push(' ');
            self.text.push_str(label);
        }
        self.text.push_str(self.line_end);
        self.last_is_block = false;
    }

    fn finish(self) -> MergeResult {
        MergeResult { text: self.text, conflicts: self.conflicts }
    }
}
