//! Records the lessons of finished phases: chooses the phases, then writes their entries.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::lifecycle::chronology::{DatedPhase, in_order};
use crate::lifecycle::outcome::{CommandOutcome, Work, carry_out, reading};
use crate::lifecycle::refresh;
use crate::patterns::{
    Comparison, EntryContext, FinishedPhase, History, Insights, Patterns, RecordIndex, Recorded,
    Retrospective, SubmittedLessons, derive_durations,
};
use crate::plan::{
    Phase, PhaseDir, PhaseNumber, PhaseState, PlanState, Survey, TextOf, status_words,
};
use crate::project::Project;
use crate::storage::Store;
use crate::warning::Warning;
use crate::{patterns, plan};

/// The options of `annals execute`.
#[derive(Clone, Debug, Default)]
pub struct ExecuteRequest {
    /// The phase to record; by default, the latest complete one that is not recorded yet.
    pub phase: Option<PhaseNumber>,
    /// Record all complete phases that are not recorded yet, including archived milestones.
    pub all: bool,
    /// Record a phase although plans are open.
    pub partial: bool,
    /// Record phases even if they are already recorded.
    pub again: bool,
    /// The effort profile with which the phase was carried out.
    pub effort: Option<String>,
    /// The lessons of the agent that worked on the phase, which stand instead of what its summaries say.
    pub lessons: Option<SubmittedLessons>,
}

/// The outcome of `annals execute`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ExecuteReport {
    /// The newly recorded phases, by folder name.
    pub recorded: Vec<String>,
    /// The phases that were already recorded, by folder name.
    pub already: Vec<String>,
    /// The already recorded phases whose lessons were replaced, by folder name.
    pub judged: Vec<String>,
    /// The recorded phases whose summaries have changed since, by folder name.
    pub changed_since: Vec<String>,
}

/// Appends an entry to PATTERNS.md for each requested phase, and refreshes the context files.
///
/// If a rule protects a context file, this is reported, and the phases are recorded anyway.
pub fn execute(
    project: &Project,
    request: &ExecuteRequest,
) -> Result<CommandOutcome<ExecuteReport>> {
    project.planning()?;
    let stores = [Store::Plan, Store::Patterns, Store::Context];
    carry_out(project, "execute", &stores, |work| {
        let survey = Survey::read(project)?;
        if request.phase.is_none() {
            survey.check_understood()?;
        }
        let report = record(project, &survey, request, work)?;
        work.warnings.extend(survey.warnings.iter().cloned());
        refresh::plan(project, &survey, work)?;
        Ok(report)
    })
}

