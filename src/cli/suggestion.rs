//! Suggests commands for unknown words by meaning; clap suggests by spelling.

/// Words that users try instead of a command, after the command that does it.
const COMMANDS: &str = "\
recall: search find grep query lookup ask memory memories
entry list: list ls entries
entry write: remember save store add write learn
entry read: get read cat
notepad working: note notes jot
entry delete: forget delete remove rm
facts: fact user users
ledger: decision decisions constraint constraints
journal write: record append
audit: check health verify lint validate
doctor: diagnose debug troubleshoot
setup: install configure connect hooks
config: settings options
init: new create start bootstrap
sync: update refresh generate regenerate claude
status: progress state where next show info
context: brief digest summary prime
execute: build run finish retro retrospective
ship: release archive complete done
pause: stop handoff checkpoint
resume: continue
patterns: pattern lessons lesson insights
log: history changes
undo: revert restore rollback
cost: tokens usage price budget
report: dashboard html page
export: backup dump
import: load migrate ingest
mcp: serve server
merge-file: merge
demo: tutorial example try tour
--version: version";

/// Words that users try instead of a subcommand, after the subcommand that does it.
const SUBCOMMANDS: &str = "\
entry query: search find grep
entry write: add create new save set update edit
entry read: get show cat open
entry delete: remove rm forget
entry supersede: replace
entry audit: check lint
entry list: ls
facts retrieve: search find query recall
facts show: get read
facts add: set remember write update
facts forget: delete remove rm erase
facts list: ls
journal search: find grep query recall
journal write: add append record
journal tail: list show read log
ledger brief: show read
ledger update: apply write add
ledger check: lint audit verify
ledger pending: log commits status
notepad read: show list cat
notepad working: add write note
patterns relevant: search find
patterns show: read get
patterns check: audit stale verify
milestone new: create start add
milestone switch: use activate checkout
milestone list: ls show";

/// Returns the command line, without `annals`, for an unknown word.
pub(crate) fn by_meaning(group: &str, word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let rows = if group.is_empty() { COMMANDS } else { SUBCOMMANDS };
    let mut rows = rows.lines().filter_map(|row| row.split_once(": "));
    let row = rows.find(|(command, words)| {
        let is_of_group = group.is_empty() || command.split(' ').next() == Some(group);
        is_of_group && words.split(' ').any(|known| known == word)
    });
    row.map(|(command, _)| command)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Arguments;

    #[test]
    fn every_suggestion_is_a_command_and_no_word_of_the_table_is_one() {
        let mut annals = Arguments::command();
        annals.build();
        let rows = COMMANDS.lines().chain(SUBCOMMANDS.lines());
        for (index, row) in rows.enumerate() {
            let (meant, words) = row.split_once(": ").unwrap();
            let group = match meant.split_once(' ') {
                Some((group, _)) if index >= COMMANDS.lines().count() => group,
                _ => "",
            };
            let mut at = &annals;
            for name in meant.split(' ').filter(|name| !name.starts_with("--")) {
                at = at.find_subcommand(name).unwrap_or_else(|| panic!("no command {meant}"));
            }
            let below = match group {
                "" => &annals,
                group => annals.find_subcommand(group).unwrap(),
            };
            for word in words.split(' ') {
                assert!(below.find_subcommand(word).is_none(), "{group} {word}");
                assert_eq!(by_meaning(group, word), Some(meant), "{group} {word} is listed twice");
            }
        }
    }
}
