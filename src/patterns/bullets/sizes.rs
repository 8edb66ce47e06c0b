//! How the size of a plan went with its deviations and its time.

use crate::clock::Minutes;
use crate::patterns::PlanRecord;
use crate::patterns::bullets::candidate::Candidate;
use crate::patterns::bullets::lesson::cite;
use crate::planning::PlanNumber;
use crate::text::quantity;

const CONCENTRATION: u32 = 76;
const SLOWEST: u32 = 52;
const PACE: u32 = 66;

/// Fewer plans than these have no larger and smaller ones worth telling apart.
const LEAST_PLANS: usize = 3;

/// A measure of a plan.
type Measure = fn(&PlanRecord) -> Option<u32>;

/// The plans from a size on, and those below it.
struct Split<'a> {
    from: u32,
    large: Vec<&'a PlanRecord>,
    small: Vec<&'a PlanRecord>,
}

/// Returns every way to part the plans by a measure; none where it is not known of all.
fn splits(plans: &[PlanRecord], measure: Measure) -> Vec<Split<'_>> {
    let sized: Option<Vec<(u32, &PlanRecord)>> = plans
        .iter()
        .map(|plan| Some((measure(plan)?, plan)))
        .collect();
    let Some(sized) = sized.filter(|sized| sized.len() >= LEAST_PLANS) else {
        return Vec::new();
    };
    let mut steps: Vec<u32> = sized.iter().map(|(size, _)| *size).collect();
    steps.sort_unstable();
    steps.dedup();
    let part = |from: u32| {
        let of = |is_large: bool| {
            let parted = sized.iter().filter(|(size, _)| (*size >= from) == is_large);
            parted.map(|(_, plan)| *plan).collect()
        };
        Split {
            from,
            large: of(true),
            small: of(false),
        }
    };
    steps.into_iter().skip(1).map(part).collect()
}