/// Plans the entries of the requested phases at the end of PATTERNS.md, in the order in which the phases were finished.
pub(crate) fn record(
    project: &Project,
    survey: &Survey,
    request: &ExecuteRequest,
    work: &mut Work,
) -> Result<ExecuteReport> {
    let known = patterns::with_changes(project, &work.changes, &mut work.warnings)?;
    let index = RecordIndex::new(&known);
    let mut warnings = Vec::new();
    let mut history = History::read(&survey.folder, &survey.position.phases, &mut warnings)?;
    history.read_efforts(&index, &known.entries);
    let wanted = wanted(project, survey, &history, request, &mut work.warnings)?;
    let is_latest_wanted = !request.all && request.phase.is_none();
    // The lessons of an agent are those of one phase.
    let judged = request.lessons.as_ref().and_then(|lessons| {
        let (dir, _) = phase_or_last_complete(survey, request.phase.as_ref()).ok()?;
        Some((lessons, dir.dir.clone()))
    });
    let mut report = ExecuteReport::default();
    let mut new: Vec<FinishedPhase> = Vec::new();
    let mut are_lessons_used = judged.is_none() && request.lessons.is_none();
    for (phase, state) in compared(&history, wanted, &index) {
        let name = phase.dir_name.clone();
        let lessons =
            judged.as_ref().filter(|(_, dir)| *dir == phase.dir).map(|(lessons, _)| *lessons);
        are_lessons_used |= lessons.is_some();
        match (state.line().filter(|_| !request.again), lessons) {
            (Some(line), Some(lessons)) => {
                let checked = lessons.checked(&phase, &known, Some(line), &project.root)?;
                patterns::replace_lessons(project, line, &checked, &mut work.changes)?;
                report.judged.push(name);
            }
            (Some(_), None) => {
                report
                    .changed_since
                    .extend(matches!(state, Recorded::Changed(_)).then(|| name.clone()));
                report.already.push(name);
                continue;
            }
            (None, _) => {
                report.recorded.push(name);
                new.push(phase);
            }
        }
        if is_latest_wanted {
            break;
        }
    }
    if !are_lessons_used {
        return Err(Error::refused("there is no phase with a summary to record the lessons for")
            .hint("`annals status` says where the work stands"));
    }
    // Warnings about old summaries were reported when their phases were recorded.
    let is_of_new =
        |warning: &Warning| new.iter().any(|phase| warning.place.file.starts_with(&phase.dir));
    work.warnings.extend(warnings.into_iter().filter(is_of_new));
    let entries = entries(project, survey, history, new, request, &known, judged.as_ref())?;
    patterns::append(project, &entries, &mut work.changes)?;
    Ok(report)
}

/// Returns the folder names of the complete phases, archived milestones included, that `execute --all` would
/// record.
pub fn unrecorded(project: &Project) -> Result<Vec<String>> {
    let survey = Survey::read(project)?;
    let known = patterns::stored(project)?.value;
    let history = History::read(&survey.folder, &survey.position.phases, &mut Vec::new())?;
    let wanted = all_complete(&survey, &history)?;
    let states = compared(&history, wanted, &RecordIndex::new(&known)).into_iter();
    Ok(states
        .filter(|(_, state)| *state == Recorded::No)
        .map(|(phase, _)| phase.dir_name)
        .collect())
}

/// A phase of the history, and its name where the folder's is not the best one.
type Wanted<'h> = (&'h FinishedPhase, Option<String>);

/// Returns the requested phases; without a request for one or all, the complete ones, latest first.
fn wanted<'h>(
    project: &Project,
    survey: &Survey,
    history: &'h History,
    request: &ExecuteRequest,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Wanted<'h>>> {
    if request.all {
        return all_complete(survey, history);
    }
    let read: HashMap<&PathBuf, &FinishedPhase> =
        history.phases.iter().map(|phase| (&phase.dir, phase)).collect();
    let of_dir = |dir: &PhaseDir| read.get(&dir.dir).map(|phase| (*phase, None));
    let Some(number) = &request.phase else {
        return Ok(reading(project, warnings, |text| {
            let complete = complete(survey).into_iter().rev();
            let left = complete.filter(|(_, phase)| !left_plans(phase, text));
            left.filter_map(|(dir, _)| of_dir(dir)).collect()
        }));
    };
    survey.phase(number)?;
    // Two folders may have the same number.
    let phases = || survey.position.with_number(number);
    let has_summary =
        |phase: &Phase| folder(survey, phase).is_some_and(|dir| dir.summaries().next().is_some());
    let has_any_summary = phases().any(has_summary);
    for phase in phases() {
        let mut left = || reading(project, warnings, |text| left_plans(phase, text));
        let is_incomplete = phase.state != PhaseState::Done || has_any_summary && left();
        if is_incomplete && !request.partial {
            return Err(incomplete(project, phase, has_any_summary));
        }
        if !has_any_summary {
            let message = format!("phase {} has no summary to record", phase.number);
            let error = Error::refused(message).hint("record it when its plans have summaries");
            return Err(located(error, project, phase));
        }
    }
    Ok(phases().filter_map(|phase| of_dir(folder(survey, phase)?)).collect())
}

