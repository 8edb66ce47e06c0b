//! Lets facts lend a share of their scores to those before and after them in a session.

use crate::facts::search::places::Places;
use crate::facts::vectors::Turn;
use crate::ranking::NEIGHBOURS;

/// Returns what each row of `seqs` gets; what is not among them stands between no two.
pub(crate) fn lent(turns: impl Iterator<Item = Turn>, seqs: &[i64], base: &[f64]) -> Vec<f64> {
    let mut lent = vec![0.0; seqs.len()];
    let mut places = Places::of(seqs);
    let mut before: Option<usize> = None;
    for turn in turns {
        if turn.is_first {
            before = None;
        }
        let Some(place) = places.find(turn.row) else {
            continue;
        };
        if let Some(before) = before {
            lent[place] += base[before];
            lent[before] += base[place];
        }
        before = Some(place);
    }
    for share in &mut lent {
        *share *= NEIGHBOURS;
    }
    lent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_side_by_side_in_one_session_lend() {
        let turn = |row, is_first| Turn { row, is_first };
        // 7 may not be found, so that 4 and 9 stand side by side; 2 begins another session.
        let turns = [
            turn(4, true),
            turn(7, false),
            turn(9, false),
            turn(2, true),
            turn(3, false),
        ];
        let lent = lent(
            turns.into_iter(),
            &[2, 3, 4, 5, 9],
            &[0.1, 0.2, 0.3, 0.9, 0.5],
        );
        let expected = [0.2, 0.1, 0.5, 0.0, 0.3].map(|base| NEIGHBOURS * base);
        assert_eq!(lent, expected);
    }

    #[test]
    fn a_session_that_begins_with_what_may_not_be_found_lends_nothing_to_the_one_before() {
        let turn = |row, is_first| Turn { row, is_first };
        let turns = [turn(1, true), turn(2, true), turn(3, false)];
        let lent = lent(turns.into_iter(), &[1, 3], &[0.5, 0.5]);
        assert_eq!(lent, [0.0, 0.0]);
    }
}
