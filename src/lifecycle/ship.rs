//! Archives the active milestone with its SHIPPED.md under `milestones/`, and prepares the planning folder for the next one.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::lifecycle::execute::{ExecuteRequest, record, warn_of_open_checks};
use crate::lifecycle::outcome::{CommandOutcome, Work, carry_out};
use crate::lifecycle::sync::{SyncRequest, refresh_with};
use crate::markdown::{Outline, line_start};
use crate::plan::{
    Action, Archive, DEFAULT_MILESTONE, Decision, MilestoneFolder, Phase, PhaseNumber, PhaseState,
    PlanSlot, PlanState, PlanningFolder, Position, StateFile, Survey, document,
};
use crate::project::{Project, vocabulary};
use crate::storage::{Changes, Store, read};
use crate::templates::Template;
use crate::text::{join, line_end, pluralize, shell_word, slug_of, strip_prefix_ignore_case};
use crate::warning::{Parsed, Warning};
use crate::{plan, templates};

/// The options of `annals ship`.
#[derive(Args, Debug, Default)]
pub struct ShipRequest {
    /// The name to archive under, for a milestone that has no folder of its own
    #[arg(long, value_name = "SLUG")]
    pub milestone: Option<String>,
    /// Ship although plans are open or phases are not planned
    #[arg(long)]
    pub force: bool,
    /// Only clean up after a milestone that was archived in another way
    #[arg(long)]
    pub cleanup_only: bool,
}

/// The outcome of `annals ship`.
#[derive(Debug, Default, Serialize)]
pub struct ShipReport {
    /// The archived milestone; null if there was none to ship.
    pub archived: Option<Archived>,
    /// The milestone that was left as it is, since only the clean-up was asked for.
    pub kept: Option<String>,
    /// The phases that were recorded in PATTERNS.md in the process.
    pub recorded: Vec<String>,
    /// Those of them whose summaries state no lesson.
    pub without_lessons: Vec<String>,
    /// The session notes that were removed.
    pub removed: Vec<PathBuf>,
    /// The milestone that is active now.
    pub active: Option<String>,
    /// The planning tool's own command that archives, if annals must not archive its milestones.
    pub left_to: Option<String>,
}

impl CommandOutcome<ShipReport> {
    /// Fails if part of the work was not done: a context file is protected by a rule, or another tool
    /// archives the milestone.
    pub fn verdict(&self) -> Result<()> {
        self.refusal()?;
        match &self.value.left_to {
            Some(command) => Err(Error::refused(
                "the planning tool archives this milestone itself; annals only cleans up",
            )
            .hint(command.clone())),
            None => Ok(()),
        }
    }
}

/// Ships the active milestone; all moves are in one transaction, so that a ship is done completely or not at
/// all.
pub fn ship(project: &Project, request: &ShipRequest) -> Result<CommandOutcome<ShipReport>> {
    let stores = [Store::Plan, Store::Patterns, Store::Context];
    project.planning()?;
    carry_out(project, "ship", &stores, |work| plan(project, request, work))
}

