//! Prints the help of `annals` itself, usage errors with the command that was meant, and completions.
//!
//! The parser does not know the descriptions of the subcommands: most runs need one command, and building all of them
//! takes a large part of the startup time. So the page is a text of its own.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anstream::ColorChoice;
use anstyle::Style;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};

use crate::cli::output::{Output, OutputMode};
use crate::cli::{Arguments, working_directory};
use crate::error::{At, Error, Result};
use crate::knowledge;
use crate::knowledge::EntryFilter;
use crate::plan::{Phase, Survey};
use crate::project::{Environment, OpenRequest, Project};

/// The help of `annals` itself: the common commands in groups, on one screen. A test compares the descriptions.
pub(crate) const PAGE: &str = include_str!("../../templates/text/help.txt");

/// The same with all commands and options.
const WHOLE_PAGE: &str = include_str!("../../templates/text/help-all.txt");

/// The end of the manual page of `annals` itself.
pub(crate) const END: &str = "\
Exit codes: 0 done, 1 failed or a --check found something, 2 wrong usage, 3 not found, 4 refused
Example: annals remember run the tests with pytest -q";

/// Words that users try instead of a command, after the command line that does it: first those of `annals` itself,
/// then those of a group, whose commands have more words.
const MEANT: &str = include_str!("../../templates/text/meant.txt");

/// Adds `--help` to a command line that asks for the help of all commands: `--help --all`, `help --all`.
pub(crate) fn take_all(arguments: &mut Vec<OsString>) {
    let known = ["--all", "--help", "-h", "help", "--json"];
    let words = arguments.get(1..).unwrap_or_default();
    let is_help = words.iter().all(|word| known.iter().any(|known| word == known));
    if is_help && words.iter().any(|word| word == "--all") {
        let json = words.iter().any(|word| word == "--json").then_some("--json");
        arguments.truncate(1);
        arguments.extend(json.into_iter().chain(["--help", "--all"]).map(OsString::from));
    }
}

/// Prints the help or the error, in the format requested by the rest of the command line.
pub(crate) fn answer(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let mode = output_mode(arguments);
    let mut out = Output::new(mode);
    let page = || match error.render().ansi().to_string() {
        page if page.trim_end() != PAGE.trim_end() => page,
        _ if arguments.iter().any(|word| word == "--all") => styled(WHOLE_PAGE),
        _ => styled(PAGE),
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            if let Err(error) = out.help(&page()) {
                out.failure(&error);
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !mode.json => out.explain(&page()),
        _ => out.failure(&usage_error(error, &command(arguments))),
    }
    out.exit_code()
}

/// Returns a page with its headings in bold.
fn styled(page: &str) -> String {
    let bold = Style::new().bold();
    let is_heading = |line: &str| !line.starts_with(' ') && line.ends_with(':');
    let line = |line| {
        if is_heading(line) { format!("{bold}{line}{bold:#}\n") } else { format!("{line}\n") }
    };
    page.lines().map(line).collect()
}

/// Determines the output mode from a command line that cannot be parsed.
fn output_mode(arguments: &[OsString]) -> OutputMode {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let options = words.split(|word| *word == "--").next().unwrap_or_default();
    let has_color = |when: &str| {
        options.contains(&format!("--color={when}").as_str())
            || options.windows(2).any(|pair| pair == ["--color", when])
    };
    let color = match () {
        () if has_color("never") => ColorChoice::Never,
        () if has_color("always") => ColorChoice::Always,
        () => ColorChoice::Auto,
    };
    OutputMode { json: options.contains(&"--json"), quiet: false, verbose: false, color }
}

/// Condenses clap's message into one line and a hint: its first paragraph, and its tips or the command that was meant.
fn usage_error(error: &clap::Error, command: &str) -> Error {
    let rendered = error.render().to_string();
    let lines = rendered.lines().map(str::trim);
    let message: Vec<&str> = lines.clone().take_while(|line| !line.is_empty()).collect();
    let message = message.join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let tips: Vec<&str> = lines.filter_map(|line| line.strip_prefix("tip: ")).collect();
    let group = command.strip_suffix(" help").unwrap_or(command);
    let name = group.split_once(' ').map_or("", |(_, name)| name);
    let hint = match meant(error, name) {
        Some(meant) => format!("did you mean `annals {meant}`?"),
        None if error.kind() == ErrorKind::InvalidSubcommand || group != command => {
            format!("`{group} --help` lists the commands")
        }
        None if !tips.is_empty() => tips.join("; "),
        None => format!("`{command} --help` has an example"),
    };
    Error::usage(message).hint(hint)
}

/// Returns the command line, without `annals`, that a wrong word in the place of a group's command means.
fn meant(error: &clap::Error, group: &str) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let word = match error.kind() {
        ErrorKind::InvalidSubcommand => text(ContextKind::InvalidSubcommand)?,
        // The positional action of a group.
        ErrorKind::InvalidValue => {
            let place = text(ContextKind::InvalidArg)?;
            ["[ACTION]", "[SECTION]", "<TARGET>"].contains(&place).then_some(())?;
            text(ContextKind::InvalidValue)?
        }
        _ => return None,
    };
    let word = word.to_lowercase();
    let closest = match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(suggested)) => suggested.last().map(String::as_str),
        _ => text(ContextKind::SuggestedValue),
    };
    let closest = closest.filter(|name| is_close(name, &word));
    by_meaning(group, &|known| known == word)
        .map(str::to_owned)
        .or_else(|| Some(format!("{group} {}", closest?).trim_start().to_owned()))
        .or_else(|| {
            let is_it = |known: &str| known.len() > 3 && is_close(known, &word);
            by_meaning(group, &is_it).map(str::to_owned)
        })
}

