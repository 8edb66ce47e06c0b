//! Lists the contents of a planning folder: milestones, their phases, and the files of each plan.
//!
//! ```text
//! <planning>/ACTIVE                      the active milestone's slug; absent: the folder itself, `default`
//! <planning>/[<slug>/]STATE.md, ROADMAP.md
//! <planning>/[<slug>/]phases/05.1-name/05.1-02-PLAN.md, 05.1-02-SUMMARY.md
//! <planning>/phases/CK-05-name/              with GSD's `project_code` in front
//! <planning>/workstreams/<slug>/, active-workstream  GSD's parallel work, each with its own STATE.md and phases
//! <planning>/milestones/v1.1-phases/, v1.1/phases/   the open milestone's, while it has no archived roadmap
//! <planning>/milestones/<slug>/[phases/]05-name/     archived
//! <planning>/milestones/v1.0-phases/05-name/         archived, GSD
//! <planning>/milestones/v1.0-ROADMAP.md              archived, GSD, its phases not kept
//! <planning>/gsd-archive/phases/                     a GSD folder that was taken over
//! ```
//!
//! Only names are read, the content of ACTIVE, that of ROADMAP.md, which shows how phases are numbered, and that of
//! plans and summaries in a folder with the name of an archived one.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{At, Result};
use crate::plan::read::phase_dir::{holds_plans, phases_in};
use crate::plan::read::vocabulary::has;
use crate::plan::read::{
    FileName, PhaseDir, PlanSlot, Roadmap, StateFile, milestone_version, milestone_version_in,
    without_status,
};
use crate::plan::rules::is_same_milestone;
use crate::project::vocabulary;
use crate::storage::read::PathKind;
use crate::storage::{listing, read};
use crate::text::{after_byte_order_mark, is_digit};
use crate::warning::{Parsed, Warning};

