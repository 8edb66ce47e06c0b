//! Corrects the position lines of STATE.md and the checkboxes and progress rows of the roadmap by byte range.
//!
//! Only statements that [`drift`](crate::plan::drift()) reports are rewritten, with what depends on them: the phase's
//! name next to its number, the plans next to the phase, the bar next to its percentage. And only values that the
//! planning tools' own templates could have written are written over; the rest remains, for a person. Nothing is
//! written where the files leave open what is right.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::clock::parse_date;
use crate::error::{Error, Result};
use crate::plan::drift::{Expected, Finding, findings, statements, unprefixed};
use crate::plan::{
    Action, Claim, DEFAULT_MILESTONE, Drift, DriftKind, Located, MAX_CLAIMS, Phase, PhaseProgress,
    PhaseState, PlanState, Position, Survey,
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
/// Returns an error if the files are ambiguous.
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
    let [state, roadmap] = [vocabulary::STATE, vocabulary::ROADMAP].map(|name| home.join(name));
    let mut texts = [Source::read(&state)?, Source::read(&roadmap)?];
    let mut corrected = HashSet::new();
    for _ in 0..MAX_ROUNDS {
        let found = findings(&repair.survey);
        let rounds = [
            Round::state(&repair.survey, &texts[0], &found[0]),
            Round::roadmap(&repair.survey, &texts[1], &found[1]),
        ];
        let mut has_changed = false;
        for (text, round) in texts.iter_mut().zip(rounds) {
            // A statement that is to be corrected twice depends on another that is wrong; it is left to a person.
            let of = |one: &Correction| (one.file.clone(), one.line, one.kind, one.written.clone());
            let mut changes = round.changes;
            changes.retain(|change| {
                let (file, line, kind, _) = of(&change.correction);
                kind.is_none()
                    || !corrected.contains(&(file, line, kind, change.correction.stated.clone()))
            });
            corrected.extend(changes.iter().map(|change| of(&change.correction)));
            has_changed |= !changes.is_empty();
            text.apply(&changes);
            repair.corrections.extend(changes.into_iter().map(|change| change.correction));
        }
        if !has_changed {
            break;
        }
        repair.survey = reread(project, &repair.survey, &texts)?;
    }
    let after = &repair.survey.position.next;
    if (before.action, &before.phase) != (after.action, &after.phase) {
        // Corrections may only remove contradictions.
        let first = |because: &[String]| because.first().cloned().unwrap_or_default();
        let (before, after) = (first(&before.because), first(&after.because));
        return Err(Error::refused(format!(
            "the files are ambiguous: {before}, but after correcting STATE.md, {after}"
        ))
        .hint("correct STATE.md by hand; then run it again"));
    }
    repair.remaining = statements(&repair.survey);
    let changed = texts.into_iter().filter(Source::is_changed);
    repair.files =
        changed.map(|text| (text.path, text.old.unwrap_or_default(), text.new)).collect();
    Ok(repair)
}

/// Reads the milestone again, with the current texts.
fn reread(project: &Project, survey: &Survey, texts: &[Source]) -> Result<Survey> {
    let folder = Parsed::clean(survey.folder.clone());
    Survey::read_with(project, folder, &|path: &Path| match texts
        .iter()
        .find(|text| text.path == path)
    {
        Some(text) => Ok(text.old.is_some().then(|| read::decode(text.new.clone(), path))),
        None => read::text(path),
    })
}

