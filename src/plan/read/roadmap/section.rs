//! Parses the labelled fields of a phase's section.

use std::collections::HashMap;
use std::ops::Range;

use crate::markdown::{Block, BlockContent, Label, ListItem, Outline, Section};
use crate::plan::read::line::Span;
use crate::plan::read::project::is_id;
use crate::plan::read::roadmap::parse_phase;
use crate::plan::read::vocabulary::{
    Field, begins, find, has, only_states_progress, remark_drops, says_dropped,
};
use crate::plan::read::{
    Located, PhaseNumber, PhaseNumbering, PlanNumber, RoadmapPhase, RoadmapPlan, document,
};
use crate::text::{
    Pattern, comma_separated, given, is_digit, non_placeholder, says_none,
    strip_prefix_ignore_case, unmarked, words_in,
};

/// Fills in the fields of a phase from its section and its subsections, up to the next phase.
pub(super) fn read(
    outline: &Outline<'_>,
    section: &Section,
    numbering: PhaseNumbering,
    phase: &mut RoadmapPhase,
) {
    let in_heading = phase.stated_status.take();
    let mut reader = Reader::new(phase);
    reader.blocks(outline, &section.own);
    for inner in outline.subsections(section) {
        if parse_phase(Span::new(&inner.title, 0, 1), numbering).is_some() {
            break;
        }
        let field = field(&inner.title);
        (reader.field, reader.depth, reader.is_part) = (Some(field), None, field == Field::Other);
        reader.is_apart = true;
        reader.blocks(outline, &inner.own);
    }
    let mut texts = reader.texts;
    let mut take = |field| texts.remove(&field).unwrap_or_default();
    phase.stated_status = phase.stated_status.take().or(in_heading);
    phase.goal = take(Field::Goal).into_iter().next();
    phase.depends_on = dependencies(&take(Field::DependsOn).join(", "), numbering);
    phase.success_criteria = take(Field::SuccessCriteria);
    phase.requirements =
        take(Field::Requirements).iter().flat_map(|text| requirements(text)).collect();
}

/// Adds the plans that are listed below the entry of a phase.
pub(super) fn read_entries<'i>(
    outline: &Outline<'_>,
    items: impl Iterator<Item = (&'i Block, &'i ListItem)>,
    phase: &mut RoadmapPhase,
) {
    let mut reader = Reader::new(phase);
    for (block, item) in items {
        let line = Span::from_block(outline, block).first_line();
        match reader.take_status(line, item, 1) {
            Some(value) => reader.label(Field::Status, value),
            None => reader.entry(&item.text, item),
        }
    }
}

/// Returns the mark between the brackets of an item's checkbox.
pub(super) fn checkbox(
    outline: &Outline<'_>,
    block: &Block,
    item: &ListItem,
) -> Option<Located<bool>> {
    let checked = item.checked?;
    let before = outline.text().get(..block.range.start)?;
    let at = before.rfind(']')?.checked_sub(1)?;
    let is_mark = matches!(before.get(at..at + 1)?, " " | "x" | "X");
    is_mark.then(|| Located { value: checked, range: at..at + 1, line: outline.line(at) })
}

/// Returns the field for a label or the title of a subsection.
fn field(name: &str) -> Field {
    let words = document::heading(name);
    find("field", |own| own == words).map_or(Field::Other, |(field, _)| field)
}

/// Parses a line that begins with a label, and returns the field with the value: one of a known field, one in bold, or one
/// alone on its line.
///
/// ```text
/// **Goal:** …    **Success Criteria** (what must be TRUE):    Plans:    *Scaffolding:*
/// ```
fn labelled(line: Span<'_>) -> Option<(Field, Span<'_>)> {
    let bold = line.text.strip_prefix("**").and_then(|rest| rest.split_once("** ("));
    if let Some((name, rest)) = bold.and_then(|(name, rest)| Some((name, rest.split_once("):")?.1)))
    {
        return Some((field(name), line.suffix(rest)));
    }
    let label = Label::parse(line.text, 0, 1)?;
    let field = field(&label.name);
    let is_label = label.is_bold || label.value.is_empty() && label.name.len() <= 30;
    (field != Field::Other || is_label).then(|| (field, line.part(label.range)))
}

