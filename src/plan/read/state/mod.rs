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
use crate::markdown::{FrontMatter, Label, Outline, Section};
use crate::plan::read::located::Span;
use crate::plan::read::placeholder::is_none_remark;
use crate::plan::read::status::{is_status, split_status};
use crate::plan::read::{
    Decision, Located, PhaseNumber, PhaseNumbering, WrittenAt, decision, heading, is_absent,
    milestone_version_in, non_placeholder, progress_table, vocabulary, without_emphasis,
};
use crate::project::LayoutName;
use crate::text::{comma_separated, fold, strip_prefix_ignore_case};
use crate::warning::{Parsed, Warning};

mod items;
mod position;

/// A skill named in the Skills section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skill {
    /// The name.
    pub name: String,
    /// `global` or `project`, if stated.
    pub scope: Option<String>,
}

/// An entry of the activity log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The date, if stated.
    pub date: Option<NaiveDate>,
    /// The entry, verbatim, date included.
    pub text: String,
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

/// A single statement of STATE.md about the position; it may be repeated in several places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The current phase's number.
    Phase(PhaseNumber),
    /// The current phase's name.
    Name(String),
    /// The current phase's index in the list of phases, if it differs from its number (`6 of 15 (06.1
    /// Name)`).
    Index(u32),
    /// The status after the phase's name (`2 of 4 (Name) — EXECUTING`).
    PhaseStatus(String),
    /// Number of phases.
    Total(u32),
    /// Number of complete phases.
    PhasesComplete(u32),
    /// The status.
    Status(String),
    /// The progress in percent; the byte range covers the digits.
    Percent(u32),
    /// A done and a total count next to the percentage that restates them.
    Share(u32, u32),
    /// A drawn progress bar, brackets included, which accompanies the percentage.
    Bar(String),
    /// The number of the current plan.
    CurrentPlan(u32),
    /// Number of complete plans of the current phase.
    PlansComplete(u32),
    /// Number of plans of the current phase.
    PlansTotal(u32),
    /// Number of complete plans of the milestone.
    AllPlansComplete(u32),
    /// Number of plans of the milestone.
    AllPlansTotal(u32),
}

/// The status of a phase in STATE.md's list or table of phases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseStatus {
    /// The phase.
    pub number: PhaseNumber,
    /// The name, if stated there.
    pub name: Option<String>,
    /// The status, verbatim.
    pub status: Located<String>,
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
    /// What research left open, as far as it is not settled.
    #[serde(skip)]
    pub research_flags: Vec<String>,
    /// The installed skills.
    pub skills: Vec<Skill>,
    /// All statements about the position, in file order.
    #[serde(skip)]
    pub claims: Vec<Located<Claim>>,
    /// The phases listed with a status, in file order.
    #[serde(skip)]
    pub phase_statuses: Vec<PhaseStatus>,
    /// The slug of the active milestone, if stated.
    #[serde(skip)]
    pub active_milestone: Option<String>,
    /// The next steps, verbatim, in file order, and then the current focus.
    #[serde(skip)]
    pub next_steps: Vec<Located<String>>,
    /// Whether STATE.md says that no milestone is active, since the last one is complete and the next not
    /// started.
    #[serde(skip)]
    pub is_between_milestones: bool,
    /// The activity log, in file order.
    #[serde(skip)]
    pub activity: Vec<Activity>,
    /// When the work went on, according to each of its dates.
    #[serde(skip)]
    pub last_active: Vec<WrittenAt>,
    /// The performance metrics of the active milestone, without those that are listed twice.
    #[serde(skip)]
    pub metrics: Vec<Label>,
    /// Labels of the current phase whose values neither name a phase nor say that there is none.
    #[serde(skip)]
    pub not_understood: Vec<Located<String>>,
    /// How phases are numbered in it.
    #[serde(skip)]
    pub numbering: PhaseNumbering,
}

/// Maximum number of labels without a phase number that are reported individually.
const MAX_UNCLEAR: usize = 20;

/// Maximum number of statements about the position: each is compared with the files, and may be reported.
pub(crate) const MAX_CLAIMS: usize = 1000;

impl StateFile {
    /// Adds the decisions that the planning folder's own STATE.md keeps for all milestones; open items are carried
    /// into a new milestone when it starts.
    pub(crate) fn add_shared(&mut self, shared: Self) {
        let own = std::mem::take(&mut self.decisions);
        self.decisions = decision::distinct(shared.decisions.into_iter().chain(own));
    }

