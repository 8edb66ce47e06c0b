//! PATTERNS.md as written by annals, by people and by other tools: its entries, one per phase, and their parser.

use std::fmt::Display;
use std::ops::Range;
use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use serde::Serialize;

use crate::clock::parse_date;
use crate::markdown::{BlockContent, FrontMatter, Label, Outline, Ranges, Section};
use crate::patterns::trace::{Trace, cited};
use crate::plan::{PhaseNumber, PhaseNumbering, PlanNumber};
use crate::text::{Pattern, fold, non_placeholder, one_line, sha256, words_in};
use crate::warning::Parsed;

/// The bullet that stands for an empty list.
const NONE: &str = "none recorded";

/// Returns the part of an entry that contains its bullets, as annals writes it.
pub(crate) fn bullets<T: Display>(worked: &[T], failed: &[T]) -> String {
    let list = |bullets: &[T]| -> String {
        if bullets.is_empty() {
            return format!("- {NONE}\n");
        }
        bullets.iter().map(|bullet| format!("- {bullet}\n")).collect()
    };
    format!("**What worked:**\n{}\n**What failed:**\n{}\n", list(worked), list(failed))
}

/// Returns the digest of an entry's bullets, which shows later whether they were edited.
pub(crate) fn digest<T: Display>(worked: &[T], failed: &[T]) -> String {
    sha256(bullets(worked, failed))[..16].to_owned()
}

/// Returns whether a bullet only stands for an empty list.
pub(crate) fn is_filler(text: &str) -> bool {
    [NONE, "none observed"].iter().any(|none| text.eq_ignore_ascii_case(none))
}

/// PATTERNS.md as parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Patterns {
    /// The entries, in file order.
    pub entries: Vec<PatternEntry>,
    /// The content outside all entries, in file order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loose: Vec<LoosePattern>,
}

impl Patterns {
    /// Returns whether nothing is recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.loose.is_empty()
    }

    /// Returns all texts, in no particular order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let entries = self.entries.iter();
        entries
            .flat_map(PatternEntry::all_texts)
            .chain(self.loose.iter().map(|loose| loose.text.as_str()))
    }
}

/// The entry of one phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PatternEntry {
    /// The phase's number; `None` if the heading has none.
    pub phase: Option<PhaseNumber>,
    /// The phase's name: the heading without number and date.
    pub name: String,
    /// The date in the heading.
    pub date: Option<NaiveDate>,
    /// What worked, one text per bullet, verbatim.
    pub worked: Vec<String>,
    /// What failed, one text per bullet, verbatim.
    pub failed: Vec<String>,
    /// The same texts, each with the plans it cites and its source.
    pub bullets: Vec<Bullet>,
    /// The texts without a label, or with an unknown one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The phase it was recorded from, if the entry says so.
    #[serde(skip)]
    pub trace: Option<Trace>,
    /// The whole entry, verbatim, with its heading.
    #[serde(skip)]
    pub text: String,
    /// Byte range of the entry.
    #[serde(skip)]
    pub range: Range<usize>,
    /// Line number of its heading, from 1.
    #[serde(skip)]
    pub line: usize,
}

impl PatternEntry {
    /// Returns its title: `Phase 3: Shopping Lists`, or else the name alone.
    pub(crate) fn title(&self) -> String {
        match &self.phase {
            Some(phase) => format!("Phase {phase}: {}", self.name),
            None => self.name.clone(),
        }
    }

    /// Returns the texts of all bullets and notes.
    pub(crate) fn all_texts(&self) -> impl Iterator<Item = &str> {
        self.texts().chain(self.notes.iter().map(String::as_str))
    }

    /// Returns the texts of all bullets, those about what worked first.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.worked.iter().chain(&self.failed).map(String::as_str)
    }
}

/// A bullet of an entry with its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bullet {
    /// Its text, verbatim.
    pub text: String,
    /// Whether it stands under what worked or what failed.
    pub section: PatternOutcome,
    /// The plans that it cites.
    pub plans: Vec<PlanNumber>,
    /// The place in a summary that it was drawn from; `None` if the entry does not say, or the file is gone.
    pub source: Option<BulletSource>,
}

/// Whether a pattern supports a way of working or advises against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternOutcome {
    /// It worked.
    Worked,
    /// It failed.
    Failed,
    /// It is a note without a verdict.
    Noted,
}

