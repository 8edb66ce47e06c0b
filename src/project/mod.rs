//! Opens the project: root, planning layout, settings and where each value came from.
//!
//! Everything that the layers below the interfaces may know about the outside is passed in as an [`OpenRequest`]:
//! the working directory, the flags and the environment. [`Project::open`] turns it into the value that every
//! entry point of the library takes first.

mod dialect;
mod discovery;
mod environment;
#[cfg(test)]
pub(crate) mod fixture;
mod generation;
mod keys;
mod layout;
pub(crate) mod manifest;
mod open;
mod planning;
mod server_address;
mod settings;
mod sources;
pub(crate) mod vocabulary;

pub use dialect::LayoutName;
pub use environment::Environment;
pub(crate) use environment::{CLAUDE_FOLDER, CLAUDE_FOLDER_VARIABLE};
pub use keys::KeyScope;
pub use layout::{CommandSection, Commands, GeneratedSection, Layout};
pub use open::{OpenRequest, Project};
pub use planning::Planning;
pub(crate) use planning::confine;
pub(crate) use server_address::{EXAMPLE as SERVER_ADDRESS_EXAMPLE, ServerAddress};
pub use settings::{
    ContextTarget, EmbeddingEndpoint, FactSettings, Fusion, Llm, MAX_LINES, Origin, SessionClient,
    Setting, Settings, Share,
};
