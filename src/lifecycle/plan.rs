//! Gathers the information that a planner needs about a phase, before and after its plans are written.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::lifecycle::outcome::{CommandOutcome, Work, carry_out};
use crate::lifecycle::sync::refresh;
use crate::patterns;
use crate::patterns::{
    ComparisonQuestion, FinishedPhase, Insights, PathCheck, PlanRecord, PlanRef, Rate,
    RelevantPattern, StaleReasons, ends_in, is_planning, known_milestone,
};
use crate::plan::{
    Action, Deviation, Phase, PhaseNumber, PhaseState, Plan, PlanNumber, PlanState, Requirement,
    RoadmapPhase, RoadmapPlan, Survey, check_waves, status_words, total_to_show,
};
use crate::project::Project;
use crate::search::bm25;
use crate::storage::{Store, read};
use crate::text::{join, quantity};
use crate::warning::Warning;

/// Maximum number of patterns: a longer list is not read.
const MAX_KNOWN: usize = 5;

/// The brief for planning one phase.
#[derive(Debug, Serialize)]
pub struct PhaseBrief {
    /// The phase's number.
    pub phase: PhaseNumber,
    /// Number of phases, if it is also the number of the last one.
    pub total: Option<u32>,
    /// Its name.
    pub name: Option<String>,
    /// Its progress, in words.
    pub status: String,
    /// Its goal in the roadmap.
    pub goal: Option<String>,
    /// The requirements it covers.
    pub requirements: Vec<Requirement>,
    /// What must be true when it is done.
    pub success_criteria: Vec<String>,
    /// The phases it builds on.
    pub depends_on: Vec<Dependency>,
    /// The blockers and research flags in STATE.md that name the phase.
    pub notes: Vec<String>,
    /// Number of other patterns that may be out of date.
    pub more_stale: usize,
    /// The known patterns that are relevant to the phase, most relevant first.
    pub know: Vec<RelevantPattern>,
    /// How often the finished plans of the project deviated.
    pub rate: DeviationRate,
    /// The significant differences between the finished plans of the project.
    pub insights: Vec<InsightBrief>,
    /// How the phases most like this one, or else the latest ones, were cut into plans, and how those went.
    pub similar: Vec<PhaseShape>,
    /// The files over which earlier plans deviated, those with the most deviations first.
    pub careful: Vec<CarefulFile>,
    /// Its plans so far.
    pub plans: Vec<PlanBrief>,
    /// Problems that prevent its open plans from being carried out as they are.
    pub problems: Vec<Warning>,
    /// Why the next command is contested; null if no other reading of the files is about as good.
    pub contested: Option<String>,
}

/// A phase that another phase depends on.
#[derive(Debug, Serialize)]
pub struct Dependency {
    /// Its number.
    pub phase: PhaseNumber,
    /// Its progress, in words, or `None` if it is not a phase of this milestone.
    pub status: Option<String>,
}

/// How often the finished plans of a project deviated.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct DeviationRate {
    /// The plans that deviated, of those whose summaries mention deviations.
    pub deviated: Rate,
    /// Number of summaries that do not mention deviations.
    pub unreported: usize,
}

impl DeviationRate {
    fn from_history(history: &[FinishedPhase]) -> Self {
        let plans = || history.iter().flat_map(|phase| &phase.plans);
        let deviated = Rate::measure_known(plans().map(PlanRecord::deviated));
        Self { deviated, unreported: plans().count() - deviated.of }
    }
}

/// Returns the brief for a phase, by default the current one, and refreshes the context files.
///
/// If a rule protects a context file, this is reported in the outcome, and the brief is returned anyway.
pub fn plan(project: &Project, number: Option<&PhaseNumber>) -> Result<CommandOutcome<PhaseBrief>> {
    project.planning()?;
    let mut outcome = carry_out(project, "plan", &[Store::Context], |work| {
        let survey = Survey::read(project)?;
        let phase = chosen(&survey, number)?;
        let brief = brief(project, &survey, &phase, work)?;
        refresh(project, &survey, work)?;
        Ok(brief)
    })?;
    let brief = &mut outcome.value;
    brief.problems = project.named(std::mem::take(&mut brief.problems));
    Ok(outcome)
}