/// The place in a summary that a bullet was drawn from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BulletSource {
    /// Path of the summary, relative to the project.
    pub file: PathBuf,
    /// Line number, from 1; `None` if the source is the summary as a whole.
    pub line: Option<usize>,
    /// The text there.
    pub text: String,
}

/// A bullet or paragraph outside all entries, as written by people and other tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoosePattern {
    /// The heading above it.
    pub section: Option<String>,
    /// Its text on one line, verbatim without the list marker.
    pub text: String,
    /// Byte range.
    #[serde(skip)]
    pub range: Range<usize>,
    /// Line number, from 1.
    #[serde(skip)]
    pub line: usize,
}

/// A parsed heading.
pub(crate) struct EntryHeading {
    phase: Option<PhaseNumber>,
    pub(crate) name: String,
    pub(crate) date: Option<NaiveDate>,
}

/// Maximum number of words before `Phase`; a longer title is a sentence that mentions a phase.
const MAX_WORDS_BEFORE: usize = 3;

/// `Phase`, and what may stand between it and its number.
static PHASE: Pattern = Pattern::new(r"(?i)\bphase[ #:_*`-]*");

/// A date with the brackets around it and other words in them, or alone.
static DATE: Pattern = Pattern::new(
    r"[(\[][^()\[\]]{0,24}?\b(\d{4}[-/]\d\d?[-/]\d\d?)[^()\[\]]*[)\]]|\b(\d{4}[-/]\d\d?[-/]\d\d?)",
);

impl EntryHeading {
    /// Parses a heading of an entry that was recorded from `folder`, which may be empty.
    ///
    /// ```text
    /// Phase 5.1: Event system (2026-02-11)      Retrospective: phase 05 - Event system, 2026-02-11
    /// **Phase 3** — Event system                [2026-02-11] Phase 3 Event system
    /// ```
    ///
    /// After `02-01-alerts`, the phase of `Phase 2-01: Alerts` is 2-01; without a folder, that is a range.
    pub(crate) fn parse(title: &str, folder: &str) -> Self {
        let known = PhaseNumbering::MilestonePrefixed.split_folder(folder);
        let dates = DATE.captures_iter(title).filter_map(|found| {
            let day = parse_date(found.get(1).or_else(|| found.get(2))?.as_str())?;
            Some((found.get(0)?.range(), day))
        });
        let date = dates.last();
        let without = date.as_ref().map_or(title.to_owned(), |(range, _)| {
            format!("{} {}", &title[..range.start], &title[range.end..])
        });
        let split = split_phase(&without, known.map(|(number, _)| number).as_ref());
        let (phase, name) = match split {
            Some((number, name)) => (Some(number), name),
            None => (None, &*without),
        };
        Self { phase, name: trimmed(name).to_owned(), date: date.map(|(_, day)| day) }
    }
}

/// Returns the number after the first `Phase` that has one, and the rest of the title.
fn split_phase<'a>(title: &'a str, known: Option<&PhaseNumber>) -> Option<(PhaseNumber, &'a str)> {
    let found = PHASE.find_iter(title);
    let mut found =
        found.take_while(|found| words_in(&title[..found.start()]).count() <= MAX_WORDS_BEFORE);
    found.find_map(|found| split_number(&title[found.end()..], known))
}

/// Splits the number from the start of a text; `2-01:` is a phase of a milestone if it is the `known` one.
fn split_number<'a>(text: &'a str, known: Option<&PhaseNumber>) -> Option<(PhaseNumber, &'a str)> {
    let behind = known.and_then(|known| Some((known, known.strip_id(text)?)));
    behind
        .filter(|(_, rest)| rest.starts_with(':') && !text.starts_with('0'))
        .map(|(known, rest)| (known.clone(), rest))
        .or_else(|| PhaseNumber::split(text))
}

fn trimmed(text: &str) -> &str {
    let is_edge = |c: char| c.is_whitespace() || ":;,-\u{2013}\u{2014}*_|".contains(c);
    text.trim_start_matches(|c| is_edge(c) || c == '.' || c == ')' || c == ']')
        .trim_end_matches(is_edge)
}

/// A part of an entry.
#[derive(Clone, Copy)]
enum EntryPart {
    Worked,
    Failed,
    /// Durations and the effort, which are not read.
    Timing,
    Deviations,
    /// Text without a label, or with an unknown one.
    Notes,
}

