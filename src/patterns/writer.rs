//! Writes PATTERNS.md: creates the entries of finished phases, appends them and notes, and replaces lessons. Every other byte
//! stays as it is.

use std::path::PathBuf;

use chrono::NaiveDate;
use clap::Args;
use serde::Serialize;

use crate::clock::{Minutes, TimeUnit};
use crate::error::{Error, Result};
use crate::markdown::{Outline, line_start};
use crate::patterns::entry::EntryHeading;
use crate::patterns::lesson::{CheckedLessons, Lesson, is_project_file};
use crate::patterns::relevance::is_statistic;
use crate::patterns::{
    Comparison, FinishedPhase, PatternEntry, Patterns, PlanRecord, Trace, entry, lesson,
    plans_without_deviation_count, stated_deviations,
};
use crate::plan::{PhaseNumber, PhaseNumbering, Survey};
use crate::project::Project;
use crate::storage::{Changes, Store, read};
use crate::templates::Template;
use crate::text::{Line, join, line_end};
use crate::warning::Warning;
use crate::{patterns, secrets, templates};

/// Heading of the section of notes, at the end of the file.
const NOTES: &str = "Notes";

/// Maximum length of a note, in characters.
const MAX_NOTE_LENGTH: usize = 400;

/// PATTERNS.md while it is changed; one that does not exist begins with its header.
struct PatternsFile {
    path: PathBuf,
    old: Option<Vec<u8>>,
    bytes: Vec<u8>,
}

impl PatternsFile {
    fn open(project: &Project, changes: &Changes) -> Result<Self> {
        let path = patterns::path(&project.planning_place().dir);
        let old = changes.current(&path)?;
        read::refuse_wide(old.as_deref().unwrap_or_default(), &path)?;
        let bytes = match &old {
            Some(bytes) if !bytes.is_empty() => bytes.clone(),
            _ => templates::render(Template::PatternsHeader, &())?.into_bytes(),
        };
        Ok(Self { path, old, bytes })
    }

    fn parsed(&self, bytes: &[u8]) -> Patterns {
        Patterns::parse(&String::from_utf8_lossy(bytes), &self.path).value
    }

    /// Plans writing `new`, unless what is new would not be read there.
    fn write(
        self,
        new: Vec<u8>,
        changes: &mut Changes,
        is_read: impl Fn(&Patterns) -> bool,
    ) -> Result<()> {
        let hint = "move older entries to a file with another name";
        Outline::check_whole(&String::from_utf8_lossy(&new), &self.path, hint)?;
        if !is_read(&self.parsed(&new)) {
            return Err(Error::refused("ends inside an unclosed block")
                .at(&self.path, None)
                .hint("close that block by hand"));
        }
        changes.edit(&self.path, self.old, new)
    }
}

/// Appends lines after a blank line, with the line endings of the text before.
fn add(bytes: &mut Vec<u8>, lines: &str) {
    let end = line_end(&*bytes);
    for missing in ["\n", format!("\n{end}").as_str()] {
        if !bytes.ends_with(missing.as_bytes()) {
            bytes.extend(end.as_bytes());
        }
    }
    for line in lines.lines() {
        bytes.extend(line.as_bytes());
        bytes.extend(end.as_bytes());
    }
}

/// Plans appending entries to PATTERNS.md, which is created with a header if it does not exist.
///
/// This does not check whether a phase already has an entry.
pub fn append(project: &Project, entries: &[Retrospective], changes: &mut Changes) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let file = PatternsFile::open(project, changes)?;
    let known = file.parsed(&file.bytes).entries.len();
    let mut new = file.bytes.clone();
    for entry in entries {
        add(&mut new, &entry.render()?);
    }
    file.write(new, changes, |read| {
        let added = read.entries.iter().skip(known).map(|entry| entry.trace.as_ref());
        added.eq(entries.iter().map(|entry| Some(&entry.trace)))
    })
}