    /// Parses a STATE.md of a project with plain phase numbers.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        Self::parse_with(text, path, PhaseNumbering::Plain)
    }

    /// Parses a STATE.md of a project that numbers its phases in the given way.
    pub fn parse_with(text: &str, path: &Path, numbering: PhaseNumbering) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let front = FrontMatter::parse(text, path).into_value(&mut warnings);
        let outline = Outline::parse_beginning(text, front.range.end);
        warnings.extend(outline.warning(path));
        let mut not_understood = position::unclear_phases(&outline, numbering);
        not_understood.truncate(MAX_UNCLEAR);
        for label in &not_understood {
            let message = format!("the current phase has no number: {:?}", label.value);
            warnings.push(Warning::at(path, label.line, message));
        }
        let mut claims = position::claims(&front, &outline, numbering);
        if let Some(first) = claims.get(MAX_CLAIMS) {
            let message = format!(
                "has more than {MAX_CLAIMS} statements about the position; the rest are ignored"
            );
            warnings.push(Warning::at(path, first.line, message));
            claims.truncate(MAX_CLAIMS);
        }
        let labels = identity_labels(&outline);
        let label = |name: &str| {
            let mut own = labels.iter().filter(|(label, _)| label == name);
            own.find(|(_, value)| !is_none_remark(value)).map(|(_, value)| value.as_str())
        };
        let milestone = StatedMilestone::read(&front, &labels);
        let phase_statuses = phase_statuses(&outline, numbering);
        let mut phase = position::stated_phase(&claims, front.range.end);
        phase.total = phase.total.or_else(|| listed_total(&phase_statuses));
        let project = label("project").map(str::to_owned);
        let items =
            |titles: &'static [&'static str]| items::OpenItems::under(&outline, titles).open;
        let value = Self {
            project: project.or_else(|| outline.title().and_then(project_in_title)),
            core_value: label("core value").map(|value| without_emphasis(value).to_owned()),
            milestone: milestone.text.map(str::to_owned),
            milestone_name: milestone.name.map(str::to_owned),
            phase,
            decisions: decisions(&outline, numbering),
            todos: items::todos(&outline),
            blockers: items::blockers(&outline),
            research_flags: items(&["research flags"]),
            skills: skills(&outline),
            claims,
            phase_statuses,
            active_milestone: milestone.slug.map(str::to_owned),
            next_steps: next_steps(&outline),
            is_between_milestones: position::is_between(&front, &outline, &labels),
            activity: activity(&outline),
            last_active: last_active(&front, &outline),
            metrics: metrics(&outline, milestone.text),
            not_understood,
            numbering,
        };
        Parsed { value, warnings }
    }
}

/// Returns the labels that describe the project and the position, as lower-case name and value.
fn identity_labels(outline: &Outline<'_>) -> Vec<(String, String)> {
    let mut scopes = position::scopes(outline);
    let references = heading::sections(outline, vocabulary::REFERENCES);
    scopes.extend(references.map(|section| section.own.clone()));
    scopes.sort_by_key(|scope| scope.start);
    let labels = scopes.iter().flat_map(|scope| outline.labels(scope));
    labels.map(|label| (label.name.to_lowercase(), label.value)).collect()
}

/// The milestone according to STATE.md.
struct StatedMilestone<'a> {
    /// Its name or version.
    text: Option<&'a str>,
    /// Its title, in addition to a version.
    name: Option<&'a str>,
    /// The slug of the active milestone.
    slug: Option<&'a str>,
}

impl<'a> StatedMilestone<'a> {
    fn read(front: &'a FrontMatter, labels: &'a [(String, String)]) -> Self {
        let all = |name: &'a str| {
            let own = labels.iter().filter(move |(label, _)| label == name);
            own.map(|(_, value)| value.as_str())
        };
        let label = |name| all(name).find(|value| !is_none_remark(value));
        let in_front = |key: &str| front.text(&[key]).and_then(non_placeholder);
        let text = in_front("milestone").or_else(|| label("milestone"));
        let text = text.or_else(|| label("current milestone"));
        let active = all("active milestone").next();
        let is_slug = |value: &&str| {
            !is_absent(value) && !value.contains([' ', '/', '\\']) && !value.starts_with('.')
        };
        // `milestone` is the template's placeholder for a missing name.
        let name = in_front("milestone_name").and_then(without_heading);
        Self {
            text: text.or(active.filter(|value| !is_none_remark(value))).and_then(without_heading),
            name: name.filter(|name| !name.eq_ignore_ascii_case("milestone")),
            slug: active.filter(is_slug),
        }
    }
}

