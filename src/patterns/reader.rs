//! Parses PATTERNS.md, including entries written by hand or by other tools.

use std::path::Path;

use crate::clock::parse_date;
use crate::markdown::{
    Block, BlockContent, FrontMatter, Label, ListItem, Outline, Ranges, Section,
};
use crate::patterns::bullet_list::is_filler;
use crate::patterns::heading::EntryHeading;
use crate::patterns::part::EntryPart;
use crate::patterns::{DeviationCount, LoosePattern, PatternEntry, Patterns, Trace};
use crate::plan::non_placeholder;
use crate::text::one_line;
use crate::warning::{Parsed, Warning};

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
            let next = heads.get(index + 1).map(|next| next.heading.start);
            let end = next.map_or(head.whole.end, |next| next.min(head.whole.end));
            let mut reader = EntryBuilder::new(&outline, head, end);
            reader.read(path, &mut warnings);
            reader.number_by_trace();
            reader.entry.list_bullets();
            patterns.entries.push(reader.entry);
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
        let names_phase = EntryHeading::parse(&section.title).phase.is_some();
        if (names_phase && !is_inside) || has_verdict(outline, section) {
            heads.push(section);
        }
    }
    heads
}

/// Returns whether a section has a part on what worked or failed: a label, or a heading one level below.
fn has_verdict(outline: &Outline<'_>, section: &Section) -> bool {
    let is_verdict = |name: &str| EntryPart::from_label(name).is_some_and(EntryPart::is_verdict);
    let by_heading = || {
        let mut inner = outline.subsections(section);
        inner.any(|inner| inner.level == section.level + 1 && is_verdict(&inner.title))
    };
    let by_label = || {
        outline
            .paragraphs(&section.own)
            .flat_map(|(_, text)| text.lines())
            .chain(outline.items(&section.own).map(|(_, item)| item.text.as_str()))
            .any(|line| label(line).is_some_and(|(part, _)| part.is_verdict()))
    };
    by_label() || by_heading()
}

/// Parses a line that introduces a part: `**What worked:** value`, `What failed:`, `**Timing**`.
fn label(line: &str) -> Option<(EntryPart, String)> {
    if let Some(label) = Label::parse(line, 0, 0) {
        return Some((EntryPart::from_label(&label.name)?, label.value));
    }
    let line = line.trim();
    let is_alone = line.starts_with("**") && line.ends_with("**");
    let part = EntryPart::from_label(line).filter(|_| is_alone)?;
    Some((part, String::new()))
}

fn is_bold(line: &str) -> bool {
    line.trim_start().starts_with("**")
}

/// Builds an entry from its blocks.
struct EntryBuilder<'o, 'a> {
    outline: &'o Outline<'a>,
    head: &'o Section,
    entry: PatternEntry,
    part: EntryPart,
    /// Number of deviations listed one by one, used if no count is stated.
    listed_deviations: u32,
}

impl<'o, 'a> EntryBuilder<'o, 'a> {
    fn new(outline: &'o Outline<'a>, head: &'o Section, end: usize) -> Self {
        let heading = EntryHeading::parse(&head.title);
        let range = head.heading.start..end;
        let entry = PatternEntry {
            phase: heading.phase,
            name: heading.name,
            date: heading.date,
            text: outline.text().get(range.clone()).unwrap_or_default().to_owned(),
            range,
            line: head.line,
            ..PatternEntry::default()
        };
        Self { outline, head, entry, part: EntryPart::Notes, listed_deviations: 0 }
    }

    fn read(&mut self, path: &Path, warnings: &mut Vec<Warning>) {
        let outline = self.outline;
        let range = self.entry.range.clone();
        let inside = outline.sections_in(&range).iter().filter(|section| section.level > 0);
        for section in inside {
            if section.heading != self.head.heading {
                self.open_section(&section.title);
            }
            for block in outline.blocks(&section.own) {
                self.block(block, path, warnings);
            }
        }
        if self.entry.deviations.count.is_none() && self.listed_deviations > 0 {
            self.entry.deviations.count = Some(self.listed_deviations);
        }
    }

    /// Parses the heading again with the folder that the entry was recorded from, which shows whether `2-01` is a
    /// phase of a milestone or a range.
    fn number_by_trace(&mut self) {
        if let Some(trace) = &self.entry.trace {
            let heading = EntryHeading::parse_in_folder(&self.head.title, &trace.phase_dir);
            self.entry.phase = heading.phase;
            self.entry.name = heading.name;
        }
    }

    /// Handles a heading inside the entry: `#### What worked`, `#### Deviations: 3 (2 minor)`.
    fn open_section(&mut self, title: &str) {
        self.part = EntryPart::Notes;
        if let Some(part) = EntryPart::from_label(title) {
            self.open(part, "");
        } else if let Some((part, value)) = label(title) {
            self.open(part, &value);
        }
    }

    fn block(&mut self, block: &Block, path: &Path, warnings: &mut Vec<Warning>) {
        match &block.content {
            BlockContent::Paragraph => self.paragraph(self.outline.slice(&block.range)),
            BlockContent::Item(item) => self.item(item),
            BlockContent::Html => self.html(block, path, warnings),
            BlockContent::Table(_) | BlockContent::Code => {}
        }
    }

