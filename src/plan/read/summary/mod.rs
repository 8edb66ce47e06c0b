//! Parses SUMMARY files, which describe the result of a plan.

use std::collections::HashSet;
use std::path::Path;

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;

use crate::clock::Minutes;
use crate::markdown::{Node, Section};
use crate::plan::read::document::Document;
use crate::plan::read::identity::Identity;
use crate::plan::read::summary::body_deviations::MAX_LISTED;
use crate::plan::read::summary::deviations::Deviations;
use crate::plan::read::summary::timing::Timing;
use crate::plan::read::{Decision, limit, non_placeholder, serialize_phase, serialize_plan};
use crate::warning::{Parsed, Warning};

mod acceptance;
mod body_deviations;
mod commits;
mod decisions;
mod deviation;
mod deviations;
mod file_path;
mod files;
mod issues;
mod status;
mod tasks;
mod timing;

pub use acceptance::AcceptanceResult;
pub use deviation::Deviation;
pub use issues::IssueNote;
pub use status::SummaryStatus;
pub use tasks::TaskCount;

/// A summary, from its front matter or, for missing fields, its body.
///
/// A list that is unknown is `None`; one that is known to be empty is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The phase as spelled in the file, without its name: `05.1`, in JSON `5.1`; a word for a quick task.
    #[serde(serialize_with = "serialize_phase")]
    pub phase: Option<String>,
    /// The plan as spelled in the file, without phase and slug: `02` (in JSON `2`), `01a`, `D`, `R01`.
    #[serde(serialize_with = "serialize_plan")]
    pub plan: Option<String>,
    /// The title in the front matter, otherwise the first heading.
    pub title: Option<String>,
    /// The plan's outcome; `None` if the file has no status word.
    pub status: Option<SummaryStatus>,
    /// Duration of the plan's execution.
    pub duration_minutes: Option<Minutes>,
    /// Whether the duration was derived from timestamps rather than stated.
    pub duration_derived: bool,
    /// The completion date.
    pub completed: Option<NaiveDate>,
    /// Number of deviations, which exceeds the length of the list if only a number is stated; `None` if the
    /// summary does not mention deviations.
    pub deviation_count: Option<u32>,
    /// The deviations; `None` if only their number is known, or nothing at all.
    pub deviations: Option<Vec<Deviation>>,
    /// The number of complete tasks and of all tasks.
    pub tasks: TaskCount,
    /// The files created, modified or deleted.
    pub files: Option<Vec<String>>,
    /// The commit hashes, as written.
    pub commits: Option<Vec<String>>,
    /// The decisions made during execution.
    pub decisions: Option<Vec<Decision>>,
    /// Number of tokens consumed.
    pub tokens_consumed: Option<u64>,
    /// The results of checking the must-haves.
    pub acceptance: Option<Vec<AcceptanceResult>>,
    /// The patterns that it established or used.
    pub patterns: Option<Vec<String>>,
    /// The result, in one line.
    pub one_line: Option<String>,
    /// Issues that are listed separately from the deviations; not serialized.
    #[serde(skip)]
    pub issues: Vec<IssueNote>,
}

/// Maximum number of patterns read from one summary, since each is searched for in its text.
const MAX_PATTERNS: usize = 100;

/// Maximum number of commits of a summary: git is asked about each.
const MAX_COMMITS: usize = 1000;

