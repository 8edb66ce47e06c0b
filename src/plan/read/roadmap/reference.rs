//! Parses references to phases and requirements.

use std::collections::HashSet;

use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::{PhaseNumber, PhaseNumbering};
use crate::text::comma_separated;

/// Maximum length of a range that is expanded to single phases; of a longer one, only the ends are kept.
const MAX_RANGE: u32 = 50;

/// Maximum number of phases that are read from a text.
pub(super) const MAX_PHASES: usize = 200;

/// The phases that a text refers to.
#[derive(Default)]
pub(super) struct ReferencedPhases {
    /// The first [`MAX_PHASES`], without duplicates.
    pub(super) phases: Vec<PhaseNumber>,
    /// Whether there are more.
    pub(super) is_cut: bool,
    seen: HashSet<PhaseNumber>,
}

impl ReferencedPhases {
    fn push(&mut self, number: PhaseNumber) {
        if self.seen.contains(&number) {
            return;
        }
        if self.phases.len() == MAX_PHASES {
            self.is_cut = true;
            return;
        }
        self.seen.insert(number.clone());
        self.phases.push(number);
    }
}

/// Returns the distinct phases in `Phase 1, Phase 3`, `Phases 2-4`, `Phase 1 (reason), 05.1 and 6`.
///
/// Text in brackets gives reasons and is ignored, unless only that names the phases: `Wave A (Phases 2-4)`. Clauses
/// that begin with `soft` or `optional` are ignored, too.
pub(super) fn phases(text: &str, numbering: PhaseNumbering) -> ReferencedPhases {
    let mut found = ReferencedPhases::default();
    let lower = in_english(&text.to_lowercase().replace(", but ", "; "));
    if is_none_remark(text) || lower.starts_with("nothing") {
        return found;
    }
    let mut depth = 0_i32;
    let ends_clause = |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ';' && depth <= 0
    };
    let clauses: Vec<String> = lower.split(ends_clause).map(phases_of_clause).collect();
    if !clauses.iter().any(|clause| clause.contains("phase")) {
        list(&clauses[0], numbering, &mut found);
        return found;
    }
    let is_left_out = |clause: &&String| {
        let clause = clause.trim_start_matches(['*', '_', '(', ' ']);
        let is_exception =
            ["beyond", "other than", "except"].iter().any(|word| clause.contains(word));
        let is_denied = clause.starts_with("no ") && clause.contains("dependenc") && !is_exception;
        is_denied || clause.starts_with("soft") || clause.starts_with("optional")
    };
    for clause in clauses.iter().filter(|clause| !is_left_out(clause)) {
        for piece in clause.split("phase").skip(1) {
            list(piece.strip_prefix('s').unwrap_or(piece), numbering, &mut found);
            if found.is_cut {
                return found;
            }
        }
    }
    found
}

/// Returns a text in lower case with the English word for phases: `fase 2 e fase 3` becomes `phase 2 e phase 3`.
fn in_english(lower: &str) -> String {
    const PHASES: &[&str] = &["fase", "fases", "fasi", "фаза", "фазы", "阶段"];
    let is_phase = |word: &str| PHASES.contains(&word.trim_matches(['(', '*']));
    let words = lower.split_inclusive(' ').map(|word| {
        let bare = word.trim_end();
        if is_phase(bare) {
            let name = bare.trim_matches(['(', '*']);
            word.replacen(name, "phase", 1)
        } else {
            word.to_owned()
        }
    });
    words.collect()
}

/// Returns the part of a clause that names phases: without brackets, or only those.
fn phases_of_clause(clause: &str) -> String {
    let outside = without_brackets(clause);
    match bracketed_phases(clause) {
        Some(inside) if !outside.contains("phase") => inside.to_owned(),
        _ => outside,
    }
}

/// Returns the first brackets if they contain only phases, unless the text before denies a dependency.
fn bracketed_phases(lower: &str) -> Option<&str> {
    let (before, rest) = lower.split_once("(phase")?;
    let (inside, _) = rest.split_once(')')?;
    let is_denied = ["no ", "independent ", "first phase", "can run", "can be"]
        .iter()
        .any(|word| before.trim_start().starts_with(word));
    let numbers = inside.strip_prefix('s').unwrap_or(inside);
    let is_number = |word: &str| {
        matches!(word, "and" | "to" | "phase" | "phases") || !word.contains(char::is_alphabetic)
    };
    let are_phases = numbers.split([' ', ',']).all(is_number);
    (!is_denied && are_phases)
        .then(|| &lower[before.len() + 1..before.len() + 1 + "phase".len() + inside.len()])
}

/// Parses numbers joined by commas, `and`, `&`, `+`, `/` or a dash, up to the first other word.
fn list(text: &str, numbering: PhaseNumbering, found: &mut ReferencedPhases) {
    let mut rest = text.trim_start();
    let mut from: Option<PhaseNumber> = None;
    while let Some((number, behind)) = numbering.split(rest) {
        if let Some(from) = from.take().filter(|from| from.is_sibling(&number)) {
            let (first, last) = (from.ordinal(), number.ordinal());
            if last.saturating_sub(first) <= MAX_RANGE {
                for between in first + 1..last {
                    found.push(from.sibling(between));
                }
            }
        }
        found.push(number.clone());
        if found.is_cut {
            return;
        }
        let behind = behind.trim_start();
        let joined =
            [",", "and ", "&", "+", "/"].iter().find_map(|joint| behind.strip_prefix(joint));
        let through = ["-", "\u{2013}", "to ", "through "]
            .iter()
            .find_map(|joint| behind.strip_prefix(joint));
        if through.is_some() {
            from = Some(number);
        }
        let Some(next) = joined.or(through) else {
            return;
        };
        rest = next.trim_start();
        rest = rest.strip_prefix("and ").unwrap_or(rest).trim_start();
    }
}

