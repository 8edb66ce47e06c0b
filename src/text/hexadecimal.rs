//! Encodes bytes as hexadecimal digits.

/// Returns the bytes as lower-case hexadecimal digits, two per byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_has_two_digits() {
        assert_eq!(hexadecimal(&[0, 0x0f, 0xa5, 0xff]), "000fa5ff");
    }
}
