//! Measures the cost of a session's start: all texts that a harness reads before the first prompt.

mod files;
mod imports;

use serde::Serialize;

use crate::context;
use crate::error::Error;
use crate::hooks::start::Start;
use crate::hooks::{Harness, start};
use crate::project::Project;
use crate::text::{estimate_tokens, word_enum};
use crate::warning::Warning;

/// The length of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Number of bytes.
    pub bytes: usize,
    /// Number of lines.
    pub lines: usize,
    /// Approximate number of tokens.
    pub tokens: usize,
}

impl Size {
    fn measure(text: &str) -> Self {
        Self { bytes: text.len(), lines: text.lines().count(), tokens: estimate_tokens(text) }
    }
}

word_enum! {
    /// The kind of a text.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum CostKind {
        /// A context file.
        File = "file",
        /// A file that a context file imports.
        Import = "import",
        /// The answer of `annals hook`.
        Hook = "hook",
        /// The tool descriptions of `annals mcp`.
        Tools = "tools",
    }
}

/// A text that a session starts with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CostPart {
    /// The kind of the text.
    pub kind: CostKind,
    /// The file, relative to the project if inside it, or the command that prints the text.
    pub source: String,
    /// The length of the text.
    #[serde(flatten)]
    pub size: Size,
}

impl CostPart {
    fn measure(kind: CostKind, source: String, text: &str) -> Self {
        Self { kind, source, size: Size::measure(text) }
    }
}

/// The cost of a session's start. It is the document of `annals cost --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// The harness.
    pub harness: Harness,
    /// The texts, in the order in which they are read.
    pub parts: Vec<CostPart>,
    /// The total length.
    pub total: Size,
    /// Files that could not be read.
    pub warnings: Vec<Warning>,
}

/// Measures what a session of a harness starts with; `tools` is the MCP server's description of its tools.
///
/// The hook and the tools are counted even if the harness is not set up to call them.
pub fn cost(project: &Project, harness: Harness, tools: &str) -> Cost {
    let project = &project.dry_run(true);
    let mut warnings = Vec::new();
    let mut parts = files::parts(project, harness, &mut warnings);
    parts.extend(hook(project, harness, &mut warnings));
    parts.push(CostPart::measure(CostKind::Tools, "annals mcp".to_owned(), tools));
    let total = parts.iter().fold(Size::default(), |sum, part| Size {
        bytes: sum.bytes + part.size.bytes,
        lines: sum.lines + part.size.lines,
        tokens: sum.tokens + part.size.tokens,
    });
    Cost { harness, parts, total, warnings: project.named(warnings) }
}

/// Measures the answer of the hook; returns `None` if it is empty.
fn hook(project: &Project, harness: Harness, warnings: &mut Vec<Warning>) -> Option<CostPart> {
    if !context::has_memory(project) {
        return None;
    }
    let start = Start { is_compacted: false, notepad: project.settings.notepad };
    let mut problems: Vec<Error> = Vec::new();
    let text = start::text(project, harness, start, &mut problems);
    let text = text.unwrap_or_else(|error| {
        problems.push(error);
        None
    });
    warnings.extend(problems.into_iter().map(|problem| {
        let message = format!("part of the hook's answer is missing: {problem}");
        Warning::file(&project.root, message)
    }));
    let source = "annals hook session-start".to_owned();
    text.map(|text| CostPart::measure(CostKind::Hook, source, &text))
}
