//! Parses the name of a phase in a heading or a checklist.
//!
//! ```text
//! ### Phase 5.1: Name (INSERTED) ✓       - [x] [Phase 3: Name](#phase-3) _(superseded by Phase 2)_
//! ## Phase 1 — Name — COMPLETE           - [ ] ~~**Phase 6: Name**~~ - what it is about
//! ```

use crate::plan::read::located::Span;
use crate::plan::read::progress_table::{phase_in_front, without_code_marks};
use crate::plan::read::status::is_status;
use crate::plan::read::{Located, PhaseNumber, PhaseNumbering, PhaseProgress, status};
use crate::text::strip_prefix_ignore_case;

/// A phase's number and name, with its status remarks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::plan::read) struct NamedPhase {
    pub(super) number: PhaseNumber,
    pub(in crate::plan::read) name: Option<String>,
    /// The status after the name, verbatim.
    pub(in crate::plan::read) status: Option<Located<String>>,
    /// The status that takes the phase out of the roadmap: deferred, superseded or removed.
    pub(super) dropped_as: Option<PhaseProgress>,
}

/// Dashes that separate a name from what follows.
const DASHES: &[&str] = &[" \u{2014} ", " \u{2013} ", " -- ", " - "];

/// Parses a text that begins with `Phase` and a number.
pub(in crate::plan::read) fn parse_phase(
    text: Span<'_>,
    numbering: PhaseNumbering,
) -> Option<NamedPhase> {
    let line = text.part(0..text.text.find('\n').unwrap_or(text.text.len()));
    let begins = line.text.trim_start_matches(|c: char| !c.is_alphanumeric());
    strip_prefix_ignore_case(begins, "phase ")?;
    let (number, rest) = phase_in_front(line.text, numbering)?;
    let at = rest.as_ptr() as usize - line.text.as_ptr() as usize;
    let is_struck = line.text.starts_with("~~") || line.text.starts_with("**~~");
    let (name, remarks) = split_name(line.after(at));
    let mut found = NamedPhase {
        number,
        name: None,
        status: None,
        dropped_as: is_struck.then_some(PhaseProgress::Removed),
    };
    let name = found.take_status(name);
    found.read_remarks(remarks);
    let name = name.trim_matches(|c: char| c.is_whitespace() || "*~:_".contains(c));
    let name = without_code_marks(name);
    found.name = Some(name.to_owned()).filter(|name| !name.is_empty());
    Some(found)
}

/// Splits at the end of the name's markup, otherwise at a remark in italics or a plan count.
fn split_name(text: Span<'_>) -> (Span<'_>, Span<'_>) {
    let end = find_first(text.text, b"*]~", |rest| {
        ["**", "](", "~~"].iter().any(|mark| rest.starts_with(mark))
    });
    let end = end.or_else(|| {
        find_first(text.text, b" ", |rest| {
            let rest = &rest[1..];
            let counts = |rest: &str| rest.split(')').next().is_some_and(is_count);
            rest.starts_with("_(")
                || rest.starts_with("*(")
                || rest.strip_prefix('(').is_some_and(counts)
        })
    });
    let end = end.unwrap_or(text.text.len());
    (text.part(0..end), text.after(end))
}

/// Returns the first offset of one of these ASCII characters at which the rest of the text matches.
fn find_first(text: &str, begin: &[u8], is_match: impl Fn(&str) -> bool) -> Option<usize> {
    let mut offsets = text.bytes().enumerate();
    let found = offsets.find(|(at, byte)| begin.contains(byte) && is_match(&text[*at..]));
    found.map(|(at, _)| at)
}

/// Returns whether a text counts plans: `2/2 plans`, `3 plans`.
fn is_count(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.contains("plan")
}

impl NamedPhase {
    /// Removes statuses from the end of a name: `Name ✓`, `Name ✅ COMPLETE`, `Name — COMPLETE`, `Name (deferred to
    /// v3)`.
    fn take_status<'a>(&mut self, name: Span<'a>) -> &'a str {
        let mut text = name.text;
        loop {
            let before = text;
            text = text.trim_end();
            if let Some((at, inside)) = status::last_square_brackets(text) {
                self.add_status(name.part(at + 1..at + 1 + inside.len()));
                text = &text[..at];
                continue;
            }
            if let Some((at, inside)) = last_brackets(text) {
                if inside.starts_with("INSERTED") {
                    text = &text[..at];
                } else if PhaseProgress::parse(inside)
                    .is_some_and(|p| p.is_dropped() || is_status(inside))
                {
                    self.add_status(name.part(at + 1..at + 1 + inside.len()));
                    text = &text[..at];
                }
            }
            if let Some(at) = text.rfind(|c: char| c.is_alphanumeric() || ")]`'\"!?.%".contains(c))
            {
                let end = at + text[at..].chars().next().map_or(1, char::len_utf8);
                if PhaseProgress::from_symbol(&text[end..]).is_some() {
                    self.add_status(name.part(end..text.len()));
                    text = &text[..end];
                }
            }
            let is_sign = |c: char| {
                !c.is_ascii() && PhaseProgress::from_symbol(c.encode_utf8(&mut [0; 4])).is_some()
            };
            if let Some(at) = text.rfind(is_sign)
                && is_status(&text[at..])
            {
                self.add_status(name.part(at..text.len()));
                text = &text[..at];
            }
            let dash = DASHES.iter().find_map(|dash| {
                let mut spaces = text.rmatch_indices(' ').map(|(at, _)| at);
                let at = spaces.find(|at| text[*at..].starts_with(dash))?;
                is_status(&text[at + dash.len()..]).then_some((at, dash.len()))
            });
            if let Some((at, len)) = dash {
                self.add_status(name.part(at + len..text.len()));
                text = &text[..at];
            }
            if text.len() == before.len() {
                return text;
            }
        }
    }

    fn add_status(&mut self, status: Span<'_>) {
        self.dropped_as = self
            .dropped_as
            .or_else(|| PhaseProgress::parse(status.text).filter(|p| p.is_dropped()));
        self.status.get_or_insert_with(|| status.with_value(status.text.to_owned()));
    }

    /// Looks in the brackets after a name for a status that drops the phase; other text there describes its
    /// content, unless it is a status in square brackets at the end: `**Phase 2: Name** [DONE]`.
    fn read_remarks(&mut self, remarks: Span<'_>) {
        if let Some((at, inside)) = status::last_square_brackets(remarks.text.trim_end()) {
            self.add_status(remarks.part(at + 1..at + 1 + inside.len()));
        }
        for (at, _) in remarks.text.match_indices('(') {
            let end = remarks.text[at..].find(')').map_or(remarks.text.len(), |end| at + end);
            let inside = remarks.part(at + 1..end);
            if PhaseProgress::parse(inside.text).is_some_and(PhaseProgress::is_dropped) {
                self.add_status(inside);
            }
        }
    }
}

