//! Parses ROADMAP.md: the phases with their goals, plans and status.
//!
//! ```text
//! ## Phases
//! - [x] **Phase 1: Name** - what it is about
//!
//! ### Phase 1: Name
//! **Goal**: …
//! **Depends on**: Nothing
//! **Requirements**: REQ-01, REQ-02
//! **Success Criteria** (what must be TRUE):
//!   1. …
//! Plans:
//! - [x] 01-01-PLAN.md — …
//!
//! ## Progress
//! | Phase   | Plans Complete | Status   | Completed  |
//! |---------|----------------|----------|------------|
//! | 1. Name | 3/3            | Complete | 2026-02-11 |
//! ```
//!
//! Phases are named by headings of sections, and by checklist entries:
//!
//! ```text
//! ### Phase 5.1: Name (INSERTED) ✓       - [x] [Phase 3: Name](#phase-3) _(superseded by Phase 2)_
//! ## Phase 1 — Name — COMPLETE           - [ ] ~~**Phase 6: Name**~~ - what it is about
//! ```
//!
//! Tables list them with their status:
//!
//! ```text
//! | Phase   | Plans Complete | Status   | Completed  |     | # | Phase | Status  |
//! |---------|----------------|----------|------------|     |---|-------|---------|
//! | 1. Name | 3/3            | Complete | 2026-02-11 |     | 1 | Name  | Pending |
//! ```
//!
//! A table without a status column is accepted if it has one of plans, which may hold the status, too (`3/3 Complete`).

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::clock::parse_date;
use crate::markdown::{FrontMatter, Outline, Ranges, Section, Table, TableRow};
use crate::plan::phase::may_be_same;
use crate::plan::read::line::Span;
use crate::plan::read::roadmap::unread::{
    is_read_in_part, not_understood, unread_items, unread_numbers, unread_work,
};
use crate::plan::read::vocabulary::{
    after_phase, has, only_states_progress, remark_drops, split_status, states_progress,
};
use crate::plan::read::{
    Located, MAX_REPORTED, PhaseNumber, PhaseNumbering, PhaseProgress, PlanNumber, document,
};
use crate::text::{given, is_absent, is_digit, non_placeholder, unmarked};
use crate::warning::{Parsed, Warning};

mod milestone;
mod section;
mod unread;

pub(crate) use milestone::{
    in_heading as milestone_in_heading, version as milestone_version,
    version_in as milestone_version_in, version_parts,
};
/// The parsed ROADMAP.md.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Roadmap {
    /// The title, verbatim.
    #[serde(skip)]
    pub title: Option<String>,
    /// The phases by number, with those of shipped milestones first.
    pub phases: Vec<Arc<RoadmapPhase>>,
    /// The milestones, if the roadmap has several: those with phases in file order, then those only listed.
    #[serde(skip)]
    pub milestones: Vec<RoadmapMilestone>,
    /// The milestone that VBW names above the phases: `**Milestone:** bread`.
    #[serde(skip)]
    pub milestone: Option<String>,
    /// Headings, list entries and open boxes that seem to be phases, but whose numbers are not read.
    #[serde(skip)]
    pub not_understood: Vec<Located<String>>,
}

/// An entry of a phase's plan checklist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoadmapPlan {
    /// The plan's number, if the entry names one.
    pub plan: Option<PlanNumber>,
    /// The text after the number.
    #[serde(skip)]
    pub title: Option<String>,
    /// The entry, verbatim.
    pub text: String,
    /// Whether the entry is checked; `None` without a checkbox.
    pub checked: Option<bool>,
    /// Whether the entry is struck out, so that the plan will not be done.
    #[serde(skip)]
    pub is_dropped: bool,
}