/// Returns the requested phase, else the current one.
fn chosen(survey: &Survey, requested: Option<&PhaseNumber>) -> Result<Phase> {
    let position = &survey.position;
    if requested.is_none() {
        survey.check_understood()?;
    }
    let Some(number) = requested.or(position.next.phase.as_ref()) else {
        // Before a milestone ships, the last phase is returned for a retrospective.
        let is_active = position.next.action != Action::None;
        return position.phase().filter(|_| is_active).cloned().ok_or_else(|| {
            let because = position.next.because.first().cloned().unwrap_or_default();
            Error::not_found(format!("no phase to plan: {because}"))
                .hint(position.next.command.clone())
        });
    };
    // If two folders have the same number, the current one is chosen.
    let current = position.phase().filter(|phase| phase.number == *number);
    match (current, requested) {
        (Some(phase), _) => Ok(phase.clone()),
        (None, Some(_)) => survey.phase(number).cloned(),
        // A new planning folder has no phase yet; this is the one to be created.
        (None, None) => Ok(Phase::new(number.clone(), None)),
    }
}

fn brief(project: &Project, survey: &Survey, phase: &Phase, work: &mut Work) -> Result<PhaseBrief> {
    let warnings = &mut work.warnings;
    warnings.extend(survey.warnings.iter().cloned());
    let planned = phase.planned.as_deref();
    let named = planned.map(|planned| planned.requirements.as_slice()).unwrap_or_default();
    let requirements = survey.requirements(named, warnings);
    // Warnings about old summaries are reported by the commands that read them for their own sake.
    let mut recorded = patterns::with_changes(project, &work.changes, warnings)?;
    recorded.name_milestones(&survey.folder, None, warnings);
    let past = patterns::history(survey)?.value;
    let checked = PhasePlans::read(phase, planned, warnings);
    let criteria = planned.map(|planned| planned.success_criteria.clone()).unwrap_or_default();
    let topic = topic(survey, phase, &requirements, &checked.plans);
    let reasons = StaleReasons::check(project, &recorded)?;
    let stale = |line: usize, text: &str| reasons.about(line, text);
    let mut know = patterns::relevant(&recorded, &topic, &stale);
    // Whether they still hold is said of the whole history, below.
    know.retain(|pattern| !patterns::is_statistic(&pattern.text));
    let left = know.split_off(know.len().min(MAX_KNOWN));
    let next = &survey.position.next;
    work.next = Some(next.command.clone());
    Ok(PhaseBrief {
        phase: phase.number.clone(),
        total: total_to_show(&survey.position),
        name: phase.name.clone(),
        status: stated_status(phase),
        goal: phase.goal().map(str::to_owned),
        requirements,
        success_criteria: criteria,
        depends_on: dependencies(survey, planned),
        notes: notes(survey, &phase.number),
        know,
        more_stale: left.iter().filter(|pattern| pattern.stale.is_some()).count(),
        rate: DeviationRate::from_history(&past),
        insights: insights(&past, &checked.plans),
        similar: similar_phases(&past, phase, &topic),
        careful: under_new_names(project, careful(&past, &checked.open_files()), &past)?,
        plans: checked.plans,
        problems: checked.problems,
        contested: next.contest(),
    })
}

/// Returns the progress of a phase; the plans of one that is only called complete may have no summaries.
fn stated_status(phase: &Phase) -> String {
    match phase.count(PlanState::Open) {
        open if open > 0 && phase.state == PhaseState::Done => {
            let plans = quantity(open, "plan");
            format!("called complete, {plans} without a summary")
        }
        _ => status_words(phase),
    }
}