/// Returns the brackets at the end of a text: their offset and their content.
fn last_brackets(text: &str) -> Option<(usize, &str)> {
    let inner = text.strip_suffix(')')?;
    let at = inner.rfind('(')?;
    Some((at, &inner[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let found = parse_phase(Span::new(text, 0, 1), PhaseNumbering::Plain).unwrap();
        let status = found.status.map(|stated| {
            assert_eq!(&text[stated.range], stated.value);
            stated.value
        });
        [
            found.number.to_string(),
            found.name.unwrap_or("_".into()),
            status.unwrap_or("_".into()),
            found.dropped_as.map_or("_".into(), |out| format!("{out:?}")),
        ]
        .join("|")
    }

    #[test]
    fn names_are_freed_of_marks_and_remarks() {
        for (text, expected) in [
            ("Phase 1: Foundation & Base", "1|Foundation & Base|_|_"),
            ("Phase 01.1: Polish (INSERTED)", "1.1|Polish|_|_"),
            ("Phase 11: Permissions (INSERTED \u{2014} Gap Closure)", "11|Permissions|_|_"),
            ("Phase 1 \u{2014} QA & Gates", "1|QA & Gates|_|_"),
            ("Phase 2: Audit \u{2713}", "2|Audit|\u{2713}|_"),
            ("Phase 2: Audit \u{2014} COMPLETE", "2|Audit|COMPLETE|_"),
            ("\u{2705} Phase 2: Audit (Complete)", "2|Audit|Complete|_"),
            ("**Phase 7: Build** - Install so it runs (completed 2026-02-25)", "7|Build|_|_"),
            (
                "[Phase 3: Shell-out](#phase-3) _(superseded by Phase 2)_",
                "3|Shell-out|superseded by Phase 2|Superseded",
            ),
            (
                "Phase 7: Read optimization _(deferred to a future milestone)_",
                "7|Read optimization|deferred to a future milestone|Deferred",
            ),
            ("Phase 7: Read (deferred)", "7|Read|deferred|Deferred"),
            ("~~**Phase 6: Micro**~~ - Removed for good", "6|Micro|_|Removed"),
            ("**Phase 6: Cleaner** - Removed what was old", "6|Cleaner|_|_"),
            ("Phase 1: Foundation (2/2 plans) \u{2014} completed 2026-04-04", "1|Foundation|_|_"),
            ("Phase 8: Display label (issue #21)", "8|Display label (issue #21)|_|_"),
            ("Phase 3b: Idiom Cleanup", "3b|Idiom Cleanup|_|_"),
            ("Phase 4", "4|_|_|_"),
            ("Phase 1: Complete Rewrite", "1|Complete Rewrite|_|_"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn only_a_status_in_square_brackets_is_none_of_the_name() {
        for (text, expected) in [
            ("**Phase 2: Charts** [DONE]", "2|Charts|DONE|_"),
            (
                "Phase 3: Harbour fees [IMPLEMENTED; MANUAL TEST PENDING]",
                "3|Harbour fees|IMPLEMENTED; MANUAL TEST PENDING|_",
            ),
            ("Phase 4: Fees [Complete]", "4|Fees|Complete|_"),
            ("Phase 4: Arrays [T]", "4|Arrays [T]|_|_"),
            ("Phase 4: Arrays [see notes]", "4|Arrays [see notes]|_|_"),
            ("Phase 4: Codes [A1, REQ-2]", "4|Codes [A1, REQ-2]|_|_"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn other_texts_name_no_phase() {
        for text in
            ["Phases 1-6", "Phase Details", "Phase 1-4: all", "Phased 1", "01-01-PLAN.md", ""]
        {
            let found = parse_phase(Span::new(text, 0, 1), PhaseNumbering::Plain);
            assert_eq!(found, None, "{text}");
        }
    }
}
