//! The small histories in `histories/`, moment by moment.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;

use crate::position::answer::Answer;
use crate::support::Case;

const HISTORIES: &[&str] = &[
    include_str!("histories/gsd.toml"),
    include_str!("histories/gsd_folders_stay.toml"),
    include_str!("histories/gsd_milestone_prefixed.toml"),
    include_str!("histories/vbw.toml"),
    include_str!("histories/yolo.toml"),
];

/// A moment of a made-up history, and what `status` says there.
pub(super) struct Moment {
    pub(super) story: String,
    pub(super) next: Vec<String>,
    pub(super) answer: Answer,
}

#[derive(Deserialize)]
struct History {
    moment: Vec<Step>,
}

/// What changed since the moment before.
#[derive(Deserialize)]
struct Step {
    story: String,
    next: Vec<String>,
    #[serde(default)]
    removed: Vec<String>,
    files: BTreeMap<String, String>,
}

/// Plays all histories, each in a project of its own.
pub(super) fn moments() -> Vec<Moment> {
    let histories = HISTORIES.iter().map(|text| toml::from_str::<History>(text).unwrap());
    histories.flat_map(played).collect()
}

fn played(history: History) -> Vec<Moment> {
    let case = Case::empty();
    let play = |step: Step| {
        for folder in &step.removed {
            fs::remove_dir_all(case.root().join(folder)).unwrap();
        }
        for (path, content) in &step.files {
            case.write(path, content);
        }
        Moment { story: step.story, next: step.next, answer: Answer::ask(&case) }
    };
    history.moment.into_iter().map(play).collect()
}
