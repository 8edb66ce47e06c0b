//! Parses the labelled fields of a phase's section.

use std::collections::HashSet;
use std::ops::Range;

use crate::clock::parse_date;
use crate::markdown::{Block, BlockContent, ListItem, Outline, Section};
use crate::plan::read::located::Span;
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::roadmap::parse_phase;
use crate::plan::read::vocabulary::{FIELDS, Field, PHASE_WORDS};
use crate::plan::read::{
    Located, PhaseNumber, PhaseNumbering, PlanNumber, RoadmapPlan, heading, non_placeholder,
};
use crate::text::{comma_separated, strip_prefix_ignore_case};

/// The fields of a phase's section.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Body {
    pub(super) goal: Option<String>,
    pub(super) depends_on: String,
    pub(super) requirements: Vec<String>,
    pub(super) success_criteria: Vec<String>,
    pub(super) plans: Vec<RoadmapPlan>,
    /// Whether the checklist has open entries that only announce plans: `- [ ] 03-02: TBD`.
    pub(super) announces_plans: bool,
    pub(super) plan_count: Option<Located<String>>,
    pub(super) status: Option<Located<String>>,
    pub(super) is_completed: bool,
}

/// Parses a phase's section and its subsections, up to the next phase.
pub(super) fn read(
    outline: &Outline<'_>,
    phase: &PhaseNumber,
    section: &Section,
    numbering: PhaseNumbering,
) -> Body {
    let body = Body::default();
    let mut reader =
        SectionReader { outline, phase, body, field: None, depth: None, has_bullet_labels: false };
    reader.blocks(&section.own);
    for inner in outline.subsections(section) {
        if parse_phase(Span::new(&inner.title, 0, 1), numbering).is_some() {
            break;
        }
        reader.field = Some(field(&inner.title));
        reader.depth = None;
        reader.blocks(&inner.own);
    }
    reader.body
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
    let words = heading::words(name);
    let mut rows = FIELDS.iter();
    rows.find(|(_, names)| names.contains(&words.as_str()))
        .map_or(Field::Other, |(field, _)| *field)
}

/// Parses a line that begins with a label, and returns the field with the value.
///
/// ```text
/// **Goal:** …    **Success Criteria** (what must be TRUE):    Plans:    *Scaffolding:*
/// ```
fn labelled(line: Span<'_>) -> Option<(Field, Span<'_>)> {
    /// The colon, and the one of Chinese and Japanese texts.
    const COLONS: [char; 2] = [':', '：'];
    let bold = || {
        let (name, rest) = line.text.strip_prefix("**")?.split_once("**")?;
        if name.len() > 60 || name.contains('`') {
            return None;
        }
        if let Some(name) = name.trim_end().strip_suffix(COLONS) {
            return Some((name, rest));
        }
        let rest = rest.trim_start();
        let remark = rest.strip_prefix('(');
        let behind =
            remark.map_or(Some(rest), |remark| Some(remark.split_once(')')?.1.trim_start()));
        Some((name, behind?.strip_prefix(COLONS)?))
    };
    // `Name: value` if the name is that of a field, and `Name:` alone on a line.
    let plain = || {
        let (name, rest) = line.text.split_once(COLONS)?;
        let is_known = field(name) != Field::Other && !name.starts_with(['-', '#']);
        let is_alone = rest.trim().is_empty() && name.len() <= 30 && !name.contains(['`', '[']);
        (is_known || is_alone).then_some((name, rest))
    };
    let (name, rest) = bold().or_else(plain)?;
    Some((field(name), line.suffix(rest)))
}

/// Returns the non-empty lines of a block, trimmed.
fn lines<'o>(outline: &Outline<'o>, block: &Block) -> Vec<Span<'o>> {
    let mut start = block.range.start;
    let text = outline.text().get(block.range.clone()).unwrap_or_default();
    let lines = text.split_inclusive('\n').map(|line| {
        let span = Span::new(line, start, outline.line(start));
        start += line.len();
        span
    });
    lines.filter(|span| !span.text.is_empty()).collect()
}

struct SectionReader<'a, 'o> {
    outline: &'a Outline<'o>,
    phase: &'a PhaseNumber,
    body: Body,
    field: Option<Field>,
    /// The list depth of the field's entries, taken from the first one, since a list may be nested in a
    /// preceding bullet.
    depth: Option<usize>,
    /// Whether the labels of this section are bullets (`- **Goal:** …`).
    has_bullet_labels: bool,
}

