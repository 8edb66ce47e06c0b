//! Phases with the records of their finished plans, as the summaries state them: the phases of milestones (archived ones
//! included) and of workstreams, and quick tasks.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::NaiveDate;
use memchr::{memchr_iter, memmem};
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::git::Git;
use crate::parallel;
use crate::patterns::paths::is_file;
use crate::patterns::trace::{known_milestone, plan_id};
use crate::patterns::{BulletSource, Insights, PatternEntry, Patterns, Trace, stored};
use crate::plan::{
    DEFAULT_MILESTONE, Deviation, MilestoneFolder, Phase, PhaseDir, PhaseNumber, PlanFile,
    PlanNumber, PlanSlot, PlanState, PlanningFolder, Summary, Survey, folders, letters,
};
use crate::project::Project;
use crate::storage::read::PathKind;
use crate::storage::{listing, read};
use crate::text::{file_name, fold, hexadecimal};
use crate::warning::{Parsed, Warning};

/// A phase as recorded in the summaries of its plans, or a quick task outside of the phases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedPhase {
    /// Its number; `None` for a quick task.
    pub number: Option<PhaseNumber>,
    /// Its name.
    pub name: String,
    /// Its folder.
    pub dir: PathBuf,
    /// The name of its folder.
    pub dir_name: String,
    /// The slug of its milestone.
    pub milestone: String,
    /// The plans that have a summary, in the order of their numbers.
    pub plans: Vec<PlanRecord>,
    /// The files of all of its plans.
    pub(crate) slots: Vec<PlanSlot>,
    /// Whether every plan in its folder has a summary that is neither partial nor failed.
    pub is_complete: bool,
    /// The digest of the summaries' contents.
    pub digest: String,
}

/// A finished plan, as described by its summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRecord {
    /// The plan's number within its phase.
    pub plan: PlanNumber,
    /// The path of the summary.
    pub file: PathBuf,
    /// The summary.
    pub summary: Summary,
    /// Line number in the summary of each pattern that it names, from 1; 0 if its text is not found there.
    pub pattern_lines: Vec<usize>,
}

impl FinishedPhase {
    /// Reads the summaries of a phase's folder; one that cannot be read becomes a warning.
    pub fn read(dir: &PhaseDir, milestone: &str) -> Parsed<Self> {
        let number = Some(dir.number.clone());
        Self::from_files(number, &dir.name, &dir.path, milestone, dir.plans.clone())
    }

    fn from_files(
        number: Option<PhaseNumber>,
        name: &str,
        dir: &Path,
        milestone: &str,
        slots: Vec<PlanSlot>,
    ) -> Parsed<Self> {
        let (mut plans, mut warnings, mut digest) = (Vec::new(), Vec::new(), Sha256::new());
        for slot in &slots {
            let summary = slot.summary();
            warnings.extend(slot.unread().cloned());
            let Some((file, summary)) = slot.summary.as_ref().zip(summary) else { continue };
            warnings.extend(summary.warnings.iter().cloned());
            // The digest is independent of line endings.
            let text = file.text().unwrap_or_default();
            let plain = text.replace("\r\n", "\n");
            digest.update(format!("{} {}\n", plan_id(&slot.number), plain.len()));
            digest.update(plain);
            let (plan, path) = (slot.number.clone(), file.path.clone());
            plans.push(PlanRecord::new(plan, path, summary.value.clone(), text));
        }
        let is_complete = !plans.is_empty() && plans.len() == slots.len();
        let value = Self {
            number,
            name: name.to_owned(),
            dir: dir.to_owned(),
            dir_name: file_name(&dir.to_string_lossy()).to_owned(),
            milestone: milestone.to_owned(),
            is_complete: is_complete && !plans.iter().any(PlanRecord::is_unfinished),
            plans,
            slots,
            // Git abbreviates commits to about half as many digits by default; a collision by chance is ruled out.
            digest: hexadecimal(&digest.finalize()[..8]),
        };
        Parsed { value, warnings }
    }

