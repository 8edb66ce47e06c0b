//! Fills each part from its store; the ledger has lines of its own for the start of a session.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::claude_md::{DecisionFile, DecisionList};
use crate::context::packing::{DigestPart, DigestSection, unmarked};
use crate::context::{BREADCRUMB, DigestRequest, START_BLOCKERS};
use crate::error::{ErrorKind, Result};
use crate::facts::{Facts, Purpose};
use crate::knowledge::notepad::NotepadSection;
use crate::knowledge::{EntryFilter, KnowledgeDir, notepad};
use crate::ledger::{Brief, BriefSection, is_filled};
use crate::patterns::{PathCheck, RelevantPattern, StaleReasons};
use crate::plan::{Drift, DriftKind, Handoff, StatusReport, Survey, is_settled};
use crate::project::{Project, vocabulary};
use crate::recall::{RecallQuery, SourceName};
use crate::search::{Language, content_words};
use crate::storage::{Changes, read};
use crate::text::{Line, is_absent, quantity, sanitized, says_none, shell_word, slashed};
use crate::warning::Warning;
use crate::{claude_md, context, facts, knowledge, ledger, lifecycle, patterns, recall};

/// Maximum length of a line, in characters: a digest gives an overview, the full text is in the stores.
const MAX_LINE_CHARS: usize = 240;

/// Maximum length of a blocker, in characters: it ends with what is left to do.
const MAX_BLOCKER_CHARS: usize = 400;

/// Maximum number of decisions: no budget has room for more.
const MAX_DECISIONS: usize = 1000;

/// Maximum number of patterns in one digest.
const MAX_PATTERNS: usize = 5;

/// Maximum number of entries, as of every list at the start of a session.
const MAX_ENTRIES: usize = 5;

/// Maximum length of an entry that answers the topic, in characters.
const MAX_ANSWER_CHARS: usize = 600;

/// Maximum number of units of earlier sessions.
const MAX_SESSIONS: usize = 3;

/// Maximum number of the agent's own working notes after a compaction.
const MAX_OWN_NOTES: usize = 4;

/// Maximum number of breadcrumbs after a compaction: the latest says where the work stood.
const MAX_BREADCRUMBS: usize = 1;

/// Maximum number of lines of the note that the last session left.
const MAX_RESUME_NOTES: usize = 3;

/// Minimum score of a matching entry: one below it merely mentions a word of the topic somewhere in its body.
const MIN_SCORE: usize = 3;

/// Data shared by all parts: the project, the state of its planned work, and its ledger.
pub(crate) struct Gatherer<'a> {
    project: &'a Project,
    request: &'a DigestRequest,
    survey: Option<Survey>,
    status: Option<StatusReport>,
    ledger: Option<Brief>,
}

/// A line, and the list that it is from, each of which has its own maximum; a part without several lists is one.
type ListLine<T> = (String, T);

impl<'a> Gatherer<'a> {
    pub(crate) fn new(
        project: &'a Project,
        request: &'a DigestRequest,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        let survey = project.planning().is_ok().then(|| Survey::read(project)).transpose();
        let survey = or_warning(project, survey, warnings);
        let status = survey.as_ref().map(|survey| StatusReport::from_survey(project, survey));
        let ledger =
            ledger::exists(project).then(|| ledger::brief(project, ledger::BRIEF_DAYS)).transpose();
        let ledger = or_warning(project, ledger, warnings);
        Self { project, request, survey, status, ledger }
    }

    /// Returns the lines of one part; none if its store is not in use.
    pub(crate) fn gather(
        &self,
        part: DigestPart,
        warnings: &mut Vec<Warning>,
    ) -> Result<DigestSection> {
        let lines = match part {
            DigestPart::Position => self.position(warnings),
            DigestPart::Ledger => return Ok(self.section(part, self.ledger_state())),
            DigestPart::Blockers => self.blockers(),
            DigestPart::Notepad => self.notepad(warnings)?,
            DigestPart::Constraints => {
                let sections = self.ledger.as_ref().map(Brief::constraint_sections);
                return Ok(self.section(part, ledger_lines(sections.unwrap_or_default())));
            }
            DigestPart::Decisions => self.decisions(),
            DigestPart::Patterns => self.patterns(warnings)?,
            DigestPart::Entries => self.entries(warnings)?,
            DigestPart::Facts => self.facts()?,
            DigestPart::Todos => self.todos(),
            DigestPart::Sessions => self.sessions(warnings)?,
        };
        Ok(self.section(part, lines.into_iter().map(|line| (String::new(), line)).collect()))
    }

