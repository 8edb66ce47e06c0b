//! Exports facts as JSON Lines, and imports them.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::Connection;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::facts::addition::MAX_EXCERPT_CHARS;
use crate::facts::change::Cause;
use crate::facts::fact::{Fact, MAX_VALUE_BYTES, normalized_time};
use crate::facts::query::Query;
use crate::facts::store::Facts;
use crate::facts::user::UserId;
use crate::facts::vocabulary::{FactStatus, Proposal};
use crate::facts::{addition, audit_trail, change, fact, wording};
use crate::progress::Progress;
use crate::secrets::SecretPolicy;
use crate::text;

/// Number of invalid lines that an error names.
const MAX_PROBLEMS: usize = 10;

/// Number of facts that are written together.
const BATCH: usize = 256;

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Number of new facts.
    pub imported: usize,
    /// Number of facts that were already present.
    pub known: usize,
    /// Number of new facts that contradict an active one, and await confirmation.
    pub pending: usize,
    /// Ids of the facts that were already present.
    #[serde(skip)]
    pub known_ids: Vec<String>,
}

/// Returns all facts of a user, archived ones first.
pub fn export(facts: &Facts, user: &UserId) -> Result<Vec<Fact>> {
    let mut all = audit_trail::facts(
        facts.connection(),
        "read the archive",
        "SELECT fact_json FROM facts_archive WHERE user_id = ?1 ORDER BY archived_at, fact_id",
        [user.as_str()],
    )?;
    all.extend(fact::select(facts.connection(), user, "1", &[])?);
    Ok(all)
}

/// Imports facts of a user, one JSON object per line; an invalid line fails the whole import.
///
/// A fact whose id or active value is already present is left unchanged. One that contradicts an active fact
/// becomes pending: an import overwrites nothing.
pub fn import(
    facts: &mut Facts,
    user: &UserId,
    lines: &str,
    policy: SecretPolicy,
    progress: &Progress,
) -> Result<Imported> {
    let read = read(user, lines, policy)?;
    let now = facts.clock().timestamp();
    facts.enlarge_cache()?;
    facts.write(|connection| {
        let mut done = Imported::default();
        let mut active = HashMap::new();
        // Facts are written in batches: the ids of all new ones, and those that wait.
        let (mut ids, mut new) = (HashSet::new(), Vec::new());
        let write = |new: &[Fact]| {
            change::write_new(connection, new, |fact| Cause {
                action: "import",
                reason: "imported",
                turn: &fact.source_turn_id,
                at: &now,
            })
        };
        for mut fact in progress.track("Importing", read) {
            let here = match active.entry(fact.key.clone()) {
                Entry::Occupied(read) => read.into_mut(),
                Entry::Vacant(unread) => {
                    let read = fact::with_key(connection, user, &fact.key, FactStatus::Active)?;
                    unread.insert(ActiveValues::new(&read))
                }
            };
            let is_active = fact.status == FactStatus::Active;
            let is_known = ids.contains(&fact.fact_id) || is_stored(connection, &fact.fact_id)?;
            if is_known || (is_active && here.contains(&fact)) {
                done.known += 1;
                done.known_ids.push(fact.fact_id);
                continue;
            }
            if fact.is_over_at(&now) {
                fact.status = FactStatus::Expired;
            }
            let is_active = fact.status == FactStatus::Active;
            if let Some(current) = &here.first_id
                && is_active
                && !fact.is_multi_valued()
            {
                fact.status = FactStatus::PendingConfirmation;
                fact.proposal = Some(Proposal::Value);
                fact.contests = Some(current.clone());
                done.pending += 1;
            }
            fact.embedding_id = None;
            done.imported += 1;
            if fact.status == FactStatus::Active {
                here.add(&fact);
            }
            ids.insert(fact.fact_id.clone());
            new.push(fact);
            if new.len() == BATCH {
                write(&new)?;
                new.clear();
            }
        }
        write(&new)?;
        Ok(done)
    })
}

fn is_stored(connection: &Connection, id: &str) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM facts WHERE fact_id = ?1) \
               OR EXISTS (SELECT 1 FROM facts_archive WHERE fact_id = ?1)";
    connection.value("read the facts", sql, [id])
}