fn dependencies(survey: &Survey, planned: Option<&RoadmapPhase>) -> Vec<Dependency> {
    let numbers = planned.map(|planned| planned.depends_on.as_slice()).unwrap_or_default();
    let status =
        |number: &PhaseNumber| survey.position.with_number(number).next().map(status_words);
    let dependency =
        |number: &PhaseNumber| Dependency { phase: number.clone(), status: status(number) };
    numbers.iter().map(dependency).collect()
}

/// Returns the open blockers that name a phase: `Phase 14: the format is open`, `no key in Phase 14`.
fn notes(survey: &Survey, phase: &PhaseNumber) -> Vec<String> {
    let mut open = survey.open_blockers();
    open.retain(|text| survey.numbering.phases_in(&text.replace(['[', ']'], " ")).contains(phase));
    open
}

/// Returns all text that describes a phase, including its plans.
fn topic(
    survey: &Survey,
    phase: &Phase,
    requirements: &[Requirement],
    plans: &[PlanBrief],
) -> String {
    let mut words = vec![patterns::topic(phase, &survey.roadmap)];
    words.extend(requirements.iter().filter_map(|requirement| requirement.text.clone()));
    for plan in plans {
        words.extend(plan.title.iter().chain(&plan.files).cloned());
    }
    words.join("\n")
}

/// A summary of a plan of the phase.
#[derive(Debug, Serialize)]
pub struct PlanBrief {
    /// Its number.
    pub plan: PlanNumber,
    /// Its title.
    pub title: Option<String>,
    /// Its state.
    pub status: PlanState,
    /// The wave in which it is executed.
    pub wave: Option<u32>,
    /// The plans it depends on, as written.
    pub depends_on: Vec<String>,
    /// Number of its tasks.
    pub tasks: usize,
    /// The files it will modify.
    pub files: Vec<String>,
}

/// The plans of one phase.
#[derive(Debug, Default)]
struct PhasePlans {
    plans: Vec<PlanBrief>,
    /// Problems of the plans that are not complete.
    problems: Vec<Warning>,
}

impl PhasePlans {
    /// Reads the plans of a phase, including those that exist only in the roadmap's checklist; one that cannot be read
    /// only causes a warning.
    fn read(phase: &Phase, planned: Option<&RoadmapPhase>, warnings: &mut Vec<Warning>) -> Self {
        let listed: &[RoadmapPlan] = planned.map_or(&[], |planned| &planned.plans);
        let mut found = Self::default();
        let (mut all, mut open) = (Vec::new(), Vec::new());
        for slot in &phase.plans {
            let in_list = listed.iter().find(|listed| listed.plan.as_ref() == Some(&slot.number));
            let parsed = slot.plan();
            let said = parsed.map(|parsed| parsed.value.clone());
            let title = in_list.and_then(|listed| listed.title.clone());
            found.plans.push(PlanBrief::new(slot.number.clone(), slot.state, title, said));
            if let Some(parsed) = parsed {
                if slot.state != PlanState::Complete {
                    found.problems.extend(parsed.warnings.iter().cloned());
                    found.problems.extend(parsed.value.problems());
                    open.push(&parsed.value.file);
                }
                all.push((&slot.number, &parsed.value));
            }
        }
        warnings.extend(phase.unread().cloned());
        // Problems of finished plans are ignored, and these no longer run in parallel with others.
        let is_open = |warning: &Warning| open.contains(&&warning.place.file);
        found.problems.extend(check_waves(&phase.number, &all).into_iter().filter(is_open));
        found.problems.sort();
        for listed in listed {
            let (Some(number), Some(is_done)) = (&listed.plan, listed.checked) else { continue };
            if found.plans.iter().all(|plan| plan.plan != *number) {
                let state = if is_done { PlanState::Complete } else { PlanState::Open };
                let title = listed.title.clone();
                found.plans.push(PlanBrief::new(number.clone(), state, title, None));
            }
        }
        found.plans.sort_by(|one, other| one.plan.cmp(&other.plan));
        found
    }

