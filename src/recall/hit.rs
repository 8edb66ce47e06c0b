//! A hit as it is shown, and the reasons to treat it with caution, some of which depend on the project's current files.

use std::collections::{BTreeSet, HashMap};

use chrono::NaiveDate;
use serde::Serialize;

use crate::knowledge::KnowledgeDir;
use crate::patterns::{Mention, PathCheck, Patterns, StaleReasons, mentions};
use crate::plan::Survey;
use crate::project::Project;
use crate::recall::place;
use crate::recall::sources::{Role, SourceName};
use crate::search::index::Hit;
use crate::search::{FusedParts, Relevance, Term, passages};
use crate::storage::read;
use crate::text::{join, one_line, sanitized, slashed, word_enum};
use crate::warning::Warning;
use crate::{knowledge, patterns, sessions};

/// A text that was found, with its location.
#[derive(Debug, Serialize)]
pub struct RecallHit {
    /// Its store.
    pub source: SourceName,
    /// Path of its file, relative to the project if inside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Number of its first line there, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Its identifier in its store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The command that resumes the session that it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// Titles of the headings above it, outermost first.
    pub headings: Vec<String>,
    /// Its text, verbatim except for redacted secrets; of a long text, the passage that matches best.
    pub snippet: String,
    /// Its score, comparable only within one answer.
    pub score: f64,
    /// Its relevance to the query.
    pub relevance: Relevance,
    /// The date that it refers to.
    pub date: Option<NaiveDate>,
    /// Reasons to treat it with caution.
    pub flags: Vec<Flag>,
    /// Other locations of the same text, as `file:line`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<String>,
    /// Components of the score, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<FusedParts>,
}

impl RecallHit {
    /// Returns a hit as it is shown.
    pub(crate) fn new(hit: Hit, terms: &[Term]) -> Self {
        let clean = |text: &str| sanitized(text).into_owned();
        let passage = hit.passage;
        let source = hit.source.map_or(SourceName::Facts, |source| SourceName::ALL[source]);
        let is_session = source == SourceName::Sessions;
        // Cut after redaction: a truncated key would not be recognised.
        let whole = clean(&passage.text);
        let place = |(file, line): (String, usize)| match line {
            0 => file,
            line => format!("{file}:{line}"),
        };
        Self {
            source,
            file: hit.source.map(|_| hit.file),
            line: Some(passage.line).filter(|line| *line > 0),
            resume: passage.id.as_deref().filter(|_| is_session).and_then(sessions::resume),
            id: passage.id,
            headings: passage.headings.iter().map(|title| clean(title)).collect(),
            snippet: excerpt(&whole, terms).to_owned(),
            score: (hit.score * 10_000.0).round() / 10_000.0,
            relevance: hit.relevance,
            date: passage.date,
            flags: Flag::list(passage.flags).collect(),
            copies: hit.copies.into_iter().map(place).collect(),
            parts: Some(hit.parts),
        }
    }
}

/// Returns the first passage of those that contain the most terms.
fn excerpt<'a>(text: &'a str, terms: &[Term]) -> &'a str {
    let count = |passage: &&str| {
        let passage = passage.to_lowercase();
        let occurs = |term: &&Term| {
            passage.contains(&term.word) || term.stems.iter().any(|stem| passage.contains(stem))
        };
        terms.iter().filter(occurs).count()
    };
    let best = |text: &'a str| passages(text).into_iter().rev().max_by_key(count).unwrap_or(text);
    // The last passage of a very long text is all the rest.
    best(best(text))
}

word_enum! {
    /// Reason to treat a hit with caution.
    pub enum Flag {
        /// It refers to something that no longer exists, or the structure has changed since.
        Stale = "stale",
        /// Something newer has replaced it.
        Superseded = "superseded",
        /// Its author was not sure.
        LowConfidence = "low-confidence",
        /// A file that it names was changed after its date.
        Changed = "changed since",
        /// A fact that the user has not confirmed, and that does not hold yet.
        Pending = "pending",
    }
}

impl Flag {
    /// Returns its bit in the number that is stored with a passage, if it is set.
    pub(crate) fn bit(self, is_set: bool) -> u32 {
        u32::from(is_set) << self as u32
    }

