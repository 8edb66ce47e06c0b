//! Lists entries from INDEX.md, without opening their files.

use serde::Serialize;

use crate::error::Result;
use crate::knowledge::index::IndexRow;
use crate::knowledge::{EntryFilter, EntryType, KnowledgeDir, index};
use crate::project::Project;
use crate::storage::read;
use crate::warning::{Parsed, Warning};

/// An entry in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedEntry {
    /// Its key.
    pub key: String,
    /// Its title.
    pub title: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Option<EntryType>,
    /// The date of the last update.
    pub updated: Option<String>,
}

/// The selected entries, sorted by key. It is the document of `annals entry list --json`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EntryListing {
    /// The entries.
    pub entries: Vec<ListedEntry>,
}

/// Lists the entries in INDEX.md; if it cannot be used, they are read from their files.
pub fn list(project: &Project, filter: &EntryFilter) -> Result<Parsed<EntryListing>> {
    let is_meant = |row: &IndexRow| {
        let kind = EntryType::from_any_case(&row.kind);
        filter.selects(&row.tags, kind, row.is_active())
    };
    Ok(rows(project)?.map(|rows| EntryListing {
        entries: rows.into_iter().filter(is_meant).map(from_row).collect(),
    }))
}

fn from_row(row: IndexRow) -> ListedEntry {
    ListedEntry {
        kind: EntryType::from_any_case(&row.kind),
        updated: Some(row.updated).filter(|day| !day.is_empty()),
        key: row.key,
        title: row.title,
    }
}

fn rows(project: &Project) -> Result<Parsed<Vec<IndexRow>>> {
    let place = KnowledgeDir::in_project(project);
    let path = place.index();
    let mut warnings = Vec::new();
    let text = read::text(&path)?.map(|text| text.into_value(&mut warnings));
    if let Some(rows) = text.as_deref().and_then(index::parse) {
        let value = rows;
        return Ok(Parsed { value, warnings });
    }
    let mut rows = index::all(&place)?;
    rows.value.sort_by(|a, b| a.key.cmp(&b.key));
    if !rows.value.is_empty() || text.is_some() {
        let why = match text {
            Some(_) => "contains no table of entries",
            None => "is missing",
        };
        let message = format!("{why}; listed from the entries, `annals entry audit` rebuilds it");
        rows.warnings.push(Warning::file(&path, message));
    }
    rows.warnings.extend(warnings);
    Ok(rows)
}
