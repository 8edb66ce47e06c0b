//! Finds the project by walking up from a directory.
//!
//! The nearest folder that contains a planning folder, `.git`, the project's settings or one of its stores is
//! the project; all are checked at each level, so that a worktree or a nested repository never resolves to the
//! project around it. A planning folder is never a project itself, even if it is a separate repository.
//!
//! The home directory and the root of the file system count only as the starting directory: a `~/.git` for
//! dotfiles must not collect the memory of everything below it. If nothing is found, the starting directory
//! is the project.

use std::path::{Path, PathBuf};

use crate::project::dialect::LayoutName;

/// Returns the root of the project that a folder belongs to.
pub(crate) fn root(start: &Path, home: Option<&Path>) -> PathBuf {
    for dir in start.ancestors() {
        let is_top = Some(dir) == home || dir.parent().is_none();
        if is_top && dir != start {
            break;
        }
        if LayoutName::from_dir(dir).is_none() && is_project(dir) {
            return dir.to_owned();
        }
        if is_top {
            break;
        }
    }
    start.to_owned()
}

/// What only a project's folder contains: a repository, settings, entries or a ledger.
const MARKS: [&str; 4] = [".git", "annals.toml", ".vibekit", "docs/memory/STATE.md"];

fn is_project(dir: &Path) -> bool {
    MARKS.iter().any(|mark| dir.join(mark).exists()) || !layouts(dir).is_empty()
}

/// Returns the layouts whose planning folders exist in a project, the one to use first.
pub(crate) fn layouts(root: &Path) -> Vec<LayoutName> {
    LayoutName::ALL.into_iter().filter(|layout| root.join(layout.dir()).is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::fixture::Tree;

    #[test]
    fn the_nearest_planning_folder_or_repository_is_the_project() {
        let tree = Tree::new(&[".git/", ".vbw-planning/", "src/deep/", "packages/a/.planning/"]);
        assert_eq!(root(&tree.at("src/deep"), None), tree.at(""));
        assert_eq!(root(&tree.at(".vbw-planning"), None), tree.at(""));
        assert_eq!(root(&tree.at("packages/a"), None), tree.at("packages/a"));
        assert_eq!(root(&tree.at("packages"), None), tree.at(""));
    }

    #[test]
    fn a_worktree_or_nested_repository_never_resolves_to_the_project_around_it() {
        let tree = Tree::new(&[".git/", ".vbw-planning/", "nested/.git/", "nested/src/"]);
        tree.write("tree/.git", "gitdir: ../.git/worktrees/tree\n");
        tree.write("tree/src/main.rs", "");
        assert_eq!(root(&tree.at("nested/src"), None), tree.at("nested"));
        assert_eq!(root(&tree.at("tree/src"), None), tree.at("tree"));
    }

    #[test]
    fn a_planning_folder_that_is_a_repository_belongs_to_the_project_around_it() {
        let tree = Tree::new(&[".vbw-planning/.git/", ".vbw-planning/phases/"]);
        assert_eq!(root(&tree.at(".vbw-planning/phases"), None), tree.at(""));
    }

    #[test]
    fn home_is_a_project_only_as_the_working_directory() {
        let tree = Tree::new(&[".git/", "home/.git/", "home/notes/today/"]);
        let home = tree.at("home");
        let today = tree.at("home/notes/today");
        assert_eq!(root(&today, Some(&home)), today);
        assert_eq!(root(&home, Some(&home)), home);
        let bare = Tree::new(&[".git/", "home/"]);
        let home = bare.at("home");
        assert_eq!(root(&home, Some(&home)), home, "never above home");
    }

    #[test]
    fn a_store_is_found_from_a_folder_below_it_without_git() {
        for store in [".vibekit/memory/", "docs/memory/"] {
            let tree = Tree::new(&[store, "src/deep/"]);
            tree.write("docs/memory/STATE.md", "");
            assert_eq!(root(&tree.at("src/deep"), None), tree.at(""), "{store}");
            assert_eq!(root(&tree.at(store), None), tree.at(""), "{store}");
        }
    }

    #[test]
    fn a_file_of_that_name_is_not_a_planning_folder() {
        let tree = Tree::new(&[".planning/"]);
        tree.write(".vbw-planning", "");
        assert_eq!(layouts(&tree.at("")), [LayoutName::Gsd]);
    }
}
