//! Parses arguments, calls the library, prints the result.

#![expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]

mod checks;
mod completions;
mod entry;
mod facts;
mod help;
mod input;
mod journal;
mod ledger;
mod output;
mod progress;
mod render;
mod search;
mod setup;
mod share;
mod style;
mod tools;
mod usage;
mod warnings;
mod workflow;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::cli::output::{Output, OutputMode};
use crate::error::{At, Error, Result};
use crate::progress::Progress;
use crate::project::{Environment, OpenRequest, Project};

/// Implements `ValueEnum` for an enum, with its words as values; a method of the enum may describe them.
macro_rules! value_enum {
    ($name:ty $(, $help:ident)? $(; $aliases:ident)?) => {
        impl clap::ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                &Self::ALL
            }

            fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
                let value = clap::builder::PossibleValue::new(self.as_str());
                Some(value$(.help(self.$help()))?$(.aliases(self.$aliases()))?)
            }
        }
    };
}
pub(crate) use value_enum;

/// Project memory for coding agents, in plain files beside the code
#[derive(Debug, Parser)]
#[command(name = "annals", version, after_help = help::END, override_help = help::PAGE, max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

impl Arguments {
    /// Parses a command line.
    ///
    /// Only the commands whose names occur among the arguments are built at first: building all of them, each with
    /// the global options, takes a large part of the startup time. If that fails, all are built, so that help and
    /// usage errors are about all of them.
    fn parse_line(line: &[OsString]) -> Result<Self, clap::Error> {
        let all = Command::augment_subcommands(clap::Command::new("annals"));
        let named = all
            .get_subcommands()
            .filter(|command| line.iter().any(|word| word == command.get_name()))
            .cloned();
        let one = Global::augment_args(clap::Command::new("annals"))
            .subcommand_required(true)
            .subcommands(named);
        Self::parse_with(one, line).or_else(|_| Self::parse_with(Self::command(), line)).or_else(
            |error| match with_text_marked(line) {
                Some(marked) => Self::parse_with(Self::command(), &marked).map_err(|_| error),
                None => Err(error),
            },
        )
    }

    fn parse_with(command: clap::Command, line: &[OsString]) -> Result<Self, clap::Error> {
        let matches = command.try_get_matches_from(line)?;
        let mut parsed = Self::from_arg_matches(&matches)?;
        if let (Command::Notepad(args), Some((_, given))) =
            (&mut parsed.command, matches.subcommand())
        {
            args.keep_check(given);
        }
        Ok(parsed)
    }
}

/// Puts `--` before a text that looks like an option, such as `- a bullet`, and moves the options that follow the text in front
/// of both; returns `None` if there is no such text. A word counts as text if it begins with `-` and has a space before any
/// `=`, unless it is `-C DIR` in one argument.
fn with_text_marked(line: &[OsString]) -> Option<Vec<OsString>> {
    let is_text = |word: &OsString| {
        let word = word.to_string_lossy();
        let name = word.split('=').next().unwrap_or_default();
        name.starts_with('-') && name.contains(' ') && !name.starts_with("-C")
    };
    if line.iter().any(|word| word == "--") {
        return None;
    }
    let at = line.iter().position(is_text)?;
    let (before, rest) = line.split_at(at);
    let end =
        rest.iter().position(|word| word.to_string_lossy().starts_with('-') && !is_text(word));
    let (text, options) = rest.split_at(end.unwrap_or(rest.len()));
    // An option that switches off a check counts only where it stands before the text.
    if options.iter().any(|option| option == "--allow-secret") {
        return None;
    }
    Some([before, options, &["--".into()], text].concat())
}

/// Options that every command takes
#[derive(Args, Debug)]
#[command(next_help_heading = "Global options")]
struct Global {
    #[command(flatten)]
    place: OpenRequest,
    #[command(flatten)]
    mode: OutputMode,
}

/// Defines the commands: first those that work in a project, each with its function.
macro_rules! commands {
    ($($name:ident($arguments:ty) $run:path,)+; $($other:ident($other_arguments:ty),)+) => {
        // Deferred, so that only the command being run is built: building all takes a large part of the startup time.
        #[derive(Debug, Subcommand)]
        #[command(defer = true)]
        enum Command {
            $($name($arguments),)+
            $($other($other_arguments),)+
        }

        impl Command {
            fn run_in(&self, project: &Project, out: &mut Output) -> Result<()> {
                match self {
                    $(Self::$name(args) => $run(args, project, out),)+
                    $(Self::$other(_) => Ok(()),)+
                }
            }
        }
    };
}

