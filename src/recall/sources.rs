//! The stores of a project: where the texts of each are, and how they are read.
//!
//! `recall`, `audit`, the command line and the MCP tools all use this list. A session digest has
//! its own list, ordered by importance and not by store.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::clock::parse_date;
use crate::error::Result;
use crate::knowledge::{Entry, KnowledgeDir};
use crate::markdown::{FrontMatter, Node};
use crate::patterns::Patterns;
use crate::plan::PlanningFolder;
use crate::project::{ContextTarget, LayoutName, Project, vocabulary};
use crate::recall::markdown::{Authority, passages};
use crate::search::index::Passage;
use crate::storage::read::PathKind;
use crate::storage::{Boundary, listing, read};
use crate::text::{clip, join, lower_words, slashed, word_enum};
use crate::{journal, knowledge, ledger, patterns};

word_enum! {
    /// The name of a store in queries and output, in display order.
    pub enum SourceName {
        /// The planning folder, the context files and the README.
        Plan = "plan",
        /// Lessons from finished phases.
        Patterns = "patterns",
        /// The knowledge entries and the notepad.
        Entries = "entries",
        /// The repository's ledger.
        Ledger = "ledger",
        /// The journal.
        Journal = "journal",
        /// The user's facts.
        Facts = "facts",
        /// Sessions with coding agents, from the transcripts that the clients keep.
        Sessions = "sessions",
    }
}

/// Last words of the names of files whose text is valid until it is changed; sorted.
const CANONICAL_NAMES: &[&str] = &[
    "AGENTS", "ARCHITECTURE", "CLAUDE", "CONCERNS", "CONSTRAINTS", "CONTEXT", "CONVENTIONS",
    "DECISIONS", "GEMINI", "INDEX", "META", "MILESTONES", "PATTERNS", "PROJECT", "REQUIREMENTS",
    "ROADMAP", "SHIPPED", "STATE",
];

/// Those of them that say what was finished, and so stay valid in an archive.
const SHIPPED_NAMES: [&str; 2] = ["MILESTONES", "SHIPPED"];

/// What a project says of itself to those who come to it.
const README: &str = "README.md";

/// Maximum number of records; `journal search` searches all of them.
const MAX_RECORDS: usize = 2000;

/// Maximum total size of these records, in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Maximum length of the text searched of one record, in characters.
const MAX_RECORD_LENGTH: usize = 4000;

impl SourceName {
    /// Returns the files that may contain its texts; files that do not exist are ignored.
    pub(crate) fn files(self, project: &Project) -> Vec<PathBuf> {
        match self {
            Self::Plan => {
                let mut found = Vec::new();
                for folder in folders(project) {
                    let mut files = listing::below(&folder, &|name| !name.starts_with('.'));
                    let patterns_file = patterns::path(&folder);
                    files.retain(|file| is_markdown(file) && *file != patterns_file);
                    found.extend(Boundary::within_limit(&folder, files));
                }
                found.extend(ContextTarget::ALL.map(|target| project.root.join(target.file())));
                found.push(project.root.join(README));
                found
            }
            Self::Patterns => folders(project).iter().map(|dir| patterns::path(dir)).collect(),
            Self::Entries => {
                let dir = KnowledgeDir::in_project(project);
                let own = [dir.index(), dir.log()];
                let memory = dir.memory();
                let mut files = listing::entries(&memory).unwrap_or_default();
                files.retain(|(name, kind)| *kind == PathKind::File && is_markdown(name.as_ref()));
                let files = files.into_iter().map(|(name, _)| memory.join(name)).collect();
                let mut found = vec![dir.notepad()];
                found.extend(Boundary::within_limit(&memory, files));
                found.retain(|file| !own.contains(file));
                found
            }
            Self::Ledger => ledger::paths(project).to_vec(),
            // Without a home directory there is no journal.
            Self::Journal => journal::default_path(&project.environment).into_iter().collect(),
            Self::Facts | Self::Sessions => Vec::new(),
        }
    }

