//! `annals plan`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::completion::phases;
use crate::cli::output::Output;
use crate::error::Result;
use crate::lifecycle;
use crate::lifecycle::{
    CarefulFile, CommandOutcome, Dependency, DeviationRate, InsightBrief, PhaseBrief, PhaseShape,
    PlanBrief,
};
use crate::patterns::{PatternOutcome, PlanRef, Rate, RelevantPattern};
use crate::plan::{PlanState, Requirement};
use crate::project::Project;
use crate::text::{clip, one_line, quantity};
use crate::warning::Warning;

/// Maximum width of a line of the brief.
const WIDTH: usize = 160;

/// Maximum width of a line with a lesson, its outcome and its source, none of them truncated.
const LESSON_WIDTH: usize = 320;

/// Maximum percentage of deviating plans that is worth a line.
const MAX_TELLING_PERCENT: usize = 80;

/// Print the brief for a phase: goal, relevant lessons, risky files, open plans
///
/// Its goal and requirements, the relevant patterns, and problems that keep its plans from being executed
/// as they are. Without PHASE, the current phase. Brings CLAUDE.md up to date.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals plan 4")]
pub(crate) struct PlanArgs {
    /// The phase's number
    #[arg(value_name = "PHASE", add = phases())]
    phase: Option<String>,
}

pub(crate) fn run(args: &PlanArgs, project: &Project, out: &mut Output) -> Result<()> {
    let phase = args.phase.as_deref().map(str::parse).transpose()?;
    let done = lifecycle::plan(project, phase.as_ref())?;
    out.warnings(&done.warnings);
    out.result_until(&done, show, done.refusal())
}

/// Prints the brief. The command is not run for its changes: a diff comes last, and context files are not
/// listed.
fn show(done: &CommandOutcome<PhaseBrief>, to: &mut dyn Write) -> io::Result<()> {
    let brief = &done.value;
    heading(brief, to)?;
    list("Requirements", &requirements(&brief.requirements), 5, to)?;
    list("Done when", &brief.success_criteria, 5, to)?;
    print_lines("Noted for this phase", &brief.notes, 5, LESSON_WIDTH, to)?;
    let known = brief.know.iter();
    let (shown, know): (Vec<&RelevantPattern>, Vec<String>) =
        known.filter_map(|pattern| Some((pattern, lesson_line(pattern)?))).unzip();
    print_lines("What to know", &know, 5, LESSON_WIDTH, to)?;
    let mut shown_with_files: Vec<&str> = Vec::new();
    let careful = brief.careful.iter().map(|file| {
        let lesson = file.lesson.as_deref().filter(|lesson| {
            let is_shown = shown.iter().any(|pattern| pattern.is_same_lesson(lesson));
            !is_shown && !shown_with_files.contains(lesson)
        });
        let line = careful(file, lesson);
        shown_with_files.extend(lesson.filter(|lesson| line.ends_with(lesson)));
        line
    });
    let careful: Vec<String> = careful.collect();
    print_lines("Files to be careful with", &careful, 5, LESSON_WIDTH, to)?;
    rate(brief.rate, to)?;
    let insights: Vec<String> = brief.insights.iter().map(insight).collect();
    print_lines("What the history shows", &insights, 5, LESSON_WIDTH, to)?;
    let similar: Vec<String> = brief.similar.iter().map(shape).collect();
    print_lines("Phases like this one", &similar, 3, LESSON_WIDTH, to)?;
    list("Plans", &plans(&brief.plans), 5, to)?;
    problems(&brief.problems, to)?;
    if let Some(diff) = done.diff.as_ref().filter(|diff| !diff.is_empty()) {
        return write!(to, "{diff}");
    }
    if let Some(next) = &done.next {
        writeln!(to, "Next: {next}")?;
    }
    match &brief.contested {
        Some(contest) => writeln!(to, "Contested: {contest}"),
        None => Ok(()),
    }
}

fn heading(brief: &PhaseBrief, to: &mut dyn Write) -> io::Result<()> {
    let name =
        brief.name.as_ref().map(|name| format!(": {}", clip(name, WIDTH))).unwrap_or_default();
    // Numbering continues across milestones: phase 8 may be one of three.
    let of = usize::try_from(brief.phase.ordinal()).is_ok_and(|number| number <= brief.total);
    let of = if of { format!(" of {}", brief.total) } else { String::new() };
    writeln!(to, "Phase {}{of}{name} ({})", brief.phase, brief.status)?;
    let goal = brief.goal.as_deref().unwrap_or("not stated in ROADMAP.md");
    writeln!(to, "Goal: {}", clip(goal, 3 * WIDTH))?;
    if !brief.depends_on.is_empty() {
        let phases: Vec<String> = brief.depends_on.iter().map(dependency).collect();
        writeln!(to, "Builds on: {}", clip(&phases.join(", "), WIDTH))?;
    }
    Ok(())
}

