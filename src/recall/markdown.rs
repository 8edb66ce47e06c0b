//! Splits markdown into searchable passages: prose, list items and table rows, each with its headings, date and flags.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

use chrono::NaiveDate;

use crate::clock::{first_date, parse_date};
use crate::markdown::{
    Block, BlockContent, FrontMatter, Label, Outline, Section, generated_block, is_fence,
    line_start,
};
use crate::plan::read::vocabulary::{has, is_status};
use crate::recall::hit::Flag;
use crate::recall::place;
use crate::recall::sources::Role;
use crate::search::index::Passage;
use crate::text::{fold, is_absent, join, lower_words, one_line, says_none, words_in};

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

/// Returns the passages of a markdown file with the given authority and role.
pub(crate) fn passages(text: &str, path: &Path, authority: Authority, role: Role) -> Vec<Passage> {
    let text = &readable(text);
    // Malformed fields are reported by the code that interprets them.
    let front = FrontMatter::parse(text, path).value;
    let file_date = DATE_FIELDS.iter().find_map(|field| parse_date(front.text(&[field])?));
    let field_is = |field: &str, values: &[&str]| {
        let value = front.text(&[field]).unwrap_or_default();
        values.iter().any(|expected| value.eq_ignore_ascii_case(expected))
    };
    let flags = Flag::Superseded.bit(field_is("status", &["superseded", "deprecated"]))
        | Flag::LowConfidence.bit(field_is("confidence", &["low"]));
    let mut passages = split(text, &front.range);
    let fields = text[..front.range.end].lines().count();
    drop_repeated_fields(&mut passages, fields);
    if role != Role::State {
        passages.retain(|passage| !is_record(&passage.text));
    }
    let summed_up =
        (authority == Authority::Report).then(|| place::phase_of_folder(path)).flatten();
    // Without a title, the text does not say what it is about.
    let mut names = Vec::new();
    if let Some((phase, name)) = &summed_up
        && !text[front.range.end..].lines().any(|line| line.starts_with("# "))
    {
        names.push(format!("Phase {phase}: {name}"));
        names.extend(front.text(&["title"]).map(str::to_owned));
    }
    let summed_up = summed_up.map(|(phase, _)| phase);
    let opening = passages.iter().position(|passage| passage.line > fields);
    for (number, passage) in passages.iter_mut().enumerate() {
        passage.date = date(passage).or(file_date);
        passage.flags = flags | Flag::Superseded.bit(is_superseded(passage));
        passage.weight = authority.weight() * Flag::weight(passage.flags);
        let is_opening = opening == Some(number) && passage.headings.len() <= 1;
        passage.flags |= place::of(passage, role, is_opening, summed_up);
        passage.headings.splice(0..0, names.iter().cloned());
    }
    passages
}

/// Removes the fields of the front matter that the body repeats, where the same text has headings.
fn drop_repeated_fields(passages: &mut Vec<Passage>, fields: usize) {
    let said = |passage: &Passage| one_line(passage.text.trim().trim_matches(['"', '\'']));
    let body: HashSet<String> =
        passages.iter().filter(|passage| passage.line > fields).map(said).collect();
    passages.retain(|passage| passage.line > fields || !body.contains(&said(passage)));
}

/// Returns a text with blank lines for those that hide or repeat text: the block that annals generates repeats other files,
/// and markdown takes all up to the next empty line after a tag such as `<decisions>` for HTML, headings included.
fn readable(text: &str) -> String {
    let generated = generated_block(text).unwrap_or_default();
    let (mut is_code, mut start) = (false, 0);
    let mut readable = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        is_code ^= is_fence(line);
        if generated.contains(&start) || !is_code && is_tag(line) {
            readable.push('\n');
        } else {
            readable.push_str(line);
        }
        start += line.len();
    }
    readable
}

/// Returns whether a line is a tag without attributes, and nothing else.
fn is_tag(line: &str) -> bool {
    let name = line.trim_end().strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    name.is_some_and(|name| name.strip_prefix('/').unwrap_or(name).chars().all(is_name))
}

