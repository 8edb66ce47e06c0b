//! Locates the planning folder, and prevents a cloned repository from naming one outside the project.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::project::dialect::LayoutName;
use crate::project::discovery;
use crate::project::layout::Layout;
use crate::project::settings::Settings;
use crate::warning::Warning;

/// A project's planning folder with its layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planning {
    /// The folder.
    pub dir: PathBuf,
    /// The tool's wording and commands.
    pub layout: Layout,
}

impl Planning {
    /// Returns the planning folder in force, which need not exist.
    pub(crate) fn locate(
        root: &Path,
        settings: &Settings,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self> {
        let (dir, name) = match &settings.planning_dir {
            Some(dir_setting) => {
                let dir = root.join(dir_setting);
                let name = LayoutName::from_dir(&dir);
                // Resolved like the root, so that paths are displayed relative to it.
                let dir = fs::canonicalize(&dir).unwrap_or_else(|_| dir.components().collect());
                (dir, name)
            }
            None => detect(root, warnings),
        };
        if !settings.origin("planning_dir").is_users() {
            confine(&dir, &settings.folders(root))?;
        }
        let name = name.unwrap_or_else(|| LayoutName::from_content(&dir));
        let layout = Layout::load(name)?;
        Ok(Self { dir, layout })
    }

    /// Returns whether the folder exists.
    pub fn exists(&self) -> bool {
        self.dir.is_dir()
    }
}

/// Returns the first planning folder that exists, otherwise the one that would be created; warns if those of several
/// tools exist.
fn detect(root: &Path, warnings: &mut Vec<Warning>) -> (PathBuf, Option<LayoutName>) {
    let layouts = discovery::layouts(root);
    let others: Vec<_> = layouts.iter().skip(1).map(|layout| layout.dir()).collect();
    let name = layouts.first().copied().unwrap_or_default();
    if !others.is_empty() {
        let exist = if others.len() == 1 { "exists" } else { "exist" };
        let what = format!(
            "is in use, but {} {exist} too; set planning_dir in annals.toml to choose",
            others.join(" and ")
        );
        warnings.push(Warning::file(Path::new(name.dir()), what));
    }
    (root.join(name.dir()), Some(name))
}

/// Returns an error if a path that a cloned repository names leads out of these folders through links.
pub(crate) fn confine(path: &Path, folders: &[&Path]) -> Result<()> {
    // A path that does not exist leads nowhere yet; the code that reads it reports that.
    let Ok(real) = fs::canonicalize(path) else {
        return Ok(());
    };
    let is_inside = |folder: &&Path| fs::canonicalize(folder).is_ok_and(|f| real.starts_with(f));
    if folders.iter().any(is_inside) {
        return Ok(());
    }
    Err(Error::refused(format!("leads outside the project, to {}", real.display()))
        .at(path, None)
        .hint(
            "if that is intended, set it in your own settings, in the environment or with a flag; \
                 linked_roots in your own settings allows links into a folder",
        ))
}