/// Returns whether a plan was left without a summary, and no check of the phase made up for it.
fn left_plans(phase: &Phase, text: TextOf<'_>) -> bool {
    phase.count(PlanState::Open) > 0 && !phase.has_passed(text)
}

/// Returns all phases that are complete: of archived milestones and workstreams, quick tasks that taught something, and
/// those of the active milestone that are called complete, even with plans left.
fn all_complete<'h>(survey: &Survey, history: &'h History) -> Result<Vec<Wanted<'h>>> {
    let active = &survey.folder.active.slug;
    let open = survey.folder.milestones()?;
    let mut names: HashMap<PathBuf, String> = HashMap::new();
    for archive in &survey.folder.archived {
        let Some(milestone) = history.milestones.iter().find(|one| one.slug == archive.slug) else {
            continue;
        };
        let roadmap = archive.roadmap()?;
        for dir in &milestone.phases {
            let planned = roadmap.as_ref();
            let planned = planned.and_then(|roadmap| plan::roadmap_phase(roadmap, &dir.number));
            let planned = planned.and_then(|phase| phase.name.as_deref());
            names.insert(dir.dir.clone(), plan::name_of_past_phase(&dir.name, planned).to_owned());
        }
    }
    let past = history.phases.iter().filter(|phase| {
        phase.is_complete && phase.milestone != *active && !open.contains(&phase.milestone)
    });
    let quick = history.quick.iter().filter(|task| Retrospective::has_lessons(task));
    let done: HashSet<&PathBuf> = complete(survey).into_iter().map(|(dir, _)| &dir.dir).collect();
    let active = history.phases.iter().filter(|phase| done.contains(&phase.dir));
    let all = past.chain(quick).chain(active);
    Ok(all.map(|phase| (phase, names.remove(&phase.dir))).collect())
}

/// Returns the wanted phases with what is recorded of them; a copy of one outside of its archive only once.
fn compared(
    history: &History,
    wanted: Vec<Wanted<'_>>,
    index: &RecordIndex<'_>,
) -> Vec<(FinishedPhase, Recorded)> {
    let mut by_name: HashMap<&str, Vec<&FinishedPhase>> = HashMap::new();
    for phase in &history.phases {
        by_name.entry(&phase.dir_name).or_default().push(phase);
    }
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for (phase, name) in wanted {
        let namesakes = by_name.get(phase.dir_name.as_str()).into_iter().flatten();
        let others: Vec<&FinishedPhase> =
            namesakes.copied().filter(|other| other.dir != phase.dir).collect();
        let state = index.recorded(phase, &others);
        if seen.insert((&phase.digest, &phase.dir_name)) {
            let name = name.unwrap_or_else(|| phase.name.clone());
            found.push((FinishedPhase { name, ..phase.clone() }, state));
        }
    }
    found
}

/// Returns the entries of new phases, the latest of which says what the whole history shows.
fn entries(
    project: &Project,
    survey: &Survey,
    history: History,
    mut new: Vec<FinishedPhase>,
    request: &ExecuteRequest,
    known: &Patterns,
    judged: Option<&(&SubmittedLessons, PathBuf)>,
) -> Result<Vec<Retrospective>> {
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let summaries = new.iter_mut().flat_map(|phase| &mut phase.plans);
    derive_durations(summaries.map(|plan| &mut plan.summary).collect(), &project.git)?;
    let dated = in_order(project, survey, &history.milestones, new)?;
    let insights = Insights::from_phases(&history.into_distinct_phases());
    let insights: Vec<Comparison> = insights.lessons().cloned().collect();
    let latest = complete(survey).last().map(|(dir, _)| dir.dir.clone());
    let last = dated.len() - 1;
    let mut entries = Vec::new();
    for (at, one) in dated.iter().enumerate() {
        let is_latest = latest.as_ref() == Some(&one.phase.dir);
        let effort = effort(project, one, request, is_latest)?;
        let context = EntryContext {
            date: one.date,
            effort: effort.as_deref(),
            commit: one.commit.as_deref(),
            insights: if at == last { &insights } else { &[] },
        };
        let lessons = judged.filter(|(_, dir)| *dir == one.phase.dir);
        let checked =
            lessons.map(|(lessons, _)| lessons.checked(&one.phase, known, None, &project.root));
        entries.push(Retrospective::judged(&one.phase, &context, checked.transpose()?));
    }
    Ok(entries)
}