struct Reader<'a> {
    phase: &'a mut RoadmapPhase,
    /// The texts of each field, one for each entry or paragraph.
    texts: HashMap<Field, Vec<String>>,
    field: Option<Field>,
    /// The list depth of the field's entries, taken from the first one, since a list may be nested in a
    /// preceding bullet.
    depth: Option<usize>,
    /// Whether it reads a subsection about a part of the phase, such as a wave, whose status is not the phase's.
    is_part: bool,
    /// Whether lists may be about a part of the phase: other text, or a label without a value, precedes them.
    is_apart: bool,
}

/// Returns whether a line may introduce a part of a phase: it is not one of the phase's fields with its value.
fn begins_part(found: Option<(Field, Span<'_>)>) -> bool {
    found.is_none_or(|(field, value)| field == Field::Other || value.text.is_empty())
}

impl<'a> Reader<'a> {
    fn new(phase: &'a mut RoadmapPhase) -> Self {
        Self {
            phase,
            texts: HashMap::new(),
            field: None,
            depth: None,
            is_part: false,
            is_apart: false,
        }
    }

    fn blocks(&mut self, outline: &Outline<'_>, range: &Range<usize>) {
        for block in outline.blocks(range) {
            let item = match &block.content {
                BlockContent::Paragraph => None,
                BlockContent::Item(item) => Some(item),
                _ => continue,
            };
            let mut start = block.range.start;
            let lines = outline.text()[block.range.clone()].split_inclusive('\n').map(|line| {
                let span = Span::new(line, start, outline.line(start));
                start += line.len();
                span
            });
            let lines: Vec<Span<'_>> = lines.filter(|span| !span.text.is_empty()).collect();
            let mut rest = lines.as_slice();
            if let (Some(item), Some(first)) = (item, lines.first())
                && self.take_status(*first, item, 0).is_none()
            {
                // A label on one of an item's later lines was meant to start a new paragraph.
                let own = lines[1..].iter().take_while(|line| labelled(**line).is_none()).count();
                let more = lines[1..=own].iter().map(|line| line.text);
                self.entry(&more.fold(first.text.to_owned(), |text, line| text + " " + line), item);
                rest = &lines[own + 1..];
            }
            for (index, line) in rest.iter().enumerate() {
                let found = labelled(*line);
                let is_lead = document::is_lead(line.text) || line.text.starts_with("**");
                self.is_apart |= (found.is_some() || is_lead) && begins_part(found);
                match found {
                    Some((field, value)) => self.label(field, value),
                    None => self.text(line.text, index > 0),
                }
            }
        }
    }

    /// Returns the phase's status if an entry states it, `- **Status:** Complete`, and notes whether a part of the phase
    /// begins, whose status may follow.
    fn take_status<'t>(
        &mut self,
        line: Span<'t>,
        item: &ListItem,
        depth: usize,
    ) -> Option<Span<'t>> {
        if self.is_apart {
            return None;
        }
        let found = labelled(line).filter(|_| item.depth == depth && item.checked.is_none());
        if let Some((Field::Status, value)) = found {
            return Some(value).filter(|value| only_states_progress(value.text));
        }
        self.is_apart |= begins_part(found);
        None
    }

    fn label(&mut self, field: Field, value: Span<'_>) {
        (self.field, self.depth) = (Some(field), None);
        let Some(text) = non_placeholder(value.text) else { return };
        let located = value.with_value(text.to_owned());
        match field {
            Field::Plans => _ = self.phase.plan_count.get_or_insert(located),
            Field::Status if self.is_part => {}
            Field::Status => _ = self.phase.stated_status.get_or_insert(located),
            _ => self.texts.entry(field).or_default().push(located.value),
        }
    }

    /// Handles a line without a label: a continuation of the field's text, or its text if the label was
    /// alone.
    fn text(&mut self, text: &str, continues: bool) {
        let prose = [Field::Goal, Field::DependsOn, Field::SuccessCriteria];
        let Some(field) = self.field.filter(|field| prose.contains(field)) else { return };
        let texts = self.texts.entry(field).or_default();
        match texts.last_mut() {
            Some(last) if continues => *last = format!("{last} {text}"),
            Some(_) => {}
            None => texts.extend(given(text)),
        }
    }

    fn entry(&mut self, text: &str, item: &ListItem) {
        let is_detail = item.depth > *self.depth.get_or_insert(item.depth);
        let plan = plan_in_front(text, &self.phase.number);
        if says_none(text) {
            return;
        }
        if self.field != Some(Field::Plans) && (plan.is_none() || item.checked.is_none()) {
            if let Some(field) = self.field.filter(|_| !is_detail) {
                self.texts.entry(field).or_default().push(text.to_owned());
            }
            return;
        }
        let is_announced = text.split([':', '—']).any(|part| part.trim().starts_with("TBD"));
        if !is_announced && (!is_detail || item.checked.is_some() || plan.is_some()) {
            let (plan, rest) = plan.map_or((None, text), |(plan, rest)| (Some(plan), rest));
            let listed = RoadmapPlan {
                plan,
                title: plan_title(rest),
                text: text.to_owned(),
                checked: item.checked,
                is_dropped: ["~~", "**~~", "[-] ~~", "[~] ~~"]
                    .iter()
                    .any(|mark| text.starts_with(mark))
                    || ends_dropped(text),
            };
            // GSD's command adds the files' names to the list of its template: `01-01-PLAN.md` above `01-01: Title`.
            let same = |own: &&mut RoadmapPlan| {
                own.plan.is_some()
                    && own.plan == listed.plan
                    && own.title.is_none() != listed.title.is_none()
            };
            match self.phase.plans.iter_mut().find(same) {
                Some(own) => {
                    own.title = own.title.take().or(listed.title);
                    let both = own.checked.zip(listed.checked).map(|(one, other)| one && other);
                    own.checked = both.or(own.checked).or(listed.checked);
                    own.is_dropped |= listed.is_dropped;
                }
                None => self.phase.plans.push(listed),
            }
        }
    }
}