/// The labels of each part, in lower case.
const LABELS: &[(EntryPart, &str)] = &[
    (
        EntryPart::Worked,
        "what worked|what worked well|what went well|what went right|worked|worked well|went well|wins|successes|\
         successful patterns|keep doing",
    ),
    (
        EntryPart::Failed,
        "what failed|what didn't work|what did not work|what went wrong|failed|failures|didn't work|did not work|\
         went wrong|pitfalls|anti-patterns|stop doing",
    ),
    (EntryPart::Deviations, "deviations|deviation|deviations from plan"),
    (EntryPart::Timing, "timing|time"),
];

impl EntryPart {
    /// Returns the part that a label or heading introduces.
    fn from_label(label: &str) -> Option<Self> {
        let plain = label.trim_matches(|c: char| !c.is_alphanumeric());
        let name = fold(plain).replace('\u{2019}', "'");
        let found = LABELS.iter().find(|(_, names)| names.split('|').any(|known| known == name));
        found.map(|(part, _)| *part)
    }

    /// Returns the part that a line introduces, and its value: `**What worked:** value`, `Timing: 4m`, `**Date**`.
    fn from_line(line: &str) -> Option<(Self, String)> {
        if let Some(label) = Label::parse(line, 0, 0) {
            return Some((Self::from_label(&label.name)?, label.value));
        }
        let line = line.trim();
        let is_alone = line.starts_with("**") && line.ends_with("**");
        Some((Self::from_label(line).filter(|_| is_alone)?, String::new()))
    }

    /// Returns whether a part of this kind makes the section around it an entry.
    fn is_verdict(self) -> bool {
        matches!(self, Self::Worked | Self::Failed)
    }
}

impl Patterns {
    /// Parses PATTERNS.md.
    ///
    /// An entry is a heading of any level that names a phase, or one with a part on what worked or failed;
    /// its parts are introduced by labels or headings. All other bullets and paragraphs are
    /// [`LoosePattern`]s, except for paragraphs directly below the title.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        let front = FrontMatter::parse(text, path);
        let mut warnings = front.warnings;
        let outline = Outline::parse_beginning(text, front.value.range.end);
        warnings.extend(outline.warning(path));
        let heads = heads(&outline);
        let mut patterns = Self::default();
        for (index, head) in heads.iter().enumerate() {
            let next = heads.get(index + 1).map_or(usize::MAX, |next| next.heading.start);
            let range = head.heading.start..next.min(head.whole.end);
            patterns.entries.push(entry(&outline, head, range));
        }
        patterns.loose = loose(&outline, &patterns.entries);
        Parsed::new(patterns, warnings)
    }
}

/// Returns the sections that start an entry.
fn heads<'o>(outline: &'o Outline<'_>) -> Vec<&'o Section> {
    let mut heads: Vec<&Section> = Vec::new();
    for section in outline.sections().iter().filter(|section| section.level > 0) {
        if EntryPart::from_label(&section.title).is_some() {
            continue;
        }
        // Inside an entry, a heading may mention a phase without starting a new entry.
        let is_inside =
            heads.last().is_some_and(|head| head.whole.contains(&section.heading.start));
        let names_phase = EntryHeading::parse(&section.title, "").phase.is_some();
        if (names_phase && !is_inside) || has_verdict(outline, section) {
            heads.push(section);
        }
    }
    heads
}

/// Returns whether a section has a part on what worked or failed: a label, or a heading one level below.
fn has_verdict(outline: &Outline<'_>, section: &Section) -> bool {
    let by_label = || {
        let lines = outline.paragraphs(&section.own).flat_map(|(_, text)| text.lines());
        let mut lines =
            lines.chain(outline.items(&section.own).map(|(_, item)| item.text.as_str()));
        lines.any(|line| EntryPart::from_line(line).is_some_and(|(part, _)| part.is_verdict()))
    };
    let by_heading = || {
        let mut inner = outline.subsections(section);
        inner.any(|inner| {
            inner.level == section.level + 1
                && EntryPart::from_label(&inner.title).is_some_and(EntryPart::is_verdict)
        })
    };
    by_label() || by_heading()
}

