//! DECISIONS.md: a rollup, months, and entries in our format and in others. New entries go into their month, newest first;
//! only the rollup is ever rewritten.
//!
//! The evidence for a decision is checked: commits, pull requests, files.

use std::ops::Range;
use std::path::{Component, Path};

use chrono::NaiveDate;
use serde::Deserialize;

use crate::clock::parse_date;
use crate::error::Result;
use crate::git::is_hash_prefix;
use crate::ledger::files::{Bullet, LedgerFiles, bullets, gap_after, is_filled, with_lines};
use crate::ledger::update::Problems;
use crate::markdown::edit::Edit;
use crate::markdown::{Outline, Section, edit};
use crate::project::Project;
use crate::storage::read;
use crate::text::{Line, Pattern, fold, line_end, line_gap};
use crate::warning::Parsed;

/// The heading of a new rollup.
const HEADING: &str = "## Recent (last 30 days)";
/// Maximum number of bullets of a rollup.
pub(crate) const MAX_BULLETS: usize = 10;
/// What may stand between the day and the title of an entry.
const SEPARATORS: [char; 6] = ['\u{2014}', '\u{2013}', '-', ':', '\u{b7}', '|'];

/// A day that does not begin inside a longer number.
static DATE: Pattern = Pattern::new(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}");

/// A new entry: a decision, or a fix, which has a symptom.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDecision {
    /// The day, as `2026-02-17`.
    date: String,
    title: String,
    why: Option<String>,
    impact: Option<String>,
    symptom: Option<String>,
    root_cause: Option<String>,
    fix: Option<String>,
    prevention: Option<String>,
    /// A commit, a pull request, or a path marked as an on-disk invariant.
    evidence: String,
}

/// An entry, however it is written.
#[derive(Debug)]
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
    is_standard: bool,
    /// Whether it is `### YYYY-MM-DD — Title`, which only entries in our format are.
    pub(crate) has_dash: bool,
}

/// A month's section.
pub(crate) struct Month {
    /// The month, as `2026-02`.
    pub(crate) name: String,
    /// Line number of the heading, from 1.
    pub(crate) line: usize,
    /// All its bytes, the heading included.
    range: Range<usize>,
}

/// The rollup.
#[derive(Clone)]
pub(crate) struct Rollup {
    /// The bytes under its heading, including subsections that are not entries.
    pub(crate) own: Range<usize>,
    /// Its bullets.
    pub(crate) bullets: Vec<Bullet>,
    /// Line number of the heading, from 1.
    pub(crate) line: usize,
}

/// The parsed file.
#[derive(Default)]
pub(crate) struct Decisions {
    /// The rollup, if there is one.
    pub(crate) rollup: Option<Rollup>,
    /// The months in file order.
    pub(crate) months: Vec<Month>,
    /// The entries in file order.
    pub(crate) entries: Vec<DecisionEntry>,
    /// Byte offset of the first section below the title; `None` without sections.
    first_section: Option<usize>,
}

/// Returns the entries of DECISIONS.md in file order, or an empty list if the file does not exist.
pub fn list_decisions(project: &Project) -> Result<Parsed<Vec<DecisionEntry>>> {
    let files = LedgerFiles::read(project)?;
    Ok(Parsed::new(Decisions::parse(&files.decisions.text).entries, files.warnings))
}

impl Rollup {
    /// Returns the bullets without placeholders such as `- TBD`.
    pub(crate) fn filled(&self) -> impl Iterator<Item = &Bullet> {
        self.bullets.iter().filter(|bullet| is_filled(&bullet.text))
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
        // The end of the entry or the rollup that was read last.
        let mut end = 0;
        for section in sections {
            let is_below_title = section.level >= 2;
            if section.level > 0 && section.heading.start < end {
                continue;
            }
            if is_below_title && found.rollup.is_none() && is_rollup(&section.title) {
                end = section.whole.end;
                found.rollup = Some(parse_rollup(&outline, section));
                continue;
            }
            if let Some(name) = month_name(&section.title).filter(|_| is_below_title) {
                let range = section.heading.start..section.whole.end;
                found.months.push(Month { name, line: section.line, range });
            } else if let Some(entry) = parse_heading(&outline, section).filter(|_| is_below_title)
            {
                end = entry.range.end;
                found.entries.push(entry);
                continue;
            }
            found.entries.extend(parse_below(&outline, section));
        }
        found.entries.sort_by_key(|entry| entry.range.start);
        found
    }