/// Plans replacing the lessons of a recorded entry, which is identified by the line of its heading. Returns the old ones;
/// `None` if they are the same.
///
/// Refused if the entry's bullets are not, byte for byte, what annals wrote.
pub(crate) fn replace_lessons(
    project: &Project,
    line: usize,
    lessons: &CheckedLessons,
    changes: &mut Changes,
) -> Result<Option<String>> {
    let file = PatternsFile::open(project, changes)?;
    let text = read::editable(&file.bytes, &file.path)?;
    let known = file.parsed(&file.bytes).entries.into_iter().find(|entry| entry.line == line);
    let new = known.and_then(|entry| {
        let new = rewritten(&entry, lessons)?;
        let new = format!("{}{new}{}", &text[..entry.range.start], &text[entry.range.end..]);
        Some((entry::bullets(&entry.worked, &entry.failed), new))
    });
    let (old, new) = new.ok_or_else(|| {
        Error::refused("the entry's bullets were edited and are not replaced")
            .at(&file.path, line)
            .hint("--again appends a new entry, or `annals patterns note` adds to them")
    })?;
    let replaced = (new != text).then_some(old);
    changes.edit(&file.path, file.old, new.into_bytes())?;
    Ok(replaced)
}

/// Returns an entry's text with other lessons; `None` if its bullets are not what annals wrote.
fn rewritten(known: &PatternEntry, lessons: &CheckedLessons) -> Option<String> {
    let mut trace = known.trace.clone()?;
    if trace.bullets.as_deref() != Some(&entry::digest(&known.worked, &known.failed)) {
        return None;
    }
    let end = line_end(&known.text);
    let old = entry::bullets(&known.worked, &known.failed).replace('\n', end);
    let (before, after) = known.text.split_once(&old)?;
    trace.sources.clear();
    let mut replaced = |lessons: &[Lesson], texts: &[String]| -> Vec<String> {
        // Statistics compare plans of all phases, so they stay.
        let statistics = texts.iter().filter(|text| is_statistic(text));
        let new = lessons.iter().map(|one| (one.text.to_string(), one.source.clone()));
        let new = new.chain(statistics.map(|text| (text.clone(), None)));
        let (texts, sources): (Vec<_>, Vec<_>) = new.unzip();
        trace.sources.extend(sources);
        texts
    };
    let worked = replaced(&lessons.worked, &known.worked);
    let failed = replaced(&lessons.failed, &known.failed);
    trace.judged = true;
    trace.bullets = Some(entry::digest(&worked, &failed));
    let new = entry::bullets(&worked, &failed).replace('\n', end);
    trace.replaced_in(&format!("{before}{new}{after}"))
}

/// A request to note a lesson.
#[derive(Args, Clone, Debug)]
pub struct NoteRequest {
    /// The lesson.
    #[arg(skip)]
    pub text: String,
    /// With `note`, the phase that the lesson belongs to
    #[arg(long, value_name = "N")]
    pub phase: Option<PhaseNumber>,
    /// With `note`, a file that the lesson is about, relative to the project
    #[arg(long = "file", value_name = "PATH")]
    pub files: Vec<String>,
}

/// The outcome of noting a lesson. It is the document of `annals patterns note --json`.
#[derive(Debug, serde::Serialize)]
pub struct NoteReport {
    /// The note as written in PATTERNS.md.
    pub line: String,
    /// Whether the note was added; false if PATTERNS.md already contains it.
    pub is_new: bool,
    /// The changes, on a dry run.
    pub diff: Option<String>,
    /// Warnings, for example that the change was not recorded for `annals undo`.
    pub warnings: Vec<Warning>,
}

/// Notes a lesson in the section `Notes` of PATTERNS.md.
pub fn note(project: &Project, request: &NoteRequest) -> Result<NoteReport> {
    project.planning()?;
    let line = note_line(project, request)?;
    let is_noted = |known: &Patterns| known.loose.iter().any(|loose| loose.text == line);
    let (is_new, applied) = project.transact("note a pattern", &[Store::Patterns], || {
        let mut changes = Changes::new();
        let file = PatternsFile::open(project, &changes)?;
        let known = file.parsed(&file.bytes);
        let is_new = !is_noted(&known);
        if is_new {
            let new = noted(read::editable(&file.bytes, &file.path)?, &known, &line);
            file.write(new, &mut changes, is_noted)?;
        }
        Ok((is_new, changes))
    })?;
    let warnings = project.named(applied.warnings);
    Ok(NoteReport { line, is_new, diff: applied.diff, warnings })
}

