//! Defines the parts of a digest, and their content.

use serde::Serialize;

use crate::context::START_BLOCKERS;
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
    /// Returns the heading of the part.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Position => "Position",
            Self::Ledger => "Repo ledger",
            Self::Blockers => "Blockers",
            Self::Notepad => "Notepad",
            Self::Constraints => "Constraints",
            Self::Decisions => "Decisions",
            Self::Patterns => "Learned Patterns",
            Self::Entries => "Knowledge",
            Self::Facts => "About the user",
            Self::Todos => "Todos",
            Self::Sessions => "Earlier sessions",
        }
    }

    /// Returns the command that prints the whole part.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::Position => "annals status",
            Self::Blockers | Self::Todos => "annals status --json",
            Self::Notepad => "annals notepad read",
            Self::Ledger | Self::Constraints => "annals ledger brief",
            Self::Decisions => "annals recall --in plan,ledger decision",
            Self::Patterns => "annals patterns relevant",
            Self::Entries => "annals entry list",
            Self::Facts => "annals facts list --profile",
            Self::Sessions => "annals recall --in sessions WORDS",
        }
    }

    /// Returns the maximum number of its lines, if a list should not have more than `per_list`.
    pub(crate) fn max_lines(self, per_list: usize) -> usize {
        match self {
            // Five sections of STATE.md that say what comes next.
            Self::Ledger => per_list.saturating_mul(5),
            // Infrastructure, rules and hazards.
            Self::Constraints => per_list.saturating_mul(3),
            // The last line says how many more there are.
            Self::Entries => per_list.saturating_add(1),
            Self::Blockers if per_list != usize::MAX => per_list.min(START_BLOCKERS),
            _ => per_list,
        }
    }

    /// Returns the maximum number of its lines in the first round of packing.
    pub(crate) fn first_round_lines(self) -> usize {
        match self {
            Self::Position => 8,
            Self::Blockers | Self::Patterns | Self::Todos | Self::Sessions => 5,
            Self::Notepad | Self::Facts => 10,
            Self::Ledger | Self::Constraints => 12,
            Self::Entries | Self::Decisions => 6,
        }
    }
}

/// A part with its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DigestSection {
    pub(crate) part: DigestPart,
    /// The lines, most important first.
    pub(crate) lines: Vec<Line>,
}

/// Returns the text of a bullet without its marker, since a digest adds its own.
pub(crate) fn unmarked(line: &str) -> &str {
    without_bullet(line.trim()).trim_start()
}
