//! Snapshots a folder as a map from path to content.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every path in a folder with its content; folders end with a slash and have no content.
pub(crate) type Tree = BTreeMap<String, Vec<u8>>;

/// Folders that may change without changing the user's files: our disposable cache, and git's data.
const IGNORED: &[&str] = &[".annals", ".git"];

/// Maximum size of a file that is read, in bytes: for a larger one, only the size is compared.
const MAX_READ: u64 = 16 * 1024 * 1024;

/// Returns every file below a folder, except in `.annals/` and `.git/` at any depth.
pub(crate) fn tree(folder: &Path) -> Tree {
    let mut all = Tree::new();
    collect(folder, "", IGNORED, &mut all);
    all
}

/// Returns every file below a folder, without exceptions.
pub(crate) fn whole_tree(folder: &Path) -> Tree {
    let mut all = Tree::new();
    collect(folder, "", &[], &mut all);
    all
}

fn collect(folder: &Path, prefix: &str, ignored: &[&str], all: &mut Tree) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().unwrap();
        if kind.is_symlink() {
            // Links are not followed: a new target is a change, but the target's content is not ours.
            let target = fs::read_link(entry.path()).unwrap();
            all.insert(path, format!("-> {}", target.display()).into_bytes());
        } else if kind.is_dir() {
            if !ignored.contains(&name.as_str()) {
                all.insert(format!("{path}/"), Vec::new());
                collect(&entry.path(), &format!("{path}/"), ignored, all);
            }
        } else if !kind.is_file() {
            // Opening a pipe would block.
            all.insert(path, format!("{kind:?}").into_bytes());
        } else if entry.metadata().unwrap().len() > MAX_READ {
            let length = entry.metadata().unwrap().len();
            all.insert(path, format!("{length} bytes").into_bytes());
        } else {
            all.insert(path, fs::read(entry.path()).unwrap());
        }
    }
}

/// Returns one line for each path that was added, removed or changed, to keep failed comparisons readable.
pub(crate) fn difference(before: &Tree, after: &Tree) -> Vec<String> {
    let gone = before
        .keys()
        .filter(|path| !after.contains_key(*path))
        .map(|path| format!("removed {path}"));
    let rest = after.iter().filter_map(|(path, bytes)| match before.get(path) {
        None => Some(format!("added {path}")),
        Some(old) => (old != bytes).then(|| format!("changed {path}")),
    });
    gone.chain(rest).collect()
}

/// Copies the content of a folder into another, writable even if the original is not.
pub(super) fn copy(from: &Path, to: &Path) {
    let entries = fs::read_dir(from).unwrap_or_else(|e| panic!("{}: {e}", from.display()));
    for entry in entries {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            fs::create_dir(&target).unwrap();
            copy(&entry.path(), &target);
        } else if kind.is_file() {
            // `fs::copy` would preserve a read-only mode.
            fs::write(&target, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}
