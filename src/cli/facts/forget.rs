//! `annals facts forget`

use std::io;
use std::io::Write;

use clap::Args;
use serde::Serialize;

use crate::cli::facts::{FactsContext, remaining_vectors};
use crate::error::{Error, Result};
use crate::facts::Forgotten;
use crate::text::quantity;
use crate::{report, share};

/// Erase a user's facts for good, all or those under one key
///
/// Erases facts, archive, history, indexes, vectors and the turns that mention them, and rewrites the file:
/// no byte remains. Records of reports that earlier versions kept in this project are erased as well. One
/// line records when, how many and why. This cannot be undone. Every Chroma server that vectors were sent to
/// is asked to erase them; if one does not, the exit code is 1 and `annals facts work` repeats the request.
/// If the database is shared, the facts are erased on the server at once, and on each other device at its
/// next sync.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals facts forget --user ada --key home.address --reason 'asked to'"
)]
pub(crate) struct ForgetArgs {
    /// Only the facts under this key
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Why; any forgotten text is removed from it
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(crate) fn run(args: &ForgetArgs, context: &mut FactsContext<'_>) -> Result<()> {
    if context.database.user.is_none() {
        // An irreversible command must name the user explicitly, rather than rely on a setting.
        return Err(
            Error::usage("forget needs --user").hint("annals facts forget --user ID --reason TEXT")
        );
    }
    let user = context.user()?;
    let mut store = context.write()?;
    // First, so that no records remain if the run is killed later: a report can be recreated at any time.
    let report_records = report::erase_records(context.project)?;
    let (forgotten, server_error) =
        share::forget(context.project, &mut store, &user, args.key.as_deref(), &args.reason)?;
    if let Some(why) = server_error {
        context
            .out
            .note(&format!("the other devices learn of it at the next `annals share sync`: {why}"));
    }
    let end = everywhere(&forgotten);
    let erased = Erased { forgotten, report_records };
    context.out.result_until(&erased, show, end)
}

/// The JSON document of `annals facts forget --json`.
#[derive(Serialize)]
struct Erased {
    #[serde(flatten)]
    forgotten: Forgotten,
    /// Number of records of reports that earlier versions kept in this project.
    report_records: usize,
}

/// Returns an error if forgotten facts remain on a server.
fn everywhere(forgotten: &Forgotten) -> Result<()> {
    let left: Vec<String> = forgotten.remaining.iter().map(remaining_vectors).collect();
    if left.is_empty() {
        return Ok(());
    }
    Err(Error::failed(format!(
        "forgotten in the database, but not yet everywhere: {}",
        left.join("; ")
    ))
    .hint(
        "`annals facts work` repeats the request until it is done; `annals facts check` lists what is left",
    ))
}

fn show(erased: &Erased, to: &mut dyn Write) -> io::Result<()> {
    let forgotten = &erased.forgotten;
    writeln!(
        to,
        "forgot {}, {}, {}",
        quantity(forgotten.facts, "fact"),
        quantity(forgotten.changes, "change"),
        quantity(forgotten.turns, "turn")
    )?;
    if erased.report_records > 0 {
        let records = quantity(erased.report_records, "record");
        writeln!(to, "removed {records} of reports, which may have contained them")?;
    }
    Ok(())
}
