//! Gathers the new entries of PATTERNS.md, each phase once, in the order in which the phases were finished.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::Result;
use crate::lifecycle::chronology::{Chronology, DatedPhase};
use crate::patterns;
use crate::patterns::{
    EntryContext, FinishedPhase, PastProblems, Patterns, Recorded, Retrospective, SubmittedLessons,
};
use crate::plan::{PhaseDir, PlanningFolder, SummaryStatus, Survey};
use crate::project::Project;
use crate::storage::{Changes, read};
use crate::warning::{Parsed, Warning};

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

/// The options for recording phases.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordOptions {
    /// Record phases that already have an entry.
    pub(crate) again: bool,
    /// The effort profile with which they were carried out, if the caller specifies it.
    pub(crate) effort: Option<String>,
    /// The lessons that the agent submitted, and the phase folder that they belong to.
    pub(crate) lessons: Option<(SubmittedLessons, PathBuf)>,
    /// The phase folder that was worked on last: the effort in config.json applies only to that phase.
    pub(crate) latest: Option<PathBuf>,
}

/// Collects phases and writes all of their entries at once.
pub(crate) struct Recorder<'a> {
    project: &'a Project,
    survey: &'a Survey,
    options: RecordOptions,
    known: Patterns,
    folder: PlanningFolder,
    new: Vec<FinishedPhase>,
    /// The recorded phase whose lessons are to be replaced, and the line number of its entry.
    judged: Option<(FinishedPhase, usize)>,
    report: ExecuteReport,
    warnings: Vec<Warning>,
}

impl<'a> Recorder<'a> {
    /// Reads the existing entries.
    pub(crate) fn new(
        project: &'a Project,
        survey: &'a Survey,
        options: RecordOptions,
        changes: &Changes,
    ) -> Result<Self> {
        let mut warnings = Vec::new();
        let known = patterns::with_changes(project, changes, &mut warnings)?;
        Ok(Self {
            // Warnings about the folder are reported by the survey.
            folder: PlanningFolder::read(&project.planning()?.dir)?.value,
            new: Vec::new(),
            judged: None,
            project,
            survey,
            options,
            known,
            report: ExecuteReport::default(),
            warnings,
        })
    }

    /// Adds a phase, and returns whether it is new or its lessons are replaced.
    pub(crate) fn add_phase(
        &mut self,
        dir: &PhaseDir,
        name: Option<&str>,
        milestone: &str,
    ) -> Result<bool> {
        let phase = FinishedPhase::read(dir, name, milestone, &read::text, &self.project.git)?;
        let phase = phase.into_value(&mut self.warnings);
        if phase.plans.is_empty() {
            return Ok(false);
        }
        let dir_name = dir.dir_name();
        let git = &self.project.git;
        let same_named =
            FinishedPhase::phases_of_same_name(&self.folder, dir, &read::text, git)?.value;
        match self.known.recorded(&phase, &same_named) {
            Recorded::Same(line) | Recorded::Changed(line) | Recorded::Foreign(line)
                if !self.options.again && self.lessons_of(&phase).is_some() =>
            {
                self.report.judged.push(dir_name);
                self.judged = Some((phase, line));
                return Ok(true);
            }
            Recorded::Same(_) | Recorded::Foreign(_) if !self.options.again => {
                self.report.already.push(dir_name);
                return Ok(false);
            }
            Recorded::Changed(_) if !self.options.again => {
                self.report.changed_since.push(dir_name.clone());
                self.report.already.push(dir_name);
                return Ok(false);
            }
            _ => {}
        }
        // A copy of a phase outside of its archive is recorded only once.
        if self
            .new
            .iter()
            .any(|other| (&other.digest, &other.dir_name) == (&phase.digest, &phase.dir_name))
        {
            return Ok(false);
        }
        self.new.push(phase);
        self.report.recorded.push(dir_name);
        Ok(true)
    }

    /// Returns whether an added phase gets the lessons that the agent submitted.
    pub(crate) fn has_used_lessons(&self) -> bool {
        self.judged.is_some() || self.new.iter().any(|phase| self.lessons_of(phase).is_some())
    }