/// Returns a name without the heading of a phase that a tool took for it: `v1.0 ### Phase 1: Base`, `### Phase 1: Base`.
fn without_heading(name: &str) -> Option<&str> {
    let heading = if name.starts_with("##") { Some(0) } else { name.find(" ##") };
    non_placeholder(&name[..heading.unwrap_or(name.len())])
}

/// Returns the project named in a title: `name State`, `STATE: Name`, `Name — Project State`.
fn project_in_title(title: &str) -> Option<String> {
    /// Words in the title of a STATE.md that refer to the file.
    const WORDS: &[&str] = &["state", "state.md", "project", "milestone", "current", "workflow"];
    let is_of_file = |text: &str| {
        let tools = LayoutName::ALL.map(LayoutName::as_str);
        text.split_whitespace()
            .all(|word| WORDS.iter().chain(&tools).any(|known| word.eq_ignore_ascii_case(known)))
    };
    let marks = [": ", " — ", " – ", " -- ", " - "];
    let named = match marks.iter().find_map(|mark| title.split_once(mark)) {
        Some((left, right)) if is_of_file(left) => right,
        Some((left, right)) if is_of_file(right) => left,
        _ => {
            // A title without the word names no project.
            let (rest, word) = title.trim_end().rsplit_once(' ')?;
            let rest = rest.trim_end();
            let project =
                rest.rsplit_once(' ').filter(|(_, word)| word.eq_ignore_ascii_case("project"));
            word.eq_ignore_ascii_case("state").then(|| project.map_or(rest, |(rest, _)| rest))?
        }
    };
    let named = named.trim();
    (!named.is_empty() && !is_of_file(named)).then(|| named.to_owned())
}

/// Returns the number of listed phases, if the list has no gaps and all belong to one milestone.
fn listed_total(phases: &[PhaseStatus]) -> Option<u32> {
    let first = &phases.first()?.number;
    let are_siblings = phases.iter().all(|phase| phase.number.is_sibling(first));
    let mut ordinals: Vec<u32> = phases.iter().map(|phase| phase.number.ordinal()).collect();
    ordinals.sort_unstable();
    ordinals.dedup();
    let is_whole_list = ordinals.iter().zip(1..).all(|(ordinal, expected)| *ordinal == expected);
    u32::try_from(phases.len()).ok().filter(|_| are_siblings && is_whole_list)
}

