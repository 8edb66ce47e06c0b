//! Calculates ratios of counts.

/// Returns `part / whole`, or 0 if `whole` is 0.
pub(crate) fn ratio(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if whole == 0 { 0.0 } else { number(part) / number(whole) }
}
