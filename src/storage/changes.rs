//! Plans changes to files, in order; reading through the plan shows the effect of earlier changes.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use similar::TextDiff;

use crate::error::{At, Error, Result};
use crate::storage::boundary::Boundary;
use crate::storage::{append, boundary, read, record};

/// A change to the tree, with all data needed to check, repeat and revert it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Change {
    /// Replaces the content of a file; without old content it is created, without new content deleted.
    Write {
        path: PathBuf,
        #[serde(with = "record::content")]
        old: Option<Vec<u8>>,
        #[serde(with = "record::content")]
        new: Option<Vec<u8>>,
        /// The permission bits to restore when a deletion is reverted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
    /// Appends lines to a log; never reverted.
    Append { path: PathBuf, lines: String },
    /// Moves a file or a whole directory.
    Move { from: PathBuf, to: PathBuf },
    /// Creates a directory, unless it exists.
    CreateDirectory { path: PathBuf },
    /// Removes a directory if it is empty.
    RemoveDirectory { path: PathBuf },
}

impl Change {
    /// Returns the path that the change creates, edits or deletes.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Write { path, .. }
            | Self::Append { path, .. }
            | Self::Move { to: path, .. }
            | Self::CreateDirectory { path }
            | Self::RemoveDirectory { path } => path,
        }
    }

    /// Returns the path that the change moves from, if any.
    pub(crate) fn source(&self) -> Option<&Path> {
        match self {
            Self::Move { from, .. } => Some(from),
            _ => None,
        }
    }

    /// Returns whether the change creates or removes a directory.
    pub(crate) fn is_directory_change(&self) -> bool {
        matches!(self, Self::CreateDirectory { .. } | Self::RemoveDirectory { .. })
    }

    /// Returns whether the change is never reverted.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::Append { .. })
    }

    /// Returns the change with each path mapped by `name`.
    pub(crate) fn with_paths(mut self, name: impl Fn(&Path) -> Result<PathBuf>) -> Result<Self> {
        match &mut self {
            Self::Move { from, to, .. } => {
                *from = name(from)?;
                *to = name(to)?;
            }
            Self::Write { path, .. }
            | Self::Append { path, .. }
            | Self::CreateDirectory { path }
            | Self::RemoveDirectory { path } => *path = name(path)?,
        }
        Ok(self)
    }

    /// Returns the inverse change, or `None` if it is never reverted.
    pub(crate) fn inverse(&self) -> Option<Self> {
        Some(match self.clone() {
            Self::Write { path, old, new, mode } => Self::Write { path, old: new, new: old, mode },
            Self::Append { .. } => return None,
            Self::Move { from, to } => Self::Move { from: to, to: from },
            Self::CreateDirectory { path } => Self::RemoveDirectory { path },
            Self::RemoveDirectory { path } => Self::CreateDirectory { path },
        })
    }
}

/// Returns the files among the paths of changes, each once.
pub(crate) fn files(changes: &[Change]) -> Vec<&Path> {
    let mut seen = HashSet::new();
    changes
        .iter()
        .filter(|change| !change.is_directory_change())
        .map(Change::path)
        .filter(|path| seen.insert(*path))
        .collect()
}

/// The planned state of a path.
enum Planned {
    File(Vec<u8>),
    Directory,
    Absent,
    /// The plan does not change it; its content is on disk at this path, which a planned move may rename.
    OnDisk(PathBuf),
}

/// Planned changes to files, in order; a transaction applies them.
///
/// Reading through the plan ([`Changes::current`]) shows each file as the plan will leave it. Links in paths
/// are followed, so two names of one file are one file here.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    list: Vec<Change>,
}

impl Changes {
    /// Returns an empty plan.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the files that are created, edited, deleted or moved (by their new path), each once.
    pub fn paths(&self) -> Vec<&Path> {
        files(&self.list)
    }

    /// Returns the plan as a unified diff, with paths relative to `root`.
    pub fn diff(&self, root: &Path) -> String {
        let root = boundary::real_path(root).unwrap_or_else(|_| root.to_owned());
        unified(&self.list, &root)
    }