impl SectionReader<'_, '_> {
    fn blocks(&mut self, range: &Range<usize>) {
        for block in self.outline.blocks(range) {
            let lines = lines(self.outline, block);
            match &block.content {
                BlockContent::Paragraph => {
                    for (index, line) in lines.into_iter().enumerate() {
                        match labelled(line) {
                            Some((field, value)) => self.label(field, value),
                            None => self.text(line.text, index > 0),
                        }
                    }
                }
                BlockContent::Item(item) => self.item(block, item, &lines),
                BlockContent::Table(_) | BlockContent::Code | BlockContent::Html => {}
            }
        }
    }

    /// Parses an item; a label on one of its later lines was meant to start a new paragraph.
    fn item(&mut self, block: &Block, item: &ListItem, lines: &[Span<'_>]) {
        let Some(first) = lines.first() else { return };
        // A bullet is no label within a list of entries, unless the section's labels are bullets.
        let is_list =
            matches!(self.field, Some(Field::Requirements | Field::SuccessCriteria | Field::Plans));
        let may_be_label = item.depth == 0 && (self.has_bullet_labels || !is_list);
        let label = labelled(*first)
            .filter(|(field, _)| *field != Field::Other && first.text.starts_with("**"));
        if let Some((field, value)) = label.filter(|_| may_be_label) {
            self.has_bullet_labels = true;
            return self.label(field, value);
        }
        let own = 1 + lines[1..].iter().take_while(|line| labelled(**line).is_none()).count();
        let text = lines[..own].iter().map(|line| line.text).collect::<Vec<_>>().join(" ");
        self.entry(&text, block, item);
        for (field, value) in lines[own..].iter().filter_map(|line| labelled(*line)) {
            self.label(field, value);
        }
    }

    fn label(&mut self, field: Field, value: Span<'_>) {
        self.field = Some(field);
        self.depth = None;
        let Some(text) = non_placeholder(value.text).filter(|text| !text.is_empty()) else {
            return;
        };
        let body = &mut self.body;
        let located = || value.with_value(text.to_owned());
        match field {
            Field::Goal => _ = body.goal.get_or_insert_with(|| text.to_owned()),
            Field::DependsOn if body.depends_on.is_empty() => text.clone_into(&mut body.depends_on),
            Field::Requirements => body.requirements.extend(requirements(text)),
            Field::SuccessCriteria => body.success_criteria.push(text.to_owned()),
            Field::Plans => _ = body.plan_count.get_or_insert_with(located),
            Field::Status => _ = body.status.get_or_insert_with(located),
            Field::Completed => body.is_completed |= parse_date(text).is_some(),
            Field::DependsOn | Field::Other => {}
        }
    }

    /// Handles a line without a label: a continuation of the field's text, or its text if the label was
    /// alone.
    fn text(&mut self, text: &str, continues: bool) {
        let body = &mut self.body;
        let value = match self.field {
            Some(Field::Goal) => {
                let own = || non_placeholder(text).map(str::to_owned);
                match &mut body.goal {
                    goal @ None => {
                        *goal = own();
                        return;
                    }
                    Some(goal) => goal,
                }
            }
            Some(Field::DependsOn) if body.depends_on.is_empty() => {
                text.clone_into(&mut body.depends_on);
                return;
            }
            Some(Field::DependsOn) => &mut body.depends_on,
            // A criterion on the label's line may wrap; bullets below the label are handled as entries.
            Some(Field::SuccessCriteria) => match body.success_criteria.as_mut_slice() {
                [only] => only,
                _ => return,
            },
            _ => return,
        };
        if continues {
            value.push(' ');
            value.push_str(text);
        }
    }

    fn entry(&mut self, text: &str, block: &Block, item: &ListItem) {
        let is_detail = item.depth > *self.depth.get_or_insert(item.depth);
        let plan = plan_in_front(text, self.phase);
        let body = &mut self.body;
        if is_none_remark(text) {
            return;
        }
        if self.field == Some(Field::Plans) || plan.is_some() && item.checked.is_some() {
            if is_detail && item.checked.is_none() {
                return;
            }
            if announces_plans(text) {
                body.announces_plans |= item.checked == Some(false);
                return;
            }
            // In `1. **Name** — …`, the list number is the plan number.
            let counted = || PlanNumber::parse(&item.number?.to_string());
            let (number, rest) = plan.map_or((None, text), |(plan, rest)| (Some(plan), rest));
            body.plans.push(RoadmapPlan {
                plan: number.or_else(counted),
                title: plan_title(rest),
                text: text.to_owned(),
                checked: item.checked,
                is_dropped: text.starts_with("~~") || text.starts_with("**~~"),
                mark: checkbox(self.outline, block, item),
            });
            return;
        }
        match self.field.filter(|_| !is_detail) {
            Some(Field::Requirements) => {
                let are_ids =
                    text.split(',').all(|piece| is_id(piece.trim()) && !piece.contains(':'));
                let whole = || vec![text.trim().to_owned()];
                body.requirements.extend(if are_ids { requirements(text) } else { whole() });
            }
            Some(Field::SuccessCriteria) => body.success_criteria.push(text.to_owned()),
            Some(Field::Goal) => _ = body.goal.get_or_insert_with(|| text.to_owned()),
            Some(Field::DependsOn) => {
                if !body.depends_on.is_empty() {
                    body.depends_on.push_str(", ");
                }
                body.depends_on.push_str(text);
            }
            _ => {}
        }
    }
}

/// Returns the number of the plan that an entry of phase `phase` names, and the text after it.
///
/// ```text
/// - [x] 05.1-02-PLAN.md — what it does     - [ ] 14-01: what it does
/// - [ ] 01-PLAN-03.md — what it does       1. **Name** — what it does
/// ```
fn plan_in_front<'a>(text: &'a str, phase: &PhaseNumber) -> Option<(PlanNumber, &'a str)> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let named = strip_prefix_ignore_case(text, "plan").filter(|rest| rest.starts_with([' ', '-']));
    let text = named.map_or(text, |rest| rest.trim_start_matches([' ', '-']));
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let (token, after) = text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()));
    let token = token.trim_end_matches('.').trim_end_matches(".md");
    if let Some(rest) = phase.strip_id(token) {
        let rest = rest.trim_end_matches("-PLAN").strip_prefix('-')?;
        return Some((PlanNumber::parse(rest.split('-').next()?)?, after));
    }
    let parts: Vec<&str> =
        token.split('-').filter(|part| !part.eq_ignore_ascii_case("plan")).collect();
    let number = match parts.as_slice() {
        // A lone number may begin a sentence (`400 errors are not retried`).
        [plan] => {
            let is_named = named.is_some() || token.len() > plan.len() || after.starts_with(':');
            let is_number = plan.starts_with(|c: char| c.is_ascii_digit());
            PlanNumber::parse(plan).filter(|_| is_named && is_number)
        }
        [first, plan, ..] if PhaseNumber::parse(first).as_ref() == Some(phase) => {
            PlanNumber::parse(plan)
        }
        _ => None,
    };
    Some((number?, after))
}