    /// Returns the files that the incomplete plans will modify.
    fn open_files(&self) -> BTreeSet<String> {
        self.plans
            .iter()
            .filter(|plan| plan.status != PlanState::Complete)
            .flat_map(|plan| plan.files.iter().cloned())
            .collect()
    }
}

impl PlanBrief {
    /// Returns what a plan itself says, and how the roadmap calls it.
    fn new(plan: PlanNumber, status: PlanState, title: Option<String>, said: Option<Plan>) -> Self {
        let said = said.unwrap_or_default();
        Self {
            plan,
            title: said.title.or(title),
            status,
            wave: said.wave,
            depends_on: said.depends_on.unwrap_or_default(),
            tasks: said.tasks.len(),
            files: said.files_modified.unwrap_or_default(),
        }
    }
}

/// Maximum number of similar phases.
const MAX_SIMILAR: usize = 3;

/// A significant difference between plans of the project, and the open plans of the phase that fall under it.
#[derive(Debug, Serialize)]
pub struct InsightBrief {
    /// The difference in words: `Plans with 5 or more tasks deviated in 7 of 8, smaller ones in 3 of 15`.
    pub statement: String,
    /// The open plans that it is about.
    pub open_plans: Vec<PlanNumber>,
}

/// How an earlier phase was cut into plans, and how they went.
#[derive(Debug, Serialize)]
pub struct PhaseShape {
    /// Its milestone, unless it is the default one.
    pub milestone: Option<String>,
    /// Its number.
    pub phase: PhaseNumber,
    /// Its name.
    pub name: String,
    /// Number of plans with a summary.
    pub plans: usize,
    /// The number of tasks of the smallest and of the largest plan, as far as they are known.
    pub tasks: Option<[u32; 2]>,
    /// The number of files of the smallest and of the largest plan, as far as they are known.
    pub files: Option<[u32; 2]>,
    /// The plans that deviated, of those whose summaries mention deviations.
    pub deviated: Rate,
    /// The plans that were completed, of those whose summaries have a status.
    pub completed: Rate,
    /// Whether it has words in common with the phase to plan; if no phase has, the latest ones are given.
    pub is_like: bool,
}

/// Returns the significant differences, with the open plans that they are about.
fn insights(history: &[FinishedPhase], plans: &[PlanBrief]) -> Vec<InsightBrief> {
    let insights = Insights::from_phases(history);
    let open = || plans.iter().filter(|plan| plan.status != PlanState::Complete);
    insights
        .lessons()
        .map(|lesson| {
            let falls_under = |plan: &&PlanBrief| {
                let (size, from) = match lesson.question {
                    ComparisonQuestion::DeviationsByFiles => {
                        (plan.files.len(), insights.large_files)
                    }
                    _ => (plan.tasks, insights.large_tasks),
                };
                u32::try_from(size).is_ok_and(|size| size >= from)
            };
            InsightBrief {
                statement: lesson.statement.clone(),
                open_plans: open().filter(falls_under).map(|plan| plan.plan.clone()).collect(),
            }
        })
        .collect()
}

/// Returns the shapes of the finished phases most like one with this topic; of those alike, the latest first.
///
/// If none is like it, the latest show how this project cuts its phases.
fn similar_phases(history: &[FinishedPhase], own: &Phase, topic: &str) -> Vec<PhaseShape> {
    // A finished phase may lie in an archive, too.
    let own = own.dir.as_ref().filter(|_| own.is_begun()).map(|dir| dir.dir_name());
    let is_own = |phase: &&FinishedPhase| own.as_ref() == Some(&phase.dir_name);
    let is_model = |phase: &&FinishedPhase| phase.is_complete && phase.number.is_some();
    let others: Vec<&FinishedPhase> =
        history.iter().rev().filter(|phase| !is_own(phase) && is_model(phase)).collect();
    let text = |phase: &&FinishedPhase| {
        let titles = phase.plans.iter().filter_map(|plan| plan.summary.title.as_deref());
        join(std::iter::once(phase.name.as_str()).chain(titles), "\n")
    };
    let scores = bm25(others.iter().map(text), topic);
    let is_like = scores.iter().any(|score| *score > 0.0);
    let mut ranked: Vec<(f64, &FinishedPhase)> = scores.into_iter().zip(others).collect();
    ranked.retain(|(score, _)| *score > 0.0 || !is_like);
    // The sort is stable.
    ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    ranked
        .into_iter()
        .take(MAX_SIMILAR)
        .filter_map(|(_, phase)| PhaseShape::new(phase, is_like))
        .collect()
}