/// A phase of the roadmap.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RoadmapPhase {
    /// The phase number.
    pub number: PhaseNumber,
    /// The name, verbatim.
    pub name: Option<String>,
    /// The goal.
    pub goal: Option<String>,
    /// The phases that it depends on.
    pub depends_on: Vec<PhaseNumber>,
    /// The requirements that it covers: ids if given, otherwise the text.
    pub requirements: Vec<String>,
    /// What must be true when it is complete.
    pub success_criteria: Vec<String>,
    /// The plan checklist.
    pub plans: Vec<RoadmapPlan>,
    /// The progress. In order of precedence, it is derived from the progress table, the phase's own status,
    /// its checkbox, its plans' checkboxes; `None` if there are none of these.
    pub status: Option<PhaseProgress>,
    /// The mark in the phase's checkbox.
    #[serde(skip)]
    pub checkbox: Option<Located<bool>>,
    /// The row in the progress table.
    #[serde(skip)]
    pub row: Option<ProgressRow>,
    /// The phase's own `Status:` label or the mark in its heading, verbatim.
    #[serde(skip)]
    pub stated_status: Option<Located<String>>,
    /// The value of the `Plans:` label, verbatim: `3 plans`, `2/3 plans complete`.
    #[serde(skip)]
    pub plan_count: Option<Located<String>>,
    /// The index of its milestone in `Roadmap::milestones`.
    #[serde(skip)]
    pub milestone: Option<usize>,
    /// Whether it belongs to a shipped milestone.
    #[serde(skip)]
    pub is_shipped: bool,
    /// Whether a heading or a list entry names it; a phase that is only in a table may belong to another
    /// milestone.
    #[serde(skip)]
    pub is_listed: bool,
    /// Whether it has a section, the first of which describes it.
    #[serde(skip)]
    has_section: bool,
    /// Line number of the first mention, from 1.
    #[serde(skip)]
    pub line: usize,
}

/// A milestone named in the roadmap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoadmapMilestone {
    /// The name, verbatim.
    pub name: String,
    /// Whether the roadmap calls it shipped.
    pub is_shipped: bool,
    /// Whether the roadmap calls it complete.
    is_complete: bool,
    /// The range of its phase numbers, if stated.
    pub phases: Option<Range<PhaseNumber>>,
    /// Byte range that contains its phases; empty if it is only listed.
    pub range: Range<usize>,
    /// Line number of its name, from 1.
    pub line: usize,
}

/// Maximum number of milestones: each mention of a phase is looked for in all of them.
const MAX_MILESTONES: usize = 1_000;

impl Roadmap {
    /// Parses a ROADMAP.md, or the roadmap of an archived milestone, whose headings show how phases are numbered.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        Self::parse_with(text, path, PhaseNumbering::detect(text, || false))
    }

    /// Parses a ROADMAP.md of a project that numbers its phases in the given way.
    pub fn parse_with(text: &str, path: &Path, numbering: PhaseNumbering) -> Parsed<Self> {
        Self::parse_beside(text, path, numbering, |_| false)
    }

    /// Does the same beside other files, which may say that a milestone is over.
    pub(crate) fn parse_beside(
        text: &str,
        path: &Path,
        numbering: PhaseNumbering,
        is_over: impl Fn(&str) -> bool,
    ) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let front = FrontMatter::parse(text, path).into_value(&mut warnings);
        let outline = Outline::parse_beginning(text, front.range.end);
        warnings.extend(outline.warning(path));
        let milestones = milestone::milestones(&outline, numbering, is_over);
        let mut assembly = Assembly {
            outline: &outline,
            numbering,
            milestones,
            phases: Vec::new(),
            by_number: HashMap::new(),
            unread: Vec::new(),
            is_template: false,
        };
        assembly.read();
        let Assembly { mut phases, milestones, unread, .. } = assembly;
        phases.sort_by(|a, b| (!a.is_shipped, &a.number).cmp(&(!b.is_shipped, &b.number)));
        let mut not_understood = not_understood(&outline, numbering);
        not_understood.extend(unread);
        not_understood.truncate(MAX_REPORTED);
        let unknown = phases.iter().filter_map(|phase| phase.row.as_ref()?.unread_status());
        let unknown = unknown.take(MAX_REPORTED).map(|found| (found, "unknown status"));
        let unread = not_understood.iter().map(|found| (found, "not understood as a phase"));
        warnings.extend(unknown.chain(unread).map(|(found, what)| found.warning(path, what)));
        warnings.extend(unprefixed(&phases).take(MAX_REPORTED).map(|phase| {
            let message = format!("phase {} has no milestone in its number", phase.number);
            Warning::at(path, phase.line, message)
        }));
        // VBW names the milestone by a label above the phases.
        let heads = outline.sections().iter().take_while(|section| section.level < 2);
        let mut labels = heads.flat_map(|section| outline.labels(&section.own));
        let label = labels.find(|label| has("label of a milestone", &label.name.to_lowercase()));
        let label = label.and_then(|label| given(&label.value));
        let milestone = label.or_else(|| milestone::in_heading(&outline).map(str::to_owned));
        let title = outline.title().map(str::to_owned);
        Parsed { value: Self { title, phases, milestones, milestone, not_understood }, warnings }
    }

    /// Returns the phase of a number, preferring one that has not shipped.
    pub(crate) fn phase(&self, number: &PhaseNumber) -> Option<&Arc<RoadmapPhase>> {
        let same = self.phases.iter().filter(|phase| phase.number == *number);
        same.min_by_key(|phase| phase.is_shipped)
    }

    /// Returns whether it calls a milestone shipped.
    pub(crate) fn has_shipped(&self) -> bool {
        self.milestones.iter().any(|milestone| milestone.is_shipped)
    }

    /// Returns the phases of milestones that have not shipped, without removed, superseded or deferred ones.
    pub fn active_phases(&self) -> impl Iterator<Item = &RoadmapPhase> {
        self.phases.iter().map(Arc::as_ref).filter(|phase| {
            !phase.is_shipped && !phase.status.is_some_and(PhaseProgress::is_dropped)
        })
    }
}

