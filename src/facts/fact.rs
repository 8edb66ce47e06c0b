//! A fact about a user: its key, its fields, its words, its row, and what text it may hold.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Params, ToSql};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::{parse_date, parse_timestamp};
use crate::error::{Error, Result};
use crate::facts::arbitration::FIRST_MENTION;
use crate::facts::store::{Facts, json, row, stored_as_json, stored_as_word};
use crate::project::Project;
use crate::secrets;
use crate::secrets::SecretPolicy;
use crate::text::{clip, is_line, join, listed, strip_controls, word_enum};

/// Maximum length of a value, as text and as JSON, in bytes.
const MAX_VALUE_BYTES: usize = 16 << 10;

/// Maximum length of the excerpt of a source, in characters.
const MAX_EXCERPT_CHARS: usize = 400;

word_enum! {
    /// The category of a fact, which determines its section in the profile and whether it is high-risk.
    #[derive(Default)]
    pub enum Category {
        /// Who the user is.
        Identity = "identity",
        /// A rule that must be followed.
        HardPreference = "hard_preference",
        /// A mere preference.
        SoftPreference = "soft_preference",
        /// Current work.
        TaskContext = "task_context",
        /// Health.
        Health = "health",
        /// Everything else.
        #[default]
        Other = "other",
    }
}

word_enum! {
    /// The status of a fact.
    #[derive(Default)]
    pub enum FactStatus {
        /// It is valid.
        #[default]
        Active = "active",
        /// Another value has replaced it.
        Superseded = "superseded",
        /// Its validity has ended.
        Expired = "expired",
        /// It is awaiting the user's confirmation.
        PendingConfirmation = "pending_confirmation",
    }
}

impl FactStatus {
    /// Returns whether searches return facts with this status.
    pub fn is_retrievable(self) -> bool {
        matches!(self, Self::Active | Self::PendingConfirmation)
    }
}

word_enum! {
    /// The change that a pending fact proposes.
    pub enum Proposal {
        /// Its value replaces that of the contested fact.
        Value = "value",
        /// The contested fact ends.
        End = "end",
    }
}

stored_as_word!(Category, FactStatus, Proposal);
stored_as_json!(Fact);

row! {
    /// A fact about a user.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Fact {
        /// A UUID derived from user, turn and action.
        pub fact_id: String,
        /// The user.
        pub user_id: UserId,
        /// The subject, dotted: `preference.editor`; a key that ends in `[]` has several values.
        pub key: String,
        /// The value.
        pub value_text: String,
        /// The value as JSON.
        pub value_json: Option<Value>,
        /// The category.
        pub category: Category,
        /// The confidence, from 0 to 1.
        pub confidence: f64,
        /// When the stated event happened.
        pub event_time: Option<String>,
        /// Start of the validity.
        pub valid_from: String,
        /// End of the validity.
        pub valid_to: Option<String>,
        /// Its status.
        pub status: FactStatus,
        /// The turn that it comes from.
        pub source_turn_id: String,
        /// Excerpt of the text that it comes from.
        pub source_excerpt: String,
        /// Its id in the vector index, equal to `fact_id`, while it has a vector there; maintained by triggers.
        pub embedding_id: Option<String>,
        /// When it was created.
        pub created_at: String,
        /// When it was last changed.
        pub updated_at: String,
        /// When it was last mentioned.
        pub last_mentioned_at: String,
        /// The conversation that it comes from.
        pub session_id: Option<String>,
        /// The position of its turn in that conversation.
        pub turn_seq: Option<i64>,
        /// The project that it belongs to, if any.
        pub project: Option<String>,
        /// The change proposed while it is pending.
        pub proposal: Option<Proposal>,
        /// The fact contested while it is pending.
        pub contests: Option<String>,
    }
}

impl Fact {
    /// Returns an active fact that was stated at this time and is valid from then on.
    pub(crate) fn new(user: &UserId, fact_id: String, key: &str, value: String, at: &str) -> Self {
        let at = at.to_owned();
        Self {
            fact_id,
            user_id: user.clone(),
            key: key.to_owned(),
            value_text: value,
            confidence: FIRST_MENTION,
            valid_from: at.clone(),
            created_at: at.clone(),
            updated_at: at.clone(),
            last_mentioned_at: at,
            ..Self::default()
        }
    }