    /// Returns whether its texts are the user's own, and not the project's.
    pub(crate) fn is_users_own(self) -> bool {
        matches!(self, Self::Journal | Self::Facts | Self::Sessions)
    }

    /// Returns the files checked for secrets; these may be more than are searched.
    pub(crate) fn files_to_check_for_secrets(self, project: &Project) -> Vec<PathBuf> {
        let below = |folder: &Path| listing::below(folder, &|name| name != ".git");
        let active = &project.planning_place().dir;
        let patterns_file = patterns::path(active);
        match self {
            Self::Plan => {
                let mut files = below(active);
                files.retain(|file| *file != patterns_file);
                files
            }
            Self::Patterns => vec![patterns_file],
            // The log and the index contain text, too.
            Self::Entries => below(KnowledgeDir::in_project(project).root()),
            _ => self.files(project),
        }
    }

    /// Returns a file's text, or `None` if it is gone; of the journal, the newest records.
    pub(crate) fn read(self, path: &Path) -> Result<Option<String>> {
        if self != Self::Journal {
            // Invalid UTF-8 is reported by the code that interprets the file.
            return Ok(read::text(path)?.map(|text| text.value));
        }
        let mut lines = VecDeque::new();
        let mut bytes = 0;
        journal::read_last(path, MAX_RECORDS, |entry| {
            let line = entry.get().to_owned();
            bytes += line.len();
            lines.push_back(line);
            while bytes > MAX_BYTES
                && let Some(oldest) = lines.pop_front()
            {
                bytes -= oldest.len();
            }
            true
        })?;
        Ok(Some(join(lines, "\n")))
    }

    /// Returns the passages of a file, by its name from the project on.
    pub(crate) fn passages(self, text: &str, path: &Path, role: Role) -> Vec<Passage> {
        match self {
            Self::Plan => passages(text, path, authority(path, role), role),
            Self::Patterns => {
                let mut found = passages(text, path, Authority::Canonical, Role::Other);
                // What stands before the first says what the file is.
                let patterns = Patterns::parse(text, path).value;
                let first = patterns
                    .entries
                    .iter()
                    .map(|entry| entry.line)
                    .chain(patterns.loose.iter().map(|loose| loose.line))
                    .min();
                found.retain(|passage| first.is_some_and(|first| passage.line >= first));
                found
            }
            Self::Entries => entry_passages(text, path),
            Self::Journal => text.lines().filter_map(record_passage).collect(),
            _ => passages(text, path, Authority::Canonical, Role::Other),
        }
    }
}

/// Returns the planning folders that exist, the active one first.
fn folders(project: &Project) -> Vec<PathBuf> {
    let mut folders = vec![project.planning_place().dir.clone()];
    for name in LayoutName::ALL {
        let folder = project.root.join(name.dir());
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    let is_folder = |path: &PathBuf| matches!(read::kind(path), Ok(Some(PathKind::Folder)));
    folders.retain(is_folder);
    folders
}

/// Returns where the work is that goes on, by names from the project on: the planning folders, and what their milestones
/// in progress have below the archives.
pub(crate) fn homes(project: &Project) -> Vec<PathBuf> {
    let mut homes = folders(project);
    for folder in homes.clone() {
        // What cannot be read is reported by the code that interprets the folder.
        if let Ok(read) = PlanningFolder::read(&folder) {
            let active = read.value.active;
            let phases = active.phases.first().and_then(|phase| phase.path.parent());
            homes.extend(phases.map(Path::to_owned));
            homes.push(active.dir);
        }
    }
    homes.iter().map(|home| project.relative(home).to_owned()).collect()
}

/// What a file is in the project; the first have the first claim to a text that others have, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// CLAUDE.md and the like, at the root.
    Context,
    /// The description of the project.
    Project,
    /// The state of the milestone in progress.
    State,
    /// What says how the codebase is built and tested.
    Codebase,
    /// README.md at the root.
    Readme,
    /// Anything else.
    Other,
    /// Part of an archive.
    Archived,
}

