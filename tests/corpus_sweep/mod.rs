//! Every real folder is read, recorded and synced without harm, whatever state it is in.
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

#[test]
fn every_real_folder_is_read_and_recorded_without_harm() {
    let Some(corpus) = corpus() else { return };
    let all = planned(&corpus);
    assert!(all.len() > 20, "too few folders in the corpus: {}", all.len());
    let faults = on_two_threads(&all, |one| swept(&corpus, one)).concat();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// Returns all that went wrong in a copy of one folder.
fn swept(corpus: &Path, planned: &Planned) -> Vec<String> {
    let case = Case::from(corpus.join(&planned.project));
    let mut faults = reading::faults(&case, planned);
    // No command writes a summary.
    let summaries = Summaries::read(&case, planned);
    faults.extend(silence::faults(&case, planned, &summaries));
    faults.extend(writing::faults(&case, planned));
    faults.extend(silence::written(&case, planned, &summaries));
    faults
        .into_iter()
        .map(|fault| format!("{} {}: {fault}", planned.project, planned.planning))
        .collect()
}
