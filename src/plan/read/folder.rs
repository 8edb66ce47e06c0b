//! Lists the contents of a planning folder: milestones, their phases, and the files of each plan.
//!
//! ```text
//! <planning>/ACTIVE                      the active milestone's slug; absent: the folder itself, `default`
//! <planning>/[<slug>/]STATE.md, ROADMAP.md
//! <planning>/[<slug>/]phases/05.1-name/05.1-02-PLAN.md, 05.1-02-SUMMARY.md
//! <planning>/phases/CK-05-name/              with GSD's `project_code` in front
//! <planning>/workstreams/<slug>/, active-workstream  GSD's parallel work, each with its own STATE.md and phases
//! <planning>/milestones/v1.1-phases/                 the open milestone's, while it has no archived roadmap
//! <planning>/milestones/<slug>/[phases/]05-name/     archived
//! <planning>/milestones/v1.0-phases/05-name/         archived, GSD
//! <planning>/milestones/v1.0-ROADMAP.md              archived, GSD, its phases not kept
//! <planning>/gsd-archive/phases/                     a GSD folder that was taken over
//! ```
//!
//! Only names are read, the content of ACTIVE, and where folders may be named `02-01-name` after a milestone
//! and a number, that of config.json and ROADMAP.md.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{At, Result};
use crate::markdown::front_matter;
use crate::plan::read::names::entries;
use crate::plan::read::phase::PhaseHome;
use crate::plan::read::{
    FileName, PhaseDir, PhaseNumbering, Roadmap, milestone_version, milestone_version_in,
};
use crate::project::vocabulary;
use crate::storage::read;
use crate::storage::stat::PathKind;
use crate::warning::{Parsed, Warning};

/// The slug of a milestone without a name.
pub const DEFAULT_MILESTONE: &str = "default";

/// Number of folders searched for an archive's config.json: its own and those above.
const CONFIG_ABOVE: usize = 3;

/// The contents of a planning folder, according to the names in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanningFolder {
    /// The planning folder itself; PROJECT.md, REQUIREMENTS.md and config.json are in it.
    pub dir: PathBuf,
    /// The active milestone.
    pub active: MilestoneFolder,
    /// Archived milestones, by slug.
    pub archived: Vec<Archive>,
    /// Files and folders that contain work, but are in no place where work is looked for: what comes next is unknown.
    pub not_understood: Vec<PathBuf>,
}

/// A milestone with its phases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MilestoneFolder {
    /// The slug; `default` for work directly in the planning folder.
    pub slug: String,
    /// The folder with its STATE.md and ROADMAP.md.
    pub dir: PathBuf,
    /// The phase folders, sorted by number, then by name.
    pub phases: Vec<PhaseDir>,
    /// How they are numbered, by config.json and the roadmap; `None` if no folder's name depends on it, so that
    /// neither was read.
    pub numbering: Option<PhaseNumbering>,
    /// Folders beside the phases that contain plans or summaries, but whose names have no phase number.
    pub not_understood: Vec<PathBuf>,
}

/// An archived milestone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// The slug.
    pub slug: String,
    /// The folder, if any: a GSD archive may consist of a roadmap only.
    pub dir: Option<PathBuf>,
}

impl PlanningFolder {
    /// Reads the names in the planning folder `dir`.
    pub fn read(dir: &Path) -> Result<Parsed<Self>> {
        let mut warnings = Vec::new();
        let mut not_understood = Vec::new();
        let mut active = active_milestone(dir, &mut not_understood, &mut warnings)?;
        let mut archived = archives(&active.dir, &mut warnings)?;
        if active.dir != dir {
            archived.extend(archives(dir, &mut warnings)?);
        }
        if active.phases.is_empty()
            && let Some(live) = live_phases(&active, &archived)
        {
            let phases = phases_of(dir, &active.dir, &live);
            active = MilestoneFolder::read_from(&phases, &active.dir, &active.slug)?
                .into_value(&mut warnings);
            archived.retain(|archive| archive.dir.as_ref() != Some(&live));
        }
        archived.retain(|archive| archive.dir.as_ref() != Some(&active.dir));
        not_understood.extend(active.not_understood.iter().cloned());
        if active.phases.is_empty() {
            for path in elsewhere(&active.dir)? {
                let message = "contains plans, but is not where phases are looked for; not read";
                warnings.push(Warning::file(&path, message));
                not_understood.push(path);
            }
        }
        let value = Self { dir: dir.to_owned(), active, archived, not_understood };
        Ok(Parsed { value, warnings })
    }
}

