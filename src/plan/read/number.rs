//! Parses phase and plan numbers, which are compared by their parts, not as text.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::error::Error;
use crate::plan::read::PhaseNumbering;

/// The number of a phase: `5`, `5.1` (inserted between 5 and 6), `3b`, `2-01` (the first of milestone 2), `B7`, `M1-2`,
/// `KIOSK-02`.
///
/// Ordered by its parts: 5 < 5.1 < 5.2 < 6 < 10, 3 < 3b < 4; numbers with a milestone come after those
/// without. Displayed without leading zeros, except after a milestone: `5`, but `2-05`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PhaseNumber {
    /// Letters in front, with their hyphen if one follows: `B` of `B7`, `KIOSK-` of `KIOSK-02`; mostly empty.
    code: String,
    /// The numbers before hyphens: the milestone, and the parent in `2-04-01`; mostly empty.
    prefix: Vec<u32>,
    parts: Vec<u32>,
    letter: Option<char>,
}

impl FromStr for PhaseNumber {
    type Err = Error;

    /// Parses a number that a user or an agent gave.
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse_id(text).ok_or_else(|| {
            Error::usage(format!("{text:?} is not a phase number"))
                .hint("write it like 3, 05.1 or 3b")
        })
    }
}

impl PhaseNumber {
    /// Parses the number at the start of `text` and returns it with the rest.
    ///
    /// `05.1-name` yields 5.1 and `-name`; a word that merely begins with digits (`3rd`) yields `None`.
    pub fn split(text: &str) -> Option<(Self, &str)> {
        Self::split_after(Vec::new(), text)
    }

    /// Parses the number at the start of `text`, with the numbers before its last hyphen already parsed.
    pub(super) fn split_after(prefix: Vec<u32>, text: &str) -> Option<(Self, &str)> {
        let mut parts = Vec::new();
        let mut rest = text;
        loop {
            let digits = leading_digits(rest);
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
        let number = Self { code: String::new(), prefix, parts, letter };
        Some((number, rest))
    }

    /// Parses a number with letters in front: `B7`, `P0.3`, `M1-2`, and `KIOSK-02` if a hyphen may follow the letters.
    ///
    /// `V2` is a version.
    pub(super) fn split_coded(text: &str, may_have_hyphen: bool) -> Option<(Self, &str)> {
        let letters = text.bytes().take_while(u8::is_ascii_uppercase).count();
        let (word, behind) = text.split_at(letters);
        let (code, after) = match behind.strip_prefix('-') {
            Some(after) if may_have_hyphen && (2..=8).contains(&letters) => (letters + 1, after),
            None if (1..=3).contains(&letters) && word != "V" => (letters, behind),
            _ => return None,
        };
        let (mut number, mut rest) = Self::split(after)?;
        let second = rest.strip_prefix('-').filter(|next| (1..=2).contains(&leading_digits(next)));
        if let Some(next) = second.filter(|_| code == letters)
            && let Some((inner, behind)) = Self::split_after(number.parts.clone(), next)
        {
            (number, rest) = (inner, behind);
        }
        text[..code].clone_into(&mut number.code);
        Some((number, rest))
    }

    /// Parses a text that consists of a phase number: `05`, `5.1`, `3b`.
    pub fn parse(text: &str) -> Option<Self> {
        let (number, rest) = Self::split(text.trim())?;
        rest.is_empty().then_some(number)
    }

    /// Parses a text that is known to be a single phase's number, possibly with a milestone: `05`, `2-01`.
    pub fn parse_id(text: &str) -> Option<Self> {
        let dashed = || PhaseNumbering::MilestonePrefixed.parse(text);
        Self::parse(text).or_else(dashed).or_else(|| PhaseNumbering::Coded.parse(text))
    }

    /// Returns whether the number is more likely a year.
    pub(crate) fn is_year(&self) -> bool {
        self.whole() >= 1900
    }

    /// Returns the first integer: 5 for 5.1, the milestone 2 for 2-01.
    pub fn whole(&self) -> u32 {
        self.prefix.first().map_or_else(|| self.ordinal(), |first| *first)
    }

    /// Returns the integer that counts the phase among its siblings: 5 for 5.1, 1 for 2-01.
    pub fn ordinal(&self) -> u32 {
        self.parts[0]
    }

    /// Returns the phase that has another integer and is otherwise numbered like this one: 2-07 for 2-01.
    pub(crate) fn sibling(&self, ordinal: u32) -> Self {
        Self { code: self.code.clone(), prefix: self.prefix.clone(), ..Self::from(ordinal) }
    }

    /// Returns whether both belong to the same milestone, or neither number names one.
    pub(crate) fn is_sibling(&self, other: &Self) -> bool {
        self.code == other.code && self.prefix == other.prefix
    }

    /// Returns whether letters stand in front of the number.
    pub(crate) fn has_code(&self) -> bool {
        !self.code.is_empty()
    }

    /// Returns the convention that the number follows.
    pub fn numbering(&self) -> PhaseNumbering {
        if !self.code.is_empty() {
            PhaseNumbering::Coded
        } else if self.prefix.is_empty() {
            PhaseNumbering::Plain
        } else {
            PhaseNumbering::MilestonePrefixed
        }
    }

    /// Strips the number from the start of a text: in phase 2-01, `02-01-03` yields `-03`.
    ///
    /// Numbers without a milestone or a code are not stripped: what follows their hyphen may be anything.
    pub(crate) fn strip_id<'a>(&self, text: &'a str) -> Option<&'a str> {
        if self.prefix.is_empty() && self.code.is_empty() {
            return None;
        }
        let mut rest = text.strip_prefix(&*self.code)?;
        for part in &self.prefix {
            let (digits, behind) = rest.split_at(leading_digits(rest));
            rest = behind.strip_prefix('-').filter(|_| digits.parse() == Ok(*part))?;
        }
        let (number, rest) = Self::split_after(self.prefix.clone(), rest)?;
        let is_same = number.parts == self.parts && number.letter == self.letter;
        is_same.then_some(rest)
    }
}