/// Returns the note as written: the day, the text, the phase and the files.
fn note_line(project: &Project, request: &NoteRequest) -> Result<String> {
    let text = Line::new(request.text.trim());
    secrets::refuse("the note", text.as_str())?;
    let length = text.as_str().chars().count();
    if text.is_empty() || length > MAX_NOTE_LENGTH {
        return Err(Error::refused(format!(
            "a note has 1 to {MAX_NOTE_LENGTH} characters, this one {length}"
        )));
    }
    if let Some(phase) = &request.phase
        && phase.numbering() == PhaseNumbering::MilestonePrefixed
    {
        Survey::read(project)?.check_number(phase)?;
    }
    if let Some(file) = request.files.iter().find(|file| !is_project_file(&project.root, file)) {
        let message = format!("{file} is not the path of a file in this project");
        return Err(Error::refused(message).hint("name files relative to the project"));
    }
    let phase = request.phase.iter().map(|phase| format!("phase {phase}"));
    let files = request.files.iter().map(|file| format!("`{file}`"));
    let about = join(phase.chain(files), ", ");
    let about = if about.is_empty() { about } else { format!(" ({about})") };
    Ok(format!("{}: {text}{about}", project.clock.today()))
}

/// Returns the text with the note at the end of the last section of notes outside of entries, or of a new one.
fn noted(text: &str, known: &Patterns, line: &str) -> Vec<u8> {
    let is_inside = |at: usize| known.entries.iter().any(|entry| entry.range.contains(&at));
    let outline = Outline::parse(text, 0);
    let mut sections = outline.sections().iter();
    let own = sections.rfind(|section| section.title == NOTES && !is_inside(section.heading.start));
    let Some(section) = own else {
        // The heading is at the level of the entries' headings, so that it ends the last entry.
        let level = |entry: &PatternEntry| entry.text.bytes().take_while(|c| *c == b'#').count();
        let levels = known.entries.iter().map(level).filter(|level| *level > 0);
        let heading = "#".repeat(levels.min().unwrap_or(3).min(3));
        let mut new = text.as_bytes().to_vec();
        add(&mut new, &format!("{heading} {NOTES}\n\n- {line}"));
        return new;
    };
    let end = line_end(text);
    // The next heading may stand in a quote, whose mark is before it.
    let is_last = section.own.end == text.len();
    let next = if is_last { section.own.end } else { line_start(text, section.own.end) };
    let before = text[..next].trim_end();
    let after = if before.len() == text.len() { end } else { &text[before.len()..] };
    // Directly below some blocks, such as HTML, the note would belong to them.
    let is_list = before.lines().last().is_some_and(|last| last.trim_start().starts_with("- "));
    let gap = if is_list { end.to_owned() } else { end.repeat(2) };
    format!("{before}{gap}- {line}{after}").into_bytes()
}

/// The content of an entry; `templates/patterns/entry.md.j2` defines its form.
#[derive(Debug, Serialize)]
pub struct Retrospective {
    /// The phase's number; `None` for a quick task.
    pub number: Option<PhaseNumber>,
    /// The phase's name.
    pub name: Line,
    /// The day the phase was finished; `None` if unknown.
    pub date: Option<NaiveDate>,
    /// The trace that identifies the entry.
    pub trace: Trace,
    /// What worked, strongest first.
    pub worked: Vec<Line>,
    /// What failed, strongest first.
    pub failed: Vec<Line>,
    /// Number of plans.
    pub plans: usize,
    /// The average duration of a plan, as printed; `None` if none is known.
    pub average: Option<String>,
    /// The duration of all plans, as printed; `None` if none is known.
    pub total: Option<String>,
    /// The effort profile in force.
    pub effort: Option<Line>,
    /// Number of deviations in the plans whose summaries say; `None` if none does.
    pub deviations: Option<u32>,
    /// The kinds of deviations with their severity; `None` if none is stated.
    pub kinds: Option<Line>,
    /// The number of plans that do not say, in words: `2 of 5 plans do not say`; `None` if all plans say, or
    /// none does.
    pub silent: Option<String>,
}

/// The data for an entry that the phase itself does not contain.
#[derive(Clone, Copy, Debug)]
pub struct EntryContext<'a> {
    /// The day the phase was finished according to git or the milestone, used if its summaries do not state
    /// it.
    pub date: Option<NaiveDate>,
    /// The effort profile it was executed with.
    pub effort: Option<&'a str>,
    /// The commit that was checked out when the phase was finished.
    pub commit: Option<&'a str>,
    /// The significant differences between plans, for the newest entry.
    pub insights: &'a [Comparison],
}

