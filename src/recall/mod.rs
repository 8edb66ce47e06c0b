//! Searches all stores at once and cites the source of each hit.
//!
//! ```text
//! sources ── passages ── the index of `search` ── hits, with flags
//! facts ─────────────────┘
//! ```
//!
//! The files are the source of truth: the index is derived from them and updated before each search.
//! Facts are not files: they are queried each time, and a project keeps no copy of them.

mod hit;
mod markdown;
mod place;
mod sources;

use std::path::Path;

pub use hit::{Flag, RecallHit};
use serde::Serialize;
pub use sources::SourceName;

use crate::clock::parse_date;
use crate::error::{Error, Result};
use crate::facts::{Fact, FactQuery, FactStatus, Facts, Purpose};
use crate::plan::{PhaseReport, Survey, drift};
use crate::project::Project;
use crate::recall::hit::{mark, mark_stale};
use crate::recall::sources::{Role, homes};
use crate::search::index::{Answer, Asked, Cache, Hit, IndexFile, NEAREST, Passage, share};
use crate::search::{Encoder, Relevance, is_wordless, terms};
use crate::text::{is_zero, sanitized};
use crate::warning::{Parsed, Warning};
use crate::{facts, sessions};

/// Maximum number of facts that are ranked among the project's texts.
const MAX_FACTS: usize = 50;

/// Confidence below which a fact is flagged.
const MIN_SURE_CONFIDENCE: f64 = 0.5;

/// A query against a project's memory.
#[derive(Debug)]
pub struct RecallQuery {
    /// The search text; it has no operators.
    pub text: String,
    /// The stores to search.
    pub sources: Vec<SourceName>,
    /// Maximum number of hits.
    pub limit: usize,
    /// Whether irrelevant texts are returned too, marked as such.
    pub include_irrelevant: bool,
    /// Whether the answer must not wait for a first index; if so, only the newest files are searched.
    pub is_urgent: bool,
    /// Whether the encoder reads the best texts again.
    pub uses_encoder: bool,
}

impl RecallQuery {
    /// Returns a query of all stores but the sessions; an empty text is an error.
    pub fn new(text: &str) -> Result<Self> {
        if text.trim().is_empty() {
            return Err(
                Error::usage("the query is empty").hint("say what you want to know, in words")
            );
        }
        let mut sources = SourceName::ALL.to_vec();
        sources.retain(|source| *source != SourceName::Sessions);
        Ok(Self {
            text: text.to_owned(),
            sources,
            limit: 10,
            include_irrelevant: false,
            is_urgent: false,
            uses_encoder: true,
        })
    }
}

/// The result of a search.
#[derive(Debug, Serialize)]
pub struct Recalled {
    /// The query.
    pub query: String,
    /// What the planning folder says as a whole: the next action and the current phase, if the query asks where the work
    /// stands, or that nothing blocks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub derived: Option<String>,
    /// The matching texts, best first.
    pub hits: Vec<RecallHit>,
    /// The nearest texts, best first, where nothing is a hit and one of them may still answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<RecallHit>,
    /// Whether the query has letters, but no word to search for, such as "the".
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_wordless: bool,
    /// Whether more texts match than were asked for.
    pub truncated: bool,
    /// Number of texts left out of the best because they are irrelevant to the query.
    #[serde(skip_serializing_if = "is_zero")]
    pub withheld: usize,
    /// Number of newest files searched, if there was no time to search all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest_files: Option<usize>,
}

/// Searches the stores that the query names.
pub fn recall(project: &Project, query: &RecallQuery) -> Result<Parsed<Recalled>> {
    let is_wordless = is_wordless(&query.text);
    let mut answer = if is_wordless { Answer::default() } else { answer(project, query)? };
    let mut warnings = std::mem::take(&mut answer.warnings);
    let derived = derived(project, query, &mut answer);
    mark(project, &mut answer.hits, &mut warnings);
    mark(project, &mut answer.nearest, &mut warnings);
    answer.truncated |= answer.hits.len() > query.limit;
    answer.hits.truncate(query.limit);
    let terms = terms(&query.text, &[]);
    let shown = |hits: Vec<Hit>| hits.into_iter().map(|hit| RecallHit::new(hit, &terms)).collect();
    let value = Recalled {
        query: query.text.clone(),
        derived,
        is_wordless,
        hits: shown(answer.hits),
        nearest: shown(answer.nearest),
        truncated: answer.truncated,
        withheld: answer.withheld,
        newest_files: answer.newest_files,
    };
    Ok(Parsed::new(value, project.named(warnings)))
}