/// Plans all changes of shipping, before any of them is made.
fn plan(project: &Project, request: &ShipRequest, work: &mut Work) -> Result<ShipReport> {
    let survey = Survey::read(project)?;
    let mut report = ShipReport::default();
    work.warnings.extend(survey.warnings.iter().cloned());
    let layout = &project.planning_place().layout;
    let is_foreign = layout.name.keeps_milestones();
    if !request.cleanup_only && !request.force {
        survey.check_understood()?;
    }
    let has_work = has_work(&survey, is_foreign);
    let ships = !request.cleanup_only && has_work;
    if ships && !request.force {
        check(project, &survey.position).map_err(|refusal| {
            if !is_foreign {
                return refusal;
            }
            let ship = &layout.commands.ship;
            refusal.hint(format!("finish or drop what is open; {ship} archives the milestone then"))
        })?;
        work.warnings.extend(survey.unread_files());
    }
    let moved = if request.cleanup_only { moved_milestone(&survey, &work.changes)? } else { None };
    if ships || request.cleanup_only {
        // Before the milestone moves, because its session notes must not be archived.
        report.removed =
            remove_session_notes(project, &survey, moved.as_deref(), &mut work.changes)?;
    }
    if request.cleanup_only && has_work && moved.is_none() {
        report.kept = Some(milestone_name(project, &survey));
    }
    let mut after = survey.clone();
    if ships && !is_foreign {
        let all = ExecuteRequest { all: true, ..ExecuteRequest::default() };
        let done = record(project, &survey, &all, work)?;
        let failed = warn_of_open_checks(&survey, &done.recorded, |_| String::new());
        work.warnings.extend(failed);
        (report.recorded, report.without_lessons) = (done.recorded, done.without_lessons);
        let (done, left) = archive(project, &survey, request.milestone.as_deref(), work)?;
        report.active = (!left.position.phases.is_empty()).then(|| left.folder.active.slug.clone());
        after = left;
        report.archived = Some(done);
    }
    if let Some(slug) = &moved
        && let Some(next) = next_milestone(&survey, slug, &mut work.changes)?
    {
        report.active = Some(next.slug.clone());
        after = afterwards(project, &survey, Some(next), &work.changes);
    }
    let done = report.archived.as_ref();
    let request = SyncRequest {
        shipped: done.map(|done| (done.name.clone(), Some(project.clock.today()))),
        archived_as: done.map(|done| done.slug.clone()),
        ..SyncRequest::default()
    };
    refresh_with(project, &survey, &after, &request, work)?;
    report.left_to = (ships && is_foreign).then(|| layout.commands.ship.clone());
    Ok(report)
}

/// Returns whether there is anything to ship, or a milestone that is not complete: the phases on its roadmap may not
/// have folders yet.
///
/// A planning tool that archives milestones itself may leave the folders of shipped phases in place.
fn has_work(survey: &Survey, is_foreign: bool) -> bool {
    let position = &survey.position;
    if is_archived(survey) {
        return false;
    }
    let has_folder = position.phases.iter().any(|phase| phase.dir.is_some());
    match position.next.action {
        Action::Ship => true,
        Action::None => has_folder && !is_foreign && survey.folder.archive_of_active().is_none(),
        _ => has_folder || position.members().any(|phase| phase.planned.is_some()),
    }
}

/// Returns whether the milestone that the files name has been archived, and no phase of another one stands here.
fn is_archived(survey: &Survey) -> bool {
    let folder = &survey.folder;
    let named = survey.state.milestone.as_deref().map(slug_of);
    let is_it = |archive: &Archive| {
        let has_page =
            archive.dir.as_ref().is_some_and(|dir| read::is_file(&dir.join(vocabulary::SHIPPED)));
        has_page && named.as_deref() == Some(&slug_of(&archive.slug))
    };
    folder.active.phases.is_empty() && folder.archived.iter().any(is_it)
}

/// Refuses if any work of the milestone is open, or if another reading of the files that is about as good finds some.
fn check(project: &Project, position: &Position) -> Result<()> {
    let [work, checks] = open_ends(project, position);
    let rival = position.next.rival().filter(|_| position.next.action == Action::Ship);
    let (what, found, hint) = if !work.is_empty() {
        ("the milestone is not complete", work, "finish or drop what is open")
    } else if !checks.is_empty() {
        ("a check of the milestone is open", checks, "finish the check")
    } else if let Some(rival) = rival {
        let what = "the files disagree on whether the work is finished";
        (what, rival.because.clone(), "finish or drop what is open")
    } else {
        return Ok(());
    };
    Err(Error::refused(format!("{what}: {}", found.join("; ")))
        .hint(format!("{hint}, or ship it as it is with --force")))
}

/// Returns the open work of the milestone, and its open checks, one clause each.
fn open_ends(project: &Project, position: &Position) -> [Vec<String>; 2] {
    let phases = || position.members();
    let summaries =
        phases().flat_map(|phase| &phase.plans).filter_map(|slot| slot.summary.as_ref());
    let unread = summaries.filter(|file| file.text().is_none());
    let unread =
        unread.map(|file| format!("{} cannot be read", project.relative(&file.path).display()));
    let work = phases().flat_map(|phase| open_work(project, phase)).chain(unread).collect();
    let checks = phases().flat_map(Phase::open_checks).map(|check| {
        let file = project.relative(&check.file).display();
        format!("{file} has the status {:?}", check.status_word)
    });
    [work, checks.collect()]
}