    /// Returns whether it was read from the folder of a phase.
    pub(crate) fn is(&self, phase: &Phase) -> bool {
        phase.dir.as_ref().is_some_and(|dir| dir.path == self.dir)
    }

    /// Returns the effort profiles that its plans request, by one word each. A plan that cannot be read is ignored here;
    /// `plan` warns about it.
    pub(crate) fn requested_efforts(&self) -> Vec<String> {
        let plans = self.slots.iter().filter_map(PlanSlot::plan);
        let words = plans.filter_map(|plan| plan.value.effort_override.as_deref().map(fold));
        // Not `balanced, then thorough`.
        let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        words.filter(|word| !word.is_empty() && word.chars().all(is_word)).collect()
    }

    /// Returns the latest completion date of its plans, as far as the summaries state it.
    pub fn completed(&self) -> Option<NaiveDate> {
        self.plans.iter().filter_map(|plan| plan.summary.completed).max()
    }

    /// Returns the trace that identifies an entry of this phase.
    pub fn trace(&self, commit: Option<&str>) -> Trace {
        Trace {
            phase_dir: self.dir_name.clone(),
            plans: self.plans.iter().map(|plan| plan.plan.clone()).collect(),
            digest: self.digest.clone(),
            commit: commit.map(str::to_owned),
            milestone: Some(self.milestone.clone()),
            ..Trace::default()
        }
    }
}

/// Number of leading characters used to find the line of a pattern: front matter may fold or quote the rest.
const HEAD_LENGTH: usize = 24;

fn line_of(pattern: &str, summary: &str) -> usize {
    let head: String = pattern.chars().take(HEAD_LENGTH).collect();
    let is_of_line = !head.contains('\n');
    let at = memmem::find(summary.as_bytes(), head.as_bytes()).filter(|_| is_of_line);
    at.map_or(0, |at| 1 + memchr_iter(b'\n', &summary.as_bytes()[..at]).count())
}

/// Returns the number of deviations in the plans whose summaries mention them; `None` if none does.
pub(crate) fn stated_deviations(plans: &[PlanRecord]) -> Option<u32> {
    let counts = plans.iter().filter_map(|plan| plan.summary.deviation_count);
    // A summary may state any number.
    counts.reduce(u32::saturating_add)
}

/// Returns the number of plans whose summaries do not mention deviations.
pub(crate) fn plans_without_deviation_count(plans: &[PlanRecord]) -> usize {
    plans.iter().filter(|plan| plan.summary.deviation_count.is_none()).count()
}

impl PlanRecord {
    /// Creates a record from a plan's summary, as parsed and as text.
    pub(crate) fn new(plan: PlanNumber, file: PathBuf, summary: Summary, text: &str) -> Self {
        let patterns = summary.patterns.iter().flatten();
        Self {
            plan,
            file,
            pattern_lines: patterns.map(|one| line_of(one, text)).collect(),
            summary,
        }
    }

    /// Returns the deviations that the summary describes.
    pub fn deviations(&self) -> &[Deviation] {
        self.summary.deviations.as_deref().unwrap_or_default()
    }

    /// Returns the patterns that the plan established or used.
    pub fn patterns(&self) -> &[String] {
        self.summary.patterns.as_deref().unwrap_or_default()
    }

    /// Returns what stands on a line of the summary, if it is a deviation, a pattern or an issue.
    fn text_at(&self, line: usize) -> Option<&str> {
        let deviations = self.deviations().iter().map(|one| (one.line, &one.text));
        let patterns = self.pattern_lines.iter().copied().zip(self.patterns());
        let issues = self.summary.notes.iter().map(|one| (one.line, &one.text));
        let mut all = deviations.chain(patterns).chain(issues);
        let found = all.find(|(at, _)| *at == line && line > 0)?;
        Some(found.1)
    }

