//! The moments of public projects: a bundle with a branch a moment, and what came next.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::position::score::{Answer, plain};
use crate::support::Case;

/// A moment of a real history, and what `status` says there.
pub(super) struct Moment {
    pub(super) next: Vec<String>,
    pub(super) answer: Answer,
}

#[derive(Deserialize)]
struct Row {
    snapshot: String,
    /// `plan` or `execute` with a phase, or `ship`.
    next: Vec<(String, Option<String>)>,
}

/// Lays out every moment, or one in so many, and asks there.
pub(super) fn moments(folder: &Path, step: usize) -> Vec<Moment> {
    let rows = std::fs::read_to_string(folder.join("next_dev.jsonl")).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let git = scratch.path().join("git");
    let bundle = folder.join("next_dev.bundle");
    run(Command::new("git").args(["clone", "-q", "--bare"]).args([&bundle, &git]));
    rows.lines()
        .step_by(step)
        .map(|line| serde_json::from_str::<Row>(line).unwrap())
        .map(|row| answered(&git, &row))
        .collect()
}

fn answered(git: &Path, row: &Row) -> Moment {
    let case = Case::empty();
    let archive = case.home().join("moment.tar");
    run(Command::new("git")
        .arg("--git-dir")
        .arg(git)
        .args(["archive", "-o"])
        .arg(&archive)
        .arg(&row.snapshot));
    run(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(case.root()));
    let step = |(action, phase): &(String, Option<String>)| match phase {
        Some(phase) => format!("{action} {}", plain(phase)),
        None => action.clone(),
    };
    Moment { next: row.next.iter().map(step).collect(), answer: Answer::ask(&case) }
}

fn run(command: &mut Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}");
}