/// Returns whether a word may be a misspelt one.
fn is_close(known: &str, word: &str) -> bool {
    strsim::damerau_levenshtein(known, word) <= 1 + known.len() / 4
}

/// Returns the command line, without `annals`, that does what an unknown word of a group says.
fn by_meaning(group: &str, is_it: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    let row = MEANT.lines().filter_map(|row| row.split_once(": ")).find(|(_, words)| {
        let mut words = words.split(' ');
        if !group.is_empty() && words.next() != Some(group) {
            return false;
        }
        words.any(is_it)
    });
    row.map(|(meant, _)| meant)
}

/// Returns the command that the arguments name: `annals sync`.
fn command(arguments: &[OsString]) -> String {
    let mut known = Arguments::command();
    known.build();
    let mut name = known.get_name().to_owned();
    for argument in arguments.iter().skip(1) {
        if let Some(below) = known.find_subcommand(argument) {
            name.push_str(&format!(" {}", below.get_name()));
            known = below.clone();
        }
    }
    name
}

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
    let shell = shells.completer(&name);
    let shell = shell.ok_or_else(|| Error::failed(format!("no completions for {name}")))?;
    let mut script = Vec::new();
    shell
        .write_registration(VARIABLE, "annals", "annals", "annals", &mut script)
        .at("write the script", Path::new("-"))?;
    out.verbatim(&script)
}

/// Answers a shell that asks for candidates; returns whether one did.
pub(crate) fn answer_shell(arguments: &[OsString]) -> bool {
    let asked = CompleteEnv::with_factory(Arguments::command).var(VARIABLE);
    let directory = working_directory().ok();
    // A shell shows no message: without an answer, nothing is offered.
    asked.try_complete(arguments.to_vec(), directory.as_deref()).unwrap_or(true)
}

/// Offers the phases of the planning folder.
pub(crate) fn phases() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let survey = project().and_then(|project| Survey::read(&project).ok());
        let phases = survey.map(|survey| survey.position.phases).unwrap_or_default();
        let candidate = |phase: Phase| {
            let name = phase.name.map(Into::into);
            CompletionCandidate::new(phase.number.to_string()).help(name)
        };
        phases.into_iter().map(candidate).collect()
    })
}

