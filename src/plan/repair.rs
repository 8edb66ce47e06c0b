//! Corrects the position lines of STATE.md and the checkboxes and progress rows of the roadmap by byte range.
//!
//! Only statements that [`drift`](crate::plan::drift()) reports are rewritten, with what depends on them: the phase's
//! name next to its number, the plans next to the phase, the bar next to its percentage. And only values that the
//! planning tools' own templates could have written are written over; the rest remains, for a person. Nothing is
//! written where the files leave open what is right.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::markdown::edit;
use crate::markdown::edit::Edit;
use crate::plan::drift::{Finding, findings, statements};
use crate::plan::read::vocabulary::has;
use crate::plan::rules::names_step;
use crate::plan::{
    Claim, DEFAULT_MILESTONE, Drift, DriftKind, Located, MAX_CLAIMS, Phase, PhaseProgress,
    PhaseState, PlanState, Position, Says, Survey, phase_in_status,
};
use crate::project::{Project, vocabulary};
use crate::storage::read;
use crate::text::one_line;
use crate::warning::Parsed;

/// A corrected statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Correction {
    /// The kind of statement; `None` if it only depends on another.
    pub kind: Option<DriftKind>,
    /// The old text.
    pub stated: String,
    /// The new text.
    pub written: String,
    /// The file, relative to the project's root.
    pub file: PathBuf,
    /// Line number, from 1.
    pub line: usize,
    /// The place of the fact that proves it: a file or folder, and what it shows.
    pub because: String,
}

/// The corrected files before they are written.
#[derive(Clone, Debug)]
pub struct Repair {
    /// The corrections, in the order in which they were made.
    pub corrections: Vec<Correction>,
    /// The remaining contradictions, which a person must settle.
    pub remaining: Vec<Drift>,
    /// The files that change, with their old and new bytes.
    pub files: Vec<(PathBuf, Vec<u8>, Vec<u8>)>,
    /// The milestone after the corrections.
    pub survey: Survey,
}

/// Maximum number of rounds, since one correction may reveal the next: phase, plans, progress, status.
const MAX_ROUNDS: usize = 4;

/// Corrects STATE.md and ROADMAP.md according to the files, without writing them.
///
/// Returns an error if the files are ambiguous. A file that is not valid UTF-8 stays as it is.
pub fn repair(project: &Project, survey: &Survey) -> Result<Repair> {
    survey.check_understood()?;
    let mut repair = Repair {
        corrections: Vec::new(),
        remaining: statements(survey).collect(),
        files: Vec::new(),
        survey: survey.clone(),
    };
    if repair.remaining.is_empty() {
        return Ok(repair);
    }
    check_clear(survey)?;
    let mut sources = Vec::new();
    for name in [vocabulary::STATE, vocabulary::ROADMAP] {
        let path = survey.folder.active.dir.join(name);
        let old = read::bytes(&path)?.and_then(|bytes| String::from_utf8(bytes).ok());
        sources.push(Source { path, text: old.clone(), old });
    }
    for _ in 0..MAX_ROUNDS {
        let made = repair.corrections.len();
        for (source, found) in sources.iter_mut().zip(findings(&repair.survey)) {
            repair.corrections.extend(source.correct(&repair.survey, &found));
        }
        if repair.corrections.len() == made {
            break;
        }
        let folder = Parsed::clean(survey.folder.clone());
        repair.survey = Survey::read_with(project, folder, &|path: &Path| {
            let own = sources.iter().find(|source| source.path == path);
            match own.and_then(|source| source.text.clone()) {
                Some(text) => Ok(Some(Parsed::clean(text))),
                None => read::text(path),
            }
        })?;
    }
    let (before, after) = (&survey.position.next, &repair.survey.position.next);
    if (before.action, &before.phase) != (after.action, &after.phase) {
        // Corrections may only remove contradictions.
        let [before, after] = [before, after].map(|next| first(&next.because));
        let what = format!("{before}, but after correcting STATE.md, {after}");
        return Err(ambiguous(&what, "correct STATE.md by hand"));
    }
    repair.remaining = statements(&repair.survey).collect();
    let changed = sources.into_iter().filter(|source| source.text != source.old);
    let bytes = |text: Option<String>| text.unwrap_or_default().into_bytes();
    repair.files =
        changed.map(|source| (source.path, bytes(source.old), bytes(source.text))).collect();
    Ok(repair)
}

