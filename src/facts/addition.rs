//! A fact that is stated outright, without a turn of a conversation around it.

use crate::error::Result;
use crate::facts::change;
use crate::facts::change::Cause;
use crate::facts::fact::Category;
use crate::facts::fact::Fact;
use crate::facts::fact::Status;
use crate::facts::key::FactKey;
use crate::facts::store::Facts;
use crate::facts::user::UserId;

/// What is stated.
#[derive(Clone, Debug, Default)]
pub struct Statement {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
    /// The category, where it is not the key's own.
    pub category: Option<Category>,
}

/// Adds a stated fact.
pub fn add(facts: &mut Facts, user: &UserId, statement: &Statement) -> Result<Fact> {
    let key = FactKey::parse(&statement.key)?;
    let now = facts.clock().timestamp();
    facts.write(|connection| {
        let id: String = connection
            .query_row("SELECT lower(hex(randomblob(16)))", [], |row| row.get(0))
            .unwrap_or_default();
        let fact = Fact {
            fact_id: id,
            user_id: user.as_str().to_owned(),
            category: statement.category.unwrap_or(key.category()),
            key: key.as_str().to_owned(),
            value_text: statement.value.clone(),
            value_json: None,
            confidence: 0.4,
            event_time: None,
            valid_from: now.clone(),
            valid_to: None,
            status: Status::Active,
            source_turn_id: "stated".to_owned(),
            source_excerpt: statement.value.clone(),
            embedding_id: None,
            created_at: now.clone(),
            updated_at: now.clone(),
            last_mentioned_at: now.clone(),
            session_id: None,
            turn_seq: None,
            project: None,
            proposal: None,
            contests: None,
        };
        let cause = Cause {
            action: "insert",
            reason: "stated",
            turn: "stated",
            at: &now,
        };
        change::put(connection, cause, None, &fact)?;
        Ok(fact)
    })
}
