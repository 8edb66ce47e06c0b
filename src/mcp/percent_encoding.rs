//! Decodes percent-encoded paths in URIs.

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
    use super::*;

    #[test]
    fn encoded_bytes_are_decoded() {
        assert_eq!(decode("My%20note%2F%C3%A9"), Some("My note/é".to_owned()));
        for broken in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }
}
