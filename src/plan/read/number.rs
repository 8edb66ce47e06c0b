//! Parses phase and plan numbers, which are compared by their parts, not as text.
//!
//! ```text
//! plain                5   05.1   3b         folders 05-name, CK-05-name   plans 05-01-PLAN.md
//! milestone-prefixed   2-01   2-04-01        folders 02-01-name            plans 02-01-01-PLAN.md
//! with letters         B7   P0.3   M1-2      folders B7-name
//! with a code          KIOSK-02              folders KIOSK-02-name
//! ```

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::error::Error;
use crate::plan::read::vocabulary::{after_phase, has, words};
use crate::storage::read;
use crate::text::strip_prefix_ignore_case;

/// The number of a phase: `5`, `5.1` (inserted between 5 and 6), `3b`, `2-01` (the first of milestone 2), `B7`, `M1-2`,
/// `KIOSK-02`.
///
/// Ordered by its parts: 5 < 5.1 < 5.2 < 6 < 10, 3 < 3b < 4; numbers with a milestone come after those
/// without. Displayed without leading zeros, except after a milestone: `5`, but `2-05`.
#[derive(Clone, Debug)]
pub struct PhaseNumber {
    /// Letters in front, with their hyphen if one follows: `B` of `B7`, `KIOSK-` of `KIOSK-02`; mostly empty.
    code: String,
    /// The numbers between hyphens: the milestone, if one is named, the parent in `2-04-01`, and the phase's own.
    numbers: Vec<u32>,
    /// What follows a point.
    decimals: Vec<u32>,
    letter: Option<char>,
    /// The digits of a number after a code that is written with a zero in front, else 1; all forms are the same phase.
    digits: usize,
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
        Self::hyphenated(text, 0, &(1..=2))
    }

    /// Parses a number with at most `count` hyphens in it; those after a hyphen have so many digits.
    fn hyphenated<'t>(
        text: &'t str,
        count: usize,
        digits: &RangeInclusive<usize>,
    ) -> Option<(Self, &'t str)> {
        let mut found = Self { numbers: Vec::new(), ..Self::from(0) };
        let mut rest = text;
        while found.numbers.len() < count && leading_digits(rest) <= MILESTONE_DIGITS {
            let (number, after) = rest.split_at(leading_digits(rest));
            let next = after.strip_prefix('-');
            let Some(next) = next.filter(|next| digits.contains(&leading_digits(next))) else {
                break;
            };
            found.numbers.push(number.parse().ok()?);
            rest = next;
        }
        let part = |rest: &mut &'t str| {
            let (number, after) = rest.split_at(leading_digits(rest));
            *rest = after;
            number.parse().ok().filter(|_| number.len() <= 6)
        };
        found.numbers.push(part(&mut rest)?);
        while let Some(after) = rest.strip_prefix('.').filter(|after| leading_digits(after) > 0) {
            rest = after;
            found.decimals.push(part(&mut rest)?);
        }
        let ends = |text: &str| !text.starts_with(char::is_alphanumeric);
        let letter = rest.chars().next().filter(|c| c.is_ascii_alphabetic() && ends(&rest[1..]));
        rest = &rest[usize::from(letter.is_some())..];
        found.letter = letter.map(|c| c.to_ascii_lowercase());
        ends(rest).then_some((found, rest))
    }

    /// Parses a number with letters in front: `B7`, `P0.3`, `M1-2`, and `KIOSK-02` if a hyphen may follow the letters.
    ///
    /// `V2` is a version.
    fn split_coded(text: &str, may_have_hyphen: bool) -> Option<(Self, &str)> {
        let letters = text.bytes().take_while(u8::is_ascii_uppercase).count();
        let (word, behind) = text.split_at(letters);
        let hyphen = behind.strip_prefix('-').filter(|_| may_have_hyphen);
        let (code, (number, rest)) = match hyphen {
            Some(after) if (2..=8).contains(&letters) => (letters + 1, Self::split(after)?),
            None if (1..=3).contains(&letters) && word != "V" => {
                let hyphenated = Self::hyphenated(behind, 1, &(1..=2));
                (letters, hyphenated.or_else(|| Self::split(behind))?)
            }
            _ => return None,
        };
        // `KIOSK-02`, `B07` and `M002`
        let written = hyphen.unwrap_or(behind);
        let digits = if written.starts_with('0') { leading_digits(written) } else { 1 };
        Some((Self { code: text[..code].to_owned(), digits, ..number }, rest))
    }

    /// Parses a text that consists of a phase number: `05`, `5.1`, `3b`.
    pub fn parse(text: &str) -> Option<Self> {
        PhaseNumbering::whole(Self::split(text.trim()))
    }

    /// Parses a text that is known to be a single phase's number, possibly with a milestone: `05`, `2-01`.
    pub fn parse_id(text: &str) -> Option<Self> {
        use PhaseNumbering::{Coded, MilestonePrefixed, Plain};
        [Plain, MilestonePrefixed, Coded].iter().find_map(|numbering| numbering.parse(text))
    }

    /// Returns whether the number is more likely a year.
    pub(crate) fn is_year(&self) -> bool {
        self.whole() >= 1900
    }

    /// Returns the first integer: 5 for 5.1, the milestone 2 for 2-01.
    pub fn whole(&self) -> u32 {
        self.numbers[0]
    }

    /// Returns the integer that counts the phase among its siblings: 5 for 5.1, 1 for 2-01.
    pub fn ordinal(&self) -> u32 {
        self.numbers[self.numbers.len() - 1]
    }

    /// Returns the milestone and the parents, without the phase's own integer.
    fn parents(&self) -> &[u32] {
        &self.numbers[..self.numbers.len() - 1]
    }

    /// Returns the phase that has another integer and is otherwise numbered like this one: 2-07 for 2-01.
    pub(crate) fn sibling(&self, ordinal: u32) -> Self {
        let numbers = [self.parents(), &[ordinal]].concat();
        Self { numbers, decimals: Vec::new(), letter: None, ..self.clone() }
    }

    /// Returns whether both belong to the same milestone, or neither number names one.
    pub(crate) fn is_sibling(&self, other: &Self) -> bool {
        self.code == other.code && self.parents() == other.parents()
    }

    /// Returns whether the phase was inserted behind the one with its integer: 5.1, 3b, 2-01.1.
    pub(crate) fn is_inserted(&self) -> bool {
        !self.has_code() && (!self.decimals.is_empty() || self.letter.is_some())
    }

    /// Returns whether letters stand in front of the number.
    pub(crate) fn has_code(&self) -> bool {
        !self.code.is_empty()
    }

    /// Returns the convention that the number follows.
    pub fn numbering(&self) -> PhaseNumbering {
        match (self.has_code(), self.parents()) {
            (true, _) => PhaseNumbering::Coded,
            (false, []) => PhaseNumbering::Plain,
            (false, _) => PhaseNumbering::MilestonePrefixed,
        }
    }

    /// Strips the number from the start of a text: in phase 2-01, `02-01-03` yields `-03`.
    ///
    /// Numbers without a milestone or a code are not stripped: what follows their hyphen may be anything.
    pub(crate) fn strip_id<'a>(&self, text: &'a str) -> Option<&'a str> {
        self.after_own(text).filter(|_| self.numbering() != PhaseNumbering::Plain)
    }

    /// Returns the plan that an id of this phase names: plan 3 for `05.1-03` in phase 5.1, for `02-01-03-name` in phase
    /// 2-01, and for `01-PLAN-03`.
    pub(crate) fn plan_in(&self, id: &str) -> Option<PlanNumber> {
        let mut words = self.after_own(id)?.strip_prefix('-')?.split('-');
        PlanNumber::parse(words.find(|word| !word.eq_ignore_ascii_case("plan"))?)
    }

    /// Returns the text after this number.
    fn after_own<'a>(&self, text: &'a str) -> Option<&'a str> {
        let rest = text.strip_prefix(&*self.code)?;
        let (number, rest) = Self::hyphenated(rest, self.parents().len(), &(1..=2))?;
        (Self { code: self.code.clone(), ..number } == *self).then_some(rest)
    }

    /// Returns what the number is compared by.
    fn key(&self) -> impl Ord + Hash + '_ {
        // glibc compares two empty texts slowly on processors with AVX-512: it reads, masked, where nothing is.
        let code = (!self.code.is_empty()).then_some(&self.code);
        let has_parents = self.numbers.len() > 1;
        (code, has_parents, &self.numbers, &self.decimals, self.letter)
    }
}

