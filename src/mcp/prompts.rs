//! Prompts that a person picks in the client.

use rmcp::model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::facts;
use crate::facts::{Facts, Purpose, Turn, TurnStatus};
use crate::mcp::arguments::{Arguments, NoArguments};
use crate::project::Project;
use crate::text::sanitized;

/// One prompt.
struct PromptSpec {
    name: &'static str,
    description: &'static str,
    /// Its arguments, all optional, as names and descriptions.
    arguments: &'static [(&'static str, &'static str)],
    text: fn(Result<Project>, Arguments) -> Result<String>,
}

const PROMPTS: &[PromptSpec] = &[
    PromptSpec {
        name: "update-memory",
        description: "Bring the repo ledger up to date with the commits since its anchor",
        arguments: &[],
        text: update_memory,
    },
    PromptSpec {
        name: "memory-auditor",
        description: "Judge what a turn says about the user against the known facts",
        arguments: &[
            ("turn_id", "a queued turn; default: the oldest pending one"),
            ("user_input", "what the user said, for a turn that is not queued"),
        ],
        text: memory_auditor,
    },
];

const UPDATE_MEMORY: &str = "\
Bring the repo ledger in docs/memory up to date.

1. Run `annals ledger pending --json` (or the tool ledger_pending). It gives the commits that are not \
covered yet, the specs and plans they touch, the three files as they are, and the schema of an update.
2. Log only what changes interfaces, storage, workflow, security, performance trade-offs, dependencies, \
deployment or what users see. Leave refactors, renames, lint and trivial bumps out. Every decision names \
its evidence: a commit, a pull request or a file.
3. Write one update document and pass it to `annals ledger update` (or the tool ledger_update). It is \
applied whole or refused with every problem at once; fix the document and repeat.
4. If `pending` says that commits remain, repeat from 1.
5. Finish with `annals ledger check`.";

/// Returns all prompts.
pub(crate) fn list() -> Vec<Prompt> {
    PROMPTS.iter().map(PromptSpec::to_prompt).collect()
}

impl PromptSpec {
    fn to_prompt(&self) -> Prompt {
        let arguments: Vec<_> = self
            .arguments
            .iter()
            .map(|(name, description)| {
                PromptArgument::new(*name).with_description(*description).with_required(false)
            })
            .collect();
        let arguments = Some(arguments).filter(|arguments| !arguments.is_empty());
        Prompt::new(self.name, Some(self.description), arguments)
    }
}

/// Returns the text of a prompt; `project` is the session's project, if there is one.
pub(crate) fn get(
    name: &str,
    arguments: Arguments,
    project: Result<Project>,
) -> Result<GetPromptResult> {
    let prompt = PROMPTS.iter().find(|prompt| prompt.name == name);
    let prompt = prompt.ok_or_else(|| Error::not_found(format!("there is no prompt {name:?}")))?;
    let text = (prompt.text)(project, arguments)?;
    let message = PromptMessage::new_text(Role::User, sanitized(&text));
    Ok(GetPromptResult::new(vec![message]).with_description(prompt.description))
}

fn update_memory(_: Result<Project>, arguments: Arguments) -> Result<String> {
    let NoArguments {} = arguments.read()?;
    Ok(UPDATE_MEMORY.to_owned())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AuditArguments {
    turn_id: Option<String>,
    user_input: Option<String>,
}

/// Returns the auditor's prompt, preceded by what happens to the answer, since an agent reads it instead of a worker.
fn memory_auditor(project: Result<Project>, arguments: Arguments) -> Result<String> {
    let arguments: AuditArguments = arguments.read()?;
    let project = project?;
    let user = facts::user(&project, None)?;
    let mut store = Facts::open(&project, None, Purpose::Read)?;
    let (turn, head) = match (arguments.turn_id, arguments.user_input) {
        (Some(_), Some(_)) => {
            return Err(Error::usage("pass either turn_id or user_input, not both"));
        }
        (None, Some(input)) => {
            (Turn::unqueued(&store, &user, &input), UNQUEUED_INTRODUCTION.to_owned())
        }
        (Some(id), None) => queued_turn(facts::find_turn(&store, &user, &id)?),
        (None, None) => {
            let turns = facts::turns(&store, &user)?;
            let pending = turns.into_iter().find(|turn| turn.status == TurnStatus::Pending);
            queued_turn(pending.ok_or_else(|| {
                Error::not_found(format!("{user} has no pending turn"))
                    .hint("pass what the user said as user_input")
            })?)
        }
    };
    let prompt = facts::prompt(&mut store, &turn, &facts::embedder(&project)?)?;
    Ok(format!("{head}\n\n{prompt}"))
}

const UNQUEUED_INTRODUCTION: &str = "\
Follow the instructions below. The turn is not queued: queue it with `annals facts observe`, then pass the \
answer to the tool fact_apply, or to `annals facts turns --apply`, with the turn_id that it prints.";

fn queued_turn(turn: Turn) -> (Turn, String) {
    let head = format!(
        "Follow the instructions below, then pass the answer to the tool fact_apply, or to `annals facts turns --apply`, \
         with the turn_id {:?}.",
        turn.turn_id
    );
    (turn, head)
}
