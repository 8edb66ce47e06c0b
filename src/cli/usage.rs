//! Turns a usage error into one line with what is accepted, and a hint with the command or option that was meant.

use std::error::Error as _;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseIntError};

use clap::builder::PossibleValue;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory};

use crate::cli::Arguments;
use crate::error::Error;
use crate::text::join;

/// Words that users try instead of a command, after the command line that does it: first those of `annals` itself,
/// then those of a group, whose commands have more words.
const MEANT: &str = include_str!("../../templates/text/meant.txt");

/// Condenses clap's message into one line and a hint: what is accepted, and its tips or the command that was meant.
pub(crate) fn usage_error(error: &clap::Error, arguments: &[OsString]) -> Error {
    let known = command(arguments);
    let command = name(&known);
    let rendered = error.render().to_string();
    let lines = rendered.lines().map(str::trim);
    let message = join(lines.clone().take_while(|line| !line.is_empty()), " ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let tips: Vec<&str> = lines.filter_map(|line| line.strip_prefix("tip: ")).collect();
    let group = command.strip_suffix(" help").unwrap_or(command);
    let group_name = group.split_once(' ').map_or("", |(_, name)| name);
    // A value that we parse has an error of ours.
    let own = error.source().and_then(|source| source.downcast_ref::<Error>());
    let hint = match meant(error, group_name) {
        Some(meant) => format!("did you mean `annals {meant}`?"),
        None if error.kind() == ErrorKind::InvalidSubcommand || group != command => {
            format!("`{group} --help` lists the commands")
        }
        None if !tips.is_empty() => tips.join("; "),
        None => own
            .and_then(|own| own.hint.clone())
            .or_else(|| similar_alias(error, &known))
            .unwrap_or_else(|| format!("`{command} --help` has an example")),
    };
    let message = own
        .map(Error::reason)
        .or_else(|| accepted(error, &known))
        .unwrap_or_else(|| message.to_owned());
    Error::usage(message).hint(hint)
}

/// Returns what an argument accepts, if clap says only why a value is wrong or that there is none.
fn accepted(error: &clap::Error, command: &Command) -> Option<String> {
    if let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg)
        && error.kind() == ErrorKind::MissingRequiredArgument
    {
        let needed = join(missing.iter().map(|name| with_values(name, command)), " and ");
        return Some(format!("`{}` needs {}", name(command), needed));
    }
    let number: &ParseIntError = error.source()?.downcast_ref()?;
    let accepted = match number.kind() {
        IntErrorKind::PosOverflow => "a smaller number",
        _ => "a positive whole number",
    };
    let (argument, value) =
        (text(error, ContextKind::InvalidArg)?, text(error, ContextKind::InvalidValue)?);
    Some(format!("{} takes {accepted}, not '{value}'", argument.trim_matches(['[', ']'])))
}

/// Returns an argument with the words that it accepts, if they are known.
fn with_values(argument: &str, command: &Command) -> String {
    let values = possible_values(argument, command).map(|value| value.get_name().to_owned());
    match join(values, ", ") {
        values if values.is_empty() => argument.to_owned(),
        values => format!("{argument} ({values})"),
    }
}

/// Returns the words that an argument accepts.
fn possible_values(argument: &str, command: &Command) -> impl Iterator<Item = PossibleValue> {
    command
        .get_arguments()
        .filter(move |known| known.to_string() == argument)
        .flat_map(Arg::get_possible_values)
}

/// Returns a hint at the alias that a wrong word resembles; clap suggests no aliases.
fn similar_alias(error: &clap::Error, command: &Command) -> Option<String> {
    let word = text(error, ContextKind::InvalidValue)?.to_lowercase();
    possible_values(text(error, ContextKind::InvalidArg)?, command)
        .find_map(|value| {
            value.get_name_and_aliases().find(|name| is_close(name, &word)).map(str::to_owned)
        })
        .map(|name| format!("a similar value exists: '{name}'"))
}

/// Returns a text that an error is about.
fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// Returns the command line, without `annals`, that a wrong word in the place of a group's command means.
fn meant(error: &clap::Error, group: &str) -> Option<String> {
    let word = match error.kind() {
        ErrorKind::InvalidSubcommand => text(error, ContextKind::InvalidSubcommand)?,
        // The positional action of a group.
        ErrorKind::InvalidValue => {
            let place = text(error, ContextKind::InvalidArg)?;
            ["[ACTION]", "[SECTION]", "<TARGET>"].contains(&place).then_some(())?;
            text(error, ContextKind::InvalidValue)?
        }
        _ => return None,
    };
    let word = word.to_lowercase();
    let closest = match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(suggested)) => suggested.last().map(String::as_str),
        _ => text(error, ContextKind::SuggestedValue),
    };
    let closest = closest.filter(|name| is_close(name, &word));
    by_meaning(group, &|known| known == word)
        .map(str::to_owned)
        .or_else(|| Some(format!("{group} {}", closest?).trim_start().to_owned()))
        .or_else(|| {
            by_meaning(group, &|known| known.len() > 3 && is_close(known, &word)).map(str::to_owned)
        })
}

/// Returns whether a word may be a misspelt one.
fn is_close(known: &str, word: &str) -> bool {
    strsim::damerau_levenshtein(known, word) <= 1 + known.len() / 4
}

/// Returns the command line, without `annals`, that does what an unknown word of a group says.
fn by_meaning(group: &str, is_it: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    MEANT
        .lines()
        .filter_map(|row| row.split_once(": "))
        .find(|(_, words)| {
            let mut words = words.split(' ');
            if !group.is_empty() && words.next() != Some(group) {
                return false;
            }
            words.any(is_it)
        })
        .map(|(meant, _)| meant)
}

/// Returns the command that the arguments name.
fn command(arguments: &[OsString]) -> Command {
    let mut known = Arguments::command();
    known.build();
    for argument in arguments.iter().skip(1) {
        if let Some(below) = known.find_subcommand(argument) {
            known = below.clone();
        }
    }
    known
}

/// Returns the name of a command as it is typed: `annals sync`.
fn name(command: &Command) -> &str {
    command.get_bin_name().unwrap_or_else(|| command.get_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_was_meant_is_named() {
        let of = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            name(&command(&words)).to_owned()
        };
        assert_eq!(of("annals"), "annals");
        assert_eq!(of("annals -q log --limit x"), "annals log");
        assert_eq!(of("annals facts add --x"), "annals facts add");
    }

    #[test]
    fn every_suggestion_can_be_typed() {
        let annals = command(&[]);
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
}
