//! Measures how often a search returns hits for a question without an answer, and what withholding them
//! costs.

use serde::Serialize;

use crate::ranking::relevance::AnswerEvidence;
use crate::ranking::to_f64;

/// Thresholds of the curve, in ascending order.
const THRESHOLDS: [f64; 15] =
    [0.0, 0.4, 0.45, 0.5, 0.55, 0.6, 0.62, 0.64, 0.66, 0.68, 0.7, 0.75, 0.8, 0.9, 1.1];

/// Costs and benefits of withholding irrelevant hits, at the threshold in force and at others.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Silence {
    /// Number of questions asked where their answer is.
    pub answerable: usize,
    /// Number of times a question was asked where it has no answer.
    pub unanswerable: usize,
    /// R@10 with all hits.
    pub r_at_10_all: f64,
    /// Metrics of the search with its actual threshold.
    pub in_force: SilencePoint,
    /// Metrics at other thresholds.
    pub curve: Vec<SilencePoint>,
}

/// Metrics at one threshold, as fractions of 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SilencePoint {
    /// Minimum evidence for the best hit.
    pub threshold: f64,
    /// Share of unanswerable questions with at least one hit.
    pub false_surfacing: f64,
    /// Loss of R@10 compared to returning all hits.
    pub loss: f64,
}

/// Collects the results of answerable and unanswerable questions.
#[derive(Clone, Debug, Default)]
pub struct SilenceTest {
    answerable: Vec<(AnswerEvidence, f64, f64)>,
    unanswerable: Vec<(AnswerEvidence, bool)>,
}

impl SilenceTest {
    /// Records an answerable question: R@10 of all hits, and of those returned.
    pub fn answerable(&mut self, verdict: AnswerEvidence, all: f64, returned: f64) {
        self.answerable.push((verdict, all, returned));
    }

    /// Records an unanswerable question, and whether it had a hit.
    pub fn unanswerable(&mut self, verdict: AnswerEvidence, has_hit: bool) {
        self.unanswerable.push((verdict, has_hit));
    }

    /// Returns the metrics, or `None` if there are no questions of one kind.
    pub fn result(&self) -> Option<Silence> {
        if self.answerable.is_empty() || self.unanswerable.is_empty() {
            return None;
        }
        let all = mean(self.answerable.iter().map(|(_, all, _)| *all));
        let returned = mean(self.answerable.iter().map(|(.., returned)| *returned));
        let surfaced = self.unanswerable.iter();
        let point = |threshold: f64| {
            let passes = |verdict: &AnswerEvidence| verdict.passes(threshold);
            let kept = self.answerable.iter();
            let kept = kept.map(|(verdict, all, _)| if passes(verdict) { *all } else { 0.0 });
            let surfaced = self.unanswerable.iter();
            SilencePoint {
                threshold,
                false_surfacing: mean(surfaced.map(|(verdict, _)| as_fraction(passes(verdict)))),
                loss: all - mean(kept),
            }
        };
        Some(Silence {
            answerable: self.answerable.len(),
            unanswerable: self.unanswerable.len(),
            r_at_10_all: all,
            in_force: SilencePoint {
                threshold: self.answerable[0].0.threshold,
                false_surfacing: mean(surfaced.map(|(_, has_hit)| as_fraction(*has_hit))),
                loss: all - returned,
            },
            curve: THRESHOLDS.into_iter().map(point).collect(),
        })
    }
}

fn as_fraction(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = to_f64(values.len().max(1));
    values.sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_compares_false_hits_with_lost_answers() {
        let evidence = |sum| AnswerEvidence { sum, ..AnswerEvidence::default() };
        let mut test = SilenceTest::default();
        assert_eq!(test.result(), None);
        test.answerable(evidence(1.5), 1.0, 1.0);
        test.answerable(evidence(0.78), 1.0, 0.0);
        test.unanswerable(evidence(0.72), false);
        test.unanswerable(evidence(1.3), true);
        let found = test.result().unwrap();
        let at = |threshold: f64| {
            let mut points = found.curve.iter();
            *points.find(|point| (point.threshold - threshold).abs() < 1e-9).unwrap()
        };
        let is = |point: SilencePoint, surfacing: f64, loss: f64| {
            (point.false_surfacing - surfacing).abs() < 1e-9 && (point.loss - loss).abs() < 1e-9
        };
        assert!(is(at(0.0), 1.0, 0.0));
        assert!(is(at(0.75), 0.5, 0.0));
        assert!(is(at(0.8), 0.5, 0.5));
        assert!(is(found.in_force, 0.5, 0.5));
    }
}
