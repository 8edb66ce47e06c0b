//! Parses STATE.md: the position of the work as last recorded by agents.
//!
//! ```text
//! **Project:** name                     ---
//! **Milestone:** name                   milestone: v1.0
//!                                       progress:
//! ## Current Phase                        total_phases: 4
//! Phase: 2 of 4 (Name)                  ---
//! Plans: 3/5                            ## Current Position
//! Progress: 40%                         Phase: 2 of 4 (Name) — EXECUTING
//! Status: active                        Plan: 3 of 5
//!                                       Progress: [####------] 40%
//! ## Key Decisions
//! | Decision | Date | Rationale |       ### Decisions
//!                                       - [02-03]: …
//! ## Todos
//! - [ ] …                               ### Pending Todos
//! ```

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use chrono::NaiveDate;
use serde::Serialize;

use crate::clock::parse_date;
use crate::markdown::{
    Block, BlockContent, FrontMatter, Label, ListItem, Outline, Section, Table, TableRow,
};
use crate::plan::read::line::Span;
use crate::plan::read::vocabulary::{after_phase, begins, has, words};
use crate::plan::read::{
    Decision, Located, MAX_REPORTED, PhaseNumber, PhaseNumbering, PhaseProgress, decision,
    document, milestone_in_heading, milestone_version_in, vocabulary, without_emphasis,
};
use crate::text::{comma_separated, fold, is_digit, listed, non_placeholder, says_none, words_in};
use crate::warning::{Parsed, Warning};

mod position;
/// A skill named in the Skills section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skill {
    /// The name.
    pub name: String,
    /// `global` or `project`, if stated.
    pub scope: Option<String>,
}

/// The position according to STATE.md.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StatedPhase {
    /// The current phase.
    pub number: Option<PhaseNumber>,
    /// Number of phases.
    pub total: Option<u32>,
    /// The current phase's name.
    pub name: Option<String>,
    /// The status, verbatim.
    pub status: Option<String>,
    /// The progress in percent.
    pub progress_percent: Option<u32>,
}

/// What a statement of STATE.md about the position is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Says {
    /// The current phase's name.
    Name,
    /// The status.
    Status,
    /// The status after the phase's name (`2 of 4 (Name) — EXECUTING`).
    PhaseStatus,
    /// A drawn progress bar, brackets included, which accompanies the percentage.
    Bar,
    /// The current phase's index in the list of phases, if it differs from its number (`6 of 15 (06.1
    /// Name)`).
    Index,
    /// Number of phases.
    Total,
    /// Number of complete phases.
    PhasesDone,
    /// The progress in percent; the byte range covers the digits.
    Percent,
    /// The number of the current plan.
    CurrentPlan,
    /// Number of complete plans of the current phase.
    PlansDone,
    /// Number of plans of the current phase.
    PlansTotal,
    /// Number of complete plans of the milestone.
    AllPlansDone,
    /// Number of plans of the milestone.
    AllPlansTotal,
}

/// A single statement of STATE.md about the position; it may be repeated in several places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The current phase's number.
    Phase(PhaseNumber),
    /// A text.
    Text(Says, String),
    /// A number.
    Count(Says, u32),
}

impl Claim {
    /// Returns the text, if it says one about this.
    pub(crate) fn text(&self, says: Says) -> Option<&str> {
        match self {
            Self::Text(own, text) if *own == says => Some(text),
            _ => None,
        }
    }

    /// Returns the number, if it says one about this.
    pub(crate) fn count(&self, says: Says) -> Option<u32> {
        match self {
            Self::Count(own, count) if *own == says => Some(*count),
            _ => None,
        }
    }

    /// Returns the status that it states.
    pub(crate) fn status(&self) -> Option<&str> {
        self.text(Says::Status).or_else(|| self.text(Says::PhaseStatus))
    }
}

