//! The tools: one row each, calling the function that the command line calls.

mod facts;
mod knowledge;
mod ledger;
mod memory;
mod plan;

use rmcp::model::{JsonObject, ToolAnnotations};
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::{Arguments, PROJECT};
use crate::project::Project;

/// The set of tools that a client receives: a few by default, because each costs tokens in every session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSet {
    /// The default tools.
    Default,
    /// More on plans: the brief of a phase, recording it.
    Plan,
    /// The repo ledger.
    Ledger,
    /// Facts about the user.
    Facts,
}

impl ToolSet {
    /// All sets besides the default one.
    pub const OPTIONAL: [Self; 3] = [Self::Plan, Self::Ledger, Self::Facts];
}

/// The effect of a tool on the project, which clients check before they let a model call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Writes nothing but caches.
    ReadOnly,
    /// Adds something; a repeated call adds it again.
    Append,
    /// Writes something; a repeated call has no further effect.
    Idempotent,
}

/// One tool.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) set: ToolSet,
    /// Its purpose, and when to use it.
    pub(crate) description: &'static str,
    /// The properties of its arguments, as JSON Schema has them.
    pub(crate) properties: fn() -> Value,
    pub(crate) required: &'static [&'static str],
    pub(crate) effect: Effect,
    pub(crate) call: fn(&Project, Arguments) -> Result<ToolAnswer>,
}

/// Every tool, in the order in which they are listed.
const TOOLS: &[&[Tool]] =
    &[memory::TOOLS, plan::TOOLS, knowledge::TOOLS, facts::TOOLS, ledger::TOOLS];

impl Tool {
    /// Returns whether a call changes the project; facts and the journal are the user's own.
    pub(crate) fn writes_in_project(&self) -> bool {
        let is_personal = matches!(self.name, "fact_add" | "fact_apply" | "memory_write");
        self.effect != Effect::ReadOnly && !is_personal
    }

    fn to_rmcp(&self) -> rmcp::model::Tool {
        let mut properties = match (self.properties)() {
            Value::Object(properties) => properties,
            _ => JsonObject::new(),
        };
        properties.insert(PROJECT.to_owned(), json!({"type": "string"}));
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), json!(self.required));
        }
        let hints = ToolAnnotations::new()
            .read_only(self.effect == Effect::ReadOnly)
            .destructive(false)
            .idempotent(self.effect != Effect::Append)
            .open_world(false);
        rmcp::model::Tool::new(self.name, self.description, schema).with_annotations(hints)
    }
}

/// Returns the default tools and the tools of these sets.
fn enabled(sets: &[ToolSet]) -> impl Iterator<Item = &'static Tool> {
    TOOLS
        .iter()
        .copied()
        .flatten()
        .filter(move |tool| tool.set == ToolSet::Default || sets.contains(&tool.set))
}

/// Returns the tools of these sets, as listed to a client.
pub(crate) fn list(sets: &[ToolSet]) -> Vec<rmcp::model::Tool> {
    enabled(sets).map(Tool::to_rmcp).collect()
}

/// Returns the tool of this name.
pub(crate) fn find(name: &str, sets: &[ToolSet]) -> Result<&'static Tool> {
    enabled(sets).find(|tool| tool.name == name).ok_or_else(|| {
        let known: Vec<&str> = enabled(sets).map(|tool| tool.name).collect();
        Error::not_found(format!("there is no tool {name:?}"))
            .hint(format!("the available tools are {}", known.join(", ")))
    })
}