    /// Returns a file's bytes as the plan will leave them, or `None` if there will be no file.
    pub fn current(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        let real = boundary::real_path(path)?;
        if leads_outside(path, &real)? { Ok(None) } else { self.bytes(&real) }
    }

    /// Plans to write a file; equal content adds nothing, and missing folders are created.
    pub fn write(&mut self, path: &Path, new: impl Into<Vec<u8>>) -> Result<()> {
        let real = boundary::real_path(path)?;
        // Applying a plan that leads outside is refused; until then, the file's content is not shown.
        let old = if leads_outside(path, &real)? { None } else { self.bytes(&real)? };
        self.replace(real, old, Some(new.into()))
    }

    /// Plans to write a file whose `old` content the caller has read, `None` for a new file.
    ///
    /// If the file has other content when the plan is applied, nothing is applied.
    pub fn edit(
        &mut self,
        path: &Path,
        old: Option<Vec<u8>>,
        new: impl Into<Vec<u8>>,
    ) -> Result<()> {
        self.replace_known(boundary::real_path(path)?, old, Some(new.into()))
    }

    /// Plans to delete a file; a missing file adds nothing.
    pub fn delete(&mut self, path: &Path) -> Result<()> {
        let path = deletable(path)?;
        let old = self.bytes(&path)?;
        self.replace(path, old, None)
    }

    /// Plans to delete a file whose `old` content the caller has read.
    ///
    /// If the file has other content when the plan is applied, nothing is applied.
    pub fn delete_read(&mut self, path: &Path, old: Option<Vec<u8>>) -> Result<()> {
        self.replace_known(deletable(path)?, old, None)
    }

    /// Plans to append lines to a log; `undo` does not remove them.
    pub fn append(&mut self, path: &Path, lines: impl Into<String>) -> Result<()> {
        let path = boundary::real_path(path)?;
        self.create_parents(&path)?;
        self.list.push(Change::Append { path, lines: lines.into() });
        Ok(())
    }

    /// Plans to move a file, or a directory with its content, to a path that must not exist.
    pub fn rename(&mut self, from: &Path, to: &Path) -> Result<()> {
        let from = boundary::real_entry(from)?;
        let to = boundary::real_entry(to)?;
        if !self.exists(&from)? {
            return Err(Error::not_found("does not exist, so it cannot be moved").about(&from));
        }
        if to.starts_with(&from) {
            return Err(Error::failed("cannot be moved into itself").about(&from));
        }
        if self.exists(&to)? {
            return Err(Error::refused("is in the way of a move").about(&to));
        }
        self.create_parents(&to)?;
        self.list.push(Change::Move { from, to });
        Ok(())
    }

    /// Plans to create a directory with its parents; an existing directory adds nothing.
    pub fn create_dir(&mut self, path: &Path) -> Result<()> {
        let path = boundary::real_path(path)?;
        self.create_parents(&path.join("-"))
    }

    /// Plans to remove a directory; adds nothing if the plan does not leave it empty.
    pub fn remove_dir(&mut self, path: &Path) -> Result<()> {
        let path = boundary::real_entry(path)?;
        if self.is_directory(&path)? && self.is_vacant(&path)? {
            self.list.push(Change::RemoveDirectory { path });
        }
        Ok(())
    }

    /// Appends another plan; fails if both change the same file independently.
    pub fn extend(&mut self, other: Self) -> Result<()> {
        for change in other.list {
            match change {
                Change::Write { path, old, new, .. } => self.replace_known(path, old, new)?,
                other => self.list.push(other),
            }
        }
        Ok(())
    }

    /// Plans to revert a change; refused if its result has changed since. What was moved is moved back as it is now.
    pub(crate) fn revert(&mut self, change: Change) -> Result<()> {
        match change {
            Change::Write { path, old, new, mode } => {
                if self.bytes(&path)? != new {
                    return Err(changed_since(&path));
                }
                self.replace(path.clone(), new, old)?;
                self.set_mode(&path, mode);
                Ok(())
            }
            Change::Append { .. } => Ok(()),
            Change::Move { from, to } => {
                if !self.exists(&to)? || self.exists(&from)? {
                    return Err(changed_since(&to));
                }
                self.rename(&to, &from)
            }
            Change::CreateDirectory { path } => self.remove_dir(&path),
            Change::RemoveDirectory { path } => self.create_dir(&path),
        }
    }

