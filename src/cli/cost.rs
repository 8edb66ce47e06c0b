//! `annals cost`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::cli::value_enum::value_enum;
use crate::error::Result;
use crate::hooks::{Cost, Harness};
use crate::project::Project;
use crate::{hooks, mcp};

/// Count the tokens a session starts with: context files, hook answer, MCP tools
///
/// Bytes, lines and estimated tokens of each text. The hook and the tools are counted even if the harness
/// is not set up to call them. Nothing is changed.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals cost --harness codex")]
pub(crate) struct CostArgs {
    /// Harness whose session is measured
    #[arg(long, value_name = "NAME", default_value = "claude")]
    harness: Harness,
}

value_enum!(Harness);

pub(crate) fn run(args: &CostArgs, project: &Project, out: &mut Output) -> Result<()> {
    let cost = hooks::cost(project, args.harness, &mcp::advertised(&[])?);
    if !out.is_json() {
        out.warnings(&cost.warnings);
    }
    out.result(&cost, show)
}

fn show(cost: &Cost, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "{:>8} {:>6} {:>7}", "bytes", "lines", "tokens")?;
    for part in &cost.parts {
        let (size, kind) = (part.size, part.kind.as_str());
        writeln!(
            to,
            "{:>8} {:>6} {:>7}  {kind:<6} {}",
            size.bytes, size.lines, size.tokens, part.source
        )?;
    }
    let (total, harness) = (cost.total, cost.harness.as_str());
    writeln!(
        to,
        "{:>8} {:>6} {:>7}  total at the start of a {harness} session",
        total.bytes, total.lines, total.tokens
    )
}
