//! Starts, lists and switches milestones, each in a separate folder.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::lifecycle::init::{new_roadmap, new_state};
use crate::lifecycle::outcome::{CommandOutcome, carry_out};
use crate::lifecycle::ship::{
    CarriedState, OWN_ENTRIES, afterwards, planned_text, with_line_end_of,
};
use crate::lifecycle::sync::{SyncRequest, refresh_with};
use crate::markdown::edit::Edit;
use crate::markdown::{Outline, edit};
use crate::plan::read::vocabulary::{has, words};
use crate::plan::{
    Action, DEFAULT_MILESTONE, MilestoneFolder, MilestoneStatus, Phase, PhaseState, Survey,
    document,
};
use crate::project::{Project, vocabulary};
use crate::storage::{Changes, Store, read};
use crate::text::{join, pluralize, slug_of, word_enum};

/// The outcome of `annals milestone new` or `switch`.
#[derive(Debug, Default, Serialize)]
pub struct MilestoneReport {
    /// The milestone that is active now.
    pub active: String,
    /// Whether it was already active.
    pub was_active: bool,
    /// The folder to which work in the planning folder itself was moved, relative to the project.
    pub migrated: Option<PathBuf>,
}

word_enum! {
    /// The state of a milestone.
    pub enum MilestoneState {
        /// It is worked on.
        Active = "active",
        /// It is neither active nor archived.
        Open = "open",
        /// It was shipped.
        Archived = "archived",
    }
}

/// A milestone in `annals milestone list`.
#[derive(Debug, Serialize)]
pub struct ListedMilestone {
    /// Its slug: `default` if it has no folder of its own.
    pub slug: String,
    /// The name of the active one in STATE.md or the roadmap.
    pub name: Option<String>,
    /// Its state.
    pub standing: MilestoneState,
    /// Number of its phases; null if the archive keeps no phase folders.
    pub phases: Option<usize>,
}

/// Returns the active milestone, if there is one, then the other open ones, then the archived ones.
pub fn milestones(project: &Project) -> Result<Vec<ListedMilestone>> {
    let survey = Survey::read(project)?;
    let name = MilestoneStatus::from_survey(project, &survey).display_name();
    let Survey { folder, position, .. } = &survey;
    // With `default`, folders of shipped milestones may lie beside those of the active one.
    let mut found = Vec::new();
    let mut list = |slug: &str, name, standing, phases| {
        found.push(ListedMilestone { slug: slug.to_owned(), name, standing, phases });
    };
    if position.next.action != Action::None || folder.active.slug != DEFAULT_MILESTONE {
        let phases = position.members().count();
        list(&folder.active.slug, name, MilestoneState::Active, Some(phases));
    }
    for slug in folder.milestones()? {
        if slug != folder.active.slug {
            let milestone = MilestoneFolder::read(&folder.dir.join(&slug), &slug)?.value;
            let read = afterwards(project, &survey, Some(milestone), &Changes::new());
            list(&slug, None, MilestoneState::Open, Some(read.position.members().count()));
        }
    }
    for archive in &folder.archived {
        let milestone = archive.dir.as_ref().map(|_| archive.milestone()).transpose()?;
        let phases = milestone.map(|milestone| milestone.value.phases.len());
        list(&archive.slug, None, MilestoneState::Archived, phases);
    }
    Ok(found)
}

/// Starts a milestone where the installed generation of the workflow looks for it.
///
/// Where ACTIVE names the milestone, it gets a folder, and work in the planning folder itself moves to `default/`.
/// Elsewhere it is in the planning folder itself, which must not hold another one.
pub fn new_milestone(project: &Project, slug: &str) -> Result<CommandOutcome<MilestoneReport>> {
    carried_out(project, "milestone new", slug, |survey, changes| {
        plan_new(project, survey, slug, changes)
    })
}

/// Makes an open milestone the active one.
pub fn switch_milestone(project: &Project, slug: &str) -> Result<CommandOutcome<MilestoneReport>> {
    carried_out(project, "milestone switch", slug, |survey, changes| {
        plan_switch(survey, slug, changes)
    })
}

/// A planned switch: the milestone to activate, unless it is in the planning folder itself, whether it was active before,
/// and the folder to which work was moved.
type Planned = (Option<MilestoneFolder>, bool, Option<PathBuf>);

fn carried_out(
    project: &Project,
    operation: &str,
    slug: &str,
    plan: impl Fn(&Survey, &mut Changes) -> Result<Planned>,
) -> Result<CommandOutcome<MilestoneReport>> {
    let place = project.planning()?;
    if place.layout.name.keeps_milestones() {
        let brand = &place.layout.brand;
        let message = format!("milestones of {brand} are started by its own workflow");
        let hint = place.layout.commands.new_milestone.clone();
        return Err(Error::refused(message).hint(hint));
    }
    let stores = [Store::Plan, Store::Context];
    carry_out(project, operation, &stores, |work| {
        let survey = Survey::read(project)?;
        let (active, was_active, moved) = plan(&survey, &mut work.changes)?;
        let after = afterwards(project, &survey, active, &work.changes);
        work.warnings.extend(after.warnings.iter().cloned());
        refresh_with(project, &survey, &after, &SyncRequest::default(), work)?;
        let migrated = moved.map(|dir| project.relative(&dir).to_owned());
        Ok(MilestoneReport { active: slug.to_owned(), was_active, migrated })
    })
}

