//! Values that are written and mean nothing.

/// Words that fill a field which has no value.
const FILLERS: &[&str] = &[
    "", "none", "none yet", "n/a", "na", "-", "--", "\u{2013}", "\u{2014}", "tbd", "null", "~",
    "nil", "unknown",
];

/// Tells whether a value is only a filler: `None.`, `_(none)_`, `N/A`, `TBD`, an unfilled `{placeholder}`.
pub fn is_absent(value: &str) -> bool {
    let bare = value
        .trim()
        .trim_matches(|c: char| matches!(c, '*' | '_' | '`' | ' ' | '"'));
    let is_placeholder =
        bare.starts_with('{') && bare.ends_with('}') && !bare.contains([' ', ',', '"']);
    let inner = bare
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        .unwrap_or(bare)
        .trim_end_matches('.')
        .trim();
    is_placeholder
        || FILLERS
            .iter()
            .any(|filler| inner.eq_ignore_ascii_case(filler))
        || is_hint(bare)
}

/// Returns the value unless it is only a filler.
pub fn present(value: &str) -> Option<&str> {
    Some(value.trim()).filter(|value| !is_absent(value))
}

/// Tells whether a value is a template's hint in brackets: `(No decisions yet)`, `[to be filled]`.
fn is_hint(bare: &str) -> bool {
    let inside = [('(', ')'), ('[', ']')]
        .iter()
        .find_map(|(open, close)| bare.strip_prefix(*open)?.strip_suffix(*close));
    inside.is_some_and(|hint| {
        let hint = hint.to_lowercase();
        (hint.starts_with("no ") && hint.len() < 60) || hint.ends_with("to be filled")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_are_absent_and_words_are_not() {
        for filler in [
            "None.",
            "_(none)_",
            "_(No decisions yet)_",
            "N/A",
            "\u{2014}",
            "TBD",
            "{todos-or-none}",
            " ",
            "None yet.",
        ] {
            assert!(is_absent(filler), "{filler}");
        }
        for value in [
            "No locks",
            "{a, b}",
            "none of the tests ran",
            "0",
            "[KNOWN-ISSUE] x",
        ] {
            assert!(!is_absent(value), "{value}");
        }
    }
}
