//! Reads a phase's folder: its number, its name, and the plan that each file belongs to.
//!
//! The names of PLAN and SUMMARY files come in many styles:
//!
//! ```text
//! 02-01-PLAN.md   05.1-02-SUMMARY.md   05-05a-PLAN.md   06-D-SUMMARY.md   03b-01-PLAN.md
//! 02-PLAN.md      PLAN-02.md           PLAN-02-SUMMARY.md   01-PLAN-02-SUMMARY.md
//! PLAN-01-routes.md   PLAN-02-01.md (plan 1 of phase 2)
//! 01-project-scaffold-PLAN.md          13-simulation-harness-02-SUMMARY.md (in that phase's folder)
//! 03-01.plan.jsonl   03-01.summary.jsonl   PLAN.md   SUMMARY.md
//! CK-01-02-PLAN.md (in a folder with the same project code, CK-01-name)
//! 02-01-03-PLAN.md (in the folder of phase 2-01, 02-01-name)
//! ```
//!
//! The two styles may be mixed in one phase: `01-02-SUMMARY.md` is the summary of `02-PLAN.md`.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::error::Result;
use crate::markdown::FrontMatter;
use crate::plan::read::number::folder_prefix;
use crate::plan::read::vocabulary::has;
use crate::plan::read::{
    MilestoneFolder, PhaseNumber, PhaseNumbering, Plan, PlanNumber, PlanState, Summary,
    WorkflowSettings, check, folder,
};
use crate::project::vocabulary;
use crate::storage::read;
use crate::storage::read::PathKind;
use crate::text::{capitalized, file_name, is_digit, strip_prefix_ignore_case, words_in};
use crate::warning::{Parsed, Warning};

/// A phase's folder.
#[derive(Debug, PartialEq, Eq)]
pub struct PhaseDir {
    /// The phase number.
    pub number: PhaseNumber,
    /// The words of the folder's name after the number: `Event system`.
    pub name: String,
    /// The path of the folder.
    pub path: PathBuf,
    /// The plans, sorted by number.
    pub plans: Vec<PlanSlot>,
    /// Whether the phase was discussed, that is, has a CONTEXT file.
    pub has_context: bool,
    /// The reports of its checks and their stage files, directly in it.
    pub(super) checks: Vec<String>,
    /// Whether it has rounds of remediation.
    pub(super) has_remediation: bool,
    /// Whether the folder contains anything except hidden files: a tool may create all folders in advance.
    pub has_files: bool,
}

/// A plan of a phase, with a plan file, a summary, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanSlot {
    /// The plan's number within its phase; a phase's only `PLAN.md` is plan 1.
    pub number: PlanNumber,
    /// The words after the number, if the file names have any.
    pub slug: Option<String>,
    /// The plan's file.
    pub plan: Option<Arc<PlanFile<Plan>>>,
    /// The summary's file; plans are often not committed, so that only the summary exists.
    pub summary: Option<Arc<PlanFile<Summary>>>,
    /// The state that the summary states; open until it is read.
    pub state: PlanState,
}

/// A plan or summary, which is read on first use, and once.
#[derive(Debug, PartialEq, Eq)]
pub struct PlanFile<T> {
    /// Its path.
    pub path: PathBuf,
    text: OnceLock<Parsed<Option<String>>>,
    parsed: OnceLock<Parsed<T>>,
}

impl<T> PlanFile<T> {
    pub(crate) fn new(path: PathBuf) -> Arc<Self> {
        Arc::new(Self { path, text: OnceLock::new(), parsed: OnceLock::new() })
    }

    /// Returns the text; `None` if it cannot be read.
    pub(crate) fn text(&self) -> Option<&str> {
        let read = || {
            let mut warnings = Vec::new();
            Parsed { value: read::text_or_warning(&self.path, &mut warnings), warnings }
        };
        self.text.get_or_init(read).value.as_deref()
    }

    /// Returns what the text says; `None` if it cannot be read.
    fn parsed(&self, parse: fn(&str, &Path) -> Parsed<T>) -> Option<&Parsed<T>> {
        let text = self.text()?;
        Some(self.parsed.get_or_init(|| parse(text, &self.path)))
    }

    /// Returns warnings about text that could not be read, if it was asked for.
    pub(crate) fn unread(&self) -> &[Warning] {
        self.text.get().map_or(&[], |text| &text.warnings)
    }
}

