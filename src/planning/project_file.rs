//! PROJECT.md: what the project is, and what it must do.

use serde::Serialize;

use crate::planning::Decision;

/// The requirements by where they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Requirements {
    /// Shipped and confirmed.
    pub validated: Vec<String>,
    /// Being worked towards.
    pub active: Vec<String>,
    /// Left out on purpose.
    pub out_of_scope: Vec<String>,
}

/// PROJECT.md as read.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProjectFile {
    /// The project's name.
    pub name: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// What it is for, above all.
    pub core_value: Option<String>,
    /// What it must do.
    pub requirements: Requirements,
    /// What it must live with.
    pub constraints: Vec<String>,
    /// The key decisions, in file order.
    pub decisions: Vec<Decision>,
}