    /// Returns the files that its deviations name, as spelled there, sorted and without duplicates.
    pub fn files_in_deviations(&self) -> BTreeSet<&str> {
        let in_details = self.deviations().iter().flat_map(|deviation| &deviation.files);
        let in_texts = self.deviations().iter().flat_map(|deviation| {
            let spans = deviation.text.split('`').skip(1).step_by(2);
            spans.filter(|code| is_file(code))
        });
        in_details.map(String::as_str).chain(in_texts).collect()
    }

    /// Returns the number of files it touched.
    pub fn file_count(&self) -> Option<u32> {
        let files = self.summary.files.as_ref().filter(|files| !files.is_empty())?;
        u32::try_from(files.len()).ok()
    }

    /// Returns whether it was completed; `None` if its summary has no status.
    pub fn completed_as_stated(&self) -> Option<bool> {
        self.summary.status.map(|status| status == PlanState::Complete)
    }

    /// Returns whether its summary states that it is partial or failed.
    pub fn is_unfinished(&self) -> bool {
        self.completed_as_stated() == Some(false)
    }

    /// Returns whether it deviated; `None` if its summary does not mention deviations.
    pub(crate) fn deviated(&self) -> Option<bool> {
        self.summary.deviation_count.map(|count| count > 0)
    }

    /// Returns the number of its tasks; `None` if only the completed tasks of an unfinished plan are known.
    pub(crate) fn tasks(&self) -> Option<u32> {
        let tasks = self.summary.tasks;
        let done = || tasks.completed.filter(|_| !self.is_unfinished());
        tasks.total.or_else(done).filter(|count| *count > 0)
    }

    /// Returns its duration in minutes; `None` for an aborted plan, whose duration depends on when it was stopped.
    pub(crate) fn minutes(&self) -> Option<f64> {
        let duration = self.summary.duration_minutes.filter(|_| !self.is_unfinished())?;
        Some(duration.as_f64())
    }
}

/// Fills in missing durations from the commits that the summaries list, with one call of git.
pub(crate) fn derive_durations(mut summaries: Vec<&mut Summary>, git: &Git) -> Result<()> {
    let commits = |summary: &Summary| summary.commits.clone().unwrap_or_default();
    summaries.retain(|summary| summary.duration_minutes.is_none() && commits(summary).len() > 1);
    let wanted: Vec<String> = summaries.iter().flat_map(|summary| commits(summary)).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    let mut times = git.commit_times(&wanted)?.into_iter();
    for summary in summaries {
        let known: Vec<_> = times.by_ref().take(commits(summary).len()).flatten().collect();
        summary.derive_duration(&known);
    }
    Ok(())
}

/// Whether PATTERNS.md has an entry for a phase, with the line number of the entry's heading, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It has no entry.
    No,
    /// It has an entry recorded from its current summaries.
    Same(usize),
    /// It has an entry, but its summaries have changed since.
    Changed(usize),
    /// It has an entry written by a person or another tool, identified by the phase's number and name.
    Foreign(usize),
}

impl Recorded {
    /// Returns the line of the entry's heading.
    pub(crate) fn line(self) -> Option<usize> {
        match self {
            Self::No => None,
            Self::Same(line) | Self::Changed(line) | Self::Foreign(line) => Some(line),
        }
    }
}

