//! Validates percentages, which templates define in different ways.

use std::ops::RangeInclusive;

use crate::plan::drift::counts::{count, over_all};
use crate::plan::{Claim, Located, Phase, Position};

/// The counts stated in STATE.md, which a percentage may refer to.
pub(super) struct StatedCounts<'a> {
    pub(super) claims: &'a [Located<Claim>],
    pub(super) position: &'a Position,
    /// The phase stated in STATE.md, if it has a folder.
    pub(super) here: Option<usize>,
}

/// Number of lines of the map `progress` in the front matter: four counts and the percentage.
const LINES_OF_A_MAP: usize = 5;

/// Extracts one kind of count.
type Count = fn(&Claim) -> Option<u32>;

macro_rules! count_of {
    ($claim:path) => {
        |claim| match claim {
            $claim(count) => Some(*count),
            _ => None,
        }
    };
}

/// Pairs of a done and a total count: of phases, of all plans, of the plans of the current phase.
const PAIRS: [(Count, Count); 3] = [
    (count_of!(Claim::PhasesComplete), count_of!(Claim::Total)),
    (count_of!(Claim::AllPlansComplete), count_of!(Claim::AllPlansTotal)),
    (count_of!(Claim::PlansComplete), count_of!(Claim::PlansTotal)),
];

impl StatedCounts<'_> {
    /// Returns the correct value of a percentage; `None` if it is correct by any of the measures.
    pub(super) fn corrected_percentage(&self, stated: u32, line: usize) -> Option<usize> {
        let is_stated = |share: usize| share.abs_diff(stated as usize) <= 1;
        // In `78% (7 of 8 phases)`, the percentage cannot be corrected without the counts.
        if self.has_share_beside(line) {
            return None;
        }
        let counted = PAIRS.map(|pair| self.share_stated(pair));
        let counted = || counted.into_iter().flatten();
        let mut measures = counted().chain(self.shares_of_files());
        if measures.any(is_stated) || self.is_share_of_phase(stated as usize, line) {
            return None;
        }
        let of_phases = self.share_of_phases();
        let of_files = [of_phases, self.position.percent_of_plans() as usize];
        let is_counted = counted().next().is_some();
        let of_files = of_files.into_iter().filter(move |_| !is_counted);
        // If all plans so far are complete, that is 100 % only if no phases remain.
        let is_whole = |share: &usize| *share < 100 || of_phases == 100;
        let shares = || counted().chain(of_files.clone()).filter(is_whole);
        // A percentage below every measure is wrong. One above only some of them may follow a measure that is
        // not known here.
        let least = shares().min().unwrap_or(of_phases);
        if (stated as usize) < least {
            return Some(least);
        }
        let is_over = stated >= 100 && of_phases < 100;
        is_over.then(|| shares().max().unwrap_or(of_phases))
    }

    /// Returns whether the line contains the counts restated by its percentage, as in `16/17 plans (94%)`.
    fn has_share_beside(&self, line: usize) -> bool {
        let mut claims = self.claims.iter().filter(|claim| claim.line == line);
        claims.any(|claim| matches!(claim.value, Claim::Share(..)))
    }

    /// Returns the ratio of two stated counts as a percentage, each corrected according to the files.
    fn share_stated(&self, (done, all): (Count, Count)) -> Option<usize> {
        let correct = |pick: Count| {
            let mut claims = self.claims.iter().map(|claim| &claim.value);
            let claim = claims.find(|claim| pick(claim).is_some())?;
            let stated = pick(claim)? as usize;
            let may_be = count(claim, self.here, self.position);
            let wrong = may_be.filter(|(_, range)| !range.contains(&stated));
            Some(wrong.map_or(stated, |(_, range)| *range.start()))
        };
        share(correct(done)?, correct(all)?)
    }

    /// Returns the percentages by all measures that templates use.
    fn shares_of_files(&self) -> [usize; 4] {
        // A percentage may span milestones.
        let all = *over_all(&self.position.phases, Phase::plans_range).start();
        let complete = *over_all(&self.position.phases, Phase::complete_range).start();
        [
            self.position.percent() as usize,
            self.position.percent_of_plans() as usize,
            self.share_of_phases(),
            share(complete, all).unwrap_or(0),
        ]
    }

    /// Returns whether a percentage may be that of the phase stated in STATE.md.
    ///
    /// Beside the counts of all phases or plans, as in the map `progress` of the front matter, it is that of all.
    fn is_share_of_phase(&self, stated: usize, line: usize) -> bool {
        let has_count = |count: Count| {
            let mut claims = self.claims.iter();
            claims.any(|claim| {
                claim.line.abs_diff(line) <= LINES_OF_A_MAP && count(&claim.value).is_some()
            })
        };
        if PAIRS[..2].iter().any(|(done, all)| has_count(*done) && has_count(*all)) {
            return false;
        }
        // VBW counts the plans of the phase alone, which has none yet when it has just moved on.
        let states_none = || {
            let mut claims = self.claims.iter();
            claims.any(|claim| matches!(claim.value, Claim::PlansTotal(0)))
        };
        let Some(index) = self.here else {
            return stated == 0 && states_none();
        };
        let phase = &self.position.phases[index];
        is_share(stated, phase.complete_range(), &phase.plans_range())
    }

    fn share_of_phases(&self) -> usize {
        share(self.position.done(), self.position.total()).unwrap_or(0)
    }
}

/// Returns a ratio in percent, at most 100; `None` if `all` is 0.
fn share(done: usize, all: usize) -> Option<usize> {
    (done * 100).checked_div(all).map(|share| share.min(100))
}

/// Returns whether a percentage matches, within one percent, the ratio of one of these counts to one of these
/// totals.
///
/// A file may declare any total, so the range of totals is calculated rather than searched.
fn is_share(stated: usize, mut done: RangeInclusive<usize>, all: &RangeInclusive<usize>) -> bool {
    let (least, most) = (stated.saturating_sub(1), stated + 1);
    if least > 100 {
        return false;
    }
    // 0 of 0 counts as 0 %.
    let is_of_nothing = least == 0 && *all.start() == 0;
    let is_of_some = |done: usize| {
        let hundredfold = done * 100;
        let fewest = match most {
            0..100 => hundredfold / (most + 1) + 1,
            _ => 1,
        };
        let highest = hundredfold.checked_div(least).unwrap_or(usize::MAX);
        fewest.max(*all.start()) <= highest.min(*all.end())
    };
    is_of_nothing || done.any(is_of_some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_found_as_by_trying_out_every_total() {
        for (least, most, from, to) in [(0, 0, 0, 3), (0, 4, 0, 9), (1, 3, 2, 40), (7, 12, 3, 9)] {
            let tried = |stated: usize| {
                let mut pairs =
                    (least..=most).flat_map(|done| (from..=to).map(move |all| (done, all)));
                pairs.any(|(done, all)| share(done, all).unwrap_or(0).abs_diff(stated) <= 1)
            };
            for stated in 0..=320 {
                let found = is_share(stated, least..=most, &(from..=to));
                assert_eq!(found, tried(stated), "{stated} of {least}..={most} in {from}..={to}");
            }
        }
    }

    #[test]
    fn a_huge_total_is_calculated() {
        let declared = u32::MAX as usize;
        assert!(!is_share(31, 1..=2, &(2..=declared)));
        assert!(is_share(0, 1..=2, &(2..=declared)));
    }
}
