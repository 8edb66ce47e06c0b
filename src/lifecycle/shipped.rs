//! Writes SHIPPED.md, the summary of a milestone.

use std::collections::BTreeSet;
use std::path::Path;

use chrono::NaiveDate;
use serde::Serialize;

use crate::clock::parse_date;
use crate::error::Result;
use crate::plan::{Phase, PhaseNumber, PlanState, PlanningFolder, Summary, Survey};
use crate::project::{Project, vocabulary};
use crate::storage::read;
use crate::templates;
use crate::templates::Template;

/// Numbers of plans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanTotals {
    /// Total number.
    pub total: usize,
    /// Number of plans with a finished summary.
    pub complete: usize,
}

/// SHIPPED.md and its figures.
pub(crate) struct Shipped {
    /// The page.
    pub(crate) page: String,
    /// Number of phases of the milestone.
    pub(crate) phases: usize,
    /// Number of plans of the milestone.
    pub(crate) plans: PlanTotals,
}

#[derive(Serialize)]
struct ShippedContext<'a> {
    milestone: &'a str,
    slug: &'a str,
    date: String,
    phases: Vec<ShippedPhase>,
    plans: PlanTotals,
    deviations: Deviations,
    requirements: Vec<String>,
    commits: Option<Commits>,
}

#[derive(Serialize)]
struct ShippedPhase {
    number: String,
    name: String,
    plans: String,
    /// Number of deviations in its summaries, or `None` if none of them mentions deviations.
    deviations: Option<u32>,
}

#[derive(Serialize)]
struct Deviations {
    count: Option<u32>,
    kinds: Option<String>,
    /// Number of summaries.
    summaries: usize,
    /// Number of summaries that do not mention deviations.
    silent: usize,
}

#[derive(Serialize)]
struct Commits {
    count: usize,
    first: Option<String>,
    last: Option<String>,
}

/// Returns the ship date in an archived milestone's SHIPPED.md.
pub(crate) fn date(milestone: &Path) -> Result<Option<NaiveDate>> {
    let Some(text) = read::text(&milestone.join(vocabulary::SHIPPED))? else {
        return Ok(None);
    };
    let is_about = |line: &&str| {
        let line = line.to_lowercase();
        line.contains("shipped") || line.contains("date")
    };
    let mut lines = text.value.lines().filter(is_about);
    Ok(lines.find_map(|line| {
        let mut digits = line.match_indices(|c: char| c.is_ascii_digit());
        digits.find_map(|(at, _)| parse_date(&line[at..]))
    }))
}

/// Returns the name and the ship date of the milestone that shipped last, by the dates in the SHIPPED.md files.
pub(crate) fn last(folder: &PlanningFolder) -> Option<(String, Option<NaiveDate>)> {
    let pages = folder.archived.iter().filter_map(|archive| {
        let dir = archive.dir.as_ref()?;
        let page = read::text(&dir.join(vocabulary::SHIPPED)).ok()??.value;
        let title = page.lines().find_map(|line| line.strip_prefix("# Shipped:"));
        let name = title.map_or(archive.slug.as_str(), str::trim).to_owned();
        Some((date(dir).ok()?, name))
    });
    pages.max().map(|(date, name)| (name, date))
}

/// Computes the figures of a milestone, and writes its SHIPPED.md.
pub(crate) fn shipped(
    project: &Project,
    survey: &Survey,
    name: &str,
    slug: &str,
) -> Result<Shipped> {
    let tally = Tally::count(survey)?;
    let context = ShippedContext {
        milestone: name,
        slug,
        date: project.clock.today().to_string(),
        plans: tally.plans,
        deviations: Deviations {
            count: sum(tally.phases.iter().map(|phase| phase.deviations)),
            summaries: tally.summaries,
            silent: tally.silent,
            kinds: Some(tally.kinds.join(", ")).filter(|kinds| !kinds.is_empty()),
        },
        requirements: requirements(survey),
        commits: (!tally.commits.is_empty()).then(|| Commits {
            count: tally.commits.len(),
            first: tally.commits.first().cloned(),
            last: tally.commits.last().cloned(),
        }),
        phases: tally.phases,
    };
    Ok(Shipped {
        page: templates::render(project, Template::Shipped, &context)?,
        phases: context.phases.len(),
        plans: context.plans,
    })
}

/// The totals of a milestone's phases.
#[derive(Default)]
struct Tally {
    phases: Vec<ShippedPhase>,
    plans: PlanTotals,
    kinds: Vec<String>,
    summaries: usize,
    silent: usize,
    commits: Vec<String>,
}

/// Returns the sum of the known counts, or `None` if none is known.
fn sum(counts: impl Iterator<Item = Option<u32>>) -> Option<u32> {
    counts.flatten().reduce(u32::saturating_add)
}

impl Tally {
    fn count(survey: &Survey) -> Result<Self> {
        let mut tally = Self::default();
        for phase in survey.position.kept() {
            tally.add(phase)?;
        }
        tally.kinds.sort();
        tally.kinds.dedup();
        Ok(tally)
    }

    fn add(&mut self, phase: &Phase) -> Result<()> {
        let complete = phase.count(PlanState::Complete);
        self.plans.total += phase.plans.len();
        self.plans.complete += complete;
        let mut deviations = Vec::new();
        for (slot, _) in &phase.plans {
            let (Some(dir), Some(file)) = (&phase.dir, &slot.summary) else {
                continue;
            };
            let path = dir.join(file);
            let Some(text) = read::text(&path)? else {
                continue;
            };
            let summary = Summary::parse(&text.value, &path).value;
            self.summaries += 1;
            self.silent += usize::from(summary.deviation_count.is_none());
            deviations.push(summary.deviation_count);
            let listed = summary.deviations.into_iter().flatten();
            self.kinds.extend(listed.filter_map(|deviation| deviation.kind));
            self.commits.extend(summary.commits.into_iter().flatten());
        }
        self.phases.push(ShippedPhase {
            number: phase.number.to_string(),
            name: phase.name.clone().unwrap_or_default(),
            plans: format!("{complete}/{}", phase.plans.len()),
            deviations: sum(deviations.into_iter()),
        });
        Ok(())
    }
}

/// Returns the distinct requirements that the milestone's phases cover, in roadmap order.
fn requirements(survey: &Survey) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let members: BTreeSet<&PhaseNumber> =
        survey.position.members().map(|member| &member.number).collect();
    let active = survey.roadmap.active_phases();
    let phases = active.filter(|phase| members.contains(&phase.number));
    for requirement in phases.flat_map(|phase| &phase.requirements) {
        if !found.contains(requirement) {
            found.push(requirement.clone());
        }
    }
    found
}