/// Returns the decisions, including those under subheadings, without phases that are listed among them.
fn decisions(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<Decision> {
    const OVER: &[&str] = &["complete", "completed", "done", "finished", "shipped"];
    let under = |group: &Section| {
        let mut decisions = decision::decisions(outline, &group.own);
        for decision in &mut decisions {
            decision.heading.get_or_insert_with(|| group.title.clone());
        }
        decisions
    };
    let groups = decision::sections(outline).flat_map(|section| {
        let inner = outline.subsections(section).filter(|inner| {
            let is_skills = vocabulary::SKILLS.contains(&heading::words(&inner.title).as_str());
            decision::may_hold(&inner.title) && !is_skills
        });
        std::iter::once(section).chain(inner)
    });
    // `Phase 4 complete: all 11 reports converted` only reports that a phase is over.
    let is_report = |text: &str| {
        let rest = strip_prefix_ignore_case(text, "phase ");
        let rest = rest.and_then(|rest| numbering.split(rest.trim_start()));
        let mut words = rest.map_or("", |(_, rest)| rest).split(|c: char| !c.is_alphanumeric());
        let first = words.find(|word| !word.is_empty());
        first.is_some_and(|word| OVER.iter().any(|over| over.eq_ignore_ascii_case(word)))
    };
    decision::distinct(groups.flat_map(under).filter(|decision| {
        let text = decision.untagged();
        listed_phase(Span::new(text, 0, 1), numbering).is_none() && !is_report(text)
    }))
}

/// Returns the phases listed with a status, the first mention of each, in file order.
///
/// ```text
/// - **Phase 1 (Name):** Complete (4 plans)     - **Phase 2:** Pending
/// - Phase 7: Name ✅                            - **Phase 3: Name** — In progress
/// ```
fn phase_statuses(outline: &Outline<'_>, numbering: PhaseNumbering) -> Vec<PhaseStatus> {
    let mut found: Vec<PhaseStatus> = Vec::new();
    let mut seen = HashSet::new();
    for section in outline.sections() {
        let title = heading::words(&section.title);
        if vocabulary::LOGS.contains(&title.as_str()) {
            continue;
        }
        let is_list = vocabulary::PHASE_LISTS.contains(&title.as_str());
        let tables = outline.tables(&section.own);
        let rows = tables.flat_map(|table| progress_table::rows(table, numbering));
        let rows = rows.filter_map(|row| {
            let status = row.status.filter(|status| !status.value.is_empty())?;
            Some(PhaseStatus { number: row.number, name: row.name, status })
        });
        let bullets = outline.items(&section.own).filter_map(|(block, _)| {
            let text = outline.slice(&block.range);
            let span = Span::new(text, block.range.start, block.line);
            listed_phase(span, numbering).filter(|_| is_list || text.starts_with("**"))
        });
        found.extend(rows.chain(bullets).filter(|status| seen.insert(status.number.clone())));
    }
    found.sort_by_key(|status| status.status.range.start);
    found
}

/// Parses a bullet such as `**Phase 1 (Name):** Complete`.
fn listed_phase(bullet: Span<'_>, numbering: PhaseNumbering) -> Option<PhaseStatus> {
    const MARKS: &[char] = &['*', ':', '-', ' ', '–', '—'];
    let bullet = bullet.part(0..bullet.text.find('\n').unwrap_or(bullet.text.len()));
    let inner = bullet.suffix(bullet.text.trim_start_matches(['*', '~']));
    let rest = strip_prefix_ignore_case(inner.text, "phase ")?;
    let (number, rest) = numbering.split(rest.trim_start())?;
    let rest = inner.suffix(rest);
    let stated = |name: Option<&str>, status: Span<'_>| {
        let status = status.trim_chars(MARKS);
        let name = name.map(|name| name.trim_matches(MARKS).to_owned());
        let status = (!status.text.is_empty()).then(|| status.with_value(status.text.to_owned()));
        Some(PhaseStatus { number, name: name.filter(|name| !name.is_empty()), status: status? })
    };
    if let Some(inside) = rest.text.strip_prefix('(') {
        // Names may contain brackets: the closing one is before the colon or the end of the bold text.
        let end = ["):", ")**"].iter().filter_map(|end| inside.find(end)).min()?;
        return stated(Some(&inside[..end]), rest.suffix(&inside[end + 1..]));
    }
    // If the bold text ends after the number, the rest is the status, whatever its wording.
    if rest.text.starts_with(":**") || rest.text.starts_with("**:") {
        return stated(None, rest);
    }
    if !rest.text.starts_with(MARKS) {
        return None;
    }
    let after = rest.trim_chars(&[':', '-', ' ', '–', '—']);
    let bold = after.text.split_once("**").map(|(name, status)| (name, after.suffix(status)));
    match bold.filter(|(_, status)| is_status(status.text.trim_matches(MARKS))) {
        Some((name, status)) => stated(Some(name), status),
        None => match split_status(after.trim_chars(&['*'])) {
            (name, Some(status)) => stated(Some(name.text), status),
            (name, None) if is_status(name.text) => stated(None, name),
            _ => None,
        },
    }
}

/// Returns the labels anywhere in the file that have a meaning.
fn all_labels(outline: &Outline<'_>, meaning: vocabulary::Label) -> Vec<Label> {
    let mut labels = outline.labels(&(0..outline.text().len()));
    labels.retain(|label| vocabulary::Label::from_name(&label.name) == Some(meaning));
    labels
}

/// Returns the next steps, and after them what the work is said to be about.
fn next_steps(outline: &Outline<'_>) -> Vec<Located<String>> {
    let mut labels = all_labels(outline, vocabulary::Label::NextStep);
    labels.extend(all_labels(outline, vocabulary::Label::Focus));
    labels.iter().map(|label| Span::from_label(label).with_value(label.value.clone())).collect()
}

/// Returns when the work went on, from the front matter and from labels anywhere in the file.
fn last_active(front: &FrontMatter, outline: &Outline<'_>) -> Vec<WrittenAt> {
    let labels = all_labels(outline, vocabulary::Label::LastActive);
    let in_front = ["last_updated", "last_activity"].map(|key| front.text(&[key]));
    let stated = in_front.into_iter().flatten();
    stated.chain(labels.iter().map(|label| &*label.value)).filter_map(WrittenAt::parse).collect()
}

