//! The queue of turns: what a user said is added, judged, and its vectors updated.

use std::thread;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use serde::Serialize;
use serde_json::json;

use crate::cli::facts::{Context, TurnsArgs, WorkArgs, input};
use crate::cli::output::Output;
use crate::cli::render::text;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::facts::{Facts, JudgedTurn, Maintenance, Observation, Turn, TurnOutcome, UserId};
use crate::project::Project;
use crate::share::Direction;
use crate::{facts, share};

/// Interval at which `work --watch` checks the queue.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Interval at which it synchronises with other devices if nothing was judged here.
const SYNC_INTERVAL: Duration = Duration::from_secs(30);
/// Time limit of a synchronisation; the next pass continues it.
const SYNC_TIMEOUT: Duration = Duration::from_secs(20);

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
    for (option, named, in_turn) in [
        ("--user", context.args.user.as_ref(), &observation.user_id),
        ("--request-id", request_id, &observation.turn_id),
    ] {
        if let (Some(named), Some(in_turn)) = (named, in_turn)
            && named.trim() != in_turn.trim()
        {
            return Err(Error::usage(format!("{option} says {named}, the turn says {in_turn}")));
        }
    }
    let user = match &observation.user_id {
        Some(user) => facts::user(context.project, Some(user))?,
        None => context.user()?,
    };
    observation.turn_id = request_id.cloned().or(observation.turn_id);
    let receipt = facts::observe(&context.write()?, &user, &observation, allow_secret.into())?;
    context.out.show(&receipt, "queued {{ turn_id }}\n")
}

pub(super) fn turns(args: &TurnsArgs, context: &mut Context<'_>) -> Result<()> {
    let user = context.user()?;
    if let Some(turn) = args.turn.as_deref().filter(|_| args.apply) {
        let (answer, store) = (input()?, context.write()?);
        let judged = facts::apply(&store, &user, turn, &answer, args.allow_secret.into())?;
        return context.out.show(&judged, text!("facts/judged"));
    }
    let store = context.read()?;
    if let Some(turn) = &args.turn {
        let turn = facts::find_turn(&store, &user, turn)?;
        let prompt = facts::prompt(&store, &turn, &facts::embedder(context.project)?)?;
        let document = json!({ "turn_id": turn.turn_id, "prompt": prompt });
        return context.out.file(&document, prompt.as_bytes());
    }
    let mut turns = facts::turns(&store, &user)?;
    turns.retain(|turn| args.status.is_none_or(|status| turn.status == status));
    context.out.show(&json!({ "turns": turns }), text!("facts/turns"))
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
    /// Why the database was not synchronised, if it is shared.
    sharing_waits: Option<String>,
    #[serde(flatten)]
    maintenance: Maintenance,
}

pub(super) fn work(args: &WorkArgs, context: &mut Context<'_>) -> Result<()> {
    let mut store = context.write()?;
    if let Some(days) = args.archive {
        let cut_off = TimeDelta::days(i64::from(days));
        let cut_off = context
            .project
            .clock
            .now()
            .checked_sub_signed(cut_off)
            .ok_or_else(|| Error::usage("--archive goes back too far"))?;
        let archived = facts::archive(&store, cut_off)?;
        return context.out.show(&json!({ "archived": archived }), "{{ archived }} archived\n");
    }
    let auditor = context.project.settings.llm.as_deref();
    // Not the user of the settings: a worker is the machine's.
    let user = context.args.user.as_deref().map(UserId::new).transpose()?;
    let mut synced = None;
    loop {
        let mut pass = Pass::default();
        let end = pass.run(auditor, user.as_ref(), context.project, &mut store, &mut synced);
        if !args.watch {
            end?;
            return pass.report(auditor.is_some(), context.out);
        }
        let out = &mut *context.out;
        if let Err(error) = end {
            out.note(&error.to_string());
        }
        pass.note_what_waits(out);
        for judged in &pass.judged {
            out.streamed(judged, text!("facts/judged"));
        }
        for turn in pass.dead.iter().chain(&pass.failed) {
            let error = turn.last_error.as_deref().unwrap_or("no usable answer");
            out.note(&format!("{}: {error}", turn.turn_id));
        }
        store.clock = Clock::new(context.project.environment.get("ANNALS_NOW"))?;
        thread::sleep(POLL_INTERVAL);
    }
}

