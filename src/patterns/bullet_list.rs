//! The lists of bullets in an entry, as annals writes them.

use sha2::{Digest, Sha256};

use crate::text::hexadecimal;

/// The bullet that stands for an empty list.
pub(crate) const NONE: &str = "none recorded";

/// The bullets that stood for an empty list in earlier versions.
const EARLIER_NONE: &str = "none observed";
const EARLIER_NONE_OF: &str = "none chosen of ";

/// Returns the digest of an entry's bullets, whichever bullet stands for an empty list.
pub(crate) fn digest<T: AsRef<str>>(worked: &[T], failed: &[T]) -> String {
    let digest = Sha256::digest(section(worked, failed, [EARLIER_NONE; 2]));
    hexadecimal(&digest[..8])
}

/// Returns the part of an entry that contains its bullets; `none` stand for empty lists.
pub(crate) fn section<T: AsRef<str>>(worked: &[T], failed: &[T], none: [&str; 2]) -> String {
    let list = |bullets: &[T], none: &str| -> String {
        if bullets.is_empty() {
            return format!("- {none}\n");
        }
        bullets.iter().map(|bullet| format!("- {}\n", bullet.as_ref())).collect()
    };
    format!(
        "**What worked:**\n{}\n**What failed:**\n{}\n",
        list(worked, none[0]),
        list(failed, none[1])
    )
}

/// Returns whether a bullet only stands for an empty list: `none recorded`, `none chosen of 11 deviations`.
pub(crate) fn is_filler(text: &str) -> bool {
    let is_count = |count: &str| {
        count.split_once(' ').is_some_and(|(number, of)| {
            number.parse::<u32>().is_ok()
                && ["deviation", "deviations", "issue", "issues"].contains(&of)
        })
    };
    [NONE, EARLIER_NONE].iter().any(|none| text.eq_ignore_ascii_case(none))
        || text
            .strip_prefix(EARLIER_NONE_OF)
            .is_some_and(|counts| counts.split(" and ").all(is_count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_for_an_empty_list_is_a_filler() {
        for text in [
            "none recorded",
            "None observed",
            "none chosen of 3 deviations",
            "none chosen of 1 deviation and 2 issues",
        ] {
            assert!(is_filler(text), "{text}");
        }
        for text in ["none chosen of the three ways", "none observed in plan 02"] {
            assert!(!is_filler(text), "{text}");
        }
    }
}