/// Returns whether the end of an entry says that the plan will not be done: `(superseded by 01-03)`, `— CANCELLED`.
fn ends_dropped(text: &str) -> bool {
    let text = text.trim_end_matches(['*', '_', ' ']);
    let last = text.rsplit(['—', '–']).next().filter(|last| *last != text).map(str::trim);
    let inside = text.strip_suffix([')', ']']).and_then(|text| text.rsplit(['(', '[']).next());
    last.is_some_and(says_dropped) || inside.is_some_and(remark_drops)
}

/// Returns the number of the plan that an entry of phase `phase` names, and the text after it.
///
/// ```text
/// - [x] 05.1-02-PLAN.md — what it does     - [ ] 14-01: what it does
/// - [ ] 01-PLAN-03.md — what it does
/// ```
fn plan_in_front<'a>(text: &'a str, phase: &PhaseNumber) -> Option<(PlanNumber, &'a str)> {
    let text = unmarked(text);
    let named = strip_prefix_ignore_case(text, "plan").filter(|rest| rest.starts_with([' ', '-']));
    let text = named.map_or(text, |rest| rest.trim_start_matches([' ', '-']));
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let (token, after) = text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()));
    let token = token.trim_end_matches('.').trim_end_matches(".md");
    let alone = token.trim_end_matches("-PLAN");
    // A lone number may begin a sentence (`400 errors are not retried`).
    let is_named = named.is_some() || token != alone || after.starts_with(':');
    let is_number = is_named && alone.starts_with(is_digit);
    let number = || PlanNumber::parse(alone).filter(|_| is_number);
    Some((phase.plan_in(token).or_else(number)?, after))
}

/// Returns the title of a plan in the text after its number: `](link) — Title`, `**: Title`.
fn plan_title(text: &str) -> Option<String> {
    let link = text.strip_prefix("](").and_then(|link| link.split_once(')'));
    let mut text = link.map_or(text, |(_, after)| after).replace("**", "");
    if !text.matches('`').count().is_multiple_of(2) {
        // The first one closes the span of the number.
        text = text.replacen('`', "", 1);
    }
    let text = text.trim_matches(|c: char| c.is_whitespace() || "-:*–—".contains(c));
    let inner = text.strip_prefix('`').and_then(|text| text.strip_suffix('`'));
    let is_whole = |inner: &&str| !inner.contains('`');
    given(inner.filter(is_whole).unwrap_or(text))
}

