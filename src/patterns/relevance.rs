//! Ranks patterns by their relevance to the current work.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::patterns::lesson::{
    StemmedWords, SubjectIndex, names_earlier_plans, short_milestone, split_citation,
};
use crate::patterns::{PatternEntry, Patterns};
use crate::plan::{DEFAULT_MILESTONE, Phase, PhaseNumber, Roadmap};
use crate::ranking::Corpus;

/// Score added for the newest entry, relative to the best match by words; older entries get less.
const RECENCY: f64 = 0.2;
/// Score added for a lesson that came up in several phases, as it is likely to come up again.
const RECURRENCE: f64 = 0.5;
/// Maximum length of a bullet, in characters; longer ones are paragraphs, to be read in PATTERNS.md.
const MAX_BULLET_LENGTH: usize = 240;
/// Maximum number of bullets of one entry in the main part of a ranking, so that others are not crowded out.
const MAX_PER_ENTRY: usize = 2;

/// Whether a pattern supports a way of working or advises against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternOutcome {
    /// It worked.
    Worked,
    /// It failed.
    Failed,
    /// It is a note without a verdict.
    Noted,
}

/// A pattern and its relevance.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Whether an agent or a person worded it, instead of a rule choosing it.
    pub judged: bool,
    /// The phase it is from, as cited outside its entry: `phase 4`, `v1.2 phase 4`.
    pub reference: Option<String>,
}

impl RelevantPattern {
    /// Returns the pattern as a line that can be understood without its entry: `… (phase 3, plan 02)`.
    ///
    /// Returns `None` for a mere count, and for a text that is truncated, as in entries of earlier versions,
    /// or too long.
    pub fn standalone(&self) -> Option<String> {
        if self.text.contains('\u{2026}')
            || self.text.chars().count() > MAX_BULLET_LENGTH
            || is_count(without_citation(&self.text))
        {
            return None;
        }
        let has_plans = split_citation(&self.text).1.is_some() || self.reference.is_none();
        let failed = if self.outcome == PatternOutcome::Failed && !self.judged && !has_plans {
            "Failed: "
        } else {
            ""
        };
        Some(format!("{failed}{}", self.cited()))
    }

    /// Returns the pattern with its phase and plans; `None` if an earlier version truncated it.
    pub fn with_reference(&self) -> Option<String> {
        (!self.text.contains('\u{2026}')).then(|| self.cited())
    }

    /// Returns whether this is the same lesson as a text, either of which may be a shorter form of the other.
    pub(crate) fn is_same_lesson(&self, lesson: &str) -> bool {
        let own = without_citation(&self.text);
        own.contains(lesson) || lesson.contains(own)
    }

    fn cited(&self) -> String {
        let Some(reference) = &self.reference else {
            return self.text.clone();
        };
        match split_citation(&self.text) {
            (sentence, Some(plans)) => format!("{sentence} ({reference}, {plans})"),
            (sentence, None) => format!("{sentence} ({reference})"),
        }
    }
}

/// Returns whether a bullet, as written by an earlier version, is a mere count:
/// `3 of 4 plans without deviations`.
fn is_count(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "all ", "both plans", "no deviations", "largest plan", "small plans were", "took ",
        "the one task", "in ",
    ];
    let lower = text.to_lowercase();
    let first = lower.split(' ').next().unwrap_or_default();
    let counts = first.bytes().all(|byte| byte.is_ascii_digit());
    let all = ["plans", "tasks", "deviations", "acceptance checks"];
    (counts && (lower.contains(" of ") || lower.contains("plans collided")))
        || (lower.contains("plan") && lower.contains("deviat"))
        || (STARTS.iter().any(|start| lower.starts_with(start))
            && all.iter().any(|word| lower.contains(word)))
}

/// Returns the words that describe a phase: its name, goal, requirements and success criteria.
pub fn topic(phase: &Phase, roadmap: &Roadmap) -> String {
    let mut words: Vec<String> = phase.name.iter().chain(&phase.goal).cloned().collect();
    for planned in roadmap.phases.iter().filter(|planned| planned.number == phase.number) {
        words.extend(planned.requirements.iter().cloned());
        words.extend(planned.success_criteria.iter().cloned());
    }
    words.join("\n")
}

