//! A folder as a map from path to bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every path of a folder and the bytes there; a folder is its path with a slash and no bytes.
pub(crate) type Tree = BTreeMap<String, Vec<u8>>;

/// What may change without anyone's text changing: our disposable cache, and git's own records.
const IGNORED: &[&str] = &[".annals", ".git"];

/// A larger file is told by its length: reading it would take longer than the run under test.
const MAX_READ: u64 = 16 * 1024 * 1024;

/// Returns every file below a folder, leaving out `.annals/` and `.git/` at any depth.
pub(crate) fn tree(folder: &Path) -> Tree {
    let mut all = Tree::new();
    collect(folder, "", IGNORED, &mut all);
    all
}

/// Returns every file below a folder, and leaves out nothing.
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
            // Not followed: a link that points elsewhere is a change, what it points to is not ours.
            let target = fs::read_link(entry.path()).unwrap();
            all.insert(path, format!("-> {}", target.display()).into_bytes());
        } else if kind.is_dir() {
            if !ignored.contains(&name.as_str()) {
                all.insert(format!("{path}/"), Vec::new());
                collect(&entry.path(), &format!("{path}/"), ignored, all);
            }
        } else if !kind.is_file() {
            // Opening a pipe would wait for its other end.
            all.insert(path, format!("{kind:?}").into_bytes());
        } else if entry.metadata().unwrap().len() > MAX_READ {
            let length = entry.metadata().unwrap().len();
            all.insert(path, format!("{length} bytes").into_bytes());
        } else {
            all.insert(path, fs::read(entry.path()).unwrap());
        }
    }
}

/// Returns one line for each path that came, went or changed, so that a failed comparison stays readable.
pub(crate) fn difference(before: &Tree, after: &Tree) -> Vec<String> {
    let gone = before
        .keys()
        .filter(|path| !after.contains_key(*path))
        .map(|path| format!("removed {path}"));
    let rest = after
        .iter()
        .filter_map(|(path, bytes)| match before.get(path) {
            None => Some(format!("added {path}")),
            Some(old) => (old != bytes).then(|| format!("changed {path}")),
        });
    gone.chain(rest).collect()
}

/// Copies a folder's content into another, writable even where the original is not.
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
            // fs::copy would carry a read-only mode over.
            fs::write(&target, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}
