//! Parses the status words and symbols of phases.

use serde::Serialize;

use crate::clock::parse_date;
use crate::text::strip_prefix_ignore_case;

/// The progress of a phase, independent of wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseProgress {
    /// Finished.
    Complete,
    /// Started.
    InProgress,
    /// Not started, whether planned or not.
    NotStarted,
    /// Postponed to a later milestone.
    Deferred,
    /// Covered by another phase.
    Superseded,
    /// Removed from the roadmap.
    Removed,
    /// Unable to continue.
    Blocked,
}

/// Status prefixes in lower case; a longer prefix precedes any shorter one that it begins with.
const PREFIXES: &[(PhaseProgress, &[&str])] = &[
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
            "validated",
            // Portuguese, Spanish, Italian, French, German, Dutch, Russian, Chinese, Japanese, Korean.
            "concluíd", "concluid", "completa", "completo", "completad", "completat", "terminad",
            "finalizad", "terminé", "terminée", "achevé", "achevée", "abgeschlossen", "fertig",
            "erledigt", "voltooid", "завершена", "завершено", "завершён", "готово", "已完成",
            "完成", "完了", "완료",
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
const SYMBOLS: &[(PhaseProgress, &str)] = &[
    (PhaseProgress::Complete, "\u{2705}\u{2713}\u{2714}\u{2611}\u{25cf}"),
    (PhaseProgress::InProgress, "\u{25d1}\u{25d0}\u{1f6a7}\u{1f504}\u{1f7e1}"),
    (PhaseProgress::NotStarted, "\u{25cb}\u{2b1c}\u{1f4cb}\u{23f3}"),
    (PhaseProgress::Removed, "\u{23ed}"),
    (PhaseProgress::Blocked, "\u{1f6ab}"),
];

impl PhaseProgress {
    /// Parses a status by its prefix: `Complete (4 plans)`, `✓ Built`, `◑ In progress`, `_(deferred to …)_`.
    pub fn parse(status: &str) -> Option<Self> {
        let lower = status.to_lowercase();
        let words = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
        // `Executed 2 of 4 plans` and `Executed, verification failed` are not complete.
        let is_executed = words.strip_prefix("executed").is_some_and(|rest| {
            let rest = rest.trim();
            rest.is_empty() || begins_with_date(rest)
        });
        prefix(words)
            .map(|(progress, _)| progress)
            .or(is_executed.then_some(Self::Complete))
            .or_else(|| Self::from_symbol(status))
    }

    /// Parses the first status symbol in a text.
    pub(crate) fn from_symbol(text: &str) -> Option<Self> {
        let meaning = |c: char| SYMBOLS.iter().find(|(_, symbols)| symbols.contains(c));
        // No symbol is ASCII, and most texts are.
        let mut symbols = text.chars().filter(|c| !c.is_ascii());
        let (progress, _) = symbols.find_map(meaning)?;
        Some(*progress)
    }

    /// Returns whether a status means complete.
    pub(crate) fn is_complete_status(status: &str) -> bool {
        Self::parse(status) == Some(Self::Complete)
    }

    /// Returns whether a status means that work remains.
    pub(crate) fn is_open_status(status: &str) -> bool {
        matches!(Self::parse(status), Some(Self::InProgress | Self::NotStarted | Self::Blocked))
    }

    /// Returns whether the phase is no longer to be done under its own number.
    pub fn is_dropped(self) -> bool {
        matches!(self, Self::Deferred | Self::Superseded | Self::Removed)
    }
}

/// Returns whether a text begins with a date: `2026-01-02`.
pub(crate) fn begins_with_date(text: &str) -> bool {
    let word = text.split([' ', ')', ',', ':']).next();
    word.is_some_and(|word| word.starts_with("20") && parse_date(word).is_some())
}

/// Returns whether a text is a status rather than a name.
pub(crate) fn is_status(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let words = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let Some((_, word)) = prefix(words) else {
        return words.is_empty() && PhaseProgress::from_symbol(text).is_some();
    };
    let rest = words[word.len()..].trim_start_matches(|c: char| c.is_ascii_alphabetic());
    // `Complete Rewrite` is a name; `COMPLETE`, `Complete (4 plans)`, `complete, verified` and `complete 2026-01-02`
    // are not.
    rest.trim_start().is_empty()
        || begins_with_date(rest.trim_start())
        || rest.trim_start().starts_with(|c: char| !c.is_alphanumeric() && c != '&')
        || text.trim().chars().any(char::is_alphabetic)
            && !text.trim().chars().any(char::is_lowercase)
}

/// Returns the status in square brackets at the end of a text: their offset and their content.
///
/// Other brackets belong to the text: `Arrays [T]`, `Codes [REQ-2]`, `[Name](link)`.
pub(crate) fn last_square_brackets(text: &str) -> Option<(usize, &str)> {
    let inner = text.strip_suffix(']')?;
    let at = inner.rfind('[')?;
    let inside = &inner[at + 1..];
    let is_shouted = |word: &str| word.len() > 3 && word.chars().all(char::is_uppercase);
    let is_sentence = !inside.contains(char::is_lowercase)
        && inside.split([' ', ';', ',']).filter(|word| is_shouted(word)).count() > 1;
    (is_status(inside) || is_sentence).then_some((at, inside))
}

/// Returns the first status word that a text in lower case begins with, and its meaning.
fn prefix(text: &str) -> Option<(PhaseProgress, &'static str)> {
    PREFIXES.iter().find_map(|(progress, words)| {
        let word = words.iter().find(|word| begins_with_word(text, word))?;
        Some((*progress, *word))
    })
}

/// Returns a milestone's name without the status after it: `v1.0 MVP — SHIPPED 2026-02-23`, `v1.0 MVP (complete)`.
pub(crate) fn without_status(name: &str) -> &str {
    let mut name = name.trim();
    loop {
        let dashed = SEPARATORS
            .iter()
            .filter_map(|mark| Some((name.rfind(mark)?, mark.len())))
            .find(|(at, len)| is_status_of_milestone(&name[at + len..]))
            .map(|(at, _)| at);
        let bracketed = || {
            let inner = name.strip_suffix(')')?;
            let at = inner.rfind('(')?;
            is_status_of_milestone(&inner[at + 1..]).then_some(at)
        };
        let shouted = || {
            let at = name.rfind(' ')?;
            let (before, word) = (&name[..at], &name[at + 1..]);
            let is_loud = !word.contains(char::is_lowercase) && before.contains(char::is_lowercase);
            (is_loud && is_status_of_milestone(word)).then_some(at)
        };
        match dashed.or_else(bracketed).or_else(shouted) {
            Some(at) if at > 0 => {
                name = name[..at].trim_end_matches([' ', ':', '-', '\u{2013}', '\u{2014}']);
            }
            _ => return name,
        }
    }
}

/// Marks that separate a milestone's name from its status.
const SEPARATORS: &[&str] = &[" \u{2014} ", " \u{2013} ", " -- ", " - ", ": "];

/// Statuses of milestones, in lower case. Others may be names: `v2.0 - Planning`.
const OF_MILESTONES: &[&str] = &[
    "active", "archived", "closed", "completed", "complete", "done", "in progress", "planned",
    "released", "shipped",
];

/// Returns whether a text is a status of a milestone, perhaps with its date or a remark.
fn is_status_of_milestone(text: &str) -> bool {
    let words = text.trim().trim_start_matches(|c: char| !c.is_alphanumeric());
    if words.is_empty() {
        return PhaseProgress::from_symbol(text).is_some();
    }
    let rest = OF_MILESTONES.iter().find_map(|word| strip_prefix_ignore_case(words, word));
    rest.is_some_and(|rest| {
        let date = rest.trim_start().trim_start_matches("on ");
        let remark = rest.trim_start();
        !rest.starts_with(char::is_alphanumeric)
            && (!remark.starts_with(char::is_alphanumeric) || parse_date(date).is_some())
    })
}

/// Returns whether `text` begins with `word`, followed by at most one letter or digit (`completed`).
fn begins_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| {
        let ending = rest.len() - rest.trim_start_matches(char::is_alphanumeric).len();
        ending <= 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_by_its_beginning() {
        for (text, expected) in [
            ("Complete (4 plans)", Some(PhaseProgress::Complete)),
            ("\u{2713} Built", Some(PhaseProgress::Complete)),
            ("\u{25cf} Done", Some(PhaseProgress::Complete)),
            ("\u{25d1} In progress", Some(PhaseProgress::InProgress)),
            ("completed_verified", Some(PhaseProgress::Complete)),
            ("Pending planning", Some(PhaseProgress::NotStarted)),
            ("Not started", Some(PhaseProgress::NotStarted)),
            ("_(deferred to v3)_", Some(PhaseProgress::Deferred)),
            ("Superseded by Phase 2", Some(PhaseProgress::Superseded)),
            ("concluída em 2026-03-01", Some(PhaseProgress::Complete)),
            ("Abgeschlossen (4 Pläne)", Some(PhaseProgress::Complete)),
            ("Завершена", Some(PhaseProgress::Complete)),
            ("已完成", Some(PhaseProgress::Complete)),
            ("Em andamento", Some(PhaseProgress::InProgress)),
            ("Não iniciada", Some(PhaseProgress::NotStarted)),
            ("\u{2705}", Some(PhaseProgress::Complete)),
            ("Milestone ready", None),
            ("", None),
        ] {
            assert_eq!(PhaseProgress::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn names_that_begin_like_a_status_are_names() {
        for text in ["Complete Rewrite", "Planning & Research", "Doneness", "Events"] {
            assert!(!is_status(text), "{text}");
        }
        for text in [
            "planned", "COMPLETE (100% tests)", "IN PROGRESS", "done, verified",
            "All phases complete",
        ] {
            assert!(is_status(text), "{text}");
        }
    }

    #[test]
    fn a_milestone_is_named_without_its_status() {
        for (text, expected) in [
            ("v1.2 Harbour Map \u{2014} SHIPPED", "v1.2 Harbour Map"),
            ("v1.0 MVP \u{2014} SHIPPED 2026-02-23", "v1.0 MVP"),
            ("v1.0 MVP - Shipped 2026-02-23", "v1.0 MVP"),
            ("v1.0 MVP -- \u{2705} released on 2026-02-23", "v1.0 MVP"),
            ("v1.0 MVP (complete)", "v1.0 MVP"),
            ("v1.0 MVP: archived", "v1.0 MVP"),
            ("v1.0 MVP \u{2705}", "v1.0 MVP"),
            ("v2.0 Feature Gaps COMPLETE", "v2.0 Feature Gaps"),
            ("Milestone 1 \u{2014} Harbour Map \u{2014} done", "Milestone 1 \u{2014} Harbour Map"),
            ("v2.0 Complete Rewrite", "v2.0 Complete Rewrite"),
            ("v2.0: Complete Rewrite", "v2.0: Complete Rewrite"),
            ("M2 Single path (M1 closed 2026-05-12)", "M2 Single path (M1 closed 2026-05-12)"),
            ("v2.0 - Planning", "v2.0 - Planning"),
            ("v2.0 \u{2014} Active Users", "v2.0 \u{2014} Active Users"),
            ("SHIPPED", "SHIPPED"),
            ("GET IT DONE", "GET IT DONE"),
        ] {
            assert_eq!(without_status(text), expected, "{text}");
        }
    }
}
