//! Finds evidence about a milestone other than the active one.

use crate::plan::Evidence;
use crate::project::vocabulary;
use crate::storage::read;

/// Returns a message if the active phases also exist in an archive: they shipped and were not removed.
pub(crate) fn leftover_of_archive(evidence: &Evidence<'_>) -> Option<String> {
    let dir = evidence.folder.archive_of_active()?.dir.as_ref()?;
    let dir = evidence.show(dir);
    Some(format!("{dir}: contains the same phases, already archived"))
}

/// Returns a message if STATE.md names another active milestone than the one in use.
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
