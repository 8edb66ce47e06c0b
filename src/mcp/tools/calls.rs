//! What each tool does: it reads its arguments and calls the function that the command line calls.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use crate::context::DigestRequest;
use crate::error::{Error, Result};
use crate::facts::{FactQuery, Facts, Method, Purpose, Selection, Statement};
use crate::journal::{RecordDraft, WriteOptions};
use crate::knowledge::notepad::{Note, NotepadSection};
use crate::knowledge::{Confidence, EntryType, EntryWrite, notepad};
use crate::lifecycle::{ExecuteReport, ExecuteRequest};
use crate::mcp::answer::{ToolAnswer, fenced};
use crate::mcp::arguments::{Arguments, NoArguments};
use crate::patterns::SubmittedLessons;
use crate::plan::{StatusReport, Survey};
use crate::project::Project;
use crate::recall::{RecallHit, RecallQuery, SourceName};
use crate::search::Relevance;
use crate::secrets::SecretPolicy;
use crate::{context, facts, journal, knowledge, lifecycle, recall};

/// Maximum number of facts per call.
const MAX_FACTS: usize = 50;

fn open_facts(project: &Project, purpose: Purpose) -> Result<Facts> {
    Facts::open(project, None, purpose)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddArguments {
    key: String,
    value: String,
}

pub(crate) fn fact_add(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let arguments: AddArguments = arguments.read()?;
    let (user, _) = facts::user_or_systems(project, None)?;
    let statement =
        Statement { key: arguments.key, value: arguments.value, ..Statement::default() };
    let added = facts::add(&mut open_facts(project, Purpose::Write)?, &user, &statement)?;
    let fact = added.fact.map(|fact| format!(" {fact}")).unwrap_or_default();
    Ok(ToolAnswer::text(format!("{}:{fact}\n", added.outcome.as_str())))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RetrieveArguments {
    query: String,
    limit: Option<usize>,
    #[serde(default)]
    all: bool,
}

pub(crate) fn fact_retrieve(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let search: RetrieveArguments = arguments.read()?;
    let (user, _) = facts::user_or_systems(project, None)?;
    let query = FactQuery {
        text: search.query,
        limit: search.limit.unwrap_or(10).clamp(1, MAX_FACTS),
        project: None,
        method: Method::from(project.settings.facts.fusion),
        selection: if search.all { Selection::All } else { Selection::Relevant },
        uses_encoder: project.settings.encoder,
    };
    let embedder = facts::embedder(project)?;
    let found =
        facts::retrieve(&mut open_facts(project, Purpose::Read)?, &user, &query, &embedder)?;
    let lines = found.hits.iter().map(|hit| {
        let mark = if hit.relevance == Some(Relevance::Low) { "low relevance: " } else { "" };
        format!("{mark}{}\n", hit.fact)
    });
    let text = if found.hits.is_empty() {
        "Nothing relevant is known; pass `all` for the nearest.\n".to_owned()
    } else {
        fenced("the user's facts", &lines.collect::<String>())
    };
    Ok(ToolAnswer::text(text))
}

/// The hashes of the entries that this session has read or written; a server serves one session.
static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    key: String,
}

pub(crate) fn entry_read(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let ReadArguments { key } = arguments.read()?;
    let entry = knowledge::read(project, &key)?;
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(entry.hash.clone());
    let text = format!(
        "hash: {}\n{}",
        entry.hash,
        fenced(&entry.file.display().to_string(), &String::from_utf8_lossy(&entry.bytes))
    );
    Ok(ToolAnswer::text(text))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteArguments {
    key: String,
    #[serde(rename = "type")]
    kind: EntryType,
    confidence: Confidence,
    body: Option<String>,
    title: Option<String>,
    tags: Option<Vec<String>>,
    if_match: Option<String>,
}

pub(crate) fn entry_write(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let arguments: WriteArguments = arguments.read()?;
    let before = knowledge::read(project, &arguments.key).ok();
    let is_checked = arguments.if_match.is_some();
    let written = knowledge::write(
        project,
        &EntryWrite {
            key: arguments.key,
            kind: arguments.kind,
            confidence: arguments.confidence,
            tags: arguments.tags,
            body: arguments.body.map(String::into_bytes),
            title: arguments.title,
            if_match: arguments.if_match,
            secrets: SecretPolicy::Refuse,
            request_id: None,
        },
    )?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut text = format!("{written}\n");
    if let Some(before) = before.filter(|before| before.hash != written.hash && !is_checked)
        && !known.contains(&before.hash)
    {
        let file = before.file.display().to_string();
        let old = fenced(&file, &String::from_utf8_lossy(&before.bytes));
        text.push_str(&format!(
            "It replaced text of another session, which this one had not read. {old}"
        ));
    }
    known.insert(written.hash);
    Ok(ToolAnswer::text(text))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoteArguments {
    section: NotepadSection,
    text: String,
}

pub(crate) fn notepad_write(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let note: NoteArguments = arguments.read()?;
    let report = notepad::write(
        project,
        &Note {
            section: note.section,
            text: &note.text,
            secrets: SecretPolicy::Refuse,
            request_id: None,
        },
    )?;
    Ok(ToolAnswer::text(format!("{report}\n")))
}

/// Maximum number of hits per call.
const MAX_HITS: usize = 50;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    query: String,
    limit: Option<usize>,
    #[serde(default)]
    all: bool,
    #[serde(rename = "in")]
    sources: Option<Vec<String>>,
}

pub(crate) fn recall_hits(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let search: SearchArguments = arguments.read()?;
    let mut query = RecallQuery::new(&search.query)?;
    query.limit = search.limit.unwrap_or(query.limit).clamp(1, MAX_HITS);
    query.include_irrelevant = search.all;
    query.is_urgent = true;
    if let Some(names) = &search.sources {
        query.sources = names.iter().map(|name| source(name)).collect::<Result<_>>()?;
    }
    let mut found = recall::recall(project, &query)?.value;
    for hit in &mut found.hits {
        hit.parts = None;
    }
    let mut text: String = found.hits.iter().map(fenced_hit).collect();
    if found.hits.is_empty() {
        text.push_str(match found.withheld {
            0 => "Nothing found.\n",
            _ => "Nothing relevant; pass `all` for the nearest.\n",
        });
    }
    if let Some(files) = found.newest_files {
        text = format!(
            "No index yet: only the newest {files} files were searched; it is being built.\n{text}"
        );
    }
    if found.truncated {
        text.push_str("More was found: pass a higher limit or be more specific.\n");
    }
    Ok(ToolAnswer::text(text))
}

fn source(name: &str) -> Result<SourceName> {
    SourceName::from_word(name).ok_or_else(|| Error::usage(format!("there is no store {name:?}")))
}

/// Shows a hit as data with its source.
fn fenced_hit(hit: &RecallHit) -> String {
    let mut source = hit.source.as_str().to_owned();
    for part in hit.file.iter().chain(&hit.id) {
        source.push(' ');
        source.push_str(part);
    }
    if let Some(line) = hit.line {
        source = format!("{source}:{line}");
    }
    if let Some(resume) = &hit.resume {
        let date = hit.date.map_or(String::new(), |date| format!(", {date}"));
        source = format!("{source}{date}, resume: {resume}");
    }
    if hit.relevance == Relevance::Low {
        source.push_str(", low relevance");
    }
    for flag in &hit.flags {
        source = format!("{source}, {}", flag.as_str());
    }
    fenced(&source, &hit.snippet)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DigestArguments {
    budget: Option<usize>,
    #[serde(rename = "for")]
    topic: Option<String>,
}

pub(crate) fn context_text(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let arguments: DigestArguments = arguments.read()?;
    let request = DigestRequest {
        budget: arguments.budget.unwrap_or(context::BUDGET),
        topic: arguments.topic,
        ..DigestRequest::default()
    };
    let digest = context::digest(project, &request)?;
    Ok(ToolAnswer::text(if digest.text.is_empty() {
        "Nothing is stored here yet.\n".to_owned()
    } else {
        fenced("the project's memory", &digest.text)
    }))
}

pub(crate) fn memory_write(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let draft = RecordDraft::parse(&arguments.json())?;
    let path = journal::default_path(&project.environment)?;
    let options = WriteOptions { dry_run: project.dry_run, ..WriteOptions::new(project.clock) };
    journal::write(&path, &[draft], &options)?;
    Ok(ToolAnswer::text("Recorded in the journal.\n"))
}

pub(crate) fn memory_search(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let query = journal::JournalQuery::parse(&arguments.json())?;
    let path = journal::default_path(&project.environment)?;
    let found = journal::search(&path, &query)?;
    ToolAnswer::json("the journal", &found)
}

pub(crate) fn status(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let NoArguments {} = arguments.read()?;
    let survey = Survey::read(project)?;
    let report = StatusReport::with_metrics(project, &survey);
    ToolAnswer::json("annals status", &report)
}

/// A phase, and the lessons of the agent that worked on it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordArguments {
    phase: Option<String>,
    lessons: Option<SubmittedLessons>,
}

pub(crate) fn record_phase(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let RecordArguments { phase, lessons } = arguments.read()?;
    let request = ExecuteRequest {
        phase: phase.as_deref().map(str::parse).transpose()?,
        lessons,
        ..ExecuteRequest::default()
    };
    let done = lifecycle::execute(project, &request)?;
    let ExecuteReport { recorded, judged, already, .. } = &done.value;
    let mut said = Vec::new();
    for (what, phases) in
        [("Recorded", recorded), ("Lessons replaced", judged), ("Already recorded", already)]
    {
        if !phases.is_empty() {
            said.push(format!("{what}: {}.", phases.join(", ")));
        }
    }
    said.extend(done.next.map(|next| format!("Next: {next}.")));
    Ok(ToolAnswer::text(format!("{}\n", said.join(" "))))
}
