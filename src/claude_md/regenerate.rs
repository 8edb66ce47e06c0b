//! Writes the block anew into each context file.

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::claude_md::budget;
use crate::claude_md::budget::Excess;
use crate::claude_md::budget::Limits;
use crate::claude_md::budget::Rung;
use crate::claude_md::conflict;
use crate::claude_md::content::Content;
use crate::claude_md::legacy_body::RecordedContent;
use crate::claude_md::ownership::ContextFile;
use crate::claude_md::past;
use crate::claude_md::readable::readable;
use crate::claude_md::select::Sources;
use crate::claude_md::sentence_set::SentenceSet;
use crate::claude_md::targets;
use crate::claude_md::targets::ContextPath;
use crate::error::Error;
use crate::error::ErrorKind;
use crate::error::Result;
use crate::project::ContextTarget;
use crate::project::Project;
use crate::storage::Changes;
use crate::storage::read;
use crate::templates;
use crate::templates::Template;
use crate::text::fold;
use crate::text::word_enum;
use crate::warning::SourceLocation;
use crate::warning::Warning;

/// What became of the context files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Regenerated {
    /// The files that hold the block now.
    pub files: Vec<RegeneratedFile>,
    /// The files that a rule kept from being written.
    pub refused: Vec<RefusedContextFile>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

/// A context file that holds the block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RegeneratedFile {
    /// The file, relative to the project.
    pub file: PathBuf,
    /// What was done to it.
    pub outcome: ContextFileOutcome,
    /// How many lines it has.
    pub lines: usize,
    /// How the block had to shrink, for the file to be short enough.
    pub shrunk: Vec<Rung>,
    /// How far it is over its limits all the same.
    pub excess: Option<Excess>,
}

word_enum! {
    /// What was done to a context file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum ContextFileOutcome {
        /// It was not there.
        Created = "created",
        /// Its block is a new one.
        Updated = "updated",
        /// It says what it said before.
        Unchanged = "unchanged",
    }
}

/// Why a context file was not written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedContextFile {
    /// The rule that said no.
    pub message: String,
    /// The file, and the line where that is known.
    pub place: Option<SourceLocation>,
    /// What to do next.
    pub hint: Option<String>,
}

impl From<Error> for RefusedContextFile {
    fn from(error: Error) -> Self {
        Self {
            message: error.message,
            place: error.place,
            hint: error.hint,
        }
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

/// One run over all context files.
struct Regeneration<'a> {
    project: &'a Project,
    known: RecordedContent<'a>,
    content: Content,
    limits: Limits,
    force: bool,
}

/// Returns the changes that bring the context files up to date.
///
/// The block goes into the files of `targets` and into those that have one already. A file that a
/// rule protects is left out and named in [`Regenerated::refused`]; the others are written. What
/// somebody added to the block is moved below it; with `force` it is replaced.
pub fn regenerate(
    project: &Project,
    sources: &Sources,
    targets: &[ContextTarget],
    force: bool,
) -> Result<(Regenerated, Changes)> {
    let planning = project.planning_place();
    let mut done = Regenerated::default();
    let folder = project.relative(&planning.dir);
    let run = Regeneration {
        project,
        known: sources.known(&planning.layout),
        content: sources.content(&planning.layout, folder, &mut done.warnings),
        limits: Limits {
            max_lines: project.settings.max_lines,
            max_tokens: project.settings.max_tokens,
            is_hard: project.settings.has_own_limits(),
        },
        force,
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
        let named = self.project.relative(&file.path);
        if let Some(unchanged) = self.in_conflict(&file, warnings) {
            return Ok(unchanged);
        }
        let mut owned = ContextFile::parse(file.bytes.as_deref(), named, &self.known)?;
        if !self.force
            && let Some(stated) = owned.edited_digest()
        {
            let generated = past::generated(self.project, &file.path, stated)?;
            owned.keep_edits(generated.as_deref());
        }
        let fitted = budget::fit(
            self.content_for(&owned),
            self.limits,
            |block| owned.lines_with(block),
            |content| templates::render(self.project, Template::ContextFile, content),
        )?;
        let placed = owned.with_block(&fitted.block)?;
        let lines = readable(&placed.bytes).lines().count();
        warnings.extend(placed.warnings);
        if let Some(excess) = fitted.excess {
            warnings.push(self.too_long(named, lines, excess));
        }
        let outcome = match &file.bytes {
            None => ContextFileOutcome::Created,
            Some(bytes) if *bytes == placed.bytes => ContextFileOutcome::Unchanged,
            Some(_) => ContextFileOutcome::Updated,
        };
        if outcome == ContextFileOutcome::Updated && read::is_write_protected(&file.path) {
            return Err(Error::refused("is write-protected").at(named, None));
        }
        let report = RegeneratedFile {
            file: named.to_owned(),
            outcome,
            lines,
            shrunk: fitted.shrunk,
            excess: fitted.excess,
        };
        changes.edit(&file.path, file.bytes, placed.bytes)?;
        Ok(report)
    }

    /// Leaves a file alone whose block has part in a merge that is not settled: both sides may hold a person's words.
    fn in_conflict(
        &self,
        file: &ContextPath,
        warnings: &mut Vec<Warning>,
    ) -> Option<RegeneratedFile> {
        let text = readable(file.bytes.as_deref()?);
        let line = conflict::in_block(&text).filter(|_| !self.force)?;
        let named = self.project.relative(&file.path);
        let message = "the block contains a merge conflict, so the file is left alone; resolve it, then run `annals sync`";
        warnings.push(Warning::at(named, line, message));
        Some(RegeneratedFile {
            file: named.to_owned(),
            outcome: ContextFileOutcome::Unchanged,
            lines: text.lines().count(),
            shrunk: Vec::new(),
            excess: None,
        })
    }

    /// Returns the content for one file: what the user's own text there says is not said again.
    fn content_for(&self, file: &ContextFile<'_>) -> Content {
        let mut content = self.content.clone();
        let said = SentenceSet::from_text(&file.own_text());
        content.decisions.retain(|line| !said.says(line.as_str()));
        content.patterns.retain(|line| !said.says(line.as_str()));
        let own = file.title();
        if own.is_some_and(|own| fold(&own) == fold(self.known.project)) {
            content.title = None;
        }
        content
    }

    fn too_long(&self, file: &Path, lines: usize, excess: Excess) -> Warning {
        let most = self.limits.max_lines;
        let message = format!(
            "{excess} over the limit, although the block is cut to its mandatory parts \
             ({lines} lines of {most}); shorten the text outside the block"
        );
        Warning::file(file, message)
    }
}