/// The parsed STATE.md.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StateFile {
    /// The project's name.
    pub project: Option<String>,
    /// The main purpose of the project.
    pub core_value: Option<String>,
    /// The milestone, verbatim.
    pub milestone: Option<String>,
    /// The milestone's title, if [`milestone`](Self::milestone) is only a version.
    #[serde(skip)]
    pub milestone_name: Option<String>,
    /// The position.
    pub phase: StatedPhase,
    /// The decisions, in file order.
    pub decisions: Vec<Decision>,
    /// The open todos.
    pub todos: Vec<String>,
    /// The open blockers.
    pub blockers: Vec<String>,
    /// The installed skills.
    pub skills: Vec<Skill>,
    /// All statements about the position, in file order.
    #[serde(skip)]
    pub claims: Vec<Located<Claim>>,
    /// The phases listed with a status, verbatim, in file order.
    #[serde(skip)]
    pub phase_statuses: Vec<ListedStatus>,
    /// The slug of the active milestone, if stated.
    #[serde(skip)]
    pub active_milestone: Option<String>,
    /// The line that says that no milestone is active, since the last one is complete and the next not started.
    #[serde(skip)]
    pub no_milestone: Option<usize>,
    /// The milestone that shipped last, with its day and archive.
    #[serde(skip)]
    pub last_shipped: Option<String>,
    /// When the work went on, according to each of its dates.
    #[serde(skip)]
    pub last_active: Vec<NaiveDate>,
    /// The performance metrics of the active milestone, without those that are listed twice.
    #[serde(skip)]
    pub metrics: Vec<Label>,
    /// Labels of the current phase whose values neither name a phase nor say that there is none.
    #[serde(skip)]
    pub not_understood: Vec<Located<String>>,
    /// The first paragraph about the position, if only prose is about it.
    #[serde(skip)]
    pub prose: Option<Located<String>>,
}

/// A phase and its status in a list.
type ListedStatus = (PhaseNumber, Located<String>);

/// Maximum number of statements about the position: each is compared with the files, and may be reported.
pub(crate) const MAX_CLAIMS: usize = 1000;

impl StateFile {
    /// Returns the first number stated about this.
    pub(crate) fn count(&self, says: Says) -> Option<usize> {
        let count = self.claims.iter().find_map(|claim| claim.value.count(says));
        count.map(|count| count as usize)
    }

    /// Returns the statuses.
    pub(crate) fn statuses(&self) -> impl Iterator<Item = &str> {
        self.claims.iter().filter_map(|claim| claim.value.status())
    }

    /// Adds the decisions that the planning folder's own STATE.md keeps for all milestones; open items are carried
    /// into a new milestone when it starts.
    pub(crate) fn add_shared(&mut self, shared: Self) {
        let own = std::mem::take(&mut self.decisions);
        self.decisions = decision::distinct(shared.decisions.into_iter().chain(own));
        self.last_shipped = self.last_shipped.take().or(shared.last_shipped);
    }

