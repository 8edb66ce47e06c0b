//! Where the planning folder is, and what keeps a cloned repository from naming one elsewhere.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use crate::error::Error;
use crate::error::Result;
use crate::project::dialect::LayoutName;
use crate::project::discovery;
use crate::project::layout::Layout;
use crate::project::settings::Origin;
use crate::project::settings::Settings;
use crate::warning::Warning;

/// A project's planning folder, and the tool whose shape it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planning {
    /// The folder.
    pub dir: PathBuf,
    /// The tool's words and commands.
    pub layout: Layout,
}

impl Planning {
    /// Returns the planning folder in force, which need not exist yet.
    pub(crate) fn locate(
        root: &Path,
        settings: &Settings,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self> {
        let (dir, name) = match &settings.planning_dir {
            Some(named) => {
                let dir = root.join(named);
                let name = LayoutName::of_dir(&dir);
                // As the root is: without links and dots, so that paths print relative to it.
                let dir = fs::canonicalize(&dir).unwrap_or_else(|_| dir.components().collect());
                (dir, name)
            }
            None => discover(root, warnings),
        };
        let is_trusted = !matches!(
            settings.origin("planning_dir"),
            Origin::Default | Origin::Project { .. }
        );
        if !is_trusted {
            confine(&dir, &settings.folders(root))?;
        }
        let name = name.unwrap_or_else(|| LayoutName::of_content(&dir));
        let layout = Layout::load(name)?;
        Ok(Self { dir, layout })
    }

    /// Returns whether the folder is there.
    pub fn exists(&self) -> bool {
        self.dir.is_dir()
    }
}

/// Returns the first planning folder that is there, else the one that would be made.
fn discover(root: &Path, warnings: &mut Vec<Warning>) -> (PathBuf, Option<LayoutName>) {
    let found = discovery::layouts(root);
    warnings.extend(ambiguous(&found));
    let name = found.first().copied().unwrap_or_default();
    (root.join(name.dir()), Some(name))
}

/// Warns where two tools' folders stand side by side.
fn ambiguous(found: &[LayoutName]) -> Option<Warning> {
    let [used, others @ ..] = found else {
        return None;
    };
    if others.is_empty() {
        return None;
    }
    let others: Vec<_> = others.iter().map(|layout| layout.dir()).collect();
    let exist = if others.len() == 1 { "exists" } else { "exist" };
    Some(Warning::file(
        Path::new(used.dir()),
        format!(
            "is in use, but {} {exist} too; set planning_dir in annals.toml to choose",
            others.join(" and ")
        ),
    ))
}

/// Refuses a path that a cloned repository names and whose links lead out of these folders.
pub(crate) fn confine(path: &Path, folders: &[&Path]) -> Result<()> {
    // What does not exist leads nowhere yet; whoever reads it says so.
    let Ok(real) = fs::canonicalize(path) else {
        return Ok(());
    };
    let inside = |folder: &&Path| fs::canonicalize(folder).is_ok_and(|f| real.starts_with(f));
    if folders.iter().any(inside) {
        return Ok(());
    }
    Err(
        Error::refused(format!("leads outside the project, to {}", real.display()))
            .at(path, None)
            .hint(
                "if that is meant, name it in your own settings, in the environment or with a flag; \
                 linked_roots in your own settings lets links lead to a folder",
            ),
    )
}