/// Returns the title of a plan in the text after its number: `](link) — Title`, `**: Title`.
fn plan_title(text: &str) -> Option<String> {
    let link = text.strip_prefix("](").and_then(|link| link.split_once(')'));
    let text = link.map_or(text, |(_, after)| after).replace("**", "");
    let is_mark = |c: char| c.is_whitespace() || "-:*`–—".contains(c);
    non_placeholder(text.trim_matches(is_mark)).map(str::to_owned)
}

/// Returns whether an entry only announces plans: `TBD`, `09-01: TBD`, `03-01: TBD (see /gsd:plan-phase 3)`.
fn announces_plans(text: &str) -> bool {
    let parts: Vec<&str> = text.split([':', '—']).map(str::trim).collect();
    let mut after =
        parts.iter().take(2).chain(parts.last()).filter_map(|part| part.strip_prefix("TBD"));
    after.any(|after| !after.starts_with(char::is_alphanumeric))
}

/// Returns the requirements of a line: separately if they are ids, otherwise the whole text.
fn requirements(text: &str) -> Vec<String> {
    let text = text.trim();
    if is_none_remark(text) {
        return Vec::new();
    }
    if !is_id(text) {
        return vec![text.to_owned()];
    }
    let pieces = comma_separated(text).map(str::trim).filter(|piece| !piece.is_empty());
    pieces.map(str::to_owned).collect()
}

