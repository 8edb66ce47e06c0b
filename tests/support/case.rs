//! A temporary project folder and home directory for one test.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

use crate::support::environment;
use crate::support::invocation::Invocation;
use crate::support::tree::{Tree, copy, tree, whole_tree};

/// A temporary project folder, with its own home directory beside it.
pub(crate) struct Case {
    root: PathBuf,
    home: PathBuf,
    /// Keeps both folders alive as long as the case.
    _temp: TempDir,
}

impl Case {
    /// Returns a case with a copy of a folder of this package, such as `examples/vbw-project`.
    pub(crate) fn new(folder: &str) -> Self {
        Self::from(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))
    }

    /// Returns a case with a copy of any folder; the copy is writable even if the original is not.
    pub(crate) fn from(folder: impl AsRef<Path>) -> Self {
        let case = Self::empty();
        copy(folder.as_ref(), &case.root);
        case
    }

    /// Returns a copy of this case, with its home: preparing a project once, and copying it, costs no process each time.
    pub(crate) fn copy(&self) -> Self {
        let case = Self::from(&self.root);
        copy(&self.home, &case.home);
        case
    }

    /// Returns a case with an empty project folder.
    pub(crate) fn empty() -> Self {
        let temp = tempfile::tempdir().unwrap();
        // The binary may print the resolved path, which [ROOT] has to replace.
        let place = temp.path().canonicalize().unwrap();
        let (root, home) = (place.join("project"), place.join("home"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&home).unwrap();
        Self { root, home, _temp: temp }
    }

    /// Returns the project folder, shown as `[ROOT]` in output.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the home folder, shown as `[HOME]` in output.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Writes a file of the project, and creates its parent folders.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let file = self.root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
        self
    }

    /// Deletes a file of the project.
    pub(crate) fn remove(&self, path: &str) -> &Self {
        fs::remove_file(self.root.join(path)).unwrap();
        self
    }

    /// Returns the content of a file of the project, or `None` if there is no such file.
    pub(crate) fn read(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.root.join(path)).ok()
    }

    /// Returns every file of the project, to compare before and after.
    pub(crate) fn tree(&self) -> Tree {
        tree(&self.root)
    }

    /// Like [`Case::tree`], but including `.annals/` and `.git/`, to prove that nothing at all was written.
    pub(crate) fn whole_tree(&self) -> Tree {
        whole_tree(&self.root)
    }

    /// Prepares a run of the binary in the project folder; `line` is split into its arguments.
    pub(crate) fn run(&self, line: &str) -> Invocation<'_> {
        Invocation::new(self, env!("CARGO_BIN_EXE_annals"), line)
    }

    /// Prepares a run of another program, in the same folder and with the same environment.
    pub(crate) fn program(&self, line: &str) -> Invocation<'_> {
        let (program, arguments) = line.split_once(' ').unwrap_or((line, ""));
        Invocation::new(self, program, arguments)
    }

    /// Prepares a shell command in the project folder, for pipes and redirections; the binary is `$ANNALS`.
    pub(crate) fn shell(&self, script: &str) -> Invocation<'_> {
        Invocation::new(self, "sh", "")
            .args(["-c", script])
            .env("ANNALS", env!("CARGO_BIN_EXE_annals"))
    }

    /// Makes the project a git repository on the branch `main`.
    pub(crate) fn git_init(&self) -> &Self {
        self.git(["-c", "init.defaultBranch=main", "init", "--quiet"], &[]);
        self
    }

    /// Commits all changes at a time in RFC 3339, and returns the hash.
    pub(crate) fn commit(&self, message: &str, date: &str) -> String {
        let dates = [("GIT_AUTHOR_DATE", date), ("GIT_COMMITTER_DATE", date)];
        self.git(["add", "--all"], &[]);
        self.git(["commit", "--quiet", "--allow-empty", "-m", message], &dates);
        self.git(["rev-parse", "HEAD"], &[])
    }

    fn git<const N: usize>(&self, arguments: [&str; N], variables: &[(&str, &str)]) -> String {
        let output = Command::new("git")
            .env_clear()
            .envs(environment::variables(&self.home))
            .envs(variables.iter().copied())
            .current_dir(&self.root)
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}