/// Returns the activity log, from bullets and table rows, in file order.
fn activity(outline: &Outline<'_>) -> Vec<Activity> {
    let mut found = Vec::new();
    for section in heading::sections(outline, vocabulary::LOGS) {
        for (block, item) in outline.items(&section.own) {
            if item.depth == 0 && !is_none_remark(&item.text) {
                let date = parse_date(item.text.trim_start_matches('['));
                found.push((block.line, Activity { date, text: item.text.clone() }));
            }
        }
        for table in outline.tables(&section.own) {
            let date = table.column(&["Date", "When"]);
            let text = table.column(&["Action", "Activity", "Event", "What", "Description"]);
            for row in &table.rows {
                let cell = |index: Option<usize>| non_placeholder(row.cells.get(index?)?);
                if let Some(text) = cell(text) {
                    let date = cell(date).and_then(parse_date);
                    found.push((row.line, Activity { date, text: text.to_owned() }));
                }
            }
        }
    }
    found.sort_by_key(|(line, _)| *line);
    found.into_iter().map(|(_, activity)| activity).collect()
}

/// Returns the labels of the metrics sections that are about the active milestone, without repeated ones.
fn metrics(outline: &Outline<'_>, milestone: Option<&str>) -> Vec<Label> {
    let active = milestone.and_then(milestone_version_in);
    // What names no version belongs to the milestone above it.
    let is_other = |version: Option<&str>| active.is_some() && version != active;
    let mut labels = Vec::new();
    let sections = outline.sections();
    for (index, section) in sections.iter().enumerate().filter(|(_, section)| section.level > 0) {
        if !heading::words(&section.title).split(' ').any(|word| word == "metrics") {
            continue;
        }
        let mut above = sections[..=index].iter().rev().filter(|one| {
            one.level > 0
                && (one.line == section.line || one.whole.contains(&section.heading.start))
        });
        let version = above.find_map(|one| milestone_version_in(&one.title));
        let mut is_of_other = version.is_some() && is_other(version);
        for label in outline.labels(&section.own) {
            match milestone_version_in(&label.name) {
                Some(version) => is_of_other = is_other(Some(version)),
                None if !is_of_other => labels.push(label),
                None => {}
            }
        }
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
    for section in heading::sections(outline, vocabulary::SKILLS) {
        let topic = |label: &Label| heading::words(&label.name);
        let is_known = |topic: &str| {
            ["installed", "installed skills", "suggested", "suggested skills", "recommended"]
                .contains(&topic)
        };
        let labels = outline.labels(&section.own);
        let first_label = labels.iter().map(|label| label.line).min();
        let unlabelled = outline.items(&section.own);
        let unlabelled =
            unlabelled.take_while(|(block, _)| first_label.is_none_or(|first| block.line < first));
        let skills = unlabelled.filter_map(|(_, item)| skill(&item.text));
        // `Run /find-skills to find more` is a sentence.
        installed.extend(skills.filter(|skill| !skill.name.starts_with(char::is_uppercase)));
        let parts: Vec<&Label> =
            labels.iter().filter(|label| label.is_bold || is_known(&topic(label))).collect();
        for (index, label) in parts.iter().enumerate() {
            if topic(label).starts_with("installed") {
                let end = parts.get(index + 1).map_or(section.own.end, |next| next.range.start);
                let below: Range<usize> = label.range.end..end;
                let bullets = outline.items(&below).filter(|(block, _)| block.line > label.line);
                let bullets = bullets.map(|(_, item)| item.text.as_str());
                installed.extend(comma_separated(&label.value).chain(bullets).filter_map(skill));
            }
        }
    }
    installed
}

/// Parses `name (global)`, `` `name` — what it does ``.
fn skill(text: &str) -> Option<Skill> {
    let text = text.trim();
    let mut scopes = ["global", "project"].into_iter();
    let scope = scopes.find(|scope| text.contains(&format!("({scope})"))).map(str::to_owned);
    let name = text.split([' ', '(', ':']).find(|word| !word.is_empty())?;
    let name = name.trim_matches(['`', '*', '_', '.']).to_owned();
    (!name.is_empty() && !is_none_remark(text)).then_some(Skill { name, scope })
}

#[cfg(test)]
mod tests;