fn without_brackets(text: &str) -> String {
    let mut depth = 0_usize;
    text.chars()
        .filter(|c| {
            match c {
                '(' => depth += 1,
                ')' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect()
}

/// Returns the requirements of a line: separately if they are ids, otherwise the whole text.
pub(super) fn requirements(text: &str) -> Vec<String> {
    let text = text.trim();
    if is_none_remark(text) {
        return Vec::new();
    }
    if !begins_with_id(text) {
        return vec![text.to_owned()];
    }
    comma_separated(text)
        .map(str::trim)
        .filter(|piece| !piece.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the requirements of a bullet: separately if it consists only of ids.
pub(super) fn listed_requirements(text: &str) -> Vec<String> {
    if text.split(',').all(|piece| begins_with_id(piece.trim()) && !piece.contains(':')) {
        return requirements(text);
    }
    vec![text.trim().to_owned()]
}

/// Returns whether a text begins with an id such as `REQ-01`, `AUTH-01`, `ORG-06a`, `R12`.
fn begins_with_id(text: &str) -> bool {
    let word = text.split([' ', ',', ':']).next().unwrap_or_default();
    word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.contains(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| {
            c.is_ascii_uppercase()
                || c.is_ascii_digit()
                || c == '-'
                || c == '_'
                || c == '.'
                || c.is_ascii_lowercase()
        })
        && word.chars().filter(char::is_ascii_lowercase).count() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_found_however_they_are_joined() {
        for (text, expected) in [
            ("Phase 1", "1"),
            ("Phase 1, Phase 3", "1 3"),
            ("Phase 2 (F1) \u{2014} both consume what F1 stabilises.", "2"),
            ("Phase 3 (after `x`; order of Phase 9 is open).", "3"),
            ("Phases 2-4 and 05.1", "2 3 4 5.1"),
            ("Phases 2-400", "2 400"),
            ("Phases 1, 2, and 3", "1 2 3"),
            ("Phase 02.1, 3b", "2.1 3b"),
            ("1, 2", "1 2"),
            ("Nothing (first phase)", ""),
            ("None \u{2014} independent of Phase 1", ""),
            ("Phase 2; Phase 4", "2 4"),
            ("Wave A (Phases 5-6); soft dependency on 7", "5 6"),
            ("Wave A complete (Phases 5-6); soft dependency on Phase 7", "5 6"),
            ("Wave 1 (Phases 2-4)", "2 3 4"),
            ("No hard dependency. Runs **before** Phase 19", ""),
            ("No dependency on Phase 8, but needs Phase 7", "7"),
            ("Foundation (Phase 1, Phase 2)", "1 2"),
            ("Phase 5; soft dependency on Phase 7", "5"),
            ("Microsoft Graph client of Phase 3", "3"),
            ("Phase 2 complete; 3 plans shipped", "2"),
            ("Independent (Phases 2-4 can run in parallel)", ""),
            ("No dependencies (Phase 1 already done)", ""),
            ("First phase (Phase 1 of v2)", ""),
            ("Fase 2 e Fase 3", "2 3"),
            ("**Fase 4** (e por isso Fase 2)", "4"),
            ("Nada (primeira fase)", ""),
            ("1200 and 1201.", "1200 1201"),
            ("TBD", ""),
            ("the API", ""),
        ] {
            let found: Vec<String> = phases(text, PhaseNumbering::Plain)
                .phases
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn phases_of_milestones_are_told_from_ranges() {
        for (text, expected) in [
            ("Phase 1-02, Phase 2-01", "1-02 2-01"),
            ("Phases 2-01 and 2-03 (both)", "2-01 2-03"),
            ("Phases 2-01 \u{2013} 2-04", "2-01 2-02 2-03 2-04"),
            ("Phases 2-01 to 3-02", "2-01 3-02"),
            ("Phases 1-3", "1 2 3"),
        ] {
            let found = phases(text, PhaseNumbering::MilestonePrefixed);
            let found: Vec<String> = found.phases.iter().map(ToString::to_string).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn phases_beyond_the_maximum_are_left_out_and_reported() {
        let list = |count: usize| {
            let numbers: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
            format!("Phases {}", numbers.join(", "))
        };
        let found = phases(&list(MAX_PHASES), PhaseNumbering::Plain);
        assert_eq!((found.phases.len(), found.is_cut), (MAX_PHASES, false));
        let repeated = list(MAX_PHASES) + ", Phase 7";
        assert!(!phases(&repeated, PhaseNumbering::Plain).is_cut);
        let found = phases(&list(MAX_PHASES + 1), PhaseNumbering::Plain);
        assert_eq!((found.phases.len(), found.is_cut), (MAX_PHASES, true));
        let found = phases("Phases 1-50, 60-109, 201-250, 301-350, 401-450", PhaseNumbering::Plain);
        assert_eq!((found.phases.len(), found.is_cut), (MAX_PHASES, true));
    }

    #[test]
    fn ids_are_split_and_sentences_are_not() {
        assert_eq!(
            requirements("REQ-02 (first, second), AUTH-01-06, ORG-06a"),
            ["REQ-02 (first, second)", "AUTH-01-06", "ORG-06a"]
        );
        assert_eq!(requirements("Smart caching, gates"), ["Smart caching, gates"]);
        assert_eq!(requirements("REQ-01 through REQ-11"), ["REQ-01 through REQ-11"]);
        assert!(requirements("TBD").is_empty());
        assert_eq!(listed_requirements("A-01, A-02"), ["A-01", "A-02"]);
        assert_eq!(listed_requirements("A-01, A-02: both, once"), ["A-01, A-02: both, once"]);
    }
}
