//! Renders the procedure of an update for an agent.

use serde::Serialize;

use crate::error::Result;
use crate::project::Project;
use crate::templates;
use crate::templates::Template;

#[derive(Serialize)]
struct Fields {
    threshold: &'static str,
}

/// Returns SKILL.md of the update procedure.
pub fn skill(project: &Project) -> Result<String> {
    let threshold = Template::LedgerThreshold.text().trim_end();
    templates::render(project, Template::LedgerSkill, &Fields { threshold })
}
