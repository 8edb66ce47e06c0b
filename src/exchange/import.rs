//! Imports the items of a source into our own stores, each once.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::exchange::report::{refusal, secret, skip_note};
use crate::exchange::source::{DatedItem, ImportSource, Note};
use crate::exchange::{
    Format, ImportDestination, ImportReport, basic_memory, claude_code, claude_mem, serena,
    server_memory, statements,
};
use crate::facts::{Facts, UserId};
use crate::journal::WriteOptions;
use crate::knowledge::{ImportItem, ImportOutcome};
use crate::project::Project;
use crate::secrets::SecretPolicy;
use crate::{journal, knowledge};

/// Maximum length of a text that becomes an entry, in bytes.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// The parameters of an import.
#[derive(Clone, Debug)]
pub struct Import {
    /// The format of the source.
    pub format: Format,
    /// The file or folder.
    pub from: PathBuf,
    /// Whether text that looks like a secret is imported anyway.
    pub secrets: SecretPolicy,
}

/// Imports another memory, and reports the outcome of every item; with `user`, statements become facts.
pub fn import(
    project: &Project,
    import: &Import,
    user: Option<(&mut Facts, &UserId)>,
) -> Result<ImportReport> {
    let mut source = read(import.format, &import.from)?;
    source.check_size(&import.from, user.is_some())?;
    let target = match user {
        Some(_) => ImportDestination::Facts,
        None => ImportDestination::Memory,
    };
    let from = project.relative(&import.from).to_owned();
    let mut report = ImportReport::new(import.format, from, target, &mut source);
    if let Some((facts, user)) = user {
        for dated in source.dated_items {
            report.skip_item(
                dated.item,
                "is not a single statement; without --as facts it goes into the journal",
            );
        }
        statements::import(
            facts, user, source.notes, import.secrets, &project.progress, &mut report,
        )?;
    } else {
        let notes = safe_notes(source.notes, import.secrets, &mut report);
        entries(project, import.format, notes, &mut report)?;
        let dated_items = safe_dated_items(source.dated_items, import.secrets, &mut report);
        records(project, dated_items, import.secrets, &mut report)?;
    }
    Ok(report.finish(project))
}

/// Reads a source, which is never written to.
fn read(format: Format, path: &Path) -> Result<ImportSource> {
    match format {
        Format::ServerMemory => server_memory::read(path),
        Format::Serena => serena::read(path),
        Format::BasicMemory => basic_memory::read(path),
        Format::ClaudeCode => claude_code::read(path),
        Format::ClaudeMem => claude_mem::read(path),
    }
}

fn safe_notes(notes: Vec<Note>, policy: SecretPolicy, report: &mut ImportReport) -> Vec<Note> {
    let mut safe = Vec::new();
    for note in notes {
        let piece = &note.piece;
        let reason = if piece.body.len() > MAX_TEXT_BYTES {
            Some("is larger than 1 MiB, too large for an entry".to_owned())
        } else if policy == SecretPolicy::Allow {
            None
        } else {
            let tags = piece.tags.join(", ");
            secret(&[&piece.title, &piece.body, &tags, &piece.origin.1])
        };
        match reason {
            Some(reason) => skip_note(note, &reason, report),
            None => safe.push(note),
        }
    }
    safe
}

fn safe_dated_items(
    dated_items: Vec<DatedItem>,
    policy: SecretPolicy,
    report: &mut ImportReport,
) -> Vec<DatedItem> {
    let mut safe = Vec::new();
    for dated in dated_items {
        let draft = &dated.record.draft;
        let rule = draft.secret().filter(|_| policy == SecretPolicy::Refuse);
        if let Some(rule) = rule {
            report.skip_item(dated.item, refusal(rule));
        } else if let Err(error) = draft.line("") {
            report.skip_item(dated.item, error.message);
        } else {
            safe.push(dated);
        }
    }
    safe
}

fn entries(
    project: &Project,
    format: Format,
    notes: Vec<Note>,
    report: &mut ImportReport,
) -> Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let pieces: Vec<ImportItem> = notes.iter().map(|note| note.piece.clone()).collect();
    let operation = format!("import {}", format.as_str());
    let done = knowledge::import(project, &operation, &pieces)?;
    report.warnings.extend(done.warnings);
    report.show(done.diff);
    for (note, outcome) in notes.into_iter().zip(done.outcomes) {
        let (key, is_new) = match outcome {
            ImportOutcome::New(key) => (key, true),
            ImportOutcome::Known(key) => (key, false),
            ImportOutcome::Changed(key) => {
                let reason =
                    format!("was imported as {key}; the source or the entry has changed since");
                skip_note(note, &reason, report);
                continue;
            }
            ImportOutcome::NearDuplicate { key, shared_percent: percent } => {
                let reason =
                    format!("near-duplicate of the entry {key} ({percent} % of lines shared)");
                skip_note(note, &reason, report);
                continue;
            }
        };
        let becomes = format!("entry {key}");
        for item in [note.item].into_iter().chain(note.parts) {
            report.record_imported(item, &becomes, is_new);
        }
    }
    Ok(())
}

fn records(
    project: &Project,
    dated_items: Vec<DatedItem>,
    policy: SecretPolicy,
    report: &mut ImportReport,
) -> Result<()> {
    if dated_items.is_empty() {
        return Ok(());
    }
    let path = journal::default_path(&project.environment)?;
    let options = WriteOptions {
        secrets: policy,
        dry_run: project.dry_run,
        ..WriteOptions::new(project.clock)
    };
    let records: Vec<_> = dated_items.iter().map(|dated| dated.record.clone()).collect();
    let done = journal::adopt(&path, &records, &options)?;
    report.show(done.diff);
    for (dated, is_new) in dated_items.into_iter().zip(done.is_new) {
        report.record_imported(dated.item, "record of the journal", is_new);
    }
    Ok(())
}
