//! The results of a staleness check: the document of `patterns check --json`.

use chrono::NaiveDate;
use serde::Serialize;

use crate::patterns::{Mention, PathForm, Rate};

/// The results of a staleness check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Staleness {
    /// The result for each text, in input order.
    pub entries: Vec<Freshness>,
    /// The parts that were not checked, and why.
    pub skipped: Option<String>,
}

/// The result of checking one text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Freshness {
    /// The text's identifier.
    pub id: String,
    /// Line number of its start, from 1.
    pub line: usize,
    /// Whether a path it mentions was moved or removed, or the structure has changed.
    pub is_stale: bool,
    /// The reasons, one line each.
    pub reasons: Vec<String>,
    /// The paths it mentions, in order.
    pub paths: Vec<PathReport>,
    /// The tree then and now; `None` if history does not reach back to the text.
    pub structure: Option<Structure>,
}

/// A path that a text mentions, with its status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathReport {
    /// The path, relative to the project if it is inside.
    pub path: String,
    /// The path as written in the text.
    #[serde(skip)]
    pub(crate) written: String,
    /// Its status.
    pub status: PathStatus,
    /// Its new path, if it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The commit that moved or removed it; `None` if that is uncommitted or unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<CommitRef>,
    /// The paths that it may stand for, if it is ambiguous.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub homes: Vec<String>,
}

/// The status of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PathStatus {
    /// It exists.
    Ok,
    /// It was moved.
    Moved,
    /// It no longer exists.
    Gone,
    /// Several paths match it.
    Ambiguous,
    /// It is outside of the project, so it was not checked.
    Outside,
}

impl PathReport {
    /// Returns the report on a path that exists; `written` is the path as written in the text.
    pub(crate) fn new(written: &str, mention: &Mention) -> Self {
        let slash = if mention.form == PathForm::Folder { "/" } else { "" };
        Self {
            path: format!("{}{slash}", mention.path),
            written: written.to_owned(),
            status: PathStatus::Ok,
            to: None,
            since: None,
            homes: Vec::new(),
        }
    }

    /// Returns why this path makes a text stale; `None` if it does not.
    pub(crate) fn reason(&self) -> Option<String> {
        let since = match &self.since {
            Some(CommitRef { commit, date: Some(date) }) => format!(" since {commit}, {date}"),
            Some(CommitRef { commit, date: None }) => format!(" since {commit}"),
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

/// A commit and its date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommitRef {
    /// The abbreviated commit hash.
    pub commit: String,
    /// Its date, in UTC.
    pub date: Option<NaiveDate>,
}

/// The changes to a project's tree since a commit. Top-level files and folders whose names begin with a dot
/// are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Structure {
    /// The commit that the current tree is compared with.
    pub since: CommitRef,
    /// The share of the old files that still exist under the same path.
    pub files: Rate,
    /// The share of the old folders that still exist.
    pub folders: Rate,
    /// Always false: the figures are exact.
    pub is_estimated: bool,
    /// Added manifests.
    pub manifests_added: Vec<String>,
    /// Removed manifests.
    pub manifests_removed: Vec<String>,
    /// Added dependencies.
    pub dependencies_added: Vec<String>,
    /// Removed dependencies.
    pub dependencies_removed: Vec<String>,
    /// The frameworks among the added and removed dependencies.
    pub frameworks: Vec<String>,
    /// Whether less than half of the files or folders survives, or a framework was added or removed.
    pub has_changed: bool,
}

impl Structure {
    /// Returns what has changed, with figures; `None` if the structure has not changed enough.
    pub fn reason(&self) -> Option<String> {
        if !self.has_changed {
            return None;
        }
        let mut parts = Vec::new();
        for (rate, what) in [(self.files, "files"), (self.folders, "folders")] {
            if rate.count * 2 < rate.of {
                let percent = rate.percent().unwrap_or_default();
                parts.push(format!("{} of {} {what} ({percent} %) remain", rate.count, rate.of));
            }
        }
        for framework in &self.frameworks {
            let is_added = self.dependencies_added.contains(framework);
            parts.push(format!("{framework} {}", if is_added { "added" } else { "removed" }));
        }
        let CommitRef { commit, date } = &self.since;
        let date = date.map(|date| format!(", {date}")).unwrap_or_default();
        Some(format!("structure changed since {commit}{date}: {}", parts.join(", ")))
    }
}
