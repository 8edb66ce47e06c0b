//! Gathers the new entries of PATTERNS.md, each phase once, in the order in which the phases were finished.

use std::path::PathBuf;

use chrono::NaiveDate;

use crate::error::Result;
use crate::git::Addition;
use crate::lifecycle::shipped;
use crate::lifecycle::stated_dates::StatedDates;
use crate::patterns;
use crate::patterns::Circumstances;
use crate::patterns::FinishedPhase;
use crate::patterns::JudgedLessons;
use crate::patterns::PastTroubles;
use crate::patterns::Patterns;
use crate::patterns::Recorded;
use crate::patterns::Retrospective;
use crate::planning::MilestoneFolder;
use crate::planning::PhaseDir;
use crate::planning::PlanningFolder;
use crate::planning::Summary;
use crate::planning::SummaryStatus;
use crate::position::Survey;
use crate::project::Project;
use crate::storage::Changes;
use crate::storage::read;
use crate::warning::Warning;

/// The outcome of recording phases.
#[derive(Debug, Default)]
pub(crate) struct RecordedPhases {
    /// The newly recorded phases, by folder name.
    pub(crate) recorded: Vec<String>,
    /// The phases that already had an entry.
    pub(crate) already: Vec<String>,
    /// The phases that already had an entry, and whose lessons were replaced.
    pub(crate) judged: Vec<String>,
    /// The phases that already had an entry, and whose summaries have changed since.
    pub(crate) changed_since: Vec<String>,
    /// Warnings about files that were only partially understood.
    pub(crate) warnings: Vec<Warning>,
}

/// The options for recording phases.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordOptions {
    /// Record phases that already have an entry.
    pub(crate) again: bool,
    /// The effort profile with which they were carried out, if the caller specifies it.
    pub(crate) effort: Option<String>,
    /// The lessons that the agent submitted, and the phase folder that they belong to.
    pub(crate) lessons: Option<(JudgedLessons, PathBuf)>,
    /// The phase folder that was worked on last: the effort in config.json applies only to that phase.
    pub(crate) latest: Option<PathBuf>,
}

/// Collects phases and writes all of their entries at once.
pub(crate) struct Recorder<'a> {
    project: &'a Project,
    survey: &'a Survey,
    manner: RecordOptions,
    known: Patterns,
    folder: PlanningFolder,
    taken: Vec<FinishedPhase>,
    /// The recorded phase whose lessons are to be replaced, and the line number of its entry.
    judged: Option<(FinishedPhase, usize)>,
    written: RecordedPhases,
}

/// A phase of the history with the date when it was finished.
struct DatedPhase {
    phase: FinishedPhase,
    date: Option<NaiveDate>,
    /// The commit in which it was finished.
    commit: Option<String>,
}

