//! `annals facts`

#![expect(clippy::doc_markdown, reason = "help shows the examples as they stand")]

mod queue;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli::facts::queue::{observe, turns, work};
use crate::cli::input::stdin_text;
use crate::cli::output::Output;
use crate::cli::render::text;
use crate::cli::value_enum;
use crate::error::{Error, Result};
use crate::facts::{
    Category, FactFilter, FactQuery, FactStatus, Facts, Purpose, Selection, Statement, TurnStatus,
    UserId,
};
use crate::project::Project;
use crate::search::{Encoder, NO_WORDS};
use crate::storage::read;
use crate::text::quantity;
use crate::{facts, share};

/// Maximum number of bytes read from standard input.
const MAX_INPUT_BYTES: u64 = 256 << 20;

value_enum!(Category);
value_enum!(FactStatus);
value_enum!(TurnStatus);

/// Keep long-lived facts about users, and resolve conflicts between them
///
/// Facts live in one database per person and machine: `db` in the user's own settings, else mem.db in
/// the data folder.
///
/// Example: annals facts add --key preference.editor --value helix --user ada
#[derive(Args, Debug)]
pub(crate) struct FactsArgs {
    /// Whose facts [default, except for `forget`: the setting `user`, else the system's user name]
    #[arg(long, value_name = "ID", global = true)]
    user: Option<String>,
    /// The database [default: the setting `db`, else mem.db in the data folder]
    #[arg(long, value_name = "FILE", global = true)]
    db: Option<PathBuf>,
    #[command(subcommand)]
    command: FactsCommand,
}

#[derive(Debug, Subcommand)]
enum FactsCommand {
    Add(AddArgs),
    List(ListArgs),
    Retrieve(RetrieveArgs),
    Inject(InjectArgs),
    /// Mark a fact as confirmed by the user: its confidence is 1.00 from then on
    ///
    /// A pending fact takes effect; one that was superseded or expired becomes active again. With --reject, a
    /// pending fact is dropped, and an active one ends.
    ///
    /// Example: annals facts confirm 4f2c81d0 --user ada
    Confirm {
        /// The fact's id, or the beginning of it
        id: String,
        /// The user rejected it
        #[arg(long)]
        reject: bool,
        /// Why it is rejected
        #[arg(long, value_name = "TEXT", default_value = "rejected", requires = "reject")]
        reason: String,
    },
    Forget(ForgetArgs),
    /// Queue a finished turn of a conversation for the memory auditor
    ///
    /// Reads one JSON object: `user_input`, and if known `assistant_response`, `turn_id`, `timestamp`,
    /// `user_id`, `session_id`, `project`. It is only queued; `annals facts work` judges it.
    ///
    /// Example: echo '{"user_input": "I moved to Turin"}' | annals facts observe --user ada
    Observe {
        /// The turn's id: repeating it returns the first answer and writes nothing
        #[arg(long, value_name = "ID")]
        request_id: Option<String>,
        /// Keep text that looks like a secret instead of removing it
        #[arg(long)]
        allow_secret: bool,
    },
    Turns(TurnsArgs),
    Work(WorkArgs),
    /// Print all facts of a user as JSON Lines, archived ones too
    ///
    /// Example: annals facts export --user ada > ada.jsonl
    Export,
    /// Import facts about a user from standard input, one JSON object per line; overwrites nothing
    ///
    /// Known facts are left unchanged. A fact that contradicts a current one waits for confirmation.
    ///
    /// Example: annals facts import --user ada < ada.jsonl
    Import {
        /// Keep a value that looks like a secret
        #[arg(long)]
        allow_secret: bool,
    },
    /// Check the database: pages and indexes, the history, and orphaned rows; exits with 1 on a problem
    ///
    /// Example: annals facts check
    Check,
    /// Show how well a user's facts were found, judged and used in the last days
    ///
    /// A fact counts as used when a judged turn was about it. Overwrites and questions count for the day on
    /// which they came up.
    ///
    /// With --eval, measures retrieval instead. Each line of the dataset is a JSON object: an item (kind, id,
    /// group, text, ts, prev, next) or a query (kind, id, group, text, category, relevant). The items go into a
    /// temporary database; every query is asked by words, by meaning, and by two combinations of both.
    ///
    /// Example: annals facts metrics --user ada --days 7
    Metrics {
        /// Number of days, including today
        #[arg(long, value_name = "N", default_value = "30")]
        days: NonZeroU32,
        /// Measure retrieval on a dataset of questions with known answers: JSON Lines
        #[arg(long, value_name = "DATASET")]
        eval: Option<PathBuf>,
    },
}

