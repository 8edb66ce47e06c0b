//! The names in a planning folder, which all planning tools share.

/// Where the work stands, and what was decided on the way.
pub(crate) const STATE: &str = "STATE.md";
/// The phases of a milestone.
pub(crate) const ROADMAP: &str = "ROADMAP.md";
/// What the project is.
pub(crate) const PROJECT: &str = "PROJECT.md";
/// What it has to do.
pub(crate) const REQUIREMENTS: &str = "REQUIREMENTS.md";
/// The settings of the workflow.
pub(crate) const CONFIG: &str = "config.json";
/// Holds the slug of the milestone that is worked on.
pub(crate) const ACTIVE: &str = "ACTIVE";
/// The finished milestones, in the words of a workflow that lists them.
pub(crate) const MILESTONE_LIST: &str = "MILESTONES.md";
/// Stands in a milestone that was shipped.
pub(crate) const SHIPPED: &str = "SHIPPED.md";
/// The note for the next session.
pub(crate) const RESUME: &str = "RESUME.md";

/// The folder of a milestone's phases.
pub(crate) const PHASES: &str = "phases";
/// The folder of finished milestones.
pub(crate) const MILESTONES: &str = "milestones";
/// The archive that VBW makes of a GSD folder which it takes over.
pub(crate) const TAKEN_OVER: &str = "gsd-archive";

/// What follows the slug in the folder of a finished milestone's phases, where it has one of its own.
pub(crate) const PHASES_OF: &str = "-phases";
/// What follows the slug in the name of a finished milestone's roadmap.
pub(crate) const ROADMAP_OF: &str = "-ROADMAP.md";

/// Returns whether what lies in a folder of this name belongs to a finished milestone.
pub(crate) fn is_archive(folder: &str) -> bool {
    [MILESTONES, TAKEN_OVER, "archive"].contains(&folder)
}
