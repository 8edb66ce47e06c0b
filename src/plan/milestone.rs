//! Names the active milestone, and says whether it has shipped.

use serde::Serialize;

use crate::plan;
use crate::plan::{
    Action, DEFAULT_MILESTONE, RoadmapMilestone, Survey, milestone_version, milestone_version_in,
    roadmap_phase,
};
use crate::project::Project;

/// The active milestone, and the archived ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MilestoneStatus {
    /// The active milestone's slug.
    pub slug: String,
    /// The active milestone's name, according to STATE.md or the roadmap.
    pub name: Option<String>,
    /// Whether no milestone was chosen: the files are in the planning folder itself, or the tool that wrote them
    /// manages milestones without slugs.
    #[serde(skip)]
    pub is_implied: bool,
    /// Whether it has shipped, and no other was started.
    #[serde(rename = "shipped")]
    pub is_shipped: bool,
    /// The active milestone's title, if STATE.md's front matter has one in addition to a version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The slugs of archived milestones, sorted.
    pub archived: Vec<String>,
}

impl MilestoneStatus {
    /// Returns the milestones of a project.
    pub(crate) fn from_survey(project: &Project, survey: &Survey) -> Self {
        let folder = &survey.folder;
        let title = survey.state.milestone_name.clone();
        let archived = folder.archived.iter();
        Self {
            slug: folder.active.slug.clone(),
            name: milestone_name(survey),
            is_implied: project.planning_place().layout.name.keeps_milestones()
                || folder.active.dir == folder.dir,
            is_shipped: is_shipped(survey),
            title: title.filter(|_| !names_shipped_milestone(survey)),
            archived: archived.map(|archive| archive.slug.clone()).collect(),
        }
    }

    /// Returns the milestone's name, otherwise its slug, but not the `default` that stands for none; a shipped one
    /// is marked.
    pub fn display_name(&self) -> Option<String> {
        let is_meant = |name: &&String| !self.is_implied || *name != DEFAULT_MILESTONE;
        let name = self.name.as_ref().filter(is_meant);
        let name = name.or_else(|| Some(&self.slug).filter(is_meant))?;
        let title = self.title.as_ref();
        let title = title.filter(|title| !name.to_lowercase().contains(&title.to_lowercase()));
        let is_said = name.to_lowercase().contains("shipped");
        let shipped = if self.is_shipped && !is_said { " (shipped)" } else { "" };
        Some(match title {
            Some(title) => format!("{name} {title}{shipped}"),
            None => format!("{name}{shipped}"),
        })
    }
}

/// Returns whether the milestone that STATE.md names has shipped, and no other was started.
fn is_shipped(survey: &Survey) -> bool {
    let version = stated_version(survey);
    let is_archived = || {
        let mut archived = survey.folder.archived.iter();
        version.is_some() && archived.any(|archive| milestone_version(&archive.slug) == version)
    };
    let has_shipped = survey.has_shipped || names_shipped_milestone(survey) || is_archived();
    survey.position.next.action == Action::None && has_shipped
}

/// Returns the milestone's name in STATE.md, without a status after it, otherwise, or if that one has shipped, in
/// the roadmap for the current phase.
fn milestone_name(survey: &Survey) -> Option<String> {
    let of_roadmap = || {
        let number = &survey.position.phase()?.number;
        let of_phase = roadmap_phase(&survey.roadmap, number).and_then(|phase| phase.milestone);
        let all = &survey.roadmap.milestones;
        let holds = |milestone: &&RoadmapMilestone| {
            let range = milestone.phases.as_ref();
            range.is_some_and(|range| range.contains(number))
        };
        let named = of_phase.and_then(|index| all.get(index));
        let named = named.or_else(|| all.iter().find(|one| !one.is_shipped && holds(one)));
        named.filter(|one| !one.is_shipped).map(|one| one.name.clone())
    };
    let stated = survey.state.milestone.as_deref();
    let stated = stated.map(|name| plan::without_status(name).to_owned());
    if names_shipped_milestone(survey) {
        // It is not the active one, unless none is.
        let is_last = survey.position.next.action == Action::None;
        return of_roadmap().or(stated.filter(|_| is_last));
    }
    stated.or_else(of_roadmap)
}

/// Returns the version of the milestone that STATE.md names.
fn stated_version(survey: &Survey) -> Option<&str> {
    let name = survey.state.milestone.as_deref()?;
    milestone_version_in(name)
}

/// Returns whether STATE.md still names a milestone that the roadmap calls shipped.
fn names_shipped_milestone(survey: &Survey) -> bool {
    let stated = stated_version(survey);
    let mut shipped = survey.roadmap.milestones.iter().filter(|one| one.is_shipped);
    stated.is_some() && shipped.any(|one| milestone_version_in(&one.name) == stated)
}