/// Add a fact directly
///
/// The same value confirms the existing fact, a new key inserts one, a value that contains the whole old
/// one refines it, and any other contradicts it: then the old fact is superseded. If it is established or
/// high-risk, a new value waits for `annals facts confirm`.
///
/// Example: annals facts add --key preference.editor --value helix --user ada
#[derive(Args, Debug)]
struct AddArgs {
    #[command(flatten)]
    statement: Statement,
}

/// List a user's facts by key: id, confidence, key and value
///
/// Active and pending facts, unless you ask for others. With ID, everything about one fact.
///
/// Example: annals facts list --user ada --key preference.
#[derive(Args, Debug)]
struct ListArgs {
    /// One fact, by its id or the beginning of it; with --history also by its key
    #[arg(conflicts_with_all = ["pending", "profile", "stored"])]
    id: Option<String>,
    /// Facts that await the user's confirmation, with a question if one is worth asking
    #[arg(long)]
    pending: bool,
    /// Every change, with the fact before and after
    #[arg(long, conflicts_with = "pending")]
    history: bool,
    /// The current facts by category, with confidence and times
    #[arg(long, conflicts_with_all = ["pending", "history"])]
    profile: bool,
    /// The profile that the worker last built, instead of the current facts
    #[arg(long, requires = "profile", conflicts_with = "of_project")]
    stored: bool,
    /// Every status, including superseded and expired
    #[arg(long, conflicts_with = "status")]
    all: bool,
    /// Only this status
    #[arg(long)]
    status: Option<FactStatus>,
    #[command(flatten)]
    filter: FactFilter,
}

/// Find a user's facts by words and by meaning, the best first
///
/// The query is plain text: no character has a special meaning. The three nearest facts are always shown,
/// marked `low relevance` where little speaks for them; further ones only if they have to do with the query. If
/// vectors are not available, the search uses words alone and the answer is marked `degraded`.
///
/// Example: annals facts retrieve --user ada --query "which editor" --explain
#[derive(Args, Debug)]
struct RetrieveArgs {
    /// Search query
    #[arg(long, value_name = "TEXT")]
    query: String,
    /// Maximum number of facts to print
    #[arg(long, value_name = "N", default_value = "10")]
    limit: NonZeroUsize,
    /// Also show less relevant facts, each marked with its relevance
    #[arg(long)]
    all: bool,
    /// Show the components of each score
    #[arg(long)]
    explain: bool,
    /// Include facts that belong to this project
    #[arg(long, value_name = "NAME")]
    of_project: Option<String>,
    /// Do not have the encoder read the best facts
    #[arg(long)]
    no_encoder: bool,
}

/// Print a user's facts for the next prompt, within a budget of tokens
///
/// Constraints come first, then current tasks, then preferences; in each of these, stale and uncertain facts
/// are left out first. With a query, prints only facts relevant to it, hard preferences, and facts about health.
///
/// Example: annals facts inject --user ada --budget 300 --query 'set up the editor'
#[derive(Args, Debug)]
struct InjectArgs {
    /// Maximum number of tokens to print
    #[arg(long, value_name = "TOKENS", default_value_t = 500)]
    budget: usize,
    /// What the next prompt is about
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
    /// Include facts that belong to this project
    #[arg(long, value_name = "NAME")]
    of_project: Option<String>,
}

