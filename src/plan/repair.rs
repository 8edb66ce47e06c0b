//! Corrects the position lines of STATE.md and the checkboxes and progress rows of the roadmap by byte range.
//!
//! Only statements that [`drift`](crate::plan::drift()) reports are rewritten, with what depends on them: the phase's
//! name next to its number, the plans next to the phase, the bar next to its percentage. And only values that the
//! planning tools' own templates could have written are written over; the rest remains, for a person. Nothing is
//! written where the files leave open what is right.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::markdown::edit;
use crate::markdown::edit::Edit;
use crate::plan::drift::{Finding, findings, names_check, statements};
use crate::plan::read::vocabulary::has;
use crate::plan::{
    Action, Claim, DEFAULT_MILESTONE, Drift, DriftKind, Located, MAX_CLAIMS, Phase, PhaseProgress,
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
const MAX_ROUNDS: usize = 6;

/// Corrects STATE.md and ROADMAP.md according to the files, without writing them.
///
/// Returns an error if the files are ambiguous. A file that is not valid UTF-8 stays as it is.
pub fn repair(project: &Project, survey: &Survey) -> Result<Repair> {
    if survey.position.next.action == Action::Unknown {
        let unread = survey.position.next.because.join("; ");
        return Err(Error::refused(format!("the files were not understood: {unread}"))
            .hint("correct these lines or folders; then run it again"));
    }
    let (corrections, files) = (Vec::new(), Vec::new());
    let survey = survey.clone();
    let mut repair = Repair { corrections, remaining: statements(&survey), files, survey };
    if repair.remaining.is_empty() {
        return Ok(repair);
    }
    check_clear(&repair.survey)?;
    let before = repair.survey.position.next.clone();
    let home = repair.survey.folder.active.dir.clone();
    let paths = [vocabulary::STATE, vocabulary::ROADMAP].map(|name| home.join(name));
    let mut texts: Vec<Source> = Vec::new();
    for path in &paths {
        let old = read::bytes(path)?.and_then(|bytes| String::from_utf8(bytes).ok());
        texts.push((path.clone(), old.clone(), old.unwrap_or_default()));
    }
    let mut corrected = HashSet::new();
    for _ in 0..MAX_ROUNDS {
        let mut has_changed = false;
        for ((path, old, text), found) in texts.iter_mut().zip(findings(&repair.survey)) {
            let mut changes = Vec::new();
            if old.is_some() {
                changes = round(&repair.survey, path, text, &found);
            }
            changes.sort_by_key(|(edit, _)| edit.range.start);
            changes.dedup_by(|(later, _), (one, _)| later.range.start < one.range.end);
            // A statement that is to be corrected twice depends on another that is wrong; it is left to a person.
            changes.retain(|(_, one)| {
                let key = |text: &String| (one.file.clone(), one.line, one.kind, text.clone());
                one.kind.is_none()
                    || !corrected.contains(&key(&one.stated)) && corrected.insert(key(&one.written))
            });
            has_changed |= !changes.is_empty();
            let edits = changes.iter().map(|(edit, _)| edit.clone());
            *text = edit::apply(text, edits.collect());
            repair.corrections.extend(changes.into_iter().map(|(_, correction)| correction));
        }
        if !has_changed {
            break;
        }
        repair.survey = reread(project, &repair.survey, &texts)?;
    }
    let after = &repair.survey.position.next;
    if (before.action, &before.phase) != (after.action, &after.phase) {
        // Corrections may only remove contradictions.
        let what = format!(
            "{}, but after correcting STATE.md, {}",
            first(&before.because),
            first(&after.because)
        );
        return Err(ambiguous(&what, "correct STATE.md by hand"));
    }
    repair.remaining = statements(&repair.survey);
    for (path, old, new) in texts {
        if let Some(old) = old.filter(|old| *old != new) {
            repair.files.push((path, old.into_bytes(), new.into_bytes()));
        }
    }
    Ok(repair)
}

/// A file: its path, its old text if it is there and valid, and its new one.
type Source = (PathBuf, Option<String>, String);

/// Reads the milestone again, with the current texts.
fn reread(project: &Project, survey: &Survey, texts: &[Source]) -> Result<Survey> {
    let folder = Parsed::clean(survey.folder.clone());
    Survey::read_with(project, folder, &|path: &Path| match texts
        .iter()
        .find(|(own, old, _)| own == path && old.is_some())
    {
        Some((_, _, text)) => Ok(Some(Parsed::clean(text.clone()))),
        None => read::text(path),
    })
}

fn first(because: &[String]) -> String {
    because.first().cloned().unwrap_or_default()
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
        let dir = survey.show(&dir).to_string();
        let what =
            format!("{dir}: STATE.md calls this milestone active, but no ACTIVE file names it");
        return Err(ambiguous(&what, "correct STATE.md, or name the milestone in ACTIVE"));
    }
    if let Some(phase) = doubled(position) {
        let what = format!("two folders carry the number {}", phase.number);
        return Err(ambiguous(&what, "rename one of them"));
    }
    let Some(rival) = position.next.rival() else { return Ok(()) };
    // A plan left in a phase that is done contests shipping, but no statement depends on it.
    let is_leftover = |phase: &Phase| {
        rival.phase.as_ref() == Some(&phase.number)
            && phase.state == PhaseState::Done
            && phase.is_begun()
    };
    if position.next.action == Action::Ship && position.phases.iter().any(is_leftover) {
        return Ok(());
    }
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
    let (index, current) = (position.current?, position.phase()?);
    let is_over = |phase: &Phase| {
        !phase.plans.is_empty() && phase.count(PlanState::Complete) == phase.plans.len()
    };
    let mut others = position.phases.iter().enumerate();
    let is_doubled = others
        .any(|(other, phase)| other != index && phase.number == current.number && !is_over(phase));
    is_doubled.then_some(current)
}

