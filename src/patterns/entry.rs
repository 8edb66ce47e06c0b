//! One phase's entry of PATTERNS.md, and the file as a whole.

use std::ops::Range;
use std::path::PathBuf;

use chrono::NaiveDate;
use serde::Serialize;

use crate::patterns::Trace;
use crate::planning::PhaseNumber;
use crate::planning::PlanNumber;

/// PATTERNS.md as read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Patterns {
    /// The entries, in file order.
    pub entries: Vec<PatternEntry>,
    /// What stands outside of any entry, in file order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loose: Vec<LoosePattern>,
}

impl Patterns {
    /// Returns every text, in no order that matters.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let entries = self.entries.iter();
        let listed =
            entries.flat_map(|entry| entry.texts().chain(entry.notes.iter().map(String::as_str)));
        listed.chain(self.loose.iter().map(|loose| loose.text.as_str()))
    }
}

/// What one phase taught.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PatternEntry {
    /// The phase's number; nothing where the heading has none.
    pub phase: Option<PhaseNumber>,
    /// The phase's name: the heading without number and date.
    pub name: String,
    /// The day in the heading, else of a `Date:` label.
    pub date: Option<NaiveDate>,
    /// What worked, one text a bullet, verbatim.
    pub worked: Vec<String>,
    /// What failed, one text a bullet, verbatim.
    pub failed: Vec<String>,
    /// The same texts, each with the plans it names and the place it is drawn from.
    pub bullets: Vec<Bullet>,
    /// How long the phase took.
    pub timing: Timing,
    /// What went otherwise than planned.
    pub deviations: DeviationCount,
    /// What the entry says under no label of its own, or under one that is not known here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Which phase it came from, where it says so.
    #[serde(skip)]
    pub trace: Option<Trace>,
    /// The whole entry, verbatim, its heading included.
    #[serde(skip)]
    pub text: String,
    /// The bytes it takes.
    #[serde(skip)]
    pub range: Range<usize>,
    /// The line of its heading, counted from 1.
    #[serde(skip)]
    pub line: usize,
}

impl PatternEntry {
    /// Returns the bullets of both kinds, what worked first.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.worked.iter().chain(&self.failed).map(String::as_str)
    }
}

/// An entry's timing, verbatim; what is `unknown` there is absent here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Timing {
    /// How many plans the phase had.
    pub plans: Option<u32>,
    /// The average duration of a plan.
    pub average: Option<String>,
    /// The duration of all plans.
    pub total: Option<String>,
    /// The effort profile that was in force.
    pub effort: Option<String>,
}

/// How many deviations an entry counts, and of what kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviationCount {
    /// How many.
    pub count: Option<u32>,
    /// Of what kinds, verbatim.
    pub kinds: Option<String>,
}

/// A bullet of an entry and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bullet {
    /// Its text, verbatim.
    pub text: String,
    /// Whether it stands under what worked or what failed.
    pub section: BulletSection,
    /// The plans that it names.
    pub plans: Vec<PlanNumber>,
    /// The place in a summary it is drawn from; nothing where the entry does not say, or the file is gone.
    pub source: Option<BulletSource>,
}

/// The part of an entry that a bullet stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BulletSection {
    /// `What worked`.
    Worked,
    /// `What failed`.
    Failed,
}

/// The place in a summary that a bullet is drawn from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BulletSource {
    /// The summary, relative to the project.
    pub file: PathBuf,
    /// The line, counted from 1; nothing where the summary as a whole says it.
    pub line: Option<usize>,
    /// What stands there.
    pub text: String,
}

/// A bullet or paragraph outside of any entry, as people and other tools keep them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoosePattern {
    /// The heading it stands under.
    pub section: Option<String>,
    /// Its text on one line, verbatim without the list marker.
    pub text: String,
    /// The bytes it takes.
    #[serde(skip)]
    pub range: Range<usize>,
    /// Its line, counted from 1.
    #[serde(skip)]
    pub line: usize,
}