impl<'a> Recorder<'a> {
    /// Reads the existing entries.
    pub(crate) fn new(
        project: &'a Project,
        survey: &'a Survey,
        manner: RecordOptions,
        changes: &Changes,
    ) -> Result<Self> {
        let mut written = RecordedPhases::default();
        let known = patterns::with_changes(project, changes, &mut written.warnings)?;
        Ok(Self {
            // Warnings about the folder are reported by the survey.
            folder: PlanningFolder::read(&project.planning()?.dir)?.value,
            taken: Vec::new(),
            judged: None,
            project,
            survey,
            manner,
            known,
            written,
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
        let phase = phase.into_value(&mut self.written.warnings);
        if phase.plans.is_empty() {
            return Ok(false);
        }
        let dir_name = dir.dir_name();
        let git = &self.project.git;
        let namesakes = FinishedPhase::namesakes(&self.folder, dir, &read::text, git)?.value;
        match self.known.recorded(&phase, &namesakes) {
            Recorded::Same(line) | Recorded::Changed(line) | Recorded::ByOthers(line)
                if !self.manner.again && self.lessons_of(&phase).is_some() =>
            {
                self.written.judged.push(dir_name);
                self.judged = Some((phase, line));
                return Ok(true);
            }
            Recorded::Same(_) | Recorded::ByOthers(_) if !self.manner.again => {
                self.written.already.push(dir_name);
                return Ok(false);
            }
            Recorded::Changed(_) if !self.manner.again => {
                self.written.changed_since.push(dir_name.clone());
                self.written.already.push(dir_name);
                return Ok(false);
            }
            _ => {}
        }
        // A copy of a phase outside of its archive is recorded only once.
        if self
            .taken
            .iter()
            .any(|other| (&other.digest, &other.dir_name) == (&phase.digest, &phase.dir_name))
        {
            return Ok(false);
        }
        self.taken.push(phase);
        self.written.recorded.push(dir_name);
        Ok(true)
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
            let status = Summary::status_of(&text.value);
            if matches!(status, Some(SummaryStatus::Partial | SummaryStatus::Failed)) {
                return Ok(false);
            }
        }
        Ok(!dir.plans.is_empty())
    }

    /// Plans the entries at the end of PATTERNS.md, in the order in which the phases were finished.
    pub(crate) fn write(self, changes: &mut Changes) -> Result<RecordedPhases> {
        let root = &self.project.root;
        if let Some((phase, line)) = &self.judged
            && let Some(lessons) = self.lessons_of(phase)
        {
            let checked = lessons.checked(phase, &self.known, Some(*line), root)?;
            patterns::replace_lessons(self.project, *line, &checked, changes)?;
        }
        let entries = self.entries()?;
        patterns::append(self.project, &entries, changes)?;
        Ok(self.written)
    }

    /// Returns the lessons that the agent submitted for a phase.
    fn lessons_of(&self, phase: &FinishedPhase) -> Option<&JudgedLessons> {
        let (lessons, of) = self.manner.lessons.as_ref()?;
        (*of == phase.dir).then_some(lessons)
    }

    /// Returns the entries of the added phases.
    fn entries(&self) -> Result<Vec<Retrospective>> {
        if self.taken.is_empty() {
            return Ok(Vec::new());
        }
        let dated = self.dated()?;
        let mut past = PastTroubles::default();
        let mut entries = Vec::new();
        let mut left = self.taken.len();
        for one in &dated {
            if let Some(phase) = self.taken.iter().find(|taken| taken.dir == one.phase.dir) {
                let effort = self.effort(one)?;
                let circumstances = Circumstances {
                    date: one.date,
                    effort: effort.as_deref(),
                    commit: one.commit.as_deref(),
                    past: Some(&past),
                };
                let mut entry = Retrospective::from_phase(phase, &circumstances);
                if let Some(lessons) = self.lessons_of(phase) {
                    let root = &self.project.root;
                    entry.judge(lessons.checked(phase, &self.known, None, root)?);
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
        for taken in &self.taken {
            if !phases.iter().any(|phase| phase.dir == taken.dir) {
                phases.push(taken.clone());
            }
        }
        let additions = self.project.git.additions(&self.folder.dir)?;
        let oldest = additions.values().map(|added| added.age).max();
        let head = self.project.git.head()?;
        let mut dated = Vec::new();
        for phase in phases {
            let added = last_added(&phase, &additions);
            // Files that were added together with the whole planning folder were finished at an unknown
            // earlier time.
            let evident = added.filter(|added| Some(added.age) != oldest);
            let date = phase.completed().or(evident.map(|added| added.date));
            let date = match date {
                Some(date) => Some(date),
                None => self.stated(&phase)?.or(self.shipped(&phase)?),
            };
            let commit = added.map(|added| added.commit.clone());
            // The phase is not in git: its summaries are yet to be committed.
            let is_new = commit.is_none() && self.is_active(&phase);
            dated.push(DatedPhase {
                commit: commit.or_else(|| head.clone().filter(|_| is_new)),
                date,
                phase,
            });
        }
        let mut latest = None;
        let mut keys: Vec<(Option<NaiveDate>, usize)> = Vec::new();
        for (at, one) in dated.iter().enumerate() {
            latest = one.date.or(latest);
            keys.push((latest, at));
        }
        let mut ordered: Vec<_> = keys.into_iter().zip(dated).collect();
        ordered.sort_by_key(|(key, _)| *key);
        Ok(ordered.into_iter().map(|(_, one)| one).collect())
    }

    fn is_active(&self, phase: &FinishedPhase) -> bool {
        phase.milestone == self.folder.active.slug
    }

    /// Returns the date on which a phase was finished according to the milestone's roadmap or state.
    fn stated(&self, phase: &FinishedPhase) -> Result<Option<NaiveDate>> {
        let dates = if self.is_active(phase) {
            StatedDates::new(&self.survey.roadmap, &self.survey.state)
        } else {
            match self.archived(phase)? {
                Some(milestone) => StatedDates::read(&milestone.dir)?,
                None => return Ok(None),
            }
        };
        Ok(dates.of_phase(&phase.number))
    }

    /// Returns the date on which the milestone was shipped according to its archived SHIPPED.md.
    fn shipped(&self, phase: &FinishedPhase) -> Result<Option<NaiveDate>> {
        match self.archived(phase)? {
            Some(milestone) => shipped::date(&milestone.dir),
            None => Ok(None),
        }
    }

    fn archived(&self, phase: &FinishedPhase) -> Result<Option<MilestoneFolder>> {
        for archive in &self.folder.archived {
            let milestone = archive.milestone()?.value;
            if milestone.slug == phase.milestone {
                return Ok(Some(milestone));
            }
        }
        Ok(None)
    }

    /// Returns the effort of a phase: that of the caller, else of its plans, else the current setting.
    fn effort(&self, one: &DatedPhase) -> Result<Option<String>> {
        if let Some(effort) = &self.manner.effort {
            return Ok(Some(effort.clone()));
        }
        let plans = &one.phase.plans;
        let own: Vec<&str> = plans
            .iter()
            .filter_map(|plan| plan.effort.as_deref())
            .collect();
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
        if self.manner.latest.as_ref() != Some(&one.phase.dir) {
            return Ok(None);
        }
        patterns::effort(&self.project.planning_place().dir)
    }
}

/// Returns the latest commit that added a summary of the phase, or `None` if one is not committed.
fn last_added<'a>(
    phase: &FinishedPhase,
    additions: &'a std::collections::BTreeMap<PathBuf, Addition>,
) -> Option<&'a Addition> {
    let of_plans = phase
        .plans
        .iter()
        .map(|plan| additions.get(&phase.dir.join(&plan.file)));
    let all: Option<Vec<&Addition>> = of_plans.collect();
    all?.into_iter().min_by_key(|addition| addition.age)
}
