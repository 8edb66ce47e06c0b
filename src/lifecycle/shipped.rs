//! SHIPPED.md: what a milestone came to.

use serde::Serialize;

use crate::error::Result;
use crate::planning::PlanStanding;
use crate::planning::Roadmap;
use crate::planning::Standing;
use crate::planning::Summary;
use crate::planning::Survey;
use crate::project::Project;
use crate::storage::read;
use crate::templates;
use crate::templates::Template;

/// Plans, counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Plans {
    /// All of them.
    pub total: usize,
    /// Those with a finished summary.
    pub complete: usize,
}

/// SHIPPED.md and the figures in it.
pub(crate) struct Shipped {
    /// The page.
    pub(crate) page: String,
    /// How many phases the milestone had.
    pub(crate) phases: usize,
    /// How many plans.
    pub(crate) plans: Plans,
}

#[derive(Serialize)]
struct ShippedContext<'a> {
    milestone: &'a str,
    slug: &'a str,
    date: String,
    phases: Vec<ShippedPhase>,
    plans: Plans,
    deviations: Deviations,
    requirements: Vec<String>,
    commits: Option<Commits>,
}

#[derive(Serialize)]
struct ShippedPhase {
    number: String,
    name: String,
    plans: String,
    deviations: usize,
}

#[derive(Serialize)]
struct Deviations {
    count: usize,
    kinds: Option<String>,
}

#[derive(Serialize)]
struct Commits {
    count: usize,
    first: Option<String>,
    last: Option<String>,
}

pub(crate) fn shipped(
    project: &Project,
    survey: &Survey,
    name: &str,
    slug: &str,
) -> Result<Shipped> {
    let mut rows = Vec::new();
    let mut kinds: Vec<String> = Vec::new();
    let mut commits: Vec<String> = Vec::new();
    let mut plans = Plans {
        total: 0,
        complete: 0,
    };
    for phase in survey
        .position
        .phases
        .iter()
        .filter(|phase| phase.standing != Standing::Dropped)
    {
        let complete = phase.count(PlanStanding::Complete);
        plans.total += phase.plans.len();
        plans.complete += complete;
        let mut deviations = 0;
        for (slot, _) in &phase.plans {
            let (Some(dir), Some(file)) = (&phase.dir, &slot.summary) else {
                continue;
            };
            let path = dir.join(file);
            let Some(text) = read::text(&path)? else {
                continue;
            };
            let summary = Summary::parse(&text.value, &path).value;
            deviations += summary.deviation_count as usize;
            kinds.extend(
                summary
                    .deviations
                    .into_iter()
                    .flatten()
                    .filter_map(|deviation| deviation.kind),
            );
            commits.extend(summary.commits.into_iter().flatten());
        }
        rows.push((deviations, phase, complete));
    }
    kinds.sort();
    kinds.dedup();
    let context = ShippedContext {
        milestone: name,
        slug,
        date: project.clock.today().to_string(),
        plans,
        deviations: Deviations {
            count: rows.iter().map(|(count, ..)| count).sum(),
            kinds: Some(kinds.join(", ")).filter(|kinds| !kinds.is_empty()),
        },
        requirements: requirements(&survey.roadmap),
        commits: (!commits.is_empty()).then(|| Commits {
            count: commits.len(),
            first: commits.first().cloned(),
            last: commits.last().cloned(),
        }),
        phases: rows
            .iter()
            .map(|(deviations, phase, complete)| ShippedPhase {
                number: phase.number.to_string(),
                name: phase.name.clone().unwrap_or_default(),
                plans: format!("{complete}/{}", phase.plans.len()),
                deviations: *deviations,
            })
            .collect(),
    };
    Ok(Shipped {
        page: templates::render(project, Template::Shipped, &context)?,
        phases: rows.len(),
        plans,
    })
}

/// Returns the requirements that the milestone's phases cover, each once, in roadmap order.
fn requirements(roadmap: &Roadmap) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for requirement in roadmap
        .active_phases()
        .flat_map(|phase| &phase.requirements)
    {
        if !found.contains(requirement) {
            found.push(requirement.clone());
        }
    }
    found
}
