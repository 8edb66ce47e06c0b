//! `annals facts work`

use std::io::Write;
use std::time::{Duration, Instant};
use std::{io, thread};

use clap::Args;
use serde::Serialize;

use crate::cli::facts::{FactsContext, apply};
use crate::cli::output::Output;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::facts::{Auditor, Facts, JudgedTurn, Maintenance, Turn, TurnOutcome};
use crate::project::Project;
use crate::share::Direction;
use crate::text::quantity;
use crate::{facts, share};

/// Interval at which `--watch` checks an empty queue.
const REST: Duration = Duration::from_secs(1);

/// Time limit for synchronisation in one pass; the next pass continues it.
const SYNC: Duration = Duration::from_secs(20);

/// Interval at which `--watch` synchronises with other devices if nothing was judged here.
const SYNC_EVERY: Duration = Duration::from_secs(30);

/// Judge the queued turns, expire facts whose time is over, rebuild profiles, update vector servers
///
/// The auditor is the command that the user's setting `llm.command` names, with the prompt on its standard
/// input. An invalid answer is requested again, up to three times in all; then the turn is marked dead, and the
/// last answer is kept. Without an auditor, the turns wait for `annals facts apply`.
#[derive(Args, Debug)]
#[command(after_help = "Example: ANNALS_LLM_COMMAND='claude -p' annals facts work --once")]
pub(crate) struct WorkArgs {
    /// End when the queue is empty; this is the default
    #[arg(long, conflicts_with = "watch")]
    once: bool,
    /// Keep running and judge turns as they come; with --json, prints one JSON line per turn
    #[arg(long)]
    watch: bool,
    /// Seconds to wait for one answer
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    timeout: u32,
}

/// The result of one pass over the queue.
#[derive(Debug, Default, Serialize)]
struct Pass {
    judged: Vec<JudgedTurn>,
    dead: Vec<Turn>,
    failed: Vec<Turn>,
    waiting: u64,
    vectors: usize,
    /// Why vectors are still waiting to be calculated or sent, if so.
    vectors_wait: Option<String>,
    /// Why a server did not erase forgotten vectors, if so.
    erasures_wait: Option<String>,
    /// Why the database was not synchronised, if it is shared.
    sharing_waits: Option<String>,
    #[serde(flatten)]
    maintenance: Maintenance,
}

pub(crate) fn run(args: &WorkArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let mut store = context.write()?;
    let auditor = Auditor::from_settings(context.project);
    let mut synced: Option<Instant> = None;
    loop {
        let mut pass = Pass::default();
        let end = clear(args, auditor.as_ref(), context.project, &mut store, &mut pass);
        let end = end.and_then(|()| finish(context.project, &mut store, &mut pass));
        let is_due = !pass.judged.is_empty() || synced.is_none_or(|at| at.elapsed() >= SYNC_EVERY);
        let end = end.and_then(|()| {
            if is_due { sync(context.project, &mut store, &mut pass) } else { Ok(()) }
        });
        if is_due {
            synced = Some(Instant::now());
        }
        if let Err(error) = end {
            if !args.watch {
                return Err(error);
            }
            context.out.note(&error.to_string());
        }
        if !args.watch {
            return report(&pass, auditor.is_some(), context.out);
        }
        stream(&pass, context.out);
        store.set_clock(Clock::new(context.project.environment.get("ANNALS_NOW"))?);
        thread::sleep(REST);
    }
}