/// Returns an error that says what to decide, if the files leave open what is right.
fn check_clear(survey: &Survey) -> Result<()> {
    let position = &survey.position;
    let active = survey.folder.dir.join(vocabulary::ACTIVE);
    let archive = survey.folder.archive_of_active().and_then(|archive| archive.dir.as_ref());
    let found = if survey.state.claims.len() >= MAX_CLAIMS {
        // The rest is not read, and might say something else.
        let what = format!("STATE.md has {MAX_CLAIMS} statements about the position or more");
        Some((what, "remove those that are outdated"))
    } else if survey.folder.active.slug == DEFAULT_MILESTONE && read::exists(&active) {
        let what = format!("{} names no milestone here", survey.show(&active));
        Some((what, "correct ACTIVE or remove it"))
    } else if let Some(dir) = archive {
        let what = format!("{}: contains the same phases, already archived", survey.show(dir));
        Some((what, "remove the phases that were left behind, or the archive"))
    } else if let Some(dir) = other_milestone(survey) {
        let what = format!(
            "{}: STATE.md calls this milestone active, but no ACTIVE file names it",
            survey.show(&dir)
        );
        Some((what, "correct STATE.md, or name the milestone in ACTIVE"))
    } else if let Some(phase) = doubled(position) {
        let what = format!("two folders carry the number {}", phase.number);
        Some((what, "rename one of them"))
    } else {
        contested(position)
            .map(|what| (what, "finish what is open, or correct the document that is wrong"))
    };
    let Some((what, hint)) = found else { return Ok(()) };
    Err(Error::refused(format!("the files are ambiguous: {what}"))
        .hint(format!("{hint}; then run it again")))
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

/// Returns both readings, if another is almost as likely.
fn contested(position: &Position) -> Option<String> {
    let (next, rival) = (&position.next, position.next.rival()?);
    // A plan left in a phase that is done contests shipping, but no statement depends on it.
    let is_leftover = |phase: &Phase| {
        rival.phase.as_ref() == Some(&phase.number)
            && phase.state == PhaseState::Done
            && phase.is_begun()
    };
    if next.action == Action::Ship && position.phases.iter().any(is_leftover) {
        return None;
    }
    let first = |because: &[String]| because.first().cloned().unwrap_or_default();
    Some(format!("{}, but {}", first(&next.because), first(&rival.because)))
}

/// A correction, and the bytes that it replaces.
struct Change {
    range: Range<usize>,
    correction: Correction,
    text: String,
}

/// Collects one round of corrections of a file.
struct Round<'a> {
    survey: &'a Survey,
    position: &'a Position,
    text: String,
    file: PathBuf,
    changes: Vec<Change>,
}

impl<'a> Round<'a> {
    fn new(survey: &'a Survey, source: &Source) -> Self {
        let file = source.path.strip_prefix(&survey.root).unwrap_or(&source.path).to_owned();
        let text = String::from_utf8_lossy(&source.new).into_owned();
        Self { survey, position: &survey.position, text, file, changes: Vec::new() }
    }

    /// Corrects the statements of STATE.md; the phase first, since others refer to the one that it names.
    fn state(survey: &'a Survey, source: &Source, findings: &[Finding]) -> Self {
        let mut round = Self::new(survey, source);
        let is_elsewhere = |finding: &&Finding| finding.drift.kind == DriftKind::Phase;
        let elsewhere: Vec<&Finding> = findings.iter().filter(is_elsewhere).collect();
        if let Some(phase) = round.position.phase().filter(|_| !elsewhere.is_empty()) {
            round.move_phase(&elsewhere, phase);
        } else {
            for finding in findings {
                round.correct(finding);
            }
        }
        round.finished()
    }

    /// Corrects the checkboxes and rows of ROADMAP.md; a row with free text as its status is left whole.
    fn roadmap(survey: &'a Survey, source: &Source, findings: &[Finding]) -> Self {
        let mut round = Self::new(survey, source);
        let is_free = |finding: &&Finding| {
            let old = round.text.get(finding.range.clone());
            matches!(finding.correct, Expected::Status(_)) && old.is_some_and(|old| !is_plain(old))
        };
        let free: HashSet<usize> =
            findings.iter().filter(is_free).map(|finding| finding.drift.line).collect();
        let rows = survey.roadmap.phases.iter().filter_map(|phase| phase.row.as_ref());
        let rows: HashMap<usize, _> = rows.map(|row| (row.line, row)).collect();
        for finding in findings.iter().filter(|finding| !free.contains(&finding.drift.line)) {
            let row = rows.get(&finding.drift.line);
            if row.is_some_and(|row| row.is_total_first)
                && matches!(finding.correct, Expected::Counts(..))
            {
                continue;
            }
            round.correct(finding);
            // A row that is set back loses its date; a remark beside the date is a person's.
            let is_open = matches!(
                finding.correct,
                Expected::Status(PhaseProgress::InProgress | PhaseProgress::NotStarted)
            );
            if let Some(date) = row.filter(|_| is_open).and_then(|row| row.completed.as_ref())
                && date.value.trim().len() == "2026-01-02".len()
                && parse_date(&date.value).is_some()
            {
                round.put(date.line, &date.range, None, "-".to_owned(), finding.phase);
            }
        }
        round.finished()
    }