/// Returns the open work of a phase, one clause each.
fn open_work(project: &Project, phase: &Phase) -> Vec<String> {
    let number = &phase.number;
    let mut open = Vec::new();
    match phase.state {
        PhaseState::Dropped => return open,
        // Later work that passed its checks compensates for what a summary left open.
        PhaseState::Done if phase.has_passed() => return open,
        PhaseState::Running => open.push(format!("phase {number} is not finished")),
        PhaseState::Unplanned => open.push(format!("phase {number} is not planned")),
        PhaseState::Open | PhaseState::Done => {}
    }
    let left = phase.plans.iter().filter(|slot| slot.state == PlanState::Open);
    let left = join(left.map(|slot| slot.number.to_string()), ", ");
    if !left.is_empty() {
        let word = pluralize(phase.count(PlanState::Open), "plan");
        open.push(format!("phase {number}: no summary for {word} {left}"));
    }
    open.extend(phase.plans.iter().filter_map(|slot| {
        let is_unfinished = matches!(slot.state, PlanState::Partial | PlanState::Failed);
        let file = slot.summary.as_ref().filter(|_| is_unfinished)?;
        let file = project.relative(&file.path).display();
        Some(format!("{file} has the status {:?}", slot.state.as_str()))
    }));
    open
}

/// Plans the removal of RESUME.md, which is outdated once the milestone has shipped.
fn remove_session_notes(
    project: &Project,
    survey: &Survey,
    moved: Option<&str>,
    changes: &mut Changes,
) -> Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    let shipped =
        survey.folder.archived.iter().filter(|archive| Some(archive.slug.as_str()) == moved);
    let homes = [&survey.folder.dir, &survey.folder.active.dir].into_iter();
    for home in homes.chain(shipped.filter_map(|archive| archive.dir.as_ref())) {
        let path = home.join(vocabulary::RESUME);
        if changes.current(&path)?.is_some() {
            changes.delete(&path)?;
            removed.push(project.relative(&path).to_owned());
        }
    }
    Ok(removed)
}

/// Returns the milestone that ACTIVE names, if the caller has moved it away.
fn moved_milestone(survey: &Survey, changes: &Changes) -> Result<Option<String>> {
    let folder = &survey.folder;
    let named = changes.current(&folder.dir.join(vocabulary::ACTIVE))?;
    let is_moved = folder.active.dir == folder.dir
        || folder.active.dir.starts_with(folder.dir.join(vocabulary::MILESTONES));
    let named = named.filter(|_| is_moved);
    Ok(named.map(|named| String::from_utf8_lossy(&named).trim().to_owned()))
}

/// The files of a milestone in the planning folder itself; everything else there is shared.
pub(crate) const OWN_ENTRIES: &[&str] =
    &[vocabulary::PHASES, vocabulary::ROADMAP, vocabulary::STATE];

/// An archived milestone.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Archived {
    /// The name of its folder under `milestones/`.
    pub slug: String,
    /// Its name.
    pub name: String,
    /// Its folder, relative to the project.
    pub dir: PathBuf,
    /// Number of its phases.
    pub phases: usize,
    /// Number of its plans, in total and complete.
    pub plans: PlanTotals,
}

/// Plans the move of the active milestone, and returns the state of the folder afterwards.
fn archive(
    project: &Project,
    survey: &Survey,
    requested: Option<&str>,
    work: &mut Work,
) -> Result<(Archived, Survey)> {
    let Work { changes, warnings, .. } = work;
    let folder = &survey.folder;
    let name = milestone_name(project, survey);
    let slug = free_slug(folder, requested_slug(survey, requested, &name)?);
    let home = folder.dir.join(vocabulary::MILESTONES).join(&slug);
    let page = shipped_page(project, survey, &name, &slug, warnings)?;
    let root_state = root_state(project, survey, &name, &slug, changes)?;
    let is_root = folder.active.dir == folder.dir;
    if is_root {
        for entry in OWN_ENTRIES {
            let from = folder.active.dir.join(entry);
            if from.exists() {
                changes.rename(&from, &home.join(entry))?;
            }
        }
    } else if folder.active.dir != home {
        changes.rename(&folder.active.dir, &home)?;
    }
    changes.write(&home.join(vocabulary::SHIPPED), page)?;
    let state_file = folder.dir.join(vocabulary::STATE);
    // Next to a named milestone, the STATE.md of the planning folder belongs to other work and is kept,
    // unless an earlier milestone left it behind: its todos moved to the milestone that has shipped now.
    let is_left_over = |bytes: Vec<u8>| {
        let text = String::from_utf8_lossy(&bytes);
        StateFile::parse(&text, &state_file).value.no_milestone.is_some()
    };
    if is_root || changes.current(&state_file)?.is_none_or(is_left_over) {
        changes.write(&state_file, root_state)?;
    }
    let next = next_milestone(survey, &folder.active.slug, changes)?;
    let archived = Archived {
        dir: project.relative(&home).to_owned(),
        slug,
        name,
        phases: survey.position.kept().count(),
        plans: PlanTotals::count(survey),
    };
    Ok((archived, afterwards(project, survey, next, changes)))
}