fn plan_new(
    project: &Project,
    survey: &Survey,
    slug: &str,
    changes: &mut Changes,
) -> Result<Planned> {
    if slug_of(slug) != slug || slug.is_empty() || slug == DEFAULT_MILESTONE {
        let hint = match slug_of(slug) {
            fitting if fitting.is_empty() || fitting == DEFAULT_MILESTONE => {
                "a slug has lower-case letters, digits and hyphens; `default` is taken".to_owned()
            }
            fitting => format!("annals milestone new {fitting}"),
        };
        return Err(Error::usage(format!("{slug:?} is not a valid milestone slug")).hint(hint));
    }
    let folder = &survey.folder;
    let home = folder.dir.join(slug);
    let is_named =
        folder.active.dir == folder.dir && survey.state.milestone.as_deref() == Some(slug);
    if folder.active.slug == slug || is_named {
        return Ok((Some(folder.active.clone()), true, None));
    }
    if folder.milestones()?.iter().any(|known| known == slug) {
        return Err(Error::refused(format!("milestone {slug:?} already exists"))
            .hint(format!("annals milestone switch {slug}")));
    }
    let is_archived = folder.archived.iter().any(|archive| archive.slug == slug);
    if is_archived || home.symlink_metadata().is_ok() {
        return Err(Error::refused(format!("the name {slug:?} is taken"))
            .about(project.relative(&home))
            .hint("choose another slug"));
    }
    let state = planned_text(changes, &folder.active.dir.join(vocabulary::STATE))?;
    let mut carried = CarriedState::from_state(&state, &survey.state);
    if !keeps_active(project, survey)? {
        check_root_is_free(survey)?;
        return plan_in_root(project, survey, slug, &state, &carried, changes);
    }
    let migrated = migrate(survey, changes)?;
    if migrated.is_some() || folder.active.dir != folder.dir {
        // Open work that continues elsewhere keeps its decisions, todos and blockers.
        carried = CarriedState { profile: carried.profile, ..CarriedState::default() };
    }
    write_new(project, survey, slug, &home, &carried, changes)?;
    changes.write(&folder.dir.join(vocabulary::ACTIVE), format!("{slug}\n"))?;
    let active = MilestoneFolder { slug: slug.to_owned(), dir: home, ..MilestoneFolder::default() };
    Ok((Some(active), false, migrated))
}

/// Returns whether milestones have folders of their own here, with the active one named in ACTIVE.
fn keeps_active(project: &Project, survey: &Survey) -> Result<bool> {
    let folder = &survey.folder;
    let is_named = folder.dir.join(vocabulary::ACTIVE).symlink_metadata().is_ok();
    Ok(is_named || project.planning_place().layout.keeps_active || !folder.milestones()?.is_empty())
}

/// Refuses a milestone in the planning folder itself while another one's phases stand there.
fn check_root_is_free(survey: &Survey) -> Result<()> {
    let position = &survey.position;
    let is_open = |phase: &&Phase| !matches!(phase.state, PhaseState::Done | PhaseState::Dropped);
    let open: Vec<&Phase> = position.members().filter(is_open).collect();
    let stated = survey.state.milestone.as_deref().unwrap_or_default();
    let roadmap = read::text(&survey.folder.dir.join(vocabulary::ROADMAP))?;
    // As this command writes it, so that nobody has filled it in yet.
    if !stated.is_empty()
        && roadmap.is_some_and(|text| new_roadmap(stated).is_ok_and(|new| text.value == new))
    {
        return Err(Error::refused(format!(
            "milestone {stated:?} has been started and has no phases yet"
        ))
        .hint("add its phases to ROADMAP.md, or take it back with `annals undo`"));
    }
    if !open.is_empty() {
        let word = pluralize(open.len(), "phase");
        let open = join(open.iter().map(|phase| phase.number.to_string()), ", ");
        let message = format!("the current milestone is not finished: {word} {open}");
        return Err(Error::refused(message)
            .hint("finish it, then `annals ship`; or ship it as it is with --force"));
    }
    let has_work = position.next.action == Action::Ship
        || !survey.folder.active.phases.is_empty() && survey.folder.archive_of_active().is_none();
    if has_work {
        return Err(
            Error::refused("the current milestone has not been shipped").hint("annals ship")
        );
    }
    Ok(())
}

