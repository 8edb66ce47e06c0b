//! Converts bytes to text of the same length, so that offsets in the text are valid for the bytes.

use std::borrow::Cow;

/// Returns the bytes as text, with each byte of invalid UTF-8 replaced by `?`, so that offsets stay the same.
pub(crate) fn readable(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn latin_1_keeps_its_length() {
        assert_eq!(readable(b"caf\xe9 \xe2\x82"), "caf? ??");
        assert!(matches!(readable("café".as_bytes()), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn every_newline_keeps_its_offset(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let text = readable(&bytes);
            prop_assert_eq!(text.len(), bytes.len());
            for (byte, shown) in bytes.iter().zip(text.bytes()) {
                prop_assert_eq!(*byte == b'\n', shown == b'\n');
            }
        }
    }
}