impl Role {
    /// Every role, in order.
    pub(crate) const ALL: [Self; 7] = [
        Self::Context,
        Self::Project,
        Self::State,
        Self::Codebase,
        Self::Readme,
        Self::Other,
        Self::Archived,
    ];

    /// Returns the role of a file by its name and the homes', all from the project on.
    pub(crate) fn of(file: &Path, homes: &[PathBuf]) -> Self {
        let in_home = homes
            .iter()
            .filter_map(|home| file.strip_prefix(home).ok())
            .min_by_key(|file| file.iter().count());
        let mut folders = in_home.unwrap_or(file).iter().rev().skip(1).filter_map(OsStr::to_str);
        if folders.any(vocabulary::is_archive) {
            return Self::Archived;
        }
        if ContextTarget::ALL.iter().any(|target| file == Path::new(target.file())) {
            return Self::Context;
        }
        if file == Path::new(README) {
            return Self::Readme;
        }
        match in_home.map(slashed).as_deref() {
            Some(vocabulary::PROJECT) => Self::Project,
            Some(vocabulary::STATE) => Self::State,
            Some("codebase/CONVENTIONS.md" | "codebase/STACK.md" | "codebase/TESTING.md") => {
                Self::Codebase
            }
            _ => Self::Other,
        }
    }
}

/// Returns whether a file is markdown, by its extension.
fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

/// Returns the authority of a file in the planning folder, by its name from the project on.
fn authority(path: &Path, role: Role) -> Authority {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_uppercase();
    let words: Vec<&str> = stem.split(['-', '_']).collect();
    let is_in = |name: &str| path.parent().and_then(Path::file_name).is_some_and(|dir| dir == name);
    let last = words.last().copied().unwrap_or_default();
    let is_canonical = role == Role::Readme
        || is_in("codebase")
        || CANONICAL_NAMES.binary_search(&last).is_ok() && !is_in("research");
    if is_canonical && (SHIPPED_NAMES.contains(&last) || role != Role::Archived) {
        Authority::Canonical
    } else if is_canonical {
        // What was valid while it was made.
        Authority::Report
    } else if words.contains(&"SUMMARY") {
        Authority::Report
    } else {
        Authority::Working
    }
}

/// Returns the passages of an entry, identified by its key, or of the notepad.
fn entry_passages(text: &str, path: &Path) -> Vec<Passage> {
    let folder = path.parent().and_then(Path::file_name);
    let is_entry = folder.is_some_and(|folder| folder == knowledge::ENTRIES);
    let key = path.file_stem().filter(|_| is_entry).map(|key| key.to_string_lossy().into_owned());
    let mut found = passages(text, path, Authority::Canonical, Role::Other);
    if let Some(key) = &key {
        // The fields of an entry are about it: what they say is not what was recorded, but its key and tags name it.
        let front = FrontMatter::parse(text, path).value;
        let lines = text[..front.range.end].lines().count();
        found.retain(|passage| passage.line > lines);
        let tags = front.get(&["tags"]).map(Node::texts).unwrap_or_default();
        // A key is mostly made of the entry's own words.
        let said: HashSet<String> = found
            .iter()
            .flat_map(|passage| passage.headings.iter().chain([&passage.text]))
            .flat_map(|text| lower_words(text))
            .collect();
        let mut names = [vec![key.clone()], tags].concat();
        names.retain(|name| lower_words(name).any(|word| !said.contains(&word)));
        // A date in its text is one that it speaks of.
        let dated = Entry::parse(text, path).value.dated();
        for passage in &mut found {
            passage.date = dated;
            passage.headings.splice(0..0, names.iter().cloned());
        }
    }
    for passage in &mut found {
        passage.id.clone_from(&key);
    }
    found
}

