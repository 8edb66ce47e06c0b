//! Tools on knowledge entries and the notepad.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::json;

use crate::error::Result;
use crate::knowledge;
use crate::knowledge::notepad::{Note, NotepadSection};
use crate::knowledge::{Confidence, EntryType, EntryWrite, notepad};
use crate::mcp::answer::{ToolAnswer, fenced};
use crate::mcp::arguments::Arguments;
use crate::mcp::tools::{Effect, Tool, ToolSet};
use crate::project::Project;
use crate::secrets::SecretPolicy;

/// The hashes of the entries that this session has read or written; a server serves one session.
static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "entry_read",
        set: ToolSet::Default,
        description: "Read one knowledge entry whole, with its hash. Use after recall or a [[key]] named it, and before updating it.",
        properties: || json!({"key": {"type": "string"}}),
        required: &["key"],
        effect: Effect::ReadOnly,
        call: read,
    },
    Tool {
        name: "entry_write",
        set: ToolSet::Default,
        description: "Store durable knowledge that the code does not show, one topic per key; an update replaces the body. Use when the user asks, or approves it; low confidence unless confirmed.",
        properties: || {
            json!({
                "key": {"type": "string", "description": "kebab-case"},
                "type": {"enum": EntryType::ALL.map(EntryType::as_str)},
                "confidence": {"enum": ["low", "medium", "high"]},
                "body": {"type": "string", "description": "markdown"},
                "title": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "if_match": {"type": "string", "description": "hash from entry_read"}
            })
        },
        required: &["key", "type", "confidence"],
        effect: Effect::Idempotent,
        call: write,
    },
    Tool {
        name: "notepad_write",
        set: ToolSet::Default,
        description: "Note what must survive a compaction. priority: critical, 500 characters in all; working: a dated one-line breadcrumb; manual: free text. Use for the current task.",
        properties: || {
            json!({
                "section": {"enum": NotepadSection::ALL.map(NotepadSection::as_str)},
                "text": {"type": "string"}
            })
        },
        required: &["section", "text"],
        effect: Effect::Append,
        call: note,
    },
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    key: String,
}

fn read(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
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

fn write(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
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

fn note(project: &Project, arguments: Arguments) -> Result<ToolAnswer> {
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
