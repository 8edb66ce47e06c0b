//! Defines the template contexts of a new planning folder.

use serde::Serialize;

use crate::lifecycle::carried::CarriedState;
use crate::plan::Skill;

/// The context of PROJECT.md.
#[derive(Serialize)]
pub(super) struct ProjectContext {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) core_value: Option<String>,
}

/// The context of REQUIREMENTS.md.
#[derive(Serialize)]
pub(super) struct RequirementsContext<'a> {
    pub(super) date: &'a str,
}

/// The context of ROADMAP.md.
#[derive(Serialize)]
pub(crate) struct RoadmapContext<'a> {
    pub(crate) name: &'a str,
}

/// The context of config.json.
#[derive(Serialize)]
pub(super) struct Empty {}

/// The context of STATE.md.
#[derive(Serialize)]
pub(crate) struct NewState<'a> {
    pub(crate) name: &'a str,
    pub(crate) milestone: &'a str,
    pub(crate) event: &'a str,
    pub(crate) date: &'a str,
    pub(crate) skills: &'a [Skill],
    #[serde(flatten)]
    pub(crate) carried: CarriedState,
}
