//! Maps byte offsets to lines.

/// Byte offsets at which lines start, for looking up line numbers.
#[derive(Clone, Debug)]
pub struct Lines {
    /// In half the memory of `usize`; beyond 4 GiB all is one line.
    starts: Vec<u32>,
}

impl Lines {
    /// Indexes the line starts of `text`.
    pub fn new(text: &str) -> Self {
        let count = text.bytes().filter(|byte| *byte == b'\n').count();
        let mut starts = Vec::with_capacity(count + 1);
        starts.push(0);
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        starts.extend(breaks.map_while(|start| u32::try_from(start).ok()));
        Self { starts }
    }

    /// Returns the number (counted from 1) of the line that contains the byte at `offset`.
    pub fn line(&self, offset: usize) -> usize {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        self.starts.partition_point(|start| *start <= offset).max(1)
    }
}

/// Returns the byte offset at which the line that contains an offset starts.
pub(crate) fn line_start(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or_default();
    before.rfind('\n').map_or(0, |end| end + 1)
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