    /// Writes the fact, replacing the row with the same id; triggers maintain its id in the vector index.
    pub(crate) fn upsert(&self, facts: &Facts) -> Result<()> {
        let read = Self::COLUMNS.iter().map(|column| match *column {
            // A structured value stays JSON.
            "value_json" => "nullif(?1 -> 'value_json', 'null')".to_owned(),
            column => format!("?1 ->> '{column}'"),
        });
        let is_kept = |column: &&&str| !["fact_id", "user_id", "embedding_id"].contains(column);
        let changed = Self::COLUMNS.iter().filter(is_kept);
        let changed = changed.map(|one| format!("{one} = excluded.{one}"));
        let sql = format!(
            "INSERT INTO facts ({}) VALUES ({}) ON CONFLICT (user_id, fact_id) DO UPDATE SET {}",
            Self::COLUMNS.join(", "),
            join(read, ", "),
            join(changed, ", ")
        );
        facts.run(&sql, [json(self)?])
    }

    /// Returns whether its key can have several values.
    pub(crate) fn is_multi_valued(&self) -> bool {
        is_multi_valued(&self.key)
    }

    /// Brings a fact from elsewhere, a file or another device, into the form of a stated one; returns an error if
    /// it cannot be stored.
    pub(crate) fn accept(&mut self, user: &UserId, policy: SecretPolicy) -> Result<()> {
        if self.user_id != *user {
            return Err(Error::refused(format!("a fact of {}, not of {user}", self.user_id)));
        }
        FactKey::parse(&self.key)?;
        if !(0.0..=1.0).contains(&self.confidence) {
            return Err(Error::refused("a confidence outside 0 to 1"));
        }
        let is_id = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
        if self.fact_id.len() != 36 || !self.fact_id.bytes().all(is_id) {
            return Err(Error::refused(format!("{:?} is not a fact_id", self.fact_id)));
        }
        self.embedding_id = None;
        self.value_text = checked_value(&self.value_text, policy)?;
        let structured = self.value_json.as_ref().map(Value::to_string);
        check_text(structured.as_deref().unwrap_or_default(), policy)?;
        self.source_excerpt = excerpt(&strip_controls(&self.source_excerpt));
        let further = [&self.session_id, &self.project, &self.event_time, &self.contests];
        let written = [&self.source_excerpt, &self.source_turn_id];
        for text in further.into_iter().flatten().chain(written) {
            check_text(text, policy)?;
        }
        let times = [
            &mut self.valid_from,
            &mut self.created_at,
            &mut self.updated_at,
            &mut self.last_mentioned_at,
        ];
        for time in times.into_iter().chain(&mut self.valid_to) {
            *time = normalized_time(time)
                .ok_or_else(|| Error::refused(format!("{time:?} is not an ISO 8601 time")))?;
        }
        if self.valid_to.as_ref().is_some_and(|end| *end < self.valid_from) {
            return Err(Error::refused("valid_to is before valid_from"));
        }
        Ok(())
    }

    /// Returns whether it has ended by this time but is still marked as active or pending.
    pub fn is_over_at(&self, now: &str) -> bool {
        self.status.is_retrievable() && self.valid_to.as_deref().is_some_and(|end| end <= now)
    }

    /// Returns whether it is a proposed value whose validity ended before anyone confirmed it.
    pub(crate) fn is_lapsed_at(&self, now: &str) -> bool {
        self.status == FactStatus::PendingConfirmation
            && self.proposal != Some(Proposal::End)
            && self.is_over_at(now)
    }

    /// Returns when it was last changed or mentioned.
    pub(crate) fn last_touched(&self) -> &str {
        self.updated_at.as_str().max(&self.last_mentioned_at)
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.value_text)
    }
}

/// Returns the excerpt of a source that a fact keeps.
pub(crate) fn excerpt(source: &str) -> String {
    clip(source, MAX_EXCERPT_CHARS).into_owned()
}

/// Returns a value without control characters, or an error if it is empty, too long or looks like a secret.
pub(crate) fn checked_value(text: &str, policy: SecretPolicy) -> Result<String> {
    let text = strip_controls(text).trim().to_owned();
    if text.is_empty() {
        return Err(wrong_length());
    }
    check_text(&text, policy)?;
    Ok(text)
}

