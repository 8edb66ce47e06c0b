//! Tools on plans and on where the work stands.

use serde::Deserialize;
use serde_json::json;

use crate::error::Result;
use crate::lifecycle;
use crate::lifecycle::{ExecuteReport, ExecuteRequest};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::{Arguments, NoArguments};
use crate::mcp::tools::{Effect, Tool, ToolSet};
use crate::patterns::SubmittedLessons;
use crate::plan::{PhaseNumber, StatusReport, Survey};
use crate::project::Project;

pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "status",
        set: ToolSet::Default,
        description: "Where the planned work stands, the next action with its evidence, drift, blockers. Use before planning or continuing work.",
        properties: || json!({}),
        required: &[],
        effect: Effect::ReadOnly,
        call: status,
    },
    Tool {
        name: "plan_brief",
        set: ToolSet::Plan,
        description: "What to know before planning a phase: goal, requirements, relevant patterns, files to be careful with. Use before writing plans.",
        properties: || json!({"phase": {"type": "string", "description": "e.g. 3 or 05.1; default: the current phase"}}),
        required: &[],
        effect: Effect::ReadOnly,
        call: plan_brief,
    },
    Tool {
        name: "record_phase",
        set: ToolSet::Plan,
        description: "Record what a finished phase taught in PATTERNS.md, once; with `lessons`, in your words: at most 3 worked and 3 failed, each a whole sentence of at most 160 characters with its plans or files. Use when all plans of a phase have summaries.",
        properties: || {
            let lesson = json!({"type": "array", "items": {"type": "object", "properties": {
                "text": {"type": "string"},
                "plans": {"type": "array", "items": {"type": "string"}},
                "files": {"type": "array", "items": {"type": "string"}},
            }, "required": ["text"]}});
            json!({
                "phase": {"type": "string", "description": "default: the latest complete one"},
                "lessons": {"type": "object", "properties": {"worked": lesson, "failed": lesson}},
            })
        },
        required: &[],
        effect: Effect::Idempotent,
        call: record_phase,
    },
];

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

fn status(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let NoArguments {} = arguments.read()?;
    let survey = Survey::read(project)?;
    let mut report = StatusReport::from_survey(project, &survey);
    report.add_metric_drift(project, &survey);
    ToolAnswer::json("annals status", &report)
}

/// The command also brings CLAUDE.md up to date; a tool that reads must not.
fn plan_brief(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
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

fn record_phase(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
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
