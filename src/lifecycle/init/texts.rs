//! Defines the template contexts of a new planning folder.

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::lifecycle::carried::CarriedState;
use crate::lifecycle::init::InitDefaults;
use crate::lifecycle::init::InitRequest;
use crate::planning::Skill;
use crate::secrets;
use crate::text::one_line;
use crate::text::strip_controls;

/// The context of PROJECT.md.
#[derive(Serialize)]
pub(super) struct ProjectContext {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) core_value: Option<String>,
}

impl ProjectContext {
    /// Fills in the defaults; refuses texts that look like they contain a secret.
    pub(super) fn with_defaults(request: &InitRequest, defaults: InitDefaults) -> Result<Self> {
        let given =
            |text: &Option<String>| text.as_deref().map(plain).filter(|text| !text.is_empty());
        let line = |text: String| one_line(&text);
        let texts = Self {
            name: line(given(&request.name).unwrap_or(defaults.name)),
            description: given(&request.description).or(defaults.description),
            core_value: given(&request.core_value).map(line),
        };
        for (what, text) in [
            ("name", Some(&texts.name)),
            ("description", texts.description.as_ref()),
            ("core value", texts.core_value.as_ref()),
        ] {
            if let Some(rule) = text.and_then(|text| secrets::first_rule(text)) {
                let message = format!("the {what} contains what looks like a secret ({rule})");
                return Err(Error::refused(message)
                    .hint("agents read it in every session; leave the secret out"));
            }
        }
        Ok(texts)
    }
}

fn plain(text: &str) -> String {
    strip_controls(text).trim().to_owned()
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
