//! Measures how well facts and recall answer questions whose answers are known.
//!
//! ```console
//! $ cargo bench -- retrieval facts CONVERSATIONS.jsonl [--json] [--silence]
//! $ cargo bench -- retrieval recall PROJECT QUESTIONS.jsonl [--json] [--silence]
//! ```
//!
//! A file for `facts` has items and queries of groups, one JSON object a line, as `facts metrics --eval` reads it; each
//! item is stored as a fact, and each query asks its own group. A file for `recall` has `{"question", "answer_snippet",
//! "project"}` a line; a hit is an answer if its text contains the snippet, disregarding white space, case, `*` and
//! backticks, and only lines with the folder's name, or without one, are asked.
//!
//! The index is kept in the project's `.annals/`, as by any search.
//!
//! `--silence` also asks each question where it has no answer: of the other groups, or the questions about other projects.
//! `--no-encoder` leaves the encoder out.

use std::fs;
use std::io::BufReader;
use std::path::Path;

use annals::facts::{self, FactQuery, Facts, Question, Selection, UserId};
use annals::project::{OpenRequest, Project};
use annals::recall::{RecallQuery, answer};
use annals::search::index::Hit;
use annals::search::{Embedder, FusedParts};
use serde_json::{Value, json};

/// Number of hits that are examined for the first answer.
const DEPTH: usize = 50;

/// Number of hits by both that are also ranked by words and by vectors alone.
const RANKED: usize = 500;

/// What was found for a question: the answers' ranks from 1, their number, and what is given to who asks.
#[derive(Default)]
struct Outcome {
    ranks: Vec<usize>,
    relevant: usize,
    /// The evidence for the answer; 1 is just enough.
    evidence: f64,
}

pub(crate) fn run(arguments: &[String]) {
    let has = |name: &str| arguments.iter().any(|one| one == name);
    let paths: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|one| !one.starts_with("--")).collect();
    let (silence, encoder) = (has("--silence"), !has("--no-encoder"));
    let report = match paths[..] {
        ["facts", file] => facts_report(file, silence, encoder),
        ["recall", project, file] => recall_report(project, file, silence, encoder),
        _ => {
            return println!(
                "usage: facts FILE | recall PROJECT FILE [--json] [--silence] [--no-encoder]"
            );
        }
    };
    if has("--json") {
        println!("{report}");
    } else {
        println!("{report:#}");
    }
}