    /// Returns the entry of a day and title.
    fn entry(&self, date: NaiveDate, title: &str) -> Option<&DecisionEntry> {
        let title = fold(title);
        self.entries.iter().find(|entry| entry.date == Some(date) && fold(&entry.title) == title)
    }

    /// Returns the entries of a month's section.
    fn entries_of(&self, month: &Month) -> impl Iterator<Item = &DecisionEntry> {
        // In file order, so the entries of one month are adjacent.
        let before = |at: usize| self.entries.partition_point(|entry| entry.range.start < at);
        self.entries[before(month.range.start)..before(month.range.end)].iter()
    }
}

fn is_rollup(title: &str) -> bool {
    let title = fold(title);
    title == "recent" || title.starts_with("recent (") || title == "recent rollup"
}

/// Returns the month that a heading is, `2026-02` or `2026-02 (February)`.
fn month_name(title: &str) -> Option<String> {
    let (name, rest) = title.split_at_checked(7)?;
    let is_end = rest.is_empty() || rest.starts_with([' ', ':']);
    let is_month = name.as_bytes()[4] == b'-' && parse_date(&format!("{name}-01")).is_some();
    (is_end && is_month).then(|| name.to_owned())
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

fn entry(section: &Section, date: NaiveDate, title: &str) -> DecisionEntry {
    DecisionEntry {
        date: Some(date),
        title: title.trim().to_owned(),
        line: section.line,
        range: section.heading.start..section.whole.end,
        is_standard: false,
        has_dash: false,
    }
}

/// Parses a heading as an entry: with a day in it, or in a field below it.
fn parse_heading(outline: &Outline<'_>, section: &Section) -> Option<DecisionEntry> {
    let Some((at, length, date)) = find_date(&section.title) else {
        let labels = outline.labels(&section.own);
        let is_day = |name: &str| matches!(fold(name).as_str(), "date" | "datum" | "updated");
        let day = labels.iter().find(|label| is_day(&label.name))?;
        return Some(entry(section, parse_date(&day.value)?, &section.title));
    };
    let rest = section.title[at + length..].trim_start();
    let title = rest.trim_start_matches(SEPARATORS).trim();
    let before = section.title[..at].trim().trim_end_matches(SEPARATORS).trim();
    // The subsections of a heading that is only a day are entries of that day.
    let is_day_alone = title.is_empty() && before.is_empty();
    if is_day_alone && outline.subsections(section).next().is_some() {
        return None;
    }
    let is_standard = at == 0 && section.level == 3 && !title.is_empty();
    Some(DecisionEntry {
        is_standard,
        // Editors replace an em dash by an en dash, but not by a hyphen or a colon.
        has_dash: is_standard && rest.starts_with(['\u{2014}', '\u{2013}']),
        ..entry(section, date, if title.is_empty() { before } else { title })
    })
}

/// Parses `### Title` below the heading of a day.
fn parse_below(outline: &Outline<'_>, section: &Section) -> Vec<DecisionEntry> {
    let Some((0, length, date)) = find_date(&section.title) else { return Vec::new() };
    if section.level < 2 || section.title.len() != length {
        return Vec::new();
    }
    let below = outline.subsections(section).filter(|below| below.level == section.level + 1);
    below.map(|below| entry(below, date, &below.title)).collect()
}

/// Returns the first date in a text: its byte offset, its length and the date.
fn find_date(text: &str) -> Option<(usize, usize, NaiveDate)> {
    let mut found = DATE.find_iter(text);
    found.find_map(|day| Some((day.start(), day.len(), parse_date(day.as_str())?)))
}

/// Applies new entries in order; refused ones leave the text unchanged.
pub(crate) fn apply(
    project: &Project,
    text: &str,
    decisions: &[NewDecision],
    problems: &mut Problems,
) -> Result<String> {
    let evidences: Vec<&str> = decisions.iter().map(|one| one.evidence.as_str()).collect();
    let faults = evidence_problems(project, &evidences)?;
    let today = project.clock.today();
    let mut text = text.to_owned();
    for (index, (decision, fault)) in decisions.iter().zip(faults).enumerate() {
        let pointer = |field: &str| format!("/decisions/{index}/{field}");
        let is_proven = fault.is_none();
        for (field, text) in decision.required() {
            if text.is_none() {
                problems.add(pointer(field), "is required");
            }
        }
        if let Some(fault) = fault {
            problems.add(pointer("evidence"), fault);
        }
        match parse_date(&decision.date) {
            None => problems.add(pointer("date"), "is not a valid date"),
            // In another time zone it may be tomorrow.
            Some(date) if Some(date) > today.succ_opt() => {
                problems.add(pointer("date"), format!("is in the future: today is {today}"));
            }
            Some(date) => match with_entry(&text, decision, date) {
                Ok(new) if is_proven => text = new,
                Ok(_) => {}
                Err(message) => problems.add(pointer("title"), message),
            },
        }
    }
    Ok(text)
}

impl NewDecision {
    /// Returns the fields that a fix needs, which has a symptom, or else those of a decision.
    fn required(&self) -> Vec<(&'static str, &Option<String>)> {
        match self.symptom {
            None => vec![("why", &self.why), ("impact", &self.impact)],
            Some(_) => vec![
                ("root_cause", &self.root_cause),
                ("fix", &self.fix),
                ("prevention", &self.prevention),
            ],
        }
    }

    /// Returns the entry, without a line end.
    fn text(&self, date: NaiveDate, title: &Line) -> String {
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
            Some(format!("\n- **{label}:** {}", Line::new(text.as_ref()?)))
        });
        format!("### {date} \u{2014} {title}\n{}", fields.collect::<String>())
    }
}

