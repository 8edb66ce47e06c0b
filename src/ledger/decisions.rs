//! Parses DECISIONS.md: the rollup, months, and entries in our format and in others.

use std::ops::Range;

use chrono::NaiveDate;

use crate::clock::parse_date;
use crate::ledger::constraints::Constraints;
use crate::ledger::state::is_filled;
use crate::markdown::{Outline, Section};
use crate::text::fold;

/// An entry, however it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecisionEntry {
    /// The day, or `None` if none is written.
    pub(crate) date: Option<NaiveDate>,
    /// The decision.
    pub(crate) title: String,
    /// Its line, counted from 1.
    pub(crate) line: usize,
    /// All its bytes, the heading included.
    pub(crate) range: Range<usize>,
    /// Whether it is a third-level heading that begins with the day, so that other entries may go before it.
    pub(crate) is_standard: bool,
    /// Whether it is `### YYYY-MM-DD — Title`, which only entries in our format are.
    pub(crate) has_dash: bool,
}

/// A month's section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Month {
    /// The month, as `2026-02`.
    pub(crate) name: String,
    /// Line number of the heading, from 1.
    pub(crate) line: usize,
    /// All its bytes, the heading included.
    pub(crate) range: Range<usize>,
}

/// The rollup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rollup {
    /// The bytes under its heading, including subsections that are not entries.
    pub(crate) own: Range<usize>,
    /// Its bullets.
    pub(crate) bullets: Vec<String>,
    /// Byte range of each bullet with its marker and line end.
    pub(crate) lines: Vec<Range<usize>>,
    /// Line number of the heading, from 1.
    pub(crate) line: usize,
}

/// The parsed file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decisions {
    /// The rollup, if there is one.
    pub(crate) rollup: Option<Rollup>,
    /// The months in file order.
    pub(crate) months: Vec<Month>,
    /// The entries in file order.
    pub(crate) entries: Vec<DecisionEntry>,
    /// Byte offset of the first section below the title; `None` without sections.
    pub(crate) first_section: Option<usize>,
}

impl Rollup {
    /// Returns the bullets without placeholders such as `- TBD`.
    pub(crate) fn filled_bullets(&self) -> Vec<String> {
        let bullets = self.bullets.iter();
        bullets.filter(|bullet| is_filled(bullet)).cloned().collect()
    }
}

impl Decisions {
    pub(crate) fn parse(text: &str) -> Self {
        let outline = Outline::parse(text, 0);
        let sections = outline.sections();
        let mut found = Self {
            first_section: sections.iter().find(|s| s.level >= 2).map(|s| s.heading.start),
            ..Self::default()
        };
        let mut parsed_end = 0;
        for section in sections {
            if section.level > 0 && section.heading.start < parsed_end {
                continue;
            }
            if section.level >= 2 && is_rollup(&section.title) && found.rollup.is_none() {
                found.rollup = Some(parse_rollup(&outline, section));
                parsed_end = section.whole.end;
            } else if section.level >= 2
                && let Some(name) = month_name(&section.title)
            {
                found.months.push(Month {
                    name,
                    line: section.line,
                    range: section.heading.start..section.whole.end,
                });
            } else if let Some(entry) = parse_heading_entry(&outline, section) {
                parsed_end = entry.range.end;
                found.entries.push(entry);
                continue;
            }
            found.entries.extend(parse_bullet_entries(&outline, section));
        }
        found.entries.retain(|entry| {
            let rollup = found.rollup.as_ref();
            rollup.is_none_or(|rollup| !rollup.own.contains(&entry.range.start))
        });
        found.entries.sort_by_key(|entry| entry.range.start);
        found
    }

    /// Returns the entry of a day and title.
    pub(crate) fn entry(&self, date: NaiveDate, title: &str) -> Option<&DecisionEntry> {
        let title = fold(title);
        self.entries.iter().find(|entry| entry.date == Some(date) && fold(&entry.title) == title)
    }