    /// Returns whether every plan in a phase's folder has a summary that is neither partial nor failed.
    pub(crate) fn is_complete(dir: &PhaseDir) -> Result<bool> {
        for slot in &dir.plans {
            let Some(name) = &slot.summary else {
                return Ok(false);
            };
            let path: PathBuf = dir.dir.join(name);
            let Some(text) = read::text(&path)? else {
                return Ok(false);
            };
            let status = SummaryStatus::from_text(&text.value);
            if matches!(status, Some(SummaryStatus::Partial | SummaryStatus::Failed)) {
                return Ok(false);
            }
        }
        Ok(!dir.plans.is_empty())
    }

    /// Returns the folder names of the added phases that are new, without recording them.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.report.recorded
    }

    /// Plans the entries at the end of PATTERNS.md, in the order in which the phases were finished.
    pub(crate) fn write(self, changes: &mut Changes) -> Result<Parsed<ExecuteReport>> {
        let root = &self.project.root;
        if let Some((phase, line)) = &self.judged
            && let Some(lessons) = self.lessons_of(phase)
        {
            let checked = lessons.checked(phase, &self.known, Some(*line), root)?;
            patterns::replace_lessons(self.project, *line, &checked, changes)?;
        }
        let entries = self.entries()?;
        patterns::append(self.project, &entries, changes)?;
        Ok(Parsed::new(self.report, self.warnings))
    }

    /// Returns the lessons that the agent submitted for a phase.
    fn lessons_of(&self, phase: &FinishedPhase) -> Option<&SubmittedLessons> {
        let (lessons, of) = self.options.lessons.as_ref()?;
        (*of == phase.dir).then_some(lessons)
    }

    /// Returns the entries of the added phases.
    fn entries(&self) -> Result<Vec<Retrospective>> {
        if self.new.is_empty() {
            return Ok(Vec::new());
        }
        let dated = self.dated()?;
        let mut past = PastProblems::default();
        let mut entries = Vec::new();
        let mut left = self.new.len();
        for one in &dated {
            if let Some(phase) = self.new.iter().find(|new| new.dir == one.phase.dir) {
                let effort = self.effort(one)?;
                let context = EntryContext {
                    date: one.date,
                    effort: effort.as_deref(),
                    commit: one.commit.as_deref(),
                    past: Some(&past),
                };
                let mut entry = Retrospective::from_phase(phase, &context);
                if let Some(lessons) = self.lessons_of(phase) {
                    let root = &self.project.root;
                    entry.replace_lessons(lessons.checked(phase, &self.known, None, root)?);
                }
                entries.push(entry);
                left -= 1;
            }
            if left == 0 {
                break;
            }
            past.add(&one.phase);
        }
        Ok(entries)
    }

    /// Returns the phases of the whole history in the order in which they were finished.
    ///
    /// A phase without a date stays after the one before it.
    fn dated(&self) -> Result<Vec<DatedPhase>> {
        // Warnings about old summaries were reported when the phases were recorded.
        let mut phases = patterns::history(self.survey, &self.known)?.value;
        for new in &self.new {
            if !phases.iter().any(|phase| phase.dir == new.dir) {
                phases.push(new.clone());
            }
        }
        let chronology =
            Chronology { project: self.project, survey: self.survey, folder: &self.folder };
        chronology.order(phases)
    }

    /// Returns the effort of a phase: the caller's, else that of its plans, else the current setting.
    fn effort(&self, one: &DatedPhase) -> Result<Option<String>> {
        if let Some(effort) = &self.options.effort {
            return Ok(Some(effort.clone()));
        }
        let plans = &one.phase.plans;
        let own: Vec<&str> = plans.iter().filter_map(|plan| plan.effort.as_deref()).collect();
        if !own.is_empty() {
            let mut named = own.clone();
            named.sort_unstable();
            named.dedup();
            let named = named.join(", ");
            return Ok(Some(if own.len() == plans.len() {
                named
            } else {
                format!("{named} ({} of {} plans)", own.len(), plans.len())
            }));
        }
        if self.options.latest.as_ref() != Some(&one.phase.dir) {
            return Ok(None);
        }
        patterns::effort(&self.project.planning_place().dir)
    }
}