    /// Returns a part with those of its lines that the session has not read, and their maximum number. The first lines of
    /// each list come before the rest, so that a long one displaces no other.
    fn section(&self, part: DigestPart, lines: Vec<ListLine<String>>) -> DigestSection {
        let width = match part {
            DigestPart::Blockers => MAX_BLOCKER_CHARS,
            DigestPart::Entries if self.request.topic.is_some() => MAX_ANSWER_CHARS,
            _ => MAX_LINE_CHARS,
        };
        let mut lines: Vec<ListLine<Line>> = lines
            .into_iter()
            .map(|(list, line)| (list, Line::sanitized(&line).clipped(width)))
            .filter(|(_, line)| !line.is_empty())
            .collect();
        let is_known =
            |(_, line): &ListLine<Line>| self.request.already_read.contains(line.as_str());
        if part == DigestPart::Blockers && lines.iter().take(START_BLOCKERS).any(is_known) {
            // The context file has the first ones and says how many more there are: no older one takes their place.
            lines.truncate(START_BLOCKERS);
        }
        lines.retain(|line| !is_known(line));
        let per_list = self.request.max_lines_per_list;
        let mut counts: HashMap<String, usize> = HashMap::new();
        let is_first = |(list, _): &ListLine<Line>| {
            let most = match part {
                DigestPart::Blockers if self.is_start() => START_BLOCKERS,
                _ if list == "Blockers" && self.is_start() => START_BLOCKERS,
                DigestPart::Notepad => self.most_notes(),
                // The last line says how many more there are.
                DigestPart::Entries => per_list.saturating_add(1),
                _ => per_list,
            };
            let count = counts.entry(list.clone()).or_default();
            *count += 1;
            *count <= most
        };
        let (first, rest): (Vec<_>, Vec<_>) = lines.into_iter().partition(is_first);
        let most = first.len();
        DigestSection {
            part,
            lines: first.into_iter().chain(rest).map(|(_, line)| line).collect(),
            most,
        }
    }

    /// Uses the wording of the context file, so that a session that has read it does not get the same lines
    /// again.
    fn position(&self, warnings: &mut Vec<Warning>) -> Vec<String> {
        let Some(status) = &self.status else {
            // Folders below one that is not a repository, such as the home folder, are other projects.
            return self
                .project
                .git
                .is_repository()
                .then(|| context::parts(self.project))
                .iter()
                .flatten()
                .map(|part| part_line(part))
                .collect();
        };
        let mut lines = vec![format!("Next action: {}", status.next.command)];
        let labelled =
            |label: &str, text: Option<String>| text.map(|text| format!("{label}: {text}"));
        lines.extend(labelled("Also", knowledge::entries_of_repository(self.project)));
        lines.extend(
            status.warnings.iter().filter(|warning| warning.is_conflict()).map(Warning::to_string),
        );
        lines.extend(labelled("Contested", status.next.contest()));
        lines.extend(labelled("Also open", status.next.also_open()));
        lines.extend(labelled("Paused", status.paused.as_ref().map(Handoff::line)));
        let phase = labelled("Phase", status.derived.line());
        lines.extend(phase.clone());
        let is_outdated =
            |label: &str| !self.request.already_read.outdated(label, &lines).is_empty();
        if is_outdated("**Next action:**") || phase.is_some() && is_outdated("**Phase:**") {
            lines.insert(
                1,
                "The block in the context file is out of date; this is current".to_owned(),
            );
        }
        // Before what only describes: a start has room for few lines, and this one was left for it.
        lines.extend(self.resume_notes(warnings));
        let remark = status.stated_remark();
        lines.extend(remark.map(|remark| format!("STATE.md says: {remark}")));
        lines.extend(labelled("Milestone", status.milestone.display_name()));
        lines.extend(drift_lines(&status.drift));
        lines
    }

    /// Returns the notes that the last session left with `annals pause`.
    fn resume_notes(&self, warnings: &mut Vec<Warning>) -> Vec<String> {
        let Some(survey) = &self.survey else {
            return Vec::new();
        };
        let notes = lifecycle::current_notes(survey, warnings);
        let notes = or_warning(self.project, notes, warnings).unwrap_or_default();
        let notes = sanitized(&notes);
        let mut notes = notes.lines().filter(|line| !line.trim().is_empty());
        let mut lines: Vec<String> =
            notes.by_ref().take(MAX_RESUME_NOTES).map(|line| format!("Note: {line}")).collect();
        if notes.next().is_some() {
            lines.push("Note: `annals resume` prints the rest".to_owned());
        }
        lines
    }