/// Erase a user's facts for good, all or those under one key
///
/// Erases facts, archive, history, indexes, vectors and the turns that mention them, and rewrites the file:
/// no byte remains. One line records when, how many and why. This cannot be undone, so --user must be given. If the
/// vectors are on a Chroma server, it is asked to erase them; if it does not, the exit code is 1 and `annals facts work`
/// repeats the request.
/// If the database is shared, the facts are erased on the server at once, and on each other device at its
/// next sync.
///
/// Example: annals facts forget --user ada --key home.address --reason 'asked to'
#[derive(Args, Debug)]
struct ForgetArgs {
    /// Only the facts under this key
    #[arg(long)]
    key: Option<String>,
    /// Why; any forgotten text is removed from it
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// List a user's turns in the queue: pending, running, done, and dead ones with the reason
///
/// With --prompt, prints the memory auditor's prompt for a turn: the old facts and the new input. With --apply,
/// applies the answer to it, all of its actions or none: the rules decide what each action does, whatever it
/// claims. Repeating the same answer changes nothing and returns the first result.
///
/// Example: annals facts turns --user ada --status dead
///
/// Example: annals facts turns 7f3a --apply --user ada < actions.json
#[derive(Args, Debug)]
struct TurnsArgs {
    /// The id of one turn
    #[arg(requires = "what")]
    turn: Option<String>,
    /// Only this status
    #[arg(long, conflicts_with = "turn")]
    status: Option<TurnStatus>,
    /// Print the auditor's prompt for the turn
    #[arg(long, requires = "turn", group = "what")]
    prompt: bool,
    /// Apply the auditor's answer, JSON on standard input
    #[arg(long, requires = "turn", group = "what")]
    apply: bool,
    /// Keep a value that looks like a secret
    #[arg(long, requires = "apply")]
    allow_secret: bool,
}

/// Judge the queued turns, expire facts whose time is over, rebuild profiles, update vector servers
///
/// The auditor is the command that the user's setting `llm.command` names, with the prompt on its standard
/// input. An invalid answer is requested again, up to three times in all; then the turn is marked dead, and the
/// last answer is kept. Without an auditor, the turns wait for `annals facts turns TURN --apply`. With --user, only
/// the turns of that user are judged, else those of all.
///
/// Example: ANNALS_LLM_COMMAND='claude -p' annals facts work --once
#[derive(Args, Debug)]
struct WorkArgs {
    /// End when the queue is empty; this is the default
    #[arg(long, conflicts_with = "watch")]
    once: bool,
    /// Keep running and judge turns as they come; with --json, prints one JSON line per turn
    #[arg(long)]
    watch: bool,
    /// Only archive superseded and expired facts that were last changed this many days ago
    ///
    /// They leave the searched table; `export` and `list --history` still have them. Without this option, the
    /// same is done after 90 days.
    #[arg(long, value_name = "DAYS", conflicts_with_all = ["once", "watch"])]
    archive: Option<u32>,
}

/// The context of a facts command.
struct Context<'a> {
    args: &'a FactsArgs,
    project: &'a Project,
    out: &'a mut Output,
}

/// Returns the user that a command applies to; says so once if that is the system's.
pub(crate) fn user(
    named: Option<&str>,
    db: Option<&Path>,
    project: &Project,
    out: &mut Output,
) -> Result<UserId> {
    let (user, is_systems) = facts::user_or_systems(project, named)?;
    if is_systems && facts::is_unknown(&Facts::open(project, db, Purpose::Read)?, &user)? {
        out.note(&format!(
            "facts of {user}, the system's user name; `recall` and sessions read them once ANNALS_USER or `user` in your own config.toml is set"
        ));
    }
    Ok(user)
}

