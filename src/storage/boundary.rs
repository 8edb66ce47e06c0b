//! Restricts reads and writes for a project to its folder, regardless of the links in a clone, and limits reads.
//!
//! A path in a project is opened without following links. If it contains a link, it is resolved first, and
//! counts as missing, with a warning, unless its target is in the project or in a folder of the user's own
//! `linked_roots`. Writes are restricted to the same folders by [`Root`].
//!
//! A path alone does not tell which project it belongs to. So the boundaries of all open projects are global
//! in the process, and no reader can bypass them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::{fs, io};

use crate::error::{At, Error, Result};
use crate::storage::read::if_present;
use crate::text::{listed, quantity};
use crate::warning::Warning;

/// The largest file that is read whole: 8 MiB.
pub const MAX_FILE: u64 = 8 * 1024 * 1024;

/// Maximum size of the text that one command reads from a store, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum number of files that one command reads from a store.
const MAX_FILES: usize = 20_000;

/// Files and folders in which programs keep keys and passwords, in lower case.
const CREDENTIALS: &str = ".aws .azure .docker .env .envrc .git-credentials .gnupg .htpasswd .kube .netrc .npmrc \
    .pgpass .pypirc .s3cfg .ssh .vault-token .yarnrc.yml auth.json credentials credentials.json \
    id_dsa id_ecdsa id_ed25519 id_rsa secrets.json secrets.toml secrets.yaml secrets.yml \
    terraform.tfstate";
/// Extensions of keys.
const KEYS: &str = "asc env jks key keystore p12 pem pfx ppk";

/// The boundaries of the projects open in this process.
static OPEN: RwLock<Vec<Weak<Boundary>>> = RwLock::new(Vec::new());

/// The folders to which reads for one project are restricted, and the size of the planning text read.
#[derive(Debug)]
pub(crate) struct Boundary {
    root: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Folders outside of the root that the user's own settings allow, without links.
    allowed: Vec<PathBuf>,
    planning: Option<PathBuf>,
    /// The files read from the planning folder, as strings, because comparing paths by their components is much slower.
    counted: BTreeSet<OsString>,
    bytes: u64,
    warnings: BTreeSet<Warning>,
}

