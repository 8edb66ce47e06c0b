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
        let archived = archive.phase_names().ok()?;
        let is_archived = !live.is_empty() && live.iter().all(|name| archived.contains(name));
        let dir = archive.dir.as_ref().filter(|_| is_archived)?;
        let dir = evidence.show(dir);
        Some(format!("{dir}: contains the same phases, already archived"))
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
