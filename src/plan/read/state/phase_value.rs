//! Parses the notations for the current phase.
//!
//! ```text
//! 4 of 4 (Name) — COMPLETE     Phase 4                2 — Name
//! 15 (slug) - EXECUTING        Phase 10 - Name        3b (planned)
//! 6 of 15 (06.1 Name)          11/12: Name            Phase 2: Name — IN PROGRESS
//! All phases complete          none                   Milestone v2.0 complete
//! ```

use crate::plan::read::located::Span;
use crate::plan::read::status::is_status;
use crate::plan::read::{Located, PhaseNumber, PhaseNumbering, status};
use crate::text::strip_prefix_ignore_case;

/// A parsed phase value; all parts are optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PhaseValue {
    /// The phase.
    pub(super) number: Option<Located<PhaseNumber>>,
    /// The phase's index in the list of phases, if it differs from the phase's number.
    pub(super) index: Option<Located<u32>>,
    /// Number of phases.
    pub(super) total: Option<Located<u32>>,
    /// The phase's name.
    pub(super) name: Option<Located<String>>,
    /// The status after the phase.
    pub(super) status: Option<Located<String>>,
}

impl PhaseValue {
    /// Parses a value; the result is empty unless a number follows the optional word `Phase`.
    pub(super) fn parse(value: Span<'_>, numbering: PhaseNumbering) -> Self {
        let mut found = Self::default();
        let value = without_word(value.trim_chars(&['*', '`']));
        let Some((number, rest)) = numbering.split(value.text) else {
            return found;
        };
        let digits = value.part(0..value.text.len() - rest.len());
        found.number = Some(digits.with_value(number));
        let rest = found.read_total(value.suffix(rest));
        let rest = found.read_parenthesis(rest, numbering);
        found.read_tail(rest);
        found
    }

    /// Parses ` of 5` or `/5`, and returns the rest.
    fn read_total<'a>(&mut self, rest: Span<'a>) -> Span<'a> {
        let Some((after, (digits, total))) = rest.after_of().zip(rest.total()) else {
            return rest;
        };
        self.total = Some(digits.with_value(total));
        after.after(digits.text.len())
    }

    /// Parses `(Name)`, `(planned)` or `(06.1 Name)`, and returns the rest.
    fn read_parenthesis<'a>(&mut self, rest: Span<'a>, numbering: PhaseNumbering) -> Span<'a> {
        let Some(end) = closing(rest.text) else {
            return rest;
        };
        let inside = rest.part(1..end);
        if is_status(inside.text) {
            self.status = stated(inside);
        } else {
            self.read_name(inside, numbering);
        }
        rest.after(end + 1)
    }

    /// Sets the name, which may begin with the phase's id if the leading number is only its index.
    fn read_name(&mut self, name: Span<'_>, numbering: PhaseNumbering) {
        let id = numbering
            .split(name.text)
            .filter(|(_, rest)| rest.starts_with([' ', '-', ':']))
            .filter(|(number, rest)| {
                number.numbering() == PhaseNumbering::MilestonePrefixed
                    || is_folder_id(&name.text[..name.text.len() - rest.len()])
            });
        let Some((id, rest)) = id else {
            self.name = stated(name);
            return;
        };
        let digits = name.part(0..name.text.len() - rest.len());
        if let Some(index) = self.number.take().filter(|number| number.value != id) {
            self.index = Some(index.map(|number| number.ordinal()));
        }
        self.number = Some(digits.with_value(id));
        self.name = stated(name.suffix(rest).trim_chars(&['-', ':', ' ']));
    }

    /// Parses the text after a dash or a colon: a status, a name, or a name and a status.
    fn read_tail(&mut self, rest: Span<'_>) {
        let tail = rest.trim_chars(&['-', '\u{2013}', '\u{2014}', ':', ' ']);
        if tail.text.is_empty() || tail.text.len() == rest.text.len() {
            return;
        }
        if self.name.is_some() || is_status(tail.text) {
            self.status = self.status.take().or_else(|| stated(tail));
            return;
        }
        if let Some((at, inside)) = status::last_square_brackets(tail.text) {
            self.name = stated(tail.part(0..at).trim_chars(&[' ']));
            self.status = stated(tail.part(at + 1..at + 1 + inside.len()));
            return;
        }
        let cut = [" \u{2014} ", " \u{2013} ", " -- ", " - ", " ("]
            .iter()
            .filter_map(|dash| Some((tail.text.rfind(dash)?, dash.len())))
            .find(|(at, len)| is_status(tail.text[at + len..].trim_end_matches(')')));
        match cut {
            Some((at, len)) => {
                self.name = stated(tail.part(0..at));
                self.status = stated(tail.after(at + len).trim_chars(&[')']));
            }
            None => self.name = stated(tail),
        }
    }
}

fn stated(span: Span<'_>) -> Option<Located<String>> {
    let span = span.trim_chars(&['*', '_', '`']);
    (!span.text.is_empty()).then(|| span.with_value(span.text.to_owned()))
}

