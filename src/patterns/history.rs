//! Reads every finished plan of a project: of the milestones, archived ones included, of workstreams, and of quick
//! tasks.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use chrono::NaiveDate;
use serde_json::Value;

use crate::error::Result;
use crate::patterns::{BulletSource, FinishedPhase, Insights, Patterns, stored};
use crate::plan::{MilestoneFolder, Phase, PhaseDir, Plan, PlanNumber, PlanningFolder, Survey};
use crate::project::{Project, vocabulary};
use crate::storage::read::PathKind;
use crate::storage::{listing, read};
use crate::text::fold;
use crate::warning::{Parsed, Warning};

/// The folders of GSD's quick tasks and workstreams in a planning folder.
const QUICK: &str = "quick";
const WORKSTREAMS: &str = "workstreams";

/// Everything that was finished in a project, read once.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// The milestones and workstreams, in the order of their first completed plans; the active one comes last.
    pub(crate) milestones: Vec<MilestoneFolder>,
    /// The phases with summaries, in the same order.
    pub(crate) phases: Vec<FinishedPhase>,
    /// The quick tasks, which are part of no phase.
    pub(crate) quick: Vec<FinishedPhase>,
}

impl History {
    /// Reads the summaries of a planning folder; `active` are the phases of the active milestone as surveyed.
    ///
    /// Git is not called for missing durations: the time between commits excludes the work before the first
    /// one, so it is not comparable to stated durations.
    pub(crate) fn read(
        folder: &PlanningFolder,
        active: &[Phase],
        warnings: &mut Vec<Warning>,
    ) -> Result<Self> {
        let mut others = folder.other_milestones(warnings)?;
        others.extend(workstreams(&folder.dir, warnings)?);
        let mut read: Vec<(MilestoneFolder, Vec<FinishedPhase>)> = Vec::new();
        for milestone in others {
            let phases = phases(&milestone, warnings);
            read.push((milestone, phases));
        }
        // Archives are listed by name; milestones without dates sort first, since their order is unknown.
        read.sort_by_key(|(_, phases)| first_day(phases));
        let mut current = phases(&folder.active, warnings);
        let names: HashMap<&Path, &String> = active
            .iter()
            .filter_map(|own| Some((own.dir.as_deref()?, own.name.as_ref()?)))
            .collect();
        for phase in &mut current {
            if let Some(name) = names.get(phase.dir.as_path()) {
                phase.name.clone_from(name);
            }
        }
        read.push((folder.active.clone(), current));
        let (milestones, phases): (Vec<_>, Vec<_>) = read.into_iter().unzip();
        Ok(Self {
            milestones,
            phases: phases.into_iter().flatten().collect(),
            quick: quick_tasks(&folder.dir, warnings),
        })
    }

    /// Returns the phases without the plans that an earlier folder of the same name contains as an identical copy.
    pub(crate) fn distinct_phases(&self) -> Vec<FinishedPhase> {
        let mut seen = HashSet::new();
        let mut kept = self.phases.clone();
        for phase in &mut kept {
            let name = &phase.dir_name;
            // Equal summaries print alike, whatever their files are called.
            phase
                .plans
                .retain(|plan| seen.insert(format!("{name} {:?} {:?}", plan.plan, plan.summary)));
        }
        kept.retain(|phase| !phase.plans.is_empty());
        kept
    }
}

/// Returns the statistics of the project's whole history.
pub fn insights(project: &Project) -> Result<Parsed<Insights>> {
    Ok(history(&Survey::read(project)?)?.map(|phases| Insights::from_phases(&phases)))
}

/// Returns all phases that have plans with a summary; a plan counts once if a copy of it was left outside of its archive.
pub(crate) fn history(survey: &Survey) -> Result<Parsed<Vec<FinishedPhase>>> {
    let mut warnings = Vec::new();
    let all = History::read(&survey.folder, &survey.position.phases, &mut warnings)?;
    Ok(Parsed::new(all.distinct_phases(), warnings))
}

fn phases(milestone: &MilestoneFolder, warnings: &mut Vec<Warning>) -> Vec<FinishedPhase> {
    let read = milestone.phases.iter();
    let mut phases: Vec<FinishedPhase> =
        read.map(|dir| FinishedPhase::read(dir, &milestone.slug, warnings)).collect();
    phases.retain(|phase| !phase.plans.is_empty());
    phases
}

/// Returns the workstreams, each of which keeps its phases as a milestone does.
fn workstreams(planning: &Path, warnings: &mut Vec<Warning>) -> Result<Vec<MilestoneFolder>> {
    let mut found = Vec::new();
    for name in folders(&planning.join(WORKSTREAMS)) {
        let home = planning.join(WORKSTREAMS).join(&name);
        if read::is_folder(&home.join(vocabulary::PHASES)) {
            let milestone = MilestoneFolder::read(&home, &name)?;
            found.push(milestone.into_value(warnings));
        }
    }
    Ok(found)
}

