//! `annals facts metrics`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::FactsContext;
use crate::error::Result;
use crate::facts;
use crate::facts::{Metrics, Share};
use crate::text::quantity;

/// Show how well a user's facts were found, judged and used in the last days
///
/// A fact counts as used when a judged turn was about it. Overwrites and questions count for the day on
/// which they came up.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts metrics --user ada --days 7")]
pub(crate) struct MetricsArgs {
    /// Number of days, including today
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    days: u32,
}

pub(crate) fn run(args: &MetricsArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let store = context.read()?;
    let metrics = facts::metrics(&store, &user, args.days)?;
    context.out.result(&metrics, show)
}

fn show(metrics: &Metrics, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "{} to {}", metrics.since, metrics.until)?;
    for (name, share) in [
        ("lexical hit rate", metrics.lexical_hits),
        ("vector hit rate", metrics.vector_hits),
        ("hybrid recall at 20", metrics.hybrid_recall),
        ("wrong overwrites", metrics.wrong_overwrites),
        ("pending resolved", metrics.pending_resolved),
    ] {
        writeln!(to, "{name:<20}  {}", percentage(share))?;
    }
    let latency = metrics.observer_latency;
    let time = |time: Option<u64>| time.map_or("-".to_owned(), |time| format!("{time} ms"));
    writeln!(
        to,
        "{:<20}  p50 {}, p95 {} ({})",
        "observer latency",
        time(latency.p50_ms),
        time(latency.p95_ms),
        quantity(latency.turns, "turn")
    )?;
    let cost = metrics.injection;
    let mean = cost.mean.map_or("-".to_owned(), |mean| format!("{mean:.0}"));
    writeln!(
        to,
        "{:<20}  {mean} tokens per profile ({})",
        "injection cost",
        quantity(cost.profiles, "profile")
    )
}

fn percentage(share: Share) -> String {
    match share.rate {
        Some(rate) => format!("{:.1} % ({} of {})", rate * 100.0, share.part, share.of),
        None => "-".to_owned(),
    }
}
