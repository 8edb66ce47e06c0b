//! Reads the recorded patterns of the current project, and ranks them by their relevance to the current work.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use crate::error::Result;
use crate::patterns;
use crate::patterns::sentences::ContentWords;
use crate::patterns::trace::{known_milestone, split_citation};
use crate::patterns::tree::ends_in;
use crate::patterns::{PatternEntry, PatternOutcome, Patterns, StaleReasons, mentions};
use crate::plan::{Phase, PhaseNumber, PlanSlot, Roadmap, Survey};
use crate::project::Project;
use crate::search::bm25;
use crate::storage::{Changes, read};
use crate::warning::{Parsed, Warning};

/// Score added for the newest entry, relative to the best match by words; older entries get less.
const RECENCY: f64 = 0.2;

/// Maximum length of a bullet, in characters; longer ones are paragraphs, to be read in PATTERNS.md.
const MAX_BULLET_LENGTH: usize = 280;

/// Maximum number of bullets of one entry in the main part of a ranking, so that others are not crowded out.
const MAX_PER_ENTRY: usize = 2;

/// Minimum number of content words that a plain lesson shares with the work that it is shown for.
const MIN_SHARED_WORDS: usize = 2;

/// A pattern and its relevance.
#[derive(Clone, Debug, Serialize)]
pub struct RelevantPattern {
    /// The lesson, verbatim.
    pub text: String,
    /// Whether it worked.
    pub outcome: PatternOutcome,
    /// The heading above it: `Phase 3: Shopping Lists`.
    pub source: String,
    /// Line number of that heading in PATTERNS.md, from 1.
    pub line: usize,
    /// The relevance, from 0; comparable within one result.
    pub score: f64,
    /// Why it may be out of date; `None` if it is fresh.
    pub stale: Option<String>,
    /// Whether an agent or a person worded it, instead of a summary.
    pub judged: bool,
    /// The phase it is from, as cited outside its entry: `phase 4`, `v1.2 phase 4`.
    pub reference: Option<String>,
}

impl RelevantPattern {
    /// Returns the pattern as a line that can be understood without its entry: `… (phase 3, plan 02)`.
    ///
    /// Returns `None` for a statistic, and for a text that is too long.
    pub fn standalone(&self) -> Option<String> {
        let is_long = self.text.chars().count() > MAX_BULLET_LENGTH;
        (!is_long && !is_statistic(&self.text)).then(|| self.with_reference())
    }

    /// Returns the pattern with its phase and plans.
    pub fn with_reference(&self) -> String {
        match (&self.reference, split_citation(&self.text)) {
            (None, _) => self.text.clone(),
            (Some(reference), (sentence, Some(plans))) => {
                format!("{sentence} ({reference}, {plans})")
            }
            (Some(reference), (sentence, None)) => format!("{sentence} ({reference})"),
        }
    }
}

/// Returns whether a bullet is a difference between plans of the whole history, which an entry only records.
pub(crate) fn is_statistic(text: &str) -> bool {
    text.starts_with("Plans with ") && text.contains(", smaller ones ")
}

/// Returns PATTERNS.md with pending `changes` applied.
pub(crate) fn with_changes(
    project: &Project,
    changes: &Changes,
    warnings: &mut Vec<Warning>,
) -> Result<Patterns> {
    let path = patterns::path(&project.planning_place().dir);
    let Some(bytes) = changes.current(&path)? else {
        return Ok(Patterns::default());
    };
    let text = read::decode(bytes, &path).into_value(warnings);
    Ok(Patterns::parse(&text, &path).into_value(warnings))
}

/// Returns the recorded patterns in PATTERNS.md.
pub fn stored(project: &Project) -> Result<Parsed<Patterns>> {
    project.planning()?;
    let mut warnings = Vec::new();
    let value = with_changes(project, &Changes::new(), &mut warnings)?;
    Ok(Parsed { value, warnings })
}

