//! Regenerates the block of each context file, and selects the files that get it, so that each client reads it once and no
//! file hides another.
//!
//! Claude Code reads AGENTS.md only where there is no CLAUDE.md, Codex reads AGENTS.md, Gemini CLI reads GEMINI.md.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{fs, io};

use memchr::memmem;
use serde::Serialize;

use crate::claude_md::block::{Span, conflict_in_block, readable, without_edit};
use crate::claude_md::content::{Content, Fitted, Limits, ShrinkStep};
use crate::claude_md::ownership::{ContextFile, Recorded};
use crate::claude_md::{block, content};
use crate::error::{At, Error, ErrorKind, Result};
use crate::markdown::{generated_block, is_fence, without_comments};
use crate::project::{ContextTarget, Origin, Project};
use crate::storage::{Changes, read};
use crate::templates;
use crate::templates::Template;
use crate::text::{clip, line_number, quantity, word_enum};
use crate::warning::Warning;

/// The result for all context files.
#[derive(Debug, Default, Serialize)]
pub struct Regenerated {
    /// The files that now contain the block.
    pub files: Vec<RegeneratedFile>,
    /// The files that a rule protects from being written.
    pub refused: Vec<Error>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// A context file that contains the block.
#[derive(Debug, Serialize)]
pub struct RegeneratedFile {
    /// Path of the file, relative to the project.
    pub file: PathBuf,
    /// The outcome for the file.
    pub outcome: ContextFileOutcome,
    /// Number of lines of the file.
    pub lines: usize,
    /// The steps by which the block was shrunk to make the file fit.
    pub shrunk: Vec<ShrinkStep>,
    /// The number of lines by which it still exceeds the user's limit.
    pub excess: usize,
}

word_enum! {
    /// The outcome for a context file.
    pub enum ContextFileOutcome {
        /// It did not exist.
        Created = "created",
        /// Its block was replaced.
        Updated = "updated",
        /// Its content is the same as before.
        Unchanged = "unchanged",
        /// Its block was taken out.
        BlockRemoved = "block_removed",
        /// It had nothing but the block, and was deleted.
        Deleted = "deleted",
        /// Its block is part of an unresolved merge conflict, and was left alone.
        InConflict = "in_conflict",
    }
}

impl Regenerated {
    /// Fails with the first rule that prevented a file from being written.
    pub fn refusal(&self) -> Result<()> {
        self.refused.first().cloned().map_or(Ok(()), Err)
    }
}

/// Number of bytes of AGENTS.md that Codex reads.
const CODEX_BYTES: usize = 32 * 1024;

/// Returns a warning about what Codex does not read of AGENTS.md.
fn beyond_codex(file: &Path, bytes: &[u8]) -> Option<Warning> {
    let text = readable(bytes);
    let rest = text.get(CODEX_BYTES..).or_else(|| text.get(CODEX_BYTES + 3..))?;
    if !file.ends_with(ContextTarget::Agents.file()) || rest.trim().is_empty() {
        return None;
    }
    let line = line_number(&*text, CODEX_BYTES);
    let what = clip(text.lines().nth(line - 1)?.trim(), 60).into_owned();
    let block = if rest.contains(block::END) { ", part of the block included" } else { "" };
    let message =
        format!("Codex reads the first 32 KiB; it ignores everything from here on{block}: {what}");
    Some(Warning::at(file, line, message))
}

/// State of one run over all context files.
struct Regeneration<'a> {
    project: &'a Project,
    known: &'a Recorded<'a>,
    content: &'a Content,
    limits: Limits,
    /// Whether nothing is remembered, so that the blocks of what was are taken out.
    is_over: bool,
}

