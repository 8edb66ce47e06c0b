//! `annals patterns insights`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::patterns;
use crate::patterns::Comparison;
use crate::patterns::DeviatingFile;
use crate::patterns::Insights;
use crate::patterns::PlanRef;
use crate::patterns::Question;
use crate::patterns::Rate;
use crate::patterns::Sizes;
use crate::project::Project;
use crate::text::quantity;

/// How many files are listed, and how many plans of one.
const FILES: usize = 8;
const PLANS: usize = 4;

/// Say what the whole history of the project shows
///
/// Over all summaries, archived milestones included. A difference is a lesson where both groups have
/// five plans or more and chance is an unlikely reason (p below 0.1, two-sided: Fisher's exact test of
/// rates, Mann-Whitney of durations; several tests of one kind share that limit). All else is listed as
/// not enough evidence.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals patterns insights --json | jq -r '.comparisons[].text'")]
pub(crate) struct InsightsArgs {}

pub(crate) fn run(_: &InsightsArgs, project: &Project, out: &mut Output) -> Result<()> {
    let found = patterns::insights(project)?;
    out.warnings(&found.warnings);
    out.result(&found.value, show);
    Ok(())
}

fn show(insights: &Insights, to: &mut dyn Write) -> io::Result<()> {
    let (deviated, completed) = (insights.deviated, insights.completed);
    if deviated.of == 0 {
        return writeln!(to, "No plan has a summary yet.");
    }
    writeln!(
        to,
        "{} in {}: {} deviated ({}), {} complete.",
        quantity(deviated.of, "plan"),
        quantity(insights.phases, "phase"),
        deviated.count,
        quantity(insights.deviations, "deviation"),
        completed.count
    )?;
    sizes("tasks", &insights.by_tasks, to)?;
    sizes("files", &insights.by_files, to)?;
    let lessons = insights.lessons();
    list("Lessons", &lessons, to)?;
    let files = insights.deviating_files.iter().take(FILES).map(file);
    list(
        "Named in deviations of several plans",
        &files.collect::<Vec<_>>(),
        to,
    )?;
    list("Not enough evidence", &unproven(insights), to)
}

fn list<T: std::fmt::Display>(title: &str, lines: &[T], to: &mut dyn Write) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(to, "\n{title}:")?;
    lines.iter().try_for_each(|line| writeln!(to, "- {line}"))
}

fn sizes(unit: &str, sizes: &Sizes, to: &mut dyn Write) -> io::Result<()> {
    let buckets = sizes.buckets.iter().filter(|one| one.deviated.of > 0);
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
        let median = bucket
            .median_minutes
            .map_or_else(|| "unknown".to_owned(), |median| median.to_string());
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

fn rate(rate: Rate) -> String {
    format!("{}/{}", rate.count, rate.of)
}

fn file(file: &DeviatingFile) -> String {
    let plans: Vec<String> = file
        .named_in
        .iter()
        .take(PLANS)
        .map(PlanRef::to_string)
        .collect();
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

/// Returns a line for each comparison that taught nothing; one for all that compare file by file or kind by kind.
fn unproven(insights: &Insights) -> Vec<String> {
    let is_one_of_many = |one: &&Comparison| one.tests > 1;
    let unproven = || insights.comparisons.iter().filter(|one| !one.is_lesson);
    let mut lines: Vec<String> = unproven()
        .filter(|one| !is_one_of_many(one))
        .map(|one| one.text.clone())
        .collect();
    for (question, what) in [
        (Question::DeviationsByFile, "files"),
        (Question::KindOverTime, "kinds of deviations over time"),
        (Question::DeviationsByEffort, "effort profiles, deviations"),
        (Question::DurationByEffort, "effort profiles, durations"),
    ] {
        let of_kind = unproven().filter(|one| one.question == question && is_one_of_many(one));
        let of_kind: Vec<&Comparison> = of_kind.collect();
        let nearest = of_kind.iter().min_by(|a, b| a.p.total_cmp(&b.p));
        if let Some(nearest) = nearest {
            lines.push(format!(
                "{} of {} {what}; the nearest: {}",
                of_kind.len(),
                nearest.tests,
                nearest.text
            ));
        }
    }
    lines.extend(insights.not_compared.iter().cloned());
    lines
}
