//! `annals sessions`

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::json;

use crate::cli::output::Output;
use crate::cli::text::text;
use crate::error::Result;
use crate::project::Project;
use crate::sessions;
use crate::sessions::{Finding, Session};
use crate::warning::Warning;

/// List this project's sessions with coding agents, from the clients' transcripts
///
/// Transcripts are read only after you have turned it on: `annals setup CLIENT --sessions`, or `sessions = true` in
/// your own config.toml. `annals recall --in sessions WORDS` searches them. docs/sessions.md says what is read.
///
/// Example: annals sessions --limit 5
///
/// Example: annals sessions propose
#[derive(Args, Debug)]
pub(crate) struct SessionsArgs {
    /// What to do
    #[arg(default_value = "list", hide_default_value = true)]
    action: Action,
    /// Maximum number of sessions to read, the newest first
    #[arg(long, value_name = "N", default_value = "20")]
    limit: NonZeroUsize,
    /// Turn the reading of transcripts off, and remove the indexes of all projects
    #[arg(long)]
    off: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Action {
    /// List them: date, client, first question and the files they wrote
    List,
    /// Print what may be worth an entry, for `annals remember`; nothing is written
    Propose,
    /// Remove the index of this project's sessions; the transcripts stay
    Forget,
}

/// The document of `annals sessions --json`.
#[derive(Debug, Serialize)]
struct SessionList {
    sessions: Vec<Session>,
    /// Number of older ones.
    more: usize,
}

/// The document of `annals sessions propose --json`.
#[derive(Debug, Serialize)]
struct Proposals {
    proposed: Vec<Finding>,
}

/// The document of `annals sessions forget --json`, and of `--off`.
#[derive(Debug, Serialize)]
struct Forgotten {
    removed: bool,
    off: bool,
}

pub(crate) fn run(args: &SessionsArgs, project: &Project, out: &mut Output) -> Result<()> {
    if args.off || args.action == Action::Forget {
        if args.off {
            sessions::switch(project, &[])?;
        }
        let removed = sessions::forget(project, args.off)?;
        return out.show(&Forgotten { removed, off: args.off }, text!("sessions/forgotten"));
    }
    sessions::ensure_on(project)?;
    let found = sessions::transcripts(project);
    out.warnings(&found.warnings);
    let newest = &found.newest[..found.newest.len().min(args.limit.get())];
    let more = found.newest.len() - newest.len() + found.left_out;
    let mut read = Vec::new();
    for transcript in project.progress.track("Reading", newest) {
        match sessions::read(transcript) {
            Ok(session) => read.extend(session),
            Err(error) => out.warnings(&[Warning::file(&transcript.path, error.reason())]),
        }
    }
    read.retain(|session| !session.units.is_empty() || session.broken > 0);
    if args.action == Action::Propose {
        let proposed = sessions::propose(project, &read)?;
        return out.show(&Proposals { proposed }, text!("sessions/proposed"));
    }
    let titles: Vec<&str> = read.iter().map(|one| one.client.title()).collect();
    let titles = json!({ "titles": titles });
    out.show_with(&SessionList { sessions: read, more }, &titles, text!("sessions/list"))
}
