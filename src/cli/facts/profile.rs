//! `annals facts profile`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::FactsContext;
use crate::error::{Error, Result};
use crate::facts;
use crate::facts::{BuiltProfile, Field, Slot};

/// Show the current facts about a user, by category, with confidence and times
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts profile --user ada --json")]
pub(crate) struct ProfileArgs {
    /// Include facts that belong to this project
    #[arg(long, value_name = "NAME")]
    of_project: Option<String>,
    /// Show the profile that the worker last built, instead of the current facts
    #[arg(long, conflicts_with = "of_project")]
    stored: bool,
}

pub(crate) fn run(args: &ProfileArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let store = context.read()?;
    let built = if args.stored {
        facts::stored_profile(&store, &user)?.ok_or_else(|| {
            Error::not_found(format!("no profile of {user} has been built yet"))
                .hint("`annals facts work` builds it; `annals facts profile` without --stored shows the current facts")
        })?
    } else {
        facts::profile(&store, &user, args.of_project.as_deref())?
    };
    context.out.result(&built, show)
}

fn show(built: &BuiltProfile, to: &mut dyn Write) -> io::Result<()> {
    let profile = &built.profile;
    writeln!(to, "{}, {}", built.user_id, built.built_at)?;
    for (title, fields) in [
        ("Identity", &profile.identity),
        ("Hard preferences", &profile.hard_preferences),
        ("Soft preferences", &profile.soft_preferences),
    ] {
        let all = fields.values().flat_map(|slot| match slot {
            Slot::One(field) => std::slice::from_ref(field),
            Slot::Several(several) => several,
        });
        section(title, all, to)?;
    }
    for (title, fields) in [
        ("Current tasks", &profile.current_tasks),
        ("Sensitive topics", &profile.sensitive_topics),
        ("Recent changes", &profile.recent_changes),
    ] {
        section(title, fields.iter(), to)?;
    }
    Ok(())
}

fn section<'a>(
    title: &str,
    fields: impl Iterator<Item = &'a Field>,
    to: &mut dyn Write,
) -> io::Result<()> {
    let mut fields = fields.peekable();
    if fields.peek().is_none() {
        return Ok(());
    }
    writeln!(to, "\n{title}:")?;
    for field in fields {
        writeln!(to, "  {:.2}  {field}", field.confidence)?;
    }
    Ok(())
}