/// Reads the phase folders in `dir` of the milestone in `home`; one of its roadmaps may show how phases are numbered. If
/// `is_pure`, `dir` is for phase folders only, so any other folder in it is reported.
pub(super) fn phases_in(
    dir: &Path,
    is_pure: bool,
    home: &Path,
    slug: &str,
    roadmaps: &[PathBuf],
) -> Result<Parsed<MilestoneFolder>> {
    let mut warnings = Vec::new();
    let (folders, files): (Vec<_>, Vec<_>) = folder::entries(dir, &mut warnings)?
        .into_iter()
        .partition(|(_, kind)| *kind == PathKind::Folder);
    let settings = LazyCell::new(|| settings(home));
    let mut read = roadmaps
        .iter()
        .map(|roadmap| PhaseNumbering::read(roadmap, || settings.numbers_by_milestone));
    let numbering = read.find(|own| *own != PhaseNumbering::Plain).unwrap_or_default();
    let mut found = MilestoneFolder {
        slug: slug.to_owned(),
        dir: home.to_owned(),
        ..MilestoneFolder::default()
    };
    for (name, _) in folders {
        let dir = dir.join(&name);
        // `CK-01-name` is read without the setting.
        let may_be_coded = numbering != PhaseNumbering::Coded
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && folder_prefix(&name).is_empty();
        let coded = may_be_coded
            .then(|| name.strip_prefix(settings.project_code.as_deref()?)?.strip_prefix('-'));
        let name = coded.flatten().unwrap_or(&name);
        let own = numbering
            .split_folder(name)
            .filter(|(_, rest)| rest.is_empty() || rest.starts_with(['-', '_', ' ']));
        if let Some((number, slug)) = own
            && (!is_range(name, &number, slug) || has_own_plan(&dir, &number)?)
        {
            let unread = &mut found.not_understood;
            let phase = PhaseDir::read(name, number, slug, dir, unread, &mut warnings)?;
            found.phases.push(Arc::new(phase));
        } else if is_pure {
            let message = "not a phase: its name has no phase number in front";
            warnings.push(Warning::file(&dir, message));
            // `B7-01-PLAN.md` has the id of a phase that is not read.
            let is_numbered = |name: &str| split_kind(name).is_some() && name.contains(is_digit);
            if holds_plans(&dir, 2)?
                || folder::visible(&dir)?.iter().any(|(name, _)| is_numbered(name))
            {
                found.not_understood.push(dir);
            }
        }
    }
    let is_plan = |name: &str| FileName::parse(name, "").is_some_and(|file| file.plan.is_some());
    if let Some((name, _)) = files.iter().find(|(name, _)| is_pure && is_plan(name)) {
        let file = dir.join(name);
        warnings.push(Warning::file(&file, "not read: a plan outside of a phase's folder"));
        found.not_understood.push(file);
    }
    found.phases.sort_by(|a, b| (&a.number, &a.path).cmp(&(&b.number, &b.path)));
    Ok(Parsed::new(found, warnings))
}

/// Returns the settings of the planning folder that contains a milestone.
pub(crate) fn settings(home: &Path) -> WorkflowSettings {
    let homes = [vocabulary::MILESTONES, vocabulary::WORKSTREAMS];
    let above = home.parent().filter(|above| homes.iter().any(|name| above.ends_with(name)));
    let root = above.and_then(Path::parent).unwrap_or(home);
    let path = root.join(vocabulary::CONFIG);
    let config = read::text(&path).ok().flatten();
    config.map(|config| WorkflowSettings::parse(&config.value, &path).value).unwrap_or_default()
}

