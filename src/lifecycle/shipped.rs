//! Writes SHIPPED.md, the summary of a milestone, and reads the dates of earlier ones.

use std::collections::BTreeSet;
use std::path::Path;

use chrono::NaiveDate;
use serde::Serialize;
use serde_json::{Value, json};

use crate::clock::parse_date;
use crate::error::Result;
use crate::plan::{PhaseNumber, PlanState, PlanningFolder, Summary, Survey};
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

impl PlanTotals {
    /// Counts the plans of the active milestone.
    pub(crate) fn count(survey: &Survey) -> Self {
        let phases = || survey.position.kept();
        Self {
            total: phases().map(|phase| phase.plans.len()).sum(),
            complete: phases().map(|phase| phase.count(PlanState::Complete)).sum(),
        }
    }
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

/// Returns the SHIPPED.md of the active milestone.
pub(crate) fn page(project: &Project, survey: &Survey, name: &str, slug: &str) -> Result<String> {
    let (mut phases, mut kinds, mut commits) = (Vec::new(), Vec::new(), Vec::new());
    let mut counts: Vec<Option<u32>> = Vec::new();
    for phase in survey.position.kept() {
        let first = counts.len();
        for (slot, _) in &phase.plans {
            let path = phase.dir.as_ref().zip(slot.summary.as_ref());
            let Some(path) = path.map(|(dir, file)| dir.join(file)) else { continue };
            let Some(text) = read::text(&path)? else { continue };
            let summary = Summary::parse(&text.value, &path).value;
            counts.push(summary.deviation_count);
            let listed = summary.deviations.into_iter().flatten();
            kinds.extend(listed.filter_map(|deviation| deviation.kind));
            commits.extend(summary.commits.into_iter().flatten());
        }
        phases.push(json!({
            "number": phase.number,
            "name": phase.name.as_deref().unwrap_or_default(),
            "plans": format!("{}/{}", phase.count(PlanState::Complete), phase.plans.len()),
            "deviations": sum(&counts[first..]),
        }));
    }
    kinds.sort();
    kinds.dedup();
    let commits = match (commits.first(), commits.last()) {
        (Some(first), last) => json!({"count": commits.len(), "first": first, "last": last}),
        _ => Value::Null,
    };
    let context = json!({
        "milestone": name,
        "slug": slug,
        "date": project.clock.today().to_string(),
        "phases": phases,
        "plans": PlanTotals::count(survey),
        "deviations": {
            "count": sum(&counts),
            "kinds": kinds.join(", "),
            "summaries": counts.len(),
            "silent": counts.iter().filter(|count| count.is_none()).count(),
        },
        "requirements": requirements(survey),
        "commits": commits,
    });
    templates::render(Template::Shipped, &context)
}

/// Returns the sum of the known counts, or `None` if none is known.
fn sum(counts: &[Option<u32>]) -> Option<u32> {
    counts.iter().flatten().copied().reduce(u32::saturating_add)
}

/// Returns the distinct requirements that the milestone's phases cover, in roadmap order.
fn requirements(survey: &Survey) -> Vec<&String> {
    let mut found = Vec::new();
    let members: BTreeSet<&PhaseNumber> =
        survey.position.members().map(|member| &member.number).collect();
    let is_member = |number: &PhaseNumber| members.contains(number);
    let phases = survey.roadmap.active_phases().filter(|phase| is_member(&phase.number));
    for requirement in phases.flat_map(|phase| &phase.requirements) {
        if !found.contains(&requirement) {
            found.push(requirement);
        }
    }
    found
}
