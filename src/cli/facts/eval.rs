//! `annals facts eval`

use std::io;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::cli::facts::FactsContext;
use crate::cli::print::show_silence;
use crate::error::{Error, Result};
use crate::facts;
use crate::facts::{Evaluation, Interval};
use crate::storage::read;

/// Measure retrieval on a dataset of questions with known answers
///
/// Each line of the dataset is a JSON object: an item (kind, id, group, text, ts, prev, next) or a query
/// (kind, id, group, text, category, relevant). The items go into a temporary database; every query is asked
/// by words, by meaning, and by two combinations of both.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts eval questions.jsonl --json")]
pub(crate) struct EvalArgs {
    /// The dataset: JSON Lines
    #[arg(value_name = "DATASET")]
    dataset: PathBuf,
    /// Also ask each question in every other group, which has no answer to it
    #[arg(long)]
    silence: bool,
}

pub(crate) fn run(args: &EvalArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let dataset = read::lines(&args.dataset)?
        .ok_or_else(|| Error::not_found("there is no such dataset").at(&args.dataset, None))?;
    let embedder = facts::embedder(context.project)?;
    let evaluation = facts::evaluate(dataset, &args.dataset, &embedder, args.silence)?;
    context.out.result(&evaluation, show)
}

fn show(evaluation: &Evaluation, to: &mut dyn Write) -> io::Result<()> {
    let mut set = "";
    for row in &evaluation.rows {
        if row.set != set {
            set = row.set;
            writeln!(to, "{set}: {} queries; deltas to lexical with 95 % intervals", row.queries)?;
            writeln!(
                to,
                "  {:8}{:>7}{:>7}{:>7}{:>7}{:>9}  {:24}delta MRR",
                "method", "R@5", "R@10", "R@20", "MRR", "nDCG@10", "delta R@10"
            )?;
        }
        let mean = &row.mean;
        let [r_at_5, r_at_10, r_at_20, mrr, ndcg] =
            [mean.r_at_5, mean.r_at_10, mean.r_at_20, mean.mrr, mean.ndcg_at_10].map(percent);
        writeln!(
            to,
            "  {:8}{r_at_5:>7}{r_at_10:>7}{r_at_20:>7}{mrr:>7}{ndcg:>9}  {:24}{}",
            row.method.as_str(),
            interval(row.delta.r_at_10),
            interval(row.delta.mrr)
        )?;
    }
    match &evaluation.silence {
        Some(silence) => show_silence(silence, to),
        None => Ok(()),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn interval(found: Interval) -> String {
    let [mean, low, high] = [found.mean, found.low, found.high].map(|share| share * 100.0);
    format!("{mean:+.1} [{low:+.1}, {high:+.1}]")
}