/// Returns a record as a passage under its type and tags, or `None` if its content is empty.
fn record_passage(line: &str) -> Option<Passage> {
    let record: Value = serde_json::from_str(line).ok()?;
    let content = record.get("content")?.as_str()?.trim();
    let field = |name: &str| record.get(name).and_then(Value::as_str).map(str::to_owned);
    let tags = record
        .get("tags")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    // All projects share the journal.
    let project = record.pointer("/meta/project").and_then(Value::as_str).map(str::to_owned);
    let headings = project.into_iter().chain(field("type")).chain(tags.map(str::to_owned));
    let time = field("ts");
    (!content.is_empty()).then(|| Passage {
        headings: headings.collect(),
        line: 0,
        date: time.as_deref().and_then(parse_date),
        id: time,
        text: clip(content, MAX_RECORD_LENGTH).into_owned(),
        flags: 0,
        weight: 1.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authority_follows_from_the_file_name() {
        assert!(CANONICAL_NAMES.is_sorted());
        for (path, expected) in [
            (".vbw-planning/PROJECT.md", Authority::Canonical),
            (".vbw-planning/phases/02-x/02-CONTEXT.md", Authority::Canonical),
            (".planning/milestones/v1.0-ROADMAP.md", Authority::Report),
            (".vbw-planning/milestones/one/SHIPPED.md", Authority::Canonical),
            (".planning/research/ARCHITECTURE.md", Authority::Working),
            (".planning/codebase/STACK.md", Authority::Canonical),
            (".vbw-planning/phases/02-x/02-01-SUMMARY.md", Authority::Report),
            (".vbw-planning/phases/02-x/SUMMARY-02.md", Authority::Report),
            (".vbw-planning/phases/02-x/02-01-PLAN.md", Authority::Working),
            (".vbw-planning/phases/02-x/02-RESEARCH.md", Authority::Working),
            (".vbw-planning/state-machine.md", Authority::Working),
        ] {
            let path = Path::new(path);
            let homes = [PathBuf::from(".planning"), PathBuf::from(".vbw-planning")];
            assert_eq!(authority(path, Role::of(path, &homes)), expected, "{}", path.display());
        }
    }

    #[test]
    fn unknown_values_are_not_found() {
        let text = "# Patterns\n\n### Phase 1: A (2026-01-01)\n\n**What worked:**\n- `a.rs` is unknown to git\n\n**Timing:**\n- Plans: 3, Average: unknown, Total: unknown\n- Effort: unknown\n\n**Deviations:** unknown\n\n### Phase 2: B (2026-01-02)\n\n**Timing:**\n- Plans: 2, Average: unknown, Total: 9m\n- Effort: balanced\n\n**Deviations:** 0\n";
        let found = SourceName::Patterns.passages(text, Path::new("PATTERNS.md"), Role::Other);
        let texts: Vec<&str> = found.iter().map(|passage| passage.text.as_str()).collect();
        assert_eq!(texts, ["`a.rs` is unknown to git", "Effort: balanced", "**Deviations:** 0"]);
    }

    #[test]
    fn what_a_file_of_lessons_says_of_itself_is_not_found() {
        let path = Path::new("PATTERNS.md");
        let found = |text| SourceName::Patterns.passages(text, path, Role::Other).len();
        assert_eq!(found("# Learned Patterns\n\nWhat finished phases taught.\n"), 0);
        assert_eq!(found("# Patterns\n\nNewest last.\n\n- Lock before reading\n"), 1);
    }

    #[test]
    fn a_record_has_its_time_as_id_and_its_type_and_tags_as_headings() {
        let line = r#"{"ts":"2026-03-01T12:00:00+00:00","type":"note","content":" tabs ","tags":["style"],"meta":null}"#;
        let found = record_passage(line).unwrap();
        assert_eq!(found.headings, ["note", "style"]);
        assert_eq!(found.text, "tabs");
        assert_eq!(found.id.as_deref(), Some("2026-03-01T12:00:00+00:00"));
        assert_eq!(found.date.unwrap().to_string(), "2026-03-01");
    }

    #[test]
    fn records_without_content_are_skipped() {
        for line in ["", "torn", "[]", "{}", r#"{"content":""}"#, r#"{"content":7}"#] {
            assert_eq!(record_passage(line), None, "{line}");
        }
    }
}