    /// Returns the entries of a month's section.
    pub(crate) fn entries_of(&self, month: &Month) -> impl Iterator<Item = &DecisionEntry> {
        // In file order, so the entries of one month are adjacent.
        let before = |at: usize| self.entries.partition_point(|entry| entry.range.start < at);
        let (from, to) = (before(month.range.start), before(month.range.end));
        self.entries[from..to].iter()
    }
}

fn is_rollup(title: &str) -> bool {
    let title = fold(title);
    title == "recent" || title.starts_with("recent (") || title == "recent rollup"
}

/// Returns the month that a heading is, `2026-02` or `2026-02 (February)`.
fn month_name(title: &str) -> Option<String> {
    let name = title.get(..7)?;
    let rest = title.get(7..)?;
    let is_end = rest.is_empty() || rest.starts_with([' ', ':']);
    let day = parse_date(&format!("{name}-01"));
    (is_end && name.as_bytes().get(4) == Some(&b'-') && day.is_some()).then(|| name.to_owned())
}

fn parse_rollup(outline: &Outline<'_>, section: &Section) -> Rollup {
    let text = outline.text();
    let entry = outline.subsections(section).find(|below| find_date(&below.title).is_some());
    let end = entry.map_or(section.whole.end, |entry| entry.heading.start);
    let own = section.own.start..end;
    let bullets: Vec<_> = Constraints::parse(text)
        .bullets
        .into_iter()
        .filter(|bullet| own.contains(&bullet.lines.start))
        .collect();
    Rollup {
        own,
        lines: bullets.iter().map(|bullet| bullet.lines.clone()).collect(),
        bullets: bullets.into_iter().map(|bullet| bullet.text).collect(),
        line: section.line,
    }
}

/// Parses a heading as an entry: with a day in it, or in a field below it.
fn parse_heading_entry(outline: &Outline<'_>, section: &Section) -> Option<DecisionEntry> {
    if section.level < 2 {
        return None;
    }
    let entry = |date, title: &str, is_standard, has_dash| DecisionEntry {
        date: Some(date),
        title: title.trim().to_owned(),
        line: section.line,
        range: section.heading.start..section.whole.end,
        is_standard,
        has_dash,
    };
    if let Some((at, length, date)) = find_date(&section.title) {
        let rest = section.title[at + length..].trim_start();
        let separators = ['\u{2014}', '\u{2013}', '-', ':', '\u{b7}', '|'];
        let title = rest.trim_start_matches(separators).trim();
        let before = section.title[..at].trim().trim_end_matches(separators).trim();
        // The subsections of a heading that is only a day are entries of that day.
        let is_day_heading = title.is_empty() && before.is_empty();
        if is_day_heading && outline.subsections(section).next().is_some() {
            return None;
        }
        let is_standard = at == 0 && section.level == 3 && !title.is_empty();
        // Editors replace an em dash by an en dash, but not by a hyphen or a colon.
        let has_dash = is_standard && rest.starts_with(['\u{2014}', '\u{2013}']);
        let title = if title.is_empty() { before } else { title };
        return Some(entry(date, title, is_standard, has_dash));
    }
    let labels = outline.labels(&section.own);
    let date = labels
        .iter()
        .find(|label| ["date", "datum", "updated"].contains(&fold(&label.name).as_str()))?;
    Some(entry(parse_date(&date.value)?, &section.title, false, false))
}