/// Returns the answer that is derived from the planning folder, if the question has one. With it, or if the question is
/// about a phase, the folder's texts about anything else are removed from the sure answers.
fn derived(project: &Project, query: &RecallQuery, answer: &mut Answer) -> Option<String> {
    let place = place::asked(&query.text);
    if !query.sources.contains(&SourceName::Plan) {
        return None;
    }
    let derived = match place {
        // What cannot be read is reported by `status`.
        place::POSITION => Some(position(&Survey::read(project).ok()?, &mut answer.hits)),
        place::BLOCKED => {
            let none = Survey::read(project).ok()?.no_blockers();
            none.map(|line| format!("No blockers ({line})"))
        }
        _ => None,
    };
    if !query.include_irrelevant && (derived.is_some() || place::is_phase(place)) {
        // STATE.md and the roadmap may name the phase in any form; what was built stands elsewhere.
        let is_strict = derived.is_some() || place::is_about_work(place);
        let is_other = |hit: &Hit| {
            hit.source == Some(SourceName::Plan as usize)
                && share(hit.passage.flags, place) == 0.0
                && (is_strict || place::phase_of_folder(Path::new(&hit.file)).is_some())
        };
        let others: Vec<Hit> = answer.hits.extract_if(.., |hit| is_other(hit)).collect();
        answer.truncated &= others.is_empty();
        if derived.is_some() {
            answer.nearest.clear();
        } else if answer.hits.is_empty() {
            let low = |hit| Hit { relevance: Relevance::Low, ..hit };
            answer.nearest.extend(others.into_iter().take(NEAREST).map(low));
        }
    }
    derived.map(|said| sanitized(&said).into_owned())
}

/// Returns where the work stands, as `status` derives it, and marks the hits that say something else.
fn position(survey: &Survey, hits: &mut [Hit]) -> String {
    let position = &survey.position;
    let mut said = format!("Next action: {}", position.next.command);
    let phase = PhaseReport::derived(position).line();
    said.extend(phase.map(|phase| format!("; phase {phase}")));
    said.extend(position.next.contest().map(|contest| format!("; contested: {contest}")));
    let drift = drift(survey);
    let wrong = drift.iter().find(|one| one.kind.is_some());
    said.extend(
        wrong.map(|one| format!("; {}:{}: {}", one.file.display(), one.line, one.sentence())),
    );
    for hit in hits {
        let lines = hit.passage.line..hit.passage.line + hit.passage.text.lines().count();
        if drift.iter().any(|one| one.file == Path::new(&hit.file) && lines.contains(&one.line)) {
            mark_stale(hit);
        }
    }
    said
}

/// Returns what the index and the facts give for a query, as it is stored.
pub fn answer(project: &Project, query: &RecallQuery) -> Result<Answer> {
    let mut warnings = Vec::new();
    let extras = fact_passages(project, query, &mut warnings)?;
    let sources: Vec<usize> = query.sources.iter().map(|source| *source as usize).collect();
    let place = place::asked(&query.text);
    let asked = Asked {
        text: &query.text,
        sources: &sources,
        limit: query.limit,
        all: query.include_irrelevant,
        uses_encoder: query.uses_encoder && project.settings.encoder,
        is_urgent: query.is_urgent,
        extras: &extras,
        place,
        max_of_section: place::max_of_section(place),
    };
    if asked.uses_encoder && Encoder::built_in().is_none() {
        warnings.push(Warning::file(&project.root, Encoder::DAMAGED));
    }
    let of_sessions = || {
        let mut found = sessions::search(project, &asked)?;
        found.hits.iter_mut().for_each(|hit| hit.source = Some(SourceName::Sessions as usize));
        Ok::<Answer, Error>(found)
    };
    if query.sources == [SourceName::Sessions] {
        let found = of_sessions()?;
        return Ok(Answer { warnings: [warnings, found.warnings].concat(), ..found });
    }
    let files = files(project);
    // A folder without memory gets no index file; a README is none.
    let is_memory = |file: &IndexFile| {
        !SourceName::ALL[file.source].is_users_own() && Role::ALL[file.role] != Role::Readme
    };
    let is_kept = files.iter().any(is_memory);
    let cache = Cache {
        storage: (is_kept && !project.dry_run).then(|| project.storage()),
        files,
        reader: read,
        progress: project.progress.clone(),
    };
    let mut answer = cache.search(&asked)?;
    answer.warnings.extend(warnings);
    if query.sources.contains(&SourceName::Sessions) {
        let found = of_sessions()?;
        answer.hits.extend(found.hits);
        answer.hits.sort_by(|one, other| other.score.total_cmp(&one.score));
        answer.truncated |= found.truncated || answer.hits.len() > query.limit;
        answer.hits.truncate(query.limit);
        answer.nearest.extend(found.nearest);
        answer.nearest.truncate(if answer.hits.is_empty() { NEAREST } else { 0 });
        answer.withheld += found.withheld;
        answer.newest_files = answer.newest_files.or(found.newest_files);
        answer.warnings.extend(found.warnings);
    }
    Ok(answer)
}

