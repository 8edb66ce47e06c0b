//! Detects placeholder values: fields that are filled in but state nothing.

use crate::plan::read::vocabulary::{NONE, NONE_IN_OTHER_LANGUAGES};
use crate::text::strip_prefix_ignore_case;

/// Length of the longest of these, in bytes.
const MAX_NONE_LENGTH: usize = 22;

/// Returns whether a value is only a placeholder: `None.`, `_(none)_`, `N/A`, `TBD`, an unfilled
/// `{placeholder}`.
pub fn is_absent(value: &str) -> bool {
    // Templates and tools write `_(populated as work lands)_` where there is no value yet.
    if is_italic_remark(value.trim()) {
        return true;
    }
    let bare = bare(value);
    let is_placeholder =
        bare.starts_with('{') && bare.ends_with('}') && !bare.contains([' ', ',', '"']);
    let inner = bare
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        .unwrap_or(bare)
        .trim_end_matches('.')
        .trim();
    is_placeholder
        || inner.is_empty()
        || NONE.iter().any(|placeholder| inner.eq_ignore_ascii_case(placeholder))
        || is_none_in_other_languages(inner)
        || is_hint(bare)
}

fn is_none_in_other_languages(value: &str) -> bool {
    // Most values are longer, and need not be converted.
    value.len() <= MAX_NONE_LENGTH
        && NONE_IN_OTHER_LANGUAGES.contains(&value.to_lowercase().as_str())
}

/// Returns the trimmed value unless it is only a placeholder.
pub fn non_placeholder(value: &str) -> Option<&str> {
    Some(value.trim()).filter(|value| !is_absent(value))
}

/// Returns whether a text says `none`, with or without a reason: `None - all cleared`, `_(none — shipped)_`.
pub(crate) fn is_none_remark(text: &str) -> bool {
    let bare = bare(text).trim_start_matches('(');
    let Some(rest) = strip_prefix_ignore_case(bare, "none").map(str::trim_start) else {
        let ends = ['.', ',', ';', ':', '(', ')', '\u{2013}', '\u{2014}'];
        let head = bare.split(ends).next().unwrap_or_default();
        return is_none_in_other_languages(head.trim()) || is_absent(text);
    };
    rest.is_empty()
        || rest.starts_with(['.', ',', ';', ':', '-', '(', ')', '!', '\u{2013}', '\u{2014}'])
        || is_absent(text)
}

/// Returns whether a value consists only of a parenthesised remark in italics.
fn is_italic_remark(value: &str) -> bool {
    [("_(", ")_"), ("*(", ")*")].iter().any(|(open, close)| {
        value
            .strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close))
            .is_some_and(|inner| !inner.contains([')', '(']))
    })
}

fn bare(value: &str) -> &str {
    value.trim().trim_matches(|c: char| matches!(c, '*' | '_' | '`' | ' ' | '"'))
}

/// Returns whether a value is a bracketed hint from a template: `(No decisions yet)`, `[to be planned]`.
fn is_hint(bare: &str) -> bool {
    let inside = |open, close| bare.strip_prefix(open)?.strip_suffix(close);
    let says_no = inside('(', ')').is_some_and(|hint: &str| {
        strip_prefix_ignore_case(hint, "no ").is_some() && hint.len() < 60
    });
    let is_instruction =
        inside('[', ']').is_some_and(|hint: &str| hint.contains(' ') && !hint.contains([']', '[']));
    says_no || is_instruction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_are_absent_and_words_are_not() {
        for placeholder in [
            "None.",
            "_(none)_",
            "_(No decisions yet)_",
            "N/A",
            "\u{2014}",
            "TBD",
            "{todos-or-none}",
            " ",
            "None yet.",
            "*None currently*",
            "_(populated as work lands)_",
            "[The one thing that must work]",
            "Nenhum no momento.",
            "Нет",
            "なし",
        ] {
            assert!(is_absent(placeholder), "{placeholder}");
        }
        for value in [
            "No locks", "{a, b}", "none of the tests ran", "0", "[KNOWN-ISSUE] x", "unknown",
            "_(a)_ and _(b)_",
        ] {
            assert!(!is_absent(value), "{value}");
        }
    }

    #[test]
    fn none_with_a_reason_is_still_none() {
        for text in [
            "None - roadmap restructured.",
            "_(none \u{2014} v2 shipped)_",
            "None. All met.",
            "None",
            "none",
            "_(nenhum)_ \u{2014} todo anterior concluído",
            "Ninguno por ahora.",
            "Нет: всё готово",
        ] {
            assert!(is_none_remark(text), "{text}");
        }
        for text in [
            "none of the tests ran",
            "Nonempty",
            "no",
            "\u{e9}\u{e9}\u{e9}",
            "Nada funciona",
            "Нет доступа к серверу",
        ] {
            assert!(!is_none_remark(text), "{text}");
        }
    }
}
