//! Selects the files that get the block.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::claude_md::readable::readable;
use crate::claude_md::span::Span;
use crate::error::{At, Error, Result};
use crate::project::{ContextTarget, Project};
use crate::storage::read;

/// A file that gets the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContextPath {
    /// Path of the file, as named in the project.
    pub(crate) path: PathBuf,
    /// Current content; none if the file is to be created.
    pub(crate) bytes: Option<Vec<u8>>,
}

/// Returns the requested files and those that already have a block; for those refused, the error.
///
/// A file that only imports `AGENTS.md` is skipped in favour of `AGENTS.md`. Two names of the same file count
/// as one.
pub(crate) fn resolve(
    project: &Project,
    requested: &[ContextTarget],
) -> Result<Vec<Result<ContextPath>>> {
    let mut targets: Vec<ContextTarget> = Vec::new();
    for target in ContextTarget::ALL {
        let is_requested = requested.contains(&target);
        if is_requested || has_block(project, target)? {
            targets.push(substitute(project, target)?);
        }
    }
    targets.sort_unstable();
    targets.dedup();
    let mut seen = Vec::new();
    let mut resolved = Vec::new();
    for target in targets {
        let path = project.root.join(target.file());
        match resolved_path(project, &path) {
            Ok(resolved_path) if seen.contains(&resolved_path) => {}
            Ok(resolved_path) => {
                let bytes = read::bytes(&path)?;
                seen.push(resolved_path);
                resolved.push(Ok(ContextPath { path, bytes }));
            }
            Err(error) => resolved.push(Err(error)),
        }
    }
    Ok(resolved)
}

/// Returns whether a file has markers, even malformed ones, so that no block is left behind.
fn has_block(project: &Project, target: ContextTarget) -> Result<bool> {
    let path = project.root.join(target.file());
    if !path.exists() || resolved_path(project, &path).is_err() {
        return Ok(false);
    }
    let bytes = read::bytes(&path)?.unwrap_or_default();
    Ok(Span::has_markers(&readable(&bytes)))
}

fn substitute(project: &Project, target: ContextTarget) -> Result<ContextTarget> {
    let path = project.root.join(target.file());
    if target == ContextTarget::Agents || resolved_path(project, &path).is_err() {
        return Ok(target);
    }
    let bytes = read::bytes(&path)?.unwrap_or_default();
    Ok(if only_imports_agents(&readable(&bytes)) { ContextTarget::Agents } else { target })
}

/// Returns whether a text has no content except headings and an import of `AGENTS.md`.
fn only_imports_agents(text: &str) -> bool {
    let is_ignored = |line: &&str| {
        line.is_empty()
            || line.starts_with('#')
            || line.starts_with("<!--") && line.ends_with("-->")
    };
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let mut imports = lines.filter(|line| !is_ignored(line)).peekable();
    let mut names_agents = false;
    imports.peek().is_some()
        && imports.all(|line| {
            names_agents |= matches!(line, "@AGENTS.md" | "@./AGENTS.md");
            line.starts_with('@') && !line.contains(char::is_whitespace)
        })
        && names_agents
}

/// Returns the real path of a file; an error if a link leads out of the project.
fn resolved_path(project: &Project, path: &Path) -> Result<PathBuf> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    if !is_link {
        return Ok(path.to_owned());
    }
    let relative = project.relative(path);
    let resolved_path = match fs::canonicalize(path) {
        Ok(resolved_path) => resolved_path,
        Err(_) => missing(path).at("follow the link", relative)?,
    };
    if resolved_path.starts_with(&project.root) {
        return Ok(resolved_path);
    }
    Err(Error::refused("is a link that leads outside the project, so it is not written")
        .at(relative, None)
        .hint(format!("it leads to {}", resolved_path.display())))
}

/// Returns the target of a link whose file does not exist yet.
fn missing(link: &Path) -> io::Result<PathBuf> {
    let folder = link.parent().unwrap_or(link);
    let target = folder.join(fs::read_link(link)?);
    match (target.parent(), target.file_name()) {
        (Some(folder), Some(name)) => Ok(fs::canonicalize(folder)?.join(name)),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_only_imports_is_detected() {
        for text in [
            "@AGENTS.md",
            "\u{feff}@AGENTS.md\r\n",
            "# CLAUDE.md\n\n<!-- shared -->\n@./AGENTS.md\n@docs/rules.md\n",
        ] {
            assert!(only_imports_agents(text), "{text:?}");
        }
        for text in [
            "",
            "# CLAUDE.md\n",
            "@docs/rules.md\n",
            "See @AGENTS.md\n",
            "@AGENTS.md\n\nUse tabs.\n",
            "@AGENTS.md please\n",
            "```\n@AGENTS.md\n```\n",
            "<!-- annals:begin v1 sha256=ab -->\nown\n<!-- annals:end -->\n@AGENTS.md\n",
        ] {
            assert!(!only_imports_agents(text), "{text:?}");
        }
    }
}
