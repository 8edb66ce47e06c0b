//! Measures how well questions about real projects are answered.

use std::fs;

use annals::project::{OpenRequest, Project};
use annals::recall::{RecallQuery, answer};
use annals::search::index::Hit;
use serde_json::Value;

use crate::support::{Case, corpus};

/// The questions that are known to be answered among the first 5 and 10 hits, of 36, and the mean of 1 / rank.
///
/// These are the hits that are returned, at most two of one section.
const AMONG_FIRST_5: f64 = 29.0 / 36.0;
const AMONG_FIRST_10: f64 = 29.0 / 36.0;
const MRR: f64 = 0.67;

#[test]
fn words_and_meaning_answer_what_they_have_to() {
    let Some(corpus) = corpus() else {
        return;
    };
    let questions = corpus.parent().unwrap().join("eval/project_qa_dev.jsonl");
    let text = fs::read_to_string(&questions).unwrap();
    let questions: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut sums = [0.0; 3];
    for folder in projects(&questions) {
        let case = Case::empty();
        let from = corpus.join("vbw").join(folder.replace('/', "+"));
        case.shell("cp -r \"$FROM\"/. . && chmod -R u+w .").env("FROM", &from).success();
        let directory = case.root().to_owned();
        let project = Project::open(OpenRequest { directory, ..OpenRequest::default() }).unwrap();
        for question in questions.iter().filter(|question| question["project"] == folder.as_str()) {
            let snippet = normalised(question["answer_snippet"].as_str().unwrap());
            let query = RecallQuery {
                include_irrelevant: true,
                uses_encoder: false,
                ..RecallQuery::new(question["question"].as_str().unwrap()).unwrap()
            };
            let hits = answer(&project, &query).unwrap().hits;
            let is_answer = |hit: &Hit| normalised(&hit.passage.text).contains(&snippet);
            if let Some(at) = hits.iter().position(is_answer) {
                sums[0] += f64::from(u8::from(at < 5));
                sums[1] += 1.0;
                sums[2] += 1.0 / f64::from(u32::try_from(at).unwrap() + 1);
            }
        }
    }
    for (sum, enough) in sums.iter().zip([AMONG_FIRST_5, AMONG_FIRST_10, MRR]) {
        assert!(sum / 36.0 > enough - 1e-9, "{sums:?}");
    }
}

fn normalised(text: &str) -> String {
    let plain = text.replace(['*', '`'], "").to_lowercase();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The projects that the questions are about.
fn projects(questions: &[Value]) -> Vec<String> {
    let names = questions.iter().map(|question| question["project"].as_str().unwrap().to_owned());
    let mut projects: Vec<String> = names.collect();
    projects.dedup();
    projects
}
