//! Renders the files of a new milestone.

use serde_json::json;

use crate::error::Result;
use crate::lifecycle::carried::CarriedState;
use crate::plan::Skill;
use crate::project::Project;
use crate::templates;
use crate::templates::Template;

/// Returns the STATE.md of a milestone in which nothing is planned yet.
pub(crate) fn state(
    project: &Project,
    (name, milestone, event): (&str, &str, &str),
    skills: &[Skill],
    carried: &CarriedState,
) -> Result<String> {
    let mut context = json!(carried);
    context["name"] = json!(name);
    context["milestone"] = json!(milestone);
    context["event"] = json!(event);
    context["date"] = json!(project.clock.today().to_string());
    context["skills"] = json!(skills);
    templates::render(Template::InitState, &context)
}

/// Returns the ROADMAP.md of a milestone in which nothing is planned yet.
pub(crate) fn roadmap(name: &str) -> Result<String> {
    templates::render(Template::InitRoadmap, &json!({ "name": name }))
}
