//! Archives the active milestone and leaves the folder ready for the next.

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::lifecycle::archive::Archived;
use crate::lifecycle::archive::afterwards;
use crate::lifecycle::archive::archive;
use crate::lifecycle::archive::next_milestone;
use crate::lifecycle::execute;
use crate::lifecycle::outcome::CommandOutcome;
use crate::lifecycle::outcome::Work;
use crate::lifecycle::outcome::carry_out;
use crate::lifecycle::record::RecordOptions;
use crate::lifecycle::record::Recorder;
use crate::lifecycle::refresh;
use crate::position::Action;
use crate::position::Phase;
use crate::position::Position;
use crate::position::Standing;
use crate::position::Survey;
use crate::project::Project;
use crate::project::vocabulary;
use crate::storage::Changes;
use crate::storage::Store;
use crate::text::noun;

/// What `annals ship` was asked.
#[derive(Clone, Debug, Default)]
pub struct ShipRequest {
    /// The slug to archive under, for a milestone that has no name of its own.
    pub milestone: Option<String>,
    /// Ship although plans are open or phases unplanned.
    pub force: bool,
    /// Only clean up: the caller has archived already.
    pub cleanup_only: bool,
    /// Make an annotated git tag: `Some("")` for `milestone/<slug>`, else the name.
    pub tag: Option<String>,
}

/// What became of the milestone that `annals ship` was to archive.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ShipReport {
    /// The milestone that was archived; null where there was none to ship.
    pub archived: Option<Archived>,
    /// The phases recorded in PATTERNS.md on the way.
    pub recorded: Vec<String>,
    /// The session notes that were removed.
    pub removed: Vec<PathBuf>,
    /// The milestone that is active now.
    pub active: Option<String>,
    /// The workflow's own command that archives, where the layout is not ours to archive.
    pub left_to: Option<String>,
    /// The git tag that was made.
    pub tag: Option<String>,
}

impl CommandOutcome<ShipReport> {
    /// Fails where a rule kept a part of the work from being done; the report tells the rest.
    pub fn verdict(&self) -> Result<()> {
        self.refusal()?;
        match &self.value.left_to {
            Some(command) => Err(Error::refused(
                "its own workflow archives this milestone; the clean-up is done",
            )
            .hint(command.clone())),
            None => Ok(()),
        }
    }
}

/// Ships the active milestone: all moves are one transaction, so that a ship is whole or has not begun.
pub fn ship(project: &Project, request: &ShipRequest) -> Result<CommandOutcome<ShipReport>> {
    let stores = [Store::Plan, Store::Patterns, Store::Context];
    project.planning()?;
    let mut outcome = carry_out(project, "ship", &stores, |work| {
        plan(project, request, work)
    })?;
    let report = &mut outcome.value;
    if let Some(archived) = report.archived.as_ref().filter(|_| !project.dry_run) {
        report.tag = tag(project, request, archived)?;
    }
    Ok(outcome)
}

/// Plans all that shipping changes, before anything is changed.
fn plan(project: &Project, request: &ShipRequest, work: &mut Work) -> Result<ShipReport> {
    let survey = Survey::take(project)?;
    let mut report = ShipReport::default();
    work.warnings.extend(survey.warnings.iter().cloned());
    let changes = &mut work.changes;
    let is_foreign = project.planning_place().layout.name.keeps_milestones();
    let archives = !request.cleanup_only && !is_foreign && has_work(&survey.position);
    let mut after = survey.clone();
    if archives {
        if !request.force {
            check_complete(&survey.position)?;
            check_checks(project, &survey.position)?;
            check_uncontested(&survey.position)?;
        }
        let mut recorder = Recorder::new(project, &survey, RecordOptions::default(), changes)?;
        execute::all(&survey, &mut recorder)?;
        let written = recorder.write(changes)?;
        report.recorded = written.recorded;
        work.warnings.extend(written.warnings);
        let (done, left) = archive(project, &survey, request.milestone.as_deref(), changes)?;
        report.active = (!left.position.phases.is_empty()).then(|| left.folder.active.slug.clone());
        after = left;
        report.archived = Some(done);
    }
    let moved = if request.cleanup_only {
        moved_milestone(&survey, changes)?
    } else {
        None
    };
    report.removed = remove_session_notes(project, &survey, moved.as_deref(), changes)?;
    if let Some(slug) = &moved
        && let Some(next) = next_milestone(&survey, slug, changes)?
    {
        report.active = Some(next.slug.clone());
        after = afterwards(project, &survey, Some(next), changes)?;
    }
    refresh::plan_after(project, &survey, &after, work)?;
    report.left_to = (is_foreign && !request.cleanup_only)
        .then(|| project.planning_place().layout.commands.ship.clone());
    Ok(report)
}