/// Reads a file of a store.
fn read(file: &IndexFile) -> Result<Option<Vec<Passage>>> {
    let store = SourceName::ALL[file.source];
    let text = store.read(&file.path)?;
    Ok(text.map(|text| store.passages(&text, file.name.as_ref(), Role::ALL[file.role])))
}

/// Lists the files of all stores without reading them, sorted by name.
fn files(project: &Project) -> Vec<IndexFile> {
    let mut found: Vec<IndexFile> = Vec::new();
    let homes = homes(project);
    for store in SourceName::ALL {
        let files = store.files(project).into_iter();
        found.extend(files.filter_map(|path| {
            let name = project.relative(&path).to_owned();
            let role = Role::of(&name, &homes) as usize;
            let name = name.to_string_lossy().into_owned();
            Some(IndexFile { role, ..IndexFile::stat(store as usize, name, path)? })
        }));
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    // If two stores claim the same file, the first one gets it.
    found.dedup_by(|one, other| one.name == other.name);
    found
}

/// Returns the facts of the configured user that may match; a failure to query the database becomes a warning.
///
/// If only facts are searched, no user and a failed query are errors: nothing else can answer.
fn fact_passages(
    project: &Project,
    query: &RecallQuery,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Passage>> {
    let is_only_source = query.sources == [SourceName::Facts];
    let is_asked = query.sources.contains(&SourceName::Facts);
    if !is_asked || project.settings.user.is_none() && !is_only_source {
        return Ok(Vec::new());
    }
    match query_facts(project, query) {
        Err(error) if !is_only_source => {
            let file = error.place.as_ref().map(|place| place.file.clone());
            let message = format!("facts are not included: {}", error.reason());
            let file = file.unwrap_or_else(|| project.root.clone());
            warnings.push(Warning::file(&file, message));
            Ok(Vec::new())
        }
        result => result,
    }
}

fn query_facts(project: &Project, query: &RecallQuery) -> Result<Vec<Passage>> {
    let user = facts::user(project, None)?;
    let database = Facts::open(project, None, Purpose::Read)?;
    // Relevance is judged together with the texts of the project.
    let method = facts::Method::from(project.settings.facts.fusion);
    let asked = facts::without_name(&database, &user, &query.text)?;
    let fact_query = FactQuery::candidates(&asked, None, query.limit.max(MAX_FACTS), method);
    let embedder = facts::embedder(project)?;
    let found = facts::retrieve(&database, &user, &fact_query, &embedder)?;
    let passage = |fact: Fact| {
        let is_pending = fact.status == FactStatus::PendingConfirmation;
        let is_unsure = is_pending || fact.confidence < MIN_SURE_CONFIDENCE;
        let flags = Flag::LowConfidence.bit(is_unsure) | Flag::Pending.bit(is_pending);
        Passage {
            headings: Vec::new(),
            line: 0,
            text: fact.to_string(),
            date: parse_date(&fact.last_mentioned_at),
            id: Some(fact.fact_id),
            flags,
            weight: Flag::weight(flags),
        }
    };
    // The words of the whole question would put the name first.
    let is_answer = |(rank, fact): &(usize, Fact)| {
        *rank == 0 || asked == query.text || !facts::NAME_KEYS.contains(&&*fact.key)
    };
    let found = found.hits.into_iter().map(|hit| hit.fact).enumerate().filter(is_answer);
    Ok(found.map(|(_, fact)| passage(fact)).collect())
}
