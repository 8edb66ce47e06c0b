//! Parses phase and plan numbers, which are compared by their parts, not as text.

use std::cmp::Ordering;
use std::fmt;

use serde::Serialize;
use serde::Serializer;

/// The number of a phase: `5`, `5.1` (inserted between 5 and 6), `3b`.
///
/// Ordered by its parts: 5 < 5.1 < 5.2 < 6 < 10, 3 < 3b < 4. Displayed without leading zeros.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PhaseNumber {
    parts: Vec<u32>,
    letter: Option<char>,
}

impl PhaseNumber {
    /// Parses the number at the start of `text` and returns it with the rest.
    ///
    /// `05.1-name` yields 5.1 and `-name`; a word that merely begins with digits (`3rd`) yields `None`.
    pub fn split(text: &str) -> Option<(Self, &str)> {
        let mut parts = Vec::new();
        let mut rest = text;
        loop {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if digits == 0 || digits > 6 {
                return None;
            }
            parts.push(rest[..digits].parse().ok()?);
            rest = &rest[digits..];
            match rest.strip_prefix('.') {
                Some(after) if after.starts_with(|c: char| c.is_ascii_digit()) => rest = after,
                _ => break,
            }
        }
        let letter = rest
            .chars()
            .next()
            .filter(|c| c.is_ascii_alphabetic() && !rest[1..].starts_with(char::is_alphanumeric));
        if letter.is_some() {
            rest = &rest[1..];
        } else if rest.starts_with(char::is_alphanumeric) {
            return None;
        }
        let letter = letter.map(|c| c.to_ascii_lowercase());
        Some((Self { parts, letter }, rest))
    }

    /// Parses the number at the start of a phase folder's name, and returns it with the rest of the name.
    ///
    /// GSD may prefix the project's code (`project_code`: `CK-01-name`), and some people the word `phase`.
    pub fn split_folder(name: &str) -> Option<(Self, &str)> {
        Self::split(&name[folder_prefix(name).len()..])
    }

    /// Parses a text that consists of a phase number: `05`, `5.1`, `3b`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::split(text.trim()).and_then(|(number, rest)| rest.is_empty().then_some(number))
    }

    /// Returns the integer part: 5 for 5.1.
    pub fn whole(&self) -> u32 {
        self.parts[0]
    }
}

/// Returns the prefix before the number in a phase folder's name: `CK-` of `CK-01-name`.
pub(crate) fn folder_prefix(name: &str) -> &str {
    const LONGEST_CODE: usize = 6;
    let Some((word, rest)) = name.split_once(['-', '_']) else {
        return "";
    };
    let is_code = (1..=LONGEST_CODE).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_prefix = is_code || word.eq_ignore_ascii_case("phase");
    if is_prefix && rest.starts_with(|c: char| c.is_ascii_digit()) {
        &name[..=word.len()]
    } else {
        ""
    }
}

impl From<u32> for PhaseNumber {
    fn from(number: u32) -> Self {
        Self {
            parts: vec![number],
            letter: None,
        }
    }
}

impl Ord for PhaseNumber {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.parts, self.letter).cmp(&(&other.parts, other.letter))
    }
}

impl PartialOrd for PhaseNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for PhaseNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                write!(f, ".")?;
            }
            write!(f, "{part}")?;
        }
        self.letter.map_or(Ok(()), |letter| write!(f, "{letter}"))
    }
}

impl Serialize for PhaseNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The number of a plan within its phase: `2`, `1a`, or a single letter (`D`).
///
/// Ordered by number, then letter; displayed without leading zeros, with letters in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanNumber {
    number: u32,
    letter: Option<char>,
}

impl PlanNumber {
    /// Parses `02`, `2`, `01a`, `D`: a number, optionally followed by a letter, or a single letter.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let letters = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &text[..text.len() - letters.len()];
        let mut chars = letters.chars();
        let letter = chars.next();
        if chars.next().is_some()
            || letter.is_some_and(|c| !c.is_ascii_alphabetic())
            || text.is_empty()
        {
            return None;
        }
        let number = if digits.is_empty() {
            0
        } else if digits.len() > 4 {
            return None;
        } else {
            digits.parse().ok()?
        };
        let letter = letter.map(|c| c.to_ascii_lowercase());
        Some(Self { number, letter })
    }
}

