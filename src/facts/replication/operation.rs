//! Defines operations and their addresses.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::text::{hexadecimal, word_enum};

/// Number of hexadecimal digits kept of a digest.
const DIGITS: usize = 32;

word_enum! {
    /// The kind of an operation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub(crate) enum OperationKind {
        /// A change of a fact.
        Fact = "fact",
        /// A line of the journal.
        Line = "line",
        /// A tombstone of something forgotten.
        Forget = "forget",
        /// An erased operation, of which only the number remains.
        Erased = "erased",
        /// An operation with a secret, which was not sent; only its number is.
        Withheld = "withheld",
    }
}

impl FromSql for OperationKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::from_word(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

/// The address of an operation; in JSON, a list of its fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(String, String, i64)", into = "(String, String, i64)")]
pub(crate) struct OperationAddress {
    pub(crate) scope: String,
    pub(crate) device: String,
    pub(crate) number: i64,
}

impl From<(String, String, i64)> for OperationAddress {
    fn from((scope, device, number): (String, String, i64)) -> Self {
        Self { scope, device, number }
    }
}

impl From<OperationAddress> for (String, String, i64) {
    fn from(address: OperationAddress) -> Self {
        (address.scope, address.device, address.number)
    }
}

/// An operation of this device, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceOperation {
    pub(crate) scope: String,
    pub(crate) device: String,
    pub(crate) number: i64,
    pub(crate) op_id: String,
    pub(crate) user_id: String,
    pub(crate) clock: i64,
    pub(crate) kind: OperationKind,
    /// Clock of the fact's first operation.
    pub(crate) born: Option<i64>,
    /// Digest of the user.
    pub(crate) owner: Option<String>,
    /// Digest of user and key.
    pub(crate) subject: Option<String>,
    /// Digest of user and turn.
    pub(crate) turn: Option<String>,
    /// A JSON object; for a line of the journal, it is read together with the journal.
    pub(crate) payload: Option<String>,
    /// Byte offset of the line in the journal.
    pub(crate) offset: Option<u64>,
}

impl DeviceOperation {
    /// Removes everything but the number, as there is nothing to send.
    pub(crate) fn erase(&mut self) {
        self.withhold();
        self.kind = OperationKind::Erased;
        self.op_id.clear();
    }

    /// Removes everything but the number.
    pub(crate) fn withhold(&mut self) {
        self.kind = OperationKind::Withheld;
        self.user_id.clear();
        (self.owner, self.subject, self.turn) = (None, None, None);
        self.payload = None;
    }
}

/// Returns the digest of several texts.
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

/// Returns the digest of a user, used in tombstones.
pub(crate) fn owner(user: &str) -> String {
    digest(&["user", user])
}

/// Returns the digest of a user's key.
pub(crate) fn subject(user: &str, key: &str) -> String {
    digest(&["key", user, key])
}

/// Returns the digest of a user's turn.
pub(crate) fn turn(user: &str, turn: &str) -> String {
    digest(&["turn", user, turn])
}
