//! A phase with the records of its finished plans.

use std::path::PathBuf;

use chrono::NaiveDate;
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::git::Git;
use crate::patterns::trace::plan_id;
use crate::patterns::{PlanRecord, Trace};
use crate::plan::{
    MilestoneFolder, PhaseDir, PhaseNumber, PlanNumber, PlanningFolder, ReadText, Summary,
};
use crate::storage::read::or_warning;
use crate::text::hexadecimal;
use crate::warning::Parsed;

/// A phase as recorded in the summaries of its plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedPhase {
    /// Its number.
    pub number: PhaseNumber,
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
    /// The digest of the summaries' contents.
    pub digest: String,
}

/// A summary as read.
struct SummarySource {
    plan: PlanNumber,
    path: PathBuf,
    text: String,
    summary: Summary,
}

impl FinishedPhase {
    /// Reads the summaries of a phase's folder.
    ///
    /// `read` returns the text of a file. A summary that cannot be read becomes a warning. If a summary
    /// states no duration, the time from its first to its last commit, from `git`, is used.
    pub fn read(
        dir: &PhaseDir,
        name: Option<&str>,
        milestone: &str,
        read: ReadText<'_>,
        git: &Git,
    ) -> Result<Parsed<Self>> {
        let mut warnings = Vec::new();
        let mut sources = Vec::new();
        for slot in &dir.plans {
            let Some(file) = &slot.summary else {
                continue;
            };
            let path = dir.dir.join(file);
            let Some(text) = or_warning(read(&path), &path, &mut warnings) else {
                continue;
            };
            let summary = Summary::parse(&text, &path).into_value(&mut warnings);
            sources.push(SummarySource { plan: slot.number.clone(), path, text, summary });
        }
        let summaries = sources.iter_mut().map(|source| &mut source.summary);
        derive_durations(summaries.collect(), git)?;
        let digest = digest(&sources);
        let record = |source: SummarySource| {
            PlanRecord::new(source.plan, source.summary, &source.text, &source.path)
        };
        let value = Self {
            number: dir.number.clone(),
            name: name.unwrap_or(&dir.name).to_owned(),
            dir: dir.dir.clone(),
            dir_name: dir.dir_name(),
            milestone: milestone.to_owned(),
            digest,
            plans: sources.into_iter().map(record).collect(),
        };
        Ok(Parsed { value, warnings })
    }

    /// Reads the phases of other milestones whose folder has the same name as `dir`.
    pub fn phases_of_same_name(
        folder: &PlanningFolder,
        dir: &PhaseDir,
        read: ReadText<'_>,
        git: &Git,
    ) -> Result<Parsed<Vec<Self>>> {
        let mut found = Parsed::clean(Vec::new());
        let name = dir.dir_name();
        let mut take = |milestone: &MilestoneFolder| -> Result<()> {
            let same = |other: &&PhaseDir| other.dir != dir.dir && other.dir_name() == name;
            for other in milestone.phases.iter().filter(same) {
                let phase = Self::read(other, None, &milestone.slug, read, git)?;
                found.value.push(phase.into_value(&mut found.warnings));
            }
            Ok(())
        };
        take(&folder.active)?;
        // Warnings about these milestones were reported when they were read elsewhere.
        for milestone in folder.other_milestones(&mut Vec::new())? {
            take(&milestone)?;
        }
        Ok(found)
    }

    /// Returns the latest completion date of its plans, as far as the summaries state it.
    pub fn completed(&self) -> Option<NaiveDate> {
        self.plans.iter().filter_map(|plan| plan.completed).max()
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

/// Returns the digest of the summaries' contents, independent of line endings.
fn digest(sources: &[SummarySource]) -> String {
    let mut digest = Sha256::new();
    for source in sources {
        let text = source.text.replace("\r\n", "\n");
        digest.update(format!("{} {}\n", plan_id(&source.plan), text.len()));
        digest.update(text);
    }
    // Git abbreviates commits to about half as many digits by default; a collision by chance is ruled out.
    hexadecimal(&digest.finalize()[..8])
}
