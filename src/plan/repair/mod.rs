//! Corrects the position lines of STATE.md and the checkboxes and progress rows of the roadmap by byte range.
//!
//! Only statements that [`drift`](crate::plan::drift()) reports are rewritten, and values that depend on
//! them: the phase's name next to its number, the plans next to the phase, the bar next to its percentage.
//! Status words, zero-padded numbers and the characters of a bar keep the file's style. A status with more
//! than status words is free text: it is left unchanged, and reported as such.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::plan::drift::{Findings, findings, statements};
use crate::plan::repair::revision::{Revised, Revision};
use crate::plan::repair::source_text::SourceText;
use crate::plan::{Drift, DriftKind, Survey};
use crate::project::{Project, vocabulary};
use crate::storage::read;
use crate::warning::Parsed;

mod ambiguity;
mod bar;
mod correction;
mod dependent_values;
mod evidence;
mod revision;
mod source_text;
mod status_words;

pub use correction::Correction;
pub(in crate::plan) use status_words::is_plain as is_plain_status;

/// The corrected files before they are written.
#[derive(Clone, Debug)]
pub struct Repair {
    /// The corrections, in the order in which they were made.
    pub corrections: Vec<Correction>,
    /// The remaining contradictions, which cannot be corrected without losing free text.
    pub remaining: Vec<Drift>,
    /// The files that change, with their old and new bytes.
    pub files: Vec<(PathBuf, Vec<u8>, Vec<u8>)>,
    /// The milestone after the corrections.
    pub survey: Survey,
}

/// Maximum number of rounds, since one correction may reveal the next: phase, plans, progress, status.
const MAX_ROUNDS: usize = 6;

/// Corrects STATE.md and ROADMAP.md according to the files, without writing them.
///
/// Returns an error if the files are ambiguous.
pub fn repair(project: &Project, survey: &Survey) -> Result<Repair> {
    let mut repair = Repair {
        corrections: Vec::new(),
        remaining: statements(survey, &survey.position),
        files: Vec::new(),
        survey: survey.clone(),
    };
    if repair.remaining.is_empty() {
        return Ok(repair);
    }
    ambiguity::check(survey, &survey.position)?;
    let home = &survey.folder.active.dir;
    let mut texts = [
        SourceText::read(&home.join(vocabulary::STATE))?,
        SourceText::read(&home.join(vocabulary::ROADMAP))?,
    ];
    for _ in 0..MAX_ROUNDS {
        let revised = revise(&repair.survey, &texts);
        if revised.iter().all(|one| one.edits.is_empty()) {
            break;
        }
        for (text, revised) in texts.iter_mut().zip(revised) {
            text.apply(&revised.edits);
            for correction in revised.corrections {
                ambiguity::check_not_undone(&repair.corrections, &correction)?;
                repair.corrections.push(correction);
            }
        }
        repair.survey = reread(project, survey, &texts)?;
    }
    ambiguity::check_same_next(&survey.position, &repair.survey.position)?;
    repair.remaining = statements(&repair.survey, &repair.survey.position);
    repair.files =
        texts.into_iter().filter(SourceText::is_changed).map(SourceText::into_parts).collect();
    Ok(repair)
}

/// Plans one round of edits to STATE.md and ROADMAP.md.
fn revise(survey: &Survey, texts: &[SourceText; 2]) -> [Revised; 2] {
    let Findings { state, roadmap } = findings(survey, &survey.position);
    let is_elsewhere = state.iter().any(|finding| finding.drift.kind == DriftKind::Phase);
    let mut of_state = Revision::new(survey, &survey.position, &texts[0], vocabulary::STATE);
    if is_elsewhere {
        // Other statements of STATE.md refer to the phase it names, which must be corrected first.
        of_state.move_phase(&state);
    } else {
        of_state.take_state(&state);
    }
    let mut of_roadmap = Revision::new(survey, &survey.position, &texts[1], vocabulary::ROADMAP);
    of_roadmap.take_roadmap(&roadmap);
    [of_state.finish(), of_roadmap.finish()]
}

/// Reads the milestone again, with the current texts.
fn reread(project: &Project, survey: &Survey, texts: &[SourceText]) -> Result<Survey> {
    let folder = Parsed::clean(survey.folder.clone());
    Survey::read_with(project, folder, &|path: &Path| match texts
        .iter()
        .find(|text| text.path() == path)
    {
        Some(text) => Ok(text.parsed()),
        None => read::text(path),
    })
}

#[cfg(test)]
mod tests;