    /// Parses a STATE.md of a project with plain phase numbers.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        Self::parse_with(text, path, PhaseNumbering::Plain)
    }

    /// Parses a STATE.md of a project that numbers its phases in the given way.
    pub fn parse_with(text: &str, path: &Path, numbering: PhaseNumbering) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let front = FrontMatter::parse(text, path).into_value(&mut warnings);
        // GSD has left files with two blocks of fields, the newer one first.
        let second = FrontMatter::parse(&text[front.range.end..], path).value;
        let older = second.text(&["gsd_state_version"]).map_or(0, |_| second.range.end);
        let outline = Outline::parse_beginning(text, front.range.end + older);
        warnings.extend(outline.warning(path));
        let labels = position::labels(&outline, &["position", "project"]);
        let named = |name: &str| {
            let own = labels
                .iter()
                .find(|label| label.name.eq_ignore_ascii_case(name) && !says_none(&label.value));
            own.map(|label| &*label.value)
        };
        let no_milestone = position::no_milestone(&front, &outline, &labels);
        let (mut claims, mut not_understood) = position::claims(&front, &outline, numbering);
        let is_stated = !claims.is_empty() || !labels.is_empty() || no_milestone.is_some();
        let prose = if is_stated { None } else { position::prose(&outline) };
        not_understood.truncate(MAX_REPORTED);
        let unclear = not_understood.iter();
        warnings
            .extend(unclear.map(|label| label.warning(path, "the current phase has no number")));
        if let Some(first) = claims.get(MAX_CLAIMS) {
            let message = format!(
                "has more than {MAX_CLAIMS} statements about the position; the rest are ignored"
            );
            warnings.push(Warning::at(path, first.line, message));
            claims.truncate(MAX_CLAIMS);
        }
        let in_front = |key: &str| front.text(&[key]).and_then(non_placeholder);
        let labelled = || words("label of a milestone").find_map(named);
        let milestone = in_front("milestone").or_else(labelled);
        let milestone = milestone.or_else(|| milestone_in_heading(&outline));
        // `milestone` is the template's placeholder for a missing name.
        let milestone_name = in_front("milestone_name");
        let milestone_name = milestone_name.filter(|name| !name.eq_ignore_ascii_case("milestone"));
        let slug = named("active milestone")
            .filter(|value| !value.contains([' ', '/', '\\']) && !value.starts_with('.'));
        let mut phase = position::stated_phase(&claims, front.range.end);
        // GSD's template names the phase there, too; a text that names several names none.
        let focus = || {
            let mut sections = outline.sections().iter();
            let own = sections.find(|one| document::heading(&one.title) == "current focus")?;
            outline.slice(&own.own).lines().find(|line| !line.is_empty())
        };
        phase.number = phase.number.or_else(|| {
            let mut phases = numbering.phases_in(named("current focus").or_else(focus)?);
            phases.dedup();
            phases.pop().filter(|_| phases.is_empty())
        });
        let core_value = named("core value").map(without_emphasis);
        let value = Self {
            project: named("project").or_else(|| in_title(outline.title()?)).map(str::to_owned),
            core_value: core_value.map(str::to_owned),
            milestone: milestone.map(str::to_owned),
            milestone_name: milestone_name.map(str::to_owned),
            phase,
            decisions: decisions(&outline),
            todos: todos(&outline),
            blockers: blockers(&outline),
            skills: skills(&outline),
            claims,
            phase_statuses: phase_statuses(&outline, numbering),
            active_milestone: slug.map(str::to_owned),
            no_milestone,
            last_shipped: named("last shipped").map(str::to_owned),
            last_active: last_active(&front, &outline),
            metrics: metrics(&outline, milestone),
            not_understood,
            prose,
        };
        Parsed { value, warnings }
    }
}

/// Returns the project named in a title: `STATE: Name`, `name State`.
fn in_title(title: &str) -> Option<&str> {
    let name = title.strip_prefix("STATE: ").or_else(|| title.strip_suffix(" State"))?;
    let is_kind = listed("Current GSD Milestone Planning Project Session VBW Workflow YOLO", name);
    (!is_kind).then_some(name)
}

/// Returns the decisions, including those under subheadings.
fn decisions(outline: &Outline<'_>) -> Vec<Decision> {
    let under = |group: &Section| {
        let mut decisions = decision::decisions(outline, &group.own);
        for decision in &mut decisions {
            decision.heading.get_or_insert_with(|| group.title.clone());
        }
        decisions
    };
    let groups = decision::sections(outline).flat_map(|section| {
        let inner = outline.subsections(section).filter(|inner| {
            decision::may_hold(&inner.title) && !has("skills", &document::heading(&inner.title))
        });
        std::iter::once(section).chain(inner)
    });
    decision::distinct(groups.flat_map(under))
}

