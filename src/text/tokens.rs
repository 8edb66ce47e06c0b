//! Estimates how many tokens a model would count.

use crate::text::clip::is_wide;

/// Returns about how many tokens a language model counts in the text, rather too many than too few.
pub fn tokens(text: &str) -> usize {
    text.chars().filter(|c| is_wide(*c)).count() + text.len() / 4
}
