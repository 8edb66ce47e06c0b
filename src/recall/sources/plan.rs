//! The planning folder, archives included, and the context files at the root.

use std::path::Path;
use std::path::PathBuf;

use crate::error::Result;
use crate::patterns;
use crate::project::ContextTarget;
use crate::project::LayoutName;
use crate::project::Project;
use crate::recall::document::Authority;
use crate::recall::document::SearchDocument;
use crate::recall::markdown_file::documents;
use crate::recall::sources::Copies;
use crate::recall::sources::Source;
use crate::recall::sources::SourceName;
use crate::storage::Boundary;
use crate::storage::listing;
use crate::storage::listing::PathKind;
use crate::storage::read;
use crate::warning::Warning;

/// The last word in the name of a file whose text stands until it is changed; sorted.
const STANDING: &[&str] = &[
    "AGENTS",
    "ARCHITECTURE",
    "CLAUDE",
    "CONCERNS",
    "CONSTRAINTS",
    "CONTEXT",
    "CONVENTIONS",
    "DECISIONS",
    "GEMINI",
    "INDEX",
    "META",
    "MILESTONES",
    "PATTERNS",
    "PROJECT",
    "REQUIREMENTS",
    "ROADMAP",
    "SHIPPED",
    "STATE",
];

/// The planning folder; several where several tools' folders stand side by side.
pub(crate) struct Plan;

impl Source for Plan {
    fn name(&self) -> SourceName {
        SourceName::Plan
    }

    fn files(&self, project: &Project) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for folder in folders(project) {
            let mut files = listing::below(&folder, &|name| !name.starts_with('.'));
            let apart = patterns::path(&folder);
            files.retain(|file| is_markdown(file) && *file != apart);
            found.extend(Boundary::within_limit(&folder, files));
        }
        found.extend(ContextTarget::ALL.map(|target| project.root.join(target.file())));
        found
    }

    fn documents(&self, text: &str, path: &Path) -> Vec<SearchDocument> {
        documents(&without_block(text), path, rank(path))
    }

    /// Every file of the folder in use but the patterns, which are a store of their own.
    fn guarded(&self, project: &Project) -> Vec<PathBuf> {
        let folder = &project.planning_place().dir;
        let apart = patterns::path(folder);
        let mut files = listing::below(folder, &|name| name != ".git");
        files.retain(|file| *file != apart);
        files
    }

    /// Nothing: the folder is the workflow's, and the repository carries it.
    fn copies(&self, _project: &Project, _warnings: &mut Vec<Warning>) -> Result<Vec<Copies>> {
        Ok(Vec::new())
    }
}

/// Returns the planning folders that are there, the one in use first.
pub(crate) fn folders(project: &Project) -> Vec<PathBuf> {
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

/// Returns whether a file is markdown, by its name.
pub(crate) fn is_markdown(path: &Path) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

/// Returns what a file of the planning folder is to the project, by its name.
fn rank(path: &Path) -> Authority {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let stem = stem.to_uppercase();
    let words: Vec<&str> = stem.split(['-', '_']).collect();
    let folder = path.parent().and_then(Path::file_name);
    let last = words.last().copied().unwrap_or_default();
    if folder.is_some_and(|folder| folder == "codebase") || STANDING.binary_search(&last).is_ok() {
        Authority::Canonical
    } else if words.contains(&"SUMMARY") {
        Authority::Report
    } else {
        Authority::Working
    }
}

/// Returns a context file's text with the lines that annals generates left empty: they repeat other files.
fn without_block(text: &str) -> String {
    let mut inside = false;
    let mut kept = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let shown = line.trim_start();
        inside |= shown.starts_with("<!-- annals:begin");
        if inside {
            kept.push('\n');
        } else {
            kept.push_str(line);
        }
        inside &= !shown.starts_with("<!-- annals:end");
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_stands_from_what_was_written_on_the_way() {
        assert!(STANDING.is_sorted());
        for (path, expected) in [
            (".vbw-planning/PROJECT.md", Authority::Canonical),
            (
                ".vbw-planning/phases/02-x/02-CONTEXT.md",
                Authority::Canonical,
            ),
            (".planning/milestones/v1.0-ROADMAP.md", Authority::Canonical),
            (".planning/codebase/STACK.md", Authority::Canonical),
            (
                ".vbw-planning/phases/02-x/02-01-SUMMARY.md",
                Authority::Report,
            ),
            (".vbw-planning/phases/02-x/SUMMARY-02.md", Authority::Report),
            (
                ".vbw-planning/phases/02-x/02-01-PLAN.md",
                Authority::Working,
            ),
            (
                ".vbw-planning/phases/02-x/02-RESEARCH.md",
                Authority::Working,
            ),
            (".vbw-planning/state-machine.md", Authority::Working),
        ] {
            assert_eq!(rank(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn the_generated_block_is_left_out_and_lines_stay_where_they_are() {
        let text =
            "# Mine\n<!-- annals:begin v1 sha256=0 -->\n## State\n<!-- annals:end -->\nlast\n";
        assert_eq!(without_block(text), "# Mine\n\n\n\nlast\n");
        assert_eq!(without_block("a\r\nb"), "a\r\nb");
    }
}