impl Boundary {
    /// Opens the boundary of a project; `root` must be without links.
    pub(crate) fn open(root: &Path) -> Arc<Self> {
        let boundary = Arc::new(Self { root: root.to_owned(), state: Mutex::default() });
        let mut open = OPEN.write().unwrap_or_else(PoisonError::into_inner);
        open.retain(|other| other.strong_count() > 0);
        open.push(Arc::downgrade(&boundary));
        boundary
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allows links to a folder that the user configured; does nothing if it does not exist.
    pub(crate) fn allow(&self, folder: &Path) {
        self.state().allowed.extend(fs::canonicalize(folder));
    }

    /// Limits the text that is read from the planning folder.
    pub(crate) fn limit(&self, planning: &Path) {
        self.state().planning = Some(planning.to_owned());
    }

    /// Returns the boundary of the innermost open project that a path lies in, if any.
    pub(crate) fn around(path: &Path) -> Option<Arc<Self>> {
        let open = OPEN.read().unwrap_or_else(PoisonError::into_inner);
        let boundaries = open.iter().filter_map(Weak::upgrade);
        // If a project was opened several times, the last boundary is in use.
        boundaries
            .filter(|boundary| boundary.contains(path))
            .max_by_key(|boundary| boundary.root.as_os_str().len())
    }

    /// Returns whether a path is in one of the folders.
    fn contains(&self, path: &Path) -> bool {
        is_below(path, &self.root)
            || self.state().allowed.iter().any(|folder| is_below(path, folder))
    }

    /// Returns a path with its links followed, or `None` and stores a warning if that is outside.
    pub(crate) fn resolve(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let real = real_path(path).map_err(|error| io::Error::other(error.reason()))?;
        let is_in_git = |path: &Path| path.components().any(|part| part.as_os_str() == ".git");
        let is_credentials =
            |path: &Path| is_credentials(path.strip_prefix(&self.root).unwrap_or(path));
        let message = if !self.contains(&real) {
            format!(
                "leads outside the project, to {}, so it is not read; linked_roots in your own settings \
                 can allow it",
                real.display()
            )
        } else if is_in_git(&real) && real != path {
            // Git's configuration may contain URLs with passwords.
            "leads into .git, so it is not read".to_owned()
        } else if is_credentials(&real) && !is_credentials(path) {
            "leads to a file with credentials, so it is not read".to_owned()
        } else {
            return Ok(Some(real));
        };
        self.state().warnings.insert(Warning::file(path, message));
        Ok(None)
    }

    /// Counts a file that was read, once, because the checks of one command read the same files; fails if the planning
    /// text exceeds the limit of one command.
    pub(crate) fn count(&self, path: &Path, bytes: u64) -> Result<()> {
        let state = &mut *self.state();
        let Some(planning) = state.planning.as_ref().filter(|planning| is_below(path, planning))
        else {
            return Ok(());
        };
        if state.counted.contains(path.as_os_str()) {
            return Ok(());
        }
        if state.bytes + bytes > MAX_BYTES || state.counted.len() >= MAX_FILES {
            return Err(Error::refused(exceeded())
                .about(planning)
                .hint("move finished milestones out of the planning folder"));
        }
        state.counted.insert(path.as_os_str().to_owned());
        state.bytes += bytes;
        Ok(())
    }

    /// Returns the files within the limits of one command, in order; a warning counts the rest.
    pub(crate) fn within_limit(folder: &Path, mut files: Vec<PathBuf>) -> Vec<PathBuf> {
        let mut bytes = 0;
        let is_beyond = |file: &PathBuf| {
            bytes += fs::metadata(file).map_or(0, |found| found.len().min(MAX_FILE));
            bytes > MAX_BYTES
        };
        let within = files.iter().position(is_beyond).unwrap_or(files.len());
        let rest = files.split_off(within.min(MAX_FILES)).len();
        if rest > 0
            && let Some(boundary) = Self::around(folder)
        {
            let message = format!("{}; {} left out", exceeded(), quantity(rest, "file"));
            boundary.state().warnings.insert(Warning::file(folder, message));
        }
        files
    }

    /// Returns the warnings about files left out since the last call.
    pub(crate) fn take_warnings(&self) -> BTreeSet<Warning> {
        std::mem::take(&mut self.state().warnings)
    }
}

fn exceeded() -> String {
    let mib = MAX_BYTES / 1024 / 1024;
    format!("exceeds what one command may read ({mib} MiB or {MAX_FILES} files)")
}

/// Returns whether a path names a file with credentials, or one in a folder for them.
fn is_credentials(path: &Path) -> bool {
    path.components().any(|part| {
        let name = part.as_os_str().to_string_lossy().to_lowercase();
        let extension = Path::new(&name).extension().map(|end| end.to_string_lossy());
        listed(CREDENTIALS, name.trim_end_matches('~'))
            || name.starts_with(".env.")
            || extension.is_some_and(|end| listed(KEYS, &end))
    })
}

/// Does the same as [`Path::starts_with`], but compares bytes first, because comparing components is much slower.
fn is_below(path: &Path, folder: &Path) -> bool {
    let (bytes, prefix) =
        (path.as_os_str().as_encoded_bytes(), folder.as_os_str().as_encoded_bytes());
    let rest = bytes.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.first() == Some(&b'/')) || path.starts_with(folder)
}

/// Maximum number of links followed, the same as in Linux.
const MAX_LINKS: usize = 40;

/// A folder to which writes are restricted, except for linked folders that the user allows.
#[derive(Debug)]
pub(crate) struct Root {
    named: PathBuf,
    real: PathBuf,
    linked: Vec<PathBuf>,
}

impl Root {
    /// Returns the folder, with the links in its path followed; `linked` are the other folders that the user allows.
    pub(crate) fn open(named: &Path, linked: &[PathBuf]) -> Result<Self> {
        let existing = linked.iter().filter_map(|path| fs::canonicalize(path).ok());
        Ok(Self {
            named: named.to_owned(),
            real: fs::canonicalize(named).at("open", named)?,
            linked: existing.collect(),
        })
    }

