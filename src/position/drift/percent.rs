//! Whether a percentage is right: templates mean different things by it.

use crate::planning::Claim;
use crate::planning::Stated;
use crate::position::Phase;
use crate::position::PhaseState;
use crate::position::Position;
use crate::position::drift::state::count;
use crate::position::drift::state::over_all;

/// What STATE.md counts, of which a percentage may be the share.
pub(super) struct StatedCounts<'a> {
    pub(super) claims: &'a [Stated<Claim>],
    pub(super) position: &'a Position,
    /// The phase that STATE.md states.
    pub(super) here: Option<usize>,
}

/// Picks one kind of count.
type Count = fn(&Claim) -> Option<u32>;

macro_rules! count_of {
    ($claim:path) => {
        |claim| match claim {
            $claim(count) => Some(*count),
            _ => None,
        }
    };
}

/// Counts that make a share: of phases, of all plans, of the plans of the current phase.
const PAIRS: [(Count, Count); 3] = [
    (count_of!(Claim::PhasesComplete), count_of!(Claim::Total)),
    (
        count_of!(Claim::AllPlansComplete),
        count_of!(Claim::AllPlansTotal),
    ),
    (
        count_of!(Claim::PlansComplete),
        count_of!(Claim::PlansTotal),
    ),
];

impl StatedCounts<'_> {
    /// Returns what is right in the place of a percentage; nothing where it is right in some way.
    pub(super) fn instead_of(&self, stated: u32, line: usize) -> Option<usize> {
        let is_stated = |share: usize| share.abs_diff(stated as usize) <= 1;
        // `78% (7 of 8 phases)`: a sentence of its own, which is not put right by halves.
        if self.has_share_beside(line) {
            return None;
        }
        let counted = PAIRS.map(|pair| self.share_stated(pair));
        let counted = || counted.into_iter().flatten();
        if counted().chain(self.shares_of_files()).any(is_stated) {
            return None;
        }
        let of_phases = self.share_of_phases();
        let of_files = [of_phases, self.position.percent_of_plans() as usize];
        let is_counted = counted().next().is_some();
        let of_files = of_files.into_iter().filter(move |_| !is_counted);
        // All plans so far are not all that there is to do.
        let is_whole = |share: &usize| *share < 100 || of_phases == 100;
        let shares = || counted().chain(of_files.clone()).filter(is_whole);
        // It lags behind every measure. One that is ahead may be by a measure that is not known here.
        let least = shares().min().unwrap_or(of_phases);
        if (stated as usize) < least {
            return Some(least);
        }
        let is_over = stated >= 100 && of_phases < 100;
        is_over.then(|| shares().max().unwrap_or(of_phases))
    }

    /// Returns whether the line has the counts that its percentage restates, as in `16/17 plans (94%)`.
    fn has_share_beside(&self, line: usize) -> bool {
        let mut claims = self.claims.iter().filter(|claim| claim.line == line);
        claims.any(|claim| matches!(claim.value, Claim::Share(..)))
    }

    /// Returns the share of two stated counts, each as the files put it right.
    fn share_stated(&self, (done, all): (Count, Count)) -> Option<usize> {
        let right = |pick: Count| {
            let mut claims = self.claims.iter().map(|claim| &claim.value);
            let claim = claims.find(|claim| pick(claim).is_some())?;
            let stated = pick(claim)? as usize;
            let may_be = count(claim, self.here, self.position);
            let wrong = may_be.filter(|(_, range)| !range.contains(&stated));
            Some(wrong.map_or(stated, |(_, range)| *range.start()))
        };
        share(right(done)?, right(all)?)
    }

    /// Returns the shares in all the ways that templates mean them.
    fn shares_of_files(&self) -> impl Iterator<Item = usize> {
        let of_phase = self.here.into_iter().flat_map(|index| {
            let phase = &self.position.phases[index];
            let done = phase.complete_range();
            phase
                .plans_range()
                .flat_map(move |all| done.clone().map(move |done| share(done, all).unwrap_or(0)))
        });
        // A percentage may go on across milestones.
        let all = *over_all(&self.position.phases, Phase::plans_range).start();
        let complete = *over_all(&self.position.phases, Phase::complete_range).start();
        [
            self.position.percent() as usize,
            self.position.percent_of_plans() as usize,
            self.share_of_phases(),
            share(complete, all).unwrap_or(0),
        ]
        .into_iter()
        .chain(of_phase)
    }

    fn share_of_phases(&self) -> usize {
        let own = self.position.phases.iter();
        let own = own.filter(|phase| phase.is_in_milestone);
        let done = own.filter(|phase| phase.state == PhaseState::Done).count();
        share(done, self.position.total()).unwrap_or(0)
    }
}

/// Returns a share in percent, 100 at most; nothing of nothing.
fn share(done: usize, all: usize) -> Option<usize> {
    (done * 100).checked_div(all).map(|share| share.min(100))
}
