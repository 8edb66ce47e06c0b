//! Plans changes to files, in order; reading through the plan shows the effect of earlier changes.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{At, Error, Result};
use crate::storage::boundary::Boundary;
use crate::storage::change::Change;
use crate::storage::preview::{PathState, Preview};
use crate::storage::{diff, disk, fingerprint, read, root};

/// Planned changes to files, in order; a transaction applies them.
///
/// Reading through the plan ([`Changes::current`]) shows each file as the plan will leave it. Links in paths
/// are followed, so two names of one file are one file here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    preview: Preview,
}

impl Changes {
    /// Returns an empty plan.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.preview.changes().is_empty()
    }

    /// Returns the files that are created, edited, deleted or moved (by their new path), each once.
    pub fn paths(&self) -> Vec<&Path> {
        let mut seen = HashSet::new();
        let changes = self.preview.changes().iter();
        changes
            .filter(|change| !change.is_directory_change() && seen.insert(change.path()))
            .map(Change::path)
            .collect()
    }

    /// Returns the plan as a unified diff, with paths relative to `root`.
    pub fn diff(&self, root: &Path) -> String {
        let root = root::real_path(root).unwrap_or_else(|_| root.to_owned());
        diff::unified(self.preview.changes(), &root)
    }

    /// Returns a file's bytes as the plan will leave them, or `None` if there will be no file.
    pub fn current(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        match resolve(path)? {
            Resolved::Inside(real) => self.preview.bytes(&real),
            Resolved::Outside(_) => Ok(None),
        }
    }

    /// Plans to write a file; equal content adds nothing, and missing folders are created.
    pub fn write(&mut self, path: &Path, new: impl Into<Vec<u8>>) -> Result<()> {
        let (path, old) = match resolve(path)? {
            Resolved::Inside(real) => {
                let old = self.preview.bytes(&real)?;
                (real, old)
            }
            // Applying the plan will refuse it; until then, the file's content is not shown.
            Resolved::Outside(real) => (real, None),
        };
        self.replace(path, old, Some(new.into()))
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
        self.replace_known(root::real_path(path)?, old, Some(new.into()))
    }

    /// Plans a new file with these bytes and the permissions of another file.
    pub fn copy(&mut self, from: &Path, to: &Path, bytes: Vec<u8>) -> Result<()> {
        let to = root::real_path(to)?;
        self.replace_known(to.clone(), None, Some(bytes))?;
        let metadata = fs::metadata(from).at("read", from)?;
        self.set_mode(&to, disk::mode(&metadata));
        Ok(())
    }

    /// Plans to delete a file; a missing file adds nothing.
    pub fn delete(&mut self, path: &Path) -> Result<()> {
        let path = root::real_entry(path)?;
        if path.is_symlink() {
            return Err(Error::refused("is a symbolic link, which annals does not delete")
                .at(&path, None)
                .hint("delete it by hand"));
        }
        let old = self.preview.bytes(&path)?;
        self.replace(path, old, None)
    }

    /// Plans to append lines to a log; `undo` does not remove them.
    pub fn append(&mut self, path: &Path, lines: impl Into<Vec<u8>>) -> Result<()> {
        let path = root::real_path(path)?;
        self.create_parents(&path)?;
        self.preview.push(Change::Append { path, lines: lines.into() });
        Ok(())
    }

    /// Plans to move a file, or a directory with its content, to a path that must not exist.
    pub fn rename(&mut self, from: &Path, to: &Path) -> Result<()> {
        let from = root::real_entry(from)?;
        let to = root::real_entry(to)?;
        if !self.preview.exists(&from)? {
            return Err(Error::not_found("does not exist, so it cannot be moved").at(&from, None));
        }
        if to.starts_with(&from) {
            return Err(Error::failed("cannot be moved into itself").at(&from, None));
        }
        if self.preview.exists(&to)? {
            return Err(Error::refused("is in the way of a move").at(&to, None));
        }
        self.create_parents(&to)?;
        let contents = self.preview.contents(&from)?;
        self.preview.push(Change::Move { from, to, contents });
        Ok(())
    }

    /// Plans to create a directory with its parents; an existing directory adds nothing.
    pub fn create_dir(&mut self, path: &Path) -> Result<()> {
        let path = root::real_path(path)?;
        if self.preview.is_directory(&path)? {
            return Ok(());
        }
        if self.preview.exists(&path)? {
            return Err(Error::failed("is a file, a directory was expected").at(&path, None));
        }
        self.create_parents(&path)?;
        self.preview.push(Change::CreateDirectory { path });
        Ok(())
    }

    /// Plans to remove a directory; adds nothing if the plan does not leave it empty.
    pub fn remove_dir(&mut self, path: &Path) -> Result<()> {
        let path = root::real_entry(path)?;
        if self.preview.is_directory(&path)? && self.preview.is_vacant(&path)? {
            self.preview.push(Change::RemoveDirectory { path });
        }
        Ok(())
    }

    /// Appends another plan; fails if both change the same file independently.
    pub fn extend(&mut self, other: Self) -> Result<()> {
        for change in other.into_list() {
            match change {
                Change::Write { path, old, new, mode } => {
                    self.replace_known(path.clone(), old, new)?;
                    self.set_mode(&path, mode);
                }
                Change::Append { path, lines } => self.append(&path, lines)?,
                Change::Move { from, to, .. } => self.rename(&from, &to)?,
                Change::CreateDirectory { path } => self.create_dir(&path)?,
                Change::RemoveDirectory { path } => self.remove_dir(&path)?,
            }
        }
        Ok(())
    }

    /// Plans to revert a change; refused if its result has changed since.
    pub(crate) fn revert(&mut self, change: Change<Vec<u8>>) -> Result<()> {
        match change {
            Change::Write { path, old, new, mode } => {
                if self.preview.bytes(&path)? != new {
                    return Err(changed_since(&path));
                }
                self.replace(path.clone(), new, old)?;
                self.set_mode(&path, mode);
                Ok(())
            }
            Change::Append { .. } => Ok(()),
            Change::Move { from, to, contents } => {
                if !self.preview.exists(&to)? || self.preview.exists(&from)? {
                    return Err(changed_since(&to));
                }
                let now = self.preview.contents(&to)?;
                if let Some(below) = fingerprint::first_changed(&contents, &now) {
                    return Err(changed_since(&fingerprint::join(&to, below)));
                }
                self.rename(&to, &from)
            }
            Change::CreateDirectory { path } => self.remove_dir(&path),
            Change::RemoveDirectory { path } => self.create_dir(&path),
        }
    }

    /// Returns the changes in order, by real paths.
    pub(crate) fn into_list(self) -> Vec<Change<Vec<u8>>> {
        self.preview.into_changes()
    }

    fn replace_known(
        &mut self,
        path: PathBuf,
        old: Option<Vec<u8>>,
        new: Option<Vec<u8>>,
    ) -> Result<()> {
        let planned = match self.preview.lookup(&path)? {
            PathState::OnDisk(_) => return self.replace(path, old, new),
            PathState::File(bytes) => Some(bytes),
            PathState::Directory | PathState::Absent => None,
        };
        if planned != old {
            return Err(Error::failed("is changed twice in one operation").at(&path, None));
        }
        self.replace(path, old, new)
    }

    fn replace(&mut self, path: PathBuf, old: Option<Vec<u8>>, new: Option<Vec<u8>>) -> Result<()> {
        if old == new {
            return Ok(());
        }
        if let Some(new) = &new {
            if new.len() as u64 > read::MAX_FILE {
                return Err(read::too_large(&path));
            }
            self.create_parents(&path)?;
        }
        let Some((index, earlier)) = self.preview.last_write(&path) else {
            self.preview.push(Change::Write { path, old, new, mode: None });
            return Ok(());
        };
        if let Change::Write { old, new: planned, .. } = earlier {
            if *old == new {
                self.preview.remove(index);
            } else {
                *planned = new;
            }
        }
        Ok(())
    }

    fn set_mode(&mut self, path: &Path, bits: Option<u32>) {
        if let Some((_, Change::Write { mode, .. })) = self.preview.last_write(path) {
            *mode = bits;
        }
    }

    fn create_parents(&mut self, path: &Path) -> Result<()> {
        let mut missing = Vec::new();
        for folder in path.ancestors().skip(1) {
            if self.preview.is_directory(folder)? {
                break;
            }
            if self.preview.exists(folder)? {
                return Err(Error::failed("is a file, a directory was expected").at(folder, None));
            }
            missing.push(folder.to_owned());
        }
        for path in missing.into_iter().rev() {
            self.preview.push(Change::CreateDirectory { path });
        }
        Ok(())
    }
}

fn changed_since(path: &Path) -> Error {
    Error::refused("has changed since then; nothing was undone")
        .at(path, None)
        .hint("its old content is in the record that `annals log` lists")
}

/// A path with its links followed.
enum Resolved {
    /// The real path, in the project or in no project.
    Inside(PathBuf),
    /// The real path, outside the project that the path is in.
    Outside(PathBuf),
}

/// Follows the links of a path; its project is the one that contains the path before links are followed.
fn resolve(path: &Path) -> Result<Resolved> {
    let real = root::real_path(path)?;
    Ok(match Boundary::around(path) {
        Some(boundary) if boundary.resolve(path).at("open", path)?.is_none() => {
            Resolved::Outside(real)
        }
        _ => Resolved::Inside(real),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

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
}
