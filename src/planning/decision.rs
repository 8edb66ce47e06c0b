//! A decision, wherever it was written.

use chrono::NaiveDate;
use serde::Serialize;

/// A decision with what is known of its reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// What was decided, verbatim: a table's first column, or a whole bullet with its tag.
    pub text: String,
    /// When, where it says.
    pub date: Option<NaiveDate>,
    /// Why, where it says.
    pub rationale: Option<String>,
    /// Where it came from: the tag in front (`[phase-1]`), or the file it stands in.
    pub source: Option<String>,
}
