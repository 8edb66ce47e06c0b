//! Reads standard input.

use std::io;
use std::io::Read;
use std::path::Path;

use crate::error::{At, Result};

/// Reads at most this many bytes of standard input, without a byte order mark; `tried` says in an error what
/// was attempted.
pub(crate) fn read(most: u64, tried: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mark = "\u{feff}".as_bytes();
    let mut input = io::stdin().take(most.saturating_add(mark.len() as u64));
    input.read_to_end(&mut bytes).at(tried, Path::new("-"))?;
    if bytes.starts_with(mark) {
        bytes.drain(..mark.len());
    }
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(bytes)
}