impl From<u32> for PhaseNumber {
    fn from(number: u32) -> Self {
        let (code, numbers, decimals) = (String::new(), vec![number], Vec::new());
        Self { code, numbers, decimals, letter: None, digits: 1 }
    }
}

impl Default for PhaseNumber {
    fn default() -> Self {
        Self::from(0)
    }
}

impl Ord for PhaseNumber {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for PhaseNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PhaseNumber {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for PhaseNumber {}

impl Hash for PhaseNumber {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl fmt::Display for PhaseNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.code)?;
        for (index, number) in self.numbers.iter().enumerate() {
            // `2-05`, but `M1-2`; after a code as it is written.
            let (mark, width) = if index > 0 { ("-", 2) } else { ("", 1) };
            let width = if self.has_code() { self.digits } else { width };
            write!(f, "{mark}{number:0width$}")?;
        }
        self.decimals.iter().try_for_each(|part| write!(f, ".{part}"))?;
        self.letter.map_or(Ok(()), |letter| write!(f, "{letter}"))
    }
}

impl Serialize for PhaseNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Returns the number of digits at the start of a text.
fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// How a project numbers its phases. Elsewhere, `2-01` is plan 1 of phase 2 or a range, and the code before a folder's
/// number says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PhaseNumbering {
    /// One number: `5`, `5.1`, `3b`.
    #[default]
    Plain,
    /// The milestone and the phase's number in it, which has two digits: `2-01`; plain numbers are also accepted. The form
    /// is GSD's with `phase_id_convention` set to `milestone-prefixed`.
    MilestonePrefixed,
    /// A project's code before the number: `KIOSK-02`.
    Coded,
}

