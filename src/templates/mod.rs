//! Provides the texts compiled into the binary, and the project's override.
//!
//! The first comment of each template lists its fields. Only the context file's template can be overridden:
//! by the setting `template`, or by `templates/CLAUDE.md.j2` in the planning folder. An override comes with a
//! repository that may have been cloned from anywhere, so it runs with limited fuel and output, cannot read
//! other files, and may only use a subset of the language.

mod engine;
mod plain;

use std::fs;
use std::path::{Path, PathBuf};

use minijinja::Value;
use minijinja::value::Serde;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::project::{Origin, Project, confine};
use crate::secrets;
use crate::storage::read;
use crate::text::inert;

/// Defines the templates by their paths below `templates/`.
macro_rules! templates {
    ($($(#[$doc:meta])* $variant:ident = $path:literal,)+) => {
        /// A text compiled into the binary.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Template {
            $($(#[$doc])* $variant,)+
        }

        impl Template {
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$variant),+];

            /// Returns the template's path below `templates/`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $path,)+
                }
            }

            /// Returns the template as it is compiled into the binary.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => include_str!(concat!("../../templates/", $path)),)+
                }
            }
        }
    };
}

templates! {
    /// The generated block of the context files.
    ContextFile = "CLAUDE.md.j2",
    /// PROJECT.md of a new planning folder.
    InitProject = "init/PROJECT.md.j2",
    /// REQUIREMENTS.md of a new planning folder.
    InitRequirements = "init/REQUIREMENTS.md.j2",
    /// ROADMAP.md of a new planning folder.
    InitRoadmap = "init/ROADMAP.md.j2",
    /// STATE.md of a new planning folder.
    InitState = "init/STATE.md.j2",
    /// config.json of a new planning folder.
    InitConfig = "init/config.json",
    /// The head of a new PATTERNS.md.
    PatternsHeader = "patterns/header.md.j2",
    /// One entry of PATTERNS.md.
    PatternsEntry = "patterns/entry.md.j2",
    /// SHIPPED.md of an archived milestone.
    Shipped = "ship/SHIPPED.md.j2",
    /// The root STATE.md after a milestone has shipped.
    ShippedState = "ship/STATE.md.j2",
    /// The ledger's STATE.md.
    LedgerState = "ledger/STATE.md.j2",
    /// A new CONSTRAINTS.md of the ledger.
    LedgerConstraints = "ledger/CONSTRAINTS.md.j2",
    /// A new DECISIONS.md of the ledger.
    LedgerDecisions = "ledger/DECISIONS.md.j2",
    /// What the ledger logs and what not.
    LedgerThreshold = "ledger/threshold.txt",
    /// The procedure of a ledger update, for agents.
    LedgerSkill = "ledger/SKILL.md.j2",
    /// The JSON schema of a ledger update.
    LedgerSchema = "ledger/update.schema.json",
}

/// Renders a template, or the project's override of it, redacts secrets, and leaves nothing in it that a client would
/// obey.
pub fn render(project: &Project, template: Template, context: &impl Serialize) -> Result<String> {
    let page = render_unredacted(project, template, context)?;
    Ok(inert(&secrets::redact(&page).text).into_owned())
}

/// Renders without redaction, for text that was already checked for secrets or may contain them.
pub(crate) fn render_unredacted(
    project: &Project,
    template: Template,
    context: &impl Serialize,
) -> Result<String> {
    let context = Value::from(Serde(context));
    match override_file(project, template)? {
        None => engine::render(template.text(), context)
            .map_err(|error| Error::failed(error.message).at(template.name().as_ref(), error.line)),
        Some((path, text)) => {
            plain::check(&text).and_then(|()| engine::render(&text, context)).map_err(|error| {
                Error::failed(format!("this template cannot be used: {}", error.message))
                    .at(project.relative(&path), error.line)
                    .hint("compare it with the built-in template, or remove it to use that one")
            })
        }
    }
}

/// A filter of the report page, with its name.
pub(crate) type PageFilter = (&'static str, fn(&str) -> String);

/// Renders the report page; all values are escaped except those that the page marks as safe.
pub(crate) fn page(context: &impl Serialize, filters: &[PageFilter]) -> Result<String> {
    const NAME: &str = "report/page.html.j2";
    let text = include_str!("../../templates/report/page.html.j2");
    let context = Value::from(Serde(context));
    engine::render_page(text, context, filters)
        .map_err(|error| Error::failed(error.message).at(NAME.as_ref(), error.line))
}

/// Returns the path and the text of the file that overrides a template.
fn override_file(project: &Project, template: Template) -> Result<Option<(PathBuf, String)>> {
    if template != Template::ContextFile {
        return Ok(None);
    }
    let planning = &project.planning_place().dir;
    let (path, origin) = match &project.settings.template {
        Some(set) => (project.root.join(set), Some(project.settings.origin("template"))),
        None => (planning.join("templates").join(template.name()), None),
    };
    if matches!(origin, None | Some(Origin::Project { .. })) {
        let mut folders = project.settings.folders(&project.root);
        folders.push(planning);
        confine(&path, &folders)?;
        check_is_template(&path)?;
    }
    match (read::text(&path)?, origin) {
        (Some(text), _) => Ok(Some((path, text.value))),
        (None, None) => Ok(None),
        (None, Some(origin)) => Err(Error::not_found("no such template")
            .at(project.relative(&path), None)
            .hint(format!("the path comes from {origin}"))),
    }
}

/// Requires the extension `.j2`: annals.toml and links come with a clone, and rendered templates are
/// committed.
fn check_is_template(path: &Path) -> Result<()> {
    // A missing file is reported by the code that reads it.
    let Ok(real) = fs::canonicalize(path) else {
        return Ok(());
    };
    if real.extension().is_some_and(|extension| extension == "j2") {
        return Ok(());
    }
    Err(Error::refused("is not a template: its name must end in .j2")
        .at(path, None)
        .hint("rename it, or set it in your own settings"))
}

#[cfg(test)]
mod tests;