    fn blockers(&self) -> Vec<String> {
        self.survey.as_ref().map(Survey::current_blockers).unwrap_or_default()
    }

    /// Returns whether the lists are shortened for the start of a session.
    fn is_start(&self) -> bool {
        self.request.max_lines_per_list < usize::MAX
    }

    /// Returns the open todos; VBW's known issues, which were accepted, are only counted. At the start of a session, all todos
    /// are only counted: STATE.md often keeps those that are done, and none says what comes next.
    fn todos(&self) -> Vec<String> {
        let (known, open): (Vec<String>, Vec<String>) = self
            .status
            .as_ref()
            .map(|status| status.todos.clone())
            .unwrap_or_default()
            .into_iter()
            .partition(|todo| todo.starts_with("[KNOWN-ISSUE]"));
        let counted = |count: usize, what: &str| {
            (count > 0).then(|| format!("{} (`annals status`)", quantity(count, what)))
        };
        if self.is_start() {
            return counted(open.len(), "open todo").into_iter().collect();
        }
        open.into_iter().chain(counted(known.len(), "known issue")).collect()
    }

    /// Returns a line for each unresolved merge among the warnings of a store, and the other warnings.
    fn conflicts(&self, warnings: Vec<Warning>) -> (Vec<String>, Vec<Warning>) {
        let is_shown = |one: &Warning| one.is_conflict() && !self.request.is_for_file;
        let (conflicts, others): (Vec<_>, Vec<_>) = warnings.into_iter().partition(is_shown);
        (conflicts.iter().map(Warning::to_string).collect(), others)
    }

    /// Returns the current state, after the required actions and how much of git's history is covered.
    fn ledger_state(&self) -> Vec<ListLine<String>> {
        let Some(brief) = &self.ledger else { return Vec::new() };
        let mut head: Vec<String> = brief
            .action_required
            .iter()
            .map(|action| format!("ACTION REQUIRED: {action}"))
            .collect();
        head.extend(self.conflicts(brief.warnings.clone()).0);
        head.push(format!("Commits covered: {}", brief.coverage.line()));
        head.retain(|_| !self.request.is_for_file);
        head.into_iter()
            .map(|line| (String::new(), line))
            .chain(ledger_lines(brief.state_sections()))
            .collect()
    }

