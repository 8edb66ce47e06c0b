//! The lists of bullets in an entry, as annals writes them.

use sha2::{Digest, Sha256};

use crate::text::hexadecimal;

/// The bullet that stands for an empty list.
pub(crate) const NONE: &str = "none observed";

/// The beginning of the bullet that stands for an empty list of what failed although there were problems.
pub(crate) const NONE_CHOSEN: &str = "none chosen of ";

/// Returns the digest of an entry's bullets, whichever bullet stands for an empty list.
pub(crate) fn digest<T: AsRef<str>>(worked: &[T], failed: &[T]) -> String {
    let digest = Sha256::digest(section(worked, failed, NONE));
    hexadecimal(&digest[..8])
}

/// Returns the part of an entry that contains its bullets; `none_failed` stands for an empty second list.
pub(crate) fn section<T: AsRef<str>>(worked: &[T], failed: &[T], none_failed: &str) -> String {
    let list = |bullets: &[T], none: &str| -> String {
        if bullets.is_empty() {
            return format!("- {none}\n");
        }
        let lines: Vec<String> =
            bullets.iter().map(|bullet| format!("- {}\n", bullet.as_ref())).collect();
        lines.concat()
    };
    format!(
        "**What worked:**\n{}\n**What failed:**\n{}\n",
        list(worked, NONE),
        list(failed, none_failed)
    )
}

/// Returns whether a bullet only stands for an empty list: `none observed`, `none chosen of 11 deviations`.
pub(crate) fn is_filler(text: &str) -> bool {
    let counts = text.strip_prefix(NONE_CHOSEN);
    text.eq_ignore_ascii_case(NONE)
        || counts.is_some_and(|counts| {
            let counts = counts.split(" and ");
            counts.map(|count| count.split_once(' ')).all(|count| {
                count.is_some_and(|(number, of)| {
                    !number.is_empty()
                        && number.bytes().all(|byte| byte.is_ascii_digit())
                        && ["deviation", "deviations", "issue", "issues"].contains(&of)
                })
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bullet_that_stands_for_an_empty_list_is_no_lesson() {
        for text in [
            "none observed",
            "none chosen of 1 deviation",
            "none chosen of 11 deviations and 2 issues",
            "none chosen of 2 issues",
        ] {
            assert!(is_filler(text), "{text}");
        }
        for text in [
            "none chosen of 11",
            "none chosen of 11 deviations and a lock",
            "none chosen of the deviations",
        ] {
            assert!(!is_filler(text), "{text}");
        }
    }
}
