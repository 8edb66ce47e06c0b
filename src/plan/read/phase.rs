//! Reads a phase's folder: its number, its name, and the plan that each file belongs to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::Result;
use crate::plan::read::file_name::FolderName;
use crate::plan::read::number::folder_prefix;
use crate::plan::read::{
    Checks, FileKind, FileName, MilestoneFolder, PhaseNumber, PhaseNumbering, PlanNumber, check,
    names,
};
use crate::storage::read::PathKind;
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
    pub checks: Checks,
    /// Whether the folder contains anything except hidden files: a tool may create all folders in advance.
    pub has_files: bool,
}

/// A plan of a phase, with a plan file, a summary, or both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanSlot {
    /// The plan's number within its phase; a phase's only `PLAN.md` is plan 1.
    pub number: PlanNumber,
    /// The words after the number, if the file names have any.
    pub slug: Option<String>,
    /// The plan's file name.
    pub plan: Option<String>,
    /// The summary's file name; plans are often not committed, so that only the summary exists.
    pub summary: Option<String>,
}

/// A folder with the folders of phases.
pub(crate) struct PhaseHome<'a> {
    /// Its path.
    pub(crate) dir: &'a Path,
    /// The roadmaps that show how its phases are numbered.
    pub(crate) roadmaps: Vec<PathBuf>,
    /// Whether it contains nothing else, so that an unknown folder is a mistake.
    pub(crate) is_pure: bool,
}