impl PlanNumber {
    /// Returns the number; 0 if there is only a letter.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

impl From<u32> for PlanNumber {
    fn from(number: u32) -> Self {
        Self {
            number,
            letter: None,
        }
    }
}

impl fmt::Display for PlanNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.number > 0 || self.letter.is_none() {
            write!(f, "{}", self.number)?;
        }
        self.letter.map_or(Ok(()), |letter| write!(f, "{letter}"))
    }
}

impl Serialize for PlanNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Serialises a phase normalised, regardless of the file's spelling: `4` for `04`; words are unchanged.
#[expect(clippy::ref_option, reason = "the signature is required by serde")]
pub(crate) fn serialize_phase<S: Serializer>(
    phase: &Option<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let number = phase.as_deref().and_then(PhaseNumber::parse);
    match number {
        Some(number) => number.serialize(serializer),
        None => phase.serialize(serializer),
    }
}

/// Serialises a plan normalised, regardless of the file's spelling: `1a` for `01A`; names are unchanged.
#[expect(clippy::ref_option, reason = "the signature is required by serde")]
pub(crate) fn serialize_plan<S: Serializer>(
    plan: &Option<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let number = plan.as_deref().and_then(PlanNumber::parse);
    match number {
        Some(number) => number.serialize(serializer),
        None => plan.serialize(serializer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(text: &str) -> PhaseNumber {
        PhaseNumber::parse(text).unwrap()
    }

    #[test]
    fn phases_order_by_their_parts() {
        let order = ["3", "3b", "4", "5", "05.1", "5.2", "06", "10"];
        for pair in order.windows(2) {
            assert!(phase(pair[0]) < phase(pair[1]), "{pair:?}");
        }
        assert_eq!(phase("05.1").to_string(), "5.1");
        assert_eq!(phase("03B").to_string(), "3b");
    }

    #[test]
    fn a_number_is_split_from_the_name_behind_it() {
        let (number, rest) = PhaseNumber::split("06.1-executive").unwrap();
        assert_eq!((number.to_string().as_str(), rest), ("6.1", "-executive"));
        assert_eq!(PhaseNumber::split("3rd-try"), None);
        assert_eq!(PhaseNumber::split("phase-3"), None);
        assert_eq!(PhaseNumber::parse("99999999999"), None);
    }

    #[test]
    fn a_code_or_the_word_may_stand_before_the_number_of_a_folder() {
        let number = |name| PhaseNumber::split_folder(name).map(|(number, _)| number.to_string());
        for (name, expected) in [
            ("05.1-name", "5.1"),
            ("CK-01-name", "1"),
            ("GSDX-02.1-name", "2.1"),
            ("phase-03b-name", "3b"),
            ("Phase_4", "4"),
        ] {
            assert_eq!(number(name).as_deref(), Some(expected), "{name}");
        }
        for name in [
            "m2s3-name",
            "v1-01-name",
            "round-01",
            "TOOLONGX-01",
            "CK-name",
            "CK",
            "-01",
        ] {
            assert_eq!(number(name), None, "{name}");
        }
        let (_, rest) = PhaseNumber::split_folder("CK-01-event-system").unwrap();
        assert_eq!(rest, "-event-system");
    }

    #[test]
    fn plans_are_numbers_letters_or_both() {
        let plan = |text| PlanNumber::parse(text).map(|plan| plan.to_string());
        assert_eq!(plan("08").as_deref(), Some("8"));
        assert_eq!(plan("01a").as_deref(), Some("1a"));
        assert_eq!(plan("D").as_deref(), Some("d"));
        assert_eq!(plan(""), None);
        assert_eq!(plan("ab"), None);
        assert!(PlanNumber::parse("2") < PlanNumber::parse("10"));
    }
}
