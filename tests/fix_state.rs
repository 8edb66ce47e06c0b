//! `sync --fix-state` on real folders: only position lines change, nothing drifts afterwards, a second run is silent.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::support::{Case, corpus, on_two_threads};

/// A planning folder of a project in the corpus.
struct Planned {
    project: String,
    planning: &'static str,
}

/// How a repair ended.
#[derive(Debug, PartialEq)]
enum Ending {
    Nothing,
    Repaired,
    Refused,
}

/// Every third folder.
const STEP: usize = 3;

#[test]
fn a_drifting_folder_is_repaired_or_refused() {
    let Some(corpus) = corpus() else { return };
    let all: Vec<Planned> = planned(&corpus).into_iter().step_by(STEP).collect();
    let ended = on_two_threads(&all, |one| ended(&corpus, one));
    let count = |ending| ended.iter().filter(|one| **one == ending).count();
    let (repaired, refused) = (count(Ending::Repaired), count(Ending::Refused));
    assert!(repaired > 2 && refused > 1, "{repaired} repaired, {refused} refused");
}

fn planned(corpus: &Path) -> Vec<Planned> {
    let mut all = Vec::new();
    for group in ["vbw", "gsd"] {
        let entries = corpus.join(group).read_dir().unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        for name in names {
            let project = format!("{group}/{name}");
            for planning in [".vbw-planning", ".yolo-planning", ".planning"] {
                if corpus.join(&project).join(planning).is_dir() {
                    let project = project.clone();
                    all.push(Planned { project, planning });
                }
            }
        }
    }
    all
}

fn ended(corpus: &Path, planned: &Planned) -> Ending {
    let name = &planned.project;
    let case = Case::from(corpus.join(name));
    let run = |line: &str| case.run(&format!("{line} --planning-dir {}", planned.planning));
    // A plan left behind is no statement that could be put right: it is a person's to finish or to remove.
    let is_stated = |one: &Value| {
        let file = one["file"].as_str().unwrap();
        file.ends_with("STATE.md") || file.ends_with("ROADMAP.md")
    };
    let drift = |status: &Value| -> Vec<Value> {
        let all = status["drift"].as_array().unwrap().iter();
        all.filter(|one| is_stated(one)).cloned().collect()
    };
    let before = run("status --json").success().json();
    let allowed = allowed(&case, &before, planned.planning);
    let tree = case.tree();
    let outcome = run("sync --fix-state").output();
    let is_planning = |path: &&String| path.starts_with(planned.planning);
    if outcome.exit_code() == Some(4) {
        let is_contested = before["next"]["conflict"] == true;
        assert!(
            is_contested || !drift(&before).is_empty(),
            "{name}: refused without drift or contest"
        );
        let after = case.tree();
        assert!(
            tree.keys().chain(after.keys()).all(|path| tree.get(path) == after.get(path)),
            "{name}: a refused repair wrote"
        );
        assert!(outcome.stderr().contains("hint:"), "{}", outcome.report());
        return Ending::Refused;
    }
    // What no template could have written is left, and named for a person.
    let is_left = outcome.exit_code() == Some(1) && outcome.stderr().contains("left as they are");
    assert!(is_left || outcome.exit_code() == Some(0), "{name}\n{}", outcome.report());
    let once = case.tree();
    for path in once.keys().filter(is_planning) {
        let (old, new) = (tree.get(path), &once[path]);
        if old != Some(new) {
            only_allowed(path, old.unwrap(), new, &allowed);
        }
    }
    let after = run("status --json").success().json();
    assert!(is_left != drift(&after).is_empty(), "{name}: {:?}", drift(&after));
    let again = run("sync --fix-state");
    assert_eq!(again.output().exit_code(), outcome.exit_code(), "{name}");
    assert_eq!(once, case.tree(), "{name}: the second run wrote");
    if drift(&before).is_empty() {
        for (path, new) in once.iter().filter(|(path, _)| is_planning(path)) {
            only_allowed(path, &tree[path], new, &BTreeSet::new());
        }
        return Ending::Nothing;
    }
    Ending::Repaired
}

/// The lines that may change: those that drift names and, where the phase moves, those that tell more of it.
fn allowed(case: &Case, status: &Value, planning: &str) -> BTreeSet<(String, usize)> {
    let drift = status["drift"].as_array().unwrap();
    let mut lines: BTreeSet<(String, usize)> = drift
        .iter()
        .map(|one| {
            let line = usize::try_from(one["line"].as_u64().unwrap()).unwrap();
            (one["file"].as_str().unwrap().to_owned(), line)
        })
        .collect();
    let state = format!("{planning}/STATE.md");
    if drift.iter().any(|one| one["kind"] == "phase") {
        let labels = ["status:", "plan:", "plans:", "progress:", "current_phase", "phase:"];
        let text = case.read(&state).unwrap_or_default();
        for (index, line) in String::from_utf8_lossy(&text).lines().enumerate() {
            let line = line.replace('*', "").to_lowercase();
            if labels.iter().any(|label| line.trim_start().starts_with(label)) {
                lines.insert((state.clone(), index + 1));
            }
        }
    }
    lines
}

fn only_allowed(path: &str, old: &[u8], new: &[u8], allowed: &BTreeSet<(String, usize)>) {
    let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let (old, new) = (lines(old), lines(new));
    assert_eq!(old.len(), new.len(), "{path}: lines came or went");
    for (index, (old, new)) in old.iter().zip(&new).enumerate() {
        let is_allowed = allowed.contains(&(path.to_owned(), index + 1));
        assert!(old == new || is_allowed, "{path}:{} changed", index + 1);
    }
}
