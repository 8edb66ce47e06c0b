//! `annals ledger check`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::{Error, Result};
use crate::ledger;
use crate::ledger::CheckReport;
use crate::project::Project;
use crate::text::quantity;

/// Check the three files against their rules
///
/// Exits with 1 if a rule is broken, or if a constraint or a decision of the last commit is gone or was
/// edited, for CI. `--fix` repairs what needs no judgement: comments at the head, missing sections, the
/// order of months, a rollup that is too short.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals ledger check --fix")]
pub(crate) struct CheckArgs {
    /// Repair what can be repaired without losing anything, then check
    #[arg(long)]
    fix: bool,
}

pub(crate) fn run(args: &CheckArgs, project: &Project, out: &mut Output) -> Result<()> {
    if args.fix {
        let fixed = ledger::fix(project)?;
        out.warnings(&fixed.warnings);
        if let Some(diff) = fixed.diff.as_ref().filter(|diff| !diff.is_empty()) {
            out.result(&fixed, |fixed, to| {
                write!(to, "{}", fixed.diff.as_deref().unwrap_or_default())
            })?;
            out.detail(&format!("{} bytes of diff", diff.len()));
            return Ok(());
        }
        for path in &fixed.changed {
            out.note(&format!("repaired {}", path.display()));
        }
    }
    let report = ledger::check(project)?;
    out.warnings(&report.warnings);
    let end = match report.findings.len() {
        0 => Ok(()),
        count => Err(Error::failed(quantity(count, "finding"))),
    };
    let is_fixable = report.findings.iter().any(|finding| finding.fixable);
    let end =
        if is_fixable { end.map_err(|error| error.hint("annals ledger check --fix")) } else { end };
    out.result_until(&report, show, end)
}

fn show(report: &CheckReport, to: &mut dyn Write) -> io::Result<()> {
    for finding in &report.findings {
        writeln!(to, "{}: {} ({})", finding.place, finding.message, finding.rule)?;
    }
    for entry in &report.kept {
        writeln!(to, "{}: note: {}", entry.place, entry.message)?;
    }
    writeln!(to, "Coverage: {}.", report.coverage.line())
}