impl PlanningFolder {
    /// Returns the archive that contains every active phase, if any: they shipped and were not removed.
    pub(crate) fn archive_of_active(&self) -> Option<&Archive> {
        let active = &self.active.phases;
        let live: Vec<String> = active.iter().map(PhaseDir::dir_name).collect();
        self.archived.iter().find(|archive| {
            let archived = archive.phase_names().unwrap_or_default();
            !live.is_empty() && live.iter().all(|name| archived.contains(name))
        })
    }

    /// Returns the sorted slugs of the milestones in progress that have their own folders.
    pub fn milestones(&self) -> Result<Vec<String>> {
        let mut slugs = Vec::new();
        for (name, kind) in entries(&self.dir, &mut Vec::new())? {
            let home = self.dir.join(&name);
            let is_milestone = kind == PathKind::Folder
                && read::is_folder(&home.join(vocabulary::PHASES))
                && read::is_file(&home.join(vocabulary::STATE));
            // A migrated GSD folder is an archive.
            if is_milestone && name != vocabulary::TAKEN_OVER {
                slugs.push(name);
            }
        }
        Ok(slugs)
    }

    /// Reads the archived milestones, and the open ones other than the active one.
    pub(crate) fn other_milestones(
        &self,
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<MilestoneFolder>> {
        let mut found = Vec::new();
        for archive in &self.archived {
            found.push(archive.milestone()?.into_value(warnings));
        }
        for slug in self.milestones()? {
            if slug != self.active.slug {
                found.push(self.milestone(&slug)?.into_value(warnings));
            }
        }
        Ok(found)
    }

    /// Reads the milestone in progress that has its own folder.
    pub fn milestone(&self, slug: &str) -> Result<Parsed<MilestoneFolder>> {
        MilestoneFolder::read(&self.dir, &self.dir.join(slug), slug)
    }
}

impl MilestoneFolder {
    /// Reads the phases of the milestone in `home`, whose settings are in the planning folder `planning`.
    pub fn read(planning: &Path, home: &Path, slug: &str) -> Result<Parsed<Self>> {
        let dir = home.join(vocabulary::PHASES);
        Self::read_from(&phases_of(planning, home, &dir), home, slug)
    }

    /// Reads the phases in a folder.
    fn read_from(phases: &PhaseHome<'_>, home: &Path, slug: &str) -> Result<Parsed<Self>> {
        Ok(phases.read()?.map(|found| Self {
            slug: slug.to_owned(),
            dir: home.to_owned(),
            phases: found.phases,
            numbering: found.numbering,
            not_understood: found.not_understood,
        }))
    }
}

/// Returns the folder `dir` with phases of the milestone in `home`.
fn phases_of<'a>(planning: &Path, home: &Path, dir: &'a Path) -> PhaseHome<'a> {
    PhaseHome {
        dir,
        config: planning.join(vocabulary::CONFIG),
        roadmaps: vec![home.join(vocabulary::ROADMAP)],
        is_pure: true,
    }
}

impl Archive {
    /// Reads the phases of the archived milestone.
    pub fn milestone(&self) -> Result<Parsed<MilestoneFolder>> {
        let Some(dir) = &self.dir else {
            return Ok(Parsed::clean(MilestoneFolder {
                slug: self.slug.clone(),
                ..MilestoneFolder::default()
            }));
        };
        let home = phases_dir(dir);
        MilestoneFolder::read_from(&self.phases_in(&home, dir), dir, &self.slug)
    }

