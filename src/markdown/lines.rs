//! Where each line of a text begins.

/// The byte offsets at which lines begin, to turn an offset into a line number.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Returns the line starts of `text`.
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        Self { starts }
    }

    /// Returns the line (counted from 1) that holds the byte at `offset`.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one() {
        let lines = Lines::new("a\nbc\n\nd");
        let found: Vec<usize> = (0..7).map(|offset| lines.line(offset)).collect();
        assert_eq!(found, [1, 1, 2, 2, 2, 3, 4]);
        assert_eq!(Lines::new("").line(0), 1);
    }
}
