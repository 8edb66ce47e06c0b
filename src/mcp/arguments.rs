//! Parses the arguments of a call.

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Result};

/// The argument of every tool: the folder of the project.
pub(crate) const PROJECT: &str = "project";

/// The arguments of one call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    /// The folder that the call names.
    pub(crate) project: Option<String>,
    fields: JsonObject,
}

/// The arguments of a tool without arguments.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoArguments {}

impl Arguments {
    /// Separates the arguments for every tool from those for this one.
    pub(crate) fn from_object(object: Option<JsonObject>) -> Result<Self> {
        let mut fields = object.unwrap_or_default();
        let project = match fields.remove(PROJECT) {
            None | Some(Value::Null) => None,
            Some(Value::String(folder)) => Some(folder),
            Some(_) => return Err(Error::usage("project must be the path of a folder")),
        };
        Ok(Self { project, fields })
    }

    /// Reads the tool's own arguments; an unknown one is an error.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<T> {
        serde_json::from_value(self.non_null_fields())
            .map_err(|error| Error::usage(format!("invalid arguments: {error}")))
    }

    /// Returns the tool's own arguments as JSON, for a store that reads its input itself.
    pub(crate) fn json(self) -> Vec<u8> {
        self.non_null_fields().to_string().into_bytes()
    }

    /// Models often send null for omitted arguments.
    fn non_null_fields(self) -> Value {
        let fields = self.fields.into_iter().filter(|(_, value)| !value.is_null());
        Value::Object(fields.collect())
    }
}
