//! The bullets of an entry, with the plan and the source that each was drawn from.

use crate::error::Result;
use crate::patterns::lesson::split_citation;
use crate::patterns::{Bullet, BulletSection, BulletSource, LessonSource, PatternEntry, Patterns};
use crate::plan::{MilestoneFolder, PhaseDir, PlanNumber, PlanningFolder, Summary};
use crate::project::Project;
use crate::storage::read;

impl PatternEntry {
    /// Fills in the bullets, without their sources.
    pub(crate) fn list_bullets(&mut self) {
        let bullet = |section| {
            move |text: &String| Bullet {
                text: text.clone(),
                section,
                plans: cited(text),
                source: None,
            }
        };
        let worked = self.worked.iter().map(bullet(BulletSection::Worked));
        let failed = self.failed.iter().map(bullet(BulletSection::Failed));
        self.bullets = worked.chain(failed).collect();
    }
}

impl Patterns {
    /// Fills in the source of each bullet, as far as the summaries still exist.
    pub(crate) fn trace_bullets(&mut self, project: &Project) -> Result<()> {
        let folder = PlanningFolder::read(&project.planning()?.dir)?.value;
        let mut milestones = folder.other_milestones(&mut Vec::new())?;
        milestones.push(folder.active);
        for entry in &mut self.entries {
            let Some(trace) = &entry.trace else {
                continue;
            };
            let Some(dir) = phase_dir(&milestones, &trace.phase_dir, trace.milestone.as_deref())
            else {
                continue;
            };
            for (bullet, source) in entry.bullets.iter_mut().zip(&trace.sources) {
                if let Some(source) = source {
                    bullet.source = find_bullet(project, dir, source)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the folder of a phase, which may have moved since.
fn phase_dir<'m>(
    milestones: &'m [MilestoneFolder],
    name: &str,
    milestone: Option<&str>,
) -> Option<&'m PhaseDir> {
    let named = || {
        milestones.iter().flat_map(|one| {
            let of_name = one.phases.iter().filter(|dir| dir.dir_name() == name);
            of_name.map(move |dir| (one, dir))
        })
    };
    let own = named().find(|(one, _)| Some(one.slug.as_str()) == milestone);
    own.or_else(|| named().next()).map(|(_, dir)| dir)
}

fn find_bullet(
    project: &Project,
    dir: &PhaseDir,
    source: &LessonSource,
) -> Result<Option<BulletSource>> {
    let slot = dir.plans.iter().find(|slot| slot.number == source.plan);
    let Some(file) = slot.and_then(|slot| slot.summary.as_ref()) else {
        return Ok(None);
    };
    let path = dir.dir.join(file);
    let Some(text) = read::text(&path)? else {
        return Ok(None);
    };
    let summary = Summary::parse(&text.value, &path).value;
    let deviations = summary.deviations.unwrap_or_default();
    let deviation = deviations.into_iter().find(|one| one.line == source.line);
    let line = source.line.checked_sub(1);
    let written = line.and_then(|line| text.value.lines().nth(line));
    let text = deviation.map_or_else(
        || written.map(|line| line.trim().to_owned()),
        |deviation| Some(deviation.text),
    );
    Ok(Some(BulletSource {
        file: project.relative(&path).to_owned(),
        line: Some(source.line).filter(|line| *line > 0),
        text: text.or(summary.title).unwrap_or_default(),
    }))
}

/// Maximum distance of the ends of a range of cited plans.
const MAX_RANGE: u32 = 99;

/// Returns the plans cited in the brackets that end a bullet: `(plan 02)`, `(plans 01-03, 07; before in …)`.
pub(crate) fn cited(text: &str) -> Vec<PlanNumber> {
    let Some(citation) = split_citation(text).1 else {
        return Vec::new();
    };
    let own = citation.split(';').next().unwrap_or_default();
    let own = own.trim_start_matches("plans").trim_start_matches("plan");
    let mut plans = Vec::new();
    for part in own.split(',').map(str::trim) {
        match part.split_once('-') {
            Some((first, last)) => {
                let number = |text: &str| text.trim().parse::<u32>().ok();
                if let (Some(first), Some(last)) = (number(first), number(last)) {
                    let last = last.min(first.saturating_add(MAX_RANGE));
                    plans.extend((first..=last).map(PlanNumber::from));
                }
            }
            None => plans.extend(PlanNumber::parse(part)),
        }
    }
    plans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_read_from_the_brackets() {
        let plans =
            |text: &str| -> Vec<String> { cited(text).iter().map(ToString::to_string).collect() };
        assert_eq!(plans("A lock (see b) blocks (plan 02)"), ["2"]);
        assert_eq!(
            plans("A lock blocks (plans 01-03, 07a; before in phase 1 plan 04)"),
            ["1", "2", "3", "7a"]
        );
        assert_eq!(plans("A plan (no number)"), [""; 0]);
        assert_eq!(plans("A lock blocks (plans 1, 4294967295-4294967295)").len(), 2);
        assert_eq!(plans("A lock blocks (plans 1-4294967295)").len(), 100);
        assert_eq!(plans("Count hours (plans 2 and 3 took longest)"), [""; 0]);
    }
}
