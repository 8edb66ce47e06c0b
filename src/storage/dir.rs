//! Keeps a directory open while its entries are changed.
//!
//! The path of the directory is resolved once, without following links; every operation after that goes
//! through the handle. So nothing is written through a link that replaces the directory in the meantime.
//! Handles are only used on Linux; other systems use paths.

#[cfg(target_os = "linux")]
mod handle;
#[cfg(not(target_os = "linux"))]
mod path;

#[cfg(target_os = "linux")]
pub(crate) use handle::Dir;
#[cfg(not(target_os = "linux"))]
pub(crate) use path::Dir;

/// The access for which a file is opened; each also permits reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    Append,
}

/// Whether opening a file creates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Create {
    Never,
    IfMissing(Visibility),
    /// An existing file is an error.
    New,
}

/// Who can open a new file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Whoever the umask permits.
    Shared,
    /// Its owner alone.
    Private,
}

/// Whether a link in place of a file is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// It is followed, because the user chose the path.
    Followed,
    /// It is not followed, because a repository can contain a link.
    Refused,
}

/// The treatment of an existing file at the target of a rename.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It is replaced.
    Replace,
    /// It is exchanged with the source.
    Exchange,
    /// It is an error.
    Refuse,
}
