//! Shows how a planning file is parsed.

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::patterns::Patterns;
use crate::patterns::derive_durations;
use crate::planning::FileKind;
use crate::planning::FileName;
use crate::planning::PhaseIds;
use crate::planning::Plan;
use crate::planning::ProjectFile;
use crate::planning::Roadmap;
use crate::planning::StateFile;
use crate::planning::Summary;
use crate::project::Project;
use crate::project::vocabulary;
use crate::storage::read;
use crate::warning::Parsed;
use crate::warning::Warning;

/// A parsed planning file. It is a line of `annals inspect --json`.
#[derive(Clone, Debug, Serialize)]
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
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Model {
    /// STATE.md.
    State(Box<StateFile>),
    /// ROADMAP.md.
    Roadmap(Box<Roadmap>),
    /// PROJECT.md.
    Project(Box<ProjectFile>),
    /// A plan.
    Plan(Box<Plan>),
    /// A summary.
    Summary(Box<Summary>),
    /// PATTERNS.md.
    Patterns(Box<Patterns>),
}

/// Parses a file whose kind is determined by its name.
pub fn inspect(project: &Project, path: &Path) -> Result<Inspected> {
    let kind = DocumentKind::from_path(path).ok_or_else(|| {
        Error::usage("not a planning file by its name")
            .at(path, None)
            .hint(
                "STATE.md, ROADMAP.md, PROJECT.md, PATTERNS.md, or a phase's PLAN or SUMMARY file",
            )
    })?;
    let text =
        read::users_text(path)?.ok_or_else(|| Error::not_found("no such file").at(path, None))?;
    let mut warnings = Vec::new();
    let text = text.into_value(&mut warnings);
    let model = kind.read(project, &text, path)?.into_value(&mut warnings);
    Ok(Inspected {
        file: project.relative(path).to_owned(),
        model,
        warnings: project.named(warnings),
    })
}

#[derive(Clone, Copy)]
enum DocumentKind {
    State,
    Roadmap,
    Project,
    Patterns,
    Plan,
    Summary,
}

impl DocumentKind {
    fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let folder = path
            .parent()
            .and_then(Path::file_name)
            .and_then(|name| name.to_str());
        // Archives contain names such as `v1.0-ROADMAP.md`.
        let plain = name.rsplit_once('-').map_or(name, |(_, last)| last);
        match plain {
            vocabulary::STATE => Some(Self::State),
            vocabulary::ROADMAP => Some(Self::Roadmap),
            vocabulary::PROJECT => Some(Self::Project),
            "PATTERNS.md" => Some(Self::Patterns),
            _ => FileName::parse(name, folder.unwrap_or_default())
                .map(|file| match file.kind {
                    FileKind::Plan => Self::Plan,
                    FileKind::Summary => Self::Summary,
                })
                .or_else(|| Self::of_ending(name)),
        }
    }

    /// Returns the kind of a plan or summary that belongs to no phase, such as `260422-p4a-SUMMARY.md`.
    fn of_ending(name: &str) -> Option<Self> {
        match name.rsplit(['-', '_']).next()? {
            "SUMMARY.md" => Some(Self::Summary),
            "PLAN.md" => Some(Self::Plan),
            _ => None,
        }
    }

    fn read(self, project: &Project, text: &str, path: &Path) -> Result<Parsed<Model>> {
        Ok(match self {
            Self::State => {
                let beside = |name| path.with_file_name(name);
                let ids = PhaseIds::read(&beside(vocabulary::CONFIG), &beside(vocabulary::ROADMAP));
                StateFile::parse_with(text, path, ids).map(|state| Model::State(Box::new(state)))
            }
            Self::Roadmap => {
                Roadmap::parse(text, path).map(|roadmap| Model::Roadmap(Box::new(roadmap)))
            }
            Self::Project => {
                ProjectFile::parse(text, path).map(|file| Model::Project(Box::new(file)))
            }
            Self::Patterns => {
                Patterns::parse(text, path).map(|patterns| Model::Patterns(Box::new(patterns)))
            }
            Self::Plan => Plan::parse(text, path).map(|plan| Model::Plan(Box::new(plan))),
            Self::Summary => {
                let mut parsed = Summary::parse(text, path);
                derive_durations(vec![&mut parsed.value], &project.git)?;
                parsed.map(|summary| Model::Summary(Box::new(summary)))
            }
        })
    }
}