/// Refuses a text that is too long or looks like a secret.
pub(crate) fn check_text(text: &str, policy: SecretPolicy) -> Result<()> {
    if text.len() > MAX_VALUE_BYTES {
        return Err(wrong_length());
    }
    if policy == SecretPolicy::Refuse
        && let Some(rule) = secrets::first_rule(text)
    {
        let message = format!("the value looks like a secret ({rule})");
        return Err(Error::refused(message).hint(secrets::INSTEAD));
    }
    Ok(())
}

fn wrong_length() -> Error {
    Error::usage(format!("a value must be 1 to {MAX_VALUE_BYTES} bytes long"))
}

impl Facts {
    /// Returns a user's facts that match a condition on the columns, in insertion order.
    ///
    /// `condition` is code, never input: variable parts go into `values`, which start at `?2`; `?1` is the user.
    pub(crate) fn select(
        &self,
        user: &UserId,
        condition: &str,
        values: &[&dyn ToSql],
    ) -> Result<Vec<Fact>> {
        let condition = format!("user_id = ?1 AND ({condition}) ORDER BY seq");
        self.of_all_users(&condition, &[&[user as &dyn ToSql], values].concat()[..])
    }

    /// Returns a user's facts under a key that have a status, in insertion order.
    pub(crate) fn with_key(
        &self,
        user: &UserId,
        key: &str,
        status: FactStatus,
    ) -> Result<Vec<Fact>> {
        // The unary plus: left to itself, SQLite uses the index on the status, because its rows are sorted already, and
        // reads every fact of the user that has it.
        self.select(user, "key = ?2 AND +status = ?3", &[&key, &status])
    }

    /// Returns a user's fact with this id.
    pub(crate) fn with_id(&self, user: &UserId, id: &str) -> Result<Option<Fact>> {
        Ok(self.select(user, "fact_id = ?2", &[&id])?.pop())
    }

    /// Returns the facts of all users that match a condition, which may end in an order; only for maintenance and vectors.
    pub(crate) fn of_all_users(&self, condition: &str, values: impl Params) -> Result<Vec<Fact>> {
        let columns = Fact::COLUMNS.join(", ");
        self.list(&format!("SELECT {columns} FROM facts WHERE {condition}"), values)
    }

    /// Returns whether a fact is high-risk, also by the user's own keys.
    pub(crate) fn is_high_risk(&self, fact: &Fact) -> bool {
        FactKey(&fact.key).is_high_risk(fact.category, &self.high_risk)
    }
}

/// Formats a time as it is stored: RFC 3339 in UTC, to the second.
pub(crate) fn format_time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Normalises a time to its stored form; a date means its midnight.
fn normalized_time(text: &str) -> Option<String> {
    let of_day = || Some(parse_date(text)?.and_hms_opt(0, 0, 0)?.and_utc());
    parse_timestamp(text).or_else(of_day).map(format_time)
}

/// Returns a time in its stored form.
pub(crate) fn checked_time(name: &str, text: Option<String>) -> Result<Option<String>> {
    let checked = text.map(|text| {
        normalized_time(&text).ok_or_else(|| {
            Error::usage(format!("{name}: {text:?} is not an ISO 8601 time"))
                .hint("write it like 2026-02-17 or 2026-02-17T10:11:12Z")
        })
    });
    checked.transpose()
}

/// The id of a user, which every query requires.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UserId(pub(crate) String);

impl UserId {
    /// Parses an id: one line, not empty.
    pub fn new(text: &str) -> Result<Self> {
        let text = text.trim();
        if !is_line(text) {
            return Err(Error::usage("a user id is one line of text"));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromSql for UserId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        String::column_result(value).map(Self)
    }
}

impl ToSql for UserId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the user: the named one, else that of the settings.
pub fn user(project: &Project, named: Option<&str>) -> Result<UserId> {
    match named.or(project.settings.user.as_deref()) {
        Some(user) => UserId::new(user),
        None => Err(Error::usage("no user is set")
            .hint("set one with --user, ANNALS_USER or `user` in your own config.toml")),
    }
}

/// Returns the user of a command about facts: as [`user`], else the system's; and whether it is the latter.
///
/// What reads facts for another purpose uses [`user`]: health and money belong in no start text by default.
pub fn user_or_systems(project: &Project, named: Option<&str>) -> Result<(UserId, bool)> {
    let none_set = named.is_none() && project.settings.user.is_none();
    let environment = &project.environment;
    let systems =
        ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| environment.get(name));
    match systems.filter(|_| none_set) {
        Some(name) => Ok((UserId::new(name)?, true)),
        None => Ok((user(project, named)?, false)),
    }
}