commands! {
    Remember(entry::RememberArgs) entry::remember,
    Recall(search::RecallArgs) search::run,
    Forget(entry::ForgetArgs) entry::forget,
    Context(search::ContextArgs) search::context,
    Init(workflow::InitArgs) workflow::init,
    Plan(workflow::PlanArgs) workflow::plan,
    Execute(workflow::ExecuteArgs) workflow::execute,
    Ship(workflow::ShipArgs) workflow::ship,
    Sync(workflow::SyncArgs) workflow::sync,
    Status(workflow::StatusArgs) workflow::status,
    Setup(setup::SetupArgs) setup::run,
    Audit(checks::AuditArgs) checks::audit,
    Doctor(checks::DoctorArgs) checks::doctor,
    Undo(tools::UndoArgs) tools::undo,
    Report(tools::ReportArgs) tools::report,
    Entry(entry::EntryArgs) entry::run,
    Notepad(entry::NotepadArgs) entry::notepad,
    Ledger(ledger::LedgerArgs) ledger::run,
    Facts(facts::FactsArgs) facts::run,
    Patterns(workflow::PatternsArgs) workflow::patterns,
    Milestone(workflow::MilestoneArgs) workflow::milestone,
    Share(share::ShareArgs) share::run,
    Sessions(search::SessionsArgs) search::sessions,
    Pause(workflow::PauseArgs) workflow::pause,
    Resume(workflow::ResumeArgs) workflow::resume,
    Inspect(workflow::InspectArgs) workflow::inspect,
    Log(tools::LogArgs) tools::log,
    Config(tools::ConfigArgs) tools::config,
    MergeFile(tools::MergeFileArgs) tools::merge_file,;
    Journal(journal::JournalArgs),
    Demo(tools::DemoArgs),
    Hook(setup::HookArgs),
    Mcp(tools::McpArgs),
    Completions(completions::CompletionsArgs),
    Man(tools::ManArgs),
}

impl Command {
    fn run(&self, global: &Global, out: &mut Output) -> Result<()> {
        match self {
            Self::Completions(args) => return completions::completions(args, out),
            Self::Man(args) => return tools::man(args, out),
            Self::Journal(args) => return journal::run(args, global, out),
            Self::Demo(args) => return tools::demo(args, out),
            Self::Mcp(_) if global.place.dry_run || global.place.no_history => {
                let message = "the server takes neither --dry-run nor --no-history";
                return Err(Error::usage(message));
            }
            Self::Mcp(args) => {
                let directory = global.place.project.clone().map_or_else(working_directory, Ok);
                return tools::mcp(args, directory?);
            }
            _ => {}
        }
        let project = Project::open(global.request()?)?;
        out.is_here = global.place.project.is_none() && working_directory()? == project.root;
        out.root = Some(project.root.clone());
        out.warnings(&project.warnings);
        out.detail(&format!("project: {}", project.root.display()));
        let planning =
            project.planning().map_or("none".to_owned(), |place| place.dir.display().to_string());
        out.detail(&format!("planning folder: {planning}"));
        if !self.prints_as_stored() {
            out.redacts = true;
        }
        let done = self.run_in(&project, out);
        out.warnings(&project.named(Vec::new()));
        done
    }

    /// Returns whether the command prints stored text unchanged, as the entries' contract says of them and of the notepad;
    /// all others print it as an agent may read it.
    fn prints_as_stored(&self) -> bool {
        match self {
            Self::Sync(args) => args.stdout,
            Self::Entry(_)
            | Self::Remember(_)
            | Self::Notepad(_)
            | Self::Inspect(_)
            | Self::MergeFile(_)
            | Self::Log(_)
            | Self::Undo(_) => true,
            _ => false,
        }
    }
}

impl Global {
    fn request(&self) -> Result<OpenRequest> {
        Ok(OpenRequest {
            directory: working_directory()?,
            progress: if self.mode.quiet {
                Progress::default()
            } else {
                progress::progress_on_terminal()
            },
            environment: Environment::new(std::env::vars_os()),
            ..self.place.clone()
        })
    }

    /// Goes to the folder that -C names, so that every path is relative to it. If it cannot be entered, opening the project
    /// says why.
    fn enter_project(&mut self) {
        if let Some(project) = &mut self.place.project
            && std::env::set_current_dir(&*project).is_ok()
            && let Ok(directory) = working_directory()
        {
            *project = directory;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "an interface may read the working directory")]
fn working_directory() -> Result<PathBuf> {
    std::env::current_dir().at("find the working directory", Path::new("."))
}

/// Runs the command line and returns the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = journal::of_tool(arguments.into_iter().collect());
    if completions::answer_shell(&arguments) {
        return ExitCode::SUCCESS;
    }
    help::take_all(&mut arguments);
    let parsed = match Arguments::parse_line(&arguments) {
        Ok(mut parsed) => {
            parsed.global.enter_project();
            parsed
        }
        Err(error) => {
            return setup::ignore_usage_error(help::answer(&error, &arguments), &arguments);
        }
    };
    #[cfg(debug_assertions)]
    arm_fail_point();
    let mut out = Output::new(parsed.global.mode);
    if let Command::Hook(args) = &parsed.command {
        return setup::hook(args, &parsed.global, &mut out);
    }
    if let Err(error) = parsed.command.run(&parsed.global, &mut out) {
        out.failure(&error);
    }
    out.exit_code()
}

/// Arms the fail point, so that the process stops at the file operation chosen by a crash test.
#[cfg(debug_assertions)]
#[expect(
    clippy::disallowed_methods,
    reason = "an interface may read the environment; compiled only in debug builds"
)]
fn arm_fail_point() {
    let nth = std::env::var("ANNALS_FAIL_AFTER").ok().and_then(|nth| nth.parse().ok());
    if let Some(nth) = nth {
        crate::storage::fail_point::arm(nth);
    }
}
