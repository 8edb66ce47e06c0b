//! Selects the files that get the block: each client is to read it once, and no file is to hide another.
//!
//! Claude Code reads AGENTS.md only where there is no CLAUDE.md, Codex reads AGENTS.md, Gemini CLI reads GEMINI.md.

use std::path::{Path, PathBuf};
use std::{fs, io};

use memchr::memmem;

use crate::claude_md::marker::{Span, readable};
use crate::error::{At, Error, Result};
use crate::markdown::comments::is_fence;
use crate::project::{ContextTarget, Project};
use crate::storage::read;

/// A file that gets the block, or gives it up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContextPath {
    /// Path of the file, as named in the project.
    pub(crate) path: PathBuf,
    /// Current content; none if the file is to be created.
    pub(crate) bytes: Option<Vec<u8>>,
    /// Whether its block moves to AGENTS.md, which it imports.
    pub(crate) gives_up: bool,
}

/// Returns the requested files and those that already have a block; for those refused, the error.
///
/// AGENTS.md gets the block instead of a file that imports or links it. It also gets it instead of a CLAUDE.md that does
/// not exist, if there is an AGENTS.md or if Codex is the only client that is set up. Two names of the same file count
/// as one.
pub(crate) fn resolve(
    project: &Project,
    requested: &[ContextTarget],
) -> Result<Vec<Result<ContextPath>>> {
    let mut wanted = Vec::new();
    for target in ContextTarget::ALL {
        let text = text(project, target)?;
        let has_block = text.as_deref().is_some_and(Span::has_markers);
        if requested.contains(&target) || has_block {
            wanted.push((target, text, has_block));
        }
    }
    let is_agents =
        |(target, ..): &(ContextTarget, Option<String>, bool)| *target == ContextTarget::Agents;
    let has_agents = wanted.iter().any(is_agents)
        || text(project, ContextTarget::Agents)?.is_some()
        || is_for_codex_alone(project);
    let mut paths: Vec<(PathBuf, bool)> = Vec::new();
    for (target, text, has_block) in wanted {
        let path = project.root.join(target.file());
        let imports =
            target != ContextTarget::Agents && text.as_deref().is_some_and(imports_agents);
        let is_hidden =
            target == ContextTarget::Claude && has_agents && path.symlink_metadata().is_err();
        if imports || is_hidden {
            paths.push((project.root.join(ContextTarget::Agents.file()), false));
        }
        match text.as_deref().and_then(placeholder) {
            Some(link) => paths.push((project.root.join(link), false)),
            None if imports && has_block => paths.push((path, true)),
            None if imports || is_hidden => {}
            None => paths.push((path, false)),
        }
    }
    let mut seen = Vec::new();
    let mut resolved = Vec::new();
    for (path, gives_up) in paths {
        match resolved_path(project, &path) {
            Ok(real) if seen.contains(&real) => {}
            Ok(real) => {
                let bytes = read::bytes(&path)?;
                seen.push(real);
                resolved.push(Ok(ContextPath { path, bytes, gives_up }));
            }
            Err(error) => resolved.push(Err(error)),
        }
    }
    Ok(resolved)
}

/// Returns whether Codex is the only client whose settings, the project's or the user's, call annals.
fn is_for_codex_alone(project: &Project) -> bool {
    let home = project.environment.home();
    let calls_us = |file: &str| {
        let own = read::bytes(&project.root.join(file)).ok().flatten();
        let users = home.as_ref().and_then(|home| read::users_bytes(&home.join(file)).ok()?);
        [own, users]
            .into_iter()
            .flatten()
            .any(|bytes| memmem::find(&bytes, b"annals hook").is_some())
    };
    calls_us(".codex/hooks.json")
        && ![".claude/settings.json", ".gemini/settings.json"].into_iter().any(calls_us)
}

/// Returns the text of a file; none if it is missing or leads out of the project.
fn text(project: &Project, target: ContextTarget) -> Result<Option<String>> {
    let path = project.root.join(target.file());
    if !path.exists() || resolved_path(project, &path).is_err() {
        return Ok(None);
    }
    Ok(read::bytes(&path)?.map(|bytes| readable(&bytes).into_owned()))
}

/// Returns whether a text imports `AGENTS.md`, outside code.
fn imports_agents(text: &str) -> bool {
    let mut is_code = false;
    text.trim_start_matches('\u{feff}').lines().any(|line| {
        is_code ^= is_fence(line);
        let mut words =
            line.split_whitespace().map(|word| word.trim_end_matches(['.', ',', ';', ':', ')']));
        !is_code && words.any(|word| matches!(word, "@AGENTS.md" | "@./AGENTS.md"))
    })
}

/// Returns the file that a text names if it is the placeholder of a link: git writes one where links cannot be made.
fn placeholder(text: &str) -> Option<&str> {
    let is_name = |c: char| !c.is_whitespace() && !"@#<>`*".contains(c);
    let is_markdown = Path::new(text).extension().is_some_and(|end| end.eq_ignore_ascii_case("md"));
    (is_markdown && text.len() < 256 && text.chars().all(is_name)).then_some(text)
}

/// Returns the real path of a file; an error if it, or a link, leads out of the project.
fn resolved_path(project: &Project, path: &Path) -> Result<PathBuf> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    let is_direct = path.strip_prefix(&project.root).is_ok_and(|own| own.components().count() == 1);
    if !is_link && is_direct {
        return Ok(path.to_owned());
    }
    let relative = project.relative(path);
    let resolved_path = match fs::canonicalize(path) {
        Ok(resolved_path) => resolved_path,
        Err(_) => missing(path, is_link).at("follow the link", relative)?,
    };
    if resolved_path.starts_with(&project.root) {
        return Ok(resolved_path);
    }
    Err(Error::refused("is a link that leads outside the project, so it is not written")
        .at(relative, None)
        .hint(format!("it leads to {}", resolved_path.display())))
}

/// Returns the target of a link whose file does not exist yet.
fn missing(path: &Path, is_link: bool) -> io::Result<PathBuf> {
    let folder = path.parent().unwrap_or(path);
    let target = if is_link { folder.join(fs::read_link(path)?) } else { path.to_owned() };
    match (target.parent(), target.file_name()) {
        (Some(folder), Some(name)) => Ok(fs::canonicalize(folder)?.join(name)),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_of_agents_md_is_found_outside_code() {
        for text in [
            "@AGENTS.md",
            "\u{feff}@AGENTS.md\r\n",
            "# CLAUDE.md\n\n<!-- shared -->\n@./AGENTS.md\n@docs/rules.md\n",
            "See @AGENTS.md.\n",
            "@AGENTS.md\n\nUse tabs.\n",
        ] {
            assert!(imports_agents(text), "{text:?}");
        }
        for text in
            ["", "# CLAUDE.md\n", "@docs/rules.md\n", "`@AGENTS.md`\n", "```\n@AGENTS.md\n```\n"]
        {
            assert!(!imports_agents(text), "{text:?}");
        }
    }

    #[test]
    fn only_a_bare_file_name_without_a_newline_is_a_placeholder() {
        assert_eq!(placeholder("docs/AGENTS.md"), Some("docs/AGENTS.md"));
        for text in ["AGENTS.md\n", "@AGENTS.md", "see AGENTS.md", "", "tabs"] {
            assert_eq!(placeholder(text), None, "{text:?}");
        }
    }
}
