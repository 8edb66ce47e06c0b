//! Finds the neighbours of facts in a session.

use crate::facts::search::row_cursor::RowCursor;
use crate::facts::vectors::SessionRow;

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
        let before = [0, 1, 2, 3, 4, 5].map(|index| neighbours.before(index));
        assert_eq!(before, [None, Some(0), None, None, Some(2), Some(4)]);
        let after = [0, 1, 2, 3, 4, 5].map(|index| neighbours.after(index));
        assert_eq!(after, [Some(1), None, Some(4), None, Some(5), None]);
    }

    #[test]
    fn a_session_that_begins_with_what_may_not_be_found_lends_nothing_to_the_one_before() {
        let turns = [turn(1, true), turn(2, true), turn(3, false)];
        let neighbours = Neighbours::from_turns(turns.into_iter(), &[1, 3]);
        assert_eq!((neighbours.after(0), neighbours.before(1)), (None, None));
    }
}
