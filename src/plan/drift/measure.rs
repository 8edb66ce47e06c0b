//! The counts that a percentage is computed from.

use crate::plan::Survey;
use crate::plan::drift::share;
use crate::project::vocabulary;

/// What a share of done work is computed from.
#[derive(Clone, Copy)]
pub(super) struct Measure {
    pub(super) done: usize,
    pub(super) all: usize,
    /// What is counted: `phases`.
    pub(super) what: &'static str,
    /// Whether STATE.md counts so, which may be more than the files show.
    pub(super) is_stated: bool,
}

impl Measure {
    pub(super) fn new(done: usize, all: usize, what: &'static str) -> Self {
        Self { done, all, what, is_stated: false }
    }

    /// Returns the share in percent; none of nothing.
    pub(super) fn percent(self) -> usize {
        share(self.done, self.all).unwrap_or(0)
    }

    /// Returns where a reader can see it: `…/phases: 1 of 2 plans done`.
    pub(super) fn line(self, survey: &Survey) -> String {
        let name = if self.is_stated { vocabulary::STATE } else { vocabulary::PHASES };
        let path = survey.folder.active.dir.join(name);
        format!("{}: {} of {} {} done", survey.show(&path), self.done, self.all, self.what)
    }
}