/// Prints how many finished plans of the project deviated. Prints nothing if no summary mentions deviations, or if
/// nearly all plans deviated: if every detail is recorded, the rate is not a warning.
fn rate(rate: DeviationRate, to: &mut dyn Write) -> io::Result<()> {
    let Rate { count, of } = rate.deviated;
    if of == 0 || count * 100 > of * MAX_TELLING_PERCENT {
        return Ok(());
    }
    let unreported = match rate.unreported {
        0 => String::new(),
        unreported => format!("; no mention in {}", quantity(unreported, "more summary")),
    };
    writeln!(
        to,
        "Of {} whose summary mentions deviations, {} deviated{unreported}.",
        quantity(of, "finished plan"),
        count
    )
}

/// Prints the problems of the plans; the heading names their common folder.
fn problems(problems: &[Warning], to: &mut dyn Write) -> io::Result<()> {
    let Some(folder) = problems.first().and_then(|first| first.place.file.parent()) else {
        return Ok(());
    };
    let short = |problem: &Warning| {
        let mut problem = problem.clone();
        if let Ok(file) = problem.place.file.strip_prefix(folder) {
            problem.place.file = file.to_owned();
        }
        problem.to_string()
    };
    let lines: Vec<String> = problems.iter().map(short).collect();
    list(&format!("Problems in {}", folder.display()), &lines, 8, to)
}

/// Prints a heading and the first `most` lines under it; nothing if there are none.
fn list(heading: &str, lines: &[String], most: usize, to: &mut dyn Write) -> io::Result<()> {
    print_lines(heading, lines, most, WIDTH, to)
}

/// Prints a list as [`list`] does, with another maximum line width.
fn print_lines(
    heading: &str,
    lines: &[String],
    most: usize,
    width: usize,
    to: &mut dyn Write,
) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(to, "{heading}:")?;
    // A line "1 more" takes as much space as the line it replaces.
    let shown = if lines.len() > most { most - 1 } else { lines.len() };
    for line in &lines[..shown] {
        let line = one_line(line);
        writeln!(to, "  - {}", clip(&line, width))?;
    }
    match lines.len() - shown {
        0 => Ok(()),
        more => writeln!(to, "  - … {more} more (--json)"),
    }
}

/// Returns a line per requirement, and one for all ids without a text.
fn requirements(requirements: &[Requirement]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut bare = Vec::new();
    for requirement in requirements {
        match (&requirement.id, &requirement.text) {
            (Some(id), Some(text)) => lines.push(format!("{id}: {text}")),
            (None, Some(text)) => lines.push(text.clone()),
            (Some(id), None) => bare.push(id.as_str()),
            (None, None) => {}
        }
    }
    if !bare.is_empty() {
        lines.push(format!("{} (not in REQUIREMENTS.md)", bare.join(", ")));
    }
    lines
}

/// Returns a line with the lesson, its outcome, its source, and why it may be stale.
///
/// Returns `None` if that does not fit, since half a lesson would mislead.
fn lesson_line(pattern: &RelevantPattern) -> Option<String> {
    let outcome = match pattern.outcome {
        PatternOutcome::Worked => "worked: ",
        PatternOutcome::Failed => "failed: ",
        PatternOutcome::Noted => "",
    };
    let stale = pattern
        .stale
        .as_ref()
        .map(|reason| format!(" [possibly stale: {reason}]"))
        .unwrap_or_default();
    let line = format!("{outcome}{}{stale}", pattern.with_reference());
    (line.chars().count() <= LESSON_WIDTH).then_some(line)
}

/// Returns a line with the number of plans that deviated over a file, the last of them, and the lesson if it
/// fits; `lesson` is `None` if it was printed before.
fn careful(file: &CarefulFile, lesson: Option<&str>) -> String {
    let last = file.plans.last().map(PlanRef::short).unwrap_or_default();
    let plans = match file.plans.len() {
        1 => format!("plan {last}"),
        many => format!("{many} plans, last {last}"),
    };
    let head = format!("{} ({plans})", file.file);
    let with_lesson = lesson.map(|lesson| format!("{head}: {lesson}"));
    with_lesson.filter(|line| line.chars().count() <= LESSON_WIDTH).unwrap_or(head)
}