/// Returns whether a text begins with an id such as `REQ-01`, `AUTH-01`, `ORG-06a`, `R12`.
fn is_id(text: &str) -> bool {
    let word = text.split([' ', ',', ':']).next().unwrap_or_default();
    word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.contains(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        && word.chars().filter(char::is_ascii_lowercase).count() <= 1
}

/// Maximum length of a range that is expanded to single phases; of a longer one, only the ends are kept.
const MAX_RANGE: u32 = 50;

/// Maximum number of phases that are read from a text.
pub(super) const MAX_DEPENDENCIES: usize = 200;

/// Returns the distinct phases in `Phase 1, Phase 3`, `Phases 2-4`, `Phase 1 (reason), 05.1 and 6`, and whether there are
/// too many.
///
/// Text in brackets gives reasons and is ignored, unless only that names the phases: `Wave A (Phases 2-4)`. Clauses
/// that deny or weaken a dependency are ignored, too.
pub(super) fn phases(text: &str, numbering: PhaseNumbering) -> (Vec<PhaseNumber>, bool) {
    const NOT_HELD: &[&str] =
        &["soft", "optional", "no ", "nothing", "independent", "first phase", "can "];
    let mut found = Vec::new();
    if !is_none_remark(text) {
        let text = in_english(&text.replace(", but ", "; "));
        let mut depth = 0_i32;
        let ends_clause = |c: char| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ';' && depth <= 0
        };
        for (index, clause) in text.split(ends_clause).enumerate() {
            let clause = clause.trim_start_matches(['*', '_', '(', ' ']);
            let lower = clause.to_lowercase();
            if NOT_HELD.iter().any(|start| lower.starts_with(start)) {
                continue;
            }
            let outside = without_brackets(clause);
            let is_named = outside.contains("phase") || !clause.contains("(phase");
            let part = if is_named { &outside } else { clause };
            if !part.contains("phase") && index == 0 {
                list(part, numbering, &mut found);
            }
            for piece in part.split("phase").skip(1) {
                list(piece.strip_prefix('s').unwrap_or(piece), numbering, &mut found);
            }
        }
    }
    let mut seen = HashSet::new();
    found.retain(|number| seen.insert(number.clone()));
    let is_cut = found.len() > MAX_DEPENDENCIES;
    found.truncate(MAX_DEPENDENCIES);
    (found, is_cut)
}

/// Returns a text with the English word for phases: `Fase 2 e Fase 3` becomes `phase 2 e phase 3`.
fn in_english(text: &str) -> String {
    let words = text.split_inclusive(' ').map(|word| {
        let name = word.trim_end().trim_matches(['(', '*']);
        let is_phase = PHASE_WORDS.contains(&name.to_lowercase().as_str());
        if is_phase { word.replacen(name, "phase", 1) } else { word.to_owned() }
    });
    words.collect()
}

/// Parses numbers joined by commas, `and`, `&`, `+`, `/` or a dash, up to the first other word.
fn list(text: &str, numbering: PhaseNumbering, found: &mut Vec<PhaseNumber>) {
    let mut rest = text.trim_start();
    let mut from: Option<PhaseNumber> = None;
    while let Some((number, behind)) = numbering.split(rest) {
        if let Some(from) = from.take().filter(|from| from.is_sibling(&number)) {
            let (first, last) = (from.ordinal(), number.ordinal());
            if last.saturating_sub(first) <= MAX_RANGE {
                found.extend((first + 1..last).map(|between| from.sibling(between)));
            }
        }
        found.push(number.clone());
        let behind = behind.trim_start();
        let after = |joints: &[&str]| joints.iter().find_map(|joint| behind.strip_prefix(joint));
        let through = after(&["-", "–", "to ", "through "]);
        from = through.is_some().then_some(number);
        let Some(next) = after(&[",", "and ", "&", "+", "/"]).or(through) else { return };
        let next = next.trim_start();
        rest = next.strip_prefix("and ").unwrap_or(next).trim_start();
        if found.len() > 2 * MAX_DEPENDENCIES {
            return;
        }
    }
}

fn without_brackets(text: &str) -> String {
    let mut depth = 0_usize;
    let mut is_outside = |c: char| {
        depth += usize::from(c == '(');
        let is_outside = depth == 0;
        depth = depth.saturating_sub(usize::from(c == ')'));
        is_outside
    };
    text.chars().filter(|c| is_outside(*c)).collect()
}
