//! The context files of whole projects: what is written, what is kept, what is refused.

#![expect(clippy::disallowed_methods, reason = "the tests set up trees")]

mod cases;
mod files;
mod properties;

use std::fs;
use std::path::{Path, PathBuf};

use annals::claude_md::{Content, ContextFileOutcome, Recorded, Regenerated, regenerate};
use annals::clock::Clock;
use annals::plan::Decision;
use annals::project::{ContextTarget, Layout, LayoutName, OpenRequest, Project};
use annals::storage::{Storage, Store};
use annals::text::{Line, fold};
use tempfile::TempDir;

/// A project in a temporary folder.
struct Tree {
    dir: TempDir,
    layout: Layout,
    content: Content,
    targets: Vec<ContextTarget>,
}

impl Tree {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".vbw-planning")).unwrap();
        let layout = Layout::load(LayoutName::Vbw).unwrap();
        Self { dir, content: content(&layout), layout, targets: vec![ContextTarget::Claude] }
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
        let decisions = decisions();
        let known = Recorded {
            project: "shop",
            core_value: Some("Sell things without a queue"),
            next_action: Some("/vbw:execute 2"),
            decisions: decisions.iter().map(|one| (fold(&one.text), one)).collect(),
            skills: ["testing"].into(),
            ..Recorded::in_layout(&self.layout)
        };
        let done = storage.transact("sync", &[Store::Context], || {
            regenerate(&project, &self.content, &known, &self.targets)
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
        let is_kept = |outcome| {
            matches!(outcome, ContextFileOutcome::Unchanged | ContextFileOutcome::InConflict)
        };
        assert!(second.files.iter().all(|file| is_kept(file.outcome)));
        first
    }

    fn state(&self, name: &Path) -> (Vec<u8>, std::time::SystemTime) {
        let path = self.dir.path().join(name);
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        (fs::read(path).unwrap(), written)
    }
}

fn content(layout: &Layout) -> Content {
    let decisions = vec![
        Line::new("Prices are integers"),
        Line::new("Use SQLite \u{2014} One file to back up"),
    ];
    Content {
        title: Some(Line::new("shop")),
        core_value: Some(Line::new("Sell things without a queue")),
        has_workflow: true,
        milestone: Some(Line::new("Checkout")),
        phase: Some(Line::new("2 - Cart (1 of 3 plans done)")),
        next_action: Some(Line::new("/vbw:execute 2")),
        few_decisions: decisions.clone(),
        decisions,
        skills: vec![Line::new("testing (global)")],
        patterns: vec![Line::new("Plans of three tasks had no deviations (plans 01, 03)")],
        commands_heading: Line::new(&layout.section.heading),
        commands: layout.section.lines.iter().map(|line| Line::new(line)).collect(),
        ..Content::default()
    }
}

/// What the planning folder records of the same project.
fn decisions() -> [Decision; 2] {
    let decision = |text: &str, rationale: Option<&str>| Decision {
        text: text.to_owned(),
        rationale: rationale.map(str::to_owned),
        ..Decision::default()
    };
    [decision("Use SQLite", Some("One file to back up")), decision("Prices are integers", None)]
}
