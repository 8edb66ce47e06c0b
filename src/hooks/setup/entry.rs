//! One hook entry: when the harness calls which command.
//!
//! The command strings never change: a harness may ask its user to trust each of them once, and forgets
//! that trust with the string.

use serde::Serialize;

use crate::hooks::Harness;

/// A hook entry as it is to stand in a harness's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hook {
    /// The harness's name for the event.
    pub(crate) event: &'static str,
    /// Which of its occurrences are meant; all where nothing is said.
    pub(crate) matcher: Option<&'static str>,
    /// What is called.
    pub(crate) command: String,
    /// How long it may take, in the unit of the harness.
    pub(crate) timeout: u32,
}

/// A group of hook commands with one matcher: the shape that three harnesses share.
#[derive(Serialize)]
struct Group<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    matcher: Option<&'a str>,
    hooks: [Call<'a>; 1],
}

#[derive(Serialize)]
struct Call<'a> {
    r#type: &'static str,
    command: &'a str,
    timeout: u32,
}

impl Hook {
    /// Returns the entry as the harness reads it.
    pub(crate) fn group(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(Group {
            matcher: self.matcher,
            hooks: [Call {
                r#type: "command",
                command: &self.command,
                timeout: self.timeout,
            }],
        })
    }
}

/// Returns the command that a harness calls on an event of ours, such as `session-start`.
pub(crate) fn command(harness: Harness, event: &str) -> String {
    match harness {
        Harness::Claude => format!("annals hook {event}"),
        _ => format!("annals hook {event} --harness {}", harness.as_str()),
    }
}

/// Returns the command of a session's start, with the notepad or without it.
pub(crate) fn session_start(harness: Harness, notepad: bool) -> String {
    let command = command(harness, "session-start");
    if notepad {
        command
    } else {
        command + " --no-notepad"
    }
}

/// Returns the program and the arguments of a command that is ours, wherever the binary lies.
pub(crate) fn own(command: &str) -> Option<(&str, &str)> {
    let (program, arguments) = command.trim().split_once(' ')?;
    let arguments = arguments.trim_start();
    let is_hook = arguments == "hook" || arguments.starts_with("hook ");
    // What a user has built around the call is the user's.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_.".contains(c);
    let is_ours = is_hook && arguments.chars().all(is_plain);
    (is_program(program) && is_ours).then_some((program, arguments))
}

/// Says whether a word names our binary.
pub(crate) fn is_program(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    matches!(name.trim_matches('"'), "annals" | "annals.exe")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_commands_are_known_wherever_the_binary_lies() {
        for ours in [
            "annals hook session-start",
            "/usr/local/bin/annals hook x",
            "C:\\bin\\annals.exe  hook session-start --harness gemini",
        ] {
            assert!(own(ours).is_some(), "{ours}");
        }
        for other in [
            "",
            "annals",
            "annals sync",
            "echo annals hook",
            "annals hooks",
            "my-annals hook x",
            "annals hook session-start | tee log",
        ] {
            assert!(own(other).is_none(), "{other}");
        }
    }
}
