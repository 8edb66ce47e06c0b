//! Computes the confidence of facts, and the confidence needed to change them.

/// Confidence of a fact that was mentioned once.
pub const FIRST_MENTION: f64 = 0.40;

/// Confidence of a fact that the user confirmed when asked.
pub const CONFIRMED: f64 = 1.00;

/// Confidence from which a single contradiction no longer overwrites a fact.
pub const ESTABLISHED: f64 = 0.80;

/// Minimum confidence for overwriting a high-risk fact without confirmation.
pub const HIGH_RISK: f64 = 0.90;

/// Maximum confidence reachable by repetition alone.
const MAX_REPEATED: f64 = 0.999_999;

/// Returns the confidence after another mention, which halves the distance to certainty.
pub fn repeated(confidence: f64) -> f64 {
    let raised = rounded(confidence + 0.5 * (CONFIRMED - confidence));
    raised.min(MAX_REPEATED.max(confidence))
}

/// Returns the confidence of a fact mentioned for the first time.
///
/// The auditor can lower it but not raise it: only repetition and confirmation by the user do.
pub fn first_mention(delta: f64) -> f64 {
    rounded((FIRST_MENTION + delta.min(0.0)).clamp(0.0, CONFIRMED))
}

/// Returns whether the auditor is less certain than usual.
pub(crate) fn is_unsure(delta: f64) -> bool {
    first_mention(delta) < FIRST_MENTION
}

/// Returns the confidence a contested value needs to replace the old one without confirmation.
pub(crate) fn needed(is_high_risk: bool, old: f64) -> f64 {
    old.max(if is_high_risk { HIGH_RISK } else { ESTABLISHED })
}

/// Rounds to six decimals, so that repeated halving does not print as 0.9249999999.
fn rounded(confidence: f64) -> f64 {
    (confidence * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition_halves_the_doubt() {
        let mut confidence = first_mention(0.9);
        let mut seen = vec![confidence];
        for _ in 0..3 {
            confidence = repeated(confidence);
            seen.push(confidence);
        }
        assert_eq!(seen, [0.4, 0.7, 0.85, 0.925]);
    }

    #[test]
    fn repetition_alone_makes_nothing_certain_soon() {
        let often = (0..10).fold(first_mention(0.0), |confidence, _| repeated(confidence));
        assert!(often < CONFIRMED, "{often}");
    }

    #[test]
    fn a_first_mention_is_lowered_by_doubt_and_never_raised() {
        assert_eq!(
            (first_mention(0.9), first_mention(-0.15), first_mention(-1.0)),
            (0.4, 0.25, 0.0)
        );
    }

    #[test]
    fn the_confidence_needed_rises_with_risk_and_with_the_old_value() {
        assert_eq!((needed(false, 0.5), needed(true, 0.5), needed(false, 1.0)), (0.8, 0.9, 1.0));
    }
}