    /// Returns the round with its changes in file order, and without those that overlap another.
    fn finished(mut self) -> Self {
        self.changes.sort_by_key(|change| change.range.start);
        let mut end = 0;
        self.changes.retain(|change| {
            let is_free = change.range.start >= end;
            if is_free {
                end = change.range.end;
            }
            is_free
        });
        self
    }

    /// Changes STATE.md to the current phase, with all that depends on it; or nothing, if text about the old phase would
    /// be left beside the new number.
    fn move_phase(&mut self, findings: &[&Finding], phase: &Phase) {
        let claims = &self.survey.state.claims;
        let lines: HashSet<usize> = findings.iter().map(|finding| finding.drift.line).collect();
        let exceeds = claims.iter().any(|claim| {
            let total = matches!(claim.value, Claim::Total(total) if total < phase.number.whole());
            total && lines.contains(&claim.line)
        });
        let number = &self.survey.state.numbering;
        let is_remark = claims.iter().filter_map(|claim| claim.value.status()).any(|status| {
            let is_of_new = number.phases_in(status).contains(&phase.number);
            !is_plain(status) && !is_token(status) && !is_of_new
        });
        let new: Vec<(&Located<Claim>, Option<String>)> =
            claims.iter().map(|claim| (claim, moved(&claim.value, phase))).collect();
        let kept: Vec<&Range<usize>> = new
            .iter()
            .filter(|(claim, new)| match &claim.value {
                Claim::Name(_) => new.is_some(),
                value => value.status().is_none_or(|status| is_plain(status) || is_token(status)),
            })
            .map(|(claim, _)| &claim.range)
            .collect();
        let starts = findings.iter().map(|finding| finding.range.end);
        let of_plans = claims.iter().filter(|claim| {
            matches!(
                claim.value,
                Claim::PlansComplete(_) | Claim::PlansTotal(_) | Claim::CurrentPlan(_)
            )
        });
        let starts: Vec<usize> = starts.chain(of_plans.map(|claim| claim.range.end)).collect();
        if exceeds || is_remark || starts.iter().any(|start| self.leaves_text(*start, &kept)) {
            return;
        }
        for finding in findings {
            self.correct(finding);
        }
        let index = self.position.current;
        for (claim, new) in new {
            if let Some(new) = new {
                self.put(claim.line, &claim.range, None, new, index);
            }
        }
    }

    /// Returns whether a line has words behind an offset that no claim contains: `4 executed — PDF export`.
    fn leaves_text(&self, start: usize, claims: &[&Range<usize>]) -> bool {
        const NEUTRAL: &[&str] = &["phase", "of", "in", "current", "plan", "plans", "the"];
        let rest = self.text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
        let is_left = |at: usize| !claims.iter().any(|range| range.contains(&(start + at)));
        let left: String =
            rest.char_indices().filter(|(at, _)| is_left(*at)).map(|(_, c)| c).collect();
        let mut words = left.split(|c: char| !c.is_alphanumeric());
        words.any(|word| {
            let is_neutral = NEUTRAL.iter().any(|one| word.eq_ignore_ascii_case(one));
            word.contains(char::is_alphabetic) && !is_neutral
        })
    }

    fn correct(&mut self, finding: &Finding) {
        let Some(old) = self.text.get(finding.range.clone()) else { return };
        let phase = finding.phase.map(|index| &self.position.phases[index]);
        let written = match &finding.correct {
            Expected::Phase(number) if old.starts_with('0') && number.whole() < 10 => {
                format!("0{number}")
            }
            Expected::Phase(number) => number.to_string(),
            Expected::Count(count) => count.to_string(),
            Expected::Mark(true) => "x".to_owned(),
            Expected::Mark(false) => " ".to_owned(),
            Expected::Counts(done, all) => counts(old, *done, *all),
            Expected::Status(_) if !is_plain(old) => return,
            Expected::Status(progress) => {
                let is_row = finding.drift.kind == DriftKind::ProgressRow;
                status(old, *progress, phase.filter(|_| !is_row))
            }
        };
        if finding.drift.kind == DriftKind::Percent && !self.redraw_bar(finding) {
            return;
        }
        let kind = Some(finding.drift.kind);
        self.put(finding.drift.line, &finding.range, kind, written, finding.phase);
    }

