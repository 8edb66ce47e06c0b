//! One marker: what was left as it is, up to where that holds, and when to do better.

use serde::Serialize;

use crate::knowledge::debt::comments::Piece;

/// The words that begin a marker: ours, and that of the format's first tool.
pub(super) const WORDS: [&str; 2] = ["annals-debt:", "vibekit:"];

const CEILING: &str = "ceiling:";
const UPGRADE: &str = "upgrade:";

/// The most lines that one marker goes over.
const MAX_LINES: usize = 20;

/// A shortcut that somebody took knowingly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DebtMarker {
    /// The line of the file, counted from 1.
    pub line: usize,
    /// What was left as it is.
    pub what: String,
    /// Up to where that holds.
    pub ceiling: Option<String>,
    /// What has to happen for it to be done better.
    pub upgrade: Option<String>,
    /// Whether nothing says when that is.
    pub no_trigger: bool,
}

/// Returns the markers of a file's comments.
///
/// A marker is the first word of its comment. It goes on over the next lines of the comment while its
/// sentence is open, and where a line begins with `ceiling:` or `upgrade:`.
pub(super) fn markers(pieces: &[Piece<'_>]) -> Vec<DebtMarker> {
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

fn goes_on(text: &str, last: &Piece<'_>, next: &Piece<'_>) -> bool {
    let follows = next.line == last.line + 1 && next.is_alone;
    if !follows || next.text.is_empty() || after_word(next.text).is_some() {
        return false;
    }
    let begins_field = [CEILING, UPGRADE]
        .iter()
        .any(|label| label_at(next.text, label) == Some(0));
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

/// Returns where a label begins, as a word of its own.
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

/// Returns a sentence without its full stop; nothing for an empty one or a placeholder.
fn sentence(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(['.', ',', ';', ' ']);
    let is_placeholder = text.starts_with('<') && text.ends_with('>');
    let says_nothing = ["none", "n/a", "tbd", "todo", "?", "-", "unknown"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word));
    (!text.is_empty() && !is_placeholder && !says_nothing).then(|| text.to_owned())
}
