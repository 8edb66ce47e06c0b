//! Regular expressions that are part of the program.

use std::fmt::Debug;
use std::str::FromStr;

/// Compiles a constant regular expression, of `regex`, `regex::bytes` or `regex_lite`.
///
/// # Panics
///
/// Panics if it is invalid, which the first test that uses it shows.
pub(crate) fn pattern<R: FromStr<Err: Debug>>(text: &str) -> R {
    text.parse().expect("a constant pattern")
}
