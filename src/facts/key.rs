//! Parses the keys of facts, and derives category and risk from them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::facts::fact::Category;
use crate::secrets;

/// Maximum length of a key, in bytes.
const MAX_KEY_BYTES: usize = 128;

/// Suffix of a key with several values.
pub(crate) const SEVERAL: &str = "[]";

/// A key: dotted, lower case, with the suffix `[]` if it has several values.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FactKey(String);

impl TryFrom<String> for FactKey {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        Self::parse(&text).map_err(|error| error.message)
    }
}

impl From<FactKey> for String {
    fn from(key: FactKey) -> Self {
        key.0
    }
}

impl FactKey {
    /// Parses a key (`preference.editor`, `likes[]`), refusing one that names a secret.
    pub fn parse(text: &str) -> Result<Self> {
        let key = Self::parse_allowing_secrets(text)?;
        match key.secret_word() {
            Some(word) => Err(Error::refused(format!(
                "the key {key} names a secret ({word}); secrets are never stored"
            ))
            .hint("keep secrets in a password manager")),
            None => Ok(key),
        }
    }

    /// Parses a key even if it names a secret: an earlier version may have stored it, and it can be erased.
    pub(crate) fn parse_allowing_secrets(text: &str) -> Result<Self> {
        let text = text.trim();
        let name = text.strip_suffix(SEVERAL).unwrap_or(text);
        let is_part = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| {
                    b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-')
                })
        };
        if text.len() > MAX_KEY_BYTES || !name.split('.').all(is_part) {
            return Err(Error::usage(format!("{text:?} is not a key")).hint(
                "a key is dotted and lower case, like preference.editor; likes[] holds several values",
            ));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the key can have several values, each in a separate fact.
    pub fn is_multi_valued(&self) -> bool {
        self.0.ends_with(SEVERAL)
    }

    /// Returns the category that follows from the key.
    pub fn category(&self) -> Category {
        let topic = TOPICS.iter().find(|topic| self.is_about(topic.2));
        topic.map_or(Category::Other, |topic| topic.0)
    }

    /// Returns whether a fact under the key is high-risk, and overwritten only if that is almost certain.
    ///
    /// `further` contains the user's own keys, or prefixes that end in a dot.
    pub fn is_high_risk(&self, category: Category, further: &[String]) -> bool {
        let name = self.name();
        let is_named = |own: &String| match own.strip_suffix('.') {
            Some(_) => name.starts_with(own.as_str()),
            None => name == own.strip_suffix(SEVERAL).unwrap_or(own),
        };
        let is_about_work = || name.split('.').next().is_some_and(|first| is_one_of(first, WORK));
        matches!(category, Category::Identity | Category::Health)
            || TOPICS.iter().any(|topic| topic.1 && self.is_about(topic.2))
            || (self.is_about(MONEY) && !is_about_work())
            || further.iter().any(is_named)
    }

    fn name(&self) -> &str {
        self.0.strip_suffix(SEVERAL).unwrap_or(&self.0)
    }

    /// Returns whether one of the words matches: as the first part if it ends in a dot, else in any part.
    fn is_about(&self, words: &str) -> bool {
        let name = self.name().replace('-', "_");
        words.split_whitespace().any(|word| match word.strip_suffix('.') {
            Some(first) => name.split('.').next() == Some(first),
            None => name.split('.').any(|part| contains_word(part, word)),
        })
    }

    fn secret_word(&self) -> Option<&'static str> {
        let is_part = |word: &&str| self.name().split('.').any(|part| contains_word(part, word));
        SECRETS
            .split_whitespace()
            .find(is_part)
            .or_else(|| secrets::secret_name(self.name()))
            .or_else(|| self.is_secret_key().then_some("key"))
    }

    /// Returns whether the last part is a key that unlocks something: `ssh.key`, `deploy_key`, just `key`.
    fn is_secret_key(&self) -> bool {
        let mut parts = self.name().rsplit('.');
        let mut words = parts.next().unwrap_or_default().rsplit(['_', '-']);
        let is_key = words.next().is_some_and(|last| is_one_of(last, "key keys"));
        is_key
            && match words.next() {
                Some(kind) => is_one_of(kind, KEY_KINDS),
                None => parts.next().is_none_or(|of| !is_one_of(of, OTHER_KEYS)),
            }
    }
}

impl fmt::Display for FactKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_one_of(word: &str, words: &str) -> bool {
    words.split_whitespace().any(|one| one == word)
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

/// The topics of keys, by words: their category, and whether they are high-risk. The first match determines the
/// category.
const TOPICS: &[(Category, bool, &str)] = &[
    (Category::Identity, true, "identity."),
    (
        Category::Health,
        true,
        "health. medication allergy allergie diagnosis diagnose illness disease disability disabilitie \
         therapy therapie blood_type",
    ),
    (Category::Other, true, "legal. finance. bank card salary tax debt"),
    (Category::HardPreference, false, "constraint. rule."),
    (Category::TaskContext, false, "task. project. current. goal."),
    (Category::SoftPreference, false, "preference. like dislike favorite favourite"),
    (
        Category::Identity,
        true,
        "name birth birthday birthdate address phone email id_number surname passport ssn \
         social_security nationality religion",
    ),
];

/// Words about money. They say nothing about the category, and nothing below [`WORK`], where `budget` may be
/// one of tokens.
const MONEY: &str = "iban account_number income wage loan mortgage savings pension credit investment insurance \
                     net_worth budget money";

/// First parts of keys about work and taste.
const WORK: &str = "constraint rule task project current goal preference";

/// Names of secrets, which are never stored, whatever the value looks like.
const SECRETS: &str = "password passwd passphrase passcode pwd pin pincode secret token credential api_key apikey \
                       api-key private_key private-key cvv cvc";

/// Things that a key unlocks, besides the secret names known to `secrets`.
const KEY_KINDS: &str = "ssh gpg pgp rsa deploy host license recovery wifi wpa session service root admin server \
                         client backup ssl tls";

/// Parts whose `key` unlocks nothing.
const OTHER_KEYS: &str = "music song piano singing keyboard shortcut map sort primary public";

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> FactKey {
        FactKey::parse(text).unwrap()
    }

    #[test]
    fn keys_are_dotted_and_lower_case() {
        for good in ["editor", "preference.editor", "likes[]", "a.b-c.d_e2[]"] {
            assert_eq!(key(good).as_str(), good);
        }
        for bad in ["", ".", "a.", ".a", "a..b", "Name", "a b", "a[].b", "[]", "naïve", "a'b"] {
            assert!(FactKey::parse(bad).is_err(), "{bad:?}");
        }
        assert!(FactKey::parse(&"a".repeat(129)).is_err());
        assert!(key("likes[]").is_multi_valued() && !key("likes").is_multi_valued());
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
        ] {
            let key = key(risky);
            assert!(key.is_high_risk(key.category(), &[]), "{risky}");
        }
        for plain in [
            "preference.editor", "likes[]", "syntax", "discard.policy", "filename",
            "preference.theme", "healthy", "taxi", "project.deadline",
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
