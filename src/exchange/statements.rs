//! Imports single statements as facts of one user.

use std::collections::{BTreeSet, HashSet};

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::exchange::ImportReport;
use crate::exchange::report::{secret, skip_note};
use crate::exchange::source::{Note, SourceItem};
use crate::facts::{Fact, FactKey, Facts, MAX_EXCERPT_CHARS, MAX_VALUE_BYTES, UserId};
use crate::knowledge::{Confidence, key_of};
use crate::progress::Progress;
use crate::secrets::SecretPolicy;
use crate::text::hexadecimal;
use crate::{facts, text};

/// Imports all statements of the notes, or none; the id of each fact is derived from its text.
pub(crate) fn import(
    facts: &mut Facts,
    user: &UserId,
    notes: Vec<Note>,
    policy: SecretPolicy,
    progress: &Progress,
    report: &mut ImportReport,
) -> Result<()> {
    let now = facts.clock().timestamp();
    let mut lines = String::new();
    let mut made: Vec<(SourceItem, Fact)> = Vec::new();
    let mut ids = BTreeSet::new();
    for note in notes {
        if note.statements.is_empty() {
            let reason = "contains no single statements; without --as facts it becomes an entry";
            skip_note(note, reason, report);
            continue;
        }
        for statement in &note.statements {
            let item = SourceItem::new(note.item.place.clone(), statement.clone());
            match fact(&note, statement, user, &now) {
                Err(error) => report.skip_item(item, error.message),
                Ok(fact) => {
                    match secret(&[&fact.value_text]).filter(|_| policy == SecretPolicy::Refuse) {
                        Some(reason) => report.skip_item(item, reason),
                        None if ids.insert(fact.fact_id.clone()) => {
                            lines.push_str(&fact.to_json()?);
                            lines.push('\n');
                            made.push((item, fact));
                        }
                        None => report.skip_item(item, "appears in the source twice"),
                    }
                }
            }
        }
        for part in note.parts {
            report.skip_item(
                part,
                "is not a statement by itself; without --as facts it becomes part of an entry",
            );
        }
    }
    if made.is_empty() {
        return Ok(());
    }
    let done = facts::import(facts, user, &lines, policy, progress)?;
    let known: HashSet<&str> = done.known_ids.iter().map(String::as_str).collect();
    let mut diff = String::new();
    for (item, fact) in made {
        let is_new = !known.contains(fact.fact_id.as_str());
        if is_new {
            diff.extend(["+", &fact.key, " = ", &fact.value_text, "\n"]);
        }
        report.record_imported(item, &format!("fact {}", fact.key), is_new);
    }
    report.show(facts.is_dry_run().then_some(diff));
    Ok(())
}

fn fact(note: &Note, statement: &str, user: &UserId, now: &str) -> Result<Fact> {
    let (memory, name) = &note.piece.origin;
    let topic = key_of(&note.piece.title).replace('-', "_");
    let key = FactKey::parse(&format!("memory.{topic}[]"))?;
    let value = text::strip_controls(statement).trim().to_owned();
    if value.is_empty() || value.len() > MAX_VALUE_BYTES {
        return Err(Error::refused(format!("a value must be 1 to {MAX_VALUE_BYTES} bytes long")));
    }
    let fact_id = id(&[user.as_str(), memory, name, &value]);
    let excerpt = text::clip(&value, MAX_EXCERPT_CHARS).into_owned();
    Ok(Fact {
        category: key.category(),
        confidence: match note.piece.confidence {
            Confidence::High => 0.9,
            Confidence::Medium => 0.7,
            Confidence::Low => 0.4,
        },
        source_turn_id: format!("import:{memory}"),
        source_excerpt: excerpt,
        ..Fact::new(user, fact_id, key.as_str(), value, now)
    })
}

/// Returns a UUID derived from texts.
fn id(texts: &[&str]) -> String {
    let mut sum = Sha256::new();
    for text in texts {
        sum.update(text.len().to_le_bytes());
        sum.update(text);
    }
    let digits = hexadecimal(&sum.finalize()[..16]);
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    parts.join("-")
}