/// Maximum number of digits of a milestone's number: 999 is GSD's backlog.
const MILESTONE_DIGITS: usize = 3;

impl PhaseNumbering {
    /// Detects the convention from the titles of a roadmap's headings and checklist entries: `### Phase 2-01: Name`. If
    /// the number before the hyphen is a phase itself, they are its plans, unless config.json sets the convention.
    pub fn detect(roadmap: &str, is_set: impl FnOnce() -> bool) -> Self {
        let (mut plain, mut prefixed) = (HashSet::new(), HashSet::new());
        let (mut is_code, mut is_section, mut has_codes) = (false, false, false);
        for line in roadmap.lines().map(str::trim_start) {
            is_code ^= line.starts_with("```");
            let is_heading = line.starts_with('#');
            let bullet = line.strip_prefix(['-', '*']).unwrap_or_default().trim_start();
            let is_boxed = bullet.starts_with('[');
            let title = bullet.trim_start_matches(['[', 'x', 'X', ' ', ']', '*']);
            let title = if is_heading { line.trim_start_matches(['#', ' ']) } else { title };
            let Some(id) = title.strip_prefix("Phase ").filter(|_| !is_code) else { continue };
            has_codes |= PhaseNumber::split_coded(id, true).is_some()
                && PhaseNumber::split_coded(id, false).is_none();
            // `Phase 1-4` and `Phase 01-03` are ranges: an id has a zero after the hyphen and none in front.
            let is_id = !id.starts_with('0') && id[leading_digits(id)..].starts_with("-0");
            match Self::MilestonePrefixed.split(id) {
                Some((number, rest)) if is_id && rest.starts_with(':') => {
                    let counts = is_heading || is_boxed && !is_section;
                    prefixed.extend(counts.then(|| number.whole()));
                }
                // GSD writes an inserted phase with a zero in front: `Phase 02-01.1`.
                Some((number, _)) if number.is_inserted() && !number.parents().is_empty() => {}
                // `Phase 2-10` may be an id or a range: the others tell.
                Some((number, rest))
                    if !number.parents().is_empty()
                        && !id.starts_with('0')
                        && rest.starts_with(':') =>
                {
                    is_section |= is_heading;
                }
                Some((number, _)) => {
                    plain.insert(number.whole());
                    is_section |= is_heading;
                }
                None => {}
            }
        }
        if prefixed.iter().any(|milestone| !plain.contains(milestone))
            || !prefixed.is_empty() && is_set()
        {
            Self::MilestonePrefixed
        } else if has_codes {
            Self::Coded
        } else {
            Self::Plain
        }
    }

