//! The outcome of a merge.

/// The outcome of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeResult {
    /// The merged text, with conflict markers.
    pub text: String,
    /// Number of conflicts.
    pub conflicts: usize,
}