    /// Redraws the template's bar on the line of a percentage; returns whether the line has no other bar.
    fn redraw_bar(&mut self, percent: &Finding) -> bool {
        const SIGNS: [(char, char); 2] = [('\u{2588}', '\u{2591}'), ('#', '-')];
        let Expected::Count(correct) = percent.correct else { return true };
        let claims = self.survey.state.claims.iter();
        let mut on_line = claims.filter(|claim| claim.line == percent.drift.line);
        let bar = on_line.find_map(|claim| match &claim.value {
            Claim::Bar(bar) => Some((claim, bar)),
            _ => None,
        });
        let Some((claim, bar)) = bar else { return true };
        let inner = bar.trim_start_matches('[').trim_end_matches(']');
        let signs = SIGNS
            .into_iter()
            .find(|(full, empty)| inner.chars().all(|c| c == *full || c == *empty));
        let Some((full, empty)) = signs else { return false };
        let cells = inner.chars().count();
        let filled = cells * correct.min(100) / 100;
        let drawn: String =
            (0..cells).map(|cell| if cell < filled { full } else { empty }).collect();
        let written = bar.replacen(inner, &drawn, 1);
        self.put(claim.line, &claim.range, None, written, None);
        true
    }

    fn put(
        &mut self,
        line: usize,
        range: &Range<usize>,
        kind: Option<DriftKind>,
        text: String,
        phase: Option<usize>,
    ) {
        let Some(stated) = self.text.get(range.clone()).filter(|stated| *stated != text) else {
            return;
        };
        let shown = |mark: &str| match kind {
            Some(DriftKind::Checkbox) => format!("[{mark}]"),
            _ => mark.to_owned(),
        };
        let correction = Correction {
            kind,
            stated: shown(stated),
            written: shown(&text),
            file: self.file.clone(),
            line,
            because: because(self.survey, phase),
        };
        self.changes.push(Change { range: range.clone(), correction, text });
    }
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

/// Returns two counts with the separator of the cell.
fn counts(cell: &str, done: usize, all: usize) -> String {
    // In `0/TBD`, the total is now known.
    let is_counted = cell.ends_with(|c: char| c.is_ascii_digit());
    let between = if is_counted { cell.trim_matches(|c: char| c.is_ascii_digit()) } else { "/" };
    format!("{done}{between}{all}")
}

/// Returns the new text of a claim about the current phase once that is `phase`; `None` if it stays.
fn moved(claim: &Claim, phase: &Phase) -> Option<String> {
    let done = phase.count(PlanState::Complete);
    let open = phase.plans.iter().position(|(_, state)| *state != PlanState::Complete);
    Some(match claim {
        Claim::Name(old) => name(old, phase)?,
        Claim::Index(_) => phase.number.ordinal().to_string(),
        Claim::PlansComplete(_) => done.to_string(),
        Claim::PlansTotal(_) => match phase.plans_expected().max(phase.declared.unwrap_or(0)) {
            // The tools write this before a phase is planned.
            0 => "TBD".to_owned(),
            plans => plans.to_string(),
        },
        Claim::CurrentPlan(_) => open.map_or(phase.plans.len(), |index| index + 1).to_string(),
        Claim::Status(old) | Claim::PhaseStatus(old) => moved_status(old, phase)?,
        _ => return None,
    })
}

/// Returns the status of the new current phase, if the old one does not fit it.
fn moved_status(old: &str, phase: &Phase) -> Option<String> {
    let (named, words) = unprefixed(old, phase.number.numbering());
    let progress = match phase.state {
        PhaseState::Done => PhaseProgress::Complete,
        PhaseState::Running => PhaseProgress::InProgress,
        PhaseState::Open if phase.is_begun() => PhaseProgress::InProgress,
        PhaseState::Open | PhaseState::Unplanned | PhaseState::Dropped => PhaseProgress::NotStarted,
    };
    let lower = words.to_lowercase();
    let speaks_of_plans = ["execut", "planned", "verif"].iter().any(|word| lower.contains(word));
    let said = PhaseProgress::parse(words);
    if is_token(words) && !is_plain(words) {
        // A token such as `needs_remediation` describes the previous phase.
        return Some(status(old, progress, Some(phase)));
    }
    let is_open = said == Some(PhaseProgress::InProgress)
        || said == Some(PhaseProgress::NotStarted) && !phase.is_begun();
    let fits = said == Some(progress) || is_open && phase.state == PhaseState::Open;
    let is_of_it = named.is_none_or(|number| number == phase.number);
    let is_early = phase.state == PhaseState::Unplanned && speaks_of_plans;
    if fits && is_of_it && !is_early || !(is_plain(old) || is_token(words)) {
        return None;
    }
    (said.is_some() || is_token(words)).then(|| status(old, progress, Some(phase)))
}

/// Returns a status in the words of the templates, as a single word if the old one is; `phase` is given for STATE.md, where
/// the next step is named.
fn status(old: &str, progress: PhaseProgress, phase: Option<&Phase>) -> String {
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
    let joint = if old.contains('-') { "-" } else { "_" };
    if is_word { words.to_lowercase().replace(' ', joint) } else { words.to_owned() }
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
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        return Some(words.join("-"));
    }
    let is_kept = |c: &char| c.is_alphanumeric() || " _&.,+/'".contains(*c);
    // A dash between spaces, a bracket or a colon may end a name.
    let name = name.replace(" - ", " ");
    let name: String = name.chars().filter(|c| is_kept(c) || *c == '-').collect();
    let name = one_line(&name);
    (!name.is_empty()).then_some(name)
}

