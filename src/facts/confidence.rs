//! How sure a fact is, and how sure one has to be to change it.

/// A fact that was said once.
pub const FIRST_MENTION: f64 = 0.40;

/// A fact that the user confirmed when asked.
pub const CONFIRMED: f64 = 1.00;

/// From here on, one contradiction does not overwrite a fact.
pub const ESTABLISHED: f64 = 0.80;

/// Below this, a fact of high risk is not overwritten without confirmation.
pub const HIGH_RISK: f64 = 0.90;

/// As sure as repetition alone can make a fact.
const MAX_REPEATED: f64 = 0.999_999;

/// Returns the confidence of a fact that was said once more: half of the doubt goes.
pub fn repeated(confidence: f64) -> f64 {
    let surer = rounded(confidence + 0.5 * (CONFIRMED - confidence));
    surer.min(MAX_REPEATED.max(confidence))
}

/// Returns the confidence of a fact that is said for the first time.
///
/// The auditor can be less sure than usual, never surer: only repetition and the user make a fact sure.
pub fn first_mention(delta: f64) -> f64 {
    rounded((FIRST_MENTION + delta.min(0.0)).clamp(0.0, CONFIRMED))
}

/// Returns how sure a contested value has to be before it replaces the old one without a question.
pub(crate) fn needed(is_high_risk: bool, old: f64) -> f64 {
    old.max(if is_high_risk { HIGH_RISK } else { ESTABLISHED })
}

/// A thousand halvings must not print as 0.9249999999.
fn rounded(confidence: f64) -> f64 {
    (confidence * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition_halves_the_doubt_and_never_ends_it_soon() {
        let mut confidence = first_mention(0.9);
        let mut seen = vec![confidence];
        for _ in 0..3 {
            confidence = repeated(confidence);
            seen.push(confidence);
        }
        assert_eq!(seen, [0.4, 0.7, 0.85, 0.925]);
        assert_eq!((first_mention(-0.15), first_mention(-1.0)), (0.25, 0.0));
        assert_eq!(
            (needed(false, 0.5), needed(true, 0.5), needed(false, 1.0)),
            (0.8, 0.9, 1.0)
        );
    }
}
