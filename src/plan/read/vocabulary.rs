//! The words that have a meaning in planning files, in all languages seen in them. A word stands here once, in lower case.

use crate::plan::read::PhaseProgress;

/// Beginnings of statuses; a longer one precedes any shorter one that it begins with.
pub(crate) const STATUSES: &[(PhaseProgress, &[&str])] = &[
    (
        PhaseProgress::NotStarted,
        &[
            "not started", "not yet", "not planned", "não iniciad", "no iniciad", "nicht begonnen",
            "не начат", "未开始", "未着手",
        ],
    ),
    (
        PhaseProgress::InProgress,
        &[
            "incomplete", "in progress", "in-progress", "in_progress", "inprogress", "executing",
            "active", "current", "ongoing", "started", "building", "verifying", "partial",
            "needs_remediation", "needs remediation", "wip", "em andamento", "en curso",
            "en progreso", "en cours", "in corso", "in arbeit", "in bearbeitung", "в работе",
            "进行中", "進行中",
        ],
    ),
    (
        PhaseProgress::Complete,
        &[
            "all phases complete", "all complete", "all done", "phase complete",
            "milestone complete", "complete", "done", "built", "shipped", "finished", "verified",
            "validated", "concluíd", "concluid", "completa", "completo", "completad", "completat",
            "terminad", "finalizad", "terminé", "terminée", "achevé", "achevée", "abgeschlossen",
            "fertig", "erledigt", "voltooid", "завершена", "завершено", "завершён", "готово",
            "已完成", "完成", "完了", "완료",
        ],
    ),
    (
        PhaseProgress::NotStarted,
        &[
            "planned", "planning", "pending", "ready", "todo", "queued", "upcoming", "future",
            "unplanned", "pendente", "pendiente", "ausstehend",
        ],
    ),
    (PhaseProgress::Blocked, &["blocked", "on hold", "paused"]),
    (PhaseProgress::Deferred, &["deferred", "postponed"]),
    (PhaseProgress::Superseded, &["superseded", "merged into", "absorbed"]),
    (
        PhaseProgress::Removed,
        &["removed", "dropped", "cancelled", "canceled", "skipped", "abandoned", "obsolete"],
    ),
];

/// Symbols that represent a status if no word does.
pub(crate) const SYMBOLS: &[(PhaseProgress, &str)] = &[
    (PhaseProgress::Complete, "✅✓✔☑●"),
    (PhaseProgress::InProgress, "◑◐🚧🔄🟡"),
    (PhaseProgress::NotStarted, "○⬜📋⏳"),
    (PhaseProgress::Removed, "⏭"),
    (PhaseProgress::Blocked, "🚫"),
];

/// Statuses of milestones after their names. Other statuses may be names: `v2.0 - Planning`.
pub(super) const MILESTONE_STATUSES: &[&str] = &[
    "active", "archived", "closed", "completed", "complete", "done", "in progress", "planned",
    "released", "shipped",
];

/// Phrases for the time between two milestones; `_` is a space.
pub(super) const BETWEEN_MILESTONES: &[&str] = &[
    "no active milestone",
    "no milestone active",
    "between milestones",
    "awaiting new milestone",
    "awaiting next milestone",
    "ready for new milestone",
    "ready for next milestone",
    "ready for a new milestone",
    "ready for the next milestone",
    "ready to plan next milestone",
    "ready to plan the next milestone",
];

/// Values that state nothing.
pub(crate) const NONE: &[&str] = &[
    "", "none", "none yet", "none currently", "none at this time", "none identified",
    "none so far", "none detected", "none found", "none installed", "none recorded", "nothing",
    "n/a", "na", "-", "--", "---", "–", "—", "tbd", "null", "~", "nil", "empty",
];
pub(crate) const NONE_IN_OTHER_LANGUAGES: &[&str] = &[
    "aucun", "aucune", "aucun pour l'instant", "aucune pour l'instant", "brak", "geen", "keine",
    "không có", "nada", "nenhum", "nenhum no momento", "nenhum por enquanto", "nenhuma",
    "nenhuma no momento", "nenhuma por enquanto", "nessuna", "nessuno", "ninguna",
    "ninguna por ahora", "ninguno", "ninguno por ahora", "yok", "нет", "无", "無", "暂无", "なし",
    "없음",
];

/// The noun before a phase's number.
pub(crate) const PHASE_WORDS: &[&str] =
    &["phase", "phases", "fase", "fases", "fasi", "фаза", "фазы", "阶段"];

/// The preposition or sign between a number and the total: `2 of 5`.
pub(super) const OF: &[&str] = &["/", "of ", "de ", "von ", "di ", "sur ", "van ", "из "];

/// A field of a phase's section in the roadmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Its completion date.
    Completed,
    /// Any other label, which ends the preceding field.
    Other,
}

/// The labels of the fields.
pub(crate) const FIELDS: &[(Field, &[&str])] = &[
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
    /// The first thing to do.
    NextStep,
    /// What the work is about now.
    Focus,
    /// A date on which work went on.
    LastActive,
}

