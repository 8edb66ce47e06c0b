//! Reads a phase's folder: its number, its name, and the plan that each file belongs to.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::plan::read::file_name::FolderName;
use crate::plan::read::folder::holds_plans;
use crate::plan::read::pairing::pair;
use crate::plan::read::phase_numbering::{folder_prefix, may_be_prefixed};
use crate::plan::read::{
    CheckFiles, FileName, PhaseNumber, PhaseNumbering, PlanSlot, check, names,
};
use crate::storage::stat::PathKind;
use crate::text::capitalized;
use crate::warning::{Parsed, Warning};

/// A phase's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseDir {
    /// The phase number.
    pub number: PhaseNumber,
    /// The words of the folder's name after the number: `Event system`.
    pub name: String,
    /// The path of the folder.
    pub dir: PathBuf,
    /// The plans, sorted by number.
    pub plans: Vec<PlanSlot>,
    /// Whether the phase was discussed, that is, has a CONTEXT file.
    pub has_context: bool,
    /// Where its checks are.
    pub checks: CheckFiles,
    /// Whether the folder contains anything except hidden files: a tool may create all folders in advance.
    pub has_files: bool,
}

/// A folder with the folders of phases.
pub(crate) struct PhaseHome<'a> {
    /// Its path.
    pub(crate) dir: &'a Path,
    /// The config.json and the roadmaps that say how its phases are numbered.
    pub(crate) config: PathBuf,
    pub(crate) roadmaps: Vec<PathBuf>,
    /// Whether it contains nothing else, so that an unknown folder is a mistake.
    pub(crate) is_pure: bool,
}

/// The phases in a folder.
pub(crate) struct FoundPhases {
    /// The phases, by number, then by name.
    pub(crate) phases: Vec<PhaseDir>,
    /// The other folders that contain plans.
    pub(crate) not_understood: Vec<PathBuf>,
    /// How they are numbered; `None` if no folder's name depends on it, so that it was not read.
    pub(crate) numbering: Option<PhaseNumbering>,
}

impl PhaseHome<'_> {
    /// Returns the folders, and how they are numbered.
    fn listed(&self, warnings: &mut Vec<Warning>) -> Result<(Vec<String>, Option<PhaseNumbering>)> {
        let entries = names::entries(self.dir, warnings)?.into_iter();
        let folders = entries.filter(|(_, kind)| *kind == PathKind::Folder).map(|(name, _)| name);
        let folders: Vec<String> = folders.collect();
        let read = |roadmap: &PathBuf| PhaseNumbering::read(&self.config, roadmap);
        let numbering = folders.iter().any(|name| may_be_prefixed(name)).then(|| {
            let mut read = self.roadmaps.iter().map(read);
            read.find(|own| *own != PhaseNumbering::Plain).unwrap_or_default()
        });
        Ok((folders, numbering))
    }

    /// Reads the phase folders.
    pub(crate) fn read(&self) -> Result<Parsed<FoundPhases>> {
        let mut warnings = Vec::new();
        let (folders, numbering) = self.listed(&mut warnings)?;
        let mut found = FoundPhases { phases: Vec::new(), not_understood: Vec::new(), numbering };
        let numbering = numbering.unwrap_or_default();
        for name in folders {
            let dir = self.dir.join(&name);
            let repeated = || {
                let parsed = repeated_number(&name, numbering);
                parsed.filter(|(number, _)| has_plans_of(&dir, number))
            };
            if let Some((number, slug)) = number_and_slug(&name, numbering).or_else(repeated) {
                let phase = PhaseDir::read(&name, number, dir, &mut warnings)?;
                found.phases.push(PhaseDir { name: words(slug), ..phase });
            } else if self.is_pure {
                let message = "not a phase: its name has no phase number in front";
                warnings.push(Warning::file(&dir, message));
                if holds_plans(&dir, 2)? {
                    found.not_understood.push(dir);
                }
            }
        }
        found.phases.sort_by(|a, b| (&a.number, &a.dir).cmp(&(&b.number, &b.dir)));
        Ok(Parsed::new(found, warnings))
    }

    /// Returns the names of the phase folders without reading the folders.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let (mut folders, numbering) = self.listed(&mut Vec::new())?;
        folders.retain(|name| number_and_slug(name, numbering.unwrap_or_default()).is_some());
        Ok(folders)
    }
}

