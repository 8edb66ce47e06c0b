//! Fills each part from its store.

use crate::context::Wish;
use crate::context::part::Part;
use crate::context::part::Section;
use crate::error::Result;
use crate::knowledge::Place;
use crate::knowledge::notepad;
use crate::patterns;
use crate::patterns::Doubts;
use crate::patterns::RelevantPattern;
use crate::planning::StatusReport;
use crate::planning::Survey;
use crate::project::Project;
use crate::secrets;
use crate::storage::read;
use crate::text::Line;
use crate::warning::Warning;

/// The longest line, in characters: a digest points at things, the stores hold them.
const WIDTH: usize = 240;

/// What all parts look at: the project, and where its planned work stands.
pub(crate) struct Scene<'a> {
    project: &'a Project,
    wish: &'a Wish,
    planned: Option<(Survey, StatusReport)>,
}

impl<'a> Scene<'a> {
    pub(crate) fn take(project: &'a Project, wish: &'a Wish, warnings: &mut Vec<Warning>) -> Self {
        let planned = if project.planning().is_ok() {
            match Survey::take(project) {
                Ok(survey) => {
                    let status = StatusReport::of(project, &survey);
                    Some((survey, status))
                }
                Err(error) => {
                    let message = format!("the planning folder cannot be read: {error}");
                    warnings.push(Warning::file(&project.root, message));
                    None
                }
            }
        } else {
            None
        };
        Self {
            project,
            wish,
            planned,
        }
    }

    /// Returns one part; nothing where its store is not in use.
    pub(crate) fn gather(
        &self,
        part: Part,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<Section>> {
        let lines = match part {
            Part::Position => self.position(),
            Part::Blockers => self.blockers(),
            Part::Notepad => self.notepad(warnings)?,
            Part::Decisions => self.decisions(),
            Part::Patterns => self.patterns(warnings)?,
            Part::Constraints | Part::Entries | Part::Facts => Vec::new(),
        };
        Ok(Some(Section::new(part, lines)))
    }

    fn position(&self) -> Vec<Line> {
        let Some((_, status)) = &self.planned else {
            return Vec::new();
        };
        let milestone = status.milestone.name.as_ref();
        let milestone = milestone.unwrap_or(&status.milestone.slug);
        let mut lines = vec![format!("{}, milestone {milestone}", status.project)];
        let phase = &status.derived;
        if let Some(number) = &phase.number {
            let mut line = format!("Phase {number}");
            for part in phase.name.iter().chain(&phase.status) {
                line.push_str(" - ");
                line.push_str(part);
            }
            let plans = &status.plans;
            lines.push(format!(
                "{line}; {} of {} plans are complete",
                plans.complete, plans.total
            ));
        }
        let mut next = format!("Next: {}", status.next.command);
        if let Some(because) = status.next.because.first() {
            next = format!("{next} ({because})");
        }
        if status.next.conflict {
            next.push_str("; the files contradict each other, `annals status` shows how");
        }
        lines.push(next);
        lines.extend(status.drift.iter().map(|drift| {
            format!(
                "Drift: {}:{} says {}, the files say {}",
                drift.file.display(),
                drift.line,
                drift.stated,
                drift.actual
            )
        }));
        lines.iter().map(|line| safe(line)).collect()
    }

    fn blockers(&self) -> Vec<Line> {
        let status = self.planned.iter().map(|(_, status)| status);
        status
            .flat_map(|status| &status.blockers)
            .map(|blocker| safe(blocker))
            .collect()
    }

    /// Returns what was pinned, and after a compaction the latest of the working memory, too.
    fn notepad(&self, warnings: &mut Vec<Warning>) -> Result<Vec<Line>> {
        let path = Place::of(self.project).notepad();
        let Some(text) = read::text(&path)? else {
            return Ok(Vec::new());
        };
        let text = text.into_value(warnings);
        let pad = notepad::parse(&text, &path).into_value(warnings);
        let mut sections = vec![notepad::Section::Priority];
        if self.wish.compacted {
            sections.push(notepad::Section::Working);
        }
        let lines = sections.into_iter().filter_map(|section| {
            let content = pad.content(section)?;
            Some(text[content].lines().map(unmarked).map(safe))
        });
        Ok(lines.flatten().collect())
    }

    /// Returns the decisions, the newest first: both files add at their end.
    fn decisions(&self) -> Vec<Line> {
        let status = self.planned.iter().map(|(_, status)| status);
        let decisions = status.flat_map(|status| status.decisions.iter().rev());
        decisions
            .map(|decision| match &decision.rationale {
                Some(why) => safe(&format!("{} ({why})", decision.text)),
                None => safe(&decision.text),
            })
            .collect()
    }

    /// Returns what fits the topic and still holds.
    fn patterns(&self, warnings: &mut Vec<Warning>) -> Result<Vec<Line>> {
        let Some((survey, _)) = &self.planned else {
            return Ok(Vec::new());
        };
        let stored = patterns::stored(self.project)?.into_value(warnings);
        let doubts = Doubts::known(self.project, &stored, warnings);
        let relevant = match &self.wish.topic {
            Some(topic) => {
                patterns::relevant(&stored, topic, &|line, text| doubts.about(line, text))
            }
            None => patterns::relevant_to(&stored, &doubts, survey, survey.position.phase()),
        };
        let fresh = relevant.iter().filter(|pattern| pattern.stale.is_none());
        Ok(fresh
            .map(RelevantPattern::summary)
            .map(|line| safe(&line))
            .collect())
    }
}

/// Returns a foreign text as one line that opens nothing and tells no secret.
fn safe(text: &str) -> Line {
    Line::new(&secrets::redact(text).text).clipped(WIDTH)
}

/// Returns a bullet's text: each line of a digest gets a mark of its own.
fn unmarked(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix(['-', '*', '+'])
        .map_or(line, str::trim_start)
}
