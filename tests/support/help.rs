//! Parses help texts.

/// Returns the commands in a help text, each with its description, which may continue on the next lines.
pub(crate) fn listed_commands(help: &str) -> Vec<(String, String)> {
    let ends = ["Options:", "Arguments:"];
    let mut commands: Vec<(String, String)> = Vec::new();
    let lines = help.lines().skip_while(|line| !line.starts_with("Usage:"));
    for line in lines.skip(1).take_while(|line| !ends.contains(line)) {
        let Some(row) = line.strip_prefix("  ") else {
            continue;
        };
        if let (Some(more), Some((_, description))) = (row.strip_prefix(' '), commands.last_mut()) {
            *description = format!("{description} {}", more.trim());
        } else {
            let (name, description) = row.split_once(' ').unwrap_or((row, ""));
            commands.push((name.to_owned(), description.trim().to_owned()));
        }
    }
    commands
}

#[test]
fn commands_are_read_from_the_help() {
    let help = "About\n\nUsage: annals <COMMAND>\n\nStart:\n  init  Create it\n\nGo on:\n  sync  Write it\n          again\n  bare\n\nOptions:\n  -h  Help\n";
    let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    assert_eq!(
        listed_commands(help),
        [pair("init", "Create it"), pair("sync", "Write it again"), pair("bare", "")]
    );
}