/// Returns that most deviations fell on the larger plans, where they did.
pub(crate) fn concentration(plans: &[PlanRecord]) -> Option<Candidate> {
    let total = deviations(&plans.iter().collect::<Vec<_>>());
    let measures: [(&str, Measure); 2] = [
        ("files", PlanRecord::file_count),
        ("tasks", PlanRecord::task_count),
    ];
    let mut best: Option<(f64, &str, Split<'_>)> = None;
    for (unit, measure) in measures {
        for split in splits(plans, measure) {
            let share = ratio(deviations(&split.large), total);
            let excess = share
                - ratio(
                    count(&split.large),
                    count(&split.large) + count(&split.small),
                );
            let is_better = best.as_ref().is_none_or(|(other, ..)| excess > *other);
            if total >= 3 && share >= 0.7 && excess >= 0.35 && is_better {
                best = Some((excess, unit, split));
            }
        }
    }
    let (_, unit, split) = best?;
    let on_large = match deviations(&split.large) {
        all if all == total => "All".to_owned(),
        some => some.to_string(),
    };
    let on_small = match deviations(&split.small) {
        0 => "none".to_owned(),
        some => some.to_string(),
    };
    let lead = format!(
        "{on_large} of {total} deviations fell on {} with {}+ {unit} {}, {on_small} on {} smaller {}",
        quantity(split.large.len(), "plan"),
        split.from,
        cite(&numbers(&split.large)),
        split.small.len(),
        cite(&numbers(&split.small)),
    );
    Some(Candidate::new(CONCENTRATION, &lead, "", &[]))
}

/// Returns that small plans took less time a task, where they all did.
pub(crate) fn pace(plans: &[PlanRecord]) -> Option<Candidate> {
    let timed: Vec<PlanRecord> = plans
        .iter()
        .filter(|plan| plan.duration.is_some() && !plan.duration_derived && plan.is_complete())
        .cloned()
        .collect();
    let split = splits(&timed, PlanRecord::task_count)
        .into_iter()
        .find(|split| split.small.len() > 1 && is_faster(&split.small, &split.large))?;
    let said = |plans: &[&PlanRecord]| {
        Some(format!(
            "{} took {} {}",
            range(plans, PlanRecord::task_count, "task")?,
            durations(plans)?,
            cite(&numbers(plans)),
        ))
    };
    let lead = format!(
        "Small plans were faster per task: {}, {}",
        said(&split.small)?,
        said(&split.large)?
    );
    Some(Candidate::new(PACE, &lead, "", &[]))
}

/// Tells whether every small plan was done sooner than every large one, also by the task.
fn is_faster(small: &[&PlanRecord], large: &[&PlanRecord]) -> bool {
    let paces = |plans: &[&PlanRecord]| -> Vec<f64> {
        plans
            .iter()
            .filter_map(|plan| Some(plan.duration?.as_f64() / f64::from(plan.task_count()?.max(1))))
            .collect()
    };
    let (small, large) = (paces(small), paces(large));
    let slowest_small = small.iter().copied().fold(0.0, f64::max);
    let fastest_large = large.iter().copied().fold(f64::INFINITY, f64::min);
    slowest_small * 1.25 < fastest_large
}

/// Returns the plan that took far longer than the others.
pub(crate) fn slowest(plans: &[PlanRecord]) -> Option<Candidate> {
    let mut timed: Vec<(Minutes, &PlanRecord)> = plans
        .iter()
        .filter_map(|plan| Some((plan.duration?, plan)))
        .collect();
    timed.sort_by_key(|(duration, _)| *duration);
    if timed.len() < LEAST_PLANS + 1 {
        return None;
    }
    let (median, _) = timed[timed.len() / 2];
    let (longest, plan) = timed.last()?;
    let is_outlier = longest.as_f64() >= 2.5 * median.as_f64().max(1.0)
        && longest.as_f64() - median.as_f64() >= 10.0;
    if !is_outlier {
        return None;
    }
    let size = shape(&[plan], false);
    let with = if size.is_empty() {
        String::new()
    } else {
        format!(" with {size}")
    };
    let lead = format!("Took {longest} against a median of {median}{with}: ");
    let title = plan.short_title().unwrap_or("no title");
    Some(Candidate::new(SLOWEST, &lead, title, &[&plan.plan]))
}

/// Returns the sizes of plans in words: `2-3 tasks, 1-4 files, 3m-6m`; what is not known of all is left out.
pub(crate) fn shape(plans: &[&PlanRecord], with_duration: bool) -> String {
    let parts = [
        range(plans, PlanRecord::task_count, "task"),
        range(plans, PlanRecord::file_count, "file"),
        durations(plans).filter(|_| with_duration),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn range(plans: &[&PlanRecord], measure: Measure, unit: &str) -> Option<String> {
    let sizes: Option<Vec<u32>> = plans.iter().map(|plan| measure(plan)).collect();
    let sizes = sizes?;
    let (least, most) = (*sizes.iter().min()?, *sizes.iter().max()?);
    if least == most {
        return Some(quantity(most, unit));
    }
    Some(format!("{least}-{}", quantity(most, unit)))
}

fn durations(plans: &[&PlanRecord]) -> Option<String> {
    let durations: Option<Vec<Minutes>> = plans.iter().map(|plan| plan.duration).collect();
    let durations = durations?;
    let shortest = durations.iter().min()?.to_string();
    let longest = durations.iter().max()?.to_string();
    if shortest == longest {
        return Some(shortest);
    }
    Some(format!("{shortest}-{longest}"))
}

fn numbers<'a>(plans: &[&'a PlanRecord]) -> Vec<&'a PlanNumber> {
    plans.iter().map(|plan| &plan.plan).collect()
}

fn deviations(plans: &[&PlanRecord]) -> u32 {
    plans.iter().map(|plan| plan.deviation_count).sum()
}

fn count(plans: &[&PlanRecord]) -> u32 {
    u32::try_from(plans.len()).unwrap_or(u32::MAX)
}

fn ratio(part: u32, whole: u32) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    f64::from(part) / f64::from(whole)
}