    /// Returns the flags in a stored number.
    pub(crate) fn list(bits: u32) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |flag| bits & flag.bit(true) != 0)
    }

    /// Returns the factor by which the flags in a stored number multiply the score of a hit.
    pub(crate) fn weight(bits: u32) -> f64 {
        Self::list(bits)
            .map(|flag| match flag {
                Self::Stale => 0.7,
                Self::Superseded | Self::Pending => 0.6,
                Self::LowConfidence => 0.85,
                Self::Changed => 1.0,
            })
            .product()
    }
}

/// Marks the hits that the project as it is now makes doubtful; stale ones go behind those that are as good.
pub(crate) fn mark(project: &Project, hits: &mut Vec<Hit>, warnings: &mut Vec<Warning>) {
    let path = patterns::path(&project.planning_place().dir);
    let name = project.relative(&path).to_string_lossy().into_owned();
    let is_pattern =
        |hit: &Hit| hit.source == Some(SourceName::Patterns as usize) && hit.file == name;
    if hits.iter().any(is_pattern)
        && let Ok(Some(text)) = read::text(&path)
    {
        let patterns = Patterns::parse(&text.value, &path).value;
        let reasons = StaleReasons::cached_or_checked(project, &patterns, warnings);
        for hit in hits.iter_mut().filter(|hit| is_pattern(hit)) {
            let lines = join(hit.passage.text.lines().map(str::trim), " ");
            let line = reason_line(&patterns, hit.passage.line);
            if reasons.about(line, &lines).is_some() {
                mark_stale(hit);
            }
        }
    }
    put_successors(project, hits);
    let mut check = PathCheck::new(project);
    for hit in hits.iter_mut().filter(|hit| hit.source == Some(SourceName::Entries as usize)) {
        let gone = check.missing(&hit.passage.text, &[]);
        if gone.is_ok_and(|gone| !gone.is_empty()) {
            mark_stale(hit);
        }
    }
    mark_past_blockers(project, hits);
    sort(hits);
    mark_changed(project, hits, warnings);
}

/// Marks the blockers of STATE.md that the finished phases leave behind.
fn mark_past_blockers(project: &Project, hits: &mut [Hit]) {
    let is_blocker = |hit: &Hit| hit.passage.flags & place::BLOCKED != 0;
    if !hits.iter().any(is_blocker) {
        return;
    }
    // What cannot be read is reported by `status`.
    let Ok(survey) = Survey::read(project) else { return };
    let open = survey.open_blockers();
    for hit in hits.iter_mut().filter(|hit| is_blocker(hit)) {
        let text = one_line(&hit.passage.text);
        if survey.state.blockers.contains(&text) && !open.contains(&text) {
            mark_stale(hit);
        }
    }
}

/// Puts the entry that has replaced another one in front of it, whether it matches by itself or not.
fn put_successors(project: &Project, hits: &mut Vec<Hit>) {
    let is_old = |hit: &Hit| {
        hit.source == Some(SourceName::Entries as usize)
            && hit.passage.flags & Flag::Superseded.bit(true) != 0
    };
    if !hits.iter().any(is_old) {
        return;
    }
    // What cannot be read is reported by the search.
    let next = knowledge::successors(project).unwrap_or_default();
    // Of several in turn, the last; a circle has none.
    let last = |old: &String| {
        let mut turns = std::iter::successors(next.get(old), |key| next.get(*key));
        turns.by_ref().take(next.len()).last().filter(|_| turns.next().is_none())
    };
    let mut ordered: Vec<Hit> = Vec::new();
    while !hits.is_empty() {
        let hit = hits.remove(0);
        let new = hit.passage.id.as_ref().filter(|_| is_old(&hit)).and_then(last);
        let is_new = |hit: &Hit| new.is_some() && hit.passage.id.as_ref() == new;
        if let Some(new) = new.filter(|_| !ordered.iter().any(is_new)) {
            let found = hits.iter().position(is_new).map(|at| hits.remove(at));
            let found = found.map(|one| Hit { score: one.score.max(hit.score), ..one });
            ordered.extend(found.or_else(|| entry_hit(project, new, &hit)));
        }
        ordered.push(hit);
    }
    *hits = ordered;
}

/// Returns the entry with a key as a hit that answers as well as another one.
fn entry_hit(project: &Project, key: &str, like: &Hit) -> Option<Hit> {
    let path = KnowledgeDir::in_project(project).entry(key);
    let text = read::text(&path).ok()??.value;
    let passage = SourceName::Entries.passages(&text, &path, Role::Other).into_iter().next()?;
    let file = project.relative(&path).to_string_lossy().into_owned();
    Some(Hit { file, passage, copies: Vec::new(), ..like.clone() })
}