    fn html(&mut self, block: &Block, path: &Path, warnings: &mut Vec<Warning>) {
        let html = self.outline.slice(&block.range);
        if self.entry.trace.is_none() {
            self.entry.trace = Trace::parse(html);
        }
        if self.entry.trace.is_none() && Trace::is_in(html) {
            let message = "the comment that names the entry's phase cannot be read";
            warnings.push(Warning::at(path, block.line, message));
        }
    }

    /// Handles a paragraph: a line with a known label starts a part, and the lines after it continue the
    /// part.
    fn paragraph(&mut self, text: &str) {
        let mut pending = String::new();
        for line in text.lines().map(str::trim) {
            match label(line) {
                Some((part, value)) => {
                    self.text(&std::mem::take(&mut pending));
                    self.open(part, "");
                    pending = value;
                }
                None if pending.is_empty() => line.clone_into(&mut pending),
                None => {
                    pending.push(' ');
                    pending.push_str(line);
                }
            }
        }
        self.text(&pending);
    }

    fn item(&mut self, item: &ListItem) {
        // In a list of what worked, `Deviations: none in plan 02` is an ordinary bullet.
        let is_listing = matches!(self.part, EntryPart::Worked | EntryPart::Failed);
        match label(&item.text).filter(|_| !is_listing || is_bold(&item.text)) {
            Some((part, value)) => self.open(part, &value),
            None => self.text(&item.text),
        }
    }

    fn open(&mut self, part: EntryPart, value: &str) {
        self.part = part;
        self.text(value);
    }

    /// Adds a bullet, paragraph or value to the current part.
    fn text(&mut self, text: &str) {
        let Some(text) = non_placeholder(text) else {
            let is_open = self.entry.deviations.count.is_none() && self.listed_deviations == 0;
            if self.part == EntryPart::Deviations && is_open {
                // `None` is a count; other placeholders have none.
                self.entry.deviations = DeviationCount::parse(text);
            }
            return;
        };
        match self.part {
            EntryPart::Worked => push(&mut self.entry.worked, text),
            EntryPart::Failed => push(&mut self.entry.failed, text),
            EntryPart::Notes => push(&mut self.entry.notes, text),
            EntryPart::Timing => self.entry.timing.add(text),
            EntryPart::Date => self.entry.date = self.entry.date.or_else(|| parse_date(text)),
            EntryPart::Deviations => self.deviation(text),
        }
    }

    fn deviation(&mut self, text: &str) {
        if text.eq_ignore_ascii_case("unknown") {
            return;
        }
        let read = DeviationCount::parse(text);
        if self.entry.deviations.count.is_none() && read.count.is_some() {
            self.entry.deviations = read;
        } else {
            self.listed_deviations += 1;
            push(&mut self.entry.notes, text);
        }
    }
}

fn push(list: &mut Vec<String>, text: &str) {
    if !is_filler(text) {
        list.push(text.to_owned());
    }
}

/// Returns the bullets and paragraphs outside all entries.
fn loose(outline: &Outline<'_>, entries: &[PatternEntry]) -> Vec<LoosePattern> {
    let inside = Ranges::merge(entries.iter().map(|entry| entry.range.clone()));
    let mut found = Vec::new();
    for section in outline.sections() {
        let title = non_placeholder(&section.title).map(str::to_owned);
        for block in outline.blocks(&section.own) {
            let text = match &block.content {
                BlockContent::Item(item) => item.text.clone(),
                BlockContent::Paragraph if section.level > 1 => {
                    one_line(outline.slice(&block.range))
                }
                _ => continue,
            };
            if non_placeholder(&text).is_none() || inside.contains(block.range.start) {
                continue;
            }
            found.push(LoosePattern {
                section: title.clone(),
                text,
                range: block.range.clone(),
                line: block.line,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
            "timing": {"plans": 2, "average": "4m", "total": "8m", "effort": "balanced"},
            "deviations": {"count": 1, "kinds": "1 Rule 1 - Bug"},
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

### Phase 1 - Setup
**Date:** 2026-01-02
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
        assert_eq!(entries[1].deviations.count, Some(2));
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
    fn no_deviations_are_a_count() {
        for (value, count) in [
            ("**Deviations:** None", Some(0)),
            ("**Deviations:** none.", Some(0)),
            ("**Deviations:**\n- None", Some(0)),
            ("**Deviations:** 0", Some(0)),
            ("**Deviations:** None - as planned", Some(0)),
            ("**Deviations:** unknown", None),
            ("**Deviations:** N/A", None),
            ("**Deviations:** -", None),
            ("**Deviations:**\n", None),
            ("**Deviations:** -\n- one\n- two", Some(2)),
        ] {
            let entries = parse(&format!("### Phase 1: A\n\n{value}\n")).entries;
            assert_eq!(entries[0].deviations.count, count, "{value}");
        }
    }

    #[test]
    fn a_broken_comment_is_warned_of() {
        let text = "### Phase 1: A\n<!-- annals: phase-dir plans=01 -->\n";
        let parsed = Patterns::parse(text, Path::new("P.md"));
        assert_eq!(parsed.warnings.len(), 1);
        assert_eq!(parsed.warnings[0].place.line, Some(2));
        assert_eq!(parsed.value.entries[0].trace, None);
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