/// Returns a line with a difference between plans, and the open plans that fall under it.
fn insight(insight: &InsightBrief) -> String {
    let open: Vec<String> = insight.open_plans.iter().map(ToString::to_string).collect();
    let open =
        if open.is_empty() { String::new() } else { format!(" (open: {})", open.join(", ")) };
    format!("{}{open}", insight.statement)
}

/// Returns a line about a finished phase: `phase 3 Lists: 4 plans of 2-3 tasks and 3-7 files; 1 of 4 deviated`.
fn shape(shape: &PhaseShape) -> String {
    let range = |sizes: Option<[u32; 2]>, one: &str| {
        sizes.map(|[from, to]| {
            if from == to { quantity(to as usize, one) } else { format!("{from}-{to} {one}s") }
        })
    };
    let sizes: Vec<String> =
        [range(shape.tasks, "task"), range(shape.files, "file")].into_iter().flatten().collect();
    let of = if sizes.is_empty() { String::new() } else { format!(" of {}", sizes.join(" and ")) };
    let rates = [(shape.deviated, "deviated"), (shape.completed, "completed")];
    let known = rates.into_iter().filter(|(rate, _)| rate.of > 0);
    let went: Vec<String> =
        known.map(|(rate, verb)| format!("{} of {} {verb}", rate.count, rate.of)).collect();
    let went = if went.is_empty() { String::new() } else { format!("; {}", went.join(", ")) };
    let milestone = shape.milestone.as_ref().map(|slug| format!("{slug} ")).unwrap_or_default();
    format!(
        "{milestone}phase {} {}: {}{of}{went}",
        shape.phase,
        shape.name,
        quantity(shape.plans, "plan")
    )
}

fn dependency(dependency: &Dependency) -> String {
    let status =
        dependency.status.as_ref().map(|status| format!(" ({status})")).unwrap_or_default();
    format!("phase {}{status}", dependency.phase)
}

/// Returns a line per plan; if there are many, a single line for all complete ones.
fn plans(plans: &[PlanBrief]) -> Vec<String> {
    const MANY: usize = 5;
    if plans.len() <= MANY {
        return plans.iter().map(plan).collect();
    }
    let (complete, rest): (Vec<_>, Vec<_>) =
        plans.iter().partition(|plan| plan.status == PlanState::Complete);
    let numbers: Vec<String> = complete.iter().map(|plan| plan.plan.to_string()).collect();
    let complete = (!numbers.is_empty()).then(|| format!("complete: {}", numbers.join(", ")));
    complete.into_iter().chain(rest.into_iter().map(plan)).collect()
}