impl Pass {
    fn run(
        &mut self,
        auditor: Option<&str>,
        user: Option<&UserId>,
        project: &Project,
        store: &mut Facts,
        synced: &mut Option<Instant>,
    ) -> Result<()> {
        if let Some(auditor) = auditor {
            self.judge(auditor, user, project, store)?;
        }
        self.maintenance = facts::maintain(store, project.settings.facts.profile_turns)?;
        self.waiting = facts::waiting(store, user)?;
        // Only this command calls an endpoint or a vector server: commands that write do not wait for it. Until
        // vectors are updated, facts are found by words.
        match facts::refresh(store, &facts::embedder(project)?) {
            Ok(vectors) => self.vectors = vectors,
            // The hint may name a collection left on a former server, which no later run reports.
            Err(error) => {
                let hint = error.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
                self.vectors_wait = Some(format!("{error}{hint}"));
            }
        }
        let is_due =
            !self.judged.is_empty() || synced.is_none_or(|at| at.elapsed() >= SYNC_INTERVAL);
        if is_due {
            *synced = Some(Instant::now());
            if !project.dry_run && share::is_active(project, store)? {
                // An unreachable server does not fail the local work.
                self.sharing_waits =
                    share::sync(project, store, Direction::Both, Some(SYNC_TIMEOUT))
                        .err()
                        .map(|error| error.reason());
            }
        }
        Ok(())
    }

    /// Judges turns until none can be taken; a failed turn is left for the next pass.
    fn judge(
        &mut self,
        auditor: &str,
        user: Option<&UserId>,
        project: &Project,
        store: &mut Facts,
    ) -> Result<()> {
        if project.dry_run {
            return Err(Error::usage("a dry run cannot ask the auditor")
                .hint("`annals facts turns TURN --prompt` shows what would be asked"));
        }
        let embedder = facts::embedder(project)?;
        let mut skipped = Vec::new();
        while let Some(outcome) = facts::step(store, auditor, &embedder, user, &skipped, None)? {
            match outcome {
                TurnOutcome::Judged(judged) => self.judged.push(judged),
                TurnOutcome::Dead(turn) => self.dead.push(turn),
                TurnOutcome::Failed(turn, _) => {
                    skipped.push(turn.clone());
                    self.failed.push(turn);
                }
                TurnOutcome::Lost(turn) => skipped.push(turn),
            }
            store.clock = Clock::new(project.environment.get("ANNALS_NOW"))?;
        }
        Ok(())
    }

    fn note_what_waits(&self, out: &mut Output) {
        for (what, why) in
            [("vectors not updated", &self.vectors_wait), ("not synced", &self.sharing_waits)]
        {
            if let Some(why) = why {
                out.note(&format!("{what}: {why}"));
            }
        }
    }

    fn report(&self, has_auditor: bool, out: &mut Output) -> Result<()> {
        self.note_what_waits(out);
        if self.waiting > 0 && !has_auditor {
            let turns = if self.waiting == 1 { "a turn waits" } else { "turns wait" };
            out.note(&format!(
                "{turns}: set llm.command, or judge with `annals facts turns TURN --prompt` and `--apply`"
            ));
        }
        let end = match self.dead.len() + self.failed.len() {
            0 => Ok(()),
            troubled => {
                let why = self
                    .failed
                    .iter()
                    .find_map(|turn| turn.last_error.as_ref())
                    .map(|error| format!(": {error}"))
                    .unwrap_or_default();
                Err(Error::failed(format!("{troubled} of the turns could not be judged{why}"))
                    .hint("see `annals facts turns` for details"))
            }
        };
        out.show_until(self, &(), text!("facts/pass"), end)
    }
}
