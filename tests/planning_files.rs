//! Every plan and summary of the real folders, read by the library.

use std::path::{Path, PathBuf};

use annals::plan::{FileKind, FileName, Plan, PlanNumber, PlanState, Summary, check_waves};

use crate::support::corpus;

/// A folder, and the names of the files in it.
type Folder = (PathBuf, Vec<String>);

fn folders(dir: &Path, found: &mut Vec<Folder>) {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            folders(&entry.path(), found);
        } else {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found.push((dir.to_owned(), names));
}

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
}

/// Returns the plans and summaries of all phase folders, folder by folder.
fn files(corpus: &Path) -> Vec<Vec<(FileKind, PathBuf)>> {
    let mut all = Vec::new();
    folders(corpus, &mut all);
    all.into_iter()
        .map(|(dir, names)| {
            let phase = dir.file_name().unwrap().to_string_lossy().into_owned();
            let kind = |name: &String| FileName::parse(name, &phase).map(|file| file.kind);
            let named = names.iter().filter_map(|name| Some((kind(name)?, name)));
            named.map(|(kind, name)| (kind, dir.join(name))).collect()
        })
        .collect()
}

#[test]
fn the_quick_look_at_a_status_agrees_with_the_whole_read() {
    let Some(corpus) = corpus() else { return };
    let mut count = 0;
    for (_, path) in files(&corpus).into_iter().flatten().step_by(3) {
        let text = text(&path);
        let summary = Summary::parse(&text, &path).value;
        let quick = PlanState::stated(&text);
        assert_eq!(quick, summary.status, "{}", path.display());
        count += 1;
    }
    assert!(count > 500, "only {count} files");
}

#[test]
fn every_plan_of_a_phase_has_tasks_and_its_waves_can_be_checked() {
    let Some(corpus) = corpus() else { return };
    for folder in files(&corpus) {
        let plans: Vec<Plan> = folder
            .iter()
            .filter(|(kind, _)| *kind == FileKind::Plan)
            .map(|(_, path)| Plan::parse(&text(path), path).value)
            .collect();
        let numbers: Vec<PlanNumber> = (1..).take(plans.len()).map(PlanNumber::from).collect();
        check_waves(&1.into(), &numbers.iter().zip(&plans).collect::<Vec<_>>());
        for plan in plans {
            // The plan of a quick task may be plain text.
            let is_quick = plan.file.iter().any(|name| name == "quick");
            assert!(is_quick || !plan.tasks.is_empty(), "{}", plan.file.display());
            plan.problems();
        }
    }
}
