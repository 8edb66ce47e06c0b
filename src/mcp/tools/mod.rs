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
    /// Whether a client receives it only on request, because each tool costs tokens in every session.
    #[serde(default)]
    is_extra: bool,
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
        let is_personal = matches!(&*self.name, "fact_add" | "memory_write");
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
            "record_phase" => calls::record_phase,
            "entry_read" => calls::entry_read,
            "entry_write" => calls::entry_write,
            "notepad_write" => calls::notepad_write,
            "fact_add" => calls::fact_add,
            "fact_retrieve" => calls::fact_retrieve,
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

/// Returns the default tools, or all of them.
fn enabled(all: bool) -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter().filter(move |tool| all || !tool.is_extra)
}

/// Returns the default tools, or all of them, as listed to a client.
pub(crate) fn list(all: bool) -> Vec<rmcp::model::Tool> {
    enabled(all).map(Tool::to_rmcp).collect()
}

/// Returns the tool of this name.
pub(crate) fn find(name: &str, all: bool) -> Result<&'static Tool> {
    enabled(all).find(|tool| tool.name == name).ok_or_else(|| {
        let known: Vec<&str> = enabled(all).map(|tool| tool.name.as_str()).collect();
        Error::not_found(format!("there is no tool {name:?}"))
            .hint(format!("the available tools are {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Mode;
    use crate::knowledge::EntryType;
    use crate::knowledge::notepad::NotepadSection;
    use crate::recall::SourceName;

    #[test]
    fn the_words_that_a_tool_takes_are_those_of_the_store() {
        let words = |tool: &str, pointer: &str| {
            let tool = find(tool, true).unwrap();
            json!(tool.properties).pointer(pointer).unwrap()["enum"].clone()
        };
        assert_eq!(words("recall", "/in/items"), json!(SourceName::ALL.map(SourceName::as_str)));
        assert_eq!(words("memory_search", "/mode"), json!(Mode::ALL.map(Mode::as_str)));
        assert_eq!(words("entry_write", "/type"), json!(EntryType::ALL.map(EntryType::as_str)));
        assert_eq!(
            words("notepad_write", "/section"),
            json!(NotepadSection::ALL.map(NotepadSection::as_str))
        );
    }

    #[test]
    fn every_tool_has_a_function() {
        let without: Vec<&str> =
            TOOLS.iter().filter(|tool| tool.function().is_none()).map(|tool| &*tool.name).collect();
        assert!(without.is_empty(), "{without:?}");
    }
}
