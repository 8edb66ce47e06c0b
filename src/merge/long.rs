//! Merges files that are too long to be split into their units, line by line as git does.

use crate::merge::kind::InsertPolicy;
use crate::merge::three_way::Labels;
use crate::merge::unit::MergeUnit;
use crate::merge::versions::{MergeResult, Versions};
use crate::merge::{three_way, unit};

/// Maximum number of lines of a version that are not common to all versions at the start or the end: a line becomes
/// a unit, which takes ten times its size in memory.
const MAX_LINES: usize = 150_000;

/// Merges three versions by line; different changes or insertions at the same position conflict.
///
/// If the changes extend over more lines than the maximum, they are treated as a single change.
pub(crate) fn merge(versions: Versions<'_>, labels: &Labels) -> MergeResult {
    let (start, end) = common_lines(versions);
    let Versions { base, ours, theirs } = versions;
    let middles = [base, ours, theirs].map(|text| &text[start..text.len() - end]);
    let is_long = middles.iter().any(|text| text.lines().count() > MAX_LINES);
    let [base, our_units, their_units] = middles.map(|text| match text {
        "" => Vec::new(),
        text if is_long => vec![MergeUnit::line(text)],
        text => unit::split_by_line(text),
    });
    let middle = three_way::merge(&base, &our_units, &their_units, InsertPolicy::Conflict, labels);
    let mut text = ours[..start].to_owned();
    text.push_str(&middle.text);
    text.push_str(&ours[ours.len() - end..]);
    MergeResult { text, ..middle }
}

/// Returns the lengths of the common lines at the start and at the end of all versions.
///
/// The last common line at the start is not included, because its line ending is used for markers after it.
fn common_lines(versions: Versions<'_>) -> (usize, usize) {
    let Versions { base, ours, theirs } = versions;
    let [base, ours, theirs] = [base, ours, theirs].map(str::as_bytes);
    let equal = |((a, b), c): &((&u8, &u8), &u8)| a == b && b == c;
    let start = base.iter().zip(ours).zip(theirs).take_while(equal).count();
    let mut line_ends = memchr::memrchr_iter(b'\n', &base[..start]).skip(1);
    let start = line_ends.next().map_or(0, |at| at + 1);
    let rests = [base, ours, theirs].map(|text| &text[start..]);
    let [base, ours, theirs] = rests.map(|rest| rest.iter().rev());
    let equal_end = base.zip(ours).zip(theirs).take_while(equal).count();
    // The first of these lines may be equal only in part.
    let at_end = &rests[0][rests[0].len() - equal_end..];
    let end = memchr::memchr(b'\n', at_end).map_or(0, |at| equal_end - (at + 1));
    (start, end)
}