/// Parses `- (2026-02-17) Title - why` and similar bullets, and `### Title` below the heading of a day.
fn parse_bullet_entries(outline: &Outline<'_>, section: &Section) -> Vec<DecisionEntry> {
    if let Some((0, length, date)) = find_date(&section.title)
        && section.level >= 2
        && section.title.len() == length
    {
        let below = outline.subsections(section).filter(|below| below.level == section.level + 1);
        return below
            .map(|below| DecisionEntry {
                date: Some(date),
                title: below.title.clone(),
                line: below.line,
                range: below.heading.start..below.whole.end,
                is_standard: false,
                has_dash: false,
            })
            .collect();
    }
    let items = outline.items(&section.own).filter(|(_, item)| item.depth == 0);
    items
        .filter_map(|(block, item)| {
            let (at, length, date) = find_date(&item.text)?;
            let before = item.text[..at].trim_matches(['(', '[', '*', ' ']);
            let title = item.text[at + length..]
                .trim_start_matches([')', ']', '*', ':', '-', '\u{2014}', '\u{2013}', ' ']);
            before.is_empty().then(|| DecisionEntry {
                date: Some(date),
                title: title.to_owned(),
                line: block.line,
                range: block.range.clone(),
                is_standard: false,
                has_dash: false,
            })
        })
        .collect()
}

/// Returns the first date in a text: its byte offset, its length and the date.
fn find_date(text: &str) -> Option<(usize, usize, NaiveDate)> {
    const LENGTH: usize = "2026-02-17".len();
    text.char_indices().find_map(|(at, c)| {
        let day = text.get(at..at + LENGTH).filter(|_| c.is_ascii_digit())?;
        let is_day = day.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
        let stands_alone = !text[..at].ends_with(|c: char| c.is_ascii_digit());
        let date = is_day.then(|| parse_date(day)).flatten()?;
        stands_alone.then_some((at, LENGTH, date))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str) -> Vec<(String, String)> {
        let day =
            |entry: &DecisionEntry| entry.date.map(|date| date.to_string()).unwrap_or_default();
        let found = Decisions::parse(text).entries;
        found.iter().map(|entry| (day(entry), entry.title.clone())).collect()
    }

    #[test]
    fn entries_of_every_format_are_parsed() {
        for (text, title) in [
            ("## 2026-02\n### 2026-02-17 \u{2014} Keep tabs\n- **Why:** x\n", "Keep tabs"),
            ("### 2026-02-17 - Keep tabs\n", "Keep tabs"),
            ("### 2026-02-17: Keep tabs\n", "Keep tabs"),
            ("## D-001 \u{b7} 2026-02-17 \u{b7} Keep tabs\n", "Keep tabs"),
            ("## 2026-02\n- (2026-02-17) Keep tabs - because\n", "Keep tabs - because"),
            ("## 2026-02-17\n\n### Keep tabs\ntext\n", "Keep tabs"),
            ("## Keep tabs\n\n**Date:** 2026-02-17\n", "Keep tabs"),
            ("## Keep tabs (2026-02-17)\n", ")"),
        ] {
            let found = entries(&format!("# Decisions\n\n{text}"));
            assert_eq!(found.len(), 1, "{text:?}: {found:?}");
            assert_eq!(found[0].0, "2026-02-17", "{text:?}");
            if title != ")" {
                assert_eq!(found[0].1, title, "{text:?}");
            }
        }
    }

    #[test]
    fn rollup_months_and_entries_are_parsed() {
        let text = "# Decisions\n\n## Recent (last 30 days)\n- (2026-02-01) one\n  more\n- two\n\n## 2026-02\n\n### 2026-02-17 \u{2014} B\n- x\n\n### 2026-02-11 \u{2014} A\n\n## 2026-01\n";
        let found = Decisions::parse(text);
        let rollup = found.rollup.clone().unwrap();
        assert_eq!(rollup.bullets, ["(2026-02-01) one more", "two"]);
        assert_eq!(&text[rollup.lines[0].clone()], "- (2026-02-01) one\n  more\n");
        let names: Vec<_> = found.months.iter().map(|month| month.name.as_str()).collect();
        assert_eq!(names, ["2026-02", "2026-01"]);
        assert_eq!(found.entries_of(&found.months[0]).count(), 2);
        assert_eq!(found.entries.len(), 2);
        assert!(found.entries[0].is_standard);
    }
}