/// Returns the phases listed with a status, the first mention of each, in file order.
///
/// ```text
/// - **Phase 1 (Name):** Complete (4 plans)     - **Phase 2:** Pending
/// ```
fn phase_statuses(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<ListedStatus> {
    let mut seen = HashSet::new();
    let sections = document::sections(outline, "phases with a status");
    let bullets = sections.flat_map(|section| outline.items(&section.own));
    let found =
        bullets.filter_map(|(block, _)| listed_phase(Span::from_block(outline, block), numbering));
    found.filter(|(number, _)| seen.insert(number.clone())).collect()
}

/// Parses a bullet such as `**Phase 1 (Name):** Complete`.
fn listed_phase(bullet: Span<'_>, numbering: PhaseNumbering) -> Option<ListedStatus> {
    let line = bullet.first_line();
    let named = after_phase(line.text.strip_prefix("**")?)?.strip_prefix(' ')?;
    let (number, rest) = numbering.split(named.trim_start())?;
    let (_, status) = rest.split_once("**")?;
    let status = line.suffix(status).trim_chars(&['*', ':', '-', ' ', '–', '—']).stated();
    (!status.value.is_empty()).then_some((number, status))
}

/// Returns when the work went on, from the front matter and from labels anywhere in the file.
fn last_active(front: &FrontMatter, outline: &Outline<'_>) -> Vec<NaiveDate> {
    let mut labels = outline.labels(&outline.all());
    labels.retain(|label| position::about(label) == Some(vocabulary::Label::LastActive));
    let in_front = ["last_updated", "last_activity"].map(|key| front.text(&[key]));
    let stated = in_front.into_iter().flatten();
    stated.chain(labels.iter().map(|label| &*label.value)).filter_map(parse_date).collect()
}

/// Returns the labels of the metrics sections, without repeated ones; none where another version than the active milestone's
/// is named.
fn metrics(outline: &Outline<'_>, milestone: Option<&str>) -> Vec<Label> {
    let active = milestone.and_then(milestone_version_in);
    let is_other = |text: &str| {
        let version = milestone_version_in(text);
        version.is_some() && version != active
    };
    let sections = outline.sections().iter().filter(|section| {
        let title = document::heading(&section.title);
        section.level > 0 && title.split(' ').any(|word| word == "metrics")
    });
    let sections: Vec<&Section> = sections.collect();
    let mut labels: Vec<Label> =
        sections.iter().flat_map(|section| outline.labels(&section.own)).collect();
    if sections.iter().any(|section| is_other(&section.title))
        || labels.iter().any(|label| is_other(&label.name))
    {
        return Vec::new();
    }
    let mut count: HashMap<String, usize> = HashMap::new();
    for label in &labels {
        *count.entry(fold(&label.name)).or_default() += 1;
    }
    labels.retain(|label| count[&fold(&label.name)] == 1);
    labels
}

/// Returns the installed skills, without suggested ones.
///
/// ```text
/// **Installed:** a, b (global)        **Installed:**        - a (global)
/// **Suggested:** None                 - a (global)          - b (project)
/// ```
fn skills(outline: &Outline<'_>) -> Vec<Skill> {
    let mut installed = Vec::new();
    for section in document::sections(outline, "skills") {
        // Until a label says otherwise, a list is of installed skills.
        let (mut is_installed, mut is_labelled) = (true, false);
        for block in outline.blocks(&section.own) {
            for line in outline.slice(&block.range).lines() {
                let label = Label::parse(line, 0, 1).filter(|label| {
                    label.is_bold || has("list of skills", &document::heading(&label.name))
                });
                if let Some(label) = label {
                    is_labelled = true;
                    is_installed = document::heading(&label.name).starts_with("installed");
                    let named = comma_separated(&label.value).filter(|_| is_installed);
                    installed.extend(named.filter_map(skill));
                } else if let BlockContent::Item(item) = &block.content {
                    // `Run /find-skills to find more` is a sentence.
                    let is_name = is_labelled || !item.text.starts_with(char::is_uppercase);
                    installed.extend(skill(&item.text).filter(|_| is_installed && is_name));
                    break;
                }
            }
        }
    }
    installed
}

/// Parses `name (global)`, `` `name` — what it does ``.
fn skill(text: &str) -> Option<Skill> {
    let mut scopes = ["global", "project"].into_iter();
    let scope = scopes.find(|scope| text.contains(&format!("({scope})"))).map(str::to_owned);
    let name = text.split([' ', '(', ':']).find(|word| !word.is_empty())?;
    let name = name.trim_matches(['`', '*', '_', '.']).to_owned();
    (!name.is_empty() && !says_none(text)).then_some(Skill { name, scope })
}

/// Returns the open todos, from bullets and rows, each with what is indented below it. A paragraph says where
/// todos are kept, so it is not one.
fn todos(outline: &Outline<'_>) -> Vec<String> {
    let own = sections_about(outline, "todos", "blockers", is_marked_settled);
    own.flat_map(|section| entries(outline, &section.own, is_marked_settled)).collect()
}

/// Returns the open blockers, from bullets and rows, or from paragraphs where there are none.
fn blockers(outline: &Outline<'_>) -> Vec<String> {
    let own: Vec<_> = sections_about(outline, "blockers", "todos", is_settled).collect();
    let is_prose = |range: &Range<usize>| {
        outline.items(range).next().is_none() && outline.tables(range).next().is_none()
    };
    let paragraphs = own.iter().map(|section| &section.own).filter(|range| is_prose(range));
    let paragraphs = paragraphs.flat_map(|range| outline.paragraphs(range));
    let is_hint = |text: &str| text.starts_with('[') && text.ends_with(']');
    let in_prose = paragraphs
        .filter(|(_, text)| !is_hint(text) && !document::is_lead(text))
        .filter_map(|(_, text)| open(text, text, is_settled));
    let listed = own.iter().flat_map(|section| entries(outline, &section.own, is_settled));
    let labelled = if own.is_empty() { labelled_blockers(outline) } else { Vec::new() };
    listed.chain(in_prose).chain(labelled).collect()
}

/// Returns the open blockers behind or below a label in the sections about the position: `**Blockers:** the host is down`.
fn labelled_blockers(outline: &Outline<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let is_current = |section: &&Section| {
        let title = document::heading(&section.title);
        has("position", &title) || title.ends_with("context")
    };
    for section in outline.sections().iter().filter(is_current) {
        let blocks = outline.blocks(&section.own);
        for (index, block) in blocks.iter().enumerate() {
            let mut labels = outline.labels(&block.range).into_iter();
            let is_about =
                |label: &Label| label.is_bold && has("blockers", &document::heading(&label.name));
            let Some(label) = labels.find(is_about) else { continue };
            if !label.value.is_empty() {
                // `**Blockers:** 0`
                let is_denied = has("denial", &label.value.to_lowercase());
                found.extend(open(&label.value, &label.value, is_settled).filter(|_| !is_denied));
            } else if block.item().is_none() {
                let list = blocks[index + 1..].iter().take_while(|next| next.item().is_some());
                let end = list.last().map_or(block.range.end, |last| last.range.end);
                found.extend(entries(outline, &(block.range.end..end), is_settled));
            }
        }
    }
    found
}

/// Returns the sections about a kind of item and those inside of them, without those about the `other` kind and those that
/// are over: `Completed`, `Blockers (resolved)`.
fn sections_about<'o>(
    outline: &'o Outline<'_>,
    kind: &'static str,
    other: &'static str,
    is_settled: fn(&str) -> bool,
) -> impl Iterator<Item = &'o Section> {
    let (mut end, mut closed_end) = (0, 0);
    outline.sections().iter().filter(move |section| {
        let title = document::heading(&section.title);
        let is_own = section.level > 0 && has(kind, &title);
        if !is_own && section.heading.start >= end {
            return false;
        }
        let first = words_in(&title).next().unwrap_or_default();
        // A section about blockers may have one about what was done.
        let is_part = kind == "todos" || has("part of blockers", first);
        let is_inside = !has(other, &title) && is_part;
        // `Quick Tasks Completed`
        let last = words_in(&title).last().unwrap_or_default();
        if has("done", last) || says_over(&title) || is_settled(&section.title) {
            closed_end = closed_end.max(section.whole.end);
        // Below the title of a file is the whole file.
        } else if is_own && section.level > 1 {
            end = end.max(section.whole.end);
        }
        section.heading.start >= closed_end && (is_own || is_inside)
    })
}

