//! Parses the labelled fields of a phase's section.

use std::ops::Range;

use crate::clock::parse_date;
use crate::markdown::{Block, BlockContent, ListItem, Outline, Section};
use crate::plan::read::located::Span;
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::roadmap::field::Field;
use crate::plan::read::roadmap::{name, plan_entry, reference};
use crate::plan::read::{
    Located, PhaseNumber, PhaseNumbering, PlanNumber, RoadmapPlan, non_placeholder,
};

/// The fields of a phase's section.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Body {
    pub(super) goal: Option<String>,
    pub(super) depends_on: Option<String>,
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
    let mut reader = SectionReader {
        outline,
        phase,
        body: Body::default(),
        field: None,
        depth: None,
        has_bullet_labels: false,
    };
    reader.blocks(&section.own);
    for inner in outline.subsections(section) {
        if name::parse_phase(Span::new(&inner.title, 0, 1), numbering).is_some() {
            break;
        }
        reader.field = Some(Field::from_name(&inner.title));
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
    let range = at..at + 1;
    matches!(before.get(range.clone())?, " " | "x" | "X").then(|| Located {
        value: checked,
        range,
        line: outline.line(at),
    })
}

/// Returns the non-empty lines of a block, trimmed.
fn lines<'o>(outline: &Outline<'o>, block: &Block) -> Vec<Span<'o>> {
    let mut start = block.range.start;
    let text = outline.text().get(block.range.clone()).unwrap_or_default();
    text.split_inclusive('\n')
        .map(|line| {
            let span = Span::new(line, start, outline.line(start));
            start += line.len();
            span
        })
        .filter(|span| !span.text.is_empty())
        .collect()
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
        let outline = self.outline;
        for block in outline.blocks(range) {
            match &block.content {
                BlockContent::Paragraph => self.paragraph(block),
                BlockContent::Item(item) => self.item(block, item),
                BlockContent::Table(_) | BlockContent::Code | BlockContent::Html => {}
            }
        }
    }

    fn paragraph(&mut self, block: &Block) {
        let mut continues = false;
        for line in lines(self.outline, block) {
            match Field::from_line(line.text) {
                Some((field, at)) => self.label(field, line.after(at)),
                None => self.text(line.text, continues),
            }
            continues = true;
        }
    }

    /// Parses an item; a label on one of its later lines was meant to start a new paragraph.
    fn item(&mut self, block: &Block, item: &ListItem) {
        let lines = lines(self.outline, block);
        let Some(first) = lines.first() else {
            return;
        };
        let label = Field::from_line(first.text)
            .filter(|(field, _)| *field != Field::Other && first.text.starts_with("**"));
        if let Some((field, at)) = label.filter(|_| self.may_be_label(item)) {
            self.has_bullet_labels = true;
            self.label(field, first.after(at));
            return;
        }
        let own =
            1 + lines[1..].iter().take_while(|line| Field::from_line(line.text).is_none()).count();
        let (own, rest) = lines.split_at(own);
        let text = own.iter().map(|line| line.text).collect::<Vec<_>>().join(" ");
        self.entry(&text, block, item);
        for line in rest {
            if let Some((field, at)) = Field::from_line(line.text) {
                self.label(field, line.after(at));
            }
        }
    }

    /// Returns whether a bullet may be a label: not within a list of entries, unless the section's labels are
    /// bullets.
    fn may_be_label(&self, item: &ListItem) -> bool {
        let is_list =
            matches!(self.field, Some(Field::Requirements | Field::SuccessCriteria | Field::Plans));
        item.depth == 0 && (self.has_bullet_labels || !is_list)
    }

    fn label(&mut self, field: Field, value: Span<'_>) {
        self.field = Some(field);
        self.depth = None;
        let Some(text) = non_placeholder(value.text).filter(|text| !text.is_empty()) else {
            return;
        };
        let body = &mut self.body;
        match field {
            Field::Goal => {
                body.goal.get_or_insert_with(|| text.to_owned());
            }
            Field::DependsOn => {
                body.depends_on.get_or_insert_with(|| text.to_owned());
            }
            Field::Requirements => body.requirements.extend(reference::requirements(text)),
            Field::SuccessCriteria => body.success_criteria.push(text.to_owned()),
            Field::Plans => {
                body.plan_count.get_or_insert_with(|| value.with_value(text.to_owned()));
            }
            Field::Status => {
                body.status.get_or_insert_with(|| value.with_value(text.to_owned()));
            }
            Field::Completed => body.is_completed |= parse_date(text).is_some(),
            Field::Other => {}
        }
    }

    /// Handles a line without a label: a continuation of the field's text, or its text if the label was
    /// alone.
    fn text(&mut self, text: &str, continues: bool) {
        let body = &mut self.body;
        let single = match self.field {
            Some(Field::Goal) => &mut body.goal,
            Some(Field::DependsOn) => &mut body.depends_on,
            Some(Field::SuccessCriteria) => {
                // A criterion on the label's line may wrap; bullets below the label are handled as entries.
                let wraps = continues && body.success_criteria.len() == 1;
                if let Some(last) = body.success_criteria.last_mut().filter(|_| wraps) {
                    last.push(' ');
                    last.push_str(text);
                }
                return;
            }
            _ => return,
        };
        match single {
            Some(value) if continues => {
                value.push(' ');
                value.push_str(text);
            }
            None => *single = non_placeholder(text).map(str::to_owned),
            Some(_) => {}
        }
    }

    fn entry(&mut self, text: &str, block: &Block, item: &ListItem) {
        let is_detail = item.depth > *self.depth.get_or_insert(item.depth);
        let plan = plan_entry::plan_in_front(text, self.phase);
        let is_plan =
            self.field == Some(Field::Plans) || (plan.is_some() && item.checked.is_some());
        if is_none_remark(text) {
            return;
        }
        if is_plan {
            // In `1. **Name** — …`, the list number is the plan number.
            let counted = || PlanNumber::parse(&item.number?.to_string());
            let is_entry = !is_detail || item.checked.is_some();
            if is_entry && plan_entry::is_placeholder(text) {
                self.body.announces_plans |= item.checked == Some(false);
            } else if is_entry {
                let (number, rest) = plan.map_or((None, text), |(plan, rest)| (Some(plan), rest));
                self.body.plans.push(RoadmapPlan {
                    plan: number.or_else(counted),
                    title: plan_entry::title(rest),
                    text: text.to_owned(),
                    checked: item.checked,
                    is_dropped: text.starts_with("~~") || text.starts_with("**~~"),
                    mark: checkbox(self.outline, block, item),
                });
            }
            return;
        }
        if is_detail {
            return;
        }
        match self.field {
            Some(Field::Requirements) => {
                self.body.requirements.extend(reference::listed_requirements(text));
            }
            Some(Field::SuccessCriteria) => self.body.success_criteria.push(text.to_owned()),
            Some(Field::Goal) if self.body.goal.is_none() => self.body.goal = Some(text.to_owned()),
            Some(Field::DependsOn) => {
                // Extended in place: a new text for each of many bullets would be quadratic.
                let all = self.body.depends_on.get_or_insert_default();
                if !all.is_empty() {
                    all.push_str(", ");
                }
                all.push_str(text);
            }
            _ => {}
        }
    }
}
