//! Which projects' facts count.

/// Which projects' facts are looked at; those that belong to none always are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProjectScope {
    /// Only facts of no project.
    #[default]
    General,
    /// Those of this project too.
    Project(String),
    /// Those of every project too.
    All,
}

impl ProjectScope {
    /// Returns the one project that is named.
    pub(crate) fn project(&self) -> Option<&str> {
        match self {
            Self::Project(name) => Some(name),
            Self::General | Self::All => None,
        }
    }
}
