//! The entry that makes a harness start `annals mcp`.

use serde::Serialize;
use serde_json::Value;

use crate::hooks::setup::entry;
use crate::hooks::setup::json::Node;

/// The name of our server.
pub(crate) const NAME: &str = "annals";

/// Where and how a harness lists our server in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Server {
    /// `mcpServers`, a program and its arguments.
    Program,
    /// `mcp`, a list that starts with the program.
    List,
}

#[derive(Serialize)]
struct Program {
    command: &'static str,
    args: [&'static str; 1],
}

#[derive(Serialize)]
struct List {
    r#type: &'static str,
    command: [&'static str; 2],
    enabled: bool,
}

impl Server {
    /// Returns the name of the object that lists servers.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Program => "mcpServers",
            Self::List => "mcp",
        }
    }

    /// Returns the entry.
    pub(crate) fn value(self) -> serde_json::Result<Value> {
        match self {
            Self::Program => serde_json::to_value(Program {
                command: "annals",
                args: ["mcp"],
            }),
            Self::List => serde_json::to_value(List {
                r#type: "local",
                command: ["annals", "mcp"],
                enabled: true,
            }),
        }
    }

    /// Says whether an entry of our name starts our binary; a user may have added to it.
    pub(crate) fn is_own(self, found: &Node) -> bool {
        let text = |node: Option<&Node>| node.and_then(Node::text).map(str::to_owned);
        let command = found.get("command");
        let (program, argument) = match self {
            Self::Program => {
                let arguments = found.get("args").map(Node::elements);
                (text(command), text(arguments.and_then(<[Node]>::first)))
            }
            Self::List => {
                let words = command.map(Node::elements).unwrap_or_default();
                (text(words.first()), text(words.get(1)))
            }
        };
        program.is_some_and(|program| entry::is_program(&program))
            && argument.is_some_and(|argument| argument == "mcp")
    }
}
