//! Holds the environment variables as a map, since code below the interfaces must not read them from the system.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The name of Claude Code's folder, in a project and in the home directory.
pub(crate) const CLAUDE_FOLDER: &str = ".claude";

/// The environment variable that moves Claude Code's folder out of the home directory.
pub(crate) const CLAUDE_FOLDER_VARIABLE: &str = "CLAUDE_CONFIG_DIR";

/// The environment of this run, as passed in by the interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Returns the environment with these variables; invalid UTF-8 is replaced, not dropped.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let text = |os: OsString| os.to_string_lossy().into_owned();
        variables.into_iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    /// Returns a variable's value; an empty one counts as unset.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns the names of all variables, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the home directory.
    pub fn home(&self) -> Option<PathBuf> {
        self.absolute("HOME")
    }

    /// Returns the directory of the user's configuration.
    pub fn config_dir(&self) -> Option<PathBuf> {
        self.base("XDG_CONFIG_HOME", ".config")
    }

    /// Returns the directory of the user's data, which is shared by all projects.
    pub fn data_dir(&self) -> Option<PathBuf> {
        self.base("XDG_DATA_HOME", ".local/share")
    }

    /// Returns the directory of the user's caches.
    pub fn cache_dir(&self) -> Option<PathBuf> {
        self.base("XDG_CACHE_HOME", ".cache")
    }

    fn base(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        self.absolute(variable)
            .or_else(|| self.home().map(|home| home.join(below_home)))
            .map(|base| base.join("annals"))
    }

    /// The XDG base directory specification requires relative paths to be ignored.
    fn absolute(&self, variable: &str) -> Option<PathBuf> {
        self.get(variable).map(Path::new).filter(|path| path.is_absolute()).map(Path::to_owned)
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn the_config_directory_follows_xdg_and_falls_back_to_home() {
        let config = |variables: &[_]| environment(variables).config_dir();
        assert_eq!(
            config(&[("HOME", "/users/ada"), ("XDG_CONFIG_HOME", "/etc/ada")]),
            Some(PathBuf::from("/etc/ada/annals"))
        );
        for ignored in ["", "relative/path"] {
            assert_eq!(
                config(&[("HOME", "/users/ada"), ("XDG_CONFIG_HOME", ignored)]),
                Some(PathBuf::from("/users/ada/.config/annals")),
                "{ignored:?}"
            );
        }
        assert_eq!(config(&[]), None);
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        let environment = environment(&[("ANNALS_TARGETS", "")]);
        assert_eq!(environment.get("ANNALS_TARGETS"), None);
    }
}