/// Returns the changes that update the context files.
///
/// The block is written to the files in `targets` and to those that already have one. A file that a rule
/// protects is skipped and listed in [`Regenerated::refused`]; the others are written. Text that was added to
/// the block is moved below it. If targets are named and nothing is remembered, the blocks are taken out.
pub fn regenerate(
    project: &Project,
    content: &Content,
    known: &Recorded<'_>,
    targets: &[ContextTarget],
) -> Result<(Regenerated, Changes)> {
    let mut done = Regenerated::default();
    let run = Regeneration {
        project,
        known,
        content,
        limits: Limits {
            max_lines: project.settings.max_lines,
            is_hard: project.settings.has_own_limits(),
        },
        is_over: !targets.is_empty() && content.memory.as_ref().is_some_and(Vec::is_empty),
    };
    let mut changes = Changes::new();
    for mut found in resolve(project, if run.is_over { &[] } else { targets })? {
        if let (true, Ok(file)) = (run.is_over, &mut found) {
            file.gives_up = true;
            if !file.bytes.as_deref().is_some_and(|bytes| has_memory(&readable(bytes))) {
                continue;
            }
        }
        let written = found.and_then(|file| run.write(file, &mut done.warnings, &mut changes));
        match written {
            Ok(file) => done.files.push(file),
            Err(error) if error.kind == ErrorKind::Refused => {
                done.refused.push(error.relative_to(&project.root));
            }
            Err(error) => return Err(error),
        }
    }
    Ok((done, changes))
}

impl Regeneration<'_> {
    fn write(
        &self,
        file: ContextPath,
        warnings: &mut Vec<Warning>,
        changes: &mut Changes,
    ) -> Result<RegeneratedFile> {
        let relative = self.project.relative(&file.path);
        let old = file.bytes.as_deref().unwrap_or_default();
        let report = |outcome, lines, fitted: Fitted| RegeneratedFile {
            file: relative.to_owned(),
            outcome,
            lines,
            shrunk: fitted.shrunk,
            excess: fitted.excess,
        };
        let mut whole = Cow::Borrowed(old);
        if let Some(line) = conflict_in_block(&readable(old)) {
            let Some(resolved) = block::without_conflict(self.project, &file.path, old)? else {
                // It may be about a person's text, and is left alone.
                warnings.push(Warning::conflict_in_block(relative, line));
                let lines = readable(old).lines().count();
                return Ok(report(ContextFileOutcome::InConflict, lines, Fitted::default()));
            };
            whole = Cow::Owned(resolved);
        }
        read::refuse_wide(old, relative)?;
        let (whole, message) = block::with_end(self.project, &file.path, &whole)?;
        let mut told = Vec::from_iter(message.map(|message| Warning::file(relative, message)));
        let unedited = self.unedited(&file.path, relative, &whole, &mut told)?;
        let owned = ContextFile::parse(&unedited, relative, self.known)?;
        if self.is_over && owned.has_edited_block() {
            let message = "the block was edited by hand, and the edits cannot be separated from the generated text, so it was kept";
            return Err(Error::refused(message)
                .about(relative)
                .hint("delete the generated lines by hand"));
        }
        warnings.append(&mut told);
        warnings.extend(owned.warnings.iter().cloned());
        let (bytes, fitted) = if file.gives_up {
            (owned.without_block(), Fitted::default())
        } else {
            let fitted = content::fit(
                self.content_for(&owned),
                self.limits,
                |block| owned.lines_with(block),
                |content| templates::render(Template::ContextFile, content),
            )?;
            (owned.with_block(&fitted.block)?, fitted)
        };
        let lines = readable(&bytes).lines().count();
        if fitted.excess > 0 {
            let message = format!(
                "{} over the limit, although the block is reduced to its mandatory parts; \
                 shorten the text outside the block",
                quantity(fitted.excess, "line")
            );
            warnings.push(Warning::file(relative, message));
        }
        warnings.extend(beyond_codex(relative, &bytes));
        let outcome = match &file.bytes {
            None => ContextFileOutcome::Created,
            Some(old) if *old == bytes => ContextFileOutcome::Unchanged,
            Some(_) if !file.gives_up => ContextFileOutcome::Updated,
            Some(_) if bytes.is_empty() && !file.path.is_symlink() => ContextFileOutcome::Deleted,
            Some(_) => ContextFileOutcome::BlockRemoved,
        };
        let is_kept =
            matches!(outcome, ContextFileOutcome::Created | ContextFileOutcome::Unchanged);
        // What is only shown needs no permission.
        let is_written = !is_kept && !self.project.dry_run;
        if is_written && read::is_write_protected(&file.path) {
            return Err(Error::refused("is write-protected").about(relative));
        }
        let report = report(outcome, lines, fitted);
        if outcome == ContextFileOutcome::Deleted {
            changes.delete_read(&file.path, file.bytes)?;
        } else {
            changes.edit(&file.path, file.bytes, bytes)?;
        }
        Ok(report)
    }

    /// Returns a file without the hand edit of its block: what was added to it stands below.
    fn unedited<'a>(
        &self,
        path: &Path,
        relative: &Path,
        bytes: &'a [u8],
        warnings: &mut Vec<Warning>,
    ) -> Result<Cow<'a, [u8]>> {
        let span = Span::find(&readable(bytes), relative)?.filter(|span| span.is_edited(bytes));
        let Some(span) = span else { return Ok(Cow::Borrowed(bytes)) };
        let new = templates::render(Template::ContextFile, self.content)?;
        let new = block::normalised_lines(new.as_bytes());
        let stated = span.stated.as_deref().unwrap_or_default();
        let generated = block::find_block(self.project, path, stated)?;
        let (unedited, message) = without_edit(bytes, &span, generated.as_deref(), &new, |line| {
            self.known.is_heading(line)
        });
        let warning = message.map(|message| Warning::at(relative, span.begin_line, message));
        warnings.extend(warning);
        Ok(unedited)
    }

    /// Returns the content for one file, without the title if the user's own text has it.
    fn content_for(&self, file: &ContextFile<'_>) -> Content {
        let mut content = self.content.clone();
        if file.has_title(self.known.project) {
            content.title = None;
        }
        content
    }
}