/// Plans a milestone in the planning folder itself.
fn plan_in_root(
    project: &Project,
    survey: &Survey,
    slug: &str,
    state: &str,
    carried: &CarriedState,
    changes: &mut Changes,
) -> Result<Planned> {
    let dir = &survey.folder.dir;
    let path = dir.join(vocabulary::ROADMAP);
    let roadmap = changes.current(&path)?;
    let name = survey.name(project);
    let untouched = new_roadmap(&name)?;
    let is_own = roadmap.is_none_or(|roadmap| roadmap == untouched.as_bytes());
    if !is_own
        && let Some(last) = survey.folder.archived.last().and_then(|archive| archive.dir.as_ref())
    {
        // The roadmap of the milestone that has shipped was left behind.
        let kept = last.join(vocabulary::ROADMAP);
        if changes.current(&kept)?.is_none() {
            changes.rename(&path, &kept)?;
        }
    }
    let keeps_roadmap = !is_own && survey.roadmap.phases.is_empty();
    let outline = Outline::parse(state, 0);
    let labels = outline.labels(&(0..state.len()));
    let label = labels.iter().find(|label| label.name == "Milestone").cloned();
    match label {
        // A STATE.md that `annals init` or the workflow wrote for no milestone yet: only its name changes.
        Some(label) if survey.state.no_milestone.is_none() => {
            let path = dir.join(vocabulary::STATE);
            let bytes = changes.current(&path)?.unwrap_or_default();
            read::editable(&bytes, project.relative(&path))?;
            let named = edit::apply(state, vec![Edit::replace(label.range, slug)]);
            changes.write(&path, named)?;
            if !keeps_roadmap {
                changes.write(&dir.join(vocabulary::ROADMAP), new_roadmap(slug)?)?;
            }
        }
        _ => write_new(project, survey, slug, dir, carried, changes)?,
    }
    Ok((None, false, None))
}

/// Plans the files of a new milestone.
fn write_new(
    project: &Project,
    survey: &Survey,
    slug: &str,
    home: &Path,
    carried: &CarriedState,
    changes: &mut Changes,
) -> Result<()> {
    let (name, event) = (survey.name(project), format!("Started milestone {slug}"));
    let state = new_state(project, (&name, slug, &event), &survey.state.skills, carried)?;
    for (name, text) in [(vocabulary::STATE, state), (vocabulary::ROADMAP, new_roadmap(slug)?)] {
        let path = home.join(name);
        let old = planned_text(changes, &path)?;
        let text = if name == vocabulary::STATE { text + &foreign_sections(&old) } else { text };
        changes.write(&path, with_line_end_of(&old, &text))?;
    }
    changes.create_dir(&home.join(vocabulary::PHASES))
}

/// Returns the sections of a STATE.md that no workflow writes, which outlive the milestone: `## Notes of Ruth`.
fn foreign_sections(state: &str) -> String {
    let outline = Outline::parse(state, 0);
    let sections = outline.sections().iter().filter(|section| section.level == 2);
    let is_foreign = |title: &str| {
        let title = document::heading(title);
        let kinds = ["position", "todos", "blockers", "phases with a status", "skills"];
        !kinds.iter().any(|kind| has(kind, &title))
            && !words("in a workflow's heading").any(|word| title.contains(word))
    };
    sections
        .filter(|section| is_foreign(&section.title))
        .map(|section| format!("\n{}\n", state[section.heading.start..section.whole.end].trim()))
        .collect()
}

/// Plans the move of work in the planning folder itself to `default/`; returns `None` if there is none.
fn migrate(survey: &Survey, changes: &mut Changes) -> Result<Option<PathBuf>> {
    let folder = &survey.folder;
    let is_single = folder.active.dir == folder.dir;
    if !is_single || survey.position.phases.is_empty() {
        return Ok(None);
    }
    let home = folder.dir.join(DEFAULT_MILESTONE);
    for entry in OWN_ENTRIES.iter().chain(&[vocabulary::RESUME]) {
        let from: &Path = &folder.dir.join(entry);
        if from.exists() {
            changes.rename(from, &home.join(entry))?;
        }
    }
    // Without either of these, the folder would not be recognized as a milestone.
    changes.create_dir(&home.join(vocabulary::PHASES))?;
    if changes.current(&home.join(vocabulary::STATE))?.is_none() {
        changes.write(&home.join(vocabulary::STATE), "# State\n")?;
    }
    Ok(Some(home))
}

fn plan_switch(survey: &Survey, slug: &str, changes: &mut Changes) -> Result<Planned> {
    let folder = &survey.folder;
    let known = folder.milestones()?;
    let file = folder.dir.join(vocabulary::ACTIVE);
    let active = if folder.active.slug == slug {
        folder.active.clone()
    } else if known.iter().any(|known| known == slug) {
        changes.write(&file, format!("{slug}\n"))?;
        MilestoneFolder::read(&folder.dir.join(slug), slug)?.value
    } else if slug == DEFAULT_MILESTONE && read::is_folder(&folder.dir.join(vocabulary::PHASES)) {
        changes.delete(&file)?;
        MilestoneFolder::read(&folder.dir, slug)?.value
    } else {
        let hint = match known.as_slice() {
            [] => "`annals milestone new SLUG` starts one".to_owned(),
            known => format!("open milestones: {}", known.join(", ")),
        };
        return Err(Error::not_found(format!("there is no open milestone {slug:?}")).hint(hint));
    };
    Ok((Some(active), folder.active.slug == slug, None))
}
