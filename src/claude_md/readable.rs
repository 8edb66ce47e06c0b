//! Bytes as text of the same length, so that what is found in the text is found in the bytes.

use std::borrow::Cow;

/// Returns the bytes as text in which each byte that is no UTF-8 became a `?`: every offset holds for both.
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
        fn every_newline_stays_in_its_place(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let text = readable(&bytes);
            prop_assert_eq!(text.len(), bytes.len());
            for (byte, shown) in bytes.iter().zip(text.bytes()) {
                prop_assert_eq!(*byte == b'\n', shown == b'\n');
            }
        }
    }
}