/// Returns whether a folder contains plans or summaries, down to a depth.
pub(super) fn holds_plans(dir: &Path, depth: usize) -> Result<bool> {
    for (name, kind) in folder::visible(dir)? {
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

impl PhaseDir {
    /// Returns the folder with its rounds of remediation.
    pub(crate) fn remediation(&self) -> Option<PathBuf> {
        self.has_remediation.then(|| self.path.join(check::REMEDIATION))
    }

    /// Reads the names in a phase's folder; folders in it with plans that are not read are added to `unread`.
    fn read(
        name: &str,
        number: PhaseNumber,
        slug: &str,
        dir: PathBuf,
        unread: &mut Vec<PathBuf>,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self> {
        let folder = FolderName::new(name, number.numbering());
        let has_folder = |listed: &[(String, PathKind)], name: &str| {
            listed.contains(&(name.to_owned(), PathKind::Folder))
        };
        let mut listed = folder::all_entries(&dir, warnings)?;
        // Some keep a phase's plans in a folder of their own, and its summaries in another.
        let homes = ["plans", "summaries"];
        for home in homes {
            if has_folder(&listed, home) {
                let inside = folder::entries(&dir.join(home), warnings)?.into_iter();
                listed.extend(inside.map(|(entry, kind)| (format!("{home}/{entry}"), kind)));
            }
        }
        let has_files = listed.iter().any(|(entry, _)| !entry.starts_with('.'));
        let has_remediation = has_folder(&listed, check::REMEDIATION);
        let mut files = Vec::new();
        for (entry, kind) in listed {
            let own = file_name(&entry);
            if kind == PathKind::File || entry.starts_with('.') {
                files.push(entry);
            } else if FileName::parse_in(own, &folder).is_some() {
                let message = match kind {
                    PathKind::Folder => "a folder where a file is expected; skipped",
                    _ => "a pipe, a device or a dead link where a file is expected; skipped",
                };
                warnings.push(Warning::file(&dir.join(entry), message));
            } else if kind == PathKind::Folder
                && !homes.contains(&&*entry)
                && entry != check::REMEDIATION
                && !has("folder without phases", &entry.to_lowercase())
                && holds_plans(&dir.join(&entry), 2)?
            {
                unread.push(dir.join(entry));
            }
        }
        let plans = plans(&folder, &dir, &files);
        // A plan with another name would be missed; `TEST-PLAN.md` is about something else.
        let is_missed = |name: &&String| {
            let own = file_name(name);
            // Without any plan, `PLAN-A.md` and `01-PLAN.txt` may be some, but not `plan-review.md`.
            let stem = [".md", ".mdx", ".txt"].iter().find_map(|end| own.strip_suffix(end));
            let words = words_in(stem.unwrap_or_default());
            let mut names = words.filter(|word| word.len() > 1 && !word.starts_with(is_digit));
            let is_named = names.next().is_some_and(|word| word.eq_ignore_ascii_case("plan"));
            // `02-01-PLAN-REVISED.md` without `02-01-PLAN.md`
            let head = own.find("PLAN-").map(|at| format!("{}PLAN.md", &own[..at]));
            let head = head.and_then(|head| FileName::parse_in(&head, &folder));
            let number = head.filter(|head| head.phase.is_some()).and_then(|head| head.plan);
            let is_version = number.is_some_and(|own| plans.iter().all(|slot| slot.number != own));
            let is_plan = plans.is_empty() && is_named && names.next().is_none()
                || own.ends_with("PLAN.md") && own.contains(is_digit)
                || is_version && stem.is_some()
                || plans.is_empty() && stem.is_some_and(|stem| is_plan_inside(name, stem, &dir));
            let summary = name.strip_suffix("PLAN.md").map(|head| format!("{head}SUMMARY.md"));
            let is_done = summary.is_some_and(|summary| files.contains(&summary));
            let mut read = plans.iter().filter_map(|slot| slot.plan.as_ref());
            is_plan
                && !own.to_lowercase().contains("test-plan")
                && !own.starts_with('.')
                && !is_done
                && !read.any(|plan| plan.path == dir.join(name))
                && FileName::parse_in(own, &folder).is_none_or(|file| file.slug.is_some())
        };
        for path in files.iter().filter(is_missed).map(|name| dir.join(name)) {
            warnings.push(Warning::file(&path, "not read: its name is not understood"));
            unread.push(path);
        }
        Ok(Self {
            number,
            name: capitalized(slug.replace(['-', '_'], " ").trim()),
            plans,
            has_context: files.iter().any(|name| name.ends_with("CONTEXT.md")),
            checks: files.into_iter().filter(|name| check::is_check(&dir.join(name))).collect(),
            has_remediation,
            path: dir,
            has_files,
        })
    }

    /// Returns the folder's name: `05.1-event-system`.
    pub fn dir_name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// Returns whether a file with a number and a name like no other kind's is a plan or a summary: it is in the folder of a
/// phase's plans, or its field `plan` has a number.
fn is_plan_inside(name: &str, stem: &str, dir: &Path) -> bool {
    if name.starts_with("plans/") {
        return stem.contains(is_digit);
    }
    let text = || read::text(&dir.join(name)).ok()?;
    stem.starts_with(is_digit)
        && stem.contains(char::is_lowercase)
        && text().is_some_and(|text| {
            let front = FrontMatter::parse(&text.value, dir).value;
            front.text(&["plan"]).is_some_and(|plan| plan.contains(is_digit))
        })
}

/// Returns whether a folder is named for a range of phases: `42-49-review`. Both ends of a range are integers of the same
/// width: `01-3d-terrain` and `31-404-page` are single phases.
fn is_range(name: &str, number: &PhaseNumber, slug: &str) -> bool {
    let width = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let slug = slug.trim_start_matches('-');
    let last =
        PhaseNumber::split(slug).filter(|(_, rest)| rest.is_empty() || rest.starts_with('-'));
    number.numbering() == PhaseNumbering::Plain
        && last.is_some_and(|(last, _)| last > *number && last == PhaseNumber::from(last.whole()))
        && width(slug) == width(&name[folder_prefix(name).len()..])
}

/// Returns whether a folder contains a plan of a phase, as `10-12-factor-config/10-01-PLAN.md` does, or one that names none.
fn has_own_plan(dir: &Path, number: &PhaseNumber) -> Result<bool> {
    let is_own = |(file, _): &(String, PathKind)| {
        let file = FileName::parse(file, "");
        // `01-02-01-PLAN.md` has the number of a phase of a milestone.
        let is_bare = |file: &FileName| {
            file.phase.is_none()
                && !file.slug.as_ref().is_some_and(|slug| slug.starts_with(is_digit))
        };
        file.is_some_and(|file| {
            file.plan.is_some() && (is_bare(&file) || file.phase.as_ref() == Some(number))
        })
    };
    Ok(folder::visible(dir)?.iter().any(is_own))
}

/// Pairs the plans among the files of a phase with their summaries, sorted by number, then by slug.
///
/// In phase 12, `12-SUMMARY.md` next to `12-01-SUMMARY.md` summarises the whole phase and is ignored; if the
/// phase has only one plan without a summary, it belongs to that plan.
fn plans(folder: &FolderName<'_>, dir: &Path, names: &[String]) -> Vec<PlanSlot> {
    let files =
        names.iter().filter_map(|name| Some((name, FileName::parse_in(file_name(name), folder)?)));
    let files: Vec<(&String, FileName)> = files.collect();
    let own = folder.number.as_ref().and_then(|number| PlanNumber::parse(&number.to_string()));
    let mut plans = files.iter().map(|(_, file)| file).filter(|file| file.plan.is_some());
    let has_others = plans.clone().any(|file| file.phase.is_none() && file.plan != own);
    let has_both = plans.any(|file| file.phase.is_some());
    // Of the phase is a file without a plan's number, or with the phase's own, if the others have both.
    let of_plan = |file: &FileName| {
        file.plan.clone().filter(|_| file.phase.is_some() || !has_both || has_others)
    };
    let mut slots: BTreeMap<(PlanNumber, Option<String>), PlanSlot> = BTreeMap::new();
    for kind in [FileKind::Plan, FileKind::Summary] {
        let mut of_phase = Vec::new();
        for (name, file) in files.iter().filter(|(_, file)| file.kind == kind) {
            let Some(number) = of_plan(file) else {
                of_phase.push((name, file));
                continue;
            };
            // A name without a slug is of the first plan of its number, and any is of a plan without one, unless that
            // has its file: `01-PLAN.md` beside `01-GAP-PLAN.md`.
            let own = (number.clone(), file.slug.clone());
            let same = slots.range((number.clone(), None)..);
            let mut same = same.take_while(|((other, _), _)| *other == number);
            let fits = |slug: &Option<String>| slug.is_none() || file.slug.is_none();
            let known = same.find(|((_, slug), slot)| fits(slug) && !slot.has(kind));
            let known = known.map(|(key, _)| key.clone());
            let known = known.filter(|_| !slots.contains_key(&own));
            let slot = slots.entry(known.unwrap_or(own));
            slot.or_insert_with(|| PlanSlot::new(number, file.slug.clone())).fill(kind, dir, name);
        }
        for (name, file) in of_phase {
            if slots.is_empty() {
                let slot = PlanSlot::new(PlanNumber::from(1), file.slug.clone());
                slots.insert((slot.number.clone(), None), slot);
            }
            if let (1, Some(only)) = (slots.len(), slots.values_mut().next()) {
                only.fill(kind, dir, name);
            }
        }
    }
    slots.into_values().collect()
}

impl PlanSlot {
    pub(crate) fn new(number: PlanNumber, slug: Option<String>) -> Self {
        Self { number, slug, plan: None, summary: None, state: PlanState::Open }
    }

    fn has(&self, kind: FileKind) -> bool {
        match kind {
            FileKind::Plan => self.plan.is_some(),
            FileKind::Summary => self.summary.is_some(),
        }
    }

    /// Sets the file of this kind if there is none yet.
    fn fill(&mut self, kind: FileKind, dir: &Path, name: &str) {
        let path = dir.join(name);
        match kind {
            FileKind::Plan => _ = self.plan.get_or_insert_with(|| PlanFile::new(path)),
            FileKind::Summary => _ = self.summary.get_or_insert_with(|| PlanFile::new(path)),
        }
    }

    /// Returns what the plan says; `None` without a plan that can be read.
    pub fn plan(&self) -> Option<&Parsed<Plan>> {
        self.plan.as_ref()?.parsed(Plan::parse)
    }

    /// Returns what the summary says; `None` without a summary that can be read.
    pub fn summary(&self) -> Option<&Parsed<Summary>> {
        self.summary.as_ref()?.parsed(Summary::parse)
    }

    /// Returns the paths of the plan and of the summary.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        let plan = self.plan.iter().map(|file| &*file.path);
        plan.chain(self.summary.iter().map(|file| &*file.path))
    }

    /// Returns warnings about files that could not be read, of those that were needed.
    pub(crate) fn unread(&self) -> impl Iterator<Item = &Warning> {
        let plan = self.plan.iter().flat_map(|file| file.unread());
        plan.chain(self.summary.iter().flat_map(|file| file.unread()))
    }
}

/// The kind of a phase's file, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Describes the work to do.
    Plan,
    /// Describes the work done.
    Summary,
}

/// The parsed name of a PLAN or SUMMARY file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    /// Plan or summary.
    pub kind: FileKind,
    /// The phase's number, if the name contains it.
    pub phase: Option<PhaseNumber>,
    /// The plan's number; `None` for a file about the whole phase (`PLAN.md`, `SUMMARY.md`).
    pub plan: Option<PlanNumber>,
    /// The words after the number, if any.
    pub slug: Option<String>,
}

impl FileName {
    /// Parses the name of a file in the phase folder `phase_dir` (`01-cli-scaffold`).
    ///
    /// Returns `None` for hidden files, backups and names that merely contain the word: `02-PLAN-PAUSE.md`.
    pub fn parse(name: &str, phase_dir: &str) -> Option<Self> {
        Self::parse_in(name, &FolderName::guess(phase_dir, name))
    }

    /// Parses the name of a file in a phase's folder.
    pub(super) fn parse_in(name: &str, folder: &FolderName<'_>) -> Option<Self> {
        let (kind, words) = split_kind(name)?;
        let words = folder.without_own_name(&words);
        let own = folder.number.as_ref();
        let joined = words.join("-");
        if let Some(rest) = own.and_then(|number| number.strip_id(&joined)) {
            let words: Vec<&str> = split_words(rest).collect();
            let is_plan = |word: &&&str| words.len() == 1 || begins_with_digit(word);
            let plan = words.first().filter(is_plan).and_then(|word| PlanNumber::parse(word));
            let slug = &words[usize::from(plan.is_some())..];
            return Some(Self::new(kind, own.cloned(), plan, slug));
        }
        let [first, slug @ ..] = words else {
            return Some(Self::new(kind, None, None, &[]));
        };
        // `phase2-01-PLAN.md`
        let phase = PhaseNumber::parse(strip_prefix_ignore_case(first, "phase").unwrap_or(first));
        let plan = slug
            .first()
            .and_then(|word| PlanNumber::parse(word))
            .filter(|_| slug.len() == 1 || begins_with_digit(slug[0]) && phase.as_ref() == own);
        if phase.is_some() && plan.is_some() {
            return Some(Self::new(kind, phase, plan, &slug[1..]));
        }
        match PlanNumber::parse(first) {
            Some(plan) if slug.is_empty() || phase.is_some() => {
                Some(Self::new(kind, None, Some(plan), slug))
            }
            // `05.3-SUMMARY.md` is about the whole phase.
            _ if slug.is_empty() && phase.is_some() && phase.as_ref() == own => {
                Some(Self::new(kind, phase, None, &[]))
            }
            _ => None,
        }
    }

    fn new(
        kind: FileKind,
        phase: Option<PhaseNumber>,
        plan: Option<PlanNumber>,
        slug: &[&str],
    ) -> Self {
        let slug = slug.join("-");
        Self { kind, phase, plan, slug: Some(slug).filter(|slug| !slug.is_empty()) }
    }
}

/// The parsed name of a phase's folder.
pub(super) struct FolderName<'a> {
    name: &'a str,
    pub(super) number: Option<PhaseNumber>,
    /// What follows the number.
    slug: &'a str,
}

