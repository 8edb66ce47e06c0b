//! Builds a user's profile, the active and valid facts by category, and selects what fits into the next prompt.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rusqlite::params;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::Result;
use crate::facts::arbitration::FIRST_MENTION;
use crate::facts::fact::{Category, Fact, UserId};
use crate::facts::maintenance;
use crate::facts::search::judge_each;
use crate::facts::store::{Facts, stored_as_json};
use crate::text;
use crate::text::Line;

/// Number of recent changes in a profile.
const RECENT: usize = 10;

/// What is shown of facts, by key; of a key that ends in `[]`, a list.
pub type Fields = BTreeMap<String, Value>;

/// The valid facts of a user.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UserProfile {
    /// Who the user is.
    pub identity: Fields,
    /// Rules that must be followed.
    pub hard_preferences: Fields,
    /// Mere preferences, and facts of no other section.
    pub soft_preferences: Fields,
    /// Current work, the latest first.
    pub current_tasks: Vec<Value>,
    /// The latest changes, the latest first.
    pub recent_changes: Vec<Value>,
    /// High-risk facts other than identity: health, law, money.
    pub sensitive_topics: Vec<Value>,
}

stored_as_json!(UserProfile);

/// A profile with its build time.
#[derive(Debug, Serialize)]
pub struct BuiltProfile {
    /// The user.
    pub user_id: UserId,
    /// When it was built.
    pub built_at: String,
    /// The profile.
    pub profile: UserProfile,
}

/// Builds a user's profile from the current facts.
pub fn profile(facts: &Facts, user: &UserId, project: Option<&str>) -> Result<BuiltProfile> {
    let profile = build(facts, user, project)?;
    Ok(BuiltProfile { user_id: user.clone(), built_at: facts.now(), profile })
}

/// Returns the profile that the worker built last, or `None` if there is none yet.
pub fn stored_profile(facts: &Facts, user: &UserId) -> Result<Option<BuiltProfile>> {
    let sql =
        "SELECT profile_json, built_at FROM profiles WHERE user_id = ?1 AND profile_json <> '{}'";
    let found: Option<(UserProfile, String)> = facts.optional(sql, [user])?;
    Ok(found.map(|(profile, built_at)| BuiltProfile { user_id: user.clone(), built_at, profile }))
}

/// Returns the facts that are valid now and belong to this project or to none.
pub(crate) fn valid(facts: &Facts, user: &UserId, project: Option<&str>) -> Result<Vec<Fact>> {
    let condition = "status = 'active' AND (project IS NULL OR project = ?2) \
                     AND valid_from <= ?3 AND (valid_to IS NULL OR valid_to > ?3)";
    facts.select(user, condition, &[&project, &facts.now()])
}

