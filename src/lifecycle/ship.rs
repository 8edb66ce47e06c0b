//! Archives the active milestone, and prepares the planning folder for the next one.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::lifecycle::archive::{Archived, afterwards, archive, next_milestone, slug_of};
use crate::lifecycle::execute::{ExecuteRequest, record};
use crate::lifecycle::outcome::{CommandOutcome, Work, carry_out, reading};
use crate::lifecycle::refresh;
use crate::lifecycle::refresh::SyncRequest;
use crate::plan::{
    Action, Archive, Phase, PhaseState, PlanState, Position, Survey, TextOf, roadmap_phase,
};
use crate::project::{Project, vocabulary};
use crate::storage::{Changes, Store, read};
use crate::text::pluralize;
use crate::warning::Warning;

/// The options of `annals ship`.
#[derive(Clone, Debug, Default)]
pub struct ShipRequest {
    /// The slug to archive under, for a milestone without a name.
    pub milestone: Option<String>,
    /// Ship despite open plans or unplanned phases.
    pub force: bool,
    /// Only clean up, because the caller has already archived the milestone.
    pub cleanup_only: bool,
}

/// The outcome of `annals ship`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ShipReport {
    /// The archived milestone; null if there was none to ship.
    pub archived: Option<Archived>,
    /// The phases that were recorded in PATTERNS.md in the process.
    pub recorded: Vec<String>,
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
                "the planning tool archives this milestone itself; annals only cleaned up",
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
    let ships = !request.cleanup_only && has_work(&survey, is_foreign);
    if ships && !request.force {
        let checked = check(project, &survey.position, &mut work.warnings);
        checked.map_err(|refusal| {
            if !is_foreign {
                return refusal;
            }
            let ship = &layout.commands.ship;
            refusal.hint(format!("finish or drop what is open; {ship} archives the milestone then"))
        })?;
    }
    let moved = if request.cleanup_only { moved_milestone(&survey, &work.changes)? } else { None };
    if ships || request.cleanup_only {
        // Before the milestone moves, because its session notes must not be archived.
        report.removed =
            remove_session_notes(project, &survey, moved.as_deref(), &mut work.changes)?;
    }
    let mut after = survey.clone();
    if ships && !is_foreign {
        let all = ExecuteRequest { all: true, ..ExecuteRequest::default() };
        report.recorded = record(project, &survey, &all, work)?.recorded;
        let changes = &mut work.changes;
        let (done, left) = archive(project, &survey, request.milestone.as_deref(), changes)?;
        report.active = (!left.position.phases.is_empty()).then(|| left.folder.active.slug.clone());
        after = left;
        report.archived = Some(done);
    }
    if let Some(slug) = &moved
        && let Some(next) = next_milestone(&survey, slug, &mut work.changes)?
    {
        report.active = Some(next.slug.clone());
        after = afterwards(project, &survey, Some(next), &work.changes)?;
    }
    let shipped =
        report.archived.as_ref().map(|done| (done.name.clone(), Some(project.clock.today())));
    let request = SyncRequest { shipped, ..SyncRequest::default() };
    refresh::plan_with(project, &survey, &after, &request, work)?;
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
        _ => has_folder || position.members().any(|phase| is_listed(survey, phase)),
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

/// Returns whether the roadmap lists a phase among those that have not shipped.
fn is_listed(survey: &Survey, phase: &Phase) -> bool {
    roadmap_phase(&survey.roadmap, &phase.number).is_some_and(|planned| !planned.is_shipped)
}

/// Refuses if any work of the milestone is open, or if another reading of the files that is about as good finds some.
fn check(project: &Project, position: &Position, warnings: &mut Vec<Warning>) -> Result<()> {
    let (work, checks) = reading(project, warnings, |text| {
        let mut work: Vec<String> = Vec::new();
        let mut checks: Vec<String> = Vec::new();
        for phase in position.members() {
            work.extend(open_work(project, phase, text));
            checks.extend(phase.open_checks(text).map(|check| {
                let file = project.relative(&check.file).display();
                format!("{file} has the status {:?}", check.status_word)
            }));
        }
        (work, checks)
    });
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

/// Returns the open work of a phase, one clause each.
fn open_work(project: &Project, phase: &Phase, text: TextOf<'_>) -> Vec<String> {
    let number = &phase.number;
    let mut open = Vec::new();
    match phase.state {
        PhaseState::Dropped => return open,
        // Later work that passed its checks compensates for what a summary left open.
        PhaseState::Done if phase.has_passed(text) => return open,
        PhaseState::Running => open.push(format!("phase {number} is not finished")),
        PhaseState::Unplanned => open.push(format!("phase {number} is not planned")),
        PhaseState::Open | PhaseState::Done => {}
    }
    let left = phase.plans.iter().filter(|(_, state)| *state == PlanState::Open);
    let left: Vec<String> = left.map(|(slot, _)| slot.number.to_string()).collect();
    if !left.is_empty() {
        let word = pluralize(left.len(), "plan");
        open.push(format!("phase {number}: no summary for {word} {}", left.join(", ")));
    }
    open.extend(phase.plans.iter().filter_map(|(slot, state)| {
        let is_unfinished = matches!(state, PlanState::Partial | PlanState::Failed);
        let file = phase.dir.as_ref()?.join(slot.summary.as_ref().filter(|_| is_unfinished)?);
        let file = project.relative(&file).display();
        Some(format!("{file} has the status {:?}", state.as_str()))
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
    let archives = survey.folder.archived.iter();
    let shipped = archives.filter(|archive| Some(archive.slug.as_str()) == moved);
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