/// The slug of a milestone without a name.
pub const DEFAULT_MILESTONE: &str = "default";

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
    pub phases: Vec<Arc<PhaseDir>>,
    /// Folders next to the phases that contain plans or summaries, but whose names have no phase number.
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
        let mut value = Self { dir: dir.to_owned(), ..Self::default() };
        value.active = value.active_milestone(&mut warnings)?;
        let home = value.active.dir.clone();
        let mut homes = vec![home.as_path(), dir];
        homes.dedup();
        for home in homes {
            value.archived.extend(archives(home, &mut warnings)?);
        }
        value.archived.retain(|archive| archive.dir.as_ref() != Some(&home));
        let has_phases = !value.active.phases.is_empty();
        if let Some(live) = live_phases(&home, &value.archived, has_phases) {
            let roadmaps = [home.join(vocabulary::ROADMAP)];
            let phases = phases_dir(&live);
            let read = phases_in(&phases, true, &home, &value.active.slug, &roadmaps)?;
            let read = read.into_value(&mut warnings);
            // GSD reads both folders.
            let active = &mut value.active;
            let is_new =
                |phase: &Arc<PhaseDir>| !active.phases.iter().any(|own| own.number == phase.number);
            let new: Vec<_> = read.phases.into_iter().filter(is_new).collect();
            active.phases.extend(new);
            active.phases.sort_by(|a, b| (&a.number, &a.path).cmp(&(&b.number, &b.path)));
            active.not_understood.extend(read.not_understood);
            value.archived.retain(|archive| archive.dir.as_ref() != Some(&live));
        }
        value.not_understood.extend(value.active.not_understood.iter().cloned());
        for path in elsewhere(&home, value.active.phases.is_empty())? {
            let message = "not read: contains plans, but phases are not looked for here";
            warnings.push(Warning::file(&path, message));
            if value.active.phases.is_empty() {
                value.not_understood.push(path);
            }
        }
        Ok(Parsed { value, warnings })
    }

    fn active_milestone(&mut self, warnings: &mut Vec<Warning>) -> Result<MilestoneFolder> {
        let dir = self.dir.clone();
        if let Some((slug, home)) = self.workstream(warnings)? {
            return Ok(MilestoneFolder::read(&home, &slug)?.into_value(warnings));
        }
        // Newer versions of VBW write phases at the root, regardless of ACTIVE.
        let root = MilestoneFolder::read(&dir, DEFAULT_MILESTONE)?;
        let file = dir.join(vocabulary::ACTIVE);
        let here = "the planning folder itself is used";
        let stated = match read::kind(&file).at("read", &file)? {
            None | Some(PathKind::File) => read::text(&file)?,
            Some(_) => {
                let message = format!("is not a file, so it names no milestone; {here}");
                warnings.push(Warning::file(&file, message));
                None
            }
        };
        let Some(text) = stated else { return Ok(root.into_value(warnings)) };
        let text = text.into_value(warnings);
        let slug = after_byte_order_mark(&text).trim();
        let is_name =
            !slug.is_empty() && !slug.starts_with('.') && !slug.contains(['/', '\\', '\n']);
        let mut homes = [dir.join(slug), dir.join(vocabulary::MILESTONES).join(slug)].into_iter();
        // A shipped milestone keeps its folder but is no longer active.
        let home = homes.find(|home| {
            is_name && read::is_folder(home) && !read::exists(&home.join(vocabulary::SHIPPED))
        });
        let named = home.map(|home| MilestoneFolder::read(&home, slug)).transpose()?;
        let problem = match named {
            Some(named) if !named.value.phases.is_empty() || root.value.phases.is_empty() => {
                return Ok(named.into_value(warnings));
            }
            Some(_) => "has no phases",
            None => "is not a milestone here",
        };
        let message = format!("names {slug:?}, which {problem}; {here}");
        warnings.push(Warning::at(&file, 1, message));
        Ok(root.into_value(warnings))
    }

    /// Returns the active workstream's name and folder: the one that `active-workstream` names, or the only one.
    fn workstream(&mut self, warnings: &mut Vec<Warning>) -> Result<Option<(String, PathBuf)>> {
        let all = self.dir.join(vocabulary::WORKSTREAMS);
        let is_one = |(name, kind): &(String, PathKind)| {
            let own = [vocabulary::STATE, vocabulary::ROADMAP, vocabulary::PHASES];
            let home = all.join(name);
            *kind == PathKind::Folder && own.iter().any(|own| read::exists(&home.join(own)))
        };
        let names = entries(&all, warnings)?.into_iter().filter(is_one);
        let names: Vec<String> = names.map(|(name, _)| name).collect();
        let file = self.dir.join(vocabulary::ACTIVE_WORKSTREAM);
        let text = read::or_warning(read::text(&file), &file, warnings).unwrap_or_default();
        let stated = after_byte_order_mark(&text).trim();
        let active = match names.as_slice() {
            [] => None,
            names if names.iter().any(|name| name == stated) => Some(stated.to_owned()),
            _ if stated.is_empty() && self.has_own_phases(warnings)? => None,
            [only] if stated.is_empty() => Some(only.clone()),
            names => {
                let problem = if stated.is_empty() {
                    "several workstreams, none of them active".to_owned()
                } else {
                    format!("the active workstream {stated:?} is not there, but these are")
                };
                let message = format!("{problem}: {}", names.join(", "));
                warnings.push(Warning::file(&all, message));
                self.not_understood.push(all.clone());
                None
            }
        };
        Ok(active.map(|name| (name.clone(), all.join(name))))
    }

    /// Returns whether the folder itself has phases, or a roadmap beside the folder for them.
    fn has_own_phases(&self, warnings: &mut Vec<Warning>) -> Result<bool> {
        let phases = self.dir.join(vocabulary::PHASES);
        let has_roadmap = read::exists(&self.dir.join(vocabulary::ROADMAP));
        let is_there = read::is_folder(&phases);
        Ok(is_there && (has_roadmap || !entries(&phases, warnings)?.is_empty()))
    }

    /// Returns the archive of a milestone; VBW numbers their folders: `01-alpha`.
    pub(crate) fn archive(&self, name: &str) -> Option<&Archive> {
        let name = without_status(name);
        self.archived.iter().find(|archive| {
            let slug = archive.slug.as_str();
            let bare = slug.trim_start_matches(is_digit).strip_prefix('-');
            is_same_milestone(slug, name) || bare.is_some_and(|slug| is_same_milestone(slug, name))
        })
    }

    /// Returns the archive that contains every active phase, if any: they shipped and were not removed. A new phase may
    /// have the name of an archived one, but not the same plans.
    pub(crate) fn archive_of_active(&self) -> Option<&Archive> {
        let active = &self.active.phases;
        self.archived.iter().find(|archive| {
            let Some(dir) = &archive.dir else { return false };
            let home = phases_dir(dir);
            let is_there = |phase: &Arc<PhaseDir>| is_copied(phase, &home.join(phase.dir_name()));
            active.iter().any(|phase| !phase.plans.is_empty()) && active.iter().all(is_there)
        })
    }

    /// Returns the sorted slugs of the milestones in progress that have their own folders.
    pub fn milestones(&self) -> Result<Vec<String>> {
        let mut names = visible(&self.dir)?;
        names.retain(|(name, kind)| {
            let home = self.dir.join(name);
            // A migrated GSD folder is an archive.
            *kind == PathKind::Folder
                && name != vocabulary::TAKEN_OVER
                && read::is_folder(&home.join(vocabulary::PHASES))
                && read::is_file(&home.join(vocabulary::STATE))
        });
        Ok(names.into_iter().map(|(name, _)| name).collect())
    }

    /// Reads the archived milestones, the open ones other than the active one, and the workstreams.
    pub(crate) fn other_milestones(
        &self,
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<MilestoneFolder>> {
        let mut found = Vec::new();
        for archive in &self.archived {
            found.push(archive.milestone()?.into_value(warnings));
        }
        let open = self.milestones()?.into_iter().filter(|slug| *slug != self.active.slug);
        let open = open.map(|slug| (self.dir.join(&slug), slug));
        let streams = self.dir.join(vocabulary::WORKSTREAMS);
        let names = folders(&streams, warnings).into_iter();
        let streams = names.map(|name| (streams.join(&name), name));
        let streams = streams.filter(|(home, _)| read::is_folder(&home.join(vocabulary::PHASES)));
        for (home, slug) in open.chain(streams) {
            found.push(MilestoneFolder::read(&home, &slug)?.into_value(warnings));
        }
        Ok(found)
    }
}

