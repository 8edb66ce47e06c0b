//! Parses STATE.md: the position of the work as last recorded by agents.
//!
//! ```text
//! **Project:** name                     ---
//! **Milestone:** name                   milestone: v1.0
//!                                       progress:
//! ## Current Phase                        total_phases: 4
//! Phase: 2 of 4 (Name)                  ---
//! Plans: 3/5                            ## Current Position
//! Progress: 40%                         Phase: 2 of 4 (Name) — EXECUTING
//! Status: active                        Plan: 3 of 5
//!                                       Progress: [####------] 40%
//! ## Key Decisions
//! | Decision | Date | Rationale |       ### Decisions
//!                                       - [02-03]: …
//! ## Todos
//! - [ ] …                               ### Pending Todos
//! ```

use std::path::Path;

use chrono::NaiveDate;
use serde::Serialize;

use crate::markdown::{FrontMatter, Label, Outline, Section};
use crate::plan::read::located::Span;
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::state::milestone::StatedMilestone;
use crate::plan::read::{
    Decision, Located, PhaseNumbering, WrittenAt, decision, heading, without_emphasis,
};
use crate::text::strip_prefix_ignore_case;
use crate::warning::{Parsed, Warning};

mod claim;
mod log;
mod metric_list;
mod milestone;
mod open_items;
mod phase_list;
mod phase_value;
mod position;
mod progress_value;
mod settled;
mod skill_list;
mod title;

pub use claim::{Claim, PhaseStatus, StatedPhase};

/// A skill named in the Skills section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skill {
    /// The name.
    pub name: String,
    /// `global` or `project`, if stated.
    pub scope: Option<String>,
}

/// An entry of the activity log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The date, if stated.
    pub date: Option<NaiveDate>,
    /// The entry, verbatim, date included.
    pub text: String,
}

/// The parsed STATE.md.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StateFile {
    /// The project's name.
    pub project: Option<String>,
    /// The main purpose of the project.
    pub core_value: Option<String>,
    /// The milestone, verbatim.
    pub milestone: Option<String>,
    /// The milestone's title, if [`milestone`](Self::milestone) is only a version.
    #[serde(skip)]
    pub milestone_name: Option<String>,
    /// The position.
    pub phase: StatedPhase,
    /// The decisions, in file order.
    pub decisions: Vec<Decision>,
    /// The open todos.
    pub todos: Vec<String>,
    /// The open blockers.
    pub blockers: Vec<String>,
    /// What research left open, as far as it is not settled.
    #[serde(skip)]
    pub research_flags: Vec<String>,
    /// The installed skills.
    pub skills: Vec<Skill>,
    /// All statements about the position, in file order.
    #[serde(skip)]
    pub claims: Vec<Located<Claim>>,
    /// The phases listed with a status, in file order.
    #[serde(skip)]
    pub phase_statuses: Vec<PhaseStatus>,
    /// The slug of the active milestone, if stated.
    #[serde(skip)]
    pub active_milestone: Option<String>,
    /// The next steps, verbatim, in file order.
    #[serde(skip)]
    pub next_steps: Vec<Located<String>>,
    /// Whether STATE.md says that no milestone is active, since the last one is complete and the next not
    /// started.
    #[serde(skip)]
    pub is_between_milestones: bool,
    /// The activity log, in file order.
    #[serde(skip)]
    pub activity: Vec<Activity>,
    /// When the work went on, according to each of its dates.
    #[serde(skip)]
    pub last_active: Vec<WrittenAt>,
    /// The performance metrics of the active milestone, without those that are listed twice.
    #[serde(skip)]
    pub metrics: Vec<Label>,
    /// Labels of the current phase whose values neither name a phase nor say that there is none.
    #[serde(skip)]
    pub not_understood: Vec<Located<String>>,
    /// How phases are numbered in it.
    #[serde(skip)]
    pub numbering: PhaseNumbering,
}

/// Maximum number of labels without a phase number that are reported individually.
const MAX_UNCLEAR: usize = 20;

/// Maximum number of statements about the position: each is compared with the files, and may be reported.
pub(crate) const MAX_CLAIMS: usize = 1000;

impl StateFile {
    /// Adds the decisions that the planning folder's own STATE.md keeps for all milestones; open items are carried
    /// into a new milestone when it starts.
    pub(crate) fn add_shared(&mut self, shared: Self) {
        let own = std::mem::take(&mut self.decisions);
        self.decisions = decision::distinct(shared.decisions.into_iter().chain(own));
    }

