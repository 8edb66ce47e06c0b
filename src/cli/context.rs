//! `annals context`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::context;
use crate::context::{Digest, DigestRequest};
use crate::error::Result;
use crate::project::Project;

/// Print what a new session needs to know, within a token budget
///
/// Position and next action, blockers, the notepad's priorities, the ledger's constraints, decisions,
/// relevant patterns that still hold, entries on the topic, and the user's facts. Says what was left out.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals context --budget 1000 --for \"offline sync\"")]
pub(crate) struct ContextArgs {
    /// Maximum number of tokens to print (estimated)
    #[arg(long, value_name = "TOKENS", default_value_t = context::BUDGET)]
    budget: usize,
    /// What the session is about [default: the current phase]
    #[arg(long = "for", value_name = "TEXT")]
    topic: Option<String>,
}

pub(crate) fn run(args: &ContextArgs, project: &Project, out: &mut Output) -> Result<()> {
    let request = DigestRequest {
        budget: args.budget,
        topic: args.topic.clone(),
        ..DigestRequest::default()
    };
    let digest = context::digest(project, &request)?;
    out.warnings(&digest.warnings);
    if digest.text.is_empty() {
        out.note("no memory here yet; `annals init` starts a plan, `annals entry write` stores a first entry");
    }
    out.result(&digest, show)
}

fn show(digest: &Digest, to: &mut dyn Write) -> io::Result<()> {
    write!(to, "{}", digest.text)
}