impl PhaseHome<'_> {
    /// Reads the phase folders of the milestone in `home`.
    pub(crate) fn read(&self, home: &Path, slug: &str) -> Result<Parsed<MilestoneFolder>> {
        let mut warnings = Vec::new();
        let mut folders = names::entries(self.dir, &mut warnings)?;
        folders.retain(|(_, kind)| *kind == PathKind::Folder);
        let mut read = self.roadmaps.iter().map(|roadmap| PhaseNumbering::read(roadmap));
        let numbering = read.find(|own| *own != PhaseNumbering::Plain).unwrap_or_default();
        let mut found = MilestoneFolder {
            slug: slug.to_owned(),
            dir: home.to_owned(),
            ..MilestoneFolder::default()
        };
        for (name, _) in folders {
            let dir = self.dir.join(&name);
            let own = numbering
                .split_folder(&name)
                .filter(|(_, rest)| rest.is_empty() || rest.starts_with(['-', '_', ' ']));
            if let Some((number, slug)) = own
                && (!is_range(&name, &number, slug) || has_own_plan(&dir, &number)?)
            {
                found.phases.push(PhaseDir::read(&name, number, slug, dir, &mut warnings)?);
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
}

/// Returns whether a folder contains plans or summaries, down to a depth.
pub(super) fn holds_plans(dir: &Path, depth: usize) -> Result<bool> {
    for (name, kind) in names::entries(dir, &mut Vec::new())? {
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
    /// Reads the names in a phase's folder.
    fn read(
        name: &str,
        number: PhaseNumber,
        slug: &str,
        dir: PathBuf,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self> {
        let folder = FolderName::new(name, number.numbering());
        let mut listed = names::all_entries(&dir, warnings)?;
        // Some keep a phase's plans in a folder of their own, and its summaries in another.
        for home in ["plans", "summaries"] {
            if listed.contains(&(home.to_owned(), PathKind::Folder)) {
                let inside = names::entries(&dir.join(home), warnings)?.into_iter();
                listed.extend(inside.map(|(entry, kind)| (format!("{home}/{entry}"), kind)));
            }
        }
        let has_files = listed.iter().any(|(entry, _)| !entry.starts_with('.'));
        let has_remediation = listed
            .iter()
            .any(|(entry, kind)| entry == check::REMEDIATION && *kind == PathKind::Folder);
        let mut files = Vec::new();
        for (entry, kind) in listed {
            let own = entry.rsplit_once('/').map_or(&*entry, |(_, own)| own);
            if kind == PathKind::File || entry.starts_with('.') {
                files.push(entry);
            } else if FileName::parse_in(own, &folder).is_some() {
                let message = match kind {
                    PathKind::Folder => "a folder where a file is expected; skipped",
                    _ => "a pipe, a device or a dead link where a file is expected; skipped",
                };
                warnings.push(Warning::file(&dir.join(entry), message));
            }
        }
        Ok(Self {
            number,
            name: capitalized(slug.replace(['-', '_'], " ").trim()),
            plans: plans(&folder, &files),
            has_context: files.iter().any(|name| name.ends_with("CONTEXT.md")),
            checks: Checks::new(&dir, &files, has_remediation),
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

/// Returns whether a folder contains a plan of a phase, as `10-12-factor-config/10-01-PLAN.md` does.
fn has_own_plan(dir: &Path, number: &PhaseNumber) -> Result<bool> {
    let is_own = |(file, _): &(String, PathKind)| {
        let file = FileName::parse(file, "");
        file.is_some_and(|file| file.plan.is_some() && file.phase.as_ref() == Some(number))
    };
    Ok(names::entries(dir, &mut Vec::new())?.iter().any(is_own))
}

/// Pairs the plans among the files of a phase with their summaries, sorted by number, then by slug.
///
/// In phase 12, `12-SUMMARY.md` next to `12-01-SUMMARY.md` summarises the whole phase and is ignored; if the
/// phase has only one plan without a summary, it belongs to that plan.
fn plans(folder: &FolderName<'_>, names: &[String]) -> Vec<PlanSlot> {
    let mut names: Vec<&String> = names.iter().collect();
    // `.jsonl` sorts after `.md`, which takes precedence because people read it.
    names.sort_by_key(|name| (name.ends_with("jsonl"), *name));
    let files = names.into_iter().filter_map(|name| {
        let own = name.rsplit_once('/').map_or(name.as_str(), |(_, own)| own);
        Some((name, FileName::parse_in(own, folder)?))
    });
    let files: Vec<(&String, FileName)> = files.collect();
    let own = folder.number.as_ref().and_then(|number| PlanNumber::parse(&number.to_string()));
    let mut plans = files.iter().map(|(_, file)| file).filter(|file| file.plan.is_some());
    let has_others = plans.clone().any(|file| file.phase.is_none() && file.plan != own);
    let has_both = plans.any(|file| file.phase.is_some());
    // Of the phase is a file without a plan's number, or with the phase's own, if the others have both.
    let of_plan = |file: &FileName| {
        let is_own = file.phase.is_none() && file.plan == own;
        file.plan.clone().filter(|_| !is_own || !has_both || has_others)
    };
    let mut slots: BTreeMap<(PlanNumber, Option<String>), PlanSlot> = BTreeMap::new();
    for kind in [FileKind::Plan, FileKind::Summary] {
        let (of_plans, of_phase): (Vec<_>, Vec<_>) = files
            .iter()
            .filter(|(_, file)| file.kind == kind)
            .map(|(name, file)| (name, file, of_plan(file)))
            .partition(|(.., number)| number.is_some());
        for (name, file, number) in of_plans {
            let Some(number) = number else { continue };
            let exact = (number.clone(), file.slug.clone());
            let bare = (number.clone(), None);
            // A name without a slug is of the first plan of its number.
            let next = slots.range(bare.clone()..).map(|(key, _)| key).next();
            let first = next.filter(|(next, _)| file.slug.is_none() && *next == number).cloned();
            let known = [&exact, &bare].into_iter().find(|key| slots.contains_key(*key)).cloned();
            let slot = slots.entry(known.or(first).unwrap_or(exact));
            slot.or_insert_with(|| PlanSlot::new(number, file.slug.clone())).fill(kind, name);
        }
        for (name, file, _) in of_phase {
            if slots.is_empty() {
                let slot = PlanSlot::new(PlanNumber::from(1), file.slug.clone());
                slots.insert((slot.number.clone(), None), slot);
            }
            if let (1, Some(only)) = (slots.len(), slots.values_mut().next()) {
                only.fill(kind, name);
            }
        }
    }
    slots.into_values().collect()
}

impl PlanSlot {
    fn new(number: PlanNumber, slug: Option<String>) -> Self {
        Self { number, slug, plan: None, summary: None }
    }

    /// Sets the file of this kind if there is none yet.
    fn fill(&mut self, kind: FileKind, name: &str) {
        let file = match kind {
            FileKind::Plan => &mut self.plan,
            FileKind::Summary => &mut self.summary,
        };
        file.get_or_insert_with(|| name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats each plan as `number plan summary`.
    fn shown(dir: &str, names: &[&str]) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let plans = plans(&FolderName::new(dir, PhaseNumbering::Plain), &names);
        let name = |file: Option<String>| file.unwrap_or_else(|| "-".to_owned());
        let shown =
            |slot: PlanSlot| format!("{} {} {}", slot.number, name(slot.plan), name(slot.summary));
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
}
