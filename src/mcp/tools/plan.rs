//! Tools on plans and on where the work stands.

use serde::Deserialize;

use crate::error::Result;
use crate::lifecycle;
use crate::lifecycle::{ExecuteReport, ExecuteRequest};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::{Arguments, NoArguments};
use crate::patterns::SubmittedLessons;
use crate::plan::{PhaseNumber, StatusReport, Survey};
use crate::project::Project;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PhaseArgument {
    phase: Option<String>,
}

impl PhaseArgument {
    fn number(&self) -> Result<Option<PhaseNumber>> {
        self.phase.as_deref().map(str::parse).transpose()
    }
}

pub(crate) fn status(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let NoArguments {} = arguments.read()?;
    let survey = Survey::read(project)?;
    let mut report = StatusReport::from_survey(project, &survey);
    report.add_metric_drift(project, &survey);
    ToolAnswer::json("annals status", &report)
}

/// The command also brings CLAUDE.md up to date; a tool that reads must not.
pub(crate) fn plan_brief(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let phase = arguments.read::<PhaseArgument>()?.number()?;
    let brief = lifecycle::plan(&project.dry_run(true), phase.as_ref())?;
    ToolAnswer::json("annals plan", &brief)
}

/// A phase, and the lessons of the agent that worked on it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordArguments {
    phase: Option<String>,
    lessons: Option<SubmittedLessons>,
}

pub(crate) fn record_phase(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let RecordArguments { phase, lessons } = arguments.read::<RecordArguments>()?;
    let request = ExecuteRequest {
        phase: PhaseArgument { phase }.number()?,
        lessons,
        ..ExecuteRequest::default()
    };
    let done = lifecycle::execute(project, &request)?;
    let ExecuteReport { recorded, judged, already, .. } = &done.value;
    let mut said = Vec::new();
    for (what, phases) in
        [("Recorded", recorded), ("Lessons replaced", judged), ("Already recorded", already)]
    {
        if !phases.is_empty() {
            said.push(format!("{what}: {}.", phases.join(", ")));
        }
    }
    said.extend(done.next.map(|next| format!("Next: {next}.")));
    Ok(ToolAnswer::text(format!("{}\n", said.join(" "))))
}