/// The phases found so far, merged from headings, checklists and tables.
struct Assembly<'a, 'o> {
    outline: &'a Outline<'o>,
    numbering: PhaseNumbering,
    milestones: Vec<RoadmapMilestone>,
    phases: Vec<Arc<RoadmapPhase>>,
    /// The phases of each number: several if milestones restart the numbering.
    by_number: HashMap<PhaseNumber, Vec<usize>>,
    /// Lines that name a phase in a form that is not read.
    unread: Vec<Located<String>>,
    /// Whether it lists phases of a template that was not filled in: `Phase 1: {name}`.
    is_template: bool,
}

impl Assembly<'_, '_> {
    /// Collects all mentions of phases.
    fn read(&mut self) {
        let (outline, numbering) = (self.outline, self.numbering);
        let named = |section| {
            let phase = parse_phase(title(outline, section)?, numbering)?;
            Some((RoadmapPhase { has_section: true, ..phase }, section))
        };
        // The headings that name a phase, with their sections.
        let headings: Vec<_> = outline.sections().iter().filter_map(named).collect();
        let details = Ranges::merge(headings.iter().map(|(_, section)| section.whole.clone()));
        for (mut phase, section) in headings {
            section::read(outline, section, numbering, &mut phase);
            phase.milestone = self.home(section.heading.start, &phase.number);
            self.merge(phase);
        }
        let entries = entries(outline, &details, numbering);
        let read: HashSet<usize> = entries.iter().map(|(_, at)| *at).collect();
        let mut boxed: HashSet<(Option<usize>, PhaseNumber)> = HashSet::new();
        for (mut phase, at) in entries {
            phase.milestone = self.home(at, &phase.number);
            if phase.checkbox.is_some() {
                let is_first = boxed.insert((phase.milestone, phase.number.clone()));
                // Two phases: `1-A` and `1-B`.
                let line = outline.text()[at..].lines().next().unwrap_or_default();
                if !is_first && is_read_in_part(line, numbering) {
                    self.unread.push(Located {
                        value: line.to_owned(),
                        range: at..at,
                        line: phase.line,
                    });
                }
            }
            self.merge(phase);
        }
        let all = outline.all();
        for (phase, milestone) in
            outline.tables(&all).filter_map(|table| rows(table, numbering)).flatten().flatten()
        {
            let version = milestone.and_then(milestone::version);
            let is_named = |one: &RoadmapMilestone| milestone::version(&one.name) == version;
            let milestone = version.and_then(|_| self.milestones.iter().position(is_named));
            self.merge(RoadmapPhase { milestone, ..phase });
        }
        for (number, line) in unread_items(outline, &read, numbering) {
            let is_known = |number| self.is_template || self.by_number.contains_key(&number);
            self.unread.extend((!number.is_some_and(is_known)).then_some(line));
        }
        self.add_numbers(unread_numbers(outline, &details, numbering));
        self.assign_by_range();
        self.phases.iter_mut().for_each(|phase| Arc::make_mut(phase).set_status());
        if self.unread.is_empty()
            && !self.is_template
            && self.phases.iter().all(|one| one.is_shipped)
        {
            let work =
                unread_work(outline, numbering, self.phases.is_empty(), |span| self.is_known(span));
            self.unread.extend(work);
        }
    }

    /// Returns whether a line names a phase that was read, or stands where no work of the open milestone can: in a shipped one
    /// or, beside phases that have shipped, outside of an open one.
    fn is_known(&self, span: &Span<'_>) -> bool {
        let phase = phase_in_front(span.text, self.numbering).map(|(number, _)| number);
        let mut homes = self.milestones.iter().filter(|one| one.range.contains(&span.start));
        phase.is_some_and(|number| self.by_number.contains_key(&number))
            || match self.phases.is_empty() {
                true => homes.any(|one| one.is_shipped),
                false => !homes.any(|one| !one.is_shipped),
            }
    }