/// Returns the text with a new entry: in its month before the first one that is not newer, or in a new month before the
/// first older month.
fn with_entry(
    text: &str,
    decision: &NewDecision,
    date: NaiveDate,
) -> std::result::Result<String, String> {
    let found = Decisions::parse(text);
    let title = Line::new(&decision.title);
    let entry = decision.text(date, &title);
    if let Some(known) = found.entry(date, title.as_str()) {
        if text[known.range.clone()].trim_end().lines().map(str::trim_end).eq(entry.lines()) {
            return Ok(text.to_owned());
        }
        let line = known.line;
        return Err(format!(
            "line {line} already has an entry with this date and title; entries are never edited"
        ));
    }
    let name = date.format("%Y-%m").to_string();
    let new = if let Some(month) = found.months.iter().find(|month| month.name == name) {
        let is_older =
            |one: &&DecisionEntry| one.is_standard && one.date.is_none_or(|other| other <= date);
        let older = found.entries_of(month).find(is_older);
        with_lines(text, older.map_or(month.range.end, |older| older.range.start), &entry)
    } else {
        let older = found.months.iter().find(|month| month.name < name);
        let at = match (older, found.months.last(), &found.rollup) {
            (Some(older), ..) => older.range.start,
            (None, Some(last), _) => last.range.end,
            // Without a month, the text below the rollup has another writer and is older.
            (None, None, Some(rollup)) if found.entries.is_empty() => rollup.own.end,
            _ => text.len(),
        };
        with_lines(text, at, &format!("## {name}\n\n{entry}"))
    };
    let after = Decisions::parse(&new);
    if after.entry(date, title.as_str()).is_some() && after.entries.len() == found.entries.len() + 1
    {
        return Ok(new);
    }
    Err("the surrounding markdown, such as an unclosed code fence, would absorb the entry; fix DECISIONS.md first".to_owned())
}

/// Returns the text with a new rollup; it already contains the new entries.
pub(crate) fn with_rollup(text: &str, bullets: &[String], problems: &mut Problems) -> String {
    let decisions = Decisions::parse(text);
    let bullets: Vec<String> = bullets.iter().map(|text| Line::new(text).to_string()).collect();
    let known = decisions.rollup.iter().flat_map(|rollup| &rollup.bullets);
    if decisions.rollup.is_some() && known.map(|bullet| &bullet.text).eq(&bullets) {
        return text.to_owned();
    }
    replaced(text, &decisions, &bullets).unwrap_or_else(|| {
        problems.add("/rollup", "the rollup in DECISIONS.md has text among its bullets, or markdown such as an unclosed code fence absorbs them; fix it first");
        text.to_owned()
    })
}