/// Returns the patterns relevant to a phase, or else to the current phase, most relevant first.
pub fn relevant_patterns(
    project: &Project,
    number: Option<&PhaseNumber>,
) -> Result<Parsed<Vec<RelevantPattern>>> {
    let survey = Survey::read(project)?;
    let phase = match number {
        Some(number) => Some(survey.phase(number)?),
        None => survey.position.phase(),
    };
    let mut warnings = Vec::new();
    let mut patterns = with_changes(project, &Changes::new(), &mut warnings)?;
    patterns.name_milestones(&survey.folder, None, &mut warnings);
    let reasons = StaleReasons::check(project, &patterns)?;
    let topic = phase.map(|phase| topic(phase, &survey.roadmap)).unwrap_or_default();
    let value = relevant(&patterns, &topic, &|line, text| reasons.about(line, text));
    Ok(Parsed { value, warnings })
}

/// Returns the patterns that a session should know for the current phase; staleness comes from the last check if that
/// is current.
pub fn known_patterns(project: &Project, survey: &Survey) -> Result<Parsed<Vec<RelevantPattern>>> {
    project.planning()?;
    let mut warnings = Vec::new();
    let mut patterns = with_changes(project, &Changes::new(), &mut warnings)?;
    patterns.name_milestones(&survey.folder, None, &mut warnings);
    let reasons = StaleReasons::cached_or_checked(project, &patterns, &mut warnings);
    Ok(Parsed { value: worth_knowing(&patterns, &reasons, survey), warnings })
}

/// Returns the patterns that are worth a line in every session: judged ones and notes, then those plain ones that
/// are about the current phase, each by relevance. Nothing else: none is better than noise.
pub(crate) fn worth_knowing(
    patterns: &Patterns,
    reasons: &StaleReasons,
    survey: &Survey,
) -> Vec<RelevantPattern> {
    // Where no phase is next, nothing plain is about the work at hand.
    let next = survey.position.next.phase.as_ref();
    let phase = survey.position.phase().filter(|phase| next == Some(&phase.number));
    let work = phase.map(|phase| CurrentWork::new(phase, &survey.roadmap)).unwrap_or_default();
    let mut found = relevant(patterns, &work.text, &|line, text| reasons.about(line, text));
    found.retain(|pattern| pattern.judged || work.is_subject_of(pattern));
    found
}

/// What the current phase is about, as its roadmap and its plans say.
#[derive(Default)]
struct CurrentWork {
    text: String,
    words: ContentWords,
    files: Vec<String>,
}

impl CurrentWork {
    fn new(phase: &Phase, roadmap: &Roadmap) -> Self {
        let mut work = Self { text: topic(phase, roadmap), ..Self::default() };
        // What cannot be read is reported by the commands about plans.
        for plan in phase.plans.iter().filter_map(PlanSlot::plan) {
            work.text.extend(plan.value.title.iter().flat_map(|title| ["\n", title.as_str()]));
            work.files.extend(plan.value.files_modified.iter().flatten().cloned());
        }
        work.words = ContentWords::from_text(&work.text);
        work
    }

    /// Returns whether a lesson names a file of the plans, or shares words with the phase.
    fn is_subject_of(&self, pattern: &RelevantPattern) -> bool {
        let lesson = split_citation(&pattern.text).0;
        // What was set up tells less than what went wrong.
        let least = MIN_SHARED_WORDS + usize::from(pattern.outcome == PatternOutcome::Worked);
        self.words.common(&ContentWords::from_text(lesson)) >= least
            || !self.files.is_empty()
                && mentions(lesson)
                    .iter()
                    .any(|mention| self.files.iter().any(|file| ends_in(file, &mention.path)))
    }
}

/// Returns the words that describe a phase: its name, goal, requirements and success criteria.
pub fn topic(phase: &Phase, roadmap: &Roadmap) -> String {
    let mut words: Vec<&str> = phase.name.as_deref().into_iter().chain(phase.goal()).collect();
    for planned in roadmap.phases.iter().filter(|planned| planned.number == phase.number) {
        words.extend(planned.requirements.iter().map(String::as_str));
        words.extend(planned.success_criteria.iter().map(String::as_str));
    }
    words.join("\n")
}