    /// Parses a STATE.md of a project with plain phase numbers.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        Self::parse_with(text, path, PhaseNumbering::Plain)
    }

    /// Parses a STATE.md of a project that numbers its phases in the given way.
    pub fn parse_with(text: &str, path: &Path, numbering: PhaseNumbering) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let front = FrontMatter::parse(text, path).into_value(&mut warnings);
        let outline = Outline::parse_beginning(text, front.range.end);
        warnings.extend(outline.warning(path));
        let mut not_understood = position::unclear_phases(&outline);
        not_understood.truncate(MAX_UNCLEAR);
        for label in &not_understood {
            let message = format!("the current phase has no number: {:?}", label.value);
            warnings.push(Warning::at(path, label.line, message));
        }
        let mut claims = position::claims(&front, &outline, numbering);
        if let Some(first) = claims.get(MAX_CLAIMS) {
            let message = format!(
                "has more than {MAX_CLAIMS} statements about the position; the rest are ignored"
            );
            warnings.push(Warning::at(path, first.line, message));
            claims.truncate(MAX_CLAIMS);
        }
        let value = Self { not_understood, ..Self::read(&front, &outline, numbering, claims) };
        Parsed { value, warnings }
    }

    fn read(
        front: &FrontMatter,
        outline: &Outline<'_>,
        numbering: PhaseNumbering,
        claims: Vec<Located<Claim>>,
    ) -> Self {
        let labels = identity_labels(outline);
        let label = |name: &str| {
            labels
                .iter()
                .find(|(label, value)| label == name && !is_none_remark(value))
                .map(|(_, value)| value.clone())
        };
        let milestone = StatedMilestone::read(front, outline, &labels);
        let metrics = metric_list::metrics(outline, milestone.text.as_deref());
        let phase_statuses = phase_list::phase_statuses(outline, numbering);
        let mut phase = position::stated_phase(&claims, front.range.end);
        phase.total = phase.total.or_else(|| listed_total(&phase_statuses));
        Self {
            project: label("project").or_else(|| outline.title().and_then(title::project)),
            core_value: label("core value").map(|value| without_emphasis(&value).to_owned()),
            milestone: milestone.text,
            milestone_name: milestone.name,
            phase,
            decisions: decisions(outline, numbering),
            todos: open_items::todos(outline),
            blockers: open_items::blockers(outline),
            research_flags: open_items::research_flags(outline),
            skills: skill_list::skills(outline),
            claims,
            phase_statuses,
            active_milestone: milestone.active,
            next_steps: log::next_steps(outline, numbering),
            is_between_milestones: milestone.is_between,
            activity: log::activity(outline),
            last_active: log::last_active(front, outline),
            metrics,
            not_understood: Vec::new(),
            numbering,
        }
    }
}

/// Returns the labels that describe the project and the position, as lower-case name and value.
fn identity_labels(outline: &Outline<'_>) -> Vec<(String, String)> {
    let references = ["project reference", "project", "project summary", "reference"];
    let mut scopes = position::scopes(outline);
    scopes.extend(heading::sections(outline, &references).map(|section| section.own.clone()));
    scopes.sort_by_key(|scope| scope.start);
    scopes
        .iter()
        .flat_map(|scope| outline.labels(scope))
        .map(|label| (label.name.to_lowercase(), label.value))
        .collect()
}

/// Returns the number of listed phases, if the list has no gaps and all belong to one milestone.
fn listed_total(phases: &[PhaseStatus]) -> Option<u32> {
    let first = &phases.first()?.number;
    let are_siblings = phases.iter().all(|phase| phase.number.is_sibling(first));
    let mut ordinals: Vec<u32> = phases.iter().map(|phase| phase.number.ordinal()).collect();
    ordinals.sort_unstable();
    ordinals.dedup();
    let is_whole_list = ordinals.iter().zip(1..).all(|(ordinal, expected)| *ordinal == expected);
    u32::try_from(phases.len()).ok().filter(|_| are_siblings && is_whole_list)
}

/// Returns the decisions, including those under subheadings, without phases that are listed among them.
fn decisions(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<Decision> {
    let all = decision::sections(outline)
        .flat_map(|section| {
            let inner = outline
                .subsections(section)
                .filter(|inner| decision::may_hold(&inner.title))
                .filter(|inner| !skill_list::is_title(&inner.title));
            let groups = std::iter::once(section).chain(inner);
            let under = |group: &Section| {
                let mut decisions = decision::decisions(outline, &group.own);
                for decision in &mut decisions {
                    let title = || group.title.clone();
                    decision.heading.get_or_insert_with(title);
                }
                decisions
            };
            groups.flat_map(under).collect::<Vec<_>>()
        })
        .filter(|decision| {
            let text = decision.untagged();
            phase_list::entry(Span::new(text, 0, 1), numbering).is_none()
                && !is_phase_report(text, numbering)
        });
    decision::distinct(all)
}

/// Returns whether a text only reports that a phase is over: `Phase 4 complete: all 11 reports converted`.
fn is_phase_report(text: &str, numbering: PhaseNumbering) -> bool {
    const OVER: &[&str] = &["complete", "completed", "done", "finished", "shipped"];
    strip_prefix_ignore_case(text, "phase ")
        .and_then(|rest| numbering.split(rest.trim_start()))
        .and_then(|(_, rest)| {
            rest.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty())
        })
        .is_some_and(|word| OVER.iter().any(|over| over.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests;