/// The active facts under a key: reading them again for each imported fact would be quadratic.
#[derive(Default)]
struct ActiveValues {
    /// The id of the first.
    first_id: Option<String>,
    values: HashSet<String>,
}

impl ActiveValues {
    fn new(facts: &[Fact]) -> Self {
        let mut all = Self::default();
        for fact in facts {
            all.add(fact);
        }
        all
    }

    fn add(&mut self, fact: &Fact) {
        self.first_id.get_or_insert_with(|| fact.fact_id.clone());
        self.values.insert(wording::folded(&fact.value_text));
    }

    fn contains(&self, fact: &Fact) -> bool {
        self.values.contains(&wording::folded(&fact.value_text))
    }
}

fn read(user: &UserId, lines: &str, policy: SecretPolicy) -> Result<Vec<Fact>> {
    let mut read = BTreeMap::new();
    let mut problems = Vec::new();
    for (index, line) in lines.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match fact_of(user, line, policy) {
            Ok(fact) => drop(read.insert(index, fact)),
            Err(error) => problems.push(format!("line {}: {}", index + 1, error.message)),
        }
        if problems.len() == MAX_PROBLEMS {
            break;
        }
    }
    if problems.is_empty() {
        return Ok(read.into_values().collect());
    }
    Err(Error::refused(format!("not imported: {}", problems.join("; ")))
        .hint("each line is one fact as `annals facts export` writes it"))
}

