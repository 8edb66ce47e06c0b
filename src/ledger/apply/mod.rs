//! Applies an update to the text of each file, in that file's mode; only evidence is looked up elsewhere.

pub(crate) mod constraints;
pub(crate) mod decisions;
pub(crate) mod rollup;
pub(crate) mod state;

use crate::error::Problem;

/// The outcome of applying parts of an update to a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileUpdate {
    /// The file's text afterwards.
    pub(crate) text: String,
    /// Whether the text has changed.
    pub(crate) is_changed: bool,
    /// Violations of rules.
    pub(crate) problems: Vec<Problem>,
    /// Parts that were applied before: problems, unless the whole update was applied before.
    pub(crate) repeated: Vec<Problem>,
}

impl FileUpdate {
    pub(crate) fn unchanged(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Adds the outcome of one change.
    pub(crate) fn record(&mut self, step: ChangeStep) {
        match step {
            ChangeStep::Changed(text) => self.change(text),
            ChangeStep::Repeated(problem) => self.repeated.push(problem),
            ChangeStep::Refused(problems) => self.problems.extend(problems),
        }
    }

    /// Sets the text, and marks it as changed if it differs.
    pub(crate) fn change(&mut self, text: String) {
        if text != self.text {
            self.text = text;
            self.is_changed = true;
        }
    }
}

/// The outcome of one change.
pub(crate) enum ChangeStep {
    /// The file's text after the change.
    Changed(String),
    /// It was applied before, at the stated place.
    Repeated(Problem),
    /// It violates rules.
    Refused(Vec<Problem>),
}

impl ChangeStep {
    pub(crate) fn refused(pointer: String, message: impl Into<String>) -> Self {
        Self::Refused(vec![Problem::new(pointer, message)])
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