/// Returns the name of the milestone: from STATE.md, else its slug, else the roadmap's title, else the
/// project's.
fn milestone_name(project: &Project, survey: &Survey) -> String {
    let stated = survey.state.milestone.as_deref().map(plan::without_status);
    let title = survey.roadmap.title.as_deref().map(without_roadmap_word);
    [stated, Some(survey.folder.active.slug.as_str())]
        .into_iter()
        .flatten()
        .find(|name| *name != DEFAULT_MILESTONE)
        .or(title.filter(|title| !title.is_empty()))
        .map_or_else(|| survey.name(project), str::to_owned)
}

/// Returns a roadmap's title without the word, as in `Roadmap: Field notes` and `Field notes Roadmap`.
fn without_roadmap_word(title: &str) -> &str {
    const WORD: &str = "roadmap";
    let title = title.trim();
    let before = || {
        let (before, word) = title.split_at_checked(title.len().checked_sub(WORD.len())?)?;
        word.eq_ignore_ascii_case(WORD).then_some(before)
    };
    let rest = strip_prefix_ignore_case(title, WORD).or_else(before);
    rest.unwrap_or(title).trim_matches([' ', ':', '-', '\u{2013}', '\u{2014}'])
}

fn requested_slug(survey: &Survey, requested: Option<&str>, name: &str) -> Result<String> {
    let active = &survey.folder.active.slug;
    let is_named = active != DEFAULT_MILESTONE;
    match requested {
        Some(requested) if is_named && requested != active => Err(Error::not_found(format!(
            "milestone {requested:?} is not the active one, which is {active:?}"
        ))
        .hint(format!("annals ship --milestone {}", shell_word(active)))),
        Some(requested) if slug_of(requested) != requested => {
            Err(Error::usage(format!("{requested:?} is not a slug"))
                .hint("a slug has lower-case letters, digits and hyphens"))
        }
        Some(requested) => Ok(requested.to_owned()),
        None if is_named => Ok(active.clone()),
        None => {
            let slug = Some(slug_of(name)).filter(|slug| !slug.is_empty());
            Ok(slug.unwrap_or_else(|| "milestone".to_owned()))
        }
    }
}

/// Returns the slug, with a number appended if it is already archived.
fn free_slug(folder: &PlanningFolder, wanted: String) -> String {
    let is_free = |slug: &String| folder.archived.iter().all(|archive| archive.slug != *slug);
    let numbered = (2..).map(|number| format!("{wanted}-{number}"));
    std::iter::once(wanted.clone()).chain(numbered).find(is_free).unwrap_or(wanted)
}

/// Returns the STATE.md that remains in the planning folder, with what outlives the milestone.
fn root_state(
    project: &Project,
    survey: &Survey,
    name: &str,
    slug: &str,
    changes: &Changes,
) -> Result<String> {
    let old = planned_text(changes, &survey.folder.active.dir.join(vocabulary::STATE))?;
    let date = project.clock.today().to_string();
    let context = json!({
        "project": survey.name(project),
        "shipped": {"milestone": name, "slug": slug, "date": date},
        "skills": survey.state.skills,
        "carried": CarriedState::from_state(&old, &survey.state),
    });
    let new = templates::render(Template::ShippedState, &context)?;
    Ok(with_line_end_of(&old, &new))
}

