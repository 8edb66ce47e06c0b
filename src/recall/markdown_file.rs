//! Splits a markdown file into search documents: its passages, with the dates and flags found in the text.

use std::iter;
use std::path::Path;

use chrono::NaiveDate;

use crate::clock::parse_date;
use crate::markdown::FrontMatter;
use crate::recall::document::{Authority, Flag, Flags, SearchDocument};
use crate::recall::passage::{Passage, passages};
use crate::text::fold;

/// Front matter fields that date a file, most significant first.
const DATE_FIELDS: &[&str] = &["updated", "completed", "date", "created"];

/// Maximum offset of the date of a passage, in bytes: a later one is something that the text mentions.
const MAX_DATE_OFFSET: usize = 24;

/// Returns the passages of a markdown file as documents with the given authority.
pub(crate) fn documents(text: &str, path: &Path, authority: Authority) -> Vec<SearchDocument> {
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
    passages(text, &front.range)
        .into_iter()
        .map(|passage| SearchDocument {
            date: date(&passage).or(file_date),
            flags: flags.with(Flag::Superseded, is_superseded(&passage)),
            line: passage.line,
            id: None,
            headings: passage.headings,
            text: passage.text,
            authority,
        })
        .collect()
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

    fn read(text: &str) -> Vec<SearchDocument> {
        documents(text, Path::new("a.md"), Authority::Canonical)
    }

    fn flags(document: &SearchDocument) -> Vec<Flag> {
        document.flags.list().collect()
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
        let flags: Vec<Vec<Flag>> = found.iter().map(flags).collect();
        assert_eq!(flags, [vec![Flag::Superseded], vec![], vec![Flag::Superseded]]);
        let found = read("---\nstatus: superseded\nconfidence: low\n---\n# A\n\ntext\n");
        let last = found.last().unwrap();
        assert_eq!(last.flags.list().collect::<Vec<_>>(), [Flag::Superseded, Flag::LowConfidence]);
    }
}