impl MilestoneFolder {
    /// Reads the phases of the milestone in `home`.
    pub fn read(home: &Path, slug: &str) -> Result<Parsed<Self>> {
        let (phases, roadmap) = (home.join(vocabulary::PHASES), home.join(vocabulary::ROADMAP));
        phases_in(&phases, true, home, slug, &[roadmap])
    }
}

impl Archive {
    /// Reads the phases of the archived milestone.
    pub fn milestone(&self) -> Result<Parsed<MilestoneFolder>> {
        let Some(dir) = &self.dir else {
            let slug = self.slug.clone();
            return Ok(Parsed::clean(MilestoneFolder { slug, ..MilestoneFolder::default() }));
        };
        let home = phases_dir(dir);
        // An archive that contains its phases directly may contain other folders, which are not reported.
        let is_pure = home != *dir;
        phases_in(&home, is_pure, dir, &self.slug, &self.roadmaps(dir))
    }

    /// Reads the archived roadmap, next to the archive's folder or in it; `None` if there is none.
    pub(crate) fn roadmap(&self) -> Result<Option<Roadmap>> {
        for path in self.dir.iter().flat_map(|dir| self.roadmaps(dir)) {
            if let Some(text) = read::text(&path)? {
                return Ok(Some(Roadmap::parse(&text.value, &path).value));
            }
        }
        Ok(None)
    }

