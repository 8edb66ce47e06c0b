//! The names in the index.

use crate::error::Result;
use crate::git::program::Program;

/// What the index holds, by names from the top of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracked {
    /// The files, sorted as git sorts them.
    pub files: Vec<String>,
    /// The submodules; what is in them is another repository's.
    pub submodules: Vec<String>,
}

/// A submodule's mode in the index.
const SUBMODULE: &str = "160000";

/// Reads the index. Names that are no UTF-8 come with U+FFFD in them.
pub(crate) fn tracked(program: &Program<'_>) -> Result<Option<Tracked>> {
    // Not `--stage`, which costs twice the time; submodules are few and have a file that names them.
    let Some(output) = program.run(&["ls-files", "-z"])? else {
        return Ok(None);
    };
    let mut tracked = Tracked {
        files: names(&output),
        submodules: Vec::new(),
    };
    if tracked.files.iter().any(|name| name == ".gitmodules") {
        let arguments = ["ls-files", "-z", "--stage"];
        let stages = program.run(&arguments)?.unwrap_or_default();
        tracked.submodules = stages
            .split('\0')
            .filter_map(|line| Some(line.strip_prefix(SUBMODULE)?.split_once('\t')?.1.to_owned()))
            .collect();
        tracked
            .files
            .retain(|name| !tracked.submodules.contains(name));
    }
    Ok(Some(tracked))
}

fn names(output: &str) -> Vec<String> {
    let mut names: Vec<String> = output.split_terminator('\0').map(str::to_owned).collect();
    // A file in conflict stands there once for each side.
    names.dedup();
    names
}