/// Returns the patterns by relevance to a topic: fresh before stale, judged before plain, then by score, from common
/// words and age. Age is counted in entries from the newest, never in time. What exceeds the share of an entry comes
/// last.
///
/// `stale` returns why a pattern may be out of date, given the line of its entry's heading and its text.
pub fn relevant(
    patterns: &Patterns,
    topic: &str,
    stale: &dyn Fn(usize, &str) -> Option<String>,
) -> Vec<RelevantPattern> {
    let mut found = candidates(patterns);
    let scores = bm25(found.iter().map(|pattern| &pattern.text), topic);
    let best = scores.iter().copied().fold(0.0, f64::max);
    for (pattern, score) in found.iter_mut().zip(scores) {
        pattern.score += if best > 0.0 { score / best } else { 0.0 };
        pattern.stale = stale(pattern.line, &pattern.text);
    }
    found.sort_by(|a, b| {
        let fresh = a.stale.is_some().cmp(&b.stale.is_some());
        fresh.then(b.judged.cmp(&a.judged)).then(b.score.total_cmp(&a.score))
    });
    let mut of_entry: BTreeMap<usize, usize> = BTreeMap::new();
    let ranked = found.into_iter().map(|pattern| {
        let count = of_entry.entry(pattern.line).or_default();
        *count += 1;
        (pattern.stale.is_some(), *count > MAX_PER_ENTRY, pattern)
    });
    let mut ranked: Vec<(bool, bool, RelevantPattern)> = ranked.collect();
    // The sort is stable.
    ranked.sort_by_key(|(is_stale, is_beyond, _)| (*is_stale, *is_beyond));
    ranked.into_iter().map(|(.., pattern)| pattern).collect()
}

/// Returns every bullet, newest first, with the part of its score that its age gives; of equal texts only the newest.
fn candidates(patterns: &Patterns) -> Vec<RelevantPattern> {
    let unranked = |text: &str, outcome, source: &str, line, age: u32| RelevantPattern {
        text: text.to_owned(),
        outcome,
        source: source.to_owned(),
        line,
        score: RECENCY / f64::from(age.saturating_add(1)),
        stale: None,
        judged: true,
        reference: None,
    };
    let mut found = Vec::new();
    let mut age = 0;
    for entry in patterns.entries.iter().rev() {
        let judged = entry.trace.as_ref().is_none_or(|trace| trace.judged);
        for (outcome, texts) in [
            (PatternOutcome::Worked, &entry.worked),
            (PatternOutcome::Failed, &entry.failed),
            (PatternOutcome::Noted, &entry.notes),
        ] {
            found.extend(texts.iter().map(|text| RelevantPattern {
                judged,
                reference: reference(entry),
                ..unranked(text, outcome, &entry.title(), entry.line, age)
            }));
        }
        age += 1;
    }
    found.extend(patterns.loose.iter().map(|loose| {
        let source = loose.section.as_deref().unwrap_or("PATTERNS.md");
        unranked(&loose.text, PatternOutcome::Noted, source, loose.line, age)
    }));
    let mut seen = HashSet::new();
    found.retain(|pattern| seen.insert(pattern.text.clone()));
    found
}