/// Judges turns until none can be taken; a failed turn is left for the next pass.
fn clear(
    args: &WorkArgs,
    auditor: Option<&Auditor>,
    project: &Project,
    store: &mut Facts,
    pass: &mut Pass,
) -> Result<()> {
    let Some(auditor) = auditor else {
        return Ok(());
    };
    if project.dry_run {
        return Err(Error::usage("a dry run cannot ask the auditor")
            .hint("`annals facts prompt` shows what would be asked"));
    }
    let wait = Some(Duration::from_secs(u64::from(args.timeout)));
    let embedder = facts::embedder(project)?;
    let mut skipped = Vec::new();
    loop {
        match facts::step(store, auditor, &embedder, &skipped, wait)? {
            None => return Ok(()),
            Some(TurnOutcome::Judged(judged)) => pass.judged.push(judged),
            Some(TurnOutcome::Dead(turn)) => pass.dead.push(turn),
            Some(TurnOutcome::Failed(turn, error)) => {
                skipped.push(turn.clone());
                let mut turn = turn;
                turn.last_error = Some(error.to_string());
                pass.failed.push(turn);
            }
            Some(TurnOutcome::Lost(turn)) => skipped.push(turn),
        }
        store.set_clock(Clock::new(project.environment.get("ANNALS_NOW"))?);
    }
}

fn finish(project: &Project, store: &mut Facts, pass: &mut Pass) -> Result<()> {
    pass.maintenance = facts::maintain(store, project.settings.facts.profile_turns)?;
    pass.waiting = facts::waiting(store)?;
    // Only this command calls an endpoint or a vector server: commands that write do not wait for it.
    match facts::refresh(store, &facts::embedder(project)?) {
        Ok(vectors) => pass.vectors = vectors,
        // Vectors are updated later; until then, facts are found by words.
        Err(error) => pass.vectors_wait = Some(error.to_string()),
    }
    pass.erasures_wait = facts::erase_remaining(store)?.map(|error| error.to_string());
    Ok(())
}

/// Synchronises with the other devices. An unreachable server does not fail the local work; it is reported as
/// waiting.
fn sync(project: &Project, store: &mut Facts, pass: &mut Pass) -> Result<()> {
    if share::is_active(project, store)? && !project.dry_run {
        let synced = share::sync(project, store, Direction::Both, Some(SYNC));
        pass.sharing_waits = synced.err().map(|error| error.reason());
    }
    Ok(())
}

fn report(pass: &Pass, has_auditor: bool, out: &mut Output) -> Result<()> {
    note_what_waits(pass, out);
    let troubled = pass.dead.len() + pass.failed.len();
    let end = if troubled > 0 {
        let first = pass.failed.iter().find_map(|turn| turn.last_error.clone());
        let why = first.map(|error| format!(": {error}")).unwrap_or_default();
        let message = format!("{troubled} of the turns could not be judged{why}");
        Err(Error::failed(message).hint("see `annals facts turns` for details"))
    } else {
        Ok(())
    };
    if !has_auditor && pass.waiting > 0 {
        out.note(&format!(
            "{} waiting: set llm.command, or judge them with `annals facts prompt` and `apply`",
            quantity(pass.waiting, "turn")
        ));
    }
    out.result_until(pass, show, end)
}

fn note_what_waits(pass: &Pass, out: &mut Output) {
    if let Some(why) = &pass.vectors_wait {
        out.note(&format!("vectors not updated: {why}"));
    }
    if let Some(why) = &pass.sharing_waits {
        out.note(&format!("not synced: {why}"));
    }
    if let Some(why) = &pass.erasures_wait {
        out.note(&format!("erasure pending: {why}"));
    }
}

fn show(pass: &Pass, to: &mut dyn Write) -> io::Result<()> {
    for judged in &pass.judged {
        apply::show(judged, to)?;
    }
    for turn in &pass.dead {
        writeln!(to, "{}: dead", turn.turn_id)?;
    }
    for turn in &pass.failed {
        writeln!(to, "{}: stays in the queue", turn.turn_id)?;
    }
    let done = &pass.maintenance;
    writeln!(
        to,
        "{} judged, {} waiting, {} expired, {} rebuilt",
        pass.judged.len(),
        pass.waiting,
        done.expired,
        quantity(done.profiles, "profile")
    )
}

fn stream(pass: &Pass, out: &mut Output) {
    note_what_waits(pass, out);
    for judged in &pass.judged {
        out.streamed(judged, apply::show);
    }
    for turn in pass.dead.iter().chain(&pass.failed) {
        let error = turn.last_error.as_deref().unwrap_or("no usable answer");
        out.note(&format!("{}: {error}", turn.turn_id));
    }
}
