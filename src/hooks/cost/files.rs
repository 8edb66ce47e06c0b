//! Finds the context files that a harness reads, from the user's own to the project's.

use std::path::{Component, Path, PathBuf};

use crate::hooks::cost::{CostKind, CostPart, imports};
use crate::hooks::harness::ContextFiles;
use crate::hooks::{Harness, setup};
use crate::project::Project;
use crate::storage::{Boundary, read};
use crate::warning::Warning;

/// Maximum number of imports of a context file that are counted.
const MAX_IMPORTS: usize = 1000;

/// Returns the files that a harness reads at session start, the user's own first and the nearest last.
pub(crate) fn parts(
    project: &Project,
    harness: Harness,
    warnings: &mut Vec<Warning>,
) -> Vec<CostPart> {
    let mut reading = ContextFileReader {
        project,
        files: &harness.profile().context,
        parts: Vec::new(),
        warnings,
    };
    let files = &harness.profile().context;
    if let Some(folder) = setup::user_folder_of(project, harness) {
        reading.folder(&folder, files.user_files);
    }
    for folder in folders(project, files) {
        for group in files.folder_files {
            reading.folder(&folder, group);
        }
    }
    let mut parts = reading.parts;
    if let Some(most) = files.most_bytes {
        cut(&mut parts, most);
    }
    parts
}

/// Returns the folders whose files are read, outermost first.
fn folders(project: &Project, files: &ContextFiles) -> Vec<PathBuf> {
    let top = || project.git.top().unwrap_or(&project.root);
    let top = files.stops_at_repository.then(top);
    let is_inside = |folder: &&Path| top.is_none_or(|top| folder.starts_with(top));
    let folders = project.root.ancestors().take_while(is_inside);
    let mut folders: Vec<PathBuf> = folders.map(Path::to_owned).collect();
    folders.reverse();
    folders
}

struct ContextFileReader<'a> {
    project: &'a Project,
    files: &'static ContextFiles,
    parts: Vec<CostPart>,
    warnings: &'a mut Vec<Warning>,
}

impl ContextFileReader<'_> {
    /// Reads the first of the names that exists in a folder, and its imports.
    fn folder(&mut self, folder: &Path, names: &[&str]) {
        for name in names {
            let path = folder.join(name);
            if let Some(text) = self.text(&path, CostKind::File) {
                self.imports(&text, &path);
                return;
            }
        }
    }

    fn imports(&mut self, text: &str, path: &Path) {
        if !self.files.has_imports {
            return;
        }
        let home = self.project.environment.home();
        let imported = imports::imported_files(text);
        if imported.len() > MAX_IMPORTS {
            let message = format!("has more than {MAX_IMPORTS} imports; the rest are not counted");
            self.warnings.push(Warning::file(path, message));
        }
        let mut targets = Vec::new();
        for imported in imported.iter().take(MAX_IMPORTS) {
            let Some(target) = imports::resolve_import(imported, path, home.as_deref()) else {
                continue;
            };
            // A cloned repository may import any path: only its own files are read, not the user's.
            let leads_out = self.is_ours(path) && !self.is_ours(&target);
            if leads_out {
                let message = "is outside the project, so this import is not counted";
                self.warnings.push(Warning::file(&target, message));
            } else {
                targets.push(target);
            }
        }
        for target in Boundary::within_limit(&self.project.root, targets) {
            self.text(&target, CostKind::Import);
        }
    }

    /// Returns whether a path is inside the project or its repository.
    fn is_ours(&self, path: &Path) -> bool {
        let goes_up = path.components().any(|part| part == Component::ParentDir);
        let top = self.project.git.top().unwrap_or(&self.project.root);
        !goes_up && (path.starts_with(top) || path.starts_with(&self.project.root))
    }

    /// Counts a file unless it was already counted, and returns its text.
    fn text(&mut self, path: &Path, kind: CostKind) -> Option<String> {
        let source = self.project.relative(path).display().to_string();
        if self.parts.iter().any(|part| part.source == source) {
            return None;
        }
        match read::text(path) {
            Ok(found) => {
                let text = found?.value;
                let visible = self.files.visible(&text);
                self.parts.push(CostPart::measure(kind, source, &visible));
                Some(text)
            }
            Err(error) => {
                let message = format!("is not counted: {}", error.reason());
                self.warnings.push(Warning::file(path, message));
                None
            }
        }
    }
}

/// Truncates the files at the harness's byte limit; what is cut off has no cost, as the harness does not read
/// it.
fn cut(parts: &mut Vec<CostPart>, most: usize) {
    let mut room = most;
    for part in parts.iter_mut() {
        let whole = part.size;
        if whole.bytes > room {
            let share = |count: usize| count * room / whole.bytes.max(1);
            part.size.lines = share(whole.lines);
            part.size.tokens = share(whole.tokens);
            part.size.bytes = room;
        }
        room -= part.size.bytes;
    }
    parts.retain(|part| part.size.bytes > 0);
}
