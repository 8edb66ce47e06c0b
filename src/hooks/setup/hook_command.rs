//! Finds and edits our commands among the hooks of a harness's JSON settings.

use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstStringLit};
use jsonc_parser::json;
use serde_json::Value;

use crate::error::Result;
use crate::hooks::harness::{HarnessProfile, Hook};
use crate::hooks::setup::command::Command;
use crate::hooks::setup::json::JsonDocument;

/// The key of the hooks.
pub(crate) const HOOKS: &str = "hooks";

/// One of our commands in the settings.
pub(crate) struct HookCommand {
    /// The event that triggers the command.
    pub(crate) event: String,
    /// The subcommand, such as `session-start`.
    pub(crate) call: String,
    program: String,
    arguments: String,
    /// The string literal of the command.
    literal: CstStringLit,
    /// The node to remove with the command: its group, if that contains nothing else.
    node: CstNode,
}

impl HookCommand {
    /// Returns our commands, in order of appearance; anything with another structure is not ours.
    pub(crate) fn all(profile: &HarnessProfile, document: &JsonDocument) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        let Some(hooks) = document.object(HOOKS)? else {
            return Ok(all);
        };
        for member in hooks.properties() {
            let (Some(event), Some(groups)) = (member.decoded_name(), member.array_value()) else {
                continue;
            };
            for group in groups.elements() {
                all.extend(Self::in_group(profile, &event, &group));
            }
        }
        Ok(all)
    }

    fn in_group(profile: &HarnessProfile, event: &str, group: &CstNode) -> Vec<Self> {
        let commands = group.as_object().and_then(|group| group.array_value(HOOKS));
        let commands = commands.map_or(Vec::new(), |commands| commands.elements());
        let is_alone = commands.len() == 1;
        let ours = commands.into_iter().filter_map(|node| {
            let literal = node.as_object()?.get("command")?.value()?.as_string_lit()?;
            let text = literal.decoded_value().ok()?;
            let command = Command::parse(&text)?;
            profile.writes(event, command.call).then(|| Self {
                event: event.to_owned(),
                call: command.call.to_owned(),
                program: command.program.to_owned(),
                arguments: command.arguments.to_owned(),
                node: if is_alone { group.clone() } else { node },
                literal,
            })
        });
        ours.collect()
    }

    /// Returns whether two commands have the same subcommand and event.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.event == other.event && self.call == other.call
    }

    /// Returns the command with its event, as displayed in the report.
    pub(crate) fn line(&self) -> String {
        format!("{}: {} {}", self.event, self.program, self.arguments)
    }

    /// Returns whether the command leaves out the notepad.
    pub(crate) fn leaves_notepad_out(&self) -> bool {
        let mut words = self.arguments.split_whitespace();
        words.any(|word| word == "--no-notepad")
    }

    /// Replaces the arguments of the command if they differ.
    pub(crate) fn set_arguments(&self, arguments: &str) {
        if self.arguments != arguments {
            let command = Value::from(format!("{} {arguments}", self.program));
            self.literal.set_raw_value(command.to_string());
        }
    }

    /// Sets the command to the text of another.
    pub(crate) fn set_text_of(&self, other: &Self) {
        self.literal.set_raw_value(other.literal.raw_value());
    }

    /// Removes the command, and the arrays that become empty unless they existed before setup.
    pub(crate) fn remove(self, document: &JsonDocument, before: Option<&CstObject>) -> Result<()> {
        self.node.remove();
        if let Some(hooks) = document.object(HOOKS)? {
            remove_empty(&hooks, &self.event, before);
        }
        Ok(())
    }
}

/// Removes an empty array, unless it existed before setup.
fn remove_empty(object: &CstObject, name: &str, before: Option<&CstObject>) {
    let was_there = before.is_some_and(|before| before.get(name).is_some());
    if let Some(member) = object.get(name)
        && member.array_value().is_some_and(|array| array.elements().is_empty())
        && !was_there
    {
        member.remove();
    }
}

/// Returns a hook in the harness's format: a group of commands with one matcher.
pub(crate) fn group(hook: &Hook, command: &str) -> CstInputValue {
    let call = json!({
        "type": "command",
        "command": command,
        "timeout": (hook.timeout)
    });
    match hook.matcher {
        Some(matcher) => json!({ "matcher": matcher, "hooks": [(call)] }),
        None => json!({ "hooks": [(call)] }),
    }
}
