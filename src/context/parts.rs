//! Finds the planning folders below a project that has none itself: the parts of a monorepo.

use std::path::PathBuf;

use crate::project::{LayoutName, Project};
use crate::storage::listing;
use crate::storage::read::PathKind;

/// Maximum depth of a part, and number of folders that are listed.
const MAX_DEPTH: usize = 3;
const MAX_FOLDERS: usize = 500;

/// Folders that contain what others wrote.
const SKIPPED: [&str; 5] = ["node_modules", "target", "vendor", "dist", "build"];

/// Returns the folders below a project that have a planning folder, relative to it; none if it has one itself.
pub fn parts(project: &Project) -> Vec<PathBuf> {
    let mut parts = Vec::new();
    if project.planning().is_ok() {
        return parts;
    }
    let mut waiting = vec![(project.root.clone(), 0)];
    let mut at = 0;
    while let Some((folder, depth)) = waiting.get(at).cloned().filter(|_| at < MAX_FOLDERS) {
        at += 1;
        for (name, kind) in listing::entries(&folder).unwrap_or_default() {
            let path = folder.join(&name);
            if kind != PathKind::Folder {
                continue;
            }
            if LayoutName::from_dir(&path).is_some() {
                parts.push(project.relative(&folder).to_owned());
            } else if !name.starts_with('.')
                && !SKIPPED.contains(&name.as_str())
                && depth < MAX_DEPTH
            {
                waiting.push((path, depth + 1));
            }
        }
    }
    parts.dedup();
    parts
}
