//! Updates values that depend on a corrected statement: the name next to a number, the bar next to a
//! percentage.

use crate::plan::drift::unprefixed;
use crate::plan::repair::status_words;
use crate::plan::{Claim, Phase, PhaseNumber, PhaseProgress, PhaseState, PlanState};
use crate::text::one_line;

/// Returns a phase's number formatted like the old one: `03.1` becomes `06`, `3.1` becomes `6`.
pub(super) fn number(old: &str, number: &PhaseNumber) -> String {
    let written = number.to_string();
    let is_padded = old.starts_with('0');
    if is_padded && number.whole() < 10 { format!("0{written}") } else { written }
}

/// Returns the new text of a claim about the current phase once the phase changes; `None` if it may stay.
///
/// `is_name` tells whether a text would be read as the name if it stood there.
pub(super) fn dependent_value(
    claim: &Claim,
    phase: &Phase,
    is_name: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let done = phase.count(PlanState::Complete);
    Some(match claim {
        Claim::Name(old) => name(old, phase, is_name)?,
        Claim::Index(_) => phase.number.ordinal().to_string(),
        Claim::PlansComplete(_) => done.to_string(),
        Claim::PlansTotal(_) => match phase.plans_expected().max(phase.declared.unwrap_or(0)) {
            // The tools write this before a phase is planned.
            0 => "TBD".to_owned(),
            plans => plans.to_string(),
        },
        Claim::CurrentPlan(_) => current_plan(phase).to_string(),
        Claim::Status(old) | Claim::PhaseStatus(old) => status(old, phase)?,
        _ => return None,
    })
}

/// Returns the position of the first plan that is not complete, or of the last plan.
fn current_plan(phase: &Phase) -> usize {
    let is_open = |(_, state): &(_, PlanState)| *state != PlanState::Complete;
    let open = phase.plans.iter().position(is_open);
    open.map_or(phase.plans.len(), |index| index + 1)
}

/// Returns the phase's name as it is, or without special characters if it would be read differently; as a slug if
/// the old name is one.
fn name(old: &str, phase: &Phase, is_name: &dyn Fn(&str) -> bool) -> Option<String> {
    let is_slug = old.contains('-') && !old.contains(char::is_whitespace);
    let name = if is_slug { slug(phase)? } else { phase.name.clone()? };
    let name = one_line(&name);
    if is_name(&name) {
        return Some(name);
    }
    let kept = |c: &char| {
        c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '&' | '.' | ',' | '+' | '/')
    };
    let name: String = name.chars().filter(kept).collect();
    let name = one_line(&name);
    (!name.is_empty()).then_some(name)
}

/// Returns the slug of the phase's folder, or one made from its name.
fn slug(phase: &Phase) -> Option<String> {
    let Some(dir) = &phase.dir else {
        let words = phase.name.as_deref()?.split(|c: char| !c.is_alphanumeric());
        let words: Vec<String> =
            words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
        return Some(words.join("-"));
    };
    let dir = dir.file_name()?.to_string_lossy().into_owned();
    let (_, rest) = phase.number.numbering().split_folder(&dir)?;
    Some(rest.trim_start_matches(['-', '_', ' ']).to_owned())
}

/// Returns the status of the new current phase, if the old text does not fit it.
fn status(old: &str, phase: &Phase) -> Option<String> {
    let (named, words) = unprefixed(old, phase.number.numbering());
    let progress = match phase.state {
        PhaseState::Done => PhaseProgress::Complete,
        PhaseState::Open if phase.is_begun() => PhaseProgress::InProgress,
        PhaseState::Running => PhaseProgress::InProgress,
        PhaseState::Open | PhaseState::Unplanned | PhaseState::Dropped => PhaseProgress::NotStarted,
    };
    // A token such as `needs_remediation` describes the previous phase.
    if is_token(words) && !status_words::is_plain(words) {
        return Some(status_words::written(old, progress, &[]));
    }
    let said = PhaseProgress::parse(words)?;
    let is_of_another = named.is_some_and(|number| number != phase.number);
    let is_open =
        said == PhaseProgress::InProgress || said == PhaseProgress::NotStarted && !phase.is_begun();
    let has_nothing_to_execute =
        phase.state == PhaseState::Unplanned && status_words::speaks_of_plans(words);
    let fits = said == progress || (is_open && phase.state == PhaseState::Open);
    let fits = fits && !is_of_another && !has_nothing_to_execute;
    let may_go = said != PhaseProgress::Blocked && status_words::is_plain(old);
    (!fits && may_go).then(|| {
        if has_nothing_to_execute {
            status_words::to_be_planned(old)
        } else {
            status_words::written(old, progress, &[])
        }
    })
}

/// Returns whether a status is a tool's token rather than free text.
pub(super) fn is_token(status: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || matches!(c, '_' | '-');
    status.contains(['_', '-']) && status.chars().all(is_part)
}