fn first(because: &[String]) -> &str {
    because.first().map_or("", String::as_str)
}

fn ambiguous(what: &str, hint: &str) -> Error {
    Error::refused(format!("the files are ambiguous: {what}"))
        .hint(format!("{hint}; then run it again"))
}

/// Returns an error that says what to decide, if the files leave open what is right.
fn check_clear(survey: &Survey) -> Result<()> {
    let position = &survey.position;
    let active = survey.folder.dir.join(vocabulary::ACTIVE);
    if survey.state.claims.len() >= MAX_CLAIMS {
        // The rest is not read, and might say something else.
        let what = format!("STATE.md has {MAX_CLAIMS} statements about the position or more");
        return Err(ambiguous(&what, "remove those that are outdated"));
    }
    if survey.folder.active.slug == DEFAULT_MILESTONE && read::exists(&active) {
        let what = format!("{} names no milestone here", survey.show(&active));
        return Err(ambiguous(&what, "correct ACTIVE or remove it"));
    }
    if let Some(dir) = survey.folder.archive_of_active().and_then(|one| one.dir.as_ref()) {
        let what = format!("{}: contains the same phases, already archived", survey.show(dir));
        return Err(ambiguous(&what, "remove the phases that were left behind, or the archive"));
    }
    if let Some(dir) = other_milestone(survey) {
        let dir = survey.show(&dir);
        let what =
            format!("{dir}: STATE.md calls this milestone active, but no ACTIVE file names it");
        return Err(ambiguous(&what, "correct STATE.md, or name the milestone in ACTIVE"));
    }
    if let Some(phase) = doubled(position) {
        let what = format!("two folders carry the number {}", phase.number);
        return Err(ambiguous(&what, "rename one of them"));
    }
    let Some(rival) = position.next.rival() else { return Ok(()) };
    let what = format!("{}, but {}", first(&position.next.because), first(&rival.because));
    Err(ambiguous(&what, "finish what is open, or correct the document that is wrong"))
}

/// Returns the folder of the milestone that STATE.md calls active, if another is in use.
fn other_milestone(survey: &Survey) -> Option<PathBuf> {
    let slug = survey.state.active_milestone.as_ref()?;
    let homes = [survey.folder.dir.join(vocabulary::MILESTONES), survey.folder.dir.clone()];
    let dir = homes.iter().map(|home| home.join(slug)).find(|dir| read::is_folder(dir))?;
    (dir != survey.folder.active.dir).then_some(dir)
}

/// Returns the current phase if another unfinished folder has its number.
fn doubled(position: &Position) -> Option<&Phase> {
    let current = position.phase()?;
    let is_other = |phase: &&Phase| {
        phase.number == current.number
            && phase.dir != current.dir
            && (!phase.has_plans() || phase.has_open_plan())
    };
    position.phases.iter().find(is_other).map(|_| current)
}

/// A file that is corrected; without a text if it is missing or not valid UTF-8.
struct Source {
    path: PathBuf,
    old: Option<String>,
    text: Option<String>,
}

