//! Recognises the fields of a phase by their various labels.

use crate::plan::read::heading;

/// A field of a phase's section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
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
    /// Its completion date.
    Completed,
    /// Any other label, which ends the preceding field.
    Other,
}

const NAMES: &[(Field, &[&str])] = &[
    (
        Field::Goal,
        &["goal", "objective", "objectif", "objetivo", "obiettivo", "ziel", "цель", "目标", "目標"],
    ),
    (
        Field::DependsOn,
        &[
            "depends on", "depends", "dependencies", "dependency", "deps", "abhängigkeiten",
            "abhängig von", "dependencias", "dependências", "depende de", "dipende da",
            "dépend de", "dépendances", "hängt ab von", "зависит от", "зависимости", "依赖",
        ],
    ),
    (
        Field::Requirements,
        &[
            "requirements", "requirement", "reqs", "req", "req coverage", "anforderungen",
            "exigences", "requisiti", "requisitos", "требования", "需求",
        ],
    ),
    (
        Field::SuccessCriteria,
        &[
            "success criteria",
            "success criterion",
            "success",
            "acceptance criteria",
            "exit criteria",
            "criteri di successo",
            "criterios de aceptación",
            "criterios de éxito",
            "critères de réussite",
            "critères de succès",
            "critérios de aceitação",
            "critérios de aceite",
            "critérios de sucesso",
            "erfolgskriterien",
            "критерии успеха",
            "成功标准",
        ],
    ),
    (Field::Plans, &["plans", "plan"]),
    (Field::Status, &["status"]),
    (Field::Completed, &["completed"]),
];

impl Field {
    /// Returns the field for a label or the title of a subsection.
    pub(super) fn from_name(name: &str) -> Self {
        let words = heading::words(name);
        NAMES
            .iter()
            .find(|(_, names)| names.contains(&words.as_str()))
            .map_or(Self::Other, |(field, _)| *field)
    }

    /// Parses a line that begins with a label, and returns the field with the offset of its value.
    ///
    /// ```text
    /// **Goal:** …    **Success Criteria** (what must be TRUE):    Plans:    *Scaffolding:*
    /// ```
    pub(super) fn from_line(line: &str) -> Option<(Self, usize)> {
        let lead = line.len() - line.trim_start().len();
        let text = &line[lead..];
        let (name, rest) = bold(text).or_else(|| plain(text))?;
        Some((Self::from_name(name), line.len() - rest.trim_start().len()))
    }
}

/// The colon, and the one of Chinese and Japanese texts.
const COLONS: [char; 2] = [':', '\u{ff1a}'];

/// Parses `**Name:** value`, `**Name**: value` and `**Name** (remark): value`.
fn bold(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.strip_prefix("**")?.split_once("**")?;
    if name.len() > 60 || name.contains('`') {
        return None;
    }
    if let Some(name) = name.trim_end().strip_suffix(COLONS) {
        return Some((name, rest));
    }
    let rest = rest.trim_start();
    let behind = match rest.strip_prefix('(') {
        Some(remark) => remark.split_once(')')?.1.trim_start(),
        None => rest,
    };
    Some((name, behind.strip_prefix(COLONS)?))
}

/// Parses `Name: value` if the name is that of a field, and `Name:` alone on a line.
fn plain(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(COLONS)?;
    let is_known = Field::from_name(name) != Field::Other && !name.starts_with(['-', '#']);
    let is_alone = rest.trim().is_empty() && name.len() <= 30 && !name.contains(['`', '[']);
    (is_known || is_alone).then_some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_every_spelling_name_their_field() {
        for (line, field, value) in [
            ("**Goal**: do it", Field::Goal, "do it"),
            ("**Deps:** none", Field::DependsOn, "none"),
            ("**Success Criteria** (what must be TRUE):", Field::SuccessCriteria, ""),
            ("**Success Criteria (exit gate):**", Field::SuccessCriteria, ""),
            ("   **Plans**: 3 plans", Field::Plans, "3 plans"),
            ("Plans:", Field::Plans, ""),
            ("**REQ coverage:** REQ-01", Field::Requirements, "REQ-01"),
            ("**UI hint:** no", Field::Other, "no"),
            ("Files:", Field::Other, ""),
            ("**Objetivo**: somar", Field::Goal, "somar"),
            ("**Ziel:** rechnen", Field::Goal, "rechnen"),
            ("**Depende de**: Fase 1", Field::DependsOn, "Fase 1"),
            ("**Requisitos**: SOMA-01", Field::Requirements, "SOMA-01"),
            ("**Critérios de sucesso** (todos):", Field::SuccessCriteria, ""),
            ("**Цель**: считать", Field::Goal, "считать"),
            ("**目标**\u{ff1a}计算", Field::Goal, "计算"),
        ] {
            let (found, at) = Field::from_line(line).unwrap();
            assert_eq!((found, &line[at..]), (field, value), "{line}");
        }
        for line in ["Note: x is y", "plain text", "", "**bold** text: more"] {
            assert_eq!(Field::from_line(line), None, "{line}");
        }
    }
}
