//! Measures search quality on questions with known answers.
//!
//! ```text
//! {"project":"owner/name","question":"…","answer_file":"…","answer_snippet":"…"}
//! ```
//!
//! A hit is an answer if its text contains the snippet, ignoring white space, case, `*` and backticks.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::BufRead;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{At, Error, Result};
use crate::project::Project;
use crate::ranking::{AnswerEvidence, Relevance, Silence, SilenceTest, to_f64};
use crate::recall::answer::{Extent, RecallAnswer};
use crate::recall::facts::FactHits;
use crate::recall::index::{Index, search_index};
use crate::recall::query::RecallQuery;
use crate::recall::search::{Method, Scan, Scored};
use crate::recall::staleness::Staleness;
use crate::recall::{read_text, search};
use crate::search::{Encoder, ReadText, Reread};
use crate::storage::read;
use crate::text::one_line;
use crate::warning::Parsed;

/// Search quality on a set of questions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// Number of questions evaluated.
    pub questions: usize,
    /// The metrics by search method.
    pub rows: Vec<EvaluationRow>,
    /// Costs and benefits of withholding irrelevant hits, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silence: Option<Silence>,
}

/// Metrics of one search method, as fractions of 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvaluationRow {
    /// The search method.
    pub method: Method,
    /// Share of questions with an answer among the first 5 hits.
    pub r_at_5: f64,
    /// Share of questions with an answer among the first 10 hits.
    pub r_at_10: f64,
    /// Mean reciprocal rank of the first answer.
    pub mrr: f64,
}

#[derive(Deserialize)]
struct Question {
    project: Option<String>,
    #[serde(rename = "question")]
    text: String,
    answer_snippet: String,
}

/// Runs the questions of a file that name this project or none; with `silence`, also the questions about other
/// projects.
pub fn evaluate(project: &Project, questions: &Path, silence: bool) -> Result<Parsed<Evaluation>> {
    let (questions, others) = partition_by_project(project, read_questions(questions)?);
    if questions.is_empty() {
        return Err(
            Error::not_found("the file has no questions about this project")
                .at(&project.root, None)
                .hint("only lines whose `project` is the name of this folder, or that have none, are used"),
        );
    }
    let outcome = search_index(project, false, |index| {
        let ranks = first_answer_ranks(project, index, &questions)?;
        let mut test = SilenceTest::default();
        if silence {
            for question in &questions {
                let (verdict, all, relevant) = judge_question(project, index, question)?;
                test.answerable(verdict, all, relevant);
            }
            for question in &others {
                let (verdict, _, relevant) = judge_question(project, index, question)?;
                test.unanswerable(verdict, relevant > 0.0);
            }
        }
        Ok((ranks, test.result()))
    })?;
    let (ranks, silence) = outcome.answer;
    let warnings = outcome.warnings;
    let row = |(method, ranks): (Method, &Vec<Option<usize>>)| EvaluationRow {
        method,
        r_at_5: mean(ranks, |rank| f64::from(u8::from(rank <= 5))),
        r_at_10: mean(ranks, |rank| f64::from(u8::from(rank <= 10))),
        mrr: mean(ranks, |rank| 1.0 / to_f64(rank)),
    };
    let value = Evaluation {
        questions: questions.len(),
        rows: Method::ALL.into_iter().zip(&ranks).map(row).collect(),
        silence,
    };
    let warnings = project.named(warnings);
    Ok(Parsed { value, warnings })
}

/// Returns, by method, the rank of the first answer to each question.
fn first_answer_ranks(
    project: &Project,
    index: &Index,
    questions: &[Question],
) -> rusqlite::Result<[Vec<Option<usize>>; 3]> {
    let mut ranks: [Vec<Option<usize>>; 3] = Default::default();
    let mut texts: HashMap<i64, String> = HashMap::new();
    for question in questions {
        let Ok(query) = RecallQuery::new(&question.text) else {
            for ranks in &mut ranks {
                ranks.push(None);
            }
            continue;
        };
        let scan = Scan::compare(index, &query)?;
        let staleness = Staleness::check(project, index, &scan)?.value;
        let snippet = normalised(&question.answer_snippet);
        let mut answers = vec![false; scan.units.len()];
        for (answer, unit) in answers.iter_mut().zip(&scan.units) {
            let text = match texts.entry(unit.id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(normalised(&full_text(index, unit.id)?)),
            };
            *answer = text.contains(&snippet);
        }
        for (method, ranks) in Method::ALL.into_iter().zip(&mut ranks) {
            let ranked = ranked(index, &scan, &staleness, method)?;
            let first = ranked.iter().position(|scored| answers[scored.unit]);
            ranks.push(first.map(|at| at + 1));
        }
    }
    Ok(ranks)
}

