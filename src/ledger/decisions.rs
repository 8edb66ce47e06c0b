//! DECISIONS.md: a rollup, months, and entries in our format and in others; new ones go into their month, newest first.

use std::ops::Range;
use std::sync::LazyLock;

use chrono::NaiveDate;
use regex::Regex;
use serde::Deserialize;

use crate::clock::parse_date;
use crate::error::{Problem, Result};
use crate::ledger::constraints::{Bullet, bullets};
use crate::ledger::edits::{Change, FileUpdate, gap_after};
use crate::ledger::evidence;
use crate::ledger::files::LedgerFiles;
use crate::ledger::state::is_filled;
use crate::markdown::edit::Edit;
use crate::markdown::{Outline, Section, edit};
use crate::project::Project;
use crate::text::{Line, fold, line_end};
use crate::warning::Parsed;

/// A day that is not part of a longer number.
static DATE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}").ok());

/// A new entry: a decision, or a fix, which has a symptom.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(crate) struct NewDecision {
    /// The day, as `2026-02-17`.
    pub(crate) date: String,
    pub(crate) title: String,
    pub(crate) why: Option<String>,
    pub(crate) impact: Option<String>,
    pub(crate) symptom: Option<String>,
    pub(crate) root_cause: Option<String>,
    pub(crate) fix: Option<String>,
    pub(crate) prevention: Option<String>,
    /// A commit, a pull request, or a path marked as an on-disk invariant.
    pub(crate) evidence: String,
}

/// An entry, however it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionEntry {
    /// The day, or `None` if none is written.
    pub date: Option<NaiveDate>,
    /// The decision.
    pub title: String,
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
    pub(crate) bullets: Vec<Bullet>,
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

/// Returns the entries of DECISIONS.md in file order, or an empty list if the file does not exist.
pub fn list_decisions(project: &Project) -> Result<Parsed<Vec<DecisionEntry>>> {
    let mut warnings = Vec::new();
    let files = LedgerFiles::read(project, &mut warnings)?;
    Ok(Parsed::new(Decisions::parse(&files.decisions.text).entries, warnings))
}

impl Rollup {
    /// Returns the texts of the bullets.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &String> {
        self.bullets.iter().map(|bullet| &bullet.text)
    }

    /// Returns the bullets without placeholders such as `- TBD`.
    pub(crate) fn filled_bullets(&self) -> Vec<String> {
        let bullets = self.texts();
        bullets.filter(|bullet| is_filled(bullet)).cloned().collect()
    }
}

