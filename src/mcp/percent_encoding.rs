//! Percent-encodes and decodes names in URIs.

use std::fmt::Write;

/// Returns a name with everything but letters, digits and `-._~` percent-encoded.
pub(crate) fn encode(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            write!(encoded, "%{byte:02X}").ok();
        }
    }
    encoded
}

/// Returns the decoded name, or `None` if it is not text.
pub(crate) fn decode(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut bytes_left = encoded.bytes();
    while let Some(byte) = bytes_left.next() {
        if byte == b'%' {
            let mut digit = || char::from(bytes_left.next()?).to_digit(16);
            let (high, low) = (digit()?, digit()?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reserved_bytes_are_percent_encoded() {
        assert_eq!(encode("test-runner"), "test-runner");
        assert_eq!(encode("My note/é"), "My%20note%2F%C3%A9");
        for broken in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }

    proptest! {
        #[test]
        fn every_name_round_trips(name in ".{0,20}") {
            prop_assert_eq!(decode(&encode(&name)), Some(name));
        }
    }
}
