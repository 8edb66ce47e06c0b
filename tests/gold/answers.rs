//! What the built binary says about the folders of the gold rows, each project asked once, on a copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::gold::rows::{Gold, split};
use crate::support::{Case, difference, on_two_threads};

/// The binary's answers, and what went wrong while it gave them.
#[derive(Default)]
pub(super) struct Answers {
    /// By the path in the corpus.
    files: BTreeMap<String, Value>,
    /// By project and planning folder.
    statuses: BTreeMap<(String, String), Value>,
    pub(super) faults: Vec<String>,
}

/// What to ask about one project.
#[derive(Default)]
struct Questions {
    files: BTreeSet<String>,
    planning_folders: BTreeSet<String>,
}

impl Answers {
    /// Asks the binary about every project of the gold rows.
    pub(super) fn ask(corpus: &Path, gold: &Gold) -> Self {
        let questions: Vec<_> = questions(corpus, gold).into_iter().collect();
        let mut all = Self::default();
        for one in
            on_two_threads(&questions, |(project, asked)| Self::about(corpus, project, asked))
        {
            all.files.extend(one.files);
            all.statuses.extend(one.statuses);
            all.faults.extend(one.faults);
        }
        all
    }

    fn about(corpus: &Path, project: &str, asked: &Questions) -> Self {
        let case = Case::from(corpus.join(project));
        let before = case.tree();
        let mut answers = Self::default();
        answers.inspect(&case, project, &asked.files);
        for folder in &asked.planning_folders {
            let run = case.run("status --json --planning-dir").args([folder]);
            let outcome = run.output();
            match outcome.try_json().ok().filter(|_| outcome.exit_code() == Some(0)) {
                Some(status) => {
                    let place = (project.to_owned(), folder.clone());
                    answers.statuses.insert(place, status);
                }
                None => answers.fault(project, "status failed", &outcome.report()),
            }
        }
        for line in difference(&before, &case.tree()) {
            answers.fault(project, "a reading command wrote", &line);
        }
        answers
    }

    fn inspect(&mut self, case: &Case, project: &str, files: &BTreeSet<String>) {
        if files.is_empty() {
            return;
        }
        let outcome = case.run("inspect --json").args(files).output();
        match outcome.try_json_lines() {
            Ok(lines) => {
                for answer in lines {
                    let named = answer["file"].as_str().unwrap_or_default();
                    let path = named.trim_start_matches("[ROOT]/").trim_start_matches("./");
                    self.files.insert(format!("{project}/{path}"), answer);
                }
            }
            Err(fault) => self.fault(project, &fault, &outcome.report()),
        }
        let unanswered = files
            .iter()
            .filter(|file| !self.files.contains_key(&format!("{project}/{file}")))
            .count();
        if unanswered > 0 {
            let fault = format!("inspect gave no answer for {unanswered} of {}", files.len());
            self.fault(project, &fault, &outcome.report());
        }
    }

    fn fault(&mut self, project: &str, fault: &str, report: &str) {
        self.faults.push(format!("{project}: {fault}\n{report}"));
    }

    /// Returns the answer about a gold file; null where there is none, which is wrong in every field.
    pub(super) fn file(&self, path: &Value) -> &Value {
        self.files.get(path.as_str().unwrap()).unwrap_or(&Value::Null)
    }

    /// Returns the answer about the PROJECT.md that belongs to a STATE.md.
    pub(super) fn project(&self, state: &Value) -> &Value {
        self.file(&Value::String(project_file(state.as_str().unwrap())))
    }

    /// Returns the answers about the files right inside a row's phase folder.
    pub(super) fn folder(&self, row: &Value) -> Vec<&Value> {
        let folder = format!("{}/{}/", text(row, "project"), text(row, "phase_dir"));
        self.files
            .iter()
            .filter(|(path, _)| path.strip_prefix(&folder).is_some_and(|name| !name.contains('/')))
            .map(|(_, answer)| answer)
            .collect()
    }

    /// Returns the status of a row's planning folder; null where there is none.
    pub(super) fn status(&self, row: &Value) -> &Value {
        let place = (text(row, "project").to_owned(), text(row, "root").to_owned());
        self.statuses.get(&place).unwrap_or(&Value::Null)
    }

    /// Returns answers made up by the proof of the scorer.
    pub(super) fn made_up(files: Vec<(String, Value)>, statuses: Vec<(&Value, Value)>) -> Self {
        let place = |row: &Value| (text(row, "project").to_owned(), text(row, "root").to_owned());
        Self {
            files: files.into_iter().collect(),
            statuses: statuses.into_iter().map(|(row, status)| (place(row), status)).collect(),
            faults: Vec::new(),
        }
    }
}

fn questions(corpus: &Path, gold: &Gold) -> BTreeMap<String, Questions> {
    let mut all: BTreeMap<String, Questions> = BTreeMap::new();
    let mut ask = |path: &str| {
        let (project, inside) = split(path);
        let asked = all.entry(project.to_owned()).or_default();
        asked.files.insert(inside.to_owned());
    };
    for row in &gold.summaries {
        ask(text(row, "file"));
    }
    for row in &gold.states {
        ask(text(row, "file"));
        let project = project_file(text(row, "file"));
        if corpus.join(&project).is_file() {
            ask(&project);
        }
    }
    for row in &gold.phases {
        let folder = format!("{}/{}", text(row, "project"), text(row, "phase_dir"));
        for name in plans_and_summaries(&corpus.join(&folder)) {
            ask(&format!("{folder}/{name}"));
        }
    }
    for row in &gold.next {
        let asked = all.entry(text(row, "project").to_owned()).or_default();
        asked.planning_folders.insert(text(row, "root").to_owned());
    }
    all
}

/// PROJECT.md stands at the top of the planning folder, wherever STATE.md is.
fn project_file(state: &str) -> String {
    let (project, inside) = split(state);
    let planning = inside.split('/').next().unwrap();
    format!("{project}/{planning}/PROJECT.md")
}

fn plans_and_summaries(folder: &Path) -> Vec<String> {
    fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("PLAN") || name.contains("SUMMARY"))
        .collect()
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("no {key} in {row}"))
}
