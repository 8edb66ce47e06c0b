//! The lists of bullets in an entry, as annals writes them.

use std::fmt::Display;

use sha2::{Digest, Sha256};

use crate::text::hexadecimal;

/// The bullet that stands for an empty list.
const NONE: &str = "none recorded";

/// Returns the digest of an entry's bullets.
pub(crate) fn digest<T: Display>(worked: &[T], failed: &[T]) -> String {
    hexadecimal(&Sha256::digest(section(worked, failed))[..8])
}

/// Returns the part of an entry that contains its bullets.
pub(crate) fn section<T: Display>(worked: &[T], failed: &[T]) -> String {
    let list = |bullets: &[T]| -> String {
        if bullets.is_empty() {
            return format!("- {NONE}\n");
        }
        bullets.iter().map(|bullet| format!("- {bullet}\n")).collect()
    };
    format!("**What worked:**\n{}\n**What failed:**\n{}\n", list(worked), list(failed))
}

/// Returns whether a bullet only stands for an empty list.
pub(crate) fn is_filler(text: &str) -> bool {
    text.eq_ignore_ascii_case(NONE) || text.eq_ignore_ascii_case("none observed")
}
