//! Pairs the plans of a phase with their summaries.

use serde::Serialize;

use crate::plan::read::file_name::FolderName;
use crate::plan::read::{FileKind, FileName, PlanNumber};

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

/// The plans of a phase, and the files that look like plans or summaries but are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairedPlans {
    /// The plans, sorted by number, then by slug.
    pub plans: Vec<PlanSlot>,
    /// File names that contain `PLAN` or `SUMMARY` but belong to no plan: reviews, notes, the summary of a
    /// whole phase next to those of its plans, a second file for the same plan.
    pub ignored: Vec<String>,
}

/// Pairs the files directly in a phase's folder; other names are skipped.
///
/// In phase 12, `12-SUMMARY.md` next to `12-01-SUMMARY.md` summarises the whole phase and is ignored; if the
/// phase has only one plan without a summary, it belongs to that plan.
pub(super) fn pair<S: AsRef<str>>(folder: &FolderName<'_>, names: &[S]) -> PairedPlans {
    let mut names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    // `.jsonl` sorts after `.md`, which takes precedence because people read it.
    names.sort_unstable();
    names.sort_by_cached_key(|name| has_ending(name, "jsonl"));
    let mut paired = PairedPlans::default();
    let mut files = Vec::new();
    for name in names {
        let own = name.rsplit_once('/').map_or(name, |(_, own)| own);
        match FileName::parse_in(own, folder) {
            Some(file) => files.push((name, file)),
            None if is_lookalike(name) => paired.ignored.push(name.to_owned()),
            None => {}
        }
    }
    let phase = folder.number().map(ToString::to_string);
    let (of_phase, of_plans): (Vec<_>, Vec<_>) =
        files.iter().partition(|(_, file)| is_of_phase(file, phase.as_deref(), &files));
    for kind in [FileKind::Plan, FileKind::Summary] {
        for (name, file) in of_plans.iter().filter(|(_, file)| file.kind == kind) {
            paired.pair(name, file);
        }
        for (name, file) in of_phase.iter().filter(|(_, file)| file.kind == kind) {
            paired.assign_phase_file(name, file);
        }
    }
    paired.plans.sort_by(|a, b| (&a.number, &a.slug).cmp(&(&b.number, &b.slug)));
    paired.ignored.sort();
    paired
}

/// Returns whether a file is about the whole phase: it has no plan number, or the phase's own number while
/// the plan files contain both numbers and none contains only its plan's number.
fn is_of_phase(file: &FileName, phase: Option<&str>, files: &[(&str, FileName)]) -> bool {
    let Some(plan) = &file.plan else {
        return true;
    };
    let is_alone = |file: &FileName| file.phase.is_none() && file.slug.is_none();
    if file.phase.is_some() || Some(plan.to_string().as_str()) != phase {
        return false;
    }
    let others = || files.iter().map(|(_, other)| other);
    let has_both = |kind| {
        others().any(|other| other.kind == kind && other.phase.is_some() && other.plan.is_some())
    };
    if file.slug.is_some() {
        // `04-FINAL-SUMMARY.md` beside `04-01-PLAN.md`, but not beside `04-login-PLAN.md` or `05-login-SUMMARY.md`.
        let is_named_alike = |other: &FileName| {
            other.kind == FileKind::Plan && other.plan == file.plan
                || other.phase.is_none() && other.slug.is_some() && other.plan != file.plan
        };
        return file.kind == FileKind::Summary
            && has_both(FileKind::Plan)
            && !others().any(is_named_alike);
    }
    let has_other_alone =
        others().any(|other| is_alone(other) && other.plan.is_some() && other.plan != file.plan);
    let has_its_plan = file.kind == FileKind::Summary
        && !has_both(FileKind::Plan)
        && others().any(|other| other.kind == FileKind::Plan && other.plan == file.plan);
    let is_of_plan = has_other_alone || has_its_plan;
    !is_of_plan && (has_both(file.kind) || has_both(FileKind::Plan))
}

impl PlanSlot {
    /// Sets the file of this kind, and returns whether there was none yet.
    fn fill(&mut self, kind: FileKind, name: &str) -> bool {
        let file = match kind {
            FileKind::Plan => &mut self.plan,
            FileKind::Summary => &mut self.summary,
        };
        let is_free = file.is_none();
        file.get_or_insert_with(|| name.to_owned());
        is_free
    }
}

