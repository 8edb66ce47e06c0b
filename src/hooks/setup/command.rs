//! Parses the command of a hook entry, and recognizes ours.

/// A parsed command that calls `annals hook`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command<'a> {
    /// The program: a name or a path, including any quotes around it.
    pub(crate) program: &'a str,
    /// Everything after the program.
    pub(crate) arguments: &'a str,
    /// The subcommand, such as `session-start`.
    pub(crate) call: &'a str,
}

impl<'a> Command<'a> {
    /// Parses a command; returns `None` if `setup` cannot have written it.
    pub(crate) fn parse(command: &'a str) -> Option<Self> {
        let command = command.trim();
        let end = match command.strip_prefix('"') {
            Some(quoted) => quoted.find('"')? + 2,
            None => command.find(' ')?,
        };
        let (program, arguments) = command.split_at(end);
        let arguments = arguments.trim_start();
        let mut words = arguments.split_whitespace();
        if !is_program(program) || words.next() != Some("hook") {
            return None;
        }
        let call = words.next()?;
        while let Some(word) = words.next() {
            // A command with other options was edited by the user, and belongs to the user.
            match word {
                "--no-notepad" => {}
                "--harness" => _ = words.next()?,
                _ => return None,
            }
        }
        Some(Self { program, arguments, call })
    }
}

/// Returns whether a word is the name or path of our binary.
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
            ("\"/opt/my tools/annals\" hook session-start", "session-start"),
            ("C:\\bin\\annals.exe  hook session-start --harness gemini", "session-start"),
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
