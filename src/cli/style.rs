//! Colours the lines of results and messages.

use anstream::ColorChoice;
use anstyle::{AnsiColor, Color, Style};

/// Returns the style of a line of a result.
pub(crate) type Paint = fn(&str) -> Style;

/// The style of the label of an error.
pub(crate) const RED: Style = bold(AnsiColor::Red);

/// Returns a bold style in a colour.
pub(crate) const fn bold(color: AnsiColor) -> Style {
    plain(color).bold()
}

const fn plain(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

/// Returns the style of a line in a unified diff.
pub(crate) fn diff_style(line: &str) -> Style {
    let color = match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => return Style::new().bold(),
        [b'@', b'@', ..] => AnsiColor::Cyan,
        [b'+', ..] => AnsiColor::Green,
        [b'-', next, ..] if *next != b' ' => AnsiColor::Red,
        _ => return Style::new(),
    };
    plain(color)
}

/// Returns the style of a line of a list: the heads of its items stand out.
pub(crate) fn head_style(line: &str) -> Style {
    let is_head = !line.starts_with([' ', '\n']);
    if is_head { Style::new().bold() } else { Style::new() }
}

/// Returns the style of a line of the checks.
pub(crate) fn check_style(line: &str) -> Style {
    line.split_whitespace()
        .filter(|_| !line.starts_with(' '))
        .find_map(|word| match word {
            "ok" => Some(AnsiColor::Green),
            "attention" => Some(AnsiColor::Yellow),
            "fault" => Some(AnsiColor::Red),
            _ => None,
        })
        .map_or(Style::new(), plain)
}

/// Returns the style of a line of the status: the next action, and what speaks against it, stand out.
pub(crate) fn status_style(line: &str) -> Style {
    match line.split_once(':').map(|(label, _)| label) {
        Some("Next") => bold(AnsiColor::Green),
        Some("Contested" | "Drift" | "Finding") => plain(AnsiColor::Yellow),
        _ => Style::new(),
    }
}

/// Returns when to use colour for a stream.
pub(crate) fn choice(requested: clap::ColorChoice, is_terminal: bool) -> ColorChoice {
    match requested {
        clap::ColorChoice::Auto if is_terminal => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        _ => ColorChoice::Never,
    }
}
