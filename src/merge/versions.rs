//! The input and the result of a merge.

/// The three versions of a file: the common ancestor, and the version on either side.
#[derive(Clone, Copy, Debug)]
pub struct Versions<'a> {
    /// The common ancestor; empty if both sides created the file.
    pub base: &'a str,
    /// The version on the branch that is merged into.
    pub ours: &'a str,
    /// The version on the branch that is merged.
    pub theirs: &'a str,
}

impl<'a> Versions<'a> {
    /// Returns the merged text if only one side changed the file, or both sides equally.
    pub(crate) fn trivial_merge(self) -> Option<&'a str> {
        let Self { base, ours, theirs } = self;
        if ours == theirs || theirs == base {
            return Some(ours);
        }
        (ours == base).then_some(theirs)
    }
}

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeResult {
    /// The merged text, with conflict markers.
    pub text: String,
    /// Number of conflicts.
    pub conflicts: usize,
}
