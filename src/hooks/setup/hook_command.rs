//! The commands of ours among the hooks of a harness's JSON settings.

use jsonc_parser::cst::CstInputValue;
use jsonc_parser::cst::CstNode;
use jsonc_parser::cst::CstObject;
use jsonc_parser::cst::CstStringLit;
use jsonc_parser::json;
use serde_json::Value;

use crate::error::Result;
use crate::hooks::harness::HarnessProfile;
use crate::hooks::harness::Hook;
use crate::hooks::setup::command::Command;
use crate::hooks::setup::json::JsonDocument;

/// The member that holds the hooks.
pub(crate) const HOOKS: &str = "hooks";

/// A command of ours as it was found.
pub(crate) struct HookCommand {
    /// The event on which it is called.
    pub(crate) event: String,
    /// What it calls, such as `session-start`.
    pub(crate) call: String,
    program: String,
    arguments: String,
    /// The command's text.
    literal: CstStringLit,
    /// What goes when it goes: its group, where nothing else is in it.
    node: CstNode,
}

impl HookCommand {
    /// Returns the commands of ours, in the order of the text; what has another shape is somebody else's.
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

    /// Returns whether two call the same on the same event.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.event == other.event && self.call == other.call
    }

    /// Returns the command with its event, as the report names it.
    pub(crate) fn line(&self) -> String {
        format!("{}: {} {}", self.event, self.program, self.arguments)
    }

    /// Returns whether the call leaves the notepad out.
    pub(crate) fn leaves_notepad_out(&self) -> bool {
        let mut words = self.arguments.split_whitespace();
        words.any(|word| word == "--no-notepad")
    }

    /// Gives the command other arguments, and leaves it alone where it has them.
    pub(crate) fn set_arguments(&self, arguments: &str) {
        if self.arguments != arguments {
            let command = Value::from(format!("{} {arguments}", self.program));
            self.literal.set_raw_value(command.to_string());
        }
    }

    /// Gives the command the text of another.
    pub(crate) fn set_text_of(&self, other: &Self) {
        self.literal.set_raw_value(other.literal.raw_value());
    }

    /// Takes the command out, with what is empty then and was not there before we came.
    pub(crate) fn remove(self, document: &JsonDocument, before: Option<&CstObject>) -> Result<()> {
        self.node.remove();
        if let Some(hooks) = document.object(HOOKS)? {
            remove_empty(&hooks, &self.event, before);
        }
        Ok(())
    }
}

/// Takes an empty array out, unless it was there before we came.
fn remove_empty(object: &CstObject, name: &str, before: Option<&CstObject>) {
    let was_there = before.is_some_and(|before| before.get(name).is_some());
    if let Some(member) = object.get(name)
        && member
            .array_value()
            .is_some_and(|array| array.elements().is_empty())
        && !was_there
    {
        member.remove();
    }
}

/// Returns a hook as the harness reads it: a group of commands with one matcher.
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