impl Summary {
    /// Parses a summary in markdown or JSON Lines; `path` identifies the plan if the text does not.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let document = Document::parse(text, path, &mut warnings);
        let identity = Identity::from_document(&document, path);
        let (status, unknown) = status::of_document(&document);
        if let Some(word) = unknown {
            let line = document.front.get(&["status"]).map_or(1, |node| node.line);
            let message = format!("unknown status: {word:?}");
            warnings.push(Warning::at(path, line, message));
        }
        let timing = Timing::from_document(&document, path, &mut warnings);
        let deviations = Deviations::from_document(&document);
        if deviations.left_out > 0 {
            let message =
                format!("has more than {MAX_LISTED} deviations; the rest are only counted");
            warnings.push(Warning::file(path, message));
        }
        let mut issues = issues::issue_notes(&document.outline);
        limit::truncate(&mut issues, MAX_LISTED, "issues", path, &mut warnings);
        let mut patterns = patterns(&document);
        if let Some(list) = &mut patterns {
            limit::truncate(list, MAX_PATTERNS, "patterns", path, &mut warnings);
        }
        let mut commits = commits::commits(&document);
        if let Some(list) = &mut commits {
            limit::truncate(list, MAX_COMMITS, "commits", path, &mut warnings);
        }
        let value = Self {
            phase: identity.phase,
            plan: identity.plan,
            title: title(&document),
            status,
            duration_minutes: timing.duration,
            duration_derived: timing.is_derived,
            completed: timing.completed,
            deviation_count: deviations.count,
            deviations: deviations.list,
            tasks: TaskCount::from_document(&document),
            files: files::files(&document),
            commits,
            decisions: decisions::decisions(&document),
            tokens_consumed: tokens(&document),
            acceptance: acceptance::acceptance(&document),
            patterns,
            one_line: one_liner(&document),
            issues,
        };
        Parsed { value, warnings }
    }

    /// Fills in a missing duration with the time between the first and the last of the plan's commits.
    pub fn derive_duration(&mut self, commit_times: &[DateTime<Utc>]) {
        let (Some(first), Some(last)) = (commit_times.iter().min(), commit_times.iter().max())
        else {
            return;
        };
        if self.duration_minutes.is_none() {
            self.duration_minutes =
                Minutes::between(*first, *last).filter(|span| *span > Minutes::default());
            self.duration_derived = self.duration_minutes.is_some();
        }
    }
}

fn title(document: &Document<'_>) -> Option<String> {
    document
        .front
        .text(&["title", "name"])
        .or_else(|| document.outline.title())
        .and_then(non_placeholder)
        .map(str::to_owned)
}

fn tokens(document: &Document<'_>) -> Option<u64> {
    let keys = ["tokens_consumed", "tokens_used", "tokens", "total_tokens"];
    let text = document.field(&keys)?.as_text()?;
    let plain: String = text.chars().filter(|c| !matches!(c, '_' | ',' | '~')).collect();
    let digits = plain.trim_end_matches(|c: char| !c.is_ascii_digit() && !"kK".contains(c));
    match digits.strip_suffix(['k', 'K']) {
        Some(thousands) => Some(thousands.parse::<u64>().ok()?.saturating_mul(1000)),
        None => digits.parse().ok(),
    }
}

fn patterns(document: &Document<'_>) -> Option<Vec<String>> {
    let stack = document.front.get(&["tech_stack"]);
    let nodes = [
        document.front.get(&["patterns_established", "patterns"]),
        stack.and_then(|stack| stack.get(&["patterns"])),
    ];
    let known: Vec<&Node> = nodes.into_iter().flatten().collect();
    let texts = known.iter().flat_map(|node| node.texts());
    let mut seen = HashSet::new();
    let list: Vec<String> =
        texts.filter(|text| non_placeholder(text).is_some() && seen.insert(text.clone())).collect();
    (!known.is_empty()).then_some(list)
}

/// Returns the value of `one_liner` or `**One-liner:** …`, otherwise a paragraph: of the section titled so,
/// before the first section, or of an overview section.
fn one_liner(document: &Document<'_>) -> Option<String> {
    let outline = &document.outline;
    let labelled = document.values(&["one-liner", "one liner"]);
    let paragraph = |section: &Section| {
        let mut paragraphs = outline.paragraphs(&section.own);
        paragraphs.next().map(|(_, text)| text)
    };
    let titled = |titles: &[&str]| outline.section(titles).and_then(paragraph);
    let opening = || {
        let heads = outline.sections().iter();
        heads.take_while(|section| section.level < 2).find_map(paragraph)
    };
    let is_sentence = |text: &&str| {
        let first = text.lines().next().unwrap_or_default().trim_end();
        !first.ends_with(':') && !first.contains(":**") && !first.starts_with("---")
    };
    let text = document
        .field(&["one_liner", "one_line"])
        .and_then(Node::as_text)
        .or_else(|| labelled.into_iter().find(|value| !value.is_empty()))
        .or_else(|| titled(&["one-liner", "one liner"]))
        .or_else(|| opening().filter(is_sentence))
        .or_else(|| titled(&["summary", "overview", "what was built"]).filter(is_sentence))?;
    let folded = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let plain = folded.trim_matches(['*', '_']).trim();
    non_placeholder(plain).map(str::to_owned)
}

#[cfg(test)]
mod tests;
