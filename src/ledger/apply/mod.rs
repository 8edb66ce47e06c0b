//! Works out what an update makes of each file, by that file's mode; pure, but for the evidence.

pub(crate) mod constraints;
pub(crate) mod decisions;
pub(crate) mod rollup;
pub(crate) mod state;

use crate::error::Problem;

/// What parts of an update make of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileUpdate {
    /// The file's text afterwards.
    pub(crate) text: String,
    /// Whether anything is to be done.
    pub(crate) is_changed: bool,
    /// What a rule says no to.
    pub(crate) problems: Vec<Problem>,
    /// What is there already: no problem where all of the update is, else one like the others.
    pub(crate) repeated: Vec<Problem>,
}

impl FileUpdate {
    pub(crate) fn unchanged(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }

    /// Takes a new text, if it is another one.
    pub(crate) fn change(&mut self, text: String) {
        if text != self.text {
            self.text = text;
            self.is_changed = true;
        }
    }
}

/// What one change comes to.
pub(crate) enum ChangeStep {
    /// The file's text with it.
    Changed(String),
    /// It is there, and this says where.
    Repeated(Problem),
    /// A rule says no.
    Refused(Vec<Problem>),
}

impl ChangeStep {
    pub(crate) fn refused(pointer: String, message: impl Into<String>) -> Self {
        Self::Refused(vec![Problem::new(pointer, message)])
    }
}