/// Returns the date near the start of a passage, or else in its nearest heading that has one.
fn date(passage: &Passage) -> Option<NaiveDate> {
    first_date(&passage.text, MAX_DATE_OFFSET).or_else(|| {
        let mut nearest = passage.headings.iter().rev();
        nearest.find_map(|heading| first_date(heading, heading.len()))
    })
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

/// Maximum length of merged prose paragraphs, in bytes: longer passages would mix topics.
const MAX_PROSE_LENGTH: usize = 1200;
/// Maximum length of a list item together with its nested items, in bytes.
const MAX_ITEM_LENGTH: usize = 700;
/// Maximum length of a line that labels a list, in bytes.
const MAX_LABEL_LENGTH: usize = 80;
/// Maximum length of any passage of several lines, in bytes.
const MAX_PASSAGE_LENGTH: usize = 4000;

/// Returns the passages of a markdown text, in file order.
///
/// `front` is the byte range of the front matter.
fn split(text: &str, front: &Range<usize>) -> Vec<Passage> {
    let outline = Outline::parse_beginning(text, front.end);
    let mut splitter = Splitter {
        outline: &outline,
        headings: Vec::new(),
        label: None,
        found: Vec::new(),
        open: None,
    };
    splitter.front_matter(front);
    let fields = splitter.found.len();
    for section in outline.sections() {
        splitter.section(section);
    }
    // A note of one line may be written as a heading.
    let mut titled = outline.sections().iter().filter(|section| section.level > 0);
    if let (true, Some(only), None) = (splitter.found.len() == fields, titled.next(), titled.next())
    {
        splitter.headings.clear();
        splitter.push(only.line, only.title.clone());
    }
    splitter.found
}

/// The kind of the open passage, which determines the blocks that may be appended to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PassageKind {
    Prose,
    Item,
}

struct OpenPassage {
    kind: PassageKind,
    range: Range<usize>,
}

struct Splitter<'a> {
    outline: &'a Outline<'a>,
    /// The open headings with their levels.
    headings: Vec<(u8, String)>,
    /// A line that labels a list without being a heading: `**What failed:**`.
    label: Option<Range<usize>>,
    found: Vec<Passage>,
    open: Option<OpenPassage>,
}