    /// Adds the unread numbers of phases that nothing else names; if one has another name than the phase of its number, they
    /// number something else.
    fn add_numbers(&mut self, mut found: Vec<(PhaseNumber, Located<String>)>) {
        let is_other = |(number, line): &(PhaseNumber, Located<String>)| {
            let same = self.by_number.get(number).into_iter().flatten();
            let mut names = same.filter_map(|at| self.phases[*at].name.as_deref());
            names.any(|name| !may_be_same(&line.value, name))
        };
        if found.iter().any(is_other) {
            return;
        }
        found.retain(|(number, line)| {
            let home = self.home(line.range.start, number);
            // Without any phase, numbered headings may be chapters.
            !self.by_number.contains_key(number)
                && (line.value.starts_with('|') || !self.phases.is_empty())
                && !home.is_some_and(|at| self.milestones[at].is_shipped)
        });
        self.unread.extend(found.into_iter().map(|(_, line)| line));
    }

    /// Returns the innermost milestone whose block or section contains a byte offset and may contain the phase. A number
    /// outside of a section's stated range was added below it later, but a collapsed block ends where it says.
    fn home(&self, at: usize, number: &PhaseNumber) -> Option<usize> {
        let text = self.outline.text();
        // An open box in the block of a shipped milestone is work that was carried over.
        let is_unticked = text.get(..at).unwrap_or_default().trim_end().ends_with("[ ]");
        let holding = self.milestones.iter().enumerate().filter(|(_, milestone)| {
            let phases = milestone.phases.as_ref();
            milestone.range.contains(&at)
                && (phases.is_none_or(|phases| phases.contains(number))
                    || !is_unticked && text[milestone.range.start..].starts_with("<details"))
        });
        holding.min_by_key(|(_, milestone)| milestone.range.len()).map(|(index, _)| index)
    }

    /// Adds what a mention says to the phase of its number in its milestone, or a new phase if none matches. Only a list
    /// entry or a row outside of shipped milestones may mean a phase that has shipped.
    fn merge(&mut self, found: RoadmapPhase) {
        if found.name.as_deref().is_some_and(|name| name.starts_with('{') && is_absent(name)) {
            self.is_template = true;
            return;
        }
        let is_shipped = found.milestone.is_some_and(|index| self.milestones[index].is_shipped);
        let same = self.by_number.entry(found.number.clone()).or_default();
        let find = |may_differ: bool| {
            same.iter().copied().find(|index| {
                let phase = &self.phases[*index];
                let both = phase.milestone.zip(found.milestone);
                (may_differ || phase.is_shipped == is_shipped)
                    && both.is_none_or(|(own, other)| own == other)
            })
        };
        let may_differ = !found.has_section && !is_shipped;
        let Some(index) = find(false).or_else(|| find(true).filter(|_| may_differ)) else {
            same.push(self.phases.len());
            self.phases.push(Arc::new(RoadmapPhase { is_shipped, ..found }));
            return;
        };
        let phase = Arc::make_mut(&mut self.phases[index]);
        phase.milestone = phase.milestone.or(found.milestone);
        phase.is_shipped |= is_shipped;
        phase.line = phase.line.min(found.line);
        // Only the first section of a phase describes it.
        if !found.has_section {
            phase.is_listed |= found.is_listed;
            phase.name = phase.name.take().or(found.name);
            phase.status = phase.status.or(found.status);
            phase.checkbox = phase.checkbox.take().or(found.checkbox);
            phase.stated_status = phase.stated_status.take().or(found.stated_status);
            phase.row = phase.row.take().or(found.row);
            if phase.plans.is_empty() {
                phase.plans = found.plans;
            }
        }
    }

    /// Assigns each phase without a milestone to the first milestone whose range includes its number, of those with the
    /// same numbers to an open one.
    fn assign_by_range(&mut self) {
        let homeless = self.phases.iter_mut().filter(|phase| phase.milestone.is_none());
        for phase in homeless.map(Arc::make_mut) {
            let is_reused = self.by_number[&phase.number].len() > 1;
            let holds = |one: &RoadmapMilestone| {
                one.phases.as_ref().is_some_and(|range| range.contains(&phase.number))
            };
            let mut milestones = self.milestones.iter();
            let open = milestones.clone().position(|one| !one.is_shipped && holds(one));
            phase.milestone = open.or_else(|| milestones.position(holds).filter(|_| !is_reused));
            phase.is_shipped |=
                phase.milestone.is_some_and(|index| self.milestones[index].is_shipped);
        }
    }
}