impl PhaseDir {
    /// Reads the names in a phase's folder; the caller sets the phase's name.
    fn read(
        name: &str,
        number: PhaseNumber,
        dir: PathBuf,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self> {
        let mut names = Vec::new();
        let mut hidden = Vec::new();
        let mut folders = Vec::new();
        let mut others = Vec::new();
        for (entry, kind) in names::all_entries(&dir, warnings)? {
            match kind {
                _ if entry.starts_with('.') => hidden.push(entry),
                PathKind::File => names.push(entry),
                PathKind::Folder => folders.push(entry),
                PathKind::Link | PathKind::Other => others.push(entry),
            }
        }
        // Some keep a phase's plans in a folder of their own.
        if folders.iter().any(|folder| folder == PLANS) {
            for (entry, kind) in names::entries(&dir.join(PLANS), warnings)? {
                if kind == PathKind::File {
                    names.push(format!("{PLANS}/{entry}"));
                }
            }
        }
        let folder = FolderName::new(name, number.numbering());
        for (found, what) in [
            (&folders, "a folder where a file is expected; skipped"),
            (&others, "a pipe, a device or a dead link where a file is expected; skipped"),
        ] {
            for slot in pair(&folder, found).plans {
                for entry in [slot.plan, slot.summary].into_iter().flatten() {
                    warnings.push(Warning::file(&dir.join(entry), what));
                }
            }
        }
        let has_files = [&names, &folders, &others].iter().any(|list| !list.is_empty());
        let has_remediation = folders.iter().any(|folder| folder == check::REMEDIATION);
        Ok(Self {
            number,
            name: String::new(),
            plans: pair(&folder, &names).plans,
            has_context: names.iter().any(|name| name.ends_with("CONTEXT.md")),
            checks: CheckFiles::new(&dir, &names, &hidden, has_remediation),
            dir,
            has_files,
        })
    }

    /// Returns the folder's name: `05.1-event-system`.
    pub fn dir_name(&self) -> String {
        self.dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns the paths of the summaries, sorted by plan number.
    pub fn summaries(&self) -> impl Iterator<Item = PathBuf> {
        self.plans.iter().filter_map(|slot| slot.summary.as_ref().map(|name| self.dir.join(name)))
    }
}

/// The folder within a phase for its plans and summaries.
const PLANS: &str = "plans";

/// Splits `05.1-event-system`; a range of phases such as `42-49-review` yields `None`.
fn number_and_slug(name: &str, numbering: PhaseNumbering) -> Option<(PhaseNumber, &str)> {
    let (number, rest) = numbering.split_folder(name)?;
    let name = &name[folder_prefix(name).len()..];
    let slug = match rest.strip_prefix(['-', '_', ' ']) {
        Some(slug) => slug,
        None if rest.is_empty() => rest,
        None => return None,
    };
    if number.numbering() != PhaseNumbering::Plain {
        return Some((number, slug));
    }
    // Both ends of a range are integers of the same width: `01-3d-terrain` and `31-404-page` are single phases.
    let width = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let end_of_range = PhaseNumber::split(slug).filter(|(end, rest)| {
        *end == PhaseNumber::from(end.whole())
            && *end > number
            && width(slug) == width(name)
            && (rest.is_empty() || rest.starts_with('-'))
    });
    end_of_range.is_none().then_some((number, slug))
}

/// Splits `24-48-hours`, which may be a range, or a phase whose slug begins with a number.
fn repeated_number(name: &str, numbering: PhaseNumbering) -> Option<(PhaseNumber, &str)> {
    let (number, rest) = numbering.split(&name[folder_prefix(name).len()..])?;
    Some((number, rest.strip_prefix('-')?))
}

/// Returns whether a folder contains a plan or summary that names the phase as its own.
fn has_plans_of(dir: &Path, number: &PhaseNumber) -> bool {
    let listed = names::entries(dir, &mut Vec::new()).unwrap_or_default();
    listed.iter().any(|(name, _)| {
        let file = FileName::parse(name, "");
        file.is_some_and(|file| file.plan.is_some() && file.phase.as_ref() == Some(number))
    })
}

/// Converts a slug to words: `event-system` becomes `Event system`.
fn words(slug: &str) -> String {
    capitalized(slug.replace(['-', '_'], " ").trim())
}