/// Offers the keys of the active entries.
pub(crate) fn keys() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let listed = project()
            .and_then(|project| knowledge::list(&project, &EntryFilter::default()).ok())
            .map(|found| found.value.entries);
        let entries = listed.unwrap_or_default().into_iter();
        let candidate =
            |key: String, title: String| CompletionCandidate::new(key).help(Some(title.into()));
        entries.map(|entry| candidate(entry.key, entry.title)).collect()
    })
}

fn project() -> Option<Project> {
    let directory = working_directory().ok()?;
    let environment = Environment::new(std::env::vars_os());
    Project::open(OpenRequest { directory, environment, ..OpenRequest::default() }).ok()
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    fn annals() -> Command {
        let mut annals = Arguments::command();
        annals.build();
        annals
    }

    #[test]
    fn the_help_lists_every_command_once_with_its_description() {
        let annals = annals();
        let commands = annals.get_subcommands().filter(|one| one.get_name() != "help");
        let mut known: Vec<String> = commands
            .map(|one| format!("{:12} {}", one.get_name(), one.get_about().unwrap_or_default()))
            .collect();
        known.push("help         Describe a command: `annals help sync`".to_owned());
        known.sort();
        let lines = |page: &'static str| {
            let lines = page.lines().filter_map(|line| line.strip_prefix("  "));
            lines.filter(|line| !line.starts_with([' ', '-']))
        };
        let mut listed: Vec<&str> = lines(WHOLE_PAGE).collect();
        listed.sort_unstable();
        assert_eq!(listed, known);
        let (_, more) = PAGE.split_once("\nMore: ").unwrap();
        let more = more.lines().next().unwrap().split(", ");
        let short: Vec<&str> =
            lines(PAGE).map(|line| line.split(' ').next().unwrap()).chain(more).collect();
        let whole: Vec<&str> =
            lines(WHOLE_PAGE).map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(short, whole);
        assert!(lines(PAGE).all(|line| WHOLE_PAGE.contains(line)));
        assert!(PAGE.lines().count() <= 40, "the help fits on a screen of 40 lines");
        for option in annals.get_arguments().filter(|one| !one.is_hide_set()) {
            let help = option.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(WHOLE_PAGE.contains(&help), "--help --all lacks: {help}");
        }
    }

    #[test]
    fn there_are_at_most_sixty_commands() {
        fn leaves(command: &Command) -> usize {
            let below = command.get_subcommands().filter(|one| one.get_name() != "help");
            below.map(leaves).sum::<usize>().max(1)
        }
        assert!(leaves(&annals()) <= 60, "{}", leaves(&annals()));
    }

    #[test]
    fn the_command_that_was_meant_is_named() {
        let of = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            command(&words)
        };
        assert_eq!(of("annals"), "annals");
        assert_eq!(of("annals -q log --limit x"), "annals log");
        assert_eq!(of("annals facts add --x"), "annals facts add");
    }

    #[test]
    fn every_suggestion_can_be_typed() {
        let annals = annals();
        for (meant, words) in MEANT.lines().filter_map(|row| row.split_once(": ")) {
            let mut at = &annals;
            for name in meant.split(' ').take_while(|name| !name.starts_with("--")) {
                let Some(below) = at.find_subcommand(name) else {
                    assert!(!at.has_subcommands(), "no command {meant}");
                    break;
                };
                at = below;
            }
            assert!(!words.split(' ').any(str::is_empty), "{meant}");
        }
        assert_eq!(by_meaning("", &|known| known == "phase"), Some("plan"));
        assert_eq!(by_meaning("facts", &|known| known == "show"), Some("facts list"));
    }

    #[test]
    fn options_behind_two_dashes_are_none() {
        let of = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let mode = output_mode(&words);
            (mode.json, mode.color)
        };
        assert_eq!(of("annals x --json"), (true, ColorChoice::Auto));
        assert_eq!(of("annals x -- --json"), (false, ColorChoice::Auto));
        assert_eq!(of("annals --color never"), (false, ColorChoice::Never));
        assert_eq!(of("annals --color=always"), (false, ColorChoice::Always));
    }
}
