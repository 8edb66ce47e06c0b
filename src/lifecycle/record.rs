//! Gathers the entries that PATTERNS.md is to get, each phase once.

use std::path::PathBuf;

use crate::error::Result;
use crate::patterns;
use crate::patterns::Circumstances;
use crate::patterns::FinishedPhase;
use crate::patterns::Patterns;
use crate::patterns::Recorded;
use crate::patterns::Retrospective;
use crate::planning::Folder;
use crate::planning::PhaseDir;
use crate::planning::Summary;
use crate::planning::SummaryStatus;
use crate::project::Project;
use crate::storage::Changes;
use crate::storage::read;
use crate::warning::Warning;

/// What was gathered.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The phases that get an entry, by folder name.
    pub(crate) recorded: Vec<String>,
    /// Those that had one.
    pub(crate) already: Vec<String>,
    /// Those that had one, and whose summaries changed since.
    pub(crate) changed_since: Vec<String>,
    /// What was read in part only.
    pub(crate) warnings: Vec<Warning>,
}

/// Takes phases one by one and writes their entries at once.
pub(crate) struct Recorder<'a> {
    project: &'a Project,
    again: bool,
    known: Patterns,
    folder: Folder,
    commit: Option<String>,
    effort: Option<String>,
    entries: Vec<Retrospective>,
    written: Written,
}

impl<'a> Recorder<'a> {
    /// Reads what is recorded already; with `again`, phases are recorded all the same.
    pub(crate) fn new(project: &'a Project, again: bool, changes: &Changes) -> Result<Self> {
        let mut written = Written::default();
        let known = patterns::with_changes(project, changes, &mut written.warnings)?;
        Ok(Self {
            // What is odd about the folder is reported by the survey.
            folder: Folder::read(&project.planning()?.dir)?.value,
            commit: project.git.head()?,
            effort: patterns::effort(&project.planning_place().dir)?,
            entries: Vec::new(),
            project,
            again,
            known,
            written,
        })
    }

    /// Takes a phase, and tells whether it is new.
    pub(crate) fn take(
        &mut self,
        dir: &PhaseDir,
        name: Option<&str>,
        milestone: &str,
    ) -> Result<bool> {
        let phase = FinishedPhase::read(dir, name, milestone, &read::text, &self.project.git)?;
        let phase = phase.into_value(&mut self.written.warnings);
        if phase.plans.is_empty() {
            return Ok(false);
        }
        let dir_name = dir.dir_name();
        let git = &self.project.git;
        let namesakes = FinishedPhase::namesakes(&self.folder, dir, &read::text, git)?.value;
        match self.known.recorded(&phase, &namesakes) {
            Recorded::Same(_) | Recorded::ByOthers(_) if !self.again => {
                self.written.already.push(dir_name);
                return Ok(false);
            }
            Recorded::Changed(_) if !self.again => {
                self.written.changed_since.push(dir_name.clone());
                self.written.already.push(dir_name);
                return Ok(false);
            }
            _ => {}
        }
        let circumstances = Circumstances {
            today: self.project.clock.today(),
            effort: self.effort.as_deref(),
            commit: self.commit.as_deref(),
        };
        let entry = Retrospective::of(&phase, &circumstances);
        // A copy of a phase beside its archive teaches the same once.
        if self
            .entries
            .iter()
            .any(|other| other.trace.digest == entry.trace.digest)
        {
            return Ok(false);
        }
        self.entries.push(entry);
        self.written.recorded.push(dir_name);
        Ok(true)
    }

    /// Tells whether every plan of a phase's folder has a summary that calls it neither partial nor failed.
    pub(crate) fn is_complete(dir: &PhaseDir) -> Result<bool> {
        for slot in &dir.plans {
            let Some(name) = &slot.summary else {
                return Ok(false);
            };
            let path: PathBuf = dir.dir.join(name);
            let Some(text) = read::text(&path)? else {
                return Ok(false);
            };
            let status = Summary::status_of(&text.value);
            if matches!(status, Some(SummaryStatus::Partial | SummaryStatus::Failed)) {
                return Ok(false);
            }
        }
        Ok(!dir.plans.is_empty())
    }

    /// Plans the entries at the end of PATTERNS.md.
    pub(crate) fn write(self, changes: &mut Changes) -> Result<Written> {
        patterns::append(self.project, &self.entries, changes)?;
        Ok(self.written)
    }
}
