//! Builds a digest of all stores for a session, within a token budget.
//!
//! Parts are packed in order of importance: the state of the work, by plan and by ledger; blockers; pinned
//! notes; constraints; decisions; lessons; knowledge; the user's facts; todos. What does not fit is counted,
//! with the command that prints it.

mod already_read;
mod gather;
mod ledger;
mod overview;
mod packing;
mod part;
mod parts;
#[cfg(test)]
mod tests;

pub use already_read::AlreadyRead;
pub use overview::{Overview, overview};
pub use packing::{Digest, LeftOut};
pub use part::DigestPart;
pub use parts::parts;

use crate::context::gather::Gatherer;
use crate::context::part::DigestSection;
use crate::error::{Error, Result};
use crate::knowledge::KnowledgeDir;
use crate::project::Project;
use crate::warning::Warning;

/// Default maximum number of tokens of a digest.
pub const BUDGET: usize = 2000;

/// Maximum number of tokens of the text at the start of a session.
pub const START_BUDGET: usize = 1200;

/// Maximum number of lines of a list at the start of a session.
pub(crate) const START_LINES: usize = 5;

/// How the note begins that a hook leaves before a compaction.
pub(crate) const BREADCRUMB: &str = "Before compaction (";

/// Maximum number of blockers at the start of a session.
pub(crate) const START_BLOCKERS: usize = 3;

/// Minimum budget for a digest, in tokens: a smaller one has room for nothing but the frame.
const MIN_BUDGET: usize = 100;

/// Returns whether a project has a planning folder, entries or a ledger.
pub fn has_memory(project: &Project) -> bool {
    project.planning().is_ok()
        || KnowledgeDir::in_project(project).root().is_dir()
        || crate::ledger::exists(project)
}

/// The options of a digest.
#[derive(Clone, Debug)]
pub struct DigestRequest {
    /// Maximum number of tokens, as estimated by `text::estimate_tokens`.
    pub budget: usize,
    /// The topic of the session; by default the current phase.
    pub topic: Option<String>,
    /// Whether the conversation was just compacted: if so, the notepad comes first, in full.
    pub compacted: bool,
    /// The parts to leave out.
    pub without: Vec<DigestPart>,
    /// Maximum number of lines of a list; each section of the ledger is one.
    pub max_lines_per_list: usize,
    /// What the session has already read: those lines are left out and not counted.
    pub already_read: AlreadyRead,
}

impl Default for DigestRequest {
    fn default() -> Self {
        Self {
            budget: BUDGET,
            topic: None,
            compacted: false,
            without: Vec::new(),
            max_lines_per_list: usize::MAX,
            already_read: AlreadyRead::default(),
        }
    }
}

/// Builds the digest for a session. A store that cannot be read becomes a warning, so that the other stores
/// are still included.
pub fn digest(project: &Project, request: &DigestRequest) -> Result<Digest> {
    if request.budget < MIN_BUDGET {
        return Err(Error::usage(format!("{} tokens is too small for a digest", request.budget))
            .hint(format!("give it {MIN_BUDGET} or more; {BUDGET} is the default")));
    }
    let mut warnings = Vec::new();
    let gatherer = Gatherer::new(project, request, &mut warnings);
    let mut sections: Vec<DigestSection> = Vec::new();
    for part in requested_parts(request) {
        match gatherer.gather(part, &mut warnings) {
            Ok(section) => sections.push(section),
            Err(error) => {
                let message = format!("cannot load {}: {error}", part.as_str());
                warnings.push(Warning::file(&project.root, message));
            }
        }
    }
    let mut digest = packing::pack(sections, request.budget);
    digest.warnings = project.named(warnings);
    Ok(digest)
}

/// Returns the requested parts, most important first.
fn requested_parts(request: &DigestRequest) -> Vec<DigestPart> {
    let mut parts = DigestPart::ALL.to_vec();
    if request.compacted {
        parts.sort_by_key(|part| *part != DigestPart::Notepad);
    }
    parts.retain(|part| !request.without.contains(part));
    parts
}
