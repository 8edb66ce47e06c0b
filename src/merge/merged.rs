//! What a merge came to.

/// What a merge came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeResult {
    /// The text, with a marked place for each conflict.
    pub text: String,
    /// How many places both sides changed differently.
    pub conflicts: usize,
}