/// Returns the text of a file as the changes leave it; empty without a file.
pub(crate) fn planned_text(changes: &Changes, path: &Path) -> Result<String> {
    let bytes = changes.current(path)?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns a text with the line ending of the text that it replaces.
pub(crate) fn with_line_end_of(old: &str, new: &str) -> String {
    new.replace("\r\n", "\n").replace('\n', line_end(old))
}

/// Plans the new active milestone after one is gone: the first that remains, or none.
fn next_milestone(
    survey: &Survey,
    gone: &str,
    changes: &mut Changes,
) -> Result<Option<MilestoneFolder>> {
    let folder = &survey.folder;
    let file = folder.dir.join(vocabulary::ACTIVE);
    let remaining = folder.milestones()?.into_iter().find(|slug| slug != gone);
    let Some(slug) = remaining else {
        changes.delete(&file)?;
        return Ok(None);
    };
    changes.write(&file, format!("{slug}\n"))?;
    Ok(Some(MilestoneFolder::read(&folder.dir.join(&slug), &slug)?.value))
}

/// Returns the state of the folder after the changes, with `active` as the active milestone, else none.
pub(crate) fn afterwards(
    project: &Project,
    survey: &Survey,
    active: Option<MilestoneFolder>,
    changes: &Changes,
) -> Survey {
    let active = active.unwrap_or_else(|| MilestoneFolder {
        slug: DEFAULT_MILESTONE.to_owned(),
        dir: survey.folder.dir.clone(),
        ..MilestoneFolder::default()
    });
    let folder = PlanningFolder { active, ..survey.folder.clone() };
    Survey::read_folder(project, Parsed::clean(folder), Some(changes))
}

/// Numbers of plans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanTotals {
    /// Total number.
    pub total: usize,
    /// Number of plans with a finished summary.
    pub complete: usize,
}

impl PlanTotals {
    /// Counts the plans of the active milestone.
    pub(crate) fn count(survey: &Survey) -> Self {
        let phases = || survey.position.kept();
        Self {
            total: phases().map(|phase| phase.plans.len()).sum(),
            complete: phases().map(|phase| phase.count(PlanState::Complete)).sum(),
        }
    }
}

/// Returns the SHIPPED.md of the active milestone.
fn shipped_page(
    project: &Project,
    survey: &Survey,
    name: &str,
    slug: &str,
    warnings: &mut Vec<Warning>,
) -> Result<String> {
    let (mut phases, mut kinds, mut commits) = (Vec::new(), Vec::new(), Vec::new());
    let mut counts: Vec<Option<u32>> = Vec::new();
    for phase in survey.position.kept() {
        let first = counts.len();
        for summary in phase.plans.iter().filter_map(PlanSlot::summary) {
            counts.push(summary.value.deviation_count);
            let listed = summary.value.deviations.iter().flatten();
            kinds.extend(listed.filter_map(|deviation| deviation.kind.as_deref()));
            commits.extend(summary.value.commits.iter().flatten());
        }
        phases.push(json!({
            "number": phase.number,
            "name": phase.name.as_deref().unwrap_or_default(),
            "plans": format!("{}/{}", phase.count(PlanState::Complete), phase.plans.len()),
            "deviations": sum(&counts[first..]),
        }));
    }
    kinds.sort_unstable();
    kinds.dedup();
    let commits = match (commits.first(), commits.last()) {
        (Some(first), last) => json!({"count": commits.len(), "first": first, "last": last}),
        _ => Value::Null,
    };
    // Its files move to the archive, beside the page.
    let moved = format!("{}/", project.relative(&survey.folder.active.dir).display());
    let open: Vec<String> = open_ends(project, &survey.position)
        .concat()
        .iter()
        .map(|clause| clause.replace(&moved, ""))
        .collect();
    let context = json!({
        "milestone": name,
        "slug": slug,
        "date": project.clock.today().to_string(),
        "phases": phases,
        "plans": PlanTotals::count(survey),
        "deviations": {
            "count": sum(&counts),
            "kinds": kinds.join(", "),
            "summaries": counts.len(),
            "silent": counts.iter().filter(|count| count.is_none()).count(),
        },
        "requirements": requirements(survey, warnings),
        "commits": commits,
        "open": open,
    });
    templates::render(Template::Shipped, &context)
}