impl Patterns {
    /// Returns whether a phase has an entry, even if its folder has moved since.
    ///
    /// An entry is matched by the digest of the summaries, or else by the name of the folder and the plans;
    /// if a plan was added later, the phase is still recorded, but with changed summaries. Folders of several
    /// milestones may have the same name: `same_named` are those phases, and their entries do not count.
    pub fn recorded(&self, phase: &FinishedPhase, same_named: &[&FinishedPhase]) -> Recorded {
        let last = |test: &dyn Fn(&PatternEntry) -> bool| {
            self.entries.iter().rfind(|entry| test(entry)).map(|entry| entry.line)
        };
        if let Some(line) =
            last(&|entry| is_drawn_from(entry, phase) && !is_of_another(entry, phase))
        {
            return Recorded::Same(line);
        }
        let is_claimed =
            |entry: &PatternEntry| same_named.iter().any(|other| self.is_claimed(entry, other));
        if let Some(line) = last(&|entry| was_drawn_from(entry, phase) && !is_claimed(entry)) {
            return Recorded::Changed(line);
        }
        // Such entries do not name their milestone, so each namesake may own one of them.
        let foreign = self.entries.iter().filter(|entry| is_foreign(entry, phase));
        match foreign.skip(same_named.len()).last() {
            Some(entry) => Recorded::Foreign(entry.line),
            None => Recorded::No,
        }
    }

    /// Names the milestone of each entry that was recorded before its milestone had a name, by where its phase's folder is
    /// now; `shipping` is the name that the active milestone gets.
    pub(crate) fn name_milestones(
        &mut self,
        folder: &PlanningFolder,
        shipping: Option<&str>,
        warnings: &mut Vec<Warning>,
    ) {
        let traces = self.entries.iter_mut().filter_map(|entry| entry.trace.as_mut());
        let is_unnamed =
            |trace: &&mut Trace| trace.milestone.as_deref().and_then(known_milestone).is_none();
        let mut unnamed = traces.filter(is_unnamed).peekable();
        if unnamed.peek().is_none() {
            return;
        }
        let mut archived: Vec<MilestoneFolder> = Vec::new();
        for archive in &folder.archived {
            match archive.milestone() {
                Ok(read) => archived.push(read.value),
                Err(error) => warnings.push(Warning::file(&folder.dir, error.to_string())),
            }
        }
        for trace in unnamed {
            let is_own = |dir: &&Arc<PhaseDir>| dir.dir_name() == trace.phase_dir;
            let named = archived.iter().map(|one| (Some(one.slug.as_str()), &one.phases));
            let homes = named.chain([(shipping, &folder.active.phases)]);
            let homes =
                homes.filter_map(|(name, phases)| Some((name, phases.iter().find(is_own)?)));
            let homes: Vec<(Option<&str>, _)> = homes.collect();
            // Of several folders of that name, only their summaries would tell, which a start has no time to read.
            if let [(Some(name), _)] = homes[..] {
                trace.milestone = Some(name.to_owned());
            }
        }
    }

    /// Returns whether an entry is that of another phase: recorded from its summaries, or earlier from the same plans.
    fn is_claimed(&self, entry: &PatternEntry, other: &FinishedPhase) -> bool {
        let latest = self.entries.iter().rfind(|entry| is_drawn_from(entry, other));
        let latest = latest.filter(|latest| entry.line <= latest.line);
        latest.and_then(|latest| latest.trace.as_ref()).zip(entry.trace.as_ref()).is_some_and(
            |(one, other)| {
                one.phase_dir == other.phase_dir
                    && one.plans == other.plans
                    && one.milestone == other.milestone
            },
        )
    }
}

/// Returns whether an entry was recorded from the phase's current summaries.
fn is_drawn_from(entry: &PatternEntry, phase: &FinishedPhase) -> bool {
    let digest = entry.trace.as_ref().map(|trace| &trace.digest);
    !phase.plans.is_empty() && digest == Some(&phase.digest)
}

/// Returns whether an entry recorded from identical summaries belongs to another phase, whose folder is next
/// to this one's. A folder of the same name in another milestone is a copy, and its lessons count once.
fn is_of_another(entry: &PatternEntry, phase: &FinishedPhase) -> bool {
    entry.trace.as_ref().is_some_and(|trace| {
        trace.phase_dir != phase.dir_name
            && read::is_folder(&phase.dir.with_file_name(&trace.phase_dir))
    })
}

