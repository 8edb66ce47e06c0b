//! Splits a markdown file into its passages, with the dates and flags found in the text.

use std::iter;
use std::path::Path;

use chrono::NaiveDate;

use crate::clock::parse_date;
use crate::markdown::FrontMatter;
use crate::recall::flags::{Flag, Flags};
use crate::recall::passage;
use crate::search::index::Passage;
use crate::text::fold;

/// A text's authority in the project, which ranks texts that match equally well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Authority {
    /// Describes what is valid now: the project, its state, decisions, context, lessons.
    Canonical,
    /// Reports finished work.
    Report,
    /// Produced while working: plans, research, checks.
    Working,
}

impl Authority {
    /// Returns the factor by which this authority multiplies the score of a text.
    pub(crate) fn weight(self) -> f64 {
        match self {
            Self::Canonical => 1.0,
            Self::Report => 0.78,
            Self::Working => 0.65,
        }
    }
}

/// Front matter fields that date a file, most significant first.
const DATE_FIELDS: &[&str] = &["updated", "completed", "date", "created"];

/// Maximum offset of the date of a passage, in bytes: a later one is something that the text mentions.
const MAX_DATE_OFFSET: usize = 24;

/// Returns the passages of a markdown file with the given authority.
pub(crate) fn passages(text: &str, path: &Path, authority: Authority) -> Vec<Passage> {
    // Malformed fields are reported by the code that interprets them.
    let front = FrontMatter::parse(text, path).value;
    let file_date = DATE_FIELDS.iter().find_map(|field| parse_date(front.text(&[field])?));
    let field_is = |field: &str, values: &[&str]| {
        let value = front.text(&[field]).unwrap_or_default();
        values.iter().any(|expected| value.eq_ignore_ascii_case(expected))
    };
    let flags = Flags::default()
        .with(Flag::Superseded, field_is("status", &["superseded", "deprecated"]))
        .with(Flag::LowConfidence, field_is("confidence", &["low"]));
    let mut passages = passage::passages(text, &front.range);
    for passage in &mut passages {
        passage.date = date(passage).or(file_date);
        passage.weight = authority.weight();
        flag(passage, flags.with(Flag::Superseded, is_superseded(passage)));
    }
    passages
}

/// Gives a passage flags, which lower its weight.
pub(crate) fn flag(passage: &mut Passage, flags: Flags) {
    passage.flags = flags.bits();
    passage.weight *= flags.weight();
}

/// Returns the date near the start of a passage, or else in its nearest heading that has one.
fn date(passage: &Passage) -> Option<NaiveDate> {
    first_date(&passage.text, MAX_DATE_OFFSET).or_else(|| {
        let mut nearest = passage.headings.iter().rev();
        nearest.find_map(|heading| first_date(heading, heading.len()))
    })
}

/// Returns the first date that begins within the first `within` bytes.
fn first_date(text: &str, within: usize) -> Option<NaiveDate> {
    let begins = |c: char| c.is_whitespace() || "([|".contains(c);
    let starts = text.match_indices(begins).map(|(at, gap)| at + gap.len());
    let mut starts = iter::once(0).chain(starts.take_while(|at| *at <= within));
    starts.find_map(|at| parse_date(text[at..].split(begins).next()?))
}

/// Returns whether a passage is marked as no longer valid: struck through, or under a heading for such texts.
fn is_superseded(passage: &Passage) -> bool {
    let text = passage.text.trim_start();
    let marks_superseded =
        |title: &String| matches!(fold(title).as_str(), "superseded" | "deprecated");
    text.starts_with("~~")
        || text.starts_with("(Superseded ")
        || passage.headings.iter().any(marks_superseded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Passage> {
        passages(text, Path::new("a.md"), Authority::Canonical)
    }

    fn flags(passage: &Passage) -> Vec<Flag> {
        Flags::from_bits(passage.flags).list().collect()
    }

    #[test]
    fn the_nearest_date_is_used() {
        let found = read(
            "---\nupdated: 2026-01-01\n---\n# A\n\nplain\n\n## B (2026-02-02)\n\n- one\n- (2026-03-03) two\n",
        );
        let dates: Vec<String> =
            found.iter().filter_map(|document| Some(document.date?.to_string())).collect();
        assert_eq!(dates, ["2026-01-01", "2026-01-01", "2026-02-02", "2026-03-03"]);
        assert_eq!(read("# A\n\nplain\n")[0].date, None);
        for text in ["Last activity: 2026-08-25 - done", "*Last updated: 2026-08-25 after v1*"] {
            let date = read(text)[0].date.map(|date| date.to_string());
            assert_eq!(date.as_deref(), Some("2026-08-25"), "{text}");
        }
    }

    #[test]
    fn superseded_passages_are_flagged() {
        let found = read("# A\n\n- ~~old~~\n- new\n\n## Superseded\n\n- older\n");
        let all: Vec<Vec<Flag>> = found.iter().map(flags).collect();
        assert_eq!(all, [vec![Flag::Superseded], vec![], vec![Flag::Superseded]]);
        let found = read("---\nstatus: superseded\nconfidence: low\n---\n# A\n\ntext\n");
        assert_eq!(flags(found.last().unwrap()), [Flag::Superseded, Flag::LowConfidence]);
    }
}