impl Context<'_> {
    fn user(&mut self) -> Result<UserId> {
        user(self.args.user.as_deref(), self.args.db.as_deref(), self.project, self.out)
    }

    fn read(&self) -> Result<Facts> {
        Facts::open(self.project, self.args.db.as_deref(), Purpose::Read)
    }

    /// Opens the database for a change; a dry run says that none is written.
    fn write(&mut self) -> Result<Facts> {
        self.out.preface(self.project);
        Facts::open(self.project, self.args.db.as_deref(), Purpose::Write)
    }
}

pub(crate) fn run(args: &FactsArgs, project: &Project, out: &mut Output) -> Result<()> {
    let context = &mut Context { args, project, out };
    match &args.command {
        FactsCommand::Add(args) => {
            let user = context.user()?;
            let added = facts::add(&context.write()?, &user, &args.statement)?;
            context.out.show(&added, text!("facts/effect"))
        }
        FactsCommand::List(args) => list(args, context),
        FactsCommand::Retrieve(args) => retrieve(args, context),
        FactsCommand::Inject(args) => inject(args, context),
        FactsCommand::Confirm { id, reject, reason } => {
            let (user, store) = (context.user()?, context.write()?);
            let rejection = reject.then_some(reason.as_str());
            let answered = facts::answer(&store, &user, id, rejection)?;
            context.out.show(&answered, text!("facts/effect"))
        }
        FactsCommand::Forget(args) => forget(args, context),
        FactsCommand::Observe { request_id, allow_secret } => {
            observe(request_id.as_ref(), *allow_secret, context)
        }
        FactsCommand::Turns(args) => turns(args, context),
        FactsCommand::Work(args) => work(args, context),
        FactsCommand::Export => {
            let user = context.user()?;
            for fact in facts::export(&context.read()?, &user)? {
                context.out.json_line(&fact);
            }
            Ok(())
        }
        FactsCommand::Import { allow_secret } => {
            let (user, lines) = (context.user()?, input()?);
            let (store, policy) = (context.write()?, (*allow_secret).into());
            let imported = facts::import(&store, &user, &lines, policy)?;
            context.out.show(
                &imported,
                "{{ imported }} imported, {{ pending }} of them pending, {{ known }} already known\n",
            )
        }
        FactsCommand::Check => {
            let found = facts::check(&context.read()?)?;
            let end = match found.problems.len() {
                0 => Ok(()),
                some => {
                    let problems = quantity(some, "problem");
                    Err(Error::failed(format!("{problems} in the database of facts")))
                }
            };
            context.out.show_until(&found, &(), text!("facts/check"), end)
        }
        FactsCommand::Metrics { eval: Some(dataset), .. } => {
            let lines = read::lines(dataset)?
                .ok_or_else(|| Error::not_found("there is no such dataset").about(dataset))?;
            let embedder = facts::embedder(context.project)?;
            let evaluation = facts::evaluate(lines, dataset, &embedder)?;
            context.out.show(&evaluation, text!("facts/eval"))
        }
        FactsCommand::Metrics { days, .. } => {
            let user = context.user()?;
            let metrics = facts::metrics(&context.read()?, &user, days.get())?;
            context.out.show(&metrics, text!("facts/metrics"))
        }
    }
}

/// Reads all of standard input.
fn input() -> Result<String> {
    stdin_text(MAX_INPUT_BYTES, "read standard input")
}

