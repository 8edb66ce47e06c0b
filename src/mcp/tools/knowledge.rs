//! Tools on knowledge entries and the notepad.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use crate::error::Result;
use crate::knowledge;
use crate::knowledge::notepad::{Note, NotepadSection};
use crate::knowledge::{Confidence, EntryType, EntryWrite, notepad};
use crate::mcp::answer::{ToolAnswer, fenced};
use crate::mcp::arguments::Arguments;
use crate::project::Project;
use crate::secrets::SecretPolicy;

/// The hashes of the entries that this session has read or written; a server serves one session.
static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    key: String,
}

pub(crate) fn read(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
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

pub(crate) fn write(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
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

pub(crate) fn note(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
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
