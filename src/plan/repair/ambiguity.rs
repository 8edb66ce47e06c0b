//! Detects contradictions that the files cannot settle; a person must decide before anything is written.
//!
//! The position follows most of the evidence, and the files are corrected accordingly. They are not if
//! another interpretation is almost as likely, or if it is unclear which milestone or folder is meant.

use crate::error::{Error, Result};
use crate::plan::{
    Action, Correction, DEFAULT_MILESTONE, Survey, MAX_CLAIMS, Phase, PhaseNumber, PhaseState,
    PlanState, Position,
};
use crate::project::vocabulary;
use crate::storage::read;

/// Returns an error that says what to decide, if the files are ambiguous.
pub(super) fn check(survey: &Survey, position: &Position) -> Result<()> {
    let ambiguity = too_many_claims(survey)
        .or_else(|| unclear_milestone(survey))
        .or_else(|| duplicate_folders(position))
        .or_else(|| contested_position(position));
    match ambiguity {
        Some(Ambiguity { what, hint }) => {
            Err(Error::refused(format!("the files are ambiguous: {what}"))
                .hint(format!("{hint}; then run it again")))
        }
        None => Ok(()),
    }
}

/// Returns an error if a correction reverts an earlier one: two statements then depend on each other.
pub(super) fn check_not_undone(earlier: &[Correction], correction: &Correction) -> Result<()> {
    let undoes = |other: &Correction| {
        other.kind == correction.kind
            && (&other.file, other.line) == (&correction.file, correction.line)
            && (&other.stated, &other.written) == (&correction.written, &correction.stated)
    };
    if correction.kind.is_some() && earlier.iter().any(undoes) {
        let because = &correction.because;
        return Err(Error::refused(format!("the files are ambiguous: {because}"))
            .at(&correction.file, correction.line)
            .hint("correct this line by hand; then run it again"));
    }
    Ok(())
}

/// Refuses corrections that would change the next action: they may only remove contradictions.
pub(super) fn check_same_next(before: &Position, after: &Position) -> Result<()> {
    let of = |position: &Position| (position.next.action, position.next.phase.clone());
    if of(before) == of(after) {
        return Ok(());
    }
    let first = |because: &[String]| because.first().cloned().unwrap_or_default();
    let (before, after) = (first(&before.next.because), first(&after.next.because));
    let message =
        format!("the files are ambiguous: {before}, but after correcting STATE.md, {after}");
    Err(Error::refused(message).hint("correct STATE.md by hand; then run it again"))
}

/// A question that the files leave open.
struct Ambiguity {
    /// The contradicting evidence.
    what: String,
    /// How to resolve it.
    hint: String,
}

impl Ambiguity {
    fn new(what: String, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        Self { what, hint }
    }
}

/// Detects that STATE.md has the maximum number of statements about the position: there may be more, unread.
fn too_many_claims(survey: &Survey) -> Option<Ambiguity> {
    (survey.state.claims.len() >= MAX_CLAIMS).then(|| {
        let what = format!("STATE.md has {MAX_CLAIMS} statements about the position or more");
        Ambiguity::new(what, "remove those that are outdated")
    })
}

/// Detects that it is unclear which milestone is active, or whether it has already shipped.
fn unclear_milestone(survey: &Survey) -> Option<Ambiguity> {
    let active = survey.folder.dir.join(vocabulary::ACTIVE);
    if survey.folder.active.slug == DEFAULT_MILESTONE && read::exists(&active) {
        let what = format!("{} names no milestone here", survey.show(&active));
        return Some(Ambiguity::new(what, "correct ACTIVE or remove it"));
    }
    if let Some(what) = leftover_of_archive(survey) {
        let hint = "remove the phases that were left behind, or the archive";
        return Some(Ambiguity::new(what, hint));
    }
    let what = other_milestone(survey)?;
    let hint = "correct STATE.md, or name the milestone in ACTIVE";
    Some(Ambiguity::new(what, hint))
}