/// Returns whether nothing was ever recorded about a user.
pub fn is_unknown(facts: &Facts, user: &UserId) -> Result<bool> {
    let sql = "SELECT 1 FROM fact_history WHERE user_id = ?1 \
               UNION ALL SELECT 1 FROM turns WHERE user_id = ?1";
    Ok(!facts.exists(sql, [user])?)
}

/// Maximum length of a key, in bytes.
const MAX_KEY_BYTES: usize = 128;

/// Suffix of a key with several values.
const SEVERAL: &str = "[]";

/// Returns whether a key can have several values, each in a separate fact.
pub(crate) fn is_multi_valued(key: &str) -> bool {
    key.ends_with(SEVERAL)
}

/// A key: dotted, lower case, with the suffix `[]` if it has several values.
#[derive(Clone, Copy, Debug)]
pub struct FactKey<'a>(pub(crate) &'a str);

impl<'a> FactKey<'a> {
    /// Parses a key (`preference.editor`, `likes[]`), refusing one that names a secret.
    pub fn parse(text: &'a str) -> Result<Self> {
        let key = Self::parse_allowing_secrets(text)?;
        match key.secret_word() {
            Some(word) => Err(Error::refused(format!(
                "the key {} names a secret ({word}); secrets are never stored",
                key.0
            ))
            .hint("keep secrets in a password manager")),
            None => Ok(key),
        }
    }

    /// Parses a key even if it names a secret: an earlier version may have stored it, and it can be erased.
    pub(crate) fn parse_allowing_secrets(text: &'a str) -> Result<Self> {
        let key = Self(text.trim());
        let is_part = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| {
                    b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-')
                })
        };
        if key.0.len() > MAX_KEY_BYTES || !key.name().split('.').all(is_part) {
            return Err(Error::usage(format!("{:?} is not a key", key.0)).hint(
                "a key is dotted and lower case, like preference.editor; likes[] holds several values",
            ));
        }
        Ok(key)
    }

    /// Returns the category that follows from the key.
    pub fn category(self) -> Category {
        let topic = topics().find(|topic| self.is_about(topic.2));
        topic.map_or(Category::Other, |topic| topic.0)
    }

    /// Returns whether a fact under the key is high-risk, and overwritten only if that is almost certain.
    ///
    /// `further` contains the user's own keys, or prefixes that end in a dot.
    pub fn is_high_risk(self, category: Category, further: &[String]) -> bool {
        let name = self.name();
        let is_named = |own: &String| match own.strip_suffix('.') {
            Some(_) => name.starts_with(own.as_str()),
            None => name == own.strip_suffix(SEVERAL).unwrap_or(own),
        };
        let is_about_work =
            || name.split('.').next().is_some_and(|first| listed(vocabulary("work"), first));
        matches!(category, Category::Identity | Category::Health)
            || topics().any(|topic| topic.1 && self.is_about(topic.2))
            || (self.is_about(vocabulary("money")) && !is_about_work())
            || further.iter().any(is_named)
    }

    fn name(self) -> &'a str {
        self.0.strip_suffix(SEVERAL).unwrap_or(self.0)
    }

    /// Returns whether one of the words matches: as the first part if it ends in a dot, else in any part, or across two
    /// if it is compound (`net.worth`).
    fn is_about(self, words: &str) -> bool {
        let name = self.name().replace('-', "_");
        let joined = name.replace('.', "_");
        words.split_whitespace().any(|word| match word.strip_suffix('.') {
            Some(first) => name.split('.').next() == Some(first),
            None => contains_word(&joined, word),
        })
    }

    fn secret_word(self) -> Option<&'static str> {
        let is_part = |word: &&str| self.name().split('.').any(|part| contains_word(part, word));
        vocabulary("secret")
            .split_whitespace()
            .find(is_part)
            .or_else(|| secrets::secret_name(self.name()))
            .or_else(|| self.is_secret_key().then_some("key"))
    }

    /// Returns whether the last part is a key that unlocks something: `ssh.key`, `deploy_key`, just `key`.
    fn is_secret_key(self) -> bool {
        let mut parts = self.name().rsplit('.');
        let mut words = parts.next().unwrap_or_default().rsplit(['_', '-']);
        let is_key = words.next().is_some_and(|last| listed("key keys", last));
        is_key
            && match words.next() {
                Some(kind) => listed(vocabulary("key that unlocks"), kind),
                None => parts
                    .next()
                    .is_none_or(|of| !listed(vocabulary("key that unlocks nothing"), of)),
            }
    }
}

