//! Lists a user's facts without a search.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::facts::fact;
use crate::facts::fact::Fact;
use crate::facts::store::Facts;
use crate::facts::user::UserId;
use crate::facts::vocabulary::{Category, FactStatus};

/// A filter for facts.
#[derive(Clone, Debug, Default)]
pub struct FactFilter {
    /// Only these statuses; all if empty.
    pub statuses: Vec<FactStatus>,
    /// Only this category.
    pub category: Option<Category>,
    /// Only this key, or all keys with this prefix if it ends in a dot.
    pub key: Option<String>,
    /// Only this project and facts without one; facts of every project if `None`.
    pub project: Option<String>,
}

/// The facts of a user.
#[derive(Debug, Serialize)]
pub struct FactListing {
    /// The user.
    pub user: UserId,
    /// The facts, sorted by key.
    pub facts: Vec<Fact>,
}

/// Returns a user's facts sorted by key; within a key, the oldest first.
pub fn list(facts: &Facts, user: &UserId, filter: &FactFilter) -> Result<FactListing> {
    let now = facts.clock().timestamp();
    let mut found = fact::select(facts.connection(), user, "1", &[])?;
    // The worker updates the status later, but a fact is expired from its end on.
    for fact in found.iter_mut().filter(|fact| fact.is_over_at(&now)) {
        fact.status = FactStatus::Expired;
    }
    found.retain(|fact| filter.keeps(fact));
    found.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(FactListing { user: user.clone(), facts: found })
}

impl FactFilter {
    fn keeps(&self, fact: &Fact) -> bool {
        let key = |wanted: &String| match wanted.strip_suffix('.') {
            Some(_) => fact.key.starts_with(wanted.as_str()),
            None => fact.key == *wanted,
        };
        (self.statuses.is_empty() || self.statuses.contains(&fact.status))
            && self.category.is_none_or(|category| fact.category == category)
            && self.key.as_ref().is_none_or(key)
            && (self.project.is_none() || fact.project.is_none() || fact.project == self.project)
    }
}

/// Returns a fact of a user by its id or a unique prefix of it.
pub fn find(facts: &Facts, user: &UserId, id: &str) -> Result<Fact> {
    let is_id = !id.is_empty() && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let mut found = if is_id {
        fact::select(facts.connection(), user, "substr(fact_id, 1, length(?2)) = ?2", &[&id])?
    } else {
        Vec::new()
    };
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Error::not_found(format!("there is no fact {id}"))
            .hint("`annals facts list --all` shows every fact")),
        several => Err(Error::usage(format!("{several} facts have an id that begins with {id}"))
            .hint("give more of the id")),
    }
}
