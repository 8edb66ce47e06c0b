//! Moves a finished milestone under `milestones/` and writes what stays behind.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::planning::DEFAULT_MILESTONE;
use crate::planning::Decision;
use crate::planning::Folder;
use crate::planning::Milestone;
use crate::planning::PlanStanding;
use crate::planning::Roadmap;
use crate::planning::Skill;
use crate::planning::Standing;
use crate::planning::Summary;
use crate::planning::Survey;
use crate::project::Project;
use crate::storage::Changes;
use crate::storage::read;
use crate::templates;
use crate::templates::Template;
use crate::warning::Parsed;

/// The files of a milestone that is worked on in the planning folder itself; all else there is shared.
const OWN_ENTRIES: &[&str] = &["phases", "ROADMAP.md", "STATE.md"];

/// A milestone that was archived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Archived {
    /// Its folder's name under `milestones/`.
    pub slug: String,
    /// Its name.
    pub name: String,
    /// Its folder, relative to the project.
    pub dir: PathBuf,
    /// How many phases it had.
    pub phases: usize,
    /// How many plans, and how many of them complete.
    pub plans: Plans,
}

/// Plans, counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Plans {
    /// All of them.
    pub total: usize,
    /// Those with a finished summary.
    pub complete: usize,
}

/// Plans the move of the active milestone and returns what the folder says afterwards.
pub(crate) fn archive(
    project: &Project,
    survey: &Survey,
    asked: Option<&str>,
    changes: &mut Changes,
) -> Result<(Archived, Survey)> {
    let folder = &survey.folder;
    let name = milestone_name(project, survey);
    let slug = free_slug(folder, &wanted_slug(survey, asked, &name)?);
    let home = folder.dir.join("milestones").join(&slug);
    let shipped = shipped_page(project, survey, &name, &slug)?;
    let root_state = root_state(project, survey, &name, &slug, changes)?;
    if folder.active.slug == DEFAULT_MILESTONE {
        for entry in OWN_ENTRIES {
            let from = folder.active.dir.join(entry);
            if from.exists() {
                changes.rename(&from, &home.join(entry))?;
            }
        }
    } else {
        // Session notes are stale once the milestone has shipped; they must not move into the archive.
        changes.delete(&folder.active.dir.join("RESUME.md"))?;
        changes.rename(&folder.active.dir, &home)?;
    }
    changes.write(&home.join("SHIPPED.md"), shipped.page)?;
    let state_file = folder.dir.join("STATE.md");
    // Beside a named milestone the root's STATE.md belongs to someone else, and stays.
    if folder.active.slug == DEFAULT_MILESTONE || changes.current(&state_file)?.is_none() {
        changes.write(&state_file, root_state)?;
    }
    let next = next_milestone(survey, changes)?;
    let archived = Archived {
        dir: project.relative(&home).to_owned(),
        slug,
        name,
        phases: shipped.phases,
        plans: shipped.plans,
    };
    Ok((archived, afterwards(project, survey, next, changes)?))
}

/// Returns the milestone's name: STATE.md's, else its slug, else the roadmap's title, else the project's.
fn milestone_name(project: &Project, survey: &Survey) -> String {
    let slug = &survey.folder.active.slug;
    let named = (slug != DEFAULT_MILESTONE).then(|| slug.clone());
    let title = survey.roadmap.title.as_deref().map(without_roadmap_word);
    survey
        .state
        .milestone
        .clone()
        .filter(|name| name != DEFAULT_MILESTONE)
        .or(named)
        .or_else(|| title.filter(|title| !title.is_empty()))
        .unwrap_or_else(|| survey.name(project))
}

/// Returns a roadmap's title without the word: `Roadmap: Field notes` and `Field notes Roadmap`.
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
    rest.trim_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '-' | '\u{2013}' | '\u{2014}')).to_owned()
}

fn wanted_slug(survey: &Survey, asked: Option<&str>, name: &str) -> Result<String> {
    let active = &survey.folder.active.slug;
    match asked {
        Some(asked) if active != DEFAULT_MILESTONE && asked != active => {
            Err(Error::not_found(format!("milestone {asked:?} is not the active one, which is {active:?}"))
                .hint(format!("annals ship --milestone {active}")))
        }
        Some(asked) if slug_of(asked) != asked => Err(Error::usage(format!("{asked:?} is not a slug"))
            .hint("a slug has lower-case letters, digits and hyphens")),
        Some(asked) => Ok(asked.to_owned()),
        None if active != DEFAULT_MILESTONE => Ok(active.clone()),
        None => Ok(Some(slug_of(name)).filter(|slug| !slug.is_empty()).unwrap_or_else(|| "milestone".to_owned())),
    }
}

/// Returns a name as a slug: `Field notes v1.0` as `field-notes-v1-0`.
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

/// A folder's name stays readable up to here.
const MAX_SLUG: usize = 60;

/// Returns the slug, numbered where the archive has it already.
fn free_slug(folder: &Folder, wanted: &str) -> String {
    let taken = |slug: &str| folder.archived.iter().any(|archive| archive.slug == slug);
    if !taken(wanted) {
        return wanted.to_owned();
    }
    (2_u32..)
        .map(|number| format!("{wanted}-{number}"))
        .find(|slug| !taken(slug))
        .unwrap_or_else(|| wanted.to_owned())
}

/// SHIPPED.md and the figures in it.
struct Shipped {
    page: String,
    phases: usize,
    plans: Plans,
}

#[derive(Serialize)]
struct ShippedContext<'a> {
    milestone: &'a str,
    slug: &'a str,
    date: String,
    phases: Vec<ShippedPhase>,
    plans: Plans,
    deviations: Deviations,
    requirements: Vec<String>,
    commits: Option<Commits>,
}