    /// Returns whether GSD has archived its roadmap; without a folder, that is all there is of the archive.
    pub(crate) fn has_roadmap_beside(&self) -> bool {
        let beside = |dir: &PathBuf| read::exists(&self.roadmaps(dir)[0]);
        self.dir.as_ref().is_none_or(beside)
    }

    /// Returns whether it contains a plan without a summary, and nothing shows that it was archived.
    fn has_open_plan(&self) -> bool {
        let Some(dir) = self.dir.as_ref().filter(|_| self.slug != vocabulary::TAKEN_OVER) else {
            return false;
        };
        let is_open = |slot: &PlanSlot| slot.plan.is_some() && slot.summary.is_none();
        let phases = || self.milestone().map(|read| read.value.phases).unwrap_or_default();
        !self.has_roadmap_beside()
            && !read::exists(&dir.join(vocabulary::SHIPPED))
            && phases().iter().any(|phase| phase.plans.iter().any(is_open))
    }

    fn roadmaps(&self, dir: &Path) -> [PathBuf; 2] {
        let name = format!("{}{}", self.slug, vocabulary::ROADMAP_OF);
        [dir.with_file_name(name), dir.join(vocabulary::ROADMAP)]
    }
}

/// Returns whether another folder has all plans and summaries of a phase, byte for byte.
fn is_copied(phase: &PhaseDir, copy: &Path) -> bool {
    let mut files = phase.plans.iter().flat_map(PlanSlot::paths);
    // What has no summary yet was not archived with one.
    let is_left = |slot: &PlanSlot| {
        let summary = slot.plan.as_ref().filter(|_| slot.summary.is_none());
        let name = summary.and_then(|plan| plan.path.file_name()?.to_str());
        name.is_none_or(|name| !read::exists(&copy.join(name.replace("PLAN", "SUMMARY"))))
    };
    // What cannot be read is not known to be the same.
    let bytes = |path: &Path| read::uncounted_bytes(path).ok().flatten();
    read::is_folder(copy)
        && phase.plans.iter().all(is_left)
        && files.all(|path| {
            let own = bytes(path);
            let name = path.strip_prefix(&phase.path).unwrap_or(path);
            own.is_some() && own == bytes(&copy.join(name))
        })
}

/// Returns the folder that contains an archive's phases.
fn phases_dir(archive: &Path) -> PathBuf {
    let nested = archive.join(vocabulary::PHASES);
    if read::is_folder(&nested) { nested } else { archive.to_owned() }
}

/// Returns the folder below `milestones/` with the phases of the open milestone: the one with its name, else, if no phase has
/// a folder elsewhere, the only one with an open plan.
fn live_phases(home: &Path, archived: &[Archive], has_phases: bool) -> Option<PathBuf> {
    let open = || {
        let mut open = archived.iter().filter(|archive| !has_phases && archive.has_open_plan());
        let only = open.next()?;
        open.next().is_none().then(|| only.dir.clone())?
    };
    live_by_name(home, archived).or_else(open)
}

/// Returns the folder of the version that STATE.md names, else the roadmap, without an archived roadmap next to it.
fn live_by_name(home: &Path, archived: &[Archive]) -> Option<PathBuf> {
    let may_be_live = archived.iter().filter_map(|archive| {
        let dir = archive.dir.as_ref()?;
        let [beside, inside] = archive.roadmaps(dir);
        let is_open = dir.to_string_lossy().ends_with(vocabulary::PHASES_OF)
            || read::is_folder(&dir.join(vocabulary::PHASES))
                && ![inside, dir.join(vocabulary::SHIPPED)].iter().any(|own| read::exists(own));
        let is_archived = !is_open || read::exists(&beside);
        Some((milestone_version(&archive.slug)?, dir)).filter(|_| !is_archived)
    });
    // Without any, the documents need not be read for it.
    let mut may_be_live = may_be_live.peekable();
    may_be_live.peek()?;
    let text = |name: &str| Some((read::text(&home.join(name)).ok()??.value, home.join(name)));
    let stated = text(vocabulary::STATE)
        .and_then(|(text, path)| StateFile::parse(&text, &path).value.milestone);
    let listed = || {
        let (text, path) = text(vocabulary::ROADMAP)?;
        let milestones = Roadmap::parse(&text, &path).value.milestones.into_iter();
        milestones.filter(|one| !one.is_shipped).map(|one| one.name).next()
    };
    let name = stated.or_else(listed)?;
    let version = milestone_version_in(&name);
    may_be_live.find(|(own, _)| Some(*own) == version).map(|(_, dir)| dir.clone())
}

