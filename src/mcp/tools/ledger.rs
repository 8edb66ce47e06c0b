//! Tools on the repo ledger.

use serde::Deserialize;
use serde_json::Value;

use crate::error::Result;
use crate::ledger;
use crate::ledger::UpdateResult;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::{Arguments, NoArguments};
use crate::project::Project;
use crate::secrets::SecretPolicy;

/// Number of days of decisions in a brief.
const BRIEF_DAYS: u64 = 7;

/// Default number of commits in a batch.
const DEFAULT_MAX_COMMITS: usize = 50;

pub(crate) fn brief(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let NoArguments {} = arguments.read()?;
    ToolAnswer::json("annals ledger brief", &ledger::brief(project, BRIEF_DAYS)?)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PendingArguments {
    max_commits: Option<usize>,
}

pub(crate) fn pending(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let arguments: PendingArguments = arguments.read()?;
    let max_commits = arguments.max_commits.unwrap_or(DEFAULT_MAX_COMMITS);
    ToolAnswer::json("annals ledger pending", &ledger::pending(project, max_commits, false)?)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UpdateArguments {
    document: Value,
}

pub(crate) fn update(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let update: UpdateArguments = arguments.read()?;
    let text = update.document.to_string();
    let report = ledger::update(project, &text, SecretPolicy::Refuse)?;
    let changed: Vec<String> =
        report.changed.iter().map(|path| path.display().to_string()).collect();
    Ok(ToolAnswer::text(match report.outcome {
        UpdateResult::AlreadyApplied => "Already applied; nothing changed.\n".to_owned(),
        UpdateResult::Applied => format!("Updated {}.\n", changed.join(", ")),
    }))
}
