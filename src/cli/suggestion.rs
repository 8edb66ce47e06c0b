//! Suggests commands for unknown words by meaning; clap suggests by spelling.

/// Words that users try, with the command group they appear in and the command that does it.
const SYNONYMS: &[(&str, &[&str], &str)] = &[
    (
        "",
        &[
            "search", "find", "grep", "query", "lookup", "ask", "memory", "memories",
        ],
        "recall",
    ),
    ("", &["list", "ls", "entries"], "entry list"),
    (
        "",
        &["remember", "save", "store", "add", "write", "learn"],
        "entry write",
    ),
    ("", &["get", "read", "cat"], "entry read"),
    ("", &["note", "notes", "jot"], "notepad working"),
    ("", &["forget", "delete", "remove", "rm"], "entry delete"),
    ("", &["fact", "user", "users"], "facts"),
    (
        "",
        &["decision", "decisions", "constraint", "constraints"],
        "ledger",
    ),
    ("", &["record", "append"], "journal write"),
    (
        "",
        &["check", "health", "verify", "lint", "validate"],
        "audit",
    ),
    ("", &["diagnose", "debug", "troubleshoot"], "doctor"),
    ("", &["install", "configure", "connect", "hooks"], "setup"),
    ("", &["settings", "options"], "config"),
    ("", &["new", "create", "start", "bootstrap"], "init"),
    (
        "",
        &["update", "refresh", "generate", "regenerate", "claude"],
        "sync",
    ),
    (
        "",
        &["progress", "state", "where", "next", "show", "info"],
        "status",
    ),
    ("", &["brief", "digest", "summary", "prime"], "context"),
    (
        "",
        &["build", "run", "finish", "retro", "retrospective"],
        "execute",
    ),
    ("", &["release", "archive", "complete", "done"], "ship"),
    ("", &["stop", "handoff", "checkpoint"], "pause"),
    ("", &["continue"], "resume"),
    (
        "",
        &["pattern", "lessons", "lesson", "insights"],
        "patterns",
    ),
    ("", &["history", "changes"], "log"),
    ("", &["revert", "restore", "rollback"], "undo"),
    ("", &["tokens", "usage", "price", "budget"], "cost"),
    ("", &["dashboard", "html", "page"], "report"),
    ("", &["backup", "dump"], "export"),
    ("", &["load", "migrate", "ingest"], "import"),
    ("", &["serve", "server"], "mcp"),
    ("", &["merge"], "merge-file"),
    ("", &["tutorial", "example", "try", "tour"], "demo"),
    ("", &["version"], "--version"),
    ("entry", &["search", "find", "grep"], "entry query"),
    (
        "entry",
        &["add", "create", "new", "save", "set", "update", "edit"],
        "entry write",
    ),
    ("entry", &["get", "show", "cat", "open"], "entry read"),
    ("entry", &["remove", "rm", "forget"], "entry delete"),
    ("entry", &["replace"], "entry supersede"),
    ("entry", &["check", "lint"], "entry audit"),
    ("entry", &["ls"], "entry list"),
    (
        "facts",
        &["search", "find", "query", "recall"],
        "facts retrieve",
    ),
    ("facts", &["get", "read"], "facts show"),
    (
        "facts",
        &["set", "remember", "write", "update"],
        "facts add",
    ),
    (
        "facts",
        &["delete", "remove", "rm", "erase"],
        "facts forget",
    ),
    ("facts", &["ls"], "facts list"),
    (
        "journal",
        &["find", "grep", "query", "recall"],
        "journal search",
    ),
    ("journal", &["add", "append", "record"], "journal write"),
    ("journal", &["list", "show", "read", "log"], "journal tail"),
    ("ledger", &["show", "read"], "ledger brief"),
    ("ledger", &["apply", "write", "add"], "ledger update"),
    ("ledger", &["lint", "audit", "verify"], "ledger check"),
    ("ledger", &["log", "commits", "status"], "ledger pending"),
    ("notepad", &["show", "list", "cat"], "notepad read"),
    ("notepad", &["add", "write", "note"], "notepad working"),
    ("patterns", &["search", "find"], "patterns relevant"),
    ("patterns", &["read", "get"], "patterns show"),
    ("patterns", &["audit", "stale", "verify"], "patterns check"),
    ("milestone", &["create", "start", "add"], "milestone new"),
    (
        "milestone",
        &["use", "activate", "checkout"],
        "milestone switch",
    ),
    ("milestone", &["ls", "show"], "milestone list"),
];

/// Returns the command line, without `annals`, for an unknown word.
pub(crate) fn by_meaning(group: &str, word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let row = SYNONYMS
        .iter()
        .find(|(of, words, _)| *of == group && words.contains(&word.as_str()));
    row.map(|(_, _, command)| *command)
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
        for (group, words, meant) in SYNONYMS {
            let mut at = &annals;
            for name in meant.split(' ').filter(|name| !name.starts_with("--")) {
                at = at
                    .find_subcommand(name)
                    .unwrap_or_else(|| panic!("no command {meant}"));
            }
            let below = match *group {
                "" => &annals,
                group => annals.find_subcommand(group).unwrap(),
            };
            for word in *words {
                assert!(below.find_subcommand(word).is_none(), "{group} {word}");
                assert_eq!(
                    by_meaning(group, word),
                    Some(*meant),
                    "{group} {word} is listed twice"
                );
            }
        }
    }
}
