//! Finds the neighbours of facts in a session, and how much they boost each other's scores.

use std::iter;

use crate::facts::search::row_cursor::RowCursor;
use crate::facts::vectors::SessionRow;
use crate::ranking::NEIGHBOUR_SHARES;

/// The neighbours of each row, by index; rows that a search may not return are skipped.
pub(crate) struct Neighbours {
    before: Vec<Option<usize>>,
    after: Vec<Option<usize>>,
}

impl Neighbours {
    /// Finds the neighbours of the rows, which are sorted, in these turns.
    pub(crate) fn from_turns(turns: impl Iterator<Item = SessionRow>, seqs: &[i64]) -> Self {
        let mut neighbours = Self { before: vec![None; seqs.len()], after: vec![None; seqs.len()] };
        let mut cursor = RowCursor::new(seqs);
        let mut last: Option<usize> = None;
        for turn in turns {
            if turn.is_first {
                last = None;
            }
            let Some(index) = cursor.find(turn.row) else {
                continue;
            };
            if let Some(last) = last {
                neighbours.before[index] = Some(last);
                neighbours.after[last] = Some(index);
            }
            last = Some(index);
        }
        neighbours
    }

    /// Returns the index of the previous row in the session.
    pub(crate) fn before(&self, index: usize) -> Option<usize> {
        *self.before.get(index)?
    }

    /// Returns the index of the next row in the session.
    pub(crate) fn after(&self, index: usize) -> Option<usize> {
        *self.after.get(index)?
    }

    /// Returns the boost of each row from up to two neighbours on each side.
    pub(crate) fn session_boost(&self, base: &[f64]) -> Vec<f64> {
        let mut session_boost = vec![0.0; base.len()];
        for (index, base) in base.iter().enumerate() {
            for next in [Self::after, Self::before] {
                let others = iter::successors(next(self, index), |other| next(self, *other));
                for (other, share) in others.zip(NEIGHBOUR_SHARES) {
                    session_boost[other] += share * base;
                }
            }
        }
        session_boost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(row: i64, is_first: bool) -> SessionRow {
        SessionRow { row, is_first }
    }

    #[test]
    fn only_adjacent_facts_of_one_session_lend() {
        // A search may not return 7, so 4 and 9 are neighbours; 2 begins another session.
        let turns = [
            turn(4, true),
            turn(7, false),
            turn(9, false),
            turn(10, false),
            turn(2, true),
            turn(3, false),
        ];
        let neighbours = Neighbours::from_turns(turns.into_iter(), &[2, 3, 4, 5, 9, 10]);
        let session_boost = neighbours.session_boost(&[0.1, 0.2, 0.3, 0.9, 0.5, 0.7]);
        let [one, two] = NEIGHBOUR_SHARES;
        let expected = [
            one * 0.2,
            one * 0.1,
            one * 0.5 + two * 0.7,
            0.0,
            one * (0.3 + 0.7),
            one * 0.5 + two * 0.3,
        ];
        let equal = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-12;
        assert!(session_boost.iter().zip(&expected).all(equal), "{session_boost:?}");
    }

    #[test]
    fn a_session_that_begins_with_what_may_not_be_found_lends_nothing_to_the_one_before() {
        let turns = [turn(1, true), turn(2, true), turn(3, false)];
        let neighbours = Neighbours::from_turns(turns.into_iter(), &[1, 3]);
        let session_boost = neighbours.session_boost(&[0.5, 0.5]);
        assert!(session_boost.iter().all(|share| share.abs() < 1e-12), "{session_boost:?}");
    }
}