/// Returns the citation of an entry's phase, with its milestone if that has a name.
fn reference(entry: &PatternEntry) -> Option<String> {
    let phase = entry.phase.as_ref()?;
    let milestone = entry.trace.as_ref().and_then(|trace| trace.milestone.as_deref());
    Some(match milestone.and_then(known_milestone) {
        Some(milestone) => format!("{milestone} phase {phase}"),
        None => format!("phase {phase}"),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const FILE: &str = "\
### Phase 1: Store (2026-01-01)

**What worked:**
- Locking the file before reading kept writers apart
- Small plans finished first
- A third thing

### Phase 2: Output (2026-01-02)

**What failed:**
- Colour codes reached the pipe
";

    fn ranked(topic: &str, stale: &dyn Fn(usize, &str) -> Option<String>) -> Vec<String> {
        let patterns = Patterns::parse(FILE, Path::new("PATTERNS.md")).value;
        let found = relevant(&patterns, topic, stale);
        found.iter().filter_map(RelevantPattern::standalone).collect()
    }

    #[test]
    fn words_decide_before_age() {
        let found = ranked("file locking", &|_, _| None);
        assert_eq!(found[0], "Locking the file before reading kept writers apart (phase 1)");
    }

    #[test]
    fn without_a_shared_word_the_newest_comes_first() {
        let found = ranked("", &|_, _| None);
        assert_eq!(found[0], "Colour codes reached the pipe (phase 2)");
    }

    #[test]
    fn one_entry_does_not_crowd_out_the_others() {
        let found = ranked("file lock small plans", &|_, _| None);
        assert_eq!(found[2], "Colour codes reached the pipe (phase 2)");
    }

    #[test]
    fn stale_ones_come_last_whatever_they_say() {
        let found =
            ranked("file locking", &|_, text| text.contains("Locking").then(|| "gone".to_owned()));
        assert_eq!(
            found.last().unwrap(),
            "Locking the file before reading kept writers apart (phase 1)"
        );
    }

    #[test]
    fn what_an_agent_judged_comes_before_what_a_rule_chose() {
        let file = "### Phase 1: A (2026-01-01)\n<!-- annals: phase-dir=01-a plans=01 digest=a judged=1 -->\n\n\
                    **What failed:**\n- `a.rs` needs a lock (plan 01)\n\n\
                    ### Phase 2: B (2026-01-02)\n<!-- annals: phase-dir=02-b plans=01 digest=b -->\n\n\
                    **What failed:**\n- Colour codes reach the pipe (plan 01)\n- Plans with 5 or more tasks deviated in 7 of 8, smaller ones in 3 of 15\n";
        let patterns = Patterns::parse(file, Path::new("PATTERNS.md")).value;
        let found = relevant(&patterns, "colour codes", &|_, _| None);
        let lines: Vec<String> = found.iter().filter_map(RelevantPattern::standalone).collect();
        assert_eq!(
            lines,
            [
                "`a.rs` needs a lock (phase 1, plan 01)",
                "Colour codes reach the pipe (phase 2, plan 01)"
            ]
        );
    }

    /// Returns the only lesson of an entry as it is shown elsewhere.
    fn shown(lesson: &str, judged: &str) -> Option<String> {
        let file = format!(
            "### Phase 1: A (2026-01-01)\n<!-- annals: phase-dir=01-a plans=01 digest=a{judged} -->\n\n\
             **What worked:**\n- {lesson}\n"
        );
        let patterns = Patterns::parse(&file, Path::new("PATTERNS.md")).value;
        let found = relevant(&patterns, "", &|_, _| None);
        assert_eq!(found.len(), 1);
        found[0].standalone()
    }

    #[test]
    fn a_lesson_is_no_count_because_of_its_citation() {
        let deviations = "Deviations came from the untyped API client";
        let cited = format!("{deviations} (plan 01)");
        let expected = Some(format!("{deviations} (phase 1, plan 01)"));
        assert_eq!(shown(&cited, ""), expected);
        assert_eq!(shown(&cited, " judged=1"), expected);
        assert_eq!(
            shown("Plans with 5 or more tasks deviated in 7 of 8, smaller ones in 3 of 15", ""),
            None
        );
        let about_plans = "Plans with a new table must name its migration (plan 01)";
        assert!(shown(about_plans, " judged=1").is_some());
    }

    #[test]
    fn only_a_citation_is_completed_with_the_phase() {
        for (lesson, expected) in [
            (
                "Ask before a rewrite (planned for later)",
                "Ask before a rewrite (planned for later) (phase 1)",
            ),
            (
                "Locks block (plan 02; before in phase 0 plan 01)",
                "Locks block (phase 1, plan 02; before in phase 0 plan 01)",
            ),
        ] {
            assert_eq!(shown(lesson, " judged=1").as_deref(), Some(expected));
        }
    }
}