/// Returns whether an entry of a folder of this name was recorded from the phase in an earlier state.
fn was_drawn_from(entry: &PatternEntry, phase: &FinishedPhase) -> bool {
    // Shipping names the default milestone; nothing else moves a phase to another milestone.
    let is_same_milestone = |recorded: Option<&str>| {
        recorded.is_none_or(|slug| slug == phase.milestone || slug == DEFAULT_MILESTONE)
    };
    entry.trace.as_ref().is_some_and(|trace| {
        trace.phase_dir == phase.dir_name
            && is_same_milestone(trace.milestone.as_deref())
            && phase.plans.iter().any(|plan| trace.plans.contains(&plan.plan))
    })
}

/// Returns whether a person or another tool wrote this entry, of the phase's number, about the phase.
fn is_foreign(entry: &PatternEntry, phase: &FinishedPhase) -> bool {
    let slug = phase.dir_name.split_once(['-', '_']).map_or("", |(_, slug)| slug);
    let name = letters(&entry.name);
    entry.trace.is_none()
        && entry.phase.is_some()
        && entry.phase == phase.number
        && (name == letters(&phase.name) || name == letters(slug))
}

/// The folder of GSD's quick tasks in a planning folder.
const QUICK: &str = "quick";

/// Everything that was finished in a project, read once.
pub(crate) struct History {
    /// The phases with summaries, milestone by milestone and workstream by workstream in the order of their first
    /// completed plans; those of the active milestone come last.
    pub(crate) phases: Vec<FinishedPhase>,
    /// The quick tasks, which are part of no phase.
    pub(crate) quick: Vec<FinishedPhase>,
    /// Summaries of other milestones than the active one that could not be read, so that all numbers lack them.
    unread: Vec<Warning>,
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
        let (mut read, mut unread) = (Vec::new(), Vec::new());
        for milestone in folder.other_milestones(warnings)? {
            read.push(phases(&milestone, warnings)?);
            let slots = milestone.phases.iter().flat_map(|dir| &dir.plans);
            let summaries = slots.filter_map(|slot| slot.summary.as_ref());
            let lost = summaries.filter(|summary| summary.text().is_none());
            unread.extend(lost.flat_map(|summary| summary.unread()).cloned());
        }
        // Archives are listed by name; milestones without dates sort first, since their order is unknown.
        read.sort_by_key(|phases: &Vec<FinishedPhase>| {
            let plans = phases.iter().flat_map(|phase| &phase.plans);
            plans.filter_map(|plan| plan.summary.completed).min()
        });
        let mut current = phases(&folder.active, warnings)?;
        for phase in &mut current {
            let own = active.iter().find(|own| phase.is(own));
            phase.name =
                own.and_then(|own| own.name.clone()).unwrap_or(std::mem::take(&mut phase.name));
        }
        read.push(current);
        Ok(Self { phases: read.concat(), quick: quick_tasks(&folder.dir, warnings), unread })
    }
}

/// Returns the phases without the plans that an earlier folder of the same name contains as an identical copy, whatever its
/// file is called.
pub(crate) fn distinct(mut phases: Vec<FinishedPhase>) -> Vec<FinishedPhase> {
    let mut seen: HashMap<_, Vec<&Summary>> = HashMap::new();
    let mut is_copy = Vec::new();
    for phase in &phases {
        for plan in &phase.plans {
            let same = seen.entry((&phase.dir_name, &plan.plan)).or_default();
            is_copy.push(same.contains(&&plan.summary));
            same.push(&plan.summary);
        }
    }
    let mut is_copy = is_copy.into_iter();
    for phase in &mut phases {
        phase.plans.retain(|_| is_copy.next() == Some(false));
    }
    phases.retain(|phase| !phase.plans.is_empty());
    phases
}

