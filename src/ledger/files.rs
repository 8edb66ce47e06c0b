//! Reads the ledger's folder and its three files from disk.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::markdown::Outline;
use crate::project::{Origin, Project, confine};
use crate::storage::read;
use crate::text::line_end;
use crate::warning::Warning;

/// The file about the present.
pub(crate) const STATE: &str = "STATE.md";
/// The file about what must not change.
pub(crate) const CONSTRAINTS: &str = "CONSTRAINTS.md";
/// The file about how it came about.
pub(crate) const DECISIONS: &str = "DECISIONS.md";

/// The ledger's folder.
#[derive(Clone, Debug)]
pub(crate) struct LedgerFolder {
    /// The folder.
    pub(crate) path: PathBuf,
    /// Its path relative to the top of the repository, if there is one.
    pub(crate) repo_path: Option<String>,
}

/// A file of the ledger.
#[derive(Clone, Debug)]
pub(crate) struct LedgerFile {
    /// Its path.
    pub(crate) path: PathBuf,
    /// Its bytes, or `None` if there is no file.
    pub(crate) bytes: Option<Vec<u8>>,
    /// Its text; empty if there is no file.
    pub(crate) text: String,
    /// Whether the bytes are not valid text.
    pub(crate) is_invalid_utf8: bool,
}

/// The three files.
#[derive(Clone, Debug)]
pub(crate) struct LedgerFiles {
    /// Their folder.
    pub(crate) folder: LedgerFolder,
    /// STATE.md.
    pub(crate) state: LedgerFile,
    /// CONSTRAINTS.md.
    pub(crate) constraints: LedgerFile,
    /// DECISIONS.md.
    pub(crate) decisions: LedgerFile,
}

/// Returns the paths of the three files, which may not exist.
pub fn paths(project: &Project) -> [PathBuf; 3] {
    let folder = project.root.join(&project.settings.ledger_dir);
    [STATE, CONSTRAINTS, DECISIONS].map(|name| folder.join(name))
}

/// Returns whether a project keeps a ledger.
pub fn exists(project: &Project) -> bool {
    let [state, ..] = paths(project);
    read::is_file(&state)
}

impl LedgerFolder {
    pub(crate) fn locate(project: &Project) -> Result<Self> {
        let path: PathBuf = project.root.join(&project.settings.ledger_dir);
        let path: PathBuf = path.components().collect();
        let is_trusted = !matches!(
            project.settings.origin("ledger_dir"),
            Origin::Default | Origin::Project { .. }
        );
        if !is_trusted {
            confine(&path, &project.settings.folders(&project.root))?;
        }
        // Git's top and the project's root are canonical, so the path compared with them must be, too.
        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let repo_path = project
            .git
            .top()
            .and_then(|top| name_in_git(&real, top).filter(|name| !name.is_empty()));
        Ok(Self { path, repo_path })
    }

    /// Returns a file's name as git knows it.
    pub(crate) fn git_path(&self, name: &str) -> Option<String> {
        self.repo_path.as_ref().map(|folder| format!("{folder}/{name}"))
    }
}

/// Returns a path relative to the top of the repository, as git writes it; `None` if it is outside or not UTF-8.
fn name_in_git(path: &Path, top: &Path) -> Option<String> {
    let below = path.strip_prefix(top).ok()?;
    let names = below.components().map(|name| name.as_os_str().to_str());
    Some(names.collect::<Option<Vec<_>>>()?.join("/"))
}

impl LedgerFile {
    pub(crate) fn read(path: &Path, warnings: &mut Vec<Warning>) -> Result<Self> {
        let bytes = read::bytes(path)?;
        let is_invalid_utf8 =
            bytes.as_ref().is_some_and(|bytes| std::str::from_utf8(bytes).is_err());
        let text = bytes
            .clone()
            .map(|bytes| read::decode(bytes, path).into_value(warnings))
            .unwrap_or_default();
        warnings.extend(Outline::unread_warning(&text, path));
        Ok(Self { path: path.to_owned(), bytes, text, is_invalid_utf8 })
    }

    /// Returns whether there is a file.
    pub(crate) fn exists(&self) -> bool {
        self.bytes.is_some()
    }

    /// Fails if the file is not valid UTF-8, because an edit would also change bytes elsewhere in it, or if only
    /// its beginning was parsed.
    pub(crate) fn refuse_uneditable(&self) -> Result<()> {
        if self.is_invalid_utf8 {
            let message = "is not valid UTF-8, so it cannot be changed without loss";
            return Err(Error::refused(message).at(&self.path, None).hint("save it as UTF-8"));
        }
        let hint = "move what is outdated to a file with another name";
        Outline::check_whole(&self.text, &self.path, hint)
    }

    /// Fails if the file contains conflict markers.
    pub(crate) fn refuse_conflict(&self) -> Result<()> {
        let has = |marker: &str| self.text.lines().any(|line| line.starts_with(marker));
        if has("<<<<<<< ") && has("=======") && has(">>>>>>> ") {
            let message = "contains conflict markers";
            return Err(Error::refused(message)
                .at(&self.path, None)
                .hint("resolve the conflict, then run the command again"));
        }
        Ok(())
    }

    /// Returns the line ending of the file.
    pub(crate) fn line_end(&self) -> &'static str {
        line_end(&self.text)
    }
}

impl LedgerFiles {
    /// Fails if a missing file is committed but excluded from a sparse checkout: a blank one would replace
    /// it.
    pub(crate) fn refuse_sparse(&self, project: &Project) -> Result<()> {
        if !self.is_sparse(project)? {
            return Ok(());
        }
        let message = "the ledger is committed but excluded from this sparse checkout";
        let folder = self.folder.repo_path.as_deref().unwrap_or_default();
        Err(Error::refused(message)
            .at(&self.folder.path, None)
            .hint(format!("restore it with `git sparse-checkout add {folder}`")))
    }

    /// Returns whether a file is committed and excluded from a sparse checkout.
    pub(crate) fn is_sparse(&self, project: &Project) -> Result<bool> {
        let files =
            [(STATE, &self.state), (CONSTRAINTS, &self.constraints), (DECISIONS, &self.decisions)];
        let missing = files.into_iter().filter(|(_, file)| !file.exists());
        let names: Vec<String> = missing
            .filter_map(|(name, _)| Some(format!("HEAD:{}", self.folder.git_path(name)?)))
            .collect();
        if names.is_empty() || !project.git.is_sparse() || project.git.head()?.is_none() {
            return Ok(false);
        }
        let Some(objects) = project.git.objects()? else {
            return Ok(false);
        };
        let found = objects.read(&names)?;
        Ok(found.iter().any(Option::is_some))
    }

    pub(crate) fn read(project: &Project, warnings: &mut Vec<Warning>) -> Result<Self> {
        let folder = LedgerFolder::locate(project)?;
        let mut file = |name: &str| LedgerFile::read(&folder.path.join(name), warnings);
        Ok(Self {
            state: file(STATE)?,
            constraints: file(CONSTRAINTS)?,
            decisions: file(DECISIONS)?,
            folder,
        })
    }
}