/// Returns the sum of the known counts, or `None` if none is known.
fn sum(counts: &[Option<u32>]) -> Option<u32> {
    counts.iter().flatten().copied().reduce(u32::saturating_add)
}

/// Returns the distinct requirements that the milestone's phases cover, in roadmap order, with their texts.
fn requirements(survey: &Survey, warnings: &mut Vec<Warning>) -> Vec<String> {
    let members: BTreeSet<&PhaseNumber> =
        survey.position.members().map(|member| &member.number).collect();
    let phases = survey.roadmap.active_phases().filter(|phase| members.contains(&phase.number));
    let mut named: Vec<String> = Vec::new();
    for requirement in phases.flat_map(|phase| &phase.requirements) {
        if !named.contains(requirement) {
            named.push(requirement.clone());
        }
    }
    survey
        .requirements(&named, warnings)
        .into_iter()
        .map(|one| join(one.id.into_iter().chain(one.text), ": "))
        .collect()
}

/// The parts that are carried over. List items are kept verbatim, with tags, checkboxes and what is indented below
/// them, because other tools search for them.
#[derive(Debug, Default, Serialize)]
pub(crate) struct CarriedState {
    /// The decisions.
    pub(crate) decisions: Vec<Decision>,
    /// The open todos.
    pub(crate) todos: Vec<String>,
    /// The unresolved blockers.
    pub(crate) blockers: Vec<String>,
    /// The codebase profile.
    pub(crate) profile: Vec<String>,
}

impl CarriedState {
    /// Extracts the parts that outlive the milestone from the text of a STATE.md.
    pub(crate) fn from_state(text: &str, state: &StateFile) -> Self {
        Self {
            decisions: state.decisions.clone(),
            todos: verbatim(text, &state.todos, "- [ ] "),
            blockers: verbatim(text, &state.blockers, "- "),
            profile: profile(text),
        }
    }
}

/// Returns list items as they are written; `mark` is prepended to items that are in no list.
fn verbatim(text: &str, items: &[String], mark: &str) -> Vec<String> {
    let outline = Outline::parse(text, 0);
    let mut written = HashMap::new();
    for (block, item) in outline.items(&(0..text.len())).filter(|(_, item)| item.depth == 0) {
        let entry = document::on_one_line(&outline, block, item);
        written.entry(entry).or_insert_with(|| item.whole.clone());
    }
    let line = |item: &String| match written.get(item) {
        Some(range) => dedented(text, range),
        None => format!("{mark}{item}"),
    };
    items.iter().map(line).collect()
}

/// Returns the lines of a list item without the indentation of its first line.
fn dedented(text: &str, range: &Range<usize>) -> String {
    let item = text[range.clone()].trim_start();
    let start = range.end - item.len();
    let line_start = line_start(text, start);
    let without_indent = |line: &str| {
        let spaces = line.bytes().take(start - line_start);
        line[spaces.take_while(|byte| *byte == b' ').count()..].to_owned()
    };
    let mut lines = item.trim_end().lines();
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |joined, line| joined + "\n" + &without_indent(line))
}

fn profile(text: &str) -> Vec<String> {
    let outline = Outline::parse(text, 0);
    let section = outline.section(&["Codebase Profile"]);
    section
        .map_or("", |section| outline.slice(&section.whole))
        .trim()
        .lines()
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn items_are_carried_over_with_what_is_indented_below_them() {
        let text = "# State\n## Todos\n- [ ] Label printer (needs its own phase):\n  - one driver\n    - for labels\n\n  - paper sizes\n- [ ] Fonts\n- **Phase 3**\n  - [ ] Scales\n    in grams\n  - [x] Dates\n\n## Blockers\n- No key\n\n  Asked twice.\n\nEnd.\n";
        let state = StateFile::parse(text, Path::new("STATE.md")).value;
        let carried = CarriedState::from_state(text, &state);
        assert_eq!(
            carried.todos,
            [
                "- [ ] Label printer (needs its own phase):\n  - one driver\n    - for labels\n\n  - paper sizes",
                "- [ ] Fonts",
                "- **Phase 3**\n  - [ ] Scales\n    in grams\n  - [x] Dates"
            ]
        );
        assert_eq!(carried.blockers, ["- No key\n\n  Asked twice."]);
    }
}
