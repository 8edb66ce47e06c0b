//! The line ending of a file.

/// Returns the line ending of the majority of lines, `"\n"` or `"\r\n"`; `"\n"` if neither is in the majority.
///
/// Lines added to a file get its line ending; existing lines keep their own.
pub(crate) fn line_end(text: impl AsRef<[u8]>) -> &'static str {
    let bytes = text.as_ref();
    let (mut lf, mut crlf) = (0_usize, 0_usize);
    for at in memchr::memchr_iter(b'\n', bytes) {
        match at.checked_sub(1).map(|before| bytes[before]) {
            Some(b'\r') => crlf += 1,
            _ => lf += 1,
        }
    }
    if crlf > lf { "\r\n" } else { "\n" }
}

/// Returns the line ending that is missing after `before`; empty if its last line is complete.
pub(crate) fn line_gap<'a>(before: &str, line_end: &'a str) -> &'a str {
    if before.is_empty() || before.ends_with('\n') { "" } else { line_end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_end_of_the_majority_wins() {
        for (text, expected) in [
            ("", "\n"),
            ("a", "\n"),
            ("\n", "\n"),
            ("a\r\n", "\r\n"),
            ("a\r\nb\n", "\n"),
            ("a\r\nb\nc\r\n", "\r\n"),
            ("a\rb\n", "\n"),
        ] {
            assert_eq!(line_end(text), expected, "{text:?}");
        }
    }
}