/// Returns the patterns by relevance to a topic: fresh before stale, judged before chosen by rule, then by
/// score, from common words, age and recurrence. Age is counted in entries from the newest, never in time.
///
/// `stale` returns why a pattern may be out of date, given the line of its entry's heading and its text.
pub fn relevant(
    patterns: &Patterns,
    topic: &str,
    stale: &dyn Fn(usize, &str) -> Option<String>,
) -> Vec<RelevantPattern> {
    let mut found = one_per_subject(candidates(patterns));
    let scores = Corpus::new(found.iter().map(|one| &one.pattern.text)).scores(topic);
    let best = scores.iter().copied().fold(0.0, f64::max);
    for (Candidate { pattern, age }, score) in found.iter_mut().zip(scores) {
        let fit = if best > 0.0 { score / best } else { 0.0 };
        let recurrence = if split_citation(&pattern.text).1.is_some_and(names_earlier_plans) {
            RECURRENCE
        } else {
            0.0
        };
        pattern.score = fit + RECENCY / f64::from(1 + *age) + recurrence;
        pattern.stale = stale(pattern.line, &pattern.text);
    }
    let mut found: Vec<RelevantPattern> = found.into_iter().map(|one| one.pattern).collect();
    found.sort_by(|a, b| {
        let fresh = a.stale.is_some().cmp(&b.stale.is_some());
        let judged = b.judged.cmp(&a.judged);
        fresh.then(judged).then(b.score.total_cmp(&a.score))
    });
    diversify(found)
}

/// A pattern that may be relevant.
struct Candidate {
    pattern: RelevantPattern,
    /// The number of newer entries.
    age: u32,
}

/// Returns every bullet, newest first; duplicate texts only in the newest entry.
fn candidates(patterns: &Patterns) -> Vec<Candidate> {
    let ambiguous = ambiguous_phases(&patterns.entries);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (age, entry) in patterns.entries.iter().rev().enumerate() {
        let source = entry.title();
        let lists = [
            (PatternOutcome::Worked, &entry.worked),
            (PatternOutcome::Failed, &entry.failed),
            (PatternOutcome::Noted, &entry.notes),
        ];
        for (outcome, texts) in lists {
            for text in texts.iter().filter(|text| seen.insert((*text).clone())) {
                let pattern = RelevantPattern {
                    judged: entry.trace.as_ref().is_none_or(|trace| trace.judged),
                    reference: reference(entry, &ambiguous),
                    ..unranked(text, outcome, &source, entry.line)
                };
                let age = u32::try_from(age).unwrap_or(u32::MAX - 1);
                found.push(Candidate { pattern, age });
            }
        }
    }
    let oldest = u32::try_from(patterns.entries.len()).unwrap_or(u32::MAX - 1);
    for loose in patterns.loose.iter().filter(|loose| seen.insert(loose.text.clone())) {
        let source = loose.section.as_deref().unwrap_or("PATTERNS.md");
        let pattern = unranked(&loose.text, PatternOutcome::Noted, source, loose.line);
        found.push(Candidate { pattern, age: oldest });
    }
    found
}

/// Keeps only the newest of the rule-chosen patterns on a subject, whose citation counts the earlier plans.
///
/// Judged patterns are all kept.
fn one_per_subject(newest_first: Vec<Candidate>) -> Vec<Candidate> {
    let mut subjects = SubjectIndex::default();
    let mut known: Vec<usize> = newest_first
        .iter()
        .rev()
        .map(|one| {
            let text = without_citation(&one.pattern.text);
            subjects.add(StemmedWords::from_text(text), ())
        })
        .collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for candidate in newest_first {
        let is_new = known.pop().is_none_or(|subject| seen.insert(subject));
        if is_new || candidate.pattern.judged {
            found.push(candidate);
        }
    }
    found
}

/// Returns a bullet without the citation of plans at its end.
fn without_citation(text: &str) -> &str {
    split_citation(text).0
}

/// Returns a pattern without score, phase and staleness.
fn unranked(text: &str, outcome: PatternOutcome, source: &str, line: usize) -> RelevantPattern {
    RelevantPattern {
        text: text.to_owned(),
        outcome,
        source: source.to_owned(),
        line,
        score: 0.0,
        stale: None,
        judged: true,
        reference: None,
    }
}

/// Returns the citation of an entry's phase, with its milestone if the number alone is ambiguous.
fn reference(entry: &PatternEntry, ambiguous: &BTreeSet<&PhaseNumber>) -> Option<String> {
    let phase = entry.phase.as_ref()?;
    match milestone(entry).filter(|_| ambiguous.contains(phase)) {
        Some(milestone) => Some(format!("{} phase {phase}", short_milestone(milestone))),
        None => Some(format!("phase {phase}")),
    }
}

