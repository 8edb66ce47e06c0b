//! Brings the context files up to date: what every lifecycle command ends with.

use crate::claude_md;
use crate::claude_md::CurrentPhase;
use crate::claude_md::DecisionList;
use crate::claude_md::Pattern;
use crate::claude_md::Regenerated;
use crate::claude_md::Sources;
use crate::error::Error;
use crate::error::Result;
use crate::lifecycle::lessons::lessons;
use crate::patterns;
use crate::patterns::Doubts;
use crate::patterns::RelevantPattern;
use crate::planning::Profile;
use crate::planning::StatusReport;
use crate::planning::Survey;
use crate::project::Project;
use crate::project::Target;
use crate::storage::Changes;
use crate::warning::Warning;

/// What became of the context files.
pub type ContextFiles = Regenerated;

/// The planned context files, and the rule that kept one from being written.
pub(crate) struct Refreshed {
    /// What becomes of each file.
    pub(crate) files: ContextFiles,
    /// The first refusal: the rest of the work is done all the same.
    pub(crate) refused: Option<Error>,
    /// What was read in part only.
    pub(crate) warnings: Vec<Warning>,
}

/// What a caller may ask of the context files.
#[derive(Clone, Debug, Default)]
pub(crate) struct RefreshRequest {
    /// The files that are to hold the block; empty for those that the settings name.
    pub(crate) targets: Vec<Target>,
    /// Replace hand edits inside the block.
    pub(crate) force: bool,
    /// Only the files that have a block already.
    pub(crate) present_only: bool,
}

/// Plans the context files as they are to be once `changes` are made.
pub(crate) fn plan(project: &Project, survey: &Survey, changes: &mut Changes) -> Result<Refreshed> {
    plan_with(project, survey, &RefreshRequest::default(), changes)
}

/// Plans the context files of a folder that `changes` reshape, from `before` to `after`.
///
/// The history is read where its files still stand.
pub(crate) fn plan_after(
    project: &Project,
    before: &Survey,
    after: &Survey,
    changes: &mut Changes,
) -> Result<Refreshed> {
    write(project, before, after, &RefreshRequest::default(), changes)
}

/// Plans the context files as asked.
pub(crate) fn plan_with(
    project: &Project,
    survey: &Survey,
    request: &RefreshRequest,
    changes: &mut Changes,
) -> Result<Refreshed> {
    write(project, survey, survey, request, changes)
}

fn write(
    project: &Project,
    before: &Survey,
    survey: &Survey,
    request: &RefreshRequest,
    changes: &mut Changes,
) -> Result<Refreshed> {
    let mut warnings = Vec::new();
    let patterns = patterns::recent(project, changes, &mut warnings)?;
    let targets: &[Target] = match &request.targets[..] {
        _ if request.present_only => &[],
        [] => &project.settings.targets,
        named => named,
    };
    let lessons = lessons(project, before, &patterns)?;
    let doubts = Doubts::known(project, &patterns, &mut warnings);
    let phase = survey.position.phase();
    let relevant = patterns::relevant_to(&patterns, &doubts, survey, phase);
    let mut sources = sources(project, survey, relevant, lessons, &mut warnings);
    sources.recorded_patterns = patterns.texts().map(str::to_owned).collect();
    let (mut files, planned) = claude_md::regenerate(project, &sources, targets, request.force)?;
    changes.extend(planned)?;
    warnings.append(&mut files.warnings);
    let refused = files.refused.first().cloned().map(Error::from);
    Ok(Refreshed {
        files,
        refused,
        warnings: project.named(warnings),
    })
}

/// What the whole history shows stands behind what phases taught, where there is room.
const LESSONS: usize = 1;

/// Gathers what the context files say.
fn sources(
    project: &Project,
    survey: &Survey,
    relevant: Vec<RelevantPattern>,
    lessons: Vec<String>,
    warnings: &mut Vec<Warning>,
) -> Sources {
    let lessons = lessons.into_iter().take(LESSONS).map(|summary| Pattern {
        summary,
        is_stale: false,
    });
    let relevant = relevant.into_iter().filter_map(|pattern| {
        Some(Pattern {
            summary: pattern.standalone()?,
            is_stale: pattern.stale.is_some(),
        })
    });
    let status = StatusReport::of(project, survey);
    let profile = (!project.planning_place().layout.is_in_use).then(|| Profile::of(project));
    let profile = profile.and_then(|profile| profile.into_value(warnings));
    let contested = status.next.contest();
    Sources {
        project: status.project,
        core_value: status.core_value,
        code: profile.map(|profile| profile.summary()).unwrap_or_default(),
        milestone: status.milestone.name.or(Some(status.milestone.slug)),
        phase: status.derived.number.map(|number| CurrentPhase {
            number: number.to_string(),
            name: status.derived.name,
            status: status.derived.status,
        }),
        next_command: Some(status.next.command),
        contested,
        decisions: decisions(survey),
        skills: status.skills,
        patterns: relevant.chain(lessons).collect(),
        recorded_patterns: Vec::new(),
    }
}

/// STATE.md's decisions, a list for each heading; then PROJECT.md's.
fn decisions(survey: &Survey) -> Vec<DecisionList> {
    let lists = [&survey.state.decisions, &survey.project_file.decisions];
    let groups = lists
        .into_iter()
        .flat_map(|list| list.chunk_by(|one, next| one.heading == next.heading));
    groups
        .map(|group| DecisionList {
            heading: group.first().and_then(|first| first.heading.clone()),
            decisions: group.to_vec(),
        })
        .collect()
}