    /// Returns the mark that a waiting change of an interrupted operation has so far: applied if its result is there, left
    /// alone if its file has changed since.
    pub(crate) fn completed(&self, change: &Change) -> Result<u8> {
        Ok(match change {
            Change::Write { path, old, new, .. } => match self.bytes(path)? {
                now if now == *new => record::APPLIED,
                now if now == *old => record::WAITING,
                _ => record::LEFT_ALONE,
            },
            Change::Move { to, .. } if !self.exists(to)? => record::WAITING,
            _ => record::APPLIED,
        })
    }

    /// Returns the changes in order, by real paths.
    pub(crate) fn into_list(self) -> Vec<Change> {
        self.list
    }

    /// Returns the planned state of a real path.
    fn planned(&self, path: &Path) -> Result<Planned> {
        self.planned_before(path, self.list.len())
    }

    fn planned_before(&self, path: &Path, end: usize) -> Result<Planned> {
        let mut path = path.to_owned();
        for (index, change) in self.list[..end].iter().enumerate().rev() {
            if let Change::Move { from, to, .. } = change {
                if let Ok(below) = path.strip_prefix(to) {
                    path = join(from, below);
                } else if path.starts_with(from) {
                    return Ok(Planned::Absent);
                }
                continue;
            }
            // Bytes are compared, because comparing components is much slower.
            if change.path().as_os_str() != path.as_os_str() {
                continue;
            }
            return Ok(match change {
                Change::Write { new, .. } => new.clone().map_or(Planned::Absent, Planned::File),
                Change::Append { lines, .. } => {
                    let before = bytes_of(self.planned_before(&path, index)?, &path)?;
                    Planned::File(append::joined(before.unwrap_or_default(), lines.as_bytes()))
                }
                Change::CreateDirectory { .. } => Planned::Directory,
                Change::RemoveDirectory { .. } | Change::Move { .. } => Planned::Absent,
            });
        }
        Ok(Planned::OnDisk(path))
    }

    fn bytes(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        bytes_of(self.planned(path)?, path)
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        Ok(match self.planned(path)? {
            Planned::File(_) | Planned::Directory => true,
            Planned::Absent => false,
            Planned::OnDisk(path) => {
                read::if_present(fs::symlink_metadata(&path)).at("read", &path)?.is_some()
            }
        })
    }

    fn is_directory(&self, path: &Path) -> Result<bool> {
        Ok(match self.planned(path)? {
            Planned::Directory => true,
            Planned::File(_) | Planned::Absent => false,
            Planned::OnDisk(path) => path.is_dir(),
        })
    }

