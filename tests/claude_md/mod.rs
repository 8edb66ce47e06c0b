//! The context files of whole projects: what is written, what is kept, what is refused.

#![expect(clippy::disallowed_methods, reason = "the tests set up trees")]

mod cases;
mod files;
mod properties;

use std::fs;
use std::path::{Path, PathBuf};

use annals::claude_md::{DecisionList, Pattern, Regenerated, Sources, regenerate};
use annals::clock::Clock;
use annals::plan::{Decision, Skill};
use annals::project::{ContextTarget, OpenRequest, Project};
use annals::storage::{Storage, Store};
use tempfile::TempDir;

/// A project in a temporary folder.
struct Tree {
    dir: TempDir,
    sources: Sources,
    targets: Vec<ContextTarget>,
}

impl Tree {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".vbw-planning")).unwrap();
        Self { dir, sources: sources(), targets: vec![ContextTarget::Claude] }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    fn project(&self) -> Project {
        Project::open(OpenRequest {
            directory: self.dir.path().to_owned(),
            project: Some(self.dir.path().to_owned()),
            ..OpenRequest::default()
        })
        .unwrap()
    }

    /// Writes the context files, as a lifecycle command does.
    fn run(&self) -> annals::error::Result<Regenerated> {
        let project = self.project();
        let clock = Clock::new(Some("2026-02-17T10:11:12Z"))?;
        let storage =
            Storage::new(&project.root, clock).key_in(Some(self.dir.path().join(".annals")));
        let done = storage.transact("sync", &[Store::Context], || {
            regenerate(&project, &self.sources, &self.targets)
        });
        done.map(|(done, _)| done)
    }

    /// Runs twice: the second run must change nothing.
    fn twice(&self) -> Regenerated {
        let first = self.run().unwrap();
        let files: Vec<_> = first.files.iter().map(|file| self.state(&file.file)).collect();
        let second = self.run().unwrap();
        let after: Vec<_> = second.files.iter().map(|file| self.state(&file.file)).collect();
        assert_eq!(files, after);
        assert!(
            second
                .files
                .iter()
                .all(|file| file.outcome == annals::claude_md::ContextFileOutcome::Unchanged)
        );
        first
    }

    fn state(&self, name: &Path) -> (Vec<u8>, std::time::SystemTime) {
        let path = self.dir.path().join(name);
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        (fs::read(path).unwrap(), written)
    }
}

fn sources() -> Sources {
    let decision = |text: &str, date: &str, rationale: Option<&str>| Decision {
        text: text.to_owned(),
        date: Some(date.parse().unwrap()),
        rationale: rationale.map(str::to_owned),
        ..Decision::default()
    };
    Sources {
        project: "shop".to_owned(),
        core_value: Some("Sell things without a queue".to_owned()),
        code: Vec::new(),
        milestone: Some("Checkout".to_owned()),
        phase: Some("2 - Cart (1 of 3 plans done)".to_owned()),
        next_command: Some("/vbw:execute 2".to_owned()),
        contested: None,
        memory: None,
        blockers: Vec::new(),
        decisions: vec![DecisionList {
            heading: Some("Key Decisions".to_owned()),
            decisions: vec![
                decision("Use SQLite", "2026-02-11", Some("One file to back up")),
                decision("Prices are integers", "2026-02-12", None),
            ],
            ..DecisionList::default()
        }],
        skills: vec![Skill { name: "testing".to_owned(), scope: Some("global".to_owned()) }],
        patterns: vec![Pattern {
            summary: "Plans of three tasks had no deviations (plans 01, 03)".to_owned(),
            is_stale: false,
        }],
        recorded_patterns: Vec::new(),
        shipped: Vec::new(),
    }
}