fn lines(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns the rows of a method, and the curve of silence.
fn report(methods: &[(&str, Vec<Outcome>)], foreign: Option<Vec<Outcome>>) -> Value {
    let rows: Vec<Value> = methods.iter().map(|(name, outcomes)| row(name, outcomes)).collect();
    let asked = &methods.last().unwrap().1;
    let mut report = json!({"questions": asked.len(), "rows": rows});
    if let Some(foreign) = foreign {
        report["silence"] = silence(asked, &foreign);
    }
    report
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = f64::from(u32::try_from(values.len().max(1)).unwrap());
    values.sum::<f64>() / count
}

fn recall_at(outcome: &Outcome, count: usize) -> f64 {
    let within = outcome.ranks.iter().filter(|rank| **rank <= count).count();
    f64::from(u32::try_from(within).unwrap())
        / f64::from(u32::try_from(outcome.relevant.max(1)).unwrap())
}

fn row(method: &str, outcomes: &[Outcome]) -> Value {
    let reciprocal = |outcome: &Outcome| {
        outcome.ranks.first().map_or(0.0, |rank| 1.0 / f64::from(u32::try_from(*rank).unwrap()))
    };
    json!({
        "method": method,
        "r_at_5": mean(outcomes.iter().map(|one| recall_at(one, 5))),
        "r_at_10": mean(outcomes.iter().map(|one| recall_at(one, 10))),
        "mrr": mean(outcomes.iter().map(reciprocal)),
    })
}

/// Returns false surfacing and loss of R@10 in force and at other thresholds, and the loss at 15 % false surfacing.
fn silence(asked: &[Outcome], foreign: &[Outcome]) -> Value {
    let all = mean(asked.iter().map(|one| recall_at(one, 10)));
    let point = |threshold: f64| {
        let passes = |one: &Outcome| one.evidence >= threshold;
        let surfaced = mean(foreign.iter().map(|one| f64::from(u8::from(passes(one)))));
        let kept = mean(asked.iter().map(|one| if passes(one) { recall_at(one, 10) } else { 0.0 }));
        json!({"threshold": threshold, "false_surfacing": surfaced, "loss": all - kept})
    };
    let mut evidence: Vec<f64> = foreign.iter().map(|one| one.evidence).collect();
    evidence.sort_by(f64::total_cmp);
    let at_15 = evidence.get(evidence.len() * 85 / 100).copied().unwrap_or(1.0);
    json!({
        "answerable": asked.len(),
        "unanswerable": foreign.len(),
        "r_at_10_all": all,
        "in_force": point(1.0),
        "at_15_percent": point(at_15 + 1e-9),
        "curve": (0..15_u8).map(|step| point(0.6 + 0.05 * f64::from(step))).collect::<Vec<_>>(),
    })
}

fn facts_report(file: &str, silence: bool, encoder: bool) -> Value {
    let reader = BufReader::new(fs::File::open(file).unwrap());
    let groups = facts::read_dataset(reader, Path::new(file)).unwrap();
    let mut methods: Vec<(&str, Vec<Outcome>)> =
        facts::Method::ALL.iter().map(|method| (method.as_str(), Vec::new())).collect();
    let mut foreign = Vec::new();
    for group in &groups {
        let (store, user) = facts::stored(group, &Embedder::BuiltIn).unwrap();
        let ask = |question: &Question, method| ask_facts(&store, &user, question, method, encoder);
        let is_plain = |question: &&Question| question.category != "adversarial";
        for question in group.questions.iter().filter(is_plain) {
            for (method, (_, outcomes)) in facts::Method::ALL.into_iter().zip(&mut methods) {
                outcomes.push(ask(question, method));
            }
        }
        // One in ten: the questions of each group are asked of all others.
        let others = groups.iter().filter(|other| silence && other.name != group.name);
        for question in others.flat_map(|other| other.questions.iter().filter(is_plain).step_by(10))
        {
            foreign.push(ask(question, facts::Method::Fused));
        }
    }
    report(&methods, silence.then_some(foreign))
}

fn ask_facts(
    store: &Facts,
    user: &UserId,
    question: &Question,
    method: facts::Method,
    uses_encoder: bool,
) -> Outcome {
    let asked = FactQuery {
        text: question.text.clone(),
        limit: DEPTH,
        project: None,
        method,
        selection: Selection::All,
        uses_encoder: uses_encoder && method == facts::Method::Fused,
    };
    let found = facts::retrieve(store, user, &asked, &Embedder::BuiltIn).unwrap();
    let ranks = (1..).zip(&found.hits);
    let ranks = ranks.filter(|(_, hit)| question.relevant.contains(&hit.fact.fact_id));
    Outcome {
        ranks: ranks.map(|(rank, _)| rank).collect(),
        relevant: question.relevant.len(),
        evidence: found.evidence,
    }
}

fn recall_report(project: &str, file: &str, silence: bool, encoder: bool) -> Value {
    let root = Path::new(project).canonicalize().unwrap();
    let folder = root.file_name().unwrap().to_string_lossy().into_owned();
    let request = OpenRequest { directory: root, ..OpenRequest::default() };
    let project = Project::open(request).unwrap();
    let mut methods = ["words", "vectors", "both"].map(|method| (method, Vec::new()));
    let mut foreign = Vec::new();
    for line in lines(file) {
        let own = line["project"].as_str().is_none_or(|name| {
            let name = name.replace('/', "+");
            folder == name || folder.split_once('@').is_some_and(|(folder, _)| folder == name)
        });
        let snippet = own.then(|| normalised(line["answer_snippet"].as_str().unwrap()));
        let question = line["question"].as_str().unwrap();
        if own {
            let found = ask_project(&project, question, snippet.as_deref(), encoder);
            methods.iter_mut().zip(found).for_each(|((_, outcomes), found)| outcomes.push(found));
        } else if silence {
            foreign.extend(ask_project(&project, question, None, encoder).into_iter().next_back());
        }
    }
    report(&methods, silence.then_some(foreign))
}

/// Returns what words, vectors and both find: each hit has the parts of its score.
fn ask_project(
    project: &Project,
    question: &str,
    snippet: Option<&str>,
    uses_encoder: bool,
) -> [Outcome; 3] {
    let query = RecallQuery {
        limit: RANKED,
        include_irrelevant: true,
        uses_encoder,
        ..RecallQuery::new(question).unwrap()
    };
    let found = answer(project, &query).unwrap();
    let is_answer = |text: &str| snippet.is_some_and(|snippet| normalised(text).contains(snippet));
    let outcome = |hits: &[Hit]| {
        let is_answer = |hit: &Hit| {
            is_answer(&format!("{} {}", hit.passage.headings.join(" "), hit.passage.text))
        };
        let rank = hits.iter().take(DEPTH).position(is_answer).map(|before| before + 1);
        Outcome { ranks: rank.into_iter().collect(), relevant: 1, evidence: found.evidence }
    };
    let both = outcome(&found.hits);
    let parts: [fn(FusedParts) -> f64; 2] = [|parts| parts.words, |parts| parts.meaning];
    let [words, vectors] = parts.map(|part| {
        let mut hits = found.hits.clone();
        let score = |hit: &Hit| hit.parts.weight * part(hit.parts);
        hits.retain(|hit| score(hit) > 0.0);
        hits.sort_by(|one, other| score(other).total_cmp(&score(one)));
        outcome(&hits)
    });
    [words, vectors, both]
}

fn normalised(text: &str) -> String {
    let plain = text.replace(['*', '`'], "").to_lowercase();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}
