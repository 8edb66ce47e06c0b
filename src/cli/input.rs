//! Reads documents from files and standard input.

use std::io::Read;
use std::path::Path;
use std::{io, path};

use crate::error::{At, Error, Result};
use crate::storage::read;
use crate::text::without_byte_order_mark;

/// Reads at most this many bytes of standard input, without a byte order mark; `tried` says in an error what
/// was attempted.
pub(crate) fn stdin(most: u64, tried: &str) -> Result<Vec<u8>> {
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

/// Reads standard input as text, in the same way. What is too long, which its reader refuses, may end within a character.
pub(crate) fn stdin_text(most: u64, tried: &str) -> Result<String> {
    let bytes = stdin(most, tried)?;
    if bytes.len() as u64 >= most {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|_| Error::usage("standard input is not valid UTF-8"))
}

/// Reads a text from a file, or from standard input if the file is `-` or `None`; `what` names it in errors.
pub(crate) fn document(file: Option<&Path>, what: &str) -> Result<String> {
    let bytes = if let Some(file) = file.filter(|file| *file != Path::new("-")) {
        let file = path::absolute(file).at("find", file)?;
        read::users_bytes(&file)?.ok_or_else(|| Error::not_found("no such file").about(&file))?
    } else {
        stdin(read::MAX_FILE + 1, &format!("read {what}"))?
    };
    if bytes.len() as u64 > read::MAX_FILE {
        return Err(Error::refused(format!("{what} is larger than 8 MiB")));
    }
    let text = str::from_utf8(without_byte_order_mark(&bytes));
    text.map(str::to_owned).map_err(|_| Error::refused(format!("{what} is not UTF-8 text")))
}
