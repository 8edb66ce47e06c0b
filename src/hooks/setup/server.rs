//! Builds and recognizes the JSON entry that makes a harness start `annals mcp`.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject};
use jsonc_parser::json;

use crate::hooks::harness::ServerEntry;
use crate::hooks::setup::command::is_program;

/// The name of our server.
pub(crate) const NAME: &str = "annals";

/// Returns the key of the object that lists servers.
pub(crate) fn key(server: ServerEntry) -> &'static str {
    match server {
        ServerEntry::Program => "mcpServers",
        ServerEntry::List => "mcp",
    }
}

/// Returns the server entry.
pub(crate) fn value(server: ServerEntry) -> CstInputValue {
    match server {
        ServerEntry::Program => json!({ "command": "annals", "args": ["mcp"] }),
        ServerEntry::List => json!({
            "type": "local",
            "command": ["annals", "mcp"],
            "enabled": true
        }),
    }
}

/// Returns whether an entry with our name starts our binary; the user may have added arguments.
pub(crate) fn is_own(server: ServerEntry, found: &CstObject) -> bool {
    let list = |name| found.array_value(name).map_or(Vec::new(), |list| texts(&list));
    let words = match server {
        ServerEntry::Program => {
            let program = found.get("command").and_then(|member| member.value());
            let program = program.as_ref().and_then(text);
            program.into_iter().chain(list("args")).collect()
        }
        ServerEntry::List => list("command"),
    };
    matches!(&words[..], [program, argument, ..] if is_program(program) && argument == "mcp")
}

/// Returns the strings of an array; other elements count as empty strings.
fn texts(list: &CstArray) -> Vec<String> {
    let elements = list.elements().into_iter();
    elements.map(|one| text(&one).unwrap_or_default()).collect()
}

/// Returns the value of a string node.
pub(crate) fn text(node: &CstNode) -> Option<String> {
    node.as_string_lit()?.decoded_value().ok()
}
