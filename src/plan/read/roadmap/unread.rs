//! Finds what seems to be a phase in a roadmap, but was not read: what comes next may be among it.

use std::collections::{HashMap, HashSet};

use crate::markdown::{Block, BlockContent, ListItem, Outline, Ranges, Table};
use crate::plan::read::line::Span;
use crate::plan::read::roadmap::{
    milestone_version_in, parse_phase, phase_in_front, rows, split_mark, title,
};
use crate::plan::read::vocabulary::{after_phase, has, says_dropped, split_status};
use crate::plan::read::{Located, PhaseNumber, PhaseNumbering, PhaseProgress};
use crate::text::{is_absent, is_digit, unmarked, words_in};

/// Returns headings and checklist entries that begin like a phase, `Phase Alpha: Name`, but have no number that is read,
/// and open rows of phases whose first cell, `KIOSK-03`, is not read.
pub(super) fn not_understood(
    outline: &Outline<'_>,
    numbering: PhaseNumbering,
) -> Vec<Located<String>> {
    let all = outline.all();
    let boxed = outline.items(&all).filter(|(_, item)| item.depth == 0 && item.checked.is_some());
    let boxed = boxed.map(|(block, _)| Span::from_block(outline, block));
    let titles = || outline.sections().iter().filter_map(|section| title(outline, section));
    // Beside headings that are phases, one without a number is one, too: `### Phase Polish`.
    let has_phases = titles().any(|span| parse_phase(span, numbering).is_some());
    let titles = titles().map(|span| (span, has_phases));
    let lines = titles.chain(boxed.map(|span| (span, false))).filter_map(|(span, is_beside)| {
        let line = span.text.lines().next().unwrap_or_default();
        let text = unmarked(line);
        let rest = after_phase(text)?.strip_prefix(' ')?.trim_start();
        let end = rest.find([' ', ':', '*', '–', '—']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let after = after.trim_start_matches(['*', ' ']);
        let is_named = after.starts_with([':', '–', '—']) || after.starts_with("- ");
        let is_id = is_named || is_beside || word.contains(is_digit);
        let is_part = has("part of a roadmap", &word.to_lowercase());
        // A range of phases is read elsewhere, or stands for phases that are over.
        (is_id && !is_part && !word.is_empty() && numbering.split(rest).is_none())
            .then(|| span.with_value(line.to_owned()))
    });
    let rows = outline.tables(&all).filter_map(|table| rows(table, numbering)).flatten();
    let cells = rows.filter_map(Result::err).map(Span::stated);
    lines.chain(cells).collect()
}

/// Returns what seems to be a phase in the lists that have phases, which begin at the offsets `read`: open boxes with a
/// number (`- [ ] Stage 2: Name`), and lines with the number and the name of a phase (`- [WIP] Phase 2: Name`), which may be
/// known from elsewhere.
pub(super) fn unread_items(
    outline: &Outline<'_>,
    read: &HashSet<usize>,
    numbering: PhaseNumbering,
) -> Vec<(Option<PhaseNumber>, Located<String>)> {
    let sections = outline.sections().iter().map(|section| outline.blocks(&section.own));
    let lists = sections.flat_map(|blocks| {
        blocks.chunk_by(move |one, next| one.item().is_some() && next.item().is_some())
    });
    let is_phase = |(block, item): (&Block, &ListItem)| {
        item.checked.is_some() && read.contains(&block.range.start)
    };
    let lists = lists.filter(|list| list.iter().filter_map(Block::item).any(is_phase));
    let lines = lists.flatten().filter_map(Block::item).flat_map(|(block, item)| {
        let is_read = read.contains(&block.range.start);
        let lines = outline.slice(&block.range).lines().zip(block.line..);
        // The first line of a phase that was read is its own.
        lines.skip(usize::from(is_read)).filter_map(move |(line, number)| {
            let is_open = item.depth == 0 && item.checked == Some(false) && number == block.line;
            let is_entry = item.depth == 0 || item.checked.is_some();
            let phase = named_phase(line, numbering).filter(|_| is_entry);
            let value = || Located { value: line.trim().to_owned(), range: 0..0, line: number };
            // It has the word for a phase, or a number that is not a version, and was not struck out.
            let head = line.split([':', '—']).next().unwrap_or_default();
            let is_called = words_in(head).any(|word| has("phase", &word.to_lowercase()));
            let may_be_phase = (is_called || line.contains(is_digit))
                && milestone_version_in(head).is_none()
                && !says_dropped(line)
                && !line.starts_with("~~");
            (phase.is_some() || is_open && may_be_phase).then(|| (phase, value()))
        })
    });
    lines.collect()
}

/// Returns what may name a phase outside of their sections, the `details`: headings with a number, `### 2. Name`, and open rows
/// of tables without a header, `| 2 | Name | Pending |`.
pub(super) fn unread_numbers(
    outline: &Outline<'_>,
    details: &Ranges,
    numbering: PhaseNumbering,
) -> Vec<(PhaseNumber, Located<String>)> {
    let headings = outline.sections().iter().filter(|section| section.level > 1);
    let headings = headings.filter_map(|section| title(outline, section)).filter_map(|span| {
        let (number, name) = numbering.split(span.text)?;
        let is_named =
            [". ", ": ", ") ", " - ", " – ", " — "].iter().any(|end| name.starts_with(end));
        (is_named && !number.has_code() && !number.is_year()).then_some((number, span))
    });
    let number = |cell: &str| phase_in_front(cell, numbering).map(|(number, _)| number);
    let has_no_header = |block: &&Block| match &block.content {
        BlockContent::Paragraph => true,
        BlockContent::Table(table) => {
            table.header.first().is_some_and(|cell| cell.is_empty() || number(cell).is_some())
        }
        _ => false,
    };
    let blocks = outline.blocks(&outline.all()).iter().filter(has_no_header);
    let rows = blocks.flat_map(|block| lines(outline, block)).filter_map(|span| {
        let mut cells = span.text.strip_prefix('|')?.split('|');
        let number = number(cells.next()?)?;
        cells.any(PhaseProgress::is_open_status).then_some((number, span))
    });
    let found = headings.chain(rows);
    let found = found.map(|(number, span)| (number, span.stated()));
    found.filter(|(_, line)| !details.contains(line.range.start)).collect()
}

/// Returns the phase that a line begins with, if its name follows.
fn named_phase(line: &str, numbering: PhaseNumbering) -> Option<PhaseNumber> {
    let text = split_mark(line).map_or(line, |(_, text)| text);
    let (number, name) = numbering.split(phase_id(text)?)?;
    let bare = name.trim_start_matches(['*', '`', ' ']);
    let name = name.trim_start_matches(|c: char| c.is_ascii_digit() || "-– *`".contains(c));
    (name.starts_with([':', '—']) || bare.starts_with("- ")).then_some(number)
}

/// Returns the text from a phase's id on: `2: Name` in `**Phase-2: Name**`.
fn phase_id(text: &str) -> Option<&str> {
    let text = unmarked(text);
    let word = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    has("phase", &word.to_lowercase()).then(|| text[word.len()..].trim_start_matches([' ', '-']))
}

/// Returns whether only a part of the id in an entry is read as its number: `1` of `1-B` or `1.b`.
pub(super) fn is_read_in_part(line: &str, numbering: PhaseNumbering) -> bool {
    let rest = phase_id(line).and_then(|id| numbering.split(id)).map_or("", |(_, rest)| rest);
    rest.strip_prefix(['-', '–', '.', '_', ':', '/', '+'])
        .is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
}

/// Returns where a roadmap without phases, or with shipped ones alone, seems to list its work in a way that is not read: the
/// first open checkbox, numbered entry with a status, line with the number and name of a phase, or row of a table with a
/// status, or the first of several lines that differ in a number or letter after the same word (`Step A`, `Step B`,
/// `P1: Name`, `Name (Phase 1)`).
///
/// Unless it is blank, boxes may be ideas, brackets refer to phases, numbers belong to requirements, and what is complete is
/// no work.
pub(super) fn unread_work(
    outline: &Outline<'_>,
    numbering: PhaseNumbering,
    is_blank: bool,
    is_known: impl Fn(&Span<'_>) -> bool,
) -> Option<Located<String>> {
    let all = outline.all();
    let is_left =
        |progress: Option<PhaseProgress>| is_blank || progress.is_some_and(PhaseProgress::is_open);
    let items = || {
        let items = outline.items(&all);
        let items = items.map(|(block, item)| (Span::from_block(outline, block), item));
        items.filter(|(span, _)| !is_known(span))
    };
    let boxed = items().find(|(_, item)| is_blank && item.checked == Some(false));
    let numbered = || {
        let mut numbered = items().filter(|(_, item)| item.number.is_some());
        numbered.find(|(span, _)| {
            let status = split_status(span.first_line()).1;
            status.is_some_and(|status| is_left(PhaseProgress::stated(status.text)))
        })
    };
    let blocks = || outline.blocks(&all).iter().filter(|block| is_text(block));
    let named = || {
        let lines = blocks().flat_map(|block| lines(outline, block));
        let mut lines = lines.filter(|span| !is_known(span));
        lines.find(|span| {
            let status = parse_phase(*span, numbering).and_then(|phase| phase.stated_status);
            let progress = status.map_or(Some(PhaseProgress::NotStarted), |status| {
                PhaseProgress::stated(&status.value)
            });
            named_phase(span.text, numbering).is_some() && is_left(progress)
        })
    };
    let rows = || {
        let has_status = |table: &&Table| table.column(STATUS_COLUMNS).is_some();
        let mut rows = outline.tables(&all).filter(has_status).flat_map(|table| &table.rows);
        rows.find_map(|row| {
            let span = Span::new(row.cells.first()?, row.ranges.first()?.start, row.line);
            let is_open = row.cells.iter().any(|cell| is_left(PhaseProgress::stated(cell)));
            let is_id = span.text.contains(char::is_alphanumeric) && !is_absent(span.text);
            (is_open && is_id && milestone_version_in(span.text).is_none() && !is_known(&span))
                .then(|| span.with_value(row.cells.join(" | ")))
        })
    };
    let found = boxed.or_else(numbered).map(|(span, _)| span).or_else(named);
    if let Some(found) = found.map(Span::stated).or_else(rows) {
        return Some(found);
    }
    let titles = outline.sections().iter().filter(|section| section.level > 1);
    let titles = titles.filter_map(|section| title(outline, section));
    let titles = titles.map(|span| (span, true));
    let texts = blocks().map(|block| (Span::from_block(outline, block).first_line(), false));
    let mut first: HashMap<String, (Span<'_>, &str)> = HashMap::new();
    for (span, is_title) in titles.chain(texts).filter(|(span, _)| !is_known(span)) {
        let labels = numbered_labels(split_status(span).0.text, is_blank);
        // `G1: …` in a list may be a goal.
        for (label, id) in
            labels.filter(|(label, _)| is_title || label.is_empty() || has("unit of work", label))
        {
            let (known, other) = *first.entry(label).or_insert((span, id));
            if other != id {
                return Some(known.stated());
            }
        }
    }
    None
}

/// The columns that say how far work is.
const STATUS_COLUMNS: &[&str] = &["status", "state", "done", "progress"];

/// Returns the lines of a block, all of which begin where it does: that tells the section that they are in.
fn lines<'o>(outline: &'o Outline<'_>, block: &'o Block) -> impl Iterator<Item = Span<'o>> {
    let lines = outline.slice(&block.range).lines().zip(block.line..);
    lines.map(|(line, number)| Span::new(line, block.range.start, number))
}

/// Returns whether a block is a paragraph or an entry of a list.
fn is_text(block: &Block) -> bool {
    matches!(block.content, BlockContent::Paragraph | BlockContent::Item(_))
}

/// Returns the words with a number or letter at the start of a line, `Step A: Name`, `2. Name`, and in brackets at its end,
/// `Name (Phase 2)`, but no versions and milestones, `v1`, `M1`; unless the roadmap is blank, only those that a name follows.
fn numbered_labels(line: &str, is_blank: bool) -> impl Iterator<Item = (String, &str)> {
    let inner = line.strip_suffix(')').and_then(|line| line.rsplit_once('('));
    let inner = inner.map(|(_, inner)| inner).filter(|_| is_blank);
    let texts = [Some(split_mark(line).map_or(line, |(_, text)| text)), inner];
    texts.into_iter().flatten().filter_map(move |text| {
        let text = unmarked(text);
        let word = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        let label = word.to_lowercase();
        let rest = text[word.len()..].trim_start_matches([' ', '-', '#', '.']);
        let (id, after) =
            rest.split_at(rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len()));
        let is_id = id.len() <= 3 && id.starts_with(is_digit) || id.chars().count() == 1;
        // `12-01` is a plan.
        let is_plan = after.strip_prefix('-').is_some_and(|after| after.starts_with(is_digit));
        let is_name =
            || after.trim_start_matches(['*', '`', ' ']).starts_with([':', '.', ')', '—']);
        let is_work = is_blank || has("phase", &label) || is_name();
        (is_id
            && is_work
            && !is_plan
            && !after.starts_with(" of ")
            && !has("no unit of work", &label))
        .then_some((label, id))
    })
}