impl Splitter<'_> {
    /// Splits the front matter: each item of a list and each other field of several lines becomes its own passage, fields
    /// of one line are merged.
    fn front_matter(&mut self, range: &Range<usize>) {
        let mut at = range.start;
        let mut field: Option<Range<usize>> = None;
        for line in self.outline.text()[range.clone()].split_inclusive('\n') {
            let whole = at..at + line.len();
            at = whole.end;
            let is_name = line.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            match &mut field {
                _ if line.trim_end() == "---" => self.field(field.take()),
                Some(field) if !is_name => field.end = whole.end,
                _ => {
                    self.field(field.take());
                    field = Some(whole);
                }
            }
        }
        self.field(field);
        self.close();
    }

    fn field(&mut self, field: Option<Range<usize>>) {
        let Some(field) = field else {
            return;
        };
        let text = &self.outline.text()[field.clone()];
        if is_record(text) {
            return self.close();
        }
        if let Some((name, items)) = text.split_once('\n')
            && name.trim_end().ends_with(':')
            && items.trim_start().starts_with("- ")
        {
            return self.items(field.start..field.start + name.len(), items);
        }
        let has_lines = self.outline.slice(&field).contains('\n');
        if has_lines {
            self.close();
        }
        self.extend(PassageKind::Prose, field, MAX_ITEM_LENGTH);
        if has_lines {
            self.close();
        }
    }

    /// Splits a list in the front matter, under the name of its field.
    fn items(&mut self, name: Range<usize>, items: &str) {
        let indent = items.len() - items.trim_start().len();
        let mut at = name.end + 1;
        self.close();
        self.label = Some(name);
        for line in items.split_inclusive('\n') {
            let mut range = at..at + line.len();
            at = range.end;
            if line.get(indent..).is_some_and(|rest| rest.starts_with("- ")) {
                self.close();
                range.start += indent + 2;
            }
            self.extend(PassageKind::Item, range, MAX_ITEM_LENGTH);
        }
        self.close();
        self.label = None;
    }

    fn section(&mut self, section: &Section) {
        if section.level > 0 {
            self.headings.retain(|(level, _)| *level < section.level);
            self.headings.push((section.level, section.title.clone()));
        }
        let mut blocks = self.outline.blocks(&section.own).iter().peekable();
        while let Some(block) = blocks.next() {
            let is_list = |next: &&Block| {
                matches!(next.content, BlockContent::Item(_) | BlockContent::Table(_))
            };
            if self.is_label(block) && blocks.peek().is_some_and(is_list) {
                self.close();
                self.label = Some(block.range.clone());
            } else {
                self.block(block);
            }
        }
        self.close();
        self.label = None;
    }

    fn block(&mut self, block: &Block) {
        match &block.content {
            BlockContent::Item(item) => {
                if item.depth == 0 || !self.belongs_to_item(&block.range) {
                    self.close();
                }
                self.extend(PassageKind::Item, block.range.clone(), MAX_ITEM_LENGTH);
            }
            BlockContent::Table(table) => {
                self.close();
                for row in &table.rows {
                    self.push(row.line, row.cells.join(" | "));
                }
            }
            BlockContent::Html if self.outline.slice(&block.range).starts_with("<!--") => {
                self.close();
            }
            BlockContent::Paragraph | BlockContent::Code | BlockContent::Html => {
                if self.belongs_to_item(&block.range) {
                    self.extend(PassageKind::Item, block.range.clone(), MAX_ITEM_LENGTH);
                } else {
                    self.end_list();
                    self.extend(PassageKind::Prose, block.range.clone(), MAX_PROSE_LENGTH);
                }
            }
        }
    }

    /// Ends the list under a label.
    fn end_list(&mut self) {
        if self.label.is_some() {
            self.close();
            self.label = None;
        }
    }

    /// Returns whether a block is a single short line that ends with a colon.
    fn is_label(&self, block: &Block) -> bool {
        let text = self.outline.slice(&block.range);
        let is_line = text.len() <= MAX_LABEL_LENGTH && !text.contains('\n');
        let is_alone =
            block.content == BlockContent::Paragraph && !self.belongs_to_item(&block.range);
        is_line && is_alone && text.trim_end_matches(['*', '_']).ends_with(':')
    }

    /// Returns whether a block is indented under the open list item.
    fn belongs_to_item(&self, range: &Range<usize>) -> bool {
        let text = self.outline.text();
        let line = &text[line_start(text, range.start)..];
        let is_indented = line.starts_with([' ', '\t']);
        let is_open = self.open.as_ref();
        is_indented && is_open.is_some_and(|open| open.kind == PassageKind::Item)
    }

    /// Appends a block to the open passage, or opens a new one if the kind differs or `max_length` bytes are
    /// exceeded.
    fn extend(&mut self, kind: PassageKind, range: Range<usize>, max_length: usize) {
        if let Some(open) = &mut self.open
            && open.kind == kind
            && range.end - open.range.start <= max_length
        {
            open.range.end = range.end;
            return;
        }
        self.close();
        self.open = Some(OpenPassage { kind, range });
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        let text = &self.outline.text()[open.range.clone()];
        let mut at = open.range.start;
        let mut start = at;
        for line in text.split_inclusive('\n') {
            if at + line.len() - start > MAX_PASSAGE_LENGTH && at > start {
                self.push_range(start..at);
                start = at;
            }
            at += line.len();
        }
        self.push_range(start..open.range.end);
    }

    fn push_range(&mut self, range: Range<usize>) {
        let text = self.outline.slice(&range);
        self.push(self.outline.line(range.start), text.to_owned());
    }

    fn push(&mut self, line: usize, text: String) {
        if has_no_content(&text) {
            return;
        }
        let titles = self.headings.iter().map(|(_, title)| title.as_str());
        let label = self.label.as_ref().map(|label| {
            let label = self.outline.slice(label);
            label.trim_matches(['*', '_', ':', ' '])
        });
        self.found.push(Passage {
            headings: titles.chain(label).map(str::to_owned).collect(),
            line,
            id: None,
            text,
            date: None,
            flags: 0,
            weight: 1.0,
        });
    }
}