/// Returns the statistics of the project's whole history.
pub fn insights(project: &Project) -> Result<Parsed<Insights>> {
    let (survey, mut warnings) = (Survey::read(project)?, Vec::new());
    let all = History::read(&survey.folder, &survey.position.phases, &mut warnings)?;
    Ok(Parsed::new(Insights::from_phases(&distinct(all.phases)), warnings))
}

/// Returns all phases that have plans with a summary; a plan counts once if a copy of it was left outside of its archive.
/// Of old summaries, only those that could not be read at all have a warning.
pub(crate) fn history(survey: &Survey) -> Result<Parsed<Vec<FinishedPhase>>> {
    let all = History::read(&survey.folder, &survey.position.phases, &mut Vec::new())?;
    Ok(Parsed::new(distinct(all.phases), all.unread))
}

/// Number of phases from which on their summaries are read in parallel: each `sync` reads all.
const MIN_PARALLEL_PHASES: usize = 4;

fn phases(milestone: &MilestoneFolder, warnings: &mut Vec<Warning>) -> Result<Vec<FinishedPhase>> {
    let read = |dir: &Arc<PhaseDir>| FinishedPhase::read(dir, &milestone.slug);
    let read = parallel::map(&milestone.phases, MIN_PARALLEL_PHASES, read)?;
    let mut phases: Vec<_> = read.into_iter().map(|phase| phase.into_value(warnings)).collect();
    phases.retain(|phase| !phase.plans.is_empty());
    Ok(phases)
}

