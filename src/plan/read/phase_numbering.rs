//! The conventions for numbering phases.
//!
//! ```text
//! plain                5   05.1   3b         folders 05-name       plans 05-01-PLAN.md
//! milestone-prefixed   2-01   2-04-01        folders 02-01-name    plans 02-01-01-PLAN.md
//! ```
//!
//! The second form is GSD's with `phase_id_convention` set to `milestone-prefixed`. Elsewhere, `2-01` is plan
//! 1 of phase 2 or a range, so the form is only read if config.json sets it or the roadmap uses it.

use crate::plan::read::PhaseNumber;
use crate::plan::read::number::leading_digits;

/// How a project numbers its phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PhaseNumbering {
    /// One number: `5`, `5.1`, `3b`.
    #[default]
    Plain,
    /// The milestone and the phase's number in it, which has two digits: `2-01`; plain numbers are also accepted.
    MilestonePrefixed,
    /// A project's code before the number: `KIOSK-02`. Elsewhere, a code before a folder's number says nothing.
    Coded,
}

/// Maximum number of digits of a milestone's number: 999 is GSD's backlog.
const MILESTONE_DIGITS: usize = 3;

impl PhaseNumbering {
    /// Parses the phase number at the start of `text` and returns it with the rest.
    pub fn split(self, text: &str) -> Option<(PhaseNumber, &str)> {
        let prefixed = match self {
            Self::Plain | Self::Coded => None,
            Self::MilestonePrefixed => split_prefixed(text),
        };
        let coded = || PhaseNumber::split_coded(text, self == Self::Coded);
        prefixed.or_else(coded).or_else(|| PhaseNumber::split(text))
    }

    /// Parses the phase number at the start of a folder's name, after a project code or the word `phase`.
    pub fn split_folder(self, name: &str) -> Option<(PhaseNumber, &str)> {
        let coded = (self == Self::Coded).then(|| PhaseNumber::split_coded(name, true)).flatten();
        coded.or_else(|| self.split(&name[folder_prefix(name).len()..]))
    }

    /// Parses a text that consists of a phase number.
    pub fn parse(self, text: &str) -> Option<PhaseNumber> {
        self.split(text.trim()).and_then(|(number, rest)| rest.is_empty().then_some(number))
    }

    /// Returns the phases named in a text, after the word `phase` or as the argument of a command.
    pub(crate) fn phases_in(self, text: &str) -> Vec<PhaseNumber> {
        const WORDS: &[&str] = &["phase", "phases", "fase", "fases", "фаза"];
        const COMMANDS: &[&str] =
            &["--plan", "--execute", "--discuss", "--verify", ":plan", ":execute"];
        let words: Vec<&str> = text.split_whitespace().collect();
        let names_phase = |word: &str| {
            let word = word.to_lowercase();
            let word = word.trim_matches(['*', '`', '(', '"', ':']);
            WORDS.iter().any(|known| word == *known || word.ends_with(&format!("-{known}")))
                || COMMANDS.iter().any(|known| word.ends_with(known))
        };
        words
            .windows(2)
            .filter(|pair| names_phase(pair[0]))
            .filter_map(|pair| {
                let argument = pair[1].trim_start_matches(['*', '`', '(']);
                self.split(argument).map(|(number, _)| number)
            })
            .collect()
    }
}

/// Returns whether a folder's name may begin with a milestone and a number, or with a code: `02-01-name`, `CK-01-name`.
pub(crate) fn may_be_prefixed(folder: &str) -> bool {
    let prefix = folder_prefix(folder);
    prefix.starts_with(|c: char| c.is_ascii_uppercase())
        || split_prefixed(&folder[prefix.len()..]).is_some()
}

/// Returns the prefix before the number in a phase folder's name: `CK-` of `CK-01-name`.
pub(crate) fn folder_prefix(name: &str) -> &str {
    const MAX_CODE_LENGTH: usize = 6;
    let Some((word, rest)) = name.split_once(['-', '_']) else {
        return "";
    };
    let is_code = (1..=MAX_CODE_LENGTH).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_prefix = is_code || word.eq_ignore_ascii_case("phase");
    if is_prefix && rest.starts_with(|c: char| c.is_ascii_digit()) {
        &name[..=word.len()]
    } else {
        ""
    }
}

/// Parses `2-01`, `2-04-01`, `2-01.1`: every number after a hyphen has two digits.
fn split_prefixed(text: &str) -> Option<(PhaseNumber, &str)> {
    let digits = leading_digits(text);
    if digits == 0 || digits > MILESTONE_DIGITS {
        return None;
    }
    let mut prefix = Vec::new();
    let (mut last, mut rest) = text.split_at(digits);
    while let Some(next) = rest.strip_prefix('-').filter(|next| leading_digits(next) == 2) {
        prefix.push(last.parse().ok()?);
        (last, rest) = next.split_at(2);
    }
    if prefix.is_empty() {
        return None;
    }
    PhaseNumber::split_after(prefix, &text[text.len() - rest.len() - last.len()..])
}

/// Returns the phase that a title names by milestone: `Phase 2-01: Name`.
///
/// `Phase 1-4` and `Phase 01-03` are ranges: an id has a zero after the hyphen and none in front.
pub(super) fn titled(title: &str) -> Option<PhaseNumber> {
    let id = title.strip_prefix("Phase ")?;
    let is_id = !id.starts_with('0') && id[leading_digits(id)..].starts_with("-0");
    let (number, rest) = split_prefixed(id).filter(|_| is_id)?;
    rest.starts_with(':').then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_milestones_are_told_from_ranges_and_names() {
        let numbering = PhaseNumbering::MilestonePrefixed;
        for (text, number, rest) in [
            ("2-01: Name", "2-01", ": Name"),
            ("02-01-name", "2-01", "-name"),
            ("2-04-01-deep", "2-04-01", "-deep"),
            ("2-01.1-more", "2-01.1", "-more"),
            ("10-12", "10-12", ""),
            ("1-4: all", "1", "-4: all"),
            ("14-2026-photos", "14", "-2026-photos"),
            ("05.1-name", "5.1", "-name"),
            ("2026-01-03", "2026", "-01-03"),
            ("3-3d-terrain", "3", "-3d-terrain"),
        ] {
            let (found, behind) = numbering.split(text).unwrap();
            assert_eq!((found.to_string().as_str(), behind), (number, rest));
        }
        assert_eq!(numbering.split("01-3d-terrain").unwrap().1, "-3d-terrain");
        assert_eq!(PhaseNumbering::Plain.split("2-01").unwrap().1, "-01");
        let (number, rest) = numbering.split_folder("CK-02-01-name").unwrap();
        assert_eq!((number.to_string().as_str(), rest), ("2-01", "-name"));
        assert!(may_be_prefixed("02-01"));
        assert!(!may_be_prefixed("01-3d-terrain"));
    }
}
