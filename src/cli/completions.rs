//! `annals completions`, and the values that a shell offers for arguments

use std::ffi::OsString;
use std::path::Path;

use clap::{Args, CommandFactory};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};

use crate::cli::output::Output;
use crate::cli::{Arguments, working_directory};
use crate::error::{At, Error, Result};
use crate::knowledge;
use crate::knowledge::EntryFilter;
use crate::plan::Survey;
use crate::project::{Environment, OpenRequest, Project};
use crate::text::shell_word;

/// The variable by which a shell asks for candidates.
const VARIABLE: &str = "ANNALS_COMPLETE";

/// Print a shell's completion script, which knows phases and keys
///
/// Example: annals completions bash > ~/.local/share/bash-completion/completions/annals
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn completions(args: &CompletionsArgs, out: &mut Output) -> Result<()> {
    let (shells, name) = (Shells::builtins(), args.shell.to_string());
    let shell = shells
        .completer(&name)
        .ok_or_else(|| Error::failed(format!("no completions for {name}")))?;
    let mut script = Vec::new();
    shell
        .write_registration(VARIABLE, "annals", "annals", "annals", &mut script)
        .at("write the script", Path::new("-"))?;
    out.verbatim(&script)
}

/// Answers a shell that asks for candidates; returns whether one did.
pub(crate) fn answer_shell(arguments: &[OsString]) -> bool {
    let asked = CompleteEnv::with_factory(Arguments::command).var(VARIABLE);
    // A shell shows no message: without an answer, nothing is offered.
    asked.try_complete(arguments.to_vec(), working_directory().ok().as_deref()).unwrap_or(true)
}

/// Offers the phases of the planning folder.
pub(crate) fn phases() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let survey = project().and_then(|project| Survey::read(&project).ok());
        survey
            .map(|survey| survey.position.phases)
            .unwrap_or_default()
            .into_iter()
            .map(|phase| {
                let name = phase.name.map(Into::into);
                CompletionCandidate::new(phase.number.to_string()).help(name)
            })
            .collect()
    })
}

/// Offers the keys of the active entries.
pub(crate) fn keys() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let listed = project()
            .and_then(|project| knowledge::list(&project, &EntryFilter::default()).ok())
            .map(|found| found.value.entries);
        // bash inserts them as they are.
        listed
            .unwrap_or_default()
            .into_iter()
            .filter(|entry| shell_word(&entry.key) == entry.key)
            .map(|entry| CompletionCandidate::new(entry.key).help(Some(entry.title.into())))
            .collect()
    })
}

fn project() -> Option<Project> {
    let directory = working_directory().ok()?;
    let environment = Environment::new(std::env::vars_os());
    Project::open(OpenRequest { directory, environment, ..OpenRequest::default() }).ok()
}