/// Returns the quick tasks: `quick/<id>-<name>/<id>-SUMMARY.md`.
fn quick_tasks(planning: &Path, warnings: &mut Vec<Warning>) -> Vec<FinishedPhase> {
    let mut found = Vec::new();
    for name in folders(&planning.join(QUICK)) {
        let dir = planning.join(QUICK).join(&name);
        let files = listing::entries(&dir).unwrap_or_default().into_iter();
        let files: Vec<String> = files
            .filter(|(file, kind)| *kind == PathKind::File && file.ends_with("SUMMARY.md"))
            .map(|(file, _)| file)
            .collect();
        let numbers: Vec<PlanNumber> = (1..).take(files.len()).map(PlanNumber::from).collect();
        let listed = numbers.iter().zip(&files);
        let mut task = FinishedPhase::from_files(None, &name, &dir, listed, warnings);
        QUICK.clone_into(&mut task.milestone);
        if let Some(title) = task.plans.first().and_then(|plan| plan.summary.title.clone()) {
            task.name = title;
        }
        if task.is_complete {
            found.push(task);
        }
    }
    found
}

/// Returns the sorted names of the folders in a folder, which may be absent.
fn folders(home: &Path) -> Vec<String> {
    let entries = listing::entries(home).unwrap_or_default().into_iter();
    let folders =
        entries.filter(|(name, kind)| *kind == PathKind::Folder && !name.starts_with('.'));
    let mut names: Vec<String> = folders.map(|(name, _)| name).collect();
    names.sort();
    names
}

fn first_day(phases: &[FinishedPhase]) -> Option<NaiveDate> {
    let plans = phases.iter().flat_map(|phase| &phase.plans);
    plans.filter_map(|plan| plan.summary.completed).min()
}

/// Returns the effort profiles that the plans of a phase request, by one word each.
pub(crate) fn requested_efforts(dir: &PhaseDir) -> Vec<String> {
    let paths = dir.plans.iter().filter_map(|slot| Some(dir.dir.join(slot.plan.as_ref()?)));
    // A plan that cannot be read is ignored here; `plan` warns about it.
    let requests = paths.filter_map(|path| {
        let text = read::text(&path).ok()??.value;
        let word = fold(&Plan::parse(&text, &path).value.effort_override?);
        // Not `balanced, then thorough`.
        let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        (!word.is_empty() && word.chars().all(is_word)).then_some(word)
    });
    requests.collect()
}

/// Returns the effort profile that a planning folder sets, such as `balanced`; `None` if it sets none.
pub fn effort(planning_dir: &Path) -> Result<Option<String>> {
    let Some(bytes) = read::bytes(&planning_dir.join(vocabulary::CONFIG))? else {
        return Ok(None);
    };
    // A broken config.json is reported by the planning tool that owns it.
    let config: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    // GSD's `model_profile` names a model, not an effort.
    let known = ["effort", "effort_profile"].iter().find_map(|key| config.get(key)?.as_str());
    Ok(known.map(str::to_owned))
}

/// Returns the recorded patterns, each bullet with its source as far as the summaries still exist.
pub fn traced(project: &Project) -> Result<Parsed<Patterns>> {
    let mut found = stored(project)?;
    let folder = PlanningFolder::read(&project.planning()?.dir)?.value;
    // Warnings about old summaries are reported by the commands that read them for their own sake.
    let history = History::read(&folder, &[], &mut Vec::new())?;
    let mut by_name: HashMap<&str, Vec<&FinishedPhase>> = HashMap::new();
    for phase in history.phases.iter().chain(&history.quick) {
        by_name.entry(&phase.dir_name).or_default().push(phase);
    }
    for entry in &mut found.value.entries {
        let Some(trace) = &entry.trace else { continue };
        let named = by_name.get(trace.phase_dir.as_str()).map(Vec::as_slice).unwrap_or_default();
        let own = named.iter().find(|phase| Some(&phase.milestone) == trace.milestone.as_ref());
        // Shipping moves a phase to another milestone.
        let Some(phase) = own.or_else(|| named.first()) else { continue };
        for (bullet, source) in entry.bullets.iter_mut().zip(&trace.sources) {
            let Some(source) = source else { continue };
            let plan = phase.plans.iter().find(|plan| plan.plan == source.plan);
            bullet.source = plan.map(|plan| BulletSource {
                file: project.relative(&phase.dir.join(&plan.file)).to_owned(),
                line: Some(source.line).filter(|line| *line > 0),
                text: plan
                    .text_at(source.line)
                    .or(plan.summary.title.as_deref())
                    .unwrap_or_default()
                    .to_owned(),
            });
        }
    }
    Ok(found)
}