/// Words of the templates' statuses; a text that consists of these and numbers contains no free text.
const PLAIN: &[&str] = &[
    "active", "all", "and", "begin", "begun", "building", "built", "commit", "commits", "complete",
    "completed", "current", "done", "execute", "executed", "executing", "execution", "finished",
    "for", "in", "inprogress", "is", "milestone", "next", "not", "of", "ongoing", "pass",
    "pending", "phase", "phases", "plan", "planned", "planning", "plans", "progress", "qa",
    "queued", "ready", "ship", "shipped", "started", "task", "tasks", "test", "tests", "the", "to",
    "todo", "unplanned", "upcoming", "verification", "verified", "verify", "verifying", "wave",
    "waves", "wip", "yet",
];

/// Returns whether a template could have written a status, since it contains only status words and numbers.
pub(super) fn is_plain(status: &str) -> bool {
    let mut words = status.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let has_words = words.clone().next().is_some();
    has_words
        && words.all(|word| {
            let is_number = word.starts_with(|c: char| c.is_ascii_digit());
            is_number || PLAIN.contains(&word.to_lowercase().as_str())
        })
}

/// Returns whether a status is one of the tools' tokens: `needs_remediation`.
fn is_token(status: &str) -> bool {
    status.contains('_') && status.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

/// A file with its old and new bytes, so that invalid UTF-8 is kept.
struct Source {
    path: PathBuf,
    old: Option<Vec<u8>>,
    new: Vec<u8>,
}

impl Source {
    /// Reads a file; a missing one has an empty text.
    fn read(path: &Path) -> Result<Self> {
        let old = read::bytes(path)?;
        Ok(Self { path: path.to_owned(), new: old.clone().unwrap_or_default(), old })
    }

    fn is_changed(&self) -> bool {
        self.old.as_ref().is_some_and(|old| *old != self.new)
    }

    /// Applies changes whose ranges refer to the decoded text, in file order and without overlaps.
    fn apply(&mut self, changes: &[Change]) {
        let ranges = changes.iter().map(|change| &change.range);
        let offsets: Vec<usize> = ranges.flat_map(|range| [range.start, range.end]).collect();
        let raw = raw_offsets(&self.new, &offsets);
        let (mut new, mut end) = (Vec::with_capacity(self.new.len()), 0);
        for (change, raw) in changes.iter().zip(raw.chunks(2)) {
            new.extend_from_slice(&self.new[end..raw[0]]);
            new.extend_from_slice(change.text.as_bytes());
            end = raw[1];
        }
        new.extend_from_slice(&self.new[end..]);
        self.new = new;
    }
}

/// Maps ascending offsets of the decoded text to the bytes: a replacement character may stand for fewer bytes.
fn raw_offsets(bytes: &[u8], offsets: &[usize]) -> Vec<usize> {
    let mut chunks = bytes.utf8_chunks().peekable();
    let (mut in_text, mut in_bytes) = (0, 0);
    let mut found = Vec::with_capacity(offsets.len());
    for offset in offsets {
        while let Some(chunk) = chunks.next_if(|chunk| *offset > in_text + chunk.valid().len()) {
            let is_replaced = !chunk.invalid().is_empty();
            in_text += chunk.valid().len()
                + if is_replaced { char::REPLACEMENT_CHARACTER.len_utf8() } else { 0 };
            in_bytes += chunk.valid().len() + chunk.invalid().len();
        }
        found.push((in_bytes + offset.saturating_sub(in_text)).min(bytes.len()));
    }
    found
}

#[cfg(test)]
mod tests;