/// A file that gets the block, or gives it up.
#[derive(Debug)]
struct ContextPath {
    /// Path of the file, as named in the project.
    path: PathBuf,
    /// Current content; none if the file is to be created.
    bytes: Option<Vec<u8>>,
    /// Whether its block moves to AGENTS.md, which it imports, or has nothing left to say.
    gives_up: bool,
}

/// A context file with its text, if it has one, and whether it has a block.
type Wanted = (ContextTarget, Option<String>, bool);

/// Returns the requested files and those that already have a block; for those refused, the error.
///
/// AGENTS.md gets the block instead of a file that imports or links it, and so does another file that gets it anyway. An
/// existing AGENTS.md also gets it instead of a CLAUDE.md that does not exist. Two names of the same file count as one.
fn resolve(project: &Project, requested: &[ContextTarget]) -> Result<Vec<Result<ContextPath>>> {
    let mut wanted: Vec<Wanted> = Vec::new();
    for target in ContextTarget::ALL {
        let text = text(project, target)?;
        let has_block = text.as_deref().is_some_and(Span::has_markers);
        if requested.contains(&target) || has_block {
            wanted.push((target, text, has_block));
        }
    }
    let has_agents = wanted.iter().any(|(target, ..)| *target == ContextTarget::Agents)
        || text(project, ContextTarget::Agents)?.is_some();
    let mut paths: Vec<(PathBuf, bool)> = Vec::new();
    for (target, text, has_block) in &wanted {
        let path = project.root.join(target.file());
        let is_imported = |other: ContextTarget| {
            // Codex imports nothing.
            *target != ContextTarget::Agents
                && other != *target
                && text.as_deref().is_some_and(|text| imports(text, other))
        };
        // Of two files that import each other, both keep it.
        let gets_block = |(other, text, _): &Wanted| {
            let text = text.as_deref().filter(|text| !imports(text, *target));
            text.is_some() && is_imported(*other)
        };
        let imports_agents = is_imported(ContextTarget::Agents);
        let gives_way = imports_agents || wanted.iter().any(gets_block);
        let is_hidden =
            *target == ContextTarget::Claude && has_agents && path.symlink_metadata().is_err();
        if imports_agents || is_hidden {
            paths.push((project.root.join(ContextTarget::Agents.file()), false));
        }
        match text.as_deref().and_then(|text| placeholder(&project.root, text)) {
            Some(link) => paths.push((project.root.join(link), false)),
            None if gives_way && *has_block => paths.push((path, true)),
            None if gives_way || is_hidden => {}
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

/// Returns the context files that have a block.
pub fn with_block(project: &Project) -> impl Iterator<Item = ContextTarget> {
    whose_text(project, Span::has_markers)
}

/// Returns the context files whose block is about what is remembered, or in conflict, which is to be said. One about a plan
/// is not: its folder may be on another branch.
pub fn with_memory(project: &Project) -> impl Iterator<Item = ContextTarget> {
    whose_text(project, has_memory)
}

fn whose_text(project: &Project, fits: fn(&str) -> bool) -> impl Iterator<Item = ContextTarget> {
    let text = |target: &_| text(project, *target).ok().flatten();
    ContextTarget::ALL
        .into_iter()
        .filter(move |target| text(target).is_some_and(|text| fits(&text)))
}

fn has_memory(text: &str) -> bool {
    conflict_in_block(text).is_some()
        || generated_block(text).is_some_and(|block| text[block].contains("\n## Project memory"))
}

/// Returns the context files to keep up to date where none is named on the command line: those that the settings name, else
/// CLAUDE.md, or AGENTS.md if there is no CLAUDE.md and Codex is the only client that is set up.
pub fn default_targets(project: &Project) -> &[ContextTarget] {
    let targets = &project.settings.targets;
    let is_unset = project.settings.origin("targets") == Origin::Default;
    let has_claude = project.root.join(ContextTarget::Claude.file()).symlink_metadata().is_ok();
    if is_unset && !has_claude && is_for_codex_alone(project) {
        return &[ContextTarget::Agents];
    }
    targets
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

/// Returns whether a text imports a context file, outside code and comments.
fn imports(text: &str, target: ContextTarget) -> bool {
    let mut is_code = false;
    without_comments(text).trim_start_matches('\u{feff}').lines().any(|line| {
        is_code ^= is_fence(line);
        let names_it = |word: &str| {
            word.trim_end_matches(['.', ',', ';', ':', ')'])
                .strip_prefix('@')
                .is_some_and(|path| path.strip_prefix("./").unwrap_or(path) == target.file())
        };
        !is_code && line.split_whitespace().any(names_it)
    })
}

/// Returns the file that a text names if it is the placeholder of a link: git writes one where links cannot be made.
///
/// Editors end its line. A name of markdown counts even if the file is missing.
fn placeholder<'a>(root: &Path, text: &'a str) -> Option<&'a str> {
    let name = text.trim_end_matches(['\r', '\n']);
    let is_markdown = Path::new(name).extension().is_some_and(|end| end.eq_ignore_ascii_case("md"));
    let is_bare = is_markdown && name == text && !text.contains(char::is_whitespace);
    let may_be = name.len() < 256 && name.chars().all(|c| !c.is_control() && !"@#<>`*".contains(c));
    (may_be && (is_bare || root.join(name).is_file())).then_some(name)
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
        .about(relative)
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
    use assert_fs::prelude::*;

    use super::*;

    #[test]
    fn an_import_is_found_outside_code_and_comments() {
        for text in [
            "@AGENTS.md",
            "\u{feff}@AGENTS.md\r\n",
            "# CLAUDE.md\n\n<!-- shared -->\n@./AGENTS.md\n@docs/rules.md\n",
            "See @AGENTS.md.\n",
            "@AGENTS.md\n\nUse tabs.\n",
        ] {
            assert!(imports(text, ContextTarget::Agents), "{text:?}");
        }
        for text in [
            "",
            "# CLAUDE.md\n",
            "@docs/AGENTS.md\n",
            "@GEMINI.md\n",
            "`@AGENTS.md`\n",
            "```\n@AGENTS.md\n```\n",
            "<!-- once @AGENTS.md was here -->\nUse tabs.\n",
            "<!--\n@AGENTS.md\n-->\n",
        ] {
            assert!(!imports(text, ContextTarget::Agents), "{text:?}");
        }
    }

    #[test]
    fn a_name_of_markdown_or_of_an_existing_file_is_a_placeholder() {
        let project = assert_fs::TempDir::new().unwrap();
        let placeholder = |text| placeholder(project.path(), text);
        assert_eq!(placeholder("docs/AGENTS.md"), Some("docs/AGENTS.md"));
        for (text, name) in [
            ("AGENTS.md\n", "AGENTS.md"),
            (".cursorrules", ".cursorrules"),
            ("agent rules.md\r\n", "agent rules.md"),
        ] {
            assert_eq!(placeholder(text), None, "{text:?}");
            project.child(name).write_str("Own.\n").unwrap();
            assert_eq!(placeholder(text), Some(name), "{text:?}");
        }
        for text in ["", "\n", "@AGENTS.md", "see AGENTS.md", "tabs", "AGENTS.md\nAGENTS.md\n"] {
            assert_eq!(placeholder(text), None, "{text:?}");
        }
    }
}
