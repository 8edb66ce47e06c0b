//! `annals mcp`

use clap::{Args, ValueEnum};

use crate::error::Result;
use crate::mcp;
use crate::mcp::ToolSet;
use crate::project::Environment;

const AFTER_HELP: &str = "\
Example: annals mcp --tools plan,ledger

`annals setup` writes the server into a harness's settings.";

/// Serve the project's memory to agents as MCP tools on stdin and stdout
///
/// Nine tools by default; --tools adds more. Ends when the client disconnects.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct McpArgs {
    /// Sets of tools to add to the default ones
    #[arg(long, value_name = "SET", value_delimiter = ',')]
    tools: Vec<More>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum More {
    Plan,
    Ledger,
    Facts,
    All,
}

pub(crate) fn run(
    args: &McpArgs,
    environment: Environment,
    directory: std::path::PathBuf,
) -> Result<()> {
    let mut sets = Vec::new();
    for more in &args.tools {
        match more {
            More::Plan => sets.push(ToolSet::Plan),
            More::Ledger => sets.push(ToolSet::Ledger),
            More::Facts => sets.push(ToolSet::Facts),
            More::All => sets.extend(ToolSet::OPTIONAL),
        }
    }
    mcp::serve(environment, directory, &sets)
}