/// Returns whether a title in lower case says that its items are settled: `resolved`, `closed issues`, but not `done when`.
fn says_over(title: &str) -> bool {
    let mut words = words_in(title);
    words.next().is_some_and(|word| has("settled", word) || has("done", word))
        && words.all(|word| begins("item", word) || word.starts_with(is_digit))
}

/// Returns the bullets and rows of a section that are open; boxes and a status below a bullet say whether it is. A line such
/// as `**Resolved:**` says that those after it are not.
fn entries(
    outline: &Outline<'_>,
    range: &Range<usize>,
    is_settled: fn(&str) -> bool,
) -> Vec<String> {
    let (mut items, mut rows) = (Vec::new(), Vec::new());
    let (mut is_over, mut item_end) = (false, 0);
    for block in outline.blocks(range) {
        match &block.content {
            BlockContent::Item(item) => {
                item_end = item_end.max(item.whole.end);
                items.extend((!is_over).then_some((block, item)));
            }
            BlockContent::Table(table) if !is_over => {
                rows.extend(table.rows.iter().filter_map(|row| row_entry(table, row)));
            }
            BlockContent::Paragraph if block.range.start >= item_end => {
                let text = outline.slice(&block.range).trim().to_lowercase();
                let is_bold = text.starts_with("**") && text.ends_with("**");
                is_over = (is_bold || document::is_lead(&text)) && says_over(&text);
            }
            _ => {}
        }
    }
    let entry = |group: &[(&Block, &ListItem)]| {
        let ((block, item), below) =
            group.split_first().filter(|((_, item), _)| item.depth == 0)?;
        let mut boxes = below.iter().filter_map(|(_, item)| item.checked).peekable();
        let mut labels = below.iter().filter_map(|(_, item)| Label::parse(&item.text, 0, 1));
        let is_done = match item.checked {
            Some(is_done) => is_done,
            None => boxes.peek().is_some() && boxes.all(|is_done| is_done),
        };
        let is_done = is_done
            || labels
                .any(|label| label.name.eq_ignore_ascii_case("status") && is_settled(&label.value));
        let text = document::on_one_line(outline, block, item);
        open(&item.text, &text, is_settled).filter(|_| !is_done)
    };
    items.chunk_by(|_, (_, next)| next.depth > 0).filter_map(entry).chain(rows).collect()
}