impl Source {
    /// Writes over the statements that may be corrected, and returns what was corrected.
    fn correct(&mut self, survey: &Survey, found: &[Finding]) -> Vec<Correction> {
        let Some(text) = &mut self.text else { return Vec::new() };
        let mut changes: Vec<(Edit, Correction)> = Vec::new();
        for finding in found {
            let Some(written) = finding.written.clone() else { continue };
            let drift = &finding.drift;
            let mut put = |range: &Range<usize>, kind, written: String| {
                let stated = text.get(range.clone()).unwrap_or_default();
                let show = |mark: &str| match kind {
                    Some(DriftKind::Checkbox) => format!("[{mark}]"),
                    _ => mark.to_owned(),
                };
                let correction = Correction {
                    kind,
                    stated: show(stated),
                    written: show(&written),
                    file: drift.file.clone(),
                    line: drift.line,
                    because: because(survey, finding.phase),
                };
                changes.push((Edit::replace(range.clone(), written), correction));
            };
            if drift.kind == DriftKind::Percent {
                let on_line = survey.state.claims.iter().filter(|claim| claim.line == drift.line);
                let mut bars =
                    on_line.filter_map(|claim| Some((&claim.range, claim.value.text(Says::Bar)?)));
                if let Some((range, bar)) = bars.next() {
                    // A percentage beside a bar of another style stays with it.
                    let Some(drawn) = redrawn(bar, &written) else { continue };
                    put(range, None, drawn);
                }
            }
            put(&finding.range, (!finding.is_dependent).then_some(drift.kind), written);
        }
        changes.retain(|(_, one)| one.stated != one.written);
        changes.sort_by_key(|(edit, _)| edit.range.start);
        changes.dedup_by(|(later, _), (one, _)| later.range.start < one.range.end);
        let (edits, corrections) = changes.into_iter().unzip();
        *text = edit::apply(text, edits);
        corrections
    }
}

/// Returns a bar of one of the templates, drawn for another percentage: `[####------]`, `█████░░░░░`.
fn redrawn(bar: &str, percent: &str) -> Option<String> {
    const SIGNS: [(char, char); 2] = [('\u{2588}', '\u{2591}'), ('#', '-')];
    let inner = bar.trim_start_matches('[').trim_end_matches(']');
    let mut signs = SIGNS.into_iter();
    let (full, empty) =
        signs.find(|(full, empty)| inner.chars().all(|c| c == *full || c == *empty))?;
    let cells = inner.chars().count();
    let filled = cells * percent.parse::<usize>().ok()?.min(100) / 100;
    let drawn: String = (0..cells).map(|cell| if cell < filled { full } else { empty }).collect();
    Some(bar.replacen(inner, &drawn, 1))
}

/// Returns the place of the fact that proves a correction: a phase's first open plan, else its folder; of all phases, their
/// folder.
fn because(survey: &Survey, phase: Option<usize>) -> String {
    let position = &survey.position;
    let Some(phase) = phase.map(|index| &position.phases[index]) else {
        let dir = survey.folder.active.dir.join(vocabulary::PHASES);
        let (done, total) = (position.done(), position.total());
        return format!("{}: {done} of {total} phases done", survey.show(&dir));
    };
    let open = survey.open_plans(phase).next().filter(|_| phase.state == PhaseState::Open);
    let (done, all) = (phase.count(PlanState::Complete), phase.plans.len());
    open.unwrap_or_else(|| match &phase.dir {
        Some(dir) => format!("{}: {done} of {all} plans complete", survey.show(dir)),
        None => format!("phase {} has no folder", phase.number),
    })
}

/// What becomes of STATE.md's statements about a phase that is not the current one.
pub(super) struct Move<'a> {
    /// The current phase.
    pub(super) phase: &'a Phase,
    /// Whether no text about the old phase would be left beside the new number.
    pub(super) is_clear: bool,
}

impl<'a> Move<'a> {
    /// Looks at the statements with `wrong`, those that name another phase.
    pub(super) fn new(survey: &Survey, phase: &'a Phase, wrong: &[&Located<Claim>]) -> Self {
        let claims = || survey.state.claims.iter();
        let is_of_plans = |claim: &&Located<Claim>| {
            let says = [Says::PlansDone, Says::PlansTotal, Says::CurrentPlan];
            says.iter().any(|says| claim.value.count(*says).is_some())
        };
        let mut lines = wrong.iter().copied().chain(claims().filter(is_of_plans));
        let is_below = |total: u32| total < phase.number.whole();
        let mut totals = claims().filter(|claim| wrong.iter().any(|one| one.line == claim.line));
        let is_clear = claims().filter_map(|claim| claim.value.status()).all(is_plain)
            && !totals.any(|claim| claim.value.count(Says::Total).is_some_and(is_below))
            && !lines.any(|claim| has_remark(survey, claim.line));
        Self { phase, is_clear }
    }