/// Returns the requirements of a line: separately if they are ids such as `REQ-01`, `ORG-06a`, `R12`, otherwise the whole
/// text. GSD's template puts brackets around the list and a comment behind it: `[REQ-01, REQ-02]  <!-- … -->`.
fn requirements(text: &str) -> Vec<String> {
    let text = text.split("<!--").next().unwrap_or_default().trim();
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let pieces = comma_separated(inner).map(|piece| piece.trim_matches([' ', '`', '*']));
    let pieces: Vec<&str> = pieces.filter(|piece| !piece.is_empty()).collect();
    let begins_with_id = |piece: &&str| {
        piece.starts_with(char::is_uppercase) && is_id(piece.split(' ').next().unwrap_or_default())
    };
    if says_none(inner) {
        Vec::new()
    } else if pieces.iter().all(begins_with_id) {
        pieces.into_iter().map(str::to_owned).collect()
    } else {
        vec![text.to_owned()]
    }
}

/// Text in brackets, which gives reasons, and may have brackets of its own.
static BRACKETS: Pattern = Pattern::new(r"\((?:[^()]|\([^()]*\))*\)?");

/// Maximum length of a range that is expanded to single phases; of a longer one, only the ends are kept.
const MAX_RANGE: u32 = 50;

/// Returns the distinct phases that another depends on: `Phase 1, Phase 3`, `Phases 2-4`, `Phase 1 (reason), 05.1 and 6`.
/// Text in brackets gives reasons, and so does what follows a semicolon.
fn dependencies(text: &str, numbering: PhaseNumbering) -> Vec<PhaseNumber> {
    if says_none(text) || begins("no dependency", &text.to_lowercase()) {
        return Vec::new();
    }
    let outside = BRACKETS.replace_all(text, "");
    let clause = outside.split(';').next().unwrap_or_default();
    let (mut found, _) = numbers(clause, numbering);
    if found.is_empty() {
        list(clause, numbering, &mut found);
    }
    found.sort();
    found.dedup();
    found
}

/// Returns the phases named after a word for phases, and whether the last list has an open end: `Phases 13+`.
pub(super) fn numbers(text: &str, numbering: PhaseNumbering) -> (Vec<PhaseNumber>, bool) {
    let separators = [' ', ':'];
    let mut found = Vec::new();
    let lists = words_in(text).filter_map(|word| {
        let after = &text[word.as_ptr() as usize - text.as_ptr() as usize + word.len()..];
        let is_phase = after.starts_with(separators) && has("phase", &word.to_lowercase());
        is_phase.then(|| list(after.trim_start_matches(separators), numbering, &mut found))
    });
    let is_open = lists.last().unwrap_or_default();
    (found, is_open)
}

/// Parses numbers joined by commas, `and`, `&`, `+`, `/` or a dash, up to the first other word, and returns whether the last
/// has a `+` behind it.
fn list(text: &str, numbering: PhaseNumbering, found: &mut Vec<PhaseNumber>) -> bool {
    let mut rest = text.trim_start();
    let mut from: Option<PhaseNumber> = None;
    while let Some((number, behind)) = numbering.split(rest) {
        let next = behind.trim_start();
        // `Phases 1-6, 12 plans`
        if rest.len() < text.trim_start().len() && (number.is_year() || begins("counted", next)) {
            return false;
        }
        if let Some(from) = from.take().filter(|from| from.is_sibling(&number)) {
            let (first, last) = (from.ordinal(), number.ordinal());
            if last.saturating_sub(first) <= MAX_RANGE {
                found.extend((first + 1..last).map(|between| from.sibling(between)));
            }
        }
        found.push(number.clone());
        let after = |joints: &[&str]| joints.iter().find_map(|joint| next.strip_prefix(joint));
        let through = after(&["-", "–", "to ", "through "]);
        from = through.is_some().then_some(number);
        let Some(joined) = after(&[",", "and ", "&", "+", "/"]).or(through) else { return false };
        let joined = joined.trim_start();
        rest = joined.strip_prefix("and ").unwrap_or(joined).trim_start();
        if behind.starts_with('+') && numbering.split(rest).is_none() {
            return true;
        }
    }
    false
}
