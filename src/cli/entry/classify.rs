//! `annals entry classify`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::knowledge;
use crate::knowledge::{Classification, Confidence, yaml};
use crate::project::Project;

/// Propose where a finding belongs: an entry, the notepad or, for most, nowhere
///
/// Rules alone decide, and nothing is written.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals entry classify \"We chose SQLite because one file is enough\""
)]
pub(super) struct ClassifyArgs {
    /// What was found, in one sentence
    #[arg(allow_hyphen_values = true)]
    finding: String,
}

pub(super) fn run(args: &ClassifyArgs, project: &Project, out: &mut Output) -> Result<()> {
    let classification = knowledge::classify(project, &args.finding)?;
    out.result(&classification, show)
}

fn show(classification: &Classification, to: &mut dyn Write) -> io::Result<()> {
    let proposed = &classification.proposed;
    let entry_type = proposed.entry_type.map_or("null", |one| one.as_str());
    let key = proposed.key.as_deref().map(yaml::scalar);
    let key = key.unwrap_or_else(|| "null".to_owned());
    let finding = yaml::quoted(&classification.finding);
    let tags = proposed.tags.iter().map(|tag| yaml::scalar(tag));
    writeln!(to, "finding: {finding}")?;
    writeln!(to, "proposed:")?;
    writeln!(to, "  surface: {}", proposed.surface.as_str())?;
    writeln!(to, "  key: {key}")?;
    writeln!(to, "  type: {entry_type}")?;
    writeln!(to, "  tags: {}", yaml::list(tags))?;
    writeln!(to, "  confidence: {}", Confidence::as_str(proposed.confidence))?;
    writeln!(to, "  reason: {}", yaml::scalar(&proposed.reason))
}
