//! Fills each part from its store.

use std::collections::BTreeSet;

use crate::context::DigestRequest;
use crate::context::ledger::Ledger;
use crate::context::part::DigestPart;
use crate::context::part::DigestSection;
use crate::context::part::unmarked;
use crate::error::ErrorKind;
use crate::error::Result;
use crate::facts;
use crate::facts::Facts;
use crate::facts::Purpose;
use crate::knowledge;
use crate::knowledge::EntryQuery;
use crate::knowledge::notepad;
use crate::patterns;
use crate::patterns::RelevantPattern;
use crate::patterns::StaleReasons;
use crate::position::Drift;
use crate::position::StatusReport;
use crate::position::Survey;
use crate::project::Project;
use crate::storage::Changes;
use crate::text::Line;
use crate::text::clip;
use crate::text::fold;
use crate::text::sanitized;
use crate::warning::Warning;

/// Maximum length of a line, in characters: a digest gives an overview, the full text is in the stores.
const MAX_LINE_CHARS: usize = 240;

/// Maximum number of decisions: no budget has room for more.
const MAX_DECISIONS: usize = 1000;

/// Maximum length of the name of a phase, in characters, as in the context file; its status follows it.
const MAX_NAME_CHARS: usize = 160;

/// Maximum number of patterns in one digest.
const MAX_PATTERNS: usize = 5;

/// Maximum number of breadcrumbs after a compaction.
const MAX_BREADCRUMBS: usize = 5;

/// Minimum score of a matching entry: one below it merely mentions a word of the topic somewhere in its body.
const MIN_SCORE: u32 = 3;

/// Maximum number of tokens of the user's facts.
const MAX_FACT_TOKENS: usize = 400;

/// Data shared by all parts: the project, the state of its planned work, and its ledger.
pub(crate) struct Gatherer<'a> {
    project: &'a Project,
    request: &'a DigestRequest,
    planning: Option<(Survey, StatusReport)>,
    ledger: Option<Ledger>,
}

impl<'a> Gatherer<'a> {
    pub(crate) fn new(
        project: &'a Project,
        request: &'a DigestRequest,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        let planning = project.planning().is_ok().then(|| Survey::read(project));
        let planning = or_warning(project, planning.transpose(), warnings).map(|survey| {
            let status = StatusReport::from_survey(project, &survey);
            (survey, status)
        });
        let ledger = or_warning(project, Ledger::read(project), warnings);
        Self {
            project,
            request,
            planning,
            ledger,
        }
    }

    /// Returns the lines of one part; none if its store is not in use.
    pub(crate) fn gather(
        &self,
        part: DigestPart,
        warnings: &mut Vec<Warning>,
    ) -> Result<DigestSection> {
        let lines = match part {
            DigestPart::Position => self.position(),
            DigestPart::Ledger => self.ledger_lines(Ledger::state),
            DigestPart::Blockers => self.blockers(),
            DigestPart::Notepad => self.notepad()?,
            DigestPart::Constraints => self.ledger_lines(Ledger::constraints),
            DigestPart::Decisions => self.decisions(),
            DigestPart::Patterns => self.patterns(warnings)?,
            DigestPart::Entries => self.entries(warnings)?,
            DigestPart::Facts => self.facts()?,
            DigestPart::Todos => self.todos(),
        };
        let lines = lines.iter().map(|line| safe(line));
        let lines = lines.filter(|line| !self.request.already_read.contains(line.as_str()));
        Ok(DigestSection::new(part, lines))
    }

    fn status(&self) -> Option<&StatusReport> {
        self.planning.as_ref().map(|(_, status)| status)
    }

    /// Uses the wording of the context file, so that a session that has read it does not get the same lines
    /// again.
    fn position(&self) -> Vec<String> {
        let Some(status) = self.status() else {
            return Vec::new();
        };
        let mut lines = vec![format!("Next action: {}", status.next.command)];
        let contest = status.next.contest();
        lines.extend(contest.map(|contest| format!("Contested: {contest}")));
        let phase = &status.derived;
        if let Some(number) = &phase.number {
            let name = phase.name.iter();
            let name = name.map(|name| format!(" - {}", clip(name, MAX_NAME_CHARS)));
            let state = phase.status.iter().map(|state| format!(" ({state})"));
            let rest: String = name.chain(state).collect();
            lines.push(format!("Phase: {number}{rest}"));
        }
        let milestone = status.milestone_name();
        lines.extend(milestone.map(|name| format!("Milestone: {name}")));
        lines.extend(drift_lines(&status.drift));
        lines
    }

    fn blockers(&self) -> Vec<String> {
        self.status()
            .map(|status| status.blockers.clone())
            .unwrap_or_default()
    }

    fn todos(&self) -> Vec<String> {
        self.status()
            .map(|status| status.todos.clone())
            .unwrap_or_default()
    }

    fn ledger_lines(&self, lines: impl Fn(&Ledger) -> Vec<String>) -> Vec<String> {
        self.ledger.as_ref().map(lines).unwrap_or_default()
    }

    /// Returns the pinned notes, and after a compaction also the latest working notes.
    ///
    /// If there is room for only a few lines, the latest breadcrumbs take up to two of them.
    fn notepad(&self) -> Result<Vec<String>> {
        let mut lines = self.notes(notepad::NotepadSection::Priority, usize::MAX)?;
        if self.request.compacted {
            let breadcrumbs = self.notes(notepad::NotepadSection::Working, MAX_BREADCRUMBS)?;
            let room = self
                .request
                .max_lines_per_part
                .saturating_sub(breadcrumbs.len().min(2));
            let last = lines.split_off(room.min(lines.len()));
            lines.extend(breadcrumbs.into_iter().chain(last));
        }
        Ok(lines)
    }

