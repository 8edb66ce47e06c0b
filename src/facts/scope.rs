//! Selects facts by project.

/// The projects whose facts are included; facts without a project always are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProjectScope {
    /// Only facts without a project.
    #[default]
    General,
    /// Also facts of this project.
    Project(String),
    /// Also facts of every project.
    All,
}

impl ProjectScope {
    /// Returns the project, if exactly one is selected.
    pub(crate) fn project(&self) -> Option<&str> {
        match self {
            Self::Project(name) => Some(name),
            Self::General | Self::All => None,
        }
    }
}
