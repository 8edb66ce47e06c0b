//! Formats a number with its noun.

use std::fmt::Display;

/// Returns a number with its noun: `1 plan`, `2 plans`, `0 entries`.
pub(crate) fn quantity<N: Copy + Display + PartialEq + From<u8>>(
    number: N,
    singular: &str,
) -> String {
    format!("{number} {}", pluralize(number, singular))
}

/// Returns a noun in singular or plural as the number requires; only for regular nouns, given in the
/// singular.
pub(crate) fn pluralize<N: Copy + PartialEq + From<u8>>(number: N, singular: &str) -> String {
    if number == N::from(1) {
        return singular.to_owned();
    }
    match singular.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{singular}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_the_number() {
        assert_eq!(quantity(1_usize, "plan"), "1 plan");
        assert_eq!(quantity(0_u64, "plan"), "0 plans");
        assert_eq!(quantity(2_u32, "entry"), "2 entries");
        assert_eq!(quantity(2_u32, "key"), "2 keys");
        assert_eq!(pluralize(1_usize, "entry"), "entry");
    }
}
