//! Finds rows in a sorted list, optimised for ascending lookups.

/// A cursor in a sorted list of rows.
pub(crate) struct RowCursor<'a> {
    rows: &'a [i64],
    next: usize,
}

impl<'a> RowCursor<'a> {
    /// Creates a cursor over rows in ascending order.
    pub(crate) fn new(rows: &'a [i64]) -> Self {
        Self { rows, next: 0 }
    }

    /// Returns the index of a row.
    pub(crate) fn find(&mut self, row: i64) -> Option<usize> {
        let rest = self.rows.get(self.next..).unwrap_or_default();
        let is_ahead = rest.first().is_some_and(|next| *next <= row);
        let (from, among) = if is_ahead {
            // Exponential search: the steps double.
            let mut width = 1;
            while rest.get(width).is_some_and(|later| *later <= row) {
                width *= 2;
            }
            (self.next, &rest[..width.min(rest.len())])
        } else {
            (0, &self.rows[..self.next.min(self.rows.len())])
        };
        let index = from + among.binary_search(&row).ok()?;
        self.next = index + 1;
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_rows_in_any_order() {
        let rows = [3, 5, 8, 9];
        let mut cursor = RowCursor::new(&rows);
        let found = [3, 5, 9, 4, 3, 8, 10, 8].map(|row| cursor.find(row));
        let expected = [Some(0), Some(1), Some(3), None, Some(0), Some(2), None, Some(2)];
        assert_eq!(found, expected);
    }
}
