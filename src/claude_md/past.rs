//! What a block said when it was generated, as git has it.

use std::path::Path;

use crate::claude_md::marker;
use crate::claude_md::readable::readable;
use crate::claude_md::span::Span;
use crate::error::Result;
use crate::git::Object;
use crate::project::Project;

/// As many commits are looked at: an older block would tell little of what was added since.
const COMMITS: usize = 50;

/// Returns the lines with this digest that the block of a committed version of the file has.
pub(crate) fn generated(project: &Project, path: &Path, stated: &str) -> Result<Option<Vec<u8>>> {
    let Some(named) = project
        .git
        .top()
        .and_then(|top| path.strip_prefix(top).ok())
    else {
        return Ok(None);
    };
    let Some(mut objects) = project.git.objects()? else {
        return Ok(None);
    };
    let commits = project.git.newest(COMMITS)?;
    let versions: Vec<String> = commits
        .iter()
        .map(|commit| format!("{}:{}", commit.hash, named.display()))
        .collect();
    let versions = objects.read(&versions)?.into_iter().flatten();
    let mut blocks = versions.filter_map(|version| match version {
        Object::Blob(bytes) => inside(&bytes, path),
        Object::Tree(_) | Object::Other => None,
    });
    Ok(blocks.find(|block| marker::digest(&marker::normal(block)) == stated))
}

/// Returns what stands between the markers; a version whose markers are broken has no block.
fn inside(bytes: &[u8], path: &Path) -> Option<Vec<u8>> {
    let span = Span::find(&readable(bytes), path).ok().flatten()?;
    Some(bytes[span.inside].to_vec())
}