/// Reads the entry in a range, which starts with its heading.
fn entry(outline: &Outline<'_>, head: &Section, range: Range<usize>) -> PatternEntry {
    let html = outline.blocks(&range).iter().filter(|block| block.content == BlockContent::Html);
    let trace = html.map(|block| outline.slice(&block.range)).find_map(Trace::parse);
    // The folder shows whether `2-01` is a phase of a milestone or a range.
    let folder = trace.as_ref().map_or("", |trace| trace.phase_dir.as_str());
    let heading = EntryHeading::parse(&head.title, folder);
    let mut reader = EntryReader {
        entry: PatternEntry {
            phase: heading.phase,
            name: heading.name,
            date: heading.date,
            trace,
            text: outline.text().get(range.clone()).unwrap_or_default().to_owned(),
            range: range.clone(),
            line: head.line,
            ..PatternEntry::default()
        },
        part: EntryPart::Notes,
    };
    let inside = outline.sections_in(&range).iter().filter(|section| section.level > 0);
    for section in inside {
        if section.heading != head.heading {
            // `#### What worked`, `#### Deviations: 3 (2 minor)`
            let part = EntryPart::from_label(&section.title).map(|part| (part, String::new()));
            let part = part.or_else(|| EntryPart::from_line(&section.title));
            let (part, value) = part.unwrap_or((EntryPart::Notes, String::new()));
            reader.open(part, &value);
        }
        for block in outline.blocks(&section.own) {
            match &block.content {
                BlockContent::Paragraph => reader.paragraph(outline.slice(&block.range)),
                BlockContent::Item(item) => reader.item(&item.text),
                BlockContent::Html | BlockContent::Table(_) | BlockContent::Code => {}
            }
        }
    }
    reader.finish()
}

/// An entry that is being read.
struct EntryReader {
    entry: PatternEntry,
    part: EntryPart,
}

impl EntryReader {
    /// Handles a paragraph: a line with a known label starts a part, and the lines after it continue the
    /// part.
    fn paragraph(&mut self, text: &str) {
        let mut pending = String::new();
        for line in text.lines().map(str::trim) {
            if let Some((part, value)) = EntryPart::from_line(line) {
                self.text(&std::mem::replace(&mut pending, value));
                self.part = part;
            } else {
                if !pending.is_empty() {
                    pending.push(' ');
                }
                pending.push_str(line);
            }
        }
        self.text(&pending);
    }

    fn item(&mut self, text: &str) {
        // In a list of what worked, `Deviations: none in plan 02` is an ordinary bullet.
        let is_label = !self.part.is_verdict() || text.trim_start().starts_with("**");
        match EntryPart::from_line(text).filter(|_| is_label) {
            Some((part, value)) => self.open(part, &value),
            None => self.text(text),
        }
    }

    fn open(&mut self, part: EntryPart, value: &str) {
        self.part = part;
        self.text(value);
    }

    /// Adds a bullet, paragraph or value to the current part.
    fn text(&mut self, text: &str) {
        let entry = &mut self.entry;
        let Some(text) = non_placeholder(text) else { return };
        let is_count = || {
            let text = text.trim_start_matches(|c: char| "~*_` ".contains(c));
            text.starts_with(|c: char| c.is_ascii_digit()) || text.eq_ignore_ascii_case("unknown")
        };
        let list = match self.part {
            EntryPart::Worked => &mut entry.worked,
            EntryPart::Failed => &mut entry.failed,
            EntryPart::Timing => return,
            EntryPart::Deviations if is_count() => return,
            EntryPart::Deviations | EntryPart::Notes => &mut entry.notes,
        };
        if !is_filler(text) {
            list.push(text.to_owned());
        }
    }

    fn finish(self) -> PatternEntry {
        let mut entry = self.entry;
        let lists =
            [(PatternOutcome::Worked, &entry.worked), (PatternOutcome::Failed, &entry.failed)];
        let bullets = lists.into_iter().flat_map(|(section, texts)| {
            texts.iter().map(move |text| Bullet {
                text: text.clone(),
                section,
                plans: cited(text),
                source: None,
            })
        });
        entry.bullets = bullets.collect();
        entry
    }
}