    /// Returns the pinned notes, and after a compaction also the latest working notes: those that the agent wrote, and
    /// where the work stood.
    ///
    /// If there is room for only a few lines, the working notes take up to two of them. Pinned notes are few by their own
    /// limit, and the newest is the last.
    fn notepad(&self, warnings: &mut Vec<Warning>) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let notes = self.notes(NotepadSection::Priority, &mut found)?;
        let (mut lines, others) = self.conflicts(found);
        lines.extend(notes);
        warnings.extend(others);
        if self.request.compacted {
            let working = self.notes(NotepadSection::Working, &mut Vec::new())?;
            let (breadcrumbs, mut working): (Vec<String>, Vec<String>) =
                working.into_iter().partition(|line| line.contains(BREADCRUMB));
            working.truncate(MAX_OWN_NOTES);
            working.extend(breadcrumbs.into_iter().take(MAX_BREADCRUMBS));
            let room = self.most_notes().saturating_sub(working.len().min(2));
            let last = lines.split_off(room.min(lines.len()));
            lines.extend(working.into_iter().chain(last));
        }
        Ok(lines)
    }

    fn most_notes(&self) -> usize {
        self.request.max_lines_per_list.saturating_mul(2)
    }

    fn notes(&self, section: NotepadSection, warnings: &mut Vec<Warning>) -> Result<Vec<String>> {
        match notepad::read(self.project, Some(section)) {
            Ok(found) => {
                warnings.extend(found.warnings);
                // Before it is split into lines: a key may stand on several.
                let text = sanitized(&found.text);
                let lines = text
                    .lines()
                    .map(unmarked)
                    .filter(|line| !line.is_empty() && !line.starts_with("<!--"));
                Ok(lines.map(str::to_owned).collect())
            }
            Err(error) if error.kind == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Returns the decisions of the ledger, then the planning folder's: those that a context file would have, and the rest,
    /// newest first.
    fn decisions(&self) -> Vec<String> {
        let lists: Vec<DecisionList> =
            self.survey.iter().flat_map(claude_md::decision_lists).collect();
        let most = self.request.max_lines_per_list.min(claude_md::MAX_DECISIONS);
        let (chosen, rest) = claude_md::select(&claude_md::ranked(&lists), most);
        // The context file may omit the rationale, and always omits the tag.
        let planned = chosen
            .into_iter()
            .chain(rest)
            .take(MAX_DECISIONS)
            .filter(|(decision, ..)| !self.request.already_read.contains(decision.untagged()))
            .map(|(decision, file, statement)| {
                let statement = statement
                    .or_else(|| claude_md::decision_statement(decision))
                    .unwrap_or_else(|| decision.untagged().to_owned());
                // In front, where no limit cuts it off: it tells a reader whether the decision belongs to the current work.
                let date = || decision.date.map(|date| date.to_string());
                // The column of a table has the number alone.
                let source = decision.source.as_ref().map(|label| {
                    match label.bytes().all(|c| c.is_ascii_digit() || c == b'.') {
                        true => format!("Phase {label}"),
                        false => label.clone(),
                    }
                });
                let file =
                    || (file == DecisionFile::Project).then(|| vocabulary::PROJECT.to_owned());
                match source.or_else(date).or_else(file) {
                    Some(label) => format!("{label}: {statement}"),
                    None => statement,
                }
            });
        let mut lines = self.ledger.as_ref().map(Brief::decision_lines).unwrap_or_default();
        lines.retain(|line| is_filled(line));
        lines.extend(planned);
        lines
    }

    /// Returns the patterns that match the topic and still hold.
    fn patterns(&self, warnings: &mut Vec<Warning>) -> Result<Vec<String>> {
        let Some(survey) = &self.survey else {
            return Ok(Vec::new());
        };
        let relevant = match &self.request.topic {
            None => patterns::known_patterns(self.project, survey)?.into_value(warnings),
            Some(topic) => {
                let mut recent = patterns::with_changes(self.project, &Changes::new(), warnings)?;
                recent.name_milestones(&survey.folder, None, warnings);
                let reasons = StaleReasons::cached_or_checked(self.project, &recent, warnings);
                patterns::relevant(&recent, topic, &|line, text| reasons.about(line, text))
            }
        };
        Ok(relevant
            .iter()
            .filter(|pattern| pattern.stale.is_none())
            .filter_map(RelevantPattern::standalone)
            .take(MAX_PATTERNS)
            .collect())
    }

    /// Returns the entries that answer the topic with their text; without a topic, the active entries in a line
    /// each: those about the current phase first, then the newest and most cited.
    fn entries(&self, warnings: &mut Vec<Warning>) -> Result<Vec<String>> {
        let found = knowledge::summaries(self.project)?;
        let memory = KnowledgeDir::in_project(self.project).memory();
        // An entry that cannot be read is not gone.
        let is_read = found.warnings.is_empty() && read::is_folder(&memory) == memory.exists();
        let conflicts = found.warnings.iter().filter(|warning| warning.is_conflict());
        let conflicts: Vec<PathBuf> = conflicts.map(|warning| warning.place.file.clone()).collect();
        let in_conflict =
            |key: &str| conflicts.iter().any(|file| file.ends_with(format!("{key}.md")));
        let mut all = found.into_value(warnings);
        let phase = self.survey.as_ref().and_then(|survey| survey.position.phase());
        let topic = self.request.topic.as_ref().filter(|topic| !topic.trim().is_empty());
        let keys = match (topic, phase.and_then(|phase| phase.name.as_deref())) {
            (Some(topic), _) => self.answering(topic, all.len(), warnings)?,
            // The name of a phase must match well, and most entries have its `and`.
            (None, Some(name)) => {
                let words = content_words(name, Language::detect(name)).join(" ");
                let text = if words.is_empty() { name } else { &words };
                let found = knowledge::query(self.project, text, &EntryFilter::default())?;
                let hits = found.into_value(warnings).hits.into_iter();
                hits.filter(|hit| hit.score >= MIN_SCORE).map(|hit| hit.key).collect()
            }
            _ => Vec::new(),
        };
        let rank = |key: &str| keys.iter().position(|one| one == key);
        all.retain(|entry| topic.is_none() || rank(&entry.key).is_some());
        all.sort_by_key(|entry| rank(&entry.key).unwrap_or(usize::MAX));
        let more = all.len().saturating_sub(MAX_ENTRIES);
        let mut lines: Vec<String> = all.iter().map(|entry| entry.line(topic.is_some())).collect();
        let outdated: Vec<String> = self
            .request
            .already_read
            .outdated("[[", &lines)
            .into_iter()
            .filter(|_| is_read)
            .map(|line| format!("Out of date in the context file: {line}"))
            .collect();
        lines.truncate(MAX_ENTRIES);
        let mut check = PathCheck::new(self.project);
        for (line, entry) in lines.iter_mut().zip(&all) {
            // Behind the key, where no limit cuts it off.
            let at = entry.key.len() + "[[]] ".len();
            if in_conflict(&entry.key) {
                line.insert_str(at, "(merge conflict, both sides) ");
            }
            if self.request.is_for_file {
                continue;
            }
            let gone = knowledge::read(self.project, &entry.key)
                .and_then(|entry| check.missing(&entry.body, &[]));
            if let Some(gone) = gone.unwrap_or_default().first() {
                line.insert_str(at, &format!("({} not found) ", gone.path));
            }
        }
        lines.splice(0..0, outdated);
        if more > 0 {
            lines.push(format!("and {more} more: `annals recall WORDS` finds them"));
        }
        Ok(lines)
    }

    /// Returns the keys of the entries that `recall` gives for a topic, best first.
    fn answering(
        &self,
        topic: &str,
        limit: usize,
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<String>> {
        let sources = vec![SourceName::Entries];
        let query = RecallQuery { sources, limit, is_urgent: true, ..RecallQuery::new(topic)? };
        let found = recall::recall(self.project, &query)?.into_value(warnings);
        let hits = found.hits.into_iter().chain(found.nearest);
        Ok(hits.filter_map(|hit| hit.id).collect())
    }

    /// Returns what earlier sessions say on an explicit topic, once the user has turned that on.
    fn sessions(&self, warnings: &mut Vec<Warning>) -> Result<Vec<String>> {
        let topic = self.request.topic.as_deref().unwrap_or_default();
        if topic.trim().is_empty() || self.project.settings.sessions.is_empty() {
            return Ok(Vec::new());
        }
        let query = RecallQuery {
            sources: vec![SourceName::Sessions],
            limit: MAX_SESSIONS,
            is_urgent: true,
            ..RecallQuery::new(topic)?
        };
        Ok(recall::recall(self.project, &query)?
            .into_value(warnings)
            .hits
            .into_iter()
            .map(|hit| {
                let date = hit.date.map(|date| date.to_string()).unwrap_or_default();
                let session = hit.id.unwrap_or_default();
                format!("{date} ({session}): {}", hit.snippet)
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
        facts::lines(&store, &user, self.request.topic.as_deref())
    }
}

/// Says where the planning folder of a part of the project is.
fn part_line(part: &Path) -> String {
    let part = slashed(part);
    let word = shell_word(&part);
    format!("Planned in a folder of its own: {part} (`annals -C {word} status`)")
}

/// Returns the lines of sections of the ledger that affect what comes next, each with the title of its section.
fn ledger_lines(sections: Vec<BriefSection>) -> Vec<ListLine<String>> {
    let mut found = Vec::new();
    for (title, lines) in sections {
        let lines = lines.into_iter().filter(|line| match title.as_str() {
            // A blocker may follow a dash: "None — but the key expires".
            "Hazards" | "Blockers" => !is_settled(line) && !is_absent(line),
            // "Active Work: None — all is committed", "Run: Unknown (needs human)"
            _ => {
                !says_none(line)
                    && is_filled(line.rsplit_once(": ").map_or(line, |(_, value)| value))
            }
        });
        found.extend(lines.map(|line| match title.as_str() {
            "" => (String::new(), line),
            title => (title.to_owned(), format!("{title}: {line}")),
        }));
    }
    found
}

/// Returns a line for each file that contradicts the others, so that a session does not rely on it, and one for
/// all plans that were left without a summary.
fn drift_lines(drift: &[Drift]) -> Vec<String> {
    let (left, stated): (Vec<&Drift>, Vec<&Drift>) =
        drift.iter().partition(|drift| drift.is_left_plan());
    let mut lines: Vec<String> = stated
        .chunk_by(|drift, next| drift.file == next.file)
        .map(|drifts| {
            let first = drifts
                .iter()
                .find(|drift| drift.kind == Some(DriftKind::Phase))
                .unwrap_or(&drifts[0]);
            let lines: BTreeSet<usize> = drifts.iter().map(|drift| drift.line).collect();
            let others = match lines.len() - 1 {
                0 => String::new(),
                others => format!("; see `annals status` for {}", quantity(others, "more line")),
            };
            let (file, line) = (first.file.display(), first.line);
            format!("Drift: {file}:{line}: {}{others}", first.sentence())
        })
        .collect();
    if !left.is_empty() {
        let plans = quantity(left.len(), "plan");
        lines.push(format!("Drift: {plans} left without a summary (`annals status`)"));
    }
    lines
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