impl RoadmapPhase {
    /// Returns the status that its own text states; an open box overrules one that says complete, since what stands behind a
    /// name may describe it.
    pub(crate) fn own_progress(&self) -> Option<PhaseProgress> {
        let own = PhaseProgress::stated(&self.stated_status.as_ref()?.value);
        let is_unticked = self.checkbox.as_ref().is_some_and(|mark| !mark.value);
        own.filter(|own| *own != PhaseProgress::Complete || !is_unticked)
    }

    /// Sets the status. In order of precedence: a status that drops the phase, the progress table, its own status, its
    /// checkbox, its plans' checkboxes.
    fn set_status(&mut self) {
        let own = self.own_progress();
        let row = self.row.as_ref().and_then(ProgressRow::progress);
        let mut dropping = [self.status, row, own].into_iter().flatten();
        let dropped = dropping.find(|progress| progress.is_dropped());
        let plans = self.plans.iter().filter(|plan| !plan.is_dropped);
        let marks: Vec<bool> = plans.filter_map(|plan| plan.checked).collect();
        let boxed = match (self.checkbox.as_ref().map(|mark| mark.value), marks.as_slice()) {
            (None, []) => None,
            (Some(true), _) => Some(PhaseProgress::Complete),
            (_, marks) if !marks.contains(&true) => Some(PhaseProgress::NotStarted),
            (None, marks) if !marks.contains(&false) => Some(PhaseProgress::Complete),
            _ => Some(PhaseProgress::InProgress),
        };
        self.status = dropped.or(row).or(own).or(boxed);
    }
}

/// What ends a phase's name: its markup, or a remark in italics or in capitals.
const NAME_ENDS: &[&str] = &["**", "](", "~~", " _(", " *(", " (INSERTED"];

/// Returns whether a text begins with what ends a phase's name, or with a remark that counts plans: ` (3 plans)`.
fn ends_name(text: &str) -> bool {
    NAME_ENDS.iter().any(|end| text.starts_with(end))
        || text.strip_prefix(" (").is_some_and(|remark| {
            let inner = remark.split(')').next().unwrap_or_default();
            inner.starts_with(is_digit) && inner.contains("plan")
        })
}

/// Parses a text that begins with `Phase` and a number: the name, the status after it, and whether that drops the phase.
fn parse_phase(text: Span<'_>, numbering: PhaseNumbering) -> Option<RoadmapPhase> {
    let line = text.first_line();
    let behind_mark = split_mark(line.text).filter(|(mark, _)| states_progress(mark));
    let behind_mark = behind_mark.map(|(_, text)| text);
    let begins = unmarked(behind_mark.unwrap_or(line.text));
    after_phase(begins)?.strip_prefix(' ')?;
    let mark = line.part(0..line.text.len() - behind_mark.unwrap_or(begins).len());
    let (number, rest) = phase_in_front(begins, numbering)?;
    let rest = line.after(rest.as_ptr() as usize - line.text.as_ptr() as usize);
    // GSD allows a tag before the name: `Phase 26 (Cluster B): Name`.
    let tag = rest.text.strip_prefix('(').and_then(|tag| tag.split_once("):"));
    let in_tag = tag.map(|(tag, _)| rest.part(1..1 + tag.len()));
    let says = |span: &Span<'_>| states_progress(span.text) || remark_drops(span.text);
    let in_tag = in_tag.and_then(|span| split_status(span).1.or(Some(span).filter(says)));
    let rest = tag.map_or(rest, |(_, name)| rest.suffix(name.trim_start()));
    let is_struck = line.text.starts_with("~~") || line.text.starts_with("**~~");
    let mut ends = rest.text.match_indices(['*', ']', '~', ' ']).map(|(at, _)| at);
    let end = ends.find(|at| ends_name(&rest.text[*at..])).unwrap_or(rest.text.len());
    let (name, remarks) = (rest.part(0..end), rest.after(end));
    // Without a name, the status follows the number: `Phase 1 (complete)`.
    let is_remark =
        !name.text.starts_with(char::is_alphanumeric) || name.text == name.text.to_uppercase();
    let is_nameless = is_remark && states_progress(name.text);
    let (bare, status) = match is_nameless {
        true => (name.part(0..0), Some(name)),
        false => split_status(name),
    };
    let bare = bare.text.trim_matches(|c: char| c.is_whitespace() || "*~:_".contains(c));
    let is_dropping = |span: &Span<'_>| remark_drops(span.text);
    // Other text in the brackets after a name describes its content.
    let mut inside = remarks.text.match_indices('(').map(|(at, _)| {
        let end = remarks.text[at..].find(')').map_or(remarks.text.len(), |end| at + end);
        remarks.part(at + 1..end)
    });
    // Behind a link, too: `[Phase 1: Name](#phase-1) ✅`.
    let link = remarks.text.strip_prefix("](").and_then(|link| link.split_once(')'));
    let behind = link.map_or(remarks, |(_, behind)| remarks.suffix(behind));
    let behind = behind.trim_chars(&['*', '~', '_', ' ', '-', '–', '—', '[', ']']);
    let status = in_tag.or(status).or_else(|| inside.find(is_dropping));
    let status = status
        .or(Some(behind).filter(|span| only_states_progress(span.text)))
        // What stands in front says less: `✅ **Phase 1: Name**`, `[DONE] Phase 1: Name`.
        .or(Some(mark).filter(|span| states_progress(span.text)));
    let dropped = status.filter(is_dropping);
    let dropped =
        dropped.map(|span| PhaseProgress::parse(span.text).unwrap_or(PhaseProgress::Removed));
    Some(RoadmapPhase {
        number,
        name: Some(bare.to_owned()).filter(|name| !name.is_empty()),
        status: is_struck.then_some(PhaseProgress::Removed).or(dropped),
        stated_status: status.map(Span::stated),
        is_listed: true,
        line: line.line,
        ..RoadmapPhase::default()
    })
}

