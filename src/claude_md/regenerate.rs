//! Regenerates the block of each context file.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::claude_md::budget::{Content, Fitted, Limits, ShrinkStep};
use crate::claude_md::edited::without_edit;
use crate::claude_md::generated::Recorded;
use crate::claude_md::marker::{Span, conflict_in_block, readable};
use crate::claude_md::ownership::ContextFile;
use crate::claude_md::select::Sources;
use crate::claude_md::targets::ContextPath;
use crate::claude_md::{budget, edited, marker, targets};
use crate::error::{Error, ErrorKind, Result};
use crate::project::{ContextTarget, Project};
use crate::storage::{Changes, read};
use crate::templates;
use crate::templates::Template;
use crate::text::{clip, fold, line_number, quantity, word_enum};
use crate::warning::{SourceLocation, Warning};

/// The result for all context files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Regenerated {
    /// The files that now contain the block.
    pub files: Vec<RegeneratedFile>,
    /// The files that a rule protects from being written.
    pub refused: Vec<RefusedContextFile>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// A context file that contains the block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum ContextFileOutcome {
        /// It did not exist.
        Created = "created",
        /// Its block was replaced.
        Updated = "updated",
        /// Its content is the same as before.
        Unchanged = "unchanged",
    }
}

/// A context file that was not written, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedContextFile {
    /// The rule that was violated.
    pub message: String,
    /// The file, with the line number if known.
    pub place: Option<SourceLocation>,
    /// What the user can do next.
    pub hint: Option<String>,
}

impl From<Error> for RefusedContextFile {
    fn from(error: Error) -> Self {
        Self { message: error.message, place: error.place, hint: error.hint }
    }
}

impl From<RefusedContextFile> for Error {
    fn from(refusal: RefusedContextFile) -> Self {
        let mut error = Self::refused(refusal.message);
        error.place = refusal.place;
        error.hint = refusal.hint;
        error
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
    let block = if rest.contains(marker::END) { ", part of the block included" } else { "" };
    let message =
        format!("Codex reads the first 32 KiB; from here on nothing reaches it{block}: {what}");
    Some(Warning::at(file, line, message))
}

/// State of one run over all context files.
struct Regeneration<'a> {
    project: &'a Project,
    known: Recorded<'a>,
    content: Content,
    limits: Limits,
}

/// Returns the changes that update the context files.
///
/// The block is written to the files in `targets` and to those that already have one. A file that a rule
/// protects is skipped and listed in [`Regenerated::refused`]; the others are written. Text that was added to
/// the block is moved below it.
pub fn regenerate(
    project: &Project,
    sources: &Sources,
    targets: &[ContextTarget],
) -> Result<(Regenerated, Changes)> {
    let planning = project.planning_place();
    let mut done = Regenerated::default();
    let folder = project.relative(&planning.dir);
    let content = sources.content(&planning.layout, folder, &mut done.warnings);
    let run = Regeneration {
        project,
        known: sources.known(&planning.layout),
        content,
        limits: Limits {
            max_lines: project.settings.max_lines,
            is_hard: project.settings.has_own_limits(),
        },
    };
    let mut changes = Changes::new();
    for found in targets::resolve(project, targets)? {
        let written = found.and_then(|file| run.write(file, &mut done.warnings, &mut changes));
        match written {
            Ok(file) => done.files.push(file),
            Err(error) if error.kind == ErrorKind::Refused => done.refused.push(error.into()),
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
        if let Some(unchanged) = self.in_conflict(&file, warnings) {
            return Ok(unchanged);
        }
        let old = file.bytes.as_deref().unwrap_or_default();
        let whole = edited::with_end(self.project, &file.path, old)?;
        let unedited = self.unedited(&file.path, relative, &whole, warnings)?;
        let owned = ContextFile::parse(&unedited, relative, &self.known)?;
        warnings.extend(owned.warnings.iter().cloned());
        let (bytes, fitted) = if file.gives_up {
            (owned.without_block(), Fitted::default())
        } else {
            let fitted = budget::fit(
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
            Some(_) => ContextFileOutcome::Updated,
        };
        // What is only shown needs no permission.
        let is_written = outcome == ContextFileOutcome::Updated && !self.project.dry_run;
        if is_written && read::is_write_protected(&file.path) {
            return Err(Error::refused("is write-protected").at(relative, None));
        }
        let report = RegeneratedFile {
            file: relative.to_owned(),
            outcome,
            lines,
            shrunk: fitted.shrunk,
            excess: fitted.excess,
        };
        changes.edit(&file.path, file.bytes, bytes)?;
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
        let new = templates::render(Template::ContextFile, &self.content)?;
        let new = marker::normalised_lines(new.as_bytes());
        let stated = span.stated.as_deref().unwrap_or_default();
        let generated = edited::find_block(self.project, path, stated)?;
        let is_own = |line: &str| self.known.is_heading(line);
        let (unedited, message) = without_edit(bytes, &span, generated.as_deref(), &new, is_own);
        let warning = message.map(|message| Warning::at(relative, span.begin_line, message));
        warnings.extend(warning);
        Ok(unedited)
    }

    /// Skips a file whose block is part of an unresolved merge conflict: both sides may contain a person's
    /// text.
    fn in_conflict(
        &self,
        file: &ContextPath,
        warnings: &mut Vec<Warning>,
    ) -> Option<RegeneratedFile> {
        let text = readable(file.bytes.as_deref()?);
        let line = conflict_in_block(&text)?;
        let named = self.project.relative(&file.path);
        let message = "the block contains a merge conflict, so the file is not changed; resolve it, then run `annals sync`";
        warnings.push(Warning::at(named, line, message));
        Some(RegeneratedFile {
            file: named.to_owned(),
            outcome: ContextFileOutcome::Unchanged,
            lines: text.lines().count(),
            shrunk: Vec::new(),
            excess: 0,
        })
    }

    /// Returns the content for one file, without the title if the user's own text has it.
    fn content_for(&self, file: &ContextFile<'_>) -> Content {
        let mut content = self.content.clone();
        let own = file.title();
        if own.is_some_and(|own| fold(&own) == fold(self.known.project)) {
            content.title = None;
        }
        content
    }
}
