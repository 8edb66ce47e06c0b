//! The parts of a digest, and one of them filled.

use serde::Serialize;

use crate::text::Line;
use crate::text::word_enum;

word_enum! {
    /// A part of a digest, the most important first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    pub enum DigestPart {
        /// Where the planned work stands and what comes next.
        Position = "position",
        /// What holds by the repo ledger, and what it does not cover.
        Ledger = "ledger",
        /// What blocks it.
        Blockers = "blockers",
        /// What was pinned in the notepad.
        Notepad = "notepad",
        /// What must not change, by the repo ledger.
        Constraints = "constraints",
        /// What was decided.
        Decisions = "decisions",
        /// What finished phases taught and still holds.
        Patterns = "patterns",
        /// Knowledge entries on the topic.
        Entries = "entries",
        /// What is known of the user.
        Facts = "facts",
        /// What was left for later.
        Todos = "todos",
    }
}

impl DigestPart {
    /// Returns the heading it stands under.
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
        }
    }

    /// Returns the command that prints all of it.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::Position | Self::Blockers | Self::Todos => "annals status",
            Self::Notepad => "annals notepad read",
            Self::Ledger | Self::Constraints => "annals ledger brief",
            Self::Decisions => "annals recall --in plan,ledger decision",
            Self::Patterns => "annals patterns relevant",
            Self::Entries => "annals entry list",
            Self::Facts => "annals facts profile",
        }
    }

    /// Returns the most lines that it gets before the parts below it have had any.
    pub(crate) fn most(self) -> usize {
        match self {
            Self::Position => 8,
            Self::Blockers | Self::Patterns | Self::Entries | Self::Todos => 5,
            Self::Notepad | Self::Facts => 10,
            Self::Ledger | Self::Constraints => 12,
            Self::Decisions => 6,
        }
    }
}

/// One part, filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DigestSection {
    pub(crate) part: DigestPart,
    /// The most important first.
    pub(crate) lines: Vec<Line>,
}

/// Returns a bullet's text: each line of a digest gets a mark of its own.
pub(crate) fn unmarked(line: &str) -> &str {
    let line = line.trim();
    ["- ", "* ", "+ "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .map_or(line, str::trim_start)
}
