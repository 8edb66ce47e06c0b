//! Parses arguments, calls the library, prints the result.

mod audit;
mod completions;
mod config;
mod context;
mod cost;
mod demo;
mod doctor;
mod entry;
mod execute;
mod facts;
mod help;
mod hook;
mod init;
mod inspect;
mod journal;
mod ledger;
mod log;
mod man;
mod mcp;
mod merge_file;
mod milestone;
mod notepad;
mod output;
mod patterns;
mod pause;
mod plan;
mod print;
mod progress;
mod recall;
mod repeated_warnings;
mod report;
mod resume;
mod setup;
mod share;
mod ship;
mod status;
mod stdin;
mod suggestion;
mod sync;
mod undo;
mod usage;
mod value_enum;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstream::ColorChoice;
use clap::{Args, FromArgMatches, Parser, Subcommand};

use crate::cli::output::{Output, OutputMode};
use crate::error::{At, Result};
use crate::progress::Progress;
use crate::project::{Environment, OpenRequest, Project};

/// Project memory for coding agents
///
/// Keeps what a project has learned in plain files beside the code, and gives each new session the part
/// it needs. Works with or without a workflow's planning folder (`annals init --help` lists the supported workflows).
#[derive(Debug, Parser)]
#[command(name = "annals", version, after_help = AFTER_HELP, help_template = help::TEMPLATE, max_term_width = 100)]
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
    fn parse_line(line: &[OsString]) -> std::result::Result<Self, clap::Error> {
        let all = Command::augment_subcommands(clap::Command::new("annals"));
        let named = all
            .get_subcommands()
            .filter(|command| line.iter().any(|word| word == command.get_name()))
            .cloned();
        Global::augment_args(clap::Command::new("annals"))
            .subcommand_required(true)
            .subcommands(named)
            .try_get_matches_from(line)
            .and_then(|matches| Self::from_arg_matches(&matches))
            .or_else(|_| Self::try_parse_from(line))
    }
}

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 failed or a --check found something, 2 wrong usage, 3 not found, 4 refused by a rule

Example: annals status";

/// Heading of these options in the help of a command, below the command's own options.
const GLOBAL_OPTIONS: &str = "Global options";

/// Options that every command takes
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
struct Global {
    /// The project's folder [default: nearest parent folder with a planning folder or .git]
    #[arg(short = 'C', long, value_name = "DIR", global = true, help_heading = GLOBAL_OPTIONS)]
    project: Option<PathBuf>,
    /// Planning folder, if it has a non-standard name; relative to the project's folder
    #[arg(long, value_name = "DIR", global = true, help_heading = GLOBAL_OPTIONS)]
    planning_dir: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS)]
    json: bool,
    /// Print no warnings
    #[arg(short, long, global = true, help_heading = GLOBAL_OPTIONS)]
    quiet: bool,
    /// Print more detail
    #[arg(short, long, global = true, help_heading = GLOBAL_OPTIONS)]
    verbose: bool,
    /// When to use colour
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto", help_heading = GLOBAL_OPTIONS)]
    color: clap::ColorChoice,
    /// Show what would change (a unified diff, for text files), and change nothing
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS)]
    dry_run: bool,
    /// Do not record this change for `annals undo`
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS)]
    no_history: bool,
}

// Deferred, so that only the command being run is built: building all takes a large part of the startup time.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    Init(init::InitArgs),
    Plan(plan::PlanArgs),
    Execute(execute::ExecuteArgs),
    Ship(ship::ShipArgs),
    Sync(sync::SyncArgs),
    Status(status::StatusArgs),
    Context(context::ContextArgs),
    Inspect(inspect::InspectArgs),
    Patterns(patterns::PatternsArgs),
    Facts(facts::FactsArgs),
    Share(share::ShareArgs),
    Recall(recall::RecallArgs),
    Audit(audit::AuditArgs),
    Cost(cost::CostArgs),
    Doctor(doctor::DoctorArgs),
    Report(report::ReportArgs),
    Pause(pause::PauseArgs),
    Resume(resume::ResumeArgs),
    Milestone(milestone::MilestoneArgs),
    Ledger(ledger::LedgerArgs),
    MergeFile(merge_file::MergeFileArgs),
    Notepad(notepad::NotepadArgs),
    Entry(entry::EntryArgs),
    Log(log::LogArgs),
    Undo(undo::UndoArgs),
    Journal(journal::JournalArgs),
    Setup(setup::SetupArgs),
    Hook(hook::HookArgs),
    Demo(demo::DemoArgs),
    Config(config::ConfigArgs),
    Completions(completions::CompletionsArgs),
    Mcp(mcp::McpArgs),
    Man(man::ManArgs),
}