/// Returns the phases with a plain number that is the milestone of others: `Phase 2` beside `Phase 2-01`.
fn unprefixed(phases: &[Arc<RoadmapPhase>]) -> impl Iterator<Item = &RoadmapPhase> {
    let of = |numbering| {
        let all = phases.iter().map(Arc::as_ref);
        all.filter(move |phase| phase.number.numbering() == numbering)
    };
    let prefixed = of(PhaseNumbering::MilestonePrefixed).map(|phase| phase.number.whole());
    let milestones: HashSet<u32> = prefixed.collect();
    of(PhaseNumbering::Plain).filter(move |phase| milestones.contains(&phase.number.whole()))
}

/// Returns the title of a section where it stands in the file.
fn title<'o>(outline: &Outline<'o>, section: &Section) -> Option<Span<'o>> {
    let line = outline.text().get(section.heading.clone()).filter(|_| section.level > 0)?;
    let title = line.trim_start_matches('#');
    Some(Span::new(title, section.heading.end - title.len(), section.line))
}

/// Returns the entries of phase checklists, with the offsets at which they begin; those in a phase's own section, among the
/// `details`, are its plans, not phases.
fn entries(
    outline: &Outline<'_>,
    details: &Ranges,
    numbering: PhaseNumbering,
) -> Vec<(RoadmapPhase, usize)> {
    let lists = Ranges::merge(
        document::sections(outline, "phases of a roadmap").map(|section| section.own.clone()),
    );
    let all = outline.all();
    let items: Vec<_> = outline.items(&all).collect();
    let bullets = items
        .iter()
        .enumerate()
        .filter(|(_, (block, item))| item.depth == 0 && !details.contains(block.range.start));
    let mut marked_end = 0;
    let entries = bullets.filter_map(|(index, (block, item))| {
        let at = block.range.start;
        let mut phase = parse_phase(Span::from_block(outline, block), numbering)?;
        let below = items[index + 1..].iter().take_while(|(_, item)| item.depth > 0);
        section::read_entries(outline, below.copied(), &mut phase);
        let checkbox = section::checkbox(outline, block, item);
        // `Phase 1 resolves …` is a sentence unless it has a checkbox or a symbol, or follows an entry with one.
        let front = item.text.split(char::is_alphanumeric).next().unwrap_or_default();
        let has_mark =
            || split_mark(&item.text).is_some() || PhaseProgress::from_symbol(front).is_some();
        let between = outline.text().get(marked_end..item.whole.start);
        let is_marked =
            has_mark() || marked_end > 0 && between.is_some_and(|text| text.trim().is_empty());
        if is_marked {
            marked_end = item.whole.end;
        }
        let is_entry = item.checked.is_some() || lists.contains(at) || is_marked;
        is_entry.then_some((RoadmapPhase { checkbox, ..phase }, at))
    });
    entries.collect()
}

