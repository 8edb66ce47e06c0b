//! What an update does to a file's text, and the gaps between what stands there and what is inserted.

use crate::error::Problem;

/// The outcome of applying parts of an update to a file; a part that was applied before changes nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileUpdate {
    /// The file's text afterwards.
    pub(crate) text: String,
    /// Violations of rules.
    pub(crate) problems: Vec<Problem>,
}

/// The file's text after a change, or why it was not made.
pub(crate) type Change = Result<String, Problem>;

impl FileUpdate {
    pub(crate) fn of(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Adds the outcome of one change.
    pub(crate) fn record(&mut self, change: Change) {
        match change {
            Ok(text) => self.text = text,
            Err(problem) => self.problems.push(problem),
        }
    }

    pub(crate) fn refuse(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem::new(pointer, message));
    }
}

/// Returns what ends the last line of `before`, if it is not ended.
pub(crate) fn line_gap<'a>(before: &str, line_end: &'a str) -> &'a str {
    if before.is_empty() || before.ends_with('\n') { "" } else { line_end }
}

/// Returns the line ends that leave a blank line between `before` and the text inserted after it.
pub(crate) fn gap_after(before: &str, line_end: &str) -> String {
    let is_start = matches!(before, "" | "\u{feff}");
    if is_start || before.ends_with("\n\n") || before.ends_with("\n\r\n") {
        String::new()
    } else if before.ends_with('\n') {
        line_end.to_owned()
    } else {
        line_end.repeat(2)
    }
}