    /// Returns a recorded path below the folder's path as the caller named it.
    pub(crate) fn named(&self, relative: &Path) -> PathBuf {
        self.named.join(relative)
    }

    /// Returns the form of a real path in a record: relative to the folder, or absolute below a linked one.
    ///
    /// Any other path is refused, and one inside `.git`.
    pub(crate) fn relative(&self, real: &Path) -> Result<PathBuf> {
        let own = real.strip_prefix(&self.real).ok();
        let Some(below) = own.or_else(|| self.below_linked(real)) else {
            return Err(Error::refused("lies outside the project, so it is not written")
                .about(real)
                .hint(format!(
                    "the project is {}; linked_roots in your own settings can allow a folder outside",
                    self.named.display()
                )));
        };
        match is_plain(below) {
            true => Ok(own.unwrap_or(real).to_owned()),
            false => Err(Error::refused("is not written by annals").about(real)),
        }
    }

    fn below_linked<'a>(&self, real: &'a Path) -> Option<&'a Path> {
        let mut roots = self.linked.iter();
        roots.find_map(|root| real.strip_prefix(root).ok())
    }

    /// Returns the path of a recorded path.
    ///
    /// It contains no link, unless one was created since it was recorded, which opening the path's folder refuses.
    pub(crate) fn locate(&self, recorded: &Path) -> Result<PathBuf> {
        let below =
            if recorded.is_absolute() { self.below_linked(recorded) } else { Some(recorded) };
        if below.is_some_and(is_plain) {
            return Ok(self.real.join(recorded));
        }
        Err(Error::refused("is not written by annals").about(recorded))
    }
}

/// Returns whether a path is not empty and has only normal components, none of which is `.git`.
fn is_plain(relative: &Path) -> bool {
    !relative.as_os_str().is_empty()
        && relative.components().all(|component| match component {
            Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
            _ => false,
        })
}

/// Returns the real path to which a write to this path would go, even if it does not exist yet.
pub(crate) fn real_path(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Some(real) = if_present(fs::canonicalize(&path)).at("open", &path)? {
            return Ok(real);
        }
        match fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => return real_entry(&path),
        }
    }
    Err(io::Error::from(ErrorKind::InvalidInput)).at("follow its links", &path)
}

/// Returns the real path of a directory entry; if the entry itself is a link, that is not followed.
pub(crate) fn real_entry(path: &Path) -> Result<PathBuf> {
    let Some(name) = path.file_name() else {
        return Err(Error::failed("does not name a file").about(path));
    };
    Ok(real_path(folder_of(path))?.join(name))
}