/// Marks a hit as stale, and ranks it lower.
pub(crate) fn mark_stale(hit: &mut Hit) {
    hit.passage.flags |= Flag::Stale.bit(true);
    hit.score *= Flag::weight(Flag::Stale.bit(true));
}

/// Sorts the hits by score; a pending fact comes after the one of its key that holds, however well it matches.
fn sort(hits: &mut [Hit]) {
    let is_pending = |hit: &Hit| hit.passage.flags & Flag::Pending.bit(true) != 0;
    let key = |hit: &Hit| hit.passage.text.split(": ").next().map(str::to_owned);
    let facts = hits.iter().filter(|hit| hit.source.is_none() && !is_pending(hit));
    let holding: HashMap<Option<String>, f64> =
        facts.rev().map(|hit| (key(hit), hit.score)).collect();
    for hit in hits.iter_mut().filter(|hit| is_pending(hit)) {
        hit.score = holding.get(&key(hit)).map_or(hit.score, |most| hit.score.min(*most));
    }
    let by_score = |one: &Hit, other: &Hit| other.score.total_cmp(&one.score);
    hits.sort_by(|one, other| by_score(one, other).then(is_pending(one).cmp(&is_pending(other))));
}

/// Returns the line by which the reasons for a bullet are found: the line of its entry's heading, or its own.
fn reason_line(patterns: &Patterns, line: usize) -> usize {
    if patterns.loose.iter().any(|loose| loose.line == line) {
        return line;
    }
    patterns
        .entries
        .iter()
        .map(|entry| entry.line)
        .filter(|start| *start <= line)
        .max()
        .unwrap_or(line)
}

/// Marks the hits that name a file that was committed after their date; without git, nothing tells.
fn mark_changed(project: &Project, hits: &mut [Hit], warnings: &mut Vec<Warning>) {
    let named: Vec<Vec<String>> = hits.iter().map(|hit| named_files(project, hit)).collect();
    let paths: BTreeSet<&str> = named.iter().flatten().map(String::as_str).collect();
    let oldest = hits.iter().zip(&named).filter(|(_, named)| !named.is_empty());
    let Some(oldest) = oldest.filter_map(|(hit, _)| hit.passage.date).min() else {
        return;
    };
    let paths: Vec<&str> = paths.into_iter().collect();
    match project.git.last_changes(&paths, oldest) {
        Ok(changes) => {
            for (hit, named) in hits.iter_mut().zip(&named) {
                let is_later = |path: &String| changes.get(path) > hit.passage.date.as_ref();
                if named.iter().any(is_later) {
                    hit.passage.flags |= Flag::Changed.bit(true);
                }
            }
        }
        Err(error) => {
            let message = format!("whether named files have changed is not known: {error}");
            warnings.push(Warning::file(&project.root, message));
        }
    }
}

/// Returns the files of the project that a dated hit names, from the top of the repository.
fn named_files(project: &Project, hit: &Hit) -> Vec<String> {
    let is_stale = hit.passage.flags & Flag::Stale.bit(true) != 0;
    if hit.passage.date.is_none() || is_stale {
        return Vec::new();
    }
    let Some(top) = project.git.top() else {
        return Vec::new();
    };
    let paths = mentions(&hit.passage.text).into_iter().filter_map(|mention| match mention {
        Mention { path, is_folder: false, .. } => Some(path),
        _ => None,
    });
    // One that is gone may have been renamed or deleted since.
    paths
        .filter(|path| hit.file != *path)
        .filter_map(|path| project.root.join(path).strip_prefix(top).ok().map(slashed))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_text_the_best_passage_is_shown() {
        let lines: Vec<String> = (0..100).map(|n| format!("line {n} of many")).collect();
        let text = lines.join("\n").replace("line 60 of many", "line 60 has the needle");
        let found = excerpt(&text, &crate::search::terms("needle", &[]));
        assert!(found.contains("line 60 has the needle"), "{found}");
        assert!(found.len() <= 750 && text.contains(found));
        assert!(found.starts_with("line ") && found.len() > 300);
        assert_eq!(excerpt("short", &[]), "short");
        let text = format!("{} the needle", "many words ".repeat(5500));
        let found = excerpt(&text, &crate::search::terms("needle", &[]));
        assert!(found.ends_with("needle") && found.len() <= 750, "{}", found.len());
    }
}
