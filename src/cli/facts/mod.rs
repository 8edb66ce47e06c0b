//! `annals facts`

mod add;
mod apply;
mod archive;
mod check;
mod confirm;
mod eval;
mod export;
mod forget;
mod history;
mod import;
mod inject;
mod list;
mod metrics;
mod observe;
mod pending;
mod profile;
mod prompt;
mod retrieve;
mod show;
mod turns;
mod work;

use std::io;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::output::Output;
use crate::cli::stdin;
use crate::error::{Error, Result};
use crate::facts;
use crate::facts::{Fact, FactStatus, Facts, Purpose, Remaining, UserId};
use crate::project::Project;
use crate::text::quantity;

/// Keep long-lived facts about users, and resolve conflicts between them
///
/// Facts live in one database per person and machine: `db` in the user's own settings, else mem.db in
/// the data folder.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals facts add --key preference.editor --value helix --user ada"
)]
pub(crate) struct FactsArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(subcommand)]
    command: FactsCommand,
}

/// Whose facts, in which database
#[derive(Args, Debug)]
pub(crate) struct DatabaseArgs {
    /// Whose facts [default: the setting `user`, else the system's user name]
    #[arg(long, value_name = "ID", global = true)]
    user: Option<String>,
    /// The database [default: the setting `db`, else mem.db in the data folder]
    #[arg(long, value_name = "FILE", global = true)]
    db: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum FactsCommand {
    Add(add::AddArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    History(history::HistoryArgs),
    Observe(observe::ObserveArgs),
    Turns(turns::TurnsArgs),
    Prompt(prompt::PromptArgs),
    Apply(apply::ApplyArgs),
    Work(work::WorkArgs),
    /// List facts that await the user's confirmation, with a question if one is worth asking
    #[command(after_help = "Example: annals facts pending --user ada")]
    Pending,
    Confirm(confirm::ConfirmArgs),
    Reject(confirm::RejectArgs),
    Profile(profile::ProfileArgs),
    Inject(inject::InjectArgs),
    /// Print all facts of a user as JSON Lines, archived ones too
    #[command(after_help = "Example: annals facts export --user ada > ada.jsonl")]
    Export,
    Import(import::ImportArgs),
    /// Check the database: pages and indexes, the history, and orphaned rows; exits with 1 on a problem
    #[command(after_help = "Example: annals facts check")]
    Check,
    Archive(archive::ArchiveArgs),
    Forget(forget::ForgetArgs),
    Retrieve(retrieve::RetrieveArgs),
    Metrics(metrics::MetricsArgs),
    Eval(eval::EvalArgs),
}

pub(crate) fn run(args: &FactsArgs, project: &Project, out: &mut Output) -> Result<()> {
    let context = &mut FactsContext { database: &args.database, project, out };
    if project.dry_run && args.command.writes() {
        context.out.preface("Would be done (dry run, nothing is written):");
    }
    match &args.command {
        FactsCommand::Add(args) => add::run(args, context),
        FactsCommand::List(args) => list::run(args, context),
        FactsCommand::Show(args) => show::run(args, context),
        FactsCommand::History(args) => history::run(args, context),
        FactsCommand::Observe(args) => observe::run(args, context),
        FactsCommand::Turns(args) => turns::run(args, context),
        FactsCommand::Prompt(args) => prompt::run(args, context),
        FactsCommand::Apply(args) => apply::run(args, context),
        FactsCommand::Work(args) => work::run(args, context),
        FactsCommand::Pending => pending::run(context),
        FactsCommand::Confirm(args) => confirm::confirm(args, context),
        FactsCommand::Reject(args) => confirm::reject(args, context),
        FactsCommand::Profile(args) => profile::run(args, context),
        FactsCommand::Inject(args) => inject::run(args, context),
        FactsCommand::Export => export::run(context),
        FactsCommand::Import(args) => import::run(args, context),
        FactsCommand::Check => check::run(context),
        FactsCommand::Archive(args) => archive::run(args, context),
        FactsCommand::Forget(args) => forget::run(args, context),
        FactsCommand::Retrieve(args) => retrieve::run(args, context),
        FactsCommand::Metrics(args) => metrics::run(args, context),
        FactsCommand::Eval(args) => eval::run(args, context),
    }
}

impl FactsCommand {
    /// Returns whether the command changes facts or turns, so that a dry run must say that nothing was
    /// written.
    fn writes(&self) -> bool {
        matches!(
            self,
            Self::Add(_)
                | Self::Observe(_)
                | Self::Apply(_)
                | Self::Work(_)
                | Self::Confirm(_)
                | Self::Reject(_)
                | Self::Import(_)
                | Self::Archive(_)
                | Self::Forget(_)
        )
    }
}

/// The context of a facts command.
pub(crate) struct FactsContext<'a> {
    pub(crate) database: &'a DatabaseArgs,
    pub(crate) project: &'a Project,
    pub(crate) out: &'a mut Output,
}

impl FactsContext<'_> {
    /// Returns the user that the command applies to; says so once if that is the system's.
    pub(crate) fn user(&mut self) -> Result<UserId> {
        let (user, is_systems) =
            facts::user_or_systems(self.project, self.database.user.as_deref())?;
        if is_systems && facts::is_unknown(&self.read()?, &user)? {
            self.out.note(&format!(
                "facts of {user}, the system's user name; --user, ANNALS_USER or `user` in your own config.toml names another"
            ));
        }
        Ok(user)
    }

    /// Opens the database for reading.
    pub(crate) fn read(&self) -> Result<Facts> {
        Facts::open(self.project, self.database.db.as_deref(), Purpose::Read)
    }

    /// Opens the database for writing.
    pub(crate) fn write(&self) -> Result<Facts> {
        Facts::open(self.project, self.database.db.as_deref(), Purpose::Write)
    }
}

/// Reads all of standard input.
pub(crate) fn input() -> Result<String> {
    let bytes = stdin::read(MAX_INPUT_BYTES, "read standard input")?;
    String::from_utf8(bytes).map_err(|_| Error::usage("standard input is not valid UTF-8"))
}

/// Maximum number of bytes read from standard input.
const MAX_INPUT_BYTES: u64 = 256 << 20;

/// Number of characters of an id that are printed, enough to identify a fact.
const SHOWN: usize = 8;

/// Returns the prefix of an id that identifies a fact.
pub(crate) fn short(id: &str) -> &str {
    id.get(..SHOWN).unwrap_or(id)
}

/// Returns a description of forgotten vectors that remain on a server, with the reason.
pub(crate) fn remaining_vectors(remaining: &Remaining) -> String {
    let why = remaining.last_error.as_deref();
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    let vectors = quantity(remaining.vectors, "vector");
    format!("{vectors} at {}{why}", remaining.server)
}

/// Prints a fact on one line.
pub(crate) fn line(fact: &Fact, to: &mut dyn Write) -> io::Result<()> {
    let status = match fact.status {
        FactStatus::Active => String::new(),
        other => format!("  ({})", other.as_str()),
    };
    writeln!(to, "{}  {:.2}  {fact}{status}", short(&fact.fact_id), fact.confidence)
}
