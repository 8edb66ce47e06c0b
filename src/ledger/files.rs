//! Reads the ledger's folder and its three files from disk.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::markdown::Outline;
use crate::project::{Origin, Project, confine};
use crate::storage::read;
use crate::templates::Template;
use crate::text::line_end;
use crate::warning::Warning;

/// The file about the present.
pub(crate) const STATE: &str = "STATE.md";
/// The file about what must not change.
pub(crate) const CONSTRAINTS: &str = "CONSTRAINTS.md";
/// The file about how it came about.
pub(crate) const DECISIONS: &str = "DECISIONS.md";

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
    pub(crate) folder: PathBuf,
    /// Its path relative to the top of the repository, if there is one.
    pub(crate) repo_path: Option<String>,
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

impl LedgerFile {
    fn read(path: PathBuf, warnings: &mut Vec<Warning>) -> Result<Self> {
        let bytes = read::bytes(&path)?;
        let text = bytes.clone().map(|bytes| read::decode(bytes, &path).into_value(warnings));
        let text = text.unwrap_or_default();
        let is_invalid_utf8 =
            bytes.as_ref().is_some_and(|bytes| std::str::from_utf8(bytes).is_err());
        warnings.extend(Outline::unread_warning(&text, &path));
        Ok(Self { path, bytes, text, is_invalid_utf8 })
    }

    /// Returns whether there is a file.
    pub(crate) fn exists(&self) -> bool {
        self.bytes.is_some()
    }

    /// Returns the text, or the template if the file does not exist.
    pub(crate) fn text_or(&self, template: Template) -> &str {
        if self.exists() { &self.text } else { template.text() }
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
    fn refuse_conflict(&self) -> Result<()> {
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
    pub(crate) fn read(project: &Project, warnings: &mut Vec<Warning>) -> Result<Self> {
        let folder: PathBuf = project.root.join(&project.settings.ledger_dir);
        let folder: PathBuf = folder.components().collect();
        let origin = project.settings.origin("ledger_dir");
        if !matches!(origin, Origin::Default | Origin::Project { .. }) {
            confine(&folder, &project.settings.folders(&project.root))?;
        }
        // Git's top and the project's root are canonical, so the path compared with them must be, too.
        let real = fs::canonicalize(&folder).unwrap_or_else(|_| folder.clone());
        let below = project.git.top().and_then(|top| real.strip_prefix(top).ok());
        let repo_path = below.and_then(Path::to_str).filter(|name| !name.is_empty());
        let mut file = |name: &str| LedgerFile::read(folder.join(name), warnings);
        Ok(Self {
            state: file(STATE)?,
            constraints: file(CONSTRAINTS)?,
            decisions: file(DECISIONS)?,
            repo_path: repo_path.map(|name| name.replace('\\', "/")),
            folder,
        })
    }

    pub(crate) fn all(&self) -> [&LedgerFile; 3] {
        [&self.state, &self.constraints, &self.decisions]
    }

    /// Returns the name of a committed file, as git takes it.
    pub(crate) fn committed_name(&self, name: &str) -> Option<String> {
        self.repo_path.as_ref().map(|folder| format!("HEAD:{folder}/{name}"))
    }

    /// Fails if a file contains conflict markers, or is committed but excluded from a sparse checkout: a blank one
    /// would replace it.
    pub(crate) fn refuse_unwritable(&self, project: &Project) -> Result<()> {
        self.all().into_iter().try_for_each(LedgerFile::refuse_conflict)?;
        let missing = [STATE, CONSTRAINTS, DECISIONS].into_iter().zip(self.all());
        let missing = missing.filter(|(_, file)| !file.exists());
        let names: Vec<String> =
            missing.filter_map(|(name, _)| self.committed_name(name)).collect();
        if names.is_empty() || !project.git.is_sparse() || project.git.head()?.is_none() {
            return Ok(());
        }
        let Some(objects) = project.git.objects()? else { return Ok(()) };
        if !objects.exist(&names)?.contains(&true) {
            return Ok(());
        }
        let folder = self.repo_path.as_deref().unwrap_or_default();
        Err(Error::refused("the ledger is committed but excluded from this sparse checkout")
            .at(&self.folder, None)
            .hint(format!("restore it with `git sparse-checkout add {folder}`")))
    }
}
