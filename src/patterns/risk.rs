//! How a plan compares with those that went before it.

use serde::Serialize;

use crate::patterns::Comparison;
use crate::patterns::DeviatingFile;
use crate::patterns::Group;
use crate::patterns::Insights;
use crate::patterns::Question;
use crate::planning::Plan;
use crate::text::quantity;

/// Fewer plans of one size say nothing about the next of that size.
const LEAST_PLANS: usize = 5;

/// What a reason weighs: a difference that chance hardly explains, and what merely happened often.
const PROVEN: u32 = 2;
const FREQUENT: u32 = 1;
/// A single reason, however good, is no more than a warning.
const HIGH: u32 = 3;

/// How many files a reason names.
const NAMED: usize = 3;

/// How likely a plan is to deviate, as far as the history tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RiskLevel {
    /// There is too little to compare it with.
    Unknown,
    /// Nothing in the history speaks against it.
    Low,
    /// Something does.
    Raised,
    /// Several things do, and at least one of them is hardly chance.
    High,
}

/// A plan's size and what the history says of plans like it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanRisk {
    /// The plan's file.
    pub plan: String,
    /// Its title.
    pub title: Option<String>,
    /// How many tasks it has; nothing where none can be read.
    pub tasks: Option<usize>,
    /// How many files it is going to touch; nothing where it lists none.
    pub files: Option<usize>,
    /// The files among them that deviations of several plans name.
    pub deviating_files: Vec<String>,
    /// The level.
    pub level: RiskLevel,
    /// What it rests on, each with its figures; the gravest first.
    pub reasons: Vec<String>,
}

/// Something that the history says of a plan.
struct Reason {
    weight: u32,
    /// Whether it rests on enough plans to call a plan harmless, too.
    is_basis: bool,
    text: String,
}

/// Holds plans that are yet to be carried out against the history of the project.
pub fn risk(plans: &[Plan], history: &Insights) -> Vec<PlanRisk> {
    plans.iter().map(|plan| of_plan(plan, history)).collect()
}

fn of_plan(plan: &Plan, history: &Insights) -> PlanRisk {
    let files = plan.files_modified.as_deref().unwrap_or_default();
    let tasks = Some(plan.tasks.len()).filter(|count| *count > 0);
    let file_count = Some(files.len()).filter(|count| *count > 0);
    let stumbled: Vec<&DeviatingFile> = history
        .deviating_files
        .iter()
        .filter(|known| files.iter().any(|file| is_same(file, &known.file)))
        .collect();
    let mut reasons: Vec<Reason> = [
        by_size(history, tasks, &BY_TASKS),
        by_size(history, file_count, &BY_FILES),
    ]
    .into_iter()
    .flatten()
    .collect();
    reasons.extend(of_proven_files(history, files));
    reasons.extend(of_named_files(&stumbled));
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.weight));
    let level = level(&reasons);
    let mut texts: Vec<String> = reasons.into_iter().map(|reason| reason.text).collect();
    if level == RiskLevel::Unknown {
        texts.insert(0, why_unknown(history, tasks.or(file_count).is_some()));
    }
    PlanRisk {
        plan: plan
            .file
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default(),
        title: plan.title.clone(),
        tasks,
        files: file_count,
        deviating_files: stumbled.iter().map(|known| known.file.clone()).collect(),
        level,
        reasons: texts,
    }
}

fn level(reasons: &[Reason]) -> RiskLevel {
    let weight: u32 = reasons.iter().map(|reason| reason.weight).sum();
    let is_proven = reasons.iter().any(|reason| reason.weight >= PROVEN);
    match weight {
        0 if !reasons.iter().any(|reason| reason.is_basis) => RiskLevel::Unknown,
        0 => RiskLevel::Low,
        HIGH.. if is_proven => RiskLevel::High,
        _ => RiskLevel::Raised,
    }
}

fn why_unknown(history: &Insights, has_size: bool) -> String {
    match history.deviated.of {
        _ if !has_size => "the plan lists neither tasks nor files".to_owned(),
        0 => "no finished plan to compare it with".to_owned(),
        1 => "only 1 finished plan to compare it with".to_owned(),
        few if few < LEAST_PLANS => format!("only {few} finished plans to compare it with"),
        all => format!("too few of the {all} finished plans are of this size"),
    }
}

/// A measure of a plan, and the questions that were asked of it.
struct Measure {
    unit: &'static str,
    deviations: Question,
    completion: Question,
}