impl PhaseShape {
    fn new(phase: &FinishedPhase, is_like: bool) -> Option<Self> {
        let range = |size: fn(&PlanRecord) -> Option<u32>| {
            let sizes = || phase.plans.iter().filter_map(size);
            Some([sizes().min()?, sizes().max()?])
        };
        Some(Self {
            milestone: known_milestone(&phase.milestone).map(str::to_owned),
            phase: phase.number.clone()?,
            name: phase.name.clone(),
            plans: phase.plans.len(),
            tasks: range(PlanRecord::tasks),
            files: range(PlanRecord::file_count),
            deviated: Rate::measure_known(phase.plans.iter().map(PlanRecord::deviated)),
            completed: Rate::measure_known(phase.plans.iter().map(PlanRecord::completed_as_stated)),
            is_like,
        })
    }
}

/// Minimum number of plans that deviated over a file, if the phase has no plans yet.
const KEEPS_DEVIATING: usize = 2;

/// Maximum number of files: a longer list would only say that everything is difficult.
const MAX_CAREFUL_FILES: usize = 5;

/// A file that caused deviations in earlier plans.
#[derive(Debug, Serialize)]
pub struct CarefulFile {
    /// The file, as named in the plans of this phase, else as in the deviations; its new name if it moved.
    pub file: String,
    /// The plans that deviated over it, latest last.
    pub plans: Vec<PlanRef>,
    /// The lesson of the latest of these deviations that can be stated in a whole sentence, or `None`.
    pub lesson: Option<String>,
}

/// Returns the files of `planned` over which earlier plans deviated, or those with repeated deviations if
/// nothing is planned yet; those with the most deviations first.
fn careful(history: &[FinishedPhase], planned: &BTreeSet<String>) -> Vec<CarefulFile> {
    let mut found: BTreeMap<&str, CarefulFile> = BTreeMap::new();
    for (phase, plan) in
        history.iter().flat_map(|phase| phase.plans.iter().map(move |plan| (phase, plan)))
    {
        for named in plan.files_in_deviations() {
            let file = whole_path(plan, named.trim_start_matches("./"));
            let is_wanted =
                if planned.is_empty() { !is_planning(file) } else { planned.contains(file) };
            let Some(by) = PlanRef::new(phase, plan).filter(|_| is_wanted) else { continue };
            let entry = found.entry(file).or_insert_with(|| CarefulFile {
                file: file.to_owned(),
                plans: Vec::new(),
                lesson: None,
            });
            if entry.plans.last() != Some(&by) {
                entry.plans.push(by);
            }
            entry.lesson = lesson_over(plan, named).or(entry.lesson.take());
        }
    }
    let least = if planned.is_empty() { KEEPS_DEVIATING } else { 1 };
    let mut files: Vec<CarefulFile> =
        found.into_values().filter(|file| file.plans.len() >= least).collect();
    // The sort is stable: files with equally many plans remain sorted by name.
    files.sort_by_key(|file| Reverse(file.plans.len()));
    files.truncate(MAX_CAREFUL_FILES);
    files
}

/// Returns the files, with their new names where they moved since the last of these plans.
fn under_new_names(
    project: &Project,
    mut files: Vec<CarefulFile>,
    history: &[FinishedPhase],
) -> Result<Vec<CarefulFile>> {
    let missing = |one: &&mut CarefulFile| !read::exists(&project.root.join(&one.file));
    let mut check = PathCheck::new(project);
    for one in files.iter_mut().filter(missing) {
        let last = one.plans.last();
        let is_of = |phase: &&FinishedPhase| {
            phase.plans.iter().any(|plan| PlanRef::new(phase, plan).as_ref() == last)
        };
        let since = history.iter().find(is_of).and_then(FinishedPhase::completed);
        let found = check.missing(&format!("`{}`", one.file), &[since.unwrap_or_default()])?;
        if let Some(to) = found.into_iter().next().and_then(|report| report.to) {
            one.file = to;
        }
    }
    Ok(files)
}