/// Returns the quick tasks: `quick/<id>-<name>/<id>-SUMMARY.md`.
fn quick_tasks(planning: &Path, warnings: &mut Vec<Warning>) -> Vec<FinishedPhase> {
    let home = planning.join(QUICK);
    let mut found = Vec::new();
    for name in folders(&home, warnings) {
        let dir = home.join(&name);
        let files = listing::entries(&dir).unwrap_or_default().into_iter();
        let files = files
            .filter(|(file, kind)| *kind == PathKind::File && file.ends_with("SUMMARY.md"))
            .map(|(file, _)| Some(PlanFile::new(dir.join(file))));
        let slot = |(number, summary)| PlanSlot {
            summary,
            ..PlanSlot::new(PlanNumber::from(number), None)
        };
        let slots = (1..).zip(files).map(slot).collect();
        let task = FinishedPhase::from_files(None, &name, &dir, QUICK, slots);
        let mut task = task.into_value(warnings);
        if let Some(title) = task.plans.first().and_then(|plan| plan.summary.title.clone()) {
            task.name = title;
        }
        if task.is_complete {
            found.push(task);
        }
    }
    found
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
                file: project.relative(&plan.file).to_owned(),
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::patterns::PlanRecord;
    use crate::plan::{PlanNumber, Summary};

    fn phase(milestone: &str, digest: &str, plans: &[u32]) -> FinishedPhase {
        let record = |number: &u32| {
            let plan = PlanNumber::from(*number);
            PlanRecord::new(plan, "S.md".into(), Summary::default(), "")
        };
        FinishedPhase {
            number: Some(3.into()),
            name: "The parser".to_owned(),
            dir: "phases".into(),
            dir_name: "03-parser".to_owned(),
            milestone: milestone.to_owned(),
            plans: plans.iter().map(record).collect(),
            slots: Vec::new(),
            is_complete: true,
            digest: digest.to_owned(),
        }
    }

    fn entry(milestone: &str, digest: &str, plans: &str) -> String {
        format!(
            "### Phase 3: The parser (2026-02-11)\n\
             <!-- annals: phase-dir=03-parser plans={plans} digest={digest} milestone={milestone} -->\n\n"
        )
    }

    fn patterns(text: &str) -> Patterns {
        Patterns::parse(text, Path::new("P.md")).value
    }

    #[test]
    fn a_phase_is_known_again_wherever_it_stands() {
        let known = patterns(&entry("default", "aa", "01,02"));
        assert_eq!(known.recorded(&phase("default", "aa", &[1, 2]), &[]), Recorded::Same(1));
        // Shipped since, as a milestone with a name.
        assert_eq!(known.recorded(&phase("v1", "aa", &[1, 2]), &[]), Recorded::Same(1));
        let mut renamed = phase("v1", "aa", &[1, 2]);
        renamed.dir_name = "01-parser".to_owned();
        assert_eq!(known.recorded(&renamed, &[]), Recorded::Same(1));
    }

    #[test]
    fn two_phases_with_identical_summaries_are_two_phases() {
        let folder = assert_fs::TempDir::new().unwrap();
        let known = patterns(&entry("default", "aa", "01"));
        let mut twin = phase("default", "aa", &[1]);
        twin.dir_name = "04-lexer".to_owned();
        twin.dir = folder.path().join("04-lexer");
        assert_eq!(known.recorded(&twin, &[]), Recorded::Same(1), "renamed");
        std::fs::create_dir(folder.path().join("03-parser")).unwrap();
        assert_eq!(known.recorded(&twin, &[]), Recorded::No);
        let of_v1 = patterns(&entry("v1", "aa", "01"));
        let copy = phase("v2", "aa", &[1]);
        let shipped = phase("v1", "aa", &[1]);
        assert_eq!(of_v1.recorded(&copy, &[&shipped]), Recorded::Same(1));
    }

    #[test]
    fn other_summaries_are_a_change() {
        let known = patterns(&entry("default", "aa", "01,02"));
        for changed in [
            phase("default", "bb", &[1, 2]),
            phase("v1", "bb", &[1, 2]),
            phase("default", "bb", &[1, 2, 3]),
        ] {
            assert_eq!(known.recorded(&changed, &[]), Recorded::Changed(1));
        }
        assert_eq!(known.recorded(&phase("default", "bb", &[3]), &[]), Recorded::No);
    }

    #[test]
    fn the_entry_of_a_namesake_is_not_the_phases_own() {
        let shipped = phase("v1", "aa", &[1]);
        let active = phase("default", "bb", &[1]);
        let known = patterns(&entry("default", "aa", "01"));
        assert_eq!(known.recorded(&active, &[]), Recorded::Changed(1));
        assert_eq!(known.recorded(&active, &[&shipped]), Recorded::No);
        let both = entry("default", "aa", "01") + &entry("default", "bb", "01");
        let known = patterns(&both);
        assert_eq!(known.recorded(&active, &[&shipped]), Recorded::Same(4));
        let changed = phase("default", "cc", &[1]);
        assert_eq!(known.recorded(&changed, &[&shipped]), Recorded::Changed(4));
        // A named milestone keeps its name, so this phase belongs to another milestone.
        let known = patterns(&entry("v1", "aa", "01"));
        assert_eq!(known.recorded(&active, &[]), Recorded::No);
    }

    #[test]
    fn entries_by_others_are_known_by_number_and_name() {
        let own = phase("default", "aa", &[1, 2]);
        for (text, expected) in [
            ("### Phase 3: The Parser (2026-02-11)\n**What worked:** x\n", Recorded::Foreign(1)),
            ("## Phase 03 - parser\n**What failed:** y\n", Recorded::Foreign(1)),
            ("### Phase 4: The Parser\n**What worked:** x\n", Recorded::No),
            ("### Phase 3: The Lexer\n**What worked:** x\n", Recorded::No),
            ("### Phase 3: The Parser\n**What worked:**\n- none observed\n", Recorded::Foreign(1)),
        ] {
            assert_eq!(patterns(text).recorded(&own, &[]), expected, "{text}");
        }
        let text = "### Phase 3: The Parser\n**What worked:** x\n";
        let namesake = phase("v1", "bb", &[1, 2]);
        assert_eq!(patterns(text).recorded(&own, &[&namesake]), Recorded::No);
    }
}