/// Returns the effort of a phase: the caller's, else that of its plans, else for the latest phase the current setting.
fn effort(
    project: &Project,
    one: &DatedPhase,
    request: &ExecuteRequest,
    is_latest: bool,
) -> Result<Option<String>> {
    if request.effort.is_some() {
        return Ok(request.effort.clone());
    }
    let plans = &one.phase.plans;
    let own: Vec<&str> = plans.iter().filter_map(|plan| plan.effort.as_deref()).collect();
    if own.is_empty() {
        return if is_latest { patterns::effort(&project.planning_place().dir) } else { Ok(None) };
    }
    let mut named = own.clone();
    named.sort_unstable();
    named.dedup();
    let named = named.join(", ");
    Ok(Some(if own.len() == plans.len() {
        named
    } else {
        format!("{named} ({} of {} plans)", own.len(), plans.len())
    }))
}

/// Returns the complete phases of the active milestone that have a folder.
fn complete(survey: &Survey) -> Vec<(&PhaseDir, &Phase)> {
    let done = survey.position.phases.iter().filter(|phase| phase.state == PhaseState::Done);
    done.filter_map(|phase| Some((folder(survey, phase)?, phase))).collect()
}

/// Returns a phase by number, or by default the last complete one, with its folder.
pub(crate) fn phase_or_last_complete<'a>(
    survey: &'a Survey,
    number: Option<&PhaseNumber>,
) -> Result<(&'a PhaseDir, &'a Phase)> {
    let found = match number {
        Some(number) => {
            let phase = survey.phase(number)?;
            folder(survey, phase).map(|dir| (dir, phase))
        }
        None => complete(survey).into_iter().rfind(|(dir, _)| dir.summaries().next().is_some()),
    };
    found.ok_or_else(|| Error::not_found("there is no phase with summaries"))
}

fn folder<'a>(survey: &'a Survey, phase: &Phase) -> Option<&'a PhaseDir> {
    let dirs = &survey.folder.active.phases;
    let start = dirs.partition_point(|dir| dir.number < phase.number);
    let mut same = dirs[start..].iter().take_while(|dir| dir.number == phase.number);
    same.find(|dir| Some(&dir.dir) == phase.dir.as_ref())
}

/// Returns the error for a phase that is not complete; one without summaries has no state to record either.
fn incomplete(project: &Project, phase: &Phase, has_summary: bool) -> Error {
    let missing: Vec<String> = phase
        .open_plans()
        .map(|slot| {
            let file = slot.summary.as_ref().or(slot.plan.as_ref());
            file.cloned().unwrap_or_else(|| slot.number.to_string())
        })
        .collect();
    let number = &phase.number;
    let message = if !missing.is_empty() {
        let missing = missing.join(", ");
        format!("phase {number} is not complete: no finished summary for {missing}")
    } else if phase.has_plans() {
        format!("phase {number} is not complete: {}", status_words(phase))
    } else {
        format!("phase {number} is not planned yet")
    };
    let error = Error::refused(message);
    let error = if has_summary {
        error.hint("--partial records it in its current state")
    } else if phase.has_plans() {
        error.hint("record it when its plans have summaries")
    } else {
        error.hint(format!("`annals plan {number}` prints what to know before planning it"))
    };
    located(error, project, phase)
}

fn located(error: Error, project: &Project, phase: &Phase) -> Error {
    match &phase.dir {
        Some(dir) => error.at(project.relative(dir), None),
        None => error,
    }
}