    /// Detects the convention from this roadmap; an unreadable one counts as missing.
    pub(crate) fn read(roadmap: &Path, is_set: impl FnOnce() -> bool) -> Self {
        let text = read::text(roadmap).ok().flatten();
        text.map(|text| Self::detect(&text.value, is_set)).unwrap_or_default()
    }

    /// Parses the phase number at the start of `text` and returns it with the rest.
    pub fn split(self, text: &str) -> Option<(PhaseNumber, &str)> {
        let prefixed = (self == Self::MilestonePrefixed)
            .then(|| PhaseNumber::hyphenated(text, usize::MAX, &(2..=2)));
        let coded = || PhaseNumber::split_coded(text, self == Self::Coded);
        prefixed.flatten().or_else(coded).or_else(|| PhaseNumber::split(text))
    }

    /// Parses the phase number at the start of a folder's name, after a project code or the word `phase`.
    pub fn split_folder(self, name: &str) -> Option<(PhaseNumber, &str)> {
        let coded = (self == Self::Coded).then(|| PhaseNumber::split_coded(name, true)).flatten();
        coded.or_else(|| self.split(&name[folder_prefix(name).len()..]))
    }

    /// Parses a text that consists of a phase number.
    pub fn parse(self, text: &str) -> Option<PhaseNumber> {
        Self::whole(self.split(text.trim()))
    }

    fn whole(found: Option<(PhaseNumber, &str)>) -> Option<PhaseNumber> {
        found.filter(|(_, rest)| rest.is_empty()).map(|(number, _)| number)
    }

    /// Splits a status such as `Phase 3 complete` into the named phase and the rest.
    pub(crate) fn phase_in_status(self, status: &str) -> (Option<PhaseNumber>, &str) {
        let named = after_phase(status).filter(|rest| rest.starts_with(' '));
        let Some((number, rest)) = named.and_then(|rest| self.split(rest.trim_start())) else {
            return (None, status);
        };
        (Some(number), rest.trim_start_matches(|c: char| c.is_whitespace() || ":-–—(".contains(c)))
    }

    /// Returns the phases named in a text, after the word `phase` or as the argument of a command.
    pub(crate) fn phases_in(self, text: &str) -> Vec<PhaseNumber> {
        let names_phase = |word: &str| {
            let word = word.to_lowercase();
            let word = word.trim_matches(['*', '`', '(', '"', ':']);
            has("phase", word.rsplit('-').next().unwrap_or_default())
                || words("command").any(|known| word.ends_with(known))
        };
        let all: Vec<&str> = text.split_whitespace().collect();
        let named = all.windows(2).filter(|pair| names_phase(pair[0]));
        named
            .filter_map(|pair| self.split(pair[1].trim_start_matches(['*', '`', '('])))
            .map(|(number, _)| number)
            .collect()
    }
}

