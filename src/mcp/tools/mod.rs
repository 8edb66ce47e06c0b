//! The tools: `templates/mcp/tools.json` describes them to clients, and each calls the function that the command line
//! calls.

mod calls;

use std::sync::LazyLock;

use rmcp::model::{JsonObject, ToolAnnotations};
use serde::Deserialize;
use serde_json::json;

use crate::error::{Error, Result};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::{Arguments, PROJECT};
use crate::project::Project;
use crate::text::word_enum;

word_enum! {
    /// The set of tools that a client receives: a few by default, because each costs tokens in every session.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    pub enum ToolSet {
        /// The default tools.
        Default = "default",
        /// More on plans: the brief of a phase, recording it.
        Plan = "plan",
        /// The repo ledger.
        Ledger = "ledger",
        /// Facts about the user.
        Facts = "facts",
    }
}

impl ToolSet {
    /// All sets besides the default one.
    pub const OPTIONAL: [Self; 3] = [Self::Plan, Self::Ledger, Self::Facts];
}

/// The effect of a tool on the project, which clients check before they let a model call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Effect {
    /// Writes nothing but caches.
    ReadOnly,
    /// Adds something; a repeated call adds it again.
    Append,
    /// Writes something; a repeated call has no further effect.
    Idempotent,
}

/// One tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    name: String,
    set: ToolSet,
    effect: Effect,
    /// Its purpose, and when to use it.
    description: String,
    /// The properties of its arguments, as JSON Schema has them.
    pub(crate) properties: JsonObject,
    required: Vec<String>,
}

/// Every tool, in the order in which they are listed.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let table = include_str!("../../../templates/mcp/tools.json");
    serde_json::from_str(table).expect("the built-in table")
});

impl Tool {
    /// Returns whether a call changes the project; facts and the journal are the user's own.
    pub(crate) fn writes_in_project(&self) -> bool {
        let is_personal = matches!(&*self.name, "fact_add" | "fact_apply" | "memory_write");
        self.effect != Effect::ReadOnly && !is_personal
    }

    /// Returns the function that answers a call; every tool of the table has one.
    pub(crate) fn function(&self) -> Option<fn(&Project, Arguments) -> Result<ToolAnswer>> {
        Some(match &*self.name {
            "recall" => calls::recall_hits,
            "context" => calls::context_text,
            "memory_write" => calls::memory_write,
            "memory_search" => calls::memory_search,
            "status" => calls::status,
            "plan_brief" => calls::plan_brief,
            "record_phase" => calls::record_phase,
            "entry_read" => calls::entry_read,
            "entry_write" => calls::entry_write,
            "notepad_write" => calls::notepad_write,
            "fact_add" => calls::fact_add,
            "fact_retrieve" => calls::fact_retrieve,
            "fact_pending" => calls::fact_pending,
            "fact_apply" => calls::fact_apply,
            "ledger_brief" => calls::ledger_brief,
            "ledger_pending" => calls::ledger_pending,
            "ledger_update" => calls::ledger_update,
            _ => return None,
        })
    }

    fn to_rmcp(&'static self) -> rmcp::model::Tool {
        let mut properties = self.properties.clone();
        properties.insert(PROJECT.to_owned(), json!({"type": "string"}));
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), json!(properties));
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), json!(self.required));
        }
        let hints = ToolAnnotations::new()
            .read_only(self.effect == Effect::ReadOnly)
            .destructive(false)
            .idempotent(self.effect != Effect::Append)
            .open_world(false);
        rmcp::model::Tool::new(self.name.as_str(), self.description.as_str(), schema)
            .with_annotations(hints)
    }
}

/// Returns the default tools and the tools of these sets.
fn enabled(sets: &[ToolSet]) -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter().filter(move |tool| tool.set == ToolSet::Default || sets.contains(&tool.set))
}

/// Returns the tools of these sets, as listed to a client.
pub(crate) fn list(sets: &[ToolSet]) -> Vec<rmcp::model::Tool> {
    enabled(sets).map(Tool::to_rmcp).collect()
}

/// Returns the tool of this name.
pub(crate) fn find(name: &str, sets: &[ToolSet]) -> Result<&'static Tool> {
    enabled(sets).find(|tool| tool.name == name).ok_or_else(|| {
        let known: Vec<&str> = enabled(sets).map(|tool| tool.name.as_str()).collect();
        Error::not_found(format!("there is no tool {name:?}"))
            .hint(format!("the available tools are {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ActionType;
    use crate::journal::Mode;
    use crate::knowledge::EntryType;
    use crate::knowledge::notepad::NotepadSection;
    use crate::recall::SourceName;

    #[test]
    fn the_words_that_a_tool_takes_are_those_of_the_store() {
        let words = |tool: &str, pointer: &str| {
            let tool = find(tool, &ToolSet::OPTIONAL).unwrap();
            json!(tool.properties).pointer(pointer).unwrap()["enum"].clone()
        };
        assert_eq!(words("recall", "/in/items"), json!(SourceName::ALL.map(SourceName::as_str)));
        assert_eq!(words("memory_search", "/mode"), json!(Mode::ALL.map(Mode::as_str)));
        assert_eq!(words("entry_write", "/type"), json!(EntryType::ALL.map(EntryType::as_str)));
        assert_eq!(
            words("notepad_write", "/section"),
            json!(NotepadSection::ALL.map(NotepadSection::as_str))
        );
        let actions = words("fact_apply", "/actions/items/properties/type");
        assert_eq!(actions, json!(ActionType::ALL.map(ActionType::as_str)));
    }

    #[test]
    fn every_tool_has_a_function() {
        let without: Vec<&str> =
            TOOLS.iter().filter(|tool| tool.function().is_none()).map(|tool| &*tool.name).collect();
        assert!(without.is_empty(), "{without:?}");
    }
}
