//! What a session's start costs: every text that a harness reads before the first word is said.

mod files;
mod imports;

use serde::Serialize;

use crate::context;
use crate::error::Error;
use crate::hooks::Harness;
use crate::hooks::start;
use crate::hooks::start::Start;
use crate::project::Project;
use crate::text::tokens;
use crate::text::word_enum;
use crate::warning::Warning;

/// How long a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Its bytes.
    pub bytes: usize,
    /// Its lines.
    pub lines: usize,
    /// About how many tokens it has.
    pub tokens: usize,
}

impl Size {
    fn measure(text: &str) -> Self {
        Self {
            bytes: text.len(),
            lines: text.lines().count(),
            tokens: tokens(text),
        }
    }
}

word_enum! {
    /// What kind of text it is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum CostKind {
        /// A context file.
        File = "file",
        /// A file that a context file imports.
        Import = "import",
        /// What `annals hook` answers.
        Hook = "hook",
        /// What `annals mcp` tells of its tools.
        Tools = "tools",
    }
}

/// One text that a session starts with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CostPart {
    /// What kind of text it is.
    pub kind: CostKind,
    /// The file, relative to the project where it lies inside, or the command that prints it.
    pub source: String,
    /// How long it is.
    #[serde(flatten)]
    pub size: Size,
}

impl CostPart {
    fn measure(kind: CostKind, source: String, text: &str) -> Self {
        Self {
            kind,
            source,
            size: Size::measure(text),
        }
    }
}

/// What a session's start costs. It is the document of `annals cost --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// The harness.
    pub harness: Harness,
    /// Its texts, in the order in which they are read.
    pub parts: Vec<CostPart>,
    /// All of them together.
    pub total: Size,
    /// What could not be read.
    pub warnings: Vec<Warning>,
}

/// Measures what a session of a harness starts with; `tools` is what the MCP server tells of itself.
///
/// The hook and the tools are counted whether or not the harness is set up to call them.
pub fn cost(project: &Project, harness: Harness, tools: &str) -> Cost {
    let project = &project.dry_run(true);
    let mut warnings = Vec::new();
    let mut parts = files::parts(project, harness, &mut warnings);
    parts.extend(hook(project, harness, &mut warnings));
    parts.push(CostPart::measure(
        CostKind::Tools,
        "annals mcp".to_owned(),
        tools,
    ));
    let total = parts.iter().fold(Size::default(), |sum, part| Size {
        bytes: sum.bytes + part.size.bytes,
        lines: sum.lines + part.size.lines,
        tokens: sum.tokens + part.size.tokens,
    });
    Cost {
        harness,
        parts,
        total,
        warnings: project.named(warnings),
    }
}

/// Measures what the hook answers; returns `None` if it would say nothing.
fn hook(project: &Project, harness: Harness, warnings: &mut Vec<Warning>) -> Option<CostPart> {
    if !context::has_memory(project) {
        return None;
    }
    let start = Start {
        is_compacted: false,
        notepad: project.settings.notepad,
    };
    let mut problems: Vec<Error> = Vec::new();
    let text = start::text(project, harness, start, &mut problems);
    let text = text.unwrap_or_else(|error| {
        problems.push(error);
        None
    });
    warnings.extend(problems.into_iter().map(|problem| {
        let message = format!("the hook leaves something out: {problem}");
        Warning::file(&project.root, message)
    }));
    let source = "annals hook session-start".to_owned();
    text.map(|text| CostPart::measure(CostKind::Hook, source, &text))
}
