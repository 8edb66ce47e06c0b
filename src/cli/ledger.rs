//! `annals ledger`

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli::input::document;
use crate::cli::output::Output;
use crate::cli::render::text;
use crate::error::{Error, Result};
use crate::hooks::setup;
use crate::ledger;
use crate::project::Project;
use crate::storage::Changes;
use crate::text::quantity;

/// Keep docs/memory: what is true now, what must not change, what was decided
///
/// In three files: STATE.md, CONSTRAINTS.md and DECISIONS.md.
///
/// Example: annals ledger brief
#[derive(Args, Debug)]
pub(crate) struct LedgerArgs {
    #[command(subcommand)]
    command: LedgerCommand,
}

#[derive(Debug, Subcommand)]
enum LedgerCommand {
    /// Create those of the three files that are missing
    ///
    /// What exists stays as it is. The commit that is checked out becomes the anchor, which covers nothing
    /// yet: before the first update, `pending` lists the latest commits.
    ///
    /// Example: annals ledger init --hook
    Init {
        /// Make Claude Code add the brief to each new session (.claude/settings.json)
        ///
        /// The same hook as that of `annals setup claude`; every other byte of the file stays.
        #[arg(long)]
        hook: bool,
    },
    /// Print what a session needs to know at its start
    ///
    /// All of STATE.md; infrastructure, rules and hazards from CONSTRAINTS.md; the rollup and the latest
    /// entries from DECISIONS.md; and the newest commits that the ledger does not cover yet. Writes nothing.
    ///
    /// Example: annals ledger brief --days 14
    Brief {
        /// Number of days whose decisions are printed in full
        #[arg(long, value_name = "N", default_value_t = ledger::BRIEF_DAYS)]
        days: u64,
    },
    /// Print the commits that the ledger does not cover yet, and all that an update needs
    ///
    /// Oldest first, with the specs and plans they touch or name. If there is more than one batch, it says
    /// where this one ends: after an update through that commit, the next batch begins after it. Before the
    /// first update, the latest commits are listed; with --all, the whole history, batch by batch.
    ///
    /// Example: annals ledger pending --json
    ///
    /// Example: annals ledger pending --skill > .claude/skills/update-ledger/SKILL.md
    Pending {
        /// Maximum number of commits in a batch
        #[arg(long, value_name = "N", default_value_t = ledger::BATCH_COMMITS)]
        max_commits: usize,
        /// Before the first update, begin with the first commit
        #[arg(long)]
        all: bool,
        /// Print the JSON schema of the update document, and nothing else
        #[arg(long)]
        schema: bool,
        /// Print how to update the ledger, as a SKILL.md for agents, and nothing else
        #[arg(long, conflicts_with = "schema")]
        skill: bool,
    },
    /// Apply an update document: all of it, or nothing
    ///
    /// Reads JSON from standard input. STATE.md is rewritten, CONSTRAINTS.md merged into,
    /// DECISIONS.md appended to. Refused (exit 4) with every problem at once, each with its
    /// JSON pointer. A document that is already applied changes nothing.
    ///
    /// Example: annals ledger update < update.json
    Update {
        /// Read the document from a file
        #[arg(long)]
        file: Option<PathBuf>,
        /// Accept text that looks like a key or a password
        #[arg(long)]
        allow_secret: bool,
    },
    /// Check the three files against their rules
    ///
    /// Exits with 1 if a rule is broken, or if a constraint or a decision of the last commit is gone or was
    /// edited, for CI.
    ///
    /// Example: annals ledger check
    Check,
}

pub(crate) fn run(args: &LedgerArgs, project: &Project, out: &mut Output) -> Result<()> {
    match &args.command {
        LedgerCommand::Init { hook } => init(*hook, project, out),
        LedgerCommand::Brief { days } => {
            let brief = ledger::brief(project, *days)?;
            out.warnings(&brief.warnings);
            let more = json!({ "covered": brief.coverage.line() });
            out.show_with(&brief, &more, text!("ledger/brief"))
        }
        LedgerCommand::Pending { schema: true, .. } => {
            let schema = ledger::schema();
            out.show_with(schema, &json!({ "text": format!("{schema:#}") }), "{{ text }}\n")
        }
        LedgerCommand::Pending { skill: true, .. } => out.verbatim(ledger::skill()?.as_bytes()),
        LedgerCommand::Pending { max_commits, all, .. } => {
            let pending = ledger::pending(project, *max_commits, *all)?;
            out.warnings(&pending.warnings);
            let more = json!({ "covered": pending.coverage.line() });
            out.show_with(&pending, &more, text!("ledger/pending"))
        }
        LedgerCommand::Update { file, allow_secret } => {
            update(file.as_deref(), *allow_secret, project, out)
        }
        LedgerCommand::Check => {
            let report = ledger::check(project)?;
            out.warnings(&report.warnings);
            let end = match report.findings.len() {
                0 => Ok(()),
                count => Err(Error::failed(quantity(count, "finding"))),
            };
            let more = json!({ "covered": report.coverage.line() });
            out.show_until(&report, &more, text!("ledger/check"), end)
        }
    }
}

fn init(hook: bool, project: &Project, out: &mut Output) -> Result<()> {
    let report = ledger::init(project, || {
        if hook { setup::session_start(project) } else { Ok(Changes::new()) }
    })?;
    out.warnings(&report.warnings);
    out.show(&report, text!("ledger/init"))
}

fn update(
    file: Option<&Path>,
    allow_secret: bool,
    project: &Project,
    out: &mut Output,
) -> Result<()> {
    let text = document(file, "the update")?;
    if file.is_none_or(|file| file == Path::new("-")) && text.trim().is_empty() {
        return Err(Error::refused("standard input is empty")
            .hint("`annals ledger pending --schema` prints the schema of an update"));
    }
    let report = ledger::update(project, &text, allow_secret.into())?;
    out.warnings(&report.warnings);
    let more = json!({ "git": out.git() });
    out.show_with(&report, &more, text!("ledger/update"))
}