/// Returns whether a text is just a link to a heading in the same file, as in a table of contents.
fn is_anchor_link(text: &str) -> bool {
    text.strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(')'))
        .and_then(|inner| inner.split_once("](#"))
        .is_some_and(|(title, anchor)| !title.contains("](") && !anchor.contains(['(', ' ']))
}

/// Returns whether a text has nothing but linked pictures, such as the badges of a README.
fn is_badge(text: &str) -> bool {
    let mut depth = 0_usize;
    let is_outside = |c: char| {
        match c {
            '[' | '(' | '<' => depth += 1,
            ']' | ')' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && c.is_alphanumeric()
    };
    (text.contains("![") || text.contains("<img")) && !text.chars().any(is_outside)
}

/// Returns whether a text has no content of its own: a placeholder such as "none", or a mere link.
fn has_no_content(text: &str) -> bool {
    // Text that contains a symbol may be searched for; a table row with empty cells has only punctuation.
    let is_meant = |c: char| {
        c.is_alphanumeric()
            || !c.is_whitespace() && !c.is_ascii_punctuation() && c != '—' && c != '–'
    };
    is_anchor_link(text.trim())
        || is_badge(text)
        || has_only_empty_fields(text)
        || is_placeholder(text)
        || text.len() <= MAX_LABEL_LENGTH && !text.contains(is_meant)
}

/// Returns whether a text, apart from the footer of a summary, says in words that there is nothing yet; what stands in a
/// code span is meant.
fn is_placeholder(text: &str) -> bool {
    let is_in_italics = |line: &str| line.starts_with('*') && line.ends_with('*');
    let is_footer = |(_, footer): &(&str, &str)| {
        footer.lines().map(str::trim).all(|line| line.is_empty() || is_in_italics(line))
    };
    let text = text.split_once("\n---").filter(is_footer).map_or(text, |(text, _)| text);
    if text.len() > MAX_LABEL_LENGTH || text.contains('`') {
        return false;
    }
    // `None — but the key expires`
    if says_none(text) && !text.contains(" but ") {
        return true;
    }
    let words: Vec<String> = words_in(text).map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    matches!(
        words.as_slice(),
        ["tbc" | "todo" | "unknown"]
            | ["no", "issues" | "blockers" | "deviations" | "problems" | "entries"]
            | ["none" | "nothing", _]
            | ["none" | "nothing", "was" | "were" | "to" | "so" | "at", _]
            | ["not", "applicable" | "yet"]
            | ["unknown", "needs", "human"]
            | ["needs", "triage"]
            | ["to", "be", "determined" | "decided"]
    )
}

/// Returns whether every line is a field without a value, such as `**Core value:** TBD`.
fn has_only_empty_fields(text: &str) -> bool {
    let is_empty = |value: &str| is_absent(value) || is_placeholder(value);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.all(|line| Label::parse(line, 0, 1).is_some_and(|label| is_empty(&label.value)))
}

/// Returns whether every line has only a label such as `Started`, and nothing, a date, a number or a status.
fn is_record(text: &str) -> bool {
    let is_figure = |word: &str| {
        let word = word.trim_matches(',');
        word.contains(|c: char| c.is_ascii_digit())
            || word.ends_with(':')
            || matches!(word, "unknown" | "min" | "minutes" | "h" | "hours" | "s" | "seconds")
    };
    let is_record = |line: &str| {
        // The footer of a file may say on which occasion.
        let is_footer = line.starts_with('*') && line.ends_with('*');
        let line = if is_footer { line.trim_matches('*') } else { line };
        let label = Label::parse(line, 0, 1);
        label.is_some_and(|label| {
            let value = label.value.trim_matches(|c: char| !c.is_alphanumeric());
            let is_dated = is_footer && value.starts_with(|c: char| c.is_ascii_digit());
            has("label of a record", &join(lower_words(&label.name), " "))
                && (is_dated || is_status(value) || value.split_whitespace().all(is_figure))
        })
    };
    text.lines().map(str::trim).filter(|line| !matches!(*line, "" | "---")).all(is_record)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Vec<Passage> {
        passages(text, Path::new("a.md"), Authority::Canonical, Role::Other)
    }

    fn flags(passage: &Passage) -> Vec<Flag> {
        Flag::list(passage.flags).collect()
    }

    #[test]
    fn the_nearest_date_is_used() {
        let found = read(
            "---\nupdated: 2026-01-01\n---\n# A\n\nplain\n\n## B (2026-02-02)\n\n- one\n- (2026-03-03) two\n",
        );
        let dates: Vec<String> =
            found.iter().filter_map(|document| Some(document.date?.to_string())).collect();
        assert_eq!(dates, ["2026-01-01", "2026-02-02", "2026-03-03"]);
        assert_eq!(read("# A\n\nplain\n")[0].date, None);
        for text in ["Last activity: 2026-08-25 - done", "*Locked: 2026-08-25 after v1*"] {
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

    fn shown(text: &str) -> Vec<String> {
        let shown = |passage: Passage| {
            let headings = passage.headings.join(" > ");
            format!("{}|{headings}|{}", passage.line, passage.text)
        };
        read(text).into_iter().map(shown).collect()
    }

    #[test]
    fn prose_items_and_rows_have_their_headings() {
        let text = "\
# Project

One paragraph.

Another.

## Rules

- first
  - nested
- second
  goes on

### Table

| a | b |
|---|---|
| 1 | 2 |
| 3 | 4 |

## Empty
";
        assert_eq!(
            shown(text),
            [
                "3|Project|One paragraph.\n\nAnother.",
                "9|Project > Rules|first\n  - nested",
                "11|Project > Rules|second\n  goes on",
                "18|Project > Rules > Table|1 | 2",
                "19|Project > Rules > Table|3 | 4",
            ]
        );
    }

    #[test]
    fn a_list_label_is_a_heading_of_its_items() {
        let text = "# P\n\n**What failed:**\n- one\n- two\n\nAfter.\n\nNote:\n\nText.\n";
        assert_eq!(
            shown(text),
            ["4|P > What failed|one", "5|P > What failed|two", "7|P|After.\n\nNote:\n\nText.",]
        );
    }

    #[test]
    fn a_label_with_a_date_a_number_a_status_or_keys_is_not_a_passage() {
        let text = "---\nphase: 08-styles\ntitle: New styles\ntags: [sql, styles]\n---\n# P\n\n**Defined:** 2026-02-20\n\n- **Started:** 2026-03-10T09:01:10Z\n- **Files modified:** 1\n- **Duration:** 15 min\n- **Port:** 8080\n- **Status:** waits for the vendor\n\n---\n*Phase: 08-styles*\n*Completed: 2026-03-10 after the review*\n";
        assert_eq!(
            shown(text),
            [
                "3||title: New styles\ntags: [sql, styles]",
                "13|P|**Port:** 8080",
                "14|P|**Status:** waits for the vendor"
            ]
        );
    }

    #[test]
    fn text_without_content_is_not_a_passage() {
        let text = "# P\n\n## A\n\nNone observed.\n\n## B\n\n- (none)\n- n/a\n\n## C\n\n## D\n\n| a | b |\n|---|---|\n| - | — |\n";
        assert_eq!(shown(text), [""; 0]);
        assert_eq!(shown("- [ ] [Phase 2: Loans](#phase-2)\n- [P](#p)\n"), [""; 0]);
        assert_eq!(shown("- [P](#p) and [Q](#q)\n- [P](p.md)\n").len(), 2);
        let footer = "## A\n\nNone - plan executed exactly as written.\n\n## B\nNone\n\n---\n*Phase: 02*\n*Completed: 2026-04-12*\n";
        assert_eq!(shown(footer), [""; 0]);
        assert_eq!(shown("None\n\n---\nThe lock is left open.\n").len(), 1);
        assert_eq!(shown("- None of the tests ran\n- None — but the key expires\n- 🚀\n").len(), 3);
    }

    #[test]
    fn a_field_without_a_value_is_not_a_passage() {
        assert_eq!(
            shown(
                "# P\n\n**Core value:** TBD\n\n## A\n\n**Goal:** TBD\n**Depends on**: None\n\n- Owner: [to be named]\n- Run: Unknown (needs human)\n"
            ),
            [""; 0]
        );
        let text = "# P\n\n**Goal:** TBD\n**Depends on:** phase 1\n";
        assert_eq!(shown(text), [format!("3|P|{}", &text[5..text.len() - 1])]);
    }

    #[test]
    fn the_generated_block_is_blanked_and_line_numbers_stay() {
        for begin in ["<!-- annals:begin v1 sha256=0 -->", "<!--annals:begin v1-->"] {
            let text = format!("# Mine\n{begin}\n## State\n<!-- annals:end -->\nlast\n");
            assert_eq!(readable(&text), "# Mine\n\n\n\nlast\n");
        }
        for text in ["a\r\nb", "It begins with\n\n<!-- annals:begin v1 -->\n\nand more.\n"] {
            assert_eq!(readable(text), text);
        }
    }

    #[test]
    fn a_tag_hides_no_heading() {
        let text = "# P\n\n<decisions>\n## Store\n- one\n</decisions>\n\n```html\n<p>\n```\n";
        assert_eq!(shown(text), ["5|P > Store|one", "8|P > Store|```html\n<p>\n```"]);
        assert_eq!(readable("~~~\n<p>\n~~~\n"), "~~~\n<p>\n~~~\n");
    }

    #[test]
    fn badges_are_not_a_passage() {
        let text = "\
[![CI](a.svg)](b) [![Docs](c.svg)](d)
<a href=\"e\"><img src=\"f\" alt=\"logo\"></a>

# P

[![CI](a.svg)](b) Licensed under the [licence](g)

<a href=\"h\">Read the handbook</a>
";
        let text_below = "[![CI](a.svg)](b) Licensed under the [licence](g)\n\n<a href=\"h\">Read the handbook</a>";
        assert_eq!(shown(text), [format!("6|P|{text_below}")]);
    }

    #[test]
    fn a_heading_alone_is_a_passage() {
        assert_eq!(
            shown("---\ntype: gotcha\n---\n\n# Never push\n"),
            ["2||type: gotcha", "5||Never push"]
        );
        assert_eq!(shown("# Concerns\n\n## Open\n"), [""; 0]);
    }

    #[test]
    fn front_matter_fields_are_passages() {
        let text = "---\nphase: 1\ntitle: Store\ndecisions:\n  - one\n  - two\nstatus: done\n---\n# T\n\ntext\n";
        assert_eq!(
            shown(text),
            ["3||title: Store", "5|decisions|one", "6|decisions|two", "11|T|text"]
        );
    }

    #[test]
    fn a_field_that_the_body_repeats_is_one_passage() {
        let text = "---\ndecisions:\n  - \"One file a year\"\n  - two\n---\n# T\n\n- One file\n  a year\n- done\n\n## U\n\n- done\n";
        assert_eq!(
            shown(text),
            ["4|decisions|two", "8|T|One file\n  a year", "10|T|done", "14|T > U|done"]
        );
    }

    #[test]
    fn comments_are_left_out_and_long_texts_are_split() {
        assert_eq!(shown("<!-- note -->\n\nseen\n"), ["3||seen"]);
        let prose = "A sentence of words.\n\n".repeat(500);
        let found = read(&prose);
        assert!(found.len() > 5, "{}", found.len());
        let block = format!("```\n{}```\n", "let one = 1;\n".repeat(2000));
        assert!(read(&block).iter().all(|passage| passage.text.len() <= MAX_PASSAGE_LENGTH));
    }

    proptest! {
        #[test]
        fn passages_are_substrings_of_the_text(text in "([-#|>`*: a-c0-9é]{0,6}\n?){0,40}") {
            let mut last = 0;
            for passage in read(&text) {
                prop_assert!(passage.line >= last && !passage.text.is_empty());
                last = passage.line;
                let is_row = passage.text.contains(" | ") || passage.text.contains('|');
                prop_assert!(is_row || text.contains(&passage.text), "{passage:?}");
            }
        }
    }
}
