//! Splits text into sentences.

/// Abbreviations whose full stop does not end a sentence.
const ABBREVIATIONS: &str = "e.g i.e etc vs cf approx no incl Dr Mr Mrs Ms St Prof";

/// Returns the sentences of a text; a full stop inside code, quotes or brackets does not end one.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut start = 0;
    sentence_ends(text)
        .into_iter()
        .map(|end| text[std::mem::replace(&mut start, end)..end].trim())
        .filter(|sentence| sentence.contains(char::is_alphanumeric))
        .collect()
}

/// Returns the offset after each sentence.
pub(crate) fn sentence_ends(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut nesting = Nesting::default();
    for (at, c) in text.char_indices() {
        nesting.pass(c);
        let end = at + c.len_utf8();
        let start = found.last().copied().unwrap_or_default();
        let ends = match c {
            '.' | '!' | '?' => ends_sentence(&text[start..], at - start, end - start),
            '。' | '！' | '？' => true,
            _ => false,
        };
        if ends && !nesting.is_open() {
            found.push(end);
        }
    }
    if found.last() != Some(&text.len()) {
        found.push(text.len());
    }
    found
}

fn ends_sentence(text: &str, at: usize, end: usize) -> bool {
    let Some(after) = text[end..].strip_prefix(' ') else {
        return text[end..].is_empty();
    };
    let before = &text[..at];
    let is_short = |short: &str| {
        before.strip_suffix(short).is_some_and(|head| !head.ends_with(char::is_alphanumeric))
    };
    // `1. Run the tests`, `The 7. door`.
    let is_number = before.trim_start().bytes().all(|byte| byte.is_ascii_digit());
    !after.starts_with(char::is_lowercase) && !is_number && !ABBREVIATIONS.split(' ').any(is_short)
}

/// The delimiters that are open at a position in a text.
#[derive(Default)]
struct Nesting {
    is_code: bool,
    is_quote: bool,
    brackets: usize,
}

impl Nesting {
    fn pass(&mut self, c: char) {
        match c {
            '`' => self.is_code = !self.is_code,
            _ if self.is_code => {}
            '"' => self.is_quote = !self.is_quote,
            '(' | '[' => self.brackets += 1,
            ')' | ']' => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
    }

    fn is_open(&self) -> bool {
        self.is_code || self.is_quote || self.brackets > 0
    }
}

/// Returns whether a text has no open delimiters and does not announce what is missing.
pub(crate) fn is_closed(text: &str) -> bool {
    let mut nesting = Nesting::default();
    text.chars().for_each(|c| nesting.pass(c));
    let prose = prose(text);
    !nesting.is_open()
        && prose.matches([')', ']']).count() == prose.matches(['(', '[']).count()
        && !text.ends_with([':', ',', ';', '-', '\u{2014}', '\u{2026}'])
        // Dots in code are not an ellipsis.
        && !prose.contains("...")
        && !text.contains('\u{2026}')
}

/// Returns a text without its code spans.
pub(crate) fn prose(text: &str) -> String {
    text.split('`').step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_outside_of_code_quotes_and_brackets() {
        let text =
            "Use `a. B` (see x. Y) e.g. Z with 1.5 of it. `c` fails! Is it \"so. Or\" not? ok";
        assert_eq!(
            sentences(text),
            [
                "Use `a. B` (see x. Y) e.g. Z with 1.5 of it.",
                "`c` fails!",
                "Is it \"so. Or\" not? ok"
            ]
        );
        assert_eq!(
            sentences("1. Ask Dr. Smith. 2. The 7. door? **Never** 全部测试。然后发布！"),
            ["1. Ask Dr. Smith.", "2. The 7. door?", "**Never** 全部测试。", "然后发布！"]
        );
    }
}
