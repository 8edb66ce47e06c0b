//! Entries drawn from the summaries of whole phases.
//!
//! One folder a case in `tests/corpus/retrospective/`: the folder of a phase, and `expected.md`, the entry
//! that is drawn from it. A new case needs no code; `UPDATE=1` writes what came out, to be read before it
//! is kept.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use annals::patterns::{EntryContext, FinishedPhase, Patterns, Recorded, Retrospective, append};
use annals::plan::PlanningFolder;
use annals::project::{OpenRequest, Project};
use annals::storage::Changes;
use proptest::prelude::*;
use tempfile::TempDir;

/// A project in a temporary folder, outside of any repository.
struct Tree {
    dir: TempDir,
}

impl Tree {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(".vbw-planning/phases")).unwrap();
        Self { dir }
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.dir.path().join(".vbw-planning").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn project(&self) -> Project {
        Project::open(OpenRequest {
            directory: self.dir.path().to_owned(),
            project: Some(self.dir.path().to_owned()),
            ..OpenRequest::default()
        })
        .unwrap()
    }

    fn phases(&self) -> Vec<FinishedPhase> {
        let dir = self.dir.path().join(".vbw-planning");
        let folder = PlanningFolder::read(&dir).unwrap().value;
        let phases = folder.active.phases.iter();
        phases.map(|dir| FinishedPhase::read(dir, "default").value).collect()
    }
}

fn drawn(phase: &FinishedPhase) -> Retrospective {
    let context = EntryContext {
        date: "2026-02-17".parse().ok(),
        effort: Some("balanced"),
        commit: Some("0123456789abcdef0123456789abcdef01234567"),
        insights: &[],
    };
    Retrospective::from_phase(phase, &context, None)
}

#[test]
fn every_case_comes_out_as_expected() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/retrospective");
    let mut names = BTreeSet::new();
    for case in fs::read_dir(folder).unwrap() {
        let case = case.unwrap();
        if case.file_type().unwrap().is_dir() {
            names.insert(case.file_name().into_string().unwrap());
            check(&case.path());
        }
    }
    assert!(names.len() >= 6, "cases are missing: {names:?}");
}

fn check(case: &Path) {
    let tree = Tree::new();
    for phase in fs::read_dir(case).unwrap().map(Result::unwrap) {
        if phase.file_type().unwrap().is_dir() {
            for file in fs::read_dir(phase.path()).unwrap().map(Result::unwrap) {
                let (phase, name) = (phase.file_name(), file.file_name());
                let path = format!("phases/{}/{}", phase.display(), name.display());
                tree.put(&path, fs::read(file.path()).unwrap());
            }
        }
    }
    let phases = tree.phases();
    assert_eq!(phases.len(), 1, "{} has one phase", case.display());
    let entry = drawn(&phases[0]);
    let text = entry.render().unwrap();
    read_back(&entry, &text);
    let expected = case.join("expected.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&expected, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&expected).unwrap(), "{}", case.display());
}

/// Checks that an entry gives back what was written into it.
fn read_back(entry: &Retrospective, text: &str) {
    let parsed = Patterns::parse(text, Path::new("PATTERNS.md"));
    assert_eq!(parsed.warnings, []);
    let [read] = &parsed.value.entries[..] else {
        panic!("one entry: {text}");
    };
    let lines = |lines: &[annals::text::Line]| -> Vec<String> {
        lines.iter().map(ToString::to_string).collect()
    };
    assert_eq!(read.phase.as_ref(), entry.number.as_ref());
    assert_eq!(read.name, entry.name.as_str());
    assert_eq!(read.date, entry.date);
    assert_eq!(read.trace.as_ref(), Some(&entry.trace));
    assert_eq!(read.worked, lines(&entry.worked));
    assert_eq!(read.failed, lines(&entry.failed));
    assert_eq!(read.notes, Vec::<String>::new());
}

#[test]
fn entries_are_added_once_and_known_again() {
    let tree = Tree::new();
    tree.put("patterns/PATTERNS.md", b"# Ours\r\n- na\xefve");
    tree.put("phases/01-a/01-01-SUMMARY.md", "---\nstatus: complete\n---\n");
    tree.put("phases/02-b/02-01-SUMMARY.md", "---\nstatus: complete\n---\n# B\n");
    let project = tree.project();
    let phases = tree.phases();
    let entries: Vec<Retrospective> = phases.iter().map(drawn).collect();
    let path = annals::patterns::path(&project.planning().unwrap().dir);
    let mut changes = Changes::new();
    append(&project, &entries, &mut changes).unwrap();
    let new = changes.current(&path).unwrap().unwrap();
    assert!(new.starts_with(b"# Ours\r\n- na\xefve\r\n\r\n### Phase 1: A"));
    let known = Patterns::parse(&String::from_utf8_lossy(&new), &path).value;
    let lines: Vec<Recorded> = phases.iter().map(|phase| known.recorded(phase, &[])).collect();
    assert_eq!(lines, [Recorded::Same(4), Recorded::Same(19)]);
    let mut nothing = Changes::new();
    append(&project, &[], &mut nothing).unwrap();
    // Inside an open block, an entry would not be read.
    tree.put("patterns/PATTERNS.md", "# Ours\n```\nopen\n");
    assert!(append(&project, &entries, &mut nothing).is_err());
    assert!(nothing.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_summaries_say_the_entry_gives_it_back(
        summaries in proptest::collection::vec(
            "(---\n)?((status|title|duration|deviations|completed|tasks): ?[ -~é]{0,30}\n){0,4}(---\n)?(# [ -~]{0,30}\n|## Deviations\n|## Issues\n|- [ -~\u{1b}é]{0,80}\n|\\*\\*1\\. \\[Rule 1 - Bug\\] [ -~]{0,30}\\*\\*\n|[ -~]{0,60}\n){0,12}",
            1..4,
        ),
        name in "[a-zA-Z0-9.()é -]{1,20}",
    ) {
        let tree = Tree::new();
        for (index, summary) in summaries.iter().enumerate() {
            tree.put(&format!("phases/03-x{}/03-0{}-SUMMARY.md", name.trim(), index + 1), summary);
        }
        for mut phase in tree.phases() {
            phase.name.clone_from(&name);
            let entry = drawn(&phase);
            read_back(&entry, &entry.render().unwrap());
        }
    }
}
