//! Builds a user's profile: active, valid facts by category, each with confidence and times.

use std::collections::BTreeMap;
use std::fmt;

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::facts::fact::{self, Category, Fact, UserId};
use crate::facts::key::SEVERAL;
use crate::facts::sql::{Query, json};
use crate::facts::store::Facts;

/// Number of recent changes in a profile.
const RECENT: usize = 10;

/// A fact in a profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Its key.
    pub key: String,
    /// The value.
    pub value: String,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// Start of the validity.
    pub valid_from: String,
    /// End of the validity.
    pub valid_to: Option<String>,
    /// When it was last changed.
    pub updated_at: String,
    /// When it was last mentioned.
    pub last_mentioned_at: String,
    /// Its id.
    pub fact_id: String,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.value)
    }
}

/// The value or values of a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Slot {
    /// The value of a single-valued key.
    One(Field),
    /// The values of a key that ends in `[]`.
    Several(Vec<Field>),
}

/// Fields by key.
pub type Fields = BTreeMap<String, Slot>;

/// The valid facts of a user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UserProfile {
    /// Who the user is.
    pub identity: Fields,
    /// Rules that must be followed.
    pub hard_preferences: Fields,
    /// Mere preferences, and facts of no other section.
    pub soft_preferences: Fields,
    /// Current work, the latest first.
    pub current_tasks: Vec<Field>,
    /// The latest changes, the latest first.
    pub recent_changes: Vec<Field>,
    /// High-risk facts other than identity: health, law, money.
    pub sensitive_topics: Vec<Field>,
}

/// A profile with its build time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BuiltProfile {
    /// The user.
    pub user_id: String,
    /// When it was built.
    pub built_at: String,
    /// The profile.
    pub profile: UserProfile,
}

/// Builds a user's profile from the current facts.
pub fn profile(facts: &Facts, user: &UserId, project: Option<&str>) -> Result<BuiltProfile> {
    let now = facts.clock().timestamp();
    let profile = build(facts.connection(), user, project, facts.high_risk(), &now)?;
    Ok(BuiltProfile { user_id: user.as_str().to_owned(), built_at: now, profile })
}

/// Returns the profile that the worker built last, or `None` if there is none yet.
pub fn stored_profile(facts: &Facts, user: &UserId) -> Result<Option<BuiltProfile>> {
    let found: Option<(String, String)> = facts.connection().optional_row(
        "read the profile",
        "SELECT profile_json, built_at FROM profiles WHERE user_id = ?1 AND profile_json <> '{}'",
        [user],
        |row| row.try_into(),
    )?;
    found
        .map(|(json, built_at)| {
            let profile = serde_json::from_str(&json)
                .map_err(|error| Error::failed(format!("cannot read the profile: {error}")))?;
            Ok(BuiltProfile { user_id: user.as_str().to_owned(), built_at, profile })
        })
        .transpose()
}

/// Returns the facts that are valid now and belong to this project or to none.
pub(crate) fn valid(
    connection: &Connection,
    user: &UserId,
    project: Option<&str>,
    now: &str,
) -> Result<Vec<Fact>> {
    let mut found = fact::select(connection, user, "status = 'active'", &[])?;
    found.retain(|fact| {
        fact.is_valid_at(now) && (fact.project.is_none() || fact.project.as_deref() == project)
    });
    Ok(found)
}

/// Returns whether a fact is sensitive: a high-risk one that is not about identity.
pub(crate) fn is_sensitive(fact: &Fact, high_risk: &[String]) -> bool {
    fact.category == Category::Health
        || (fact.category != Category::Identity && fact.is_high_risk(high_risk))
}

fn build(
    connection: &Connection,
    user: &UserId,
    project: Option<&str>,
    high_risk: &[String],
    now: &str,
) -> Result<UserProfile> {
    let mut facts = valid(connection, user, project, now)?;
    facts.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then(a.key.cmp(&b.key)));
    let mut profile = UserProfile {
        recent_changes: facts.iter().take(RECENT).map(Field::from_fact).collect(),
        ..UserProfile::default()
    };
    for fact in &facts {
        let field = Field::from_fact(fact);
        if is_sensitive(fact, high_risk) {
            profile.sensitive_topics.push(field);
            continue;
        }
        let fields = match fact.category {
            Category::TaskContext => {
                profile.current_tasks.push(field);
                continue;
            }
            Category::Identity => &mut profile.identity,
            Category::HardPreference => &mut profile.hard_preferences,
            _ => &mut profile.soft_preferences,
        };
        insert_field(fields, field);
    }
    Ok(profile)
}

fn insert_field(fields: &mut Fields, field: Field) {
    if !field.key.ends_with(SEVERAL) {
        fields.insert(field.key.clone(), Slot::One(field));
        return;
    }
    let slot = fields.entry(field.key.clone()).or_insert_with(|| Slot::Several(Vec::new()));
    if let Slot::Several(several) = slot {
        several.push(field);
    }
}

impl Field {
    fn from_fact(fact: &Fact) -> Self {
        Self {
            key: fact.key.clone(),
            value: fact.value_text.clone(),
            confidence: fact.confidence,
            valid_from: fact.valid_from.clone(),
            valid_to: fact.valid_to.clone(),
            updated_at: fact.updated_at.clone(),
            last_mentioned_at: fact.last_mentioned_at.clone(),
            fact_id: fact.fact_id.clone(),
        }
    }
}

/// Counts a judged turn towards the next rebuild of the profile.
pub(crate) fn count_turn(connection: &Connection, user: &UserId, now: &str) -> Result<()> {
    let sql = "INSERT INTO profiles (user_id, profile_json, built_at, turns_since) VALUES (?1, '{}', ?2, 1) \
               ON CONFLICT (user_id) DO UPDATE SET turns_since = turns_since + 1";
    connection.run("count the turn", sql, params![user, now])
}

/// Marks a user's profile as due for a rebuild, since the session is over.
pub(crate) fn mark_due(connection: &Connection, user: &UserId, now: &str) -> Result<()> {
    let sql = "INSERT INTO profiles (user_id, profile_json, built_at, turns_since) VALUES (?1, '{}', ?2, ?3) \
               ON CONFLICT (user_id) DO UPDATE SET turns_since = excluded.turns_since";
    connection.run("end the session", sql, params![user, now, u32::MAX])
}

/// Rebuilds the profiles that are due, and returns their number.
pub(crate) fn rebuild_due(
    connection: &Connection,
    turns: u64,
    high_risk: &[String],
    now: &str,
) -> Result<usize> {
    let turns = i64::try_from(turns).unwrap_or(i64::MAX);
    let sql = "SELECT user_id FROM profiles WHERE turns_since >= ?1 ORDER BY user_id";
    let users: Vec<UserId> = connection.column("read the profiles", sql, [turns])?;
    for user in &users {
        let profile = build(connection, user, None, high_risk, now)?;
        let sql = "UPDATE profiles SET profile_json = ?2, built_at = ?3, turns_since = 0 WHERE user_id = ?1";
        connection.run("write the profile", sql, params![user, json(&profile)?, now])?;
    }
    Ok(users.len())
}
