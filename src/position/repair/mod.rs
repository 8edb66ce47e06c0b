//! Puts STATE.md's position lines and the roadmap's checkboxes and progress rows right, byte range by byte range.
//!
//! Only statements that [`drift`](crate::position::drift()) reports are rewritten, and what goes with
//! them: the phase's name beside its number, the plans beside the phase, the bar beside its percent.
//! The status words, the padding of numbers and the cells of a bar stay in the file's own style. A
//! status that holds more than its words is a person's sentence: it is left, and reported as left.

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Result;
use crate::position::Drift;
use crate::position::DriftKind;
use crate::position::Survey;
use crate::position::drift::Findings;
use crate::position::drift::findings;
use crate::position::drift::statements;
use crate::position::repair::revision::Revised;
use crate::position::repair::revision::Revision;
use crate::position::repair::source_text::SourceText;
use crate::project::Project;
use crate::project::vocabulary;
use crate::storage::read;
use crate::warning::Parsed;

mod ambiguity;
mod bar;
mod companions;
mod evidence;
mod revision;
mod source_text;
mod status_words;

/// A statement that was put right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Correction {
    /// What kind of statement; nothing where it only goes with another.
    pub kind: Option<DriftKind>,
    /// What stood there.
    pub stated: String,
    /// What stands there now.
    pub written: String,
    /// The file, relative to the project's root.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
    /// The evidence: a file or folder, and what it shows.
    pub because: String,
}

/// The files put right, before they are written.
#[derive(Clone, Debug)]
pub struct Repair {
    /// What was put right, in the order in which it was found.
    pub corrections: Vec<Correction>,
    /// What the files contradict still, for it cannot be put right without losing a person's words.
    pub left: Vec<Drift>,
    /// The files that change, with their old and new bytes.
    pub files: Vec<(PathBuf, Vec<u8>, Vec<u8>)>,
    /// The milestone as it reads afterwards.
    pub survey: Survey,
}

/// One correction may show the next: the phase first, then its plans, its progress, its status.
const MAX_ROUNDS: usize = 6;

/// Returns STATE.md and ROADMAP.md as the files say they should be.
///
/// Refused where the files leave open what is true.
pub fn repair(project: &Project, survey: &Survey) -> Result<Repair> {
    let mut repair = Repair {
        corrections: Vec::new(),
        left: statements(&survey.evidence(project), &survey.position),
        files: Vec::new(),
        survey: survey.clone(),
    };
    if repair.left.is_empty() {
        return Ok(repair);
    }
    ambiguity::check(&survey.evidence(project), &survey.position)?;
    let home = &survey.folder.active.dir;
    let mut texts = [
        SourceText::read(&home.join(vocabulary::STATE))?,
        SourceText::read(&home.join(vocabulary::ROADMAP))?,
    ];
    for _ in 0..MAX_ROUNDS {
        let revised = revise(project, &repair.survey, &texts);
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
    repair.left = statements(&repair.survey.evidence(project), &repair.survey.position);
    repair.files = texts
        .into_iter()
        .filter(SourceText::is_changed)
        .map(SourceText::into_parts)
        .collect();
    Ok(repair)
}

/// Plans one round of edits to STATE.md and ROADMAP.md.
fn revise(project: &Project, survey: &Survey, texts: &[SourceText; 2]) -> [Revised; 2] {
    let evidence = survey.evidence(project);
    let Findings { state, roadmap } = findings(&evidence, &survey.position);
    let is_elsewhere = state
        .iter()
        .any(|finding| finding.drift.kind == DriftKind::Phase);
    let mut of_state = Revision::new(&evidence, &survey.position, &texts[0], vocabulary::STATE);
    if is_elsewhere {
        // What else STATE.md says is of the phase it stands at: that comes first.
        of_state.move_phase(&state);
    } else {
        of_state.take_state(&state);
    }
    let mut of_roadmap = Revision::new(&evidence, &survey.position, &texts[1], vocabulary::ROADMAP);
    of_roadmap.take_roadmap(&roadmap);
    [of_state.finish(), of_roadmap.finish()]
}

/// Reads the milestone again, with the texts as they are now.
fn reread(project: &Project, survey: &Survey, texts: &[SourceText]) -> Result<Survey> {
    let folder = Parsed {
        value: survey.folder.clone(),
        warnings: Vec::new(),
    };
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
