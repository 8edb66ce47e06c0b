//! Defines the parts of a digest, and their content.

use serde::Serialize;

use crate::markdown::without_bullet;
use crate::text::{Line, word_enum};

word_enum! {
    /// A part of a digest; variants are ordered by importance.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    pub enum DigestPart {
        /// The state of the planned work and the next action.
        Position = "position",
        /// The state of the repo ledger, and how much it covers.
        Ledger = "ledger",
        /// What blocks the work.
        Blockers = "blockers",
        /// Pinned notes of the notepad.
        Notepad = "notepad",
        /// Constraints of the repo ledger.
        Constraints = "constraints",
        /// Decisions.
        Decisions = "decisions",
        /// Lessons from finished phases that still hold.
        Patterns = "patterns",
        /// Knowledge entries.
        Entries = "entries",
        /// Facts about the user.
        Facts = "facts",
        /// Todos.
        Todos = "todos",
        /// Earlier sessions that answer the topic, if the user has turned the reading of transcripts on.
        Sessions = "sessions",
    }
}

impl DigestPart {
    /// Returns the heading of the part, the command that prints all of it, and the maximum number of its lines in the
    /// first round of packing.
    fn properties(self) -> (&'static str, &'static str, usize) {
        match self {
            Self::Position => ("Position", "annals status", 8),
            Self::Ledger => ("Repo ledger", "annals ledger brief", 12),
            Self::Blockers => ("Blockers", "annals status --json", 5),
            Self::Notepad => ("Notepad", "annals notepad read", 10),
            Self::Constraints => ("Constraints", "annals ledger brief", 12),
            Self::Decisions => ("Decisions", "annals recall --in plan,ledger decision", 6),
            Self::Patterns => ("Learned Patterns", "annals patterns relevant", 5),
            Self::Entries => ("Knowledge", "annals entry list", 6),
            Self::Facts => ("About the user", "annals facts list --profile", 10),
            Self::Todos => ("Todos", "annals status --json", 5),
            Self::Sessions => ("Earlier sessions", "annals recall --in sessions WORDS", 5),
        }
    }

    pub(crate) fn heading(self) -> &'static str {
        self.properties().0
    }

    pub(crate) fn command(self) -> &'static str {
        self.properties().1
    }

    pub(crate) fn first_round_lines(self) -> usize {
        self.properties().2
    }
}

/// A part with its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DigestSection {
    pub(crate) part: DigestPart,
    /// The lines, most important first.
    pub(crate) lines: Vec<Line>,
    /// Maximum number of them that are shown.
    pub(crate) most: usize,
}

/// Returns the text of a bullet without its marker, since a digest adds its own.
pub(crate) fn unmarked(line: &str) -> &str {
    without_bullet(line.trim()).trim_start()
}
