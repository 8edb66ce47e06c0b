//! The words that have a meaning in planning files, in all languages seen in them: `vocabulary.txt` is the table.

use std::fmt::Debug;
use std::sync::LazyLock;

use crate::plan::read::PhaseProgress;

/// The words of one kind.
type Words = LazyLock<Vec<&'static str>>;

/// The words for each meaning.
type Meanings<M> = LazyLock<Vec<(M, Vec<&'static str>)>>;

/// Returns the rows of the table: what the words are, and the words.
fn rows() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let lines = include_str!("vocabulary.txt").lines().filter(|line| !line.starts_with('#'));
    let rows = lines.filter_map(|line| line.split_once(": "));
    rows.map(|(kind, words)| (kind, words.split(" | ").collect()))
}

fn words(kind: &str) -> Vec<&'static str> {
    rows().filter(|(own, _)| *own == kind).flat_map(|(_, words)| words).collect()
}

/// Returns the rows of a kind with their meanings, in file order; several rows may have the same.
fn meanings<M: Copy + Debug>(kind: &str, all: &[M]) -> Vec<(M, Vec<&'static str>)> {
    let own = rows().filter_map(|(row, words)| {
        let name = row.strip_prefix(kind)?.strip_prefix(' ')?;
        let meaning = all.iter().find(|meaning| format!("{meaning:?}") == name)?;
        Some((*meaning, words))
    });
    own.collect()
}

/// Beginnings of statuses.
pub(crate) static STATUSES: Meanings<PhaseProgress> =
    LazyLock::new(|| meanings("status", &PhaseProgress::ALL));

/// Symbols that represent a status if no word does.
pub(crate) static SYMBOLS: Meanings<PhaseProgress> =
    LazyLock::new(|| meanings("symbol", &PhaseProgress::ALL));

/// The labels of the fields of a phase's section.
pub(crate) static FIELDS: Meanings<Field> = LazyLock::new(|| meanings("field", Field::ALL));

/// The labels of STATE.md.
pub(crate) static LABELS: Meanings<Label> = LazyLock::new(|| meanings("label", Label::ALL));

/// Statuses of milestones after their names. Other statuses may be names: `v2.0 - Planning`.
pub(super) static MILESTONE_STATUSES: Words = LazyLock::new(|| words("status of a milestone"));

/// Phrases for the time between two milestones; `_` is a space.
pub(super) static BETWEEN_MILESTONES: Words = LazyLock::new(|| words("between milestones"));

/// Values that state nothing.
pub(crate) static NONE: Words = LazyLock::new(|| words("no value"));
pub(crate) static NONE_IN_OTHER_LANGUAGES: Words =
    LazyLock::new(|| words("no value, in other languages"));

/// The noun before a phase's number.
pub(crate) static PHASE_WORDS: Words = LazyLock::new(|| words("phase"));

/// The preposition or sign between a number and the total: `2 of 5`.
pub(super) const OF: &[&str] = &["/", "of ", "de ", "von ", "di ", "sur ", "van ", "из "];

/// Titles of sections about the current phase, and about the position in general.
pub(crate) static POSITION: Words = LazyLock::new(|| words("position"));

/// Titles of sections that name the project.
pub(super) static REFERENCES: Words = LazyLock::new(|| words("project"));

/// Titles of sections of open todos.
pub(crate) static TODOS: Words = LazyLock::new(|| words("todos"));

/// Titles of sections of open blockers.
pub(crate) static BLOCKERS: Words = LazyLock::new(|| words("blockers"));

/// Titles of sections in which a plain `Phase 1: …` bullet states a status.
pub(super) static PHASE_LISTS: Words = LazyLock::new(|| words("phases with a status"));

/// Titles of sections that record events.
pub(super) static LOGS: Words = LazyLock::new(|| words("activity"));

/// Titles of sections of skills.
pub(super) static SKILLS: Words = LazyLock::new(|| words("skills"));

/// Words of the templates' statuses; a text that consists of these and numbers contains no free text.
pub(crate) static TEMPLATE_STATUS: Words = LazyLock::new(|| words("status of a template"));

/// Words after `Phase` in the headings of parts of a roadmap.
pub(super) static ROADMAP_PARTS: Words = LazyLock::new(|| words("part of a roadmap"));

/// Titles of sections of done entries.
pub(super) static DONE: Words = LazyLock::new(|| words("done"));

/// A field of a phase's section in the roadmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Field {
    /// The goal of the phase.
    Goal,
    /// The phases that it depends on.
    DependsOn,
    /// The requirements that it covers.
    Requirements,
    /// What must be true when it is complete.
    SuccessCriteria,
    /// Its plans: the count, or the checklist.
    Plans,
    /// Its status.
    Status,
    /// Any other label, which ends the preceding field.
    Other,
}

impl Field {
    const ALL: &[Self] = &[
        Self::Goal,
        Self::DependsOn,
        Self::Requirements,
        Self::SuccessCriteria,
        Self::Plans,
        Self::Status,
    ];
}

/// What a label of STATE.md is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// The current phase.
    Phase,
    /// Its name.
    PhaseName,
    /// Its status.
    Status,
    /// The current plan.
    Plan,
    /// The number of complete plans.
    Plans,
    /// The number of phases.
    Phases,
    /// The progress.
    Progress,
    /// The milestone.
    Milestone,
    /// A date on which work went on.
    LastActive,
}

impl Label {
    const ALL: &[Self] = &[
        Self::Phase,
        Self::PhaseName,
        Self::Status,
        Self::Plan,
        Self::Plans,
        Self::Phases,
        Self::Progress,
        Self::Milestone,
        Self::LastActive,
    ];

    /// Returns the meaning of a label's name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let lower = name.to_lowercase();
        let row = LABELS.iter().find(|(_, names)| names.contains(&lower.as_str()))?;
        Some(row.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_every_word() {
        let docs = include_str!("../../../docs/formats.md");
        let undocumented = [
            "status of a milestone", "status of a template", "part of a roadmap", "phase",
            "project", "done",
        ];
        let rows = rows().filter(|(kind, _)| !undocumented.contains(kind)).map(|(kind, words)| {
            let kinds = ["status ", "symbol ", "label ", "field "];
            let name = kinds.iter().find_map(|own| kind.strip_prefix(own)).unwrap_or(kind);
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            format!("| {name} | {} |", words.join(" "))
        });
        let missing: Vec<String> = rows.filter(|row| !docs.contains(row.as_str())).collect();
        assert!(missing.is_empty(), "docs/formats.md lacks these rows:\n{missing:#?}");
    }

    #[test]
    fn every_row_is_read() {
        let named = STATUSES.len() + SYMBOLS.len() + LABELS.len() + FIELDS.len();
        let is_named = |kind: &str| {
            ["status ", "symbol ", "label ", "field "].iter().any(|own| kind.starts_with(own))
        };
        let rows = rows().filter(|(kind, _)| is_named(kind) && !kind.contains(" of a "));
        assert_eq!(named, rows.count());
    }
}