/// Returns what contains plans or summaries beside the phases: files directly in the home, and folders down to the second
/// level; folders that are named for work, such as `tasks/`, count whatever is in them. Without any phase, so does the folder
/// of a milestone that ACTIVE does not name.
fn elsewhere(home: &Path, has_no_phases: bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for (name, kind) in visible(home)? {
        let path = home.join(&name);
        let lower = name.to_lowercase();
        let is_work = match kind {
            PathKind::File => FileName::parse(&name, "").is_some_and(|file| file.plan.is_some()),
            PathKind::Folder if has("folder of work", &lower) => !visible(&path)?.is_empty(),
            // Where case distinguishes names, `Phases` is another folder.
            PathKind::Folder
                if name != vocabulary::PHASES && lower == vocabulary::PHASES
                    || !has("folder without phases", &lower) =>
            {
                let is_milestone = read::is_folder(&path.join(vocabulary::PHASES));
                let depth = if is_milestone { 3 } else { 2 };
                (has_no_phases || !is_milestone) && holds_plans(&path, depth)?
            }
            _ => false,
        };
        if is_work {
            found.push(path);
        }
    }
    Ok(found)
}

fn archives(dir: &Path, warnings: &mut Vec<Warning>) -> Result<Vec<Archive>> {
    let mut found: BTreeMap<String, Option<PathBuf>> = BTreeMap::new();
    let all = dir.join(vocabulary::MILESTONES);
    for (name, kind) in entries(&all, warnings)? {
        let path = all.join(&name);
        if kind == PathKind::Folder {
            let slug = name.strip_suffix(vocabulary::PHASES_OF).unwrap_or(&name);
            if let Some(Some(other)) = found.insert(slug.to_owned(), Some(path.clone())) {
                let other = other.display();
                let message =
                    format!("archives the same milestone as {other}; only this folder is read");
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

/// Returns the visible entries of a folder with their kinds, following links, sorted; empty if it does not
/// exist.
pub(crate) fn entries(dir: &Path, warnings: &mut Vec<Warning>) -> Result<Vec<(String, PathKind)>> {
    let mut all = all_entries(dir, warnings)?;
    all.retain(|(name, _)| !name.starts_with('.'));
    Ok(all)
}

/// Does the same where another reader of the folder warns of what is wrong.
pub(crate) fn visible(dir: &Path) -> Result<Vec<(String, PathKind)>> {
    entries(dir, &mut Vec::new())
}

/// Returns the names of the visible folders in a folder; a warning, if it cannot be listed.
pub(crate) fn folders(dir: &Path, warnings: &mut Vec<Warning>) -> Vec<String> {
    let listed = entries(dir, warnings).unwrap_or_else(|error| {
        warnings.push(Warning::file(dir, error.reason()));
        Vec::new()
    });
    let folders = listed.into_iter().filter(|(_, kind)| *kind == PathKind::Folder);
    folders.map(|(name, _)| name).collect()
}

/// Returns all entries, including hidden ones.
pub(crate) fn all_entries(
    dir: &Path,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<(String, PathKind)>> {
    let listed = match listing::entries(dir) {
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            let message = "a file where a folder is expected; skipped";
            warnings.push(Warning::file(dir, message));
            return Ok(Vec::new());
        }
        listed => listed.at("list", dir)?,
    };
    let mut found = Vec::new();
    for (name, kind) in listed {
        // Printed, the name would start a new line; no tool creates such names.
        if name.contains(char::is_control) {
            let message = "an entry whose name has a control character; skipped";
            warnings.push(Warning::file(dir, message));
            continue;
        }
        let kind = match kind {
            // A link out of the project is reported when it is read.
            PathKind::Link => {
                read::kind(&dir.join(&name)).ok().flatten().unwrap_or(PathKind::Other)
            }
            kind => kind,
        };
        found.push((name, kind));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assert_fs::TempDir;
    use assert_fs::prelude::*;

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
    fn only_the_same_plans_show_that_the_active_phases_are_archived() {
        let dir = TempDir::new().unwrap();
        let archive = || {
            let folder = read(&dir).value;
            folder.archive_of_active().map(|archive| archive.slug.clone())
        };
        let [archived, active] = ["milestones/one/phases", "phases"].map(|home| {
            let phase = dir.child(home).child("01-base");
            phase.create_dir_all().unwrap();
            phase
        });
        archived.child("01-01-PLAN.md").write_str("build").unwrap();
        archived.child("01-01-SUMMARY.md").write_str("built").unwrap();
        archived.child("01-UAT.md").write_str("passed").unwrap();
        assert_eq!(archive(), None, "no plan is left");
        active.child("01-01-PLAN.md").write_str("build more").unwrap();
        assert_eq!(archive(), None, "another plan");
        active.child("01-01-PLAN.md").write_str("build").unwrap();
        assert_eq!(archive(), None, "a plan that is still to be done");
        active.child("01-01-SUMMARY.md").write_str("built").unwrap();
        active.child("01-UAT.md").write_str("passed again").unwrap();
        assert_eq!(archive().as_deref(), Some("one"), "left behind");
        active.child("01-02-PLAN.md").write_str("build on").unwrap();
        assert_eq!(archive(), None, "a plan was added");
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
    fn the_code_that_config_json_names_may_have_digits_and_be_long() {
        let dir = TempDir::new().unwrap();
        for (code, archived) in [("APP2", "v1.0"), ("LONG_CODE2", "v1.1")] {
            dir.child("config.json")
                .write_str(&format!("{{\"project_code\":\"{code}\"}}"))
                .unwrap();
            let folder = format!("{code}-01-log-in");
            for home in ["phases".to_owned(), format!("milestones/{archived}-phases")] {
                dir.child(home).child(&folder).child("01-01-PLAN.md").touch().unwrap();
            }
            let found = read(&dir).value;
            let archive = found.archived.iter().find(|archive| archive.slug == archived).unwrap();
            for milestone in [found.active, archive.milestone().unwrap().value] {
                let own = milestone.phases.iter().find(|phase| phase.dir_name() == folder).unwrap();
                let phase = (own.number.to_string(), own.name.as_str(), own.plans.len());
                assert_eq!(phase, ("1".to_owned(), "Log in", 1), "{code}");
            }
        }
    }

    #[test]
    fn work_in_other_folders_is_not_understood() {
        let dir = TempDir::new().unwrap();
        dir.child("tasks/001.md").touch().unwrap();
        dir.child("notes/001.md").touch().unwrap();
        assert_eq!(read(&dir).value.not_understood, [dir.path().join("tasks")]);
    }

    #[test]
    fn what_is_not_a_phase_is_warned_of() {
        let dir = TempDir::new().unwrap();
        dir.child("phases/42-49-range").create_dir_all().unwrap();
        dir.child("phases/10-12-factor-config/10-01-PLAN.md").touch().unwrap();
        dir.child("phases/m2s3-tracing").create_dir_all().unwrap();
        dir.child("phases/01-a/01-01-SUMMARY.md").create_dir_all().unwrap();
        let found = read(&dir);
        assert_eq!(found.value.active.phases.len(), 2);
        assert_eq!(found.warnings.len(), 3);
    }
}
