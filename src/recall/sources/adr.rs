//! Reads the project's decision records, one numbered file per decision, as written by adr-tools and MADR.
//!
//! ```text
//! .adr-dir                         names their folder; default: the first of the usual ones that exists
//! docs/decisions/0007-use-sqlite.md
//! ```
//!
//! They are only read, never written.

use std::path::{Component, Path, PathBuf};

use crate::clock::parse_date;
use crate::markdown::{FrontMatter, Outline};
use crate::project::Project;
use crate::recall::flags::{Flag, Flags};
use crate::recall::markdown_file::{Authority, flag, passages};
use crate::recall::sources::plan::is_markdown;
use crate::recall::sources::{Source, SourceName};
use crate::search::index::Passage;
use crate::storage::stat::PathKind;
use crate::storage::{Boundary, listing, read};

/// Folders searched for records if `.adr-dir` does not name one.
const FOLDERS: &[&str] = &[
    "doc/adr",
    "docs/adr",
    "docs/adrs",
    "docs/decisions",
    "doc/architecture/decisions",
    "docs/architecture/decisions",
];

/// Prefixes of a status that marks a decision as no longer valid; adr-tools writes "superceded".
const ENDED_STATUSES: &[&str] = &["supersed", "superced", "deprecated", "rejected"];

/// The decision records.
pub(crate) struct Adr;

impl Source for Adr {
    fn name(&self) -> SourceName {
        SourceName::Adr
    }

    fn files(&self, project: &Project) -> Vec<PathBuf> {
        let Some(folder) = folder(project) else {
            return Vec::new();
        };
        // A folder that cannot be listed is treated as empty.
        let listed = listing::entries(&folder).unwrap_or_default().into_iter();
        let records =
            listed.filter(|(name, kind)| *kind == PathKind::File && number(name).is_some());
        let files = records.map(|(name, _)| folder.join(name));
        Boundary::within_limit(&folder, files.filter(|file| is_markdown(file)).collect())
    }

    fn passages(&self, text: &str, path: &Path) -> Vec<Passage> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let day = text.lines().find_map(|line| line.strip_prefix("Date:"));
        let day = day.and_then(|day| parse_date(day.trim()));
        let is_superseded = is_superseded(text, path);
        let mut found = passages(text, path, Authority::Canonical);
        for passage in &mut found {
            passage.id = number(&name).map(str::to_owned);
            passage.date = passage.date.or(day);
            let flags = Flags::from_bits(passage.flags);
            if is_superseded && flags == Flags::default() {
                flag(passage, flags.with(Flag::Superseded, true));
            }
        }
        found
    }
}

fn folder(project: &Project) -> Option<PathBuf> {
    let named = read::text(&project.root.join(".adr-dir")).ok().flatten();
    let named = named.map(|text| PathBuf::from(text.value.trim()));
    let is_inside = |path: &PathBuf| {
        let mut parts = path.components();
        parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    };
    let mut candidates = named
        .into_iter()
        .filter(is_inside)
        .chain(FOLDERS.iter().map(PathBuf::from))
        .map(|path| project.root.join(path));
    candidates.find(|folder| read::is_folder(folder))
}

/// Returns the digits at the start of a record's name; templates and index files have none.
fn number(name: &str) -> Option<&str> {
    let end = name.find(|c: char| !c.is_ascii_digit())?;
    (end > 0 && name[end..].starts_with('-')).then(|| &name[..end])
}

/// Returns whether the record's status, in a field or a section, marks the decision as no longer valid.
fn is_superseded(text: &str, path: &Path) -> bool {
    let is_ended = |status: &str| {
        let status = status.trim().to_lowercase();
        ENDED_STATUSES.iter().any(|word| status.starts_with(word))
    };
    let front = FrontMatter::parse(text, path).value;
    if let Some(status) = front.text(&["status"]) {
        return is_ended(status);
    }
    let outline = Outline::parse(text, front.range.end);
    let mut sections = outline.sections().iter();
    let status = sections.find(|section| section.title.eq_ignore_ascii_case("status"));
    status.is_some_and(|section| text[section.own.clone()].lines().any(is_ended))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_its_number_and_is_superseded_by_its_status() {
        let read = |text: &str| {
            let found = Adr.passages(text, Path::new("docs/adr/0007-use-sqlite.md"));
            let last = found.into_iter().next_back().unwrap();
            let day = last.date.map(|day| day.to_string());
            (last.id.unwrap(), day, Flags::from_bits(last.flags).list().count())
        };
        let nygard = "# 7. Use SQLite\n\nDate: 2026-02-01\n\n## Status\n\nAccepted\n\n## Context\n\nOne machine.\n";
        let day = Some("2026-02-01".to_owned());
        assert_eq!(read(nygard), ("0007".to_owned(), day.clone(), 0));
        let over =
            nygard.replace("Accepted", "Accepted\n\nSuperceded by [9. Files](0009-files.md)");
        assert_eq!(read(&over), ("0007".to_owned(), day.clone(), 1));
        let madr = "---\nstatus: superseded by ADR-0009\ndate: 2026-02-01\n---\n# Use SQLite\n\nOne machine.\n";
        assert_eq!(read(madr), ("0007".to_owned(), day, 1));
    }

    #[test]
    fn only_numbered_files_are_records() {
        assert_eq!(number("0001-record-decisions.md"), Some("0001"));
        assert_eq!(number("2026-02-01-use-sqlite.md"), Some("2026"));
        for other in ["README.md", "template.md", "adr-template.md", "7", ""] {
            assert_eq!(number(other), None, "{other}");
        }
    }
}