/// Returns the folder of a path, `.` for a bare name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_path_belongs_to_the_innermost_open_project() {
        let outer = Boundary::open(Path::new("/annals-test/outer"));
        let inner = Boundary::open(Path::new("/annals-test/outer/inner"));
        let root_of =
            |path: &str| Boundary::around(Path::new(path)).map(|boundary| boundary.root.clone());
        assert_eq!(root_of("/annals-test/outer/inner/a.md"), Some(inner.root.clone()));
        assert_eq!(root_of("/annals-test/outer/a.md"), Some(outer.root.clone()));
        assert_eq!(root_of("/annals-test/outer-other/a.md"), None);
        drop((outer, inner));
        assert_eq!(root_of("/annals-test/outer/a.md"), None);
    }

    #[test]
    fn a_search_beyond_the_limit_counts_the_files_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let boundary = Boundary::open(&root);
        let count = usize::try_from(MAX_BYTES / MAX_FILE).unwrap();
        let large: Vec<PathBuf> = (0..count + 3).map(|n| root.join(format!("{n:02}.md"))).collect();
        for file in &large {
            fs::File::create(file).unwrap().set_len(MAX_FILE).unwrap();
        }
        let within = Boundary::within_limit(&root, large.clone());
        assert_eq!(within, large[..count]);
        let warning = boundary.take_warnings().pop_first().unwrap();
        assert!(warning.message.ends_with("3 files left out"), "{warning:?}");
        let many = vec![root.join("none.md"); MAX_FILES + 1];
        assert_eq!(Boundary::within_limit(&root, many.clone()).len(), many.len() - 1);
        assert_eq!(boundary.take_warnings().len(), 1);
        assert_eq!(Boundary::within_limit(&root, within.clone()), within);
        assert_eq!(boundary.take_warnings().len(), 0);
    }

    fn limited(planning: &str) -> Arc<Boundary> {
        let boundary = Boundary::open(Path::new(planning));
        boundary.limit(Path::new(planning));
        boundary
    }

    #[test]
    fn reading_beyond_the_limit_is_refused() {
        let limit = || limited("/annals-test/limit");
        let path = |number: usize| PathBuf::from(format!("/annals-test/limit/{number}.md"));
        let next = path(MAX_FILES);
        let refused =
            |limit: &Boundary| limit.count(&next, 1).unwrap_err().kind == ErrorKind::Refused;
        let bytes = limit();
        bytes.count(&path(0), MAX_BYTES).unwrap();
        assert!(refused(&bytes));
        let files = limit();
        for number in 0..MAX_FILES {
            files.count(&path(number), 0).unwrap();
        }
        assert!(refused(&files));
    }

    #[test]
    fn a_file_that_is_read_again_counts_once() {
        let limit = limited("/annals-test/limit");
        let path = Path::new("/annals-test/limit/a.md");
        for _ in 0..3 {
            limit.count(path, MAX_BYTES).unwrap();
        }
    }

    #[test]
    fn a_path_outside_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path(), &[]).unwrap();
        let inside = real_path(&folder.path().join("a/b.md")).unwrap();
        assert_eq!(root.relative(&inside).unwrap(), Path::new("a/b.md"));
        for outside in ["../x.md", ".git/hooks/pre-commit", "a/.GIT/config", "."] {
            let path = real_path(&folder.path().join(outside)).unwrap();
            assert_eq!(root.relative(&path).unwrap_err().kind, ErrorKind::Refused);
        }
    }

    #[test]
    fn a_recorded_path_cannot_leave() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path(), &[]).unwrap();
        for hostile in ["../x", "/etc/passwd", ".git/config", "a/../../x", ""] {
            assert!(root.locate(Path::new(hostile)).is_err(), "{hostile}");
        }
        assert_eq!(root.locate(Path::new("x")).unwrap(), root.real.join("x"));
    }

    #[test]
    fn a_path_in_a_linked_folder_is_recorded_as_absolute() {
        let folder = tempfile::tempdir().unwrap();
        let linked = fs::canonicalize(folder.path()).unwrap().join("linked");
        fs::create_dir_all(&linked).unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        let open = |linked: &[PathBuf]| Root::open(&folder.path().join("root"), linked).unwrap();
        let file = linked.join("STATE.md");
        assert_eq!(open(&[]).relative(&file).unwrap_err().kind, ErrorKind::Refused);
        assert!(open(&[]).locate(&file).is_err());
        let root = open(std::slice::from_ref(&linked));
        assert_eq!(root.relative(&file).unwrap(), file);
        assert_eq!(root.locate(&file).unwrap(), file);
        assert!(root.relative(&linked).is_err());
        assert!(root.relative(&linked.join(".git/config")).is_err());
        assert!(root.locate(&linked.join("../x")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_even_to_missing_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let real = fs::canonicalize(folder.path()).unwrap();
        std::os::unix::fs::symlink("AGENTS.md", at("CLAUDE.md")).unwrap();
        assert_eq!(real_path(&at("CLAUDE.md")).unwrap(), real.join("AGENTS.md"));
        assert_eq!(
            real_path(&real.join("a/./b//")).unwrap().as_os_str(),
            real.join("a/b").as_os_str()
        );
        assert_eq!(real_entry(&at("CLAUDE.md")).unwrap(), real.join("CLAUDE.md"));
        std::os::unix::fs::symlink("loop-b", at("loop-a")).unwrap();
        std::os::unix::fs::symlink("loop-a", at("loop-b")).unwrap();
        assert!(real_path(&at("loop-a")).is_err());
    }
}