impl<'a> FolderName<'a> {
    /// Parses a folder's name in a project that numbers its phases in the given way.
    pub(super) fn new(name: &'a str, numbering: PhaseNumbering) -> Self {
        let (number, slug) = numbering.split_folder(name).unzip();
        Self { name, number, slug: slug.unwrap_or_default() }
    }

    /// Parses a folder's name where the convention is unknown: a number with a milestone is one if a file
    /// repeats it before another number, as `02-01-03-PLAN.md` does in `02-01-name`.
    pub(super) fn guess(name: &'a str, file: &str) -> Self {
        let prefixed = Self::new(name, PhaseNumbering::MilestonePrefixed);
        let file = file.strip_prefix(folder_prefix(name)).unwrap_or(file);
        let repeated = prefixed.number.as_ref().and_then(|number| number.strip_id(file));
        let after = repeated.and_then(|rest| rest.strip_prefix('-'));
        if after.is_some_and(begins_with_digit) {
            prefixed
        } else {
            Self::new(name, PhaseNumbering::Plain)
        }
    }

    /// Returns a file's words without the folder's name or slug before a number, or its code: `02` for `13-harness-02` in
    /// `13-harness`.
    fn without_own_name<'w, 'n>(&self, words: &'w [&'n str]) -> &'w [&'n str] {
        let own = [self.name, self.slug].map(|own| split_words(own).collect::<Vec<_>>());
        let after = |own: &[&str]| words.starts_with(own).then(|| &words[own.len()..]);
        let own = own.iter().find_map(|own| {
            after(own).filter(|rest| rest.first().is_some_and(|next| begins_with_digit(next)))
        });
        let code = folder_prefix(self.name).trim_end_matches(['-', '_']);
        own.or_else(|| after(&[code])).unwrap_or(words)
    }
}

