//! Appends entries to PATTERNS.md and changes no byte of what stands there.

use crate::error::Result;
use crate::patterns;
use crate::patterns::FinishedPhase;
use crate::patterns::Patterns;
use crate::patterns::Retrospective;
use crate::project::Project;
use crate::storage::Changes;
use crate::templates;
use crate::templates::Template;

/// What PATTERNS.md knows of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It has no entry.
    No,
    /// It has an entry drawn from the summaries as they are.
    Same,
    /// It has an entry, and its summaries changed since.
    Changed,
}

impl Patterns {
    /// Tells whether a phase has an entry, wherever its folder has moved to since.
    pub fn recorded(&self, phase: &FinishedPhase) -> Recorded {
        let wanted = phase.trace(None);
        let traces = || self.entries.iter().filter_map(|entry| entry.trace.as_ref());
        let is_of_phase = |trace: &&patterns::Trace| trace.phase_dir == wanted.phase_dir;
        if traces().any(|trace| trace.digest == wanted.digest) {
            return Recorded::Same;
        }
        // A plan that was added later leaves the phase recorded, with other summaries.
        let shares_plans =
            |trace: &patterns::Trace| trace.plans.iter().any(|plan| wanted.plans.contains(plan));
        if traces()
            .filter(is_of_phase)
            .any(|trace| trace.is_of_same_plans(&wanted) || shares_plans(trace))
        {
            return Recorded::Changed;
        }
        Recorded::No
    }
}

/// Plans the entries at the end of PATTERNS.md, which is made with a header where it is missing.
///
/// Line endings follow the file; a missing final newline is added in front of the first entry.
pub fn append(project: &Project, entries: &[Retrospective], changes: &mut Changes) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let path = patterns::path(&project.planning_place().dir);
    let old = changes.current(&path)?;
    let mut bytes = match &old {
        Some(bytes) if !bytes.is_empty() => bytes.clone(),
        _ => templates::render(project, Template::PatternsHeader, &())?.into_bytes(),
    };
    let ending = if bytes.windows(2).any(|pair| pair == b"\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    for entry in entries {
        if !bytes.ends_with(b"\n") {
            bytes.extend(ending.as_bytes());
        }
        bytes.extend(ending.as_bytes());
        let text = entry.render(project)?;
        bytes.extend(text.trim_end().replace('\n', ending).as_bytes());
        bytes.extend(ending.as_bytes());
    }
    changes.edit(&path, old, bytes)
}
