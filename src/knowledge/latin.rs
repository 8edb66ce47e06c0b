//! Transliterates Latin letters to those allowed in a key.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Returns a text in lower case without accents: `fuer` for `für`, `cafe` for `café`.
pub(crate) fn transliterate(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.nfc().flat_map(char::to_lowercase) {
        match spelled(c) {
            Some(letters) => plain.push_str(letters),
            None => plain.extend(c.nfd().filter(|c| !is_combining_mark(*c))),
        }
    }
    plain
}

/// Returns the transliteration of a letter that is not simply a base letter with an accent to drop.
fn spelled(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{e4}' | '\u{e6}' => "ae",
        '\u{f6}' | '\u{153}' => "oe",
        '\u{fc}' => "ue",
        '\u{df}' => "ss",
        '\u{f8}' => "o",
        '\u{142}' => "l",
        '\u{111}' | '\u{f0}' => "d",
        '\u{fe}' => "th",
        '\u{131}' => "i",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn umlauts_are_spelled_out_and_other_accents_go() {
        for (text, expected) in [
            ("F\u{fc}r \u{c4}rger", "fuer aerger"),
            ("fu\u{308}r", "fuer"),
            ("Stra\u{df}e", "strasse"),
            ("caf\u{e9} na\u{ef}ve \u{141}\u{f3}d\u{17a}", "cafe naive lodz"),
            ("\u{65e5}\u{672c} plain", "\u{65e5}\u{672c} plain"),
        ] {
            assert_eq!(transliterate(text), expected);
        }
    }
}