/// Splits a file name into what precedes its kind, the kind, and a number and slug behind it.
fn around_kind(name: &str) -> Option<(&str, FileKind, &str)> {
    const SEPARATORS: [char; 2] = ['-', '_'];
    let kind = |word: &str| match word.to_ascii_lowercase().as_str() {
        "plan" => Some(FileKind::Plan),
        "summary" => Some(FileKind::Summary),
        _ => None,
    };
    let is_number = |word: &str| begins_with_digit(word) && PlanNumber::parse(word).is_some();
    let (stem, extension) = name.rsplit_once('.')?;
    if extension.eq_ignore_ascii_case("jsonl") {
        // `03-01.summary.jsonl`
        let (before, word) = stem.rsplit_once('.')?;
        return Some((before, kind(word)?, ""));
    }
    let last = |text: &str| text.rfind(SEPARATORS).map_or(0, |at| at + 1);
    let (before, word) = stem.split_at(last(stem));
    let (earlier, own) = before.split_at(last(before.trim_end_matches(SEPARATORS)));
    let own = own.trim_end_matches(SEPARATORS);
    let found = match (kind(word), kind(own)) {
        // `02-01-PLAN.md`, `SUMMARY.md`
        (Some(kind), _) => Some((before, kind, "")),
        // `01-PLAN-02.md`
        (None, Some(kind)) if is_number(word) => Some((earlier, kind, word)),
        // `PLAN-01-routes.md`, `5-PLAN-01-routes.md`, `PLAN-02-01.md`, but not `PLAN-01-GAPS.md`
        _ => {
            let phase = stem.split_once(SEPARATORS).filter(|(phase, _)| is_number(phase));
            let (phase, rest) = phase.unwrap_or(("", stem));
            rest.split_once(SEPARATORS).and_then(|(word, after)| {
                let (number, slug) = after.split_once(SEPARATORS)?;
                let is_slug = is_number(slug) || slug.contains(|c: char| c.is_ascii_lowercase());
                (is_slug && is_number(number)).then_some((phase, kind(word)?, after))
            })
        }
    };
    found.filter(|_| extension.eq_ignore_ascii_case("md"))
}

