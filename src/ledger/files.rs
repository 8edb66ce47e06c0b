//! The ledger's folder and its three files, as they are on the disk.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use crate::error::Error;
use crate::error::Result;
use crate::project::Origin;
use crate::project::Project;
use crate::project::confine;
use crate::storage::read;
use crate::warning::Warning;

/// The file that says what is true now.
pub(crate) const STATE: &str = "STATE.md";
/// The file that says what must not change.
pub(crate) const CONSTRAINTS: &str = "CONSTRAINTS.md";
/// The file that says how it came about.
pub(crate) const DECISIONS: &str = "DECISIONS.md";

/// The ledger's folder.
#[derive(Clone, Debug)]
pub(crate) struct LedgerFolder {
    /// The folder.
    pub(crate) path: PathBuf,
    /// The folder as git names it, from the top of the repository; none without one.
    pub(crate) in_git: Option<String>,
}

/// A file of the ledger.
#[derive(Clone, Debug)]
pub(crate) struct LedgerFile {
    /// Its path.
    pub(crate) path: PathBuf,
    /// Its bytes, or `None` if there is no file.
    pub(crate) bytes: Option<Vec<u8>>,
    /// Its text; empty where there is no file.
    pub(crate) text: String,
    /// Whether the text is not what the bytes say.
    pub(crate) is_broken: bool,
}

/// The three files.
#[derive(Clone, Debug)]
pub(crate) struct LedgerFiles {
    /// Where they are.
    pub(crate) folder: LedgerFolder,
    /// STATE.md.
    pub(crate) state: LedgerFile,
    /// CONSTRAINTS.md.
    pub(crate) constraints: LedgerFile,
    /// DECISIONS.md.
    pub(crate) decisions: LedgerFile,
}

/// Returns whether a project keeps a ledger.
pub fn is_kept(project: &Project) -> bool {
    let folder = project.root.join(&project.settings.ledger_dir);
    read::is_file(&folder.join(STATE))
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
        // Git's top and the project's root are without links; so must be what is compared with them.
        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let in_git = project.git.top().and_then(|top| {
            let below = real.strip_prefix(top).ok()?;
            let names: Vec<_> = below
                .components()
                .map(|c| c.as_os_str().to_string_lossy())
                .collect();
            (!names.is_empty()).then(|| names.join("/"))
        });
        Ok(Self { path, in_git })
    }

    /// Returns a file's name as git knows it.
    pub(crate) fn git_path(&self, name: &str) -> Option<String> {
        self.in_git
            .as_ref()
            .map(|folder| format!("{folder}/{name}"))
    }
}

impl LedgerFile {
    pub(crate) fn read(path: &Path, warnings: &mut Vec<Warning>) -> Result<Self> {
        let bytes = read::bytes(path)?;
        let is_broken = bytes
            .as_ref()
            .is_some_and(|bytes| std::str::from_utf8(bytes).is_err());
        let text = bytes
            .clone()
            .map(|bytes| read::decode(bytes, path).into_value(warnings))
            .unwrap_or_default();
        Ok(Self {
            path: path.to_owned(),
            bytes,
            text,
            is_broken,
        })
    }

    /// Returns whether there is a file.
    pub(crate) fn exists(&self) -> bool {
        self.bytes.is_some()
    }

    /// Fails where an edit would change bytes that nobody asked to be changed.
    pub(crate) fn editable(&self) -> Result<()> {
        if self.is_broken {
            let message = "is not UTF-8 text, so it cannot be changed without loss";
            return Err(Error::refused(message)
                .at(&self.path, None)
                .hint("save it as UTF-8"));
        }
        Ok(())
    }

    /// Returns what ends its lines.
    pub(crate) fn line_end(&self) -> &'static str {
        if self.text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }
}

impl LedgerFiles {
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