/// A correction, and its edit.
type Change = (Edit, Correction);

/// Returns one round of corrections of a file. The phase comes first, since others refer to the one that it names.
fn round(survey: &Survey, path: &Path, text: &str, found: &[Finding]) -> Vec<Change> {
    let mut round = Round { survey, file: path, text, changes: Vec::new() };
    let moves: Vec<&Finding> =
        found.iter().filter(|finding| finding.drift.kind == DriftKind::Phase).collect();
    match survey.position.phase().filter(|_| !moves.is_empty()) {
        Some(phase) => round.move_phase(&moves, phase),
        None => found.iter().for_each(|finding| round.correct(finding)),
    }
    round.changes
}

struct Round<'a> {
    survey: &'a Survey,
    file: &'a Path,
    text: &'a str,
    changes: Vec<Change>,
}

impl Round<'_> {
    fn correct(&mut self, finding: &Finding) {
        let Some(written) = finding.written.clone() else { return };
        let line = finding.drift.line;
        if finding.drift.kind == DriftKind::Percent {
            let claims = &self.survey.state.claims;
            let on_line = |claim: &&Located<Claim>| claim.line == line;
            let bar = claims
                .iter()
                .filter(on_line)
                .find_map(|claim| Some((&claim.range, claim.value.text(Says::Bar)?)));
            if let Some((range, bar)) = bar {
                // A percentage beside a bar of another style stays with it.
                let Some(drawn) = redrawn(bar, &written) else { return };
                self.put(line, range, None, drawn, None);
            }
        }
        self.put(line, &finding.range, Some(finding.drift.kind), written, finding.phase);
    }

    /// Changes STATE.md to the current phase, with all that depends on it; or nothing, if text about the old phase would
    /// be left beside the new number.
    fn move_phase(&mut self, moves: &[&Finding], phase: &Phase) {
        let claims = &self.survey.state.claims;
        let on_lines =
            |claim: &&Located<Claim>| moves.iter().any(|finding| finding.drift.line == claim.line);
        let exceeds = claims.iter().filter(on_lines).any(|claim| {
            claim.value.count(Says::Total).is_some_and(|total| total < phase.number.whole())
        });
        let mut statuses = claims.iter().filter_map(|claim| claim.value.status());
        let new: Vec<(&Located<Claim>, Option<String>)> =
            claims.iter().map(|claim| (claim, moved(&claim.value, phase))).collect();
        let known: Vec<&Range<usize>> = new
            .iter()
            .filter(|(claim, new)| new.is_some() || claim.value.status().is_some())
            .map(|(claim, _)| &claim.range)
            .collect();
        let is_of_plans = |claim: &&Located<Claim>| {
            let says = [Says::PlansDone, Says::PlansTotal, Says::CurrentPlan];
            says.iter().any(|says| claim.value.count(*says).is_some())
        };
        let ends = claims.iter().filter(is_of_plans).map(|claim| claim.range.end);
        let mut ends = ends.chain(moves.iter().map(|finding| finding.range.end));
        if exceeds
            || statuses.any(|status| !is_plain(status))
            || ends.any(|end| leaves_text(self.text, end, &known))
        {
            return;
        }
        for finding in moves {
            self.correct(finding);
        }
        let index = self.survey.position.current;
        for (claim, new) in new {
            if let Some(new) = new {
                self.put(claim.line, &claim.range, None, new, index);
            }
        }
    }

    fn put(
        &mut self,
        line: usize,
        range: &Range<usize>,
        kind: Option<DriftKind>,
        text: String,
        phase: Option<usize>,
    ) {
        let old = self.text.get(range.clone()).filter(|stated| **stated != text);
        let Some(stated) = old else { return };
        let shown = |mark: &str| match kind {
            Some(DriftKind::Checkbox) => format!("[{mark}]"),
            _ => mark.to_owned(),
        };
        let correction = Correction {
            kind,
            stated: shown(stated),
            written: shown(&text),
            file: self.file.strip_prefix(&self.survey.root).unwrap_or(self.file).to_owned(),
            line,
            because: because(self.survey, phase),
        };
        self.changes.push((Edit::replace(range.clone(), text), correction));
    }
}

