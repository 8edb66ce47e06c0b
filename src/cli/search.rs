//! `annals recall`, `annals context` and `annals sessions`

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};

use serde_json::json;

use crate::cli::output::Output;
use crate::cli::render::text;
use crate::cli::style::head_style;
use crate::cli::value_enum;
use crate::context::DigestRequest;
use crate::error::Result;
use crate::project::Project;
use crate::recall::{RecallQuery, SourceName, recall};
use crate::search::NO_WORDS;

use crate::warning::Warning;
use crate::{context, knowledge, sessions};

/// Search everything the project remembers, by words and by meaning
///
/// The query is plain text: no character has a special meaning, and no quotes are needed. The index in .annals/ is
/// brought up to date first; if you delete it, the next search rebuilds it.
///
/// Example: annals recall why do we lock the file before reading --in plan,patterns
#[derive(Args, Debug)]
pub(crate) struct RecallArgs {
    /// What to look for, in plain words
    #[arg(required = true)]
    words: Vec<String>,
    /// Maximum number of hits to print
    #[arg(long, value_name = "N", default_value = "10")]
    limit: NonZeroUsize,
    /// The stores to search [default: all but sessions, which you turn on with `annals setup CLIENT --sessions`]
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
}

value_enum!(SourceName);

/// Print what a new session needs to know, within a token budget
///
/// Position and next action, blockers, the notepad's priorities, the ledger's constraints, decisions,
/// relevant patterns that still hold, the newest and most cited entries, and the user's facts. Says what was left
/// out. With --for, the entries that answer, with their text.
///
/// Example: annals context --budget 1000 --for "offline sync"
#[derive(Args, Debug)]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    request: DigestRequest,
}

pub(crate) fn context(args: &ContextArgs, project: &Project, out: &mut Output) -> Result<()> {
    let digest = context::digest(project, &args.request)?;
    out.warnings(&digest.warnings);
    if digest.text.is_empty() {
        out.note(match (context::has_memory(project), &args.request.topic) {
            (true, Some(_)) => {
                "nothing remembered answers it; without --for, `annals context` prints what each session reads"
            }
            (true, None) => "nothing remembered here is read by each session; `annals status` says what there is",
            (false, _) => {
                "no memory here yet; `annals remember TEXT` stores a first entry, `annals init` starts a plan"
            }
        });
    }
    out.show(&digest, "{{ text }}")
}

pub(crate) fn run(args: &RecallArgs, project: &Project, out: &mut Output) -> Result<()> {
    let mut query = RecallQuery::new(&args.words.join(" "))?;
    query.limit = args.limit.get();
    query.include_irrelevant = args.all;
    query.uses_encoder = !args.no_encoder;
    if !args.sources.is_empty() {
        query.sources.clone_from(&args.sources);
    }
    let mut found = out.understood(recall(project, &query)?);
    if !args.explain {
        for hit in found.hits.iter_mut().chain(&mut found.nearest) {
            hit.parts = None;
        }
    }
    out.paint = head_style;
    let mut hints = Vec::from_iter(knowledge::entries_of_repository(project));
    if !(project.settings.sessions.is_empty() || query.sources.contains(&SourceName::Sessions)) {
        hints.push("`annals recall --in sessions WORDS` searches earlier sessions".to_owned());
    }
    out.show_with(&found, &json!({"no_words": NO_WORDS, "hints": hints}), text!("recall"))
}

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
    action: SessionsAction,
    /// Maximum number of sessions to read, the newest first
    #[arg(long, value_name = "N", default_value = "20")]
    limit: NonZeroUsize,
    /// Turn the reading of transcripts off, and remove the indexes of all projects
    #[arg(long)]
    off: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SessionsAction {
    /// List them: date, client, first question and the files they wrote
    List,
    /// Print what may be worth an entry, for `annals remember`; nothing is written
    Propose,
    /// Remove the index of this project's sessions; the transcripts stay
    Forget,
}

pub(crate) fn sessions(args: &SessionsArgs, project: &Project, out: &mut Output) -> Result<()> {
    if args.off || args.action == SessionsAction::Forget {
        if args.off {
            sessions::switch(project, &[])?;
        }
        let removed = sessions::forget(project, args.off)?;
        out.preface(project);
        return out
            .show(&json!({ "removed": removed, "off": args.off }), text!("sessions/forgotten"));
    }
    sessions::ensure_on(project)?;
    let found = sessions::transcripts(project);
    out.warnings(&found.warnings);
    let newest = &found.newest[..found.newest.len().min(args.limit.get())];
    let more = found.newest.len() - newest.len() + found.left_out;
    let mut read = Vec::new();
    for transcript in newest {
        match sessions::read(transcript) {
            Ok(session) => read.extend(session),
            Err(error) => out.warnings(&[Warning::file(&transcript.path, error.reason())]),
        }
    }
    read.retain(|session| !session.units.is_empty() || session.broken > 0);
    if args.action == SessionsAction::Propose {
        let proposed = sessions::propose(project, &read)?;
        return out.show(&json!({ "proposed": proposed }), text!("sessions/proposed"));
    }
    let titles: Vec<_> = read.iter().map(|one| one.client.title()).collect();
    let titles = json!({ "titles": titles });
    out.show_with(&json!({ "sessions": read, "more": more }), &titles, text!("sessions/list"))
}