/// Returns what a row names, unless it says that this is settled.
fn row_entry(table: &Table, row: &TableRow) -> Option<String> {
    let text = row.cells.get(table.column(ITEM_COLUMNS)?)?;
    let is_over = OUTCOME_COLUMNS.iter().any(|name| {
        let cell = table.column(&[name]).and_then(|column| row.cells.get(column));
        cell.is_some_and(|cell| {
            let is_date = *name == "resolved" && parse_date(cell.trim()).is_some();
            is_date
                || is_settled(cell)
                || PhaseProgress::stated(cell) == Some(PhaseProgress::Complete)
        })
    });
    open(text, text, is_settled).filter(|text| !is_over && !text.is_empty())
}

/// The columns of a table that name its todos or blockers.
const ITEM_COLUMNS: &[&str] =
    &["blocker", "issue", "concern", "problem", "todo", "task", "item", "description", "what"];

/// The columns that say whether they are settled.
const OUTCOME_COLUMNS: &[&str] = &["status", "state", "done", "resolved", "resolution"];

/// Returns an entry, unless its first line says that it is none, or settled.
fn open(first_line: &str, entry: &str, is_settled: fn(&str) -> bool) -> Option<String> {
    let is_open = !says_none(first_line) && !denies(first_line) && !is_settled(first_line);
    is_open.then(|| entry.trim().to_owned())
}