    /// Returns whether a directory will be empty: whether no file on disk and no planned file is in it. If it is not empty
    /// after all, removing it does nothing.
    fn is_vacant(&self, directory: &Path) -> Result<bool> {
        let planned = self.list.iter().map(Change::path);
        let is_below = |path: &&Path| path.starts_with(directory) && *path != directory;
        let mut below: Vec<PathBuf> = planned.filter(is_below).map(Path::to_owned).collect();
        if let Planned::OnDisk(path) = self.planned(directory)? {
            for entry in fs::read_dir(&path).at("list", &path)? {
                below.push(directory.join(entry.at("list", &path)?.file_name()));
            }
        }
        for path in below {
            if self.exists(&path)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn replace_known(
        &mut self,
        path: PathBuf,
        old: Option<Vec<u8>>,
        new: Option<Vec<u8>>,
    ) -> Result<()> {
        let planned = match self.planned(&path)? {
            Planned::OnDisk(_) => return self.replace(path, old, new),
            Planned::File(bytes) => Some(bytes),
            Planned::Directory | Planned::Absent => None,
        };
        if planned != old {
            return Err(Error::failed("is changed twice in one operation").about(&path));
        }
        self.replace(path, old, new)
    }

    fn replace(&mut self, path: PathBuf, old: Option<Vec<u8>>, new: Option<Vec<u8>>) -> Result<()> {
        if old == new {
            return Ok(());
        }
        if let Some(new) = &new {
            if new.len() as u64 > read::MAX_FILE {
                return Err(read::too_large(&path, "would be", "written"));
            }
            // A text without git's markers resolves the conflict.
            if read::refuse_conflict(new, &path).is_err() {
                read::refuse_conflict(old.as_deref().unwrap_or_default(), &path)?;
            }
            self.create_parents(&path)?;
        }
        let Some(index) = self.last_write(&path) else {
            self.list.push(Change::Write { path, old, new, mode: None });
            return Ok(());
        };
        if let Change::Write { old, new: planned, .. } = &mut self.list[index] {
            if *old == new {
                self.list.remove(index);
            } else {
                *planned = new;
            }
        }
        Ok(())
    }

    fn set_mode(&mut self, path: &Path, bits: Option<u32>) {
        if let Some(index) = self.last_write(path)
            && let Change::Write { mode, .. } = &mut self.list[index]
        {
            *mode = bits;
        }
    }

    /// Returns the last change of a file if it is a write, so that another one can be merged into it.
    fn last_write(&self, path: &Path) -> Option<usize> {
        let concerns = |change: &Change| {
            change.path().as_os_str() == path.as_os_str()
                || change
                    .source()
                    .is_some_and(|from| path.starts_with(from) || path.starts_with(change.path()))
        };
        let index = self.list.iter().rposition(concerns)?;
        matches!(self.list[index], Change::Write { .. }).then_some(index)
    }

    fn create_parents(&mut self, path: &Path) -> Result<()> {
        let mut missing = Vec::new();
        for folder in path.ancestors().skip(1) {
            if self.is_directory(folder)? {
                break;
            }
            if self.exists(folder)? {
                return Err(Error::failed("is a file, a directory was expected").about(folder));
            }
            missing.push(folder.to_owned());
        }
        for path in missing.into_iter().rev() {
            self.list.push(Change::CreateDirectory { path });
        }
        Ok(())
    }
}

/// Joins two paths without adding a trailing slash if the second one is empty.
fn join(path: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { path.to_owned() } else { path.join(below) }
}

fn bytes_of(state: Planned, path: &Path) -> Result<Option<Vec<u8>>> {
    match state {
        Planned::File(bytes) => Ok(Some(bytes)),
        Planned::Absent => Ok(None),
        Planned::OnDisk(path) => read::bytes(&path),
        Planned::Directory => Err(Error::failed("is a directory, a file was expected").about(path)),
    }
}

/// Returns the path of a file to delete, which must not be a link.
fn deletable(path: &Path) -> Result<PathBuf> {
    let path = boundary::real_entry(path)?;
    if path.is_symlink() {
        return Err(Error::refused("is a symbolic link, which annals does not delete")
            .about(&path)
            .hint("delete it by hand"));
    }
    Ok(path)
}

/// Returns whether a path is in a project but leads out of it, when its links are followed to the `real` path.
fn leads_outside(path: &Path, real: &Path) -> Result<bool> {
    match Boundary::around(path) {
        Some(boundary) if path != real => Ok(boundary.resolve(path).at("open", path)?.is_none()),
        _ => Ok(false),
    }
}

/// Returns the error for a file that cannot be restored.
pub(crate) fn changed_since(path: &Path) -> Error {
    Error::refused("has changed since then; nothing was undone")
        .about(path)
        .hint("take back what was changed since, then undo it; the record in .annals/history/ has the content before and after, as JSON")
}

/// Maximum number of lines of both sides together; longer diffs are useless and slow to compute.
const MAX_LINES: usize = 20_000;

/// Returns the changes as one unified diff, with paths relative to `root`.
pub(crate) fn unified(changes: &[Change], root: &Path) -> String {
    changes.iter().map(|change| diff_of_change(change, changes, root)).collect()
}

fn diff_of_change(change: &Change, all: &[Change], root: &Path) -> String {
    let name = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    match change {
        Change::Write { path, old, new, .. } => {
            let side = |letter, content: &Option<Vec<u8>>| match content {
                Some(_) => format!("{letter}/{}", name(path)),
                None => "/dev/null".to_owned(),
            };
            let (old_name, new_name) = (side('a', old), side('b', new));
            let (old, new) = (old.as_deref(), new.as_deref());
            diff_of_content(&old_name, old.unwrap_or_default(), &new_name, new.unwrap_or_default())
        }
        Change::Append { path, lines } => {
            let name = name(path);
            let added = lines.lines().fold(String::new(), |text, line| text + "+" + line + "\n");
            format!("--- a/{name}\n+++ b/{name}\n@@ at the end @@\n{added}")
        }
        Change::Move { from, to, .. } => {
            format!("rename from {}\nrename to {}\n", name(from), name(to))
        }
        Change::CreateDirectory { path } => {
            let is_below =
                |other: &Change| other.path() != path.as_path() && other.path().starts_with(path);
            if all.iter().any(is_below) {
                return String::new();
            }
            format!("new directory {}\n", name(path))
        }
        Change::RemoveDirectory { path } => format!("remove directory {} if empty\n", name(path)),
    }
}

fn diff_of_content(old_name: &str, old: &[u8], new_name: &str, new: &[u8]) -> String {
    let heading = format!("--- {old_name}\n+++ {new_name}\n");
    let texts = str::from_utf8(old).ok().zip(str::from_utf8(new).ok());
    let is_short =
        |(old, new): &(&str, &str)| old.lines().count() + new.lines().count() <= MAX_LINES;
    let Some((old, new)) = texts.filter(is_short) else {
        let (new, old) = (new.len(), old.len());
        return format!("{heading}not text, or too long to show: {new} bytes, was {old}\n");
    };
    if old.is_empty() && new.is_empty() {
        return heading;
    }
    TextDiff::from_lines(old, new).unified_diff().header(old_name, new_name).to_string()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::error::ErrorKind;

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(folder.path()).unwrap();
        (folder, path)
    }

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        #[expect(clippy::disallowed_methods, reason = "sets up the test")]
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_read_sees_the_planned_content() {
        let (_folder, root) = tree();
        let (file, moved) = (root.join("a/b.md"), root.join("c/b.md"));
        let mut changes = Changes::new();
        changes.write(&file, "one").unwrap();
        assert_eq!(changes.current(&file).unwrap().unwrap(), b"one");
        changes.append(&file, "two").unwrap();
        assert_eq!(changes.current(&file).unwrap().unwrap(), b"one\ntwo\n");
        changes.rename(&root.join("a"), &root.join("c")).unwrap();
        assert_eq!(changes.current(&file).unwrap(), None);
        assert_eq!(changes.current(&moved).unwrap().unwrap(), b"one\ntwo\n");
        changes.delete(&moved).unwrap();
        assert_eq!(changes.current(&moved).unwrap(), None);
        assert!(!root.join("a").exists(), "only planned");
    }

    #[test]
    fn writing_the_old_content_plans_no_change() {
        let (_folder, root) = tree();
        let file = root.join("a.md");
        put(&file, "one");
        let mut changes = Changes::new();
        changes.write(&file, "one").unwrap();
        assert!(changes.is_empty());
        changes.write(&file, "two").unwrap();
        changes.write(&file, "three").unwrap();
        assert_eq!(changes.paths(), [file.as_path()]);
        assert_eq!(changes.into_list().len(), 1);
        let mut changes = Changes::new();
        changes.write(&file, "two").unwrap();
        changes.write(&file, "one").unwrap();
        assert!(changes.is_empty());
    }

    #[test]
    fn a_file_in_place_of_a_folder_is_reported() {
        let (_folder, root) = tree();
        put(&root.join("a"), "a file");
        let error = Changes::new().write(&root.join("a/b/c.md"), "x").unwrap_err();
        assert!(error.to_string().contains("is a file, a directory"), "{error}");
        let error = Changes::new().write(&root, "x").unwrap_err();
        assert!(error.to_string().contains("is a directory"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn two_names_of_one_file_are_one_file() {
        let (_folder, root) = tree();
        let (real, link) = (root.join("AGENTS.md"), root.join("CLAUDE.md"));
        std::os::unix::fs::symlink("AGENTS.md", &link).unwrap();
        let mut changes = Changes::new();
        changes.write(&link, "one").unwrap();
        assert_eq!(changes.current(&real).unwrap().unwrap(), b"one");
        changes.write(&real, "one").unwrap();
        assert_eq!(changes.paths(), [real.as_path()]);
        assert_eq!(changes.delete(&link).unwrap_err().kind, ErrorKind::Refused);
    }

    #[test]
    fn a_file_is_deleted_with_the_content_that_was_read() {
        let (_folder, root) = tree();
        put(&root.join("a"), "saved since");
        let mut changes = Changes::new();
        changes.delete_read(&root.join("a"), Some(b"read".to_vec())).unwrap();
        assert!(changes.diff(&root).contains("-read"), "{}", changes.diff(&root));
    }

    #[test]
    fn plans_join_unless_both_change_a_file() {
        let (_folder, root) = tree();
        put(&root.join("a"), "old");
        let mut first = Changes::new();
        first.write(&root.join("a"), "new").unwrap();
        let mut second = Changes::new();
        second.write(&root.join("b"), "new").unwrap();
        first.extend(second.clone()).unwrap();
        assert_eq!(first.paths().len(), 2);
        let mut third = Changes::new();
        third.edit(&root.join("a"), Some(b"old".to_vec()), "x").unwrap();
        assert!(first.extend(third).is_err());
    }

    #[test]
    fn nothing_is_moved_over_or_into_itself() {
        let (_folder, root) = tree();
        put(&root.join("a/x"), "x");
        put(&root.join("b/x"), "x");
        let mut changes = Changes::new();
        let (a, b) = (root.join("a"), root.join("b"));
        assert_eq!(changes.rename(&a, &b).unwrap_err().kind, ErrorKind::Refused);
        assert!(changes.rename(&a, &a.join("below")).is_err());
        let missing = changes.rename(&root.join("c"), &root.join("d"));
        assert_eq!(missing.unwrap_err().kind, ErrorKind::NotFound);
        changes.rename(&a, &root.join("c")).unwrap();
        changes.rename(&b, &a).unwrap();
        assert_eq!(changes.current(&a.join("x")).unwrap().unwrap(), b"x");
    }

    fn write(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> Change {
        Change::Write {
            path: Path::new("/p").join(path),
            old: old.map(<[u8]>::to_vec),
            new: new.map(<[u8]>::to_vec),
            mode: None,
        }
    }

    #[test]
    fn each_kind_of_change_is_shown() {
        let changes = [
            Change::CreateDirectory { path: PathBuf::from("/p/new") },
            write("new/a.md", None, Some(b"one\n")),
            write("b.md", Some(b"one\ntwo\n"), Some(b"one\n2\n")),
            write("c.md", Some(b"gone"), None),
            write("d.bin", Some(b"\xff"), Some(b"\xfe\xff")),
            Change::Move { from: PathBuf::from("/p/x"), to: PathBuf::from("/p/y") },
            Change::Append { path: PathBuf::from("/p/log.md"), lines: "- line".to_owned() },
        ];
        let shown = unified(&changes, Path::new("/p"));
        let expected = "--- /dev/null\n+++ b/new/a.md\n@@ -0,0 +1 @@\n+one\n\
            --- a/b.md\n+++ b/b.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n\
            --- a/c.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n\\ No newline at end of file\n\
            --- a/d.bin\n+++ b/d.bin\nnot text, or too long to show: 2 bytes, was 1\n\
            rename from x\nrename to y\n\
            --- a/log.md\n+++ b/log.md\n@@ at the end @@\n+- line\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_huge_change_is_summarised() {
        let lines = "line\n".repeat(MAX_LINES);
        let shown = unified(&[write("a", Some(b"x"), Some(lines.as_bytes()))], Path::new("/p"));
        assert!(shown.contains("too long to show: 100000 bytes, was 1"), "{shown}");
    }
}
