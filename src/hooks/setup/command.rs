//! The command of a hook entry, and how one of ours is known.

/// A command that calls `annals hook`, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command<'a> {
    /// The binary, wherever it lies.
    pub(crate) program: &'a str,
    /// All that follows it.
    pub(crate) arguments: &'a str,
    /// What is called, such as `session-start`.
    pub(crate) call: &'a str,
}

impl<'a> Command<'a> {
    /// Takes a command apart; nothing where it is not one that `setup` may have written.
    pub(crate) fn parse(command: &'a str) -> Option<Self> {
        let (program, arguments) = command.trim().split_once(' ')?;
        let arguments = arguments.trim_start();
        let mut words = arguments.split_whitespace();
        if !is_program(program) || words.next() != Some("hook") {
            return None;
        }
        let call = words.next()?;
        while let Some(word) = words.next() {
            // What a user has added to the call is the user's.
            match word {
                "--no-notepad" => {}
                "--harness" => _ = words.next()?,
                _ => return None,
            }
        }
        Some(Self {
            program,
            arguments,
            call,
        })
    }
}

/// Returns whether a word names our binary.
pub(crate) fn is_program(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    matches!(name.trim_matches('"'), "annals" | "annals.exe")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_commands_are_known_wherever_the_binary_lies() {
        for (ours, call) in [
            ("annals hook session-start", "session-start"),
            ("/usr/local/bin/annals hook x --no-notepad", "x"),
            (
                "C:\\bin\\annals.exe  hook session-start --harness gemini",
                "session-start",
            ),
        ] {
            assert_eq!(Command::parse(ours).unwrap().call, call, "{ours}");
        }
        for other in [
            "",
            "annals",
            "annals hook",
            "annals sync",
            "echo annals hook",
            "annals hooks",
            "my-annals hook x",
            "annals hook session-start | tee log",
            "annals hook session-start --verbose",
        ] {
            assert_eq!(Command::parse(other), None, "{other}");
        }
    }
}
