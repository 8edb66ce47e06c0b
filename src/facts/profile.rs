//! Builds a user's profile: active, valid facts by category, each with confidence and times.

use std::collections::BTreeMap;
use std::fmt;

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::facts::fact::{self, Category, Fact, UserId};
use crate::facts::sql::{Sql, stored_as_json};
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

stored_as_json!(UserProfile);

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
    let sql =
        "SELECT profile_json, built_at FROM profiles WHERE user_id = ?1 AND profile_json <> '{}'";
    let found: Option<(UserProfile, String)> = facts.connection().optional(sql, [user])?;
    Ok(found.map(|(profile, built_at)| BuiltProfile {
        user_id: user.as_str().to_owned(),
        built_at,
        profile,
    }))
}

/// Returns the facts that are valid now and belong to this project or to none.
pub(crate) fn valid(
    connection: &Connection,
    user: &UserId,
    project: Option<&str>,
    now: &str,
) -> Result<Vec<Fact>> {
    let condition = "status = 'active' AND (project IS NULL OR project = ?2) \
                     AND valid_from <= ?3 AND (valid_to IS NULL OR valid_to > ?3)";
    fact::select(connection, user, condition, &[&project, &now])
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
        recent_changes: facts.iter().take(RECENT).map(Field::from).collect(),
        ..UserProfile::default()
    };
    for fact in &facts {
        let field = Field::from(fact);
        let fields = match fact.category {
            Category::Identity => &mut profile.identity,
            _ if fact.is_high_risk(high_risk) => {
                profile.sensitive_topics.push(field);
                continue;
            }
            Category::TaskContext => {
                profile.current_tasks.push(field);
                continue;
            }
            Category::HardPreference => &mut profile.hard_preferences,
            _ => &mut profile.soft_preferences,
        };
        let key = field.key.clone();
        if !fact.is_multi_valued() {
            fields.insert(key, Slot::One(field));
        } else if let Slot::Several(several) =
            fields.entry(key).or_insert_with(|| Slot::Several(Vec::new()))
        {
            several.push(field);
        }
    }
    Ok(profile)
}

impl From<&Fact> for Field {
    fn from(fact: &Fact) -> Self {
        let fact = fact.clone();
        Self {
            key: fact.key,
            value: fact.value_text,
            confidence: fact.confidence,
            valid_from: fact.valid_from,
            valid_to: fact.valid_to,
            updated_at: fact.updated_at,
            last_mentioned_at: fact.last_mentioned_at,
            fact_id: fact.fact_id,
        }
    }
}

/// Counts a judged turn towards the next rebuild of the profile.
pub(crate) fn count_turn(connection: &Connection, user: &UserId, now: &str) -> Result<()> {
    add_turns(connection, user, now, 1)
}

/// Marks a user's profile as due for a rebuild, since the session is over.
pub(crate) fn mark_due(connection: &Connection, user: &UserId, now: &str) -> Result<()> {
    add_turns(connection, user, now, u32::MAX)
}

fn add_turns(connection: &Connection, user: &UserId, now: &str, turns: u32) -> Result<()> {
    let sql = "INSERT INTO profiles (user_id, profile_json, built_at, turns_since) VALUES (?1, '{}', ?2, ?3) \
               ON CONFLICT (user_id) DO UPDATE SET turns_since = turns_since + ?3";
    connection.run(sql, params![user, now, turns])
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
    let users: Vec<UserId> = connection.column(sql, [turns])?;
    for user in &users {
        let profile = build(connection, user, None, high_risk, now)?;
        let sql = "UPDATE profiles SET profile_json = ?2, built_at = ?3, turns_since = 0 WHERE user_id = ?1";
        connection.run(sql, params![user, profile, now])?;
    }
    Ok(users.len())
}