/// Returns the path of a file that a plan names by its end: the only file with that end that the plan touched.
fn whole_path<'a>(plan: &'a PlanRecord, named: &'a str) -> &'a str {
    let mut touched = plan.summary.files.iter().flatten().filter(|file| ends_in(file, named));
    match (touched.next(), touched.next()) {
        (Some(only), None) => only,
        _ => named,
    }
}

/// Returns the lesson of the first deviation that names a file, in one whole sentence.
fn lesson_over(plan: &PlanRecord, named: &str) -> Option<String> {
    let is_over = |deviation: &&Deviation| {
        deviation.text.contains(named) || deviation.files.iter().any(|file| file == named)
    };
    let mut deviations = plan.deviations().iter().filter(is_over);
    deviations.find_map(patterns::problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Survey;
    use crate::project::fixture::Tree;
    use crate::project::{OpenRequest, Project};

    const PHASES: &str = ".vbw-planning/phases";

    fn summary(deviation: &str, files: &str) -> String {
        format!(
            "---\nstatus: complete\nfiles_modified: [{files}]\ndeviations:\n  - \"{deviation}\"\n---\n"
        )
    }

    fn shown(tree: &Tree, planned: &[&str]) -> Vec<String> {
        let request = OpenRequest { directory: tree.at(""), ..OpenRequest::default() };
        let project = Project::open(request).unwrap();
        let survey = Survey::read(&project).unwrap();
        let past = patterns::history(&survey).unwrap().value;
        let planned = planned.iter().map(|file| (*file).to_owned()).collect();
        let files = careful(&past, &planned);
        let names = |file: &CarefulFile| {
            file.plans.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        let line = |file: &CarefulFile| {
            format!("{} | {} | {}", file.file, names(file), file.lesson.as_deref().unwrap_or("-"))
        };
        files.iter().map(line).collect()
    }

    fn history() -> Tree {
        let tree = Tree::new(&[]);
        let archived = ".vbw-planning/milestones/old/phases/01-a/01-01-SUMMARY.md";
        tree.write(archived, summary("`src/a.rs` was locked by another process", "src/a.rs"));
        let second =
            summary("**2. [Rule 1 - Bug] `a.rs` again held its lock**", "src/a.rs, src/b.rs");
        tree.write(&format!("{PHASES}/02-b/02-01-SUMMARY.md"), second);
        let last =
            summary("`src/c.rs` and `mod.rs` hold the same lock", "src/x/mod.rs, src/y/mod.rs");
        tree.write(&format!("{PHASES}/02-b/02-02-SUMMARY.md"), last);
        tree
    }

    #[test]
    fn files_of_the_plan_that_deviated_before_are_named_with_what_the_last_taught() {
        let found = shown(&history(), &["src/a.rs", "src/c.rs", "src/d.rs", "src/x/mod.rs"]);
        assert_eq!(found, ["src/a.rs | old 1-01, 2-01 | -", "src/c.rs | 2-02 | -",]);
    }

    #[test]
    fn without_plans_only_what_keeps_deviating_counts() {
        assert_eq!(shown(&history(), &[]).len(), 1);
    }

    #[test]
    fn a_copy_of_an_archived_plan_counts_once() {
        let tree = history();
        tree.write(
            &format!("{PHASES}/01-a/01-01-SUMMARY.md"),
            summary("`src/a.rs` was locked by another process", "src/a.rs"),
        );
        assert!(shown(&tree, &[])[0].starts_with("src/a.rs | old 1-01, 2-01 |"));
    }
}