/// Returns a line about a plan: `02 open: Warn, wave 2 after 01, 4 tasks, 6 files`.
fn plan(plan: &PlanBrief) -> String {
    let mut parts = Vec::new();
    if let Some(wave) = plan.wave {
        let after = plan.depends_on.join(", ");
        let after = if after.is_empty() { after } else { format!(" after {after}") };
        parts.push(format!("wave {wave}{after}"));
    }
    for (number, one) in [(plan.tasks, "task"), (plan.files.len(), "file")] {
        if number > 0 {
            parts.push(quantity(number, one));
        }
    }
    let title = plan.title.as_ref().map(|title| format!(": {title}")).unwrap_or_default();
    let facts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
    format!("{} {}{title}{facts}", plan.plan, plan.status.as_str())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::plan::PlanNumber;

    fn endless_pattern(long: &str) -> RelevantPattern {
        RelevantPattern {
            text: long.to_owned(),
            outcome: PatternOutcome::Failed,
            source: "Phase 1: First".to_owned(),
            line: 1,
            judged: false,
            reference: None,
            score: 0.5,
            stale: Some("`a.rs` is gone".to_owned()),
        }
    }

    fn endless_plan(long: &str) -> PlanBrief {
        PlanBrief {
            plan: PlanNumber::parse("1").unwrap(),
            title: Some(long.to_owned()),
            status: PlanState::Open,
            wave: Some(1),
            depends_on: Vec::new(),
            tasks: 1,
            files: Vec::new(),
        }
    }

    /// A brief with more of everything than fits.
    fn endless() -> PhaseBrief {
        let long = "word ".repeat(200);
        PhaseBrief {
            phase: "2.1".parse().unwrap(),
            total: 90,
            name: Some(long.clone()),
            status: "in progress".to_owned(),
            goal: Some(long.clone()),
            requirements: vec![
                Requirement {
                    id: Some("REQ-1".to_owned()),
                    text: Some(long.clone()),
                };
                90
            ],
            success_criteria: vec![long.clone(); 90],
            depends_on: vec![Dependency { phase: "1".parse().unwrap(), status: None }; 90],
            notes: vec![long.clone(); 90],
            know: vec![endless_pattern(&long); 90],
            rate: DeviationRate::default(),
            insights: Vec::new(),
            similar: Vec::new(),
            careful: vec![
                CarefulFile {
                    file: "a.rs".to_owned(),
                    plans: vec![PlanRef {
                        milestone: "default".to_owned(),
                        phase: "1".parse().unwrap(),
                        plan: PlanNumber::parse("1").unwrap(),
                    }],
                    lesson: Some(long.clone()),
                };
                90
            ],
            plans: vec![endless_plan(&long); 90],
            problems: vec![Warning::file(Path::new("p/01-PLAN.md"), long); 90],
            contested: None,
        }
    }

    fn outcome(brief: PhaseBrief) -> CommandOutcome<PhaseBrief> {
        CommandOutcome {
            value: brief,
            next: Some("/vbw:plan 2.1".to_owned()),
            contested: None,
            context: None,
            changed: Vec::new(),
            diff: None,
            warnings: Vec::new(),
        }
    }

    #[test]
    fn a_brief_is_short_enough_to_be_read_whatever_there_is() {
        let mut page = Vec::new();
        show(&outcome(endless()), &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(page.lines().count() <= 60, "{page}");
        let longest = page.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= 3 * WIDTH + "Goal: ".len(), "{longest}: {page}");
        // Neither lesson is truncated: one that does not fit is left out.
        assert!(!page.contains("What to know"), "{page}");
        assert!(page.contains("  - a.rs (plan 1-01)\n"), "{page}");
    }

    #[test]
    fn a_rate_that_nearly_all_plans_share_is_left_out() {
        let line = |count, of, unreported| {
            let mut page = Vec::new();
            let deviated = Rate { count, of };
            rate(DeviationRate { deviated, unreported }, &mut page).unwrap();
            String::from_utf8(page).unwrap()
        };
        let deviated = "Of 20 finished plans whose summary mentions deviations, 16 deviated";
        assert_eq!(line(16, 20, 0), format!("{deviated}.\n"));
        assert_eq!(line(16, 20, 3), format!("{deviated}; no mention in 3 more summaries.\n"));
        assert_eq!(line(17, 20, 3), "");
        assert_eq!(line(0, 0, 3), "");
    }

    #[test]
    fn a_lesson_is_printed_once() {
        let mut brief = endless();
        let lesson = "`a.rs` holds its lock until the writer is dropped";
        brief.know = vec![RelevantPattern {
            stale: None,
            ..endless_pattern(&format!("{lesson}. Fix: drop it (plan 02)"))
        }];
        brief.careful = vec![brief.careful.remove(0); 3];
        brief.careful[0].lesson = Some(lesson.to_owned());
        brief.careful[1].lesson = Some("`b.rs` reads the whole file".to_owned());
        brief.careful[2].lesson = brief.careful[1].lesson.clone();
        let mut page = Vec::new();
        show(&outcome(brief), &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert_eq!(page.matches(lesson).count(), 1, "{page}");
        let files = "Files to be careful with:\n  - a.rs (plan 1-01)\n\
                     \x20 - a.rs (plan 1-01): `b.rs` reads the whole file\n  - a.rs (plan 1-01)\n";
        assert!(page.contains(files), "{page}");
    }

    #[test]
    fn a_lesson_is_whole_and_says_where_it_is_from() {
        let text = "`a.rs` needs the lock (plan 02)";
        let pattern = RelevantPattern {
            text: text.to_owned(),
            reference: Some("phase 1".to_owned()),
            ..endless_pattern(text)
        };
        assert_eq!(
            lesson_line(&pattern).unwrap(),
            "failed: `a.rs` needs the lock (phase 1, plan 02) [possibly stale: `a.rs` is gone]"
        );
        assert_eq!(lesson_line(&endless_pattern(&"word ".repeat(200))), None);
    }
}