/// Returns whether a part contains the word, singular or plural: `phone`, `phones`, `work_phone`.
fn contains_word(part: &str, word: &str) -> bool {
    part.match_indices(word).any(|(at, _)| {
        let before = part[..at].chars().next_back();
        let rest = &part[at + word.len()..];
        let rest = rest.strip_prefix("es").or(rest.strip_prefix('s')).unwrap_or(rest);
        let after = rest.chars().next();
        before.is_none_or(|c| !c.is_ascii_alphabetic())
            && after.is_none_or(|c| !c.is_ascii_alphabetic())
    })
}

/// The words that have a meaning in keys and values, by kind.
const VOCABULARY: &str = include_str!("vocabulary.txt");

/// Returns the words of a kind.
pub(crate) fn vocabulary(kind: &str) -> &'static str {
    let words = VOCABULARY.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(": "));
    words.unwrap_or_default()
}

/// Returns the topics of keys: their category, whether they are high-risk, and their words.
fn topics() -> impl Iterator<Item = (Category, bool, &'static str)> {
    VOCABULARY.lines().filter_map(|line| {
        let (topic, words) = line.split_once(": ")?;
        let (risk, category) = topic.split_once('/')?;
        Some((Category::from_word(category)?, risk == "high-risk", words))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn accepted(field: &str, value: Value) -> Result<Fact> {
        let user = UserId::new("ada")?;
        let id = "00000000-0000-8000-a000-000000000000".to_owned();
        let fact = Fact::new(&user, id, "city", "Rome".to_owned(), "2026-03-01T12:00:00Z");
        let mut fields = serde_json::to_value(fact).unwrap();
        fields[field] = value;
        let mut fact: Fact = serde_json::from_value(fields).unwrap();
        fact.accept(&user, SecretPolicy::Refuse)?;
        Ok(fact)
    }

    #[test]
    fn a_fact_from_elsewhere_has_the_limits_of_a_stated_one() {
        let long = "x".repeat(MAX_VALUE_BYTES + 1);
        let token = ["ghp_", "0123456789abcdefghijklmnopqrstuvwxyz"].concat();
        for (field, value, reason) in [
            ("value_text", json!(long), "bytes long"),
            ("value_text", json!(" \u{7}"), "bytes long"),
            ("value_text", json!(token), "looks like a secret"),
            ("project", json!(token), "looks like a secret"),
            ("source_turn_id", json!(token), "looks like a secret"),
            ("user_id", json!("grace"), "a fact of grace, not of ada"),
            ("value_json", json!({"a": long}), "bytes long"),
            ("value_json", json!({"a": token}), "looks like a secret"),
            ("source_excerpt", json!(token), "looks like a secret"),
            ("key", json!("wifi.password"), "names a secret"),
            ("confidence", json!(2), "confidence"),
            ("fact_id", json!("1"), "fact_id"),
            ("created_at", json!("soon"), "time"),
            ("valid_to", json!("2020-01-01"), "valid_to"),
        ] {
            let error = accepted(field, value).unwrap_err();
            assert!(error.message.contains(reason), "{field}: {}", error.message);
        }
        let fact = accepted("value_text", json!(" Ro\u{1b}[31mme ")).unwrap();
        assert_eq!(fact.value_text, "Rome");
        let fact = accepted("source_excerpt", json!("é".repeat(500))).unwrap();
        assert_eq!(fact.source_excerpt.chars().count(), MAX_EXCERPT_CHARS);
        assert_eq!(
            accepted("valid_from", json!("2026-01-01")).unwrap().valid_from,
            "2026-01-01T00:00:00Z"
        );
    }

    fn key(text: &str) -> FactKey<'_> {
        FactKey::parse(text).unwrap()
    }

    #[test]
    fn keys_are_dotted_and_lower_case() {
        for good in ["editor", "preference.editor", "likes[]", "a.b-c.d_e2[]"] {
            assert_eq!(key(good).0, good);
        }
        for bad in ["", ".", "a.", ".a", "a..b", "Name", "a b", "a[].b", "[]", "naïve", "a'b"] {
            assert!(FactKey::parse(bad).is_err(), "{bad:?}");
        }
        assert!(FactKey::parse(&"a".repeat(129)).is_err());
        assert!(is_multi_valued("likes[]") && !is_multi_valued("likes"));
    }

    #[test]
    fn every_topic_of_high_risk_is_one_wherever_it_stands_in_a_key() {
        for risky in [
            "identity.nickname",
            "name",
            "user.name",
            "first_name",
            "birth",
            "birth.date",
            "home.address",
            "phone",
            "work_phone",
            "phones[]",
            "email",
            "emails_per_day_goal2x.x",
            "id_number",
            "legal.status",
            "health.weight",
            "medication",
            "medications[]",
            "allergy",
            "allergies[]",
            "diagnosis",
            "finance.budget",
            "bank",
            "bank_account",
            "card",
            "credit-card",
            "salary",
            "tax",
            "taxes",
            "debt",
            "debts[]",
            "medical.history",
            "mental_health",
            "blood.pressure",
            "pregnancies[]",
            "gender",
            "driver.license",
            "finances",
            "personal.finance",
            "financial.goals[]",
            "payment_method",
            "account.balance",
            "net.worth",
        ] {
            let key = key(risky);
            assert!(key.is_high_risk(key.category(), &[]), "{risky}");
        }
        for plain in [
            "preference.editor", "likes[]", "syntax", "discard.policy", "filename",
            "preference.theme", "healthy", "taxi", "project.deadline", "parental",
            "task.payment_form", "current.rent",
        ] {
            let key = key(plain);
            assert!(!key.is_high_risk(key.category(), &[]), "{plain}");
        }
    }

    #[test]
    fn a_category_or_the_users_own_list_makes_a_key_one_of_high_risk() {
        let own = ["travel.".to_owned(), "spouse".to_owned(), "pets[]".to_owned()];
        for (text, expected) in [
            ("travel.passport", true),
            ("travel", false),
            ("spouse", true),
            ("spouse.age", false),
            ("pets[]", true),
            ("pet", false),
        ] {
            assert_eq!(key(text).is_high_risk(Category::Other, &own), expected, "{text}");
        }
        assert!(key("diet").is_high_risk(Category::Health, &[]));
        assert!(!key("diet").is_high_risk(Category::SoftPreference, &[]));
    }

    #[test]
    fn keys_that_name_a_secret_are_refused() {
        for secret in [
            "password", "wifi.password", "user_passwords[]", "pin", "card.pin", "api_key",
            "github.token", "secret", "aws.secret_key",
        ] {
            let error = FactKey::parse(secret).unwrap_err();
            assert_eq!(error.kind, crate::error::ErrorKind::Refused, "{secret}");
        }
        for plain in ["pinboard", "opinion", "shopping.list", "secretary", "tokenizer"] {
            assert!(FactKey::parse(plain).is_ok(), "{plain}");
        }
    }

    #[test]
    fn keys_that_name_a_password_are_refused() {
        for secret in [
            "pwd", "login.pwd", "ssh_key", "ssh-keys[]", "access_key", "access.key", "ssh.key",
            "private.key", "encryption.key", "aws.signing-key", "github.deploy_key", "key",
            "door.key",
        ] {
            let error = FactKey::parse(secret).unwrap_err();
            assert_eq!(error.kind, crate::error::ErrorKind::Refused, "{secret}");
            assert!(FactKey::parse_allowing_secrets(secret).is_ok(), "it can be forgotten");
        }
        for plain in [
            "preference.keyboard",
            "favourite.key_signature",
            "music.key",
            "hot_key",
            "ssh.public_key",
            "keynote.topic",
            "monkey",
            "key.account_manager",
        ] {
            assert!(FactKey::parse(plain).is_ok(), "{plain}");
        }
    }

    #[test]
    fn the_category_follows_from_the_key() {
        for (text, category) in [
            ("name", Category::Identity),
            ("identity.pronouns", Category::Identity),
            ("health.sleep", Category::Health),
            ("allergies[]", Category::Health),
            ("preference.name_style", Category::SoftPreference),
            ("likes[]", Category::SoftPreference),
            ("constraint.no_meat", Category::HardPreference),
            ("task.deadline", Category::TaskContext),
            ("finance.budget", Category::Other),
            ("city", Category::Other),
        ] {
            assert_eq!(key(text).category(), category, "{text}");
        }
    }
}
