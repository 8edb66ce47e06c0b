//! Opens the project: root, planning layout, settings and where each value came from.
//!
//! Everything that the layers below the interfaces may know about the outside is passed in as an [`OpenRequest`]:
//! the working directory, the flags and the environment. [`Project::open`] turns it into the value that every
//! entry point of the library takes first.

#[cfg(test)]
pub(crate) mod fixture;
mod layout;
pub(crate) mod manifest;
mod open;
mod settings;
mod sources;
pub(crate) mod vocabulary;

pub use layout::{CommandSection, Commands, GeneratedSection, Layout, LayoutName};
pub(crate) use open::{CLAUDE_FOLDER, CLAUDE_FOLDER_VARIABLE, confine};
pub use open::{Environment, OpenRequest, Planning, Project};
pub use settings::{
    ContextTarget, EmbeddingEndpoint, FactSettings, Fusion, KeyScope, MAX_LINES, Origin,
    SessionClient, Setting, Settings, Share,
};
pub(crate) use settings::{EXAMPLE as SERVER_ADDRESS_EXAMPLE, ServerAddress};
