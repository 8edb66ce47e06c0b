//! `annals report`

use std::path::PathBuf;

use clap::Args;

use crate::cli::output::Output;
use crate::context::DigestRequest;
use crate::error::Result;
use crate::project::Project;
use crate::report::{ReportFile, SessionCost};
use crate::{context, report};

/// Create one page for people from what the project remembers
///
/// One HTML file without scripts, fonts or network: where the work stands, phases over time, deviations
/// and durations, what the history shows, decisions, knowledge entries and their links, facts that wait
/// for confirmation (if a user is set), and what the start of a session costs.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals report --out report.html")]
pub(crate) struct ReportArgs {
    /// Write it to this file of the project, new or an earlier report [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &ReportArgs, project: &Project, out: &mut Output) -> Result<()> {
    let digest = context::digest(project, &DigestRequest::default())?;
    let costs = [SessionCost {
        what: format!("annals context, {} at most", context::BUDGET),
        tokens: digest.tokens,
    }];
    if let Some(file) = &args.out {
        let written = report::write_report(project, &costs, file)?;
        out.warnings(&written.warnings);
        return out.result(&written, |written, to| match (&written.diff, &written.file) {
            (Some(diff), _) => write!(to, "{diff}"),
            (None, Some(file)) => writeln!(to, "Wrote {}.", file.display()),
            (None, None) => Ok(()),
        });
    }
    let page = report::report(project, &costs)?;
    out.warnings(&page.warnings);
    let document = ReportFile {
        html: Some(page.value.clone()),
        warnings: page.warnings,
        ..ReportFile::default()
    };
    out.file(&document, page.value.as_bytes())
}
