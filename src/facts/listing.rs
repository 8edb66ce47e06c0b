//! A user's facts as they are, without a search.

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::facts::fact;
use crate::facts::fact::Category;
use crate::facts::fact::Fact;
use crate::facts::fact::FactStatus;
use crate::facts::store::Facts;
use crate::facts::user::UserId;

/// Which facts are meant.
#[derive(Clone, Debug, Default)]
pub struct FactFilter {
    /// Those of these statuses; all where none is named.
    pub statuses: Vec<FactStatus>,
    /// Those of one category.
    pub category: Option<Category>,
    /// Those under one key, or under all keys that begin so where it ends in a dot.
    pub key: Option<String>,
    /// Those of one project and of none; else those of every project.
    pub project: Option<String>,
}

/// The facts of a user.
#[derive(Debug, Serialize)]
pub struct FactListing {
    /// Whose they are.
    pub user: UserId,
    /// The facts, by key.
    pub facts: Vec<Fact>,
}

/// Returns a user's facts by key, within a key the oldest first.
pub fn list(facts: &Facts, user: &UserId, filter: &FactFilter) -> Result<FactListing> {
    let now = facts.clock().timestamp();
    let mut found = fact::select(facts.connection(), user, "1", &[])?;
    // The worker writes it down later; a fact is over from the moment on at which it ends.
    for fact in found.iter_mut().filter(|fact| fact.is_over_at(&now)) {
        fact.status = FactStatus::Expired;
    }
    found.retain(|fact| filter.keeps(fact));
    found.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(FactListing {
        user: user.clone(),
        facts: found,
    })
}

impl FactFilter {
    fn keeps(&self, fact: &Fact) -> bool {
        let key = |wanted: &String| match wanted.strip_suffix('.') {
            Some(_) => fact.key.starts_with(wanted.as_str()),
            None => fact.key == *wanted,
        };
        (self.statuses.is_empty() || self.statuses.contains(&fact.status))
            && self
                .category
                .is_none_or(|category| fact.category == category)
            && self.key.as_ref().is_none_or(key)
            && (self.project.is_none() || fact.project.is_none() || fact.project == self.project)
    }
}

/// Returns one fact of a user, by its id or the first characters of it that no other has.
pub fn find(facts: &Facts, user: &UserId, id: &str) -> Result<Fact> {
    let is_id = !id.is_empty() && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let mut found = if is_id {
        fact::select(
            facts.connection(),
            user,
            "substr(fact_id, 1, length(?2)) = ?2",
            &[&id],
        )?
    } else {
        Vec::new()
    };
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Error::not_found(format!("there is no fact {id}"))
            .hint("`annals facts list --all` shows every fact")),
        several => Err(
            Error::usage(format!("{several} facts have an id that begins with {id}"))
                .hint("give more of the id"),
        ),
    }
}
