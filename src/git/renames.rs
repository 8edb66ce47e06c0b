//! Finds the files that commits renamed.

use crate::error::Result;
use crate::git::program::Program;

/// A file that a commit renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// Its old path, relative to the top of the repository.
    pub from: String,
    /// Its new path.
    pub to: String,
}

/// Maximum number of added and of removed files among which renames with changes are searched; files with
/// unchanged content always match.
const RENAME_LIMIT_ARG: &str = "-l200";

/// Reads the renames of each commit relative to its first parent, so that a merge includes its branch's renames.
pub(crate) fn renames(program: &Program<'_>, commits: &[&str]) -> Result<Option<Vec<Vec<Rename>>>> {
    let Some(pairs) = pairs(program, commits)? else {
        return Ok(None);
    };
    let mut input = String::new();
    for pair in pairs.iter().flatten() {
        input.push_str(&pair.join(" "));
        input.push('\n');
    }
    if input.is_empty() {
        return Ok(Some(vec![Vec::new(); commits.len()]));
    }
    let arguments = [
        "diff-tree", "--stdin", "-r", "-z", "-M", RENAME_LIMIT_ARG, "--diff-filter=R",
        "--name-status",
    ];
    let output = program.run_with_input(&arguments, input.into_bytes())?;
    let output = String::from_utf8_lossy(output.as_deref().unwrap_or_default()).into_owned();
    let found = parse(&output);
    let renames = pairs.iter().map(|pair| {
        let header = pair.as_ref().map(|pair| pair.join(" "));
        let group = found.iter().find(|(name, _)| Some(name) == header.as_ref());
        group.map(|(_, renames)| renames.clone()).unwrap_or_default()
    });
    Ok(Some(renames.collect()))
}

/// Returns the trees of each commit's first parent and of the commit; `None` if they are equal or missing.
fn pairs(program: &Program<'_>, commits: &[&str]) -> Result<Option<Vec<Option<[String; 2]>>>> {
    let mut input = String::new();
    for commit in commits {
        for tree in [format!("{commit}^1^{{tree}}\n"), format!("{commit}^{{tree}}\n")] {
            input.push_str(&tree);
        }
    }
    let arguments = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
    let Some(output) = program.run_with_input(&arguments, input.into_bytes())? else {
        return Ok(None);
    };
    let output = String::from_utf8_lossy(&output).into_owned();
    let trees: Vec<Option<String>> =
        output.lines().map(|line| line.strip_suffix(" tree").map(str::to_owned)).collect();
    let pairs = trees.chunks(2).map(|pair| match pair {
        [Some(before), Some(after)] if before != after => Some([before.clone(), after.clone()]),
        _ => None,
    });
    Ok(Some(pairs.collect()))
}

/// Parses `<tree> <tree>`, followed by `R<percent>\0<from>\0<to>\0` per rename.
fn parse(output: &str) -> Vec<(String, Vec<Rename>)> {
    let mut found: Vec<(String, Vec<Rename>)> = Vec::new();
    let mut rest = output;
    while !rest.is_empty() {
        let is_rename = rest.starts_with('R') && rest.contains('\0');
        if !is_rename {
            let (header, after) = rest.split_once('\n').unwrap_or((rest, ""));
            found.push((header.trim_matches('\0').to_owned(), Vec::new()));
            rest = after;
            continue;
        }
        let mut fields = rest.splitn(4, '\0');
        let (_, from, to) = (fields.next(), fields.next(), fields.next());
        if let (Some((_, renames)), Some(from), Some(to)) = (found.last_mut(), from, to) {
            renames.push(Rename { from: from.to_owned(), to: to.to_owned() });
        }
        rest = fields.next().unwrap_or_default();
    }
    found
}
