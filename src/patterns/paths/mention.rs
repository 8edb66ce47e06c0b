//! A path mentioned in a text.

/// A path mentioned in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The path, separated by `/`, without line, anchor and punctuation.
    pub path: String,
    /// The form of the path.
    pub form: PathForm,
    /// How certain it is that a path is meant.
    pub certainty: Certainty,
}

/// The form of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathForm {
    /// A file, or a folder without a trailing slash.
    Plain,
    /// A folder, with a trailing slash.
    Folder,
    /// A pattern with `*`, `?` or `[…]`.
    Glob,
    /// A path outside of the project: absolute, in the home folder, or above the root.
    Outside,
}

/// How certain it is that a text is meant as a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// A path only if the file exists.
    Unsure,
    /// A path if the file exists or once existed.
    Likely,
    /// Certainly a path.
    Sure,
}
