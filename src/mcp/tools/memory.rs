//! Tools that search across the stores: recall and context, and the journal.

use serde::Deserialize;

use crate::context::DigestRequest;
use crate::error::{Error, Result};
use crate::journal::{RecordDraft, WriteOptions};
use crate::mcp::answer::{ToolAnswer, fenced};
use crate::mcp::arguments::Arguments;
use crate::project::Project;
use crate::recall::{RecallHit, RecallQuery, SourceName};
use crate::search::Relevance;
use crate::{context, journal, recall};

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

pub(crate) fn search(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
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

pub(crate) fn digest(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
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

pub(crate) fn write_record(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let draft = RecordDraft::parse(&arguments.json())?;
    let path = journal::default_path(&project.environment)?;
    let options = WriteOptions { dry_run: project.dry_run, ..WriteOptions::new(project.clock) };
    journal::write(&path, &[draft], &options)?;
    Ok(ToolAnswer::text("Recorded in the journal.\n"))
}

pub(crate) fn search_records(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
    let query = journal::JournalQuery::parse(&arguments.json())?;
    let path = journal::default_path(&project.environment)?;
    let found = journal::search(&path, &query)?;
    ToolAnswer::json("the journal", &found)
}
