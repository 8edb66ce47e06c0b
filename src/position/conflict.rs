//! What speaks of another milestone than the one that is worked on.

use crate::planning::PhaseDir;
use crate::position::Evidence;
use crate::project::vocabulary;
use crate::storage::read;

/// The live phases stand in an archive too: shipped, and left behind.
pub(crate) fn leftover_of_archive(evidence: &Evidence<'_>) -> Option<String> {
    let live: Vec<String> = evidence
        .folder
        .active
        .phases
        .iter()
        .map(PhaseDir::dir_name)
        .collect();
    evidence.folder.archived.iter().find_map(|archive| {
        let milestone = archive.milestone().ok()?.value;
        let kept = milestone
            .phases
            .iter()
            .filter(|phase| live.contains(&phase.dir_name()))
            .count();
        (kept > 0 && kept == live.len()).then(|| {
            format!(
                "{}: contains the same phases, already archived",
                evidence.show(&milestone.dir)
            )
        })
    })
}

/// STATE.md names another active milestone than the one worked in.
pub(crate) fn other_milestone(evidence: &Evidence<'_>) -> Option<String> {
    let slug = evidence.state.active_milestone.as_ref()?;
    let dir = [
        evidence.folder.dir.join(vocabulary::MILESTONES).join(slug),
        evidence.folder.dir.join(slug),
    ]
    .into_iter()
    .find(|dir| read::is_folder(dir))?;
    (dir != evidence.folder.active.dir).then(|| {
        format!(
            "{}: STATE.md calls this milestone active, but no ACTIVE file names it",
            evidence.show(&dir)
        )
    })
}
