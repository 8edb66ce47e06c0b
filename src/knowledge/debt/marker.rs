//! Parses a debt marker: the shortcut taken, its ceiling, and the trigger for an upgrade.

use serde::Serialize;

use crate::knowledge::debt::comments::CommentLine;

/// The words that start a marker: annals' own, and that of the tool that introduced the format.
pub(super) const WORDS: [&str; 2] = ["annals-debt:", "vibekit:"];

const CEILING: &str = "ceiling:";
const UPGRADE: &str = "upgrade:";

/// Maximum number of lines in a marker.
const MAX_LINES: usize = 20;

/// A shortcut that was taken knowingly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DebtMarker {
    /// Line number in the file, from 1.
    pub line: usize,
    /// The shortcut.
    pub what: String,
    /// The limit up to which the shortcut is acceptable.
    pub ceiling: Option<String>,
    /// The event that makes an upgrade necessary.
    pub upgrade: Option<String>,
    /// Whether the marker states no such event.
    pub no_trigger: bool,
}

/// Returns the markers of a file's comments.
///
/// A marker starts with the first word of its comment. It continues on the next lines of the comment until
/// its sentence ends, and on lines that begin with `ceiling:` or `upgrade:`.
pub(super) fn markers(pieces: &[CommentLine<'_>]) -> Vec<DebtMarker> {
    let mut markers = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let Some(first) = after_word(piece.text) else {
            continue;
        };
        let mut text = first.trim().to_owned();
        let mut last = piece;
        for next in pieces[index + 1..].iter().take(MAX_LINES - 1) {
            if !goes_on(&text, last, next) {
                break;
            }
            text.push(' ');
            text.push_str(next.text);
            last = next;
        }
        markers.push(marker(piece.line, &text));
    }
    markers
}

fn after_word(text: &str) -> Option<&str> {
    WORDS.iter().find_map(|word| text.strip_prefix(word))
}

fn goes_on(text: &str, last: &CommentLine<'_>, next: &CommentLine<'_>) -> bool {
    let follows = next.line == last.line + 1 && next.is_alone;
    if !follows || next.text.is_empty() || after_word(next.text).is_some() {
        return false;
    }
    let begins_field = [CEILING, UPGRADE].iter().any(|label| label_at(next.text, label) == Some(0));
    begins_field || last.is_alone && !text.ends_with('.')
}

fn marker(line: usize, text: &str) -> DebtMarker {
    let ceiling = label_at(text, CEILING);
    let upgrade = label_at(text, UPGRADE);
    let first = [ceiling, upgrade].into_iter().flatten().min();
    let field = |at: Option<usize>, label: &str, other: Option<usize>| {
        let at = at?;
        let end = other.filter(|other| *other > at).unwrap_or(text.len());
        sentence(&text[at + label.len()..end])
    };
    let upgrade_text = field(upgrade, UPGRADE, ceiling);
    DebtMarker {
        line,
        what: sentence(&text[..first.unwrap_or(text.len())]).unwrap_or_default(),
        ceiling: field(ceiling, CEILING, upgrade),
        no_trigger: upgrade_text.is_none(),
        upgrade: upgrade_text,
    }
}

/// Returns the byte offset of a label that is not part of a longer word.
fn label_at(text: &str, label: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    let mut found = lower.match_indices(label);
    found
        .find(|(at, _)| {
            let before = lower[..*at].chars().next_back();
            before.is_none_or(|c| !c.is_alphanumeric() && c != '-' && c != '_')
        })
        .map(|(at, _)| at)
}

/// Returns a sentence without its full stop; `None` if it is empty or a placeholder.
fn sentence(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(['.', ',', ';', ' ']);
    let is_placeholder = text.starts_with('<') && text.ends_with('>');
    let says_nothing = ["none", "n/a", "tbd", "todo", "?", "-", "unknown"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word));
    (!text.is_empty() && !is_placeholder && !says_nothing).then(|| text.to_owned())
}