impl Retrospective {
    /// Creates the entry of a phase, with the lessons of the agent that worked on it, or else with what its summaries
    /// say.
    pub fn from_phase(
        phase: &FinishedPhase,
        context: &EntryContext<'_>,
        lessons: Option<CheckedLessons>,
    ) -> Self {
        let mut trace = phase.trace(context.commit);
        trace.judged = lessons.is_some();
        let (mut worked, mut failed) = match lessons {
            Some(lessons) => (lessons.worked, lessons.failed),
            None => (lesson::worked(phase), lesson::failed(phase)),
        };
        for insight in context.insights {
            let is_failure = insight.question.is_about_deviations();
            let list = if is_failure { &mut failed } else { &mut worked };
            list.push(Lesson { text: Line::sanitized(&insight.statement), source: None });
        }
        trace.sources = worked.iter().chain(&failed).map(|one| one.source.clone()).collect();
        let texts =
            |list: Vec<Lesson>| -> Vec<Line> { list.into_iter().map(|one| one.text).collect() };
        let (worked, failed) = (texts(worked), texts(failed));
        // It shows later that the bullets are unchanged.
        trace.bullets = Some(entry::digest(&worked, &failed));
        let [average, total] = times(&phase.plans);
        let deviations = stated_deviations(&phase.plans);
        let silent = plans_without_deviation_count(&phase.plans);
        let some_say = silent > 0 && deviations.is_some();
        Self {
            number: phase.number.clone(),
            name: name(&phase.name),
            date: phase.completed().or(context.date),
            trace,
            worked,
            failed,
            plans: phase.plans.len(),
            average,
            total,
            effort: context.effort.map(Line::sanitized).filter(|line| !line.is_empty()),
            deviations,
            kinds: kinds(&phase.plans).as_deref().map(Line::sanitized),
            silent: some_say.then(|| format!("{silent} of {} plans do not say", phase.plans.len())),
        }
    }

    /// Returns whether something of a phase would be recorded as having failed.
    pub(crate) fn has_lessons(phase: &FinishedPhase) -> bool {
        !lesson::failed(phase).is_empty()
    }

    /// Returns the entry as written in PATTERNS.md.
    pub fn render(&self) -> Result<String> {
        templates::render(Template::PatternsEntry, self)
    }
}

/// Returns a name as it will be parsed from the heading: without anything that looks like a number or date.
fn name(written: &str) -> Line {
    let read = EntryHeading::parse(&format!("Phase 1: {written} (2000-01-01)"), "");
    Line::sanitized(&read.name).clipped(100)
}

/// Returns the average and the total duration of plans, as printed.
fn times(plans: &[PlanRecord]) -> [Option<String>; 2] {
    let known: Vec<Minutes> =
        plans.iter().filter_map(|plan| plan.summary.duration_minutes).collect();
    let count = u32::try_from(known.len()).unwrap_or(u32::MAX);
    let total: Minutes = known.iter().copied().sum();
    let average = total.as_f64() / f64::from(count.max(1));
    // The time from the first to the last commit excludes the work before the first.
    let is_derived = plans.iter().any(|plan| plan.summary.duration_derived);
    let about = if is_derived { "~" } else { "" };
    let of_some = if known.len() < plans.len() {
        format!(" ({} of {} plans)", known.len(), plans.len())
    } else {
        String::new()
    };
    [Minutes::from_number(average, TimeUnit::Minutes), Some(total)].map(|minutes| {
        let minutes = minutes.filter(|_| !known.is_empty())?;
        Some(format!("{about}{minutes}{of_some}"))
    })
}

/// Returns the kinds by frequency, with their severity: `2 DEVN-03 critical, 1 DEVN-01`; `None` if there are
/// none.
fn kinds(plans: &[PlanRecord]) -> Option<String> {
    let labels = plans.iter().flat_map(PlanRecord::deviations).filter_map(|deviation| {
        let kind = plain(deviation.kind.as_deref()?);
        let severity = deviation.severity.as_deref().map(plain).unwrap_or_default();
        let says_more = !kind.to_lowercase().contains(&severity.to_lowercase());
        Some(if says_more { format!("{kind} {severity}") } else { kind })
    });
    let mut counted: Vec<(String, u32)> = Vec::new();
    for kind in labels.filter(|kind| !kind.is_empty()) {
        match counted.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&kind)) {
            Some((_, count)) => *count += 1,
            None => counted.push((kind, 1)),
        }
    }
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let parts = join(counted.iter().map(|(kind, count)| format!("{count} {kind}")), ", ");
    (!parts.is_empty()).then_some(parts)
}

