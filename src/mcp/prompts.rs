//! Prompts that a person picks in the client.

use rmcp::model::GetPromptResult;
use rmcp::model::Prompt;
use rmcp::model::PromptMessage;
use rmcp::model::Role;

use crate::error::Error;
use crate::error::Result;

struct Known {
    name: &'static str,
    about: &'static str,
    text: &'static str,
}

const PROMPTS: &[Known] = &[Known {
    name: "update-memory",
    about: "Bring the repo ledger up to date with the commits since its anchor",
    text: "\
Bring the repo ledger in docs/memory up to date.

1. Run `annals ledger pending --json` (or the tool ledger_pending). It gives the commits that are not \
covered yet, the specs and plans they touch, the three files as they are, and the schema of an update.
2. Log only what changes interfaces, storage, workflow, security, performance trade-offs, dependencies, \
deployment or what users see. Leave refactors, renames, lint and trivial bumps out. Every decision names \
its evidence: a commit, a pull request or a file.
3. Write one update document and hand it to `annals ledger update` (or the tool ledger_update). It is \
applied whole or refused with every problem at once; mend the document and repeat.
4. Where `pending` says that commits remain, repeat from 1.
5. Finish with `annals ledger check`.",
}];

/// Returns the prompts that there are.
pub(crate) fn listed() -> Vec<Prompt> {
    PROMPTS
        .iter()
        .map(|prompt| Prompt::new(prompt.name, Some(prompt.about), None))
        .collect()
}

/// Returns one prompt's text.
pub(crate) fn named(name: &str) -> Result<GetPromptResult> {
    let prompt = PROMPTS.iter().find(|prompt| prompt.name == name);
    let prompt = prompt.ok_or_else(|| Error::not_found(format!("there is no prompt {name:?}")))?;
    let message = PromptMessage::new_text(Role::User, prompt.text);
    Ok(GetPromptResult::new(vec![message]).with_description(prompt.about))
}
