//! Archives a finished milestone under `milestones/`, and writes the STATE.md that remains.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::lifecycle::carried::CarriedState;
use crate::lifecycle::shipped;
use crate::lifecycle::shipped::PlanTotals;
use crate::plan::{DEFAULT_MILESTONE, MilestoneFolder, PlanningFolder, Skill, StateFile, Survey};
use crate::project::{Project, vocabulary};
use crate::storage::Changes;
use crate::templates::Template;
use crate::warning::Parsed;
use crate::{plan, templates};

/// The files of a milestone in the planning folder itself; everything else there is shared.
pub(crate) const OWN_ENTRIES: &[&str] =
    &[vocabulary::PHASES, vocabulary::ROADMAP, vocabulary::STATE];

/// An archived milestone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
pub(crate) fn archive(
    project: &Project,
    survey: &Survey,
    requested: Option<&str>,
    changes: &mut Changes,
) -> Result<(Archived, Survey)> {
    let folder = &survey.folder;
    let name = milestone_name(project, survey);
    let slug = free_slug(folder, &requested_slug(survey, requested, &name)?);
    let home = folder.dir.join(vocabulary::MILESTONES).join(&slug);
    let shipped = shipped::shipped(project, survey, &name, &slug)?;
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
    changes.write(&home.join(vocabulary::SHIPPED), shipped.page)?;
    let state_file = folder.dir.join(vocabulary::STATE);
    // Next to a named milestone, the STATE.md of the planning folder belongs to other work and is kept,
    // unless an earlier milestone left it behind: its todos moved to the milestone that has shipped now.
    let is_left_over = |bytes: Vec<u8>| {
        let text = String::from_utf8_lossy(&bytes);
        StateFile::parse(&text, &state_file).value.is_between_milestones
    };
    if is_root || changes.current(&state_file)?.is_none_or(is_left_over) {
        changes.write(&state_file, root_state)?;
    }
    let next = next_milestone(survey, &survey.folder.active.slug, changes)?;
    let archived = Archived {
        dir: project.relative(&home).to_owned(),
        slug,
        name,
        phases: shipped.phases,
        plans: shipped.plans,
    };
    Ok((archived, afterwards(project, survey, next, changes)?))
}

/// Returns the name of the milestone: from STATE.md, else its slug, else the roadmap's title, else the
/// project's.
fn milestone_name(project: &Project, survey: &Survey) -> String {
    let slug = &survey.folder.active.slug;
    let named = (slug != DEFAULT_MILESTONE).then(|| slug.clone());
    let title = survey.roadmap.title.as_deref().map(without_roadmap_word);
    let stated = survey.state.milestone.as_deref();
    stated
        .map(|name| plan::without_status(name).to_owned())
        .filter(|name| name != DEFAULT_MILESTONE)
        .or(named)
        .or_else(|| title.filter(|title| !title.is_empty()))
        .unwrap_or_else(|| survey.name(project))
}

/// Returns a roadmap's title without the word, as in `Roadmap: Field notes` and `Field notes Roadmap`.
fn without_roadmap_word(title: &str) -> String {
    let title = title.trim();
    let lower = title.to_lowercase();
    let word = "roadmap";
    let rest = if lower.starts_with(word) {
        &title[word.len()..]
    } else if lower.ends_with(word) {
        &title[..title.len() - word.len()]
    } else {
        title
    };
    rest.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, ':' | '-' | '\u{2013}' | '\u{2014}')
    })
    .to_owned()
}

fn requested_slug(survey: &Survey, requested: Option<&str>, name: &str) -> Result<String> {
    let active = &survey.folder.active.slug;
    match requested {
        Some(requested) if active != DEFAULT_MILESTONE && requested != active => {
            Err(Error::not_found(format!(
                "milestone {requested:?} is not the active one, which is {active:?}"
            ))
            .hint(format!("annals ship --milestone {active}")))
        }
        Some(requested) if slug_of(requested) != requested => {
            Err(Error::usage(format!("{requested:?} is not a slug"))
                .hint("a slug has lower-case letters, digits and hyphens"))
        }
        Some(requested) => Ok(requested.to_owned()),
        None if active != DEFAULT_MILESTONE => Ok(active.clone()),
        None => Ok(Some(slug_of(name))
            .filter(|slug| !slug.is_empty())
            .unwrap_or_else(|| "milestone".to_owned())),
    }
}

/// Converts a name to a slug: `Field notes v1.0` becomes `field-notes-v1-0`.
pub(crate) fn slug_of(name: &str) -> String {
    let words: Vec<String> = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let mut slug = String::new();
    for word in words {
        if !slug.is_empty() && slug.len() + word.len() >= MAX_SLUG {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.extend(word.chars().take(MAX_SLUG));
    }
    slug
}

/// Maximum length of a slug, in characters, so that folder names remain readable.
const MAX_SLUG: usize = 60;

/// Returns the slug, with a number appended if it is already archived.
fn free_slug(folder: &PlanningFolder, wanted: &str) -> String {
    let is_taken = |slug: &str| folder.archived.iter().any(|archive| archive.slug == slug);
    let mut slug = wanted.to_owned();
    let mut number = 1;
    while is_taken(&slug) {
        number += 1;
        slug = format!("{wanted}-{number}");
    }
    slug
}

#[derive(Serialize)]
struct StateContext<'a> {
    project: String,
    shipped: ShippedName<'a>,
    #[serde(flatten)]
    carried: CarriedState,
    skills: &'a [Skill],
}

#[derive(Serialize)]
struct ShippedName<'a> {
    milestone: &'a str,
    slug: &'a str,
    date: String,
}

/// Returns the STATE.md that remains in the planning folder, with what outlives the milestone.
fn root_state(
    project: &Project,
    survey: &Survey,
    name: &str,
    slug: &str,
    changes: &Changes,
) -> Result<String> {
    let old = changes.current(&survey.folder.active.dir.join(vocabulary::STATE))?;
    let old = old.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let context = StateContext {
        project: survey.name(project),
        shipped: ShippedName { milestone: name, slug, date: project.clock.today().to_string() },
        carried: CarriedState::from_state(&old, &survey.state),
        skills: &survey.state.skills,
    };
    templates::render(project, Template::ShippedState, &context)
}

/// Plans the new active milestone after one is gone: the first that remains, or none.
pub(crate) fn next_milestone(
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

/// Returns the state of the folder after the changes.
pub(crate) fn afterwards(
    project: &Project,
    survey: &Survey,
    next: Option<MilestoneFolder>,
    changes: &Changes,
) -> Result<Survey> {
    let next = next.unwrap_or_else(|| MilestoneFolder {
        slug: DEFAULT_MILESTONE.to_owned(),
        dir: survey.folder.dir.clone(),
        ..MilestoneFolder::default()
    });
    in_milestone(project, survey, next, changes)
}

/// Returns the state of the folder after the changes, with `active` as the active milestone.
pub(crate) fn in_milestone(
    project: &Project,
    survey: &Survey,
    active: MilestoneFolder,
    changes: &Changes,
) -> Result<Survey> {
    let folder = PlanningFolder { active, ..survey.folder.clone() };
    Survey::read_planned(project, Parsed::clean(folder), changes)
}