/// Runs one question as a user would; returns the evidence, and as 1 or 0 whether an answer is among the
/// first ten hits, once of all hits and once of those judged relevant.
///
/// For a question about another project, any hit counts as an answer.
fn judge_question(
    project: &Project,
    index: &Index,
    question: &Question,
) -> rusqlite::Result<(AnswerEvidence, f64, f64)> {
    let Ok(query) = RecallQuery::new(&question.text) else {
        return Ok((AnswerEvidence::default(), 0.0, 0.0));
    };
    let scan = Scan::compare(index, &query)?;
    let staleness = Staleness::check(project, index, &scan)?.value;
    let ranked = ranked(index, &scan, &staleness, Method::Both)?;
    let extent = Extent { limit: query.limit, include_irrelevant: true };
    let answer = RecallAnswer::judge(index, &scan, ranked, &FactHits::default(), extent)?;
    let snippet = normalised(&question.answer_snippet);
    let is_own = is_about(project, question);
    let (mut all, mut relevant) = (false, false);
    for found in &answer.texts {
        let text = format!("{} {}", found.text.headings.join(" "), found.text.body);
        let is_answer = !is_own || normalised(&text).contains(&snippet);
        all |= is_answer;
        relevant |= is_answer && found.relevance == Relevance::High;
    }
    let as_fraction = |is_true: bool| f64::from(u8::from(is_true));
    Ok((answer.verdict, as_fraction(all), as_fraction(relevant)))
}

fn ranked(
    index: &Index,
    scan: &Scan,
    staleness: &Staleness,
    method: Method,
) -> rusqlite::Result<Vec<Scored>> {
    let encoder = Encoder::built_in().filter(|_| method == Method::Both);
    let mut reread = |texts: &[(usize, &ReadText)]| match encoder {
        Some(encoder) => search::reread(encoder, index, scan, texts),
        None => Ok(Vec::new()),
    };
    scan.ranked(
        method,
        |unit| read_text(index, scan, &FactHits::default(), unit),
        encoder.is_some().then_some(&mut reread as &mut Reread<'_, _>),
        |unit| staleness.contains(unit),
    )
}

fn full_text(index: &Index, unit: i64) -> rusqlite::Result<String> {
    let text = index.text(unit)?;
    Ok(format!("{} {}", text.headings.join(" "), text.body))
}

fn read_questions(path: &Path) -> Result<Vec<Question>> {
    let Some(lines) = read::lines(path)? else {
        return Err(Error::not_found("no such file").at(path, None));
    };
    let mut questions = Vec::new();
    for (at, line) in lines.lines().enumerate() {
        let line = line.at("read", path)?;
        if line.trim().is_empty() {
            continue;
        }
        let question = serde_json::from_str(&line).map_err(|error| {
            Error::failed(format!("is not a question: {error}")).at(path, at + 1).hint(
                "one JSON object per line: question, answer_snippet, and project if it matters",
            )
        })?;
        questions.push(question);
    }
    Ok(questions)
}

/// Partitions the questions into those about this project and those about others.
fn partition_by_project(
    project: &Project,
    questions: Vec<Question>,
) -> (Vec<Question>, Vec<Question>) {
    let questions = questions.into_iter();
    questions.partition(|question| is_about(project, question))
}

fn is_about(project: &Project, question: &Question) -> bool {
    let name = |path: Option<&Path>| {
        let name = path.and_then(Path::file_name).unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    let folder = name(Some(&project.root));
    let owner = name(project.root.parent());
    let is_this_project =
        |named: &str| named.replace('/', "+") == folder || named == format!("{owner}/{folder}");
    question.project.as_deref().is_none_or(is_this_project)
}

fn normalised(text: &str) -> String {
    let plain = text.replace(['*', '`'], "").to_lowercase();
    one_line(&plain)
}

/// Returns the mean over all questions; a question without an answer counts as 0.
fn mean(ranks: &[Option<usize>], score: impl Fn(usize) -> f64) -> f64 {
    let sum: f64 = ranks.iter().flatten().map(|rank| score(*rank)).sum();
    sum / to_f64(ranks.len().max(1))
}
