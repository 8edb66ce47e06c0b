//! Prints help and usage errors.

use std::ffi::OsString;
use std::process::ExitCode;

use anstream::ColorChoice;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::output::{Output, OutputMode};
use crate::cli::{Arguments, help, suggestion};
use crate::error::Error;

/// Prints the help or the error, in the format requested by the rest of the command line.
pub(crate) fn answer(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let mode = output_mode(arguments);
    let mut out = Output::new(mode);
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let text = help::with_commands(error.render().ansi().to_string());
            if let Err(error) = out.help(&text) {
                out.failure(&error);
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !mode.json => {
            out.explain(&help::with_commands(error.render().ansi().to_string()));
        }
        _ => {
            let command = command(arguments);
            let usage_error = usage_error(&error.render().to_string(), &command);
            out.failure(&with_suggestion(error, &command, usage_error));
        }
    }
    out.exit_code()
}

/// Determines the output mode from a command line that cannot be parsed.
fn output_mode(arguments: &[OsString]) -> OutputMode {
    let options: Vec<&str> = arguments
        .iter()
        .take_while(|argument| *argument != "--")
        .filter_map(|argument| argument.to_str())
        .collect();
    let has_color = |when: &str| {
        let joined = format!("--color={when}");
        options.contains(&joined.as_str())
            || options.windows(2).any(|pair| pair == ["--color", when])
    };
    OutputMode {
        json: options.contains(&"--json"),
        quiet: false,
        verbose: false,
        color: match () {
            () if has_color("never") => ColorChoice::Never,
            () if has_color("always") => ColorChoice::Always,
            () => ColorChoice::Auto,
        },
    }
}

/// Condenses clap's error message into one line and a hint.
///
/// The first paragraph becomes the message, and `tip:` lines become the hint.
fn usage_error(rendered: &str, command: &str) -> Error {
    let paragraph: Vec<&str> =
        rendered.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let message = paragraph.join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let mut message = message.to_owned();
    for (odd, plain) in PLAIN {
        message = message.replace(odd, plain);
    }
    let tips: Vec<&str> =
        rendered.lines().filter_map(|line| line.trim().strip_prefix("tip: ")).collect();
    let hint = if tips.is_empty() {
        if command.ends_with(" help") {
            lists_commands(command)
        } else {
            format!("`{command} --help` has an example")
        }
    } else {
        tips.join("; ")
    };
    Error::usage(message).hint(hint)
}

/// Adds a hint about the command that an unknown word refers to.
fn with_suggestion(error: &clap::Error, command: &str, usage_error: Error) -> Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return usage_error;
    };
    let group = command.split_once(' ').map_or("", |(_, group)| group);
    let closest = || Some(format!("{command} {}", closest(error, word)?));
    let meant = suggestion::by_meaning(group, word).map(|meant| format!("annals {meant}"));
    match meant.or_else(closest) {
        Some(meant) => usage_error.hint(format!("did you mean `{meant}`?")),
        None => usage_error.hint(lists_commands(command)),
    }
}

fn lists_commands(group: &str) -> String {
    let group = group.strip_suffix(" help").unwrap_or(group);
    format!("`{group} --help` lists the commands")
}

/// Returns the suggested subcommand that is closest in spelling.
fn closest<'a>(error: &'a clap::Error, word: &str) -> Option<&'a str> {
    let Some(ContextValue::Strings(suggested)) = error.get(ContextKind::SuggestedSubcommand) else {
        return None;
    };
    let distance = |name: &&String| strsim::damerau_levenshtein(name, word);
    suggested.iter().min_by_key(distance).map(String::as_str)
}

/// Messages of the standard library about invalid values, with plain English replacements.
const PLAIN: [(&str, &str); 6] = [
    ("invalid digit found in string", "not a whole number"),
    ("cannot parse integer from empty string", "empty; a whole number is needed"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
    ("number would be zero for non-zero type", "must be at least 1"),
    ("invalid float literal", "not a number"),
];

/// Returns the command that the arguments name: `annals sync`.
fn command(arguments: &[OsString]) -> String {
    let mut known = Arguments::command();
    known.build();
    let mut words = vec![known.get_name().to_owned()];
    for argument in arguments.iter().skip(1) {
        if let Some(below) = known.find_subcommand(argument) {
            words.push(below.get_name().to_owned());
            known = below.clone();
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_one_line_and_a_way_out() {
        let error = usage_error(
            "error: the following required arguments were not provided:\n  <FILE>...\n\n\
             Usage: annals inspect <FILE>...\n\nFor more information, try '--help'.\n",
            "annals inspect",
        );
        assert_eq!(error.message, "the following required arguments were not provided: <FILE>...");
        assert_eq!(error.hint.as_deref(), Some("`annals inspect --help` has an example"));
        let error = usage_error("error: unknown 'x'\n\n  tip: a similar one exists: 'y'\n", "");
        assert_eq!(error.message, "unknown 'x'");
        assert_eq!(error.hint.as_deref(), Some("a similar one exists: 'y'"));
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