impl PairedPlans {
    /// Assigns a file to its plan: the same number, and the same slug if both have one.
    fn pair(&mut self, name: &str, file: &FileName) {
        let Some(number) = &file.plan else {
            return;
        };
        let fits = |slot: &PlanSlot, slug: bool| {
            slot.number == *number
                && (slot.slug == file.slug
                    || (!slug && (slot.slug.is_none() || file.slug.is_none())))
        };
        let at = [true, false]
            .iter()
            .find_map(|slug| self.plans.iter().position(|slot| fits(slot, *slug)));
        let Some(at) = at else {
            return self.add(number.clone(), file, name);
        };
        if !self.plans[at].fill(file.kind, name) {
            self.ignored.push(name.to_owned());
        }
    }

    /// Assigns a file about the whole phase to the phase's only plan, if that has no file of its kind.
    fn assign_phase_file(&mut self, name: &str, file: &FileName) {
        if self.plans.is_empty() {
            return self.add(PlanNumber::from(1), file, name);
        }
        if let [only] = self.plans.as_mut_slice()
            && only.fill(file.kind, name)
        {
            return;
        }
        self.ignored.push(name.to_owned());
    }

    fn add(&mut self, number: PlanNumber, file: &FileName, name: &str) {
        let mut slot = PlanSlot { number, slug: file.slug.clone(), plan: None, summary: None };
        slot.fill(file.kind, name);
        self.plans.push(slot);
    }
}

fn is_lookalike(name: &str) -> bool {
    let is_kept = has_ending(name, "md") || has_ending(name, "jsonl");
    is_kept && !name.starts_with('.') && (name.contains("PLAN") || name.contains("SUMMARY"))
}

/// Returns whether a file name has this extension, in whatever case.
pub(super) fn has_ending(name: &str, ending: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, last)| last.eq_ignore_ascii_case(ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::read::PhaseNumbering;

    /// Formats each plan as `number plan summary`, and returns what was ignored.
    fn shown(dir: &str, names: &[&str]) -> (Vec<String>, Vec<String>) {
        let paired = pair(&FolderName::new(dir, PhaseNumbering::Plain), names);
        let name = |file: Option<String>| file.unwrap_or_else(|| "-".to_owned());
        let plans = paired
            .plans
            .into_iter()
            .map(|slot| format!("{} {} {}", slot.number, name(slot.plan), name(slot.summary)))
            .collect();
        (plans, paired.ignored)
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
            let plans = plans.iter().map(|plan| (*plan).to_owned()).collect();
            assert_eq!(shown(dir, names), (plans, Vec::new()));
        }
    }

    #[test]
    fn what_is_no_plan_of_the_phase_is_ignored() {
        let (plans, ignored) = shown(
            "12-chat",
            &[
                "12-01-PLAN.md", "12-01-SUMMARY.md", "12-02-PLAN.md", "12-SUMMARY.md",
                "12-PLAN.md", "SUMMARY.md", "02-PLAN-PAUSE.md", "01-PLAN-GAP-REVIEW.md",
                "12-01-PLAN.md.bak", "12-01.plan.jsonl", ".12-03-PLAN.md",
            ],
        );
        assert_eq!(plans, ["1 12-01-PLAN.md 12-01-SUMMARY.md", "2 12-02-PLAN.md -"]);
        assert_eq!(
            ignored,
            [
                "01-PLAN-GAP-REVIEW.md", "02-PLAN-PAUSE.md", "12-01.plan.jsonl", "12-PLAN.md",
                "12-SUMMARY.md", "SUMMARY.md"
            ]
        );
        let named = shown(
            "12-chat",
            &["12-01-PLAN.md", "12-01-SUMMARY.md", "12-02-PLAN.md", "12-FINAL-SUMMARY.md"],
        );
        assert_eq!((named.0.len(), named.1), (2, vec!["12-FINAL-SUMMARY.md".to_owned()]));
        let (plans, ignored) =
            shown("12-chat", &["12-01-PLAN.md", "12-02-PLAN.md", "12-SUMMARY.md"]);
        assert_eq!((plans.len(), ignored.len()), (2, 1));
    }
}