const BY_TASKS: Measure = Measure {
    unit: "task",
    deviations: Question::DeviationsByTasks,
    completion: Question::CompletionByTasks,
};

const BY_FILES: Measure = Measure {
    unit: "file",
    deviations: Question::DeviationsByFiles,
    completion: Question::CompletionByFiles,
};

/// Returns what became of plans of this size; none of a size that is unknown, or that no plan has.
fn by_size(history: &Insights, size: Option<usize>, measure: &Measure) -> Option<Reason> {
    let size = size?;
    let large_from = match measure.deviations {
        Question::DeviationsByTasks => history.by_tasks.large_from,
        _ => history.by_files.large_from,
    };
    let is_large = size >= usize::try_from(large_from).unwrap_or(usize::MAX);
    let own = |comparison: &'_ Comparison| -> (Group, Group) {
        let (group, other) = (comparison.group.clone(), comparison.other.clone());
        if is_large {
            (group, other)
        } else {
            (other, group)
        }
    };
    let subject = quantity(size, measure.unit);
    let completion = history.comparison(measure.completion);
    if let Some(proven) = completion.filter(|one| {
        let (own, other) = own(one);
        one.is_lesson && share(&own) < share(&other)
    }) {
        return Some(Reason {
            weight: PROVEN,
            is_basis: true,
            text: format!("{subject}: {}", uncapitalised(&proven.text)),
        });
    }
    let deviations = history.comparison(measure.deviations)?;
    let (like, unlike) = own(deviations);
    let rate = like.rate.filter(|rate| rate.of > 0)?;
    let is_basis = rate.of >= LEAST_PLANS;
    if deviations.is_lesson {
        return Some(Reason {
            weight: if share(&like) > share(&unlike) {
                PROVEN
            } else {
                0
            },
            is_basis,
            text: format!("{subject}: {}", uncapitalised(&deviations.text)),
        });
    }
    let is_frequent = is_basis && rate.count * 2 >= rate.of;
    Some(Reason {
        weight: if is_frequent { FREQUENT } else { 0 },
        is_basis,
        text: format!(
            "{subject}: {} deviated in {} of {}",
            like.name, rate.count, rate.of
        ),
    })
}

/// Returns the files whose plans deviate more often than others, hardly by chance.
fn of_proven_files(history: &Insights, files: &[String]) -> Option<Reason> {
    let is_worse = |one: &&Comparison| share(&one.group) > share(&one.other);
    let is_ours = |one: &&Comparison| {
        let known = one.file.as_deref();
        known.is_some_and(|known| files.iter().any(|file| is_same(file, known)))
    };
    let proven: Vec<String> = history
        .comparisons
        .iter()
        .filter(|one| one.is_lesson)
        .filter(is_ours)
        .filter(is_worse)
        .map(|one| uncapitalised(&one.text))
        .collect();
    (!proven.is_empty()).then(|| Reason {
        weight: PROVEN,
        is_basis: true,
        text: some_of(&proven, "; "),
    })
}

/// Returns the files that deviations of several plans name.
fn of_named_files(stumbled: &[&DeviatingFile]) -> Option<Reason> {
    let told: Vec<String> = stumbled
        .iter()
        .map(|known| {
            let plans: Vec<String> = known.named_in.iter().map(ToString::to_string).collect();
            format!(
                "`{}`, which deviations of {} plans name ({})",
                known.file,
                plans.len(),
                some_of(&plans, ", ")
            )
        })
        .collect();
    (!told.is_empty()).then(|| Reason {
        weight: FREQUENT,
        is_basis: true,
        text: format!("changes {}", some_of(&told, "; ")),
    })
}

fn some_of(texts: &[String], joint: &str) -> String {
    let named = texts[..texts.len().min(NAMED)].join(joint);
    match texts.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named}{joint}{more} more"),
    }
}

/// Tells whether two paths are of one file, where one is written shorter; a bare name may be of many.
fn is_same(one: &str, other: &str) -> bool {
    let one = one.trim().trim_start_matches("./");
    let ends = |whole: &str, part: &str| {
        part.contains('/')
            && whole
                .strip_suffix(part)
                .is_some_and(|head| head.ends_with('/'))
    };
    one == other || ends(one, other) || ends(other, one)
}

fn share(group: &Group) -> f64 {
    group
        .rate
        .and_then(crate::patterns::Rate::share)
        .unwrap_or(0.0)
}

fn uncapitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_lowercase().chain(chars).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