    /// Returns the new text of a statement; `None` if it stays.
    pub(super) fn value(&self, claim: &Located<Claim>) -> Option<String> {
        let phase = self.phase;
        let open = phase.plans.iter().position(|(_, state)| *state != PlanState::Complete);
        Some(match &claim.value {
            Claim::Phase(number) if *number != phase.number => {
                let is_padded = claim.range.len() == 2 && number.to_string().len() == 1;
                let zero = if is_padded && phase.number.whole() < 10 { "0" } else { "" };
                format!("{zero}{}", phase.number)
            }
            Claim::Text(Says::Name, old) => name(old, phase)?,
            Claim::Text(Says::Status | Says::PhaseStatus, old) => moved_status(old, phase)?,
            Claim::Count(Says::Index, _) => phase.number.ordinal().to_string(),
            Claim::Count(Says::PlansDone, _) => phase.count(PlanState::Complete).to_string(),
            Claim::Count(Says::PlansTotal, _) => {
                match phase.plans_expected().max(phase.declared.unwrap_or(0)) {
                    // The tools write this before a phase is planned.
                    0 => "TBD".to_owned(),
                    plans => plans.to_string(),
                }
            }
            Claim::Count(Says::CurrentPlan, _) => {
                open.map_or(phase.plans.len(), |index| index + 1).to_string()
            }
            _ => return None,
        })
    }
}

/// Returns whether a line of STATE.md says more than its statements: `Plan: 4 executed — PDF export`.
fn has_remark(survey: &Survey, line: usize) -> bool {
    const NEUTRAL: &[&str] = &["phase", "of", "in", "current", "plan", "plans", "the"];
    let text = survey.state_text(line);
    let mut rest = text.split_once(':').map_or(text, |(_, rest)| rest).to_owned();
    for claim in survey.state.claims.iter().filter(|claim| claim.line == line) {
        if let Claim::Text(_, known) = &claim.value {
            rest = rest.replacen(known, "", 1);
        }
    }
    let mut words = rest.split(|c: char| !c.is_alphanumeric());
    words.any(|word| {
        let is_neutral = NEUTRAL.iter().any(|one| word.eq_ignore_ascii_case(one));
        word.starts_with(char::is_alphabetic) && !is_neutral
    })
}

/// Returns the status of the new current phase, if the old one does not fit it.
fn moved_status(old: &str, phase: &Phase) -> Option<String> {
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

/// Returns a status in the words of the templates, as a single word if the old one is; `phase` is given for STATE.md, where
/// the next step is named.
pub(super) fn template_status(old: &str, progress: PhaseProgress, phase: Option<&Phase>) -> String {
    let is_word = !old.contains(' ') && old.starts_with(char::is_lowercase);
    let words = match (progress, phase) {
        (PhaseProgress::Complete, _) => "Complete",
        (PhaseProgress::InProgress, _) => "In progress",
        (_, Some(phase)) if phase.has_plans() && is_word => "Pending",
        (_, Some(phase)) if phase.has_plans() => "Ready to execute",
        (_, Some(_)) if is_word => "Planning",
        (_, Some(_)) => "Ready to plan",
        (_, None) => "Not started",
    };
    if is_word { words.to_lowercase().replace(' ', "_") } else { words.to_owned() }
}

/// Returns the phase's name where it can be read again as such, as a slug if the old one is.
fn name(old: &str, phase: &Phase) -> Option<String> {
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

/// Returns whether a template could have written a status, since it contains only status words and numbers.
pub(super) fn is_plain(status: &str) -> bool {
    let words = || status.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words().next().is_some()
        && words().all(|word| {
            let is_number = word.starts_with(|c: char| c.is_ascii_digit());
            is_number || has("status of a template", &word.to_lowercase())
        })
}

#[cfg(test)]
mod tests;
