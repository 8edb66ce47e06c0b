//! Provides the texts compiled into the binary; the first comment of each template lists its fields.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::secrets;
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

/// Renders a template, redacts secrets, and leaves nothing in it that a client would obey.
pub fn render(template: Template, context: &impl Serialize) -> Result<String> {
    let page = render_unredacted(template, context)?;
    Ok(inert(&secrets::redact(&page).text).into_owned())
}

/// Renders without redaction, for text that was already checked for secrets or may contain them.
pub(crate) fn render_unredacted(template: Template, context: &impl Serialize) -> Result<String> {
    rendered(template.name(), template.text(), context)
}

/// Renders the report page; all values are escaped.
pub(crate) fn page(context: &impl Serialize) -> Result<String> {
    rendered("page.html", include_str!("../../templates/report/page.html.j2"), context)
}

fn rendered(name: &str, text: &str, context: &impl Serialize) -> Result<String> {
    let result = engine().and_then(|mut engine| {
        engine.set_auto_escape_callback(|name| match name {
            "page.html" => AutoEscape::Html,
            _ => AutoEscape::None,
        });
        engine.add_filter("cell", cell);
        engine.render_named_str(name, text, Value::from(Serde(context)))
    });
    result.map_err(|error| Error::failed(error.to_string()).at(name.as_ref(), error.line()))
}

/// Returns an engine with the syntax of all templates, and no filters of our own.
pub(crate) fn engine() -> Result<Environment<'static>, minijinja::Error> {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    let mut engine = Environment::new();
    engine.set_syntax(syntax);
    // A field that is not there may be asked for, and not printed.
    engine.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    Ok(engine)
}

/// Returns a text escaped for a table cell.
#[expect(clippy::needless_pass_by_value, reason = "filters take owned values")]
fn cell(text: String) -> String {
    text.replace('|', "\\|").replace(['\r', '\n'], " ")
}

#[cfg(test)]
mod tests;
