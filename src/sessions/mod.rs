//! Reads the transcripts that coding agents keep of their sessions on the user's own disk.
//!
//! ```text
//! a client's files ── listed (this project's only) ── read as a stream ── conversation ── units
//! ```
//!
//! Nothing is captured and nothing is written but an index in the user's cache folder. Transcripts are read only
//! after the user has turned it on, and their content is data: keys are redacted before anything is kept, links are
//! not followed, and what is not understood is counted or named. docs/sessions.md says what is read.

mod clients;
mod conversation;
mod listing;

pub use clients::{Client, read, resume};
pub use conversation::{Session, Unit, UnitKind};
pub(crate) use listing::search;
pub use listing::{Finding, Transcripts, forget, propose, switch, transcripts};

use crate::error::{Error, Result};
use crate::project::Project;

/// Returns an error unless the user has turned the reading of transcripts on.
pub fn ensure_on(project: &Project) -> Result<()> {
    if project.settings.sessions.is_empty() {
        return Err(Error::usage(
            "transcripts of sessions are not read, because you have not turned it on",
        )
        .hint("annals setup CLIENT --sessions, or sessions = true in your own config.toml"));
    }
    Ok(())
}