/// Returns a kind without characters that are special in a bracketed list.
fn plain(kind: &str) -> String {
    let words = kind.split(|c: char| c.is_whitespace() || c.is_control() || "(),;[]*`".contains(c));
    join(words.filter(|word| !word.is_empty()), " ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::plan::{Deviation, PlanNumber, Summary};

    fn with_note(text: &str, line: &str) -> String {
        let known = Patterns::parse(text, Path::new("P.md")).value;
        String::from_utf8(noted(text, &known, line)).unwrap()
    }

    #[test]
    fn one_blank_line_stands_before_what_is_appended() {
        for (old, end) in [
            ("# P\n- a", "\n"),
            ("# P\n- a\n", "\n"),
            ("# P\n- a\n\n", "\n"),
            ("# P\r\n- a\r\n", "\r\n"),
        ] {
            let mut new = old.as_bytes().to_vec();
            add(&mut new, "### Phase 3\ntext\n");
            let expected = format!("# P{end}- a{end}{end}### Phase 3{end}text{end}");
            assert_eq!(String::from_utf8(new).unwrap(), expected, "{old:?}");
        }
    }

    #[test]
    fn notes_share_one_section_outside_of_entries() {
        let file = "# P\n\n### Phase 1: A (2026-01-01)\n\n**What worked:**\n- x is so\n";
        let first = with_note(file, "2026-02-02: one");
        assert!(first.starts_with(file));
        let second = with_note(&first, "2026-02-03: two");
        assert!(
            second.ends_with("### Notes\n\n- 2026-02-02: one\n- 2026-02-03: two\n"),
            "{second}"
        );
        // Entries appended later do not move the section.
        let later = format!("{second}\n### Phase 2: B (2026-03-03)\n\n**What worked:**\n- y\n");
        let third = with_note(&later, "2026-03-04: three");
        assert!(third.contains("two\n- 2026-03-04: three\n\n### Phase 2"), "{third}");
        assert_eq!(third.replace("- 2026-03-04: three\n", ""), later);
    }

    #[test]
    fn the_first_note_of_an_empty_section_is_below_its_heading() {
        for file in ["# P\n\n### Notes", "# P\n\n### Notes\n", "# P\n\n### Notes\n\n"] {
            let new = with_note(file, "2026-02-02: one");
            assert_eq!(new.trim_end(), "# P\n\n### Notes\n\n- 2026-02-02: one", "{file:?}");
            assert!(new.ends_with('\n'));
        }
        assert_eq!(with_note("### Notes\n> # A", "b"), "### Notes\n\n- b\n> # A");
        let between = "### Notes\n### Phase 1: A (2026-01-01)\n\n**What worked:**\n- x\n";
        assert_eq!(
            with_note(between, "2026-02-02: one"),
            between.replacen("Notes\n", "Notes\n\n- 2026-02-02: one\n", 1)
        );
    }

    proptest! {
        #[test]
        fn no_line_is_lost(
            old in "([-#*>`~<! \t\r\n]|```|--|- a|<div>|### Notes\n|### Phase 3: Parser|---|é){0,30}",
            note in "[-#*>`~<!|\\[\\] a:(]{1,20}"
        ) {
            let line = format!("2026-02-02: {}", Line::new(&format!("a{note}b")));
            let new = with_note(&old, &line);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            let mut left = words(&new).into_iter();
            prop_assert!(words(&old).iter().all(|word| left.any(|other| other == *word)));
        }
    }

    fn plan(kind: &str, severity: &str, count: u32) -> PlanRecord {
        let mut plan = PlanRecord::new(PlanNumber::from(1), "S.md".into(), Summary::default(), "");
        plan.summary.deviations = Some(vec![Deviation {
            kind: Some(kind.to_owned()),
            severity: Some(severity.to_owned()),
            ..Deviation::default()
        }]);
        plan.summary.deviation_count = Some(count);
        plan
    }

    #[test]
    fn a_severity_that_the_kind_states_is_not_repeated() {
        let shown = |kind, severity| kinds(&[plan(kind, severity, 1)]).unwrap();
        assert_eq!(shown("DEVN-03", "Critical"), "1 DEVN-03 Critical");
        assert_eq!(shown("Missing critical", "Critical"), "1 Missing critical");
    }

    #[test]
    fn counts_of_any_size_are_added() {
        let plans = [plan("bug", "", u32::MAX), plan("bug", "", u32::MAX)];
        assert_eq!(kinds(&plans).unwrap(), "2 bug");
    }
}