/// Returns the number of digits at the start of a text.
pub(super) fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

impl From<u32> for PhaseNumber {
    fn from(number: u32) -> Self {
        Self { code: String::new(), prefix: Vec::new(), parts: vec![number], letter: None }
    }
}

impl Ord for PhaseNumber {
    fn cmp(&self, other: &Self) -> Ordering {
        // 2-04 comes before 2-04-01, which comes before 2-05.
        let key = |phase: &Self| {
            let numbers = [phase.prefix.as_slice(), &phase.parts[..1]].concat();
            (phase.code.clone(), !phase.prefix.is_empty(), numbers)
        };
        let by_part = || (&self.parts, self.letter).cmp(&(&other.parts, other.letter));
        if self.is_sibling(other) {
            by_part()
        } else {
            key(self).cmp(&key(other)).then_with(by_part)
        }
    }
}

impl PartialOrd for PhaseNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for PhaseNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `2-05` and `KIOSK-05`, but `M1-2`.
        let is_padded = self.code.is_empty() || self.code.ends_with('-');
        f.write_str(&self.code)?;
        for (index, number) in self.prefix.iter().enumerate() {
            if index > 0 && is_padded {
                write!(f, "{number:02}-")?;
            } else {
                write!(f, "{number}-")?;
            }
        }
        let is_second = !self.prefix.is_empty() || !self.code.is_empty();
        for (index, part) in self.parts.iter().enumerate() {
            match index {
                0 if is_second && is_padded => write!(f, "{part:02}")?,
                0 => write!(f, "{part}")?,
                _ => write!(f, ".{part}")?,
            }
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
        Self { number, letter: None }
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

/// Serialises a phase normalised, regardless of the file's spelling: `4` for `04`, `2-01` for `02-01`; words
/// are unchanged.
#[expect(clippy::ref_option, reason = "the signature is required by serde")]
pub(crate) fn serialize_phase<S: Serializer>(
    phase: &Option<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let number = phase.as_deref().and_then(PhaseNumber::parse_id);
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
        let number =
            |name| PhaseNumbering::Plain.split_folder(name).map(|(number, _)| number.to_string());
        for (name, expected) in [
            ("05.1-name", "5.1"),
            ("CK-01-name", "1"),
            ("GSDX-02.1-name", "2.1"),
            ("phase-03b-name", "3b"),
            ("Phase_4", "4"),
        ] {
            assert_eq!(number(name).as_deref(), Some(expected), "{name}");
        }
        for name in ["m2s3-name", "v1-01-name", "round-01", "TOOLONGX-01", "CK-name", "CK", "-01"] {
            assert_eq!(number(name), None, "{name}");
        }
        let (_, rest) = PhaseNumbering::Plain.split_folder("CK-01-event-system").unwrap();
        assert_eq!(rest, "-event-system");
    }

    #[test]
    fn phases_of_milestones_order_by_milestone_then_number() {
        let id = |text| PhaseNumber::parse_id(text).unwrap();
        let order = [
            "3", "12", "0-01", "1-02", "1-10", "2-01", "02-04", "2-04b", "2-04.1", "2-04-01",
            "2-05", "10-01",
        ];
        for pair in order.windows(2) {
            assert!(id(pair[0]) < id(pair[1]), "{pair:?}");
        }
        for (text, shown, whole, ordinal) in [
            ("02-01", "2-01", 2, 1),
            ("2-04-01", "2-04-01", 2, 1),
            ("2-04.1", "2-04.1", 2, 4),
            ("10-12B", "10-12b", 10, 12),
        ] {
            let number = id(text);
            assert_eq!(number.to_string(), shown);
            assert_eq!((number.whole(), number.ordinal()), (whole, ordinal));
        }
        assert_eq!(id("2-01").sibling(12), id("2-12"));
        assert_eq!(PhaseNumber::parse("2-01"), None);
    }

    #[test]
    fn letters_may_stand_in_front() {
        let split = |text, may_have_hyphen| {
            let (number, rest) = PhaseNumber::split_coded(text, may_have_hyphen)?;
            Some(format!("{number} {rest}"))
        };
        for (text, expected) in [
            ("B7-shelf", Some("B7 -shelf")),
            ("P0.3", Some("P0.3 ")),
            ("M1-2 (Shelf)", Some("M1-2  (Shelf)")),
            ("M1-404-page", Some("M1 -404-page")),
            ("V2 rewrite", None),
            ("KIOSK-02", None),
        ] {
            assert_eq!(split(text, false).as_deref(), expected, "{text}");
        }
        assert_eq!(split("KIOSK-02-shelf", true).as_deref(), Some("KIOSK-02 -shelf"));
        let id = |text| PhaseNumber::parse_id(text).unwrap();
        assert!(id("3") < id("B2") && id("B2") < id("B10") && id("M1-9") < id("M1-10"));
        assert_eq!(id("M1-2").strip_id("M1-2-01-PLAN"), Some("-01-PLAN"));
        assert_eq!(id("B7").strip_id("B8-01-PLAN"), None);
    }

    #[test]
    fn only_the_own_number_is_stripped() {
        let phase = PhaseNumber::parse_id("2-01").unwrap();
        assert_eq!(phase.strip_id("02-01-03-PLAN"), Some("-03-PLAN"));
        assert_eq!(phase.strip_id("2-1"), Some(""));
        assert_eq!(phase.strip_id("02-02-03"), None);
        assert_eq!(phase.strip_id("02-01.1-03"), None);
        assert_eq!(phase.strip_id("02"), None);
        assert_eq!(PhaseNumber::from(2).strip_id("02-01"), None);
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