/// Splits a file name into its kind and the words without that of the kind, and without `phase` and `plan` before a
/// number or at the end.
fn split_kind(name: &str) -> Option<(FileKind, Vec<&str>)> {
    let (before, kind, after) = around_kind(name)?;
    let words: Vec<&str> = split_words(before).chain(split_words(after)).collect();
    let is_said = |at: usize| {
        let names_it = ["phase", "plan"].iter().any(|own| own.eq_ignore_ascii_case(words[at]));
        names_it && words.get(at + 1).is_none_or(|next| begins_with_digit(next))
    };
    let kept = (0..words.len()).filter(|at| !is_said(*at)).map(|at| words[at]).collect();
    // GSD keeps a plan as it was before its reviews: `PLAN-01-routes.pre-bounce.md`.
    let is_left_out = name.starts_with('.') || name.ends_with(".pre-bounce.md");
    Some((kind, kept)).filter(|_| !is_left_out)
}

fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(['-', '_']).filter(|word| !word.is_empty())
}

fn begins_with_digit(word: &str) -> bool {
    word.starts_with(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats each plan as `number plan summary`.
    fn shown(dir: &str, names: &[&str]) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let plans = plans(&FolderName::new(dir, PhaseNumbering::Plain), Path::new(""), &names);
        let name = |path: Option<&PathBuf>| {
            path.map_or("-".into(), |path| path.to_string_lossy().into_owned())
        };
        let shown = |slot: PlanSlot| {
            let plan = name(slot.plan.as_ref().map(|file| &file.path));
            let summary = name(slot.summary.as_ref().map(|file| &file.path));
            format!("{} {plan} {summary}", slot.number)
        };
        plans.into_iter().map(shown).collect()
    }

    /// A phase folder, its files, and the expected plans.
    type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

    const STYLES: &[Case] = &[
        (
            "01-version",
            &["02-PLAN.md", "01-02-SUMMARY.md", "01-PLAN.md", "01-01-SUMMARY.md", "NOTES.md"],
            &["1 01-PLAN.md 01-01-SUMMARY.md", "2 02-PLAN.md 01-02-SUMMARY.md"],
        ),
        (
            "04-bulk",
            &["04-PLAN-01.md", "04-01-SUMMARY.md", "04-PLAN-10.md", "04-PLAN-02.md"],
            &["1 04-PLAN-01.md 04-01-SUMMARY.md", "2 04-PLAN-02.md -", "10 04-PLAN-10.md -"],
        ),
        (
            "02-facade",
            &["01-PLAN.md", "02-PLAN.md", "02-01-SUMMARY.md", "02-02-SUMMARY.md"],
            &["1 01-PLAN.md 02-01-SUMMARY.md", "2 02-PLAN.md 02-02-SUMMARY.md"],
        ),
        (
            "02-hooks",
            &["01-PLAN.md", "01-SUMMARY.md", "02-PLAN.md", "02-SUMMARY.md"],
            &["1 01-PLAN.md 01-SUMMARY.md", "2 02-PLAN.md 02-SUMMARY.md"],
        ),
        (
            "01-cli-scaffold",
            &["01-project-scaffold-PLAN.md", "01-project-scaffold-SUMMARY.md", "02-names-PLAN.md"],
            &[
                "1 01-project-scaffold-PLAN.md 01-project-scaffold-SUMMARY.md",
                "2 02-names-PLAN.md -",
            ],
        ),
        (
            "03-rows",
            &["03-01.plan.jsonl", "03-01.summary.jsonl", "03-02.summary.jsonl"],
            &["1 03-01.plan.jsonl 03-01.summary.jsonl", "2 - 03-02.summary.jsonl"],
        ),
        (
            "01-audit",
            &["01-PLAN.md", "02-PLAN.md", "01-SUMMARY.md", "01-02-SUMMARY.md"],
            &["1 01-PLAN.md 01-SUMMARY.md", "2 02-PLAN.md 01-02-SUMMARY.md"],
        ),
        (
            "01-core",
            &["PLAN-01-routes.md", "SUMMARY-01-routes.md", "PLAN-02-plan-editor.md"],
            &["1 PLAN-01-routes.md SUMMARY-01-routes.md", "2 PLAN-02-plan-editor.md -"],
        ),
        (
            "02-api",
            &["PLAN-02-01.md", "SUMMARY-02-01.md", "PLAN-02-02.md"],
            &["1 PLAN-02-01.md SUMMARY-02-01.md", "2 PLAN-02-02.md -"],
        ),
        ("02-alerts", &["PLAN.md", "SUMMARY.md"], &["1 PLAN.md SUMMARY.md"]),
        (
            "02-api",
            &["plans/02-01-PLAN.md", "summaries/02-01-SUMMARY.md"],
            &["1 plans/02-01-PLAN.md summaries/02-01-SUMMARY.md"],
        ),
        ("02-alerts", &["SUMMARY.md"], &["1 - SUMMARY.md"]),
        ("07-one", &["07-01-PLAN.md", "07-SUMMARY.md"], &["1 07-01-PLAN.md 07-SUMMARY.md"]),
        (
            "01-dup",
            &["01-log-in-PLAN.md", "01-log-out-PLAN.md", "01-log-out-SUMMARY.md"],
            &["1 01-log-in-PLAN.md -", "1 01-log-out-PLAN.md 01-log-out-SUMMARY.md"],
        ),
    ];

    #[test]
    fn styles_may_differ_inside_one_phase() {
        for (dir, names, plans) in STYLES {
            assert_eq!(shown(dir, names), *plans, "{dir}");
        }
    }

    #[test]
    fn what_is_no_plan_of_the_phase_is_ignored() {
        let plans = shown(
            "12-chat",
            &[
                "12-01-PLAN.md", "12-01-SUMMARY.md", "12-02-PLAN.md", "12-SUMMARY.md",
                "12-PLAN.md", "SUMMARY.md", "02-PLAN-PAUSE.md", "01-PLAN-GAP-REVIEW.md",
                "12-01-PLAN.md.bak", "12-01.plan.jsonl", ".12-03-PLAN.md",
            ],
        );
        assert_eq!(plans, ["1 12-01-PLAN.md 12-01-SUMMARY.md", "2 12-02-PLAN.md -"]);
        for own in ["12-SUMMARY.md", "12-FINAL-SUMMARY.md"] {
            let plans = shown("12-chat", &["12-01-PLAN.md", "12-02-PLAN.md", own]);
            assert_eq!(plans, ["1 12-01-PLAN.md -", "2 12-02-PLAN.md -"]);
        }
    }

    fn read(name: &str, dir: &str) -> Option<(FileKind, String)> {
        FileName::parse(name, dir).map(|file| {
            let plan = file.plan.map_or_else(|| "whole".to_owned(), |plan| plan.to_string());
            (file.kind, plan)
        })
    }

    #[test]
    fn every_style_names_its_plan() {
        for (dir, name, plan) in [
            ("04-polish", "04-01-PLAN.md", "1"),
            ("04-polish", "04-12-PLAN.MD", "12"),
            ("02-hooks", "06-PLAN.md", "6"),
            ("02-favicon", "PLAN-02.md", "2"),
            ("01-fields", "01-PLAN-03.md", "3"),
            ("05.3-check", "05.3-02-PLAN.md", "2"),
            ("05-forms", "05-05a-PLAN.md", "5a"),
            ("05.1-forms", "05.1-04c-PLAN.md", "4c"),
            ("06.1-report", "06.1-E-PLAN.md", "e"),
            ("01-start", "01-D-PLAN.md", "d"),
            ("03b-idiom", "03b-01-PLAN.md", "1"),
            ("01-cli-scaffold", "01-project-scaffold-PLAN.md", "1"),
            ("01-cli-scaffold", "02-2fa-login-PLAN.md", "2"),
            ("01-cli-scaffold", "01-02-log-in-PLAN.md", "2"),
            ("13-harness", "13-harness-02-PLAN.md", "2"),
            ("13-harness", "harness-02-PLAN.md", "2"),
            ("02-sweep", "02-1-PLAN.md", "1"),
            ("03-rows", "03-01.plan.jsonl", "1"),
            ("03-rows", "phase-03-plan-02-PLAN.md", "2"),
            ("01-version", "02-PLAN.md", "2"),
            ("CK-02-sweep", "02-01-PLAN.md", "1"),
            ("CK-02-sweep", "CK-02-01-PLAN.md", "1"),
            ("phase-02-sweep", "02-03-PLAN.md", "3"),
            ("02-alerts", "PLAN.md", "whole"),
            ("05.3-check", "05.3-PLAN.md", "whole"),
        ] {
            let found = Some((FileKind::Plan, plan.to_owned()));
            assert_eq!(read(name, dir), found, "{name}");
            let summary = name.replace("PLAN.", "SUMMARY.").replace(".plan.", ".summary.");
            let summary =
                if summary == name { name.replace(".md", "-SUMMARY.md") } else { summary };
            let found = Some((FileKind::Summary, plan.to_owned()));
            assert_eq!(read(&summary, dir), found, "{summary}");
        }
    }

    #[test]
    fn a_phase_of_a_milestone_is_told_from_a_plan() {
        let shown = |name, folder: &FolderName<'_>| {
            let file = FileName::parse_in(name, folder).unwrap();
            let of = |part: Option<String>| part.unwrap_or_else(|| "-".to_owned());
            [
                of(file.phase.map(|phase| phase.to_string())),
                of(file.plan.map(|plan| plan.to_string())),
                of(file.slug),
            ]
            .join(" ")
        };
        let folder = FolderName::new("CK-02-01-tides", PhaseNumbering::MilestonePrefixed);
        for (name, expected) in [
            ("02-01-03-PLAN.md", "2-01 3 -"),
            ("CK-02-01-03-SUMMARY.md", "2-01 3 -"),
            ("2-01-3a-PLAN.md", "2-01 3a -"),
            ("02-01-PLAN-03.md", "2-01 3 -"),
            ("02-01-03-read-gauges-PLAN.md", "2-01 3 read-gauges"),
            ("02-01-SUMMARY.md", "2-01 - -"),
            ("03-PLAN.md", "- 3 -"),
        ] {
            assert_eq!(shown(name, &folder), expected, "{name}");
        }
        let plain = FolderName::new("02-tides", PhaseNumbering::MilestonePrefixed);
        assert_eq!(shown("02-01-PLAN.md", &plain), "2 1 -");
        let guess = |name| FolderName::guess("02-01-tides", name).number;
        assert_eq!(guess("02-01-03-PLAN.md"), PhaseNumber::parse_id("2-01"));
        assert_eq!(guess("02-01-PLAN.md"), Some(PhaseNumber::from(2)));
    }

    #[test]
    fn names_that_only_hold_the_word_are_none() {
        for name in [
            "01-PLAN-GAP-REVIEW.md",
            "02-PLAN-PAUSE.md",
            "04-PREPLANNING-NOTES.md",
            "PLAN-ACTUAL-01.md",
            "PLAN-ACTUAL-2026-02-11.md",
            "REVIEW-plans-ab.md",
            "01-VERIFICATION-wave1.md",
            "01-01-PLAN.md.bak",
            "01-01-PLAN.md.tmp",
            "01-01-PLAN.pre-bounce.md",
            "PLAN-01-routes.pre-bounce.md",
            ".01-01-PLAN.md",
            "R01-SUMMARY.md",
            "260422-p4a-PLAN.md",
            "test-plan.jsonl",
            "source-plan.md",
            "06-pre-planning-assumptions.md",
            "01-RESEARCH.md",
            "é-PLAN.md",
            "",
        ] {
            assert_eq!(read(name, "01-start"), None, "{name}");
        }
    }
}
