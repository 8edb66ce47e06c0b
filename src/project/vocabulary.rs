//! Names of the files in a planning folder, which all planning tools share.

/// The state of the work, and the decisions made on the way.
pub(crate) const STATE: &str = "STATE.md";
/// The phases of a milestone.
pub(crate) const ROADMAP: &str = "ROADMAP.md";
/// The description of the project.
pub(crate) const PROJECT: &str = "PROJECT.md";
/// The requirements of the project.
pub(crate) const REQUIREMENTS: &str = "REQUIREMENTS.md";
/// The settings of the planning tool.
pub(crate) const CONFIG: &str = "config.json";
/// Contains the slug of the active milestone.
pub(crate) const ACTIVE: &str = "ACTIVE";
/// The list of finished milestones, written by tools that keep one.
pub(crate) const MILESTONE_LIST: &str = "MILESTONES.md";
/// Marks a milestone that was shipped.
pub(crate) const SHIPPED: &str = "SHIPPED.md";
/// The note for the next session.
pub(crate) const RESUME: &str = "RESUME.md";

/// Where paused work is to be resumed, as fields, written by GSD.
pub(crate) const HANDOFF: &str = "HANDOFF.json";
/// The same as text, in the planning folder or in a phase's folder.
pub(crate) const CONTINUE_HERE: &str = ".continue-here.md";
/// The folder with a file for each open todo, written by GSD.
pub(crate) const PENDING_TODOS: &str = "todos/pending";
/// The folder of GSD's workstreams, and the file with the name of the active one.
pub(crate) const WORKSTREAMS: &str = "workstreams";
pub(crate) const ACTIVE_WORKSTREAM: &str = "active-workstream";
/// The folder of a milestone's phases.
pub(crate) const PHASES: &str = "phases";
/// The folder of finished milestones.
pub(crate) const MILESTONES: &str = "milestones";
/// The archive that VBW makes of a GSD folder when it takes it over.
pub(crate) const TAKEN_OVER: &str = "gsd-archive";

/// Suffix after the slug in the name of a separate folder for a finished milestone's phases.
pub(crate) const PHASES_OF: &str = "-phases";
/// Suffix after the slug in the name of a finished milestone's roadmap.
pub(crate) const ROADMAP_OF: &str = "-ROADMAP.md";

/// Returns whether a folder of this name contains finished milestones.
pub(crate) fn is_archive(folder: &str) -> bool {
    [MILESTONES, TAKEN_OVER, "archive"].contains(&folder)
}
