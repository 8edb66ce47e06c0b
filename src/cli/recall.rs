//! `annals recall`

use std::io;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use crate::cli::output::Output;
use crate::cli::print::{NOTHING_RELEVANT, show_silence};
use crate::cli::value_enum::value_enum;
use crate::error::Result;
use crate::project::Project;
use crate::ranking::Relevance;
use crate::recall::{Evaluation, RecallHit, RecallQuery, Recalled, SourceName, evaluate, recall};
use crate::text::quantity;

/// Search everything the project remembers, by words and by meaning
///
/// The query is plain text: no character has a special meaning. The index in .annals/ is brought up to
/// date first; if you delete it, the next search rebuilds it.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals recall \"why do we lock the file before reading\" --in plan,patterns"
)]
pub(crate) struct RecallArgs {
    /// Search query
    #[arg(
        value_name = "QUERY",
        allow_hyphen_values = true,
        required_unless_present = "eval",
        conflicts_with = "eval"
    )]
    query: Option<String>,
    /// Maximum number of hits to print
    #[arg(long, value_name = "N", default_value = "10")]
    limit: NonZeroUsize,
    /// The stores to search [default: all]
    #[arg(long = "in", value_name = "STORES", value_delimiter = ',')]
    sources: Vec<SourceName>,
    /// Also show less relevant texts, each marked with its relevance
    #[arg(long)]
    all: bool,
    /// Do not have the encoder read the best texts: faster, and ranked by words and word vectors alone
    #[arg(long)]
    no_encoder: bool,
    /// Show the components of each score
    #[arg(long)]
    explain: bool,
    /// Measure the search on questions with known answers, one JSON object per line
    #[arg(long, value_name = "QUESTIONS")]
    eval: Option<PathBuf>,
    /// Also ask questions about other projects, which should find nothing
    #[arg(long, requires = "eval")]
    silence: bool,
}

value_enum!(SourceName);

pub(crate) fn run(args: &RecallArgs, project: &Project, out: &mut Output) -> Result<()> {
    if let Some(questions) = &args.eval {
        let measured = evaluate(project, questions, args.silence)?;
        out.warnings(&measured.warnings);
        return out.result(&measured.value, show_evaluation);
    }
    let mut query = RecallQuery::new(args.query.as_deref().unwrap_or_default())?;
    query.limit = args.limit.get();
    query.include_irrelevant = args.all;
    query.uses_encoder = !args.no_encoder;
    if !args.sources.is_empty() {
        query.sources.clone_from(&args.sources);
    }
    let mut found = recall(project, &query)?;
    if !args.explain {
        for hit in &mut found.value.hits {
            hit.parts = None;
        }
    }
    out.warnings(&found.warnings);
    out.result(&found.value, show)
}

fn show(found: &Recalled, to: &mut dyn Write) -> io::Result<()> {
    if found.hits.is_empty() && !found.truncated {
        return match found.withheld {
            0 => writeln!(to, "Nothing found."),
            _ => writeln!(to, "{NOTHING_RELEVANT}"),
        };
    }
    for (at, hit) in found.hits.iter().enumerate() {
        if at > 0 {
            writeln!(to)?;
        }
        show_hit(hit, to)?;
    }
    if found.truncated {
        writeln!(to, "\nMore results are available; raise --limit.")?;
    }
    Ok(())
}

fn show_hit(hit: &RecallHit, to: &mut dyn Write) -> io::Result<()> {
    let mut place = hit.file.clone().unwrap_or("your facts".to_owned());
    if let Some(line) = hit.line {
        place = format!("{place}:{line}");
    }
    let mut notes = vec![hit.source.as_str().to_owned()];
    notes.extend(hit.id.clone());
    notes.extend(hit.date.map(|date| date.to_string()));
    if hit.relevance == Relevance::Low {
        notes.push("low relevance".to_owned());
    }
    notes.extend(hit.flags.iter().map(|flag| flag.as_str().to_owned()));
    notes.push(format!("{:.2}", hit.score));
    writeln!(to, "{place} ({})", notes.join(", "))?;
    if !hit.headings.is_empty() {
        writeln!(to, "  {}", hit.headings.join(" > "))?;
    }
    for line in hit.snippet.lines() {
        writeln!(to, "    {line}")?;
    }
    for copy in &hit.copies {
        writeln!(to, "  also {copy}")?;
    }
    if let Some(parts) = &hit.parts {
        writeln!(
            to,
            "  (words {:.2} + meaning {:.2} + late {:.2} + encoder {:.2}) x {:.2} + neighbours {:.2} + recency {:.3}",
            parts.words,
            parts.meaning,
            parts.late,
            parts.encoder,
            parts.weight,
            parts.neighbours,
            parts.recency
        )?;
    }
    Ok(())
}

fn show_evaluation(measured: &Evaluation, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "{}; percent", quantity(measured.questions, "question"))?;
    writeln!(to, "{:8} {:>6} {:>6} {:>6}", "", "R@5", "R@10", "MRR")?;
    for row in &measured.rows {
        let method = row.method.as_str();
        let [five, ten, mrr] = [row.r_at_5, row.r_at_10, row.mrr].map(|share| share * 100.0);
        writeln!(to, "{method:8} {five:>6.1} {ten:>6.1} {mrr:>6.1}")?;
    }
    match &measured.silence {
        Some(silence) => show_silence(silence, to),
        None => Ok(()),
    }
}