fn list(args: &ListArgs, context: &mut Context<'_>) -> Result<()> {
    let (user, store) = (context.user()?, context.read()?);
    let out = &mut *context.out;
    if args.history {
        let changes = facts::history(&store, &user, args.id.as_deref())?;
        return out.show(&json!({ "changes": changes }), text!("facts/history"));
    }
    if let Some(id) = &args.id {
        return out.show(&facts::find(&store, &user, id)?, text!("facts/fact"));
    }
    if args.pending {
        return out
            .show(&json!({ "pending": facts::pending(&store, &user)? }), text!("facts/pending"));
    }
    if args.stored {
        let built = facts::stored_profile(&store, &user)?.ok_or_else(|| {
            Error::not_found(format!("no profile of {user} has been built yet")).hint(
                "`annals facts work` builds it; without --stored, the current facts are shown",
            )
        })?;
        return out.show(&built, text!("facts/profile"));
    }
    if args.profile {
        let built = facts::profile(&store, &user, args.filter.of_project.as_deref())?;
        return out.show(&built, text!("facts/profile"));
    }
    let statuses = match (args.all, args.status) {
        (true, _) => Vec::new(),
        (_, Some(status)) => vec![status],
        (_, None) => vec![FactStatus::Active, FactStatus::PendingConfirmation],
    };
    let filter = FactFilter { statuses, ..args.filter.clone() };
    out.show(&facts::list(&store, &user, &filter)?, text!("facts/list"))
}

fn retrieve(args: &RetrieveArgs, context: &mut Context<'_>) -> Result<()> {
    let user = context.user()?;
    let mut query = FactQuery::new(context.project, &args.query, args.limit.get());
    query.project.clone_from(&args.of_project);
    query.uses_encoder &= !args.no_encoder;
    if args.all {
        query.selection = Selection::All;
    }
    let embedder = facts::embedder(context.project)?;
    let found = facts::retrieve(&context.read()?, &user, &query, &embedder)?;
    if let Some(because) = &found.degraded_because {
        context.out.note(&format!("searched by words only: {because}"));
    }
    if query.uses_encoder && Encoder::built_in().is_none() {
        context.out.note(Encoder::DAMAGED);
    }
    let template = if args.explain { text!("facts/explained") } else { text!("facts/found") };
    context.out.show_with(&found, &json!({"no_words": NO_WORDS}), template)
}

fn inject(args: &InjectArgs, context: &mut Context<'_>) -> Result<()> {
    let (user, store) = (context.user()?, context.read()?);
    let encoder = context.project.settings.encoder;
    let InjectArgs { budget, query, of_project } = args;
    let (query, of_project) = (query.as_deref(), of_project.as_deref());
    let injection = facts::inject(&store, &user, of_project, *budget, query, encoder)?;
    context.out.show(&injection, "{{ text }}")?;
    // The text is printed in any case; a failure to count it is only reported.
    if let Err(error) = facts::count_injection(&store, &user, injection.tokens) {
        context.out.note(&format!("not counted in `annals facts metrics`: {error}"));
    }
    let left_out = quantity(injection.left_out, "fact");
    let (tokens, budget) = (injection.tokens, injection.budget);
    context.out.note(&format!("{tokens} of {budget} tokens, {left_out} left out"));
    Ok(())
}

fn forget(args: &ForgetArgs, context: &mut Context<'_>) -> Result<()> {
    if context.args.user.is_none() {
        // An irreversible command must name the user explicitly, rather than rely on a setting. An example in the hint
        // would lack the key that was typed, and erase every fact.
        return Err(Error::usage("forget needs --user")
            .hint("repeat the command as it is, with `--user ID` added"));
    }
    let (user, store) = (context.user()?, context.write()?);
    let (forgotten, server_error) =
        share::forget(context.project, &store, &user, args.key.as_deref(), &args.reason)?;
    if let Some(why) = server_error {
        let later = "the other devices learn of it at the next `annals share sync`";
        context.out.note(&format!("{later}: {why}"));
    }
    let end = match forgotten.remaining {
        0 => Ok(()),
        left => {
            let (left, why) = (quantity(left, "vector"), forgotten.last_error.as_deref());
            let what = format!(
                "forgotten in the database, but {left} may still be on the Chroma server: {}",
                why.unwrap_or("it was asked before, and is asked again later")
            );
            Err(Error::failed(what)
                .hint("`annals facts work` repeats the request until it is done"))
        }
    };
    context.out.show_until(&forgotten, &(), text!("facts/erased"), end)
}
