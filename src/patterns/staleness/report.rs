//! What a check for staleness found: the document of `patterns check --json`.

use serde::Deserialize;
use serde::Serialize;

use crate::patterns::Mention;
use crate::patterns::PathForm;
use crate::patterns::staleness::structure::Since;
use crate::patterns::staleness::structure::Structure;

/// What still holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staleness {
    /// Each text, in the order in which they came.
    pub entries: Vec<Freshness>,
    /// What could not be checked, and why.
    pub skipped: Option<String>,
}

/// What still holds of one text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freshness {
    /// What it is known by.
    pub id: String,
    /// The line at which it begins, counted from 1.
    pub line: usize,
    /// Whether a path it names is elsewhere or gone, or the structure has changed.
    pub is_stale: bool,
    /// Why, one line each.
    pub reasons: Vec<String>,
    /// The paths it names, in order.
    pub paths: Vec<PathReport>,
    /// The tree then and now; nothing where history does not reach there.
    pub structure: Option<Structure>,
}

/// A path that a text names, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathReport {
    /// The path, as named.
    pub path: String,
    /// What became of it.
    pub status: PathStatus,
    /// Where it is now, if it moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The commit that moved or removed it; nothing where that is not committed, or not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Since>,
    /// Where it may be, if the name alone does not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub homes: Vec<String>,
}

/// What became of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathStatus {
    /// It is there.
    Ok,
    /// It is elsewhere.
    Moved,
    /// It is not there any more.
    Gone,
    /// Several have this name.
    Ambiguous,
    /// It is not the project's, so that nothing can be said.
    Outside,
}

impl PathReport {
    pub(crate) fn new(mention: &Mention, status: PathStatus) -> Self {
        let slash = if mention.form == PathForm::Folder {
            "/"
        } else {
            ""
        };
        Self {
            path: format!("{}{slash}", mention.path),
            status,
            to: None,
            since: None,
            homes: Vec::new(),
        }
    }

    /// Returns why this path makes a text stale; nothing where it does not.
    pub(crate) fn reason(&self) -> Option<String> {
        let since = match &self.since {
            Some(Since {
                commit,
                date: Some(date),
            }) => format!(" since {commit}, {date}"),
            Some(Since { commit, date: None }) => format!(" since {commit}"),
            None => String::new(),
        };
        match self.status {
            PathStatus::Moved => {
                let to = self.to.as_deref().unwrap_or_default();
                Some(format!("`{}` moved to `{to}`{since}", self.path))
            }
            PathStatus::Gone => Some(format!("`{}` is gone{since}", self.path)),
            PathStatus::Ok | PathStatus::Ambiguous | PathStatus::Outside => None,
        }
    }
}

impl Freshness {
    pub(crate) fn reasons(&self) -> Vec<String> {
        let paths = self.paths.iter().filter_map(PathReport::reason);
        let structure = self.structure.iter().filter_map(Structure::reason);
        paths.chain(structure).collect()
    }
}