/// Splits an entry with a mark of its own in its box: `[~] Phase 2`, `[WIP] Phase 2`.
fn split_mark(text: &str) -> Option<(&str, &str)> {
    let split = text.trim_start().strip_prefix('[')?.split_once("] ");
    split.filter(|(mark, _)| mark.chars().count() <= MAX_MARK_LENGTH)
}

/// Maximum length of the mark in a box, in characters.
const MAX_MARK_LENGTH: usize = 24;

/// A phase's row in a progress table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgressRow {
    /// The plan count cell: `3/3`, `4`.
    pub plans: Option<Located<String>>,
    /// Number of complete plans, according to that cell.
    pub plans_complete: Option<u32>,
    /// Total number of plans, according to that cell.
    pub plans_total: Option<u32>,
    /// The cell that counts tasks.
    pub tasks: Option<Located<String>>,
    /// The cell that counts commits.
    pub commits: Option<Located<String>>,
    /// The status cell, verbatim.
    pub status: Option<Located<String>>,
    /// Whether all columns of the table are about phases.
    pub is_about_phases: bool,
    /// The cell with the completion date; also set if empty, so that it can be filled in.
    pub completed: Option<Located<String>>,
}

impl ProgressRow {
    /// Returns the progress that the status cell states.
    pub(crate) fn progress(&self) -> Option<PhaseProgress> {
        let Some(status) = &self.status else {
            // Without a column for the status, the plans show whether all of it is done.
            let counts = self.plans_complete.zip(self.plans_total).filter(|_| self.is_about_phases);
            let is_done = counts.is_some_and(|(done, all)| all > 0 && done >= all);
            return is_done.then_some(PhaseProgress::Complete);
        };
        let read = if self.is_about_phases { PhaseProgress::stated } else { PhaseProgress::parse };
        let dropped = || remark_drops(&status.value).then_some(PhaseProgress::Removed);
        read(&status.value).or_else(dropped)
    }

    /// Returns the status cell if it has a word that is not understood. The cells of a row may have shifted, so that a date
    /// stands there.
    pub(crate) fn unread_status(&self) -> Option<&Located<String>> {
        let found = self.status.as_ref().filter(|_| self.progress().is_none())?;
        let is_word = |value: &str| !value.contains(' ') && parse_date(value).is_none();
        non_placeholder(&found.value).is_some_and(is_word).then_some(found)
    }
}

/// A row of a table of phases: the phase and the cell of its milestone, or the first cell if its id is not read.
type Row<'t> = Result<(RoadmapPhase, Option<&'t str>), Span<'t>>;

/// Returns the rows of a table of phases with their status; `None` for any other table. The phase must be the first column,
/// since requirement tables also name phases.
fn rows<'t>(table: &'t Table, numbering: PhaseNumbering) -> Option<impl Iterator<Item = Row<'t>>> {
    let headers: Vec<String> = table.header.iter().map(|cell| document::heading(cell)).collect();
    let column =
        |names: &[&str]| names.iter().find_map(|name| headers.iter().position(|own| own == name));
    let first = headers.first().map_or("", String::as_str);
    let is_number = table.header.first().is_some_and(|cell| cell.trim() == "#");
    // `Plans written / executed` counts in another order.
    let mut cells = table.header.iter().zip(&headers);
    let plans = cells.position(|(cell, header)| header.starts_with("plans") && !cell.contains('/'));
    let plans = plans.or_else(|| column(&["done", "progress"]));
    let status = column(&["status", "state"]);
    if !is_number && !["phase", "no", "no.", "nr"].contains(&first) || status.or(plans).is_none() {
        return None;
    }
    let name = column(&["name", "phase", "title"]).filter(|index| *index > 0);
    // Anything may be numbered: decisions, risks, tasks.
    if is_number && name.or(plans).or(column(&["goal"])).is_none() {
        return None;
    }
    // Beside other columns, such as requirements, a share or a `Yes` may be about these.
    let is_about_phases = !is_number
        && headers.iter().all(|own| own.starts_with("plans") || has("column of phases", own));
    let milestone = column(&["milestone"]);
    let completed = column(&["completed", "date", "completed on", "shipped"]);
    let [tasks, commits] = [column(&["tasks"]), column(&["commits"])];
    let read = move |row: &'t TableRow| {
        let cell = |index: Option<usize>| {
            let index = index?;
            let (text, range) = (row.cells.get(index)?, row.ranges.get(index)?);
            Some(Span::new(text, range.start, row.line))
        };
        let first = row.cells.first()?;
        let numbered = phase_in_front(first, numbering).or_else(|| coded_phase(first, numbering));
        let Some((number, rest)) = numbered else {
            let is_open = cell(status).is_some_and(|span| PhaseProgress::is_open_status(span.text));
            return cell(Some(0)).filter(|span| is_open && is_id(span.text, numbering)).map(Err);
        };
        let (counted, beside) = match cell(plans).and_then(counts) {
            Some((counted, rest)) => (counted, Some(rest)),
            None => (ProgressRow::default(), cell(plans)),
        };
        let read = if is_about_phases { PhaseProgress::stated } else { PhaseProgress::parse };
        let beside = beside.filter(|span| read(span.text).is_some());
        // A table of something else may have numbers and a column `Done`, too.
        if is_number
            && status.or(plans.filter(|_| beside.is_some())).is_none()
            && counted.plans_complete.is_none()
        {
            return None;
        }
        let name = cell(name).map_or(rest, |span| span.text);
        let phase = RoadmapPhase {
            number,
            name: Some(name.to_owned()).filter(|name| !name.is_empty()),
            row: Some(ProgressRow {
                status: if status.is_some() { cell(status) } else { beside }.map(Span::stated),
                is_about_phases,
                completed: cell(completed).map(Span::stated),
                tasks: cell(tasks).map(Span::stated),
                commits: cell(commits).map(Span::stated),
                ..counted
            }),
            line: row.line,
            ..RoadmapPhase::default()
        };
        Some(Ok((phase, cell(milestone).map(|span| span.text))))
    };
    Some(table.rows.iter().filter_map(read))
}