/// The labels of STATE.md.
pub(crate) const LABELS: &[(Label, &[&str])] = &[
    (
        Label::Phase,
        &[
            "phase",
            "current phase",
            "active phase",
            "aktuelle phase",
            "fase",
            "fase actual",
            "fase atual",
            "phase actuelle",
            "текущая фаза",
            "фаза",
            "当前阶段",
        ],
    ),
    (Label::PhaseName, &["current phase name", "phase name"]),
    (Label::Status, &["status", "phase status", "current status"]),
    (Label::Plan, &["plan", "current plan"]),
    (Label::Plans, &["plans", "plans complete"]),
    (Label::Phases, &["phases", "total phases"]),
    (Label::Progress, &["progress", "overall progress"]),
    (Label::Milestone, &["milestone", "current milestone"]),
    (Label::NextStep, &["next", "next action", "next step", "next steps", "next up"]),
    (Label::Focus, &["current focus"]),
    (Label::LastActive, &["last activity", "last session", "last updated"]),
];

impl Label {
    /// Returns the meaning of a label's name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let lower = name.to_lowercase();
        let row = LABELS.iter().find(|(_, names)| names.contains(&lower.as_str()))?;
        Some(row.0)
    }
}

/// Titles of sections about the current phase, and about the position in general.
pub(crate) const POSITION: &[&str] = &[
    "current phase",
    "current position",
    "active phase",
    "position",
    "aktuelle phase",
    "fase actual",
    "fase atual",
    "phase actuelle",
    "position actuelle",
    "posicao atual",
    "posición actual",
    "posição atual",
    "текущая позиция",
    "текущая фаза",
    "当前位置",
    "当前阶段",
    "current status",
    "current state",
    "project status",
    "status",
    "progress",
    "aktueller stand",
    "estado actual",
    "estado atual",
];

/// Titles of sections that name the project.
pub(super) const REFERENCES: &[&str] =
    &["project reference", "project", "project summary", "reference"];

/// Titles of sections of open todos.
pub(crate) const TODOS: &[&str] = &[
    "todos", "todo", "pending todos", "active todos", "open todos", "outstanding todos",
    "todo list", "todos / pending items", "todos/pending items", "pending items", "action items",
];

/// Where newer GSD puts what the user has to do.
pub(super) const OPERATOR_STEPS: &[&str] = &["operator next steps"];

/// Titles of sections of open blockers.
pub(crate) const BLOCKERS: &[&str] = &[
    "blockers",
    "blocker",
    "blockers/concerns",
    "blockers concerns",
    "blockers and concerns",
    "active blockers",
    "open blockers",
    "current blockers",
    "blockers/concerns carried forward",
    "blockers carried forward",
    "blockers/issues",
    "blockers/risks",
];

/// Titles of sections in which a plain `Phase 1: …` bullet states a status.
pub(super) const PHASE_LISTS: &[&str] = &[
    "phase status", "phase progress", "phase overview", "phases", "progress", "current position",
    "current phase",
];

/// Titles of sections that record events.
pub(super) const LOGS: &[&str] = &["activity log", "recent activity", "activity", "history", "log"];

/// Titles of sections of skills.
pub(super) const SKILLS: &[&str] = &["skills", "installed skills", "skill status"];

/// Titles of sections of done entries.
pub(super) const DONE: &[&str] =
    &["done", "completed", "complete", "resolved", "archived", "closed"];

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the words of a row as docs/formats.md lists them.
    fn row(name: &str, words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        format!("| {name} | {} |", words.join(" "))
    }

    #[test]
    fn the_documentation_lists_every_word() {
        let text = include_str!("../../../docs/formats.md");
        let mut rows = Vec::new();
        for (meaning, words) in STATUSES {
            rows.push(row(&format!("{meaning:?}"), words));
        }
        for (meaning, signs) in SYMBOLS {
            let signs: Vec<String> = signs.chars().map(String::from).collect();
            let signs: Vec<&str> = signs.iter().map(String::as_str).collect();
            rows.push(row(&format!("{meaning:?}"), &signs));
        }
        for (meaning, words) in LABELS {
            rows.push(row(&format!("{meaning:?}"), words));
        }
        for (meaning, words) in FIELDS {
            rows.push(row(&format!("{meaning:?}"), words));
        }
        for (name, words) in [
            ("position", POSITION),
            ("todos", TODOS),
            ("blockers", BLOCKERS),
            ("phases with a status", PHASE_LISTS),
            ("activity", LOGS),
            ("skills", SKILLS),
            ("no value", &NONE[1..]),
            ("no value, in other languages", NONE_IN_OTHER_LANGUAGES),
            ("between milestones", BETWEEN_MILESTONES),
        ] {
            rows.push(row(name, words));
        }
        let missing: Vec<&String> =
            rows.iter().filter(|row| !text.contains(row.as_str())).collect();
        assert!(missing.is_empty(), "docs/formats.md lacks these rows:\n{missing:#?}");
    }
}
