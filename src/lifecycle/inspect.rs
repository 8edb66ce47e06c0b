//! Shows how a planning file is parsed.

use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::patterns::{Patterns, derive_durations};
use crate::plan::read::settings;
use crate::plan::{
    FileKind, FileName, PhaseNumbering, Plan, ProjectFile, Roadmap, StateFile, Summary,
};
use crate::project::{Project, vocabulary};
use crate::storage::read;
use crate::warning::{Parsed, Warning};

/// A parsed planning file. It is a line of `annals inspect --json`.
#[derive(Debug, Serialize)]
pub struct Inspected {
    /// The file, relative to the project if inside it.
    pub file: PathBuf,
    /// The kind of the file, and its fields.
    #[serde(flatten)]
    pub model: Model,
    /// Parts of the file that were not understood.
    pub warnings: Vec<Warning>,
}

/// The content of a file, by kind.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "one is read at a time")]
pub enum Model {
    /// STATE.md.
    State(StateFile),
    /// ROADMAP.md.
    Roadmap(Roadmap),
    /// PROJECT.md.
    Project(ProjectFile),
    /// A plan.
    Plan(Plan),
    /// A summary.
    Summary(Summary),
    /// PATTERNS.md.
    Patterns(Patterns),
}

/// Parses a file whose kind is determined by its name; one outside the project only if the user says so.
pub fn inspect(project: &Project, path: &Path, outside: bool) -> Result<Inspected> {
    let read_document = reader(path).ok_or_else(|| {
        Error::usage("not a planning file by its name").about(path).hint(
            "STATE.md, ROADMAP.md, PROJECT.md, PATTERNS.md, or a phase's PLAN or SUMMARY file",
        )
    })?;
    let text = match (is_outside(project, path), outside) {
        (false, _) => read::text(path)?,
        (true, true) => read::users_text(path)?,
        (true, false) => {
            return Err(Error::refused("is outside of the project")
                .about(path)
                .hint("--outside reads it anyway"));
        }
    };
    let text = text.ok_or_else(|| Error::not_found("no such file").about(path))?;
    let mut warnings = Vec::new();
    let text = text.into_value(&mut warnings);
    let model = read_document(project, &text, path)?.into_value(&mut warnings);
    Ok(Inspected {
        file: project.relative(path).to_owned(),
        model,
        warnings: project.named(warnings),
    })
}

/// Returns whether a path, as it is named, is neither below the project's folder nor another name for a file there.
fn is_outside(project: &Project, path: &Path) -> bool {
    let is_in_project = |path: &Path| path.starts_with(&project.root);
    let goes_up = path.components().any(|part| part == Component::ParentDir);
    let is_named_inside = !goes_up && is_in_project(path);
    !is_named_inside && !fs::canonicalize(path).is_ok_and(|real| is_in_project(&real))
}

/// Reads a file's text as a document.
type Reader = fn(&Project, &str, &Path) -> Result<Parsed<Model>>;

/// Returns whether config.json numbers the phases beside a document by milestone.
fn numbers_by_milestone(path: &Path) -> bool {
    path.parent().is_some_and(|home| settings(home).numbers_by_milestone)
}

/// Returns the reader of a file, by its name.
fn reader(path: &Path) -> Option<Reader> {
    let plan: Reader = |_, text, path| Ok(Plan::parse(text, path).map(Model::Plan));
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    // Archives contain names such as `v1.0-ROADMAP.md`.
    Some(match name.rsplit_once('-').map_or(name, |(_, last)| last) {
        vocabulary::STATE => |_, text, path| {
            let numbering = PhaseNumbering::read(&path.with_file_name(vocabulary::ROADMAP), || {
                numbers_by_milestone(path)
            });
            Ok(StateFile::parse_with(text, path, numbering).map(Model::State))
        },
        vocabulary::ROADMAP => |_, text, path| {
            let numbering = PhaseNumbering::detect(text, || numbers_by_milestone(path));
            Ok(Roadmap::parse_with(text, path, numbering).map(Model::Roadmap))
        },
        vocabulary::PROJECT => {
            |_, text, path| Ok(ProjectFile::parse(text, path).map(Model::Project))
        }
        "PATTERNS.md" => |_, text, path| Ok(Patterns::parse(text, path).map(Model::Patterns)),
        _ => match FileName::parse(name, folder.unwrap_or_default()).map(|file| file.kind) {
            Some(FileKind::Plan) => plan,
            Some(FileKind::Summary) => summary,
            // A plan or summary that belongs to no phase, such as `260422-p4a-SUMMARY.md`.
            None => match name.rsplit(['-', '_']).next()? {
                "SUMMARY.md" => summary,
                "PLAN.md" => plan,
                _ => return None,
            },
        },
    })
}

fn summary(project: &Project, text: &str, path: &Path) -> Result<Parsed<Model>> {
    let mut parsed = Summary::parse(text, path);
    derive_durations(vec![&mut parsed.value], &project.git)?;
    Ok(parsed.map(Model::Summary))
}
