//! Defines a fact's category, status and proposal, which are words in the database.

use serde::{Deserialize, Serialize};

use crate::text::word_enum;

word_enum! {
    /// The category of a fact, which determines its section in the profile and whether it is high-risk.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
        Other = "other",
    }
}

word_enum! {
    /// The status of a fact.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum FactStatus {
        /// It is valid.
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
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum Proposal {
        /// Its value replaces that of the contested fact.
        Value = "value",
        /// The contested fact ends.
        End = "end",
    }
}

/// Stores enums as their words in the database.
macro_rules! stored_as_word {
    ($($name:ty: $what:literal),*) => {$(
        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(self.as_str().into())
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                Self::choose(value.as_str()?, $what)
                    .map_err(|error| rusqlite::types::FromSqlError::Other(error.into()))
            }
        }
    )*};
}

pub(crate) use stored_as_word;

stored_as_word!(Category: "a category", FactStatus: "a status", Proposal: "a proposal");