/// Returns the text with these bullets in the rollup, or `None` if they would not be read as these bullets, or an entry not
/// at all, or if there is other text among the old ones, which would then be below other bullets.
fn replaced(text: &str, decisions: &Decisions, bullets: &[String]) -> Option<String> {
    let end = line_end(text);
    let lines: String = bullets.iter().map(|bullet| format!("- {bullet}{end}")).collect();
    let edit = match &decisions.rollup {
        None => {
            let at = decisions.first_section.unwrap_or(text.len());
            let gap = gap_after(&text[..at], end);
            Edit::insert(at, format!("{gap}{HEADING}{end}{lines}{end}"))
        }
        Some(Rollup { own, bullets, .. }) => {
            let between = |pair: &[Bullet]| &text[pair[0].lines.end..pair[1].lines.start];
            if !bullets.windows(2).all(|pair| between(pair).trim().is_empty()) {
                return None;
            }
            let old = match (bullets.first(), bullets.last()) {
                (Some(first), Some(last)) => first.lines.start..last.lines.end,
                _ => own.start..own.start,
            };
            // A paragraph in the section is below the list.
            let is_below = bullets.is_empty() && !text[own.clone()].trim().is_empty();
            let below = if is_below { end } else { "" };
            let gap = line_gap(&text[..old.start], end);
            Edit::replace(old, format!("{gap}{lines}{below}"))
        }
    };
    let new = edit::apply(text, vec![edit]);
    let after = Decisions::parse(&new);
    let read = after.rollup.iter().flat_map(|rollup| &rollup.bullets);
    let is_kept = after.entries.len() == decisions.entries.len();
    (is_kept && after.rollup.is_some() && read.map(|bullet| &bullet.text).eq(bullets))
        .then_some(new)
}

static PULL_REQUEST: Pattern =
    Pattern::new(r"https?://\S+/(?:pull|pulls|merge_requests|pull-requests|pullrequest)/[0-9]+");

/// Marks a path as evidence: a fact about the files on disk that does not depend on the history.
const ON_DISK_MARKER: &str = "on-disk invariant";

/// Returns what is wrong with the evidence of each of several entries; git is asked for all of them at once.
pub(crate) fn evidence_problems(
    project: &Project,
    evidences: &[&str],
) -> Result<Vec<Option<String>>> {
    let cited: Vec<Vec<&str>> = evidences.iter().map(|text| citations(text)).collect();
    let all = cited.concat();
    let times = project.git.commit_times(&all)?;
    let known = all.into_iter().zip(times).filter_map(|(hash, time)| time.map(|_| hash));
    let known: Vec<&str> = known.collect();
    let stranded = project.git.stranded(&known)?;
    let problems = evidences.iter().zip(&cited).map(|(text, cited)| {
        let mut found = cited.iter().filter(|hash| known.contains(hash));
        let is_proven = found.any(|hash| !stranded.contains(hash));
        (!is_proven).then(|| evidence_problem(project, text, cited, &stranded)).flatten()
    });
    Ok(problems.collect())
}

/// Returns the words that may be a commit's hash.
fn citations(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| c.is_whitespace() || "`,;()[]\"'/#?".contains(c));
    let words = words.map(|word| word.trim_matches(['.', ':', '*']));
    words.filter(|word| word.len() >= 7 && is_hash_prefix(word)).collect()
}

/// Returns what is wrong with evidence that cites no commit of a branch.
fn evidence_problem(
    project: &Project,
    text: &str,
    cited: &[&str],
    stranded: &[&str],
) -> Option<String> {
    let is_marked = text.to_lowercase().contains(ON_DISK_MARKER);
    if PULL_REQUEST.is_match(text) || is_marked && names_file(&project.root, text) {
        return None;
    }
    let only_here = cited.iter().find(|hash| stranded.contains(hash));
    Some(match only_here.or(cited.first()) {
        _ if is_marked => {
            format!("has {ON_DISK_MARKER:?}, but what it names is not a file of this project")
        }
        Some(hash) if only_here.is_some() => {
            format!(
                "{hash} is on no branch, so that other clones lack it: cite the commit that replaced it"
            )
        }
        Some(hash) if project.git.is_repository() => {
            format!("{hash} is not a commit of this repository")
        }
        Some(hash) => format!("{hash} cannot be resolved: there is no git repository"),
        None => format!(
            "cites no evidence: add a commit hash, a link to a pull request, or a path followed by `({ON_DISK_MARKER})`"
        ),
    })
}

/// Returns whether a word of a text, or a piece of code in it, is the path of a file inside a folder.
fn names_file(root: &Path, text: &str) -> bool {
    let code = text.split('`').skip(1).step_by(2);
    let words = text.split(|c: char| c.is_whitespace() || "`,;()[]\"'*".contains(c));
    let words = words.map(|word| word.trim_end_matches(['.', ':']));
    code.chain(words).map(Path::new).any(|path| {
        let mut parts = path.components();
        let is_inside = parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let place = root.join(path);
        // A word such as `docs` may be a folder's name by chance.
        is_inside
            && place != root
            && (read::is_file(&place) || path.components().count() > 1 && read::exists(&place))
    })
}

#[cfg(test)]
mod tests;
