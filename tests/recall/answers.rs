//! Measures how well questions about real projects are answered.

use std::fs;

use crate::support::{Case, corpus};

/// The questions that are known to be answered among the first 5 and 10 hits, of 36, and the mean of 1 / rank.
const AMONG_FIRST_5: f64 = 28.0 / 36.0;
const AMONG_FIRST_10: f64 = 31.0 / 36.0;
const MRR: f64 = 0.58;

#[test]
fn both_ways_together_answer_what_they_have_to() {
    let Some(corpus) = corpus() else {
        return;
    };
    let questions = corpus.parent().unwrap().join("eval/project_qa_dev.jsonl");
    let text = fs::read_to_string(&questions).unwrap();
    let mut asked = 0.0;
    let mut figures = [[0.0; 3]; 3];
    for folder in projects(&text) {
        // Questions refer to a project by its folder's name.
        let case = Case::empty();
        let from = corpus.join("vbw").join(&folder);
        case.shell("cp -r \"$FROM\" . && chmod -R u+w .").env("FROM", &from).success();
        let run = case
            .run("-q recall --json --eval")
            .args([&questions])
            .args(["-C", folder.as_str()])
            .success()
            .json();
        let count = run["questions"].as_f64().unwrap();
        asked += count;
        for (row, sums) in run["rows"].as_array().unwrap().iter().zip(&mut figures) {
            for (name, sum) in ["r_at_5", "r_at_10", "mrr"].iter().zip(sums) {
                *sum += row[name].as_f64().unwrap() * count;
            }
        }
    }
    let shares = figures.map(|row| row.map(|sum| sum / asked));
    let [words, vectors, both] = shares;
    assert!(asked > 35.5, "{asked} questions");
    let enough = [AMONG_FIRST_5, AMONG_FIRST_10, MRR];
    for (found, enough) in both.iter().zip(enough) {
        assert!(*found > enough - 1e-9, "{shares:?}");
    }
    assert!(both[1] > words[1] && both[1] > vectors[1], "{shares:?}");
}

/// The folders that the questions are about.
fn projects(questions: &str) -> Vec<String> {
    let mut projects: Vec<String> = questions
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|question| question["project"].as_str().unwrap().replace('/', "+"))
        .collect();
    projects.dedup();
    projects
}
