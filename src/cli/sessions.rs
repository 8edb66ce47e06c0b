//! `annals sessions`

use std::io;
use std::io::Write;
use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::cli::output::Output;
use crate::error::Result;
use crate::project::Project;
use crate::sessions;
use crate::sessions::{Finding, Session};
use crate::text::quantity;
use crate::warning::Warning;

/// Maximum number of files listed of a session; `--json` has more.
const MAX_FILES: usize = 4;

/// List this project's sessions with coding agents, from the clients' transcripts
///
/// Transcripts are read only after you have turned it on: `annals setup CLIENT --sessions`, or `sessions = true` in
/// your own config.toml. `annals recall --in sessions WORDS` searches them. docs/sessions.md says what is read.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals sessions --limit 5\n\
                        Example: annals sessions propose")]
pub(crate) struct SessionsArgs {
    /// What to do
    #[arg(value_name = "ACTION", default_value = "list", hide_default_value = true)]
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
        return out.result(&Forgotten { removed, off: args.off }, show_forgotten);
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
        return out.result(&Proposals { proposed }, show_proposals);
    }
    out.result(&SessionList { sessions: read, more }, show)
}

fn show(list: &SessionList, to: &mut dyn Write) -> io::Result<()> {
    if list.sessions.is_empty() {
        return writeln!(to, "No sessions of this project were found.");
    }
    for row in &list.sessions {
        let date = row.date.map_or("unknown date".to_owned(), |date| date.to_string());
        writeln!(to, "{date}  {}  {}", row.client.title(), row.session.as_deref().unwrap_or("-"))?;
        if let Some(question) = &row.question {
            writeln!(to, "    {question}")?;
        }
        if !row.files.is_empty() {
            let first: Vec<&str> = row.files.iter().take(MAX_FILES).map(String::as_str).collect();
            let more = row.files.len() - first.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            writeln!(to, "    wrote {}{more}", first.join(", "))?;
        }
        if row.broken > 0 {
            let records = quantity(row.broken, "broken or overlong record");
            writeln!(to, "    {records} left out")?;
        }
        if let Some(resume) = &row.resume {
            writeln!(to, "    {resume}")?;
        }
    }
    if list.more > 0 {
        writeln!(to, "{}; raise --limit.", quantity(list.more, "older session"))?;
    }
    Ok(())
}

fn show_proposals(proposals: &Proposals, to: &mut dyn Write) -> io::Result<()> {
    if proposals.proposed.is_empty() {
        return writeln!(
            to,
            "Nothing in these sessions is worth an entry, by the rules of `annals entry classify`."
        );
    }
    for finding in &proposals.proposed {
        let date = finding.date.map_or(String::new(), |date| format!("{date}, "));
        let session = finding.session.as_deref().unwrap_or("-");
        writeln!(to, "{date}{session} ({})", finding.proposed.reason)?;
        finding.finding.lines().try_for_each(|line| writeln!(to, "    {line}"))?;
    }
    writeln!(to, "Nothing was written: `annals remember TEXT` keeps what is true and lasts.")
}

fn show_forgotten(done: &Forgotten, to: &mut dyn Write) -> io::Result<()> {
    match (done.off, done.removed) {
        (true, _) => writeln!(to, "Transcripts are no longer read; the indexes of them are gone."),
        (false, true) => writeln!(
            to,
            "The index of this project's sessions is gone; the next search builds it again."
        ),
        (false, false) => writeln!(to, "There is no index of this project's sessions."),
    }
}