/// Returns the prefix before the number in a phase folder's name: `CK-` of `CK-01-name`, `phase` of `phase2-name`.
pub(crate) fn folder_prefix(name: &str) -> &str {
    let is_number = |rest: &&str| {
        let digits = leading_digits(rest);
        digits > 0 && !rest[digits..].starts_with(char::is_alphanumeric)
    };
    let joined = strip_prefix_ignore_case(name, "phase").filter(is_number);
    if let Some(rest) = joined {
        return &name[..name.len() - rest.len()];
    }
    let Some((word, rest)) = name.split_once(['-', '_']) else {
        return "";
    };
    let is_code = (1..=6).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_uppercase());
    let is_prefix = is_code || word.eq_ignore_ascii_case("phase");
    if is_prefix && leading_digits(rest) > 0 { &name[..=word.len()] } else { "" }
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
        let (digits, letter) = text.split_at(leading_digits(text));
        let is_letter = letter.len() == 1 && letter.starts_with(|c: char| c.is_ascii_alphabetic());
        if digits.len() > 4 || text.is_empty() || !(is_letter || letter.is_empty()) {
            return None;
        }
        let letter = letter.chars().next().map(|c| c.to_ascii_lowercase());
        Some(Self { number: digits.parse().unwrap_or(0), letter })
    }

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
        for written in ["M002", "B07", "KIOSK-008", "M010", "M10"] {
            assert_eq!(id(written).to_string(), written);
        }
        assert_eq!(id("M002").sibling(12).to_string(), "M012");
        assert_eq!((id("PAY-7").to_string(), id("PAY-7")), ("PAY-7".to_owned(), id("PAY-07")));
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
    }

    #[test]
    fn the_form_is_read_only_where_the_project_uses_it() {
        for roadmap in [
            "# R\n### Phase 2-01: Name\n",
            "- [ ] **Phase 1-02: Name** - what\n",
            "  - [x] Phase 1-02: Name",
            "- v2.0\n  - [ ] **Phase 2-01: Name**\n",
            "---\na: 1\n---\n\n### Phase 2-01: Name\n\n### Phase 999.1: Backlog\n",
            // As GSD inserts them.
            "### Phase 2-01: Name\n\n### Phase 02-01.1: Fix (INSERTED)\n",
            "- [x] **Phase 2-09: Name**\n- [ ] **Phase 2-10: Name**\n\n### Phase 2-10: Name\n",
            "### Phase 2-09: Name\n\n### Phase 2-10: Name\n\n### Phase 2-11: Name\n",
        ] {
            let found = PhaseNumbering::detect(roadmap, || false);
            assert_eq!(found, PhaseNumbering::MilestonePrefixed, "{roadmap}");
        }
        for roadmap in [
            "### Phase 1-4: all\n",
            "### Phase 01-03: all\n",
            "### Phase 8-10: all\n",
            "### Phase 8-10: all\n\n- [ ] Phase 8-01: first\n",
            "### Phases 2-01\n",
            "- **Phase 2-01:** a decision\n",
            "- [ ] 02-01: a plan\n",
            "Phase 2-01: a sentence\n",
            "- [",
            "```\n### Phase 2-01: an example\n```\n",
            // Plans of phase 2.
            "- [ ] **Phase 2: Parser**\n  - [ ] Phase 2-01: write it\n",
            "- [ ] Phase 2-01: write the parser\n\n### Phase 2: Parser\n",
            "### Phase 2: Parser\n\n#### Phase 2-01: Write it\n",
            "## Phases\n\n- **Phase 2: Parser** - all\n\n## Plans\n\n- [ ] Phase 2-01: write\n",
            "### Phase 3: Parser\n\n- [ ] Phase 2-01: first\n",
        ] {
            assert_eq!(
                PhaseNumbering::detect(roadmap, || false),
                PhaseNumbering::Plain,
                "{roadmap}"
            );
        }
    }
}