    /// Returns the folder `home` with the phases of the archive in `dir`: the numbering is as config.json, in the archive
    /// or above, or the archived roadmap shows.
    fn phases_in<'a>(&self, home: &'a Path, dir: &Path) -> PhaseHome<'a> {
        let above = dir.ancestors().take(CONFIG_ABOVE);
        let mut settings = above.map(|dir| dir.join(vocabulary::CONFIG));
        let settings = settings.find(|path| read::is_file(path));
        PhaseHome {
            dir: home,
            config: settings.unwrap_or_else(|| dir.join(vocabulary::CONFIG)),
            roadmaps: vec![self.roadmap_beside(dir), dir.join(vocabulary::ROADMAP)],
            // An archive that contains its phases directly may contain other folders, which are not reported.
            is_pure: home != dir,
        }
    }

    /// Reads the archived roadmap, beside the archive's folder or in it; `None` if there is none.
    pub(crate) fn roadmap(&self, numbering: PhaseNumbering) -> Result<Option<Roadmap>> {
        let Some(dir) = &self.dir else {
            return Ok(None);
        };
        for path in [self.roadmap_beside(dir), dir.join(vocabulary::ROADMAP)] {
            if let Some(text) = read::text(&path)? {
                return Ok(Some(Roadmap::parse_with(&text.value, &path, numbering).value));
            }
        }
        Ok(None)
    }

    fn roadmap_beside(&self, dir: &Path) -> PathBuf {
        dir.with_file_name(format!("{}{}", self.slug, vocabulary::ROADMAP_OF))
    }

    /// Returns the names of the archived phase folders.
    pub(crate) fn phase_names(&self) -> Result<Vec<String>> {
        let dir = self.dir.as_ref();
        dir.map_or(Ok(Vec::new()), |dir| self.phases_in(&phases_dir(dir), dir).names())
    }
}

/// Returns the folder that contains an archive's phases.
fn phases_dir(archive: &Path) -> PathBuf {
    let nested = archive.join(vocabulary::PHASES);
    if read::is_folder(&nested) { nested } else { archive.to_owned() }
}

/// Returns the folder below `milestones/` with the phases of the open milestone: of the version that STATE.md names,
/// without an archived roadmap beside it.
fn live_phases(active: &MilestoneFolder, archived: &[Archive]) -> Option<PathBuf> {
    let state = read::text(&active.dir.join(vocabulary::STATE)).ok()??.value;
    let stated = match front_matter::scan(&state, ["milestone"]) {
        Some(([Some(name)], _)) => milestone_version_in(name)?,
        _ => return None,
    };
    let live = archived.iter().find(|archive| {
        let dir = archive.dir.as_deref();
        milestone_version(&archive.slug) == Some(stated)
            && dir.is_some_and(|dir| {
                dir.to_string_lossy().ends_with(vocabulary::PHASES_OF)
                    && !read::exists(&archive.roadmap_beside(dir))
            })
    });
    live.and_then(|archive| archive.dir.clone())
}

/// Folders of a planning folder in which plans are not those of phases.
const NO_PHASES: &[&str] = &[
    vocabulary::PHASES,
    vocabulary::MILESTONES,
    vocabulary::TAKEN_OVER,
    vocabulary::WORKSTREAMS,
    "archive",
    "archived",
    "backlog",
    "codebase",
    "debug",
    "docs",
    "intel",
    "notes",
    "old",
    "patterns",
    "quick",
    "reports",
    "research",
    "reviews",
    "seeds",
    "sketches",
    "spikes",
    "templates",
    "threads",
    "todos",
];

/// Returns what contains plans or summaries in a home without phases: files directly in it, and folders down to
/// the second level.
fn elsewhere(home: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for (name, kind) in entries(home, &mut Vec::new())? {
        let path = home.join(&name);
        let is_work = match kind {
            PathKind::File => FileName::parse(&name, "").is_some_and(|file| file.plan.is_some()),
            PathKind::Folder if !NO_PHASES.contains(&name.to_lowercase().as_str()) => {
                holds_plans(&path, 2)? && !read::is_folder(&path.join(vocabulary::PHASES))
            }
            _ => false,
        };
        if is_work {
            found.push(path);
        }
    }
    Ok(found)
}