/// Detects that it is unclear which folder belongs to the current phase.
fn duplicate_folders(position: &Position) -> Option<Ambiguity> {
    let (index, current) = (position.current?, position.phase()?);
    // GSD restarts its numbers, and leaves the folders of earlier milestones where they are.
    let is_over = |phase: &Phase| {
        !phase.plans.is_empty() && phase.count(PlanState::Complete) == phase.plans.len()
    };
    let others = position.phases.iter().enumerate();
    let mut others =
        others.filter(|(other, phase)| *other != index && phase.number == current.number);
    others.any(|(_, phase)| !is_over(phase)).then(|| {
        let what = format!("two folders carry the number {}", current.number);
        Ambiguity::new(what, "rename one of them")
    })
}

/// Detects that another interpretation of the position is almost as likely.
fn contested_position(position: &Position) -> Option<Ambiguity> {
    let next = &position.next;
    let rival = next.rival()?;
    // A plan left in a phase that is done contests shipping, but no statement depends on it.
    let is_leftover = |number: &PhaseNumber| {
        let mut phases = position.phases.iter();
        phases.any(|phase| {
            let mut plans = phase.plans.iter();
            let is_begun = plans.any(|(slot, _)| slot.summary.is_some());
            phase.number == *number && phase.state == PhaseState::Done && is_begun
        })
    };
    if next.action == Action::Ship && rival.phase.as_ref().is_some_and(is_leftover) {
        return None;
    }
    let first = |because: &[String]| because.first().cloned().unwrap_or_default();
    let what = format!("{}, but {}", first(&next.because), first(&rival.because));
    // Without a phase it is the end of the milestone, which comes last.
    let order = |phase: &Option<PhaseNumber>| (phase.is_none(), phase.clone());
    let (action, phase) = if order(&rival.phase) < order(&next.phase) {
        (rival.action, rival.phase.as_ref())
    } else {
        (next.action, next.phase.as_ref())
    };
    Some(Ambiguity::new(what, how_to_settle(position, action, phase)))
}

/// Returns what to do about the earlier of two actions that could both be next.
fn how_to_settle(position: &Position, action: Action, number: Option<&PhaseNumber>) -> String {
    let Some(number) = number else {
        return "finish the milestone, or correct ROADMAP.md".to_owned();
    };
    let Some(phase) = position.phases.iter().find(|phase| phase.number == *number) else {
        return format!("add phase {number} to ROADMAP.md, or correct the next step in STATE.md");
    };
    let unfinished = phase.count(PlanState::Partial) + phase.count(PlanState::Failed);
    match action {
        Action::Execute if phase.count(PlanState::Open) > 0 => {
            format!("finish phase {number}, or write its missing summaries if it is finished")
        }
        Action::Execute if unfinished > 0 => {
            format!("finish phase {number}, and correct the status in its summaries")
        }
        Action::Execute => format!(
            "add the missing plans of phase {number}, or correct their number in ROADMAP.md"
        ),
        _ => format!("finish phase {number}, or mark it (deferred) in ROADMAP.md"),
    }
}

/// Returns a message if the active phases also exist in an archive: they shipped and were not removed.
fn leftover_of_archive(survey: &Survey) -> Option<String> {
    let dir = survey.folder.archive_of_active()?.dir.as_ref()?;
    Some(format!("{}: contains the same phases, already archived", survey.show(dir)))
}

/// Returns a message if STATE.md names another active milestone than the one in use.
fn other_milestone(survey: &Survey) -> Option<String> {
    let slug = survey.state.active_milestone.as_ref()?;
    let homes = [survey.folder.dir.join(vocabulary::MILESTONES), survey.folder.dir.clone()];
    let dir = homes.iter().map(|home| home.join(slug)).find(|dir| read::is_folder(dir))?;
    (dir != survey.folder.active.dir).then(|| {
        format!(
            "{}: STATE.md calls this milestone active, but no ACTIVE file names it",
            survey.show(&dir)
        )
    })
}
