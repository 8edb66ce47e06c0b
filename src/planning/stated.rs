//! A value that a file states, and the bytes in which it does.

use std::ops::Range;

/// A stated value with its place, so that it can be reported by line and rewritten in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated<T> {
    /// What is stated.
    pub value: T,
    /// The bytes that state it, and nothing around them.
    pub range: Range<usize>,
    /// The line of the file, counted from 1.
    pub line: usize,
}

impl<T> Stated<T> {
    /// Returns another value that the same bytes state.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Stated<U> {
        Stated {
            value: change(self.value),
            range: self.range,
            line: self.line,
        }
    }
}
