//! The words of the planning tools' templates: what may be written over, and what is written instead.

use crate::plan::read::vocabulary::has;
use crate::plan::rules::names_step;
use crate::plan::{Claim, Phase, PhaseProgress, PhaseState, Survey, phase_in_status};
use crate::project::vocabulary;
use crate::text::one_line;

/// Returns whether a template could have written a status, since it contains only status words and numbers.
pub(super) fn is_plain(status: &str) -> bool {
    let mut words = status.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_known = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            || has("status of a template", &word.to_lowercase())
    };
    words.next().is_some_and(is_known) && words.all(is_known)
}

/// Returns whether a line of STATE.md says more than its statements: `Plan: 4 executed — PDF export`.
pub(super) fn has_remark(survey: &Survey, line: usize) -> bool {
    const NEUTRAL: &[&str] = &["phase", "of", "in", "current", "plan", "plans", "the"];
    let text = survey.text_of(vocabulary::STATE, line);
    let mut rest = text.split_once(':').map_or(text, |(_, rest)| rest).to_owned();
    for claim in survey.state.claims.iter().filter(|claim| claim.line == line) {
        if let Claim::Text(_, known) = &claim.value {
            rest = rest.replacen(known, "", 1);
        }
    }
    rest.split(|c: char| !c.is_alphanumeric()).any(|word| {
        let is_neutral = NEUTRAL.iter().any(|one| word.eq_ignore_ascii_case(one));
        word.starts_with(char::is_alphabetic) && !is_neutral
    })
}

/// Returns a status in the words of the templates, as a single word if the old one is; `phase` is given for STATE.md, where
/// the next step is named.
pub(super) fn template_status(old: &str, progress: PhaseProgress, phase: Option<&Phase>) -> String {
    let is_word = !old.contains(' ') && old.starts_with(char::is_lowercase);
    let words = match (progress, phase.map(Phase::has_plans)) {
        (PhaseProgress::Complete, _) => "Complete",
        (PhaseProgress::InProgress, _) => "In progress",
        (_, Some(true)) if is_word => "Pending",
        (_, Some(true)) => "Ready to execute",
        (_, Some(false)) if is_word => "Planning",
        (_, Some(false)) => "Ready to plan",
        (_, None) => "Not started",
    };
    if is_word { words.to_lowercase().replace(' ', "_") } else { words.to_owned() }
}

/// Returns the status of the new current phase, if the old one does not fit it.
pub(super) fn moved_status(old: &str, phase: &Phase) -> Option<String> {
    let progress = match phase.state {
        PhaseState::Done => PhaseProgress::Complete,
        PhaseState::Running => PhaseProgress::InProgress,
        PhaseState::Open if phase.is_begun() => PhaseProgress::InProgress,
        PhaseState::Open | PhaseState::Unplanned | PhaseState::Dropped => PhaseProgress::NotStarted,
    };
    let (named, words) = phase_in_status(old, phase.number.numbering());
    let is_of_it = named.is_none_or(|number| number == phase.number);
    let fits = is_of_it && PhaseProgress::parse(words) == Some(progress) && !names_step(words);
    // `Planned` and `Ready to execute` speak of plans that the new phase may not have.
    let lower = words.to_lowercase();
    let is_early = phase.state == PhaseState::Unplanned
        && ["execut", "planned"].iter().any(|word| lower.contains(word));
    (!fits || is_early).then(|| template_status(old, progress, Some(phase)))
}

/// Returns the phase's name where it can be read again as such, as a slug if the old one is.
pub(super) fn name_to_write(old: &str, phase: &Phase) -> Option<String> {
    let name = phase.name.as_deref()?;
    if old.contains('-') && !old.contains(char::is_whitespace) {
        let dir = phase.dir.as_ref()?.file_name()?.to_string_lossy();
        let (_, slug) = phase.number.numbering().split_folder(&dir)?;
        return Some(slug.trim_start_matches(['-', '_', ' ']).to_owned());
    }
    // A dash between spaces, a bracket or a colon may end a name.
    let is_kept = |c: &char| c.is_alphanumeric() || " _&.,+/'-".contains(*c);
    let name: String = name.replace(" - ", " ").chars().filter(is_kept).collect();
    Some(one_line(&name)).filter(|name| !name.is_empty())
}

/// Returns a bar of one of the templates, drawn for another percentage: `[####------]`, `█████░░░░░`.
pub(super) fn redrawn(bar: &str, percent: &str) -> Option<String> {
    const SIGNS: [[char; 2]; 2] = [['\u{2588}', '\u{2591}'], ['#', '-']];
    let inner = bar.trim_start_matches('[').trim_end_matches(']');
    let [full, empty] =
        SIGNS.into_iter().find(|signs| inner.chars().all(|c| signs.contains(&c)))?;
    let cells = inner.chars().count();
    let filled = cells * percent.parse::<usize>().ok()?.min(100) / 100;
    let drawn: String = (0..cells).map(|cell| if cell < filled { full } else { empty }).collect();
    Some(bar.replacen(inner, &drawn, 1))
}