fn build(facts: &Facts, user: &UserId, project: Option<&str>) -> Result<UserProfile> {
    let mut all = valid(facts, user, project)?;
    all.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then(a.key.cmp(&b.key)));
    let mut profile = UserProfile {
        recent_changes: all.iter().take(RECENT).map(field).collect(),
        ..UserProfile::default()
    };
    for fact in &all {
        let field = field(fact);
        let fields = match fact.category {
            Category::Identity => &mut profile.identity,
            _ if facts.is_high_risk(fact) => {
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
        let key = fact.key.clone();
        if !fact.is_multi_valued() {
            fields.insert(key, field);
        } else if let Value::Array(several) = fields.entry(key).or_insert_with(|| json!([])) {
            several.push(field);
        }
    }
    Ok(profile)
}

/// Returns what a profile shows of a fact.
fn field(fact: &Fact) -> Value {
    json!({
        "key": fact.key, "value": fact.value_text, "confidence": fact.confidence,
        "valid_from": fact.valid_from, "valid_to": fact.valid_to, "updated_at": fact.updated_at,
        "last_mentioned_at": fact.last_mentioned_at, "fact_id": fact.fact_id,
    })
}

/// Counts turns towards the next rebuild of a user's profile; with the highest number, it is due, since the session is
/// over.
pub(crate) fn add_turns(facts: &Facts, user: &UserId, turns: u32) -> Result<()> {
    let sql = "INSERT INTO profiles (user_id, profile_json, built_at, turns_since) VALUES (?1, '{}', ?2, ?3) \
               ON CONFLICT (user_id) DO UPDATE SET turns_since = turns_since + ?3";
    facts.run(sql, params![user, facts.now(), turns])
}

/// Rebuilds the profiles that are due, and returns their number.
pub(crate) fn rebuild_due(facts: &Facts, turns: u64) -> Result<usize> {
    let turns = i64::try_from(turns).unwrap_or(i64::MAX);
    let sql = "SELECT user_id FROM profiles WHERE turns_since >= ?1 ORDER BY user_id";
    let users: Vec<UserId> = facts.column(sql, [turns])?;
    for user in &users {
        let profile = build(facts, user, None)?;
        let sql = "UPDATE profiles SET profile_json = ?2, built_at = ?3, turns_since = 0 WHERE user_id = ?1";
        facts.run(sql, params![user, profile, facts.now()])?;
    }
    Ok(users.len())
}

/// Days without a mention or change after which a fact ranks below fresher ones.
const STALE_AFTER: i64 = 90;

/// The user's facts for a prompt.
#[derive(Debug, Serialize)]
pub struct Injection {
    /// The user.
    pub user_id: UserId,
    /// The text.
    pub text: String,
    /// Approximate number of tokens in the text.
    pub tokens: usize,
    /// Maximum number of tokens.
    pub budget: usize,
    /// The facts in it.
    pub facts: Vec<String>,
    /// Number of valid facts that are left out: they did not fit, or are unrelated to the query.
    pub left_out: usize,
}

/// The sections of the text; facts of earlier ones are dropped last.
const SECTIONS: [&str; 4] =
    ["Constraints and facts", "Current tasks", "Preferences", "Other facts"];

/// Returns the section of a fact, as its index.
fn section(fact: &Fact) -> usize {
    match fact.category {
        Category::Identity | Category::HardPreference | Category::Health => 0,
        Category::TaskContext => 1,
        Category::SoftPreference => 2,
        Category::Other => 3,
    }
}

/// Returns a user's valid facts, as many as fit: constraints, then tasks, then preferences, then the others.
///
/// With a query, only facts related to it, and constraints that apply to every prompt.
pub fn inject(
    facts: &Facts,
    user: &UserId,
    project: Option<&str>,
    budget: usize,
    query: Option<&str>,
    uses_encoder: bool,
) -> Result<Injection> {
    let (ordered, total) = by_importance(facts, user, project, query, uses_encoder)?;
    let mut selected: Vec<Fact> = Vec::new();
    for fact in ordered {
        selected.push(fact);
        if text::estimate_tokens(&page(&selected)) > budget {
            selected.pop();
        }
    }
    let text = page(&selected);
    Ok(Injection {
        user_id: user.clone(),
        tokens: text::estimate_tokens(&text),
        text,
        budget,
        left_out: total - selected.len(),
        facts: selected.into_iter().map(|fact| fact.fact_id).collect(),
    })
}

/// Returns the facts that `inject` chooses from, a line for each.
pub(crate) fn lines(facts: &Facts, user: &UserId, query: Option<&str>) -> Result<Vec<String>> {
    let (ordered, _) = by_importance(facts, user, None, query, false)?;
    Ok(ordered.iter().map(line).collect())
}

/// Returns the facts for a prompt, the most important first, and the number of all.
fn by_importance(
    facts: &Facts,
    user: &UserId,
    project: Option<&str>,
    query: Option<&str>,
    uses_encoder: bool,
) -> Result<(Vec<Fact>, usize)> {
    let all = valid(facts, user, project)?;
    let total = all.len();
    let shares = match query {
        Some(query) => judge_each(facts, user, project, query, &all, uses_encoder)?,
        None => vec![Some(0.0); total],
    };
    let stale = maintenance::before(facts.clock.now(), STALE_AFTER);
    Ok((in_order(all, &shares, &stale), total))
}

/// Returns the facts with a share and those that apply to every prompt, the most important first.
fn in_order(facts: Vec<Fact>, shares: &[Option<f64>], stale: &str) -> Vec<Fact> {
    let mut ordered: Vec<(f64, Fact)> = facts
        .into_iter()
        .zip(shares)
        .filter_map(|(fact, share)| {
            let is_law = matches!(fact.category, Category::HardPreference | Category::Health);
            Some(((*share).or(is_law.then_some(0.0))?, fact))
        })
        .collect();
    ordered.sort_by_key(|(share, fact)| {
        let is_unsure = fact.confidence < FIRST_MENTION;
        let is_stale_or_unsure = fact.last_touched() < stale || is_unsure;
        let (share, sure) = (Reverse(share.to_bits()), Reverse(fact.confidence.to_bits()));
        let latest = Reverse(fact.last_touched().to_owned());
        (section(fact), is_stale_or_unsure, share, sure, latest, fact.key.clone())
    });
    ordered.into_iter().map(|(_, fact)| fact).collect()
}

/// Renders the facts, which are ordered by section; values are single sanitised lines, which cannot become headings or
/// instruction blocks.
fn page(facts: &[Fact]) -> String {
    let mut page = String::new();
    let mut last = None;
    for fact in facts {
        let section = section(fact);
        if last != Some(section) {
            page.push_str(&format!("{}:\n", SECTIONS[section]));
            last = Some(section);
        }
        page.push_str(&format!("- {}\n", line(fact)));
    }
    page
}

fn line(fact: &Fact) -> String {
    let value = Line::new(&fact.value_text);
    let end = fact.valid_to.as_deref().map(|end| end.get(..10).unwrap_or(end));
    let end = end.map(|end| format!(" (until {end})")).unwrap_or_default();
    let key = fact.key.trim_end_matches("[]");
    format!("{key}: {value}{end} [{:.2}]", fact.confidence)
}
