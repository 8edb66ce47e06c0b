//! Refreshes the context files at the end of lifecycle commands.

use chrono::NaiveDate;

use crate::claude_md::{CurrentPhase, DecisionFile, DecisionList, Pattern, Sources};
use crate::error::Result;
use crate::lifecycle::archive::slug_of;
use crate::lifecycle::codebase::CodebaseSummary;
use crate::lifecycle::lessons::lessons;
use crate::lifecycle::outcome::Work;
use crate::lifecycle::shipped;
use crate::patterns::{RelevantPattern, StaleReasons};
use crate::plan::{Action, DEFAULT_MILESTONE, StatusReport, Survey, is_absent};
use crate::project::{ContextTarget, Project, vocabulary};
use crate::storage::read;
use crate::warning::Warning;
use crate::{claude_md, patterns};

/// The options of `annals sync`.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the options are independent, and most of them are flags"
)]
pub struct SyncRequest {
    /// Only check whether the files are up to date.
    pub check: bool,
    /// The files that should contain the block; if empty, those in the settings.
    pub targets: Vec<ContextTarget>,
    /// Replace hand edits inside the block.
    pub force: bool,
    /// Correct the position lines of STATE.md and ROADMAP.md first.
    pub fix_state: bool,
    /// Update only files that already have a block.
    pub present_only: bool,
    /// The milestone that ships with the same changes.
    pub shipped: Option<Shipped>,
}

/// The name of a milestone that has shipped, and the day.
pub type Shipped = (String, Option<NaiveDate>);

/// Plans the context files as they should be after the changes of `work`.
pub(crate) fn plan(project: &Project, survey: &Survey, work: &mut Work) -> Result<()> {
    plan_with(project, survey, survey, &SyncRequest::default(), work)
}

/// Plans the context files with options, for a folder that `work` may restructure: with its state before and after.
///
/// The history is read from `before`, where the files still are.
pub(crate) fn plan_with(
    project: &Project,
    before: &Survey,
    survey: &Survey,
    request: &SyncRequest,
    work: &mut Work,
) -> Result<()> {
    let warnings = &mut work.warnings;
    let patterns = patterns::recent(project, &work.changes, warnings)?;
    let targets: &[ContextTarget] = match &request.targets[..] {
        _ if request.present_only => &[],
        [] => &project.settings.targets,
        named => named,
    };
    let lessons = lessons(project, before, &patterns)?;
    let reasons = StaleReasons::cached_or_checked(project, &patterns, warnings);
    let relevant = patterns::worth_knowing(&patterns, &reasons, survey);
    let mut sources =
        sources(project, survey, relevant, lessons, request.shipped.as_ref(), warnings);
    sources.recorded_patterns = patterns.texts().map(str::to_owned).collect();
    let (mut files, planned) = claude_md::regenerate(project, &sources, targets, request.force)?;
    work.changes.extend(planned)?;
    work.warnings.append(&mut files.warnings);
    work.context = Some(files);
    Ok(())
}

/// Maximum number of lessons of the whole history, which follow the patterns of single phases.
const LESSONS: usize = 1;

/// Gathers the content of the context files.
fn sources(
    project: &Project,
    survey: &Survey,
    relevant: Vec<RelevantPattern>,
    lessons: Vec<String>,
    just: Option<&Shipped>,
    warnings: &mut Vec<Warning>,
) -> Sources {
    let lessons =
        lessons.into_iter().take(LESSONS).map(|summary| Pattern { summary, is_stale: false });
    let relevant = relevant.into_iter().filter_map(|pattern| {
        Some(Pattern { summary: pattern.standalone()?, is_stale: pattern.stale.is_some() })
    });
    let status = StatusReport::from_survey(project, survey);
    let profile =
        (!project.planning_place().layout.is_in_use).then(|| CodebaseSummary::scan(project));
    let profile = profile.and_then(|profile| profile.into_value(warnings));
    let contested = status.next.contest();
    let milestone = milestone(project, survey, &status, just);
    Sources {
        project: status.project,
        core_value: status.core_value,
        code: profile.map(|profile| profile.summary()).unwrap_or_default(),
        milestone,
        phase: status.derived.number.map(|number| CurrentPhase {
            number: number.to_string(),
            name: status.derived.name,
            status: status.derived.status,
        }),
        next_command: Some(status.next.command),
        contested,
        decisions: decision_lists(survey),
        skills: status.skills,
        patterns: relevant.chain(lessons).collect(),
        recorded_patterns: Vec::new(),
        shipped: shipped_pages(survey),
    }
}

/// Returns the milestone to name: where nothing is left to do and no other was started, the one that shipped last;
/// `default` for one without a name, unless the workflow does not know the word.
fn milestone(
    project: &Project,
    survey: &Survey,
    status: &StatusReport,
    just: Option<&Shipped>,
) -> Option<String> {
    let folder = &survey.folder;
    let is_archived = |name: &String| {
        folder.archived.iter().any(|archive| slug_of(&archive.slug) == slug_of(name))
    };
    let is_started = !status.milestone.is_shipped
        && survey
            .state
            .milestone
            .as_ref()
            .is_some_and(|name| !is_absent(name) && !is_archived(name));
    let last = just
        .cloned()
        .or_else(|| shipped::last(folder))
        .filter(|_| status.next.action == Action::None && !is_started);
    match last {
        Some((name, Some(date))) => Some(format!("none (shipped: {name}, {date})")),
        Some((name, None)) => Some(format!("none (shipped: {name})")),
        None => {
            let layout = &project.planning_place().layout;
            let has_default = layout.is_in_use && !layout.name.keeps_milestones();
            status
                .milestone
                .display_name()
                .or_else(|| has_default.then(|| DEFAULT_MILESTONE.to_owned()))
        }
    }
}

/// Returns the text of each archived milestone's SHIPPED.md, as far as it can be read.
fn shipped_pages(survey: &Survey) -> Vec<String> {
    let folders = survey.folder.archived.iter();
    let pages = folders.filter_map(|archive| {
        let path = archive.dir.as_ref()?.join(vocabulary::SHIPPED);
        Some(read::text(&path).ok()??.value)
    });
    pages.collect()
}

/// Returns the decisions of STATE.md, one list per heading, followed by those of PROJECT.md.
pub(crate) fn decision_lists(survey: &Survey) -> Vec<DecisionList> {
    let lists = [
        (DecisionFile::State, &survey.state.decisions),
        (DecisionFile::Project, &survey.project_file.decisions),
    ];
    let groups = lists.into_iter().flat_map(|(file, list)| {
        let groups = list.chunk_by(|one, next| one.heading == next.heading);
        groups.map(move |group| (file, group))
    });
    groups
        .map(|(file, group)| DecisionList {
            file,
            heading: group.first().and_then(|first| first.heading.clone()),
            decisions: group.to_vec(),
        })
        .collect()
}