fn fact_of(user: &UserId, line: &str, policy: SecretPolicy) -> Result<Fact> {
    let mut fact: Fact = serde_json::from_str(line)
        .map_err(|error| Error::refused(format!("not a fact: {error}")))?;
    if fact.user_id != user.as_str() {
        return Err(Error::refused(format!("a fact of {}, not of {user}", fact.user_id)));
    }
    let value = text::strip_controls(&fact.value_text).into_owned();
    value.trim().clone_into(&mut fact.value_text);
    let excerpt = text::strip_controls(&fact.source_excerpt);
    fact.source_excerpt = text::clip(&excerpt, MAX_EXCERPT_CHARS).into_owned();
    let json = fact.value_json.as_ref().map(|json| json.0.to_string());
    let json = json.unwrap_or_default();
    if fact.value_text.len().max(json.len()) > MAX_VALUE_BYTES {
        return Err(Error::refused(format!("a value of more than {MAX_VALUE_BYTES} bytes")));
    }
    for text in [&fact.value_text, &json, &fact.source_excerpt] {
        addition::refuse_secrets(text, policy)?;
    }
    let needed = [
        &mut fact.valid_from,
        &mut fact.created_at,
        &mut fact.updated_at,
        &mut fact.last_mentioned_at,
    ];
    // `check` refuses a time that cannot be normalized.
    for time in needed.into_iter().chain(&mut fact.valid_to) {
        if let Some(normalized) = normalized_time(time) {
            *time = normalized;
        }
    }
    fact.check()?;
    Ok(fact)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::clock::Clock;
    use crate::facts::{Statement, add};

    fn ada() -> UserId {
        UserId::new("ada").unwrap()
    }

    /// Returns an exported fact after a change of its fields.
    fn exported(change: impl FnOnce(&mut Value)) -> String {
        let clock = Clock::new(Some("2026-03-01T12:00:00Z")).unwrap();
        let mut facts = Facts::in_memory(clock).unwrap();
        let statement =
            Statement { key: "city".to_owned(), value: "Rome".to_owned(), ..Statement::default() };
        add(&mut facts, &ada(), &statement).unwrap();
        let all = export(&facts, &ada()).unwrap();
        let mut fact = serde_json::to_value(&all[0]).unwrap();
        change(&mut fact);
        fact.to_string()
    }

    fn refusal(line: &str) -> String {
        let error = fact_of(&ada(), line, SecretPolicy::Refuse).unwrap_err();
        error.message
    }

    #[test]
    fn facts_written_in_batches_are_the_same_as_written_one_by_one() {
        let template: Value = serde_json::from_str(&exported(|_| {})).unwrap();
        let line = |id: usize, value: usize| {
            let mut fact = template.clone();
            fact["fact_id"] = format!("{id:08x}-0000-4000-8000-000000000000").into();
            fact["key"] = "likes[]".into();
            fact["value_text"] = format!("tea {value}").into();
            format!("{fact}\n")
        };
        let count = 2 * BATCH + 100;
        let all: String = (0..count).map(|number| line(number, number)).collect();
        // An id and a value that are in the same batch, and both from an earlier one.
        let repeated = [line(count - 1, 9_999), line(9_999, count - 1)].concat();
        let early = [line(0, 9_999), line(9_999, 0)].concat();
        let lines = [all, repeated, early].concat();
        let clock = Clock::new(Some("2026-03-02T12:00:00Z")).unwrap();
        let import_into = |facts: &mut Facts, lines: &str| {
            let progress = Progress::default();
            import(facts, &ada(), lines, SecretPolicy::Refuse, &progress).unwrap()
        };
        let mut together = Facts::in_memory(clock).unwrap();
        let done = import_into(&mut together, &lines);
        assert_eq!((done.imported, done.known, done.pending), (count, 4, 0));
        let mut singly = Facts::in_memory(clock).unwrap();
        for line in lines.lines() {
            import_into(&mut singly, line);
        }
        let expected = export(&singly, &ada()).unwrap();
        assert_eq!(expected.len(), count);
        assert_eq!(export(&together, &ada()).unwrap(), expected);
        let rows = |facts: &Facts, sql: &str| -> Vec<String> {
            let read = facts.connection().rows("read", sql, [], |row| row.get(0));
            read.unwrap()
        };
        for sql in [
            "SELECT fact_id || ifnull(before_json, 'new') || after_json || at FROM fact_history \
             ORDER BY history_id",
            "SELECT seq || fact_id || hex(vector) FROM fact_vectors ORDER BY seq",
            "SELECT rowid || '' FROM facts_fts WHERE facts_fts MATCH 'tea' ORDER BY rowid",
            "SELECT rowid || '' FROM facts_trigram WHERE facts_trigram MATCH 'tea' ORDER BY rowid",
        ] {
            let found = rows(&together, sql);
            assert_eq!(found.len(), count, "{sql}");
            assert_eq!(found, rows(&singly, sql), "{sql}");
        }
    }

    #[test]
    fn secrets_are_refused_in_every_field_with_text_of_the_user() {
        let token = ["ghp_", "0123456789abcdefghijklmnopqrstuvwxyz"].concat();
        for line in [
            exported(|fact| fact["value_text"] = token.clone().into()),
            exported(|fact| fact["source_excerpt"] = token.clone().into()),
            exported(|fact| fact["value_json"] = serde_json::json!({"a": token})),
        ] {
            assert!(refusal(&line).contains("looks like a secret"), "{line}");
            assert!(fact_of(&ada(), &line, SecretPolicy::Allow).is_ok());
        }
    }

    #[test]
    fn an_imported_value_has_the_limits_of_a_stated_one() {
        let long = "x".repeat(MAX_VALUE_BYTES + 1);
        for line in [
            exported(|fact| fact["value_text"] = long.clone().into()),
            exported(|fact| fact["value_json"] = serde_json::json!({"a": long})),
        ] {
            assert!(refusal(&line).contains("more than"), "{}", refusal(&line));
        }
        let line = exported(|fact| {
            fact["value_text"] = "Ro\u{1b}[31mme".into();
            fact["source_excerpt"] = "in Ro\u{7}me".into();
        });
        let fact = fact_of(&ada(), &line, SecretPolicy::Refuse).unwrap();
        assert!(!fact.value_text.contains('\u{1b}'), "{fact:?}");
        assert_eq!(fact.source_excerpt, "in Rome");
    }

    #[test]
    fn a_fact_with_an_invalid_field_is_refused_with_the_reason() {
        for (line, reason) in [
            (exported(|fact| fact["confidence"] = 2.into()), "confidence"),
            (exported(|fact| fact["value_text"] = " ".into()), "no value"),
            (exported(|fact| fact["fact_id"] = "1".into()), "fact_id"),
            (exported(|fact| fact["created_at"] = "soon".into()), "time"),
            (exported(|fact| fact["valid_to"] = "2020-01-01".into()), "valid_to"),
        ] {
            assert!(refusal(&line).contains(reason), "{line}");
        }
    }
}
