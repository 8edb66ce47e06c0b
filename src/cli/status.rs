//! `annals status`

use clap::Args;
use serde_json::json;

use crate::cli::output::{Output, status_style};
use crate::cli::text::text;
use crate::context;
use crate::error::Result;
use crate::patterns::sentences;
use crate::plan::{Drift, PausedWork, StatusReport, Survey};
use crate::project::Project;
use crate::text::clip;

/// Maximum length of the core value, in characters; a sentence within the limit is not truncated.
const CORE_VALUE: usize = 320;

/// Show where the work stands and what comes next
///
/// Without a planning folder, says what is remembered. With one, worked out from the files: phase folders, plans and summaries first, ROADMAP.md and STATE.md
/// where they know more. Statements in these two that contradict the files are listed as drift;
/// missing, duplicate or inconsistent items as findings.
///
/// Example: annals status --json | jq .next
#[derive(Args, Debug)]
pub(crate) struct StatusArgs {}

pub(crate) fn run(_: &StatusArgs, project: &Project, out: &mut Output) -> Result<()> {
    out.paint(status_style);
    if project.planning().is_err() && project.settings.planning_dir.is_none() {
        let found = context::overview(project)?;
        out.warnings(&found.warnings);
        out.interrupted(project)?;
        return out.show(&found, text!("overview"));
    }
    let survey = Survey::read(project)?;
    let mut report = StatusReport::from_survey(project, &survey);
    report.add_metric_drift(project, &survey);
    if !out.is_json() {
        out.warnings(&report.warnings);
    }
    out.interrupted(project)?;
    // A whole value, else its first sentence.
    let purpose = report.core_value.as_deref().map(|value| {
        let first = sentences(value).into_iter().next().unwrap_or(value);
        clip(if value.chars().count() > CORE_VALUE { first } else { value }, CORE_VALUE)
    });
    let more = json!({
        "purpose": purpose,
        "milestone_name": report.milestone.display_name(),
        "remark": report.stated_remark(),
        "contest": report.next.contest(),
        "paused_line": report.paused.as_ref().map(PausedWork::line),
        "sentences": report.drift.iter().map(Drift::sentence).collect::<Vec<String>>(),
    });
    out.show_with(&report, &more, text!("status"))
}