/// Returns whether a cell is an id that is not read, `KIOSK-03`, rather than a range of phases, a version or a total.
fn is_id(cell: &str, numbering: PhaseNumbering) -> bool {
    let word = cell.trim_matches(['*', ' ']);
    let is_word = word.starts_with(char::is_alphabetic) && !word.contains(char::is_whitespace);
    is_word
        && word.ends_with(is_digit)
        && numbering.split(word).is_none()
        && milestone::version(word).is_none()
}

/// Parses a cell with a coded number: `B7`, `B7. Name`, `**B7** - Name`; `S3 upload` is a name.
fn coded_phase(cell: &str, numbering: PhaseNumbering) -> Option<(PhaseNumber, &str)> {
    let (number, rest) = numbering.split(cell.trim_matches(['*', ' ']))?;
    let is_id = rest.is_empty() || rest.starts_with(['.', ':', '*']) || rest.starts_with(" -");
    let name = rest.trim_start_matches(['.', ':', '*', '-', '–', '—', ' ']);
    (number.has_code() && is_id).then_some((number, name))
}

/// Splits `1. Name`, `Phase 1: Name`, `[2. Name](#x)`, `**05.1** Name` into number and name.
pub(crate) fn phase_in_front(text: &str, numbering: PhaseNumbering) -> Option<(PhaseNumber, &str)> {
    let text = unmarked(text);
    let named = after_phase(text).map(str::trim_start);
    // Without the word, `M1` may be a milestone and `S3` a name.
    let (number, rest) = numbering.split(named.unwrap_or(text))?;
    if named.is_none() && number.has_code() {
        return None;
    }
    // `1-4` is a range of phases, `01-foundation` is a single one.
    let after = rest.trim_start_matches(['-', '–', '—']);
    if after.len() < rest.len() && after.starts_with(is_digit) {
        return None;
    }
    let rest = rest.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '.' | ':' | '-' | '–' | '—' | '*' | '~')
    });
    Some((number, rest.split("](").next().unwrap_or(rest)))
}

/// Parses the count of a cell, and what follows it: `3/4` and `3 of 4` are complete and total, `4` is the total, `0/TBD`
/// complete.
fn counts(cell: Span<'_>) -> Option<(ProgressRow, Span<'_>)> {
    let (done, total, mut rest) = cell.count()?;
    let (plans_complete, plans_total) = match total {
        Some(total) => (Some(done.value), Some(total.value)),
        None if rest.text.starts_with('/') => {
            rest = rest.after(rest.text.find(' ').unwrap_or(rest.text.len()));
            (Some(done.value), None)
        }
        // `01-03` is a range of plans, `40%` a share.
        None if rest.text.starts_with(['-', '%']) => return None,
        None => (None, Some(done.value)),
    };
    let count = cell.part(0..cell.text.len() - rest.text.len());
    Some((
        ProgressRow {
            plans: Some(count.stated()),
            plans_complete,
            plans_total,
            ..ProgressRow::default()
        },
        rest,
    ))
}

#[cfg(test)]
mod tests;
