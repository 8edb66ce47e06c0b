//! Real folders are read, recorded and synced without harm, whatever state they are in.
//!
//! No command crashes; no file is passed over in silence; reading writes nothing; recording writes nothing but
//! its own files, and nothing at all the second time; what a person wrote into CLAUDE.md is still there.

mod folders;
mod kept;
mod reading;
mod silence;
mod writing;

use std::path::Path;

use folders::{Planned, planned};
use silence::Summaries;

use crate::support::{Case, corpus, on_two_threads};

/// Every third folder: `tests/compare` shows what two builds make of all of them.
const STEP: usize = 3;

#[test]
fn real_folders_are_read_and_recorded_without_harm() {
    let Some(corpus) = corpus() else { return };
    let all = planned(&corpus);
    assert!(all.len() > 20, "too few folders in the corpus: {}", all.len());
    let all: Vec<Planned> = all.into_iter().step_by(STEP).collect();
    let faults = on_two_threads(&all, |one| swept(&corpus, one)).concat();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// Returns all that went wrong in a copy of one folder.
fn swept(corpus: &Path, planned: &Planned) -> Vec<String> {
    let case = Case::from(corpus.join(&planned.project));
    let (mut faults, inspected) = reading::faults(&case, planned);
    // No command writes a summary.
    let summaries = Summaries::of(&inspected);
    faults.extend(silence::faults(&case, planned, &summaries));
    faults.extend(writing::faults(&case, planned));
    faults.extend(silence::written(&case, planned, &summaries));
    faults
        .into_iter()
        .map(|fault| format!("{} {}: {fault}", planned.project, planned.planning))
        .collect()
}