#[derive(Serialize)]
struct ShippedPhase {
    number: String,
    name: String,
    plans: String,
    deviations: usize,
}

#[derive(Serialize)]
struct Deviations {
    count: usize,
    kinds: Option<String>,
}

#[derive(Serialize)]
struct Commits {
    count: usize,
    first: Option<String>,
    last: Option<String>,
}

fn shipped_page(project: &Project, survey: &Survey, name: &str, slug: &str) -> Result<Shipped> {
    let mut rows = Vec::new();
    let mut kinds: Vec<String> = Vec::new();
    let mut commits: Vec<String> = Vec::new();
    let mut plans = Plans { total: 0, complete: 0 };
    for phase in survey.position.phases.iter().filter(|phase| phase.standing != Standing::Dropped) {
        let complete = phase.count(PlanStanding::Complete);
        plans.total += phase.plans.len();
        plans.complete += complete;
        let mut deviations = 0;
        for (slot, _) in &phase.plans {
            let (Some(dir), Some(file)) = (&phase.dir, &slot.summary) else { continue };
            let path = dir.join(file);
            let Some(text) = read::text(&path)? else { continue };
            let summary = Summary::parse(&text.value, &path).value;
            deviations += summary.deviation_count.unwrap_or(0);
            kinds.extend(summary.deviations.into_iter().flatten().filter_map(|deviation| deviation.kind));
            commits.extend(summary.commits.into_iter().flatten());
        }
        rows.push((deviations, phase, complete));
    }
    kinds.sort();
    kinds.dedup();
    let context = ShippedContext {
        milestone: name,
        slug,
        date: project.clock.today().to_string(),
        plans,
        deviations: Deviations {
            count: rows.iter().map(|(count, ..)| count).sum(),
            kinds: Some(kinds.join(", ")).filter(|kinds| !kinds.is_empty()),
        },
        requirements: requirements(&survey.roadmap),
        commits: (!commits.is_empty()).then(|| Commits {
            count: commits.len(),
            first: commits.first().cloned(),
            last: commits.last().cloned(),
        }),
        phases: rows
            .iter()
            .map(|(deviations, phase, complete)| ShippedPhase {
                number: phase.number.to_string(),
                name: phase.name.clone().unwrap_or_default(),
                plans: format!("{complete}/{}", phase.plans.len()),
                deviations: *deviations,
            })
            .collect(),
    };
    Ok(Shipped {
        page: templates::render(project, Template::Shipped, &context)?,
        phases: rows.len(),
        plans,
    })
}

/// Returns the requirements that the milestone's phases cover, each once, in roadmap order.
fn requirements(roadmap: &Roadmap) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for requirement in roadmap.active_phases().flat_map(|phase| &phase.requirements) {
        if !found.contains(requirement) {
            found.push(requirement.clone());
        }
    }
    found
}

#[derive(Serialize)]
struct StateContext<'a> {
    project: String,
    shipped: ShippedName<'a>,
    decisions: &'a [Decision],
    todos: &'a [String],
    blockers: &'a [String],
    skills: &'a [Skill],
    profile: Vec<String>,
}

#[derive(Serialize)]
struct ShippedName<'a> {
    milestone: &'a str,
    slug: &'a str,
    date: String,
}

/// Returns the STATE.md that stays in the planning folder: what outlives the milestone.
fn root_state(project: &Project, survey: &Survey, name: &str, slug: &str, changes: &Changes) -> Result<String> {
    let old = changes.current(&survey.folder.active.dir.join("STATE.md"))?;
    let old = old.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let context = StateContext {
        project: survey.name(project),
        shipped: ShippedName {
            milestone: name,
            slug,
            date: project.clock.today().to_string(),
        },
        decisions: &survey.state.decisions,
        todos: &survey.state.todos,
        blockers: &survey.state.blockers,
        skills: &survey.state.skills,
        profile: profile_lines(&old),
    };
    templates::render(project, Template::ShippedState, &context)
}

/// Returns the lines of the codebase profile, as they stand.
fn profile_lines(state: &str) -> Vec<String> {
    let outline = crate::markdown::Outline::parse(state, 0);
    outline
        .section(&["Codebase Profile"])
        .map(|section| outline.slice(&section.whole).lines().map(str::to_owned).collect())
        .unwrap_or_default()
}

/// Plans which milestone ACTIVE names next: the first that remains, else none.
fn next_milestone(survey: &Survey, changes: &mut Changes) -> Result<Option<Milestone>> {
    let folder = &survey.folder;
    let file = folder.dir.join("ACTIVE");
    let remaining = folder.milestones()?.into_iter().find(|slug| *slug != folder.active.slug);
    match remaining {
        Some(slug) if folder.active.slug != DEFAULT_MILESTONE => {
            changes.write(&file, format!("{slug}\n"))?;
            Ok(Some(Milestone::read(&folder.dir.join(&slug), &slug)?.value))
        }
        _ => {
            changes.delete(&file)?;
            Ok(None)
        }
    }
}

/// Returns what the folder will say once the changes are made.
fn afterwards(project: &Project, survey: &Survey, next: Option<Milestone>, changes: &Changes) -> Result<Survey> {
    let mut folder = survey.folder.clone();
    folder.active = next.unwrap_or_else(|| Milestone {
        slug: DEFAULT_MILESTONE.to_owned(),
        dir: folder.dir.clone(),
        phases: Vec::new(),
    });
    Survey::of(project, Parsed::clean(folder), &|path| {
        Ok(changes.current(path)?.map(|bytes| read::decode(bytes, path)))
    })
}
