//! `annals plan`

use clap::Args;
use serde_json::json;

use crate::cli::completion::phases;
use crate::cli::output::Output;
use crate::cli::text::text;
use crate::error::Result;
use crate::lifecycle;
use crate::patterns::{PatternOutcome, PlanRef, RelevantPattern};
use crate::project::Project;

/// Maximum length of a lesson in the brief, in characters: half a lesson would mislead, so a longer one is left out.
const LESSON: usize = 320;

/// Print the brief for a phase: goal, relevant lessons, risky files, open plans
///
/// Its goal and requirements, the relevant patterns, and problems that keep its plans from being executed
/// as they are. Without PHASE, the current phase. Brings CLAUDE.md up to date.
///
/// Example: annals plan 4
#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// The phase's number
    #[arg(add = phases())]
    phase: Option<String>,
}

pub(crate) fn run(args: &PlanArgs, project: &Project, out: &mut Output) -> Result<()> {
    let phase = args.phase.as_deref().map(str::parse).transpose()?;
    let done = lifecycle::plan(project, phase.as_ref())?;
    out.warnings(&done.warnings);
    let brief = &done.value;
    let (known, lines): (Vec<&RelevantPattern>, Vec<String>) =
        brief.know.iter().filter_map(|pattern| Some((pattern, lesson(pattern)?))).unzip();
    // Each lesson is printed once.
    let mut lessons: Vec<Option<&str>> = Vec::new();
    for file in &brief.careful {
        let lesson = file.lesson.as_deref().filter(|lesson| {
            let is_short = lesson.chars().count() + file.file.chars().count() < LESSON - 40;
            let is_known = known.iter().any(|pattern| pattern.is_same_lesson(lesson));
            is_short && !is_known && !lessons.contains(&Some(*lesson))
        });
        lessons.push(lesson);
    }
    let last = |plans: &[PlanRef]| plans.last().map(PlanRef::short);
    // Numbering continues across milestones: phase 8 may be one of three.
    let of = usize::try_from(brief.phase.ordinal()).is_ok_and(|number| number <= brief.total);
    let more = json!({
        "of": of,
        "known": lines,
        "careful_lessons": lessons,
        "last_plans": brief.careful.iter().map(|file| last(&file.plans)).collect::<Vec<_>>(),
    });
    out.show_until(&done, &more, text!("workflow/plan"), done.refusal())
}

/// Returns a line with the lesson, its outcome, its source, and why it may be stale.
fn lesson(pattern: &RelevantPattern) -> Option<String> {
    let outcome = match pattern.outcome {
        PatternOutcome::Worked => "worked: ",
        PatternOutcome::Failed => "failed: ",
        PatternOutcome::Noted => "",
    };
    let mut line = format!("{outcome}{}", pattern.with_reference());
    if let Some(reason) = &pattern.stale {
        line.push_str(&format!(" [possibly stale: {reason}]"));
    }
    (line.chars().count() <= LESSON).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_is_whole_and_says_where_it_is_from() {
        let pattern = |text: &str| RelevantPattern {
            text: text.to_owned(),
            outcome: PatternOutcome::Failed,
            source: "Phase 1: First".to_owned(),
            line: 1,
            judged: false,
            reference: Some("phase 1".to_owned()),
            score: 0.5,
            stale: Some("`a.rs` is gone".to_owned()),
        };
        assert_eq!(
            lesson(&pattern("`a.rs` needs the lock (plan 02)")).unwrap(),
            "failed: `a.rs` needs the lock (phase 1, plan 02) [possibly stale: `a.rs` is gone]"
        );
        assert_eq!(lesson(&pattern(&"word ".repeat(200))), None);
    }
}