/// Strips all leading occurrences of the word `Phase`, in a few languages (`Phase: Phase 10 - Name`).
fn without_word(mut value: Span<'_>) -> Span<'_> {
    let without = |text| {
        let mut words = ["phase", "fase", "Фаза", "фаза"].iter();
        words.find_map(|word| strip_prefix_ignore_case(text, word))
    };
    while let Some(rest) = without(value.text) {
        value = value.suffix(rest.trim_start_matches(':'));
    }
    value
}

/// Returns the offset of the bracket that closes the one at the start.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then_some(at);
        }
    }
    None
}

/// Returns whether a number is written as in folder names: `06`, `06.1`, `03b`; a bare `12` may belong to a
/// name.
fn is_folder_id(text: &str) -> bool {
    text.bytes().take_while(u8::is_ascii_digit).count() == 2
        && (text.starts_with('0') || text.len() > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        shown_with(text, PhaseNumbering::Plain)
    }

    fn shown_with(text: &str, numbering: PhaseNumbering) -> String {
        let value = PhaseValue::parse(Span::new(text, 0, 1), numbering);
        let show = |field: Option<String>| field.unwrap_or_else(|| "_".to_owned());
        [
            show(value.number.map(|n| n.value.to_string())),
            show(value.total.map(|n| n.value.to_string())),
            show(value.name.map(|n| n.value)),
            show(value.status.map(|n| n.value)),
        ]
        .join("|")
    }

    #[test]
    fn every_notation_is_read() {
        for (text, expected) in [
            ("4 of 4 (Name) \u{2014} COMPLETE", "4|4|Name|COMPLETE"),
            ("02 of 9 (A (b) c) -- COMPLETE (100% tests)", "2|9|A (b) c|COMPLETE (100% tests)"),
            ("6 of 15 (06.1 Executive Report)", "6.1|15|Executive Report|_"),
            ("15 of 15 (Phase 12 Forward)", "15|15|Phase 12 Forward|_"),
            ("3 of 9 (12 factor app)", "3|9|12 factor app|_"),
            ("15 (some-slug) - EXECUTING", "15|_|some-slug|EXECUTING"),
            ("Phase 4", "4|_|_|_"),
            ("Phase 10 - Name", "10|_|Name|_"),
            ("11 \u{2014} DB-Only Default Mode", "11|_|DB-Only Default Mode|_"),
            ("6 -- Name", "6|_|Name|_"),
            ("3b (planned)", "3b|_|_|planned"),
            ("4 of 4 (All phases complete)", "4|4|_|All phases complete"),
            ("Phase 2: Events & Base \u{2014} IN PROGRESS", "2|_|Events & Base|IN PROGRESS"),
            (
                "Phase 3: Harbour fees [BUILT; MANUAL TEST PENDING]",
                "3|_|Harbour fees|BUILT; MANUAL TEST PENDING",
            ),
            ("Phase 3: Arrays [T]", "3|_|Arrays [T]|_"),
            ("03.1", "3.1|_|_|_"),
            ("2/7", "2|7|_|_"),
            ("3 - Done", "3|_|_|Done"),
            ("All phases complete", "_|_|_|_"),
            ("none", "_|_|_|_"),
            ("Milestone v2.0 complete", "_|_|_|_"),
            ("", "_|_|_|_"),
            ("(", "_|_|_|_"),
            ("4 de 7 (Combate) \u{2014} CONCLUIDA", "4|7|Combate|CONCLUIDA"),
            ("Fase 3: Mapa", "3|_|Mapa|_"),
            ("Фаза 3 из 5", "3|5|_|_"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn phases_of_milestones_are_read_where_the_project_has_them() {
        for (text, expected) in [
            ("2-01 of 4 (Name) \u{2014} EXECUTING", "2-01|4|Name|EXECUTING"),
            ("Phase 02-01: Name", "2-01|_|Name|_"),
            ("02-01-some-slug", "2-01|_|some-slug|_"),
            ("1 of 4 (2-01 Name)", "2-01|4|Name|_"),
            ("2-01", "2-01|_|_|_"),
            ("3 of 9 (Name)", "3|9|Name|_"),
        ] {
            let shown = shown_with(text, PhaseNumbering::MilestonePrefixed);
            assert_eq!(shown, expected, "{text}");
        }
        assert_eq!(shown("2-01"), "2|_|01|_");
    }

    #[test]
    fn pieces_know_their_bytes() {
        let text = "6 of 15 (06.1 Executive Report)";
        let value = PhaseValue::parse(Span::new(text, 0, 1), PhaseNumbering::Plain);
        assert_eq!(&text[value.number.unwrap().range], "06.1");
        assert_eq!(&text[value.index.unwrap().range], "6");
        assert_eq!(&text[value.total.unwrap().range], "15");
        assert_eq!(&text[value.name.unwrap().range], "Executive Report");
    }
}
