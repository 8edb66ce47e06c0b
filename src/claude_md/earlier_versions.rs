//! Finds the generated text of an earlier block, in the undo history or in git.

use std::borrow::Cow;
use std::path::Path;

use crate::claude_md::marker;
use crate::claude_md::span::{Span, readable, unclosed};
use crate::error::Result;
use crate::git::Object;
use crate::project::Project;
use crate::text::slashed;

/// Number of commits searched: an older block would not help to identify later additions.
const MAX_COMMITS: usize = 50;

/// Returns a file with the end marker that another generator cut off together with a section: it goes below the last
/// line that was generated. Any other file is returned unchanged.
pub(crate) fn with_end<'a>(
    project: &Project,
    path: &Path,
    bytes: &'a [u8],
) -> Result<Cow<'a, [u8]>> {
    let Some((start, stated)) = unclosed(&readable(bytes)) else {
        return Ok(Cow::Borrowed(bytes));
    };
    let Some(block) = find_block(project, path, &stated)? else {
        return Ok(Cow::Borrowed(bytes));
    };
    let generated = marker::normalised_lines(&block);
    let (mut at, mut end) = (start, start);
    for line in bytes[start..].split_inclusive(|byte| *byte == b'\n') {
        let bare = line.trim_ascii_end();
        if !bare.is_empty() && !generated.contains(&bare) {
            break;
        }
        at += line.len();
        // The heading above foreign lines is theirs.
        if !bare.is_empty() && !bare.starts_with(b"## ") {
            end = at;
        }
    }
    Ok(Cow::Owned([&bytes[..end], marker::END.as_bytes(), b"\n", &bytes[end..]].concat()))
}

/// Returns the block with this digest from an earlier version of the file: in the undo history, or in git.
pub(crate) fn find_block(project: &Project, path: &Path, stated: &str) -> Result<Option<Vec<u8>>> {
    let block = |bytes: &[u8]| block_with_digest(bytes, path, stated);
    let recorded =
        project.storage().history().find_written(path, |bytes| block(bytes).is_some())?;
    if let Some(bytes) = recorded {
        return Ok(block(&bytes));
    }
    let relative = project.git.top().and_then(|top| path.strip_prefix(top).ok()).map(slashed);
    let (Some(relative), Some(objects)) = (relative, project.git.objects()?) else {
        return Ok(None);
    };
    let commits = project.git.newest_commits(MAX_COMMITS)?;
    let versions: Vec<String> =
        commits.iter().map(|commit| format!("{}:{relative}", commit.hash)).collect();
    let mut versions = objects.read(&versions)?.into_iter().flatten();
    Ok(versions.find_map(|version| match version {
        Object::Blob(bytes) => block(&bytes),
        Object::Other => None,
    }))
}

/// Returns the text between the markers of a version, if it has this digest.
///
/// A version with invalid markers has no block.
fn block_with_digest(bytes: &[u8], path: &Path, stated: &str) -> Option<Vec<u8>> {
    let span = Span::find(&readable(bytes), path).ok().flatten()?;
    let block = &bytes[span.inside];
    (marker::digest(&marker::normalised_lines(block)) == stated).then(|| block.to_vec())
}