    fn notes(&self, section: notepad::NotepadSection, max: usize) -> Result<Vec<String>> {
        match notepad::read(self.project, Some(section)) {
            Ok(found) => {
                let lines = found.text.lines().map(unmarked);
                let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("<!--"));
                Ok(lines.take(max).map(str::to_owned).collect())
            }
            Err(error) if error.kind == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Returns the decisions of the ledger, then those of STATE.md and PROJECT.md, newest first: new ones are
    /// appended.
    fn decisions(&self) -> Vec<String> {
        let survey = self.planning.iter().map(|(survey, _)| survey);
        let planned = survey.flat_map(|survey| {
            let from_state = survey.state.decisions.iter().rev();
            from_state.chain(survey.project_file.decisions.iter().rev())
        });
        let planned = planned.take(MAX_DECISIONS);
        // The context file may omit the rationale, and always omits the tag.
        let planned =
            planned.filter(|decision| !self.request.already_read.contains(decision.untagged()));
        let mut seen = BTreeSet::new();
        // PROJECT.md repeats some of the decisions in STATE.md.
        let planned = planned.filter(|decision| seen.insert(fold(decision.untagged())));
        let planned = planned.map(|decision| match &decision.rationale {
            Some(why) => format!("{} ({why})", decision.untagged()),
            None => decision.untagged().to_owned(),
        });
        let mut lines = self.ledger_lines(Ledger::decisions);
        lines.extend(planned);
        lines
    }

    /// Returns the patterns that match the topic and still hold.
    fn patterns(&self, warnings: &mut Vec<Warning>) -> Result<Vec<String>> {
        let Some((survey, _)) = &self.planning else {
            return Ok(Vec::new());
        };
        let relevant = match &self.request.topic {
            None => patterns::known_patterns(self.project, survey)?.into_value(warnings),
            Some(topic) => {
                let recent = patterns::recent(self.project, &Changes::new(), warnings)?;
                let reasons = StaleReasons::cached_or_checked(self.project, &recent, warnings);
                patterns::relevant(&recent, topic, &|line, text| reasons.about(line, text))
            }
        };
        let fresh = relevant.iter().filter(|pattern| pattern.stale.is_none());
        Ok(fresh
            .filter_map(RelevantPattern::standalone)
            .take(MAX_PATTERNS)
            .collect())
    }

    /// Returns the entries about the topic, as references by key.
    fn entries(&self, warnings: &mut Vec<Warning>) -> Result<Vec<String>> {
        let phase = self
            .planning
            .as_ref()
            .and_then(|(survey, _)| survey.position.phase());
        let topic = self
            .request
            .topic
            .as_ref()
            .or(phase.and_then(|phase| phase.name.as_ref()));
        let Some(topic) = topic else {
            return Ok(Vec::new());
        };
        let query = EntryQuery {
            text: topic.clone(),
            ..EntryQuery::default()
        };
        let found = knowledge::query(self.project, &query)?.into_value(warnings);
        let hits = found.hits.iter().filter(|hit| hit.score >= MIN_SCORE);
        Ok(hits
            .map(|hit| {
                format!(
                    "[[{}]] {}",
                    hit.key,
                    unmarked(hit.snippet.trim_start_matches('#'))
                )
            })
            .collect())
    }

    /// Returns what is known about the user, if one is set.
    fn facts(&self) -> Result<Vec<String>> {
        if self.project.settings.user.is_none() {
            return Ok(Vec::new());
        }
        let user = facts::user(self.project, None)?;
        let store = Facts::open(self.project, None, Purpose::Read)?;
        let topic = self.request.topic.as_deref();
        let injected = facts::inject(&store, &user, None, MAX_FACT_TOKENS, topic)?;
        let lines = injected.text.lines().filter(|line| line.starts_with("- "));
        Ok(lines.map(|line| unmarked(line).to_owned()).collect())
    }
}

/// Returns a line for each file that contradicts the others, so that a session does not rely on it.
fn drift_lines(drift: &[Drift]) -> impl Iterator<Item = String> {
    let files = drift.chunk_by(|drift, next| drift.file == next.file);
    files.map(|drifts| match drifts {
        [drift] => format!(
            "Drift: {}:{}: {}",
            drift.file.display(),
            drift.line,
            drift.sentence()
        ),
        drifts => {
            let lines: BTreeSet<usize> = drifts.iter().map(|drift| drift.line).collect();
            let word = if lines.len() == 1 { "line" } else { "lines" };
            let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
            format!(
                "Drift: {}, {word} {}: contradicts the files (`annals status`)",
                drifts[0].file.display(),
                lines.join(", ")
            )
        }
    })
}

/// Returns what was read; an error becomes a warning, since the other stores can still be used.
fn or_warning<T>(
    project: &Project,
    result: Result<Option<T>>,
    warnings: &mut Vec<Warning>,
) -> Option<T> {
    result.unwrap_or_else(|error| {
        warnings.push(Warning::file(&project.root, error.to_string()));
        None
    })
}

/// Returns a foreign text as one line that cannot act as markdown structure and contains no secret.
fn safe(text: &str) -> Line {
    Line::new(&sanitized(text)).clipped(MAX_LINE_CHARS)
}
