//! The queue of turns: what a user said is added, judged, and its vectors updated.

use std::thread;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use serde::Serialize;

use crate::cli::facts::{Context, TurnsArgs, WorkArgs, input};
use crate::cli::output::Output;
use crate::cli::text::text;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::facts::{Auditor, Facts, JudgedTurn, Maintenance, Observation, Turn, TurnOutcome};
use crate::project::Project;
use crate::share::Direction;
use crate::text::quantity;
use crate::{facts, share};

/// Interval at which `work --watch` checks an empty queue, at which it synchronises with other devices if
/// nothing was judged here, and the time limit of a synchronisation; the next pass continues it.
const REST: Duration = Duration::from_secs(1);
const SYNC_EVERY: Duration = Duration::from_secs(30);
const SYNC: Duration = Duration::from_secs(20);

pub(super) fn observe(
    request_id: Option<&String>,
    allow_secret: bool,
    context: &mut Context<'_>,
) -> Result<()> {
    let mut observation: Observation = serde_json::from_str(&input()?).map_err(|error| {
        Error::usage(format!("standard input is not a turn: {error}")).hint(
            "one JSON object: user_input, assistant_response, turn_id, timestamp, user_id, session_id, project, session_end",
        )
    })?;
    let differ = |option: &str, id: &str, in_turn: &str| {
        Error::usage(format!("{option} says {id}, the turn says {in_turn}"))
    };
    let user = match (&context.args.user, &observation.user_id) {
        (None, Some(in_turn)) => facts::user(context.project, Some(in_turn))?,
        (Some(named), Some(in_turn)) if named.trim() != in_turn.trim() => {
            return Err(differ("--user", named, in_turn));
        }
        _ => context.user()?,
    };
    match (request_id, &observation.turn_id) {
        (Some(id), Some(in_turn)) if id != in_turn => {
            return Err(differ("--request-id", id, in_turn));
        }
        (Some(id), _) => observation.turn_id = Some(id.clone()),
        _ => {}
    }
    let receipt = facts::observe(&mut context.write()?, &user, &observation, allow_secret.into())?;
    context.out.show(&receipt, "queued {{ turn_id }}\n")
}

/// The JSON document of `annals facts turns TURN --prompt --json`.
#[derive(Serialize)]
struct Prompt {
    turn_id: String,
    prompt: String,
}

pub(super) fn turns(args: &TurnsArgs, context: &mut Context<'_>) -> Result<()> {
    let user = context.user()?;
    if let Some(turn) = args.turn.as_deref().filter(|_| args.apply) {
        let (answer, mut store) = (input()?, context.write()?);
        let judged = facts::apply(&mut store, &user, turn, &answer, args.allow_secret.into())?;
        return context.out.show(&judged, text!("facts/judged"));
    }
    let mut store = context.read()?;
    if let Some(turn) = &args.turn {
        let turn = facts::find_turn(&store, &user, turn)?;
        let prompt = facts::prompt(&mut store, &turn, &facts::embedder(context.project)?)?;
        let document = Prompt { turn_id: turn.turn_id, prompt };
        return context.out.file(&document, document.prompt.as_bytes());
    }
    let mut turns = facts::turns(&store, &user)?;
    turns.retain(|turn| args.status.is_none_or(|status| turn.status == status));
    context.out.list("turns", &turns, text!("facts/turns"))
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

/// The JSON document of `annals facts work --archive --json`.
#[derive(Serialize)]
struct Archived {
    archived: usize,
}

pub(super) fn work(args: &WorkArgs, context: &mut Context<'_>) -> Result<()> {
    let mut store = context.write()?;
    if let Some(days) = args.archive {
        let now = context.project.clock.now();
        let cut_off = now
            .checked_sub_signed(TimeDelta::days(i64::from(days)))
            .ok_or_else(|| Error::usage("--archive goes back too far"))?;
        let archived = facts::archive(&mut store, cut_off)?;
        return context.out.show(&Archived { archived }, "{{ archived }} archived\n");
    }
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
            return report_pass(&pass, auditor.is_some(), context.out);
        }
        note_what_waits(&pass, context.out);
        for judged in &pass.judged {
            context.out.streamed(judged, text!("facts/judged"));
        }
        for turn in pass.dead.iter().chain(&pass.failed) {
            let error = turn.last_error.as_deref().unwrap_or("no usable answer");
            context.out.note(&format!("{}: {error}", turn.turn_id));
        }
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
            .hint("`annals facts turns TURN --prompt` shows what would be asked"));
    }
    let wait = Some(Duration::from_secs(u64::from(args.timeout)));
    let embedder = facts::embedder(project)?;
    let mut skipped = Vec::new();
    loop {
        match facts::step(store, auditor, &embedder, &skipped, wait)? {
            None => return Ok(()),
            Some(TurnOutcome::Judged(judged)) => pass.judged.push(judged),
            Some(TurnOutcome::Dead(turn)) => pass.dead.push(turn),
            Some(TurnOutcome::Failed(mut turn, error)) => {
                skipped.push(turn.clone());
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
    // Only this command calls an endpoint or a vector server: commands that write do not wait for it. Until
    // vectors are updated, facts are found by words.
    match facts::refresh(store, &facts::embedder(project)?) {
        Ok(vectors) => pass.vectors = vectors,
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

fn note_what_waits(pass: &Pass, out: &mut Output) {
    for (what, why) in [
        ("vectors not updated", &pass.vectors_wait),
        ("not synced", &pass.sharing_waits),
        ("erasure pending", &pass.erasures_wait),
    ] {
        if let Some(why) = why {
            out.note(&format!("{what}: {why}"));
        }
    }
}

fn report_pass(pass: &Pass, has_auditor: bool, out: &mut Output) -> Result<()> {
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
        let waiting = quantity(pass.waiting, "turn");
        out.note(&format!("{waiting} waiting: set llm.command, or judge them with `annals facts turns TURN --prompt` and `--apply`"));
    }
    out.show_until(pass, &(), text!("facts/pass"), end)
}