/// Returns the bullets and paragraphs outside all entries.
fn loose(outline: &Outline<'_>, entries: &[PatternEntry]) -> Vec<LoosePattern> {
    let inside = Ranges::merge(entries.iter().map(|entry| entry.range.clone()));
    let mut found = Vec::new();
    for section in outline.sections() {
        for block in outline.blocks(&section.own) {
            let text = match &block.content {
                BlockContent::Item(item) => item.text.clone(),
                BlockContent::Paragraph if section.level > 1 => {
                    one_line(outline.slice(&block.range))
                }
                _ => continue,
            };
            if non_placeholder(&text).is_some() && !inside.contains(block.range.start) {
                found.push(LoosePattern {
                    section: non_placeholder(&section.title).map(str::to_owned),
                    text,
                    range: block.range.clone(),
                    line: block.line,
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_folder_tells_a_phase_of_a_milestone_from_a_range() {
        for (title, folder, phase, name) in [
            ("Phase 2-01: Alerts (2026-02-11)", "02-01-alerts", "2-01", "Alerts"),
            ("Phase 8-10: Retro", "CK-08-10-retro", "8-10", "Retro"),
            ("Phase 8-10: Retro", "08-retro", "8", "10: Retro"),
            ("Phase 8-10: Retro", "08-11-retro", "8", "10: Retro"),
            ("Phase 8-10: Retro", "", "8", "10: Retro"),
            ("Phase 2-01 Alerts", "02-01-alerts", "2", "01 Alerts"),
            ("Phase 02-01: Alerts", "02-01-alerts", "2", "01: Alerts"),
            ("Phase 2: 01 alerts", "02-01-alerts", "2", "01 alerts"),
        ] {
            let heading = EntryHeading::parse(title, folder);
            let number = heading.phase.map(|phase| phase.to_string());
            assert_eq!(number.as_deref(), Some(phase), "{title} in {folder}");
            assert_eq!(heading.name, name, "{title} in {folder}");
        }
        let heading = EntryHeading::parse("Phase 8-10: Retro", "");
        assert_eq!(heading.phase, Some(PhaseNumber::from(8)));
        assert_eq!(heading.name, "10: Retro");
    }

    #[test]
    fn headings_of_every_spelling_are_taken_apart() {
        for (title, phase, name, date) in [
            ("Phase 5.1: Event system (2026-02-11)", "5.1", "Event system", "2026-02-11"),
            ("Phase 03: C# (core) (2026-02-11)", "3", "C# (core)", "2026-02-11"),
            ("Phase 3 - Auth — 2026-02-11", "3", "Auth", "2026-02-11"),
            ("Retrospective: phase 05 - Events, 2026-02-11", "5", "Events", "2026-02-11"),
            ("[2026-02-11] Phase 3 Auth", "3", "Auth", "2026-02-11"),
            ("**Phase 3** — Auth", "3", "Auth", ""),
            ("PHASE 3b (shipped 2026-02-11)", "3b", "", "2026-02-11"),
            ("Phase 2: Since 2025-01-01 (2026-02-11)", "2", "Since 2025-01-01", "2026-02-11"),
            ("Phase 2: Release 1.2.3", "2", "Release 1.2.3", ""),
            ("Phase X: Later", "", "Phase X: Later", ""),
            ("What we learned in phase 3", "", "What we learned in phase 3", ""),
            ("Error handling", "", "Error handling", ""),
            ("", "", "", ""),
        ] {
            let heading = EntryHeading::parse(title, "");
            let shown = heading.phase.map(|phase| phase.to_string()).unwrap_or_default();
            let day = heading.date.map(|date| date.to_string()).unwrap_or_default();
            assert_eq!(
                (shown.as_str(), heading.name.as_str(), day.as_str()),
                (phase, name, date),
                "{title:?}"
            );
        }
    }

    fn parse(text: &str) -> Patterns {
        let parsed = Patterns::parse(text, Path::new("PATTERNS.md"));
        assert_eq!(parsed.warnings, []);
        parsed.value
    }

    const ENTRY: &str = "\
# Learned Patterns

What finished phases taught.

### Phase 5.1: Event system (2026-02-11)
<!-- annals: phase-dir=05.1-event-system plans=01,02 digest=3f commit=9c milestone=v1 -->

**What worked:**
- Plans 01, 02 ran as planned
- Deviations: none in plan 02

**What failed:**
- none observed

**Timing:**
- Plans: 2, Average: 4m, Total: 8m
- Effort: balanced

**Deviations:** 1 (1 Rule 1 - Bug)
";

    #[test]
    fn an_entry_is_read_with_all_its_parts() {
        let patterns = parse(ENTRY);
        assert_eq!(patterns.loose, []);
        let [entry] = &patterns.entries[..] else {
            panic!("one entry: {patterns:?}");
        };
        assert_eq!((entry.line, entry.range.end), (5, ENTRY.len()));
        assert_eq!(entry.trace.as_ref().unwrap().phase_dir, "05.1-event-system");
        let expected = serde_json::json!({
            "phase": "5.1",
            "name": "Event system",
            "date": "2026-02-11",
            "worked": ["Plans 01, 02 ran as planned", "Deviations: none in plan 02"],
            "failed": [],
        });
        let mut value = serde_json::to_value(entry).unwrap();
        let bullets = value.as_object_mut().unwrap().remove("bullets").unwrap();
        assert_eq!(value, expected);
        assert_eq!(bullets[1]["text"], "Deviations: none in plan 02");
    }

    #[test]
    fn entries_in_other_shapes_are_read() {
        let text = "\
## Milestone 1

### Phase 1 - Setup (2026-01-02)
**What went well:** small plans
that ended early
**What didn't work**
- long plans
  - of 9 tasks

Deviations: none

### Phase 2: API
- a bullet without a label
#### What Worked
Contract first.

#### Timing: 12m
#### Deviations
- one
- two

### Retrospective of the rewrite
- **Worked:** generated code
- **Failed:** a `src/a.rs` by hand
";
        let entries = parse(text).entries;
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[0].date.unwrap().to_string(), "2026-01-02");
        assert_eq!(entries[0].worked, ["small plans that ended early"]);
        assert_eq!(entries[0].failed, ["long plans", "of 9 tasks"]);
        assert_eq!(entries[1].worked, ["Contract first."]);
        assert_eq!(entries[1].notes, ["a bullet without a label", "one", "two"]);
        assert_eq!(
            (entries[2].phase.clone(), entries[2].name.as_str()),
            (None, "Retrospective of the rewrite")
        );
        assert_eq!(entries[2].worked, ["generated code"]);
        assert_eq!(entries[2].failed, ["a `src/a.rs` by hand"]);
        assert!(text[entries[1].range.clone()].ends_with("- two\n\n"));
    }

    #[test]
    fn what_stands_outside_of_entries_is_kept() {
        let text = "# Patterns\nA header.\n- top\n## Errors\nReturn them.\nAlways.\n- [ ] never panic\n\n\
                    ## Phase 1: A\n**What worked:** x\n## Later\n- last\n";
        let patterns = parse(text);
        let loose: Vec<_> = patterns
            .loose
            .iter()
            .map(|loose| (loose.section.as_deref().unwrap_or(""), loose.text.as_str(), loose.line))
            .collect();
        assert_eq!(
            loose,
            [
                ("Patterns", "top", 3),
                ("Errors", "Return them. Always.", 5),
                ("Errors", "never panic", 7),
                ("Later", "last", 12),
            ]
        );
        assert_eq!(patterns.entries.len(), 1);
    }

    #[test]
    fn a_heading_that_only_mentions_a_phase_stays_inside_its_entry() {
        let text = "## Phase 2: A\n### Unlike Phase 1\n- smaller\n## In a fence\n```\n### Phase 3: B\n```\n";
        let entries = parse(text).entries;
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].notes, ["smaller"]);
    }

    #[test]
    fn a_count_of_deviations_is_no_note() {
        for value in ["None", "none.", "\n- None", "0", "3 (2 bug)", "unknown", "N/A", "-", "~1"] {
            let entries = parse(&format!("### Phase 1: A\n\n**Deviations:** {value}\n")).entries;
            assert_eq!(entries[0].notes, Vec::<String>::new(), "{value}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,80}", near in "(#{1,4} Phase [0-9.]{0,4}|\\*\\*What (worked|failed):?\\*\\*|- |Timing: |Deviations: |[0-9-]{0,11}|<!-- annals: |```|\\n| |é|[(:)]){0,30}") {
            for text in [text, near] {
                let patterns = Patterns::parse(&text, Path::new("P.md")).value;
                for entry in patterns.entries {
                    prop_assert_eq!(&text[entry.range.clone()], entry.text.as_str());
                }
            }
        }
    }
}
