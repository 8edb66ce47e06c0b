//! The entries of PATTERNS.md, one per phase, and the file as a whole.

use std::fmt::Display;
use std::ops::Range;
use std::path::PathBuf;

use chrono::NaiveDate;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::patterns::Trace;
use crate::plan::{PhaseNumber, PlanNumber};
use crate::text::hexadecimal;

/// The bullet that stands for an empty list.
const NONE: &str = "none recorded";

/// Returns the part of an entry that contains its bullets, as annals writes it.
pub(crate) fn bullets<T: Display>(worked: &[T], failed: &[T]) -> String {
    let list = |bullets: &[T]| -> String {
        if bullets.is_empty() {
            return format!("- {NONE}\n");
        }
        bullets.iter().map(|bullet| format!("- {bullet}\n")).collect()
    };
    format!("**What worked:**\n{}\n**What failed:**\n{}\n", list(worked), list(failed))
}

/// Returns the digest of an entry's bullets, which shows later whether they were edited.
pub(crate) fn digest<T: Display>(worked: &[T], failed: &[T]) -> String {
    hexadecimal(&Sha256::digest(bullets(worked, failed))[..8])
}

/// Returns whether a bullet only stands for an empty list.
pub(crate) fn is_filler(text: &str) -> bool {
    [NONE, "none observed"].iter().any(|none| text.eq_ignore_ascii_case(none))
}

/// PATTERNS.md as parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Patterns {
    /// The entries, in file order.
    pub entries: Vec<PatternEntry>,
    /// The content outside all entries, in file order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loose: Vec<LoosePattern>,
}

impl Patterns {
    /// Returns whether nothing is recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.loose.is_empty()
    }

    /// Returns all texts, in no particular order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let entries = self.entries.iter();
        entries
            .flat_map(PatternEntry::all_texts)
            .chain(self.loose.iter().map(|loose| loose.text.as_str()))
    }
}

/// The entry of one phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PatternEntry {
    /// The phase's number; `None` if the heading has none.
    pub phase: Option<PhaseNumber>,
    /// The phase's name: the heading without number and date.
    pub name: String,
    /// The date in the heading, or else in a `Date:` label.
    pub date: Option<NaiveDate>,
    /// What worked, one text per bullet, verbatim.
    pub worked: Vec<String>,
    /// What failed, one text per bullet, verbatim.
    pub failed: Vec<String>,
    /// The same texts, each with the plans it cites and its source.
    pub bullets: Vec<Bullet>,
    /// How long the phase took.
    pub timing: Timing,
    /// The deviations from the plans.
    pub deviations: DeviationCount,
    /// The texts without a label, or with an unknown one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The phase it was recorded from, if the entry says so.
    #[serde(skip)]
    pub trace: Option<Trace>,
    /// The whole entry, verbatim, with its heading.
    #[serde(skip)]
    pub text: String,
    /// Byte range of the entry.
    #[serde(skip)]
    pub range: Range<usize>,
    /// Line number of its heading, from 1.
    #[serde(skip)]
    pub line: usize,
}

impl PatternEntry {
    /// Returns its title: `Phase 3: Shopping Lists`, or else the name alone.
    pub(crate) fn title(&self) -> String {
        match &self.phase {
            Some(phase) => format!("Phase {phase}: {}", self.name),
            None => self.name.clone(),
        }
    }

    /// Returns the texts of all bullets and notes.
    pub(crate) fn all_texts(&self) -> impl Iterator<Item = &str> {
        self.texts().chain(self.notes.iter().map(String::as_str))
    }

    /// Returns the texts of all bullets, those about what worked first.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.worked.iter().chain(&self.failed).map(String::as_str)
    }
}

/// An entry's timing, verbatim; `unknown` becomes `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Timing {
    /// Number of plans in the phase.
    pub plans: Option<u32>,
    /// The average duration of a plan.
    pub average: Option<String>,
    /// The duration of all plans.
    pub total: Option<String>,
    /// The effort profile in force.
    pub effort: Option<String>,
}

/// The number and kinds of deviations in an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviationCount {
    /// Number of deviations.
    pub count: Option<u32>,
    /// Their kinds, verbatim.
    pub kinds: Option<String>,
}

/// A bullet of an entry with its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bullet {
    /// Its text, verbatim.
    pub text: String,
    /// The section that it is in.
    pub section: BulletSection,
    /// The plans that it cites.
    pub plans: Vec<PlanNumber>,
    /// The place in a summary that it was drawn from; `None` if the entry does not say, or the file is gone.
    pub source: Option<BulletSource>,
}

/// The section of an entry that a bullet is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BulletSection {
    /// `What worked`.
    Worked,
    /// `What failed`.
    Failed,
}

/// The place in a summary that a bullet was drawn from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BulletSource {
    /// Path of the summary, relative to the project.
    pub file: PathBuf,
    /// Line number, from 1; `None` if the source is the summary as a whole.
    pub line: Option<usize>,
    /// The text there.
    pub text: String,
}

/// A bullet or paragraph outside all entries, as written by people and other tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoosePattern {
    /// The heading above it.
    pub section: Option<String>,
    /// Its text on one line, verbatim without the list marker.
    pub text: String,
    /// Byte range.
    #[serde(skip)]
    pub range: Range<usize>,
    /// Line number, from 1.
    #[serde(skip)]
    pub line: usize,
}