/// Returns whether a folder contains plans or summaries, down to a depth.
pub(super) fn holds_plans(dir: &Path, depth: usize) -> Result<bool> {
    for (name, kind) in entries(dir, &mut Vec::new())? {
        let is_found = match kind {
            PathKind::File => FileName::parse(&name, "").is_some(),
            PathKind::Folder if depth > 1 => holds_plans(&dir.join(&name), depth - 1)?,
            _ => false,
        };
        if is_found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the active workstream's name and folder: the one that `active-workstream` names, or the only one.
fn workstream(
    dir: &Path,
    not_understood: &mut Vec<PathBuf>,
    warnings: &mut Vec<Warning>,
) -> Result<Option<(String, PathBuf)>> {
    let all = dir.join(vocabulary::WORKSTREAMS);
    let listed = entries(&all, warnings)?.into_iter();
    let is_one = |name: &String| {
        [vocabulary::STATE, vocabulary::ROADMAP, vocabulary::PHASES]
            .iter()
            .any(|own| read::exists(&all.join(name).join(own)))
    };
    let names = listed.filter(|(_, kind)| *kind == PathKind::Folder).map(|(name, _)| name);
    let names: Vec<String> = names.filter(is_one).collect();
    let file = dir.join(vocabulary::ACTIVE_WORKSTREAM);
    let text = read::or_warning(read::text(&file), &file, warnings).unwrap_or_default();
    let stated = text.trim();
    let active = names.iter().find(|name| *name == stated);
    let has_own_phases = || read::is_folder(&dir.join(vocabulary::PHASES));
    match (active, names.as_slice()) {
        (Some(name), _) => Ok(Some((name.clone(), all.join(name)))),
        (None, []) => Ok(None),
        (None, _) if stated.is_empty() && has_own_phases() => Ok(None),
        (None, [only]) if stated.is_empty() => Ok(Some((only.clone(), all.join(only)))),
        (None, names) => {
            let names = names.join(", ");
            let message = if stated.is_empty() {
                format!("several workstreams, none of them active: {names}")
            } else {
                format!("the active workstream {stated:?} is none of {names}")
            };
            warnings.push(Warning::file(&all, message));
            not_understood.push(all);
            Ok(None)
        }
    }
}

fn active_milestone(
    dir: &Path,
    not_understood: &mut Vec<PathBuf>,
    warnings: &mut Vec<Warning>,
) -> Result<MilestoneFolder> {
    if let Some((slug, home)) = workstream(dir, not_understood, warnings)? {
        return Ok(MilestoneFolder::read(dir, &home, &slug)?.into_value(warnings));
    }
    let file = dir.join(vocabulary::ACTIVE);
    let named = match read::kind(&file).at("look at", &file)? {
        None | Some(PathKind::File) => read::text(&file)?.map(|text| text.into_value(warnings)),
        Some(_) => {
            let message =
                "is not a file, so it names no milestone; the planning folder itself is used";
            warnings.push(Warning::file(&file, message));
            None
        }
    };
    let slug = named.as_deref().map(str::trim).unwrap_or_default();
    let is_name = !slug.is_empty() && !slug.starts_with('.') && !slug.contains(['/', '\\', '\n']);
    let homes = [dir.join(slug), dir.join(vocabulary::MILESTONES).join(slug)];
    // A shipped milestone keeps its folder but is no longer active.
    let is_worked_on =
        |home: &PathBuf| read::is_folder(home) && !read::exists(&home.join(vocabulary::SHIPPED));
    let home = homes.into_iter().find(|home| is_name && is_worked_on(home));
    let (slug, home) = if let Some(home) = home {
        (slug.to_owned(), home)
    } else {
        if named.is_some() {
            let message = format!(
                "ACTIVE names {slug:?}, which is not a milestone here; the planning folder itself is used"
            );
            warnings.push(Warning::at(&file, 1, message));
        }
        (DEFAULT_MILESTONE.to_owned(), dir.to_owned())
    };
    let named = MilestoneFolder::read(dir, &home, &slug)?.into_value(warnings);
    if home == dir || !named.phases.is_empty() {
        return Ok(named);
    }
    // Newer versions of VBW write phases at the root, regardless of ACTIVE.
    let root = MilestoneFolder::read(dir, dir, DEFAULT_MILESTONE)?.into_value(warnings);
    if root.phases.is_empty() {
        return Ok(named);
    }
    let message = format!(
        "ACTIVE names {slug:?}, which has no phases; those in the planning folder itself are used"
    );
    warnings.push(Warning::at(&file, 1, message));
    Ok(root)
}

fn archives(dir: &Path, warnings: &mut Vec<Warning>) -> Result<Vec<Archive>> {
    let mut found: BTreeMap<String, Option<PathBuf>> = BTreeMap::new();
    for (name, kind) in entries(&dir.join(vocabulary::MILESTONES), warnings)? {
        let path = dir.join(vocabulary::MILESTONES).join(&name);
        if kind == PathKind::Folder {
            let slug = name.strip_suffix(vocabulary::PHASES_OF).unwrap_or(&name);
            if let Some(Some(other)) = found.insert(slug.to_owned(), Some(path.clone())) {
                let message = format!(
                    "archives the same milestone as {}; only this folder is read",
                    other.display()
                );
                warnings.push(Warning::file(&path, message));
            }
        } else if let Some(slug) = name.strip_suffix(vocabulary::ROADMAP_OF) {
            found.entry(slug.to_owned()).or_insert(None);
        }
    }
    let taken_over = dir.join(vocabulary::TAKEN_OVER);
    if read::is_folder(&taken_over.join(vocabulary::PHASES)) {
        found.insert(vocabulary::TAKEN_OVER.to_owned(), Some(taken_over));
    }
    Ok(found.into_iter().map(|(slug, dir)| Archive { slug, dir }).collect())
}

#[cfg(test)]
mod tests {
    use assert_fs::TempDir;
    use assert_fs::prelude::*;

    use super::*;

    fn read(dir: &TempDir) -> Parsed<PlanningFolder> {
        PlanningFolder::read(dir.path()).unwrap()
    }

    #[test]
    fn without_active_the_folder_itself_is_the_milestone() {
        let dir = TempDir::new().unwrap();
        dir.child("phases/05.1-b/05.1-01-PLAN.md").touch().unwrap();
        dir.child("phases/05-a/05-01-PLAN.md").touch().unwrap();
        dir.child("phases/10-c/10-01-PLAN.md").touch().unwrap();
        let found = read(&dir);
        assert_eq!(found.value.active.slug, DEFAULT_MILESTONE);
        let numbers: Vec<String> =
            found.value.active.phases.iter().map(|p| p.number.to_string()).collect();
        assert_eq!(numbers, ["5", "5.1", "10"]);
    }

    #[test]
    fn active_names_a_milestone_or_is_warned_of() {
        let dir = TempDir::new().unwrap();
        dir.child("ACTIVE").write_str("two\n").unwrap();
        assert_eq!(read(&dir).warnings.len(), 1);
        dir.child("two/phases/01-a").create_dir_all().unwrap();
        let found = read(&dir);
        assert_eq!(found.value.active.slug, "two");
        assert_eq!(found.value.active.phases.len(), 1);
        dir.child("ACTIVE").write_str("../two").unwrap();
        assert_eq!(read(&dir).value.active.slug, DEFAULT_MILESTONE);
    }

    #[test]
    fn two_archives_of_one_milestone_are_warned_of() {
        let dir = TempDir::new().unwrap();
        for name in ["v1.0", "v1.0-phases"] {
            dir.child("milestones").child(name).create_dir_all().unwrap();
        }
        let found = read(&dir);
        assert_eq!(found.value.archived.len(), 1);
        assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
    }

    #[test]
    fn archives_of_every_layout_are_found() {
        let dir = TempDir::new().unwrap();
        dir.child("milestones/one/phases/01-a").create_dir_all().unwrap();
        dir.child("milestones/two/01-a").create_dir_all().unwrap();
        dir.child("milestones/v1.0-phases/01-a").create_dir_all().unwrap();
        dir.child("milestones/v1.0-ROADMAP.md").touch().unwrap();
        dir.child("milestones/v0.9-ROADMAP.md").touch().unwrap();
        let archived = read(&dir).value.archived;
        let slugs: Vec<&str> = archived.iter().map(|archive| archive.slug.as_str()).collect();
        assert_eq!(slugs, ["one", "two", "v0.9", "v1.0"]);
        let phases: Vec<usize> = archived
            .iter()
            .map(|archive| archive.milestone().unwrap().value.phases.len())
            .collect();
        assert_eq!(phases, [1, 1, 0, 1]);
    }

    #[test]
    fn a_project_code_or_the_word_may_stand_before_the_number() {
        let dir = TempDir::new().unwrap();
        dir.child("phases/CK-01-log-in/01-01-PLAN.md").touch().unwrap();
        dir.child("phases/phase-02-log-out").create_dir_all().unwrap();
        let found = read(&dir);
        assert_eq!(found.warnings, []);
        let phases = found.value.active.phases.iter();
        let named: Vec<_> = phases
            .map(|phase| (phase.number.to_string(), phase.name.as_str(), phase.plans.len()))
            .collect();
        let expected = [("1", "Log in", 1), ("2", "Log out", 0)];
        assert_eq!(named, expected.map(|(number, name, plans)| (number.to_owned(), name, plans)));
    }

    #[test]
    fn what_is_not_a_phase_is_warned_of() {
        let dir = TempDir::new().unwrap();
        dir.child("phases/42-49-range").create_dir_all().unwrap();
        dir.child("phases/m2s3-tracing").create_dir_all().unwrap();
        dir.child("phases/01-a/01-01-SUMMARY.md").create_dir_all().unwrap();
        let found = read(&dir);
        assert_eq!(found.value.active.phases.len(), 1);
        assert_eq!(found.warnings.len(), 3);
    }
}
