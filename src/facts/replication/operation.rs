//! One operation, as it is addressed and sent.

use rusqlite::types::FromSql;
use rusqlite::types::FromSqlError;
use rusqlite::types::FromSqlResult;
use rusqlite::types::ValueRef;
use serde::Deserialize;
use serde::Serialize;
use sha2::Digest;
use sha2::Sha256;

use crate::text::hexadecimal;
use crate::text::word_enum;

/// How many hexadecimal digits of a digest are kept.
const DIGITS: usize = 32;

word_enum! {
    /// What an operation is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub(crate) enum OperationKind {
        /// A change of a fact.
        Fact = "fact",
        /// A line of the journal.
        Line = "line",
        /// Something is forgotten.
        Forget = "forget",
        /// It was forgotten; its number stays.
        Erased = "erased",
        /// It held a secret and was not sent; its number stays.
        Withheld = "withheld",
    }
}

impl FromSql for OperationKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::from_word(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

/// An operation of this device, as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceOperation {
    pub(crate) scope: String,
    pub(crate) device: String,
    pub(crate) number: i64,
    pub(crate) op_id: String,
    pub(crate) user_id: String,
    pub(crate) clock: i64,
    pub(crate) kind: OperationKind,
    /// The clock of the fact's first operation.
    pub(crate) born: Option<i64>,
    /// The digest of the user.
    pub(crate) owner: Option<String>,
    /// The digest of user and key.
    pub(crate) subject: Option<String>,
    /// The digest of user and turn.
    pub(crate) turn: Option<String>,
    /// One JSON object; for a line of the journal it is read where the journal is.
    pub(crate) payload: Option<String>,
    /// Where in the journal the line begins.
    pub(crate) place: Option<u64>,
}

impl DeviceOperation {
    /// Leaves nothing of an operation but its number.
    pub(crate) fn withhold(&mut self) {
        self.kind = OperationKind::Withheld;
        self.user_id.clear();
        (self.owner, self.subject, self.turn) = (None, None, None);
        self.payload = None;
    }
}

/// Returns the digest of several texts, which says nothing of them.
pub(crate) fn digest(parts: &[&str]) -> String {
    let mut sum = Sha256::new();
    for part in parts {
        sum.update(part.as_bytes());
        sum.update([0]);
    }
    let mut digits = hexadecimal(&sum.finalize());
    digits.truncate(DIGITS);
    digits
}

/// Returns the digest that stands for a user where something of theirs is forgotten.
pub(crate) fn owner(user: &str) -> String {
    digest(&["user", user])
}

/// Returns the digest that stands for a user's key.
pub(crate) fn subject(user: &str, key: &str) -> String {
    digest(&["key", user, key])
}

/// Returns the digest that stands for a user's turn.
pub(crate) fn turn(user: &str, turn: &str) -> String {
    digest(&["turn", user, turn])
}
