//! A part of a whole.

/// Returns `part / whole`, and 0 of nothing.
pub(crate) fn ratio(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if whole == 0 {
        0.0
    } else {
        number(part) / number(whole)
    }
}