impl Command {
    fn run(&self, global: &Global, out: &mut Output) -> Result<()> {
        match self {
            Self::Completions(args) => completions::run(args, out),
            Self::Man(args) => man::run(args, out),
            Self::Journal(args) => journal::run(args, global, out),
            Self::Demo(args) => demo::run(args, global, out),
            Self::Mcp(args) => {
                mcp::run(args, Environment::new(std::env::vars_os()), global.directory()?)
            }
            _ => {
                let project = global.open()?;
                out.set_root(&project.root);
                out.warnings(&project.warnings);
                out.detail(&format!("project: {}", project.root.display()));
                out.detail(&format!("planning folder: {}", project.planning_place().dir.display()));
                if !self.prints_as_stored() {
                    out.redact();
                }
                let done = self.run_in(&project, out);
                out.warnings(&project.named(Vec::new()));
                done
            }
        }
    }

    /// Returns whether the command prints one stored file or record unchanged; all others redact secrets.
    fn prints_as_stored(&self) -> bool {
        match self {
            Self::Sync(args) => args.is_preview(),
            Self::Entry(_)
            | Self::Notepad(_)
            | Self::Facts(_)
            | Self::Inspect(_)
            | Self::MergeFile(_)
            | Self::Log(_)
            | Self::Undo(_) => true,
            _ => false,
        }
    }

    fn run_in(&self, project: &Project, out: &mut Output) -> Result<()> {
        match self {
            Self::Init(args) => init::run(args, project, out),
            Self::Plan(args) => plan::run(args, project, out),
            Self::Execute(args) => execute::run(args, project, out),
            Self::Ship(args) => ship::run(args, project, out),
            Self::Sync(args) => sync::run(args, project, out),
            Self::Context(args) => context::run(args, project, out),
            Self::Status(args) => status::run(args, project, out),
            Self::Inspect(args) => inspect::run(args, project, out),
            Self::Patterns(args) => patterns::run(args, project, out),
            Self::Facts(args) => facts::run(args, project, out),
            Self::Share(args) => share::run(args, project, out),
            Self::Recall(args) => recall::run(args, project, out),
            Self::Audit(args) => audit::run(args, project, out),
            Self::Cost(args) => cost::run(args, project, out),
            Self::Doctor(args) => doctor::run(args, project, out),
            Self::Report(args) => report::run(args, project, out),
            Self::Pause(args) => pause::run(args, project, out),
            Self::Milestone(args) => milestone::run(args, project, out),
            Self::Ledger(args) => ledger::run(args, project, out),
            Self::Notepad(args) => notepad::run(args, project, out),
            Self::Resume(args) => resume::run(args, project, out),
            Self::MergeFile(args) => merge_file::run(args, project, out),
            Self::Entry(args) => entry::run(args, project, out),
            Self::Log(args) => log::run(args, project, out),
            Self::Undo(args) => undo::run(args, project, out),
            Self::Setup(args) => setup::run(args, project, out),
            Self::Config(args) => config::run(args, project, out),
            // Commands that were run without a project.
            Self::Completions(_)
            | Self::Man(_)
            | Self::Journal(_)
            | Self::Demo(_)
            | Self::Hook(_)
            | Self::Mcp(_) => Ok(()),
        }
    }
}

impl Global {
    fn open(&self) -> Result<Project> {
        Project::open(self.request()?)
    }

    fn progress(&self) -> Progress {
        if self.quiet { Progress::default() } else { progress::on_terminal() }
    }

    fn request(&self) -> Result<OpenRequest> {
        let environment = Environment::new(std::env::vars_os());
        Ok(OpenRequest {
            directory: working_directory()?,
            project: self.project.clone(),
            planning_dir: self.planning_dir.clone(),
            dry_run: self.dry_run,
            no_history: self.no_history,
            progress: self.progress(),
            environment,
        })
    }

    /// Returns the directory that the run applies to, before a project is searched for.
    fn directory(&self) -> Result<PathBuf> {
        let directory = working_directory()?;
        Ok(self.project.as_ref().map_or(directory.clone(), |project| directory.join(project)))
    }

    fn mode(&self) -> OutputMode {
        OutputMode {
            json: self.json,
            quiet: self.quiet,
            verbose: self.verbose,
            color: match self.color {
                clap::ColorChoice::Auto => ColorChoice::Auto,
                clap::ColorChoice::Always => ColorChoice::Always,
                clap::ColorChoice::Never => ColorChoice::Never,
            },
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
    let parsed =
        setup::without_scope(&mut arguments).and_then(|()| Arguments::parse_line(&arguments));
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            return hook::ignore_usage_error(usage::answer(&error, &arguments), &arguments);
        }
    };
    #[cfg(debug_assertions)]
    arm_fail_point();
    let mut out = Output::new(parsed.global.mode());
    if let Command::Hook(args) = &parsed.command {
        return hook::run(args, &parsed.global, &mut out);
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