impl DecisionEntry {
    fn of_section(section: &Section, date: NaiveDate, title: &str) -> Self {
        Self {
            date: Some(date),
            title: title.trim().to_owned(),
            line: section.line,
            range: section.heading.start..section.whole.end,
            is_standard: false,
            has_dash: false,
        }
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
    let entry = outline.subsections(section).find(|below| find_date(&below.title).is_some());
    let end = entry.map_or(section.whole.end, |entry| entry.heading.start);
    let parts = std::iter::once(section).chain(outline.subsections(section));
    let parts = parts.filter(|part| part.heading.start < end);
    Rollup {
        own: section.own.start..end,
        bullets: parts.flat_map(|part| bullets(outline, &part.own, 0)).collect(),
        line: section.line,
    }
}

/// Parses a heading as an entry: with a day in it, or in a field below it.
fn parse_heading_entry(outline: &Outline<'_>, section: &Section) -> Option<DecisionEntry> {
    if section.level < 2 {
        return None;
    }
    let entry = |date, title: &str, is_standard, has_dash| DecisionEntry {
        is_standard,
        has_dash,
        ..DecisionEntry::of_section(section, date, title)
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
        return below.map(|below| DecisionEntry::of_section(below, date, &below.title)).collect();
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
    let found = DATE.as_ref()?.find_iter(text);
    let mut dates =
        found.filter_map(|day| Some((day.start(), day.len(), parse_date(day.as_str())?)));
    dates.next()
}

/// Applies new entries in order; refused ones leave the text unchanged.
pub(crate) fn apply(
    project: &Project,
    text: &str,
    decisions: &[NewDecision],
) -> Result<FileUpdate> {
    let evidences: Vec<&str> = decisions.iter().map(|one| one.evidence.as_str()).collect();
    let faults = evidence::problems(project, &evidences)?;
    let mut outcome = FileUpdate::of(text);
    for (index, (decision, faults)) in decisions.iter().zip(faults).enumerate() {
        let pointer = format!("/decisions/{index}");
        let known = outcome.problems.len();
        for fault in faults {
            outcome.refuse(format!("{pointer}/evidence"), fault);
        }
        let today = project.clock.today();
        match parse_date(&decision.date) {
            None => outcome.refuse(format!("{pointer}/date"), "is not a valid date"),
            // In another time zone it may be tomorrow.
            Some(date) if Some(date) > today.succ_opt() => {
                let message = format!("is in the future: today is {today}");
                outcome.refuse(format!("{pointer}/date"), message);
            }
            Some(date) if outcome.problems.len() == known => {
                outcome.record(insert_entry(&outcome.text, decision, date, &pointer));
            }
            Some(_) => {}
        }
    }
    Ok(outcome)
}

impl NewDecision {
    /// Returns the lines of the entry.
    fn lines(&self, date: NaiveDate, title: &Line) -> Vec<String> {
        let evidence = Some(self.evidence.clone());
        let fields = [
            ("Why", &self.why),
            ("Impact", &self.impact),
            ("Symptom", &self.symptom),
            ("Root cause", &self.root_cause),
            ("Fix", &self.fix),
            ("Prevention", &self.prevention),
            ("Evidence", &evidence),
        ];
        let fields = fields.into_iter().filter_map(|(label, text)| {
            Some(format!("- **{label}:** {}", Line::new(text.as_ref()?)))
        });
        [format!("### {date} \u{2014} {title}"), String::new()].into_iter().chain(fields).collect()
    }
}

fn insert_entry(text: &str, decision: &NewDecision, date: NaiveDate, pointer: &str) -> Change {
    let found = Decisions::parse(text);
    let title = Line::new(&decision.title);
    let lines = decision.lines(date, &title);
    let place = format!("{pointer}/title");
    if let Some(entry) = found.entry(date, title.as_str()) {
        if text[entry.range.clone()].trim_end().lines().map(str::trim_end).eq(lines) {
            return Ok(text.to_owned());
        }
        let message = format!(
            "line {} already has an entry with this date and title; entries are never edited",
            entry.line
        );
        return Err(Problem::new(place, message));
    }
    let new = edit::apply(text, vec![insertion(text, &found, date, &lines)]);
    let after = Decisions::parse(&new);
    if after.entry(date, title.as_str()).is_some() && after.entries.len() == found.entries.len() + 1
    {
        return Ok(new);
    }
    let message = "the surrounding markdown, such as an unclosed code fence, would absorb the entry; fix DECISIONS.md first";
    Err(Problem::new(place, message))
}

/// Returns the edit that inserts an entry: into its month before the first one that is not newer, or in a new month
/// before the first older month.
fn insertion(text: &str, found: &Decisions, date: NaiveDate, lines: &[String]) -> Edit {
    let end = line_end(text);
    let mut piece = lines.join(end) + end;
    let name = date.format("%Y-%m").to_string();
    let month = found.months.iter().find(|month| month.name == name);
    let (before, after) = if let Some(month) = month {
        let mut entries = found.entries_of(month);
        let is_older =
            |one: &&DecisionEntry| one.is_standard && one.date.is_none_or(|other| other <= date);
        (entries.find(is_older).map(|older| older.range.start), month.range.end)
    } else {
        piece = format!("## {name}{end}{end}{piece}");
        let older = found.months.iter().find(|month| month.name < name);
        let after = match (found.months.last(), &found.rollup) {
            (Some(last), _) => last.range.end,
            // Without a month, the text below the rollup has another writer and is older.
            (None, Some(rollup)) if found.entries.is_empty() => rollup.own.end,
            _ => text.len(),
        };
        (older.map(|older| older.range.start), after)
    };
    if let Some(before) = before {
        return Edit::insert(before, format!("{piece}{end}"));
    }
    let gap = gap_after(&text[..after], end);
    let below = if after < text.len() { end } else { "" };
    Edit::insert(after, format!("{gap}{piece}{below}"))
}

#[cfg(test)]
mod tests;
