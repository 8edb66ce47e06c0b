//! Renders the list of commands in the help of `annals` itself, grouped by purpose.

use std::fmt::Write;

use clap::builder::styling::Styles;
use clap::{Command, CommandFactory};

use crate::cli::Arguments;

/// Placeholder for the list in the help template.
///
/// The parser does not know the descriptions of the subcommands: most runs need one command, and building all
/// of them takes a large part of the startup time. The list is only built when help is requested.
pub(crate) const LIST: &str = "[commands]";

/// The help template of `annals` itself.
pub(crate) const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n[commands]\n{options}{after-help}";

/// The commands in groups, the most commonly needed first.
const GROUPS: [(&str, &str); 5] = [
    ("Start here", "setup init status sync demo"),
    (
        "Remember and recall",
        "remember recall forget context entry notepad ledger journal facts share patterns",
    ),
    ("Plan, build, ship", "plan execute ship milestone pause resume inspect"),
    ("Check and maintain", "doctor audit cost report log undo import export config"),
    ("For other programs", "hook mcp merge-file completions man help"),
];

/// Inserts the list of commands into the rendered help, if it contains the placeholder.
pub(crate) fn with_commands(rendered: String) -> String {
    if rendered.contains(LIST) { rendered.replacen(LIST, &list(), 1) } else { rendered }
}

fn list() -> String {
    let mut annals = Arguments::command();
    annals.build();
    let styles = annals.get_styles().clone();
    let names = GROUPS.iter().flat_map(|(_, names)| names.split(' '));
    let width = names.map(str::len).max().unwrap_or_default();
    let mut list = String::new();
    for (title, names) in GROUPS {
        heading(title, &styles, &mut list);
        for name in names.split(' ') {
            if let Some(command) = annals.find_subcommand(name) {
                row(command, width, &styles, &mut list);
            }
        }
        list.push('\n');
    }
    heading("Options", &styles, &mut list);
    list.truncate(list.trim_end().len());
    list
}

fn heading(title: &str, styles: &Styles, list: &mut String) {
    let style = styles.get_header();
    // Writing into a string cannot fail.
    let _written = writeln!(list, "{style}{title}:{style:#}").is_ok();
}

fn row(command: &Command, width: usize, styles: &Styles, list: &mut String) {
    let style = styles.get_literal();
    let name = command.get_name();
    let about = match name {
        "help" => "Describe a command: `annals help sync`".to_owned(),
        _ => command.get_about().map(ToString::to_string).unwrap_or_default(),
    };
    let _written = writeln!(list, "  {style}{name:width$}{style:#}  {about}").is_ok();
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_stands_in_one_group_and_has_a_short_description() {
        let mut annals = Arguments::command();
        annals.build();
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.split(' ')).collect();
        let known: BTreeSet<&str> = annals.get_subcommands().map(Command::get_name).collect();
        assert_eq!(
            listed.iter().copied().collect::<BTreeSet<_>>(),
            known,
            "every command belongs in one group of GROUPS"
        );
        assert_eq!(listed.len(), known.len(), "a command is in two groups");
        for command in annals.get_subcommands().filter(|one| one.get_name() != "help") {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let length = about.chars().count();
            assert!(
                (10..=84).contains(&length),
                "{}: {about:?} has {length} characters",
                command.get_name()
            );
        }
    }
}
