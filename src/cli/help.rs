//! Prints the help of `annals` itself, and answers a command line that was not understood.
//!
//! The parser does not know the descriptions of the subcommands: most runs need one command, and building all of them
//! takes a large part of the startup time. So the page is a text of its own.

use std::ffi::OsString;
use std::process::ExitCode;

use anstyle::Style;
use clap::ColorChoice;
use clap::error::ErrorKind;

use crate::cli::output::{Output, OutputMode};
use crate::cli::usage::usage_error;

/// The help of `annals` itself: the common commands in groups, on one screen. A test compares the descriptions.
pub(crate) const PAGE: &str = include_str!("../../templates/text/help.txt");

/// The same with all commands and options.
const WHOLE_PAGE: &str = include_str!("../../templates/text/help-all.txt");

/// The end of the manual page of `annals` itself.
pub(crate) const END: &str = "\
Exit codes: 0 done, 1 failed or a --check found something, 2 wrong usage, 3 not found, 4 refused
Example: annals remember run the tests with pytest -q";

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
        _ => out.failure(&usage_error(error, arguments)),
    }
    out.exit_code()
}

/// Returns a page with its headings in bold.
fn styled(page: &str) -> String {
    let bold = Style::new().bold();
    page.lines()
        .map(|line| match !line.starts_with(' ') && line.ends_with(':') {
            true => format!("{bold}{line}{bold:#}\n"),
            false => format!("{line}\n"),
        })
        .collect()
}

/// Determines the output mode from a command line that cannot be parsed.
fn output_mode(arguments: &[OsString]) -> OutputMode {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let options = words.split(|word| *word == "--").next().unwrap_or_default();
    let color = [ColorChoice::Never, ColorChoice::Always].into_iter().find(|color| {
        let when = color.to_string();
        options.contains(&format!("--color={when}").as_str())
            || options.windows(2).any(|pair| pair == ["--color", &when])
    });
    let json = options.contains(&"--json");
    OutputMode { json, color: color.unwrap_or_default(), ..OutputMode::default() }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::*;
    use crate::cli::Arguments;

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