/// Tells whether there is anything that could be shipped.
fn has_work(position: &Position) -> bool {
    position.phases.iter().any(|phase| phase.dir.is_some()) || position.next.action == Action::Ship
}

fn check_complete(position: &Position) -> Result<()> {
    let problems: Vec<String> = position
        .phases
        .iter()
        .filter(|phase| phase.is_in_milestone)
        .filter_map(|phase| match phase.standing {
            Standing::Open => {
                let plans: Vec<String> = phase
                    .open_plans()
                    .map(|slot| slot.number.to_string())
                    .collect();
                let word = noun(plans.len(), "plan");
                let plans = plans.join(", ");
                Some(format!(
                    "phase {}: no finished summary for {word} {plans}",
                    phase.number
                ))
            }
            Standing::Running => Some(format!("phase {} is not finished", phase.number)),
            Standing::Unplanned => Some(format!("phase {} is not planned", phase.number)),
            Standing::Done | Standing::Dropped => None,
        })
        .collect();
    if problems.is_empty() {
        return Ok(());
    }
    Err(Error::refused(format!(
        "the milestone is not complete: {}",
        problems.join("; ")
    ))
    .hint("finish or drop what is open, or ship it as it is with --force"))
}

/// Refuses while a user test or a verification of the milestone is open.
fn check_checks(project: &Project, position: &Position) -> Result<()> {
    let own = position.phases.iter().filter(|phase| phase.is_in_milestone);
    let open: Vec<String> = own
        .flat_map(Phase::open_checks)
        .map(|check| {
            let file = project.relative(&check.file).display();
            format!("{file} says {:?}", check.said)
        })
        .collect();
    if open.is_empty() {
        return Ok(());
    }
    let message = format!("a check of the milestone is open: {}", open.join("; "));
    Err(Error::refused(message).hint("finish the check, or ship it as it is with --force"))
}

/// Refuses where another reading of the files, about as good, sees work left to do.
fn check_uncontested(position: &Position) -> Result<()> {
    match &position.next.alternative {
        Some(rival) if position.next.action == Action::Ship => {
            let because = rival.because.join("; ");
            Err(Error::refused(format!(
                "whether the work is finished is contested: {because}"
            ))
            .hint("finish or drop what is open, or ship it as it is with --force"))
        }
        _ => Ok(()),
    }
}

/// Plans that RESUME.md goes: what it says of a session is stale once the milestone has shipped.
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
        // A milestone that is being archived has moved: its notes are looked for where they are now.
        if changes.current(&path)?.is_some() {
            changes.delete(&path)?;
            removed.push(project.relative(&path).to_owned());
        }
    }
    Ok(removed)
}

/// Returns the milestone that ACTIVE names and that the caller has moved away.
fn moved_milestone(survey: &Survey, changes: &Changes) -> Result<Option<String>> {
    let path: &Path = &survey.folder.dir.join(vocabulary::ACTIVE);
    let folder = &survey.folder;
    let is_moved = folder.active.dir == folder.dir
        || folder
            .active
            .dir
            .starts_with(folder.dir.join(vocabulary::MILESTONES));
    let named = changes.current(path)?.filter(|_| is_moved);
    Ok(named.map(|named| String::from_utf8_lossy(&named).trim().to_owned()))
}

fn tag(project: &Project, request: &ShipRequest, archived: &Archived) -> Result<Option<String>> {
    let Some(name) = &request.tag else {
        return Ok(None);
    };
    let name = if name.is_empty() {
        format!("milestone/{}", archived.slug)
    } else {
        name.clone()
    };
    let message = format!("Ship {}", archived.name);
    project.git.tag(&name, &message, &project.clock)?;
    Ok(Some(name))
}