/// Returns whether a short entry says that there is none: `None as of 2026-05-08`, `No active blockers.`, `Nothing
/// blocking`, `All blockers resolved`. A clause says more.
fn denies(text: &str) -> bool {
    let text = text.trim_matches(['*', '_', '.', ' ', '[', ']', '\u{2705}']).to_lowercase();
    let leads = ["there are ", "there is ", "currently "];
    let bare = leads.iter().find_map(|lead| text.strip_prefix(lead));
    let words: Vec<&str> = bare.unwrap_or(&text).split_whitespace().collect();
    let is_none = match words.as_slice() {
        ["none" | "clear"] | ["all", "clear"] => true,
        ["none", next, ..] => *next != "of",
        // `Nothing works on Safari` is a blocker.
        ["nothing", "at", "all", _, ..] => false,
        ["nothing", next, ..] => has("after nothing", next),
        // But `There is no item endpoint yet` names a blocker.
        ["no", rest @ ..] if bare.is_some() => {
            let item = rest.iter().take(3).position(|word| begins("item", word));
            item.is_some_and(|at| rest.get(at + 1).is_none_or(|word| has("after nothing", word)))
        }
        ["no", rest @ ..] => rest.iter().take(3).any(|word| begins("item", word)),
        ["all", what, last] | ["all", what, "are", last] | ["all", what, "have", "been", last] => {
            begins("item", what) && has("settled", last)
        }
        _ => false,
    };
    is_none
        && words.len() <= 7
        && !text.contains([',', ':', ';', '—', '–'])
        && !words.iter().any(|word| has("exception", word))
}

/// Symbols for what is settled.
const TICKS: [char; 3] = ['\u{2705}', '\u{2713}', '\u{2714}'];

/// Returns whether a todo or a blocker is marked as settled: it is struck out, begins or ends with a tick, or begins with such
/// a word in brackets, in emphasis or in capitals.
fn is_marked_settled(text: &str) -> bool {
    let first = words_in(text).next().unwrap_or_default();
    let is_loud = text.starts_with(['[', '(', '*']) || first == first.to_uppercase();
    // `Fix tests (done 2026-01-02)`, `Fix tests — DONE`
    let end = text.strip_suffix(')').and_then(|text| text.rsplit('(').next());
    let end = end.or_else(|| text.rsplit('—').next().filter(|last| *last == last.to_uppercase()));
    let is_ended = end.is_some_and(|end| {
        // `Add a button (Done)`
        let is_name =
            end.chars().filter(|c| c.is_uppercase()).count() == 1 && !end.contains(is_digit);
        let said = end.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        !is_name && (has("settled", &said) || has("done", &said))
    });
    ["~~", "**~~", "[x]"].iter().any(|mark| text.starts_with(mark))
        || text.starts_with(TICKS)
        || text.trim_end_matches('\u{fe0f}').ends_with(TICKS)
        || is_loud && has("settled", &first.to_lowercase())
        || is_ended
        || words_in(text).any(|word| word == "RESOLVED")
}

/// Returns whether a blocker is marked as settled, or says so at its end or in a part that begins with such a word: alone, in
/// capitals, with a number, or with how it was settled. In a todo, such a part says what to do: `Menu: closed on mobile`.
pub(crate) fn is_settled(text: &str) -> bool {
    let lower = text.to_lowercase();
    let end = lower.trim_end_matches(|c: char| !c.is_alphanumeric());
    // `The release waits until the audit is no longer blocking.`
    let is_over = words("settled at the end").any(|said| end.ends_with(said))
        && !lower.split(' ').any(|word| has("exception", word));
    let parts = text.split(|c| "([:\u{2014}\u{2013};.\u{2192}".contains(c) || TICKS.contains(&c));
    is_marked_settled(text)
        || is_over
        || parts.chain(text.split(" - ")).any(|part| {
            let part = part.trim_matches(|c: char| !c.is_alphanumeric());
            let end = part.find(|c: char| !c.is_alphabetic()).unwrap_or(part.len());
            let (word, rest) = part.split_at(end);
            // In lower case: `resolved on May 3` has none.
            let has_exception = || words_in(rest).any(|word| has("exception", word));
            let is_loud = word.len() > 3 && word.chars().all(char::is_uppercase)
                || rest.starts_with([']', ')', '*']);
            let rest = rest.trim_start();
            has("settled", &word.to_lowercase())
                && (is_loud
                    || rest.is_empty()
                    || rest.starts_with(is_digit)
                    || has("how it was settled", rest.split(' ').next().unwrap_or_default())
                        && !has_exception())
        })
}

#[cfg(test)]
mod tests;