/// Returns the phase numbers that occur in several milestones.
fn ambiguous_phases(entries: &[PatternEntry]) -> BTreeSet<&PhaseNumber> {
    let mut first: BTreeMap<&PhaseNumber, Option<&str>> = BTreeMap::new();
    let mut ambiguous = BTreeSet::new();
    for entry in entries.iter().filter(|entry| entry.trace.is_some()) {
        let Some(phase) = &entry.phase else { continue };
        if *first.entry(phase).or_insert(milestone(entry)) != milestone(entry) {
            ambiguous.insert(phase);
        }
    }
    ambiguous
}

fn milestone(entry: &PatternEntry) -> Option<&str> {
    let milestone = entry.trace.as_ref()?.milestone.as_deref();
    milestone.filter(|milestone| *milestone != DEFAULT_MILESTONE)
}

/// Number of patterns shown where space is limited.
const HEAD_LENGTH: usize = 5;

/// Maximum number of these about what worked: what failed changes the next plan more often.
const MAX_WORKED_IN_HEAD: usize = 3;

/// Moves to the back what exceeds the share of an entry or of what worked, what resembles an earlier line,
/// and what is stale.
///
/// Judged patterns are only moved if they exceed their entry's share or are stale.
fn diversify(ranked: Vec<RelevantPattern>) -> Vec<RelevantPattern> {
    let mut of_entry: BTreeMap<usize, usize> = BTreeMap::new();
    let mut said: Vec<StemmedWords> = Vec::new();
    let mut worked = 0;
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for pattern in ranked {
        let of_entry = of_entry.entry(pattern.line).or_default();
        let is_in_head = first.len() < HEAD_LENGTH;
        let words = is_in_head.then(|| StemmedWords::from_text(without_citation(&pattern.text)));
        let is_said =
            |words: &StemmedWords| said.iter().any(|other| other.is_near_duplicate(words));
        let is_near = words.as_ref().is_some_and(is_said);
        let has_worked =
            is_in_head && pattern.outcome == PatternOutcome::Worked && worked == MAX_WORKED_IN_HEAD;
        let may_be_moved = !pattern.judged && (is_near || has_worked);
        if *of_entry < MAX_PER_ENTRY && pattern.stale.is_none() && !may_be_moved {
            *of_entry += 1;
            worked += usize::from(pattern.outcome == PatternOutcome::Worked);
            said.extend(words);
            first.push(pattern);
        } else {
            rest.push(pattern);
        }
    }
    rest.sort_by_key(|pattern| pattern.stale.is_some());
    first.extend(rest);
    first
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
    fn what_recurs_comes_before_what_came_once() {
        let file = "### Phase 1: A (2026-01-01)\n<!-- annals: phase-dir=01-a plans=01 digest=a -->\n\n\
                    **What failed:**\n- The store needs a lock (plan 02; before in phase 0 plan 01)\n\n\
                    ### Phase 2: B (2026-01-02)\n<!-- annals: phase-dir=02-b plans=01 digest=b -->\n\n\
                    **What failed:**\n- Colour codes reach the pipe (plan 01)\n";
        let patterns = Patterns::parse(file, Path::new("PATTERNS.md")).value;
        let found = relevant(&patterns, "", &|_, _| None);
        assert!(found[0].text.starts_with("The store"), "{found:?}");
    }

    #[test]
    fn a_lesson_that_recurs_is_one() {
        let file = "### Phase 1: A (2026-01-01)\n<!-- annals: phase-dir=01-a plans=01 digest=a -->\n\n\
                    **What failed:**\n- zig is not installed locally; tests were not run (plan 01)\n\n\
                    ### Phase 2: B (2026-01-02)\n<!-- annals: phase-dir=02-b plans=01 digest=b -->\n\n\
                    **What failed:**\n- zig not installed locally; tests not run in this session (plan 01; before in phase 1 plan 01)\n";
        let patterns = Patterns::parse(file, Path::new("PATTERNS.md")).value;
        let found = relevant(&patterns, "", &|_, _| None);
        let texts: Vec<&str> = found.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "zig not installed locally; tests not run in this session (plan 01; before in phase 1 plan 01)"
            ]
        );
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
                    **What failed:**\n- Colour codes reach the pipe (plan 01)\n- 3 of 4 plans without deviations\n";
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
        assert_eq!(shown("3 of 4 plans without deviations", ""), None);
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
