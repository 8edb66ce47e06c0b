//! Imports the items of a source into our own stores, each once.

use std::path::Path;
use std::path::PathBuf;

use crate::error::Result;
use crate::exchange::Account;
use crate::exchange::Format;
use crate::exchange::ImportDestination;
use crate::exchange::account::left_out;
use crate::exchange::basic_memory;
use crate::exchange::claude_code;
use crate::exchange::claude_mem;
use crate::exchange::refusal::refusal;
use crate::exchange::refusal::secret;
use crate::exchange::serena;
use crate::exchange::server_memory;
use crate::exchange::source::ImportSource;
use crate::exchange::source::Moment;
use crate::exchange::source::Note;
use crate::exchange::statements;
use crate::facts::Facts;
use crate::facts::UserId;
use crate::journal;
use crate::journal::Writing;
use crate::knowledge;
use crate::knowledge::ImportItem;
use crate::knowledge::ImportOutcome;
use crate::project::Project;
use crate::secrets::SecretPolicy;

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
) -> Result<Account> {
    let mut source = read(import.format, &import.from)?;
    let target = match user {
        Some(_) => ImportDestination::Facts,
        None => ImportDestination::Memory,
    };
    let from = project.relative(&import.from).to_owned();
    let mut account = Account::new(import.format, from, target, &mut source);
    if let Some((facts, user)) = user {
        for moment in source.moments {
            account.left(
                moment.item,
                "is not a single statement; without --as facts it goes into the journal",
            );
        }
        statements::import(
            (facts, user),
            source.notes,
            import.secrets,
            &project.progress,
            &mut account,
        )?;
    } else {
        let notes = safe_notes(source.notes, import.secrets, &mut account);
        entries(project, import.format, notes, &mut account)?;
        let moments = safe_moments(source.moments, import.secrets, &mut account);
        records(project, moments, import.secrets, &mut account)?;
    }
    Ok(account.settle(project))
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

fn safe_notes(notes: Vec<Note>, policy: SecretPolicy, account: &mut Account) -> Vec<Note> {
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
            Some(reason) => left_out(note, &reason, account),
            None => safe.push(note),
        }
    }
    safe
}

fn safe_moments(moments: Vec<Moment>, policy: SecretPolicy, account: &mut Account) -> Vec<Moment> {
    let mut safe = Vec::new();
    for moment in moments {
        let draft = &moment.record.draft;
        let rule = draft.secret().filter(|_| policy == SecretPolicy::Refuse);
        if let Some(rule) = rule {
            account.left(moment.item, refusal(rule));
        } else if let Err(error) = draft.line("") {
            account.left(moment.item, error.message);
        } else {
            safe.push(moment);
        }
    }
    safe
}

fn entries(
    project: &Project,
    format: Format,
    notes: Vec<Note>,
    account: &mut Account,
) -> Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let pieces: Vec<ImportItem> = notes.iter().map(|note| note.piece.clone()).collect();
    let operation = format!("import {}", format.as_str());
    let done = knowledge::import(project, &operation, &pieces)?;
    account.warnings.extend(done.warnings);
    account.show(done.diff);
    for (note, outcome) in notes.into_iter().zip(done.outcomes) {
        let (key, is_new) = match outcome {
            ImportOutcome::New(key) => (key, true),
            ImportOutcome::Known(key) => (key, false),
            ImportOutcome::Changed(key) => {
                let reason = format!("was imported as {key}, and one of the two has changed since");
                left_out(note, &reason, account);
                continue;
            }
            ImportOutcome::Like(key, percent) => {
                let reason =
                    format!("near-duplicate of the entry {key} ({percent} % of lines shared)");
                left_out(note, &reason, account);
                continue;
            }
        };
        let becomes = format!("entry {key}");
        for item in [note.item].into_iter().chain(note.parts) {
            account.record_imported(item, &becomes, is_new);
        }
    }
    Ok(())
}

fn records(
    project: &Project,
    moments: Vec<Moment>,
    policy: SecretPolicy,
    account: &mut Account,
) -> Result<()> {
    if moments.is_empty() {
        return Ok(());
    }
    let path = journal::default_path(&project.environment)?;
    let writing = Writing {
        secrets: policy,
        dry_run: project.dry_run,
        ..Writing::new(project.clock)
    };
    let records: Vec<_> = moments.iter().map(|moment| moment.record.clone()).collect();
    let done = journal::adopt(&path, &records, &writing)?;
    account.show(done.diff);
    for (moment, is_new) in moments.into_iter().zip(done.is_new) {
        account.record_imported(moment.item, "record of the journal", is_new);
    }
    Ok(())
}
