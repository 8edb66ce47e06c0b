//! Lists the files in the index.

use crate::error::Result;
use crate::git::program::Program;

/// The content of the index, as paths relative to the top of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrackedFiles {
    /// The files, sorted as git sorts them.
    pub files: Vec<String>,
    /// The submodules; their content belongs to other repositories.
    pub submodules: Vec<String>,
}

/// A submodule's mode in the index.
const SUBMODULE: &str = "160000";

/// Reads the index. Names that are not valid UTF-8 contain U+FFFD.
pub(crate) fn tracked(program: Program<'_>) -> Result<Option<TrackedFiles>> {
    // Not `--stage`, which takes twice as long; submodules are few and listed in a file.
    let Some(output) = program.run(&["ls-files", "-z"])? else {
        return Ok(None);
    };
    let mut tracked = TrackedFiles { files: names(&output), submodules: Vec::new() };
    if tracked.files.iter().any(|name| name == ".gitmodules") {
        let arguments = ["ls-files", "-z", "--stage"];
        let stages = program.run(&arguments)?.unwrap_or_default();
        tracked.submodules = stages
            .split('\0')
            .filter_map(|line| Some(line.strip_prefix(SUBMODULE)?.split_once('\t')?.1.to_owned()))
            .collect();
        tracked.files.retain(|name| !tracked.submodules.contains(name));
    }
    Ok(Some(tracked))
}

fn names(output: &str) -> Vec<String> {
    let mut names: Vec<String> = output.split_terminator('\0').map(str::to_owned).collect();
    // A file in conflict is listed once per side.
    names.dedup();
    names
}
