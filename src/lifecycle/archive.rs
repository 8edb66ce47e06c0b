//! Archives a finished milestone under `milestones/`, and writes the STATE.md that remains.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::json;

use crate::error::{Error, Result};
use crate::lifecycle::carried::CarriedState;
use crate::lifecycle::shipped;
use crate::lifecycle::shipped::PlanTotals;
use crate::plan::{DEFAULT_MILESTONE, MilestoneFolder, PlanningFolder, StateFile, Survey};
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
    let slug = free_slug(folder, requested_slug(survey, requested, &name)?);
    let home = folder.dir.join(vocabulary::MILESTONES).join(&slug);
    let page = shipped::page(project, survey, &name, &slug)?;
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
        StateFile::parse(&text, &state_file).value.is_between_milestones
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
    Ok((archived, afterwards(project, survey, next, changes)?))
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
    let is_word = |part: Option<&str>| part.is_some_and(|part| part.eq_ignore_ascii_case(WORD));
    let end = title.len().saturating_sub(WORD.len());
    let rest = if is_word(title.get(..WORD.len())) {
        &title[WORD.len()..]
    } else if is_word(title.get(end..)) {
        &title[..end]
    } else {
        title
    };
    rest.trim_matches([' ', ':', '-', '\u{2013}', '\u{2014}'])
}

fn requested_slug(survey: &Survey, requested: Option<&str>, name: &str) -> Result<String> {
    let active = &survey.folder.active.slug;
    let is_named = active != DEFAULT_MILESTONE;
    match requested {
        Some(requested) if is_named && requested != active => Err(Error::not_found(format!(
            "milestone {requested:?} is not the active one, which is {active:?}"
        ))
        .hint(format!("annals ship --milestone {active}"))),
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

/// Converts a name to a slug: `Field notes v1.0` becomes `field-notes-v1-0`.
pub(crate) fn slug_of(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    let mut slug = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if !slug.is_empty() && slug.len() + word.len() >= MAX_SLUG {
            break;
        }
        slug.push_str(if slug.is_empty() { "" } else { "-" });
        slug.extend(word.chars().take(MAX_SLUG));
    }
    slug
}

/// Maximum length of a slug, in characters, so that folder names remain readable.
const MAX_SLUG: usize = 60;

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
    let old = changes.current(&survey.folder.active.dir.join(vocabulary::STATE))?;
    let old = old.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let mut context = json!(CarriedState::from_state(&old, &survey.state));
    let date = project.clock.today().to_string();
    context["project"] = json!(survey.name(project));
    context["shipped"] = json!({"milestone": name, "slug": slug, "date": date});
    context["skills"] = json!(survey.state.skills);
    templates::render(Template::ShippedState, &context)
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

/// Returns the state of the folder after the changes, with `active` as the active milestone, else none.
pub(crate) fn afterwards(
    project: &Project,
    survey: &Survey,
    active: Option<MilestoneFolder>,
    changes: &Changes,
) -> Result<Survey> {
    let active = active.unwrap_or_else(|| MilestoneFolder {
        slug: DEFAULT_MILESTONE.to_owned(),
        dir: survey.folder.dir.clone(),
        ..MilestoneFolder::default()
    });
    let folder = PlanningFolder { active, ..survey.folder.clone() };
    Survey::read_planned(project, Parsed::clean(folder), changes)
}
