//! `annals patterns insights`

use std::io;
use std::io::Write;

use crate::cli::output::Output;
use crate::error::Result;
use crate::patterns;
use crate::patterns::{Comparison, DeviatingFile, Insights, PlanRef, Rate, Sizes};
use crate::project::Project;
use crate::text::quantity;

/// Maximum number of files listed, and of plans listed per file.
const FILES: usize = 8;
const PLANS: usize = 4;

pub(crate) fn run(project: &Project, out: &mut Output) -> Result<()> {
    let found = patterns::insights(project)?;
    out.warnings(&found.warnings);
    out.result(&found.value, show)
}

fn show(insights: &Insights, to: &mut dyn Write) -> io::Result<()> {
    let (deviated, completed) = (insights.deviated, insights.completed);
    if insights.plans == 0 {
        return writeln!(to, "No plan has a summary yet.");
    }
    writeln!(
        to,
        "{} in {}: {}; {}.",
        quantity(insights.plans, "plan"),
        quantity(insights.phases, "phase"),
        deviations(deviated, insights),
        completion(completed, insights.plans)
    )?;
    sizes("tasks", &insights.by_tasks, to)?;
    sizes("files", &insights.by_files, to)?;
    let lessons = insights.lessons();
    let lessons = lessons.map(|one| format!("{} ({})", one.statement, one.p_value_text()));
    list("Significant differences", &lessons.collect::<Vec<_>>(), to)?;
    let files = insights.deviating_files.iter().take(FILES).map(file);
    list("Named in deviations of several plans", &files.collect::<Vec<_>>(), to)?;
    let rest: Vec<String> = alike(insights).into_iter().chain(too_little(insights)).collect();
    if !rest.is_empty() {
        writeln!(to)?;
    }
    rest.iter().try_for_each(|line| writeln!(to, "{line}"))
}

fn list<T: std::fmt::Display>(title: &str, lines: &[T], to: &mut dyn Write) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(to, "\n{title}:")?;
    lines.iter().try_for_each(|line| writeln!(to, "- {line}"))
}

fn sizes(unit: &str, sizes: &Sizes, to: &mut dyn Write) -> io::Result<()> {
    let buckets = sizes.buckets.iter().filter(|one| one.plans > 0);
    let buckets: Vec<_> = buckets.collect();
    if buckets.is_empty() {
        return Ok(());
    }
    writeln!(to, "\n{unit:>7}  deviated   complete   median")?;
    for bucket in buckets {
        let range = match bucket.to {
            Some(last) => format!("{}-{last}", bucket.from),
            None => format!("{}+", bucket.from),
        };
        let median =
            bucket.median_minutes.map_or_else(|| "unknown".to_owned(), |median| median.to_string());
        writeln!(
            to,
            "{range:>7}  {:<9}  {:<9}  {median}",
            rate(bucket.deviated),
            rate(bucket.completed)
        )?;
    }
    if sizes.unknown > 0 {
        writeln!(to, "unknown  in {}", quantity(sizes.unknown, "plan"))?;
    }
    Ok(())
}

/// Describes how many plans deviated, and how many report on deviations if not all do.
fn deviations(rate: Rate, insights: &Insights) -> String {
    let sum = insights.deviations;
    match rate.of {
        0 => "deviations not reported".to_owned(),
        of if of == insights.plans => format!("{} had deviations ({sum} in all)", rate.count),
        of => {
            let report = if of == 1 { "reports" } else { "report" };
            format!(
                "{} of the {of} that {report} on deviations had some ({sum} in all)",
                rate.count
            )
        }
    }
}

/// Describes how many plans are complete, and how many report a status if not all do.
fn completion(rate: Rate, all: usize) -> String {
    let are = if rate.count == 1 { "is" } else { "are" };
    match rate.of {
        0 => "completion not reported".to_owned(),
        of if of == all => format!("{} {are} complete", rate.count),
        of => {
            let report = if of == 1 { "reports" } else { "report" };
            format!("{} of the {of} that {report} a status {are} complete", rate.count)
        }
    }
}

fn rate(rate: Rate) -> String {
    if rate.of == 0 {
        return "unknown".to_owned();
    }
    format!("{}/{}", rate.count, rate.of)
}

fn file(file: &DeviatingFile) -> String {
    let plans: Vec<String> = file.named_in.iter().take(PLANS).map(PlanRef::to_string).collect();
    let more = match file.named_in.len() - plans.len() {
        0 => String::new(),
        more => format!(", {more} more"),
    };
    format!(
        "`{}`: {} ({}{more}); {} of {} that touched it deviated",
        file.file,
        quantity(file.named_in.len(), "plan"),
        plans.join(", "),
        file.deviated.count,
        file.deviated.of
    )
}

/// Returns a line about comparisons without a significant difference.
fn alike(insights: &Insights) -> Option<String> {
    let tested = insights.comparisons.iter();
    let alike: Vec<&Comparison> =
        tested.filter(|one| one.is_evidence() && !one.is_lesson).collect();
    let subjects = counted(alike.iter().map(|one| one.subject.as_str()));
    (!alike.is_empty()).then(|| format!("No significant difference: {subjects}."))
}

/// Returns a line about comparisons with too little data.
fn too_little(insights: &Insights) -> Option<String> {
    let few = insights.comparisons.iter().filter(|one| !one.is_evidence());
    let mut parts: Vec<String> =
        few.map(|one| format!("{} (n={})", one.subject, one.plans())).collect();
    parts.extend(insights.not_compared.iter().cloned());
    (!parts.is_empty()).then(|| format!("Not enough data: {}.", parts.join("; ")))
}

/// Returns the subjects with the number of comparisons of each: `deviations by tasks, deviations by file
/// (7)`.
fn counted<'a>(subjects: impl Iterator<Item = &'a str>) -> String {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for subject in subjects {
        match counted.iter_mut().find(|(known, _)| *known == subject) {
            Some((_, count)) => *count += 1,
            None => counted.push((subject, 1)),
        }
    }
    let parts = counted.into_iter().map(|(subject, count)| match count {
        1 => subject.to_owned(),
        many => format!("{subject} ({many})"),
    });
    parts.collect::<Vec<_>>().join(", ")
}