/// Returns whether a line has words behind an offset that no claim contains: `4 executed — PDF export`.
fn leaves_text(text: &str, start: usize, claims: &[&Range<usize>]) -> bool {
    const NEUTRAL: &[&str] = &["phase", "of", "in", "current", "plan", "plans", "the"];
    let rest = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
    let is_left = |at: usize| !claims.iter().any(|range| range.contains(&(start + at)));
    let left: String = rest.char_indices().filter(|(at, _)| is_left(*at)).map(|(_, c)| c).collect();
    let mut words = left.split(|c: char| !c.is_alphanumeric());
    words.any(|word| {
        let is_neutral = NEUTRAL.iter().any(|one| word.eq_ignore_ascii_case(one));
        word.contains(char::is_alphabetic) && !is_neutral
    })
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
    if phase.state == PhaseState::Open
        && let Some(open) = survey.open_plans(phase).next()
    {
        return open;
    }
    let (done, all) = (phase.count(PlanState::Complete), phase.plans.len());
    match &phase.dir {
        Some(dir) => format!("{}: {done} of {all} plans complete", survey.show(dir)),
        None => format!("phase {} has no folder", phase.number),
    }
}

/// Returns the new text of a claim about the current phase once that is `phase`; `None` if it stays.
fn moved(claim: &Claim, phase: &Phase) -> Option<String> {
    let open = phase.plans.iter().position(|(_, state)| *state != PlanState::Complete);
    Some(match claim {
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
    let fits = is_of_it && PhaseProgress::parse(words) == Some(progress) && !names_check(words);
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
        let dir = phase.dir.as_ref().and_then(|dir| dir.file_name());
        let dir = dir.map(|dir| dir.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some((_, rest)) = phase.number.numbering().split_folder(&dir) {
            return Some(rest.trim_start_matches(['-', '_', ' ']).to_owned());
        }
        let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        return Some(words.map(str::to_lowercase).collect::<Vec<_>>().join("-"));
    }
    // A dash between spaces, a bracket or a colon may end a name.
    let is_kept = |c: &char| c.is_alphanumeric() || " _&.,+/'-".contains(*c);
    let name: String = name.replace(" - ", " ").chars().filter(is_kept).collect();
    let name = one_line(&name);
    (!name.is_empty()).then_some(name)
}

/// Returns whether a template could have written a status, since it contains only status words and numbers.
pub(super) fn is_plain(status: &str) -> bool {
    let mut words = status.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let has_words = words.clone().next().is_some();
    has_words
        && words.all(|word| {
            let is_number = word.starts_with(|c: char| c.is_ascii_digit());
            is_number || has("status of a template", &word.to_lowercase())
        })
}

#[cfg(test)]
mod tests;
