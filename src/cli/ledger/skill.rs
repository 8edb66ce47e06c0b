//! `annals ledger skill`

use crate::cli::output::Output;
use crate::error::Result;
use crate::ledger;
use crate::project::Project;

pub(crate) fn run(project: &Project, out: &mut Output) -> Result<()> {
    out.verbatim(ledger::skill(project)?.as_bytes())
}
